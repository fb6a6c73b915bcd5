package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// The tests in this file are about what seldom happens: faults of the disk, and things that happen at once.

// A moved file whose way back is barred at the last moment, or that is gone by then, stays where it is, and the refusal
// says why.
func TestTheWayBackIsBarred(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(w *world)
		left      string
	}{
		"barred": {func(w *world) { w.once("restore", "f", 1, func() { w.must(os.Mkdir(w.path("f"), 0o755)) }) }, `g 644 "f1\n"`},
		"gone":   {func(w *world) { w.remove("g") }, ""},
	} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.begin()
		w.move("f", "g")
		w.end()
		w.files()
		_, err := w.refuse(func(review.File) review.Selection {
			c.meanwhile(w)
			return review.Selection{}
		})
		if err == nil || !strings.HasPrefix(err.Error(), "g: ") {
			t.Errorf("%s: the refusal says %v", name, err)
		}
		check.Equal(t, w.tree(), c.left, "%s: there is %s")
		if name == "gone" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the refusal says %v", err)
		}
	}
}

// A call between turns, as a background task's, says nothing about whose a file is.
func TestACallBetweenTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	for range 2 {
		w.call(session.KindMove, func() { w.move("f", "g") }, "f", "g")
		w.move("g", "f")
		w.call(session.KindEdit, func() { w.write("f", w.sees("f")+"u1\n") }, "f")
		w.sync()
		check.Equal(t, w.changes(), "", "the record has %q")
		w.begin()
		w.end()
	}
}

// What the user writes at a new path was not moved there, whatever it has.
func TestTheUsersFileIsNotTheOneThatWasMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.write("g", "f1\n")
	w.saved("g")
	w.sync()
	w.remove("f")
	w.end()
	check.Equal(t, w.changes(), "deleted f -1,1+0,0\n", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), "f 644 \"f1\\n\"\ng 644 \"f1\\n\"", "there is %s")
}

// A call that says that it moves a file from where none was has made one.
func TestMovedFromNowhere(t *testing.T) {
	t.Parallel()
	for _, blind := range []bool{false, true} {
		w := newWorld(t)
		w.blind[w.path("f")] = blind
		w.begin()
		w.call(session.KindMove, func() { w.write("g", "a1\n") }, "f", "g")
		check.Equal(t, w.changes(), "added g -0,0+1,1\n", "blind %v: the record has %q", blind)
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), "", "blind %v: there is %s", blind)
	}
}

// What the user had typed before any turn of this host, and what record and turns said of it, is known to the next host.
func TestUnsavedBetweenTwoHosts(t *testing.T) {
	t.Parallel()
	for _, lives := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.named()
		w.begin()
		w.write("f", "f1\na1\nf2\n")
		w.end()
		w.killed(false)
		w.edit("f")
		w.types("f", func(now string) string { return strings.Replace(now, "a1\n", "u1\n", 1) })
		w.changes()
		w.box(w.ledger.save)
		w.killed(lives)
		if !lives {
			check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "the record has %q")
		}
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), "f1\nf2\n", "lives %v: the disk has %q", lives)
	}
}

// Files of a folder of which nothing is known, and more that were made there later, are one change that cannot be taken
// back.
func TestMadeAmongMoreThanTheStoreHolds(t *testing.T) {
	defer func(unkept, listed int) { maxUnkept, maxListed = unkept, listed }(maxUnkept, maxListed)
	maxUnkept, maxListed = 1, 1
	w := newWorld(t)
	large := strings.Repeat("x", 1<<20)
	w.write("big/1", large+"was")
	w.write("big/2", large+"was")
	w.begin()
	w.write("big/1", large+"is")
	w.write("big/2", large+"is")
	w.end()
	before := w.tree()
	w.begin()
	for _, name := range []string{"big/3", "big/4", "big/5"} {
		w.write(name, "made")
	}
	w.end()
	if _, err := w.refuse(nil); !errors.Is(err, errForgotten) {
		t.Errorf("the refusal says %v", err)
	}
	check.Equal(t, len(w.tree()) > len(before), true, "files are left: %v")
	folders := 0
	for _, e := range w.events {
		if review.IsFolder(e.Path) {
			folders++
		}
	}
	check.Equal(t, folders, 2, "%d events are about folders")
}

