package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// renames gives the file of a buffer another name, as :file and :write do, and removes it under the old one.
func (w *world) renames(from, to string) {
	w.t.Helper()
	w.copies(from, to)
	w.savesAs(to, modeOf(w.path(from)))
	w.remove(from)
}

// copies gives a buffer the name of another file, which is not written yet.
func (w *world) copies(from, to string) {
	w.t.Helper()
	w.follow(w.path(from), true)
	w.disk.Lock()
	b := w.bufs[w.path(from)]
	delete(w.bufs, w.path(from))
	w.bufs[w.path(to)] = b
	synced := b.synced
	b.gone = true
	w.disk.Unlock()
	for _, l := range w.sessions {
		l.UserRenamed(w.path(from), w.path(to))
	}
	w.opened(buffers.Opened{Path: w.path(from), Text: &synced, Form: b.form})
	w.opened(buffers.Opened{Path: w.path(to), Loaded: true})
}

// A buffer tells after a prompt that it no longer shows a file, which the user has renamed or removed right before it.
func TestLeftRightBeforeATurn(t *testing.T) {
	t.Parallel()
	for name, renamed := range map[string]bool{"renamed": true, "removed": false} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		w.end()
		tell := w.closes("f")
		if renamed {
			w.ledger.UserRenamed(w.path("f"), w.path("g"))
			w.write("g", "f1\n")
		}
		w.remove("f")
		before := w.tree()
		w.begin()
		tell()
		w.end()
		check.Equal(t, w.changes(), "", "%s, there is listed %q", name)
		if w.undo(false) == nil {
			t.Errorf("%s: there is something to undo", name)
		}
		check.Equal(t, w.tree(), before, "%s, there is %s", name)
	}
}

// Neovim tells after a prompt that it had opened a file which the user has renamed since, before that prompt.
func TestOpenedBeforeItWasRenamed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "f1\n"} {
		w := newWorld(t)
		w.write("f", text)
		w.edit("f")
		w.ledger.UserRenamed(w.path("f"), w.path("g"))
		w.move("f", "g")
		looked := w.beginHeld()
		w.box(func() {}) // the turn has begun
		w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: &text, Form: plain})
		w.closes("f")()
		looked()
		w.end()
		check.Equal(t, w.changes(), "", "there is listed %q")
	}
}

// The user gives a buffer another name, and removes the old file, while lines of theirs conflict with the agent's there: what
// both had removed, and the user had not saved, does not come back under the new name.
func TestRenamedUnderAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.types("f", func(string) string { return "f1\nu1\nf3\nu2\n" })
	w.begin()
	w.write("f", "f1\nu1\nf3\na1\n")
	w.renames("f", "g")
	w.end()
	check.Equal(t, w.changes(), "", "there is listed %q")
	check.Equal(t, w.sees("g"), "f1\nu1\nf3\nu2\n", "there is %q")
	if w.undo(false) == nil {
		t.Error("there is something to undo")
	}
}

// The agent moves a file away and changes it there, while the user goes on in the buffer of the old path, which comes into
// being again: what they have taken out of it meanwhile is not the agent's change.
func TestChangedWhereItWasMovedFrom(t *testing.T) {
	t.Parallel()
	mine := "f1\nu1\nf3\nf4\n"
	for how, back := range map[string]func(*world){
		"written by the agent": func(w *world) { w.clientWrites("f", mine, "f1\nu1\nf3\n") },
		"saved":                func(w *world) { w.saves("f") },
	} {
		for _, moved := range []string{"", "f1\na2\nf3\nf4\n"} {
			w := newWorld(t)
			w.write("f", "f1\nf2\nf3\nf4\n")
			w.edit("f")
			w.begin()
			w.move("f", "g")
			w.write("g", moved)
			w.end()
			w.begin()
			w.types("f", func(string) string { return mine })
			back(w)
			w.end()
			w.decide(review.Reject, "")
			check.Equal(t, w.sees("f"), mine, "%s, moved as %q: there is %q", how, moved)
			check.Equal(t, w.tree(), fmt.Sprintf("f 644 %q", mine), "%s, moved as %q: there is %s", how, moved)
		}
	}
}

