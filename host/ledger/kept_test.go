package ledger

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestWhatWasAcceptedBeforeIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		before, past, written string // past the client, then by it
		want                  string
	}{
		"a line":           {"a\nb\nc\nd\n", "a\nb\nc\nd\n", "a\nB\nc\nd\n", "[kept]"},
		"beside another":   {"a\nb\nc\nd\n", "a\nb\nc\nD\n", "a\nB\nc\nD\n", "[kept pending]"},
		"gone":             {"a\nb\nc\nd\n", "a\nb\nc\nD\n", "b\nc\nD\n", "[kept pending]"},
		"below":            {"a\nb\nc\nd\n", "A\nb\nc\nd\n", "A\nb\nc\nd\ne\n", "[pending kept]"},
		"of what was so":   {"a\n", "b\n", "c\n", "[pending kept]"},
		"gone before":      {"a\nb\n", "", "c\n", "[pending kept]"},
		"below a new one":  {"a\nb\n", "A\na\nb\n", "A\nN\nb\n", "[pending kept]"},
		"above a new one":  {"a\nb\n", "a\nA\nb\n", "N\nA\nb\n", "[kept pending]"},
		"between new ones": {"a\nb\n", "A\na\nB\nb\n", "A\nN\nB\nb\n", "[pending kept pending]"},
		"the last newline": {"a\nb\n", "A\nb\n", "A\nb", "[pending kept]"},
	} {
		r := review.New(1 << 20)
		r.Changed("f", review.Text(c.before), review.Text(c.past))
		before, _ := r.File("f")
		r.Changed("f", review.Text(c.past), review.Text(c.written))
		keepWritten(r, "f", before, review.Text(c.past), review.Text(c.written), nil)
		f, _ := r.File("f")
		var states []review.State
		for _, h := range f.Hunks {
			states = append(states, h.State)
		}
		check.Equal(t, fmt.Sprint(states), c.want, "%s: the hunks are %v", name)
	}
	for name, c := range map[string]struct{ was, is review.Content }{
		"new":        {review.Content{}, review.Text("a\n")},
		"new, empty": {review.Content{}, review.Text("")},
		"gone":       {review.Text("a\n"), review.Content{}},
		"bytes":      {review.Text("\x00a"), review.Text("\x00b")},
		"made text":  {review.Text("\x00a"), review.Text("b\n")},
		"made bytes": {review.Text("a\n"), review.Text("\x00b")},
	} {
		r := review.New(1 << 20)
		r.Changed("f", c.was, c.is)
		keepWritten(r, "f", review.File{}, c.was, c.is, nil)
		if f, known := r.File("f"); !known || f.State != review.Kept {
			t.Errorf("%s: the file is %q", name, f.State)
		}
	}
	r := review.New(1 << 20)
	r.Changed("f", review.Text("a\n"), review.Text("b\n"))
	keepWritten(r, "f", review.File{}, review.Text("b\n"), review.Text("b\n"), nil)
	keepWritten(r, "other", review.File{}, review.Text("b\n"), review.Text("c\n"), nil)
	if f, _ := r.File("f"); f.State != review.Pending {
		t.Errorf("by a write that changes nothing the file is %q", f.State)
	}
}

// A write that the user has accepted beforehand is kept as it comes, what came past the client waits.
func TestAnAcceptedWriteIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.begin()
	before, after := "f1\nf2\nf3\na1\n", "a2\nf2\nf3\na1\n"
	w.write("f", after)
	w.ledger.Took(buffers.Written{Path: w.path("f"), Changed: true, Before: &before, After: &after, Disk: &after, FormBefore: plain, FormAfter: plain}, "fs", true)
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "a2\nf2\nf3\n", "refused there is %q")
}

// What is not text and was accepted comes back, whether the agent has moved its file since or removed it.
func TestAcceptedBytesComeBack(t *testing.T) {
	for name, takes := range map[string]func(w *world){
		"moved": func(w *world) { w.move("f", "g") }, "removed": func(w *world) { w.remove("f") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\n")
			w.begin()
			w.write("f", "\x00a1\n")
			w.end()
			w.begin()
			before, after := "\x00a1\n", "\x00a2\n"
			w.write("f", after)
			w.ledger.Took(buffers.Written{Path: w.path("f"), Changed: true, Before: &before, After: &after, Disk: &after, FormBefore: plain, FormAfter: plain}, "fs", true)
			w.sync()
			takes(w)
			w.end()
			w.decide(review.Reject, "")
			check.Equal(t, w.tree(), `f 644 "\x00a2\n"`, "refused there is %s")
		})
	}
}

