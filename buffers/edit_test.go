package buffers_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

type written struct {
	buffers.Written
	err error
}

// asked is what a done gets, once.
func (n *neovim) asked(do func(done func(buffers.Written, error))) (buffers.Written, error) {
	n.t.Helper()
	got := make(chan written, 2)
	do(func(w buffers.Written, err error) { got <- written{w, err} })
	select {
	case w := <-got:
		return w.Written, w.err
	case <-time.After(hung):
		n.t.Fatal("there is no answer")
		return buffers.Written{}, nil
	}
}

func (n *neovim) tryChange(e buffers.Edit) (buffers.Written, error) {
	n.t.Helper()
	return n.asked(func(done func(buffers.Written, error)) { n.files.Edit(context.Background(), e, done) })
}

func (n *neovim) change(path string, change func(*string) (*string, error)) buffers.Written {
	n.t.Helper()
	w, err := n.tryChange(buffers.Edit{Path: path, Change: change})
	must.Do(n.t, err)
	return w
}

func (n *neovim) restore(path, data string, mode fs.FileMode) buffers.Written {
	n.t.Helper()
	w, err := n.asked(func(done func(buffers.Written, error)) {
		n.files.Restore(context.Background(), buffers.Restored{Path: path, Data: []byte(data), Mode: mode}, done)
	})
	must.Do(n.t, err)
	return w
}

// replacing changes old into new, which must be there.
func replacing(old, new string) func(*string) (*string, error) {
	return func(now *string) (*string, error) {
		if now == nil || !strings.Contains(*now, old) {
			return nil, errors.New("there is no " + old + " in " + said(now))
		}
		text := strings.Replace(*now, old, new, 1)
		return &text, nil
	}
}

func giving(text string) func(*string) (*string, error) {
	return func(*string) (*string, error) { return &text, nil }
}

func noFile(*string) (*string, error) { return nil, nil }

func (n *neovim) wantMode(path string, want fs.FileMode) {
	n.t.Helper()
	info, err := os.Stat(path)
	must.Do(n.t, err)
	check.Equal(n.t, info.Mode().Perm(), want, "%s has mode %v", path)
}

// exists reports whether there is a file.
func (n *neovim) exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// What the user has changes, and the disk in the same way, without what was not saved.
func TestEdit(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		for _, c := range []struct {
			name, had string
			unsaved   string // the buffer; "" is without unsaved text
			old, new  string

			buffer, disk string
			changed      bool
		}{
			{"all saved", "one\ntwo\nthree\n", "", "two\n", "", "one\nthree\n", "one\nthree\n", true},
			{"elsewhere", "one\ntwo\nthree\n", "one\ntwo\nTHREE\n", "one\n", "ONE\nmore\n", "ONE\nmore\ntwo\nTHREE\n", "ONE\nmore\ntwo\nthree\n", true},
			{"beside", "one\ntwo\nthree\n", "one\nTWO\nthree\n", "one\n", "ONE\n", "ONE\nTWO\nthree\n", "ONE\ntwo\nthree\n", true},
			{"unsaved lines", "one\ntwo\nthree\n", "one\nTWO\nthree\n", "TWO\n", "", "one\nthree\n", "one\ntwo\nthree\n", true},
			{"unsaved lines among others", "one\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n", "TWO\nthree\nfour\n", "2\nthree\n4\n", "one\n2\nthree\n4\n", "one\ntwo\nthree\n4\n", true},
			{"back to what was saved", "one\ntwo\nthree\n", "one\nTWO\nthree\n", "TWO\n", "two\n", "one\ntwo\nthree\n", "one\ntwo\nthree\n", true},
			{"nothing", "one\ntwo\n", "", "one", "one", "one\ntwo\n", "one\ntwo\n", false},
			{"nothing, with unsaved text", "one\ntwo\n", "one\nTWO\n", "one", "one", "one\nTWO\n", "one\ntwo\n", false},
			{"no newline", "one\ntwo", "", "one\n", "", "two", "two", true},
			{"newline comes", "one\ntwo", "", "two", "two\n", "one\ntwo\n", "one\ntwo\n", true},
			{"all", "one\n", "", "one\n", "", "", "", true},
			{"of empty", "", "", "", "one\n", "one\n", "one\n", true},
		} {
			for _, loaded := range []bool{true, false} {
				if !loaded && c.unsaved != "" {
					continue
				}
				name := strings.ReplaceAll(c.name, " ", "")
				path := n.put(name, c.had)
				before := c.had
				if loaded {
					n.cmd("edit! " + path)
					if c.unsaved != "" {
						before = c.unsaved
						n.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", strings.Split(strings.TrimSuffix(before, "\n"), "\n"))
					}
				}
				steps := n.lua("return vim.fn.undotree().seq_last").(int64)
				n.calls = nil
				w := n.change(path, replacing(c.old, c.new))
				if !c.changed && slices.Contains(n.calls, "write") {
					t.Errorf("%s: Neovim has written", c.name)
				}
				n.wantDisk(name, c.disk)
				if w.Path != path || (w.Buf != 0) != loaded || w.Changed != c.changed || w.Created || w.Deleted || w.Conflict || w.Note != "" ||
					said(w.Before) != said(&before) || said(w.After) != said(&c.buffer) {
					t.Errorf("%s: %+v, %s, %s", c.name, w, said(w.Before), said(w.After))
				}
				if !loaded {
					continue
				}
				n.wantText(strings.TrimSuffix(c.buffer, "\n"))
				n.want("&modified", truth(c.buffer != c.disk))
				n.want("&endofline || getline(1, '$') == ['']", truth(c.buffer == "" || strings.HasSuffix(c.buffer, "\n")))
				n.asksNothing("checktime")
				n.wantText(strings.TrimSuffix(c.buffer, "\n"))
				if c.changed && c.name != "newline comes" {
					n.want("undotree().seq_last", steps+1)
					n.cmd("undo")
					n.wantText(strings.TrimSuffix(before, "\n"))
					n.want("&modified", int64(1))
					n.cmd("redo")
				}
				n.wantText(strings.TrimSuffix(c.buffer, "\n"))
				n.want("&modified", truth(c.buffer != c.disk))
				n.asksNothing("write")
				n.want("&modified", int64(0))
				n.cmd("bwipeout")
			}
		}
	})
}