// It is known whether there are files at which nobody looks.
func TestUnseenFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.end()
	w.box(func() {
		seen := w.ledger.Unseen()
		w.ledger.scans.saw(nil)
		if seen || !w.ledger.Unseen() {
			t.Errorf("unseen is %v, and without a look %v", seen, w.ledger.Unseen())
		}
	})
}

// Where nothing is watched any more, and nobody hears, whoever waits goes on.
func TestNotedWhenAllIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ledger.Close()
	noted := false
	w.ledger.Noted(func() { noted = true })
	check.Equal(t, noted, true, "it is noted: %v")
	w.ledger.File(w.path("f"), true, func(f review.File) { noted = f.Path != "" })
	check.Equal(t, noted, false, "there is a file: %v")
	ready := make(chan struct{})
	w.ledger.BeginTurn("", func() { close(ready) })
	<-ready
}

// What no reader can read is no file.
func TestAFolderIsNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check.Equal(t, onDisk(w.dir), (review.Content{}), "a folder is %+v")
	w.write("f", "f1\n")
	is := review.Text("f1\n")
	is.Mode = 0o644
	check.Equal(t, onDisk(w.path("f")), is, "the file is %+v")
	w.must(os.Truncate(w.path("f"), maxReviewed))
	if is := onDisk(w.path("f")); is.Text == largeMark(w.path("f")) {
		t.Error("a file that can just be compared is not")
	}
	w.must(os.Truncate(w.path("f"), maxReviewed+1))
	if is := onDisk(w.path("f")); !is.Opaque || is.Mode != 0o644 || is.Text == "" || is.Text != largeMark(w.path("f")) {
		t.Errorf("the large file is %+v", is)
	}
	check.Equal(t, largeMark(w.path("none")), "", "of no file the mark is %q")
	check.Equal(t, modeOf(w.path("none")), fs.FileMode(0), "its permissions are %v")
}

// The user saves text that conflicts with the agent's by an autocommand, of which Neovim tells nobody: it is theirs, and
// what they give up is not.
func TestSavedOrGivenUpWithoutAWord(t *testing.T) {
	t.Parallel()
	for saved, left := range map[string]string{"u1\nf2\nu2\n": "u1\nf2\nu2\n", "a1\nf2\n": "f1\nf2\n", "a1\nf2\na2\n": "f1\nf2\n", "x1\nf2\n": "f1\nf2\n"} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.edit("f")
		w.begin()
		w.types("f", func(string) string { return "u1\nf2\n" })
		w.clientWrites("f", "f1\nf2\n", "a1\nf2\n")
		w.sync()
		w.disk.Lock()
		b := w.bufs[w.path("f")]
		b.text, b.synced, b.told = saved, saved, saved
		w.disk.Unlock()
		w.write("f", saved)
		if saved != left {
			w.write("f", saved) // the agent's
		}
		w.write("f", saved+"a3\n")
		w.sees("f")
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.sees("f"), left, "of %q there is %q", saved)
	}
}

// A buffer that was read anew while the agent had taken its file away has nothing of it any more.
func TestReadAnewWithoutAFile(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"", "g"} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.write("other", "o1\n")
		w.edit("f")
		w.edit("other")
		w.begin()
		if to == "" {
			w.remove("f")
		} else {
			w.move("f", to)
		}
		w.remove("other")
		w.sees("f")
		w.sees("other")
		w.end()
		w.disk.Lock()
		w.bufs[w.path("f")].text, w.bufs[w.path("f")].synced = "u1\n", ""
		w.disk.Unlock()
		w.ledger.FileOpened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new(string), Form: plain})
		w.box(func() {
			for path, is := range w.ledger.taken {
				if lost := is.all.buffer == nil && is.its.buffer == nil; lost != (is.path == w.path("f")) {
					t.Errorf("to %q: that the buffer has nothing of %s is %v", to, path, lost)
				}
			}
			check.Equal(t, len(w.ledger.taken), 2, "%d files are taken away")
		})
		w.decide(review.Reject, "")
		check.Equal(t, w.onDisk("f"), "f1\nf2\n", "to %q: the disk has %q", to)
	}
}

