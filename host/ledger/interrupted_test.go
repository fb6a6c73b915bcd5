package ledger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func (w *world) about() saved.About { return saved.About{Agent: "agent", Cwd: w.dir, ID: "1"} }

// named has the agent name its session, so that it is saved.
func (w *world) named() {
	w.ledger.Opened(w.about())
	w.sync()
}

// dies has the host end where it is, with all buffers.
func (w *world) dies() {
	w.sync()
	w.ledger.box.Close()
	w.disk.Lock()
	w.sessions = w.sessions[:0]
	clear(w.bufs)
	w.disk.Unlock()
}

// takenUp has another host take the session up. It reports whether there was anything to take up.
func (w *world) takenUp() (found bool) {
	w.t.Helper()
	w.disk.Lock()
	w.idle = true
	w.disk.Unlock()
	w.open()
	for path, b := range w.bufs {
		w.ledger.FileOpened(buffers.Opened{Path: path, Loaded: true, Text: new(b.synced), Form: b.form, Since: changedAt(path)})
	}
	w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) {}, func(_ saved.Session, err error) {
		found = true
		if err != nil {
			w.t.Error(err)
		}
	})
	w.sync() // now it is known what there is to do,
	w.sync() // and now it is done
	return found
}

// running is the note that a turn runs; "" where there is none.
func (w *world) running() string {
	notes, err := w.store.Records()
	w.must(err)
	for _, n := range notes {
		if n.Key == openKey(w.about().Key()) {
			return n.Key
		}
	}
	return ""
}

// The host dies in a turn. Whoever takes the session up finds what the agent had done, by whichever way: it is
// listed, and refused or undone.
func TestWhatADeadHostLeaves(t *testing.T) {
	for name, do := range map[string]func(w *world){
		"a change on the disk":       func(w *world) { w.write("f", "f1\na1\nf2\n") },
		"a file made":                func(w *world) { w.write("new/f", "a1\n") },
		"a file removed":             func(w *world) { w.remove("f") },
		"a file moved":               func(w *world) { w.move("f", "new/f") },
		"bytes":                      func(w *world) { w.write("bytes", "\x00a1") },
		"permissions":                func(w *world) { w.chmod("f", 0o755) },
		"a write through the client": func(w *world) { w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n") },
		"both": func(w *world) {
			w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n")
			w.box(w.ledger.save)
			w.write("f", "f1\na1\nf2\na2\n")
			w.remove("bytes")
		},
		"in a buffer": func(w *world) {
			w.edit("f")
			w.write("f", "f1\na1\nf2\n")
			w.sees("f")
			w.box(w.ledger.save)
		},
		"in a buffer, which has not been told": func(w *world) {
			w.edit("f")
			w.write("f", "f1\na1\nf2\n")
		},
		"in a buffer, of which the first was told": func(w *world) {
			w.edit("f")
			w.write("f", "f1\na1\nf2\n")
			w.sees("f")
			w.box(w.ledger.save)
			w.noteNow()
			w.write("f", "f1\na1\nf2\na2\n")
		},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				w.write("bytes", "\x00f")
				before := w.tree()
				w.named()
				w.begin()
				do(w)
				w.dies()
				if !w.takenUp() {
					t.Fatal("nothing was taken up")
				}
				check.Equal(t, w.running(), "", "the turn is noted as running still: %v")
				after := w.tree()
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				if got := w.tree(); got != before || after == before {
					t.Errorf("undo %v: there is\n%s\nwanted\n%s", undo, got, before)
				}
				w.dies()
				w.takenUp()
				if got := w.changes(); strings.Contains(got, "-") && !strings.Contains(got, "rejected") {
					t.Errorf("taken up once more the record has %s", got)
				}
			})
		}
	}
}

func (w *world) box(f func()) {
	w.ledger.box.Put(f)
	w.sync()
}

// What has changed after the host was last seen alive is the user's, and so is what buffers showed and the record
// does not have.
func TestWhatTheUserDoesAfterAHostDied(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	w.write("h", "h1\n")
	w.named()
	w.edit("h")
	w.begin()
	w.sync() // the prompt does not wait for the note
	if w.running() == "" {
		t.Fatal("it is not noted that a turn runs")
	}
	w.types("h", func(string) string { return "h1\nu1\n" })
	w.saves("h")
	w.write("f", "f1\na1\n")
	w.dies()
	info, err := os.Stat(w.path("f"))
	w.must(err)
	// The clock of the file system goes on in steps.
	for later := info.ModTime(); later.Sub(info.ModTime()) < 2*time.Millisecond; {
		w.write("g", "g1\nu2\n")
		info, err := os.Stat(w.path("g"))
		w.must(err)
		later = info.ModTime()
	}
	last := info.ModTime().Add(time.Millisecond - beat - Coarse)
	w.must(filepath.Walk(w.path("../store"), func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			err = os.Chtimes(path, last, last)
		}
		return err
	}))
	if !w.takenUp() {
		t.Fatal("nothing was taken up")
	}
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "the record has %q")
	w.decide(review.Reject, "")
	if f, g, h := w.sees("f"), w.sees("g"), w.sees("h"); f != "f1\n" || g != "g1\nu2\n" || h != "h1\nu1\n" {
		t.Errorf("there are %q, %q and %q", f, g, h)
	}
}

// A turn that was over when the host ended is no turn that ran, and one that changed nothing leaves nothing.
func TestATurnThatWasOver(t *testing.T) {
	for _, change := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.named()
		w.begin()
		if change {
			w.write("f", "f1\na1\n")
		}
		w.end()
		check.Equal(t, w.running(), "", "it is noted as running still: %v")
		w.dies()
		w.write("f", w.sees("f")+"u1\n")
		check.Equal(t, w.takenUp(), change, "something was taken up: %v")
		if change {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.sees("f"), "f1\nu1\n", "there is %q")
	}
}

