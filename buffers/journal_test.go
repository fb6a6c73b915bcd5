package buffers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// entries are the files of a journal that have something in them.
func entries(dir string) (names []string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range all {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			names = append(names, name)
		}
	}
	return names
}

// What processes leave that had no write is removed, but not what others have at hand.
func TestEmptyEntries(t *testing.T) {
	dir := t.TempDir()
	journal := filepath.Join(dir, "writes")
	path := filepath.Join(dir, "a.txt")
	one := buffers.New(nobody{})
	one.Journal(journal)
	write := func(text string) {
		t.Helper()
		ended := make(chan error, 1)
		one.Write(context.Background(), buffers.Write{Path: path, Text: text}, func(_ buffers.Written, err error) { ended <- err })
		must.Do(t, <-ended)
	}
	write("a\n")
	left := filepath.Join(journal, "left")
	must.Do(t, os.WriteFile(left, nil, 0o600))
	other := buffers.New(nobody{})
	other.Journal(journal)
	if list := other.Unfinished(); len(list) > 0 {
		t.Errorf("offered are %v", list)
	}
	has, err := os.ReadDir(journal)
	if err != nil || len(has) != 1 || has[0].Name() == "left" {
		t.Fatalf("the journal has %v, %v", has, err)
	}
	write("b\n") // by the same entry
	if again, _ := os.ReadDir(journal); len(again) != 1 || again[0].Name() != has[0].Name() {
		t.Errorf("the journal has %v", again)
	}
	must.Do(t, os.RemoveAll(journal))
	write("c\n")
	if again, _ := os.ReadDir(journal); len(again) != 1 {
		t.Errorf("when all was removed the journal has %v", again)
	}
}

// A Neovim that is killed while it writes leaves a file that is neither old nor new: both texts are offered afterwards.
func TestWriteCutShortIsOffered(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		dir := filepath.Join(t.TempDir(), "writes")
		n.files.Journal(dir)
		path := n.edit("a.txt", "old\r\n")
		n.hook = func(fn string) {
			if kept := entries(dir); fn == "write" && len(kept) != 1 {
				t.Errorf("%d writes are kept when Neovim begins", len(kept))
			}
		}
		n.write(path, "between\n")
		check.Equal(t, len(entries(dir)), 0, "%d writes are kept afterwards")
		next := func() *buffers.Files {
			f := buffers.New(n)
			f.Journal(dir)
			return f
		}
		pid := int(n.lua("return vim.uv.os_getpid()").(int64))
		n.hook = func(fn string) {
			if fn == "write" {
				n.put("a.txt", "ne") // as far as it comes
				check.Slice(t, next().Unfinished(), nil, "offered are %v, of which somebody is at work")
				must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
			}
		}
		if _, err := n.tryWrite(path, "new\n"); err == nil {
			t.Error("a Neovim that is gone has written")
		}
		n.hook = nil

		list := next().Unfinished()
		if len(list) != 1 || list[0].Path != path {
			t.Fatalf("offered are %v", list)
		}
		kept, err := os.ReadFile(filepath.Join(dir, list[0].ID))
		must.Do(t, err)
		for _, c := range []struct{ which, want string }{{"keep", "ne"}, {"new", "new\r\n"}, {"old", "between\r\n"}} {
			n.put("a.txt", "ne")
			must.Do(t, os.WriteFile(filepath.Join(dir, list[0].ID), kept, 0o600))
			must.Do(t, next().Recover(list[0].ID, c.which))
			n.wantDisk("a.txt", c.want)
			check.Slice(t, next().Unfinished(), nil, "offered again are %v")
		}
		// Where the file has one of the texts there is nothing to offer.
		for _, text := range []string{"new\r\n", "between\r\n"} {
			n.put("a.txt", text)
			must.Do(t, os.WriteFile(filepath.Join(dir, "x"), kept, 0o600))
			check.Slice(t, next().Unfinished(), nil, "offered are %v")
			if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
				t.Error("it is kept")
			}
		}
	})
}

