package review

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// does has the agent write files through its client in a turn of its own.
func does(s *scene.Scene, p *scene.Puppet, prompt string, files ...[2]string) {
	s.T.Helper()
	turn := s.Prompt(p, prompt)
	for _, f := range files {
		p.WriteFile(filepath.Join(s.Dir, f[0]), f[1])
	}
	p.EndTurn(turn)
}

// preview is the text of the window of :Acp undo, which it opens.
func preview(s *scene.Scene, command string) string {
	s.T.Helper()
	s.Command(command)
	s.AwaitLua(`vim.api.nvim_win_get_config(0).relative ~= ''`)
	return s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`))
}

func TestUndoIsShownBefore(t *testing.T) {
	for _, c := range []struct {
		name             string
		size, background nvimtest.Option
	}{
		{"small", nvimtest.Size(80, 24), nvimtest.Background("dark")},
		{"large", nvimtest.Size(120, 40), nvimtest.Background("light")},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
				long := "a/folder/with/a/long/name/and_another/" + strings.Repeat("long_", 12) + "name.txt"
				s.Shell("umask 022; printf '1\n2\n3\n' >code.txt; cp code.txt mine.txt; echo old >gone.txt; echo old >old.txt; printf 'a\\0b' >image.png; mkdir -p $(dirname " + long + ")")
				s.WriteFile(long, "1\n2\n")
				p := s.Begin()
				turn := s.Prompt(p, "Write it anew\nand all the rest")
				for _, name := range []string{"code.txt", "mine.txt"} {
					p.WriteFile(filepath.Join(s.Dir, name), "1\nTWO\n3\n")
				}
				p.WriteFile(filepath.Join(s.Dir, "new.txt"), "new\n")
				p.WriteFile(filepath.Join(s.Dir, long), "1\nTWO\n")
				p.ToolCall("command", "execute", nil)
				s.Shell("rm gone.txt; mkdir to; mv old.txt to/moved.txt; printf 'a\\0c' >image.png; chmod 755 code.txt")
				p.Finish("command", nil)
				p.EndTurn(turn)
				s.WriteFile("mine.txt", "1\nTWO!\n3\n")
				s.WriteFile("new.txt", "new\nmine\n")
				s.Command("Acp toggle")
				preview(s, "Acp undo")
				s.Golden("open", nvimtest.Attrs())
				s.Keys("q")
				s.AwaitLua(`vim.api.nvim_win_get_config(0).relative == ''`)

				// Of many files how to go on is seen too.
				turn = s.Prompt(p, "Make many")
				p.ToolCall("many", "execute", nil)
				s.Shell("mkdir many; for i in $(seq 100 399); do echo $i >many/$i.txt; done")
				p.Finish("many", nil)
				p.EndTurn(turn)
				preview(s, "Acp undo")
				s.Golden("many")
				s.Keys("y")
				s.Await("them to be gone", func() bool { return s.ReadOrNone(filepath.Join(s.Dir, "many")) == "no file" })
				preview(s, "Acp undo again")
				s.Golden("again")
			}, c.size, c.background)
		})
	}
}

// A hunk that was refused, and brought back by an undo in its buffer, is taken back with its turn.
func TestUndoOfARefusalThatWasUndone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p, turn, path, buf := s.BeginWithChange(scene.TextReviewed)
		p.EndTurn(turn)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("2Gg<lt>")
		s.AwaitMarks(buf, "6-1▀ 8▌ 9▌")
		s.Keys("u")
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.OK(`require('acp').undo_turn()`)
		s.AwaitNotification("1 file as before the turn.")
		s.AwaitMarks(buf, "")
		s.Sync()
		if got := s.BufferText(buf) + "\n"; got != scene.TextBefore || s.ReadOrNone(path) != scene.TextBefore || s.LuaBool(`vim.bo[...].modified`, buf) {
			t.Errorf("the buffer has %q, the disk %q", got, s.ReadOrNone(path))
		}
	})
}

// What the user has changed since stays, wherever it is; what can be undone, and what not, is said.
func TestUndoAfterTheUsersEdits(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Configure(`c.unsaved = 'ignore'`)
		lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
		s.WriteFile("shown.txt", lines)
		s.WriteFile("plain.txt", lines)
		s.Command("edit shown.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		first := strings.Replace(lines, "2", "two", 1)
		does(s, p, "first", [2]string{"shown.txt", first}, [2]string{"plain.txt", first})
		second := strings.NewReplacer("5", "five", "8", "eight").Replace(first)
		does(s, p, "second", [2]string{"shown.txt", second}, [2]string{"plain.txt", second})
		// One of the agent's two places in each, and lines elsewhere.
		s.Command("wincmd t")
		s.Keys("5Gcc5, by me<Esc>Gomine<Esc>ggOmine<Esc>")
		s.AwaitLua(`vim.api.nvim_buf_line_count(...) == 11`, buf)
		s.WriteFile("plain.txt", strings.Replace(second, "eight", "8, by me", 1))

		text := preview(s, "Acp undo")
		for _, want := range []string{
			"Undo the turn: second",
			"plain.txt  +1 −1  1 place that you changed since: left alone (line 8)",
			"shown.txt  +1 −1  1 place that you changed since: left alone (line 6)",
		} {
			check.Contains(t, text, want, "%q is not in\n%s", want)
		}
		s.Keys("y")
		s.AwaitNotification("2 files as before the turn. 2 places left alone.")
		has := func(buffer, plain string) {
			t.Helper()
			s.Sync()
			check.Equal(t, s.BufferText(buf)+"\n", buffer, "the buffer has %q")
			check.Equal(t, s.ReadOrNone(filepath.Join(s.Dir, "plain.txt")), plain, "the disk has %q")
		}
		mine := func(text string) string { return "mine\n" + strings.Replace(text, "5", "5, by me", 1) + "mine\n" }
		has(mine(first), strings.Replace(first, "8", "8, by me", 1))
		if !s.LuaBool(`vim.bo[...].modified`, buf) {
			t.Error("what was not saved is")
		}
		preview(s, "Acp undo")
		s.Keys("y")
		s.Await("the first turn to be undone", func() bool {
			return strings.Contains(s.Notifications(), "2 files as before the turn.\n") || strings.HasSuffix(s.Notifications(), "2 files as before the turn.")
		})
		has(mine(lines), strings.Replace(lines, "8", "8, by me", 1))
		// What is left are the lines that the agent had replaced, where the user's are now.
		s.Await("the record of it", func() bool {
			return allChanges(s) == "modified shown.txt -7,1+6,0\nmodified plain.txt -9,1+8,0\n"
		})
		s.Command("Acp undo")
		s.AwaitNotification("Nothing to undo.")
		for range 2 {
			preview(s, "Acp undo again")
			s.Keys("y")
			s.AwaitLua(`vim.api.nvim_win_get_config(0).relative == ''`)
			s.Sync()
		}
		has(mine(strings.Replace(second, "five", "5", 1)), strings.NewReplacer("eight", "8, by me").Replace(second))
		// The key is about the turn that was shown, and not while another runs.
		preview(s, "Acp undo")
		turn := s.Prompt(p, "third")
		s.AwaitLua(`require('acp').sessions()[1].state == 'running'`)
		p.WriteFile(filepath.Join(s.Dir, "new.txt"), "new\n")
		s.Keys("y")
		s.AwaitNotification("the turn is still running: :Acp cancel ends it")
		s.Command("Acp undo")
		s.Await("the same again", func() bool { return strings.Count(s.Notifications(), "the turn is still running") == 2 })
		p.EndTurn(turn)
		preview(s, "Acp undo")
		does(s, p, "fourth", [2]string{"new.txt", "newer\n"})
		s.Keys("y")
		s.AwaitNotification("Another turn has ended since: :Acp undo shows what it would undo now.")
		check.Equal(t, s.ReadOrNone(filepath.Join(s.Dir, "new.txt")), "newer\n", "the new file has %q")
		// A prompt ends what can be done again.
		s.OK(`require('acp').undo_turn()`)
		s.Sync()
		does(s, p, "fifth")
		s.Command("Acp undo again")
		s.AwaitNotification("Nothing to redo.")
	})
}

// An undo leaves no trace in git.
func TestUndoAndGit(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		git := `GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 HOME=/nowhere git -c user.name=me -c user.email=me@there `
		s.Shell(git + "init -q .; printf 'ignored/\n*.log\n' >.gitignore; echo 1 >code; echo 1 >staged; echo 1 >gone; mkdir ignored; echo 1 >ignored/file; echo 1 >a.log")
		s.Shell(git + "add .; " + git + "commit -qm first; echo 2 >code; " + git + "stash -q; echo 2 >staged; " + git + "add staged; echo 3 >staged; echo 1 >untracked")
		status := func() string {
			t.Helper()
			s.Shell(git + "status --porcelain=v2 --branch --show-stash >../status; find .git -type f | sort | xargs cksum >>../status; rm -f ../status.old")
			return s.ReadOrNone(filepath.Join(filepath.Dir(s.Dir), "status"))
		}
		before, files := status(), tree(s)
		p := s.Begin()
		turn := s.Prompt(p, "change")
		p.WriteFile(filepath.Join(s.Dir, "code"), "by the agent\n")
		p.ToolCall("command", "execute", nil)
		s.Shell("rm gone; echo 4 >staged; echo 2 >untracked; echo 1 >new; echo 2 >ignored/file; echo 2 >a.log")
		p.Finish("command", nil)
		p.EndTurn(turn)
		after := status()
		// What git ignores is not looked at, unless the agent names it.
		files["ignored/file"], files["a.log"] = tree(s)["ignored/file"], tree(s)["a.log"]
		s.OK(`require('acp').undo_turn()`)
		awaitTree(s, "undone", files)
		check.Equal(t, status(), before, "git had\n%s\nand has\n%s", before)
		s.OK(`require('acp').undo_turn({ again = true })`)
		s.Sync()
		check.Equal(t, status(), after, "git had\n%s\nand has\n%s", after)
		s.OK(`require('acp').reject({})`)
		awaitTree(s, "refused", files)
		check.Equal(t, status(), before, "git had\n%s\nand has\n%s", before)
	})
}

// An undo that Neovim is killed in has done each file or not, and is done once more when the session is back.
func TestUndoCutShort(t *testing.T) {
	for _, n := range []int{3, 20} {
		t.Run(fmt.Sprint("after ", n), func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				const files = 30
				var written [][2]string
				for i := range files {
					s.WriteFile(fmt.Sprintf("%02d", i), "old\n")
					written = append(written, [2]string{fmt.Sprintf("%02d", i), "new\n"})
				}
				s.Command("set shortmess+=A | edit 20 | split 21")
				p := s.BeginWith(scene.KeepsSessions(true, "resume"))
				does(s, p, "change", written...)
				s.OK(`require('acp').close()`) // has it saved
				s.AwaitEvent("AcpSessionClosed")
				s.OK(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, scene.SessionID(1))
				p = s.Agent()
				p.Initialize(scene.KeepsSessions(true, "resume"))
				p.Reply(p.Expect("session/load"), nil)
				s.AwaitEvent("AcpSessionReady")
				s.AwaitLua(`#require('acp').changes() == ...`, files)

				count := func(text string) (n int) {
					for i := range files {
						if s.ReadOrNone(filepath.Join(s.Dir, fmt.Sprintf("%02d", i))) == text {
							n++
						}
					}
					return n
				}
				s.OK(`require('acp').undo_turn()`)
				for count("old\n") < n {
				}
				s.Kill()
				s.AwaitNothingLeft()
				next := s.Next(s.KeepState())
				next.RecordNotifications()
				next.OK(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, scene.SessionID(1))
				p = next.Agent()
				p.Initialize(scene.KeepsSessions(true, "resume"))
				p.Reply(p.Expect("session/load"), nil)
				next.AwaitEvent("AcpSessionReady")
				if done, left := count("old\n"), count("new\n"); done+left != files {
					// One that Neovim was writing: the user is asked which text it is to have.
					next.AwaitNotification("was interrupted. :Acp recover")
					next.Lua(nil, `vim.ui.select = function(items, _, done) done(items[1]) end`)
					next.Command("Acp recover")
					scene.AwaitAfterEnd(t, "it to be whole again", func() bool { return count("old\n")+count("new\n") == files })
				}
				next.OK(`require('acp').undo_turn()`)
				scene.AwaitAfterEnd(t, "the rest to be undone", func() bool { return count("old\n") == files })
				next.Await("nothing to be left to decide", func() bool {
					for line := range strings.Lines(allChanges(next)) {
						if !strings.HasSuffix(line, " rejected\n") { // not to be told from one that the user has put back
							return false
						}
					}
					return true
				})
			})
		})
	}
}

