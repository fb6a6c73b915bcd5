package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What is not saved and is given up was never done: what the agent wrote before it and under it is the agent's.
func TestUnsavedTextThatIsGivenUp(t *testing.T) {
	giveUp := map[string]func(w *world){
		"read anew": func(w *world) { w.rereads("f") },
		"closed":    func(w *world) { w.wipe("f") },
	}
	for name, gives := range giveUp {
		for _, later := range []bool{false, true} { // in another turn
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\n")
				w.edit("f")
				w.begin()
				w.clientWrites("f", "f1\n", "a1\nf1\n")
				w.types("f", func(string) string { return "u1\n" })
				w.write("f", "a2\na1\nf1\n")
				if w.sees("f"); later {
					w.end()
					w.begin()
				}
				w.changes() // looks at the unsaved text
				gives(w)
				w.end()
				check.Equal(t, w.sees("f"), "a2\na1\nf1\n", "the user has %q")
				w.decide(review.Reject, "")
				check.Equal(t, w.sees("f"), "f1\n", "after a refusal the user has %q")
			})
		}
	}
}

// Permissions that the agent changes while something is unsaved come back also when that is given up.
func TestPermissionsUnderUnsavedText(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.call("execute", func() { w.chmod("f", 0o755) })
	w.end()
	w.wipe("f")
	must.Do(t, w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// What the user types while a file is gone stands where they have put it, when the agent has made the file anew.
func TestTypedWhileTheFileWasGone(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.edit("f")
		w.begin()
		w.remove("f")
		w.follow(w.path("f"), true)
		w.types("f", func(now string) string { return now + "u1\n" })
		w.write("f", "a1\n")
		w.sees("f")
		w.end()
		if undo {
			must.Do(t, w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.sees("f"), "f1\nf2\nu1\n", "undo %v: the user has %q", undo)
	}
}

// What a turn has to bring back is known also where an earlier turn has changed it, and it is no text any more.
func TestMadeNoTextInALaterTurn(t *testing.T) {
	w := newWorld(t)
	w.begin()
	w.clientWrites("f", "", "a1\n")
	w.end()
	w.edit("f")
	w.begin()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.clientWrites("f", "a1\nu1\n", "a1\nu1\na2\n")
	w.write("f", "\x00")
	w.sees("f")
	w.end()
	must.Do(t, w.undo(false))
	check.Equal(t, w.sees("f"), "a1\nu1\n", "the user has %q")
}

// A file that the user saves where the agent had moved it away is theirs, also when the agent has made and moved another
// one there in between: it does not go back over that.
func TestSavedWhereTheAgentHadMovedItAway(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.move("f", "g")
	w.follow(w.path("f"), true)
	w.end()
	w.begin()
	w.remove("g")
	w.write("f", "a1\n")
	w.sees("f")
	w.move("f", "h")
	w.follow(w.path("f"), true)
	w.end()
	w.types("f", func(string) string { return "f1\nu1\n" })
	w.saves("f")
	w.decide(review.Reject, "")
	if data, err := os.ReadFile(w.path("f")); err != nil || string(data) != "f1\nu1\n" {
		t.Errorf("the user's file has %q, %v", data, err)
	}
	check.Equal(t, w.tree(), `f 644 "f1\nu1\n"`, "there is %s")
}

// What the user has given another name, and the agent moves from there, goes back there.
func TestMovedFromTheNameThatTheUserGave(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.move("f", "g")
	w.ledger.UserRenamed(w.path("f"), w.path("g"))
	w.saved("g")
	w.sync()
	w.move("g", "h")
	w.end()
	check.Equal(t, w.changes(), "moved h from g\n", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `g 644 "f1\nf2\n"`, "there is %s")
}

// A file that the agent has made and moved goes, wherever it is: also where its first place was told to be gone first.
func TestMovedWhatTheAgentHasMade(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.begin()
		w.write("f", "a1\n")
		w.edit("f")
		w.move("f", "g")
		w.follow(w.path("f"), true)
		w.end()
		if undo {
			must.Do(t, w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), "", "undo %v: there is %s", undo)
	}
}

// A file that is no text, which the agent has changed and moved, goes back byte for byte: also where its first place was
// told to be gone first.
func TestMovedBytesThatTheAgentHasChanged(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "\x00f")
		w.edit("f")
		w.begin()
		w.write("f", "\x00fa")
		w.follow(w.path("f"), true)
		w.move("f", "g")
		w.follow(w.path("f"), true)
		w.end()
		check.Equal(t, w.changes(), "moved g from f\n", "the record has %q")
		if undo {
			must.Do(t, w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), `f 644 "\x00f"`, "undo %v: there is %s", undo)
	}
}

// Lines that the user has not saved, and that stand where the agent has written others, are theirs also after the file
// was moved away and back.
func TestUnsavedInPlaceOfTheAgents(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.types("f", func(now string) string { return now + "u1\nu2\n" })
	w.begin()
	w.write("f", "f1\na1\na2\n")
	w.sees("f")
	w.end()
	w.begin()
	w.move("f", "g")
	w.follow(w.path("f"), true)
	w.end()
	must.Do(t, w.undo(false))
	before := w.sees("f")
	if w.changes() != "" {
		w.decide(review.Reject, "")
	}
	if got := w.sees("f"); got != "f1\nu1\nu2\n" {
		t.Errorf("the user has %q, and had %q", got, before)
	}
}

