package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A session is saved under the name that its agent gives it, with what the user has not sent, and its title; not
// under an older name any more, and not once the agent has deleted it.
func TestWhatIsSavedOfASession(t *testing.T) {
	comments := []saved.Comment{{Path: "f", Remark: review.Remark{Text: "why?"}}}
	for name, c := range map[string]struct {
		do    func(w *world)
		id    string // under which it is looked for
		found bool
		title string
	}{
		"named":      {func(*world) {}, "1", true, "the words"},
		"other name": {func(*world) {}, "2", false, ""},
		"titled":     {func(w *world) { w.ledger.Titled("title") }, "1", true, "title"},
		"renamed":    {func(w *world) { w.rename("2") }, "2", true, "the words"},
		"old name":   {func(w *world) { w.rename("2") }, "1", false, ""},
		"deleted":    {func(w *world) { w.ledger.Forget() }, "1", false, ""},
		"deleted, and changed": {func(w *world) {
			w.ledger.Forget()
			w.ledger.KeepUnsent(nil, nil, true)
		}, "1", false, ""},
		"both":         {func(w *world) { w.ledger.Titled("title"); w.rename("2") }, "2", true, "title"},
		"named again":  {func(w *world) { w.rename("1") }, "1", true, "the words"},
		"all refused":  {func(w *world) { w.decide(review.Reject, "") }, "1", true, ""},
		"nothing left": {func(w *world) { w.must(w.undo(false)); w.begin(); w.end(); w.ledger.KeepUnsent(nil, nil, true) }, "1", false, ""},
		"nothing for a while": {func(w *world) {
			w.must(w.undo(false))
			w.begin()
			w.end()
			w.ledger.KeepUnsent(nil, nil, true)
			w.ledger.KeepUnsent(comments, []string{"told"}, true)
		}, "1", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\n")
			w.named()
			ready := make(chan struct{})
			w.ledger.BeginTurn(" the\nwords ", func() { close(ready) })
			<-ready
			w.write("f", "f1\na1\n")
			w.end()
			w.ledger.KeepUnsent(comments, []string{"told"}, true)
			c.do(w)
			listed := w.changes()
			w.mu.Lock()
			w.ledger.Close() // as a host does that has the time
			w.mu.Unlock()
			w.open()
			about := w.about()
			about.ID = c.id
			found, unsent := false, false
			w.ledger.TakeUp(about, func(was []saved.Comment, told []string) {
				unsent = true
				if len(was) != 1 || was[0].Text != "why?" || !slices.Equal(told, []string{"told"}) {
					t.Errorf("what was not sent is %v, told was %q", was, told)
				}
			}, func(s saved.Session, err error) {
				found = true
				if err != nil || s.About.Title != c.title {
					t.Errorf("its title is %q, %v", s.About.Title, err)
				}
			})
			w.sync()
			w.sync()
			must.Equal(t, found, c.found, "it was found: %v")
			check.Equal(t, unsent, c.found, "what was not sent was told: %v")
			if got := w.changes(); found && got != listed {
				t.Errorf("the record has %q, it had %q", got, listed)
			}
		})
	}
}

func (w *world) rename(id string) {
	about := w.about()
	about.ID = id
	w.ledger.Opened(about)
	w.sync()
}

// What waits for a save runs once.
func TestWhatWaitsForASave(t *testing.T) {
	w, ran := newWorld(t), 0
	w.ledger.Noted(func() { ran++ })
	w.ledger.Noted(func() {})
	if w.sync(); ran != 1 {
		t.Errorf("it has run %d times", ran)
	}
}

// As much of a prompt as stands for a title is whole letters.
func TestBeginningOfAPrompt(t *testing.T) {
	for prompt, want := range map[string]string{
		" a\n b ":                                 "a b",
		strings.Repeat("a", titleLength):          strings.Repeat("a", titleLength),
		strings.Repeat("a", titleLength-1) + "ä":  strings.Repeat("a", titleLength-1),
		strings.Repeat("a", titleLength-2) + "äb": strings.Repeat("a", titleLength-2) + "ä",
		strings.Repeat("\u2026", titleLength):     strings.Repeat("\u2026", titleLength/3),
	} {
		check.Equal(t, beginning(prompt), want, "%q begins with %q", prompt)
	}
}

