package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// What the disk has of the agent's, and a buffer has not as it conflicts with what is unsaved there, is the agent's from
// the moment on that the buffer has it too: in the turn in which it was written.
func TestTheBufferComesToWhatConflicted(t *testing.T) {
	const was, agents = "f1\nf2\nf3\n", "f1\na2\nf3\n"
	users := func(text string) string { return strings.Replace(text, "f2", "u2", 1) }
	start := func(t *testing.T) *world {
		w := newWorld(t)
		w.write("f", was)
		w.write("g", "g1\n")
		w.edit("f")
		w.types("f", users)
		return w
	}
	writes := func(w *world, text string) {
		w.begin()
		w.write("f", text)
		check.Equal(w.t, w.sees("f"), users(was), "the buffer has %q")
		w.end()
	}
	agrees := func(w *world, when, want string) {
		w.t.Helper()
		w.sync()
		check.Equal(w.t, w.changes(), want, "%s listed is %q", when)
	}
	const one = "modified f -2,1+2,1\n"

	for name, gives := range map[string]func(w *world){
		"read anew": func(w *world) { w.rereads("f") },
		"closed":    func(w *world) { w.wipe("f") },
		"undone": func(w *world) {
			b := w.bufs[w.path("f")]
			b.text = b.synced
			w.ledger.UserChanged(buffers.Written{
				Path: w.path("f"), Buf: 1, Changed: true, Before: new(was), After: &b.text, Disk: &b.text, FormBefore: plain, FormAfter: plain,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			writes(w, agents)
			agrees(w, "while it conflicts", "")
			gives(w)
			agrees(w, "then", one)
			if err := w.undo(false); err != nil {
				t.Error(err)
			}
			w.is("undone", w.tree(), true)
			check.Equal(t, w.sees("f"), was, "undone, there is %q")
			if err := w.undo(true); err != nil {
				t.Error(err)
			}
			agrees(w, "done again", one)
			w.decide(review.Reject, "")
			check.Equal(t, w.sees("f"), was, "refused, there is %q")
		})
	}

	t.Run("in two turns", func(t *testing.T) {
		w := start(t)
		writes(w, agents)
		writes(w, "f1\nb2\nf3\n")
		w.rereads("f")
		agrees(w, "read anew", one)
		if err := w.undo(false); err != nil {
			t.Error(err)
		}
		check.Equal(t, w.sees("f"), agents, "with one turn undone there is %q")
		if err := w.undo(false); err != nil {
			t.Error(err)
		}
		check.Equal(t, w.sees("f"), was, "with both undone there is %q")
	})

	t.Run("beside what the buffer has", func(t *testing.T) {
		w := start(t)
		w.begin()
		w.write("f", was+"a4\n")
		check.Equal(t, w.sees("f"), users(was)+"a4\n", "the buffer has %q")
		w.write("f", agents+"a4\n")
		w.sees("f")
		w.end()
		agrees(w, "while it conflicts", "modified f -3,0+4,1\n")
		w.rereads("f")
		agrees(w, "read anew", "modified f -2,1+2,1 -3,0+4,1\n")
		w.decide(review.Keep, "")
		w.types("f", func(text string) string { return text + "u5\n" })
		w.rereads("f")
		agrees(w, "kept, and read again", "modified f -2,1+2,1 -3,0+4,1 kept\n")
	})

	t.Run("the user's stays", func(t *testing.T) {
		w := start(t)
		writes(w, agents)
		w.saves("f")
		w.rereads("f")
		agrees(w, "saved", "")
		w.write("f", was) // as the disk was before the agent
		w.saved("f")
		w.sync()
		agrees(w, "and written", "")
	})

	for _, path := range []string{"", "f"} {
		t.Run("the user refuses all of "+path, func(t *testing.T) {
			w := start(t)
			writes(w, agents)
			w.decide(review.Reject, path)
			if data, err := os.ReadFile(w.path("f")); string(data) != was {
				t.Errorf("the disk has %q, %v", data, err)
			}
			agrees(w, "refused", "")
			w.rereads("f")
			agrees(w, "and read again", "")
		})
	}

	t.Run("the agent has taken it back", func(t *testing.T) {
		w := start(t)
		writes(w, agents)
		w.begin()
		w.write("f", was)
		w.sees("f")
		w.end()
		w.rereads("f")
		agrees(w, "read anew", "")
	})

	t.Run("of a turn that was undone", func(t *testing.T) {
		w := start(t)
		w.begin()
		w.write("f", agents)
		w.sees("f")
		w.write("g", "g1\na\n")
		w.end()
		if err := w.undo(false); err != nil {
			t.Error(err)
		}
		if data, err := os.ReadFile(w.path("f")); string(data) != was {
			t.Errorf("the disk has %q, %v", data, err)
		}
		w.rereads("f")
		agrees(w, "read anew", "")
		if err := w.undo(true); err != nil {
			t.Error(err)
		}
		agrees(w, "done again", "modified f -2,1+2,1\nmodified g -1,0+2,1\n")
		if err := w.undo(false); err != nil {
			t.Error(err)
		}
		agrees(w, "undone again", "")
	})

	t.Run("undone, and done again, while it conflicts", func(t *testing.T) {
		w := start(t)
		writes(w, agents)
		has := func(when, disk string, conflicts int) {
			t.Helper()
			left := make(chan int, 1)
			w.ledger.Then(func() { left <- len(w.ledger.underIn("")) })
			if data, err := os.ReadFile(w.path("f")); string(data) != disk || err != nil || <-left != conflicts {
				t.Errorf("%s, the disk has %q, %v", when, data, err)
			}
		}
		has("written", agents, 1)
		w.must(w.undo(false))
		has("undone", was, 0)
		w.must(w.undo(true))
		has("done again", agents, 1)
		w.decide(review.Reject, "")
		has("refused", was, 0)
	})
}

// What the agent makes where it has removed a file, or where a buffer has a text that was never saved, conflicts with
// that text too: refused, the disk has what it had before.
func TestAFileMadeAnewUnderUnsavedTextIsRefused(t *testing.T) {
	const was, agents = "f1\nf2\n", "a1\na2\n"
	for _, turns := range []int{1, 2} {
		w := newWorld(t)
		w.write("f", was)
		w.edit("f")
		w.types("f", func(text string) string { return "u\n" + text })
		w.begin()
		w.remove("f")
		w.follow(w.path("f"), true)
		if turns == 2 {
			w.end()
			w.begin()
		}
		w.clientWrites("f", was, agents)
		w.end()
		w.decide(review.Reject, "")
		if data, err := os.ReadFile(w.path("f")); string(data) != was {
			t.Errorf("in %d turns: the disk has %q, %v", turns, data, err)
		}
		check.Equal(t, w.sees("f"), "u\n"+was, "in %d turns: the buffer has %q", turns)
	}
}

// What an undo brings back beside what the user has typed in its place leaves nothing to decide.
func TestAnUndoBesideTypingLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.write("f", "1\n2\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "1\n2\n", "")
	w.end()
	w.types("f", func(string) string { return "\nu\n" })
	if err := w.undo(false); err != nil {
		t.Error(err)
	}
	check.Equal(t, w.changes(), "", "listed is %q")
	check.Equal(t, w.sees("f"), "1\n2\n\nu\n", "the buffer has %q")
}

// A file that is no text gets its bytes back under a buffer with unsaved text.
func TestWhatIsNoTextComesBackUnderUnsavedText(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "\x00f1\n")
		was := w.tree()
		w.edit("f")
		w.types("f", func(string) string { return "u1\n" })
		w.begin()
		w.write("f", "a1\n")
		w.end()
		if undo {
			w.must(w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), was, "with undo %v the disk has %s", undo)
		check.Contains(t, w.sees("f"), "u1\n", "with undo %v the buffer has %q", undo)
		if !undo {
			continue
		}
		w.must(w.undo(true))
		check.Equal(t, w.tree(), `f 644 "a1\n"`, "done again, the disk has %s")
	}
}

