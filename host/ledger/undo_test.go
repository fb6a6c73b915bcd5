package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// always does not stop an undo.
func always(int, int) bool { return true }

// undoOf is an undo of a turn by its name, "" for the last one, and what is said of each file.
func (w *world) undoOf(which string, again, preview bool) (name string, notes []string, err error) {
	done := make(chan struct{})
	w.ledger.Undo(again, preview, which, always, func(t *turns.Turn, steps []turns.Step, e error) {
		if err = e; t != nil {
			name = t.Name()
		}
		for _, step := range steps {
			notes = append(notes, step.Note)
		}
		close(done)
	})
	<-done
	return name, notes, err
}

// What an undo that is stopped has not reached stays, and can be undone.
func TestAnUndoIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const files = 3 * together
	before := w.tree()
	w.begin()
	for i := range files {
		w.write(fmt.Sprintf("f%03d", i), "a1\n")
	}
	w.end()
	after := w.tree()
	done := make(chan error, 1)
	w.ledger.Undo(false, false, "", func(did, of int) bool {
		check.Equal(t, of, files, "of %d files")
		return did < together
	}, func(_ *turns.Turn, _ []turns.Step, err error) { done <- err })
	if err := <-done; !errors.Is(err, ErrStopped) || w.tree() == before || w.tree() == after {
		t.Errorf("it says %v, and there is\n%s", err, w.tree())
	}
	if err := w.undo(false); err != nil || w.tree() != before {
		t.Errorf("the rest is undone: %v, and there is\n%s", err, w.tree())
	}
}

// An undo is of the turn that the user was shown, and a look at what it would do does nothing.
func TestWhichTurnIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	for _, again := range []bool{false, true} {
		want := map[bool]error{false: errNoTurn, true: errNoUndone}[again]
		for _, which := range []string{"", "1"} {
			if _, _, err := w.undoOf(which, again, true); !errors.Is(err, want) {
				t.Errorf("before there is anything it says %v of %q", err, which)
			}
		}
	}
	var shown []string
	for _, text := range []string{"a1\n", "a2\n"} {
		w.begin()
		w.write("f", text)
		w.end()
		name, notes, err := w.undoOf("", false, true)
		if err != nil || len(notes) != 1 || w.sees("f") != text {
			t.Errorf("a look says %q, %v, and there is %q", notes, err, w.sees("f"))
		}
		shown = append(shown, name)
	}
	if _, _, err := w.undoOf(shown[0], false, false); !errors.Is(err, errOtherTurn) || w.sees("f") != "a2\n" {
		t.Errorf("an undo of the turn before says %v, and there is %q", err, w.sees("f"))
	}
	for i, want := range []string{"a1\n", "f1\n"} {
		if _, _, err := w.undoOf(shown[1-i], false, false); err != nil || w.sees("f") != want {
			t.Errorf("the undo says %v, and there is %q", err, w.sees("f"))
		}
	}
	if _, _, err := w.undoOf(shown[1], true, false); !errors.Is(err, errOtherTurn) {
		t.Errorf("to do the one again that was undone first says %v", err)
	}
	if name, _, err := w.undoOf("", true, true); err != nil || name != shown[0] || w.sees("f") != "f1\n" {
		t.Errorf("a look at what is done again says %q, %v, and there is %q", name, err, w.sees("f"))
	}
	for i, want := range []string{"a1\n", "a2\n"} {
		if _, _, err := w.undoOf(shown[i], true, false); err != nil || w.sees("f") != want {
			t.Errorf("to do it again says %v, and there is %q", err, w.sees("f"))
		}
	}
}

// What of a turn cannot be undone can be tried again, and the rest is undone meanwhile; the first fault is told.
func TestAnUndoThatFailsInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"f", "g", "h"} {
		w.write(name, "f1\n")
	}
	w.begin()
	for _, name := range []string{"f", "g", "h"} {
		w.write(name, "a1\n")
	}
	w.end()
	w.disk.Lock()
	w.meanwhile = func(what, path string) {
		if what == "edit" && path != w.path("g") {
			w.write(strings.TrimPrefix(path, w.dir+"/"), "u1\n")
		}
	}
	w.disk.Unlock()
	_, notes, err := w.undoOf("", false, false)
	if err == nil || err.Error() != "f: "+errMovedOn.Error() || len(notes) != 3 || notes[0] != "could not be changed" || notes[1] != "" {
		t.Errorf("the undo says %v, %q", err, notes)
	}
	if f, g, h := w.sees("f"), w.sees("g"), w.sees("h"); f != "u1\n" || g != "f1\n" || h != "u1\n" {
		t.Errorf("there are %q, %q and %q", f, g, h)
	}
	w.disk.Lock()
	w.meanwhile = nil
	w.disk.Unlock()
	for _, name := range []string{"f", "h"} {
		w.write(name, "a1\n")
	}
	w.write("g", "u2\n")
	w.must(w.undo(false))
	if f, g, h := w.sees("f"), w.sees("g"), w.sees("h"); f != "f1\n" || g != "u2\n" || h != "f1\n" {
		t.Errorf("tried again there are %q, %q and %q", f, g, h)
	}
}

