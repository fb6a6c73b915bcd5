package session

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// beginV2 begins a session with an agent that speaks version 2.
func beginV2(s *scene.Scene) *scene.Puppet {
	s.T.Helper()
	s.Configure(`c.agents.puppet.protocol = 2`)
	s.Command("Acp")
	p := s.Agent()
	p.Protocol = 2
	p.Reply(p.Expect("initialize"), obj{
		"protocolVersion": 2, "info": obj{"name": "puppet", "version": "1"}, "capabilities": obj{"session": obj{"delete": obj{}}},
	})
	p.Reply(p.Expect("session/new"), obj{
		"sessionId":         scene.SessionID(1),
		"availableCommands": []obj{{"type": "command", "name": "plan", "description": "Make a plan"}},
	})
	s.AwaitEvent("AcpSessionReady")
	return p
}

func state(p *scene.Puppet, state string, more obj) {
	p.T.Helper()
	if more == nil {
		more = obj{}
	}
	more["state"] = state
	p.Update("state_update", more)
}

func text(words string) []obj { return []obj{{"type": "text", "text": words}} }

// keys is what the list of the chat's keys says.
func keys(s *scene.Scene) (text string) {
	s.T.Helper()
	s.Keys("g?")
	s.AwaitScreen(" Keys ")
	text = s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')`)
	s.Keys("q")
	s.Await("the list to be closed", func() bool { return !strings.Contains(s.Screen(), " Keys ") })
	return text
}

// asked answers a prompt as agents do, with an echo of it, and has the session run.
func asked(p *scene.Puppet, words string) {
	p.T.Helper()
	m := p.Expect("session/prompt")
	p.Update("user_message", obj{"messageId": "u-" + words, "content": text(words)})
	p.Reply(m, obj{"messageId": "u-" + words})
	state(p, "running", nil)
}

// A turn of version 2 looks as one of version 1 does: the prompt stands once, the turn ends with the state, and what is
// said can be replaced.
func TestTurnInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		check.Equal(t, s.LuaInt(`require('acp').sessions()[1].protocol`), 2, "the session speaks version %d")
		p.Notify("_auth/status_update", obj{"authStatus": obj{"label": "API key", "detail": "KEY"}})
		s.AwaitLua(`require('acp').sessions()[1].account == 'API key (KEY)'`)
		s.OK(`require('acp').prompt('fix it')`)
		s.OK(`require('acp').prompt('and then this')`)
		asked(p, "fix it")
		p.Update("agent_message_chunk", obj{"messageId": "a", "content": obj{"type": "text", "text": "My pasword is hunter2, "}})
		p.Update("agent_message_chunk", obj{"messageId": "a", "content": obj{"type": "text", "text": "and I repair it."}})
		p.Update("tool_call_update", obj{"toolCallId": "c", "title": "Edit hello.txt", "kind": "edit", "status": "completed"})
		s.AwaitChat("hunter2")
		p.Update("agent_message", obj{"messageId": "a", "content": text("All is well.")})
		s.Await("the words to be replaced", func() bool { return !strings.Contains(s.Chat(), "hunter2") })
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.AwaitTurnEnd("end_turn")
		asked(p, "and then this")
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.AwaitTurnEnd("end_turn")
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.OnceInChat("fix it", "All is well.", "hello.txt", "and then this")
		check.Equal(t, s.CountEvents("AcpTurnEnd"), 2, "%d turns have ended")
		s.GoldenScreen("turns")
	})
}

