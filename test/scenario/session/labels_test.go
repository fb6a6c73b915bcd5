package session

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// talk is a turn, so that something of the session is kept.
func talk(s *scene.Scene, p *scene.Puppet) {
	s.T.Helper()
	turn := s.Prompt(p, "Hello there")
	p.Say("Good day to you.")
	p.EndTurn(turn)
}

// The user's title stands above the chat, in the lists and beside what a search finds, whatever the agent calls the
// session, and in another Neovim too.
func TestRename(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		can := scene.KeepsSessions(false, "list", "resume")
		p := s.BeginWith(can)
		s.Command("Acp rename A title of mine")
		s.AwaitScreen("Puppet · A title of mine")
		talk(s, p)
		p.Update("session_info_update", obj{"title": "Of the agent"})
		p.Update("agent_message_chunk", obj{"content": obj{"type": "text", "text": "Told."}})
		s.AwaitChat("Told.")
		check.Equal(t, s.Session()["title"], "A title of mine", "it is called %v")
		s.Lua(nil, `vim.ui.input = function(opts, done) _G.now = opts.default; done('A better one') end`)
		s.Command("Acp rename")
		s.AwaitScreen("A better one")
		check.Equal(t, s.LuaString(`_G.now`), "A title of mine", "offered is %q")
		p.Silent() // the agent keeps no titles
		s.Refused(`require('acp').rename({ title = ' ' })`)
		s.Quit()

		s = s.Next()
		s.Command("Acp search Good day")
		s.AwaitLua(`#vim.fn.getqflist() == 1 and vim.fn.getqflist()[1].module == 'puppet · A better one'`)
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		s.Choose("A better one")
		s.Command("Acp resume")
		p = s.Agent()
		p.Initialize(can)
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{obj{"sessionId": scene.SessionID(1), "cwd": s.Dir, "title": "Of the agent"}}})
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitEvent("AcpSessionReady")
		check.Equal(t, s.Session()["title"], "A better one", "it is called %v")
	})
}

// An agent that keeps titles is told, and what it makes of one counts, now and later.
func TestRenameInTheAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		can := scene.KeepsSessions(false, "list", "resume", "title")
		p := s.BeginWith(can)
		talk(s, p)
		s.Command("Acp rename  A   title")
		m := p.Expect("session/set_title")
		if m.Text("sessionId") != scene.SessionID(1) || m.Text("title") != "A title" {
			t.Errorf("renamed %s", m)
		}
		p.Reply(m, obj{"title": "A Title"})
		s.AwaitLua(`require('acp').sessions()[1].title == 'A Title'`)
		s.Command("Acp rename !")
		p.Refuse(p.Expect("session/set_title"), -32602, "that is no title", nil)
		s.AwaitNotification("Puppet refused session/set_title: that is no title.")
		p.Update("session_info_update", obj{"title": "From elsewhere"})
		s.AwaitLua(`require('acp').sessions()[1].title == 'From elsewhere'`)
		s.Choose("From elsewhere")
		s.Quit()
		s = s.Next()
		s.Choose("From elsewhere")
		s.Command("Acp search")
		s.Offered(1)
		s.AwaitLua(`vim.fn.search('Good day', 'nw') > 0`)
	})
}

// What is archived is in no list but that of what is archived, whether the agent can do that or not; taking it up brings
// it back.
func TestArchive(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		can := scene.KeepsSessions(false, "list", "resume")
		p := s.BeginWith(can)
		talk(s, p)
		s.OK(`require('acp').new()`)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.Lua(nil, `require('acp.chat.layout').open(1, true)`)
		s.Command("Acp archive")
		if m := p.Expect("session/close"); m.Text("sessionId") != scene.SessionID(1) {
			t.Errorf("closed %s", m)
		}
		s.AwaitNotification("the session was archived: :Acp unarchive brings it back")
		all := obj{"sessions": []any{
			obj{"sessionId": scene.SessionID(1), "cwd": s.Dir, "title": "The first"}, obj{"sessionId": "b", "cwd": s.Dir, "title": "The second"},
		}}
		s.Choose("nothing")
		s.Command("Acp resume")
		p.Reply(p.Expect("session/list"), all)
		if offered := s.Offered(1); len(offered) != 1 || !strings.HasPrefix(offered[0].(string), "The second") {
			t.Errorf("offered are %q", offered)
		}
		s.Choose("The first")
		s.Command("Acp unarchive")
		p.Reply(p.Expect("session/list"), all)
		if offered := s.Offered(1); len(offered) != 1 || !strings.HasPrefix(offered[0].(string), "The first") {
			t.Errorf("offered are %q", offered)
		}
		s.AwaitNotification("it is back in the list of :Acp resume")
		s.Lua(nil, `require('acp.session.start').archive({ agent_session_id = ... }, function(ok) _G.archived = ok end)`, scene.SessionID(1))
		s.AwaitLua(`_G.archived`)
		s.OK(`require('acp').resume({ agent_session_id = '` + scene.SessionID(1) + `' })`)
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitEvent("AcpSessionReady")
		s.Choose("nothing")
		s.Command("Acp unarchive")
		p.Reply(p.Expect("session/list"), all)
		s.AwaitNotification("no session is archived")
	})
}

// An agent that archives does it itself, and is asked for what it has archived.
func TestArchiveInTheAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		can := scene.KeepsSessions(false, "list", "resume", "archive", "status")
		p := s.BeginWith(can)
		talk(s, p)
		s.OK(`require('acp').new()`)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.Lua(nil, `require('acp.chat.layout').open(1, true)`)
		s.Command("Acp archive")
		m := p.Expect("session/archive")
		if m.Text("sessionId") != scene.SessionID(1) {
			t.Errorf("archived %s", m)
		}
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionClosed")
		s.AwaitNotification("the session was archived")
		s.Choose("nothing")
		s.Command("Acp unarchive")
		if m = p.Expect("session/list"); m.Text("archived") != "only" {
			t.Errorf("asked for %s", m)
		}
		p.Reply(m, obj{"sessions": []any{obj{"sessionId": "b", "cwd": s.Dir, "title": "The second"}}})
		s.Offered(1)
		s.Command("Acp unarchive b")
		p.Reply(p.Expect("session/unarchive"), obj{})
		s.AwaitNotification("it is back in the list of :Acp resume")

		// It is taken up when the agent knows it, and has it in its list again.
		s.Command("Acp resume " + scene.SessionID(1))
		p.Reply(p.Expect("session/status"), obj{"status": "saved"})
		p.Reply(p.Expect("session/unarchive"), obj{})
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp resume gone")
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{}})
		m = p.Expect("session/status")
		p.Refuse(m, -32002, "there is no such session", nil)
		s.AwaitChat("Puppet refused session/status: there is no such session.")
		p.Silent()
	})
}