// The agent makes a file on the disk where it has moved one away under a buffer, whose text does not go together with that:
// when all is refused the moved one is back there.
func TestMadeUnderUnsavedTextWhereItWasMovedFrom(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\r\nf2\r\n")
		before := w.tree()
		w.edit("f")
		w.begin()
		w.move("f", "g")
		if !undo {
			w.end()
			w.begin()
		}
		w.types("f", func(string) string { return "f1\nu1\nf2\n" })
		w.write("f", "a1\n")
		w.sees("f")
		w.write("g", "a2\r\nf2\r\n")
		w.end()
		if undo {
			w.must(w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), before, "there is %s")
		check.Equal(t, w.sees("f"), "f1\nu1\nf2\n", "there is %q")
	}
}

// The agent moves the file of the old name over what the user has written under the new one.
func TestMovedToWhereTheUserHadCopiedIt(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		w.copies("f", "g")
		w.savesAs("g", 0o644)
		before := w.tree()
		w.move("f", "g")
		w.end()
		if undo {
			w.must(w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), before, "there is %s")
	}
}

// The agent changes only a file's permissions or its form right after the user has closed its buffer, and before that is
// told.
func TestNoTextChangedAsTheBufferIsClosed(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*world){
		"permissions":         func(w *world) { w.chmod("f", 0o755) },
		"the byte order mark": func(w *world) { w.write("f", "f1\na1\n") },
		"line ends":           func(w *world) { w.write("f", "f1\r\na1\r\n") },
	} {
		w := newWorld(t)
		w.write("f", "\ufefff1\n")
		before := w.tree()
		w.edit("f")
		w.begin()
		w.write("f", "\ufefff1\na1\n")
		w.end()
		w.begin()
		tell := w.closes("f")
		change(w)
		tell()
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), before, "%s: refused, there is %s", what)
	}
}

// The user gives a buffer another name, with unsaved text under which the agent has written: the turn and the record have its
// file by the new name only, however often one looks.
func TestRenamedWithUnsavedText(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.types("f", func(string) string { return "f1\nf2\nf3\nu1\n" })
		w.begin()
		w.write("f", "a1\nf2\nf3\n")
		w.sees("f")
		if !running {
			w.end()
		}
		w.renames("f", "g")
		if running {
			w.end()
		}
		for range 2 {
			check.Equal(t, w.changes(), "modified g -1,1+1,1\n", "renamed in the turn %v: there is listed %q", running)
		}
		_, notes, err := w.undoOf("", false, true)
		w.must(err)
		check.Equal(t, fmt.Sprintf("%q", notes), `[""]`, "renamed in the turn %v: the undo would say %s", running)
		w.must(w.undo(false))
		check.Equal(t, w.tree(), `g 644 "f1\nf2\nf3\nu1\n"`, "renamed in the turn %v: undone there is %s", running)
	}
}

// A buffer leaves a file before it has what the agent has changed there, and tells when the turn is over.
func TestLeftBeforeTheBufferHadIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	tell := w.closes("f")
	w.write("f", "f1\na2\n")
	w.end()
	tell()
	w.sync()
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "there is listed %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), "f1\n", "refused, there is %q")
}

