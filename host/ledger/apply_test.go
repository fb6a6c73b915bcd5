package ledger

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// once has something done the nth time that something happens to a file.
func (w *world) once(what, name string, n int, do func()) {
	w.disk.Lock()
	defer w.disk.Unlock()
	w.meanwhile = func(now, path string) {
		if now == what && path == w.path(name) {
			if n--; n == 0 {
				do()
			}
		}
	}
}

// refuse refuses all changes, and gives how many files that was about.
func (w *world) refuse(which func(review.File) review.Selection) (files int, err error) {
	done := make(chan struct{})
	w.ledger.Decide(Decision{Do: review.Reject, Which: which}, func(n int, e error) {
		files, err = n, e
		close(done)
	})
	<-done
	return files, err
}

// While a refusal or an undo is on its way other programs go on: what they write then is not overwritten. A refusal
// looks again, an undo says that it could not be made.
func TestWhatChangesMeanwhileStays(t *testing.T) {
	const first, agents = "f1\nf2\nf3\nf4\nf5\n", "f1\na1\nf2\nf3\nf4\nf5\n"
	for name, c := range map[string]struct {
		first           string
		agent           func(w *world)
		what            string // the moment between look and deed
		refusal, undo   int    // which of these
		meanwhile       func(w *world)
		refused, undone string // what is there then
	}{
		"written": {
			first, func(w *world) { w.write("f", agents) }, "edit", 1, 1,
			func(w *world) { w.write("f", agents+"u1\n") }, first + "u1\n", agents + "u1\n",
		},
		"removed": {
			first, func(w *world) { w.write("f", agents) }, "edit", 1, 1,
			func(w *world) { w.remove("f") }, "no file", "no file",
		},
		"made anew": {
			first, func(w *world) { w.remove("f") }, "look", 2, 3,
			func(w *world) { w.write("f", "u1\n") }, first + "u1\n", "u1\n",
		},
		"bytes written": {
			"\x00f1", func(w *world) { w.write("f", "\x00a1") }, "look", 2, 3,
			func(w *world) { w.write("f", "\x00u1") }, "\x00u1", "\x00u1",
		},
		"bytes removed": {
			"\x00f1", func(w *world) { w.write("f", "\x00a1") }, "look", 2, 3,
			func(w *world) { w.remove("f") }, "no file", "no file",
		},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", c.first)
				w.begin()
				c.agent(w)
				w.end()
				if undo {
					w.once(c.what, "f", c.undo, func() { c.meanwhile(w) })
					if err := w.undo(false); !errors.Is(err, errMovedOn) {
						t.Errorf("the undo said %v", err)
					}
					check.Equal(t, w.sees("f"), c.undone, "after the undo there is %q")
					return
				}
				w.once(c.what, "f", c.refusal, func() { c.meanwhile(w) })
				// The user's bytes are not to be told from the agent's.
				if _, err := w.refuse(nil); (err != nil) != (name == "bytes written") {
					t.Errorf("the refusal said %v", err)
				}
				check.Equal(t, w.sees("f"), c.refused, "after the refusal there is %q")
			})
		}
	}
}

// The user has changed the file since, so an undo merges; what of that changes meanwhile, or is removed, stays so.
func TestWhatChangesDuringAMergeStays(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(w *world)
		want      string
		fails     bool
	}{
		"written": {func(w *world) { w.write("f", "f1\na1\nf2\nu1\nu2\n") }, "f1\nf2\nu1\nu2\n", false},
		"removed": {func(w *world) { w.remove("f") }, "no file", true},
	} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.begin()
		w.write("f", "f1\na1\nf2\n")
		w.end()
		w.write("f", "f1\na1\nf2\nu1\n")
		w.once("edit", "f", 1, func() { c.meanwhile(w) })
		if err := w.undo(false); (err != nil) != c.fails {
			t.Errorf("%s: the undo said %v", name, err)
		}
		check.Equal(t, w.sees("f"), c.want, "%s: there is %q", name)
	}
}

// The agent writes a file while a refusal of its changes is being made: that is refused too, and not taken for done.
func TestTheAgentWritesDuringARefusal(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n")
	w.once("edited", "f", 1, func() { w.clientWrites("f", "f1\na1\nf2\n", "f1\na2\nf2\n") })
	if n, err := w.refuse(nil); n != 1 || err != nil {
		t.Errorf("%d files were decided about, %v", n, err)
	}
	check.Equal(t, w.sees("f"), "f1\nf2\n", "there is %q")
	if got := w.changes(); strings.Contains(got, "pending") || strings.Count(got, "\n") > 1 {
		t.Errorf("the record has %s", got)
	}
	w.end()
}

