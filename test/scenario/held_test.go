package scenario

import (
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// heldScreen is screen, without for how long a write has waited.
func (s *scene) heldScreen(name string) {
	s.t.Helper()
	s.Golden(name, nvimtest.Replace(`(waits|you ·) \d+:\d\d`, "$1 M:SS"))
}

// beginBefore is begin with review = 'before', and with a file of many lines open.
func (s *scene) beginBefore(diff string) (path, old, text string, p *puppet) {
	s.t.Helper()
	s.configure(`c.review, c.diff = 'before', '` + diff + `'`)
	old, text = linesLua()
	path = s.write("a.lua", old)
	s.Command("edit " + path)
	return path, old, text, s.begin()
}

func TestAWriteWaitsForTheUser(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		turn := s.prompt(p, "change it")
		before := s.scenery()

		// What the file has already is written without a question.
		p.gets(p.store(path, old), "")

		id := p.store(path, text)
		s.awaitDiff("four")
		s.awaitState("requires_action")
		s.AwaitScreen("waits 0:0")
		s.heldScreen("held")
		if got := s.awaitAsked(1); got != "Write a.lua" {
			t.Errorf("asked is %s", got)
		}
		// Nothing else waits for it: reads of the file, other files, the disk.
		p.gets(p.fetch(path), old)
		p.gets(p.fetch(s.write("b.lua", "return 1\n")), "return 1\n")
		if s.file(path) != old {
			t.Error("it is written already")
		}
		s.AwaitScreen("waits 0:02") // the clock goes on by itself

		// Some of it.
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.fn.line('.') == 4`)
		s.Keys("]vg<lt>]vg<lt>")
		s.awaitRefused(2)
		s.heldScreen("refused")
		s.Keys("ga")
		p.fails(id, -32603, "the user refused a part of this text, and only the rest was written. Refused, by the lines of your text: "+
			"line 15 (local extra = 1) not written; after line 24 the file has 1 line more (local line24 = 24). Read the file again")
		want := strings.Replace(old, "= 4\n", "= 'four'\n", 1)
		if got := s.file(path); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.AwaitLua(`vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 3, 4, false)[1] == "local line4 = 'four'"`)
		s.resolved("allow", "user")
		s.awaitNoFloat()
		s.awaitNoDiff()
		s.awaitChat("You refused 2 of 3 hunks of a.lua: the rest is written, and Puppet was told.")
		s.same(before, s.scenery())

		// All of it, and none.
		id = p.store(path, text)
		s.awaitDiff("extra")
		s.Command("Acp permit 1")
		p.gets(id, "")
		if s.file(path) != text {
			t.Error("it is not written")
		}
		s.resolved("allow", "user")
		s.awaitNoFloat()
		id = p.store(path, old)
		s.awaitDiff("line24")
		s.respond(1, "reject")
		p.fails(id, -32603, "the user refused this write, so nothing was written")
		s.resolved("reject", "user")
		s.awaitNoFloat()
		id = p.store(path, old)
		s.awaitDiff("line24")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("ggVGg<lt>")
		s.awaitRefused(3)
		s.Keys("ga")
		p.fails(id, -32603, "the user refused this write, so nothing was written")
		s.resolved("reject", "user")
		if s.file(path) != text {
			t.Error("something is written")
		}

		// A new file.
		made := s.Dir + "/new/made.lua"
		id = p.store(made, "return 1\n")
		s.awaitDiff("return 1")
		if _, err := os.Stat(made); err == nil {
			t.Error("it is written already")
		}
		s.Command("Acp permit 1")
		p.gets(id, "")
		if got := s.file(made); got != "return 1\n" {
			t.Errorf("the file has %q", got)
		}
		s.resolved("allow", "user")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	}, wide)
}
