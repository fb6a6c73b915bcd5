package buffers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// asUser has buffers saved as the user's :write does.
func (n *neovim) asUser() {
	n.lua("vim.g.acp = { write = 'autocmds' }; require('acp.config').reset()")
}

// What a formatter makes of the agent's text counts as the agent's: it is on the disk, in one undo step
// with it, and the base of the next merge.
func TestSavingAsTheUserDoes(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.asUser()
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		n.cmd("let g:seen = []")
		n.cmd("autocmd BufWritePre a.txt call add(g:seen, 'pre') | keeppatterns %s/T/t/e")
		n.cmd("autocmd BufWritePost a.txt call add(g:seen, 'post')")
		n.read(path)
		w := n.write(path, "one\nTWO\nthree\n")
		n.wantText("one\ntWO\nthree")
		n.wantDisk("a.txt", "one\ntWO\nthree\n")
		n.want("&modified", int64(0))
		n.want("g:seen == ['pre', 'post']", int64(1))
		if !w.Changed || w.Conflict || *w.Before != "one\ntwo\nthree\n" || *w.After != "one\ntWO\nthree\n" {
			t.Errorf("%+v: %q, %q", w, *w.Before, *w.After)
		}
		n.cmd("undo")
		n.wantText("one\ntwo\nthree")
		n.cmd("redo")
		n.wantText("one\ntWO\nthree")
		n.want("&modified", int64(0))

		// The agent did not change line 2, of which the formatter's form is the base.
		n.keys("Gofour<Esc>")
		w = n.write(path, "ONE\ntWO\nthree\n")
		if w.Conflict {
			t.Errorf("%+v", w)
		}
		n.wantText("ONE\ntWO\nthree\nfour")
		n.wantDisk("a.txt", "ONE\ntWO\nthree\n")
		n.want("&modified", int64(1))
		n.want("g:seen == ['pre', 'post']", int64(1)) // it was not saved: that would write the user's line
		n.asksNothing("write")

		// The user's own newest step stays apart from what a formatter does.
		n.cmd("autocmd! BufWritePre a.txt")
		n.cmd("autocmd BufWritePre a.txt call append(0, 'top')")
		n.keys("Gofive<Esc>")
		n.write(path, "ONE\ntWO\nthree\nfour\nfive\n")
		n.wantText("top\nONE\ntWO\nthree\nfour\nfive")
		n.cmd("undo")
		n.wantText("ONE\ntWO\nthree\nfour\nfive")
	})
}

func TestSavingTellsWhatItCosts(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.asUser()
		path := n.edit("a.txt", "one\n")
		n.lua("vim.api.nvim_create_autocmd('BufWritePre', { callback = function() vim.uv.sleep(130) end })")
		w := n.write(path, "two\n")
		var took int
		if _, err := fmt.Sscanf(w.Note, "Saving a.txt took %dms with your autocommands.", &took); err != nil || took < 130 {
			t.Errorf("%q", w.Note)
		}
	})
}

// An autocommand that fails does not keep the agent's text from the disk.
func TestSavingWithAutocommandsThatFail(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.asUser()
		n.lua("vim.api.nvim_create_autocmd('BufWritePost', { callback = function() vim.g.post = vim.g.post + 1 end })")
		for _, failing := range []string{
			"autocmd fails BufWritePre * NoSuchCommand",
			"autocmd fails BufWritePre * throw 'no'",
			"autocmd fails BufWritePre * lua error('no')",
			"autocmd fails BufWritePre * call setline(1, 'half') | NoSuchCommand",
			"autocmd fails BufWriteCmd * NoSuchCommand",
		} {
			n.cmd("augroup fails | execute 'autocmd!' | augroup END")
			path := n.edit("a.txt", "one\ntwo\n")
			n.cmd("let g:post = 0")
			n.cmd(failing)
			w := n.write(path, "ONE\nTWO\n")
			want := "ONE\nTWO\n"
			if strings.Contains(failing, "half") {
				want = "half\nTWO\n"
			}
			n.wantDisk("a.txt", want)
			n.wantText(strings.TrimSuffix(want, "\n"))
			n.want("&modified", int64(0))
			n.want("mode()", "n")
			n.want("g:post", int64(1))
			if !strings.HasPrefix(w.Note, "An autocommand failed when a.txt was saved") || strings.Contains(w.Note, "\n") || *w.After != want {
				t.Errorf("%s: %q, %q", failing, w.Note, *w.After)
			}
		}
	})
}

// While an autocommand asks the user something, the agent need not wait.
func TestSavingThatAsks(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.asUser()
		path := n.edit("a.txt", "one\n")
		n.cmd("autocmd BufWritePre a.txt call setline(1, getline(1) .. input('more? '))")
		waiting, done := make(chan struct{}), make(chan buffers.Written, 1)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		asked := buffers.Write{Path: path, Text: "two\n", Waiting: func() { close(waiting) }}
		n.files.Write(ctx, asked, func(w buffers.Written, err error) {
			if err != nil {
				t.Errorf("%v", err)
			}
			done <- w
		})
		select {
		case <-waiting:
		case <-time.After(hung):
			t.Fatal("the agent waits for the user")
		}
		n.wantDisk("a.txt", "two\n")
		cancel() // the agent's request is over
		_, err := n.Input("!<CR>")
		must.Do(t, err)
		select {
		case w := <-done:
			if *w.After != "two!\n" || !strings.HasPrefix(w.Note, "Saving a.txt took") {
				t.Errorf("%+v, %q", w, *w.After)
			}
		case <-time.After(hung):
			t.Fatal("the write has no end")
		}
		n.wantDisk("a.txt", "two!\n")
		n.want("&modified", int64(0))
	})
}

