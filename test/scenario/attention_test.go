package scenario

import (
	"reflect"
	"strings"
	"testing"
)

// focus tells Neovim whether its terminal has the focus, and waits until it has noticed.
func (s *scene) focus(gained bool) {
	s.t.Helper()
	s.Lua(nil, `_G.noticed = false
		vim.api.nvim_create_autocmd({ 'FocusGained', 'FocusLost' }, { once = true, callback = function()
			_G.noticed = true
		end })`)
	if err := s.Request("nvim_ui_set_focus", nil, gained); err != nil {
		s.t.Fatal(err)
	}
	s.AwaitLua(`_G.noticed`)
}

// heard are the recorded messages.
func (s *scene) heard() []string {
	s.t.Helper()
	var list []string
	s.Lua(&list, `_G.notifications`)
	return list
}

// round plays turns that end well, by an error, and after a permission.
func (s *scene) round(p *puppet) {
	s.t.Helper()
	turn := s.prompt(p, "well")
	p.stop(turn, "end_turn")
	s.AwaitEvent("AcpTurnEnd")
	turn = s.prompt(p, "badly")
	p.refuse(turn, -32603, "overloaded", nil)
	s.AwaitEvent("AcpTurnEnd")
	turn = s.prompt(p, "ask")
	ask := p.permission(obj{"toolCallId": "c", "title": "Change it", "kind": "edit"}, yesNo...)
	s.awaitFloat()
	s.AwaitEvent("AcpPermissionRequest")
	s.Command("Acp permit 1")
	p.answer(ask)
	p.stop(turn, "end_turn")
	s.AwaitEvent("AcpTurnEnd")
}

func TestNotifiedWithoutFocus(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.begin()
		s.round(p)
		if got := s.heard(); len(got) > 0 {
			t.Errorf("with the focus one heard %q", got)
		}
		s.focus(false)
		s.round(p)
		want := []string{"acp: Puppet is done", "acp: Puppet has stopped with an error", "acp: Puppet waits for you", "acp: Puppet is done"}
		s.Await("all notifications", func() bool { return reflect.DeepEqual(s.heard(), want) })
		// Back again, nobody needs to be told.
		s.focus(true)
		s.round(p)
		if got := s.heard(); !reflect.DeepEqual(got, want) {
			t.Errorf("heard were %q", got)
		}
	})
}

func TestNotifyByAFunction(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.Lua(nil, `local c = vim.g.acp
			_G.calls = {}
			c.notify = function(text)
				table.insert(_G.calls, text)
				if text:find('error') then error('broken') end
			end
			require('acp').setup(c)`)
		p := s.begin()
		s.Lua(nil, `vim.api.nvim_exec_autocmds('FocusLost', {})`)
		s.round(p)
		s.AwaitLua(`#_G.calls == 4`)
		if got := s.LuaString(`table.concat(_G.calls, '|')`); got != "Puppet is done|Puppet has stopped with an error|Puppet waits for you|Puppet is done" {
			t.Errorf("called with %s", got)
		}
		if got := s.heard(); len(got) != 1 || !strings.Contains(got[0], "broken") {
			t.Errorf("heard were %q", got)
		}
	})
}

func TestNotifyIsSwitchedOff(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.configure(`c.notify = false`)
		p := s.begin()
		s.Lua(nil, `vim.api.nvim_exec_autocmds('FocusLost', {})`)
		s.round(p)
		if got := s.heard(); len(got) > 0 {
			t.Errorf("heard were %q", got)
		}
	})
}