// What the user has written in a turn, or not saved in a buffer, stays theirs after the host was killed: nobody has
// told what of it came last. What the agent had done there before, as far as it was told, is listed.
func TestTheUsersTextAfterAHostDied(t *testing.T) {
	types := func(w *world) { w.types("f", func(now string) string { return now + "u1\n" }) }
	saves := func(w *world) { w.saves("f") }
	tells := func(w *world) { w.sees("f") }
	agent := func(w *world) { w.write("f", "f1\na1\nf2\n") }
	more := func(w *world) { w.write("f", "a2\nf1\na1\nf2\n") }
	noted := func(w *world) { w.box(w.ledger.save); w.noteNow() }
	for name, c := range map[string]struct {
		do           []func(w *world)
		stays        bool // in a buffer of a Neovim that lives on
		listed, left string
		behind       string // what that buffer had last of the disk; "" is all
	}{
		"saved":                                                  {[]func(*world){types, saves}, false, "", "f1\nf2\nu1\n", ""},
		"saved, then the agent untold":                           {[]func(*world){types, saves, func(w *world) { w.write("f", "f1\na1\nf2\nu1\n") }}, false, "modified f -1,0+2,1\n", "f1\nf2\nu1\n", ""},
		"saved after the agent":                                  {[]func(*world){agent, tells, noted, types, saves}, false, "modified f -1,0+2,1\n", "f1\nf2\nu1\n", ""},
		"unsaved after the agent":                                {[]func(*world){agent, tells, types, noted}, false, "modified f -1,0+2,1\n", "f1\nf2\n", ""},
		"unsaved before the agent":                               {[]func(*world){types, agent, tells, noted}, false, "modified f -1,0+2,1\n", "f1\nf2\n", ""},
		"unsaved, in a Neovim that lives":                        {[]func(*world){agent}, true, "modified f -1,0+2,1\n", "f1\nf2\nu1\n", ""},
		"unsaved, and permissions":                               {[]func(w *world){func(w *world) { w.chmod("f", 0o755) }}, true, "modified f\n", "f1\nf2\nu1\n", ""},
		"unsaved, then the agent untold":                         {[]func(*world){agent, tells, types, noted, more}, false, "modified f -0,0+1,1 -1,0+3,1\n", "f1\nf2\n", ""},
		"unsaved, then the agent untold, in a Neovim that lives": {[]func(*world){agent, tells, types, noted, more}, true, "modified f -0,0+1,1 -1,0+3,1\n", "f1\nf2\nu1\n", ""},
		"unsaved, in a Neovim that lives and has not got it":     {[]func(*world){agent}, true, "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\n"},
		"unsaved, in one that has not got the last":              {[]func(*world){agent, tells, types, noted, more}, true, "modified f -0,0+1,1 -1,0+3,1\n", "f1\nf2\nu1\n", "f1\na1\nf2\n"},
		"saved, then unsaved":                                    {[]func(*world){types, saves, func(w *world) { w.types("f", func(now string) string { return "u2\n" + now }) }, noted, func(w *world) { w.write("f", "f1\na1\nf2\nu1\n") }}, false, "modified f -1,0+2,1\n", "f1\nf2\nu1\n", ""},
		"unsaved, and the file removed":                          {[]func(*world){types, func(w *world) { w.changes() }, noted, func(w *world) { w.remove("f") }}, false, "deleted f -1,2+0,0\n", "f1\nf2\n", ""},
		"unsaved, and no text any more":                          {[]func(*world){types, noted, func(w *world) { w.write("f", "a\x00") }}, false, "modified f\n", "f1\nf2\n", ""},
		"no longer shown":                                        {[]func(*world){agent, tells, types, func(w *world) { w.wipe("f") }, noted, more}, false, "modified f -0,0+1,1 -1,0+3,1\n", "f1\nf2\n", ""},
		"unsaved since the turn before": {[]func(w *world){agent, tells, func(w *world) {
			w.end()
			types(w)
			w.changes() // looks at it
			w.begin()
		}, noted}, false, "modified f -1,0+2,1\n", "f1\nf2\n", ""},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				w.named()
				w.edit("f")
				w.begin()
				for _, do := range c.do {
					do(w)
				}
				w.dies()
				if c.stays {
					disk := cmp.Or(c.behind, w.sees("f"))
					w.bufs[w.path("f")] = &buffer{text: disk + "u1\n", synced: disk, form: plain}
				}
				w.takenUp()
				check.Equal(t, w.changes(), c.listed, "the record has %q")
				switch {
				case c.listed == "":
				case undo:
					w.must(w.undo(false))
				default:
					w.decide(review.Reject, "")
				}
				if got := w.sees("f"); got != c.left || modeOf(w.path("f")) != 0o644 {
					t.Errorf("undo %v: there is %q, %o, wanted %q", undo, got, modeOf(w.path("f")), c.left)
				}
			})
		}
	}
}

// What conflicts with unsaved text in a Neovim that lives on after the host was killed can be refused, like what had come
// before.
func TestAConflictInANeovimThatLives(t *testing.T) {
	for _, told := range []bool{false, true} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\n")
			w.named()
			w.edit("f")
			w.begin()
			had := "f1\n"
			w.types("f", func(string) string { return "u1\n" })
			if told {
				had = "a1\n"
				w.write("f", had)
				w.sees("f")
			}
			w.sync()
			w.write("f", "a2\n")
			w.dies()
			w.bufs[w.path("f")] = &buffer{text: "u1\n", synced: had, form: plain}
			if w.takenUp(); undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.onDisk("f"), "f1\n", "told %v, undo %v: the disk has %q", told, undo)
			check.Equal(t, w.sees("f"), "u1\n", "told %v, undo %v: the buffer has %q", told, undo)
		}
	}
}

// noteNow has it noted anew that the turn runs.
func (w *world) noteNow() {
	w.box(func() {
		if t := w.ledger.turn; t != nil {
			w.ledger.writeDown(t)
		}
	})
}

// note is what is written down of the turn that runs; false where nothing is.
func (w *world) note() (openTurn, time.Time, bool) {
	var was openTurn
	key := openKey(w.about().Key())
	data, err := w.store.Load(key)
	if err != nil {
		return was, time.Time{}, false
	}
	at, err := w.store.SavedAt(key)
	w.must(err)
	w.must(gob.NewDecoder(bytes.NewReader(data)).Decode(&was))
	return was, at, true
}

// warnings count what a log says.
type warnings struct {
	slog.Handler
	n atomic.Int32
}

func (*warnings) Enabled(context.Context, slog.Level) bool { return true }

func (w *warnings) Handle(context.Context, slog.Record) error {
	w.n.Add(1)
	return nil
}