// What the user renames in a turn is moved by no agent: refused or undone it stays where it is, without the agent's
// lines. What they save where the agent has moved a file away is there again, with all that there is to decide.
func TestFilesThatTheUserRenames(t *testing.T) {
	agent := func(name string) func(*world) { return func(w *world) { w.write(name, "f1\na1\nf2\n"); w.sees(name) } }
	renames := func(from, to string) func(*world) { return func(w *world) { w.renames(from, to) } }
	moves := func(w *world) { w.call("move", func() { w.move("f", "g"); w.sees("f") }, "f", "g") }
	saves := func(w *world) { w.saves("f") }
	types := func(w *world) { w.types("f", func(now string) string { return now + "u1\n" }) }
	for name, c := range map[string]struct {
		do     []func(*world)
		listed string
		left   string // all files, when it is refused or undone
	}{
		"once":                             {[]func(*world){agent("f"), renames("f", "g")}, "modified g -1,0+2,1\n", "g: f1 f2"},
		"twice":                            {[]func(*world){agent("f"), renames("f", "g"), renames("g", "h")}, "modified h -1,0+2,1\n", "h: f1 f2"},
		"twice, the agent between":         {[]func(*world){renames("f", "g"), agent("g"), renames("g", "h")}, "modified h -1,0+2,1\n", "h: f1 f2"},
		"twice, the agent afterwards":      {[]func(*world){renames("f", "g"), renames("g", "h"), agent("h")}, "modified h -1,0+2,1\n", "h: f1 f2"},
		"twice, and nothing of an agent's": {[]func(*world){renames("f", "g"), renames("g", "h")}, "", "h: f1 f2"},
		"three times":                      {[]func(*world){agent("f"), renames("f", "g"), renames("g", "h"), renames("h", "i")}, "modified i -1,0+2,1\n", "i: f1 f2"},
		"in a call that names both": {[]func(*world){agent("f"), func(w *world) {
			w.call("edit", func() { w.renames("f", "g") }, "f", "g")
		}}, "modified g -1,0+2,1\n", "g: f1 f2"},
		"there and back": {[]func(*world){agent("f"), renames("f", "g"), renames("g", "f")}, "modified f -1,0+2,1\n", "f: f1 f2"},
		"there and back, and the agent removes it": {[]func(*world){
			renames("f", "g"), renames("g", "f"), func(w *world) { w.wipe("f"); w.remove("f") },
		}, "deleted f -1,2+0,0\n", "f: f1 f2"},
		"a copy, not told yet": {[]func(*world){agent("f"), func(w *world) {
			w.ledger.UserRenamed(w.path("f"), w.path("g"))
			w.write("g", "f1\na1\nf2\n")
		}}, "modified f -1,0+2,1\n", "f: f1 f2, g: f1 a1 f2"},
		"a copy, told as opened": {[]func(*world){func(w *world) {
			w.ledger.UserRenamed(w.path("f"), w.path("g"))
			w.write("g", "f1\nf2\n")
			w.edit("g")
		}}, "", "f: f1 f2, g: f1 f2"},
		"a copy, which the agent changes": {[]func(*world){func(w *world) {
			w.ledger.UserRenamed(w.path("f"), w.path("g"))
			w.write("g", "f1\nf2\n")
			w.edit("g")
		}, agent("g")}, "modified g -1,0+2,1\n", "f: f1 f2, g: f1 f2"},
		"a copy, which the agent changes when it is closed": {[]func(*world){func(w *world) {
			w.ledger.UserRenamed(w.path("f"), w.path("g"))
			w.write("g", "f1\nf2\n")
			w.edit("g")
			w.wipe("g")
			w.write("g", "f1\na1\nf2\n")
		}}, "modified g -1,0+2,1\n", "f: f1 f2, g: f1 f2"},
		"a copy of a copy, which the agent moves away": {[]func(*world){agent("f"), func(w *world) {
			w.copies("f", "g")
			w.saves("g")
			w.copies("g", "h")
			w.saves("h")
			w.sync()
			w.move("g", "i")
		}}, "modified f -1,0+2,1\nmoved i from g\n", "f: f1 f2, g: f1 a1 f2, h: f1 a1 f2"},
		"a copy that is saved": {[]func(*world){agent("f"), func(w *world) { w.copies("f", "g"); w.saves("g") }}, "modified f -1,0+2,1\n", "f: f1 f2, g: f1 a1 f2"},

		"removed where it was, which is told before the close": {[]func(*world){func(w *world) {
			w.copies("f", "g")
			w.saves("g")
			w.call("execute", func() { w.remove("f") }, "f")
			w.opened(buffers.Opened{Path: w.path("f"), Text: new("f1\nf2\n")})
			w.sync()
			w.write("f", "a1\n")
		}}, "added f -0,0+1,1\n", "g: f1 f2"},

		"saved where it was":              {[]func(*world){agent("f"), moves, types, saves}, "modified f -1,0+2,1\nadded g -0,0+1,3\n", "f: f1 f2 u1"},
		"saved, without the agent's text": {[]func(*world){moves, types, saves}, "added g -0,0+1,2\n", "f: f1 f2 u1"},
		"changed beforehand":              {[]func(*world){agent("f"), types, saves, moves, saves}, "modified f -1,0+2,1\nadded g -0,0+1,4\n", "f: f1 f2 u1"},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				w.edit("f")
				w.begin()
				for _, do := range c.do {
					do(w)
				}
				w.end()
				check.Equal(t, w.changes(), c.listed, "the record has %q")
				switch {
				case undo:
					if err := w.undo(false); (err != nil) != (c.listed == "") {
						t.Errorf("the undo says %v", err)
					}
				case c.listed != "":
					w.decide(review.Reject, "")
				}
				var there []string
				for line := range strings.SplitSeq(w.tree(), "\n") {
					name, _, _ := strings.Cut(line, " ")
					there = append(there, name+": "+strings.Join(strings.Fields(w.sees(name)), " "))
				}
				check.Equal(t, strings.Join(there, ", "), c.left, "there is %q")
			})
		}
	}
}

