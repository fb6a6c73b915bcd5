package ledger

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// clientTells tells of a write through the client that is made already, as the user has reviewed it.
func (w *world) clientTells(done buffers.Written, before, after string, reviewed bool) {
	done.Changed, done.Before, done.After, done.Disk = true, &before, &after, &after
	done.FormBefore, done.FormAfter = plain, plain
	w.ledger.Took(done, "fs", reviewed)
	w.sync()
}

// What is told late, in few words, or of several ways at once, is whose it is all the same. f has f1 and f2 when the
// turn begins, in which c.do happens.
func TestWhateverIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		before func(w *world) // the turn
		do     func(w *world)
		listed string // with the states of hunks
		left   string // of the folder, when all that is pending is refused
		undone string // when the turn is undone; "" is as left, "-" nothing

	}{
		"a write that comes to be known when the turn after it is over": {
			do: func(w *world) {
				w.end()
				w.write("f", "f1\nf2\na1\n")
				w.clientTells(buffers.Written{Path: w.path("f"), At: time.Now().Add(-time.Hour)}, "f1\nf2\n", "f1\nf2\na1\n", false)
				w.begin()
			},
			listed: "modified f pending", left: "f=f1 f2",
		},
		"a change without what was there before it": {
			do: func(w *world) {
				w.edit("f")
				w.write("f", "f1\nf2\na1\n")
				after := "f1\nf2\na1\n"
				w.bufs[w.path("f")].text, w.bufs[w.path("f")].synced = after, after
				w.ledger.Took(buffers.Written{Path: w.path("f"), Buf: 1, Changed: true, After: &after, Disk: &after, FormAfter: plain}, "disk", false)
			},
			listed: "modified f pending", left: "f=f1 f2",
		},
		"an accepted write over a change that nobody has seen": {
			do: func(w *world) {
				w.write("f", "a1\nf1\n")
				w.clientTells(buffers.Written{Path: w.path("f")}, "a1\nf1\nf2\n", "a1\nf1\n", true)
			},
			listed: "modified f pending kept", left: "f=f1", undone: "f=f1 f2",
		},
		"an accepted write over what was seen": {
			do: func(w *world) {
				w.write("f", "f1\nf2\na2\n")
				w.clientTells(buffers.Written{Path: w.path("f")}, "f1\nf2\n", "f1\nf2\na2\n", true)
			},
			listed: "modified f kept", left: "f=f1 f2 a2", undone: "f=f1 f2",
		},
		"a write where the user has moved the file, in the turn": {
			do: func(w *world) {
				w.move("f", "g")
				w.ledger.UserRenamed(w.path("f"), w.path("g"))
				w.clientWrites("g", "f1\nf2\n", "f1\nf2\na1\n")
			},
			listed: "modified g pending", left: "g=f1 f2",
		},
		"a file that the user has made where one of an earlier turn was": {
			before: func(w *world) {
				w.begin()
				w.clientWrites("x", "", "a1\n")
				w.remove("x")
				w.end()
				w.write("x", "u1\n")
			},
			do:     func(w *world) { w.move("x", "y") },
			listed: "moved y from x", left: "f=f1 f2 x=u1",
		},
		"a file made anew in the turn, and moved": {
			do: func(w *world) {
				w.clientWrites("x", "", "a1\n")
				w.move("x", "y")
			},
			listed: "added y pending", left: "f=f1 f2",
		},
		"a file of the user's that a look has found first": {
			do: func(w *world) {
				w.call(session.KindEdit, func() { w.write("n", "u1\n") }, "n")
				w.tellsOfNewName("n", "u1\n", changedAt(w.path("n")))
			},
			left: "f=f1 f2 n=u1",
		},
		"a file of the user's that a look has found first, with more of the agent's": {
			do: func(w *world) {
				w.write("n", "u1\n")
				wrote := changedAt(w.path("n"))
				w.call(session.KindEdit, func() { w.write("n", "u1\na1\n") }, "n")
				w.tellsOfNewName("n", "u1\n", wrote)
				w.sees("n")
			},
			listed: "modified n pending", left: "f=f1 f2 n=u1",
		},
		"a file of the user's, in no buffer, that a look has found first": {
			do: func(w *world) {
				w.call(session.KindEdit, func() { w.write("n", "u1\n") }, "n")
				w.ledger.UserSaved(w.path("n"), changedAt(w.path("n")))
			},
			left: "f=f1 f2 n=u1",
		},
		"a file of the user's, where the agent had removed one, that a look has found first": {
			do: func(w *world) {
				w.call(session.KindEdit, func() { w.remove("f") }, "f")
				w.call(session.KindEdit, func() { w.write("f", "u1\n") }, "f")
				w.tellsOfNewName("f", "u1\n", changedAt(w.path("f")))
			},
			listed: "modified f pending", left: "f=f1 f2 u1",
		},
		"a new file of the agent's that the user writes over": {
			do: func(w *world) {
				w.call(session.KindEdit, func() { w.write("n", "a1\n") }, "n")
				w.write("n", "a1\nu1\n")
				w.tellsOfNewName("n", "a1\nu1\n", time.Now().Add(time.Second))
			},
			listed: "added n pending", left: "f=f1 f2 n=u1",
		},
		"a new file under a new buffer of the user's": {
			before: func(w *world) {
				w.bufs[w.path("n")] = &buffer{form: plain, gone: true}
				w.opened(buffers.Opened{Path: w.path("n"), Loaded: true, Text: new(""), Form: plain})
			},
			do: func(w *world) {
				w.types("n", func(string) string { return "u1\n" })
				w.write("n", "a1\n")
			},
			listed: "added n", left: "f=f1 f2", undone: "f=f1 f2",
		},
		"a file that is back, before its buffer has it": {
			do: func(w *world) {
				w.edit("f")
				w.remove("f")
				w.sees("f")
				w.write("f", "")
				w.changes() // looks at it
			},
			listed: "modified f pending", left: "f=f1 f2",
		},
		"a deletion through the client after the turn": {
			do: func(w *world) {
				w.end()
				w.remove("f")
				w.ledger.Took(buffers.Written{Path: w.path("f"), Deleted: true, Changed: true, Before: new("f1\nf2\n"), FormBefore: plain}, "fs", false)
				w.begin()
			},
			listed: "deleted f pending", left: "f=f1 f2",
		},
		"a file that is gone, and back as it was, then changed and typed into": {
			do: func(w *world) {
				w.call("edit", func() { w.remove("f") }, "f")
				w.call("edit", func() { w.write("f", "f1\nf2\n") }, "f")
				w.write("f", "f1\nf2\na1\n")
				w.edit("f")
				w.types("f", func(text string) string { return "u1\n" + text })
				w.changes()
			},
			listed: "modified f pending", left: "f=f1 f2",
		},
		"a file that is back in the turn after the one in which it went, before its buffer has it": {
			before: func(w *world) {
				w.edit("f")
				w.begin()
				w.remove("f")
				w.sees("f")
				w.end()
			},
			do: func(w *world) {
				w.write("f", "")
				w.changes()
			},
			listed: "modified f pending", left: "f=f1 f2", undone: "-",
		},
		"a file that is moved and changed": {
			do:     func(w *world) { w.sh("mv f g; echo a1 >> g") },
			listed: "moved g from f pending", left: "f=f1 f2",
		},
		"a change before the user opens the file, where it had gone back by an undo": {
			before: func(w *world) {
				w.begin()
				w.move("f", "g")
				w.end()
				w.must(w.undo(false))
			},
			do: func(w *world) {
				w.write("f", "f1\nf2\na1\n")
				w.edit("f")
			},
			listed: "modified f pending", left: "f=f1 f2",
		},
		"a changed file that is removed, and saved by the user": {
			do: func(w *world) {
				w.edit("f")
				w.write("f", "f1\na1\n")
				w.sees("f")
				w.types("f", func(text string) string { return text + "u1\n" })
				w.remove("f")
				w.sees("f")
				w.saves("f")
			},
			listed: "modified f pending", left: "f=f1 f2 u1",
		},
		"a removed file that the user saves": {
			do: func(w *world) {
				w.edit("f")
				w.remove("f")
				w.sees("f")
				w.saves("f")
			},
			listed: "", left: "f=f1 f2", undone: "-",
		},
		"a new file that is gone before the user's opening it is heard of": {
			do: func(w *world) {
				text := "a1\n"
				w.bufs[w.path("n")] = &buffer{text: text, form: plain, synced: text}
				w.opened(buffers.Opened{Path: w.path("n"), Loaded: true, Text: &text, Form: plain})
				w.sees("n")
			},
			listed: "", left: "f=f1 f2", undone: "-",
		},
		"a file that is moved away before the user's save of it is heard of": {
			do: func(w *world) {
				w.edit("f")
				text := "f1\nf2\nu1\n"
				w.write("f", text)
				w.bufs[w.path("f")].text, w.bufs[w.path("f")].synced = text, text
				w.move("f", "g")
				w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Saved: true, Text: &text, Form: plain})
				w.sees("f")
			},
			listed: "moved g from f", left: "f=f1 f2 u1",
		},
		"a file that is gone, and made anew": {
			do: func(w *world) {
				w.call("delete", func() { w.remove("f") }, "f")
				w.call("edit", func() { w.write("f", "a1\n") }, "f")
			},
			listed: "modified f pending", left: "f=f1 f2",
		},
		"a name that the user gives what the agent has removed": {
			do: func(w *world) {
				w.edit("f")
				w.remove("f")
				w.sees("f")
				w.ledger.UserRenamed(w.path("f"), w.path("g"))
			},
			listed: "deleted f pending", left: "f=f1 f2",
		},
		"a write that is told while the end of the turn looks at what else has changed": {
			before: func(w *world) { w.write("g", "g1\n") },
			do: func(w *world) {
				after := "f1\nf2\na1\n"
				w.write("f", after)
				w.write("g", "g1\na1\n")
				w.once("look", "g", 1, func() {
					w.ledger.Took(buffers.Written{Path: w.path("f"), Changed: true, Before: new("f1\nf2\n"), After: &after, Disk: &after, FormBefore: plain, FormAfter: plain}, "fs", false)
				})
			},
			listed: "modified f pending, modified g pending", left: "f=f1 f2 g=g1",
		},
		"a file that the user had removed, which a call names before it makes it anew": {
			before: func(w *world) {
				w.begin()
				w.write("f", "f1\nf2\na1\n")
				w.end()
				w.remove("f")
			},
			do:     func(w *world) { w.call("edit", func() { w.write("f", "a2\n") }, "f") },
			listed: "added f pending", left: "", undone: "-",
		},
		"a removed file that the user writes from elsewhere, and the agent then moves": {
			do: func(w *world) {
				w.call("delete", func() { w.remove("f") }, "f")
				w.write("f", "f1\nf2\nu1\n")
				w.saved("f")
				w.sync()
				w.move("f", "g")
			},
			listed: "moved g from f", left: "f=f1 f2 u1",
		},
		"a moved file that the user writes from elsewhere where it was": {
			do: func(w *world) {
				w.call("move", func() { w.move("f", "g") }, "f", "g")
				w.write("f", "f1\nf2\nu1\n")
				w.saved("f")
				w.sync()
			},
			listed: "added g pending", left: "f=f1 f2 u1",
		},
		"a removed file that comes back through another session, and the agent then moves": {
			do: func(w *world) {
				w.call("delete", func() { w.remove("f") }, "f")
				w.write("f", "f1\nf2\nu1\n")
				w.ledger.Elsewhere(w.path("f"), review.Text("f1\nf2\nu1\n"))
				w.sync()
				w.move("f", "g")
			},
			listed: "moved g from f", left: "f=f1 f2 u1",
		},
		"a moved file that comes back through another session": {
			do: func(w *world) {
				w.call("move", func() { w.move("f", "g") }, "f", "g")
				w.write("f", "f1\nf2\nu1\n")
				is := review.Text("f1\nf2\nu1\n")
				is.Mode = 0o644
				w.ledger.Elsewhere(w.path("f"), is)
				w.sync()
			},
			listed: "added g pending", left: "f=f1 f2 u1",
		},
		"a file that becomes a link": {
			do:     func(w *world) { w.sh("rm f; ln -s g f") },
			listed: "deleted f pending", left: "f=f1 f2",
		},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				if c.before != nil {
					c.before(w)
				}
				w.begin()
				c.do(w)
				w.end()
				check.Equal(t, w.states(), c.listed, "the record has %q")
				left := c.left
				switch {
				case c.listed == "":
				case undo:
					left = strings.Trim(cmp.Or(c.undone, left), "-")
					w.must(w.undo(false))
				case strings.Contains(c.listed, "pending") || strings.Contains(c.listed, "moved") || c.listed == "added n":
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.texts(), left, "undo %v: there is %q", undo)
				if !undo && c.undone == "" {
					_ = w.undo(false) // of what is left of the turn
					check.Equal(t, w.texts(), left, "undone after it was refused there is %q")
				}
			})
		}
	}
}