// Only the writes that the user has reviewed count as kept.
func TestOnlyReviewedWritesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	was, is := "a\n", "b\n"
	for _, c := range []struct {
		name, by string
		reviewed bool
		want     review.State
	}{{"waited", "fs", true, review.Kept}, {"passed", "fs", false, review.Pending}, {"past", "disk", false, review.Pending}} {
		w.write(c.name, is)
		w.ledger.Took(buffers.Written{Path: w.path(c.name), Before: &was, After: &is, Changed: true}, c.by, c.reviewed)
		got := make(chan review.State)
		w.ledger.File(w.path(c.name), false, func(f review.File) { got <- f.State })
		check.Equal(t, <-got, c.want, "%s is %q", c.name)
	}
}

// What the agent had removed, or had made of permissions, before a write that the user accepts was not in the question:
// it waits, and a refusal brings it back. The form that the write brings is accepted with it.
func TestWhatWasMadeBeforeAnAcceptedWriteWaits(t *testing.T) {
	content := func(text, form string, mode fs.FileMode) review.Content {
		return review.Content{Exists: true, Text: text, Form: form, Mode: mode}
	}
	text := review.Text
	for name, c := range map[string]struct{ before, past, written, refused review.Content }{
		"a line in the place":          {text("a\nb\nc\nd\n"), text("a\nc\nd\n"), text("a\nX\nd\n"), text("a\nb\nX\nd\n")},
		"a line below":                 {text("a\nb\nc\nd\n"), text("a\nb\nd\n"), text("a\nX\nd\n"), text("a\nX\nc\nd\n")},
		"lines around":                 {text("a\nb\nc\nd\ne\n"), text("a\nc\ne\n"), text("a\nX\nY\ne\n"), text("a\nb\nX\nY\nd\ne\n")},
		"a line where one is added":    {text("a\nb\nc\n"), text("a\nc\n"), text("a\nX\nc\n"), text("a\nb\nX\nc\n")},
		"a line where another is gone": {text("a\nb\nc\nd\n"), text("a\nc\nd\n"), text("a\nd\n"), text("a\nb\nd\n")},
		"more lines on both sides":     {text("a\nb\nc\nd\ne\n"), text("a\nc\nd\ne\n"), text("X\ne\n"), text("b\nX\ne\n")},
		"a line below a new one":       {text("a\nb\n"), text("N\na\nb\n"), text("N\nX\nb\n"), text("X\nb\n")},
		"a line above a new one":       {text("a\nb\n"), text("a\nN\nb\n"), text("X\nN\nb\n"), text("X\nb\n")},
		"a new one above a new one":    {text("a\nb\n"), text("a\nN\nb\n"), text("a\nX\nN\nb\n"), text("a\nX\nb\n")},
		"lines between new ones":       {text("a\nb\n"), text("N\na\nM\nb\n"), text("N\nX\nM\nY\n"), text("X\nY\n")},
		"all of it":                    {text("a\nb\n"), text(""), text("X\n"), text("a\nb\nX\n")},
		"the file":                     {text("a\nb\n"), review.Content{}, text("X\n"), text("a\nb\nX\n")},
		"the file, in another form":    {content("a\n", "utf-8 dos", 0), review.Content{}, content("X\n", "latin1 unix", 0), content("a\nX\n", "latin1 unix", 0)},
		"permissions":                  {content("a\n", "", 0o644), content("a\n", "", 0o755), content("X\n", "", 0o755), content("X\n", "", 0o644)},
		"the form":                     {content("a\n", "", 0), content("a\n", "utf-8 dos", 0), content("X\n", "utf-8 dos", 0), content("X\n", "", 0)},
		"a form by the write":          {content("a\n", "", 0), content("a\n", "", 0), content("X\n", "utf-8 dos", 0), content("X\n", "utf-8 dos", 0)},
		"that, and lines":              {content("a\nb\nc\n", "", 0o644), content("B\nb\nc\n", "", 0o755), content("B\nb\nX\n", "utf-8 dos", 0o755), content("a\nb\nX\n", "utf-8 dos", 0o644)},
	} {
		r := review.New(1 << 20)
		r.Changed("f", c.before, c.past)
		before, _ := r.File("f")
		r.Changed("f", c.past, c.written)
		keepWritten(r, "f", before, c.past, c.written, nil)
		p, err := r.Plan("f", review.Reject, review.Selection{})
		if err != nil || p.Want != c.refused {
			t.Errorf("%s: refused it is %+v (%v), wanted %+v", name, p.Want, err, c.refused)
		}
	}
}

