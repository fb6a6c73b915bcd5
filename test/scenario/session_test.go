package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// keeps are the capabilities of an agent that keeps sessions.
func keeps(load bool, methods ...string) obj {
	caps := obj{"close": obj{}}
	for _, m := range methods {
		caps[m] = obj{}
	}
	return obj{"agentCapabilities": obj{"loadSession": load, "sessionCapabilities": caps}}
}

// beginWith is begin with more capabilities.
func (s *scene) beginWith(extra obj) *puppet {
	s.t.Helper()
	s.Command("Acp")
	p := s.agent()
	p.initialize(extra)
	p.newSession(1)
	s.AwaitEvent("AcpSessionReady")
	return p
}

// select has vim.ui.select take the choice with a text, and remembers what was offered.
func (s *scene) choose(text string) {
	s.t.Helper()
	s.Lua(nil, `local wanted = ...
		_G.offered = {}
		vim.ui.select = function(items, opts, choose)
			local list = vim.tbl_map(opts.format_item or tostring, items)
			table.insert(_G.offered, list)
			for i, label in ipairs(list) do
				if label:find(wanted, 1, true) then
					return choose(items[i], i)
				end
			end
			choose(nil)
		end`, text)
}

// offered is what the n-th vim.ui.select has offered.
func (s *scene) offered(n int) []any {
	s.t.Helper()
	s.AwaitLua(`#_G.offered >= ...`, n)
	list, _ := s.value(`_G.offered[...]`, n).([]any)
	return list
}

// replay tells what was said in a session: a question, a tool call, an answer.
func (p *puppet) replay(id string) {
	p.t.Helper()
	text := func(s string) obj { return obj{"content": obj{"type": "text", "text": s}} }
	p.updateIn(id, "user_message_chunk", text("Asked long ago."))
	p.updateIn(id, "tool_call", obj{"toolCallId": "old", "title": "Looked it up", "kind": "read", "status": "completed"})
	p.updateIn(id, "agent_message_chunk", text("Answered long ago."))
}

func (s *scene) once(texts ...string) {
	s.t.Helper()
	chat := s.chat()
	for _, text := range texts {
		if n := strings.Count(chat, text); n != 1 {
			s.t.Errorf("%q is shown %d times in\n%s", text, n, chat)
		}
	}
}

func TestStoredSessionIsChosenAndLoaded(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.choose("The second")
		s.Command("Acp resume")
		p := s.agent()
		p.initialize(keeps(true, "list", "resume"))
		list := p.expect("session/list")
		p.reply(list, obj{"nextCursor": "more", "sessions": []any{
			obj{"sessionId": "a", "cwd": "/elsewhere", "title": "The first", "updatedAt": "2026-01-02T03:04:05Z"},
			obj{"sessionId": "bad"},
		}})
		if list = p.expect("session/list"); list.text("cursor") != "more" {
			t.Errorf("asked for %s", list)
		}
		p.reply(list, obj{"sessions": []any{obj{"sessionId": "b", "cwd": s.Dir, "title": "The second"}}})

		load := p.expect("session/load")
		if load.text("sessionId") != "b" || load.text("cwd") != s.Dir {
			t.Errorf("loaded %s", load)
		}
		offered := s.offered(1)
		if len(offered) != 2 || !strings.HasPrefix(fmt.Sprint(offered[0]), "The second") ||
			offered[1] != "The first · /elsewhere · 2026-01-02 03:04" {
			t.Errorf("offered are %q", offered)
		}
		p.replay("b")
		s.awaitChat("Answered long ago.")
		p.reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		// gemini tells most of it after the answer.
		p.updateIn("b", "agent_message_chunk", obj{"content": obj{"type": "text", "text": "Told late."}})
		s.awaitChat("Told late.")
		s.once("Asked long ago.", "Looked it up", "Answered long ago.")
		if got := s.session(); got["state"] != "idle" || got["title"] != "The second" || got["agent_session_id"] != "b" || got["tool_calls"] != 1 {
			t.Errorf("the session is %v", got)
		}
		if n := s.events("AcpTurnStart"); n != 0 {
			t.Errorf("%d turns began", n)
		}
		s.screen("loaded")
		p.stop(s.prompt(p, "and now"), "end_turn")
		s.AwaitEvent("AcpTurnEnd")

		// The same one again is the one that is open.
		if id := s.LuaInt(`require('acp').resume({ agent_session_id = 'b' })`); id != 1 {
			t.Errorf("opened a session %d", id)
		}
		p.silent()

		// Its agent is started again where it has ended.
		p.exit(1, "gone")
		s.awaitState("dead")
		if id := s.LuaInt(`require('acp').resume({ agent_session_id = 'b' })`); id != 1 {
			t.Errorf("opened a session %d", id)
		}
		p = s.agent()
		p.initialize(keeps(true, "list", "resume"))
		p.reply(p.expect("session/resume"), obj{})
		s.awaitState("idle")
		p.silent()
	})
}

