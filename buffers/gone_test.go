package buffers_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// leaving is a Neovim that is gone after some calls, or sees something happen then.
type leaving struct {
	*neovim
	left atomic.Int32 // how many calls it still answers
	then func()       // is called once there are none, after which it goes on
}

// tracks has Neovim know with which disk its buffers are in step, and tell nobody.
func (n *neovim) tracks(on bool) {
	n.lua(`
		package.loaded['acp.rpc.host'] = { ended = require('acp.rpc.signal')(), notify = print, request = print }
		require('acp.files.track').watch({ on = ..., max_size = 2 ^ 24 })`, on)
}

var errLeft = errors.New("there is no Neovim any more")

func (l *leaving) CallBuffers(ctx context.Context, fn string, args, result any) error {
	switch left := l.left.Add(-1); {
	case left < 0 && l.then == nil:
		return errLeft
	case left == -1:
		l.then()
	}
	return l.neovim.CallBuffers(ctx, fn, args, result)
}

// Whenever Neovim goes, what was asked for is done as if it had not, or it fails with that and the disk is as it was. Whenever a
// folder comes in the file's place, it is done already or fails.
func TestNeovimGoesInBetween(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		type done = func(what string, err error)
		wrote := func(done done) func(buffers.Written, error) {
			return func(w buffers.Written, err error) {
				done(fmt.Sprint(said(w.Before), said(w.After), w.Changed, w.Created, w.Deleted, w.Conflict), err)
			}
		}
		const text, other, mine = "one\ntwo\n", "one\ntwo\nother\n", "call setline(1, 'mine')"
		mode := os.FileMode(0o600)
		const autocommand = "autocmd BufWritePost <buffer> let g:wrote = 1"
		asItIs := []string{"a read after others", "what is restored", "what is restored after others"} // is told with a folder
		n.asUser()
		long := strings.Repeat("line\n", 30_000)
		for name, test := range map[string]struct {
			had    string
			unsave string // a command
			other  string // what another program writes then
			do     func(f *buffers.Files, path string, done done)
			calls  int // at least
		}{
			"a read": {text, "", "", func(f *buffers.Files, path string, done done) {
				f.Read(t.Context(), buffers.Read{Path: path}, done)
			}, 1},
			"a read of a long one": {long, "call setline(2, 'mine')", "", func(f *buffers.Files, path string, done done) {
				f.Peek(t.Context(), path, done)
			}, 3},
			"a write": {text, "", "", func(f *buffers.Files, path string, done done) {
				f.Write(t.Context(), buffers.Write{Path: path, Text: "one\n2\n"}, wrote(done))
			}, 2},
			"a write under unsaved text": {text, mine, "", func(f *buffers.Files, path string, done done) {
				f.Write(t.Context(), buffers.Write{Path: path, Text: "one\n2\n"}, wrote(done))
			}, 2},
			"a write of a long one": {long, "", "", func(f *buffers.Files, path string, done done) {
				f.Write(t.Context(), buffers.Write{Path: path, Text: "x\n" + long}, wrote(done))
			}, 4},
			"a write with autocommands": {text, autocommand, "", func(f *buffers.Files, path string, done done) {
				f.Write(t.Context(), buffers.Write{Path: path, Text: "one\n2\n"}, wrote(done))
			}, 4},
			"an edit": {text, mine, "", func(f *buffers.Files, path string, done done) {
				f.Edit(t.Context(), buffers.Edit{Path: path, Change: replacing("two", "2"), Mode: &mode}, wrote(done))
			}, 3},
			"a removal": {text, "", "", func(f *buffers.Files, path string, done done) {
				f.Edit(t.Context(), buffers.Edit{Path: path, Change: noFile}, wrote(done))
			}, 2},
			"what is restored": {text, "", "", func(f *buffers.Files, path string, done done) {
				f.Restore(t.Context(), buffers.Restored{Path: path, Data: []byte("three\n"), Mode: 0o640}, wrote(done))
			}, 3},
			"a preview": {long, mine, "", func(f *buffers.Files, path string, done done) {
				f.Preview(t.Context(), buffers.Write{Path: path, Text: "x\n"}, func(p buffers.Preview, err error) {
					done(p.Before+p.After, err)
				})
			}, 3},
			"unsaved text": {long, mine, "", func(f *buffers.Files, path string, done done) {
				f.Unsaved(t.Context(), path, func(u *buffers.Unsaved, err error) {
					if u == nil {
						u = &buffers.Unsaved{}
					}
					done(u.Text+said(u.Disk), err)
				})
			}, 3},
			"a comparison": {long, "set modified", "", func(f *buffers.Files, path string, done done) {
				f.Compare(t.Context(), path, func(err error) { done("", err) })
			}, 4},
			"a read after others": {text, mine, other, func(f *buffers.Files, path string, done done) {
				f.Read(t.Context(), buffers.Read{Path: path}, done)
			}, 2},
			"a write after others": {text, "", other, func(f *buffers.Files, path string, done done) {
				f.Write(t.Context(), buffers.Write{Path: path, Text: "one\n2\nother\n"}, wrote(done))
			}, 3},
			"an edit after others": {text, mine, other, func(f *buffers.Files, path string, done done) {
				f.Edit(t.Context(), buffers.Edit{Path: path, Change: replacing("two", "2"), Mode: &mode}, wrote(done))
			}, 3},
			"what is restored after others": {text, mine, other, func(f *buffers.Files, path string, done done) {
				f.Restore(t.Context(), buffers.Restored{Path: path, Data: []byte("three\n"), Mode: 0o640}, wrote(done))
			}, 3},
			"a preview after others": {text, mine, other, func(f *buffers.Files, path string, done done) {
				f.Preview(t.Context(), buffers.Write{Path: path, Text: "x\n"}, func(p buffers.Preview, err error) {
					done(p.Before+p.After, err)
				})
			}, 3},
		} {
			const many = 1000
			l, had := &leaving{neovim: n}, cmp.Or(test.other, test.had)
			run := func(calls int, folder bool) (what, disk string, err error) {
				n.cmd("silent! %bwipeout!")
				must.Do(t, os.RemoveAll(n.path("a.txt")))
				files := buffers.New(l)
				l.then = nil
				l.left.Store(many)
				n.tracks(test.other != "")
				path := n.edit("a.txt", test.had)
				if test.other != "" {
					watch := files.Watch(func(buffers.Written) {}, func(error) {})
					defer watch.Close()
					wrote := make(chan error, 1)
					first := buffers.Write{Path: path, Text: "the agent's\n" + test.had}
					files.Write(t.Context(), first, func(_ buffers.Written, err error) { wrote <- err })
					must.Do(t, must.Receive(t, "the agent's write", wrote))
					n.put("a.txt", test.other)
				}
				is := path
				n.cmd(test.unsave)
				if folder {
					l.then = func() {
						is = path + ".was"
						os.Rename(path, is) // its error is that it is gone
						must.Do(t, os.Mkdir(path, 0o777))
					}
				}
				l.left.Store(int32(calls))
				ended := make(chan struct{})
				test.do(files, path, func(w string, e error) {
					what, err = w, e
					close(ended)
				})
				must.Receive(t, "an answer", ended)
				data, _ := os.ReadFile(is)
				os.Remove(path + ".was")
				return what, string(data), err
			}
			want, wantDisk, err := run(many, false)
			must.Do(t, err)
			calls := many - int(l.left.Load())
			check.Equal(t, calls >= test.calls, true, "%s: all of %d calls: %v", name, calls)
			for answers := range calls {
				for _, folder := range []bool{false, true} {
					what, disk, err := run(answers, folder)
					at := fmt.Sprintf("%s, %d calls, a folder %v", name, answers, folder)
					switch {
					case err == nil:
						check.Equal(t, folder && slices.Contains(asItIs, name) || what == want, true, at+": as told: %v")
						check.Equal(t, disk, wantDisk, at+": the disk has %.200q")
					case folder:
					case !errors.Is(err, errLeft):
						t.Errorf("%s: %v", at, err)
					default:
						check.Equal(t, disk, had, at+": the disk has %.200q")
					}
					if answers == 0 && !folder {
						check.Equal(t, err != nil, true, at+": it fails: %v")
					}
				}
			}
		}
	})
}