// While the user types the edit is an undo step of its own, and typing goes on.
func TestEditWhileInserting(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		n.cmd("3mark a")
		n.input("jA mine")
		n.change(path, replacing("one\n", "zero\n1\n"))
		n.want("mode()", "i")
		n.wantText("zero\n1\ntwo mine\nthree")
		n.wantDisk("a.txt", "zero\n1\ntwo\nthree\n")
		n.want("[line('.'), col('.'), line(\"'a\")] == [3, 9, 4]", int64(1))
		n.input(" more<Esc>")
		for _, want := range []string{"zero\n1\ntwo mine\nthree", "one\ntwo mine\nthree", "one\ntwo\nthree"} {
			n.cmd("undo")
			n.wantText(want)
		}
		n.cmd("redo | redo | redo")
		n.asksNothing("write")
		n.wantDisk("a.txt", "zero\n1\ntwo mine more\nthree\n")
	})
}

// Encoding, line ends, mode, links: all is as it was.
func TestEditKeepsWhatTheFileIs(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		for _, c := range []struct{ name, data, want string }{
			{"dos", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"},
			{"mixed", "a\r\nb\nc\n", "a\r\nB\nc\n"},
			{"bom", "\xef\xbb\xbfa\nb\n", "\xef\xbb\xbfa\nB\n"},
			{"latin1", "caf\xe9\nb\n", "caf\xe9\nB\n"},
			{"utf16le", "\xff\xfea\x00\n\x00b\x00", "\xff\xfea\x00\n\x00B\x00"},
			{"nul", "a\x00\nb\n", "a\x00\nB\n"},
		} {
			for _, how := range []string{"", "edit", "edit unsaved"} {
				path := n.put(c.name, c.data)
				must.Do(t, os.Chmod(path, 0o751))
				must.Do(t, os.Symlink(c.name, n.path("link")))
				must.Do(t, os.Link(path, n.path("hard")))
				if how != "" {
					n.cmd("edit " + path)
				}
				if how == "edit unsaved" {
					n.keys("ggOtop<Esc>")
				}
				n.change(n.path("link"), replacing("b", "B"))
				n.wantDisk(c.name, c.want)
				n.wantDisk("hard", c.want)
				n.wantMode(path, 0o751)
				if info, err := os.Lstat(n.path("link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
					t.Errorf("the link was replaced: %v", err)
				}
				n.asksNothing("checktime")
				n.cmd("enew! | %bwipeout!")
				for _, name := range []string{c.name, "link", "hard"} {
					must.Do(t, os.Remove(n.path(name)))
				}
			}
		}

		// Of an encoding that only Neovim knows, what a buffer has counts.
		path := n.put("cp1251", "\xef\nb\n")
		n.cmd("edit ++enc=cp1251 " + path)
		n.change(path, replacing("п\nb", "п\nж"))
		n.wantDisk("cp1251", "\xef\n\xe6\n")
		n.keys("ggOtop<Esc>")
		if _, err := n.tryChange(buffers.Edit{Path: path, Change: replacing("ж", "b")}); err == nil || !strings.Contains(err.Error(), "save it first") {
			t.Errorf("%v", err)
		}
		n.wantDisk("cp1251", "\xef\n\xe6\n")
		n.wantText("top\nп\nж")
	})
}