// A file that the agent has moved away, and makes anew under unsaved text, has the user's lines and those that it had.
func TestMadeAnewWhereItWasMovedAwayUnderUnsavedText(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\nf2\nf3\n", "f1\na1\nf3\n")
	w.move("f", "g")
	w.end()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.begin()
	w.clientWrites("f", "f1\na1\nf3\n", "a2\nf1\na1\nf3\n")
	w.saves("f")
	w.end()
	w.decide(review.Reject, "")
	if got := w.tree(); got != `f 644 "f1\nf2\nf3\nu1\n"` {
		t.Errorf("there is\n%s\nthe record has\n%s", got, w.changes())
	}
}

// Where the user gives up text that conflicts with a file which the agent has removed and made anew, what was there before
// comes back.
func TestUnsavedTextIsGivenUpWhereTheFileWasMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "")
	w.edit("f")
	w.types("f", func(string) string { return "u1\n" })
	w.begin()
	w.remove("f")
	w.sees("f")
	w.write("f", "a1\n")
	w.sees("f")
	w.wipe("f")
	w.write("f", "u1\na2\n")
	w.end()
	w.decide(review.Reject, "")
	if got := w.tree(); got != `f 644 ""` {
		t.Errorf("there is\n%s\nthe record has\n%s", got, w.changes())
	}
}

// A move of a file that is done again has the file as the agent had left it, whatever the user has typed and not saved
// where that conflicts with it.
func TestAMoveUnderUnsavedTextIsDoneAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.types("f", func(string) string { return "f1\nu1\n" })
	w.begin()
	w.write("f", "f1\n")
	w.sees("f")
	w.move("f", "g")
	w.end()
	for _, again := range []bool{false, true} {
		w.must(w.undo(again))
		want := map[bool]string{false: `f 644 "f1\nf2\n"`, true: `g 644 "f1\n"`}[again]
		check.Equal(t, w.tree(), want, "with again %v there is %s", again)
		check.Equal(t, w.sees("f"), "f1\nu1\n", "with again %v the buffer has %q", again)
	}
}

// A file that the agent has moved away and emptied is empty again after undo and redo, also beside unsaved text.
func TestAMoveOfAnEmptiedFileIsDoneAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\ufefff1\n")
	w.edit("f")
	w.begin()
	w.move("f", "g")
	w.types("f", func(text string) string { return text + "u1\n" })
	w.write("g", "")
	w.end()
	after := w.tree()
	w.must(w.undo(false))
	w.must(w.undo(true))
	check.Equal(t, w.tree(), after, "there is %s")
}

// What is refused or undone goes from the disk as the agent has put it there, whatever the user has made of it in the
// buffer.
func TestWhatIsRefusedGoesFromTheDiskToo(t *testing.T) {
	t.Parallel()
	const was, agents = "f3\nf4\nf5\nf6\nf7\n", "f3\nf4\na5\nf6\nf7\n"
	for _, c := range []struct{ types, adds, buffer string }{
		{"f3\nf7\n", "", "f3\nf5\nf7\n"},                 // nothing in the buffer says where f5 belongs
		{"f3\nf4\nf6\nf7\n", "", "f3\nf4\nf5\nf6\nf7\n"}, // all that is left in the buffer is that a line is missing
		{was, "", was},                       // there is nothing of the agent's in the buffer
		{"f3\nf7\n", "a8\n", "f3\nf5\nf7\n"}, // and then there is
	} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", was)
			w.edit("f")
			w.begin()
			w.clientWrites("f", was, agents)
			w.types("f", func(string) string { return c.types })
			w.changes() // looks at it
			if c.adds != "" {
				w.clientWrites("f", agents, agents+c.adds)
			}
			w.end()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			if data, err := os.ReadFile(w.path("f")); string(data) != was {
				t.Errorf("undo %v: where the buffer had %q and got %q the disk has %q, %v", undo, c.types, c.adds, data, err)
			}
			check.Equal(t, w.sees("f"), c.buffer, "the buffer has %q")
			w.rereads("f")
			if got := w.changes(); got != "" && !strings.HasSuffix(got, " rejected\n") {
				t.Errorf("undo %v: read again, listed is %q", undo, got)
			}
		}
	}
}