// A file that was moved does not go back over another one, and what cannot be done to one file is done to the rest.
func TestAMovedFileDoesNotGoBackOverAnother(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.write("g", "g1\n")
		w.begin()
		w.move("f", "new/f")
		w.write("g", "g1\na1\n")
		w.end()
		w.write("f", "u1\n")
		var err error
		if undo {
			err = w.undo(false)
		} else if _, err = w.refuse(nil); err == nil || !strings.Contains(err.Error(), "another file") {
			t.Errorf("the refusal said %v", err)
		}
		if f, moved, g := w.sees("f"), w.sees("new/f"), w.sees("g"); f != "u1\n" || moved != "f1\n" || g != "g1\n" {
			t.Errorf("undo %v (%v): there are %q, %q, %q", undo, err, f, moved, g)
		}
	}
}

// A part of the agent's changes is refused: the other part stays, and line ends, marks, encodings, the last line's end
// and permissions are the agent's until the last hunk goes.
func TestHunksAreRefusedInTheirForm(t *testing.T) {
	const first, agents = "f1\nf2\nf3\nf4\nf5\nf6\nf7\n", "a1\nf2\nf3\nf4\nf5\nf6\na7\n"
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for name, c := range map[string]struct{ before, after, one, all string }{
		"plain":             {first, agents, "f1\nf2\nf3\nf4\nf5\nf6\na7\n", first},
		"with CRLF":         {crlf(first), crlf(agents), crlf("f1\nf2\nf3\nf4\nf5\nf6\na7\n"), crlf(first)},
		"CRLF lost":         {crlf(first), agents, "f1\nf2\nf3\nf4\nf5\nf6\na7\n", crlf(first)},
		"CRLF got":          {first, crlf(agents), crlf("f1\nf2\nf3\nf4\nf5\nf6\na7\n"), first},
		"a mark lost":       {"\ufeff" + first, agents, "f1\nf2\nf3\nf4\nf5\nf6\na7\n", "\ufeff" + first},
		"an encoding lost":  {"\xe4" + first, "ä" + agents, "äf1\nf2\nf3\nf4\nf5\nf6\na7\n", "\xe4" + first},
		"the last end lost": {first, strings.TrimSuffix(agents, "\n"), "f1\nf2\nf3\nf4\nf5\nf6\na7", first},
		"the last end got":  {strings.TrimSuffix(first, "\n"), agents, "f1\nf2\nf3\nf4\nf5\nf6\na7\n", strings.TrimSuffix(first, "\n")},
	} {
		for _, loaded := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", c.before)
				w.chmod("f", 0o640)
				before := w.tree()
				if loaded {
					w.edit("f")
				}
				w.begin()
				w.write("f", c.after)
				w.chmod("f", 0o755)
				w.end()
				firstHunk := func(review.File) review.Selection { return review.Selection{Hunks: []int{0}} }
				if _, err := w.refuse(firstHunk); err != nil {
					t.Error(err)
				}
				if data, err := os.ReadFile(w.path("f")); err != nil || string(data) != c.one {
					t.Errorf("loaded %v: with one hunk refused there is %q, wanted %q, %v", loaded, data, c.one, err)
				}
				check.Equal(t, modeOf(w.path("f")), 0o755, "with one hunk refused its permissions are %o")
				if _, err := w.refuse(nil); err != nil {
					t.Error(err)
				}
				if got := w.tree(); got != before {
					t.Errorf("loaded %v: with all refused there is\n%s\nwanted\n%s\nof %q", loaded, got, before, c.all)
				}
			})
		}
	}
}

// A file whose line ends the agent has changed, and which it then emptied, has its own again: its buffer writes the last ones.
func TestFormOfAnEmptiedFile(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		w.replace("f", "f1\r\n")
		w.sees("f")
		w.write("f", "")
		w.end()
		if undo {
			w.must(w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), `f 644 "f1\n"`, "undo %v: there is %s", undo)
	}
}

// Unsaved text keeps the form that it will be written in while the agent empties the file, so that this is not one of the user's.
func TestFormOfAFileThatIsEmptiedUnderUnsavedText(t *testing.T) {
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.begin()
		w.replace("f", "a1\r\na2\r\na3\r\n")
		w.sees("f")
		w.types("f", func(string) string { return "a1\na3\n" })
		if undo {
			w.end()
			w.begin()
		}
		w.write("f", "")
		w.sees("f")
		w.end()
		if undo {
			w.must(w.undo(false))
		}
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\n"`, "undo %v: there is %s", undo)
	}
}