// A file that Neovim had moved away when it was killed gets its mode back, and one that was not there
// before goes again.
func TestRecoveredFilesAreWhatTheyWere(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		dir := filepath.Join(t.TempDir(), "writes")
		n.files.Journal(dir)
		path := n.edit("a.txt", "old\n")
		must.Do(t, os.Chmod(path, 0o700))
		n.cmd("edit! | split " + n.path("b.txt"))
		kept := map[string]string{}
		n.hook = func(fn string) {
			if fn == "write" {
				name := entries(dir)[0]
				text, err := os.ReadFile(name)
				must.Do(t, err)
				kept[fmt.Sprint(name, len(kept))] = string(text)
			}
		}
		n.write(path, "new\n")
		must.Do(t, os.Remove(path))
		n.write(n.path("b.txt"), "begun\n")
		n.put("b.txt", "beg")
		for name, text := range kept {
			must.Do(t, os.WriteFile(name, []byte(text), 0o600))
		}
		list := n.files.Unfinished()
		if len(list) != 2 {
			t.Fatalf("offered are %v", list)
		}
		for _, u := range list {
			if u.Created != (u.Path != path) {
				t.Errorf("%+v", u)
			}
			entry, err := os.ReadFile(filepath.Join(dir, u.ID))
			must.Do(t, err, n.files.Recover(u.ID, "old"))
			if u.Created { // once more, though it is gone
				must.Do(t, os.WriteFile(filepath.Join(dir, u.ID), entry, 0o600), n.files.Recover(u.ID, "old"))
			}
		}
		n.wantDisk("a.txt", "old\n")
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if _, err := os.Stat(n.path("b.txt")); err == nil {
			t.Error("b.txt is there, as it was not before")
		}
	})
}

// What cannot be recovered is said, and offered again.
func TestWhatCannotBeRecovered(t *testing.T) {
	dir := t.TempDir()
	f := buffers.New(nobody{})
	f.Journal(dir)
	path := filepath.Join(t.TempDir(), "a.txt")
	must.Do(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	for id, head := range map[string]string{"made": `"Old":0,"New":4,"Created":true`, "changed": `"Old":2,"New":2`} {
		must.Do(t, os.WriteFile(filepath.Join(dir, id), fmt.Appendf(nil, "{\"Path\":%q,%s}\nabcd", path, head), 0o600))
		for _, which := range []string{"old", "new"} {
			err := f.Recover(id, which)
			if err == nil || !strings.HasPrefix(err.Error(), "recover "+path+": ") {
				t.Errorf("%s, %s: %v", id, which, err)
			}
		}
	}
	check.Equal(t, len(f.Unfinished()), 2, "offered are %d")
	if err := f.Recover("none", "old"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that nobody has kept: %v", err)
	}
}

// A journal that cannot be written stops no write.
func TestJournalInNoFolder(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.files.Journal(filepath.Join(n.put("file", "x\n"), "writes"))
		path := n.edit("a.txt", "old\n")
		n.write(path, "new\n")
		n.wantDisk("a.txt", "new\n")
		n.write(n.put("b.txt", "old\n"), "new\n")
		n.wantDisk("b.txt", "new\n")
		check.Slice(t, n.files.Unfinished(), nil, "offered are %v")
	})
}

// Neovim ends a write that nobody waits for any more; then there is nothing to offer, whatever the user
// makes of the file.
func TestCancelledWritesAreNotOffered(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		dir := filepath.Join(t.TempDir(), "writes")
		n.files.Journal(dir)
		path := n.edit("a.txt", "old\n")
		ctx, cancel := context.WithCancel(context.Background())
		held, ended := make(chan struct{}), make(chan error, 1)
		n.hook = func(fn string) {
			if fn == "write" {
				cancel()
				<-held
			}
		}
		n.files.Write(ctx, buffers.Write{Path: path, Text: "new\n"}, func(_ buffers.Written, err error) { ended <- err })
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		check.Equal(t, len(entries(dir)), 1, "%d writes are kept while Neovim is on it")
		close(held)
		for deadline := time.Now().Add(hung); ; time.Sleep(time.Millisecond) {
			if kept := entries(dir); len(kept) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the write is kept on and on")
			}
		}
		n.wantDisk("a.txt", "new\n")
	})
}
