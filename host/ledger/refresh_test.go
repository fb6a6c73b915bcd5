package ledger

import (
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// toldFiles are the files of the record that a session was told of.
type toldFiles struct {
	mu   sync.Mutex
	last map[string]string // text, by path
	n    int
}

func (f *toldFiles) Changed(files []review.File, _ []int, _ []Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, file := range files {
		f.last[file.Path] = file.Present.Text
		f.n++
	}
}

func (f *toldFiles) text(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last[path]
}

// Whoever asks for a file of the record gets it as it was told last, or, where it is looked at, with what the user has
// made of it since; and then that is told too.
func TestAFileOfTheRecord(t *testing.T) {
	t.Parallel()
	for how, c := range map[string]struct {
		ask  func(w *world) string
		want string // of what is there by then: what is told
	}{
		"as it was told": {func(w *world) string { return w.file("f", false) }, "f1\na1\n"},
		"looked at":      {func(w *world) string { return w.file("f", true) }, "f1\na1\nu1\n"},
		"all":            {func(w *world) string { w.changes(); return w.file("f", false) }, "f1\na1\nu1\n"},
		"refreshed": {func(w *world) string {
			done := make(chan struct{})
			w.ledger.Refresh(w.path("f"), func() { close(done) })
			<-done
			return w.file("f", false)
		}, "f1\na1\nu1\n"},
		"another": {func(w *world) string { return w.file("g", true) + "f1\na1\n" }, "f1\na1\n"},
	} {
		told := &toldFiles{last: map[string]string{}}
		w := newWorld(t)
		w.open(func(c *Config) { c.Changed = told.Changed })
		w.write("f", "f1\n")
		w.begin()
		w.clientWrites("f", "f1\n", "f1\na1\n")
		w.end()
		w.edit("f")
		w.types("f", func(now string) string { return now + "u1\n" })
		w.sync()
		check.Equal(t, c.ask(w), c.want, "%s: it is %q", how)
		w.sync()
		check.Equal(t, told.text(w.path("f")), c.want, "%s: told is %q", how)
		n := told.n
		if w.file("f", true); how == "looked at" && told.n != n {
			t.Errorf("%s: it is told again as it was", how)
		}
	}
}

// file is the text of a file of the record.
func (w *world) file(name string, look bool) string {
	text := make(chan string, 1)
	w.ledger.File(w.path(name), look, func(f review.File) { text <- f.Present.Text })
	return <-text
}

// The agent changes a file that nobody has named, and somebody asks for it while the turn runs: that is told as the
// agent's. What is gone then may have been moved: the end tells.
func TestAskedWhileATurnRuns(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.begin()
		w.clientWrites("f", "f1\nf2\nf3\n", "a1\nf2\nf3\n")
		if gone {
			w.move("f", "g")
		} else {
			w.write("f", "a1\nf2\nf3\na2\n")
		}
		w.sync()
		w.file("f", true)
		n := len(w.events)
		if want := map[bool]int{false: 2, true: 1}[gone]; n != want {
			t.Errorf("gone %v: %d events, wanted %d", gone, n, want)
		}
		w.end()
		want := "modified f -1,1+1,1 -3,0+4,1\n"
		if gone {
			want = "moved g from f -1,1+1,1\n"
		}
		check.Equal(t, w.changes(), want, "the record has %q")
		w.remove(map[bool]string{false: "f", true: "g"}[gone]) // by the user
		check.Equal(t, w.changes(), "", "of what the user has removed the record has %q")
	}
}

// What another session's agent makes of a file is told to the one that has it in its record.
func TestToldOfAnotherSession(t *testing.T) {
	t.Parallel()
	told := &toldFiles{last: map[string]string{}}
	w := newWorld(t)
	two := w.ledger
	one := w.open(func(c *Config) { c.Changed = told.Changed })
	w.write("f", "f1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.end()
	w.ledger = two
	w.begin()
	w.clientWrites("f", "f1\na1\n", "b1\nf1\na1\n")
	w.end()
	w.ledger = one
	w.sync()
	check.Equal(t, told.text(w.path("f")), "b1\nf1\na1\n", "told is %q")
}
