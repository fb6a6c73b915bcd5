package review

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// TestKilledInAWriteOfALargeText kills the host, or Neovim, while the agent writes a text that the host writes itself
// under an open buffer, as Neovim would stand still for it: when it has begun, and when the disk has the text. The file
// has one of its texts, nothing is left beside it, what was pending is pending, and where the text has come it is too.
// A file whose text came and was taken back may count as modified: it is another file with the same bytes, and those of
// the first were too many to keep.
func TestKilledInAWriteOfALargeText(t *testing.T) {
	before := strings.Repeat("a line of a large file, of which there are many\n", 200_000) // 9.6 MB
	now := "a new line\n" + before
	for _, victim := range []string{"host", "Neovim"} {
		for _, moment := range []string{"begun", "written"} {
			t.Run(victim+", "+moment, func(t *testing.T) {
				scene.Each(t, func(t *testing.T, s *scene.Scene) {
					s.Configure(`c.unsaved = 'ignore'`)
					large := s.WriteFile("large.txt", before)
					first, err := os.Stat(large)
					must.Do(t, err)
					small := s.WriteFile("small.txt", "1\n2\n3\n")
					s.WriteFile("mine.txt", "saved\n")
					s.Command("set updatecount=1 shortmess+=A")
					s.Command("edit mine.txt | call append(0, 'mine, not saved') | preserve | split large.txt")
					p := s.BeginWith(scene.KeepsSessions(true, "resume"))
					s.Prompt(p, "Change both")
					p.WriteFile(small, "1\ntwo\n3\n")
					awaitSaved(s, kept(s), scene.SessionID(1), 1, 1, 0)

					await := seen(t, s.Dir, moment)
					hosts, _ := s.Hosts()
					_, line := p.Request("fs/write_text_file", obj{"sessionId": scene.SessionID(1), "path": large, "content": now})
					go p.TryToWrite(line)
					await()
					if victim == "Neovim" {
						s.Kill()
					} else {
						must.Do(t, syscall.Kill(hosts[0], syscall.SIGKILL))
						s.AwaitLua(`require('acp').sessions()[1].state == 'dead'`)
						if s.LuaInt(`vim.fn.bufnr('mine.txt')`) < 0 || !strings.HasPrefix(s.BufferText(s.LuaInt(`vim.fn.bufnr('mine.txt')`)), "mine, not saved\n") {
							t.Error("what the user typed is lost")
						}
						s.Quit()
					}
					s.AwaitNothingLeft()
					has := readAll(t, large) // a host that finds its Neovim gone takes back what it has not told it
					if has != before && has != now {
						t.Errorf("the file has %d bytes, which are none of its texts", len(has))
					}

					n := s.Next(s.KeepState())
					n.RecordNotifications()
					n.Command("set updatecount=1 shortmess+=A")
					n.Command("Acp resume " + scene.SessionID(1))
					p = n.Agent()
					takesUp(n, p, scene.SessionID(1))
					is, err := os.Stat(large)
					must.Do(t, err)
					n.Await("what was pending, and what has come", func() bool {
						// The hunk is known where the host had compared the texts before it was killed.
						listed, came := strings.CutSuffix(strings.ReplaceAll(allChanges(n), " -0,0+1,1", ""), "modified large.txt\n")
						return listed == "modified small.txt -2,1+2,1\n" && (came == (has == now) || came && !is.ModTime().Equal(first.ModTime()))
					})
					scene.AwaitAfterEnd(t, "nothing to be left beside the file", func() bool {
						left, err := filepath.Glob(filepath.Join(s.Dir, ".acp-*"))
						return err == nil && len(left) == 0
					})
					n.Command("Acp recover")
					n.AwaitNotification("no write was interrupted")
					if is := readAll(t, large); is != has {
						t.Errorf("the file has %d bytes after the next start, and had %d", len(is), len(has))
					}
					if victim == "Neovim" {
						n.Command("silent! recover mine.txt")
						if n.LuaInt(`vim.fn.search('^mine, not saved$', 'nw')`) == 0 {
							t.Error("what the user typed is not in the swap file")
						}
					}
				})
			})
		}
	}
}

// seen waits for a moment of the write of a file in a folder: for the new file that the host writes, or for that to be
// renamed over the old one.
func seen(t *testing.T, dir, moment string) (await func()) {
	t.Helper()
	watch, err := fsnotify.NewBufferedWatcher(1 << 10)
	if err == nil {
		err = watch.Add(dir)
	}
	must.Do(t, err)
	t.Cleanup(func() { watch.Close() })
	return func() {
		t.Helper()
		for {
			select {
			case e := <-watch.Events:
				begun := e.Has(fsnotify.Create) && strings.HasPrefix(filepath.Base(e.Name), ".acp-")
				if written := e.Has(fsnotify.Create) && filepath.Base(e.Name) == "large.txt"; moment == "begun" && begun || written {
					return
				}
			case err := <-watch.Errors:
				t.Fatal(err)
			case <-time.After(time.Minute):
				t.Fatal("the write has not begun within a minute")
			}
		}
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must.Do(t, err)
	return string(data)
}