// heldEdits changes the first files only when it was asked for several, or for the last of them.
type heldEdits struct {
	Files
	mu      sync.Mutex
	most    int // that were under way at once
	left    int // of the first files, to be asked for
	waiting []func()
}

func (h *heldEdits) Edit(ctx context.Context, e buffers.Edit, done func(buffers.Written, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = append(h.waiting, func() { h.Files.Edit(ctx, e, done) })
	h.most, h.left = max(h.most, len(h.waiting)), h.left-1
	if len(h.waiting) == together || h.left <= 0 {
		for _, edit := range h.waiting {
			go edit()
		}
		h.waiting = nil
	}
}

// Several files are taken back at once, what is to go before what is to be there again; the first fault is the one of
// the first file.
func TestFilesAreUndoneAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const files = together
	held := &heldEdits{Files: w, left: 2 * files}
	w.open(func(c *Config) { c.Files = held })
	for i := range files {
		w.write(fmt.Sprint("f", i), "f1\n")
	}
	w.write("room", "f1\n")
	first := w.tree()
	w.begin()
	for i := range files {
		w.write(fmt.Sprint("f", i), "a1\n")
	}
	w.remove("room")
	for i := range files {
		w.write(fmt.Sprint("room/f", i), "a1\n") // a folder is where the file was
	}
	w.ledger.Worked()
	w.end()
	last := w.tree()
	done := make(chan error, 1)
	w.ledger.Undo(false, false, "", always, func(_ *turns.Turn, _ []turns.Step, err error) { done <- err })
	select {
	case err := <-done:
		w.must(err)
	case <-time.After(time.Minute):
		t.Fatal("files are taken back one by one")
	}
	if w.tree() != first || held.most != together {
		t.Errorf("undone, %d at once, it is not as before", held.most)
	}
	if err := w.undo(true); err != nil || w.tree() != last {
		t.Errorf("done again it is not as after the turn: %v", err)
	}
	w.disk.Lock()
	w.meanwhile = func(what, path string) {
		if what == "edit" {
			w.write(strings.TrimPrefix(path, w.dir+"/"), "u1\n")
		}
	}
	w.disk.Unlock()
	_, notes, err := w.undoOf("", false, false)
	if err == nil || err.Error() != "f0: "+errMovedOn.Error() {
		t.Errorf("the undo says %v, %q", err, notes)
	}
}

// A turn that begins while the one before is being undone: that cannot be done again, over what the new one does.
func TestATurnBeginsDuringAnUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.write("f", "a1\n")
	w.end()
	ready := make(chan struct{})
	w.once("edit", "f", 1, func() { w.ledger.BeginTurn("", func() { close(ready) }) })
	w.must(w.undo(false))
	<-ready
	w.write("f", "a2\n")
	w.end()
	if err := w.undo(true); !errors.Is(err, errNoUndone) {
		t.Errorf("to do it again says %v", err)
	}
	check.Equal(t, w.sees("f"), "a2\n", "there is %q")
}

// What is written again and again while it is being refused is left alone in the end, and said to be; the rest is
// refused. What is refused one by one can be kept again.
func TestDecisionsThatFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if n, err := w.refuse(nil); n != 0 || err == nil {
		t.Errorf("with nothing to refuse it says %d, %v", n, err)
	}
	for _, name := range []string{"f", "g", "h"} {
		w.write(name, "f1\n")
	}
	w.begin()
	for _, name := range []string{"f", "g", "h"} {
		w.write(name, "f1\na1\n")
	}
	w.end()
	tries := map[string]int{}
	w.disk.Lock()
	w.meanwhile = func(what, path string) {
		if name := strings.TrimPrefix(path, w.dir+"/"); what == "edit" && name != "g" {
			tries[name]++
			w.write(name, strings.Repeat("u1\n", tries[name])+"f1\na1\n")
		}
	}
	w.disk.Unlock()
	n, err := w.refuse(nil)
	if n != 1 || !errors.Is(err, errMovedOn) || !strings.HasPrefix(err.Error(), "h: ") || tries["f"] != 4 || tries["h"] != 4 {
		t.Errorf("the refusal of %d says %v, after %v", n, err, tries)
	}
	if f, g := w.sees("f"), w.sees("g"); f != strings.Repeat("u1\n", 4)+"f1\na1\n" || g != "f1\n" {
		t.Errorf("there are %q and %q", f, g)
	}
	w.disk.Lock()
	w.meanwhile = nil
	w.disk.Unlock()
	w.decide(review.Keep, "h")
	w.decideFirst(review.Keep, "g")
	check.Equal(t, w.sees("g"), "f1\na1\n", "kept again there is %q")
	if n, err := w.refuse(nil); n != 1 || err != nil { // what still waits
		t.Errorf("the refusal of %d says %v", n, err)
	}
	if f, g, h := w.sees("f"), w.sees("g"), w.sees("h"); f != strings.Repeat("u1\n", 4)+"f1\n" || g != "f1\na1\n" || h != strings.Repeat("u1\n", 4)+"f1\na1\n" {
		t.Errorf("there are %q, %q and %q", f, g, h)
	}
	done := make(chan error)
	made := []string{}
	w.ledger.Decide(Decision{Do: review.Reject, Path: w.path("g"), Which: func(review.File) review.Selection {
		return review.Selection{Hunks: []int{0}}
	}, Made: func(m Made) { made = append(made, m.Path()) }}, func(_ int, err error) { done <- err })
	if err := <-done; err != nil || len(made) != 1 || w.sees("g") != "f1\n" {
		t.Errorf("the refusal of a hunk says %v, made %q, there is %q", err, made, w.sees("g"))
	}
	w.ledger.Decide(Decision{Do: review.Reject, Path: w.path("g"), Which: func(review.File) review.Selection {
		return review.Selection{Hunks: []int{7}}
	}, Made: func(m Made) { made = append(made, m.Path()) }}, func(n int, err error) {
		check.Equal(t, n, 0, "%d files were decided about")
		done <- err
	})
	if err := <-done; err == nil || len(made) != 1 {
		t.Errorf("of a hunk that is not there it says %v, made %q", err, made)
	}
}