// Where one hunk is decided about, the rest of what the disk has of the agent's is the agent's still when the buffer is read
// again, whatever the user had made of it without saving.
func TestAPartThatIsDecidedBesideUnsavedText(t *testing.T) {
	t.Parallel()
	const was, instead, below = "f1\nf2\nf3\nf4\n", "a1\nf2\nf3\na4\n", "f1\na1\nf2\nf3\nf4\na4\n"
	for _, c := range []struct {
		agents, types string
		do            review.Decision
		hunk          int
		left          string
	}{
		{instead, "a1\nu2\nf3\nu4\n", review.Reject, 0, was},
		{instead, "a1\nu2\nf3\nu4\n", review.Reject, 1, was},
		{instead, "f2\na4\n", review.Reject, 1, was},
		{instead, "f2\na4\n", review.Reject, 0, was},
		{instead, "f1\nf2\nf3\na4\n", review.Keep, 0, "a1\nf2\nf3\nf4\n"}, // which the user had taken out
		{below, "u1\nf2\nf3\nf4\na4\n", review.Keep, 0, was + "a4\n"},
	} {
		w := newWorld(t)
		w.write("f", was)
		w.edit("f")
		w.begin()
		w.clientWrites("f", was, c.agents)
		w.end()
		w.types("f", func(string) string { return c.types })
		w.changes() // looks at it
		done := make(chan error)
		w.ledger.Decide(Decision{Do: c.do, Path: w.path("f"), Which: func(f review.File) review.Selection {
			return review.Selection{Hunks: []int{c.hunk}}
		}}, func(_ int, err error) { done <- err })
		w.must(<-done)
		w.rereads("f")
		w.decide(review.Reject, "")
		check.Equal(t, w.sees("f"), c.left, "of %q hunk %d got %s, then all was refused: there is %q", c.types, c.hunk, c.do)
	}
}

// A hunk that was decided about stays so where the agent had written it under unsaved text, and that is given up.
func TestAPartThatCameUnderUnsavedText(t *testing.T) {
	t.Parallel()
	for do, left := range map[review.Decision]string{review.Reject: "f1\nf2\nf3\nf4\n", review.Keep: "a1\nf2\nf3\nf4\n"} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\nf4\n")
		w.edit("f")
		w.begin()
		w.types("f", func(string) string { return "f1\nf2\nu1\nf3\nf4\n" })
		w.write("f", "a1\nf2\nf3\na4\n")
		w.sees("f")
		w.decideFirst(do, "f")
		w.rereads("f")
		w.end()
		var pending []review.Hunk
		for _, h := range w.files()[0].Hunks {
			if h.State == review.Pending {
				pending = append(pending, h)
			}
		}
		check.Slice(t, pending, []review.Hunk{{OldStart: 4, OldCount: 1, NewStart: 4, NewCount: 1, State: review.Pending}}, "pending are %v")
		w.decide(review.Reject, "")
		check.Equal(t, w.sees("f"), left, "after %s, then all is refused: there is %q", do)
	}
}

// What was kept of the disk under unsaved text stays when the rest is refused and when the buffer is read again, and is
// undone with its turn.
func TestWhatIsKeptUnderUnsavedText(t *testing.T) {
	t.Parallel()
	const was, is = "f1\nf2\nf3\n", "f1\na2\nf3\na4\n"
	for name, c := range map[string]struct {
		do   func(w *world)
		left string
	}{
		"refused": {func(w *world) { w.decide(review.Reject, "") }, is},
		"read again": {func(w *world) {
			w.rereads("f")
			w.decide(review.Reject, "")
		}, is},
		"undone": {func(w *world) { w.must(w.undo(false)) }, was},
	} {
		w := newWorld(t)
		w.write("f", was)
		w.edit("f")
		w.begin()
		w.types("f", func(string) string { return "f1\nu2\nf3\n" })
		w.write("f", is)
		w.sees("f")
		w.end()
		w.decide(review.Keep, "f")
		c.do(w)
		data, err := os.ReadFile(w.path("f"))
		w.must(err)
		check.Equal(t, string(data), c.left, "%s: the disk has %q", name)
	}
}

// A refusal under unsaved text that fails can be tried again.
func TestARefusalUnderUnsavedTextFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\nf4\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "u0\nf2\nf3\nf4\n" })
	w.write("f", "a1\nf2\nf3\nf4\na4\n")
	w.sees("f")
	w.end()
	tries := 0
	w.disk.Lock()
	w.meanwhile = func(what, _ string) {
		if what == "edit" {
			tries++
			w.types("f", func(now string) string { return fmt.Sprint("u", tries, "\n", now) })
		}
	}
	w.disk.Unlock()
	if _, err := w.refuse(nil); !errors.Is(err, errMovedOn) {
		t.Errorf("the refusal says %v", err)
	}
	w.disk.Lock()
	w.meanwhile = nil
	w.disk.Unlock()
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\nf4\n", "the disk has %q")
	if got := w.sees("f"); !strings.HasSuffix(got, "u0\nf2\nf3\nf4\n") {
		t.Errorf("there is %q", got)
	}
	w.rereads("f")
	if w.pending() {
		t.Errorf("the record has %s", w.changes())
	}
}

// A change that conflicts with unsaved text is undone with its own turn.
func TestTurnsUnderUnsavedTextAreUndoneOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.types("f", func(string) string { return "f1\nu2\nf3\n" })
	for _, text := range []string{"f1\na2\nf3\n", "f1\nb2\nf3\n"} {
		w.begin()
		w.write("f", text)
		w.sees("f")
		w.end()
	}
	for _, want := range []string{"f1\na2\nf3\n", "f1\nf2\nf3\n"} {
		w.must(w.undo(false))
		check.Equal(t, w.onDisk("f"), want, "the disk has %q")
		check.Equal(t, w.sees("f"), "f1\nu2\nf3\n", "the buffer has %q")
	}
}

// acceptedUnder has the agent write a file through its client under a buffer's unsaved text, which the user has accepted.
func (w *world) acceptedUnder(name, disk string, created bool) {
	path := w.path(name)
	w.disk.Lock()
	b := w.bufs[path]
	done := buffers.Written{Path: path, Buf: 1, Changed: true, Created: created, Unsaved: true, Conflict: true, Before: new(b.text), After: new(b.text), Disk: &disk, Behind: new(b.synced), FormBefore: plain, FormAfter: plain}
	b.synced, b.gone = disk, false
	w.disk.Unlock()
	w.write(name, disk)
	w.ledger.Took(done, "fs", true)
}