func TestEditsThatCannotBe(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		must.Do(t, os.Chmod(n.put("ro", "x\n"), 0o444))
		must.Do(t, os.Mkdir(n.path("dir"), 0o755))
		must.Do(t, os.Chmod(n.put("l1", "\xe9x\n"), 0o640))
		no := errors.New("no")
		mode := fs.FileMode(0o600)
		for _, c := range []struct {
			path   string
			change func(*string) (*string, error)
			want   error
		}{
			{"relative", giving("y\n"), buffers.ErrNotAbsolute},
			{n.path("dir"), giving("y\n"), buffers.ErrDirectory},
			{n.path("dir"), noFile, buffers.ErrDirectory},
			{n.path("ro"), giving("y\n"), fs.ErrPermission},
			{n.path("ro"), noFile, fs.ErrPermission},
			{n.path("l1"), giving("→\n"), buffers.ErrEncoding},
			{n.path("ro"), func(*string) (*string, error) { return nil, no }, fs.ErrPermission},
			{n.path("l1"), func(*string) (*string, error) { return nil, no }, no},
			{n.path("l1"), func(*string) (*string, error) { panic("oh") }, nil},
		} {
			_, err := n.tryChange(buffers.Edit{Path: c.path, Change: c.change})
			var typed *buffers.Error
			if !errors.As(err, &typed) || typed.Verb != "edit" || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.path, err, c.want)
			}
		}
		if _, err := n.tryChange(buffers.Edit{Path: n.path("l1"), Change: giving("→\n"), Mode: &mode}); !errors.Is(err, buffers.ErrEncoding) {
			t.Errorf("%v", err)
		}
		n.wantMode(n.path("l1"), 0o640)
		n.wantDisk("ro", "x\n")
		n.wantDisk("l1", "\xe9x\n")

		path := n.edit("a.txt", "x\n")
		for _, unsaved := range []bool{false, true} {
			if unsaved {
				n.cmd("call setline(1, 'y')")
			}
			text := n.text()
			for _, c := range []struct {
				set, unset string
				want       error
			}{
				{"setlocal readonly", "setlocal noreadonly", buffers.ErrReadOnly},
				{"setlocal nomodifiable", "setlocal modifiable", buffers.ErrNotModifiable},
				{"setlocal buftype=nofile", "setlocal buftype=", buffers.ErrSpecialBuffer},
			} {
				n.cmd(c.set)
				for _, change := range []func(*string) (*string, error){giving("z\n"), noFile} {
					if _, err := n.tryChange(buffers.Edit{Path: path, Change: change}); !errors.Is(err, c.want) {
						t.Errorf("%s: %v", c.set, err)
					}
				}
				n.cmd(c.unset)
				n.wantText(text)
				n.wantDisk("a.txt", "x\n")
			}
		}
		n.cmd("set nomodified")
		other := startNeovim(t, n.lua("return vim.v.progpath").(string))
		other.cmd("let &directory = '" + n.lua("return vim.o.directory").(string) + "'")
		other.cmd("edit " + n.put("b.txt", "one\n"))
		other.keys("ccmine<Esc>")
		other.cmd("preserve")
		for _, change := range []func(*string) (*string, error){giving("z\n"), noFile} {
			if _, err := n.tryChange(buffers.Edit{Path: n.path("b.txt"), Change: change}); !errors.Is(err, buffers.ErrElsewhere) {
				t.Errorf("%v", err)
			}
		}
		n.wantDisk("b.txt", "one\n")
	})
}

// A limit on the size of files stands in for a full disk.
func TestEditOnAFullDisk(t *testing.T) {
	if !limited(t) {
		return
	}
	onNeovims(t, func(t *testing.T, first *neovim) {
		n := startNeovim(t, first.lua("return vim.v.progpath").(string), `trap '' XFSZ; ulimit -f 64; exec "$@"`)
		small := strings.Repeat("0123456789abcde\n", 1000)
		path := n.edit("a.txt", small)
		if _, err := n.tryChange(buffers.Edit{Path: path, Change: giving(strings.Repeat(small, 10))}); err == nil {
			t.Error("no error")
		}
		n.wantText(strings.TrimSuffix(small, "\n"))
		n.wantDisk("a.txt", small)
		n.want("&modified", int64(0))

		// Where the host writes, and where Neovim then fails to.
		n.keys("ccmine<Esc>")
		text := n.text()
		var limit syscall.Rlimit
		must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
		full := limit
		full.Cur = 20_000
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))
		_, err := n.tryChange(buffers.Edit{Path: path, Change: func(now *string) (*string, error) {
			text := *now + small
			return &text, nil
		}})
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%v", err)
		}
		n.wantText(text)
		n.wantDisk("a.txt", small)
		n.want("&modified", int64(1))
	})
}