// What the agent writes under unsaved text is listed where the user gives that up before the change is told.
func TestUnsavedTextThatIsGivenUpBeforeAChangeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	was, is := "f1\nf2\n", "f1\n"
	w.write("f", was)
	w.edit("f")
	w.types("f", func(now string) string { return now + "u1\n" })
	w.box(func() { w.ledger.noteUnsaved(w.ledger.turn, w.path("f")) }) // as a look does
	w.begin()
	w.write("f", is)
	w.disk.Lock()
	w.bufs[w.path("f")] = &buffer{text: is, form: plain, synced: is}
	w.disk.Unlock()
	w.ledger.Took(buffers.Written{Path: w.path("f"), Buf: 1, Changed: true, Before: &was, After: &is, Disk: &is, FormBefore: plain, FormAfter: plain}, "disk", false)
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: &is, Form: plain, Since: changedAt(w.path("f"))})
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), was, "there is %q")
}

// A conflict that is told again in the next turn is no change of that one.
func TestConflictThatIsToldAgain(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "u1\n" })
	w.write("f", "a1\n")
	w.sees("f")
	w.end()
	w.begin()
	w.ledger.Took(buffers.Written{
		Path: w.path("f"), Buf: 1, Unsaved: true, Conflict: true, At: time.Now().Add(-time.Hour),
		Behind: new("f1\n"), Disk: new("a1\n"), FormBefore: plain, FormAfter: plain,
	}, "disk", false)
	w.end()
	must.Do(t, w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
	check.Equal(t, w.undo(false), errNoTurn, "another undo says %v")
}

// What a buffer could not take in an earlier turn is no change of the turn in which it is closed.
func TestClosedOverWhatItNeverTook(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "u1\n" })
	w.write("f", "\xff\n")
	w.sync()
	w.ledger.Took(buffers.Written{
		Path: w.path("f"), Buf: 1, Unsaved: true, Conflict: true,
		Behind: new("f1\n"), Disk: new("ÿ\n"), FormBefore: plain, FormAfter: "latin1 unix",
	}, "disk", false)
	delete(w.bufs, w.path("f")) // which follows by itself
	w.end()
	w.begin()
	w.opened(buffers.Opened{Path: w.path("f"), Text: new("f1\n"), Form: plain})
	w.end()
	must.Do(t, w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
	check.Equal(t, w.undo(false), errNoTurn, "another undo says %v")
}

// What another program writes after the turn is the user's, also where a buffer is closed at that moment which had not taken
// in what the agent had left.
func TestWrittenOverAsTheBufferIsClosed(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "f1\nu1\nf2\n" })
	w.write("f", "a1\n")
	w.sync()
	w.ledger.Took(buffers.Written{
		Path: w.path("f"), Buf: 1, Unsaved: true, Conflict: true,
		Behind: new("f1\nf2\n"), Disk: new("a1\n"), FormBefore: plain, FormAfter: plain,
	}, "disk", false)
	w.bufs[w.path("f")].synced = "a1\n"
	w.end()
	delete(w.bufs, w.path("f"))
	w.write("f", "a1\nu2\n")
	w.opened(buffers.Opened{Path: w.path("f"), Text: new("f1\nf2\n"), Form: plain})
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\nf2\nu2\n"`, "there is %s")
}

// A line that is not saved stays the user's where the agent, which knew it, has it on the disk and then takes the file away.
func TestUnsavedLineOnADiskThatIsGone(t *testing.T) {
	for name, goes := range map[string]func(w *world){
		"removed": func(w *world) { w.remove("f") },
		"moved":   func(w *world) { w.move("f", "g") },
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\nf3\n")
				w.edit("f")
				w.begin()
				w.types("f", func(string) string { return "f1\nu1\nf2\nf3\nu2\n" })
				w.write("f", "f1\nu1\nf2\na1\nf3\n")
				w.sees("f")
				goes(w)
				w.end()
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.sees("f"), "f1\nu1\nf2\nf3\nu2\n", "undo %v: the user has %q", undo)
			})
		}
	}
}

// Permissions come back also of a file that is removed when its buffer is gone, which was not told yet.
func TestPermissionsOfAFileWhoseBufferIsGone(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.chmod("f", 0o600)
	w.edit("f")
	w.begin()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.saves("f")
	w.feigned = true // the ledger is not told that the buffer goes
	delete(w.bufs, w.path("f"))
	w.remove("f")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 600 "f1\nu1\n"`, "there is %s")
}

// What the user does to unsaved text before a turn begins, and what they type next, are told apart: a line of theirs is
// not taken for one of the agent's that they have changed.
func TestUnsavedTextIsLookedAtWhenATurnBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.types("f", func(now string) string { return now + "u2\n" })
	w.end()
	w.types("f", func(string) string { return "u1\nu2\n" })
	w.begin()
	w.sync()
	w.types("f", func(string) string { return "u1\nu3\nu2\n" })
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "u1\nu3\nu2\n", "there is %q")
}

// A line of the agent's that the user has edited without saving goes from the buffer where its file was taken away, and
// what it replaced is back.
func TestEditedLineOfAFileThatIsGone(t *testing.T) {
	for _, goes := range []string{"removed", "moved"} {
		for _, after := range []bool{false, true} {
			for _, undo := range []bool{false, true} {
				t.Run(goes, func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.write("f", "f1\nf2\nf3\n")
					w.edit("f")
					w.begin()
					w.write("f", "f1\na1\nf3\n")
					w.sees("f")
					edits := func() { w.types("f", func(string) string { return "f1\na1 u\nf3\nu2\n" }) }
					if !after {
						edits()
					}
					if goes == "removed" {
						w.remove("f")
					} else {
						w.move("f", "g")
					}
					if after {
						w.follow(w.path("f"), true)
						edits()
					}
					if w.end(); undo {
						w.must(w.undo(false))
					} else {
						w.decide(review.Reject, "")
					}
					check.Equal(t, w.sees("f"), "f1\nf2\nf3\nu2\n", "edited after that %v, undo %v: the user has %q", after, undo)
					check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\n"`, "edited after that %v, undo %v: there is %s", after, undo)
				})
			}
		}
	}
}