// What another Neovim has unsaved changes of is not overwritten under it.
func TestSwapFileOfAnotherNeovim(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.put("a.txt", "one\n")
		other := startNeovim(t, n.lua("return vim.v.progpath").(string))
		other.cmd("let &directory = '" + n.lua("return vim.o.directory").(string) + "'")
		other.cmd("edit " + path)
		n.write(path, "two\n") // nothing is unsaved there
		n.wantDisk("a.txt", "two\n")
		other.cmd("edit!")
		other.keys("ccmine<Esc>")
		other.cmd("preserve")
		_, err := n.tryWrite(path, "three\n")
		if !errors.Is(err, buffers.ErrElsewhere) || !strings.Contains(err.Error(), "process") {
			t.Errorf("%v", err)
		}
		n.wantDisk("a.txt", "two\n")
		other.cmd("write")
		n.write(path, "three\n")
		n.wantDisk("a.txt", "three\n")

		// Those of a Neovim that is gone, and its own, are nobody's.
		own := n.edit("b.txt", "one\n")
		n.keys("ccmine<Esc>")
		n.cmd("preserve")
		n.write(own, "two\n")
		n.wantDisk("b.txt", "two\n")
	})
}

// limitedEnv is set in a process of this test binary whose files may not grow large.
const limitedEnv = "ACP_BUFFERS_LIMITED"

// limited runs a test in a process of its own, whose files may not grow large: go test writes files in this
// one. It is true there.
func limited(t *testing.T) bool {
	if os.Getenv(limitedEnv) != "" {
		return true
	}
	self, err := os.Executable()
	must.Do(t, err)
	cmd := exec.Command(self, "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), limitedEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// A file that no buffer shows has its old text or the new one, whatever goes wrong.
func TestUnloadedWriteOnAFullDisk(t *testing.T) {
	if !limited(t) {
		return
	}
	onNeovims(t, func(t *testing.T, n *neovim) {
		old := strings.Repeat("old\n", 1000)
		path, shown := n.put("a.txt", old), n.edit("b.txt", old)
		journal := n.path(".undo/journal")
		n.files.Journal(journal)
		var limit syscall.Rlimit
		must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
		full := limit
		full.Cur = 8192
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))
		_, err := n.tryWrite(path, strings.Repeat("new\n", 10_000))
		_, created := n.tryWrite(n.path("new.txt"), strings.Repeat("new\n", 10_000))
		_, restored := n.asked(func(done func(buffers.Written, error)) {
			r := buffers.Restored{Path: shown, Data: []byte(strings.Repeat("new\n", 10_000)), Mode: 0o644}
			n.files.Restore(context.Background(), r, done)
		})
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		for what, err := range map[string]error{"written": err, "made": created, "restored": restored} {
			if !errors.Is(err, syscall.EFBIG) {
				t.Errorf("one that is %s: %v", what, err)
			}
		}
		n.wantDisk("a.txt", old)
		n.wantDisk("b.txt", old)
		n.wantText(strings.TrimSuffix(old, "\n"))
		// Where there is no room for the journal alone, Neovim writes all the same.
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))
		_, err = n.tryWrite(shown, strings.Repeat("new\n", 10_000))
		must.Do(t, err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		n.wantDisk("b.txt", strings.Repeat("new\n", 10_000))
		check.Slice(t, entries(journal), nil, "kept are %q")
		files, err := os.ReadDir(n.dir)
		must.Do(t, err)
		for _, f := range files {
			if !slices.Contains([]string{"a.txt", "b.txt", ".swap", ".undo", ".backup"}, f.Name()) {
				t.Errorf("%s is left", f.Name())
			}
		}
	})
}

// The owner stays, where this process may give it.
func TestUnloadedWriteKeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.put("a.txt", "old\n")
		must.Do(t, os.Chown(path, 4321, 1234))
		must.Do(t, os.Chmod(path, 0o640|os.ModeSetgid))
		n.write(path, "new\n")
		info, err := os.Stat(path)
		must.Do(t, err)
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 4321 || s.Gid != 1234 || info.Mode() != 0o640|os.ModeSetgid {
			t.Errorf("owner %d:%d, mode %v", s.Uid, s.Gid, info.Mode())
		}
	})
}

// What others do to a file as soon as it is saved is not told as what the agent has written.
func TestChangedAsSoonAsItIsSaved(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.asUser()
		n.tracks(true)
		for name, others := range map[string]func(string) error{
			"written": func(path string) error { return os.WriteFile(path, []byte("others\n"), 0o600) },
			"removed": os.Remove,
		} {
			path, saved := n.edit("a.txt", "one\n"), false
			n.hook = func(fn string) {
				if saved && fn != "save" {
					n.hook = nil
					must.Do(t, others(path))
				}
				saved = saved || fn == "save"
			}
			w := n.write(path, "two\n")
			n.hook = nil
			check.Equal(t, said(w.After)+" "+w.FormAfter+w.Note, `"two\n" utf-8 unix`, name+": it is told as %s")
		}
	})
}
