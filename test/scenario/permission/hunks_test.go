package permission

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// linesLua is a file of many lines, of which an agent changes three.
func linesLua() (old, text string) {
	var b strings.Builder
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&b, "local line%d = %d\n", i, i)
	}
	old = b.String()
	text = strings.Replace(old, "line4 = 4", "line4 = 'four'", 1)
	text = strings.Replace(text, "local line14 = 14\n", "local line14 = 14\nlocal extra = 1\n", 1)
	text = strings.Replace(text, "local line24 = 24\n", "", 1)
	return old, text
}

func TestHunksOfARequest(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		old, text := linesLua()
		a, b := s.WriteFile("a.lua", old), s.WriteFile("b.lua", "return 1\n")
		s.Command("edit " + a)
		p := s.Begin()
		turn := s.Prompt(p, "change it")
		id := p.Permission(scene.EditsCall("e1", a, old, text, b, "return 1\n", "return 2\n"), scene.YesNo...)
		s.AwaitDiff("four")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.fn.line('.') == 4`)

		s.Keys("g<lt>")
		s.AwaitRefused(1)
		s.AwaitScreen("1 of 3 refused")
		s.Keys("g<lt>")
		s.Keys("]v")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'local extra = 1'`)
		s.Keys("]v")
		s.AwaitLua(`vim.fn.line('.') == 25`)
		s.Keys("g<lt>")
		s.AwaitRefused(2)
		s.GoldenScreen("split")

		// On to the next file, and back.
		s.Keys("]v")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'return 2'`)
		s.Keys("[v")
		s.AwaitLua(`vim.fn.line('.') == 25`)
		s.AwaitScreen("2 of 3 refused")

		// In the old text, where what comes has no line; and kept again.
		s.Command("wincmd h")
		s.Keys(":14<CR>g<lt>")
		s.AwaitRefused(3)
		s.Keys(":24<CR>g>")
		s.AwaitRefused(2)
		s.Keys("Gg<lt>")
		s.AwaitMessage("no hunk here; ]v goes to the next one")

		// Selected lines, as many hunks as they touch.
		s.Keys("ggVGg>")
		s.AwaitRefused(0)
		s.Keys("ggV/line20<CR>g<lt>")
		s.AwaitRefused(2)
		if !s.LuaBool(`vim.fn.mode() == 'n'`) {
			t.Error("the selection is still there")
		}

		s.Keys("ga")
		p.AwaitOutcome(id, "no")
		s.AwaitNoDiff()
		s.AwaitChat("You refused 2 of 4 hunks: Puppet was told no, and a prompt for the rest is the next in the queue.")
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		p.Stop(turn, "end_turn")
		_, words := p.Prompted()
		want := `I refused the change that you asked about (Edit files), as I want only a part of it. Make it again with the hunks that are kept below, as you had them. Leave out the refused ones, and put nothing else in their place.

a.lua
- refused: line 4
    - local line4 = 4
    + local line4 = 'four'
- refused: 1 new line before line 15
    + local extra = 1
- kept: line 24
    - local line24 = 24

b.lua
- kept: line 1
    - return 1
    + return 2`
		check.Equal(t, words, want, "the prompt is\n%s")
		p.Silent()
	}, scene.Wide)
}

// Keys typed behind a jump into another file are about the hunk that it goes to, also where a file is in
// between that has none.
func TestKeysTypedBehindAJump(t *testing.T) {
	for _, form := range []string{"split", "inline"} {
		t.Run(form, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(`c.diff = '` + form + `'`)
				old, text := linesLua()
				a, b, c := s.WriteFile("a.lua", old), s.WriteFile("b.lua", old), s.WriteFile("c.lua", "return 1\n")
				none := s.WriteFile("none", "\x00")
				s.Command("edit " + a)
				p := s.Begin()
				s.Prompt(p, "change it")
				p.Permission(scene.EditsCall("e1", a, old, text, b, old, text, none, "\x00", "\x01\x00", c, "return 1\n", "return 2\n"), scene.YesNo...)
				s.AwaitLua(`#require('acp.diff.view').windows() > 0`)
				s.Command("Acp diff")
				s.AwaitLua(`vim.fn.line('.') == 4`)
				selected := func(want string) {
					t.Helper()
					s.Await("refused hunks "+want, func() bool {
						return s.LuaString(`return (vim.json.encode(vim.tbl_map(function(p) return p.refused end, require('acp.rpc.state').permissions()[1].selection or {})):gsub('{}', '[]'))`) == want
					})
				}
				s.Keys("]v]v]vg<lt>")
				selected("[[],[1],[],[]]")
				s.Keys("[f]v]vg<lt>]f]vg<lt>]v]v]v]vg<lt>")
				selected("[[3],[1,2],[],[1]]")
				s.Keys("[v[v[v[vg>")
				selected("[[3],[2],[],[1]]")
			}, scene.Wide)
		})
	}
}