// What the user writes where the agent had removed a file in the same turn is theirs also where the agent then moves it:
// after a refusal of the removal, and where they have saved it again.
func TestSavedWhereTheAgentHadRemovedIt(t *testing.T) {
	t.Parallel()
	for _, refused := range []bool{true, false} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		if !refused {
			w.edit("f")
		}
		w.begin()
		w.call("delete", func() { w.remove("f") }, "f")
		if w.sees("f"); refused {
			w.decide(review.Reject, "")
			w.edit("f")
		}
		w.types("f", func(string) string { return "f1\nf2\nu1\n" })
		w.saves("f")
		w.sync()
		w.wipe("f")
		w.move("f", "g")
		w.end()
		check.Contains(t, w.changes(), "moved g from f", "refused %v: the record has %q", refused)
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), `f 644 "f1\nf2\nu1\n"`, "refused %v: there is %s", refused)
	}
}

// A turn of which only the disk has something is undone and done again, also where the buffer is read anew in between.
func TestUndoneOnTheDiskAndReadAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n")
	w.end()
	w.types("f", func(string) string { return "f1\nf2\nu1\n" })
	w.changes() // looks at it
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "f1\nf2\n", "undone, the disk has %q")
	w.rereads("f")
	check.Equal(t, w.pending(), false, "undone and read anew, something is pending: %v")
}

// What the disk has by the time it is known that a buffer shows the file, with what the user has typed there at once, is
// the agent's: nobody knows what the buffer began with.
func TestTypedIntoBeforeItsOpeningIsKnown(t *testing.T) {
	for name, was := range map[string]string{"a file": "f1\nf2\n", "a new file": ""} {
		for _, undo := range []bool{false, true} {
			t.Run(fmt.Sprint(name, undo), func(t *testing.T) {
				w := newWorld(t)
				w.write("g", "g1\n")
				if was != "" {
					w.write("f", was)
				}
				before := w.tree()
				w.begin()
				disk, users := was+"a1\n", "u1\n"+was
				w.write("f", disk)
				w.bufs[w.path("f")] = &buffer{text: users, form: plain, synced: disk}
				w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Since: changedAt(w.path("f"))})
				w.end()
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				w.is("then", before, true)
				check.Equal(t, w.bufs[w.path("f")].text, users, "the buffer has %q")
			})
		}
	}
}

// Where the user has taken a turn's lines out of their buffer, unsaved, only the disk has something to undo, and to do
// again.
func TestUndoneOnTheDiskIsDoneAgain(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	before := w.tree()
	w.edit("f")
	w.begin()
	w.write("f", "f1\nf2\na1\n")
	w.sees("f")
	w.end()
	after := w.tree()
	w.types("f", func(string) string { return "u1\nf1\nf2\n" })
	w.must(w.undo(false))
	check.Equal(t, w.tree(), before, "undone there is %s")
	w.must(w.undo(true))
	check.Equal(t, w.tree(), after, "done again there is %s")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), before, "refused then there is %s")
	check.Equal(t, w.bufs[w.path("f")].text, "u1\nf1\nf2\n", "the buffer has %q")
}

// A line that the user has removed in their buffer, unsaved, stays removed there where the agent has emptied the file and
// then removed it or moved it away, and that is refused or undone.
func TestUnsavedRemovalOfALine(t *testing.T) {
	for _, moved := range []bool{false, true} {
		for _, undo := range []bool{false, true} {
			t.Run(fmt.Sprint(moved, undo), func(t *testing.T) {
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				before := w.tree()
				w.edit("f")
				w.begin()
				w.types("f", func(string) string { return "f1\n" })
				w.write("f", "")
				w.sees("f")
				if moved {
					w.move("f", "g")
				} else {
					w.remove("f")
				}
				w.sees("f")
				w.end()
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), before, "there is %s")
				check.Equal(t, w.bufs[w.path("f")].text, "f1\n", "the buffer has %q")
			})
		}
	}
}

// A file that the agent takes away again comes back as it was then, whatever was noted when it first went from a buffer
// that is closed by now.
func TestTakenAwayAgainWithoutItsBuffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.removedUnder("f", "f1\n")
	w.decide(review.Reject, "")
	w.wipe("f")
	w.write("f", "f2\n")
	w.begin()
	w.remove("f")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f2\n"`, "there is %s")
}