// What is written into a buffer that changes all the time comes to an end: nothing is written.
func TestBufferThatChangesAllTheTime(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		for name, test := range map[string]struct{ had, unsaved string }{
			"saved":     {"one\ntwo\n", ""},
			"unsaved":   {"one\ntwo\n", "call setline(1, 'mine')"},
			"not there": {"", "call setline(1, 'mine')"},
		} {
			n.cmd("silent! %bwipeout!")
			path := n.edit("a.txt", test.had)
			n.read(path)
			if test.had == "" {
				must.Do(t, os.Remove(path))
				n.cmd("edit!")
			}
			n.cmd(test.unsaved)
			changes := 0
			n.hook = func(fn string) {
				if fn == "write" {
					changes++
					n.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, {...})", fmt.Sprint(changes))
				}
			}
			_, err := n.tryWrite(path, "one\n2\n")
			n.hook = nil
			if !errors.Is(err, buffers.ErrBusy) || changes < 2 {
				t.Errorf("%s: after %d changes: %v", name, changes, err)
			}
			data, _ := os.ReadFile(path)
			check.Equal(t, string(data), test.had, "%s: the disk has %q", name)
			check.Equal(t, n.exists(path), test.had != "", "%s: the file is there: %v", name)
			check.Contains(t, n.text(), fmt.Sprint("\n", changes), "%s: the buffer has %q", name)
		}
	})
}