// A file that the agent has made, which the user has accepted, and that it then removes and makes anew: the removal waits.
func TestAcceptedAgainWhereANewFileWasRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.clientMakes("f", "", "a1\na2\n", true)
	w.remove("f")
	w.clientMakes("f", "", "a2\na3\n", true)
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "a1\na2\na3\n", "refused there is %q")
}

// Undoing an accepted write by u leads back to what waited before it, which the write may have reversed.
func TestUndoneAcceptedWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\n")
	w.sees("f")
	w.clientMakes("f", "f1\na1\n", "f1\nf2\na2\n", true)
	w.types("f", func(string) string { return "f1\na1\n" })
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nf2\n", "refused there is %q")
}

// The user accepts a write to a file that has been changed past the client, of which nobody has told yet: what that
// took away comes back when it is refused, and the write stays.
func TestAnAcceptedWriteOverWhatNobodyHasTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		past, written, refused string
		loaded                 bool
	}{
		"emptied":           {"", "a1\n", "f1\nf2\na1\n", false},
		"emptied, loaded":   {"", "a1\n", "f1\nf2\na1\n", true},
		"a line is gone":    {"f2\n", "f2\na1\n", "f1\nf2\na1\n", false},
		"a line came":       {"f1\na0\nf2\n", "f1\na0\nf2\na1\n", "f1\nf2\na1\n", false},
		"permissions alone": {"f1\nf2\n", "f1\nf2\na1\n", "f1\nf2\na1\n", false},
		"removed":           {"no file", "a1\n", "f1\nf2\na1\n", false},
	} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		if c.loaded {
			w.edit("f")
		}
		w.begin()
		w.write("f", c.past)
		w.chmod("f", 0o755)
		w.sees("f") // a buffer has it before the write
		before := &c.past
		if c.past == "no file" {
			w.remove("f")
			before = nil
		}
		w.write("f", c.written)
		w.disk.Lock()
		if b := w.bufs[w.path("f")]; b != nil {
			b.text, b.synced = c.written, c.written
		}
		w.disk.Unlock()
		w.ledger.Took(buffers.Written{
			Path: w.path("f"), Changed: true, Created: before == nil, Before: before, After: &c.written, Disk: &c.written,
			FormBefore: plain, FormAfter: plain, Since: changedAt(w.path("f")),
		}, "fs", true)
		w.end()
		w.decide(review.Reject, "")
		if got := w.sees("f"); got != c.refused || modeOf(w.path("f")) != 0o644 {
			t.Errorf("%s: refused there is %q, %o", name, got, modeOf(w.path("f")))
		}
	}
}

// A write that the user has accepted where the agent had removed the file, and only a buffer with unsaved text had its
// lines, says nothing of these: they are there again, in their order, when that text is given up and all is refused.
func TestAcceptedWhereTheFileWasRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.edit("f")
	w.types("f", func(now string) string { return "u1\n" + now })
	w.begin()
	w.remove("f")
	w.follow(w.path("f"), true)
	mine, synced, disk := "u1\nf1\nf2\nf3\n", "f1\nf2\nf3\n", "a1\n"
	after := "u1\nf1\na1\nf2\nf3\n"
	w.write("f", disk)
	w.disk.Lock()
	b := w.bufs[w.path("f")]
	b.text, b.synced, b.gone = after, disk, false
	w.disk.Unlock()
	w.ledger.Took(buffers.Written{
		Path: w.path("f"), Buf: 1, Changed: true, Created: true, Unsaved: true, Before: &mine, After: &after, Disk: &disk, Behind: &synced,
		FormBefore: plain, FormAfter: plain,
	}, "fs", true)
	w.end()
	w.wipe("f")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), "f 644 \"f1\\na1\\nf2\\nf3\\n\"", "refused there is %s")
}