// What comes between looking and editing is taken in, and the change is made once.
func TestChangesBetweenLookingAndEditing(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		more := func(now *string) (*string, error) {
			text := "more\n" + *now
			return &text, nil
		}
		between := func(code string) {
			n.hook = func(fn string) {
				if fn == "write" {
					n.hook = nil
					n.lua(code)
				}
			}
		}
		path := n.edit("a.txt", "one\ntwo\n")
		between("vim.api.nvim_buf_set_lines(0, -1, -1, true, {'typed'})")
		n.change(path, more)
		n.wantText("more\none\ntwo\ntyped")
		n.wantDisk("a.txt", "more\none\ntwo\n")

		// The disk has been written when it happens.
		between("vim.api.nvim_buf_set_lines(0, 0, 1, true, {'MORE'})")
		n.change(path, more)
		n.wantText("more\nMORE\none\ntwo\ntyped")
		n.wantDisk("a.txt", "more\nmore\none\ntwo\n")
		n.asksNothing("checktime | write")

		n.keys("Gofour<Esc>")
		between("vim.cmd('bwipeout!')")
		n.change(path, more)
		n.wantDisk("a.txt", "more\nmore\nMORE\none\ntwo\ntyped\n")

		n.cmd("edit " + path)
		n.keys("Gofour<Esc>")
		between("vim.cmd('setlocal nomodifiable')")
		had := n.disk("a.txt")
		n.hook = func(fn string) {
			if fn == "write" {
				n.hook = nil
				n.lua("vim.api.nvim_buf_set_lines(0, 0, 1, true, {'x'}); vim.bo.modifiable = false")
			}
		}
		if _, err := n.tryChange(buffers.Edit{Path: path, Change: more}); !errors.Is(err, buffers.ErrNotModifiable) {
			t.Errorf("%v", err)
		}
		n.wantDisk("a.txt", had)
	})
}

// A buffer that gets another name meanwhile has nothing to do with the file any more: neither what the disk gets nor a write
// comes into it.
func TestRenamedMeanwhile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		type renaming struct{ when, to string }
		var next atomic.Pointer[renaming]
		renamed := make(chan struct{}, 2)
		n.hook = func(fn string) {
			if r := next.Load(); r != nil && r.when == fn && next.CompareAndSwap(r, nil) {
				n.cmd("silent saveas " + r.to)
				renamed <- struct{}{}
			}
		}
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		next.Store(&renaming{"sync", "b.txt"})
		n.put("a.txt", "two\n")
		<-renamed // before settle, whose own file is synced too
		w.settle()
		n.wantText("one")
		n.wantDisk("b.txt", "one\n")
		n.asksNothing("checktime | write")

		n.cmd("edit " + path)
		next.Store(&renaming{"write", "c.txt"})
		n.write(path, "two\nthree\n")
		n.wantText("two")
		n.wantDisk("c.txt", "two\n")
		n.wantDisk("a.txt", "two\nthree\n")
	})
}

func TestEditWaitsWhileTextIsLocked(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.cmd("set hidden | inoremap <expr> X nr2char(getchar())")
		gone := n.edit("b.txt", "gone\n")
		path := n.edit("a.txt", "one\n")
		n.keys("otyped<Esc>")
		for _, e := range []buffers.Edit{
			{Path: path, Change: replacing("one", "two")},
			{Path: gone, Change: noFile},
		} {
			_, err := n.Input("AX")
			must.Do(t, err)
			seen := make(chan struct{})
			n.hook = func(fn string) {
				if fn == "write" || fn == "remove" {
					n.hook = nil
					close(seen)
				}
			}
			done := make(chan error, 1)
			n.files.Edit(context.Background(), e, func(_ buffers.Written, err error) { done <- err })
			<-seen
			_, err = n.Input("y<Esc>")
			must.Do(t, err)
			select {
			case err := <-done:
				must.Do(t, err)
			case <-time.After(hung):
				t.Fatal("the edit has no end")
			}
		}
		n.wantText("two\ntypedyy")
		n.wantDisk("a.txt", "two\n")
		n.want("bufexists('b.txt')", int64(0))
		if n.exists(gone) {
			t.Error("it is still there")
		}
	})
}

// The agent does not get to know an edit: what it writes later is against what it knows.
func TestTheAgentDoesNotKnowAnEdit(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		n.write(path, "one\nAGENT\ntwo\nthree\n")
		n.keys("Gofour<Esc>")
		n.change(path, replacing("AGENT\n", ""))
		n.wantDisk("a.txt", "one\ntwo\nthree\n")
		w := n.write(path, "ONE\nAGENT\ntwo\nthree\n")
		if w.Conflict {
			t.Errorf("%+v", w)
		}
		n.wantText("ONE\ntwo\nthree\nfour")

		path = n.edit("b.txt", "one\ntwo\n")
		n.read(path)
		n.change(path, noFile)
		n.restore(path, "one\nTWO\n", 0o644)
		n.keys("ggOzero<Esc>")
		n.write(path, "one\ntwo\nthree\n")
		n.wantText("zero\none\nTWO\nthree")
	})
}

