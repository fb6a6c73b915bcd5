package ledger

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What the agent writes through its client when a turn is over is undone with that turn, also when another has begun.
func TestWhatComesAfterATurnIsItsToUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	before := w.tree()
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.end()
	w.clientWrites("f", "f1\na1\n", "f1\na1\na2\n")
	w.sync()
	w.begin()
	w.write("g", "g1\na3\n")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.sees("g"), "g1\n", "with one turn undone there is %q")
	w.must(w.undo(false))
	w.is("with both undone", before, true)
}

// A file that a command has removed is listed when the turn is over, also where a buffer shows it and nothing has told
// before.
func TestALoadedFileThatIsGoneAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.remove("f")
	w.end()
	if f, ok := w.recorded("f"); !ok || f.Status != review.Deleted {
		t.Errorf("listed is %+v, %v", f.Status, ok)
	}
}

// recorded is a file of the record as it is, without a look at it.
func (w *world) recorded(name string) (f review.File, ok bool) {
	w.box(func() { f, ok = w.ledger.record.File(w.path(name)) })
	return f, ok
}

// Other sessions hear of what an undo has left of a file, and of what is there again.
func TestOthersHearOfAnUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	heard := map[string]string{}
	w.open(func(c *Config) {
		c.Others = func(path string, is review.Content) {
			mu.Lock()
			defer mu.Unlock()
			heard[path] = is.Text
			if !is.Exists {
				heard[path] = "no file"
			}
		}
	})
	hears := func(when string, want map[string]string) {
		t.Helper()
		w.sync()
		mu.Lock()
		defer mu.Unlock()
		for name, text := range want {
			check.Equal(t, heard[w.path(name)], text, "%s others hear of %s that it is %q", when, name)
		}
		clear(heard)
	}
	w.write("f", "f1\n")
	w.write("moved", "m1\n")
	w.begin()
	w.write("f", "f1\na1\n")
	w.write("new", "a2\n")
	w.move("moved", "there")
	w.end()
	hears("in the turn", map[string]string{"f": "f1\na1\n", "new": "a2\n", "moved": "no file", "there": "m1\n"})
	w.must(w.undo(false))
	hears("undone", map[string]string{"f": "f1\n", "new": "no file", "moved": "m1\n", "there": "no file"})
	w.must(w.undo(true))
	hears("done again", map[string]string{"f": "f1\na1\n", "new": "a2\n", "moved": "no file", "there": "m1\n"})
}

// failing is a world in which nothing can be done to the disk under unsaved text, until it works again.
type failing struct {
	*world
	works *atomic.Bool
}

var errDisk = errors.New("the disk is full")

func (f failing) Edit(ctx context.Context, e buffers.Edit, done func(buffers.Written, error)) {
	if e.Disk != nil && !f.works.Load() {
		done(buffers.Written{}, failure("edit", e.Path, errDisk))
		return
	}
	f.world.Edit(ctx, e, done)
}

// Where what only the disk has cannot be taken back, undo and refusal say so, and do the rest; it can be refused again.
func TestWhatIsUnderUnsavedTextCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		works := new(atomic.Bool)
		w.open(func(c *Config) { c.Files = failing{w, works} })
		w.write("f", "f1\nf2\n")
		w.write("g", "g1\n")
		w.edit("f")
		w.types("f", func(text string) string { return strings.Replace(text, "f2", "u2", 1) })
		w.begin()
		w.write("f", "f1\na2\n")
		w.sees("f")
		w.write("g", "g1\na1\n")
		w.end()
		var err error
		if undo {
			err = w.undo(false)
		} else {
			_, err = w.refuse(nil)
		}
		if !errors.Is(err, errDisk) || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("undo %v: it says %v", undo, err)
		}
		if f, g := w.sees("f"), w.sees("g"); f != "f1\nu2\n" || g != "g1\n" {
			t.Errorf("undo %v: there are %q and %q", undo, f, g)
		}
		works.Store(true)
		if _, err := w.refuse(nil); err != nil && !undo {
			t.Errorf("refused once more it says %v", err)
		}
		if data, _ := os.ReadFile(w.path("f")); string(data) != "f1\nf2\n" && !undo {
			t.Errorf("refused once more the disk has %q", data)
		}
	}
}