// What the user has accepted stays on the disk under unsaved text that conflicts with it, when all else is refused.
func TestAcceptedUnderUnsavedTextStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(w *world)
		left string
	}{
		"alone":     {func(w *world) { w.acceptedUnder("f", "f1\na2\nf3\n", false) }, "f1\na2\nf3\n"},
		"with more": {func(w *world) { w.acceptedUnder("f", "f1\na2\nf3\n", false); w.write("f", "f1\na2\nf3\nb4\n") }, "f1\na2\nf3\n"},
		"after more": {func(w *world) {
			w.write("f", "f1\nf2\nf3\nb4\n")
			w.sees("f")
			w.acceptedUnder("f", "f1\na2\nf3\nb4\n", false)
		}, "f1\na2\nf3\n"},
		"where it was removed": {func(w *world) { w.remove("f"); w.sees("f"); w.acceptedUnder("f", "a1\n", true) }, "a1\n"},
	} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.types("f", func(string) string { return "f1\nu2\nf3\n" })
		w.begin()
		c.do(w)
		w.sees("f")
		w.end()
		if _, err := w.refuse(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		check.Equal(t, w.onDisk("f"), c.left, "%s: the disk has %q", name)
	}
}

// What a refusal gives the disk, where that may have changed meanwhile.
func TestWhatARefusalGivesTheDisk(t *testing.T) {
	t.Parallel()
	r := refusal{now: review.Text("f1\na1\n"), want: review.Text("f1\n")}
	for disk, want := range map[string]string{"f1\na1\n": "f1\n", "f1\na1": "f1", "f1\n": "f1\n", "f1": "f1", "f1\nu1\n": "nothing"} {
		got := "nothing"
		if is := r.of(disk, ""); is != nil {
			got = *is
		}
		check.Equal(t, got, want, "of %q it is %q", disk)
	}
}

// A part that the user has decided about stays so where something else conflicts with what is not saved, when that is given
// up, when the rest is refused, and when the turn is undone.
func TestAPartThatIsDecidedBesideAConflict(t *testing.T) {
	t.Parallel()
	for do, part := range map[review.Decision]string{review.Keep: "a5", review.Reject: "f5"} {
		for _, rereads := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\nf2\nf3\nf4\nf5\n")
			w.edit("f")
			w.types("f", func(string) string { return "f1\nu2\nf3\nf4\nf5\n" })
			w.begin()
			w.write("f", "f1\na2\nf3\nf4\na5\n")
			w.sees("f")
			w.end()
			w.decideFirst(do, "f")
			if rereads {
				w.rereads("f")
				w.decide(review.Reject, "")
				check.Equal(t, w.sees("f"), "f1\nf2\nf3\nf4\n"+part+"\n", "all else refused there is %q")
				continue
			}
			w.decide(review.Reject, "")
			check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\nf4\n"+part+"\n", "all else refused the disk has %q")
			if do == review.Keep {
				w.must(w.undo(false))
				check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\nf4\nf5\n", "undone, the disk has %q")
			}
		}
	}
}

// All that came under unsaved text is refused, also where the file was made anew in between, but for what the user had
// accepted.
func TestMadeAnewAndChangedUnderUnsavedText(t *testing.T) {
	t.Parallel()
	for left, do := range map[string]func(w *world){
		"f1\n":     func(w *world) { w.write("f", "a2\n") },
		"f1\na2\n": func(w *world) { w.acceptedUnder("f", "a1\na2\n", false) },
	} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.types("f", func(string) string { return "u1\n" })
		w.begin()
		w.remove("f")
		w.sees("f")
		w.write("f", "a1\n")
		w.sees("f")
		w.end()
		w.begin()
		do(w)
		w.sees("f")
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), left, "the disk has %q")
	}
}

// What was refused in the running turn is no change of it when the buffer that lacked it is gone, which was not told yet.
func TestRefusedUnderABufferThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feigned = true
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\n")
	w.sees("f")
	w.types("f", func(string) string { return "f1\nu1\n" })
	w.changes() // looks at it
	w.decide(review.Reject, "")
	delete(w.bufs, w.path("f"))
	w.end()
	check.Equal(t, w.changes(), "", "the record has %q")
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// The lines that two contents have in common; of what is no text that is not known.
func TestCommonLines(t *testing.T) {
	t.Parallel()
	text, none := review.Text("f1\nf2\n"), review.Content{}
	for _, c := range []struct{ is, other, want review.Content }{
		{text, review.Text("f2\nf3\n"), review.Text("f2\n")},
		{review.Text("f2\n"), text, review.Text("f2\n")},
		{text, review.Text(""), review.Text("")},
		{none, text, none},
		{text, review.Opaque("f1\n"), text},
		{review.Opaque("x"), text, review.Opaque("x")},
	} {
		check.Equal(t, common(c.is, c.other), c.want, "it is %+v")
	}
}

// What was kept of the disk under unsaved text is undone with its turn, also what the user had taken out of the buffer.
func TestKeptUnderUnsavedTextAndUndone(t *testing.T) {
	t.Parallel()
	const was = "f1\nf2\nf3\nf4\n"
	drop := func(line string) func(string) string {
		return func(text string) string { return strings.Replace(text, line, "", 1) }
	}
	for name, c := range map[string]struct {
		first string
		types func(string) string
		then  string
	}{
		"a line taken out":    {was + "a5\n", drop("a5\n"), "f1\na1\nf2\nf3\nf4\na5\n"},
		"in a file cut short": {was + "a5\n", drop("a5\n"), ""},
		"a conflict":          {"f1\nf2\nf3\n", drop("f2\n"), "f1\na2\nf3\n"},
		"one line more":       {was, func(text string) string { return text + "u5\n" }, was + "a5\n"},
	} {
		for _, which := range []string{"f", ""} {
			w := newWorld(t)
			w.write("f", was)
			w.edit("f")
			w.begin()
			w.write("f", c.first)
			w.types("f", c.types)
			w.write("f", c.then)
			w.sees("f")
			w.end()
			w.decide(review.Keep, which)
			w.ledger.Decide(Decision{Do: review.Reject}, func(int, error) {}) // nothing is left to refuse
			w.sync()
			check.Equal(t, w.onDisk("f"), c.then, "%s: kept, the disk has %q", name)
			w.must(w.undo(false))
			check.Equal(t, w.onDisk("f"), was, "%s: undone, the disk has %q", name)
		}
	}
}