// What the user renames after a turn keeps what is pending, at its new path, where it is refused or undone.
func TestRenamedAfterTheTurn(t *testing.T) {
	for name, then := range map[string]func(w *world){
		"after its end":             func(w *world) { w.end(); w.renames("f", "g") },
		"twice":                     func(w *world) { w.end(); w.renames("f", "h"); w.renames("h", "g") },
		"after the host was killed": func(w *world) { w.killed(true); w.renames("f", "g") },
		"before another turn":       func(w *world) { w.end(); w.renames("f", "g"); w.begin(); w.end() },
		"in another turn":           func(w *world) { w.end(); w.begin(); w.renames("f", "g"); w.changes(); w.end() },
		"after a turn that is undone": func(w *world) {
			w.end()
			w.begin()
			w.write("new", "a2\n")
			w.end()
			w.must(w.undo(false))
			w.renames("f", "g")
		},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				w.named()
				w.edit("f")
				w.begin()
				w.sync()
				w.write("f", "f1\na1\nf2\n")
				w.sees("f")
				then(w)
				check.Equal(t, w.changes(), "modified g -1,0+2,1\n", "the record has %q")
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), `g 644 "f1\nf2\n"`, "undo %v: there is %s", undo)
			})
		}
	}
}

// Permissions that the agent has changed under unsaved text come back where the user gives that up and renames the file
// at once, so that it is there no more when the host hears of it.
func TestGivenUpAndRenamedAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agents []string
		anew   bool // it is read anew first
	}{
		{[]string{"a1\nf1\n"}, true},
		{[]string{"a1\nf1\n"}, false},
		{[]string{"a1\nf1\n", "f1\n"}, true},
		{[]string{"a1\nf1\n", "f1\n"}, false},
	} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		w.types("f", func(now string) string { return now + "u1\n" })
		for _, text := range c.agents {
			w.write("f", text)
			w.sees("f")
		}
		w.chmod("f", 0o755)
		w.end()
		w.disk.Lock()
		b := w.bufs[w.path("f")]
		b.text, b.gone = b.synced, true
		w.disk.Unlock()
		if w.remove("f"); c.anew {
			w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: &b.text, Form: b.form})
		}
		w.copies("f", "g")
		w.savesAs("g", 0o755)
		w.must(w.undo(false))
		check.Equal(t, w.tree(), `g 644 "f1\n"`, "%v: there is %s", c)
		check.Equal(t, w.changes(), "", "%v: the record has %q", c)
	}
}

// What the user has renamed is undone where it is now, also if nothing of it is pending any more.
func TestRenamedWhereNothingIsPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	for _, text := range []string{"f1\na1\n", "f1\n"} {
		w.begin()
		w.clientWrites("f", w.sees("f"), text)
		w.end()
	}
	w.renames("f", "g")
	for _, want := range []string{"f1\na1\n", "f1\n"} {
		w.must(w.undo(false))
		check.Equal(t, w.sees("g"), want, "undone there is %q")
	}
}