// The watch takes nothing of it for a change by others, nor Neovim; what others have changed it still takes.
func TestEditsAreNoChangesByOthers(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.cmd("set hidden")
		hidden, other := n.edit("hidden.txt", "x\n"), n.edit("other.txt", "x\n")
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		w := n.follow()
		mode := fs.FileMode(0o755)
		_, err := n.tryChange(buffers.Edit{Path: path, Change: replacing("two\n", ""), Mode: &mode})
		must.Do(t, err)
		n.wantMode(path, 0o755)
		w.wantNone()
		w.quietly()
		n.keys("Gofour<Esc>")
		n.change(path, replacing("one", "ONE"))
		w.wantNone()
		n.asksNothing("checktime")
		n.want("&modified", int64(1))
		n.wantText("ONE\nthree\nfour")

		// What another program wrote just before reaches the buffer after it.
		n.put("a.txt", "ONE\nTHREE\n")
		n.change(path, replacing("ONE\n", "one\nmore\n"))
		n.wantDisk("a.txt", "one\nmore\nTHREE\n")
		w.awaitText("one\nmore\nTHREE\nfour")
		n.want("&modified", int64(1))
		w.settle()
		w.changes()
		n.asksNothing("write")

		// As soon as it is there, others may change it under what the user types.
		n.change(path, replacing("one", "1"))
		n.keys("Gofive<Esc>")
		n.put("a.txt", "one\nmore\nTHREE\nfour\n")
		w.awaitText("one\nmore\nTHREE\nfour\nfive")
		w.settle()
		w.changes()
		n.keys("Gdd:write<CR>")

		// Of a file that is no more the watch is not sure at once: it is when it tells of another's removal.
		others := func(path string) {
			t.Helper()
			must.Do(t, os.Remove(path))
			for deadline := time.Now().Add(hung); ; {
				w.settle()
				if c := w.changes(); len(c) == 1 && c[0].Deleted && c[0].Path == path {
					return
				} else if len(c) > 0 || time.Now().After(deadline) {
					t.Fatalf("told: %+v", c)
				}
			}
		}
		n.change(hidden, noFile)
		n.change(path, noFile)
		others(other)
		w.quietly()
		n.want("bufexists('hidden.txt')", int64(0))
		n.wantText("one\nmore\nTHREE\nfour")
		n.change(path, giving("again\n"))
		w.wantNone()
		n.wantText("again")
		n.want("&modified", int64(0))
		n.change(path, noFile)
		n.restore(path, "back\r\n", 0o640)
		w.wantNone()
		w.quietly()
		n.wantText("back")
		n.want("&fileformat", "dos")
		n.wantMode(path, 0o640)

		// What others then do is told again.
		others(path)
		n.keys("Gomine<Esc>")
		n.write(path, "back\nagain\n")
		w.wantNone()
		n.change(path, noFile)
		n.write(path, "back\n")
		others(path)
	})
}

// What the disk's last line has no newline for is none of the edit's business.
func TestEditKeepsTheLastNewline(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		n.cmd("set nofixendofline noendofline")
		n.want("&modified", int64(1))
		n.change(path, replacing("two", "TWO"))
		n.wantDisk("a.txt", "one\nTWO\n")
		n.want("[&modified, &endofline] == [1, 0]", int64(1))
		n.change(path, replacing("TWO", "TWO\n"))
		n.wantDisk("a.txt", "one\nTWO\n")
		n.want("[&modified, &endofline] == [0, 1]", int64(1))
	})
}

func TestEditSavesAsTheUserDoes(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.asUser()
		path := n.edit("a.txt", "one\ntwo\n")
		n.cmd("autocmd BufWritePre a.txt keeppatterns %s/T/t/e")
		w := n.change(path, replacing("one", "T"))
		n.wantText("t\ntwo")
		n.wantDisk("a.txt", "t\ntwo\n")
		check.Equal(t, *w.After, "t\ntwo\n", "%s")
		n.cmd("undo")
		n.wantText("one\ntwo")
		n.cmd("redo")
		n.keys("Gothree<Esc>")
		n.write(path, "t\ntwo\nAGENT\n") // against what it knew, which is nothing: the disk's
		n.wantText("t\ntwo\nthree")
	})
}

func TestEditRemovesAFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.cmd("set hidden")
		for _, c := range []struct {
			how   string
			stays bool
		}{
			{"", false},
			{"edit %s | enew", false},
			{"edit %s | call setline(1, 'mine') | enew", true},
			{"edit %s", true},
			{"edit %s | call setline(1, 'mine')", true},
			{"tabedit %s | tabnext", true},
		} {
			path := n.put("a.txt", "one\n")
			n.cmd(strings.ReplaceAll(c.how, "%s", path) + " ")
			before, modified := "one\n", n.lua("return vim.fn.bufexists('a.txt') == 1 and vim.fn.getbufvar('a.txt', '&modified') == 1") == true
			if modified {
				before = "mine\n"
			}
			w := n.change(path, noFile)
			if !w.Changed || !w.Deleted || said(w.Before) != said(&before) || w.After != nil || w.Note != "" || (w.Buf != 0) != c.stays {
				t.Errorf("%q: %+v", c.how, w)
			}
			if n.exists(path) {
				t.Errorf("%q: it is still there", c.how)
			}
			n.want("bufexists('a.txt')", truth(c.stays))
			n.asksNothing("checktime")
			n.want("v:errmsg", "")
			if c.stays {
				n.want("getbufline('a.txt', 1, '$') == ['"+strings.TrimSpace(before)+"']", int64(1))
				n.want("getbufvar('a.txt', '&modified')", truth(modified))
				if !modified {
					n.change(path, func(now *string) (*string, error) {
						if now != nil {
							t.Errorf("%q: there is %q", c.how, *now)
						}
						text := "new\n"
						return &text, nil
					})
					n.wantDisk("a.txt", "new\n")
					n.want("getbufline('a.txt', 1, '$') == ['new']", int64(1))
				}
				n.asksNothing("buffer a.txt")
				n.asksNothing("write")
			}
			n.cmd("silent! tabonly | enew! | %bwipeout!")
		}
		// No file, and none wanted.
		if w := n.change(n.path("none"), noFile); w.Changed || w.Deleted {
			t.Errorf("%+v", w)
		}
		// What the user has not saved yet stays so.
		path := n.path("d/new.txt")
		n.cmd("edit " + path)
		n.keys("ione<CR>two<Esc>")
		w := n.change(path, replacing("one\n", "ONE\n"))
		n.wantText("ONE\ntwo")
		n.want("&modified", int64(1))
		if n.exists(path) || w.Created || !w.Changed {
			t.Errorf("%+v", w)
		}
		n.cmd("undo")
		n.wantText("one\ntwo")
	})
}

func TestEditCreatesAFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		mode := fs.FileMode(0o700)
		for _, loaded := range []bool{false, true} {
			path := n.path("x/y/" + string('a'+rune(truth(loaded))))
			if loaded {
				n.cmd("edit " + path)
			}
			w, err := n.tryChange(buffers.Edit{Path: path, Change: giving("text\n"), Mode: &mode})
			must.Do(t, err)
			if !w.Created || !w.Changed || w.Before != nil || *w.After != "text\n" || (w.Buf != 0) != loaded {
				t.Errorf("%+v", w)
			}
			n.wantMode(path, 0o700)
			if loaded {
				n.wantText("text")
				n.want("&modified", int64(0))
				n.asksNothing("checktime")
				n.keys("x")
				n.asksNothing("write")
			}
		}
	})
}

func TestEditOfTheMode(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		n.cmd("set autoread | let g:read = 0 | autocmd BufReadPost * let g:read += 1")
		for _, mode := range []fs.FileMode{0o755, 0o600} {
			_, err := n.tryChange(buffers.Edit{Path: path, Change: giving("one\n"), Mode: &mode})
			must.Do(t, err)
			n.wantMode(path, mode)
			n.asksNothing("checktime")
			n.want("g:read", int64(0))
			n.want("execute('messages')", "")
			n.want("&autoread", int64(1))
		}
		n.cmd("set noautoread")
		n.want("&autoread", int64(0))
		// What may not have it is not written.
		comm := fmt.Sprintf("/proc/%d/comm", os.Getpid())
		if was, err := os.ReadFile(comm); err == nil {
			mode := fs.FileMode(0o600)
			_, err := n.tryChange(buffers.Edit{Path: comm, Change: giving("two\n"), Mode: &mode})
			is, _ := os.ReadFile(comm)
			check.Equal(t, errors.Is(err, fs.ErrPermission) && string(is) == string(was), true, "%v, with %q: %v", err, is)
		}
		// A file that is to be writable may be written; one that is not to be is so afterwards.
		other := n.put("b.txt", "one\n")
		must.Do(t, os.Chmod(other, 0o444|os.ModeSetgid))
		mode := fs.FileMode(0o644)
		_, err := n.tryChange(buffers.Edit{Path: other, Change: giving("two\n"), Mode: &mode})
		must.Do(t, err)
		n.wantDisk("b.txt", "two\n")
		n.wantMode(other, 0o644)
		mode = 0o444
		_, err = n.tryChange(buffers.Edit{Path: other, Change: giving("three\n"), Mode: &mode})
		must.Do(t, err)
		n.wantDisk("b.txt", "three\n")
		n.wantMode(other, 0o444)
		if info, err := os.Stat(other); err != nil || info.Mode()&os.ModeSetgid == 0 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	})
}