// What a user has typed may be more than the form that a file had can hold: it is refused in the one that it has.
func TestWhatCannotBeWrittenAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\xe4\n")
	w.begin()
	w.write("f", "ä\na1\n")
	w.end()
	w.write("f", "ä\na1\n€\n")
	if _, err := w.refuse(nil); err == nil || !strings.Contains(err.Error(), "cannot be written as it was") {
		t.Errorf("the refusal says %v", err)
	}
	check.Equal(t, w.sees("f"), "ä\n€\n", "there is %q")
}

// What a buffer reads anew while a turn is undone is the undo's, and no change that the user has made.
func TestABufferReadsWhatAnUndoHasWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.chmod("f", 0o755)
	w.edit("f")
	w.begin()
	w.write("f", "a1\n")
	w.chmod("f", 0o644)
	w.end()
	w.decide(review.Keep, "")
	before := "f1\n"
	w.once("edited", "f", 1, func() {
		w.ledger.FileOpened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: &before})
	})
	if _, _, err := w.undoOf("", false, false); err != nil {
		t.Error(err)
	}
	if _, err := w.refuse(nil); err == nil || w.sees("f") != before || modeOf(w.path("f")) != 0o755 {
		t.Errorf("to refuse all then says %v, and there is %q, %o", err, w.sees("f"), modeOf(w.path("f")))
	}
}

// The refusal of a move of an earlier turn's leaves nothing to undo, and the file stays where it is.
func TestUndoAfterTheRefusalOfAnEarlierMove(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.move("f", "g")
	w.end()
	w.begin()
	w.write("g", "a1\n")
	w.end()
	w.decide(review.Reject, "g")
	if err := w.undo(false); !errors.Is(err, errNoTurn) {
		t.Errorf("undo says %v", err)
	}
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// A file that the agent has moved, and then removed, is back in its first place once that is refused: nothing waits where
// it had been moved, and no turn has anything to undo.
func TestRefusedWhereItWasMovedAndRemoved(t *testing.T) {
	for _, turns := range []int{1, 2} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.begin()
		w.sync()
		w.call("move", func() { w.move("f", "g") }, "f", "g")
		if turns == 2 {
			w.end()
			w.begin()
			w.sync()
		}
		w.call("delete", func() { w.remove("g") }, "g")
		w.decide(review.Reject, "f")
		w.end()
		check.Equal(t, w.changes(), "deleted f -1,1+1,1 rejected\n", "the record has %q")
		if err := w.undo(false); !errors.Is(err, errNoTurn) {
			t.Errorf("in %d turns: undo says %v", turns, err)
		}
		check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
	}
}

// What was only on the disk, under unsaved text, is done again in the buffer too, once nothing there is unsaved.
func TestAgainWhereNothingIsUnsavedAnyMore(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "u1\n" })
	w.write("f", "a1\n")
	w.sees("f")
	w.end()
	w.must(w.undo(false))
	w.rereads("f")
	check.Equal(t, w.sees("f"), "f1\n", "undone, there is %q")
	w.must(w.undo(true))
	check.Equal(t, w.sees("f")+w.tree(), "a1\n"+`f 644 "a1\n"`, "done again, there is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\n", "refused, there is %q")
}

