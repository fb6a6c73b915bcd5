package attention

import (
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// focus tells Neovim whether its terminal has the focus, and waits until it has noticed.
func focus(s *scene.Scene, gained bool) {
	s.T.Helper()
	s.Lua(nil, `_G.noticed = false
		vim.api.nvim_create_autocmd({ 'FocusGained', 'FocusLost' }, { once = true, callback = function()
			_G.noticed = true
		end })`)
	must.Do(s.T, s.Request("nvim_ui_set_focus", nil, gained))
	s.AwaitLua(`_G.noticed`)
}

// heard are the recorded messages.
func heard(s *scene.Scene) []string {
	s.T.Helper()
	var list []string
	s.Lua(&list, `_G.notifications`)
	return list
}

// round plays turns that end well, by an error, and after a permission.
func round(s *scene.Scene, p *scene.Puppet) {
	s.T.Helper()
	turn := s.Prompt(p, "well")
	p.EndTurn(turn)
	turn = s.Prompt(p, "badly")
	p.Refuse(turn, -32603, "overloaded", nil)
	s.AwaitEvent("AcpTurnEnd")
	turn = s.Prompt(p, "ask")
	ask := p.Permission(obj{"toolCallId": "c", "title": "Change it", "kind": "edit"}, scene.YesNo...)
	s.AwaitFloat()
	s.AwaitEvent("AcpPermissionRequest")
	s.Command("Acp permit 1")
	p.Answer(ask)
	p.EndTurn(turn)
}

func TestNotifiedWithoutFocus(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		round(s, p)
		if got := heard(s); len(got) > 0 {
			t.Errorf("with the focus one heard %q", got)
		}
		focus(s, false)
		round(s, p)
		want := []string{"acp: Puppet is done", "acp: Puppet has stopped with an error", "acp: Puppet waits for you", "acp: Puppet is done"}
		s.Await("all notifications", func() bool { return reflect.DeepEqual(heard(s), want) })
		// Back again, nobody needs to be told.
		focus(s, true)
		round(s, p)
		check.Deep(t, heard(s), want, "heard were %q")
	})
}

func TestNotifyByAFunction(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Lua(nil, `local c = vim.g.acp
			_G.calls = {}
			c.notify = function(text)
				table.insert(_G.calls, text)
				if text:find('error') then error('broken') end
			end
			require('acp').setup(c)`)
		p := s.Begin()
		s.Lua(nil, `vim.api.nvim_exec_autocmds('FocusLost', {})`)
		round(s, p)
		s.AwaitLua(`#_G.calls == 4`)
		if got := s.LuaString(`table.concat(_G.calls, '|')`); got != "Puppet is done|Puppet has stopped with an error|Puppet waits for you|Puppet is done" {
			t.Errorf("called with %s", got)
		}
		if got := heard(s); len(got) != 1 || !strings.Contains(got[0], "broken") {
			t.Errorf("heard were %q", got)
		}
	})
}

func TestNotifyIsSwitchedOff(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Configure(`c.notify = false`)
		p := s.Begin()
		s.Lua(nil, `vim.api.nvim_exec_autocmds('FocusLost', {})`)
		round(s, p)
		if got := heard(s); len(got) > 0 {
			t.Errorf("heard were %q", got)
		}
	})
}

// The terminal rings, and has the desktop notify.
func TestNotifiedByTheTerminal(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `_G.sent = {}
			local function sent(bytes) table.insert(_G.sent, (bytes:gsub('\27', '^['):gsub('\a', '^G'))) end
			local chan_send = vim.api.nvim_chan_send
			vim.api.nvim_chan_send = function(chan, bytes)
				if chan == vim.v.stderr then return sent(bytes) end
				return chan_send(chan, bytes)
			end
			if vim.api.nvim_ui_send then vim.api.nvim_ui_send = sent end`)
		p := s.Begin()
		focus(s, false)
		for i, c := range []struct{ env, want string }{
			{`vim.env.TERM, vim.env.TMUX, vim.env.VTE_VERSION = 'xterm-256color'`, `^G^[]9;Puppet waits for you^[\`},
			{`vim.env.TERM = 'foot'`, `^G^[]777;notify;Neovim;Puppet waits for you^[\`},
			{`vim.env.TERM, vim.env.TMUX = 'tmux-256color', '/tmp/tmux'`, `^G^[Ptmux;^[^[]9;Puppet waits for you^[^[\^[\`},
		} {
			s.Lua(nil, c.env)
			turn := s.Prompt(p, "ask")
			ask := p.Permission(obj{"toolCallId": "c", "title": "Change it", "kind": "edit"}, scene.YesNo...)
			s.AwaitLua(`#_G.sent == ...`, 2*i+1)
			check.Equal(t, s.LuaString(`_G.sent[#_G.sent]`), c.want, "%s: sent was %s", c.env)
			s.AwaitFloat()
			s.Command("Acp permit 1")
			p.Answer(ask)
			p.Stop(turn, "end_turn")
			s.AwaitLua(`#_G.sent == ...`, 2*i+2)
		}
	})
}

// What a rule decides waits for nobody.
func TestNotNotifiedOfWhatARuleDecides(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.SetRules(`{ { action = 'allow' } }`)
		p := s.Begin()
		focus(s, false)
		turn := s.Prompt(p, "ask")
		s.CheckDecision(p, scene.CommandCall("c", "make"), "yes")
		p.Stop(turn, "end_turn")
		s.Await("a notification", func() bool { return len(heard(s)) > 0 })
		check.Deep(t, heard(s), []string{"acp: Puppet is done"}, "heard were %q")
	})
}
