package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// pending reports whether anything waits for the user.
func (w *world) pending() bool {
	for line := range strings.Lines(w.changes()) {
		if !strings.HasSuffix(line, " rejected\n") && !strings.HasSuffix(line, " kept\n") {
			return true
		}
	}
	return false
}

// The user refuses in the middle of a turn, and the agent goes on, or not: what was refused does not come back, and
// what the agent does then is refused too.
func TestRefusedInTheMiddleOfATurn(t *testing.T) {
	for first, do := range deeds {
		for _, second := range []string{"", first, "replaces it on the disk", "removes it", "moves it away", "writes through the client"} {
			for _, loaded := range []bool{false, true} {
				t.Run(first+", "+second, func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.write("f", "f1\nf2\nf3\n")
					w.write("other", "o1\n")
					before := w.tree()
					if loaded {
						w.edit("f")
					}
					w.begin()
					w.call("edit", func() { do(w) }, "f", "g", "other", "new/one")
					w.sees("f") // the watch tells the buffer
					if w.pending() {
						w.decide(review.Reject, "")
						if w.pending() {
							t.Errorf("loaded %v: refused there is still\n%s", loaded, w.changes())
						}
						check.Equal(t, w.tree(), before, "loaded %v: refused there is\n%s", loaded)
					}
					if second != "" {
						deeds[second](w)
					}
					w.end()
					if w.pending() {
						w.decide(review.Reject, "")
					}
					if got := w.tree(); got != before || w.pending() {
						t.Errorf("loaded %v: in the end there is\n%s\nwanted\n%s\nthe record has\n%s", loaded, got, before, w.changes())
					}
				})
			}
		}
	}
}

// Files that take each other's places, in one turn or in one each, are where they were when all is refused or undone.
func TestFilesTakeEachOthersPlaces(t *testing.T) {
	for _, scripts := range [][]string{
		{"mv f g", "mv other f", "rm g"},
		{"mv f g; mv other f; mv g other"},
		{"mkdir d", "mv f d/f", "rm other", "mv d/f other"},
		{"mv f g", "echo a1 > f", "mv g h"},
		{"mv f g", "echo a1 >> g", "mv g f"},
		{"rm f", "mv other f", "echo a1 > other"},
		{"mv bytes d1", "mv f bytes", "echo a1 >> bytes"},
		{"mkdir d", "mv f other bytes d", "mv d e"},
		{"rm other; mkdir other; mv f other/f"},
		{"echo a1 > g", "mv g f"},
		{"cp f g", "rm f"},
		{"cp f g; cp f h; rm f"},
		{"mv f g; cp g h"},
		{"mv f g; mv other h; rm bytes"},
		{"rm f; : > g; : > h"},
	} {
		for _, how := range []string{"one turn, refused", "one turn, undone", "a turn each, refused", "a turn each, undone"} {
			t.Run(strings.Join(append(slices.Clone(scripts), how), "; "), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\nf3\n")
				w.write("other", "o1\no2\n")
				w.write("bytes", "\x00b1")
				before := w.tree()
				run := scripts
				if strings.HasPrefix(how, "one") {
					run = []string{strings.Join(scripts, "\n")}
				}
				for _, script := range run {
					w.begin()
					w.sh(script)
					w.end()
				}
				after := w.tree()
				if strings.HasSuffix(how, "refused") {
					w.decide(review.Reject, "")
				} else {
					n := 0
					for w.undo(false) == nil {
						n++
					}
					check.Equal(t, w.tree(), before, "undone there is\n%s")
					for range n {
						w.must(w.undo(true))
					}
					check.Equal(t, w.tree(), after, "done again there is\n%s")
					w.decide(review.Reject, "")
				}
				if got := w.tree(); got != before {
					t.Errorf("refused there is\n%s\nwanted\n%s\nthe record has\n%s", got, before, w.changes())
				}
			})
		}
	}
}