// What was too large to be kept is not brought back, which is said before; the rest is.
func TestUndoOfWhatIsNotKept(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.WriteFile("large", strings.Repeat("0123456789\n", 200_000))
		s.WriteFile("gone", strings.Repeat("9876543210\n", 200_000))
		s.WriteFile("small", "1\n")
		p := s.Begin()
		turn := s.Prompt(p, "change")
		p.ToolCall("command", "execute", nil)
		s.Shell("echo more >>large; rm gone; echo 2 >small")
		p.Finish("command", nil)
		p.EndTurn(turn)
		text := preview(s, "Acp undo")
		for _, name := range []string{"gone", "large"} {
			want := "· " + name + "  cannot be brought back, as its previous content was not kept: it is too large, or was never seen: stays as it is"
			check.Contains(t, text, want, "%q is not in\n%s", want)
		}
		s.Keys("y")
		s.AwaitNotification("1 file as before the turn. 2 places left alone.")
		check.Equal(t, s.ReadOrNone(filepath.Join(s.Dir, "small")), "1\n", "the small one has %q")
	})
}

// Many files of which the copies were too large are one entry; those that can be brought back are.
func TestUndoOfManyThatAreNotKept(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		for i := range 25 {
			s.WriteFile(fmt.Sprintf("large%02d", i), strings.Repeat("0123456789\n", 110_000))
		}
		s.WriteFile("small", "1\n")
		p := s.Begin()
		turn := s.Prompt(p, "change")
		p.ToolCall("command", "execute", nil)
		s.Shell("for f in large*; do echo more >>$f; done; echo 2 >small")
		p.Finish("command", nil)
		p.EndTurn(turn)
		text := preview(s, "Acp undo")
		want := "· 25 files, such as large00  cannot be brought back, as its previous content was not kept: it is too large, or was never seen: they stay as they are\n" +
			"✎ small  +1 −1\n"
		if !strings.Contains(text, want) || strings.Contains(text, "large01") {
			t.Errorf("%q is not in\n%s", want, text)
		}
		s.Keys("y")
		s.AwaitNotification("1 file as before the turn. 25 places left alone.")
		check.Equal(t, s.ReadOrNone(filepath.Join(s.Dir, "small")), "1\n", "the small one has %q")
	})
}