// What the user's other programs do to a file of a buffer is no news where the record does not have the file, and says
// nothing where its text was not known.
func TestOtherProgramsUnderABuffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\n")
	w.sees("f")
	w.end()
	told := func(name string, before *string, after string) {
		w.ledger.UserChanged(buffers.Written{Path: w.path(name), Changed: true, Before: before, After: &after, FormBefore: plain, FormAfter: plain})
		w.sync()
	}
	told("g", new("g1\n"), "g1\nu1\n")
	told("f", nil, "f1\na1\n")
	w.ledger.UserChanged(buffers.Written{Path: w.path("f"), Before: new("f1\na1\n"), After: new("u2\n"), FormBefore: plain, FormAfter: plain}) // its permissions
	if f, _ := w.recorded("f"); f.Present.Text != "f1\na1\n" || len(f.Hunks) != 1 {
		t.Errorf("the record has %+v", f)
	}
	w.box(func() {
		check.Equal(t, len(w.ledger.record.Paths()), 1, "the record has %d files")
	})
}

// While the first look at the folders is in progress, what comes to a buffer need not wait for it.
func TestABufferDoesNotWaitForTheFirstLook(t *testing.T) {
	defer func(was time.Duration) { maxWait = was }(maxWait)
	maxWait = 0
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	looked := w.holdLooks()
	w.begin()
	w.write("f", "f1\na1\n")
	w.sees("f")
	w.sync()
	if f, _ := w.recorded("f"); len(f.Hunks) != 1 {
		t.Errorf("before the look the record has %+v", f)
	}
	looked()
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\n", "there is %q")
}

// Bytes that only a turn has to bring back, as the user has kept what the agent made of them, are known to the next host.
func TestBytesOfAKeptFileAreSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\x00f1")
	w.named()
	w.begin()
	w.write("f", "\x00a1")
	w.end()
	w.decide(review.Keep, "")
	w.begin()
	w.write("g", "a2\n")
	w.end()
	w.killed(false)
	for _, want := range []string{"\x00a1", "\x00f1"} {
		w.must(w.undo(false))
		check.Equal(t, w.sees("f"), want, "undone there is %q")
	}
	w.killed(false)
	w.must(w.undo(true))
	check.Equal(t, w.sees("f"), "\x00a1", "done again there is %q")
}

// A file that is too large to be kept, or to be compared, goes back where it was, too.
func TestALargeFileGoesBack(t *testing.T) {
	t.Parallel()
	for _, size := range []int{2 << 20, maxReviewed + 1} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("in/f", strings.Repeat("f1\n", size/3+1))
			before := w.tree()
			w.begin()
			w.move("in/f", "g")
			w.must(os.Remove(w.path("in")))
			w.chmod("g", 0o755)
			w.end()
			if undo {
				_, notes, err := w.undoOf("", false, true)
				check.Equal(t, strings.Join(notes, ", "), "", "the undo of %d bytes would say %s", size)
				w.must(err)
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.tree() == before, true, "with undo %v, %d bytes are as before: %v", undo, size)
			check.Equal(t, strings.Contains(w.changes(), "pending"), false, "something is pending: %v")
		}
	}
}

// Where even the first look of all comes after what a command has done, that is not known; what the client writes is.
func TestTheVeryFirstLookIsLate(t *testing.T) {
	defer func(was time.Duration) { maxWait = was }(maxWait)
	maxWait = 0
	for name, c := range map[string]struct {
		do     func(w *world)
		listed string
	}{
		"a change":           {func(w *world) { w.write("f", "f1\na1\n") }, ""},
		"a removal":          {func(w *world) { w.remove("f") }, ""},
		"a move":             {func(w *world) { w.move("f", "g") }, ""},
		"through the client": {func(w *world) { w.clientWrites("f", "f1\n", "f1\na1\n") }, "modified f -1,0+2,1\n"},
	} {
		w := newWorld(t)
		w.write("f", "f1\n")
		looked := w.beginHeld()
		c.do(w)
		looked()
		w.end()
		check.Equal(t, w.changes(), c.listed, "%s: the record has %q", name)
	}
}

