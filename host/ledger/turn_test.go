package ledger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// holdLooks has the looks at the folders wait until it is called.
func (w *world) holdLooks() (release func()) {
	hold := make(chan struct{})
	w.disk.Lock()
	defer w.disk.Unlock()
	w.hold = hold
	return func() { close(hold) }
}

// The end of a turn is told when what it has changed is known, but does not wait for that for long, and not at all
// when the session closes.
func TestTheEndOfATurnIsTold(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{false, true} {
		w := newWorld(t)
		hurried := make(chan struct{}, 9)
		w.open(func(c *Config) { c.Hurry = func() { hurried <- struct{}{} } })
		w.begin()
		w.end()
		<-hurried
		w.begin()
		release := w.holdLooks()
		over := make(chan struct{})
		w.mu.Lock()
		end := w.ledger.EndTurn(func() { close(over) })
		if w.ledger.Told(end) || !w.ledger.Told(end-1) {
			t.Error("the end is told before anything is known, or the one before is not")
		}
		if closes {
			w.ledger.Close()
			if !w.ledger.Told(end) {
				t.Error("what closes is waited for")
			}
			w.mu.Unlock()
			release()
			continue
		}
		w.mu.Unlock()
		<-hurried
		w.mu.Lock()
		told := w.ledger.Told(end)
		w.mu.Unlock()
		if !told {
			t.Error("it hurries with nothing to tell")
		}
		select {
		case <-over:
			t.Error("the turn is over, and not all of it known")
		default:
		}
		release()
		<-over
	}
}

// What has ended does nothing, and nobody waits for it.
func TestAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mu.Lock()
	w.ledger.Close()
	w.ledger.Close()
	w.mu.Unlock()
	w.begin()
	asked := false
	w.ledger.File(w.path("f"), true, func(f review.File) { asked = f.Path == "" })
	if !asked {
		t.Error("who asks for a file gets no answer")
	}
}

// There is an end also where there is no turn, or no more, as it was undone.
func TestTheEndOfNoTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.end()
	w.begin()
	w.clientWrites("f", "f1\n", "a1\n")
	w.must(w.undo(false))
	w.end()
	check.Equal(t, w.sees("f")+w.changes(), "f1\n", "there is %q")
}

// What a turn names is that of the next one no more.
func TestWhatATurnNames(t *testing.T) {
	t.Parallel()
	for way, do := range map[string]func(w *world){
		"a call":             func(w *world) { w.call("edit", func() {}, "f") },
		"a write":            func(w *world) { w.clientWrites("f", "", "a1\n") },
		"a change on a disk": func(w *world) { w.write("f", "a1\n") },
		"a move":             func(w *world) { w.move("g", "f") },
		"a move in a call":   func(w *world) { w.call("move", func() { w.move("g", "f") }, "g", "f") },
		"a listing": func(w *world) {
			w.clientWrites("f", "", "a1\n")
			w.ledger.named.Clear()
			w.write("f", "a2\n")
			w.changes()
		},
		"a buffer opened": func(w *world) { w.write("f", "a1\n"); w.edit("f"); w.sync() },
	} {
		w := newWorld(t)
		w.write("g", "g1\n")
		w.begin()
		do(w)
		w.end()
		if !w.ledger.Names(w.path("f")) {
			t.Errorf("%s does not name the file", way)
		}
		w.begin()
		if w.ledger.Names(w.path("f")) {
			t.Errorf("%s names it in the next turn too", way)
		}
		w.end()
	}
}

// A large project is not looked at when a turn ends in which nothing was done: what has changed there is not the
// agent's.
func TestATurnWithoutWork(t *testing.T) {
	defer func(was int) { tooMany = was }(tooMany)
	tooMany = 1
	for name, c := range map[string]struct {
		do     func(w *world)
		listed bool
	}{
		"nothing":        {func(*world) {}, false},
		"a read":         {func(w *world) { w.call(session.KindRead, func() {}) }, false},
		"a command":      {func(w *world) { w.call(session.KindExecute, func() {}) }, true},
		"a terminal":     {func(w *world) { w.ledger.Worked() }, true},
		"a named file":   {func(w *world) { w.call(session.KindEdit, func() {}, "g") }, true},
		"a write":        {func(w *world) { w.clientWrites("g", "g1\n", "a1\n") }, true},
		"work before it": {func(w *world) { w.ledger.Worked(); w.end(); w.begin() }, false},
		"a command before it": {func(w *world) {
			w.end()
			w.call(session.KindExecute, func() {})
			w.begin()
		}, false},
		"a small project": {func(w *world) { tooMany = 2 }, true},
	} {
		tooMany = 1
		w := newWorld(t)
		w.write("f", "f1\n")
		w.write("g", "g1\n")
		w.begin()
		c.do(w)
		w.write("f", "f1\na1\n")
		w.end()
		check.Equal(t, strings.Contains(w.changes(), "modified f"), c.listed,
			"%s: what has changed is listed: %v", name)
	}
}