// A hunk that was kept is kept on the disk under unsaved text too, also where that has its lines otherwise, and is undone
// with its turn. What the buffer lacks is not kept.
func TestAHunkKeptUnderUnsavedTextAndUndone(t *testing.T) {
	t.Parallel()
	const was = "f1\nf2\nf3\nf4\n"
	for name, c := range map[string]struct{ agents, users, refused string }{
		"a line changed":   {"f1\nf2\nagents\nf3\nf4\n", "f1\nf2\nagentsx\nf3\nf4\nu5\n", "f1\nf2\nagents\nf3\nf4\n"},
		"a line taken out": {"agents\n", "", ""},
		"in two places":    {"f1\nf2\nf4\nagents\n", "f1\nf2\nagents\n", "f1\nf2\nf4\nagents\n"},
		"a line put back":  {"f1\nf2\na1\nb2\nf4\n", "f1\nf2\na1\nf3\nf4\n", "f1\nf2\na1\nf3\nf4\n"},
	} {
		w := newWorld(t)
		w.write("f", was)
		w.edit("f")
		w.begin()
		w.write("f", c.agents)
		w.sees("f")
		w.types("f", func(string) string { return c.users })
		w.end()
		w.decideFirst(review.Keep, "f")
		check.Equal(t, w.onDisk("f"), c.agents, "%s: kept, the disk has %q", name)
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), c.refused, "%s: with the rest refused the disk has %q", name)
		w.must(w.undo(false))
		check.Equal(t, w.onDisk("f"), was, "%s: undone, the disk has %q", name)
	}
}

// A hunk that is refused comes back on the disk where it was there, among lines that the user has taken out of the buffer
// without saving, and an undo of its turn does not bring it back again.
func TestAHunkRefusedUnderUnsavedTextAndUndone(t *testing.T) {
	t.Parallel()
	const was = "f1\nf2\nf3\nf4\n"
	for name, c := range map[string]struct{ agents, users, refused, undone string }{
		"the last line":   {"f1\nf2\na1\nf3\n", "f1\nf2\na1\n", was, "f1\nf2\nf4\n"},
		"in two places":   {"f1\na1\nf2\na2\nf4\n", "f1\na1\na2\nf4\n", was, "f1\nf3\nf4\n"},
		"and other lines": {"a1\nf2\na2\nf3\n", "a1\nf2\na2\n", "f1\nf2\na2\nf3\n", "f1\nf2\nf4\n"},
	} {
		w := newWorld(t)
		w.write("f", was)
		w.edit("f")
		w.begin()
		w.write("f", c.agents)
		w.sees("f")
		w.types("f", func(string) string { return c.users })
		w.end()
		w.decideFirst(review.Reject, "f")
		check.Equal(t, w.onDisk("f"), c.refused, "%s: refused, the disk has %q", name)
		w.ledger.Undo(false, false, "", func(int, int) bool { return true }, func(*turns.Turn, []turns.Step, error) {})
		w.sync()
		check.Equal(t, w.onDisk("f"), was, "%s: undone, the disk has %q", name)
		check.Equal(t, w.bufs[w.path("f")].text, c.undone, "%s: undone, the buffer has %q", name)
	}
}

// What the user has taken out of a buffer without saving is undone with its turn where all else of it was refused.
func TestLeftUnderUnsavedTextAndUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\nf2\nf3\na4\n")
	w.types("f", func(string) string { return "f1\nf2\nf3\n" })
	w.write("f", "a1\nf1\nf2\nf3\na4\n")
	w.sees("f")
	w.end()
	w.decideFirst(review.Reject, "f")
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\na4\n", "the disk has %q")
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", "undone, the disk has %q")
	w.must(w.undo(true))
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\na4\n", "done again, the disk has %q")
}

// Where the user and the agent have removed the same lines, or added the same, beside something else that is not saved,
// the disk gets back what it had, and the buffer keeps what the user has.
func TestBothHaveChangedAlike(t *testing.T) {
	for name, c := range map[string]struct{ users, agents string }{
		"removed":                     {"u1 f1 f2", "f1 a1 f2"},
		"removed, the user more":      {"u1 f1", "f1 a1 f2"},
		"removed, the agent more":     {"u1 f1 f2", "a1 f2"},
		"added alike":                 {"f1 both f2 f3 u1", "f1 both f2 a1 f3"},
		"replaced, which is the same": {"u1 f1 both f3", "f1 both f3 a1"},
		"replaced, which conflicts":   {"u1 f1 u2 f3", "f1 a2 f3"},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", undo ", undo), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", lines("f1 f2 f3"))
				w.edit("f")
				w.begin()
				w.types("f", func(string) string { return lines(c.users) })
				w.write("f", lines(c.agents))
				w.end()
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.onDisk("f"), lines("f1 f2 f3"), "the disk has %q")
				check.Equal(t, w.bufs[w.path("f")].text, lines(c.users), "the buffer has %q")
			})
		}
	}
}

// A file that the agent has moved away, then removed, and made anew under unsaved text in a later turn, comes back.
func TestMadeAnewAfterAMoveInAnEarlierTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const was = "f1\nf2\nf3\n"
	w.write("f", was)
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "f2\nf3\n" })
	w.move("f", "g")
	w.sees("f")
	w.end()
	w.begin()
	w.remove("g")
	w.clientWrites("f", "", "a1\n")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\n"`, "there is %s")
}

// What the user has taken out of a buffer without saving it is refused on the disk in the file that they decide about, and
// in no other.
func TestTakenOutOfOneBufferOfTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"f", "g"} {
		w.write(name, "f1\nf2\n")
		w.edit(name)
	}
	w.begin()
	for _, name := range []string{"f", "g"} {
		w.write(name, "f1\na1\nf2\n")
		w.sees(name)
	}
	w.end()
	for _, name := range []string{"f", "g"} {
		w.types(name, func(string) string { return "f1\nf2\n" })
	}
	w.decide(review.Reject, "g")
	check.Equal(t, w.tree(), `f 644 "f1\na1\nf2\n"`+"\n"+`g 644 "f1\nf2\n"`, "there is %s")
}

