package history

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// work plays a turn with a thought, a command, a change of a file and an answer, in a session that the agent keeps.
func work(s *scene.Scene, p *scene.Puppet) {
	path := s.WriteFile("main.go", "package main\n")
	turn := s.Prompt(p, "Rename the package.")
	p.Think("A small thing.")
	p.ToolCall("c1", "execute", obj{"title": "go vet", "rawInput": obj{"command": "go vet"}})
	p.Finish("c1", obj{"content": []any{obj{"type": "content", "content": obj{"type": "text", "text": "all is fine\n"}}}})
	p.ToolCall("c2", "edit", obj{"title": "Edit main.go", "content": scene.DiffOf(path, "package main\n", "package tool\n")})
	p.Finish("c2", obj{})
	p.Say("The package is **tool** now.")
	p.EndTurn(turn)
}

// kept waits until the transcript of the session has a text.
func kept(t *testing.T, s *scene.Scene, text string) {
	t.Helper()
	s.Await("the transcript to have "+text, func() bool { return strings.Contains(strings.Join(files(s), ""), text) })
}

// resume takes the session up in another Neovim, up to what the agent is asked.
func resume(s *scene.Scene, method string, can obj) (*scene.Scene, *scene.Puppet, scene.Message) {
	s.Quit()
	s = s.Next()
	s.Command("Acp resume " + scene.SessionID(1))
	p := s.Agent()
	p.Initialize(can)
	return s, p, p.Expect(method)
}

// An agent that repeats nothing, or less, does not matter: all that was said is in the chat, with its diffs.
func TestAllIsThereAgain(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		can := scene.KeepsSessions(false, "resume")
		work(s, s.BeginWith(can))
		kept(t, s, `"is":"end"`)
		s, p, m := resume(s, "session/resume", can)
		check.Equal(t, m.Text("cwd"), s.Dir, "it is taken up in %s")
		s.AwaitChat("The package is **tool** now.") // before the agent has answered
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("+ package tool")
		s.OnceInChat("Rename the package.", "Thought for", "go vet", "all is fine", "The package is **tool** now.")
		s.GoldenScreen("resumed")
		// It goes on, and is kept once.
		turn := s.Prompt(p, "And now?")
		p.Say("Nothing more.")
		p.EndTurn(turn)
		kept(t, s, "Nothing more.")
		s, p, m = resume(s, "session/resume", can)
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("Nothing more.")
		s.OnceInChat("Rename the package.", "The package is **tool** now.", "And now?", "Nothing more.")
	})
}

// What an agent repeats is not there twice; what it tells beyond that, as the session went on elsewhere, is.
func TestAReplayIsNotThereTwice(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		can := scene.KeepsSessions(true)
		work(s, s.BeginWith(can))
		kept(t, s, `"is":"end"`)
		s, p, m := resume(s, "session/load", can)
		says := func(kind, text string) {
			p.Update(kind, obj{"content": obj{"type": "text", "text": text}})
		}
		replay := func() {
			says("user_message_chunk", "Rename the package.")
			p.Update("tool_call", obj{"toolCallId": "c2", "title": "Edit main.go", "kind": "edit", "status": "completed"})
			says("agent_message_chunk", "The package is **tool** now.")
		}
		replay()
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.OnceInChat("Rename the package.", "main.go  +1", "The package is **tool** now.")
		check.Equal(t, s.CountInChat("went on elsewhere"), 0, "it went on elsewhere: %v")
		s, p, m = resume(s, "session/load", can)
		replay()
		says("user_message_chunk", "Asked in another client.")
		says("agent_message_chunk", "Answered there.")
		p.Reply(m, obj{})
		s.AwaitChat("Answered there.")
		s.AwaitChat("The session went on elsewhere")
		s.OnceInChat("Rename the package.", "main.go  +1", "The package is **tool** now.", "Asked in another client.")
		kept(t, s, "Answered there.")
		// Now that is known, too.
		s, p, m = resume(s, "session/load", can)
		replay()
		says("user_message_chunk", "Asked in another client.")
		says("agent_message_chunk", "Answered there.")
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.OnceInChat("Rename the package.", "Asked in another client.", "Answered there.")
		p.EndTurn(s.Prompt(p, "go on"))
	})
}

// A session whose agent is gone, or has lost it, can still be read.
func TestAnAgentThatCannot(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		work(s, s.Begin())
		kept(t, s, `"is":"end"`)
		s.Quit()
		s = s.Next()
		s.Lua(nil, `require('acp').resume({ agent_session_id = ... })`, scene.SessionID(1))
		s.Command("Acp")
		s.Agent().Initialize(nil)
		s.AwaitState("dead")
		s.AwaitChat("Puppet cannot resume stored sessions.")
		s.OnceInChat("Rename the package.", "The package is **tool** now.")
	})
}