// What came under unsaved text in no turn stays when an earlier turn is undone.
func TestAnUndoBesideWhatCameInNoTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	for _, name := range []string{"g", "h"} {
		w.begin()
		w.write(name, "a1\n")
		w.end()
	}
	w.must(w.undo(false)) // so that the last turn is none
	w.edit("f")
	w.types("f", func(string) string { return "u1\n" })
	w.write("f", "a1\n")
	w.sees("f")
	w.sync()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "a1\n"`, "there is %s")
}

// Where the user has taken back by u what the agent did last to a file, an undo of the turn takes back the rest.
func TestUndoneInTheBufferAndThenTheTurn(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	before := w.tree()
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\nf2\n")
	w.sees("f")
	w.write("f", "")
	w.sees("f")
	w.types("f", func(string) string { return "f1\na1\nf2\n" })
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), before, "there is %s")
	check.Equal(t, w.bufs[w.path("f")].text, "f1\nf2\n", "the buffer has %q")
}

// What the user has taken out of a buffer, unsaved, stays out of it where the agent has removed the file and made it anew,
// even if no line of it is left; the disk gets what it had, unless the agent knew what the buffer has and wrote over that.
func TestTakenOutOfAFileThatIsMadeAnew(t *testing.T) {
	for _, was := range []string{"f1\n", "f2\nf1\nf3\n"} {
		for _, put := range []string{"", "u1\n"} {
			for _, client := range []bool{false, true} {
				for _, undo := range []bool{false, true} {
					w := newWorld(t)
					w.write("f", was)
					w.edit("f")
					mine := strings.Replace(was, "f1\n", put, 1)
					w.types("f", func(string) string { return mine })
					w.begin()
					w.remove("f")
					w.sees("f")
					if client {
						w.clientWrites("f", mine, "a1\na2\n")
					} else {
						w.write("f", "a1\na2\n")
					}
					w.sees("f")
					w.end()
					if undo {
						w.must(w.undo(false))
					} else {
						w.decide(review.Reject, "")
					}
					check.Equal(t, w.sees("f"), mine, "%q for f1 in %q, client %v, undo %v: the buffer has %q", put, was, client, undo)
					disk := map[bool]string{false: was, true: mine}[client]
					check.Equal(t, w.tree(), fmt.Sprintf("f 644 %q", disk), "%q for f1 in %q, client %v, undo %v: there is %s", put, was, client, undo)
				}
			}
		}
	}
}

// A file that the agent has removed and made anew under text that conflicts, perhaps more than once, is what it was before
// that; the undo of a turn which only made it leaves none.
func TestRemovedAndMadeAnewUnderAConflict(t *testing.T) {
	const was = "f1\nf2\n"
	for _, earlier := range []bool{false, true} { // the removal was in an earlier turn
		for _, twice := range []bool{false, true} {
			for _, closed := range []bool{false, true} {
				for _, undo := range []bool{false, true} {
					w := newWorld(t)
					w.write("f", was)
					w.edit("f")
					w.types("f", func(string) string { return "f1\nu2\n" })
					w.begin()
					gone := func() {
						w.remove("f")
						w.sees("f")
					}
					gone()
					if earlier {
						w.end()
						w.begin()
					}
					w.write("f", "a1\n")
					w.sees("f")
					if twice {
						gone()
						w.write("f", "a2\n")
						w.sees("f")
					}
					if closed {
						w.wipe("f")
					}
					w.end()
					want := fmt.Sprintf("f 644 %q", was)
					if undo {
						w.must(w.undo(false))
						if earlier {
							want = ""
						}
					} else {
						w.decide(review.Reject, "")
					}
					check.Equal(t, w.tree(), want, "earlier %v, twice %v, closed %v, undo %v: there is %q", earlier, twice, closed, undo)
				}
			}
		}
	}
}

// A file that is made anew from what its buffer has kept, after the agent has made and removed it under a conflict, has the
// agent's lines of before that still as the agent's.
func TestMadeAnewFromABufferAfterAConflict(t *testing.T) {
	for _, appended := range []bool{false, true} { // which reaches the buffer
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\nf4\n")
		w.edit("f")
		w.begin()
		w.write("f", "f1\na1\nf3\nf4\n")
		w.sees("f")
		w.remove("f")
		w.sees("f")
		w.end()
		w.begin()
		w.types("f", func(is string) string { return strings.Replace(is, "f4\n", "u1\nf4\n", 1) })
		w.write("f", "a2\n")
		w.sees("f")
		if appended {
			w.write("f", "a2\na3\n")
			w.sees("f")
		}
		w.remove("f")
		mine := w.sees("f")
		w.clientWrites("f", mine, strings.Replace(mine, "f4\n", "a4\n", 1))
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.sees("f"), "f1\nf2\nf3\nu1\nf4\n", "appended %v: there is %q", appended)
	}
}

// A turn that takes out what an earlier one has put in under unsaved text is undone by itself once that text is given up,
// though both together have changed nothing.
func TestATurnReversesAnotherUnderUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.types("f", func(now string) string { return now + "u1\n" })
	for _, is := range []string{"f1\na1\nf2\n", "f1\nf2\n"} {
		w.begin()
		w.write("f", is)
		w.sees("f")
		w.end()
	}
	w.rereads("f")
	for _, want := range []string{"f1\na1\nf2\n", "f1\nf2\n"} {
		w.must(w.undo(false))
		check.Equal(t, w.sees("f"), want, "undone, there is %q")
	}
}

// A file that the agent takes away again after it has made it anew under unsaved text is what it was before that, on the
// disk and in the buffer.
func TestMadeAnewUnderUnsavedTextAndTakenAway(t *testing.T) {
	const was = "f1\nf2\nf3\n"
	for how, takes := range map[string]func(w *world){
		"removed": func(w *world) { w.remove("f") },
		"moved":   func(w *world) { w.move("f", "g") },
		"emptied": func(w *world) { w.write("f", "") },
	} {
		for _, made := range []string{"a1\na2\n", "f1\na1\nf2\n"} {
			for _, put := range []string{"", "u1\n"} {
				for _, undo := range []bool{false, true} {
					w := newWorld(t)
					w.write("f", was)
					w.edit("f")
					mine := strings.Replace(was, "f1\n", put, 1)
					w.types("f", func(string) string { return mine })
					w.begin()
					w.remove("f")
					w.sees("f")
					w.write("f", made)
					w.sees("f")
					takes(w)
					w.sees("f")
					w.end()
					if undo {
						w.must(w.undo(false))
					} else {
						w.decide(review.Reject, "")
					}
					check.Equal(t, w.tree(), fmt.Sprintf("f 644 %q", was), "%s, %q was made, %q typed, undo %v: there is %s", how, made, put, undo)
					check.Equal(t, w.sees("f"), mine, "%s, %q was made, %q typed, undo %v: the buffer has %q", how, made, put, undo)
				}
			}
		}
	}
}

// What the user has saved beside a line of the agent's comes back with its file, which the agent then takes away, also by
// an undo of the turn.
func TestSavedBeforeItWasTakenAway(t *testing.T) {
	for n := range 8 {
		moved, undo, typed := n&1 > 0, n&2 > 0, n&4 > 0 // typed: more, which is not saved
		t.Run(fmt.Sprint(moved, undo, typed), func(t *testing.T) {
			w := newWorld(t)
			w.write("f", "f1\n")
			w.edit("f")
			w.begin()
			w.write("f", "f1\na1\n")
			w.sees("f")
			w.types("f", func(text string) string { return text + "u1\n" })
			w.saves("f")
			w.saved("f")
			users := "f1\nu1\n"
			if typed {
				users += "u2\n"
				w.types("f", func(text string) string { return text + "u2\n" })
			}
			if moved {
				w.move("f", "g")
			} else {
				w.remove("f")
			}
			w.sees("f")
			w.end()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.tree(), `f 644 "f1\nu1\n"`, "there is %s")
			check.Equal(t, w.sees("f"), users, "the buffer has %q")
		})
	}
}

// What the user takes out of a buffer while its file is gone is theirs also when the removal is refused: they have not
// undone the refusal.
func TestEmptiedWhileGone(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]func(w *world){
		"removed":    func(w *world) { w.remove("f") },
		"moved away": func(w *world) { w.move("f", "g") },
	} {
		for _, left := range []string{"", "f2\n"} {
			t.Run(fmt.Sprintf("%s, %q left", name, left), func(t *testing.T) {
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				w.edit("f")
				w.begin()
				goes(w)
				w.sees("f")
				w.end()
				w.types("f", func(string) string { return left })
				w.sync()
				w.decide(review.Reject, "")
				w.sync()
				if c := w.changes(); c != "" && !strings.HasSuffix(c, "rejected\n") {
					t.Errorf("refused, there is listed %q", c)
				}
				check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "refused, there is %q")
				check.Equal(t, w.sees("f"), left, "and in the buffer %q")
			})
		}
	}
}

// The user saves a buffer whose file the agent has removed: what it lacks they have taken out themselves, even if no line
// is left. If it is a new buffer, what the file had is still removed.
func TestSavedAfterItWasRemoved(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		if same {
			w.types("f", func(string) string { return "u2\n" })
		}
		w.begin()
		w.remove("f")
		w.sees("f")
		w.end()
		listed, left := "", "u2\n"
		if same {
			w.saves("f")
		} else {
			w.wipe("f")
			w.write("f", "u2\n")
			w.edit("f")
			w.saves("f")
			listed, left = "modified f -1,1+0,0\n", "f1\nu2\n"
		}
		w.sync()
		check.Equal(t, w.changes(), listed, "same %v, there is listed %q", same)
		if err := w.undo(false); same == (err == nil) {
			t.Errorf("same %v: undo gave %v", same, err)
		}
		check.Equal(t, w.onDisk("f"), left, "same %v, undone there is %q", same)
	}
}

// What the user undoes before a turn, and types in it, is told apart.
func TestUndoneBeforeATurnAndTypedInIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.write("f", "")
	w.sees("f")
	w.end()
	w.types("f", func(string) string { return "f1\n" })
	w.begin()
	w.types("f", func(string) string { return "u1\n" })
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "u1\n", "refused, there is %q")
}

// What the user has removed unsaved when a turn begins is back when they close the buffer in it, and theirs.
func TestGivenUpInTheTurnAfter(t *testing.T) {
	t.Parallel()
	for _, looks := range []bool{true, false} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.begin()
		w.clientWrites("f", "f1\nf2\nf3\n", "a1\nf1\nf2\nf3\n")
		w.end()
		w.types("f", func(string) string { return "a1\nf1\nf2\n" })
		w.begin()
		if looks {
			w.sync()
		}
		w.wipe("f")
		w.end()
		check.Equal(t, w.changes(), "modified f -0,0+1,1\n", "looked at %v, there is listed %q", looks)
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", "looked at %v, refused there is %q", looks)
	}
}

// The user closes a buffer with unsaved text under which the agent has written, and undoes the turn before anybody has told
// that it is closed.
func TestClosedRightBeforeAnUndo(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\nf4\nf5\n")
		before := w.tree()
		w.edit("f")
		w.begin()
		w.types("f", func(string) string { return "f1\nf2\nf3\nf4\nu1\nf5\n" })
		w.write("f", "a1\nf2\nf3\na2\na3\n")
		w.sees("f")
		w.sync()
		if !running {
			w.end()
		}
		tell := w.closes("f")
		if running {
			w.end()
		}
		w.must(w.undo(false))
		check.Equal(t, w.tree(), before, "closed in the turn %v: undone there is %s", running)
		tell()
		w.sync()
		check.Equal(t, w.changes(), "", "closed in the turn %v: then there is listed %q", running)
	}
}

// The user gives up text with which nothing could be merged, in the turn after the one in which the agent had written under
// it, and the watch tells of that as of a change from what the buffer had last been in step with.
func TestGivenUpInALaterTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.types("f", func(string) string { return "f1\nf2\nf3\nu1\n" })
	w.begin()
	w.write("f", "a1\na2\na3\na4\n")
	was, disk := "f1\nf2\nf3\n", "a1\na2\na3\na4\n"
	told := buffers.Written{
		Path: w.path("f"), Buf: 1, Unsaved: true, Conflict: true, Behind: &was, Disk: &disk, FormBefore: plain, FormAfter: plain,
		At: changedAt(w.path("f")), ReadAt: time.Now(),
	}
	w.ledger.Took(told, "disk", false)
	w.disk.Lock()
	w.bufs[w.path("f")].synced = disk
	w.disk.Unlock()
	w.end()
	w.begin()
	w.disk.Lock()
	w.bufs[w.path("f")].text = disk
	w.disk.Unlock()
	told.Unsaved, told.Conflict, told.Behind, told.Changed, told.Before, told.After = false, false, nil, true, &was, &disk
	w.ledger.Took(told, "disk", false)
	w.rereads("f")
	w.end()
	check.Equal(t, w.changes(), "modified f -1,3+1,4\n", "the record has %q")
	w.must(w.undo(false))
	check.Equal(t, w.sees("f"), was, "undone, there is %q")
}

// The agent removes a line in one turn that the user had taken out of the buffer before, and writes another one in the next:
// once what is not saved is given up, each turn is undone by itself.
func TestTheFirstOfTwoTurnsIsUndoneAfterUnsavedTextIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.types("f", func(string) string { return "u1\nf3\nu2\n" })
	w.begin()
	w.write("f", "f2\nf3\n")
	w.sees("f")
	w.end()
	w.begin()
	w.write("f", "f2\na1\nf3\n")
	w.sees("f")
	w.end()
	w.wipe("f")
	for _, want := range []string{"f2\nf3\n", "f1\nf2\nf3\n"} {
		w.must(w.undo(false))
		check.Equal(t, w.sees("f"), want, "undone, there is %q")
	}
}

// The user types over lines of the agent's, and gives that up after the next turn: undone, that leaves what the first one had
// written.
func TestTheSecondOfTwoTurnsIsUndoneAfterUnsavedTextIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\nf4\n")
	w.edit("f")
	w.begin()
	w.write("f", "a1\na2\na1\nf4\n")
	w.sees("f")
	w.end()
	w.types("f", func(string) string { return "u1\na1\nf4\n" })
	w.changes() // looks at it
	w.begin()
	w.write("f", "a1\na2\na2\n")
	w.sees("f")
	w.end()
	w.rereads("f")
	for _, want := range []string{"a1\na2\na1\nf4\n", "f1\nf2\nf3\nf4\n"} {
		w.must(w.undo(false))
		check.Equal(t, w.sees("f"), want, "undone, there is %q")
	}
}

// The user saves text that conflicts with the agent's, of which nobody is told, and the agent goes on from there.
func TestSavedUnheardUnderAConflict(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.types("f", func(string) string { return "u1\nf2\nf3\n" })
		w.begin()
		w.write("f", "a1\nf2\nf3\n")
		w.call(session.KindEdit, func() {}, "f")
		w.disk.Lock()
		b := w.bufs[w.path("f")]
		b.synced, b.told = b.text, b.text
		w.disk.Unlock()
		w.write("f", "u1\nf2\na2\nf3\n")
		w.sees("f")
		w.sync()
		if closed {
			w.wipe("f")
		}
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.sees("f"), "u1\nf2\nf3\n", "closed %v: there is %q", closed)
		check.Equal(t, w.onDisk("f"), "u1\nf2\nf3\n", "closed %v: the disk has %q", closed)
	}
}

// The user opens a file right after the turn, and types, before anybody has told of that: what is listed is what they see.
func TestOpenedRightAfterTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.write("f", "f1\na1\n")
	w.end()
	w.disk.Lock()
	w.bufs[w.path("f")] = &buffer{text: "u1\nf1\na1\n", form: plain, synced: "f1\na1\n", told: "f1\na1\n"}
	w.disk.Unlock()
	check.Equal(t, w.changes(), "modified f -2,0+3,1\n", "there is listed %q")
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new("f1\na1\n"), Form: plain, Since: changedAt(w.path("f"))})
	w.sync()
}

// The user saves a file without a line, which the agent removes before anybody has told of that.
func TestSavedEmptyAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.write("f", "")
	w.disk.Lock()
	b := w.bufs[w.path("f")]
	b.text, b.synced, b.told = "", "", ""
	w.disk.Unlock()
	w.remove("f")
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Saved: true, Text: new(string), Form: plain})
	w.end()
	check.Equal(t, w.changes(), "deleted f\n", "there is listed %q")
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 ""`, "undone, there is %s")
}