// What the user has typed in the agent's line before they change the file on the disk too leaves that the agent's.
func TestTheUsersChangeOnTheDiskBesideTheirTyping(t *testing.T) {
	t.Parallel()
	w, told := newWorld(t), &toldFiles{last: map[string]string{}}
	w.open(func(c *Config) { c.Changed = told.Changed })
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\nf2\n")
	w.sees("f")
	w.sync()
	before, disk, after := "f1\na1!\nf2\n", "f1\nu1\na1\nf2\n", "f1\nu1\na1!\nf2\n"
	w.write("f", disk)
	b := w.bufs[w.path("f")]
	b.text, b.synced = after, disk
	w.ledger.UserChanged(buffers.Written{Path: w.path("f"), Changed: true, Before: &before, After: &after, Disk: &disk, FormBefore: plain, FormAfter: plain})
	w.sync()
	check.Equal(t, told.text(w.path("f")), after, "told is %q")
	w.end()
	check.Equal(t, w.states(), "modified f pending", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nu1\nf2\n", "refused there is %q")
}

// What the user writes is known at once, with and without a buffer; and what they have made in the meantime where a file
// would go back stands in its way.
func TestWhatTheUserWritesIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	w, told := newWorld(t), &toldFiles{last: map[string]string{}}
	w.open(func(c *Config) { c.Changed = told.Changed })
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.write("f", "f1\na1\nu1\n")
	w.saved("f")
	w.sync()
	check.Equal(t, w.file("f", false), "f1\na1\nu1\n", "written by a command of the user's it is %q")
	w.edit("f")
	w.types("f", func(text string) string { return text + "u2\n" })
	w.saves("f")
	w.sync()
	check.Equal(t, told.text(w.path("f")), "f1\na1\nu1\nu2\n", "written from its buffer, told is %q")
	w.move("g", "h")
	w.end()
	w.write("g", "u1\n")
	_, notes, err := w.undoOf("", false, true)
	if err != nil || !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, "cannot go back to ") }) {
		t.Errorf("an undo would say %q, %v", notes, err)
	}
}