// A read of a buffer that is closed meanwhile, of which some lines were read, says that it may be tried again.
func TestReadOfABufferThatIsClosed(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", strings.Repeat("line\n", 30_000))
		n.cmd("call setline(1, 'mine')")
		n.hook = func(fn string) {
			if fn == "lines" {
				n.hook = nil
				n.cmd("bwipeout!")
			}
		}
		text, err := n.tryRead(buffers.Read{Path: path})
		check.Equal(t, errors.Is(err, buffers.ErrBusy), true, "it gives %.9q and %v: %v", text, err)
		check.Equal(t, n.read(path), n.disk("a.txt"), "then it has %.99q")
	})
}

// What is restored under a buffer, and goes again at once, is told to the user.
func TestRestoredAndGoneAgain(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		must.Do(t, os.Remove(path))
		n.hook = func(fn string) {
			if fn == "info" && n.exists(path) {
				must.Do(t, os.Remove(path))
			}
		}
		w := n.restore(path, "two\n", 0o644)
		check.Equal(t, w.Note, "a.txt was deleted on disk; its buffer stays.", "the note is %q")
		check.Equal(t, w.Changed && w.Created, true, "it was restored: %v")
		n.wantText("one")
	})
}

// A file that was removed with a mode to be set needs none.
func TestRemovalWithAMode(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.put("a.txt", "one\n")
		mode := os.FileMode(0o600)
		w, err := n.tryChange(buffers.Edit{Path: path, Change: noFile, Mode: &mode})
		check.Equal(t, w.Deleted && w.Changed && err == nil, true, "it is removed: %v")
		check.Equal(t, n.exists(path), false, "it is there: %v")
	})
}

// What cannot be compared with the disk stays unsaved text, and says why.
func TestComparisonWithNoFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		n.cmd("set modified")
		must.Do(t, os.Remove(path))
		compared := make(chan error, 1)
		n.files.Compare(context.Background(), path, func(err error) { compared <- err })
		if err := must.Receive(t, "the end of a comparison", compared); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it gives %v", err)
		}
		n.want("&modified", int64(1))
	})
}
