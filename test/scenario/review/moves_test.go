package review

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// moves has the agent move a file, as a call tells or by a command that nobody is told of.
func moves(p *scene.Puppet, s *scene.Scene, id, from, to string) {
	p.T.Helper()
	fields := obj{"locations": []any{obj{"path": filepath.Join(s.Dir, from)}, obj{"path": filepath.Join(s.Dir, to)}}}
	named(p, s, id, "move", fields, filepath.Join(s.Dir, from), filepath.Join(s.Dir, to))
	rename(s, from, to)
	p.Finish(id, nil)
}

func rename(s *scene.Scene, from, to string) {
	s.T.Helper()
	must.Do(s.T, os.Rename(filepath.Join(s.Dir, from), filepath.Join(s.Dir, to)))
}

// sameLines reports whether two texts have the same lines, in whichever order: that of changes is the one in which they
// came to be known.
func sameLines(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.SplitSeq(a, "\n")), slices.Sorted(strings.SplitSeq(b, "\n")))
}

// A command moves files whatever else has become of them, and whoever looks meanwhile.
func TestCommandsMoveFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for _, name := range []string{"plain", "edited", "told", "gone"} {
			s.WriteFile(name, name+" 1\n"+name+" 2\n")
		}
		p := s.Begin()
		ends := func(turn scene.Message, want string) {
			t.Helper()
			p.EndTurn(turn)
			if got := allChanges(s); !sameLines(got, want) {
				t.Errorf("changed are\n%swanted\n%s", got, want)
			}
		}
		turn := s.Prompt(p, "move them")
		p.ToolCall("mv 1", "execute", nil)
		rename(s, "plain", "plain2")
		p.WriteFile(filepath.Join(s.Dir, "edited"), "edited 1\nedited two\n")
		rename(s, "edited", "edited2")
		moves(p, s, "call", "told", "told2")
		rename(s, "told2", "told3")
		p.WriteFile(filepath.Join(s.Dir, "new"), "new\n")
		ends(turn, "moved edited2 from edited -2,1+2,1\nmoved told3 from told\nadded new -0,0+1,1\nmoved plain2 from plain\n")

		turn = s.Prompt(p, "move them on")
		p.ToolCall("mv 2", "execute", nil)
		rename(s, "edited2", "edited3")
		rename(s, "new", "newer")
		s.Command("Acp changes all")
		s.AwaitLua(`#vim.fn.getqflist() > 0`)
		rename(s, "gone", "plain")
		ends(turn, "moved edited3 from edited -2,1+2,1\nmoved told3 from told\nadded newer -0,0+1,1\nmoved plain2 from plain\nmoved plain from gone\n")

		turn = s.Prompt(p, "away with it")
		p.ToolCall("rm", "execute", nil)
		must.Do(t, os.Remove(filepath.Join(s.Dir, "told3")))
		ends(turn, "moved edited3 from edited -2,1+2,1\ndeleted told -1,2+0,0\nadded newer -0,0+1,1\nmoved plain2 from plain\nmoved plain from gone\n")
		s.OK(`require('acp').undo_turn()`)
		s.Await("it to be moved again", func() bool {
			return sameLines(allChanges(s), "moved edited3 from edited -2,1+2,1\nmoved told3 from told\nadded newer -0,0+1,1\nmoved plain2 from plain\nmoved plain from gone\n")
		})
	})
}