func TestStoredTellsWhatItCannot(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.Command("Acp resume")
		p := s.agent()
		p.initialize(nil)
		s.awaitNotification("Puppet gives no list of its sessions.")
		s.Command("Acp resume gone")
		s.AwaitLua(`#require('acp').sessions() == 1`)
		s.awaitState("dead")
		s.awaitChat("Puppet cannot take up stored sessions.")
		s.refused(`require('acp').resume({})`)
		s.refused(`require('acp').stored('nobody', print)`)
		s.refused(`require('acp').stored()`)
	})
}

func TestStoredNeedsALogin(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.ok(`require('acp').stored(nil, function(list, err) _G.answer = { list == nil, err } end)`)
		p := s.agent()
		p.initialize(keeps(false, "list"))
		p.refuse(p.expect("session/list"), -32000, "Authentication required", nil)
		s.AwaitLua(`_G.answer and _G.answer[1] and _G.answer[2]:find('log in first', 1, true)`)
		s.ok(`require('acp').stored(nil, function(list, err) _G.second = { list == nil, err } end)`)
		p.expect("session/list")
		p.exit(1, "")
		s.AwaitLua(`_G.second and _G.second[1] and _G.second[2]:find('ended before', 1, true)`)
	})
}

func TestResumeWithoutAReplay(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.ok(`require('acp').resume({ agent = 'puppet', agent_session_id = 'x', cwd = '/' })`)
		s.ok(`require('acp').prompt('at once')`)
		p := s.agent()
		p.initialize(keeps(false, "resume"))
		resume := p.expect("session/resume")
		if resume.text("sessionId") != "x" || resume.text("cwd") != "/" {
			t.Errorf("resumed %s", resume)
		}
		p.reply(resume, obj{"modes": obj{"currentModeId": "code", "availableModes": []any{obj{"id": "code", "name": "Code"}}}})
		turn, text := p.prompted()
		if text != "at once" || turn.text("sessionId") != "x" {
			t.Errorf("asked %s", turn)
		}
		s.AwaitLua(`vim.deep_equal(require('acp').sessions()[1].mode, { id = 'code', name = 'Code' })`)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestRestartTakesUpAllSessionsOfTheProcess(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginWith(keeps(true, "resume"))
		s.ok(`require('acp').new()`)
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		for n := 1; n <= 2; n++ {
			s.ok(`require('acp').prompt('first', { session = ... })`, n)
			turn, _ := p.prompted()
			p.updateIn(remote(n), "agent_message_chunk", obj{"content": obj{"type": "text", "text": "Said before."}})
			if n == 2 {
				p.stop(turn, "end_turn")
			}
		}
		s.AwaitEvent("AcpTurnEnd")
		s.ok(`require('acp').prompt('queued', { session = 1 })`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		p.exit(1, "")
		s.AwaitLua(`require('acp').sessions()[1].state == 'dead' and require('acp').sessions()[2].state == 'dead'`)
		s.ok(`require('acp').restart({ session = 2 })`)
		p = s.agent()
		p.initialize(keeps(true, "resume"))
		one, other := p.expect("session/resume"), p.expect("session/resume")
		if ids := one.text("sessionId") + other.text("sessionId"); ids != remote(1)+remote(2) && ids != remote(2)+remote(1) {
			t.Errorf("resumed %s", ids)
		}
		p.reply(one, obj{})
		p.reply(other, obj{})
		turn, text := p.prompted()
		if text != "queued" || turn.text("sessionId") != remote(1) {
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
	each(t, func(t *testing.T, s *scene) {
		p := s.beginWith(keeps(true))
		turn := s.prompt(p, "Asked long ago.")
		p.update("tool_call", obj{"toolCallId": "old", "title": "Looked it up", "kind": "read", "status": "completed"})
		p.say("Answered long ago.")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("Acp restart")
		p = s.agent()
		p.initialize(keeps(true))
		load := p.expect("session/load")
		p.replay(remote(1))
		p.reply(load, obj{})
		s.awaitChat("the agent remembers")
		p.replay(remote(1)) // late
		p.update("session_info_update", obj{"title": "Told last"})
		s.AwaitLua(`require('acp').sessions()[1].title == 'Told last'`)
		s.once("Asked long ago.", "Looked it up", "Answered long ago.")
		turn = s.prompt(p, "go on")
		p.say("Said in the turn.")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.once("Answered long ago.", "Said in the turn.")
	})
}

func TestRestartBeginsAnewWhereItMust(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.beginWith(keeps(true))
		s.Command("Acp restart") // nothing was said: there is nothing to take up
		p := s.agent()
		p.initialize(keeps(true))
		p.newSession(1)
		s.AwaitEvent("AcpSessionReady")
		p.stop(s.prompt(p, "hello"), "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("Acp restart")
		p = s.agent()
		p.initialize(keeps(true))
		p.refuse(p.expect("session/load"), -32603, "No previous sessions found", nil)
		p.newSession(2)
		s.awaitChat("No previous sessions found")
		s.awaitChat("the agent does not remember")
		s.awaitState("idle")
		if id := s.session()["agent_session_id"]; id != remote(2) {
			t.Errorf("it is %v", id)
		}
	})
}

func TestHostCrashIsSurvived(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.beginWith(keeps(true, "resume"))
		s.prompt(p, "before")
		p.say("Said before.")
		s.awaitChat("Said before.")
		s.ok(`require('acp').prompt('queued')`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		s.killHost()
		s.awaitState("dead")
		s.Command("Acp restart")
		p = s.agent()
		p.initialize(keeps(true, "resume"))
		resume := p.expect("session/resume")
		if resume.text("sessionId") != remote(1) {
			t.Errorf("resumed %s", resume)
		}
		p.reply(resume, obj{})
		turn, text := p.prompted()
		if text != "queued" {
			t.Errorf("asked %q", text)
		}
		p.say("Said after.")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd") // of the crash
		s.AwaitEvent("AcpTurnEnd")
		s.once("Said before.", "the agent remembers", "Said after.")
	})
}

func TestDeleteAsksFirst(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.beginWith(keeps(false, "delete"))
		s.ok(`require('acp').new()`)
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.choose("Keep it")
		s.Command("Acp delete")
		s.offered(1)
		s.choose("Delete it")
		s.Command("Acp delete")
		m := p.expect("session/delete")
		if m.text("sessionId") != remote(2) {
			t.Errorf("deleted %s", m)
		}
		p.reply(m, obj{})
		s.awaitNotification("is deleted")
		s.AwaitEvent("AcpSessionClosed")
		s.ok(`require('acp').prompt('go on', { session = 1 })`)
		turn, _ := p.prompted() // and no session/close of what is deleted
		p.stop(turn, "end_turn")
		s.Command("Acp delete stored")
		m = p.expect("session/delete")
		if m.text("sessionId") != "stored" {
			t.Errorf("deleted %s", m)
		}
		p.refuse(m, -32603, "it is locked", nil)
		s.awaitNotification("Puppet refused session/delete: it is locked.")
	})
}