// What was refused after the next turn had begun is not undone once more with its own turn, whatever the user has typed
// since, also if another host knows no more of that turn than was saved.
func TestUndoOfATurnThatWasRefusedInTheNext(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\nf2\nf3\n")
			w.named()
			w.edit("f")
			w.begin()
			w.write("f", "")
			w.sees("f")
			w.end()
			if killed {
				w.killed(true)
			}
			w.begin()
			w.decide(review.Reject, "f")
			w.end()
			w.types("f", func(string) string { return "f1\nu2\nf3\n" })
			if err := w.undo(false); !errors.Is(err, errNoTurn) {
				t.Errorf("undo says %v", err)
			}
			check.Equal(t, w.sees("f"), "f1\nu2\nf3\n", "there is %q")
		})
	}
}

// A file that the user has removed between two turns stays removed where the agent makes another one there, which they
// refuse.
func TestUndoOfATurnWhoseFileTheUserHasRemoved(t *testing.T) {
	client := func(w *world, was, is string) { w.clientWrites("f", was, is) }
	disk := func(w *world, _, is string) { w.write("f", is) }
	for name, c := range map[string]struct {
		was   string // "" is no file
		write func(w *world, was, is string)
		seen  bool
	}{
		"through the client":           {"f1\n", client, false},
		"through the client, seen":     {"f1\n", client, true},
		"on the disk":                  {"f1\n", disk, false},
		"a new one through the client": {"", client, false},
		"a new one on the disk":        {"", disk, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.was != "" {
				w.write("f", c.was)
			}
			w.begin()
			c.write(w, c.was, c.was+"a1\n")
			w.end()
			w.remove("f")
			if c.seen {
				check.Equal(t, w.changes(), "", "removed, the record has %q")
			}
			w.begin()
			c.write(w, "", "a2\n")
			w.end()
			w.decide(review.Reject, "f")
			check.Equal(t, w.sees("f"), "no file", "refused, there is %q")
			if err := w.undo(false); !errors.Is(err, errNoTurn) {
				t.Errorf("undo says %v", err)
			}
			check.Equal(t, w.sees("f"), "no file", "undone, there is %q")
		})
	}
}

// Files that have taken each other's places are both decided about, and what is in another's way goes first.
func TestWhichFilesGoBackFirst(t *testing.T) {
	t.Parallel()
	for moves, want := range map[string]string{"f<g g<f": "g f", "f<g h g<x": "g f h", "f g": "f g"} {
		var files []review.File
		for _, m := range strings.Fields(moves) {
			path, old, _ := strings.Cut(m, "<")
			files = append(files, review.File{Path: path, OldPath: old})
		}
		var got []string
		for _, f := range backFirst(files) {
			got = append(got, f.Path)
		}
		check.Equal(t, strings.Join(got, " "), want, "of %s it is %s", moves)
	}
}

// What could not be refused is told to no other session.
func TestARefusalThatFailsIsNotTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var told []string
	w.open(func(c *Config) { c.Others = func(path string, is review.Content) { told = append(told, is.Text) } })
	w.write("f", "f1\n")
	w.begin()
	w.remove("f")
	w.end()
	w.disk.Lock()
	w.meanwhile = func(what, path string) {
		if what == "restore" {
			w.must(os.Mkdir(path, 0o755)) // in its place
		}
	}
	w.disk.Unlock()
	if _, err := w.refuse(nil); err == nil {
		t.Error("it is refused")
	}
	w.box(func() { check.Slice(t, told, []string{""}, "told is %q") })
}

// A file that the agent has moved in one turn, and moved on and removed in the next one, is the moved one again when
// that is undone.
func TestUndoOfAMovedFilesNextMoveAndRemoval(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.named()
			w.write("f", "f1\nf2\n")
			w.begin()
			w.move("f", "g")
			w.end()
			w.begin()
			w.call("move", func() { w.move("g", "h") }, "h")
			w.remove("h")
			w.end()
			if killed {
				w.killed(false)
			}
			for range 2 {
				w.must(w.undo(false))
				check.Equal(t, w.changes(), "moved g from f\n", "undone the record has %q")
				w.must(w.undo(true))
				check.Equal(t, w.changes(), "deleted f -1,2+0,0\n", "done again the record has %q")
			}
			w.must(w.undo(false))
			w.must(w.undo(false))
			check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "undone twice there is %s")
		})
	}
}

