package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestRestartTakesUpAllSessionsOfTheProcess(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		s.OK(`require('acp').new()`)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		for n := 1; n <= 2; n++ {
			s.OK(`require('acp').prompt('first', { session = ... })`, n)
			turn, _ := p.Prompted()
			p.UpdateIn(scene.SessionID(n), "agent_message_chunk", obj{"content": obj{"type": "text", "text": "Said before."}})
			if n == 2 {
				p.Stop(turn, "end_turn")
			}
		}
		s.AwaitEvent("AcpTurnEnd")
		s.OK(`require('acp').prompt('queued', { session = 1 })`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		p.Exit(1, "")
		s.AwaitLua(`require('acp').sessions()[1].state == 'dead' and require('acp').sessions()[2].state == 'dead'`)
		s.OK(`require('acp').restart({ session = 2 })`)
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		one, other := p.Expect("session/resume"), p.Expect("session/resume")
		if ids := one.Text("sessionId") + other.Text("sessionId"); ids != scene.SessionID(1)+scene.SessionID(2) && ids != scene.SessionID(2)+scene.SessionID(1) {
			t.Errorf("resumed %s", ids)
		}
		p.Reply(one, obj{})
		p.Reply(other, obj{})
		turn, text := p.Prompted()
		if text != "queued" || turn.Text("sessionId") != scene.SessionID(1) {
			t.Errorf("asked %s", turn)
		}
		s.AwaitLua(`require('acp').sessions()[2].state == 'idle'`)
		s.AwaitLua(`(function()
			for _, session in ipairs(require('acp').sessions()) do
				local text = table.concat(vim.api.nvim_buf_get_lines(session.chat_buf, 0, -1, false), '\n')
				if not text:find('the agent remembers', 1, true) then return false end
			end
			return true
		end)()`)
	})
}

func TestRestartDoesNotRepeatWhatIsShown(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.BeginWith(scene.KeepsSessions(true))
		turn := s.Prompt(p, "Asked long ago.")
		p.Update("tool_call", obj{"toolCallId": "old", "title": "Looked it up", "kind": "read", "status": "completed"})
		p.Say("Answered long ago.")
		p.EndTurn(turn)
		s.Command("Acp restart")
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true))
		load := p.Expect("session/load")
		p.Replay(scene.SessionID(1))
		p.Reply(load, obj{})
		s.AwaitChat("the agent remembers")
		p.Replay(scene.SessionID(1)) // late
		p.Update("session_info_update", obj{"title": "Told last"})
		s.AwaitLua(`require('acp').sessions()[1].title == 'Told last'`)
		s.OnceInChat("Asked long ago.", "Looked it up", "Answered long ago.")
		turn = s.Prompt(p, "go on")
		p.Say("Said in the turn.")
		p.EndTurn(turn)
		s.OnceInChat("Answered long ago.", "Said in the turn.")
	})
}

func TestRestartBeginsAnewWhereItMust(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.BeginWith(scene.KeepsSessions(true))
		s.Command("Acp restart") // nothing was said: there is nothing to take up
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true))
		p.NewSession(1)
		s.AwaitEvent("AcpSessionReady")
		p.EndTurn(s.Prompt(p, "hello"))
		s.Command("Acp restart")
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true))
		p.Refuse(p.Expect("session/load"), -32603, "No previous sessions found", nil)
		p.NewSession(2)
		s.AwaitChat("No previous sessions found")
		s.AwaitChat("the agent does not remember")
		s.AwaitState("idle")
		check.Equal[any](t, s.Session()["agent_session_id"], scene.SessionID(2), "it is %v")
	})
}

func TestRestartKeepsWhatWasShown(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "before")
		p.Say("Said before.")
		s.AwaitChat("Said before.")
		p.Exit(3, strings.Repeat("[log] a phase of the start\n", 20)+"Error: no key is given\n    at main\n")
		end := s.AwaitEvent("AcpTurnEnd")
		if end["stop_reason"] != "error" || !strings.Contains(fmt.Sprint(end["error"]), "code 3") {
			t.Errorf("the turn ended with %v", end)
		}
		s.AwaitState("dead")
		s.AwaitChat("no key is given")
		s.GoldenScreen("dead")
		s.ToBlock("no key is given")
		s.Keys("<CR>")
		s.AwaitChat("a phase of the start")
		s.Keys("<CR>")
		s.Await("the log to be closed", func() bool { return !strings.Contains(s.Chat(), "a phase") })
		s.Command("Acp restart")
		p = s.ReadyAgent()
		turn := s.Prompt(p, "after")
		p.Say("Said after.")
		p.EndTurn(turn)
		chat := s.Chat()
		if !strings.Contains(chat, "Said before.") || !strings.Contains(chat, "does not remember") {
			t.Errorf("the chat is\n%s", chat)
		}
	})
}