func TestStatusline(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		said := func(want string) {
			t.Helper()
			s.AwaitLua(`require('acp').statusline() == ...`, want)
		}
		said("")
		p := s.begin()
		said("")
		s.ok(`require('acp').new()`)
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.ok(`require('acp').prompt('one', { session = 1 })`)
		one, _ := p.prompted()
		said("acp: 1 working")
		s.ok(`require('acp').prompt('two', { session = 2 })`)
		two, _ := p.prompted()
		said("acp: 2 working")
		s.Command("Acp")
		winbar := func(want string) {
			t.Helper()
			s.AwaitLua(`(function(want)
				local win = vim.fn.win_findbuf(require('acp').sessions()[2].chat_buf)[1]
				return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str:find(want, 1, true)
			end)(...)`, want)
		}
		winbar("Puppet 2 ")
		ask := p.permission(obj{"toolCallId": "c", "title": "Change it", "kind": "edit"}, yesNo...)
		said("acp: 1 waiting (Puppet 1), 1 working")
		winbar("Puppet 1 waits for you")
		s.AwaitLua(`require('acp.permission.float').win()`)
		s.AwaitLua(`vim.api.nvim_win_get_config(require('acp.permission.float').win()).title[1][1] == ...`, " Puppet 1 wants to edit ")
		other := p.call("session/request_permission", obj{
			"sessionId": remote(2), "toolCall": obj{"toolCallId": "d", "title": "Change more", "kind": "edit"}, "options": yesNo,
		})
		s.Lua(nil, `vim.api.nvim_win_set_width(vim.fn.win_findbuf(require('acp').sessions()[2].chat_buf)[1], 60)`)
		winbar("Puppet 1 waits for you · waits for you")
		s.Command("Acp permit 3")
		p.answer(ask)
		s.AwaitLua(`vim.api.nvim_win_get_config(require('acp.permission.float').win()).title[1][1] == ...`, " Puppet 2 wants to edit ")
		s.Command("Acp permit 3")
		p.answer(other)
		said("acp: 2 working")
		p.stop(two, "end_turn")
		said("acp: 1 working")
		p.stop(one, "end_turn")
		said("")
	})
}

// The terminal rings, and has the desktop notify.
func TestNotifiedByTheTerminal(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Lua(nil, `_G.sent = {}
			local function sent(bytes) table.insert(_G.sent, (bytes:gsub('\27', '^['):gsub('\a', '^G'))) end
			local chan_send = vim.api.nvim_chan_send
			vim.api.nvim_chan_send = function(chan, bytes)
				if chan == vim.v.stderr then return sent(bytes) end
				return chan_send(chan, bytes)
			end
			if vim.api.nvim_ui_send then vim.api.nvim_ui_send = sent end`)
		p := s.begin()
		s.focus(false)
		for i, c := range []struct{ env, want string }{
			{`vim.env.TERM, vim.env.TMUX, vim.env.VTE_VERSION = 'xterm-256color'`, `^G^[]9;Puppet waits for you^[\`},
			{`vim.env.TERM = 'foot'`, `^G^[]777;notify;Neovim;Puppet waits for you^[\`},
			{`vim.env.TERM, vim.env.TMUX = 'tmux-256color', '/tmp/tmux'`, `^G^[Ptmux;^[^[]9;Puppet waits for you^[^[\^[\`},
		} {
			s.Lua(nil, c.env)
			turn := s.prompt(p, "ask")
			ask := p.permission(obj{"toolCallId": "c", "title": "Change it", "kind": "edit"}, yesNo...)
			s.AwaitLua(`#_G.sent == ...`, 2*i+1)
			if got := s.LuaString(`_G.sent[#_G.sent]`); got != c.want {
				t.Errorf("%s: sent was %s", c.env, got)
			}
			s.awaitFloat()
			s.Command("Acp permit 1")
			p.answer(ask)
			p.stop(turn, "end_turn")
			s.AwaitLua(`#_G.sent == ...`, 2*i+2)
		}
	})
}

// What a rule decides waits for nobody.
func TestNotNotifiedOfWhatARuleDecides(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.rules(`{ { action = 'allow' } }`)
		p := s.begin()
		s.focus(false)
		turn := s.prompt(p, "ask")
		s.decided(p, command("c", "make"), "yes")
		p.stop(turn, "end_turn")
		s.Await("a notification", func() bool { return len(s.heard()) > 0 })
		if got := s.heard(); !reflect.DeepEqual(got, []string{"acp: Puppet is done"}) {
			t.Errorf("heard were %q", got)
		}
	})
}