// What the user brings back in the buffer of a file that the agent has changed and taken away comes back to the disk too: it was
// there.
func TestBroughtBackWhereTheFileWasTakenAway(t *testing.T) {
	t.Parallel()
	for _, take := range []string{"rm f", "mv f g"} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\nf2\nf3\n")
			w.edit("f")
			w.begin()
			w.clientWrites("f", "f1\nf2\nf3\n", "f1\nf3\na1\n")
			w.sh(take)
			w.follow(w.path("f"), true)
			w.types("f", func(string) string { return "f1\nf2\nf3\n" })
			w.end()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", "%s, undo %v: the disk has %q", take, undo)
		}
	}
}

// A hunk that is refused under unsaved text stays refused where all is killed, also if the agent has changed the file's
// permissions under that text.
func TestRefusedUnderUnsavedTextAfterAChangeOfPermissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n=\nu1\n")
	w.named()
	w.edit("f")
	w.begin()
	w.write("f", "a1\n=\nu1\n")
	w.sees("f")
	w.end()
	w.begin()
	w.types("f", func(string) string { return "a1\n=\n" })
	w.write("f", "a1\na2\n=\nu1\n")
	w.sees("f")
	w.call("edit", func() { w.chmod("f", 0o755) }, "f")
	w.decideFirst(review.Reject, "f")
	w.killed(false)
	if err := w.undo(false); !errors.Is(err, errNoTurn) {
		t.Errorf("undone: %v", err)
	}
	check.Equal(t, w.tree(), `f 644 "f1\n=\nu1\n"`, "there is %s")
}