// What the agent has made under unsaved text of a file that it removed in an earlier turn is undone: the removal waits
// again, whatever becomes of the buffer then.
func TestMadeAnewUnderUnsavedTextAndUndone(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]struct {
		do            func(w *world)
		listed, after string
	}{
		"left":      {func(*world) {}, "deleted f -1,1+0,0\n", "f1\n"},
		"read anew": {func(w *world) { w.rereads("f") }, "deleted f -1,1+0,0\n", "f1\n"},
		"closed":    {func(w *world) { w.wipe("f") }, "deleted f -1,1+0,0\n", "f1\n"},
		"saved":     {func(w *world) { w.saves("f") }, "modified f -1,1+0,0\n", "f1\nu2\n"},
	} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, typed first %v", name, first), func(t *testing.T) {
				w := newWorld(t)
				w.removedUnder("f", "f1\n")
				types := func() { w.types("f", func(text string) string { return text + "u2\n" }) }
				w.begin()
				if first {
					types()
				}
				w.write("f", "a3\n")
				w.sees("f")
				if !first {
					types()
				}
				w.end()
				if err := w.undo(false); err != nil {
					t.Error(err)
				}
				then.do(w)
				w.sync()
				listed := then.listed
				if first && name == "saved" {
					listed = "modified f -1,1+1,1 rejected\n" // its buffer has the line again
				}
				check.Equal(t, w.changes(), listed, "undone, there is listed %q")
				w.decide(review.Reject, "")
				check.Equal(t, w.onDisk("f"), then.after, "refused, there is %q")
			})
		}
	}
}

// So it is where the buffer had kept its lines, and gets them back with what was typed in it.
func TestUndoOfWhatWasMadeOverARemoval(t *testing.T) {
	t.Parallel()
	for _, writes := range []bool{false, true} { // what the agent made, through its client
		for _, saved := range []bool{false, true} {
			w := newWorld(t)
			w.removedUnder("f", "f1\n")
			const mine = "f1\nu1\nu2\n"
			w.types("f", func(string) string { return mine })
			w.begin()
			w.write("f", "a3\na4\n")
			w.sees("f")
			if writes {
				w.clientWrites("f", "a3\na4\nu1\nu2\n", "a3\nu2\n")
			}
			if saved {
				w.saves("f")
			}
			w.end()
			w.must(w.undo(false))
			tree, listed := fmt.Sprintf("f 644 %q", mine), ""
			if !saved && !writes {
				tree, listed = "", "deleted f -1,1+0,0\n"
			}
			check.Equal(t, w.sees("f"), mine, "writes %v, saved %v: the buffer has %q", writes, saved)
			check.Equal(t, w.tree(), tree, "writes %v, saved %v: there is %s", writes, saved)
			check.Equal(t, w.changes(), listed, "writes %v, saved %v: there is listed %q", writes, saved)
		}
	}
}

// A file that the agent has made in a turn, in conflict with the buffer of one that it removed in an earlier turn, is undone:
// the removal waits again, and the file comes back with its undo or refusal.
func TestUndoOfAConflictOverARemoval(t *testing.T) {
	t.Parallel()
	for _, refused := range []bool{false, true} {
		for _, redone := range []bool{false, true} {
			w := newWorld(t)
			w.removedUnder("f", "f1\n")
			w.types("f", func(string) string { return "u1\nu2\n" })
			w.begin()
			w.write("f", "a3\na4\n")
			w.sees("f")
			w.end()
			w.must(w.undo(false))
			if redone {
				w.must(w.undo(true))
				check.Equal(t, w.tree(), `f 644 "a3\na4\n"`, "redone, there is %s")
				w.must(w.undo(false))
			}
			check.Equal(t, w.tree(), "", "undone, redone %v, there is %s", redone)
			check.Equal(t, w.changes(), "deleted f -1,1+0,0\n", "undone, redone %v, there is listed %q", redone)
			if refused {
				w.decide(review.Reject, "")
			} else {
				w.must(w.undo(false))
				check.Equal(t, w.changes(), "", "undone twice, redone %v, there is listed %q", redone)
			}
			check.Equal(t, w.tree(), `f 644 "f1\n"`, "refused %v, redone %v: there is %s", refused, redone)
			check.Equal(t, w.sees("f"), "u1\nu2\n", "refused %v, redone %v: the buffer has %q", refused, redone)
		}
	}
}

// A decision under unsaved text that is taken back leaves disk and buffer as if it had never been made: what is decided
// next gives both the same, and so does an undo of the turn.
func TestADecisionUnderUnsavedTextIsTakenBack(t *testing.T) {
	const was = "f1\nf2\nf3\nf4\n"
	all := func(w *world, d Decision) { d.Path = ""; w.makes(d) }
	hunk := func(w *world, d Decision) {
		d.Which = func(review.File) review.Selection { return review.Selection{Hunks: []int{0}} }
		w.makes(d)
	}
	for name, c := range map[string]struct{ users, agents, then string }{
		"typed beside":              {"f1\nf2\nf3\nf4\nu5\n", "f1\na1\nf2\nf3\na3\nf4\n", ""},
		"a line of the agent's":     {"f1\na1\nf2\na3\nf4\n", was, "f1\na1\nf2\nf3\na3\nf4\n"},
		"the user has changed them": {"f1\na1x\nf2\nf3\na3\n", was, "f1\na1\nf2\nf3\na3\nf4\n"},
		"a conflict":                {"f1\nf2\nu3\nf4\n", "a1\nf1\nf2\na3\nf4\n", ""},
	} {
		for how, decides := range map[string]func(w *world, d Decision){"all": all, "a hunk": hunk} {
			for _, do := range []review.Decision{review.Keep, review.Reject} {
				for end, ends := range map[string]func(w *world){
					"refused": func(w *world) { w.decide(review.Reject, "") },
					"undone":  func(w *world) { w.must(w.undo(false)) },
				} {
					t.Run(fmt.Sprint(name, ", ", how, ", ", do, ", ", end), func(t *testing.T) {
						t.Parallel()
						// What there is when the decision was made and taken back n times.
						outcome := func(n int) (is, ended string) {
							w := newWorld(t)
							w.write("f", was)
							w.edit("f")
							w.begin()
							if c.then != "" { // comes first, and the user takes from it
								w.write("f", c.then)
								w.sees("f")
							}
							w.types("f", func(string) string { return c.users })
							if c.then == "" {
								w.write("f", c.agents)
								w.sees("f")
							}
							w.end()
							for range n {
								var made []Made
								decides(w, Decision{Do: do, Path: w.path("f"), Made: func(m Made) { made = append(made, m) }})
								check.Equal(t, len(made), 1, "%d files were decided about")
								w.makes(Decision{Path: made[0].Path(), Back: &made[0]})
							}
							is = w.onDisk("f") + "/" + w.bufs[w.path("f")].text + w.changes()
							ends(w)
							return is, w.onDisk("f") + "/" + w.bufs[w.path("f")].text
						}
						is, ended := outcome(0)
						for n := 1; n <= 2; n++ {
							got, then := outcome(n)
							check.Equal(t, got, is, "taken back there is %q")
							check.Equal(t, then, ended, "in the end there is %q")
						}
					})
				}
			}
		}
	}
}

