package ledger

import (
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// Two agents work in one folder at once. Each change is in the record of the one who made it, and to the other one it
// is as the user's: refusing takes back one's own.
func TestTwoSessions(t *testing.T) {
	for name, c := range map[string]struct {
		by     func(w *world, first, second func(func())) // acts as the one or the other
		first  string                                     // what is listed of the first
		second string
		left   string // of f, when all of the first one's is refused
	}{
		"through the client": {
			func(w *world, first, second func(func())) {
				first(func() { w.clientWrites("f", "f1\nf2\nf3\n", "f1\na1\nf2\nf3\n") })
				second(func() { w.clientWrites("f", "f1\na1\nf2\nf3\n", "f1\na1\nf2\nb1\nf3\n") })
			},
			"modified f -1,0+2,1\n", "modified f -3,0+4,1\n", "f1\nf2\nb1\nf3\n",
		},
		"in calls": {
			func(w *world, first, second func(func())) {
				first(func() { w.call("edit", func() { w.write("f", "f1\na1\nf2\nf3\n") }, "f") })
				second(func() { w.call("edit", func() { w.write("f", "f1\na1\nf2\nb1\nf3\n") }, "f") })
			},
			"modified f -1,0+2,1\n", "modified f -3,0+4,1\n", "f1\nf2\nb1\nf3\n",
		},
		"the second in a call, the first unseen": {
			func(w *world, first, second func(func())) {
				second(func() { w.call("edit", func() { w.write("f", "f1\nf2\nb1\nf3\n") }, "f") })
				first(func() { w.write("g", "a1\n") })
			},
			"added g -0,0+1,1\n", "modified f -2,0+3,1\n", "f1\nf2\nb1\nf3\n",
		},
		"the second refuses": {
			func(w *world, first, second func(func())) {
				first(func() { w.call("edit", func() { w.write("f", "f1\na1\nf2\nf3\n") }, "f") })
				second(func() {
					w.call("edit", func() { w.write("f", "f1\na1\nf2\nb1\nf3\n") }, "f")
					w.decide(review.Reject, "")
				})
			},
			"modified f -1,0+2,1\n", "modified f -3,0+3,0 rejected\n", "f1\nf2\nf3\n",
		},
		"the second removes": {
			func(w *world, first, second func(func())) {
				first(func() { w.call("edit", func() { w.write("g", "a1\n") }, "g") })
				second(func() { w.call("delete", func() { w.remove("f") }, "f") })
			},
			"added g -0,0+1,1\n", "deleted f -1,3+0,0\n", "no file",
		},
		"the second moves": {
			func(w *world, first, second func(func())) {
				second(func() { w.call("move", func() { w.move("f", "h") }, "f", "h") })
				first(func() { w.call("edit", func() { w.write("g", "a1\n") }, "g") })
			},
			"added g -0,0+1,1\n", "moved h from f\n", "no file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\nf2\nf3\n")
			one := w.ledger
			two := w.open()
			as := func(l *Ledger) func(func()) {
				return func(do func()) {
					w.ledger = l
					do()
					for range 2 { // what the one has told the other has heard then
						w.ledger = one
						w.sync()
						w.ledger = two
						w.sync()
					}
				}
			}
			first, second := as(one), as(two)
			first(w.begin)
			second(w.begin)
			c.by(w, first, second)
			var listed [2]string
			first(w.end)
			second(w.end)
			first(func() { listed[0] = w.changes() })
			second(func() { listed[1] = w.changes() })
			if listed[0] != c.first || listed[1] != c.second {
				t.Errorf("the first has %q, wanted %q; the second %q, wanted %q", listed[0], c.first, listed[1], c.second)
			}
			first(func() { w.decide(review.Reject, "") })
			check.Equal(t, w.sees("f"), c.left, "there is %q")
			first(func() {
				for line := range strings.Lines(w.changes()) {
					check.Contains(t, line, "rejected", "the first has still %q")
				}
			})
		})
	}
}

// An agent moves a file through its client, in a turn or in none, while another one's turn runs: that one has not moved
// it.
func TestAMoveOfAnotherSession(t *testing.T) {
	t.Parallel()
	for _, turn := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		one := w.ledger
		two := w.open()
		w.begin()
		w.ledger = one
		if turn {
			w.begin()
		}
		text := "f1\n"
		w.move("f", "g")
		one.TookMove(
			buffers.Written{Path: w.path("f"), Changed: true, Deleted: true, Before: &text, FormBefore: plain},
			buffers.Written{Path: w.path("g"), Changed: true, Created: true, After: &text, FormAfter: plain})
		check.Equal(t, w.changes(), "moved g from f\n", "turn %v: the one's record has %q", turn)
		w.ledger = two
		w.end()
		check.Equal(t, w.changes(), "", "turn %v: the other's record has %q", turn)
	}
}

// What another session's agent moves is that one's.
func TestAnotherAgentMovesAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	one := w.ledger
	w.begin()
	w.ledger.Worked()
	other := w.open()
	w.begin()
	w.call("move", func() {
		w.move("f", "g")
		w.ledger = one // whose turn ends while nobody has told it of that
		w.end()
		check.Equal(t, w.changes(), "", "the one has %q")
		w.ledger = other
	}, "f", "g")
	w.end()
	check.Equal(t, w.changes(), "moved g from f\n", "the other has %q")
}

// What one agent writes under a buffer comes back with the file that another one removes, when that is refused.
func TestAnotherAgentRemovesWhatOneHasChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	one := w.ledger
	w.begin()
	other := w.open()
	w.begin()
	change := func(l *Ledger, do func()) {
		w.ledger = l
		w.call("edit", do, "f")
		w.sees("f")
		w.sync()
	}
	change(other, func() { w.write("f", "b1\nf1\nf2\n") })
	change(one, func() { w.write("f", "b1\nf1\na1\nf2\n") })
	change(other, func() { w.remove("f") })
	w.end()
	w.ledger = one
	w.end()
	w.ledger = other
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\na1\nf2\n"`, "refused there is %s")
	check.Equal(t, w.sees("f"), "f1\na1\nf2\n", "the buffer has %q")
}

// What the user had not saved is saved for each session, when the write of one of their agents has saved it.
func TestAnotherAgentSavesWhatWasUnsaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	one := w.ledger
	w.begin()
	other := w.open()
	w.begin()
	w.types("f", func(text string) string { return text + "u1\n" })
	w.call("edit", func() { w.write("f", "b1\nf1\nf2\n") }, "f")
	w.ledger = one
	w.end() // which looks at it
	w.ledger = other
	w.clientWrites("f", "b1\nf1\nf2\nu1\n", "b2\nf1\nf2\nu1\n")
	w.end()
	for _, l := range []*Ledger{other, one} {
		w.ledger = l
		w.sync()
	}
	w.ledger.Then(func() {
		if _, noted := one.inStep[w.path("f")]; noted {
			t.Error("something is taken for unsaved")
		}
	})
	w.sync()
}

// A file that a call names by a link to it is that call's, also where another session's turn ends meanwhile.
func TestAnotherAgentNamesAFileByALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.must(os.Symlink("f", w.path("link")))
	one := w.ledger
	w.begin()
	other := w.open()
	w.begin()
	w.call("edit", func() {
		w.write("f", "f1\na1\n")
		w.ledger = one
		w.end()
		check.Equal(t, w.changes(), "", "the one has %q")
		w.ledger = other
	}, "link")
	w.end()
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "the other has %q")
}