// What is no text, or has become too large for the record, comes back byte for byte.
func TestBytesComeBack(t *testing.T) {
	large := strings.Repeat("line\n", maxReviewed/5+1)
	for name, c := range map[string]struct {
		before string
		agent  func(w *world)
	}{
		"bytes changed":            {"\x00f1", func(w *world) { w.write("f", "\x00a1") }},
		"bytes changed twice":      {"\x00f1", func(w *world) { w.write("f", "\x00a1"); w.sync(); w.replace("f", "\x00a2") }},
		"bytes made text":          {"\x00f1", func(w *world) { w.clientWrites("f", "", "a1\n") }},
		"text made bytes":          {"f1\nf2", func(w *world) { w.clientWrites("f", "f1\nf2", "f1\na2"); w.write("f", "\x00a1") }},
		"bytes removed and remade": {"\x00f1", func(w *world) { w.remove("f"); w.clientWrites("f", "", "\x00a1") }},
		"bytes moved and changed":  {"\x00f1", func(w *world) { w.move("f", "g"); w.write("f", "\x00a1") }},
		"small text made large":    {"f1\n", func(w *world) { w.clientWrites("f", "f1\n", large) }},
		"permissions of bytes":     {"\x00f1", func(w *world) { w.chmod("f", 0o700) }},
		"bytes named in a call":    {"\x00f1", func(w *world) { w.call("edit", func() { w.write("f", "\x00a1") }, "f") }},
		"bytes outside, in a call": {"f1\n", func(w *world) { w.call("edit", func() { w.write("../out", "\x00a1") }, "../out") }},
		"text outside made bytes": {"f1\n", func(w *world) {
			w.call("edit", func() { w.write("../text", "t1\na1\n") }, "../text")
			w.call("edit", func() { w.write("../text", "\x00a2") }, "../text")
		}},
		"bytes outside, made small": {"f1\n", func(w *world) { w.call("edit", func() { w.write("../out", "a1\n") }, "../out") }},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", c.before)
				w.write("../out", "\x00o1")
				w.write("../text", "t1\n")
				all := func() string { return w.tree() + w.sees("../out") + w.sees("../text") }
				before := all()
				w.begin()
				c.agent(w)
				w.end()
				if before == all() {
					t.Fatal("nothing has changed")
				}
				if undo {
					w.must(w.undo(false))
				} else if _, err := w.refuse(nil); err != nil {
					t.Error(err)
				}
				check.Equal(t, all(), before, "undo %v: there is\n%.300s", undo)
			})
		}
	}
}

// What was not kept is not brought back: the user is told, and nothing is changed.
func TestWhatIsForgottenIsNotBroughtBack(t *testing.T) {
	large := strings.Repeat("line\n", maxReviewed/5+1)
	for name, c := range map[string]struct {
		before string
		agent  func(w *world)
		want   string
	}{
		"too large":    {large, func(w *world) { w.write("f", "a1\n") }, "a1\n"},
		"cleaned away": {"\x00f1", func(w *world) { w.remove("f") }, "no file"},
		"moved":        {large, func(w *world) { w.move("f", "g"); w.write("g", "a1\n") }, "no file"},
	} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", c.before)
			w.begin()
			c.agent(w)
			w.end()
			w.must(os.RemoveAll(w.path("../store")))
			if undo {
				var note string
				done := make(chan struct{})
				w.ledger.Undo(false, true, "", always, func(_ *turns.Turn, steps []turns.Step, _ error) {
					note = steps[0].Note
					close(done)
				})
				<-done
				if err := w.undo(false); err == nil && !strings.Contains(note, errForgotten.Error()) {
					t.Errorf("%s: the undo says nothing: %q", name, note)
				}
			} else if n, err := w.refuse(nil); n != 0 || !errors.Is(err, errForgotten) {
				t.Errorf("%s: the refusal of %d says %v", name, n, err)
			}
			check.Equal(t, w.sees("f"), c.want, "%s: there is %.30q", name)
		}
	}
}

// Of a file whose copy the project's copies leave out, as it is large, nothing is made up: it is listed when the agent
// has changed it, and not when it is only named, or opened by the user.
func TestFilesWithoutACopy(t *testing.T) {
	large := strings.Repeat("line\n", 500_000)
	for name, c := range map[string]struct {
		do   func(w *world)
		want string
		back bool // a refusal brings it back
	}{
		"named":              {func(w *world) { w.call("edit", func() {}, "f") }, "", true},
		"changed":            {func(w *world) { w.write("f", large+"a1\n") }, "modified f\n", false},
		"named and changed":  {func(w *world) { w.call("edit", func() { w.write("f", large+"a1\n") }, "f") }, "modified f\n", false},
		"through the client": {func(w *world) { w.clientWrites("f", large, large+"a1\n") }, "modified f\n", false},
		"permissions":        {func(w *world) { w.call("edit", func() { w.chmod("f", 0o755) }, "f") }, "modified f\n", false},
		"opened":             {func(w *world) { w.edit("f"); w.sync() }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", large)
			before := w.tree()
			w.begin()
			c.do(w)
			w.end()
			check.Equal(t, w.changes(), c.want, "the record has %q")
			after := w.tree()
			_, err := w.refuse(nil)
			if got := w.tree(); c.back && got != before || !c.back && got != after {
				t.Errorf("refused there is %.20q of %d bytes, %v", got, len(got), err)
			}
		})
	}
}