// eventually waits for what other goroutines are to do.
func (w *world) eventually(what string, is func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: it does not come", what)
		}
	}
}

// A host that dies loses the last moment only: whatever becomes of a session's changes is saved soon, once and again.
func TestWhatIsSavedWhileASessionGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	for _, step := range []struct {
		what  string
		do    func()
		saved func(s saved.Session) bool
	}{
		{"a change", func() { w.clientWrites("f", "f1\n", "a1\n") }, func(s saved.Session) bool { return len(s.Record.Files()) == 1 }},
		{"another one", func() { w.clientWrites("g", "", "a2\n") }, func(s saved.Session) bool { return len(s.Record.Files()) == 2 }},
		{"a comment", func() {
			w.ledger.KeepUnsent([]saved.Comment{{Path: "f"}}, []string{"told"}, false)
		}, func(s saved.Session) bool { return len(s.Comments) == 1 && len(s.Told) == 1 }},
		{"a title", func() { w.ledger.Titled("title") }, func(s saved.Session) bool { return s.About.Title == "title" }},
		{"the end", w.end, func(s saved.Session) bool { return len(s.History.Turns) == 1 }},
		{"an undo", func() { w.must(w.undo(false)) }, func(s saved.Session) bool { return len(s.History.Undone) == 1 }},
		{"done again", func() { w.must(w.undo(true)) }, func(s saved.Session) bool { return len(s.History.Turns) == 1 }},
		{"a refusal", func() { w.decide(review.Reject, "f") }, func(s saved.Session) bool {
			return slices.ContainsFunc(s.Record.Files(), func(f review.File) bool { return f.State == review.Rejected })
		}},
		{"another undo", func() { w.must(w.undo(false)) }, func(s saved.Session) bool { return len(s.History.Undone) == 1 }},
		{"a new turn", w.begin, func(s saved.Session) bool { return len(s.History.Undone) == 0 }},
		{"no comment", func() { w.ledger.KeepUnsent(nil, nil, false) }, func(s saved.Session) bool { return len(s.Comments) == 0 }},
	} {
		step.do()
		w.eventually(step.what, func() bool {
			s, err := saved.Load(w.store, w.about().Key(), maxRecorded)
			return err == nil && step.saved(s)
		})
	}
}

// notedSaves are saves of which a test says what comes of them.
type notedSaves struct {
	mu      sync.Mutex
	done    []func(int, error) // of what was written
	removed []string
	err     error // of Load; nil is that it is broken
}

func (s *notedSaves) Load(string, int) (saved.Session, error) {
	return saved.Session{}, cmp.Or(s.err, errors.New("broken"))
}

func (s *notedSaves) Write(_ string, _ *saved.Image, done func(int, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, done)
}

func (s *notedSaves) WriteNow(string, *saved.Image) (int, bool, error) { return 0, false, nil }

func (s *notedSaves) Remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = append(s.removed, key)
}

func (s *notedSaves) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.done)
}

// What could not be saved is written again, and what was saved is not.
func TestWhatCouldNotBeSavedIsSavedLater(t *testing.T) {
	t.Parallel()
	w, noted := newWorld(t), &notedSaves{}
	w.open(func(c *Config) { c.Saves = noted })
	w.named()
	saves := func(texts ...string) {
		for _, text := range texts {
			w.ledger.KeepUnsent([]saved.Comment{{Path: "f", Remark: review.Remark{Text: text}}}, nil, true)
		}
		w.sync()
	}
	says := func(n int, err error) { noted.done[n](1, err); w.sync() }
	saves("one", "one")
	check.Equal(t, noted.count(), 1, "the same was saved %d times")
	says(0, errors.New("no space left"))
	saves("one")
	check.Equal(t, noted.count(), 2, "what could not be saved was saved %d times")
	says(1, nil)
	saves("one", "two")
	check.Equal(t, noted.count(), 3, "then it was saved %d times")
	says(1, errors.New("late"))
	saves("two")
	check.Equal(t, noted.count(), 3, "an older failure counts for what was saved since: %v")
}