// A turn that could not be noted is not taken for one that is: it is noted when the store can be written again. That the note
// stays when the turn is over is known too.
func TestATurnThatCouldNotBeNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var log warnings
	w.open(func(c *Config) { c.Log = slog.New(&log) })
	w.begin()
	store := filepath.Join(filepath.Dir(w.dir), "store")
	must.Do(t, os.WriteFile(store, nil, 0o644)) // so that there can be no folder
	w.named()
	w.noteNow()
	w.noteNow()
	check.Equal(t, log.n.Load(), 1, "the log says so %d times")
	must.Do(t, os.Remove(store))
	check.Equal(t, w.running(), "", "it is noted where nothing can be: %v")
	w.eventually("a note", func() bool { return w.running() != "" })
	w.box(func() { must.Do(t, os.RemoveAll(store)) }) // between two notes
	w.eventually("another note where the first is lost", func() bool { return w.running() != "" })
	w.box(func() { must.Do(t, os.RemoveAll(store), os.WriteFile(store, nil, 0o644)) })
	w.end()
	check.Equal(t, log.n.Load() > 1, true, "the log says that the note cannot be taken back: %v")
}

// While a turn runs it is noted again and again that it does; not once it is over, or
// under a name that the session has no more.
func TestATurnThatRunsIsNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	w.named()
	w.edit("f")
	w.begin()
	w.sync()
	was, first, noted := w.note()
	if !noted || !was.At.Equal(w.ledger.turn.At) || len(was.First) == 0 {
		t.Fatalf("noted is %v, %v", noted, was.At)
	}
	w.eventually("another note", func() bool { _, at, _ := w.note(); return at.After(first) })
	t1 := w.ledger.turn
	w.end()
	w.box(func() { w.ledger.writeDown(t1) })
	check.Equal(t, w.running(), "", "a turn that is over is noted: %v")
	w.begin()
	w.sync()
	if t2, _, _ := w.note(); !t2.At.Equal(w.ledger.turn.At) {
		t.Error("the next turn is not noted")
	}
	w.box(func() { t1.over = false; w.ledger.writeDown(t1) })
	if t2, _, _ := w.note(); !t2.At.Equal(w.ledger.turn.At) {
		t.Error("the turn before is noted again")
	}
	w.end()
}

// What is noted of a turn that ran may be broken: what was saved of the session is there all the same.
func TestABrokenNote(t *testing.T) {
	t.Parallel()
	broken := func(was openTurn) []byte {
		var b bytes.Buffer
		must.Do(t, gob.NewEncoder(&b).Encode(was))
		return b.Bytes()
	}
	for name, note := range map[string][]byte{
		"nothing":         {},
		"no note":         []byte("x"),
		"no first look":   broken(openTurn{At: time.Now()}),
		"broken in there": broken(openTurn{At: time.Now(), First: []byte("x")}),
	} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.named()
		w.begin()
		w.clientWrites("f", "f1\n", "a1\n")
		w.box(w.ledger.save)
		w.dies()
		w.must(w.store.Save(openKey(w.about().Key()), "", note))
		if !w.takenUp() {
			t.Errorf("%s: nothing was taken up", name)
		}
		check.Equal(t, w.changes(), "modified f -1,1+1,1\n", "%s: the record has %q", name)
	}
}

// A turn that goes on for whoever takes it up is the same turn: one undo takes back all of it, and not what was before.
func TestATurnIsTakenUpAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.write("f", "a1\n")
	w.end()
	w.begin()
	w.clientWrites("f", "a1\n", "a1\na2\n")
	w.box(w.ledger.save)
	w.write("g", "a3\n")
	w.dies()
	w.takenUp()
	for _, want := range []string{"a1\n|no file", "f1\n|no file"} {
		w.must(w.undo(false))
		check.Equal(t, w.sees("f")+"|"+w.sees("g"), want, "undone there is %q")
	}
	if w.undo(false) == nil {
		t.Error("there was another turn")
	}
}

// What others have changed between two turns is the user's also where the host dies in the second one, which has not
// looked at the file yet.
func TestChangedBeforeTheTurnThatWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.named()
	w.write("f", "f1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.end()
	w.write("f", "u2\nf1\na1\n")
	w.begin()
	w.dies()
	w.takenUp()
	w.must(w.undo(false))
	check.Equal(t, w.sees("f"), "u2\nf1\n", "undone there is %q")
}