// The permissions that the user gives a file while a refusal is on its way stay, as it is about lines alone.
func TestPermissionsGivenDuringARefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.write("f", "a1\n")
	w.end()
	w.meanwhile = func(what, path string) {
		if what == "edit" {
			w.must(os.Chmod(path, 0o755))
		}
	}
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 755 "f1\n"`, "there is %s")
}

// A file that the agent has made, and in which the user has saved a line of theirs, stays with that where they have put another
// one in its place, unsaved.
func TestSavedInAMadeFile(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		for _, anew := range []bool{false, true} {
			w := newWorld(t)
			w.begin()
			w.write("f", "a1\n")
			w.sync()
			w.edit("f")
			w.types("f", func(text string) string { return text + "u1\n" })
			w.saves("f")
			if anew {
				w.remove("f")
				w.sync()
				w.write("f", "a2\nu1\n")
			} else {
				w.replace("f", "a2\nu1\n")
			}
			w.sees("f")
			w.types("f", func(string) string { return "a2\nu2\n" })
			w.end()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.tree(), `f 644 "u1\n"`, "undo %v, made anew %v: there is %s", undo, anew)
			check.Equal(t, w.sees("f"), "u2\n", "undo %v, made anew %v: the buffer has %q", undo, anew)
		}
	}
}

// What the agent has made no text, in whose buffer the user has typed and taken that back, is refused.
func TestNoTextInAModifiedBufferIsRefused(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.write("f", "\x00a1\n")
	w.sees("f")
	w.bufs[w.path("f")].modified = true
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), "f1\n", "the disk has %q")
}

// So it is where the agent has written other bytes, or a text over bytes.
func TestBytesComeBackUnderAModifiedBuffer(t *testing.T) {
	t.Parallel()
	for _, agents := range []string{"\x00a1", "a1\n"} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "\x00f1")
			w.edit("f")
			w.begin()
			w.write("f", agents)
			w.sees("f")
			w.end()
			w.bufs[w.path("f")].modified = true
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.tree(), `f 644 "\x00f1"`, "of %q, undo %v: there is %s", agents, undo)
		}
	}
}

// Keeping a file that the agent has made changes nothing on the disk, also where its buffer has only what the user has typed.
func TestKeptWhereTheBufferHasOnlyTheUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.write("f", "a1\n")
	w.sync()
	w.edit("f")
	w.types("f", func(string) string { return "u1\n" })
	w.end()
	w.changes()
	w.decide(review.Keep, "f")
	check.Equal(t, w.tree(), `f 644 "a1\n"`, "there is %s")
}

// A large file that cannot go back says what is in its way.
func TestALargeFileCannotGoBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in/f", strings.Repeat("f1\n", maxReviewed/3+1))
	w.begin()
	w.move("in/f", "g")
	w.must(os.Remove(w.path("in")))
	w.end()
	w.write("in", "u1\n")
	_, err := w.refuse(nil)
	if err == nil || !strings.Contains(err.Error(), "mkdir") {
		t.Errorf("the refusal says %v", err)
	}
}

// Bytes that the agent has only moved go back though no copy is left of them.
func TestMovedBytesGoBackWithoutTheStore(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "\x00f1")
		w.begin()
		w.move("f", "g")
		w.end()
		w.must(os.RemoveAll(w.path("../store")))
		if undo {
			w.must(w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), `f 644 "\x00f1"`, "undo %v: there is %s", undo)
	}
}

// An agent's write right after a refusal, of which nobody tells, is the agent's.
func TestWrittenOnTheDiskRightAfterARefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.call("edit", func() { w.write("f", "f1\na1\nf2\n") }, "f")
	w.once("edited", "f", 1, func() { w.write("f", "f1\nf2\na2\n") })
	w.decide(review.Reject, "")
	w.end()
	check.Equal(t, w.states(), "modified f rejected pending", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nf2\n", "refused, there is %q")
}

// An undo of a file that the agent has made fails where the user types into it at that moment: it stays on the disk.
func TestTypedIntoAMadeFileAsItIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.write("f", "a1\n")
	w.sync()
	w.edit("f")
	w.end()
	w.once("edit", "f", 1, func() { w.bufs[w.path("f")].text = "u1\n" })
	if err := w.undo(false); !errors.Is(err, errMovedOn) {
		t.Errorf("the undo says %v", err)
	}
	check.Equal(t, w.tree(), `f 644 "a1\n"`, "there is %s")
	check.Equal(t, w.sees("f"), "u1\n", "the buffer has %q")
}
