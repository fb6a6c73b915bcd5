package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// does has the agent write files through its client in a turn of its own.
func (s *scene) does(p *puppet, prompt string, files ...[2]string) {
	s.t.Helper()
	turn := s.prompt(p, prompt)
	for _, f := range files {
		p.writeFile(filepath.Join(s.Dir, f[0]), f[1])
	}
	p.stop(turn, "end_turn")
	s.AwaitEvent("AcpTurnEnd")
}

// preview is the text of the window of :Acp undo, which it opens.
func (s *scene) preview(command string) string {
	s.t.Helper()
	s.Command(command)
	s.AwaitLua(`vim.api.nvim_win_get_config(0).relative ~= ''`)
	return s.buffer(s.LuaInt(`vim.api.nvim_get_current_buf()`))
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
			each(t, func(t *testing.T, s *scene) {
				long := "a/folder/with/a/long/name/and_another/" + strings.Repeat("long_", 12) + "name.txt"
				s.sh("umask 022; printf '1\n2\n3\n' >code.txt; cp code.txt mine.txt; echo old >gone.txt; echo old >old.txt; printf 'a\\0b' >image.png; mkdir -p $(dirname " + long + ")")
				s.write(long, "1\n2\n")
				p := s.begin()
				turn := s.prompt(p, "Write it anew\nand all the rest")
				for _, name := range []string{"code.txt", "mine.txt"} {
					p.writeFile(filepath.Join(s.Dir, name), "1\nTWO\n3\n")
				}
				p.writeFile(filepath.Join(s.Dir, "new.txt"), "new\n")
				p.writeFile(filepath.Join(s.Dir, long), "1\nTWO\n")
				p.toolCall("command", "execute", nil)
				s.sh("rm gone.txt; mkdir to; mv old.txt to/moved.txt; printf 'a\\0c' >image.png; chmod 755 code.txt")
				p.finish("command", nil)
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				s.write("mine.txt", "1\nTWO!\n3\n")
				s.write("new.txt", "new\nmine\n")
				s.Command("Acp toggle")
				s.preview("Acp undo")
				s.Golden("open", nvimtest.Attrs())
				s.Keys("q")
				s.AwaitLua(`vim.api.nvim_win_get_config(0).relative == ''`)

				// Of many files how to go on is seen too.
				turn = s.prompt(p, "Make many")
				p.toolCall("many", "execute", nil)
				s.sh("mkdir many; for i in $(seq 100 399); do echo $i >many/$i.txt; done")
				p.finish("many", nil)
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				s.preview("Acp undo")
				s.Golden("many")
				s.Keys("y")
				s.Await("them to be gone", func() bool { return s.disk(filepath.Join(s.Dir, "many")) == "no file" })
				s.preview("Acp undo again")
				s.Golden("again")
			}, c.size, c.background)
		})
	}
}

// A hunk that was refused, and brought back by an undo in its buffer, is taken back with its turn.
func TestUndoOfARefusalThatWasUndone(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p, turn, path, buf := s.marked(reviewed)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("2Gg<lt>")
		s.awaitMarks(buf, "6-1▀ 8▌ 9▌")
		s.Keys("u")
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.ok(`require('acp').undo_turn()`)
		s.awaitNotification("1 file as before the turn.")
		s.awaitMarks(buf, "")
		s.synced()
		if got := s.buffer(buf) + "\n"; got != before || s.disk(path) != before || s.LuaBool(`vim.bo[...].modified`, buf) {
			t.Errorf("the buffer has %q, the disk %q", got, s.disk(path))
		}
	})
}