// What the user has kept, and the agent reverses in the same turn, is the turn's again when that is refused.
func TestKeptAndReversedByTheAgent(t *testing.T) {
	for name, c := range map[string]struct{ do, reverse func(w *world) }{
		"lines":      {func(w *world) { w.write("f", "f1\na1\n") }, func(w *world) { w.write("f", "f1\nf2\n") }},
		"a new file": {func(w *world) { w.write("g", "a1\n") }, func(w *world) { w.remove("g") }},
		"a removal":  {func(w *world) { w.remove("f") }, func(w *world) { w.write("f", "f1\nf2\n") }},
		"a move":     {func(w *world) { w.move("f", "g") }, func(w *world) { w.move("g", "f") }},
		"a move, and lines": {
			func(w *world) { w.move("f", "g"); w.write("g", "f1\na1\n") },
			func(w *world) { w.write("g", "f1\nf2\n"); w.move("g", "f") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			before := w.tree()
			w.begin()
			look := func() { w.call("edit", func() {}, "f", "g") }
			c.do(w)
			look()
			w.decide(review.Keep, "")
			kept := w.tree()
			c.reverse(w)
			look()
			w.decide(review.Reject, "")
			check.Equal(t, w.tree(), kept, "refused there is %s")
			w.end()
			w.must(w.undo(false))
			check.Equal(t, w.tree(), before, "undone there is %s")
			w.must(w.undo(true))
			check.Equal(t, w.tree(), kept, "done again there is %s")
		})
	}
}

// The user saves a file where the agent has taken it away, in that turn, after it or in the next one: the turn is undone
// and done again as if the file had been there.
func TestUndoOfWhatTheUserHasPutBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take         func(w *world)
		with, undone string // what there is
	}{
		"removed": {func(w *world) { w.remove("f") }, "f 644 \"f1\\na2\\n\"", "f 644 \"f1\\n\""},
		"moved": {
			func(w *world) { w.move("f", "g"); w.sees("f"); w.write("g", "f1\na2\na3\n") },
			"f 644 \"f1\\na2\\n\"\ng 644 \"f1\\na2\\na3\\n\"", "f 644 \"f1\\n\"",
		},
	} {
		for _, when := range []string{"in", "after", "in the next"} {
			w := newWorld(t)
			w.write("f", "f1\n")
			w.edit("f")
			w.begin()
			w.clientWrites("f", "f1\n", "f1\na2\n")
			c.take(w)
			w.sees("f")
			if when != "in" {
				w.end()
			}
			if when == "in the next" {
				w.begin()
			}
			w.saves("f")
			if when != "after" {
				w.end()
			}
			w.must(w.undo(false))
			check.Equal(t, w.tree(), c.undone, "%s, saved %s the turn, undone there is %s", name, when)
			w.must(w.undo(true))
			check.Equal(t, w.tree(), c.with, "%s, saved %s the turn, and again there is %s", name, when)
		}
	}
}

// The agent changes in a second turn what waits of its first one, beside a part that the user has kept, and all of it is
// refused: an undo of that turn does not bring back what the first one had written. Taken back, the decision leaves both
// turns what they had changed.
func TestRefusedWhereATurnHadChangedAnother(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.begin()
		w.clientWrites("f", "f1\nf2\nf3\n", "a1\nf1\nf2\nf3\n")
		w.decide(review.Keep, "f")
		w.write("f", "a1\nf1\nf2\na2\nf3\n")
		w.sees("f")
		w.end()
		w.begin()
		w.write("f", "a1\nf1\nf2\na3\nf3\n")
		w.end()
		var refused Made
		done := make(chan error, 2)
		over := func(_ int, err error) { done <- err }
		w.ledger.Decide(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { refused = m }}, over)
		w.must(<-done)
		check.Equal(t, w.sees("f"), "a1\nf1\nf2\nf3\n", "refused, there is %q")
		want := []string{"f1\nf2\nf3\n"}
		if back {
			w.ledger.Decide(Decision{Path: w.path("f"), Back: &refused}, over)
			w.must(<-done)
			check.Equal(t, w.sees("f"), "a1\nf1\nf2\na3\nf3\n", "taken back, there is %q")
			want = []string{"a1\nf1\nf2\na2\nf3\n", "f1\nf2\nf3\n"}
		}
		for _, is := range want {
			w.must(w.undo(false))
			check.Equal(t, w.sees("f"), is, "taken back %v: undone, there is %q", back)
		}
		if w.undo(false) == nil {
			t.Errorf("taken back %v: there is more to undo", back)
		}
	}
}

// A file that a second turn has changed and moved away goes back by a refusal: then neither turn has anything to undo.
func TestRefusedWhereASecondTurnHadMovedIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	before := w.tree()
	w.begin()
	w.write("f", "f1\na1\nf2\n")
	w.end()
	w.begin()
	w.move("f", "g")
	w.write("g", "f1\na1\na2\nf2\n")
	w.end()
	w.decide(review.Reject, "g")
	check.Equal(t, w.tree(), before, "refused, there is %s")
	w.ledger.Undo(false, true, "", func(int, int) bool { return true }, func(_ *turns.Turn, steps []turns.Step, err error) {
		if err == nil {
			t.Errorf("to undo there is %+v", steps)
		}
	})
	w.sync()
}

