package session

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// In version 1 too, a sub-agent is a call with what it does below, its permission is asked, it goes on when its parent's
// turn ends, and it can be cancelled alone where the agent says so.
func TestSubagents(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp")
		p := s.Agent()
		hello := p.Expect("initialize")
		for _, can := range []string{"subagents", "plan"} {
			if hello.Get("clientCapabilities", can) == nil {
				t.Errorf("the client says nothing of %s", can)
			}
		}
		p.Reply(hello, obj{"protocolVersion": 1})
		p.Reply(p.Expect("session/new"), obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
		child := func(session, kind string, update obj) {
			update["sessionUpdate"] = kind
			p.Notify("session/update", obj{"sessionId": session, "update": update})
		}

		turn := s.Prompt(p, "Where is it?")
		p.Update("subagent_update", obj{
			"sessionId": "k", "title": "Look around", "capabilities": obj{"cancel": obj{}}, "state": obj{"state": "running"},
		})
		child("k", "session_message", obj{
			"messageId": "m", "senderSessionId": scene.SessionID(1), "recipientSessionId": "k", "content": []obj{{"type": "text", "text": "Find the lexer."}},
		})
		child("k", "tool_call", obj{
			"toolCallId": "c", "title": "make", "kind": "execute", "status": "pending", "_meta": obj{"claudeCode": obj{"parentToolUseId": "mine"}},
		})
		id := p.Call("session/request_permission", obj{
			"sessionId": "k", "toolCall": obj{"toolCallId": "c"}, "options": []obj{{"optionId": "yes", "name": "Yes", "kind": "allow_once"}},
		})
		s.AwaitFloat()
		s.GoldenScreen("asked")
		p.EndTurn(turn) // its question still waits
		s.Command("Acp permit 1")
		p.AwaitOutcome(id, "yes")
		child("k", "tool_call_update", obj{"toolCallId": "c", "status": "completed"})
		s.AwaitLua(`(function()
			for _, call in ipairs(require('acp').tool_calls(1)) do
				if call.id == 'subagent:k' then return call.status == 'in_progress' end
			end
		end)()`)
		s.AwaitChat("✓ $ run    make") // while the chat changes, Neovim may take <C-c> for an interrupt
		s.ToBlock("Look around")
		s.Keys("<CR>")
		s.AwaitChat("Find the lexer.")
		s.Sync()
		s.Keys("g<C-c>")
		if m := p.Expect("session/cancel"); m.Text("sessionId") != "k" {
			t.Errorf("cancelled %s", m)
		}
		p.Update("subagent_update", obj{"sessionId": "k", "state": obj{"state": "idle", "stopReason": "cancelled"}})
		s.AwaitLua(`require('acp').tool_calls(1)[1].status == 'cancelled'`)
		s.GoldenScreen("cancelled")
	})
}

// A plan may be words, more of them than are shown at once, or a file, and goes when the agent takes it back.
func TestPlanOfWords(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("plan.md", "the plan\n")
		p := s.Begin()
		turn := s.Prompt(p, "plan it")
		plan := func(fields obj) { p.Update("plan_update", obj{"plan": fields}) }
		plan(obj{"planId": "a", "type": "markdown", "content": "# Mend it\n\n" + scene.Lines(1, 20)})
		plan(obj{"planId": "b", "type": "file", "uri": "file://" + s.Dir + "/plan.md"})
		plan(obj{"planId": "c", "type": "markdown", "content": "never mind"})
		s.AwaitChat("never mind")
		p.Update("plan_removed", obj{"planId": "c"})
		s.Await("the plan to go", func() bool { return !strings.Contains(s.Chat(), "never mind") })
		p.EndTurn(turn)
		s.GoldenScreen("plans")
		s.ToBlock("Mend it")
		s.Keys("<CR>")
		s.AwaitChat("line 20")
		s.ToBlock("plan.md")
		s.Keys("gd")
		s.AwaitScreen("the plan")
	})
}