// What the agent begins by itself is a turn without a prompt, what goes on in the background outlives its turn, and a
// sub-agent's permission is asked whenever it comes.
func TestOwnWorkInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		s.OK(`require('acp').prompt('go')`)
		asked(p, "go")
		p.Update("tool_call_update", obj{"toolCallId": "bg", "title": "sleep 100", "kind": "execute", "status": "in_progress"})
		p.Update("tool_call_update", obj{"toolCallId": "fg", "title": "ls", "kind": "execute", "status": "in_progress"})
		p.Update("subagent_update", obj{"sessionId": "k", "title": "Look around", "state": obj{"state": "running"}})
		background := []obj{{"type": "tool_call", "toolCallId": "bg"}, {"type": "subagent", "sessionId": "k"}}
		state(p, "idle", obj{"stopReason": "end_turn", "background": background})
		s.AwaitTurnEnd("end_turn")
		s.AwaitLua(`(function()
			local status = {}
			for _, call in ipairs(require('acp').tool_calls(1)) do status[call.id] = call.status end
			return status.bg == 'in_progress' and status['subagent:k'] == 'in_progress' and status.fg ~= 'in_progress'
		end)()`)

		id := p.Call("session/request_permission", obj{
			"sessionId": "k", "title": "Run make?", "options": []obj{{"optionId": "yes", "name": "Yes", "kind": "allow_once"}},
			"subject": obj{"type": "tool_call", "toolCall": obj{"toolCallId": "kc", "title": "make", "kind": "execute"}},
		})
		s.AwaitFloat()
		question := p.Call("elicitation/create", obj{"sessionId": "k", "message": "Which?", "mode": "form", "requestedSchema": obj{
			"type": "object", "properties": obj{"which": obj{"type": "string"}},
		}})
		s.AwaitLua(`#require('acp').elicitations() == 1`)
		// They still wait when another turn has been cancelled.
		s.OK(`require('acp').prompt('meanwhile')`)
		asked(p, "meanwhile")
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		state(p, "idle", obj{"stopReason": "cancelled", "background": background})
		s.AwaitTurnEnd("cancelled")
		s.AwaitEvent("AcpTurnStart")
		if p.Answered(id) || p.Answered(question) {
			t.Error("a question of the sub-agent's is withdrawn with a turn")
		}
		s.Command("Acp permit 1")
		p.AwaitOutcome(id, "yes")
		s.OK(`require('acp').answer(require('acp').elicitations()[1].id, { action = 'decline' })`)
		if m := p.Answer(question); m.Text("action") != "decline" {
			t.Errorf("the question was answered %s", m)
		}

		state(p, "running", nil)
		s.AwaitEvent("AcpTurnStart")
		if start := s.AwaitEvent("AcpTurnStart"); start["prompt"] != nil {
			t.Errorf("work of its own begins with %v", start)
		}
		p.Update("agent_message", obj{"messageId": "b", "content": text("The command has ended.")})
		s.AwaitChat("The command has ended.")
		state(p, "idle", obj{"stopReason": "end_turn", "background": []obj{}})
		s.AwaitTurnEnd("end_turn")
		s.GoldenScreen("own")
	})
}

// A command that goes on in the background is shown as running when its call and its turn have ended, and can be
// cancelled where the agent says so.
func TestBackgroundCommandInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		s.OK(`require('acp').prompt('go')`)
		asked(p, "go")
		p.Update("terminal_update", obj{"terminalId": "t", "command": "sleep 100"})
		p.Update("tool_call_update", obj{
			"toolCallId": "c", "title": "sleep 100", "kind": "execute", "status": "completed",
			"content": []obj{{"type": "terminal", "terminalId": "t"}},
		})
		p.Update("terminal_update", obj{"terminalId": "t", "capabilities": obj{"cancel": obj{}}})
		background := []obj{{"type": "terminal", "terminalId": "t"}}
		state(p, "idle", obj{"stopReason": "end_turn", "background": background})
		s.AwaitTurnEnd("end_turn")
		s.AwaitChat("runs in the background")
		if chat := s.Chat(); strings.Contains(chat, "✗") || strings.Contains(chat, "✓") {
			t.Errorf("it looks as if it had ended:\n%s", chat)
		}
		s.AwaitState("idle")
		s.AwaitLua(`require('acp').terminals()[1].running`)
		s.AwaitScreen("1 in the background")
		s.ToBlock("sleep 100")
		check.Contains(t, keys(s), "g<C-C>", "that it can be cancelled is not told: %s")
		s.Keys("g<C-c>")
		p.Reply(p.Expect("terminal/cancel"), obj{})
		p.Update("terminal_update", obj{"terminalId": "t", "exitStatus": obj{"signal": "SIGTERM"}, "capabilities": nil})
		state(p, "idle", obj{"background": []obj{}})
		s.AwaitChat("killed by SIGTERM")
		s.AwaitLua(`not require('acp').terminals()[1].running`)
		s.Await("nothing in the background", func() bool { return !strings.Contains(s.Screen(), "1 in the background") })
		if strings.Contains(keys(s), "g<C-C>") {
			t.Errorf("a key is told that does nothing: %s", keys(s))
		}
		check.Equal(t, s.CountEvents("AcpTurnEnd"), 1, "%d turns have ended")
	})
}

// A cancelled turn ends when the agent says so.
func TestCancelInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		s.OK(`require('acp').prompt('go')`)
		asked(p, "go")
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		state(p, "idle", obj{"stopReason": "cancelled"})
		s.AwaitTurnEnd("cancelled")
		s.GoldenScreen("cancelled")
	})
}