// countedSaves count what is saved.
type countedSaves struct {
	Saves
	written atomic.Int32
}

func (s *countedSaves) WriteNow(key string, image *saved.Image) (int, bool, error) {
	s.written.Add(1)
	return s.Saves.WriteNow(key, image)
}

// What is taken up and stays as it is is not saved again: another Neovim may have saved more since.
func TestWhatIsTakenUpIsNotSavedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.clientWrites("f", "f1\n", "a1\n")
	w.end()
	w.dies()
	counted := &countedSaves{Saves: saves{w.store}}
	w.open(func(c *Config) { c.Saves = counted })
	found := false
	w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) {}, func(_ saved.Session, err error) { found = err == nil })
	w.sync()
	w.sync()
	if w.box(w.ledger.save); !found || counted.written.Load() != 0 {
		t.Errorf("it was found: %v, and saved %d times", found, counted.written.Load())
	}
}

// The more was written, the longer is the pause before it is done again.
func TestPausesBetweenSaves(t *testing.T) {
	t.Parallel()
	for bytes, pause := range map[int]time.Duration{0: minPause, 2 * saveRate: 2 * time.Second, 100 * saveRate: maxPause} {
		w, noted := newWorld(t), &notedSaves{}
		w.open(func(c *Config) { c.Saves = noted })
		w.named()
		var next time.Time
		began := time.Now()
		w.ledger.KeepUnsent([]saved.Comment{{Path: "f"}}, nil, true)
		w.box(func() { next = w.ledger.keep.next })
		if next.Before(began.Add(minPause)) || next.After(time.Now().Add(minPause)) {
			t.Errorf("while it is being written the next may come %v after", next.Sub(began))
		}
		noted.done[0](bytes, nil)
		w.box(func() { next = w.ledger.keep.next })
		if next.Before(began.Add(pause)) || next.After(time.Now().Add(pause)) {
			t.Errorf("after %d bytes the next may come %v after", bytes, next.Sub(began))
		}
	}
}

// What the agent has given no name is not saved, and nothing is removed for it.
func TestWhatHasNoNameIsNotSaved(t *testing.T) {
	t.Parallel()
	w, noted := newWorld(t), &notedSaves{}
	w.open(func(c *Config) { c.Saves = noted })
	w.write("f", "f1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "a1\n")
	w.end()
	w.ledger.KeepUnsent([]saved.Comment{{Path: "f"}}, nil, true)
	w.ledger.Titled("title")
	w.ledger.Forget()
	w.sync()
	if w.named(); noted.count() != 0 || len(noted.removed) != 0 {
		t.Errorf("%d were saved, %q removed", noted.count(), noted.removed)
	}
	w.ledger.KeepUnsent(nil, nil, true)
	w.named() // once more
	if w.sync(); noted.count() != 1 || len(noted.removed) != 0 {
		t.Errorf("named, %d were saved, %q removed", noted.count(), noted.removed)
	}
}

// What is broken cannot be taken up, and says so; what a session has done already is not lost for what was saved.
func TestWhatCannotBeTakenUp(t *testing.T) {
	t.Parallel()
	w, noted := newWorld(t), &notedSaves{}
	w.open(func(c *Config) { c.Saves = noted })
	take := func() (said []string) {
		w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) { said = append(said, "unsent") }, func(_ saved.Session, err error) {
			if err != nil {
				said = append(said, err.Error())
			}
		})
		w.sync()
		w.sync()
		return said
	}
	check.Slice(t, take(), []string{"broken"}, "of what is broken it says %q")
	w.clientWrites("f", "", "a1\n")
	if said := take(); len(said) > 0 || w.changes() == "" {
		t.Errorf("with changes it says %q, and has %q", said, w.changes())
	}
}