// Of a file that was not there before, what others have put on the disk since stays.
func TestTakenBackWhereAnotherFileIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]string{"a1\n": "no file", "other\n": "other\n"} {
		w.write("f", text)
		done := make(chan error, 1)
		w.box(func() {
			w.ledger.takeBack(w.path("f"), behind{is: review.Text("a1\n")}, func(err error) { done <- err })
		})
		must.Do(t, <-done)
		check.Equal(t, w.sees("f"), want, "of %q there is %q", text)
	}
}

// A file of just as many bytes as are kept comes back, one of more is not kept.
func TestHowMuchIsKeptOfAFileElsewhere(t *testing.T) {
	t.Parallel()
	for more, back := range map[int]bool{0: true, 1: false} {
		w := newWorld(t)
		bytes := "\x00" + strings.Repeat("x", maxReviewed-1+more)
		w.write("../out", bytes)
		w.begin()
		w.call(session.KindEdit, func() { w.write("../out", "\x00a") }, "../out")
		w.end()
		_, err := w.refuse(nil)
		data, _ := os.ReadFile(w.path("../out"))
		if got := string(data) == bytes; got != back || (err == nil) != back {
			t.Errorf("of %d bytes there are %d: %v", len(bytes), len(data), err)
		}
	}
}

// What conflicted under unsaved text in a turn is known to be of that turn when another host takes the session up: once
// the user has decided about it, by saving their text, it is not undone with the turn.
func TestConflictsOfATurnThatIsTakenUp(t *testing.T) {
	t.Parallel()
	for _, saves := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.named()
		w.edit("f")
		w.types("f", func(text string) string { return strings.Replace(text, "f2", "u2", 1) })
		w.begin()
		w.write("f", "f1\na2\n")
		w.sees("f")
		w.sync()
		bufs := maps.Clone(w.bufs) // its Neovim lives on
		w.dies()
		w.bufs = bufs
		w.takenUp()
		if saves {
			w.saves("f")
			w.sync()
		}
		err := w.undo(false)
		data, _ := os.ReadFile(w.path("f"))
		switch got := string(data); {
		case saves && got != "f1\nu2\n":
			t.Errorf("saved, then undone, the disk has %q, %v", got, err)
		case !saves && (got != "f1\nf2\n" || err != nil):
			t.Errorf("undone, the disk has %q, %v", got, err)
		}
		check.Equal(t, w.sees("f"), "f1\nu2\n", "saved %v: the buffer has %q", saves)
	}
}

// What Neovim tells of a file while an undo is at it is the undo's doing: nothing of that counts as the user's.
func TestNeovimTellsOfAnUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const first, agents = "f1\nf2\n", "f1\na1\nf2\n"
	w.write("f", first)
	w.edit("f")
	w.begin()
	w.write("f", agents)
	w.sees("f")
	w.end()
	w.once("edited", "f", 1, func() {
		w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new(first), Form: plain, Since: changedAt(w.path("f"))})
	})
	w.must(w.undo(false))
	check.Equal(t, w.changes(), "", "undone, the record has %q")
	w.must(w.undo(true))
	check.Equal(t, w.sees("f"), agents, "done again there is %q")
}

// What a turn had changed before something was typed is known to whoever takes the session up: when the user gives up
// what they typed it is the turn's still.
func TestUnsavedTextIsGivenUpAfterATakeUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const first = "f1\nf2\nf3\n"
	w.write("f", first)
	before := w.tree()
	w.named()
	w.edit("f")
	w.begin()
	w.clientWrites("f", first, "f1\na1\nf2\nf3\n")
	w.types("f", func(text string) string { return text + "u1\n" })
	w.write("f", "f1\na1\nf2\na2\nf3\n")
	w.sees("f")
	w.sync()
	bufs := maps.Clone(w.bufs)
	w.dies()
	w.bufs = bufs
	w.takenUp()
	w.rereads("f")
	check.Equal(t, w.changes(), "modified f -1,0+2,1 -2,0+4,1\n", "given up, the record has %q")
	w.must(w.undo(false))
	w.is("undone", before, true)
}