// A host is killed right after it has seen something, which is on the disk by then: whoever takes the session up knows
// whose it is. It was killed alone, or with its Neovim.
func TestWhatAKilledHostHadSeen(t *testing.T) {
	types := func(name string) func(w *world) {
		return func(w *world) { w.types(name, func(now string) string { return now + "u1\n" }) }
	}
	replaces := func(w *world) { w.types("f", func(string) string { return "f1\nu1\n" }) }
	for name, c := range map[string]struct {
		do         []func(w *world)
		lives      string // what the buffer has of a Neovim that lives on; "" where it does not
		listed     string
		left, disk string // when all is refused
	}{
		"a write that has unsaved text in it": {
			[]func(*world){types("f"), func(w *world) { w.clientWrites("f", "f1\nf2\nu1\n", "f1\na1\nf2\nu1\n") }},
			"f1\na1\nf2\nu1\n", "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\nu1\n",
		},
		"a write that has unsaved text in it, with Neovim": {
			[]func(*world){types("f"), func(w *world) { w.clientWrites("f", "f1\nf2\nu1\n", "f1\na1\nf2\nu1\n") }},
			"", "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\nu1\n",
		},
		"a write beside unsaved text": {
			[]func(*world){types("f"), func(w *world) { w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n") }},
			"f1\na1\nf2\nu1\n", "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\n",
		},
		"a change on the disk beside unsaved text, untold": {
			[]func(*world){types("f"), func(w *world) { w.write("f", "f1\na1\nf2\n") }},
			"f1\na1\nf2\nu1\n", "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\n",
		},
		"lines gone beside unsaved text, which the buffer has still": {
			[]func(*world){types("f"), func(w *world) { w.write("f", "f1\n") }},
			"f1\nf2\nu1\n", "", "f1\nf2\nu1\n", "f1\n",
		},
		"a file emptied": {
			[]func(*world){func(w *world) { w.write("f", "") }},
			"", "modified f -1,2+0,0\n", "f1\nf2\n", "f1\nf2\n",
		},
		"bytes over unsaved text": {
			[]func(*world){types("f"), func(w *world) { w.write("f", "\x00a1\n"); w.sees("f") }},
			"", "modified f\n", "f1\nf2\n", "f1\nf2\n",
		},
		"what conflicts with unsaved text": {
			[]func(*world){replaces, func(w *world) { w.write("f", "f1\na1\n"); w.sees("f") }},
			"f1\nu1\n", "", "f1\nu1\n", "f1\na1\n",
		},
		"what conflicts, with Neovim": {
			[]func(*world){replaces, func(w *world) { w.write("f", "f1\na1\n"); w.sees("f") }},
			"", "modified f -2,1+2,1\n", "f1\nf2\n", "f1\nf2\n",
		},
		"what conflicts, after the turn": {
			[]func(*world){replaces, func(w *world) { w.write("f", "f1\na1\n"); w.sees("f"); w.end() }},
			"", "modified f -2,1+2,1\n", "f1\nf2\n", "f1\nf2\n",
		},
		"text saved that nobody else has changed": {
			[]func(*world){types("f"), func(w *world) { w.saves("f") }},
			"", "", "f1\nf2\nu1\n", "f1\nf2\nu1\n",
		},
		"a write, and then a command": {
			[]func(*world){func(w *world) {
				w.wipe("f")
				w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n")
				w.call(session.KindEdit, func() { w.write("f", "") }, "f")
			}},
			"", "modified f -1,2+0,0\n", "f1\nf2\n", "f1\nf2\n",
		},
		"what the user renamed": {
			[]func(*world){func(w *world) { w.ledger.UserRenamed(w.path("g"), w.path("h")); w.move("g", "h") }},
			"", "", "f1\nf2\n", "f1\nf2\n",
		},
		"what the user wrote with no buffer": {
			[]func(*world){func(w *world) { w.write("new", "u1\n"); w.saved("new"); w.sync(); w.write("new", "u1\na1\n") }},
			"", "modified new -1,0+2,1\n", "f1\nf2\n", "f1\nf2\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			w.write("g", "g1\n")
			w.named()
			w.edit("f")
			w.begin()
			w.sync()
			for _, do := range c.do {
				do(w)
			}
			w.dies()
			if c.lives != "" {
				w.bufs[w.path("f")] = &buffer{text: c.lives, synced: w.onDisk("f"), form: plain}
			}
			w.takenUp()
			check.Equal(t, w.changes(), c.listed, "the record has %q")
			if c.listed != "" {
				w.decide(review.Reject, "")
			}
			if got, disk := w.sees("f"), w.onDisk("f"); got != c.left || disk != c.disk {
				t.Errorf("there is %q, on the disk %q, wanted %q and %q", got, disk, c.left, c.disk)
			}
			if c.lives == "f1\nu1\n" { // what has not reached the buffer does when that is read anew
				w.rereads("f")
				check.Equal(t, w.changes(), "modified f -2,1+2,1\n", "read anew the record has %q")
			}
		})
	}
}

func (w *world) onDisk(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	w.must(err)
	return string(data)
}

// While a session is taken up the new host is told of all buffers: that says nothing about whose their texts are.
func TestBuffersThatAreToldWhileASessionIsTakenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feigned = true
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.write("f", "f1\na1\na2\n")
	w.dies()
	looked := w.holdLooks()
	w.open()
	w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) {}, func(_ saved.Session, err error) { w.must(err) })
	is := "f1\na1\na2\n"
	w.ledger.FileOpened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: &is, Form: plain})
	w.ledger.UserChanged(buffers.Written{Path: w.path("f"), Changed: true, Before: new("f1\na1\n"), After: &is, FormBefore: plain, FormAfter: plain})
	looked()
	w.sync()
	w.sync()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\n", "refused there is %q")
}

// A new host is told what a buffer was in step with whose file is gone, also where the killed one had noted less.
func TestWhatABufferWasInStepWithWhenAHostDied(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"moved, and not noted as shown": {func(w *world) {
			w.clientWrites("f", "f1\nf2\n", "a1\nf1\nf2\n")
			w.box(w.ledger.save)
			w.move("f", "g")
		}, "a1\nf1\nf2\n"},
		"removed, and nothing noted": {func(w *world) { w.remove("f") }, "f1\nf2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			w.named()
			w.begin()
			c.do(w)
			w.dies()
			w.bufs[w.path("f")] = &buffer{text: c.want + "u1\n", synced: c.want, form: plain, gone: true}
			w.takenUp()
			check.Equal(t, w.toldInStep("f"), c.want, "the buffer was in step with %q")
		})
	}
}

// A new host is told what the buffer of a file was in step with that the agent had moved away, however often it has changed
// that since.
func TestWhatABufferWasInStepWithBeforeAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.named()
	w.edit("f")
	w.begin()
	w.move("f", "g")
	w.sees("f")
	w.types("f", func(string) string { return "f1\nf2\nu1\n" })
	w.clientWrites("g", "f1\nf2\n", "a1\nf2\n")
	for range 2 {
		w.killed(true)
		check.Equal(t, w.toldInStep("f"), "f1\nf2\n", "the buffer was in step with %q")
		w.disk.Lock()
		clear(w.inStep) // the host may still be telling it a second time
		w.disk.Unlock()
	}
}

// What the user has made of bytes cannot be told from the agent's, also by a host that takes the turn up.
func TestBytesThatTheUserHasChangedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\x00f1\n")
	w.named()
	w.edit("f")
	w.begin()
	w.write("f", "\x00a1\n")
	w.sees("f")
	w.types("f", func(now string) string { return now + "u1\n" })
	w.saves("f")
	w.write("f", "\x00a2\n")
	w.sees("f")
	w.dies()
	w.takenUp()
	w.box(func() {
		if last := w.ledger.history.Last(); last == nil || !last.Files[0].Typed {
			t.Errorf("the turn is %+v", last)
		}
	})
}

// A turn is over when its changes are on the disk, and not before, so that who kills the host in between loses none.
func TestTheEndOfATurnIsNotedWhenItIsSaved(t *testing.T) {
	t.Parallel()
	w, noted := newWorld(t), &notedSaves{err: fs.ErrNotExist}
	w.open(func(c *Config) { c.Saves = noted })
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.sync()
	w.write("f", "a1\n")
	w.end()
	w.sync()
	if w.running() == "" {
		t.Error("the turn is noted as over, and is not saved")
	}
	n := noted.count()
	if noted.done[n-1](1, nil); n == 0 {
		t.Fatal("nothing is being saved")
	}
	w.sync()
	check.Equal(t, w.running(), "", "it is saved, and noted as running: %v")
}