// A file that the user has left under its old name, which the agent moves away then, goes back there, whenever that is seen.
func TestMovedWhatTheUserHasLeft(t *testing.T) {
	for _, seen := range []string{"", "f", "h"} {
		for _, changed := range []bool{false, true} {
			for _, undo := range []bool{false, true} {
				t.Run(fmt.Sprint(seen, changed, undo), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.write("f", "f1\nf2\n")
					w.edit("f")
					w.begin()
					if changed {
						w.clientWrites("f", "f1\nf2\n", "f1\na1\n")
					}
					w.copies("f", "g")
					w.savesAs("g", 0o644)
					w.move("f", "h")
					if seen != "" {
						w.call("edit", func() {}, seen)
					}
					w.end()
					if list := w.changes(); !changed {
						check.Equal(t, list, "moved h from f\n", "the record has %q")
					}
					if undo {
						w.must(w.undo(false))
					} else {
						w.decide(review.Reject, "")
					}
					check.Equal(t, w.tree(), "f 644 \"f1\\nf2\\n\"\ng 644 \"f1\\nf2\\n\"", "refused there is %s")
				})
			}
		}
	}
}

// A file that the agent changes after it has moved it away goes back without that, and so does what its buffer has kept.
func TestChangedWhereItWasMovedToAndRefused(t *testing.T) {
	for _, then := range []string{"", "f1\na1\nf2\na2\n"} {
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
		w.write("f", "a3\n")
		w.types("f", func(string) string { return "f1\na1\nu1\nf2\n" })
		w.sees("f")
		w.write("g", then)
		w.end()
		w.must(w.undo(false))
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "then %q, there is %s", then)
		check.Equal(t, w.sees("f"), "f1\nu1\nf2\n", "then %q, the buffer has %q", then)
	}
}

// What the user types over a file that the agent has moved to theirs stays off the disk, whenever it is seen that it was moved.
func TestTypedWhereAFileWasMovedOver(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.write("g", "g1\n")
		w.edit("f")
		w.begin()
		w.renames("f", "n")
		w.move("g", "n")
		w.sees("n")
		w.types("n", func(string) string { return "u1\n" })
		w.call("edit", func() {}, "n")
		w.call("edit", func() {}, "g")
		w.end()
		if undo {
			w.must(w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), "g 644 \"g1\\n\"\nn 644 \"f1\\nf2\\n\"", "undo %v: there is %s", undo)
		check.Contains(t, w.sees("n"), "u1\n", "undo %v: the buffer has %q", undo)
	}
}

// A file that the agent changes and moves, and then writes through its client, is a moved one: what the user saves there
// goes back with it.
func TestChangedAndMovedBeforeAWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.write("f", "f1\nf2\na1\n")
	w.move("f", "g")
	w.clientWrites("g", "f1\nf2\na1\n", "f1\na2\nf2\n")
	w.edit("g")
	w.types("g", func(text string) string { return text + "u1\n" })
	w.saves("g")
	w.end()
	check.Equal(t, w.changes(), "moved g from f -1,0+2,1\n", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\nf2\nu1\n"`, "refused there is %s")
}

// What the user accepts of a file that the agent has moved goes back with it when all else is refused, whatever happened
// to it before: a write through the client replaces the file by another one.
func TestAcceptedInAMovedFile(t *testing.T) {
	for name, do := range map[string]func(w *world){
		"moved and changed": func(w *world) { w.move("f", "g"); w.write("g", "f1\nf2\na1\n") },
		"written and moved": func(w *world) { w.clientMakes("f", "f1\nf2\n", "f1\nf2\na1\n", false); w.move("f", "g") },
		"replaced, seen, moved and changed": func(w *world) {
			w.call("edit", func() { w.replace("f", "f1\nf2\na0\n") }, "f")
			w.move("f", "g")
			w.write("g", "f1\nf2\na1\n")
		},
		"saved, moved and changed": func(w *world) {
			if w.bufs[w.path("f")] != nil {
				w.saves("f")
			} else {
				w.replace("f", "f1\nf2\n")
				w.saved("f")
			}
			w.sync()
			w.sync() // and has been looked at
			w.move("f", "g")
			w.write("g", "f1\nf2\na1\n")
		},
	} {
		for _, loaded := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				if loaded {
					w.edit("f")
				}
				w.begin()
				do(w)
				w.follow(w.path("f"), true) // its buffer has told that it is gone
				w.clientMakes("g", "f1\nf2\na1\n", "f1\na2\nf2\na1\n", true)
				w.end()
				w.decide(review.Reject, "")
				check.Equal(t, w.tree(), `f 644 "f1\na2\nf2\n"`, "refused there is %s")
			})
		}
	}
}