// What is no text, written under unsaved text, is done again after an undo.
func TestNoTextUnderUnsavedTextIsDoneAgain(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.types("f", func(string) string { return "u1\n" })
	w.begin()
	w.write("f", "a\x00\n")
	w.sees("f")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "f1\n", "undone, the disk has %q")
	w.must(w.undo(true))
	check.Equal(t, w.onDisk("f"), "a\x00\n", "done again, the disk has %q")
}

// A file that the agent has made no text under unsaved text, and then removes, comes back: nobody has told what the buffer had.
func TestNoTextUnderUnsavedTextIsRemoved(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.types("f", func(now string) string { return now + "u1\n" })
	w.begin()
	disk, had := "a\x00\n", "f1\n"
	w.write("f", disk)
	w.bufs[w.path("f")].synced = disk
	w.ledger.Took(buffers.Written{Path: w.path("f"), Conflict: true, Disk: &disk, Behind: &had, FormBefore: plain, FormAfter: buffers.Form([]byte(disk)), Unsaved: true, ReadAt: time.Now()}, "disk", false)
	w.sync()
	w.remove("f")
	w.sees("f")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), had, "the disk has %q")
}

// Bytes that are not among the project's copies are made again under unsaved text.
func TestIgnoredBytesUnderUnsavedTextAreDoneAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sh("git init -q")
	w.write(".gitignore", "*.log\n")
	w.write("a.log", "f1\nf2\n")
	w.edit("a.log")
	w.begin()
	w.types("a.log", func(string) string { return "f1\nu2\n" })
	w.write("a.log", "a\x00\n")
	w.sees("a.log")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("a.log"), "f1\nf2\n", "undone, the disk has %q")
	w.must(w.undo(true))
	check.Equal(t, w.onDisk("a.log"), "a\x00\n", "done again, the disk has %q")
}

