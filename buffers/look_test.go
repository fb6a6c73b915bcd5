package buffers_test

import (
	"encoding/json"
	"errors"
	"io/fs"
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

// look looks at a file of at most 1000 bytes.
func (w *watching) look(path string, settle bool) (buffers.Seen, error) {
	w.t.Helper()
	type answer struct {
		seen buffers.Seen
		err  error
	}
	got := make(chan answer, 2)
	w.watch.Look(path, settle, 1000, func(seen buffers.Seen, err error) { got <- answer{seen, err} })
	select {
	case a := <-got:
		if info, err := os.Stat(a.seen.Path); err == nil && !info.IsDir() && a.err == nil && time.Since(a.seen.Since).Abs() > time.Hour {
			w.t.Errorf("%s is said to be there since %v", path, a.seen.Since)
		}
		a.seen.Disk, a.seen.Mode, a.seen.Since = buffers.DiskState{}, 0, time.Time{}
		return a.seen, a.err
	case <-time.After(hung):
		w.t.Fatal("the look has no answer")
		return buffers.Seen{}, nil
	}
}

func TestLook(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		loaded := n.edit("loaded.txt", "one\ntwo\n")
		w := n.follow()
		n.keys("Othree<Esc>")
		other := n.put("other.txt", "disk\r\nlines\r\n")
		large := n.put("large.txt", strings.Repeat("x", 1001))
		missing := n.path("missing.txt")
		must.Do(t, os.Symlink(other, n.path("link")))
		n.mu.Lock()
		n.calls = nil
		n.mu.Unlock()
		for path, want := range map[string]buffers.Seen{
			other:          {Path: other, Exists: true, Text: "disk\nlines\n", Form: "utf-8 dos"},
			n.path("link"): {Path: other, Exists: true, Text: "disk\nlines\n", Form: "utf-8 dos"},
			large:          {Path: large, Exists: true, Large: true},
			missing:        {Path: missing},
		} {
			if got, err := w.look(path, false); err != nil || got != want {
				t.Errorf("%s is %+v, %v", path, got, err)
			}
		}
		n.mu.Lock()
		if len(n.calls) > 0 {
			t.Errorf("for files that no buffer shows Neovim was asked %v", n.calls)
		}
		n.mu.Unlock()
		want := buffers.Seen{Path: loaded, Loaded: true, Unsaved: true, Exists: true, Text: "three\none\ntwo\n", Form: "utf-8 unix"}
		if got, err := w.look(loaded, false); err != nil || got != want {
			t.Errorf("the loaded file is %+v, %v", got, err)
		}
		// A file counts as loaded as soon as Neovim has said so.
		n.keys(":edit other.txt<CR>Onew<Esc>")
		w.watch.Track([]buffers.Tracked{{Name: loaded}, {Name: other}})
		if got, err := w.look(other, false); err != nil || !got.Loaded || got.Text != "new\ndisk\nlines\n" {
			t.Errorf("the file that has just been loaded is %+v, %v", got, err)
		}
		must.Do(t, syscall.Mkfifo(n.path("fifo"), 0o600))
		for path, want := range map[string]error{
			n.dir: buffers.ErrDirectory, n.path("fifo"): buffers.ErrNotRegular, "a.txt": buffers.ErrNotAbsolute,
			n.path(strings.Repeat("long", 100)): syscall.ENAMETOOLONG,
		} {
			got, err := w.look(path, false)
			said := new(buffers.Error)
			if !errors.Is(err, want) || !errors.As(err, &said) || said.Verb != "look at" || said.Path != path {
				t.Errorf("%s is %+v, %v", path, got, err)
			}
		}
		must.Do(t, os.Remove(loaded))
		want.Exists, want.Form = false, ""
		if got, err := w.look(loaded, false); err != nil || got != want {
			t.Errorf("the removed file is %+v, %v", got, err)
		}
		w.watch.Close()
		if _, err := w.look(other, false); err == nil {
			t.Error("after the end of the watch there is an answer")
		}
	})
}

// A file is not loaded any more as soon as its buffer is closed, also before the watch hears of that.
func TestLookAtAFileThatIsClosed(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		n.keys("Otwo<Esc>:bwipeout!<CR>")
		want := buffers.Seen{Path: path, Exists: true, Text: "one\n", Form: "utf-8 unix"}
		if got, err := w.look(path, false); err != nil || got != want {
			t.Errorf("the file is %+v, %v", got, err)
		}
	})
}