// What a newer version saved is neither written over nor removed, whatever the session does; under another name the
// session is saved.
func TestWhatANewerVersionSaved(t *testing.T) {
	t.Parallel()
	w, noted := newWorld(t), &notedSaves{err: fmt.Errorf("read it: %w", saved.ErrNewer)}
	w.open(func(c *Config) { c.Saves = noted })
	told := 0
	take := func() {
		w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) { t.Error("something was not sent") }, func(_ saved.Session, err error) {
			if told++; !errors.Is(err, saved.ErrNewer) {
				t.Errorf("it says %v", err)
			}
		})
		w.sync()
	}
	take()
	w.named()
	take() // as its agent is started again
	w.clientWrites("f", "", "a1\n")
	w.begin()
	w.write("g", "a1\n")
	w.end()
	w.ledger.KeepUnsent(nil, []string{"told"}, true)
	w.ledger.Titled("title")
	w.sync()
	if _, err := w.store.SavedAt(openKey(w.about().Key())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its turn was written down: %v", err)
	}
	if noted.count() != 0 || told != 1 {
		t.Errorf("%d were saved, and it was told %d times", noted.count(), told)
	}
	w.rename("2")
	w.ledger.KeepUnsent([]saved.Comment{{Path: "f", Remark: review.Remark{Text: "why?"}}}, nil, true)
	if w.sync(); noted.count() == 0 || len(noted.removed) != 0 {
		t.Errorf("renamed, %d were saved, %q removed", noted.count(), noted.removed)
	}
}

// Whoever takes a session up waits until Neovim has told what its buffers show: what is not saved in one is not taken
// out. But a Neovim that is busy is not waited for.
func TestTakenUpBesideBuffers(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{false, true} {
		w := newWorld(t)
		w.named()
		w.clientWrites("f", "", "a1\n")
		w.ledger.KeepUnsent(nil, nil, true)
		w.dies()
		w.tracks = make(chan struct{})
		waits := make(chan string, 1)
		w.open()
		w.ledger.TakeUp(w.about(), func([]saved.Comment, []string) {}, func(saved.Session, error) { waits <- "taken up" })
		begun := make(chan struct{})
		w.ledger.box.Put(func() { close(begun) })
		<-begun
		select {
		case <-waits:
			t.Fatal("it was not waited for")
		default:
		}
		if !busy {
			w.edit("f")
			w.types("f", func(now string) string { return now + "u1\n" })
			close(w.tracks)
		}
		<-waits
		check.Equal(t, w.changes(), "added f -0,0+1,1\n", "busy %v: the record has %q", busy)
	}
}

// Bytes that were changed come back also when another host takes the session up, and so does what it was told.
func TestWhatIsTakenUpIsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\x00f1")
	w.write("g", "g1\n")
	w.named()
	ready := make(chan struct{})
	w.ledger.BeginTurn("words", func() { close(ready) })
	<-ready
	w.write("f", "\x00a1")
	w.clientWrites("g", "g1\n", "g1\na1\n")
	w.clientWrites("g", "g1\na1\n", "g1\na2\n")
	w.end()
	w.ledger.KeepUnsent(nil, []string{"told"}, true)
	for range 2 { // and by one more
		w.dies()
		w.open()
		found := make(chan saved.Session, 1)
		w.ledger.Titled("title")
		w.ledger.TakeUp(w.about(), func(_ []saved.Comment, told []string) {
			check.Slice(t, told, []string{"told"}, "told was %q")
		}, func(s saved.Session, _ error) { found <- s })
		if s := <-found; s.About.Title != "title" || len(s.History.Turns) != 1 || len(s.Originals) == 0 {
			t.Errorf("taken up is %+v, %d turns, %d originals", s.About, len(s.History.Turns), len(s.Originals))
		} else if slices.ContainsFunc(s.Originals, func(o saved.Original) bool { return o.Mark == review.Text("g1\n").Mark().Text }) {
			t.Error("a text of the record is kept twice")
		}
		w.box(w.ledger.save)
	}
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "\x00f1", "there is %q")
}

// counted notes which saves are made at once, and which may wait.
type counted struct {
	saves
	log *[]string
}

func (c counted) Write(key string, image *saved.Image, done func(int, error)) {
	*c.log = append(*c.log, "soon")
	c.saves.Write(key, image, done)
}