// What was taken is told to be noted when the disk has it, also where another session is being saved just then.
func TestWhatWasTakenIsNotedWhenItIsSaved(t *testing.T) {
	t.Parallel()
	w, noted := newWorld(t), &notedSaves{err: fs.ErrNotExist}
	w.open(func(c *Config) { c.Saves = noted })
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.sync()
	before := noted.count()
	w.clientWrites("f", "f1\n", "a1\n")
	told := make(chan bool, 1)
	w.ledger.Noted(func() { told <- true })
	w.sync()
	if len(told) > 0 {
		t.Error("it is told to be noted, and is not saved")
	}
	n := noted.count()
	if n == before {
		t.Fatal("nothing is being saved")
	}
	noted.done[n-1](1, nil)
	w.sync()
	if len(told) == 0 {
		t.Error("it is saved, and not told to be noted")
	}
}

// What the agent is told of is saved before, also where so much was saved a moment ago that all else waits.
func TestAnAnswerIsSavedBefore(t *testing.T) {
	t.Parallel()
	for bytes, saves := range map[int]int{atOnce + 1: 1, saveFirst + 1: 0} {
		w, noted := newWorld(t), &notedSaves{}
		w.open(func(c *Config) { c.Saves = noted })
		w.write("f", "f1\n")
		w.named()
		w.begin()
		w.box(func() { w.ledger.keep.bytes, w.ledger.keep.next = bytes, time.Now().Add(time.Hour) })
		before := noted.count()
		w.clientWrites("f", "f1\n", "a1\n")
		w.ledger.Noted(func() {})
		w.sync()
		check.Equal(t, noted.count()-before, saves, "after %d bytes it is saved %d times", bytes)
	}
}

// The permissions of a file are the agent's doing where the user has written it, and a look after the host's death finds
// that first.
func TestPermissionsOfWhatWasSavedBeforeAHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.write("f", "f1\nu1\n")
	w.box(func() {
		now := fileState{path: w.path("f"), loaded: true, saved: true, Content: review.Text("f1\nu1\n")}
		now.Mode = 0o755
		w.ledger.sinceKilled(w.ledger.turn, now, true, time.Now())
	})
	w.chmod("f", 0o755)
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\nu1\n"`, "there is %s")
}

// What the user has taken out of a buffer after they had saved it goes from the disk with a refusal, also where a look after
// the host's death finds both.
func TestTakenOutOfWhatWasSavedBeforeAHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.write("f", "f1\na1\n")
	w.sees("f")
	w.types("f", func(string) string { return "f1\n" })
	w.box(func() {
		now := fileState{path: w.path("f"), loaded: true, unsaved: true, saved: true, Content: review.Text("f1\n")}
		now.Mode = 0o644
		w.ledger.sinceKilled(w.ledger.turn, now, true, time.Now())
	})
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), "f1\n", "the disk has %q")
}

// killed has the host end where it is, and another one take the session up; Neovim lives on, or ends too.
func (w *world) killed(lives bool) {
	w.t.Helper()
	w.noteNow()
	bufs := maps.Clone(w.bufs)
	w.dies()
	if lives {
		w.bufs = bufs
	}
	w.takenUp()
}

// What the user refuses in a turn stays refused where the host is killed in it.
func TestRefusedInATurnThatIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.write("f", "f1\r\n")
	w.end()
	w.edit("f")
	w.begin()
	w.decide(review.Reject, "")
	w.killed(true)
	check.Equal(t, w.changes(), "modified f rejected\n", "the record has %q")
	check.Equal(t, w.sees("f"), "f1\n", "there is %q")
}

// Two turns change a file under unsaved text, which is gone with its Neovim when the second one is killed: each of them
// is undone by itself.
func TestTheSecondTurnUnderUnsavedTextIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.named()
	w.edit("f")
	w.begin()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.write("f", "f1\na1\nf2\n")
	w.sees("f")
	w.end()
	w.begin()
	w.sync()
	w.write("f", "f1\na1\na2\nf2\n")
	w.killed(false)
	check.Equal(t, w.changes(), "modified f -1,0+2,2\n", "the record has %q")
	for _, want := range []string{"f1\na1\nf2\n", "f1\nf2\n"} {
		w.must(w.undo(false))
		check.Equal(t, w.sees("f"), want, "undone there is %q")
	}
}

// A session can be taken up where no files are watched: nothing is lost, and what is pending waits.
func TestTakenUpWithoutAWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.write("g", "g1\n")
	w.edit("f")
	w.edit("g")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.remove("g")
	w.sees("g")
	w.noteNow()
	w.dies()
	w.open(func(c *Config) { c.Watch = func() Watch { return nil } })
	found := make(chan saved.Session, 1)
	w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) {}, func(s saved.Session, err error) {
		w.must(err)
		found <- s
	})
	if s := <-found; s.About.Files != 2 || s.About.Changes != 2 || len(s.History.Turns) != 1 {
		t.Errorf("taken up is %+v, %d turns", s.About, len(s.History.Turns))
	}
	check.Equal(t, w.changes(), "modified f -1,0+2,1\ndeleted g -1,1+0,0\n", "the record has %q")
	check.Equal(t, w.onDisk("f"), "f1\na1\n", "there is %q")
}

// What the user has kept of the disk in a conflict stays kept where Neovim is killed with the host at once, and what the
// agent has written there since is pending.
func TestKeptInAConflictBeforeAllWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.named()
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "f1\nf2\nu3\n" })
	w.write("f", "f1\nf2\na3\n")
	w.sees("f")
	w.decide(review.Keep, "f")
	w.call(session.KindEdit, func() {}, "f")
	w.write("f", "a1\nf1\nf2\na3\n")
	w.killed(false)
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nf2\na3\n", "there is %q")
}

// Permissions that the agent has given back to a file with unsaved text are no change where all is killed.
func TestPermissionsGivenBackBeforeAllWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\n", "a1\nf1\n")
	w.sync()
	w.chmod("f", 0o755)
	w.end()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.begin()
	w.sync()
	w.chmod("f", 0o644)
	w.call(session.KindEdit, func() {}, "f")
	w.changes()                     // looks at it,
	w.clientWrites("g", "", "a2\n") // and that is saved
	w.killed(false)
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// Permissions that the agent has changed on what it has made no text come back, where the host was killed and a buffer
// shows the file.
func TestPermissionsOfNoTextBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.edit("f")
	w.sync()
	w.call(session.KindEdit, func() {}, "f")
	w.write("f", "\x00f1\n")
	w.chmod("f", 0o600)
	w.killed(true)
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// What the user has saved under another name is theirs where the host is killed right after that.
func TestRenamedBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\n", "a1\nf1\n")
	w.end()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.renames("f", "g")
	w.wipe("g")
	w.begin()
	w.clientWrites("h", "", "a2\n") // which is saved
	w.killed(true)
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `g 644 "f1\nu1\n"`, "there is %s")
}