// What the disk has under unsaved text may change after a decision: where the agent has changed it, the decision can no
// longer be taken back; where the user has saved, what they saved stays theirs.
func TestADecisionIsTakenBackWhereTheDiskHasChanged(t *testing.T) {
	t.Parallel()
	start := func() (w *world, made Made) {
		w = newWorld(t)
		w.write("f", "f1\nf2\nf3\nf4\n")
		w.edit("f")
		w.begin()
		w.types("f", func(string) string { return "f1\nf2\nf3\nu4\n" })
		w.write("f", "f1\na2\nf3\nf4\n")
		w.sees("f")
		w.end()
		w.makes(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { made = m }})
		check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\nf4\n", "refused, the disk has %q")
		return w, made
	}

	w, made := start()
	w.begin()
	w.write("f", "f1\nf2\nf3\nb4\n")
	w.sees("f")
	w.end()
	done := make(chan error, 1)
	w.ledger.Decide(Decision{Path: made.Path(), Back: &made}, func(_ int, err error) { done <- err })
	if err := <-done; !errors.Is(err, review.ErrChangedSince) {
		t.Errorf("taken back where the agent has changed it, it says %v", err)
	}
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\nb4\n", "the disk has %q")

	w, made = start()
	w.saves("f")
	w.makes(Decision{Path: made.Path(), Back: &made})
	check.Equal(t, w.onDisk("f"), "f1\na2\nf3\nu4\n", "saved and taken back, the disk has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\nu4\n", "refused again, the disk has %q")
}

// A refusal of a file in which the user has taken out lines, saved, is taken back: an undo of the turn then takes out all
// that is the agent's, as without the decision.
func TestARefusalAmongLinesTakenOutIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\nf4\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\nf2\nf3\na3\nf4\n")
	w.sees("f")
	w.types("f", func(string) string { return "f1\na1\nf2\na3\nf4\n" })
	w.saves("f")
	w.end()
	var made Made
	w.makes(Decision{Do: review.Reject, Made: func(m Made) { made = m }})
	w.makes(Decision{Path: made.Path(), Back: &made})
	w.must(w.undo(false))
	check.Equal(t, w.sees("f"), "f1\nf2\nf4\n", "there is %q")
}

// The disk under unsaved text gets back its line ends, and the path from which the agent has moved it, along with its lines:
// also those that conflict, and without lines of the agent's that the user has taken out.
func TestFormAndPathUnderUnsavedText(t *testing.T) {
	t.Parallel()
	moves := func(w *world, changed string) {
		w.move("f", "g")
		w.sees("f")
		w.write("g", changed)
		w.end()
		w.wipe("f")
		w.edit("g")
		w.begin()
	}
	for name, c := range map[string]struct {
		do   func(w *world)
		left string // after the undo of one turn, if not all is undone with that
	}{
		"in conflict": {func(w *world) {
			w.types("f", func(string) string { return "f1\nu2\nf3\n" })
			w.write("f", "f1\r\na2\r\nf3\r\n")
			w.sees("f")
		}, ""},
		"the line ends alone": {func(w *world) {
			w.types("f", func(string) string { return "f1\nu2\nf3\n" })
			w.write("f", "f1\r\nf2\r\nf3\r\n")
			w.sees("f")
		}, ""},
		"merged": {func(w *world) {
			w.types("f", func(string) string { return "f1\nf2\nf3\nu4\n" })
			w.write("f", "a1\r\nf1\r\nf2\r\nf3\r\n")
			w.sees("f")
		}, ""},
		"taken out": {func(w *world) {
			w.write("f", "f1\r\na2\r\nf2\r\nf3\r\n")
			w.sees("f")
			w.types("f", func(string) string { return "f1\nf2\nf3\n" })
		}, ""},
		"moved, in conflict": {func(w *world) {
			moves(w, "f1\nf2\nf3\n")
			w.types("g", func(string) string { return "f1\nu2\nf3\n" })
			w.write("g", "f1\na2\nf3\n")
			w.sees("g")
		}, `g 644 "f1\nf2\nf3\n"`},
		"moved, taken out": {func(w *world) {
			moves(w, "f1\na2\nf2\nf3\n")
			w.types("g", func(string) string { return "f1\nf2\nf3\n" })
		}, ""},
	} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\nf2\nf3\n")
			want := w.tree()
			w.edit("f")
			w.begin()
			c.do(w)
			w.end()
			if w.changes(); undo {
				want = cmp.Or(c.left, want)
				w.must(w.undo(false))
			} else if _, err := w.refuse(nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			check.Equal(t, w.tree(), want, name+": there is %s")
		}
	}
}

// What conflicts with unsaved text is the running turn's still where the user has refused it and taken that back: once their text
// is given up, an undo of the turn takes it.
func TestADecisionAboutAConflictIsTakenBackWhileTheTurnRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "f1\nu1\n" })
	w.write("f", "a1\nf1\na2\n")
	w.sees("f")
	var made Made
	w.makes(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { made = m }})
	w.makes(Decision{Path: made.Path(), Back: &made})
	w.wipe("f")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "undone, there is %s")
}