func (c counted) WriteNow(key string, image *saved.Image) (int, bool, error) {
	*c.log = append(*c.log, "at once")
	return c.saves.WriteNow(key, image)
}

// A small session is saved at once, a large one in the background.
func TestWhatIsSavedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var log []string
	w.open(func(c *Config) { c.Saves = counted{saves{w.store}, &log} })
	w.named()
	for _, size := range []int{1, atOnce * 2, atOnce * 3} {
		w.ledger.KeepUnsent([]saved.Comment{{Path: "f", Remark: review.Remark{Text: strings.Repeat("x", size)}}}, nil, true)
	}
	w.box(func() { check.Slice(t, log, []string{"at once", "at once", "soon"}, "saved is %q") })
}

// What the user decides is saved at once, also soon after much was.
func TestADecisionIsSavedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.end()
	l := w.ledger
	for _, decide := range []func(){
		func() { w.decide(review.Keep, "") },
		func() { w.must(w.undo(false)) },
	} {
		w.box(func() { l.written(l.keep.image, 2*atOnce, nil) })
		decide()
		w.box(func() {
			image, err := saved.Take(l.toSave(), l.keep.image)
			if err != nil || l.keep.due || !image.Is(l.keep.image) {
				t.Errorf("it is not saved, %v", err)
			}
		})
	}
}

// What the user writes while a turn runs is saved at once too.
func TestWhatTheUserWritesIsSavedAtOnce(t *testing.T) {
	t.Parallel()
	for _, loaded := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.write("g", "g1\n")
		w.named()
		if loaded {
			w.edit("g")
		}
		w.begin()
		w.clientWrites("f", "f1\n", "f1\na1\n")
		w.sync()
		l := w.ledger
		w.box(func() { l.written(l.keep.image, 2*atOnce, nil) })
		if loaded {
			w.types("g", func(is string) string { return is + "u1\n" })
			w.saves("g")
		} else {
			w.write("g", "g1\nu1\n")
			w.saved("g")
		}
		w.sync()
		w.box(func() {
			image, err := saved.Take(l.toSave(), l.keep.image)
			if err != nil || l.keep.due || !image.Is(l.keep.image) {
				t.Errorf("loaded %v: it is not saved, %v", loaded, err)
			}
		})
		w.end()
	}
}

// What comes soon after much was saved is saved a moment later.
func TestMoreIsSavedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.end()
	l := w.ledger
	w.box(func() { l.written(l.keep.image, 2*atOnce, nil) })
	for range 2 {
		l.KeepUnsent([]saved.Comment{{Path: "f"}}, nil, false)
	}
	must.Become(t, "all is saved", func() (is bool) {
		w.box(func() {
			image, err := saved.Take(l.toSave(), l.keep.image)
			is = err == nil && !l.keep.due && image.Is(l.keep.image)
		})
		return is
	})
}

// A file that the agent has removed, and that the user has then saved and removed, stays away when the turn is undone, also
// where the save is heard of when the file is gone again.
func TestSavedAndRemovedAtOnce(t *testing.T) {
	for _, text := range []string{"f1\n", "f1\na1\n"} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		w.clientWrites("f", "f1\n", text)
		w.remove("f")
		w.end()
		w.tellsOfSave("f", text, true)
		w.sync()
		check.Equal(t, len(w.files()), 0, "listed are %d files")
		w.wipe("f")
		w.must(w.undo(false))
		check.Equal(t, w.tree(), "", "there is %s")
	}
}

// What the user has saved right before the agent takes the file away is in what comes back, also where the removal is heard of
// first; where it was moved, the move brings it back.
func TestSavedBeforeARemovalThatIsHeardOfFirst(t *testing.T) {
	for take, listed := range map[string]string{"rm f": "deleted f -1,2+0,0\n", "mv f g": "moved g from f\n"} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		text := "f1\nu\n"
		w.replace("f", text)
		w.sh(take)
		w.follow(w.path("f"), true)
		w.sync()
		w.tellsOfSave("f", text, true)
		w.wipe("f")
		w.end()
		check.Equal(t, w.changes(), listed, "%s: listed is %q", take)
		w.must(w.undo(false))
		check.Equal(t, w.tree(), `f 644 "f1\nu\n"`, "%s: there is %s", take)
	}
}