// states lists the record with the states of hunks.
func (w *world) states() string {
	var list []string
	for _, f := range w.files() {
		s := fmt.Sprintf("%s %s", f.Status, strings.TrimPrefix(f.Path, w.dir+"/"))
		if f.OldPath != "" {
			s += " from " + strings.TrimPrefix(f.OldPath, w.dir+"/")
		}
		for _, h := range f.Hunks {
			s += " " + string(h.State)
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}

// texts lists the files of the folder with their words.
func (w *world) texts() string {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	w.must(err)
	var list []string
	for _, e := range entries {
		if data, err := os.ReadFile(w.path(e.Name())); err == nil {
			list = append(list, e.Name()+"="+strings.Join(strings.Fields(string(data)), " "))
		}
	}
	return strings.Join(list, " ")
}

// What the agent writes in the tick of the clock in which the file was changed before the prompt is the agent's, also if only
// line ends are.
func TestWrittenInTheTickBeforeThePrompt(t *testing.T) {
	for after, want := range map[string]string{"f1\na1\n": "modified f -1,0+2,1\n", "f1\r\n": "modified f\n"} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		at, text, form := changedAt(w.path("f")), buffers.Decoded([]byte(after)), buffers.Form([]byte(after))
		w.write("f", after)
		b := w.bufs[w.path("f")]
		b.text, b.synced, b.form = text, text, form
		w.ledger.Took(buffers.Written{
			Path: w.path("f"), Buf: 1, Changed: true, Before: new("f1\n"), After: &text, Disk: &text,
			FormBefore: plain, FormAfter: form, At: at, ReadAt: time.Now(),
		}, "disk", false)
		w.end()
		check.Equal(t, w.changes(), want, "listed is %q")
	}
}

// That a file is gone may be told twice, by a look and by the watch: an undo of the turn brings it back.
func TestGoneIsToldTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("g", "g1\n")
	w.edit("g")
	w.begin()
	w.remove("g")
	w.sees("g")
	w.ledger.Took(buffers.Written{Path: w.path("g"), Deleted: true, Before: new("g1\n"), FormBefore: plain}, "disk", false)
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `g 644 "g1\n"`, "undone, there is %s")
}