// An undo that the disk does not allow leaves the turn as it was, to be undone later; so does what only the disk has.
func TestAnUndoThatFails(t *testing.T) {
	t.Parallel()
	for _, unsaved := range []bool{false, true} {
		w := newWorld(t)
		var fails atomic.Bool
		w.open(func(c *Config) { c.Files = faulty{w, &fails} })
		w.write("f", "f1\nf2\n")
		w.write("g", "g1\n")
		w.edit("f")
		w.begin()
		w.write("f", "f1\na1\nf2\n")
		w.write("g", "g1\na2\n")
		w.sees("f")
		w.end()
		if unsaved { // the buffer has none of the agent's lines
			w.types("f", func(string) string { return "f1\nf2\n" })
		}
		listed := w.changes() // looks at it
		fails.Store(true)
		if err := w.undo(false); !errors.Is(err, errDisk) {
			t.Errorf("unsaved %v: the undo says %v", unsaved, err)
		}
		check.Equal(t, w.changes(), listed, "unsaved %v: the record has %q", unsaved)
		check.Equal(t, w.onDisk("f")+w.onDisk("g"), "f1\na1\nf2\ng1\na2\n", "the disk has %q")
		if fails.Store(false); unsaved {
			continue
		}
		w.must(w.undo(false))
		check.Equal(t, w.onDisk("f")+w.onDisk("g"), "f1\nf2\ng1\n", "undone the disk has %q")
		w.must(w.undo(true))
		check.Equal(t, w.onDisk("f")+w.onDisk("g"), "f1\na1\nf2\ng1\na2\n", "done again the disk has %q")
	}
}

// faulty is a world in which nothing can be done to the disk as long as it fails.
type faulty struct {
	*world
	fails *atomic.Bool
}

func (f faulty) Edit(ctx context.Context, e buffers.Edit, done func(buffers.Written, error)) {
	if f.fails.Load() {
		done(buffers.Written{}, failure("edit", e.Path, errDisk))
		return
	}
	f.world.Edit(ctx, e, done)
}

// What is no text comes back under unsaved text if the disk has what the agent wrote, its bytes are known, and the record
// does not do it.
func TestWhatIsRestoredUnderUnsavedText(t *testing.T) {
	t.Parallel()
	bytes := func(text string) review.Content { return contentOf(&text, plain) }
	for name, c := range map[string]struct {
		disk   string
		to     review.Content
		record string // what it had, and has
		kept   bool
		left   string
		err    error
	}{
		"known":            {"\x00a1", bytes("\x00f1"), "", false, "\x00f1", nil},
		"others have it":   {"\x00u1", bytes("\x00f1"), "", false, "\x00u1", nil},
		"not known":        {"\x00a1", bytes("\x00f2"), "", false, "\x00a1", errForgotten},
		"by the record":    {"\x00a1", bytes("\x00f1"), "\x00f1 \x00a1", false, "\x00a1", nil},
		"texts there":      {"\x00a1", bytes("\x00f1"), "f1 a1", false, "\x00f1", nil},
		"kept there":       {"\x00a1", bytes("\x00f1"), "\x00f1 \x00a1", true, "\x00f1", nil},
		"a text, that was": {"\x00a1", bytes("f1\n"), "", false, "f1\n", nil},
	} {
		w := newWorld(t)
		w.write("f", c.disk)
		done := make(chan error, 1)
		w.box(func() {
			w.ledger.originals.keep(bytes("\x00f1"), []byte("\x00f1"))
			if had, has, ok := strings.Cut(c.record, " "); ok {
				w.ledger.record.Changed(w.path("f"), bytes(had), bytes(has))
			}
			if c.kept {
				plan, err := w.ledger.record.Plan(w.path("f"), review.Keep, review.Selection{})
				check.Equal(t, err == nil && w.ledger.record.Commit(plan), true, "it is kept: %v")
			}
			w.ledger.restoreUnder(w.path("f"), bytes("\x00a1"), c.to, func(err error) { done <- err })
		})
		if err := <-done; !errors.Is(err, c.err) {
			t.Errorf("%s: it says %v", name, err)
		}
		check.Equal(t, w.onDisk("f"), c.left, "%s: the disk has %q", name)
	}
}

// A refusal says how many files it was about, also those of which only the disk has something.
func TestHowManyFilesARefusalIsAbout(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]int{"f1\nu2\n": 1, "f1\nf2\n": 1, "f1\na2\nu1\n": 1, "": 1} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.edit("f")
		w.begin()
		if typed == "f1\nu2\n" { // it conflicts
			w.types("f", func(string) string { return typed })
		}
		w.write("f", "f1\na2\n")
		w.sees("f")
		w.end()
		if typed != "" {
			w.types("f", func(string) string { return typed })
		}
		n, err := w.refuse(nil)
		if n != want || err != nil {
			t.Errorf("with %q a refusal is about %d files, wanted %d: %v", typed, n, want, err)
		}
		check.Equal(t, w.onDisk("f"), "f1\nf2\n", "with %q the disk has %q", typed)
		n, err = w.refuse(nil)
		if n != 0 {
			t.Errorf("with %q another refusal is about %d files: %v", typed, n, err)
		}
	}
}