// What could not be read of a save, as the agent had removed the file by then, takes nothing from what was known of it.
func TestSavedButNotRead(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nu\n")
	w.edit("f")
	w.begin()
	w.remove("f")
	w.follow(w.path("f"), true)
	w.sync()
	w.tellsOfSave("f", "f1\n", false)
	w.wipe("f")
	w.end()
	check.Equal(t, w.changes(), "deleted f -1,2+0,0\n", "listed is %q")
	w.must(w.undo(false))
	check.Equal(t, w.tree(), `f 644 "f1\nu\n"`, "there is %s")
}

// What the user has saved in a file that the agent had made no text stays on the disk, also where they have undone it in the
// buffer since.
func TestSavedInNoTextAndUndoneInItsBuffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\x00f1\n")
	w.edit("f")
	w.begin()
	w.write("f", "\x00a1\n")
	w.sees("f")
	w.types("f", func(now string) string { return now + "u1\n" })
	w.saves("f")
	w.types("f", func(string) string { return "\x00a1\n" })
	w.end()
	if err := w.undo(false); !errors.Is(err, errMovedOn) {
		t.Errorf("undone: %v", err)
	}
	check.Equal(t, w.onDisk("f"), "\x00a1\nu1\n", "undone, the disk has %q")
	check.Equal(t, w.sees("f"), "\x00a1\n", "undone, there is %q")
}

// What the user has written from a buffer that is not known yet, as they had given it that name, is theirs, also if the buffer
// is heard of before that was looked at.
func TestSavedRightBeforeItsBufferIsKnown(t *testing.T) {
	w := newWorld(t)
	w.write("f", "1\n")
	w.begin()
	w.clientWrites("f", "1\n", "1\na\n")
	w.write("f", "1\na\nu\n")
	var once sync.Once
	w.meanwhile = func(what, path string) {
		if what == "look" && path == w.path("f") {
			once.Do(func() { w.edit("f") })
		}
	}
	w.saved("f")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.onDisk("f"), "1\nu\n", "refused, there is %q")
}

// With a new turn, what was undone cannot be done again, for the next host neither: also where this one dies before the
// prompt is out.
func TestKilledBeforeThePromptAfterAnUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.named()
	for _, text := range []string{"a1\n", "a2\n"} {
		w.begin()
		w.write("f", text)
		w.end()
	}
	w.must(w.undo(false))
	looked := w.beginHeld()
	w.sync()
	s, err := saved.Load(w.store, w.about().Key(), maxRecorded)
	w.must(err)
	check.Equal(t, len(s.History.Undone), 0, "%d turns are saved as undone")
	looked()
	w.end()
}

// A session that is closed watches its folders no longer.
func TestClosedFoldersAreNotWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.end()
	released := false
	w.box(func() {
		release := w.ledger.scans.release
		w.ledger.scans.release = func() { released = true; release() }
	})
	w.mu.Lock()
	w.ledger.Close()
	w.mu.Unlock()
	check.Equal(t, released, true, "the watch is over: %v")
}

// What the user writes over the agent's removal, and the agent removes again, is told at once.
func TestSavedAndGoneIsTold(t *testing.T) {
	t.Parallel()
	told := &toldFiles{last: map[string]string{}}
	w := newWorld(t)
	w.open(func(c *Config) { c.Changed = told.Changed })
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.remove("f")
	w.sees("f")
	w.sync()
	n := told.n
	w.tellsOfSave("f", "f1\nu1\n", true)
	w.sync()
	check.Equal(t, told.n > n, true, "the removal of what the user has written is told: %v")
	w.end()
}

// What a buffer was in step with is not saved once it is closed, even if Neovim has not said so yet.
func TestAClosedBufferIsInStepWithNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.named()
	w.removedUnder("f", "f1\n")
	tell := w.closes("f")
	w.box(w.ledger.save)
	s, err := saved.Load(w.store, w.about().Key(), maxRecorded)
	w.must(err)
	check.Equal(t, len(s.InStep), 0, "%d buffers are in step")
	tell()
}