// What the user has renamed since the turn is decided about under its new name, with what they have typed in it.
func TestDecidedAfterARename(t *testing.T) {
	t.Parallel()
	for do, want := range map[review.Decision]string{review.Reject: "f1\nu1\n", review.Keep: "f1\na1\nu1\n"} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		w.write("f", "f1\na1\n")
		w.sees("f")
		w.end()
		w.renames("f", "g")
		w.types("g", func(now string) string { return now + "u1\n" })
		w.decide(do, "")
		check.Equal(t, w.sees("g"), want, "there is %q")
		if got := w.changes(); strings.Contains(got, "pending") || !strings.Contains(got, "kept") && do == review.Keep {
			t.Errorf("%s: the record has %s", do, got)
		}
	}
}

// A new file by the agent that the user has written under another name too goes, and that other one is theirs.
func TestTheAgentsFileUnderAnotherName(t *testing.T) {
	t.Parallel()
	for listed, end := range map[string]func(w *world){
		"added f -0,0+0,0 rejected\n": func(w *world) { w.decide(review.Reject, "") },
		"":                            func(w *world) { w.must(w.undo(false)) },
	} {
		w := newWorld(t)
		w.begin()
		w.write("f", "a1\n")
		w.sync()
		w.edit("f")
		w.end()
		w.copies("f", "g")
		w.savesAs("g", 0o644)
		end(w)
		w.ledger.Files(func([]review.File) {})
		w.sync()
		check.Equal(t, w.tree(), `g 644 "a1\n"`, "there is %s")
		check.Equal(t, w.changes(), listed, "there is listed %q")
	}
}

// The agent makes a file and moves it away, and the user opens the old name: there never was a file of theirs.
func TestOpenedWhereTheAgentsFileWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.clientMakes("f", "", "a1\n", false)
	w.move("f", "g")
	w.disk.Lock()
	w.bufs[w.path("f")] = &buffer{gone: true}
	w.disk.Unlock()
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new("")})
	w.end()
	check.Equal(t, w.changes(), "added g -0,0+1,1\n", "there is listed %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), "", "refused, there is %s")
}

// Where the agent moves a file that the user has left over one of the names that they have given its buffer since, both files
// come back.
func TestMovedOverANameThatTheUserHasLeftToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.sync()
	w.copies("f", "g")
	w.types("g", func(text string) string { return text + "u2\n" })
	w.saves("g")
	w.copies("g", "h")
	w.types("h", func(text string) string { return text + "u3\n" })
	w.saves("h")
	w.move("f", "g")
	w.end()
	check.Equal(t, w.changes(), "modified g -2,1+1,0\ndeleted f -1,1+0,0\n", "the record has %q")
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`+"\n"+`g 644 "f1\nu2\n"`+"\n"+`h 644 "f1\nu2\nu3\n"`, "undone, there is %s")
}

// A file that the agent moves back in a later turn, under the buffer that still shows it, and that the user then saves, goes
// each way again with what they have saved.
func TestSavedWhereAFileWasMovedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("g", "g1\ng2\n")
	w.edit("g")
	w.begin()
	w.sync()
	w.move("g", "h")
	w.end()
	w.begin()
	w.sync()
	w.move("h", "g")
	w.sync()
	w.types("g", func(is string) string { return "u5\n" + is })
	w.saves("g")
	w.end()
	check.Equal(t, w.changes(), "", "the record has %q")
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `h 644 "u5\ng1\ng2\n"`, "with one turn undone there is %s")
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `g 644 "u5\ng1\ng2\n"`, "with both undone there is %s")
}

// A file that the agent changes in conflict with unsaved text, and then moves, is listed with that change, also where the buffer
// has other changes of it.
func TestMovedWithWhatConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\nf4\nf5\n")
	w.edit("f")
	w.types("f", func(string) string { return "f1\nf2\nf3\nf4\nu5\n" })
	w.begin()
	w.sync()
	w.write("f", "a1\nf2\nf3\nf4\nf5\n")
	w.sees("f")
	w.write("f", "a1\nf2\nf3\nf4\na5\n")
	w.sees("f")
	w.move("f", "g")
	w.end()
	check.Equal(t, w.changes(), "moved g from f -1,1+1,1 -5,1+5,1\n", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\nf4\nf5\n"`, "refused, there is %s")
	check.Equal(t, w.sees("f"), "f1\nf2\nf3\nf4\nu5\n", "refused, the buffer has %q")
}