// A file goes back to where it was only when nothing is there; what the agent has put there makes room.
func TestMovesAreRefused(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		a, b := s.WriteFile("a", "old\n"), filepath.Join(s.Dir, "b")
		p := s.Begin()
		turn := s.Prompt(p, "move")
		moves(p, s, "mv", "a", "b")
		p.EndTurn(turn)
		s.WriteFile("a", "mine\n")
		s.OK(`require('acp').reject({ path = ... })`, b)
		s.AwaitNotification("b: it cannot go back to a, where another file is")
		check.Equal(t, s.ReadOrNone(a)+s.ReadOrNone(b), "mine\nold\n", "there is %q")
		must.Do(t, os.Remove(a))

		turn = s.Prompt(p, "make another one")
		p.WriteFile(a, "new\n")
		p.EndTurn(turn)
		s.OK(`require('acp').reject()`)
		s.Await("all to be as it was", func() bool { return s.ReadOrNone(a) == "old\n" && s.ReadOrNone(b) == "no file" })

		turn = s.Prompt(p, "both at once")
		moves(p, s, "mv again", "a", "b")
		p.WriteFile(a, "new\n")
		p.EndTurn(turn)
		s.OK(`require('acp').undo_turn()`)
		s.Await("the turn undone", func() bool { return s.ReadOrNone(a) == "old\n" && s.ReadOrNone(b) == "no file" })
		s.Await("nothing to review", func() bool { return allChanges(s) == "" })
		s.OK(`require('acp').undo_turn({ again = true })`)
		s.Await("the turn again", func() bool { return s.ReadOrNone(a) == "new\n" && s.ReadOrNone(b) == "old\n" })
	})
}

// What was edited, moved away and made anew in one turn is two files, also when calls still run that have named it.
func TestMovedAwayAndMadeAnew(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a", "1\n2\n3\n")
		p := s.Begin()
		turn := s.Prompt(p, "go on")
		named(p, s, "edit", "edit", obj{"locations": []any{obj{"path": path}}}, path)
		s.WriteFile("a", "1\ntwo\n3\n")
		p.Finish("edit", nil)
		moves(p, s, "mv", "a", "b")
		for s.AwaitEvent("AcpFileChanged")["path"] != filepath.Join(s.Dir, "b") {
		}
		p.WriteFile(path, "new\n")
		p.EndTurn(turn)
		s.Await("two files", func() bool { return allChanges(s) == "moved b from a -2,1+2,1\nadded a -0,0+1,1\n" })
	})
}

// A file whose removal is refused is there again under a buffer with unsaved text, which stays.
func TestARemovalUnderUnsavedTextIsRefused(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "1\n2\n3\n4\n5\n")
		turn := s.Prompt(p, "remove it")
		p.ToolCall("rm", "execute", nil)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, 1, true, { 'mine' })`, buf)
		p.WriteFile(path, "mine\n2\nthree\n4\n5\n") // so the disk has never had what the record has as the baseline
		s.AwaitEvent("AcpFileChanged")
		must.Do(t, os.Remove(path))
		for s.AwaitEvent("AcpFileChanged")["path"] != path {
		}
		p.EndTurn(turn)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 4, 5, true, { 'mine too' })`, buf)
		s.OK(`require('acp').reject({ path = ... })`, path)
		s.Await("the file", func() bool { return s.ReadOrNone(path) != "no file" })
		s.AwaitBuffer(buf, "mine\n2\n3\n4\nmine too")
		s.Await("the removal to be refused", func() bool { return !strings.Contains(allChanges(s), "deleted a -1,5+0,0") })
	})
}

// A file that was moved away goes back also where the agent has made another one since, and the user has typed into that:
// what they have typed stays, unsaved. So it does where the buffer had shown the file that was moved, and where the other
// one is refused before the move.
func TestMovedFilesGoBackWhereAnotherWasMadeAndTypedInto(t *testing.T) {
	for name, made := range map[string]string{"with text": "new\n", "empty": ""} {
		for _, shown := range []bool{false, true} {
			for _, alone := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, shown %v, alone %v", name, shown, alone), func(t *testing.T) {
					scene.Each(t, func(t *testing.T, s *scene.Scene) { movedWhereAnotherWasMade(t, s, made, shown, alone) })
				})
			}
		}
	}
}