// Where not all files are looked at, the window says so.
func TestUndoSaysWhatIsNotKnown(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`vim.env.HOME = vim.fn.resolve(vim.uv.cwd())`)
		s.WriteFile("a.txt", "1\n")
		p := s.Begin()
		does(s, p, "Change it", [2]string{"a.txt", "2\n"})
		text := preview(s, "Acp undo")
		for _, want := range []string{"a.txt  +1 −1", "· other files that a command has changed are not known: they stay"} {
			check.Contains(t, text, want, "%q is not in\n%s", want)
		}
		s.Keys("y")
		s.Await("the file to be as before", func() bool {
			text, err := os.ReadFile(filepath.Join(s.Dir, "a.txt"))
			return err == nil && string(text) == "1\n"
		})
	})
}

// A file that an undo changes both in its buffer and on the disk under what is unsaved there counts once.
func TestUndoUnderUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p, path, buf := s.BeginWithFile("a", "1\n2\n3\n")
		turn := s.Prompt(p, "change it")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 1, 2, true, { 'mine' })`, buf)
		must.Do(t, os.WriteFile(path, []byte("1\ntwo\n3\n4\n"), 0o644))
		s.AwaitBuffer(buf, "1\nmine\n3\n4")
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').undo_turn()`)
		s.AwaitNotification("1 file as before the turn.")
		s.AwaitBuffer(buf, "1\nmine\n3")
		check.Equal(t, s.ReadOrNone(path), "1\n2\n3\n", "the disk has %q")
	})
}