// The form of a file with unsaved text is that of the text: with the end of the last line as the disk has it, which the buffer
// does not tell, and whatever the disk has become that cannot be merged with it.
func TestLookTellsTheForm(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		for name, c := range map[string]struct{ had, set, becomes, want string }{
			"dos":       {"one\r\n", "", "", "utf-8 dos"},
			"no end":    {"one", "", "", "utf-8 unix noeol"},
			"none kept": {"one", "nofixeol", "", "utf-8 unix noeol"},
			"binary":    {"one\r\n", "", "\x00agent\n", "utf-8 dos"},
		} {
			path := n.edit("a.txt", c.had)
			w.settle()
			n.cmd("setlocal " + c.set)
			n.keys("Omine<Esc>")
			if c.becomes != "" {
				n.put("a.txt", c.becomes)
				w.settle()
			}
			if got, err := w.look(path, false); err != nil || got.Form != c.want || !got.Unsaved {
				t.Errorf("%s: it is %+v, %v", name, got, err)
			}
			n.cmd("bwipeout!")
		}
	})
}

// What is known to be written is in the buffer, and told, before it is looked at.
func TestLookSettles(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.put("a.txt", "ONE\ntwo\n")
		got, err := w.look(path, true)
		told := w.changes()
		if want := (buffers.Seen{Path: path, Loaded: true, Exists: true, Text: "ONE\ntwo\n", Form: "utf-8 unix"}); err != nil || got != want {
			t.Errorf("it is %+v, %v", got, err)
		}
		n.wantText("ONE\ntwo")
		if len(told) != 1 || !told[0].Changed || *told[0].Before != "one\ntwo\n" || *told[0].After != "ONE\ntwo\n" {
			t.Errorf("told: %+v", told)
		}
		w.wantNone()
	})
}

// What is known to be over is told at once, also of files that look as if they were being written.
func TestFinish(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		gone, empty := n.edit("gone.txt", "one\n"), n.edit("empty.txt", "two\n")
		w := n.follow()
		must.Do(t, os.Remove(gone))
		n.put("empty.txt", "")
		finish := func(path string) []buffers.Written {
			t.Helper()
			done := make(chan bool, 2)
			w.watch.Finish(path, func() { done <- true })
			select {
			case <-done:
			case <-time.After(hung):
				t.Fatal("it does not end")
			}
			return w.changes()
		}
		if told := finish(gone); len(told) != 1 || !told[0].Deleted || *told[0].Before != "one\n" {
			t.Errorf("told: %+v", told)
		}
		if told := finish(empty); len(told) != 1 || !told[0].Changed || *told[0].Before != "two\n" || *told[0].After != "" {
			t.Errorf("told: %+v", told)
		}
		n.wantText("")
		w.wantNone()
		// Moved away and back it is the same file, and new all the same.
		moved := n.edit("moved.txt", "three\n")
		w.settle()
		for range 2 {
			must.Do(t, os.Rename(moved, moved+"~"))
			if told := finish(moved); len(told) != 1 || !told[0].Deleted {
				t.Errorf("told: %+v", told)
			}
			must.Do(t, os.Rename(moved+"~", moved))
			if told := finish(moved); len(told) != 1 || !told[0].Created || told[0].Before != nil || *told[0].After != "three\n" {
				t.Errorf("told: %+v", told)
			}
		}
		// So is one that is removed and written anew as it was, and one that the user writes anew is no news.
		must.Do(t, os.Remove(moved))
		finish(moved)
		n.put("moved.txt", "three\n")
		if told := finish(moved); len(told) != 1 || !told[0].Created || *told[0].After != "three\n" {
			t.Errorf("told: %+v", told)
		}
		// One that is restored here may be gone again before the watch has seen it.
		for range 2 {
			must.Do(t, os.Remove(moved))
			if told := finish(moved); len(told) != 1 || !told[0].Deleted {
				t.Errorf("told: %+v", told)
			}
			n.restore(moved, "three\n", 0o644)
		}
		must.Do(t, os.Remove(moved))
		finish(moved)
		n.cmd("silent write")
		if told := finish(moved); len(told) > 0 {
			t.Errorf("told: %+v", told)
		}
		w.watch.Close()
		finish(empty)
	})
}