func movedWhereAnotherWasMade(t *testing.T, s *scene.Scene, made string, shown, alone bool) {
	s.Configure(`c.unsaved = 'ignore'`)
	path := s.WriteFile("a", "1\n2\n")
	if shown {
		s.Command("edit " + path)
	}
	p := s.Begin()
	turn := s.Prompt(p, "move it")
	p.WriteFile(path, "1\n2\nmore\n")
	p.ToolCall("mv", "execute", nil)
	rename(s, "a", "b")
	p.Finish("mv", nil)
	p.EndTurn(turn)
	s.Sync()
	turn = s.Prompt(p, "make another")
	p.ToolCall("cat", "execute", nil)
	s.WriteFile("a", made)
	p.Finish("cat", nil)
	if !shown {
		s.Command("edit " + path)
	}
	buf := s.LuaInt(`vim.fn.bufnr(...)`, path)
	p.EndTurn(turn)
	s.Sync()
	s.AwaitBuffer(buf, strings.TrimSpace(made))
	s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, 0, true, { 'mine' })`, buf)
	if alone {
		s.OK(`require('acp').reject({ path = ... })`, path)
		s.Await("the other one to be gone", func() bool { return s.ReadOrNone(path) == "no file" })
	}
	s.OK(`require('acp').reject()`)
	s.Await("the refusal", func() bool { return s.ReadOrNone(path) == "1\n2\n" })
	s.Await("the other one to be gone", func() bool { return s.ReadOrNone(filepath.Join(s.Dir, "b")) == "no file" })
	s.Await("both in the buffer", func() bool { return sameLines(strings.TrimSpace(s.BufferText(buf)), "mine\n1\n2") })
	s.AwaitLua(`vim.bo[...].modified`, buf)
}

// What is not saved in a buffer does not get to the disk where a move of its file is undone, and done again.
func TestUnsavedTextStaysUnsavedWhenItsFileIsMovedAgain(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		p, a, buf := s.BeginWithFile("a", "1\n2\n3\n")
		b := filepath.Join(s.Dir, "b")
		types := func(line string) {
			s.Lua(nil, `local buf, line = ...
				vim.api.nvim_buf_set_lines(buf, 0, 0, true, { line })`, buf, line)
		}
		is := func(path, want string) {
			t.Helper()
			s.Await("the text of "+filepath.Base(path), func() bool { return s.ReadOrNone(path) == want })
		}
		types("mine")
		turn := s.Prompt(p, "move it")
		p.WriteFile(a, "1\n2\n3\nmore\n")
		p.ToolCall("mv", "execute", nil)
		rename(s, "a", "b")
		p.Finish("mv", nil)
		p.EndTurn(turn)
		s.Sync()
		types("mine too")
		s.OK(`require('acp').undo_turn()`)
		is(a, "1\n2\n3\n")
		is(b, "no file")
		s.Sync()
		s.OK(`require('acp').undo_turn({ again = true })`)
		is(b, "1\n2\n3\nmore\n")
		is(a, "no file")
	})
}

// A file that the agent moves, leaving a symbolic link in its place, comes back in place of that, with what the user has typed in
// its buffer meanwhile.
func TestMovesThatLeaveLinks(t *testing.T) {
	for how, moved := range map[string]string{"mkdir d; mv a d/a; ln -s d/a a": "d/a", "mv s l; ln -s l s": "l/b"} {
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprint(moved, ", typed ", typed), func(t *testing.T) {
				scene.Each(t, func(t *testing.T, s *scene.Scene) {
					s.RecordNotifications()
					s.Shell("mkdir s; echo 1 >a; echo 2 >s/b")
					before := tree(s)
					var bufs []int
					for _, name := range []string{"a", "s/b"} {
						s.Command("edit " + name)
						bufs = append(bufs, s.LuaInt(`vim.api.nvim_get_current_buf()`))
					}
					p := s.Begin()
					turn := s.Prompt(p, "move")
					lines := [][]string{{"1"}, {"2"}}
					if typed {
						for i, buf := range bufs {
							s.Lua(nil, `vim.api.nvim_buf_set_lines(..., -1, -1, true, { 'mine' })`, buf)
							lines[i] = append(lines[i], "mine")
						}
					}
					p.ToolCall("command", "execute", nil)
					s.Shell(how)
					p.Finish("command", nil)
					p.EndTurn(turn)
					s.Sync()
					check.Contains(t, allChanges(s), "moved "+moved, "listed is %q")
					s.OK(`require('acp').reject()`)
					s.Sync()
					if is := tree(s); !maps.Equal(is, before) {
						t.Errorf("there is %q; want %q", is, before)
					}
					for i, buf := range bufs {
						s.AwaitBuffer(buf, strings.Join(lines[i], "\n"))
					}
					check.Equal(t, s.Notifications(), "", "the user was told %q")
				})
			})
		}
	}
}