// What the agent has made in conflict with the buffer of a file that it had removed in an earlier turn is undone, and redone:
// the removal waits meanwhile.
func TestUndoOfAConflictOverARemoval(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "1\n2\n")
		turn := s.Prompt(p, "remove it")
		p.ToolCall("rm", "execute", nil)
		must.Do(t, os.Remove(path))
		p.Finish("rm", nil)
		p.EndTurn(turn)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, -1, true, { 'mine' })`, buf)
		s.OK(`require('acp').prompt('make it')`)
		turn, _ = p.Prompted()
		p.ToolCall("make", "execute", nil)
		s.WriteFile("a", "new\n")
		p.Finish("make", nil)
		p.EndTurn(turn)
		is := func(disk, changes string) {
			t.Helper()
			s.Await("the disk to have "+disk, func() bool { return s.ReadOrNone(path) == disk })
			s.Await("changes to be "+changes, func() bool { return allChanges(s) == changes })
			s.AwaitBuffer(buf, "mine")
		}
		is("new\n", "")
		s.OK(`require('acp').undo_turn()`)
		is("no file", "deleted a -1,2+0,0\n")
		s.OK(`require('acp').undo_turn({ again = true })`)
		is("new\n", "")
		s.OK(`require('acp').undo_turn()`)
		is("no file", "deleted a -1,2+0,0\n")
		s.OK(`require('acp').undo_turn()`)
		is("1\n2\n", "")
	})
}