// The end of such a turn does not wait for the look with which it began.
func TestATurnWithoutWorkDoesNotWait(t *testing.T) {
	defer func(many int, was time.Duration) { tooMany, maxWait = many, was }(tooMany, maxWait)
	tooMany, maxWait = 0, 0
	w := newWorld(t)
	w.write("f", "f1\n")
	looked := make(chan struct{})
	w.ledger.box.Put(func() { w.ledger.scans.scan(func(*checkpoint.Snapshot) { close(looked) }) })
	<-looked
	release := w.holdLooks()
	w.begin()
	w.end() // or it is stuck
	release()
	maxWait = time.Minute
	w.begin()
	w.ledger.Worked()
	w.write("f", "f1\na1\n")
	w.end()
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "in the next turn there is %q")
}

// A prompt waits longer where nobody has looked at the folders yet.
func TestThePromptWaitsForTheFirstLook(t *testing.T) {
	defer func(was, first time.Duration) { maxWait, maxFirst = was, first }(maxWait, maxFirst)
	maxWait, maxFirst = 0, time.Minute
	w := newWorld(t)
	w.write("f", "f1\n")
	release := w.holdLooks()
	w.ledger.LookAtFolders()
	w.sync()
	ready := make(chan struct{})
	w.mu.Lock()
	w.ledger.BeginTurn("", func() { close(ready) })
	w.mu.Unlock()
	release()
	<-ready
	check.Equal(t, w.ledger.scans.first.Load(), false, "the next waits for a first look: %v")
	w.write("f", "f1\na1\n")
	w.ledger.Worked()
	w.end()
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "what the agent does at once makes %q")
}

// Without a store for copies, or before files are watched, what comes through the client can be refused and undone all
// the same; what is no text cannot, and says so.
func TestWithLessAround(t *testing.T) {
	t.Parallel()
	for lack, without := range map[string]func(*Config){
		"no store": func(c *Config) { c.Store, c.Saves = nil, nil },
		"no watch": func(c *Config) { c.Watch = func() Watch { return nil } },
	} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.open(without)
			w.ledger.TakeUp(w.about(), nil, nil) // there is nothing
			w.write("f", "f1\n")
			w.write("bytes", "\x00f")
			w.named()
			w.begin()
			w.call("edit", func() { w.clientWrites("f", "f1\n", "f1\na1\n") }, "f")
			if lack == "no store" {
				w.call("edit", func() { w.write("bytes", "\x00a") }, "bytes")
			}
			w.end()
			want := "modified f -1,0+2,1\n"
			if lack == "no store" {
				want = "modified f -1,0+2,1\nmodified bytes\n"
			}
			check.Equal(t, w.changes(), want, "%s: the record has %q", lack)
			w.ledger.KeepUnsent([]saved.Comment{{Path: "f"}}, nil, true)
			var err error
			var notes string
			if undo {
				w.ledger.Undo(false, true, "", always, func(_ *turns.Turn, steps []turns.Step, _ error) {
					for _, step := range steps {
						notes += step.Note
					}
				})
				err = w.undo(false)
			} else {
				_, err = w.refuse(nil)
			}
			switch {
			case lack == "no store" && undo:
				check.Contains(t, notes, errForgotten.Error(), "the undo says %q")
			case lack == "no store":
				if !errors.Is(err, errForgotten) {
					t.Errorf("the refusal says %v", err)
				}
			case undo:
				check.Contains(t, notes, "cannot be looked at", "the undo says %q")
				continue
			case err != nil:
				t.Error(err)
			}
			if f, bytes := w.sees("f"), w.sees("bytes"); f != "f1\n" || lack == "no store" && bytes != "\x00a" {
				t.Errorf("%s, undo %v: there are %q and %q", lack, undo, f, bytes)
			}
		}
	}
}

// What cannot be looked at stays as it is in the record and on the disk, and an undo says so; the rest goes on.
func TestWhatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "a1\n")
	w.clientWrites("g", "g1\n", "a2\n")
	w.disk.Lock()
	w.blind[w.path("f")] = true
	w.disk.Unlock()
	w.call("edit", func() {}, "f")
	w.write("f", "a3\n")
	w.end()
	if got, want := w.changes(), "modified f -1,1+1,1\nmodified g -1,1+1,1\n"; got != want || len(w.events) != 2 {
		t.Errorf("the record has %q, told was %v", got, w.events)
	}
	var note string
	w.ledger.Undo(false, true, "", always, func(_ *turns.Turn, steps []turns.Step, _ error) { note = steps[0].Note })
	w.must(w.undo(false))
	if f, g := w.sees("f"), w.sees("g"); f != "a3\n" || g != "g1\n" || note != "cannot be looked at" {
		t.Errorf("there are %q and %q, and the undo says %q", f, g, note)
	}
}