// What the agent has made of a file that the user had just written under another name is the agent's, also where the host
// is killed before it hears that it was written.
func TestWrittenAsItIsRenamedBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.named()
	w.edit("f")
	w.begin()
	w.sync()
	w.copies("f", "g")
	w.bufs[w.path("g")].gone = false // as it was written
	w.write("g", "f1\na2\n")
	w.killed(true)
	check.Equal(t, w.changes(), "modified g -2,1+2,1\n", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("g"), "f1\nf2\n", "there is %q")
}

// A turn that is killed with Neovim is not the one that has changed the permissions under unsaved text, and nor is it if
// nobody has.
func TestNoPermissionsOfTheTurnThatWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.edit("f")
	w.types("f", func(now string) string { return now + "u1\n" })
	w.begin()
	w.write("f", "a1\nf1\n")
	w.sees("f")
	w.end()
	w.begin()
	w.sync()
	w.killed(false)
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// A file that the agent has made and moved goes when it is refused, also where the host was killed in between.
func TestMadeAndMovedBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.sync()
	w.call(session.KindEdit, func() { w.write("g", "a1\n") }, "g")
	w.sync()
	w.move("g", "h")
	w.call(session.KindEdit, func() {}, "g")
	w.sync()
	w.call(session.KindEdit, func() {}, "h")
	w.sync()
	w.killed(true)
	check.Equal(t, w.changes(), "added h -0,0+1,1\n", "the record has %q")
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// A file that the agent's client has replaced is the same file, also where the host was killed before it had seen the move
// of that.
func TestReplacedAndMovedBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	before := w.tree()
	w.named()
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.sync()
	w.move("f", "g")
	w.write("g", "f1\na1\na2\n")
	w.killed(true)
	check.Equal(t, w.changes(), "moved g from f -1,0+2,2\n", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), before, "refused there is %s")
}

// A line of the agent's that the user has taken out of a buffer without saving goes from the disk with an undo, also where
// the host was killed before it had looked.
func TestTakenOutBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.named()
	w.edit("f")
	w.begin()
	w.write("f", "f1\nf2\na1\n")
	w.sees("f")
	w.sync()
	w.types("f", func(string) string { return "f1\nf2\n" })
	w.killed(true)
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "f1\nf2\n", "the disk has %q")
}

// Where the user has taken back the last of the agent's changes in a buffer, the earlier ones are the agent's still, also
// where the host was killed before it had looked.
func TestTakenBackBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\n")
		w.named()
		w.edit("f")
		w.begin()
		w.write("f", "f1\na1\nf2\n")
		w.sees("f")
		w.write("f", "")
		w.sees("f")
		w.sync()
		w.types("f", func(string) string { return "f1\na1\nf2\n" })
		w.killed(true)
		if undo {
			w.must(w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.bufs[w.path("f")].text, "f1\nf2\n", "undo %v: the buffer has %q", undo)
		check.Equal(t, w.onDisk("f"), "f1\nf2\n", "undo %v: the disk has %q", undo)
	}
}

// What a turn has on the disk under unsaved text is undone with it where the host is killed after its end, alone or with its
// Neovim.
func TestEndedUnderUnsavedTextBeforeAllWasKilled(t *testing.T) {
	t.Parallel()
	const was = "f1\nf2\nf3\n"
	for _, lives := range []bool{true, false} {
		for _, c := range []struct{ first, types, then string }{
			{"f1\nf2\nf3\na1\n", "f1\nf2\nf3\n", "a0\nf1\nf2\nf3\na1\n"}, // its line is taken out
			{was, "f1\nu2\nf3\n", "f1\na2\nf3\n"},                        // a conflict
			{was, was + "u1\n", ""},
		} {
			w := newWorld(t)
			w.write("f", was)
			w.named()
			w.edit("f")
			w.begin()
			w.write("f", c.first)
			w.sees("f")
			w.types("f", func(string) string { return c.types })
			w.write("f", c.then)
			w.sees("f")
			w.end()
			w.killed(lives)
			w.must(w.undo(false))
			check.Equal(t, w.onDisk("f"), was, "alive %v, typed %q: the disk has %q", lives, c.types)
		}
	}
}

// A file that was taken away under unsaved text is what it was, on the disk and in the buffer, also where the host was
// killed in between.
func TestTakenAwayUnderUnsavedTextBeforeTheHostDied(t *testing.T) {
	const was = "f1\nf2\nf3\n"
	takes := map[string]func(w *world){
		"removed": func(w *world) { w.remove("f") },
		"moved":   func(w *world) { w.move("f", "g") },
		"emptied, removed": func(w *world) {
			w.write("f", "")
			w.sees("f")
			w.remove("f")
		},
		"changed, moved": func(w *world) {
			w.write("f", was+"a4\n")
			w.sees("f")
			w.move("f", "g")
		},
	}
	for how, takes := range takes {
		for _, mine := range []string{"f1\nf3\n", "f1\nu2\nf3\n", "u0\n" + was} {
			for n := range 8 {
				first, over, undo := n&1 > 0 || how == "emptied, removed", n&2 > 0, n&4 > 0 // typed first; killed after the turn
				t.Run(fmt.Sprintf("%s, %q, %v %v %v", how, mine, first, over, undo), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.write("f", was)
					w.named()
					w.edit("f")
					w.begin()
					types := func() {
						w.types("f", func(now string) string { return mine + strings.TrimPrefix(now, was) })
						w.sync()
					}
					if first {
						types()
					}
					takes(w)
					w.sees("f")
					if !first {
						types()
					}
					if over {
						w.end()
					}
					w.killed(true)
					if undo {
						w.must(w.undo(false))
					} else {
						w.decide(review.Reject, "")
					}
					check.Equal(t, w.onDisk("f"), was, "the disk has %q")
					check.Equal(t, w.sees("f"), mine, "the buffer has %q")
				})
			}
		}
	}
}