func TestControlRequestsAreGivenUp(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.ok(`require('acp').prompt('kept', { session = require('acp').new() })`)
		p := s.agent()
		p.initialize(nil)
		begin := p.expect("session/new")
		s.Command("Acp cancel")
		cancel := p.expect("$/cancel_request")
		if got, want := fmt.Sprint(cancel.get("requestId")), string(begin.ID); got != want {
			t.Errorf("cancelled %s, not %s", got, want)
		}
		s.awaitState("dead")
		s.awaitChat("session/new was cancelled. :Acp restart tries again.")
		p.awaitEnd()
		s.Command("Acp restart")
		p = s.agent()
		p.initialize(nil)
		p.reply(p.expect("session/new"), obj{"sessionId": remote(1), "modes": obj{
			"currentModeId": "ask", "availableModes": []any{obj{"id": "ask", "name": "Ask"}, obj{"id": "code", "name": "Code"}},
		}})
		turn, text := p.prompted()
		if text != "kept" {
			t.Errorf("asked %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.ok(`require('acp').set_option(nil, 'mode', 'code')`)
		set := p.expect("session/set_mode")
		s.Command("Acp cancel")
		if got, want := fmt.Sprint(p.expect("$/cancel_request").get("requestId")), string(set.ID); got != want {
			t.Errorf("cancelled %s, not %s", got, want)
		}
		s.awaitNotification("it was cancelled")
		p.refuse(set, -32800, "Request cancelled", nil)
		p.stop(s.prompt(p, "go on"), "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if mode := s.session()["mode"]; !reflect.DeepEqual(mode, obj{"id": "ask", "name": "Ask"}) {
			t.Errorf("the mode is %v", mode)
		}
	})
}

func TestSessionMadeTooLateIsClosed(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin() // keeps the process alive
		s.ok(`require('acp').new()`)
		begin := p.expect("session/new")
		s.ok(`require('acp').cancel({ session = 2 })`)
		p.expect("$/cancel_request")
		p.reply(begin, obj{"sessionId": remote(2)})
		if m := p.expect("session/close"); m.text("sessionId") != remote(2) {
			t.Errorf("closed %s", m)
		}
	})
}

func TestSessionsTellsWhichWorkAndWhichWait(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "work")
		s.ok(`require('acp').new({ cwd = '/' })`)
		q := s.agent()
		q.initialize(nil)
		q.refuse(q.expect("session/new"), -32000, "Authentication required", nil)
		s.AwaitLua(`require('acp').sessions()[2].state == 'auth_required'`)
		s.choose("nothing")
		s.Command("Acp sessions")
		offered := s.offered(1)
		want := []any{"1 Puppet · works · " + s.LuaString(`vim.fn.fnamemodify(vim.fn.getcwd(), ':~')`), "2 Puppet · waits for a login · /"}
		if !reflect.DeepEqual(offered, want) {
			t.Errorf("offered are %q, not %q", offered, want)
		}
	})
}