func TestHunksOfARequestInItsOtherForms(t *testing.T) {
	for _, form := range []string{"tab", "inline"} {
		t.Run(form, func(t *testing.T) {
			scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(`c.diff = '` + form + `'`)
				old, text := linesLua()
				a := s.WriteFile("a.lua", old)
				s.Command("edit " + a)
				s.Command("nnoremap <buffer> g> :let g:mine = 1<CR>")
				s.Command("xnoremap <buffer> g> :<C-u>let g:mine = 2<CR>")
				p := s.Begin()
				s.Prompt(p, "change it")
				s.Command("wincmd t")
				before := s.Scenery()
				id := p.Permission(scene.EditsCall("e1", a, old, text), scene.YesNo...)
				s.AwaitLua(`#require('acp.diff.view').windows() > 0 or #vim.api.nvim_list_tabpages() == 2`)
				s.Command("Acp diff")
				s.AwaitLua(`vim.fn.line('.') == 4`)
				s.Keys("]v]vg<lt>")
				s.AwaitRefused(1)
				s.Keys("[v")
				s.Keys("g<lt>")
				s.AwaitRefused(2)
				s.Keys("ggVGg>")
				s.AwaitRefused(0)
				s.Keys("gg]v]v]v]vg<lt>")
				s.AwaitMessage("this is the last hunk")
				s.AwaitRefused(1)
				s.Keys("[vg<lt>")
				s.AwaitRefused(2)
				s.AwaitScreen("2 of 3 hunks refused")
				s.GoldenScreen(form)
				// With none left the answer is the agent's refusal, and nothing is asked for.
				s.Keys("[vg<lt>")
				s.AwaitRefused(3)
				s.Keys("ga")
				p.AwaitOutcome(id, "no")
				s.AwaitNoDiff()
				s.AwaitNoFloat()
				s.AwaitChat("You refused all hunks, so Puppet was told no.")
				check.Equal(t, s.LuaInt(`require('acp').sessions()[1].queued`), 0, "%d prompts wait")
				if form == "tab" { // in the file itself gg and G are jumps of the user's
					s.SameScenery(before, s.Scenery())
				}
				s.Keys("g>")
				s.AwaitLua(`vim.g.mine == 1`)
				s.Keys("Vg>")
				s.AwaitLua(`vim.g.mine == 2`)
			}, scene.Wide)
		})
	}
}

// An agent that cannot be told no makes all of its change; what was refused of it is told then.
func TestHunksRefusedWhereNoAnswerRefuses(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'split'`)
		old, text := linesLua()
		a := s.WriteFile("a.lua", old)
		s.Command("edit " + a)
		p := s.Begin()
		turn := s.Prompt(p, "change it")
		call := scene.EditsCall("e1", a, old, text)
		p.Update("tool_call", call)
		id := p.Permission(call, scene.YesNo[:2]...)
		s.AwaitDiff("four")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("]vg<lt>")
		s.AwaitRefused(1)
		s.AwaitScreen("✗ 1 of 3 hunks refused")
		s.AwaitScreen("Puppet would make them too")
		s.Command("Acp permit 1")
		p.AwaitOutcome(id, "yes")
		s.AwaitNoFloat()
		must.Do(t, os.WriteFile(a, []byte(text), 0o666))
		if s.CountInChat("no answer that refuses") > 0 {
			t.Error("it is said before the call has ended")
		}
		p.Update("tool_call_update", obj{"toolCallId": "e1", "status": "completed"})
		s.AwaitChat("Puppet offered no answer that refuses")
		if n := s.CountInChat("so all of it was allowed, with the 1 of 3 hunks that you refused: a.lua:15. :Acp review is where you can take them out."); n != 1 {
			t.Errorf("the chat says it %d times:\n%s", n, s.Chat())
		}
		p.Stop(turn, "end_turn")
		s.AwaitState("idle")
		check.Equal(t, s.CountInChat("no answer that refuses"), 1, "the chat says it %d times")
		p.Silent()
	}, scene.Wide)
}

// What is refused is told on the first page of a float that has more than fits.
func TestRefusedHunksInASmallFloat(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		old, text := linesLua()
		a, b := s.WriteFile("a.lua", old), s.WriteFile("b.lua", old)
		s.Command("edit " + a)
		p := s.Begin()
		s.Prompt(p, "change it")
		p.Permission(scene.EditsCall("e1", a, old, text, b, old, text), scene.YesNo...)
		s.AwaitDiff("four")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("g<lt>")
		s.AwaitRefused(1)
		s.Keys("q")
		s.AwaitNoDiff()
		s.AwaitScreen("lines · <C-f> on")
		s.AwaitScreen("✗ 1 of 6 hunks refused")
	}, nvimtest.Size(80, 24))
}

func TestHunksOfALargeChange(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'split'`)
		old, text := scene.LargeChange()
		path := s.WriteFile("large.txt", old)
		p := s.Begin()
		s.Prompt(p, "change it")
		id := p.Permission(scene.EditsCall("e1", path, old, text), scene.YesNo...)
		s.AwaitDiff("LINE 49997")
		s.Command("Acp diff")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'LINE 2'`)
		s.Keys("]vg<lt>")
		s.AwaitRefused(1)
		s.GoldenScreen("one")
		s.Keys("ggVGg<lt>")
		s.AwaitRefused(10000)
		s.AwaitScreen("10000 of 10000 refused")
		// What comes into sight is marked.
		s.Keys("ggG")
		s.AwaitScreen("✗ 49998 LINE 49997")
		s.Keys("g>")
		s.AwaitRefused(10000)
		s.Keys("[vg>")
		s.AwaitRefused(9999)
		s.Keys("ga")
		p.AwaitOutcome(id, "no")
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		if size := s.LuaInt(`#require('acp').sessions()[1].queue[1]`); size > 64<<10 {
			t.Errorf("the prompt has %d bytes", size)
		}
	}, scene.Wide)
}