// What a turn had of a file before something was unsaved there is known after a kill in the next turn.
func TestKilledInTheTurnAfterOneWithUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.named()
	w.write("f", "f1\nf2\nf3\nf4\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\nf2\nf3\nf4\n", "f2\nf3\nf4\n")
	w.types("f", func(text string) string { return text + "u1\n" })
	w.write("f", "f2\na1\nf3\nf4\n")
	w.sees("f")
	w.end()
	w.begin()
	w.dies()
	w.takenUp()
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\nf4\n", "undone there is %q")
}

// A file that was made anew under unsaved text, and then taken away, is what it was before that also if all is killed.
func TestMadeAnewAndTakenAwayBeforeAllWasKilled(t *testing.T) {
	for _, moved := range []bool{false, true} {
		for _, undo := range []bool{false, true} {
			w := newWorld(t)
			w.named()
			w.write("f", "f1\nf2\nf3\n")
			w.edit("f")
			w.types("f", func(string) string { return "f1\nu1\nf2\nf3\n" })
			w.begin()
			w.remove("f")
			w.sees("f")
			w.write("f", "a1\n")
			w.sees("f")
			w.box(w.ledger.save)
			if moved {
				w.move("f", "g")
			} else {
				w.remove("f")
			}
			w.dies()
			w.takenUp()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\n"`, "moved %v, undo %v: there is %s", moved, undo)
		}
	}
}

// What the user has typed makes a file no text, and the agent writes it when the host is killed: that is not hidden by what
// the buffer shows, and is refused on the disk.
func TestNoTextInABufferWhereATurnIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.named()
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.types("f", func(now string) string { return now + "u1\x00\n" })
	w.call(session.KindEdit, func() {}, "f") // which looks at it
	w.write("f", "a1\nf1\n")
	w.killed(true)
	check.Equal(t, w.changes(), "modified f\n", "the record has %q")
	if _, err := w.refuse(nil); err == nil || !strings.Contains(err.Error(), "not text") {
		t.Errorf("of the buffer a refusal says %v", err)
	}
	check.Equal(t, w.onDisk("f"), "f1\n", "refused, the disk has %q")
	check.Equal(t, w.sees("f"), "a1\nf1\nu1\x00\n", "refused, there is %q")
}

// The host is killed after a buffer has taken the agent's lines in beside unsaved ones, and before that is saved. What came
// afterwards may conflict.
func TestTakenInBesideUnsavedTextBeforeTheHostDied(t *testing.T) {
	for _, undo := range []bool{false, true} {
		for _, more := range []bool{false, true} {
			w := newWorld(t)
			w.named()
			w.write("f", "f1\nf2\nf3\n")
			w.edit("f")
			w.begin()
			w.types("f", func(string) string { return "u1\nf2\nf3\nu2\n" })
			w.noteNow()
			bufs := maps.Clone(w.bufs)
			w.dies()
			w.bufs = bufs
			w.write("f", "f1\nf2\na1\na2\nf3\n")
			w.bufs[w.path("f")].text, w.bufs[w.path("f")].synced = "u1\nf2\na1\na2\nf3\nu2\n", "f1\nf2\na1\na2\nf3\n"
			if more {
				w.write("f", "a3\na4\nf2\na1\na2\nf3\n")
			}
			w.takenUp()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\n"`, "undo %v: there is %s", undo)
			check.Equal(t, w.sees("f"), "u1\nf2\nf3\nu2\n", "undo %v, more %v: the buffer has %q", undo, more)
		}
	}
}

// The host is killed after a buffer has taken over the agent's lines, and before that is saved. What the user had typed
// stays theirs where the agent has written it too, also what they type afterwards.
func TestUnsavedTextThatTheAgentWroteBeforeTheHostDied(t *testing.T) {
	for name, c := range map[string]struct{ mine, disk, shows, want string }{
		"lines of the user's":   {"f1\nf2\nf3\nu1\n", "a1\nf1\nf2\nf3\nu1\n", "a1\nf1\nf2\nf3\nu1\n", "f1\nf2\nf3\nu1\n"},
		"a line that they took": {"f1\nf3\n", "f1\na1\n", "f1\na1\n", "f1\nf3\n"},
		"and they type on":      {"f1\nf3\n", "f1\nf3\na1\n", "u1\nf1\nf3\na1\n", "u1\nf1\nf3\n"},
		"all of it":             {"u1\n", "u1\n", "u1\n", "u1\n"},
	} {
		w := newWorld(t)
		w.named()
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.begin()
		w.noteNow()
		bufs := maps.Clone(w.bufs)
		w.dies()
		w.bufs = bufs
		w.write("f", c.disk)
		b := w.bufs[w.path("f")]
		b.text, b.synced, b.overtaken = c.shows, c.disk, &c.mine
		w.takenUp()
		if c.shows != c.want {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.sees("f"), c.want, name+": the buffer has %q")
	}
}

// inConflict is a world in whose turn the agent has changed a line of a file that the user has changed too, without saving it.
func inConflict(t *testing.T) *world {
	w := newWorld(t)
	w.write("f", "f1\nf2\nf3\n")
	w.named()
	w.edit("f")
	w.types("f", func(text string) string { return strings.Replace(text, "f2", "u2", 1) })
	w.begin()
	w.sync()
	w.write("f", "f1\na2\nf3\n")
	w.sees("f")
	return w
}

// What conflicts with unsaved text and was kept can be undone with its turn after the host was killed.
func TestKeptUnderAConflictBeforeTheHostDied(t *testing.T) {
	t.Parallel()
	w := inConflict(t)
	w.decide(review.Keep, "")
	w.killed(true)
	w.must(w.undo(false))
	check.Equal(t, w.onDisk("f"), "f1\nf2\nf3\n", "undone, the disk has %q")
	check.Equal(t, w.sees("f"), "f1\nu2\nf3\n", "undone, there is %q")
}

// Permissions that the agent has changed, after a text that conflicts with an unsaved one and that it has taken back, come back
// where all was killed.
func TestPermissionsAfterAConflictBeforeAllWasKilled(t *testing.T) {
	t.Parallel()
	w := inConflict(t)
	w.write("f", "f1\nf2\nf3\n")
	w.sees("f")
	w.call("edit", func() { w.chmod("f", 0o755) }, "f")
	w.killed(false)
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\n"`, "undone, there is %s")
}

