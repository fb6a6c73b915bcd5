package scenario

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// widths are those of the windows in the first line of the screen, from left to right.
const widths = `table.concat(vim.tbl_map(function(win)
	return tostring(vim.api.nvim_win_get_width(win[2]))
end, vim.tbl_map(function(win)
	return win[1] == 'leaf' and win or win[2][1]
end, vim.fn.winlayout()[2])), ' ')`

func TestTheChatTakesItsWidthFromAllWindows(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("vsplit")
		s.Command("Acp")
		if got := s.LuaString(widths); got != "43 42 63" && got != "42 43 63" {
			t.Errorf("the widths are %s", got)
		}
		s.Command("Acp toggle")
		s.Command("set noequalalways | 1wincmd w | vertical resize 60")
		s.Command("Acp")
		if got := s.LuaString(widths); got != "60 25 63" {
			t.Errorf("without 'equalalways' the widths are %s", got)
		}
	}, nvimtest.Size(150, 40))
}

// dashboard has the only window show what is no file, as a start screen, a file tree or a terminal do.
func (s *scene) dashboard() (win int) {
	s.t.Helper()
	s.Lua(nil, `
		local buf = vim.api.nvim_create_buf(false, true)
		vim.bo[buf].bufhidden = 'wipe'
		vim.api.nvim_buf_set_lines(buf, 0, -1, false, { 'Welcome' })
		vim.api.nvim_win_set_buf(0, buf)
		vim.bo[buf].modifiable = false`)
	return s.LuaInt(`vim.api.nvim_get_current_win()`)
}

func TestADiffTakesTheRoomOfADashboard(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("lexer.lua", tokensLua)
		s.dashboard()
		p := s.begin()
		s.prompt(p, "fix it")
		const sizes = `vim.json.encode(vim.tbl_map(function(win)
			local buf = vim.api.nvim_win_get_buf(win)
			return vim.b[buf].acp_session and { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) } or 0
		end, { require('acp.chat.layout').windows(0) }))`
		before, scenery := s.LuaString(sizes), s.scenery()
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		if got := s.LuaString(sizes); got != before {
			t.Errorf("the chat and the prompt have %s, before %s", got, before)
		}
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.same(scenery, s.scenery())
	}, wide)
}

func TestADashboardIsTakenForTheFile(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", before)
		win := s.dashboard()
		p := s.begin()
		s.prompt(p, "edit")
		p.readFile(path, nil)
		p.writeFile(path, reviewed)
		s.AwaitLua(`#require('acp').changes() > 0 and #require('acp').changes()[1].hunks >= 3`)
		s.Command("wincmd t")
		s.Command("Acp review next")
		s.AwaitLua(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'code.txt' and vim.api.nvim_win_get_cursor(0)[1] == 2`)
		if got := s.LuaInt(`vim.api.nvim_get_current_win()`); got != win {
			t.Errorf("the file is in window %d, not in %d", got, win)
		}
	}, wide)
}

// From the prompt too the next change is gone to, in a window for code.
func TestTheNextChangeFromThePrompt(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("a.txt", "1\n")
		win := s.dashboard()
		p := s.begin()
		s.Command("Acp review next")
		s.awaitMessage("there are no pending changes")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		turn := s.prompt(p, "edit")
		p.writeFile(path, "1\n2\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.synced()
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.Command("stopinsert | Acp review next")
		s.AwaitLua(`vim.fn.expand('%:t') == 'a.txt' and vim.api.nvim_get_current_win() == ...`, win)
	})
}

func TestFollowingTakesADashboard(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", before)
		win := s.dashboard()
		s.configure(`c.follow = 'window'`)
		p := s.begin()
		s.prompt(p, "look")
		p.works("r1", "read", []any{path, 4})
		s.AwaitLua(`(function(win)
			return vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))) == 'code.txt'
				and vim.api.nvim_win_get_cursor(win)[1] == 4
		end)(...)`, win)
		if n := s.LuaInt(`#vim.api.nvim_list_wins()`); n != 3 {
			t.Errorf("there are %d windows", n)
		}
	}, wide)
}
