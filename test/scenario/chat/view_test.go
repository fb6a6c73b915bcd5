package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Whoever has been in another tab while the agent talked comes back to a full window.
func TestChatFilledFromAnotherTab(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		win := s.LuaInt(scene.ChatWin)
		s.Command("tabnew") // which takes a row of the window for the line of the tabs
		turn := s.Prompt(p, "talk")
		p.Say(scene.Lines(1, 60))
		p.EndTurn(turn)
		s.Command("tabfirst")
		s.Await("the end in view", func() bool { return atEnd(s, win) })
		if shown := s.LuaInt(`vim.api.nvim_win_call(..., function() return vim.fn.line('$') - vim.fn.line('w0') + 1 end)`, win); shown < 10 {
			t.Errorf("%d lines are shown: %s", shown, view(s, win))
		}
	})
}

func TestAParagraphTallerThanTheWindowStaysAboveTheLastLine(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "Explain")
		p.Say(strings.Repeat("and so on ", 100) + "to its end.\n\nAny questions?")
		p.EndTurn(turn)
		s.AwaitScreen("Any questions?")
		s.AwaitScreen("to its end.")
	})
}

func TestViewFollowsTheEndUnlessScrolledUp(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		win := s.LuaInt(scene.ChatWin)
		turn := s.Prompt(p, "talk")
		p.Say(scene.Lines(1, 60))
		s.AwaitChat("line 60")
		s.Await("the end in view", func() bool { return atEnd(s, win) })
		s.Redraw()
		s.GoldenScreen("following")

		// Scrolled up in the chat's window, it stays whatever comes.
		s.Keys("<Esc><C-w>kgg5j")
		s.AwaitLua(`vim.fn.line('.') == 6`)
		before := view(s, win)
		p.Say(scene.Lines(61, 60))
		p.Think("Hm.")
		p.Update("tool_call", obj{"toolCallId": "c", "title": "Look", "kind": "search", "status": "in_progress"})
		p.Say(scene.Lines(121, 5))
		s.AwaitChat("line 125")
		p.Update("tool_call_update", obj{"toolCallId": "c", "status": "completed"})
		s.AwaitChat("⌕ search")
		check.Equal(t, view(s, win), before, "the view went from %s to %s", before)

		// Back at the end it follows again.
		s.Keys("G")
		s.AwaitLua(`vim.fn.line('.') == vim.fn.line('$')`)
		p.Say(scene.Lines(126, 30))
		s.AwaitChat("line 155")
		s.Await("the end in view", func() bool { return atEnd(s, win) })

		// A selection stays what it is, also one that begins at the end.
		s.Keys("Vkk")
		s.AwaitLua(`vim.fn.mode() == 'V'`)
		s.AwaitLua(`vim.fn.line('v') - vim.fn.line('.') == 2`)
		selected := `vim.fn.mode() .. vim.fn.line('v') .. '-' .. vim.fn.line('.')`
		chosen := s.LuaString(selected)
		s.Keys("jj")
		s.AwaitLua(`vim.fn.line('v') == vim.fn.line('.')`)
		p.Say(scene.Lines(156, 30))
		s.AwaitChat("line 185")
		if got := s.LuaString(`vim.fn.mode() .. vim.fn.line('v') .. ',' .. vim.fn.line('.')`); strings.Split(chosen, "-")[0]+","+strings.TrimPrefix(strings.Split(chosen, "-")[0], "V") != got {
			t.Errorf("the selection from %s became %s", chosen, got)
		}
		s.Keys("<Esc>")
		p.EndTurn(turn)
	})
}

func TestTwoWindowsOnOneChat(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		win := s.LuaInt(scene.ChatWin)
		turn := s.Prompt(p, "talk")
		p.Say(scene.Lines(1, 60))
		s.AwaitChat("line 60")
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, win)
		s.Command("split")
		other := s.LuaInt(`vim.api.nvim_get_current_win()`)
		s.Keys("gg")
		s.AwaitLua(`vim.fn.line('.') == 1`)
		s.Command("wincmd b")
		before := view(s, other)
		p.Say(scene.Lines(61, 60))
		s.AwaitChat("line 120")
		s.Await("the end in view", func() bool { return atEnd(s, win) })
		check.Equal(t, view(s, other), before, "the other view went from %s to %s", before)
		p.EndTurn(turn)
		s.GoldenScreen("two")
	})
}