// What the user has changed since stays, wherever it is; what can be undone, and what not, is said.
func TestUndoAfterTheUsersEdits(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.configure(`c.unsaved = 'ignore'`)
		lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
		s.write("shown.txt", lines)
		s.write("plain.txt", lines)
		s.Command("edit shown.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.begin()
		first := strings.Replace(lines, "2", "two", 1)
		s.does(p, "first", [2]string{"shown.txt", first}, [2]string{"plain.txt", first})
		second := strings.NewReplacer("5", "five", "8", "eight").Replace(first)
		s.does(p, "second", [2]string{"shown.txt", second}, [2]string{"plain.txt", second})
		// One of the agent's two places in each, and lines elsewhere.
		s.Command("wincmd t")
		s.Keys("5Gcc5, by me<Esc>Gomine<Esc>ggOmine<Esc>")
		s.AwaitLua(`vim.api.nvim_buf_line_count(...) == 11`, buf)
		s.write("plain.txt", strings.Replace(second, "eight", "8, by me", 1))

		text := s.preview("Acp undo")
		for _, want := range []string{
			"Undo the turn: second",
			"plain.txt  +1 −1  1 place that you changed since: left alone (line 8)",
			"shown.txt  +1 −1  1 place that you changed since: left alone (line 6)",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		s.Keys("y")
		s.awaitNotification("2 files as before the turn. 2 places left alone.")
		has := func(buffer, plain string) {
			t.Helper()
			s.synced()
			if got := s.buffer(buf) + "\n"; got != buffer {
				t.Errorf("the buffer has %q, not %q", got, buffer)
			}
			if got := s.disk(filepath.Join(s.Dir, "plain.txt")); got != plain {
				t.Errorf("the disk has %q, not %q", got, plain)
			}
		}
		mine := func(text string) string { return "mine\n" + strings.Replace(text, "5", "5, by me", 1) + "mine\n" }
		has(mine(first), strings.Replace(first, "8", "8, by me", 1))
		if !s.LuaBool(`vim.bo[...].modified`, buf) {
			t.Error("what was not saved is")
		}
		s.preview("Acp undo")
		s.Keys("y")
		s.Await("the first turn to be undone", func() bool {
			return strings.Contains(s.notifications(), "2 files as before the turn.\n") || strings.HasSuffix(s.notifications(), "2 files as before the turn.")
		})
		has(mine(lines), strings.Replace(lines, "8", "8, by me", 1))
		// What is left are the lines that were the agent's once.
		s.Await("the record of it", func() bool {
			return s.changes() == "modified shown.txt -6,1+6,1\nmodified plain.txt -8,1+8,1\n"
		})
		s.Command("Acp undo")
		s.awaitNotification("Nothing to undo.")
		for range 2 {
			s.preview("Acp undo again")
			s.Keys("y")
			s.AwaitLua(`vim.api.nvim_win_get_config(0).relative == ''`)
			s.synced()
		}
		has(mine(strings.Replace(second, "five", "5", 1)), strings.NewReplacer("eight", "8, by me").Replace(second))
		// The key is about the turn that was shown, and not while another runs.
		s.preview("Acp undo")
		turn := s.prompt(p, "third")
		s.AwaitLua(`require('acp').sessions()[1].state == 'running'`)
		p.writeFile(filepath.Join(s.Dir, "new.txt"), "new\n")
		s.Keys("y")
		s.awaitNotification("The turn still runs: :Acp cancel ends it.")
		s.Command("Acp undo")
		s.Await("the same again", func() bool { return strings.Count(s.notifications(), "The turn still runs") == 2 })
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.preview("Acp undo")
		s.does(p, "fourth", [2]string{"new.txt", "newer\n"})
		s.Keys("y")
		s.awaitNotification("Another turn has ended since: :Acp undo shows what it would undo now.")
		if got := s.disk(filepath.Join(s.Dir, "new.txt")); got != "newer\n" {
			t.Errorf("the new file has %q", got)
		}
		// A prompt ends what can be done again.
		s.ok(`require('acp').undo_turn()`)
		s.synced()
		s.does(p, "fifth")
		s.Command("Acp undo again")
		s.awaitNotification("Nothing to redo.")
	})
}