// What the folders tell of moves, whatever was told of the files before.
func TestMovesThatTheFoldersTell(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"one":                        {func(w *world) { w.move("f", "g") }, "moved g from f\n"},
		"over what it has just made": {func(w *world) { w.clientWrites("g", "", "a1\n"); w.move("f", "g") }, "moved g from f\n"},
		"with what it has written":   {func(w *world) { w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n"); w.move("f", "g") }, "moved g from f -1,0+2,1\n"},
		"and written":                {func(w *world) { w.move("f", "g"); w.clientWrites("g", "f1\nf2\n", "f1\na1\nf2\n") }, "moved g from f -1,0+2,1\n"},
		"and opened by the user": {func(w *world) {
			w.move("f", "g")
			w.edit("g")
			w.types("g", func(now string) string { return now + "u1\n" })
		}, "moved g from f\n"},
		"and opened by the user, saved and written": {func(w *world) {
			w.move("f", "g")
			w.edit("g")
			w.types("g", func(now string) string { return "u1\n" + now })
			w.saves("g")
			w.clientWrites("g", "u1\nf1\nf2\n", "u1\nf1\na1\n")
		}, "moved g from f -3,1+3,1\n"},
		"two of the same":             {func(w *world) { w.move("f", "g"); w.move("same", "h") }, "moved g from f\nmoved h from same\n"},
		"by a copy":                   {func(w *world) { w.sh("cp f g; rm f same") }, ""},
		"by a copy of it":             {func(w *world) { w.sh("cp f g; rm f") }, "moved g from f\n"},
		"an empty one":                {func(w *world) { w.move("empty", "g") }, "moved g from empty\n"},
		"with other permissions":      {func(w *world) { w.move("f", "g"); w.chmod("g", 0o755) }, "moved g from f\n"},
		"of a file that a buffer has": {func(w *world) { w.edit("f"); w.move("f", "g") }, "moved g from f\n"},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				w.write("same", "f1\nf2\n")
				w.write("empty", "")
				before := w.tree()
				w.begin()
				c.do(w)
				w.end()
				if got := w.changes(); got != c.want && c.want != "" {
					t.Errorf("the record has %q, wanted %q", got, c.want)
				}
				if listed := w.changes(); undo {
					w.must(w.undo(false))
					w.must(w.undo(true))
					if got := w.changes(); !new(modelled).sameLines(got, listed, true) {
						t.Errorf("done again the record has %q, it had %q", got, listed)
					}
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, strings.ReplaceAll(w.tree(), "u1\\n", ""), before, "undo %v: there is\n%s", undo)
			})
		}
	}
}

// A file that a buffer shows is not taken for moved before Neovim has told that it is gone: all of it comes back by a
// refusal, wherever the agent has put it and whatever it has made of it there.
func TestMovedUnderABufferThatHasNotToldIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	before := w.tree()
	w.edit("f")
	w.begin()
	w.move("f", "g")
	w.call("edit", func() { w.write("g", "f1\na1\nf2\n") }, "g")
	w.end()
	check.Equal(t, w.changes(), "added g -0,0+1,3\ndeleted f -1,2+0,0\n", "listed is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), before, "there is %s")
	check.Equal(t, w.sees("f"), "f1\nf2\n", "the buffer has %q")
}

// A file that the agent puts in the place of another one is no move: one has changed, and the other is gone.
func TestPutInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("g", "g1\n")
	before := w.tree()
	w.begin()
	w.call("edit", func() { w.move("f", "g") }, "g", "f")
	w.end()
	check.Equal(t, w.changes(), "modified g -1,1+1,1\ndeleted f -1,1+0,0\n", "listed is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), before, "there is %s")
}

// lines is a text with a line for each word.
func lines(words string) string { return strings.ReplaceAll(words, " ", "\n") + "\n" }

// A copy of a file that is then removed is a move to a new path, also to one that a file was moved away from, but not
// over a file that was there.
func TestCopiedAndRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		moves  bool // the file that was there
		listed string
	}{
		"over another":                {false, "modified g -1,1+1,1\ndeleted f -1,1+0,0\n"},
		"where another is moved away": {true, "moved h from g\nmoved g from f\n"},
	} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.write("g", "g1\n")
		before := w.tree()
		w.begin()
		if c.moves {
			w.call(session.KindMove, func() { w.move("g", "h") }, "g", "h")
		}
		w.call(session.KindEdit, func() {}, "g")
		w.sh("cp f g; rm f")
		w.end()
		check.Equal(t, w.changes(), c.listed, "%s: listed is %q", name)
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), before, "%s: refused there is %s", name)
	}
}

// A shown copy of a file that is then removed has moved, whatever is typed into it: what is unsaved is known at the end of the
// turn, and it has moved also when the user gives that up.
func TestTypedIntoACopyOfWhatIsRemoved(t *testing.T) {
	t.Parallel()
	for _, looked := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		before := w.tree()
		w.begin()
		w.sh("cp f g")
		w.edit("g")
		w.sync()
		w.types("g", func(text string) string { return text + "u1\n" })
		if looked {
			w.changes()
		}
		w.remove("f")
		w.end()
		f, _ := w.recorded("g")
		check.Equal(t, f.Present.Text, "f1\nu1\n", "looked %v: the record has %q", looked)
		w.rereads("g")
		check.Equal(t, w.changes(), "moved g from f\n", "looked %v: given up, listed is %q", looked)
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), before, "looked %v: refused there is %s", looked)
	}
}
