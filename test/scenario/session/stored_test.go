package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestStoredSessionIsChosenAndLoaded(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.Choose("The second")
		s.Command("Acp resume")
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true, "list", "resume"))
		list := p.Expect("session/list")
		p.Reply(list, obj{"nextCursor": "more", "sessions": []any{
			obj{"sessionId": "a", "cwd": "/elsewhere", "title": "The first", "updatedAt": "2026-01-02T03:04:05Z"},
			obj{"sessionId": "bad"},
		}})
		if list = p.Expect("session/list"); list.Text("cursor") != "more" {
			t.Errorf("asked for %s", list)
		}
		p.Reply(list, obj{"sessions": []any{obj{"sessionId": "b", "cwd": s.Dir, "title": "The second"}}})

		load := p.Expect("session/load")
		if load.Text("sessionId") != "b" || load.Text("cwd") != s.Dir {
			t.Errorf("loaded %s", load)
		}
		offered := s.Offered(1)
		if len(offered) != 2 || !strings.HasPrefix(fmt.Sprint(offered[0]), "The second") ||
			offered[1] != "The first · /elsewhere · 2026-01-02 03:04" {
			t.Errorf("offered are %q", offered)
		}
		p.Replay("b")
		s.AwaitChat("Answered long ago.")
		p.Reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		// gemini tells most of it after the answer.
		p.UpdateIn("b", "agent_message_chunk", obj{"content": obj{"type": "text", "text": "Told late."}})
		s.AwaitChat("Told late.")
		s.OnceInChat("Asked long ago.", "Looked it up", "Answered long ago.")
		if got := s.Session(); got["state"] != "idle" || got["title"] != "The second" || got["agent_session_id"] != "b" || got["tool_calls"] != 1 {
			t.Errorf("the session is %v", got)
		}
		check.Equal(t, s.CountEvents("AcpTurnStart"), 0, "%d turns began")
		s.GoldenScreen("loaded")
		p.EndTurn(s.Prompt(p, "and now"))

		// The same one again is the one that is open.
		check.Equal(t, s.LuaInt(`require('acp').resume({ agent_session_id = 'b' })`), 1, "opened a session %d")
		p.Silent()

		// Its agent is started again where it has ended.
		p.Exit(1, "gone")
		s.AwaitState("dead")
		check.Equal(t, s.LuaInt(`require('acp').resume({ agent_session_id = 'b' })`), 1, "opened a session %d")
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "list", "resume"))
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitState("idle")
		p.Silent()
	})
}

func TestStoredTellsWhatItCannot(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Command("Acp resume")
		p := s.Agent()
		p.Initialize(nil)
		s.AwaitNotification("Puppet does not list its sessions.")
		s.Command("Acp resume gone")
		s.AwaitLua(`#require('acp').sessions() == 1`)
		s.AwaitState("dead")
		s.AwaitChat("Puppet cannot resume stored sessions.")
		s.Refused(`require('acp').resume({})`)
		s.Refused(`require('acp').stored('nobody', print)`)
		s.Refused(`require('acp').stored()`)
	})
}

func TestStoredNeedsALogin(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').stored(nil, function(list, err) _G.answer = { list == nil, err } end)`)
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(false, "list"))
		p.Refuse(p.Expect("session/list"), -32000, "Authentication required", nil)
		s.AwaitLua(`_G.answer and _G.answer[1] and _G.answer[2]:find('log in first', 1, true)`)
		s.OK(`require('acp').stored(nil, function(list, err) _G.second = { list == nil, err } end)`)
		p.Expect("session/list")
		p.Exit(1, "")
		s.AwaitLua(`_G.second and _G.second[1] and _G.second[2]:find('ended before', 1, true)`)
	})
}

// A list that breaks off gives what was read of it, and says so.
func TestStoredBreaksOff(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').stored(nil, function(list, err) _G.answer = { list, err } end)`)
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(false, "list"))
		p.Reply(p.Expect("session/list"), obj{"nextCursor": "more", "sessions": []obj{{"sessionId": "a", "cwd": s.Dir, "title": "The first"}}})
		p.Refuse(p.Expect("session/list"), -32603, "the disk is full", nil)
		s.AwaitLua(`_G.answer and #_G.answer[1] == 1 and _G.answer[2] == nil`)
		s.AwaitMessage("the disk is full")
	})
}

func TestResumeWithoutAReplay(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').resume({ agent = 'puppet', agent_session_id = 'x', cwd = '/' })`)
		s.OK(`require('acp').prompt('at once')`)
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(false, "resume"))
		resume := p.Expect("session/resume")
		if resume.Text("sessionId") != "x" || resume.Text("cwd") != "/" {
			t.Errorf("resumed %s", resume)
		}
		p.Reply(resume, obj{"modes": obj{"currentModeId": "code", "availableModes": []any{obj{"id": "code", "name": "Code"}}}})
		turn, text := p.Prompted()
		if text != "at once" || turn.Text("sessionId") != "x" {
			t.Errorf("asked %s", turn)
		}
		s.AwaitLua(`vim.deep_equal(require('acp').sessions()[1].mode, { id = 'code', name = 'Code' })`)
		p.EndTurn(turn)
	})
}

func TestDeleteAsksFirst(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.BeginWith(scene.KeepsSessions(false, "delete"))
		s.OK(`require('acp').new()`)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.Choose("Keep it")
		s.Command("Acp delete")
		s.Offered(1)
		s.Choose("Delete it")
		s.Command("Acp delete")
		m := p.Expect("session/delete")
		if m.Text("sessionId") != scene.SessionID(2) {
			t.Errorf("deleted %s", m)
		}
		p.Reply(m, obj{})
		s.AwaitNotification("was deleted")
		s.AwaitEvent("AcpSessionClosed")
		s.OK(`require('acp').prompt('go on', { session = 1 })`)
		turn, _ := p.Prompted() // and no session/close of what is deleted
		p.Stop(turn, "end_turn")
		s.Command("Acp delete stored")
		m = p.Expect("session/delete")
		if m.Text("sessionId") != "stored" {
			t.Errorf("deleted %s", m)
		}
		p.Refuse(m, -32603, "it is locked", nil)
		s.AwaitNotification("Puppet refused session/delete: it is locked.")
	})
}