// Bytes that the user has kept come back where the agent changes them again and that is refused.
func TestKeptBytesComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.sync()
	w.call(session.KindEdit, func() { w.write("f", "\x00a1") }, "f")
	w.decide(review.Keep, "f")
	w.write("f", "\x00a2")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "\x00a1"`, "there is %s")
}

// A text that the agent has made bytes and moved comes back where that is undone, done again and refused.
func TestMovedBytesThatAreDoneAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "a1\n")
	w.end()
	w.begin()
	w.write("f", "\x00a1\n")
	w.move("f", "g")
	w.end()
	for _, again := range []bool{false, false, true, true} {
		w.must(w.undo(again))
	}
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// A file that was kept while it was empty is empty again when what the agent has put into it since is refused.
func TestKeptEmptyFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.call("edit", func() { w.write("f", "") }, "f")
	w.decide(review.Keep, "f")
	w.write("f", "a1\n")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 ""`, "there is %s")
}

// Permissions that were kept under unsaved text, with the lines, stay kept when that text is given up.
func TestKeptPermissionsUnderUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.types("f", func(string) string { return "f1\nu1\n" })
	w.begin()
	w.sync()
	w.write("f", "a1\nf1\n")
	w.call("edit", func() { w.chmod("f", 0o755) }, "f")
	w.decide(review.Keep, "f")
	w.wipe("f")
	check.Equal(t, w.changes(), "modified f -0,0+1,1 kept\n", "the record has %q")
	w.end()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "undone, there is %s")
}

// A new file that the agent has moved is one file where it was kept before the end of the turn tells of the move.
func TestKeptWhereANewFileWasMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.sync()
	w.call("edit", func() { w.write("f", "a1\n") }, "f")
	w.move("f", "g")
	w.call("edit", func() {}, "f", "g")
	w.decide(review.Keep, "g")
	w.end()
	check.Equal(t, w.changes(), "added g -0,0+1,1 kept\n", "the record has %q")
}

// A text that the user has accepted, in a file that had once been no text, comes back when what comes after it is refused.
func TestAcceptedTextWhereBytesHadBeenComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.write("f", "a\x00b\n")
	w.sync()
	w.end()
	w.begin()
	w.write("f", "f1\n")
	w.sync()
	w.clientMakes("f", "f1\n", "a1\na2\n", true)
	w.write("f", "a1\na2\na3\n")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "a1\na2\n"`, "there is %s")
}

// A write that the user accepts, and that ends the last line, does not accept the encoding that the agent had given the
// file before.
func TestAnAcceptedEndOfALineIsNoEncoding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\xfc\nf2\n")
	w.begin()
	w.write("f", "f1\u00fc\nf2")
	w.sync()
	before, after := "f1\u00fc\nf2\n", "f1\u00fc\na1\nf2\n"
	w.write("f", after)
	w.ledger.Took(buffers.Written{
		Path: w.path("f"), Changed: true, Before: &before, After: &after, Disk: &after, FormBefore: plain + " noeol", FormAfter: plain,
	}, "fs", true)
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\xfc\na1\nf2\n"`, "there is %s")
}

// A move that was kept while the file's buffer had unsaved text stays kept when that text is given up.
func TestAMoveKeptUnderUnsavedTextIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.move("f", "g")
	w.end()
	w.edit("g")
	w.types("g", func(text string) string { return text + "u3\n" })
	w.begin()
	w.end()
	w.decide(review.Keep, "")
	w.rereads("g")
	check.Equal(t, w.changes(), "moved g from f kept\n", "the record has %q")
}

// A change that came under unsaved text after another one had been kept there waits when that text is given up.
func TestChangedAfterWhatWasKeptUnderUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n=\n")
	w.edit("f")
	w.begin()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.write("f", "a1\n=\n")
	w.sees("f")
	w.decide(review.Keep, "f")
	w.types("f", func(string) string { return "u2\n=\nu1\n" })
	w.write("f", "a2\n=\n")
	w.sees("f")
	w.end()
	w.wipe("f")
	check.Equal(t, w.changes(), "modified f -1,1+1,1\n", "listed is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "a1\n=\n"`, "refused, there is %s")
}