func TestRestore(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		binary := "\x00\x01\xff\r\n\xfe\x80\n\r"
		w := n.restore(n.path("x/a.bin"), binary, 0o755)
		n.wantDisk("x/a.bin", binary)
		n.wantMode(n.path("x/a.bin"), 0o755)
		if !w.Created || !w.Changed || w.Before != nil || w.Buf != 0 {
			t.Errorf("%+v", w)
		}
		if w := n.restore(n.path("x/a.bin"), binary, 0o644); w.Created || w.Changed {
			t.Errorf("%+v", w)
		}
		n.wantMode(n.path("x/a.bin"), 0o644)

		// A deleted file, with a buffer that has its text, one that has another, and one with unsaved text.
		for _, c := range []struct{ had, unsaved, data, want string }{
			{"one\ntwo\n", "", "one\ntwo\n", "one\ntwo"},
			{"one\ntwo\n", "", "one\r\nTWO\r\n", "one\nTWO"},
			{"one\ntwo\n", "", binary, ""},
			{"one\ntwo\n", "mine", "one\ntwo\n", "mine\none\ntwo"},
		} {
			path := n.edit("b.txt", c.had)
			if c.unsaved != "" {
				n.keys("O" + c.unsaved + "<Esc>")
			}
			n.change(path, noFile)
			w := n.restore(path, c.data, 0o640)
			n.wantDisk("b.txt", c.data)
			n.wantMode(path, 0o640)
			if !w.Created || !w.Changed || w.Buf == 0 || w.Conflict || w.Note != "" || (w.Before == nil) != (c.unsaved == "") {
				t.Errorf("%q: %+v", c.data, w)
			}
			if c.want != "" {
				n.wantText(c.want)
				if w.After == nil || *w.After != c.want+"\n" {
					t.Errorf("%q: after it is %s", c.data, said(w.After))
				}
			}
			n.want("&modified", truth(c.unsaved != ""))
			n.asksNothing("checktime")
			n.asksNothing("write") // which ends the last line
			if c.unsaved == "" && c.want != "" {
				n.wantDisk("b.txt", c.data)
			}
			n.cmd("bwipeout!")
		}

		path := n.edit("c.txt", "one\n")
		n.cmd("set readonly")
		_, err := n.asked(func(done func(buffers.Written, error)) {
			n.files.Restore(context.Background(), buffers.Restored{Path: path, Data: []byte("two\n"), Mode: 0o600}, done)
		})
		var typed *buffers.Error
		if !errors.As(err, &typed) || typed.Verb != "restore" || !errors.Is(err, buffers.ErrReadOnly) {
			t.Errorf("%v", err)
		}
		n.wantDisk("c.txt", "one\n")
		n.wantMode(path, 0o644)
	})
}

// What the disk is to have it gets, line ends and all, beside unsaved text: which does not tell whether the last line
// ends.
func TestRestoreOfTheEndOfALine(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		for _, keys := range []string{"", "dd"} {
			for _, data := range []string{"one\n", "one\r\n", "one"} {
				for _, had := range []string{"one", "one\n"} {
					path := n.edit("d.txt", "one\n")
					w.settle()
					n.keys("omine<Esc>")
					n.put("d.txt", had)
					w.settle()
					n.keys(keys)
					n.restore(path, data, 0o644)
					n.wantDisk("d.txt", data)
					n.cmd("bwipeout!")
				}
			}
		}
	})
}

// Unsaved text becomes what the restorer makes of it, with the disk's end of the last line.
func TestRestoreUnderAnotherText(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		for _, data := range []string{"one\n", "one"} {
			path := n.edit("d.txt", "one\nagent\n")
			w.settle()
			n.change(path, noFile)
			n.keys("jAs<Esc>omine<Esc>")
			got, err := n.asked(func(done func(buffers.Written, error)) {
				n.files.Restore(context.Background(), buffers.Restored{Path: path, Data: []byte(data), Mode: 0o644, Saved: true, Buffer: func(mine string) (string, bool) {
					return strings.Replace(mine, "agents\n", "", 1), true
				}}, done)
			})
			must.Do(t, err)
			n.wantDisk("d.txt", data)
			n.wantText("one\nmine")
			n.want("&modified", int64(1))
			if got.Conflict || got.After == nil {
				t.Errorf("%+v", got)
			}
			n.cmd("bwipeout!")
		}
	})
}