func TestTextsBeforeAndAfterAChange(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		w := n.follow()
		check := func(what string, got buffers.Written, before, after string) {
			t.Helper()
			if got.Path != path || said(got.Before) != before || said(got.After) != after {
				t.Errorf("%s: of %s told is %s before, %s after", what, got.Path, said(got.Before), said(got.After))
			}
		}
		one := func() buffers.Written {
			t.Helper()
			w.settle()
			told := w.changes()
			if len(told) != 1 {
				t.Fatalf("told: %+v", told)
			}
			return told[0]
		}
		n.put("a.txt", "one\nTWO\nthree\n")
		w.awaitText("one\nTWO\nthree")
		check("the disk", one(), `"one\ntwo\nthree\n"`, `"one\nTWO\nthree\n"`)
		n.keys("Gofour<Esc>")
		n.put("a.txt", "ONE\nTWO\nthree\n")
		w.awaitText("ONE\nTWO\nthree\nfour")
		check("under unsaved text", one(), `"one\nTWO\nthree\nfour\n"`, `"ONE\nTWO\nthree\nfour\n"`)
		check("a write under unsaved text", n.write(path, "1\nTWO\nthree\n"), `"ONE\nTWO\nthree\nfour\n"`, `"1\nTWO\nthree\nfour\n"`)
		n.cmd("write")
		check("a write", n.write(path, "1\n2\n"), `"1\nTWO\nthree\nfour\n"`, `"1\n2\n"`)
		w.settle()
		w.changes()
		must.Do(t, os.Remove(path))
		w.await("filereadable(expand('%')) == 0")
		w.settle()
		for told := w.changes(); ; told = w.changes() {
			if len(told) == 1 {
				check("removed", told[0], `"1\n2\n"`, "nothing")
				if !told[0].Deleted || told[0].Changed {
					t.Errorf("removed: %+v", told[0])
				}
				break
			}
			w.settle()
		}
		other := n.path("b.txt")
		path = other
		check("a new file", n.write(other, "new\n"), "nothing", `"new\n"`)
		check("a file that no buffer shows", n.write(other, "newer\n"), `"new\n"`, `"newer\n"`)
	})
}

func TestLookTellsTheMode(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.put("run.sh", "x\n")
		must.Do(t, os.Chmod(path, 0o751|os.ModeSetgid))
		w := n.follow()
		for path, want := range map[string]fs.FileMode{path: 0o751, n.path("missing"): 0} {
			got := make(chan fs.FileMode, 2)
			w.watch.Look(path, false, 1000, func(seen buffers.Seen, _ error) { got <- seen.Mode })
			select {
			case mode := <-got:
				check.Equal(t, mode, want, "%s: %v", path)
			case <-time.After(hung):
				t.Fatal("the look has no answer")
			}
		}
	})
}

// A file that a killed process has written in part counts as written, until the user has said which text it is to have,
// or has written it themselves: what it has meanwhile is no change of anybody's.
func TestLookAtAWriteCutShort(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		dir := filepath.Join(t.TempDir(), "writes")
		must.Do(t, os.Mkdir(dir, 0o700))
		const old, text = "old\r\n", "new\r\n"
		for _, name := range []string{"kept", "recovered", "typed", "whole", "loaded"} {
			has := "ne"
			if name == "whole" {
				has = old
			}
			path := n.put(name, has)
			head, err := json.Marshal(map[string]any{"Path": path, "Old": len(old), "New": len(text)})
			must.Do(t, err)
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(string(head)+"\n"+old+text), 0o600))
		}
		n.edit("loaded", "ne")
		n.files.Journal(dir)
		w := n.follow()
		is := func(name, want string) {
			t.Helper()
			if got, err := w.look(n.path(name), false); err != nil || got.Text != want || !got.Exists {
				t.Errorf("%s is %+v, %v; want %q", name, got, err, want)
			}
		}
		for _, name := range []string{"kept", "recovered", "typed", "loaded"} {
			is(name, "new\n")
		}
		is("whole", "old\n")
		must.Do(t, n.files.Recover("kept", "keep"))
		is("kept", "ne")
		must.Do(t, n.files.Recover("recovered", "old"))
		is("recovered", "old\n")
		n.put("typed", "nearly")
		is("typed", "nearly")
	})
}