// What the user has kept of a second turn had taken the place of what waited of the first one: when the rest is refused, an
// undo of the second turn brings that back.
func TestRefusedBesideWhatWasKeptOfTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.named()
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\nf2\n")
	w.end()
	w.begin()
	w.write("f", "a2\nf2\n")
	w.sees("f")
	w.decide(review.Keep, "f")
	w.write("f", "a3\nf2\n")
	w.end()
	w.begin()
	w.decide(review.Reject, "f")
	w.killed(true)
	for _, want := range []string{"a2\nf2\n", "f1\na1\nf2\n", "f1\nf2\n"} {
		check.Equal(t, w.sees("f"), want, "there is %q")
		if want != "f1\nf2\n" {
			w.must(w.undo(false))
		}
	}
}

// A file that the agent has made in one turn and moved in others is refused: no turn has anything to undo then. Taken back, the
// refusal leaves each of them what it had done.
func TestRefusedWhereLaterTurnsHadMovedIt(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		for _, killed := range []bool{false, true} {
			w := newWorld(t)
			w.named()
			w.begin()
			w.write("f", "a1\n")
			w.end()
			for _, moved := range [][2]string{{"f", "g"}, {"g", "h"}} {
				w.begin()
				w.move(moved[0], moved[1])
				w.end()
			}
			if killed {
				w.killed(false)
			}
			var refused Made
			done := make(chan error, 2)
			over := func(_ int, err error) { done <- err }
			w.ledger.Decide(Decision{Do: review.Reject, Path: w.path("h"), Made: func(m Made) { refused = m }}, over)
			w.must(<-done)
			check.Equal(t, w.tree(), "", "refused, there is %s")
			if !back {
				if _, notes, err := w.undoOf("", false, true); err == nil {
					t.Errorf("killed %v: an undo would say %q", killed, notes)
				}
				continue
			}
			w.ledger.Decide(Decision{Path: w.path("h"), Back: &refused}, over)
			w.must(<-done)
			for _, want := range []string{`h 644 "a1\n"`, `g 644 "a1\n"`, `f 644 "a1\n"`, ""} {
				check.Equal(t, w.tree(), want, "killed %v: taken back, and undone, there is %s", killed)
				if want != "" {
					w.must(w.undo(false))
				}
			}
		}
	}
}

// A file that the agent has made, and in which the user has saved a line, is still one that the agent has made where its
// turn is undone, and done again.
func TestUndoOfAMadeFileWithASavedLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.write("f", "a1\na2\n")
	w.call(session.KindEdit, func() {}, "f")
	w.edit("f")
	w.types("f", func(now string) string { return now + "u1\n" })
	w.saves("f")
	w.end()
	for range 2 {
		w.must(w.undo(false))
		check.Equal(t, w.changes()+w.sees("f"), "added f\nu1\n", "undone, there is %q")
		w.must(w.undo(true))
		check.Equal(t, w.changes()+w.sees("f"), "added f -0,0+1,2\na1\na2\nu1\n", "done again, there is %q")
	}
}

// A file that is no text, and was as it had been when a call first named it, is byte for byte that again when the change of
// a later call is undone after another turn.
func TestUndoOfAnEarlierTurnsBinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\x00\n")
	before := w.tree()
	w.begin()
	w.call(session.KindEdit, func() {}, "f")
	w.call(session.KindEdit, func() { w.write("f", "a1\x00\n") }, "f")
	w.end()
	w.begin()
	w.write("f", "a2\x00\n")
	w.end()
	w.must(w.undo(false))
	w.must(w.undo(false))
	check.Equal(t, w.tree(), before, "undone, there is %s")
}

// A refusal that cannot be taken back, as the user writes the file meanwhile, stays made: its turn has nothing to undo.
func TestARefusalThatCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.write("f", "f1\na1\nf2\n")
	w.end()
	var refused Made
	w.makes(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { refused = m }})
	w.once("edit", "f", 1, func() { w.write("f", "u1\nu2\n") })
	done := make(chan error)
	w.ledger.Decide(Decision{Path: w.path("f"), Back: &refused}, func(_ int, err error) { done <- err })
	if err := <-done; !errors.Is(err, review.ErrChangedSince) {
		t.Errorf("to take it back says %v", err)
	}
	if err := w.undo(false); !errors.Is(err, errNoTurn) {
		t.Errorf("undo says %v", err)
	}
	check.Equal(t, w.sees("f"), "u1\nu2\n", "there is %q")
}

// A file that an agent moves out of the project in a turn and back in another, and that the user then saves, has its lines
// when both are undone.
func TestSavedWhereItWasMovedBackIntoTheProject(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.call("execute", func() { w.move("f", "../out") }, "f")
	w.end()
	w.begin()
	w.move("../out", "f")
	w.sees("f")
	w.types("f", func(text string) string { return text + "u\n" })
	w.saves("f")
	w.end()
	w.must(w.undo(false))
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\nu\n"`, "there is %s")
}