// So it is where there was no turn yet: the second word of it is no event.
func TestGoneIsToldTwiceInNoTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("g", "g1\n")
	w.edit("g")
	w.remove("g")
	w.sees("g")
	w.ledger.Took(buffers.Written{Path: w.path("g"), Deleted: true, Before: new("g1\n"), FormBefore: plain}, "disk", false)
	w.sync()
	check.Equal(t, len(w.events), 1, "%d events are told")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `g 644 "g1\n"`, "refused, there is %s")
}

// A file in a buffer that the agent makes a folder, in a call that names it, and moves away comes back.
func TestAFolderInAFilesPlaceIsMovedAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("g", "g1\n")
	w.edit("g")
	w.begin()
	w.call("edit", func() {
		w.remove("g")
		w.must(os.Mkdir(w.path("g"), 0o755))
		w.write("g/f", "a1\n")
	}, "g")
	w.move("g", "h")
	w.end()
	check.Equal(t, w.changes(), "deleted g -1,1+0,0\nadded h/f -0,0+1,1\n", "the record has %q")
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `g 644 "g1\n"`, "undone, there is %s")
}

// What the agent makes under a buffer with unsaved text, whose file the user has removed, or an agent has moved away, is the
// agent's. Refused or undone, the buffer has all of its text again, and the disk what it had.
func TestMadeUnderWhatIsNotSaved(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\n")
			w.edit("f")
			w.types("f", func(text string) string { return text + "u\n" })
			if moved {
				w.begin()
				w.move("f", "g")
				w.end()
			} else {
				w.idle = true // the user does that
				w.remove("f")
				w.sees("f")
			}
			w.begin()
			w.write("f", "a1\n")
			w.sees("f")
			w.end()
			is, listed := w.tree(), "added f -1,1+1,1\n"
			if moved {
				listed = "moved g from f\n" + listed
			}
			check.Equal(t, w.changes(), listed, "moved %v: listed is %q", moved)
			want := ""
			switch {
			case undo:
				w.must(w.undo(false))
				if moved {
					want = `g 644 "f1\n"`
				}
			default:
				w.decide(review.Reject, "")
				if moved {
					want = `f 644 "f1\n"`
				}
			}
			check.Equal(t, w.tree(), want, "moved %v, undo %v: there is %s", moved, undo)
			check.Equal(t, w.sees("f"), "f1\nu\n", "moved %v, undo %v: the buffer has %q", moved, undo)
			if undo {
				w.must(w.undo(true))
				check.Equal(t, w.tree(), is, "moved %v, undone and again: there is %s", moved)
			}
		}
	}
}