// What the user has kept of a file, and of what conflicts with their unsaved text there, stays kept where Neovim is killed in
// a later turn that does nothing to it, with its permissions.
func TestKeptUnderUnsavedTextThatDies(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} { // the permissions
		w := newWorld(t)
		w.named()
		w.write("f", "f1\n=\nu1\n")
		w.edit("f")
		w.begin()
		w.sync()
		w.types("f", func(string) string { return "f1\n=\n" })
		w.write("f", "a1\n=\nu1\n")
		w.sees("f")
		w.types("f", func(string) string { return "a1\n=\nu2\nu3\n" })
		give := func() {
			w.chmod("f", 0o755)
			w.call("edit", func() {}, "f")
		}
		if first {
			give()
		}
		w.decide(review.Keep, "f")
		w.types("f", func(string) string { return "a1\n=\nu4\n" })
		w.write("f", "a1\n=\na2\n")
		w.sees("f")
		if !first {
			give()
		}
		w.end()
		w.decide(review.Keep, "f")
		w.begin()
		w.killed(false)
		check.Equal(t, w.changes(), "modified f -1,1+1,1 -3,1+3,1 kept\n", "the record has %q")
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), `f 755 "a1\n=\na2\n"`, "refused there is %s")
	}
}

// The user can take back a decision by which nothing of the agent's is left in a file, unless they have changed it since.
func TestADecisionThatLeftNothingIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, before, first, then string // "" is no file
	}{
		"a removal of a new file":    {"new", "", "a1\n", ""},
		"a change to what was there": {"f", "f1\n", "f1\na1\n", "f1\n"},
	} {
		for _, changed := range []bool{false, true} {
			w := newWorld(t)
			has := func(text string) {
				if text == "" {
					w.remove(c.file)
				} else {
					w.write(c.file, text)
				}
			}
			if c.before != "" {
				has(c.before)
			}
			w.begin()
			w.sync()
			w.call("edit", func() { has(c.first) }, c.file)
			w.decide(review.Keep, "")
			w.call("edit", func() { has(c.then) }, c.file)
			w.end()
			var made []Made
			w.makes(Decision{Do: review.Keep, Path: w.path(c.file), Made: func(m Made) { made = append(made, m) }})
			check.Equal(t, w.changes(), "", name+": kept, the record has %q")
			if changed {
				has("u1\n")
				err := w.tries(Decision{Path: made[0].Path(), Back: &made[0]})
				check.Equal(t, fmt.Sprint(err), review.ErrNotChanged.Error(), name+", and changed since: it says %q")
				continue
			}
			w.makes(Decision{Path: made[0].Path(), Back: &made[0]})
			w.decide(review.Reject, "")
			check.Equal(t, w.sees(c.file), c.first, name+": taken back and refused, there is %q")
		}
	}
}

// What the user was shown of a write and has accepted is kept, also where the agent has emptied or removed the file by then,
// which they could not see: all that the write makes of what they saw, and no more.
func TestAcceptedWhereTheFileWasEmptiedMeanwhile(t *testing.T) {
	const first, shown, written = "f1\nf2\nf3\nf4\nf5\nf6\n", "a1\nf2\nf3\nf4\nf5\nf6\n", "a1\nf2\nf3\na4\nf5\n"
	for _, keeps := range []bool{false, true} { // what the agent had done before
		for _, how := range []string{"empty", "gone"} {
			w := newWorld(t)
			w.write("f", first)
			w.edit("f")
			w.begin()
			w.clientMakes("f", first, shown, keeps)
			told := buffers.Written{Path: w.path("f"), Buf: 1, Changed: true, Shown: new(shown), After: new(written), Disk: new(written), FormAfter: plain}
			if how == "gone" {
				w.remove("f")
				w.follow(w.path("f"), true)
				told.Created = true
			} else {
				w.write("f", "")
				w.follow(w.path("f"), true)
				told.Before, told.FormBefore = new(""), plain
			}
			w.write("f", written)
			b := w.bufs[w.path("f")]
			b.text, b.synced, b.gone = written, written, false
			w.ledger.Took(told, "fs", true)
			w.end()
			w.decide(review.Reject, "")
			want := written
			if !keeps {
				want = strings.Replace(written, "a1", "f1", 1)
			}
			check.Equal(t, w.sees("f"), want, "%s, kept before %v: there is %q", how, keeps)
		}
	}
}