// A file that comes back where its buffer was closed meanwhile has nothing unsaved over it.
func TestARemovalOfWhatConflictsIsUndoneWithoutItsBuffer(t *testing.T) {
	t.Parallel()
	for name, gives := range map[string]func(w *world){
		"closed":         func(w *world) { w.wipe("f") },
		"as on the disk": func(w *world) { w.types("f", func(string) string { return "f1\na2\nf3\n" }) },
	} {
		w := inConflict(t)
		w.end()
		w.begin()
		w.remove("f")
		w.sees("f")
		w.end()
		gives(w)
		w.must(w.undo(false))
		check.Equal(t, w.onDisk("f"), "f1\na2\nf3\n", name+": undone, the disk has %q")
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", name+": refused, the disk has %q")
	}
}

// What is read anew after the agent's change was taken back on the disk, of which nobody has heard, is not the agent's.
func TestTakenBackOnTheDiskBeforeItIsReadAnew(t *testing.T) {
	t.Parallel()
	w := inConflict(t)
	w.end()
	const was = "f1\nf2\nf3\n"
	w.write("f", was)
	b := w.bufs[w.path("f")]
	b.text, b.synced, b.told = was, was, was
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new(was), Form: plain, Since: changedAt(w.path("f"))})
	w.sync()
	check.Equal(t, w.changes(), "", "the record has %q")
}