// What the agent moves through its client when no turn runs is listed, and is no part of the turn before.
func TestAMoveThroughTheClientAfterTheTurn(t *testing.T) {
	for _, during := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.write("g", "g1\n")
		w.begin()
		w.clientWrites("g", "g1\n", "a1\n")
		if !during {
			w.end()
		}
		text, form := "f1\n", "utf-8 unix"
		w.move("f", "n")
		w.ledger.TookMove(
			buffers.Written{Path: w.path("f"), Changed: true, Deleted: true, Before: &text, FormBefore: form},
			buffers.Written{Path: w.path("n"), Changed: true, Created: true, After: &text, FormAfter: form})
		if during {
			w.end()
		}
		w.sync()
		w.disk.Lock()
		check.Equal(t, w.events[len(w.events)-1], Event{w.path("n"), "fs"}, "told last is %v")
		w.disk.Unlock()
		check.Contains(t, w.changes(), "moved n from f", "during %v: listed is %q", during)
		check.Equal(t, w.ledger.Names(w.path("n")), true, "the agent was seen there: %v")
		if f, _ := w.recorded("n"); f.Baseline != f.Present {
			t.Errorf("during %v: it was %+v, and is %+v", during, f.Baseline, f.Present)
		}
		w.must(w.undo(false))
		want := "f 644 \"f1\\n\"\ng 644 \"g1\\n\""
		if !during {
			want = "g 644 \"g1\\n\"\nn 644 \"f1\\n\""
		}
		check.Equal(t, w.tree(), want, "during %v: undone, there is %s", during)
	}
}

// What the user has typed stays where they decide while the turn runs still.
func TestDecisionsWhileATurnRuns(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\nf2\n", "f1\na2\n")
	w.types("f", func(text string) string { return text + "u\n" })
	w.decide(review.Reject, "f")
	check.Equal(t, w.sees("f"), "f1\nf2\nu\n", "the buffer has %q")
	check.Equal(t, w.tree(), "f 644 \"f1\\nf2\\n\"", "the disk has %s")
	w.end()
	w.sync()
	check.Equal(t, w.changes(), "modified f -2,1+2,1 rejected\n", "listed is %q")
}

// What is recorded is looked at, at the end of a turn, wherever the folders do not tell of it, or a buffer has more.
func TestWhatIsLookedAtInTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loaded, first, after, want bool
	}{
		"as the folders have it": {false, true, true, false}, "in a buffer": {true, true, true, true}, "without a look at the end": {false, true, false, true}, "without one at the beginning": {false, false, true, true},
	} {
		w := newWorld(t)
		w.feigned = true
		w.write("f", "f1\n")
		w.begin()
		w.clientWrites("f", "f1\n", "a1\n")
		w.end()
		w.begin()
		w.box(func() {
			l := w.ledger
			l.loaded[w.path("f")] = c.loaded
			var after *checkpoint.Snapshot
			if c.after {
				after = l.turn.first
			}
			if !c.first {
				l.turn.first = nil
			}
			check.Equal(t, len(l.doubtful(l.turn, after, time.Now()).together) == 1, c.want, "%s: it is looked at: %v", name)
		})
	}
}

// Who waits for what is noted also waits for what waits for the first look.
func TestNotedBehindTheFirstLook(t *testing.T) {
	defer func(was time.Duration) { maxWait = was }(maxWait)
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.end()
	maxWait = 0
	looked := w.holdLooks()
	w.begin()
	w.clientWrites("f", "f1\n", "a1\n")
	noted, done := make(chan string, 1), false
	w.ledger.Noted(func() {
		done = true
		f, _ := w.ledger.record.File(w.path("f"))
		noted <- string(f.Status)
	})
	w.box(func() { check.Equal(t, done, false, "before the look it is noted: %v") })
	looked()
	check.Equal(t, <-noted, "modified", "then the record has %q")
	w.end()
}

// What was no file when the turn began has no lines that the agent could have changed.
func TestAFileWhereALinkWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.sh("ln -s f link")
	w.begin()
	w.remove("link")
	w.write("link", "a1\n")
	w.call("edit", func() {}, "link")
	w.end()
	check.Equal(t, w.changes(), "", "listed is %q")
}

// Bytes are kept under what they are, not under what somebody takes them for.
func TestOtherBytesAreNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\x00f")
	w.box(func() {
		for name, is := range map[string]review.Content{"f": review.Text("\x00other"), "none": review.Text("\x00f")} {
			if w.ledger.originals.keepDisk(w.path(name), is); w.ledger.originals.has(w.path(name), is, nil) {
				t.Errorf("of %s others are kept", name)
			}
		}
	})
}

// What changes after the end of a turn, while its files are still looked at, is not the agent's.
func TestChangedAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	w.begin()
	w.write("g", "g1\na1\n")
	w.ledger.Worked()
	release, ends, over := w.holdLooks(), make(chan struct{}), make(chan struct{})
	w.mu.Lock()
	w.ledger.EndTurn(func() { close(over) })
	w.mu.Unlock()
	w.ledger.box.Put(func() { close(ends) })
	<-ends
	ended := time.Now()
	for w.write("f", "f1\nu1\n"); !changedAt(w.path("f")).After(ended.Add(2 * Coarse)); { // the clock goes on
		w.write("f", "f1\nu1\n")
	}
	release()
	<-over
	check.Equal(t, w.changes(), "modified g -1,0+2,1\n", "listed is %q")
}