// Permissions that the agent gave a file with a text in conflict are of the turn that did that, where the host was killed in it
// and Neovim in the next one.
func TestPermissionsOfATurnBeforeAllWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.chmod("f", 0o600)
	w.named()
	w.edit("f")
	w.begin()
	w.types("f", func(string) string { return "u1\n" })
	w.sync()
	w.chmod("f", 0o644)
	w.write("f", "a1\n")
	w.sees("f")
	w.killed(true)
	w.begin()
	w.clientWrites("g", "", "a2\n") // which is saved
	w.killed(false)
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "a1\n"`, "undone, there is %s")
}

// What was kept before the user typed says nothing of what the agent then writes there, where the host is killed before it hears
// of that, and what they have typed is given up.
func TestKeptBeforeTheHostDiedUnderUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n=\n")
	w.named()
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\n=\n", "a4\n=\n")
	w.decide(review.Keep, "f")
	w.sync()
	w.types("f", func(now string) string { return now + "u1\n" })
	w.write("f", "a14\na13\n=\n")
	w.killed(true)
	w.wipe("f")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "a4\n=\n"`, "refused, there is %s")
}

// Permissions that the agent has changed under unsaved text, which nothing told before the host was killed, come back also where
// that text is given up.
func TestPermissionsUnderUnsavedTextBeforeTheHostDied(t *testing.T) {
	for _, agent := range []string{"f1\n", "f1\na1\n"} {
		for name, give := range map[string]func(w *world){
			"closed":     func(w *world) { w.wipe("f") },
			"read again": func(w *world) { w.rereads("f") },
		} {
			for _, undo := range []bool{false, true} {
				w := newWorld(t)
				w.write("f", "f1\n")
				w.named()
				w.edit("f")
				w.begin()
				w.write("f", agent)
				w.sees("f")
				w.types("f", func(now string) string { return now + "u1\n" })
				w.sync()
				w.chmod("f", 0o600)
				w.killed(true)
				give(w)
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), `f 644 "f1\n"`, "after %q, %s, undo %v: there is %s", agent, name, undo)
			}
		}
	}
}

// What conflicts with unsaved text and was refused is no change where all is killed then.
func TestRefusedUnderAConflictBeforeAllWasKilled(t *testing.T) {
	t.Parallel()
	w := inConflict(t)
	w.chmod("f", 0o600)
	w.call("edit", func() {}, "f")
	w.decide(review.Reject, "f")
	w.killed(false)
	check.Equal(t, w.changes(), "modified f rejected\n", "listed is %q")
	check.Equal(t, w.tree(), `f 644 "f1\nf2\nf3\n"`, "there is %s")
}

// A buffer has taken in what came to the disk if it has all lines that are new there, and none that are gone.
func TestTookIn(t *testing.T) {
	for name, c := range map[string]struct {
		had, is, shows string
		took           string // which is all if it is the same as is
	}{
		"all":                           {"1 2", "1 a 2", "1 a 2 u", "1 a 2"},
		"nothing":                       {"1 2", "1 a 2", "1 2 u", "1 2"},
		"one of two":                    {"1 2", "a 1 2 b", "a 1 2 u", "a 1 2"},
		"the other one":                 {"1 2 3 4", "a 2 3 b 4", "u 2 3 b 4", "1 2 3 b 4"},
		"the one in place of another":   {"1 2 3 4", "a 2 3 b", "u 2 3 b", "1 2 3 b"},
		"what is gone":                  {"1 2", "1", "1 u", "1"},
		"what is gone is there":         {"1 2", "1", "1 2 u", "1 2"},
		"the user has taken out others": {"1 2 3", "1 2 3 a", "1 3 a", "1 2 3 a"},
		"one in place of another":       {"1 2", "1 a", "1 a u", "1 a"},
		"a part of that":                {"1 2 3", "1 a b", "1 a u", "1 2 3"},
		"as it was":                     {"1 2", "1 2", "u", "1 2"},
	} {
		took, all := tookIn(lines(c.had), lines(c.is), lines(c.shows))
		check.Equal(t, took, lines(c.took), "%s: %q", name)
		check.Equal(t, all, c.took == c.is, "%s: all is %v", name)
	}
}

// A turn that was saved as a whole is over, also the first one, and where the host dies before it has crossed out that the
// turn runs: what changes then is the user's.
func TestKilledRightAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.sync()
	key := openKey(w.about().Key())
	note, err := w.store.Load(key)
	w.must(err)
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.end()
	w.dies()
	w.must(w.store.Save(key, "", note))
	w.write("g", "u1\n")
	w.takenUp()
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "the record has %q")
	check.Equal(t, w.running(), "", "the turn is noted as running still: %v")
}

// That a turn ran which is taken up is crossed out when what it had changed is saved, also where saves are put off.
func TestATakenUpTurnIsCrossedOutWhenItIsSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.sync()
	w.write("f", "f1\na1\n")
	w.dies()
	w.open()
	w.box(func() { w.ledger.keep.bytes, w.ledger.keep.next = atOnce+1, time.Now().Add(time.Hour) })
	w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) {}, func(saved.Session, error) {})
	w.sync()
	w.sync()
	check.Equal(t, w.running(), "", "the turn is noted as running still: %v")
	w.dies()
	w.takenUp()
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "the record has %q")
}

// What a removal has taken from a buffer is forgotten with the turn that nobody knows any more.
func TestTakenAwayInATurnThatIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.box(func() {
		w.ledger.takeUpTaken([]saved.Taken{{Path: w.path("f"), From: w.path("f")}}, func(time.Time) *turn { return nil })
		check.Equal(t, len(w.ledger.taken), 0, "%d are known")
	})
}

// What a buffer was last in step with is told when Neovim says what its buffers show, not only when nothing else is to do.
func TestABufferIsInStepBeforeTheFilesAreLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.named()
	w.removedUnder("f", "f1\n")
	w.sync()
	bufs := maps.Clone(w.bufs)
	w.dies()
	w.bufs = bufs
	w.open()
	goOn := make(chan func(), 1)
	w.ledger.job(func(next func()) { goOn <- next })
	w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) {}, func(saved.Session, error) {})
	w.eventually("what the buffer was in step with", func() bool { return w.toldInStep("f") == "f1\n" })
	w.ledger.box.Put(<-goOn)
	w.sync()
	w.sync()
}