// What comes back in another encoding is merged with unsaved text, where that can be written in it, too.
func TestRestoreOfAnotherEncoding(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		for _, c := range []struct{ was, typed, data, want, encoding, saved string }{
			{"agent\n", "mine", "\xe9\n", "é\nmine", "latin1", "\xe9\nmine\n"},
			{"agent\n", "…", "\xe9\n", "agent\n…", "", ""},
			{"agent\n", "…", "\xff\xfe\xe9\x00\n\x00", "é\n…", "utf-16le", "\xff\xfe\xe9\x00\n\x00\x26\x20\n\x00"},
			{"\xe8\n", "mine", "\xff\xfe\xe9\x00\n\x00", "é\nmine", "utf-16le", "\xff\xfe\xe9\x00\n\x00m\x00i\x00n\x00e\x00\n\x00"},
			{"\xe8\n", "mine", "\xc3\xa9\n", "é\nmine", "utf-8", "\xc3\xa9\nmine\n"},
			{"\xff\xfe\xe8\x00\n\x00", "mine", "o\xe9o\n", "oéo\nmine", "latin1", "o\xe9o\nmine\n"},
		} {
			path := n.edit("d.txt", c.was)
			w.settle()
			n.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, { ... })", c.typed)
			got := n.restore(path, c.data, 0o644)
			n.wantDisk("d.txt", c.data)
			n.wantText(c.want)
			n.want("&modified", int64(1))
			if got.Conflict != (c.saved == "") {
				t.Errorf("%q: %+v", c.data, got)
			}
			if c.saved != "" {
				n.want("&fileencoding", c.encoding)
				n.asksNothing("write")
				n.wantDisk("d.txt", c.saved)
			}
			n.cmd("bwipeout!")
		}
	})
}

// What is not saved stays where a file comes back of which the agent was given that, and which it has made another one.
func TestRestoreOfWhatTheAgentHasRead(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("d.txt", "one\ntwo\n")
		w := n.follow()
		n.keys("Omine<Esc>")
		n.put("d.txt", "\x00agent\n")
		w.settle()
		n.read(path)
		n.restore(path, "one\ntwo\n", 0o644)
		n.wantDisk("d.txt", "one\ntwo\n")
		n.wantText("mine\none\ntwo")
		n.want("&modified", int64(1))
	})
}

// A line that the user has replaced, unsaved, stays replaced where the line itself comes back to the disk: it is what the
// agent took out there that their text conflicts with.
func TestRestoreOfWhatConflicts(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		for _, client := range []bool{true, false} {
			path := n.edit("d.txt", "1\n2\n3\n4\n")
			n.read(path)
			n.keys("Gcwmine<CR>too<Esc>")
			if client {
				n.write(path, "1\n2\n")
			} else {
				n.put("d.txt", "1\n2\n")
				w.settle()
				n.asksNothing("checktime")
				w.settle()
			}
			n.wantText("1\n2\n3\nmine\ntoo")
			n.change(path, noFile)
			n.restore(path, "1\n2\n3\n4\n", 0o644)
			n.wantText("1\n2\n3\nmine\ntoo")
			n.cmd("bwipeout!")
		}
	})
}

// It stays replaced where the agent was faster than the watch of a file that has just been opened, too.
func TestRestoreOfWhatConflictsBeforeItIsWatched(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		known := w.holdTracked()
		path := n.edit("d.txt", "1\n2\n3\n4\n")
		n.read(path)
		n.keys("Gcwmine<CR>too<Esc>")
		n.write(path, "1\n2\n")
		known()
		w.settle()
		n.change(path, noFile)
		n.restore(path, "1\n2\n3\n4\n", 0o644)
		n.wantText("1\n2\n3\nmine\ntoo")
	})
}

// Symbolic links where a file is to be again go, as far as they are inside, and nothing else does. That the file is gone for
// that long is not told.
func TestLinksInPlaceOfAFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		must.Do(t, os.Mkdir(n.path("real"), 0o755))
		other := n.put("real/a.txt", "one\n")
		must.Do(t, os.Remove(path))
		for name, to := range map[string]string{"a.txt": other, "outside": "real", "real/inside": ".", "real/gone": "nowhere"} {
			must.Do(t, os.Symlink(to, n.path(name)))
		}
		w.settle()
		w.changes()
		inside := func(at string) bool {
			return at == path || at == n.path("real/gone") || at == n.path("none.txt") || strings.Contains(at, "/outside/")
		}
		for name, gone := range map[string]string{
			"a.txt": "a.txt", "outside/inside/a.txt": "real/inside", "real/gone": "real/gone", "real/a.txt": "", "none.txt": "",
		} {
			n.files.RemoveLinks(n.path(name), inside)
			if _, err := os.Lstat(n.path(gone)); gone != "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", gone, err)
			}
		}
		for _, name := range []string{"outside", "real/a.txt"} {
			_, err := os.Lstat(n.path(name))
			must.Do(t, err)
		}
		settled := make(chan struct{})
		w.watch.Settle(func() { close(settled) })
		must.Receive(t, "the end", settled)
		check.Slice(t, w.changes(), nil, "told: %+v")
	})
}

// What is not saved stays so where the file that comes back was removed here.
func TestRestoreOfWhatWasRemovedHere(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		for name, disk := range map[string]string{"a.txt": "one\n", "no-end.txt": "one", "latin1.txt": "\xe9\n"} {
			path := n.edit(name, disk)
			w.settle()
			n.keys("Omine<Esc>")
			want := n.text()
			n.change(path, noFile)
			n.restore(path, "mine\n"+disk, 0o644)
			n.wantText(want)
			n.wantDisk(name, disk)
		}
	})
}