// Words for the running turn are shown apart until the agent has taken them, which may be when the turn is over; what
// is queued waits behind them.
func TestSteeringInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		s.OK(`require('acp').prompt('first')`)
		asked(p, "first")
		s.AwaitEvent("AcpTurnStart")
		s.Command("Acp steer into it")
		into := p.PromptedWith("into it")
		s.AwaitChat("into it")
		p.Update("user_message", obj{"messageId": "u-into", "content": text("into it")})
		p.Reply(into, obj{"messageId": "u-into"})
		p.Update("agent_message_chunk", obj{"messageId": "a", "content": text("I see.")[0]})
		s.AwaitChat("I see.")
		s.Command("Acp steer and more")
		more := p.PromptedWith("and more")
		s.OK(`require('acp').prompt('third')`)
		s.AwaitChat("third")
		s.GoldenScreen("ahead")
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.AwaitTurnEnd("end_turn")
		p.Update("user_message", obj{"messageId": "u-more", "content": text("and more")})
		p.Reply(more, obj{"messageId": "u-more"})
		state(p, "running", nil)
		if e := s.AwaitEvent("AcpTurnStart"); e["prompt"] != "and more" {
			t.Errorf("the turn began with %v", e)
		}
		p.Silent()
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.AwaitTurnEnd("end_turn")
		asked(p, "third")
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.AwaitTurnEnd("end_turn")
		s.OnceInChat("first", "into it", "I see.", "and more", "third")
		check.Equal(t, s.CountEvents("AcpTurnStart"), 3, "%d turns have begun")
	})
}

// What the agent has not taken when the user cancels is in the queue again, before what waited there.
func TestCancelGivesBackInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		s.OK(`require('acp').prompt('first')`)
		asked(p, "first")
		s.Command("Acp steer and more")
		more := p.PromptedWith("and more")
		s.OK(`require('acp').prompt('third')`)
		s.AwaitChat("third")
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		state(p, "idle", obj{"stopReason": "cancelled"})
		p.Refuse(more, -32800, "Request cancelled", nil)
		s.AwaitTurnEnd("cancelled")
		s.AwaitQueue("and more", "third")
		s.AwaitChat("had not taken your words")
		p.Silent()
		s.GoldenScreen("back")
		s.OK(`require('acp').prompt('')`)
		for _, words := range []string{"and more", "third"} {
			asked(p, words)
			state(p, "idle", obj{"stopReason": "end_turn"})
			s.AwaitTurnEnd("end_turn")
		}
		s.OnceInChat("and more", "third")
	})
}

// So is a prompt that is cancelled before the agent has taken it, and it stands in the chat once.
func TestPromptIsNotTakenInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		s.OK(`require('acp').prompt('go on')`)
		held := p.PromptedWith("go on")
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		p.Refuse(held, -32800, "Request cancelled", nil)
		s.AwaitTurnEnd("cancelled")
		s.AwaitQueue("go on")
		s.AwaitChat("had not taken your prompt")
		s.GoldenScreen("not-taken")
		s.OK(`require('acp').prompt('')`)
		asked(p, "go on")
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.AwaitTurnEnd("end_turn")
		s.OnceInChat("go on")
	})
}

// An agent that does not know version 2 speaks version 1 on the same process.
func TestProtocol2IsNotKnown(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp new puppet protocol=2")
		p := s.Agent()
		p.Refuse(p.Expect("initialize"), -32602, "invalid params", nil)
		p.Begin()
		s.AwaitEvent("AcpSessionReady")
		check.Equal(t, s.LuaInt(`require('acp').sessions()[1].protocol`), 1, "the session speaks version %d")
		s.Prompt(p, "hello")
	})
}

// A call is cancelled alone where the agent allows that, and else the user is told how to end the turn.
func TestCancelCallInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginV2(s)
		s.OK(`require('acp').prompt('go')`)
		asked(p, "go")
		p.Update("tool_call_update", obj{
			"toolCallId": "c", "title": "make", "kind": "execute", "status": "in_progress", "capabilities": obj{"cancel": obj{}},
		})
		s.AwaitChat("make")
		s.Command("wincmd k")
		s.Lua(nil, `vim.fn.search('make')`)
		s.Keys("g<C-c>")
		cancel := p.Expect("tool_call/cancel")
		if cancel.Text("toolCallId") != "c" {
			t.Errorf("cancelled %s", cancel)
		}
		p.Reply(cancel, obj{})
		p.Update("tool_call_update", obj{"toolCallId": "c", "status": "cancelled", "capabilities": nil})
		p.Update("tool_call_update", obj{"toolCallId": "d", "title": "ls", "kind": "execute", "status": "in_progress"})
		s.AwaitChat("ls")
		s.Lua(nil, `vim.fn.search('ls')`)
		s.Keys("g<C-c>")
		s.AwaitMessage("cannot cancel this alone")
		state(p, "idle", obj{"stopReason": "end_turn"})
		s.AwaitTurnEnd("end_turn")
	})
}