// An undo leaves no trace in git.
func TestUndoAndGit(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		git := `GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 HOME=/nowhere git -c user.name=me -c user.email=me@there `
		s.sh(git + "init -q .; printf 'ignored/\n*.log\n' >.gitignore; echo 1 >code; echo 1 >staged; echo 1 >gone; mkdir ignored; echo 1 >ignored/file; echo 1 >a.log")
		s.sh(git + "add .; " + git + "commit -qm first; echo 2 >code; " + git + "stash -q; echo 2 >staged; " + git + "add staged; echo 3 >staged; echo 1 >untracked")
		status := func() string {
			t.Helper()
			s.sh(git + "status --porcelain=v2 --branch --show-stash >../status; find .git -type f | sort | xargs cksum >>../status; rm -f ../status.old")
			return s.disk(filepath.Join(filepath.Dir(s.Dir), "status"))
		}
		before, files := status(), s.tree()
		p := s.begin()
		turn := s.prompt(p, "change")
		p.writeFile(filepath.Join(s.Dir, "code"), "by the agent\n")
		p.toolCall("command", "execute", nil)
		s.sh("rm gone; echo 4 >staged; echo 2 >untracked; echo 1 >new; echo 2 >ignored/file; echo 2 >a.log")
		p.finish("command", nil)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		after := status()
		// What git ignores is not looked at, unless the agent names it.
		files["ignored/file"], files["a.log"] = s.tree()["ignored/file"], s.tree()["a.log"]
		s.ok(`require('acp').undo_turn()`)
		s.awaitTree("undone", files)
		if got := status(); got != before {
			t.Errorf("git had\n%s\nand has\n%s", before, got)
		}
		s.ok(`require('acp').undo_turn({ again = true })`)
		s.synced()
		if got := status(); got != after {
			t.Errorf("git had\n%s\nand has\n%s", after, got)
		}
		s.ok(`require('acp').reject({})`)
		s.awaitTree("refused", files)
		if got := status(); got != before {
			t.Errorf("git had\n%s\nand has\n%s", before, got)
		}
	})
}

// An undo that Neovim is killed in has done each file or not, and is done once more when the session is back.
func TestUndoCutShort(t *testing.T) {
	for _, n := range []int{3, 20} {
		t.Run(fmt.Sprint("after ", n), func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				const files = 30
				var written [][2]string
				for i := range files {
					s.write(fmt.Sprintf("%02d", i), "old\n")
					written = append(written, [2]string{fmt.Sprintf("%02d", i), "new\n"})
				}
				s.Command("set shortmess+=A | edit 20 | split 21")
				p := s.beginWith(keeps(true, "resume"))
				s.does(p, "change", written...)
				s.ok(`require('acp').close()`) // has it saved
				s.AwaitEvent("AcpSessionClosed")
				s.ok(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, remote(1))
				p = s.agent()
				p.initialize(keeps(true, "resume"))
				p.reply(p.expect("session/load"), nil)
				s.AwaitEvent("AcpSessionReady")
				s.AwaitLua(`#require('acp').changes() == ...`, files)

				count := func(text string) (n int) {
					for i := range files {
						if s.disk(filepath.Join(s.Dir, fmt.Sprintf("%02d", i))) == text {
							n++
						}
					}
					return n
				}
				s.ok(`require('acp').undo_turn()`)
				for count("old\n") < n {
				}
				s.Kill()
				s.awaitNothingLeft()
				next := s.next(s.keepsState())
				next.recordNotifications()
				next.ok(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, remote(1))
				p = next.agent()
				p.initialize(keeps(true, "resume"))
				p.reply(p.expect("session/load"), nil)
				next.AwaitEvent("AcpSessionReady")
				if done, left := count("old\n"), count("new\n"); done+left != files {
					// One that Neovim was writing: the user is asked which text it is to have.
					next.awaitNotification("was cut short. :Acp recover")
					next.Lua(nil, `vim.ui.select = function(items, _, done) done(items[1]) end`)
					next.Command("Acp recover")
					at(t, "it to be whole again", func() bool { return count("old\n")+count("new\n") == files })
				}
				next.ok(`require('acp').undo_turn()`)
				at(t, "the rest to be undone", func() bool { return count("old\n") == files })
				next.Await("nothing to be left to decide", func() bool {
					for line := range strings.Lines(next.changes()) {
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
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.write("large", strings.Repeat("0123456789\n", 200_000))
		s.write("gone", strings.Repeat("9876543210\n", 200_000))
		s.write("small", "1\n")
		p := s.begin()
		turn := s.prompt(p, "change")
		p.toolCall("command", "execute", nil)
		s.sh("echo more >>large; rm gone; echo 2 >small")
		p.finish("command", nil)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		text := s.preview("Acp undo")
		for _, name := range []string{"gone", "large"} {
			want := "· " + name + "  cannot be brought back, as its previous content was not kept: it is too large, or was never seen: stays as it is"
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		s.Keys("y")
		s.awaitNotification("1 file as before the turn. 2 places left alone.")
		if got := s.disk(filepath.Join(s.Dir, "small")); got != "1\n" {
			t.Errorf("the small one has %q", got)
		}
	})
}