// Bytes that conflict with unsaved text are refused with the lines that the agent had written before, and undone with their turn.
func TestBytesThatConflictAreRefused(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.begin()
		w.write("f", "a1\nf1\nf2\nf3\n")
		w.sees("f")
		w.types("f", func(text string) string { return strings.Replace(text, "f3", "u3", 1) })
		w.changes()
		w.write("f", "a\x00\n")
		w.sees("f")
		w.end()
		var made []Made
		if undo {
			w.must(w.undo(false))
		} else {
			w.makes(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { made = append(made, m) }})
		}
		check.Equal(t, w.sees("f"), "f1\nf2\nu3\n", "undo %v: the buffer has %q", undo)
		check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", "undo %v: the disk has %q", undo)
		for _, m := range made {
			w.makes(Decision{Path: m.Path(), Back: &m})
			check.Equal(t, w.sees("f"), "a1\nf1\nf2\nu3\n", "taken back, the buffer has %q")
			check.Equal(t, w.onDisk("f"), "a1\nf1\nf2\nf3\n", "taken back, the disk has %q")
		}
	}
}

// A refusal that meets a file under unsaved text which is gone by then makes no new one in its form.
func TestGoneAsItIsRefusedUnderUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\r\nf2\r\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "f1\nu2\n" })
	w.write("f", "f1\r\na2\r\n")
	w.sees("f")
	w.end()
	w.once("edited", "f", 1, func() { w.remove("f") })
	_, _ = w.refuse(nil)
	check.Equal(t, w.tree(), "", "there is %s")
}

// A decision cannot be taken back where the user has typed over it since, and says so.
func TestADecisionUnderUnsavedTextIsTypedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\nf4\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "f1\nf2\nf3\nu4\n" })
	w.write("f", "f1\na2\nf3\nf4\n")
	w.sees("f")
	w.end()
	var made Made
	w.makes(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { made = m }})
	w.types("f", func(string) string { return "f1\nu2\nf3\nu4\n" })
	done := make(chan error, 1)
	w.ledger.Decide(Decision{Path: made.Path(), Back: &made}, func(_ int, err error) { done <- err })
	if err := <-done; !errors.Is(err, review.ErrChangedSince) {
		t.Errorf("it says %v", err)
	}
}

// What conflicts with unsaved text is still of the turn in which it came, or of none, where the user takes back its refusal in a
// later turn.
func TestADecisionAboutAConflictIsTakenBackInALaterTurn(t *testing.T) {
	t.Parallel()
	for _, inTurn := range []bool{true, false} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.edit("f")
		if inTurn {
			w.begin()
			w.write("g", "a1\n")
		}
		w.types("f", func(string) string { return "f1\nu1\n" })
		w.write("f", "a1\nf1\na2\n")
		w.sees("f")
		if inTurn {
			w.end()
		}
		w.sync()
		var made Made
		w.makes(Decision{Do: review.Reject, Path: w.path("f"), Made: func(m Made) { made = m }})
		w.begin()
		w.makes(Decision{Path: made.Path(), Back: &made})
		w.wipe("f")
		w.end()
		if inTurn {
			w.must(w.undo(false))
		} else {
			check.Equal(t, w.undo(false), errNoTurn, "an undo says %v")
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "in a turn %v: there is %s", inTurn)
	}
}

// A file that the agent makes in no turn under unsaved text of one that was removed is refused.
func TestMadeUnderUnsavedTextInNoTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.remove("f")
	w.sees("f")
	w.types("f", func(string) string { return "u1\n" })
	w.write("f", "a1\n")
	w.sees("f")
	w.changes()
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), "f1\n", "the disk has %q")
}

// Where the lines cannot be written under unsaved text, the form stays too, and the refusal says so.
func TestAFormUnderUnsavedTextFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "Ж1\nf2\n")
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "u1\nf2\n" })
	w.write("f", "\xe41\nf2\n")
	w.sees("f")
	w.end()
	_, err := w.refuse(nil)
	if err == nil {
		t.Error("the refusal says nothing")
	}
	check.Equal(t, w.tree(), "f 644 \"\\xe41\\nf2\\n\"", "there is %s")
}

// What a buffer comes to have as the user undoes their typing is told as the agent's.
func TestUndoneTypingOverAConflictIsTold(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"in the turn", "after it", "in no turn"} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.types("f", func(string) string { return "f1\nu2\nf3\n" })
		if when != "in no turn" {
			w.begin()
		}
		w.write("f", "f1\na2\nf3\n")
		w.sees("f")
		if when == "after it" {
			w.end()
		}
		w.sync()
		w.disk.Lock()
		was := len(w.events)
		b := w.bufs[w.path("f")]
		before := b.text
		b.text = b.synced
		w.disk.Unlock()
		w.ledger.UserChanged(buffers.Written{Path: w.path("f"), Buf: 1, Changed: true, Before: &before, After: &b.text, Disk: &b.text, FormBefore: plain, FormAfter: plain})
		w.sync()
		w.disk.Lock()
		check.Slice(t, w.events[was:], []Event{{w.path("f"), "disk"}}, "told "+when+" is %v")
		w.disk.Unlock()
		w.wipe("f")
		if when == "in the turn" {
			w.end()
		}
		check.Equal(t, w.changes(), "modified f -2,1+2,1\n", "the record has %q")
		w.disk.Lock()
		check.Equal(t, len(w.events)-was, 1, "%d events")
		w.disk.Unlock()
	}
}

// The refusal of what conflicts with unsaved text leaves the permissions that the user has given the file since.
func TestPermissionsGivenOverAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.types("f", func(string) string { return "f1\nu2\n" })
	w.begin()
	w.write("f", "f1\na2\n")
	w.sees("f")
	w.end()
	w.chmod("f", 0o700) // by the user
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 700 "f1\nf2\n"`, "there is %s")
}

// A file that the agent has made under unsaved text, where it had removed one in an earlier turn, is made again by a redo; then
// the user gives that text up, and refuses all.
func TestMadeAgainUnderUnsavedTextThatIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.sync()
	w.remove("f")
	w.follow(w.path("f"), true)
	w.end()
	w.types("f", func(string) string { return "u1\n" })
	w.begin()
	w.sync()
	w.write("f", "a1\n")
	w.sees("f")
	w.end()
	for _, again := range []bool{false, true} {
		w.must(w.undo(again))
	}
	check.Equal(t, w.tree(), `f 644 "a1\n"`, "done again, there is %s")
	w.rereads("f")
	check.Equal(t, w.sees("f"), "a1\n", "read anew there is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "refused, there is %s")
}