// What the agent has taken away under a changed line of its own comes back as it was on the disk before all of it.
func TestTakenAwayUnderAChangedLine(t *testing.T) {
	t.Parallel()
	for typed, users := range map[string]string{ // "" where a line is of both
		"f1\nf2\n": "f1\nf2\n", "f1\nf2\nu1\n": "f1\nf2\nu1\n", "f1\na1\nf2\nu1\n": "f1\nf2\nu1\n", "f1\na1x\nf2\n": "", "f2\na1\n": "",
	} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			w.edit("f")
			w.begin()
			w.write("f", "f1\na1\nf2\n")
			w.sees("f")
			w.types("f", func(string) string { return typed })
			w.changes()
			w.remove("f")
			w.sees("f")
			w.end()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.onDisk("f"), "f1\nf2\n", "%q undo %v: the disk has %q", typed, undo)
			check.Equal(t, w.sees("f"), cmp.Or(users, w.sees("f")), "%q undo %v: the buffer has %q", typed, undo)
		}
	}
}

// A removal under unsaved text is the agent's also when the buffer has given that up.
func TestGivenUpWhereTheFileWasRemoved(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{true, false} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.edit("f")
		w.begin()
		w.write("f", "f1\na1\nf2\n")
		w.sees("f")
		w.types("f", func(text string) string { return text + "u1\n" })
		w.changes()
		w.remove("f")
		w.sees("f")
		w.sync()
		if closed {
			w.wipe("f")
		} else {
			b := w.bufs[w.path("f")]
			b.text, b.synced, b.told = "", "", ""
			w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new(string), Form: plain})
		}
		w.sync()
		check.Equal(t, w.states(), "deleted f pending", "closed %v: the record has %q")
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), "f1\nf2\n", "the disk has %q")
	}
}

// A buffer in which the user has taken back what they had typed has nothing unsaved: what it had when that began is the past.
func TestTypedAndTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\n")
	w.sees("f")
	w.types("f", func(text string) string { return text + "u1\n" })
	w.changes() // looks at it
	w.types("f", func(text string) string { return strings.TrimSuffix(text, "u1\n") })
	w.changes()
	w.box(func() {
		if _, noted := w.ledger.inStep[w.path("f")]; noted {
			t.Error("something is taken for unsaved")
		}
	})
	w.end()
}

// A file that the agent makes again under unsaved text, where it had removed it in an earlier turn, was not there before that
// turn: whether the user gives that text up in it or afterwards, an undo leaves no file, and a refusal what there was at first.
func TestMadeAgainUnderWhatIsGivenUp(t *testing.T) {
	for _, first := range []string{"", "f1\n"} {
		for name, givesUp := range map[string]func(w *world){"closed": func(w *world) { w.wipe("f") }, "read anew": func(w *world) { w.rereads("f") }} {
			for _, during := range []bool{true, false} {
				for _, undo := range []bool{true, false} {
					w := newWorld(t)
					w.write("f", first)
					w.edit("f")
					w.begin()
					w.clientWrites("f", first, "a1\n")
					w.remove("f")
					w.sees("f")
					w.end()
					w.types("f", func(string) string { return "a1\nu1\n" })
					w.begin()
					w.call(session.KindEdit, func() { w.write("f", "a5\na6\n") }, "f")
					if during {
						givesUp(w)
					}
					w.end()
					if !during {
						givesUp(w)
					}
					after, want := w.tree(), ""
					if undo {
						w.must(w.undo(false))
					} else {
						w.decide(review.Reject, "")
						want = fmt.Sprintf("f 644 %q", first)
					}
					check.Equal(t, w.tree(), want, "%q, %s in the turn %v, undo %v: there is %s", first, name, during, undo)
					if undo {
						w.must(w.undo(true))
						check.Equal(t, w.tree(), after, "%q, %s in the turn %v, done again: there is %s", first, name, during)
					}
				}
			}
		}
	}
}

// A file that the agent removes, which the user keeps, and that it makes again under unsaved text in the same turn is there
// again where that turn is undone, with what it was when the turn began. A refusal leaves what they kept.
func TestMadeAgainAfterAKeptRemoval(t *testing.T) {
	for _, changed := range []bool{false, true} { // by the agent before
		for _, givesUp := range []func(*world){func(*world) {}, func(w *world) { w.wipe("f") }, func(w *world) { w.rereads("f") }} {
			for _, undo := range []bool{true, false} {
				w := newWorld(t)
				w.write("f", "f1\n")
				w.edit("f")
				w.begin()
				if changed {
					w.clientWrites("f", "f1\n", "f1\na1\n")
				}
				w.remove("f")
				w.sees("f")
				w.decide(review.Keep, "f")
				w.types("f", func(string) string { return "u1\n" })
				w.write("f", "a5\n")
				w.sees("f")
				givesUp(w)
				w.end()
				after := w.tree()
				if !undo {
					w.decide(review.Reject, "")
					check.Equal(t, w.tree(), "", "changed %v: refused there is %s", changed)
					continue
				}
				w.must(w.undo(false))
				check.Equal(t, w.tree(), `f 644 "f1\n"`, "changed %v: undone there is %s", changed)
				w.must(w.undo(true))
				check.Equal(t, w.tree(), after, "changed %v: done again there is %s", changed)
			}
		}
	}
}
