package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// The tests in this file are about what is lost, or was never known: files, turns, and what the store had.

// forgets has the store lose what it keeps.
func (w *world) forgets() {
	w.t.Helper()
	w.must(filepath.WalkDir(filepath.Join(filepath.Dir(w.dir), "store"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = os.Remove(path)
		}
		return err
	}))
}

// A file of which the store has lost what it was is not taken for one that the agent has made: it stays, and nobody claims to
// bring back what was there.
func TestWhatAFileWasIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.forgets()
	w.write("f", "f1\na1\n")
	w.end()
	check.Equal(t, w.changes(), "modified f\n", "listed is %q")
	if err := w.tries(Decision{Do: review.Reject, Path: w.path("f")}); !errors.Is(err, errForgotten) {
		t.Errorf("refused, it says %v", err)
	}
	w.must(w.undo(false))
	check.Equal(t, w.sees("f"), "f1\na1\n", "undone too, there is %q")
}

// A file that nobody has looked at is told to be gone: it is listed, but nobody can bring it back.
func TestAFileOfWhichNothingIsKnownIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.ledger.Took(buffers.Written{Path: w.path("../outside"), Deleted: true}, "disk", false)
	w.end()
	if files := w.files(); len(files) != 1 || files[0].Status != review.Deleted || !files[0].Baseline.Opaque {
		t.Errorf("listed are %+v", files)
	}
	if err := w.tries(Decision{Do: review.Reject}); !errors.Is(err, errForgotten) {
		t.Errorf("refused, it says %v", err)
	}
}

// The refusal of what only the disk has is taken back after its turn was undone: the change is no turn's any more, but it can be
// refused.
func TestADecisionIsTakenBackAfterItsTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\nf4\n")
	w.write("g", "g1\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "f1\nf2\nf3\nu4\n" })
	w.write("f", "f1\na2\nf3\nf4\n")
	w.write("g", "g1\na1\n")
	w.sees("f")
	w.end()
	var made Made
	w.makes(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { made = m }})
	w.must(w.undo(false))
	w.begin()
	w.end()
	w.makes(Decision{Path: made.Path(), Back: &made})
	if disk, buffer := w.onDisk("f"), w.sees("f"); disk != "f1\na2\nf3\nf4\n" || buffer != "f1\na2\nf3\nu4\n" {
		t.Errorf("taken back, there are %q and %q", disk, buffer)
	}
	w.wipe("f")
	if w.undo(false) == nil {
		t.Error("there is a turn to undo")
	}
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nf2\nf3\nf4\n", "refused again, there is %q")
}
