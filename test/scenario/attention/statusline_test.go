package attention

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestStatusline(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		said := func(want string) {
			t.Helper()
			s.AwaitLua(`require('acp').statusline() == ...`, want)
		}
		said("")
		p := s.Begin()
		said("")
		s.OK(`require('acp').new()`)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').prompt('one', { session = 1 })`)
		one, _ := p.Prompted()
		said("acp: 1 working")
		s.OK(`require('acp').prompt('two', { session = 2 })`)
		two, _ := p.Prompted()
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
		ask := p.Permission(obj{"toolCallId": "c", "title": "Change it", "kind": "edit"}, scene.YesNo...)
		said("acp: 1 waiting (Puppet 1), 1 working")
		winbar("Puppet 1 waits for you")
		s.AwaitLua(`require('acp.permission.float').win()`)
		s.AwaitLua(`vim.api.nvim_win_get_config(require('acp.permission.float').win()).title[1][1] == ...`, " Puppet 1 wants to edit ")
		other := p.Call("session/request_permission", obj{
			"sessionId": scene.SessionID(2), "toolCall": obj{"toolCallId": "d", "title": "Change more", "kind": "edit"}, "options": scene.YesNo,
		})
		s.Lua(nil, `vim.api.nvim_win_set_width(vim.fn.win_findbuf(require('acp').sessions()[2].chat_buf)[1], 60)`)
		winbar("Puppet 1 waits for you · waits for you")
		s.Command("Acp permit 3")
		p.Answer(ask)
		s.AwaitLua(`vim.api.nvim_win_get_config(require('acp.permission.float').win()).title[1][1] == ...`, " Puppet 2 wants to edit ")
		s.Command("Acp permit 3")
		p.Answer(other)
		said("acp: 2 working")
		p.Stop(two, "end_turn")
		said("acp: 1 working")
		p.Stop(one, "end_turn")
		said("")
	})
}
