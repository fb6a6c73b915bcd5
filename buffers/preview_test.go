package buffers_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func (n *neovim) preview(path, text string) (buffers.Preview, error) {
	n.t.Helper()
	type answer struct {
		p   buffers.Preview
		err error
	}
	got := make(chan answer, 1)
	n.files.Preview(context.Background(), buffers.Write{Path: path, Text: text}, func(p buffers.Preview, err error) { got <- answer{p, err} })
	select {
	case a := <-got:
		return a.p, a.err
	case <-time.After(hung):
		n.t.Fatal("the preview has no answer")
		return buffers.Preview{}, nil
	}
}

// TestPreview compares what is foretold of a write with what it then does.
func TestPreview(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		previews := func(what, path, text string, want buffers.Preview) {
			t.Helper()
			got, err := n.preview(path, text)
			if err != nil || got != want {
				t.Errorf("%s: %+v, %v, want %+v", what, got, err, want)
			}
			if w := n.write(path, text); *w.After != want.After || (w.Before == nil) == want.Exists || w.Before != nil && *w.Before != want.Before {
				t.Errorf("%s: the write has made %s of %s", what, said(w.After), said(w.Before))
			}
		}
		previews("a new file", n.path("new.txt"), "a\n", buffers.Preview{After: "a\n", Text: "a\n"})
		n.cmd("edit " + n.path("empty.txt"))
		previews("a buffer of no file", n.path("empty.txt"), "a\n", buffers.Preview{After: "a\n", Text: "a\n"})
		n.cmd("edit " + n.path("typed.txt"))
		n.keys("amine<Esc>")
		previews("a buffer of no file with text", n.path("typed.txt"), "mine\na\n",
			buffers.Preview{Exists: true, Before: "mine\n", After: "mine\na\n", Text: "mine\na\n"})
		previews("a file on disk", n.put("disk.txt", "a\r\nb\r\n"), "a\r\nc\r\n", buffers.Preview{Exists: true, Before: "a\nb\n", After: "a\nc\n", Text: "a\nc\n"})

		path := n.edit("loaded.txt", "one\ntwo\nthree\nfour\n")
		check.Equal(t, n.read(path), "one\ntwo\nthree\nfour\n", "read: %q")
		previews("a loaded file", path, "1\ntwo\nthree\nfour\n",
			buffers.Preview{Exists: true, Before: "one\ntwo\nthree\nfour\n", After: "1\ntwo\nthree\nfour\n", Text: "1\ntwo\nthree\nfour\n"})
		n.keys("Gomine<Esc>")
		previews("unsaved text", path, "1\n2\nthree\nfour\n",
			buffers.Preview{Exists: true, Before: "1\ntwo\nthree\nfour\nmine\n", After: "1\n2\nthree\nfour\nmine\n", Text: "1\n2\nthree\nfour\n"})
		n.keys("ggcwmy one<Esc>")
		got, err := n.preview(path, "one\n2\nthree\nfour\n")
		if want := (buffers.Preview{
			Exists: true, Before: "my one\n2\nthree\nfour\nmine\n", After: "my one\n2\nthree\nfour\nmine\n", Conflicts: 1, Text: "one\n2\nthree\nfour\n",
		}); err != nil || got != want {
			t.Errorf("a conflict: %+v, %v", got, err)
		}
		if n.wantText("my one\n2\nthree\nfour\nmine"); n.disk("loaded.txt") != "1\n2\nthree\nfour\n" {
			t.Errorf("the preview has written %q", n.disk("loaded.txt"))
		}
		must.Do(t, os.Mkdir(n.path("folder"), 0o777))
		if _, err := n.preview(n.path("folder"), ""); !errors.Is(err, buffers.ErrDirectory) {
			t.Errorf("of a folder: %v", err)
		}
	})
}

func TestMerge(t *testing.T) {
	if got, conflicts := buffers.Merge("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"); len(conflicts) != 0 || got != "A\nb\nC\n" {
		t.Errorf("%q, %v", got, conflicts)
	}
	if _, conflicts := buffers.Merge("1\na\n", "1\nb\n", "1\nc\n"); !slices.Equal(conflicts, []int{2}) {
		t.Error("a conflict is none")
	}
}