// A file that the agent makes under a name which the user has left right before the prompt is new, also where Neovim says only
// then that no buffer shows that name any more.
func TestMadeUnderANameLeftBeforeThePrompt(t *testing.T) {
	t.Parallel()
	for _, toldFirst := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		tell := func() { w.ledger.UserRenamed(w.path("f"), w.path("g")) }
		if toldFirst {
			tell()
		}
		w.move("f", "g")
		looked := w.beginHeld()
		w.sync() // the turn has begun
		if !toldFirst {
			tell()
		}
		w.wipe("f")
		w.sync()
		looked()
		w.write("f", "a1\n")
		w.end()
		check.Equal(t, w.changes(), "added f -0,0+1,1\n", "told first %v: listed is %q", toldFirst)
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), `g 644 "f1\n"`, "told first %v: there is %s", toldFirst)
	}
}

// A file that a refusal has put back is another one on the disk; where the agent moves that, and the user types into it at once,
// it was moved still.
func TestMovedAfterARefusalHadPutItBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.sync()
	w.call("move", func() { w.move("f", "g") }, "f", "g")
	w.decide(review.Reject, "g")
	w.sync()
	w.move("f", "h")
	w.edit("h")
	w.types("h", func(now string) string { return now + "u1\n" })
	check.Equal(t, w.changes(), "moved h from f\n", "the changes are %q")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "refused, there is %s")
}

// A file that the user has left under its old name, and that the agent removes in the next turn, is a file that it has removed.
func TestLeftBeforeATurnAndRemovedInIt(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.copies("f", "g")
	w.savesAs("g", 0o644)
	w.end()
	w.begin()
	w.remove("f")
	w.end()
	check.Equal(t, w.changes(), "deleted f -1,1+0,0\n", "listed is %q")
}

// A file that the agent removes, while the user writes another one with the same text, was not moved there.
func TestRemovedBesideTheUsersCopy(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.write("g", "f1\nf2\n")
	w.saved("g")
	w.sync()
	w.remove("f")
	w.end()
	check.Equal(t, w.changes(), "deleted f -1,2+0,0\n", "listed is %q")
}

// Where another file is made at the place of one that was moved away, a buffer without unsaved text shows that, and has nothing
// of the moved one any more but what the user brings back: what they typed, and that alone, is merged into what goes back.
func TestTypedWhereAFileWasMovedAwayAndMadeAnew(t *testing.T) {
	t.Parallel()
	for typed, c := range map[string]struct {
		unsaved, killed bool
		want            string
	}{
		"u4\n":         {want: "f1\nf2\nu4\n"},
		"u5\n":         {killed: true, want: "f1\nf2\nu5\n"},
		"":             {want: "f1\nf2\n"},
		"f1\na3\nu4\n": {want: "f1\nu4\n"},
		"a6\nu4\n":     {unsaved: true, want: "f1\nf2\nu0\n"},
	} {
		w := newWorld(t)
		w.named()
		w.write("f", "f1\nf2\n")
		w.edit("f")
		w.begin()
		w.sync()
		w.write("f", "f1\na3\nf2\n")
		w.sees("f")
		if c.unsaved {
			w.types("f", func(now string) string { return now + "u0\n" })
		}
		w.move("f", "g")
		w.sees("f")
		w.end()
		w.begin()
		w.sync()
		w.write("f", "a6\n")
		w.sees("f")
		if c.killed {
			w.killed(true)
		} else {
			w.end()
		}
		if !c.unsaved {
			w.types("f", func(string) string { return typed })
		}
		w.decide(review.Reject, "f")
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "%q: there is %s", typed)
		check.Equal(t, w.sees("f"), c.want, "%q: the buffer has %q", typed)
	}
}