// What one turn has removed and the next one has made anew goes and comes with each of them, also where the second is undone, done
// again and undone.
func TestRemovedInOneTurnAndMadeInTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.sync()
	w.remove("f")
	w.end()
	w.begin()
	w.sync()
	w.write("f", "a1\n")
	w.end()
	for _, step := range []struct {
		again bool
		want  string
	}{{false, ""}, {true, `f 644 "a1\n"`}, {false, ""}, {false, `f 644 "f1\n"`}} {
		w.must(w.undo(step.again))
		check.Equal(t, w.tree(), step.want, "again %v: there is %s", step.again)
	}
}

// Undoing a turn leaves the one before it what that has changed on the disk under unsaved text.
func TestUndoneTurnByTurnUnderUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "u1\n" })
	w.write("f", "a1\nf2\nf3\n")
	w.sees("f")
	w.end()
	w.begin()
	w.sync()
	w.write("f", "a1\nf2\na3\n")
	w.sees("f")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "a1\nf2\nf3\n", "undone, the disk has %q")
	w.wipe("f")
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", "undone again, the disk has %q")
}

// What conflicts with unsaved text does so again where a later turn had taken the file away, and is undone: refused then, disk and
// buffer have what the user had.
func TestUndoOfARemovalOfWhatConflicts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a1\n"} {
		for _, take := range []string{"rm f", "mv f g"} {
			for _, typed := range []bool{false, true} {
				w := newWorld(t)
				w.write("f", "f1\nf2\nf3\n")
				w.edit("f")
				w.begin()
				users := "f1\nf2\nu3\n"
				w.types("f", func(string) string { return users })
				w.write("f", text)
				w.follow(w.path("f"), true)
				w.end()
				w.begin()
				w.sync()
				w.sh(take)
				w.follow(w.path("f"), true)
				if typed {
					users = "f1\nu2\nu3\n"
					w.types("f", func(string) string { return users })
				}
				w.end()
				w.must(w.undo(false))
				check.Equal(t, w.onDisk("f"), text, "%s, typed %v: undone, the disk has %q", take, typed)
				w.makes(Decision{Do: review.Reject})
				check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", "%s, typed %v: refused, the disk has %q", take, typed)
				check.Equal(t, w.sees("f"), users, "%s, typed %v: refused, there is %q", take, typed)
			}
		}
	}
}

// What was refused of an earlier turn, and is back as the user has undone that, goes with the undo of its turn.
func TestUndoOfAnEarlierTurnWhoseRefusalWasUndone(t *testing.T) {
	for _, saved := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "1\n2\n")
		w.write("g", "1\n")
		w.edit("f")
		w.begin()
		w.write("f", "1\na\n2\n")
		w.sees("f")
		w.end()
		w.begin()
		w.write("g", "b\n")
		w.end()
		w.decide(review.Reject, "f")
		w.types("f", func(string) string { return "1\na\n2\n" })
		if saved {
			w.saves("f")
		}
		w.must(w.undo(false))
		w.must(w.undo(false))
		check.Equal(t, w.sees("f"), "1\n2\n", "saved %v: undone, there is %q", saved)
		check.Equal(t, w.tree(), `f 644 "1\n2\n"`+"\n"+`g 644 "1\n"`, "saved %v: undone, there is %s")
	}
}

// A removal that the user has kept leaves nothing to decide where its turn is undone, or where they make the file anew.
func TestNothingIsLeftOfAKeptRemoval(t *testing.T) {
	for _, shown := range []bool{false, true} {
		for _, anew := range []string{"", "f1\nf2\n", "u1\n"} { // "" is undone
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			if shown {
				w.edit("f")
			}
			w.begin()
			w.remove("f")
			w.sees("f")
			w.end()
			w.decide(review.Keep, "")
			switch {
			case anew == "":
				w.must(w.undo(false))
			case shown:
				w.types("f", func(string) string { return anew })
				w.saves("f")
			default:
				w.write("f", anew)
				w.saved("f")
			}
			w.sync()
			had := w.tree()
			check.Equal(t, w.pending(), false, "shown %v, %q: something waits: %v", shown, anew)
			_, _ = w.refuse(nil)
			check.Equal(t, w.tree(), had, "shown %v, %q: refused there is %s", shown, anew)
		}
	}
}

// A file that two turns have moved goes back with the second one as the first had left it, whatever its first buffer had.
func TestUndoOfTheSecondMoveOfAShownFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\nf2\n")
	w.sees("f")
	w.move("f", "g")
	w.sees("f")
	w.end()
	w.begin()
	w.move("g", "h")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `g 644 "f1\na1\nf2\n"`, "there is %s")
}