// The user saves what conflicts with the agent's, and the agent writes more at once: what they had saved stays theirs.
func TestSavedOverAConflictThenChanged(t *testing.T) {
	t.Parallel()
	w := inConflict(t)
	before, after := "f1\nu2\nf3\n", "f1\nu2\nf3\na4\n"
	w.write("f", after)
	b := w.bufs[w.path("f")]
	b.text, b.synced, b.told = after, after, after
	w.ledger.Took(buffers.Written{Path: w.path("f"), Buf: 1, Changed: true, Before: &before, After: &after, Disk: &after, FormBefore: plain, FormAfter: plain, ReadAt: time.Now()}, "disk", false)
	w.end()
	check.Equal(t, w.changes(), "modified f -3,0+4,1\n", "listed is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), before, "there is %q")
}

// What conflicted with unsaved text, and was taken back by the agent, is no change when that text is given up.
func TestTakenBackUnderAConflict(t *testing.T) {
	t.Parallel()
	w := inConflict(t)
	w.write("f", "f1\nf2\nf3\n")
	w.sees("f")
	w.sync()
	w.disk.Lock()
	w.events = nil
	w.disk.Unlock()
	w.rereads("f")
	w.sync()
	w.disk.Lock()
	defer w.disk.Unlock()
	check.Equal(t, len(w.events), 0, "it is told %d times")
}

// A file that is made under a new buffer with unsaved text is listed as new.
func TestMadeUnderANewBuffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.write("n", "a1\n")
	after, disk := "u1\na1\n", "a1\n"
	w.bufs[w.path("n")] = &buffer{text: after, form: plain, synced: disk}
	w.ledger.Took(buffers.Written{Path: w.path("n"), Buf: 1, Changed: true, Created: true, Unsaved: true, After: &after, Disk: &disk, FormAfter: plain}, "disk", false)
	w.ledger.FileOpened(buffers.Opened{Path: w.path("n"), Loaded: true})
	w.end()
	check.Equal(t, w.states(), "added n pending", "the record has %q")
}

