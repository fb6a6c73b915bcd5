package ledger

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// what agents do to a file "f", and around it.
var deeds = map[string]func(w *world){
	"writes through the client":   func(w *world) { w.clientWrites("f", w.sees("f"), "f1\na1\nf3\n") },
	"writes it on the disk":       func(w *world) { w.write("f", "f1\nf2\na2\nf3\n") },
	"replaces it on the disk":     func(w *world) { w.replace("f", "a3\nf1\nf2\nf3\n") },
	"removes it":                  func(w *world) { w.sh("rm -f f") },
	"moves it away":               func(w *world) { w.sh("test ! -f f || mv f g") },
	"moves it away and back":      func(w *world) { w.sh("test ! -f f || { mv f h; mv h f; }") },
	"moves another one there":     func(w *world) { w.sh("test ! -f other || mv other f") },
	"makes another one":           func(w *world) { w.write("new/one", "a4\n") },
	"empties it":                  func(w *world) { w.write("f", "") },
	"gives it other line ends":    func(w *world) { w.write("f", "f1\r\nf2\r\nf3\r\n") },
	"gives it a byte order mark":  func(w *world) { w.write("f", "\ufefff1\nf2\nf3\n") },
	"gives it permissions":        func(w *world) { w.sh("test ! -f f || chmod 600 f") },
	"makes it binary":             func(w *world) { w.write("f", "a5\x00") },
	"names it in a call":          func(w *world) { w.call("edit", func() { w.replace("f", "f1\nf2\nf3\na6\n") }, "f") },
	"names it late":               func(w *world) { w.write("f", "a7\n"); w.call("edit", func() {}, "f") },
	"takes its last newline":      func(w *world) { w.write("f", "f1\nf2\nf3") },
	"writes it in another coding": func(w *world) { w.write("f", "f1\nf\xe4\nf3\n") },
}

// Whatever two ways an agent takes to a file in one turn, and in whichever order: when all is refused, or the turn
// undone, the folder is byte for byte what it was.
func TestWhateverTheAgentDoesComesBack(t *testing.T) {
	for first, do := range deeds {
		for second, then := range deeds {
			for _, loaded := range []string{"", "loaded"} {
				if (len(first)+len(second)+len(loaded))%2 == 0 {
					continue // one of the two is enough
				}
				t.Run(strings.Join([]string{first, second, loaded}, ", "), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.write("f", "f1\nf2\nf3\n")
					w.write("other", "o1\n")
					w.write("bytes", "\x00o2")
					before := w.tree()
					if loaded != "" {
						w.edit("f")
						w.edit("other")
					}
					w.begin()
					do(w)
					if len(first)%2 == 0 { // the watch comes between
						w.sees("f")
					}
					then(w)
					w.end()
					after := w.tree()
					w.is("after the turn", after, before == after)
					if err := w.undo(false); err != nil && before != after {
						t.Error(err)
					}
					w.is("undone", before, true)
					if err := w.undo(true); err != nil && before != after {
						t.Error(err)
					}
					w.is("done again", after, false)
					if before != after {
						w.decide(review.Reject, "")
					}
					w.is("refused", before, false)
				})
			}
		}
	}
}

func (w *world) sh(script string) { w.t.Helper(); w.must(shell(w.dir, script)) }

// is looks what there is; with unchanged the record must be empty.
func (w *world) is(when, want string, unchanged bool) {
	w.t.Helper()
	changes := w.changes()
	if got := w.tree(); got != want {
		w.t.Errorf("%s there is\n%s\nwanted\n%s\nthe record has\n%s", when, got, want, changes)
	}
	if unchanged && changes != "" {
		w.t.Errorf("%s the record has\n%s", when, changes)
	}
}

// Of files that git ignores the folders' copies tell nothing. One that is named when the agent is done with it is not
// taken for new, but one that it names beforehand is known.
func TestIgnoredFiles(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world)
		want string
		left string // of it, when all is refused
	}{
		"changed":              {func(w *world) { w.write("a.log", "a1\n") }, "", "a1\n"},
		"named late":           {func(w *world) { w.write("a.log", "a1\n"); w.call("edit", func() {}, "a.log") }, "", "a1\n"},
		"named, then changed":  {func(w *world) { w.call("edit", func() { w.write("a.log", "l1\na1\n") }, "a.log") }, "modified a.log -1,0+2,1\n", "l1\n"},
		"new":                  {func(w *world) { w.write("b.log", "a1\n"); w.call("edit", func() {}, "b.log") }, "", "l1\n"},
		"named, then made":     {func(w *world) { w.call("edit", func() { w.write("b.log", "a1\n") }, "b.log") }, "added b.log -0,0+1,1\n", "l1\n"},
		"another one":          {func(w *world) { w.write("b", "a1\n"); w.call("edit", func() {}, "b") }, "added b -0,0+1,1\n", "l1\n"},
		"no longer ignored":    {func(w *world) { w.remove(".gitignore"); w.call("edit", func() {}, "a.log") }, "deleted .gitignore -1,1+0,0\n", "l1\n"},
		"through the client":   {func(w *world) { w.clientWrites("a.log", "l1\n", "l1\na1\n") }, "modified a.log -1,0+2,1\n", "l1\n"},
		"and then on the disk": {func(w *world) { w.clientWrites("a.log", "l1\n", "l1\na1\n"); w.write("a.log", "l1\na1\na2\n") }, "modified a.log -1,0+2,2\n", "l1\n"},
		"in the next turn": {func(w *world) {
			w.clientWrites("a.log", "l1\n", "l1\na1\n")
			w.end()
			w.begin()
			w.write("a.log", "l1\na1\na2\n")
		}, "modified a.log -1,0+2,2\n", "l1\n"},
		"after the user": {func(w *world) {
			w.clientWrites("a.log", "l1\n", "l1\na1\n")
			w.end()
			w.write("a.log", "u1\nl1\na1\n")
			w.changes()
			w.begin()
			w.clientWrites("a.log", "u1\nl1\na1\n", "u1\nl1\na1\na2\n")
		}, "modified a.log -2,0+3,2\n", "u1\nl1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sh("git init -q")
			w.write(".gitignore", "*.log\n")
			w.write("a.log", "l1\n")
			// It is older than the turn, also by a clock that goes in steps.
			for began := time.Now(); time.Since(began) < 2*Coarse; {
				runtime.Gosched()
			}
			w.begin()
			c.do(w)
			w.end()
			check.Equal(t, w.changes(), c.want, "the record has %q")
			if c.want != "" {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.sees("a.log"), c.left, "there is %q")
		})
	}
}

// Bytes that the agent has written through its client are known again when the file is looked at.
func TestBytesThatWereWrittenAreKnownAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "\x00f\n")
	w.begin()
	text := "\x00a\n"
	w.clientWrites("f", "\x00f\n", text)
	w.box(func() {
		if is, _ := w.ledger.record.Present(w.path("f")); !is.SameText(contentOf(&text, plain)) {
			t.Errorf("what was written is %+v", is)
		}
	})
}
