package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// moves has the agent move a file, as a call tells or by a command that nobody is told of.
func (p *puppet) moves(s *scene, id, from, to string) {
	p.t.Helper()
	fields := obj{"locations": []any{obj{"path": filepath.Join(s.Dir, from)}, obj{"path": filepath.Join(s.Dir, to)}}}
	p.named(s, id, "move", fields, filepath.Join(s.Dir, from), filepath.Join(s.Dir, to))
	s.rename(from, to)
	p.finish(id, nil)
}

func (s *scene) rename(from, to string) {
	s.t.Helper()
	if err := os.Rename(filepath.Join(s.Dir, from), filepath.Join(s.Dir, to)); err != nil {
		s.t.Fatal(err)
	}
}

// sameLines tells whether two texts have the same lines, in whichever order: that of changes is the one in which they
// came to be known.
func sameLines(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.SplitSeq(a, "\n")), slices.Sorted(strings.SplitSeq(b, "\n")))
}

// A command moves files whatever else has become of them, and whoever looks meanwhile.
func TestCommandsMoveFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for _, name := range []string{"plain", "edited", "told", "gone"} {
			s.write(name, name+" 1\n"+name+" 2\n")
		}
		p := s.begin()
		ends := func(turn message, want string) {
			t.Helper()
			p.stop(turn, "end_turn")
			s.AwaitEvent("AcpTurnEnd")
			if got := s.changes(); !sameLines(got, want) {
				t.Errorf("changed are\n%swanted\n%s", got, want)
			}
		}
		turn := s.prompt(p, "move them")
		p.toolCall("mv 1", "execute", nil)
		s.rename("plain", "plain2")
		p.writeFile(filepath.Join(s.Dir, "edited"), "edited 1\nedited two\n")
		s.rename("edited", "edited2")
		p.moves(s, "call", "told", "told2")
		s.rename("told2", "told3")
		p.writeFile(filepath.Join(s.Dir, "new"), "new\n")
		ends(turn, "moved edited2 from edited -2,1+2,1\nmoved told3 from told\nadded new -0,0+1,1\nmoved plain2 from plain\n")

		turn = s.prompt(p, "move them on")
		p.toolCall("mv 2", "execute", nil)
		s.rename("edited2", "edited3")
		s.rename("new", "newer")
		s.Command("Acp changes all")
		s.AwaitLua(`#vim.fn.getqflist() > 0`)
		s.rename("gone", "plain")
		ends(turn, "moved edited3 from edited -2,1+2,1\nmoved told3 from told\nadded newer -0,0+1,1\nmoved plain2 from plain\nmoved plain from gone\n")

		turn = s.prompt(p, "away with it")
		p.toolCall("rm", "execute", nil)
		if err := os.Remove(filepath.Join(s.Dir, "told3")); err != nil {
			t.Fatal(err)
		}
		ends(turn, "moved edited3 from edited -2,1+2,1\ndeleted told -1,2+0,0\nadded newer -0,0+1,1\nmoved plain2 from plain\nmoved plain from gone\n")
		s.ok(`require('acp').undo_turn()`)
		s.Await("it to be moved again", func() bool {
			return sameLines(s.changes(), "moved edited3 from edited -2,1+2,1\nmoved told3 from told\nadded newer -0,0+1,1\nmoved plain2 from plain\nmoved plain from gone\n")
		})
	})
}

// A file goes back to where it was only when nothing is there; what the agent has put there makes room.
func TestMovesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		a, b := s.write("a", "old\n"), filepath.Join(s.Dir, "b")
		p := s.begin()
		turn := s.prompt(p, "move")
		p.moves(s, "mv", "a", "b")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.write("a", "mine\n")
		s.ok(`require('acp').reject({ path = ... })`, b)
		s.awaitNotification("b: it cannot go back to a, where another file is")
		if got := s.disk(a) + s.disk(b); got != "mine\nold\n" {
			t.Errorf("there is %q", got)
		}
		if err := os.Remove(a); err != nil {
			t.Fatal(err)
		}

		turn = s.prompt(p, "make another one")
		p.writeFile(a, "new\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.ok(`require('acp').reject()`)
		s.Await("all to be as it was", func() bool { return s.disk(a) == "old\n" && s.disk(b) == "no file" })

		turn = s.prompt(p, "both at once")
		p.moves(s, "mv again", "a", "b")
		p.writeFile(a, "new\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.ok(`require('acp').undo_turn()`)
		s.Await("the turn undone", func() bool { return s.disk(a) == "old\n" && s.disk(b) == "no file" })
		s.Await("nothing to review", func() bool { return s.changes() == "" })
		s.ok(`require('acp').undo_turn({ again = true })`)
		s.Await("the turn again", func() bool { return s.disk(a) == "new\n" && s.disk(b) == "old\n" })
	})
}

// What was edited, moved away and made anew in one turn is two files, also when calls still run that have named it.
func TestMovedAwayAndMadeAnew(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("a", "1\n2\n3\n")
		p := s.begin()
		turn := s.prompt(p, "go on")
		p.named(s, "edit", "edit", obj{"locations": []any{obj{"path": path}}}, path)
		s.write("a", "1\ntwo\n3\n")
		p.finish("edit", nil)
		p.moves(s, "mv", "a", "b")
		for s.AwaitEvent("AcpFileChanged")["path"] != filepath.Join(s.Dir, "b") {
		}
		p.writeFile(path, "new\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Await("two files", func() bool { return s.changes() == "moved b from a -2,1+2,1\nadded a -0,0+1,1\n" })
	})
}

// A file whose removal is refused is there again under a buffer with unsaved text, which stays.
func TestARemovalUnderUnsavedTextIsRefused(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, path, buf := s.beginWithFile("a", "1\n2\n3\n4\n5\n")
		turn := s.prompt(p, "remove it")
		p.toolCall("rm", "execute", nil)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, 1, true, { 'mine' })`, buf)
		p.writeFile(path, "mine\n2\nthree\n4\n5\n") // so the disk has never had what the record has as the baseline
		s.AwaitEvent("AcpFileChanged")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for s.AwaitEvent("AcpFileChanged")["path"] != path {
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 4, 5, true, { 'mine too' })`, buf)
		s.ok(`require('acp').reject({ path = ... })`, path)
		s.Await("the file", func() bool { return s.disk(path) != "no file" })
		s.awaitBuffer(buf, "mine\n2\n3\n4\nmine too")
		s.Await("the removal to be refused", func() bool { return !strings.Contains(s.changes(), "deleted a -1,5+0,0") })
	})
}
