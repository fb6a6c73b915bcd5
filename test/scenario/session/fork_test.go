package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// said has the agent say something under an id of its own.
func said(p *scene.Puppet, id, words string) {
	p.T.Helper()
	p.Update("agent_message_chunk", obj{"messageId": id, "content": obj{"type": "text", "text": words}})
}

// A fork goes on from where its session is: it shows all that was said, once, also where the agent repeats it, and also
// when it is taken up again. The session it came from goes on by itself.
func TestFork(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		can := scene.KeepsSessions(false, "fork", "resume")
		p := s.BeginWith(can)
		p.Update("session_info_update", obj{"title": "Plans"})
		turn := s.Prompt(p, "Make a plan.")
		p.Say("It is made.")
		p.EndTurn(turn)
		s.Command("Acp fork")
		m := p.Expect("session/fork")
		if m.Text("sessionId") != scene.SessionID(1) || m.Text("cwd") != s.Dir {
			t.Errorf("forked %s", m)
		}
		for kind, text := range map[string]string{"user_message_chunk": "Make a plan.", "agent_message_chunk": "It is made."} {
			p.UpdateIn("forked", kind, obj{"content": obj{"type": "text", "text": text}})
		}
		p.Reply(m, obj{"sessionId": "forked", "modes": obj{"currentModeId": "ask", "availableModes": []any{obj{"id": "ask", "name": "Ask"}}}})
		s.AwaitChat("Forked from session 1, which stays as it is.")
		s.OnceInChat("Make a plan.", "It is made.")
		s.AwaitLua(`(function()
			local fork = require('acp').sessions()[2]
			return fork.agent_session_id == 'forked' and fork.title == 'Plans (fork)' and fork.mode.id == 'ask'
		end)()`)
		s.AwaitState("idle")

		s.Command("Acp prompt Another one.")
		turn, text := p.Prompted()
		if text != "Another one." || turn.Text("sessionId") != "forked" {
			t.Errorf("the fork is asked %s", turn)
		}
		p.UpdateIn("forked", "agent_message_chunk", obj{"content": obj{"type": "text", "text": "Here it is."}})
		p.EndTurn(turn)
		s.OnceInChat("Another one.", "Here it is.")
		s.OK(`require('acp').prompt('Go on.', { session = 1 })`)
		if turn, _ = p.Prompted(); turn.Text("sessionId") != scene.SessionID(1) {
			t.Errorf("the first session is asked %s", turn)
		}
		p.EndTurn(turn)

		s.Quit()
		s = s.Next()
		s.OK(`require('acp').resume({ agent_session_id = 'forked' })`)
		p = s.Agent()
		p.Initialize(can)
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitEvent("AcpSessionReady")
		s.OnceInChat("Make a plan.", "It is made.", "Another one.", "Here it is.")
	})
}

// Before an earlier prompt a session is forked where the agent can, and that prompt is there to be changed.
func TestForkBeforeAPrompt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		can := scene.KeepsSessions(false, "fork")
		can["agentInfo"] = obj{"name": "@agentclientprotocol/claude-agent-acp", "version": "1"}
		p := s.BeginWith(can)
		for id, words := range []string{"one", "two", "three"} {
			turn := s.Prompt(p, "Count to "+words)
			said(p, "m"+string(rune('1'+id)), "That is "+words+".")
			p.EndTurn(turn)
		}
		s.ToBlock("Count to one")
		s.Keys("gF")
		s.AwaitNotification("this is the first prompt: :Acp new starts a new session")
		s.ToBlock("Count to three")
		s.Keys("gF")
		m := p.Expect("session/fork")
		var params struct {
			Meta json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal(m.Params, &params); err != nil || string(params.Meta) != `{"jetbrains":{"air":{"fork":{"version":1,"messageId":"m2"}}}}` {
			t.Errorf("forked %s", m)
		}
		p.Reply(m, obj{"sessionId": "forked"})
		s.AwaitPrompt("Count to three")
		s.AwaitChat("Forked from session 1")
		s.OnceInChat("Count to two", "That is two.")
		if chat := s.Chat(); strings.Contains(chat, "three") {
			t.Errorf("the fork has what came later:\n%s", chat)
		}
		s.Keys("A and a half<Esc><CR>")
		turn := p.PromptedWith("Count to three and a half")
		if turn.Text("sessionId") != "forked" {
			t.Errorf("asked %s", turn)
		}
		p.EndTurn(turn)
	})
}

// What cannot be forked is said, and nothing is asked of the agent.
func TestWhatCannotBeForked(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		other := s.AddAgent("other")
		p := s.BeginWith(scene.KeepsSessions(false, "fork"))
		turn := s.Prompt(p, "Wait")
		p.Say("I do.")
		s.AwaitChat("I do.")
		s.Command("Acp fork")
		s.AwaitNotification("Puppet is working: the session can be forked when the turn is over")
		p.EndTurn(turn)
		s.ToBlock("Wait")
		s.Keys("gF")
		s.AwaitNotification("Puppet cannot fork a session before an earlier prompt; :Acp fork takes all of it")
		s.Command("Acp fork")
		p.Refuse(p.Expect("session/fork"), -32603, "the disk is full", nil)
		s.AwaitChat("Puppet refused session/fork: the disk is full.")
		s.OnceInChat("Wait")
		p.Silent()

		s.Command("Acp new other")
		o := s.AgentOf(other)
		o.Begin()
		s.AwaitLua(`require('acp').sessions()[#require('acp').sessions()].state == 'idle'`)
		s.Command("Acp fork")
		s.AwaitNotification("Other cannot fork sessions")
		o.Silent()
	})
}

// Version 2 forks in its own words.
func TestForkInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents.puppet.protocol = 2; c.agents.puppet.system_prompt = 'Be brief.'`)
		s.Command("Acp")
		p := s.Agent()
		p.Protocol = 2
		p.Reply(p.Expect("initialize"), obj{
			"protocolVersion": 2, "info": obj{"name": "puppet", "version": "1"},
			"capabilities": obj{"session": obj{"fork": obj{}, "title": obj{}, "systemPrompt": obj{}}},
		})
		p.Reply(p.Expect("session/new"), obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp rename Forks")
		m := p.Expect("session/set_title")
		p.Reply(m, obj{"title": "Of " + m.Text("title")})
		s.AwaitLua(`require('acp').sessions()[1].title == 'Of Forks'`)
		s.Command("Acp fork")
		m = p.Expect("session/fork")
		if m.Text("sessionId") != scene.SessionID(1) || m.Text("systemPrompt", "mode") != "append" {
			t.Errorf("forked %s", m)
		}
		p.Reply(m, obj{"sessionId": "forked"})
		s.AwaitChat("Forked from session 1")
	})
}