// A file made anew under unsaved text without a conflict is one file to refuse.
func TestHowManyMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.types("f", func(text string) string { return "u1\n" + text })
	w.begin()
	w.remove("f")
	w.follow(w.path("f"), true)
	w.write("f", "f1\nf2\na3\n")
	w.sees("f")
	w.end()
	n, err := w.refuse(nil)
	if n != 1 || err != nil {
		t.Errorf("the refusal is about %d files: %v", n, err)
	}
}

// What the user had typed and has given up with its buffer is nothing that the agent takes out.
func TestGivenUpBeforeTheAgentWrites(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		w.types("f", func(now string) string { return now + "u1\n" })
		w.call(session.KindEdit, func() {}, "f") // looks at it
		if closes {
			w.wipe("f")
		} else {
			w.rereads("f")
		}
		w.box(func() {
			if is := w.ledger.turn.seen[w.path("f")]; is.Text != "f1\n" {
				t.Errorf("closes %v: %q was seen", closes, is.Text)
			}
		})
		w.write("f", "f1\na1\n")
		w.end()
		check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "closes %v: the record has %q", closes)
	}
}

// The user types in place of an agent's line without saving that, and reads the file anew: the line is the agent's again,
// also if the agent writes before Neovim tells.
func TestALineTypedOverIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\nf2\n")
	w.types("f", func(string) string { return "u1\nf1\nu2\nu1\nf2\n" })
	w.call(session.KindEdit, func() {}, "f") // which looks at it
	w.disk.Lock()
	b := w.bufs[w.path("f")]
	b.text, b.told = b.synced, b.synced
	w.disk.Unlock()
	w.write("f", "f1\na1\nf2\na2\n")
	w.sees("f")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nf2\n", "refused, there is %q")
}

// What is left of a buffer's text without the agent's changes.
func TestWithoutTheAgents(t *testing.T) {
	t.Parallel()
	text := review.Text
	for name, c := range map[string]struct {
		was, is    review.Content
		mine, left string
		nothing    bool
	}{
		"nothing changed":       {text("f1\n"), text("f1\n"), "f1\nu1\n", "f1\nu1\n", false},
		"beside what they type": {text("f1\n"), text("a1\nf1\n"), "a1\nf1\nu1\n", "f1\nu1\n", false},
		"taken out by them":     {text("f1\n"), text("a1\nf1\n"), "f1\n", "f1\n", false},
		"made":                  {review.Content{}, text("a1\n"), "a1\nu1\n", "u1\n", false},
		"no text":               {text("f1\n"), review.Opaque("a"), "", "", true},
		"removed":               {text("f1\n"), review.Content{}, "", "", true},
	} {
		r := review.New(maxRecorded)
		r.Changed("/f", c.was, c.is)
		without := withoutAgents("/f", r.Image("/f"))
		check.Equal(t, without == nil, c.nothing, "%s: there is nothing: %v", name)
		if without != nil {
			check.Equal(t, without(c.mine), c.left, "%s: there is %q", name)
		}
	}
}

// Several files are refused at once, also those of which only the disk has something.
func TestFilesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, under := range []bool{false, true} {
		w := newWorld(t)
		names := []string{"a", "b", "c"}
		held := &heldEdits{Files: w, left: len(names)}
		w.open(func(c *Config) { c.Files = held })
		for _, name := range names {
			w.write(name, "f1\nf2\n")
			if under {
				w.edit(name)
				w.types(name, func(string) string { return "f1\nu2\n" })
			}
		}
		w.begin()
		for _, name := range names {
			w.write(name, "f1\na2\n")
			w.sees(name)
		}
		w.end()
		done := make(chan error, 1)
		w.ledger.Decide(Decision{Do: review.Reject}, func(_ int, err error) { done <- err })
		select {
		case err := <-done:
			w.must(err)
		case <-time.After(time.Minute):
			t.Fatalf("under %v: files are refused one by one", under)
		}
		for _, name := range names {
			check.Equal(t, w.onDisk(name), "f1\nf2\n", "under %v: the disk has %q", under)
		}
	}
}