func TestNothingMovesTheUserElsewhere(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "alpha\nbeta\ngamma\n"))
		p := s.Begin()
		s.Command("wincmd t")
		turn := s.Prompt(p, "talk")
		s.Keys("jAwo")
		p.Say(scene.Lines(1, 50))
		s.AwaitChat("line 50")
		s.Keys("rds")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'betawords' and vim.fn.mode() == 'i' and vim.fn.col('.') == 10`)
		s.Keys("<Esc>vb")
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.col('.') == 1`)
		p.Say(scene.Lines(51, 50))
		s.AwaitChat("line 100")
		if !s.LuaBool(`vim.fn.mode() == 'v' and vim.fn.col('.') == 1 and vim.fn.col('v') == 9`) {
			t.Error("the selection was lost")
		}
		p.EndTurn(turn)
		s.Keys("<Esc>")
	})
}

func TestMoreBelowIsShown(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		p.Say(scene.Lines(1, 100))
		s.AwaitChat("line 100")
		s.AwaitBar("↓", false)
		s.Keys("<C-w>kgg")
		s.AwaitBar("↓", true)
		s.Keys("G")
		s.AwaitBar("↓", false)
		s.Keys("<C-u>")
		s.AwaitBar("↓", true)
		// It grows without moving.
		s.Keys("G")
		s.AwaitBar("↓", false)
		s.Keys("k")
		s.AwaitLua(`vim.fn.line('.') == vim.fn.line('$') - 1`)
		p.Say(scene.Lines(101, 20))
		s.AwaitBar("↓", true)
		// A larger window shows all of it again.
		s.Resize(80, 60)
		s.Keys("G")
		s.AwaitBar("↓", false)
		s.Resize(80, 24)
		s.AwaitBar("↓", false)
		s.Keys("gg")
		s.AwaitBar("↓", true)
	})
}

func TestViewWithLinesThatWrap(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		win := s.LuaInt(scene.ChatWin)
		turn := s.Prompt(p, "talk")
		long := func(from, n int) string {
			var b strings.Builder
			for i := from; i < from+n; i++ {
				fmt.Fprintf(&b, "Paragraph %d: %send of %d.\n\n", i, strings.Repeat("it goes on and on, ", 12), i)
			}
			return b.String()
		}
		p.Say(long(1, 20))
		s.AwaitScreen("end of 20.")
		p.Say(long(21, 5))
		s.AwaitScreen("end of 25.")

		// Scrolled up, with a line at the top: it stays there.
		s.Keys("<C-w>k")
		s.Command("call search('Paragraph 10:')")
		s.Keys("zt")
		s.AwaitCursor("Paragraph 10:")
		s.AwaitLua(`vim.fn.line('w0') == vim.fn.line('.')`)
		before := view(s, win)
		p.Say(long(26, 5))
		s.AwaitChat("end of 30.")
		check.Equal(t, view(s, win), before, "the view went from %s to %s", before)

		// Smaller and larger, the end is followed.
		s.Keys("G<C-w>j")
		for i, size := range [][2]int{{60, 18}, {200, 50}, {80, 24}} {
			s.Resize(size[0], size[1])
			last := 31 + i
			p.Say(long(last, 1))
			s.AwaitScreen(fmt.Sprintf("end of %d.", last))
		}

		// One line that is longer than the window is followed to its end too.
		p.Say("Endless: ")
		for i := range 5 {
			p.Say(strings.Repeat("and on, ", 100) + fmt.Sprintf("part%d, ", i))
			s.AwaitScreen(fmt.Sprintf("part%d,", i))
		}
		s.Keys("<C-w>kgg<C-w>j")
		s.Await("the beginning", func() bool { return strings.Contains(s.Screen(), "talk") })
		p.Say("the end of it.")
		s.AwaitChat("the end of it.")
		if strings.Contains(s.Screen(), "the end of it.") {
			t.Error("the view has moved")
		}
		p.EndTurn(turn)
	})
}