// An undo that is stopped names as not reached only what there was to do, and is whole where nothing is left.
func TestNothingToDoIsNotLeftOfAStoppedUndo(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} { // is undone
		w := newWorld(t)
		w.write("f", "f1\n")
		w.write("g", "g1\n")
		before := w.tree()
		w.begin()
		w.write("f", "a1\n")
		w.write("g", "a2\n")
		w.end()
		w.write("g", "g1\n") // by the user
		done := make(chan []string, 1)
		w.ledger.Undo(false, false, "", func(did, _ int) bool { return first && did < 1 && w.onDisk("f") != "f1\n" }, func(_ *turns.Turn, steps []turns.Step, err error) {
			var notes []string
			for _, s := range steps {
				notes = append(notes, s.Note)
			}
			done <- append(notes, fmt.Sprint(err))
		})
		want := []string{"not reached", turns.AsBefore, ErrStopped.Error()}
		if first {
			want = []string{"", turns.AsBefore, "<nil>"}
		}
		check.Slice(t, <-done, want, "it says %v")
		check.Equal(t, w.tree() == before, first, "all is as before: %v")
	}
}

// The refusal of a file that was moved is taken back: each turn that had changed it is still undone by itself.
func TestTurnsAfterARefusedMoveIsTakenBack(t *testing.T) {
	for _, again := range []bool{false, true} { // it is moved in two turns
		w := newWorld(t)
		w.write("f", "f1\n")
		name := "f"
		states := []string{w.tree()}
		turn := func(do func()) {
			w.begin()
			do()
			w.end()
			states = append(states, w.tree())
		}
		moves := func(to string) func() {
			return func() { w.call("move", func() { w.move(name, to) }, name, to); name = to }
		}
		turn(moves("m"))
		turn(func() { w.clientWrites(name, "f1\n", "f1\na2\n") })
		if again {
			turn(moves("n"))
		}
		turn(func() { w.clientWrites(name, "f1\na2\n", "f1\na2\na3\n") })
		var made []Made
		w.makes(Decision{Do: review.Reject, Path: w.path(name), Made: func(m Made) { made = append(made, m) }})
		check.Equal(t, w.tree(), states[0], "refused, there is %s")
		for _, m := range made {
			w.makes(Decision{Path: m.Path(), Back: &m})
		}
		check.Equal(t, w.tree(), states[len(states)-1], "taken back, there is %s")
		for _, was := range slices.Backward(states[:len(states)-1]) {
			w.must(w.undo(false))
			check.Equal(t, w.tree(), was, "undone, there is %s")
		}
		check.Equal(t, w.changes(), "", "all undone, listed is %q")
	}
}

// madeAgainUnderUnsavedText has f, of which the agent has removed first in one turn and made it again in the next; there it
// writes more while the user has u2 in place of f2, unsaved.
func madeAgainUnderUnsavedText(t *testing.T, first, more string) *world {
	w := newWorld(t)
	w.write("f", first)
	w.edit("f")
	w.begin()
	w.remove("f")
	w.sees("f")
	w.end()
	w.begin()
	w.clientWrites("f", first, "f1\nf2\nf3\na1\nf4\n")
	w.types("f", func(is string) string { return strings.Replace(is, "f2", "u2", 1) })
	w.write("f", more)
	w.sees("f")
	w.end()
	return w
}

// The undo of a turn in which the agent has made a file again leaves the user's unsaved lines to its buffer, and none of the
// agent's lines that they have replaced there comes back with what was there before.
func TestUnsavedInAFileThatIsUndone(t *testing.T) {
	const first, more = "f1\nf2\nf3\nf4\n", "f1\nf2\nf3\na2\na3\nf4\n"
	for _, again := range []bool{false, true} {
		w := madeAgainUnderUnsavedText(t, first, more)
		w.types("f", func(is string) string { return strings.Replace(is, "a3", "u3", 1) })
		w.must(w.undo(false))
		check.Equal(t, w.tree(), "", "undone there is %s")
		check.Equal(t, w.sees("f"), "u2\nu3\n", "undone the buffer has %q")
		if again {
			w.must(w.undo(true))
			check.Equal(t, w.onDisk("f"), more, "done again there is %q")
			continue
		}
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), first, "refused there is %q")
		check.Equal(t, w.sees("f"), "u2\nu3\n", "refused the buffer has %q")
	}
}

// The undo of a turn in which the agent has made a file again leaves none of its lines either where what it has written since
// conflicts with unsaved text.
func TestConflictInAFileThatIsUndone(t *testing.T) {
	const first = "f1\nf2\nf3\nf4\n"
	for _, more := range []string{"f1\na9\nf3\na2\na3\nf4\n", "f1\nf3\na2\na3\nf4\n", "a0\n"} {
		for _, again := range []bool{false, true} {
			w := madeAgainUnderUnsavedText(t, first, more)
			w.must(w.undo(false))
			check.Equal(t, w.tree(), "", "undone there is %s")
			check.Equal(t, w.sees("f"), "u2\n", "undone the buffer has %q")
			if again {
				w.must(w.undo(true))
				check.Equal(t, w.onDisk("f"), more, "done again there is %q")
				continue
			}
			w.decide(review.Reject, "")
			check.Equal(t, w.onDisk("f"), first, "refused there is %q")
		}
	}
}