// A removal that is told without its time is of the turn in which it is told, if that has begun with the file.
func TestRemovedInATurnThatBeganBeforeTheLastWasOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	release := w.holdLooks()
	over, begun := make(chan struct{}), make(chan struct{})
	w.mu.Lock()
	w.ledger.EndTurn(func() { close(over) })
	w.ledger.BeginTurn("next", func() { close(begun) })
	w.mu.Unlock()
	release()
	<-over
	<-begun
	w.sync()
	w.remove("f")
	w.ledger.Took(buffers.Written{Path: w.path("f"), Deleted: true, Changed: true, Before: new("f1\n"), FormBefore: plain}, "fs", false)
	w.end()
	check.Equal(t, w.states(), "deleted f pending", "the record has %q")
}

// A file that the agent moves to where a buffer still shows one that it has removed is told as its change, once, like the removal.
func TestMovedToWhereABufferShowsARemovedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	w.edit("f")
	w.begin()
	w.remove("f")
	w.sees("f")
	w.sync()
	w.move("g", "f")
	w.sees("f")
	w.sync()
	w.end()
	w.disk.Lock()
	defer w.disk.Unlock()
	check.Slice(t, w.events, []Event{{w.path("f"), "disk"}, {w.path("f"), "disk"}}, "told is %v")
}
