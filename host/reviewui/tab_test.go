package reviewui

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// numbered is a text of n lines, of which some are others.
func numbered(n int, others ...string) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = strings.Repeat("i", i+1)
	}
	for i, other := range others {
		lines[10*i+2] = other
	}
	return strings.Join(lines, "\n") + "\n"
}

// twoFiles has an agent change two places of a, and one of b; the page is open.
func (w *world) twoFiles() {
	w.t.Helper()
	for _, name := range []string{"a", "b"} {
		must.Write(w.t, w.Cwd, name, numbered(20))
	}
	w.writes("a", numbered(20, "one", "two"))
	w.writes("b", numbered(20)+"three\n")
	w.open()
}

// heads are the lines of the files on the page.
func (w *world) heads() string {
	var heads []string
	for _, l := range w.page {
		if strings.HasPrefix(l, " ▾") || strings.HasPrefix(l, " ▸") {
			heads = append(heads, strings.Join(strings.Fields(l), " "))
		}
	}
	return strings.Join(heads, "|")
}

// now compares a file on the disk.
func (w *world) now(name, want string) {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	must.Do(w.t, err)
	check.Equal(w.t, string(text), want, name+" has %q")
}

func TestFoldingThePage(t *testing.T) {
	play(t, func(w *world) {
		w.twoFiles()
		fold := func(how, at, want string) {
			t.Helper()
			m := rpc.ReviewFold{At: rpc.At{Row: 0, Seq: -1}, Fold: how}
			if at != "" {
				m.At = w.at(at)
			}
			w.do(func() { w.review.Tab.Fold(m) })
			check.Equal(t, w.heads(), want, how+" at "+at+": the files are %s")
		}
		const a, b = " a +2 −2 ● 2 of 2", " b +1 ● 1 of 1"
		fold("close_all", "", "▸"+a+"|▸"+b)
		fold("toggle", "▸ b", "▸"+a+"|▾"+b)
		fold("open", "▸ a", "▾"+a+"|▾"+b)
		fold("open", "● 3 + one", "▾"+a+"|▾"+b)
		fold("close", "● 3 + one", "▸"+a+"|▾"+b)
		fold("toggle", "● 21 + three", "▸"+a+"|▸"+b)
		fold("open_all", "", "▾"+a+"|▾"+b)
		fold("toggle", "", "▾"+a+"|▾"+b) // nowhere
	})
}

// From stop to stop, in both directions, into files that are closed, and not beyond the last.
func TestMovingOnThePage(t *testing.T) {
	play(t, func(w *world) {
		w.twoFiles()
		r := review.New(1 << 20)
		r.Changed(w.path("c"), review.Opaque("1"), review.Opaque("2")) // it has no hunks
		for _, f := range r.Files() {
			f.ID = 100
			w.do(func() { w.review.Take(NewUpdate([]review.File{f}, nil), true) })
		}
		next := func(from, kind string, count int, forward bool, want string) {
			t.Helper()
			m := rpc.ReviewNext{At: w.at(from), Kind: kind, Count: count, Forward: forward}
			w.do(func() { w.review.Tab.Next(m) })
			if want == "" {
				w.Expect("answer 0 {-1 false} ")
				return
			}
			w.Expect("answer 0 {" + strconv.Itoa(w.row(want)) + " true} ")
		}
		const forward, back = true, false
		next("Review", "hunk", 1, forward, "● 3 - iii")
		next("● 3 - iii", "hunk", 1, forward, "● 13 - ")
		next("Review", "hunk", 2, forward, "● 13 - ")
		w.do(func() { w.review.Comments.At(rpc.CommentAt{At: w.at("● 13 - ")}) }) // within the hunk
		w.Expect("answer 0 {1 a 13 13 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 1, Text: "so?"}) })
		next("● 13 - ", "hunk", 1, forward, "● 21 + three")
		next("▾ c", "hunk", 1, forward, "")
		next("▾ c", "hunk", 1, back, "● 21 + three")
		next("▾ b", "hunk", 2, forward, "▾ c")
		next("▾ c", "hunk", 9, back, "● 3 - iii") // as far as there are some
		next("Review", "file", 1, forward, "▾ a")
		next("Review", "file", 3, forward, "▾ c")
		next("▾ c", "file", 2, back, "▾ a")
		next("▾ a", "file", 1, back, "")

		fold := func(at string) { w.do(func() { w.review.Tab.Fold(rpc.ReviewFold{At: w.at(at), Fold: "close"}) }) }
		fold("▾ a")
		next("▾ b", "hunk", 1, back, "● 13 - ") // the last of a, which opens
		fold("▾ a")
		next("Review", "hunk", 1, forward, "● 3 - iii")
		w.do(func() { w.review.Tab.Next(rpc.ReviewNext{At: rpc.At{Row: 1, Seq: -1}, Kind: "hunk", Forward: true}) })
		w.Expect("answer 0 {-1 false} ")
	})
}

// A jump is answered when Neovim has drawn what it leads to, or when the page is gone.
func TestJumpsWaitForThePage(t *testing.T) {
	play(t, func(w *world) {
		w.twoFiles()
		w.do(func() { w.review.Tab.Fold(rpc.ReviewFold{Fold: "close_all"}) })
		m := rpc.ReviewNext{At: w.at("▸ b"), Kind: "hunk"}
		w.On(func() { w.review.Tab.Next(m) })
		for {
			w.On(func() {
				for _, op := range w.review.Tab.Edits(1) { // a line at a time
					if _, drawn := op.Args.(rpc.ReviewEdit); !drawn {
						w.Editor.Post(op)
					}
				}
			})
			if !w.review.Tab.Dirty() {
				break
			}
			w.Expect()
		}
		w.draw()
		w.Expect("answer 0 {" + strconv.Itoa(w.row("● 13 - ")) + " true} ")

		w.do(func() { w.review.Tab.Fold(rpc.ReviewFold{Fold: "close_all"}) })
		m = rpc.ReviewNext{At: w.at("▸ b"), Kind: "hunk"}
		w.On(func() {
			w.review.Tab.Next(m)
			w.review.Tab.Close()
		})
		w.Expect("answer 0 {" + strconv.Itoa(m.Row-1) + " true} ")
		if w.review.Tab.Edits(1<<20) != nil || w.review.Tab.Dirty() {
			t.Error("a closed page is drawn")
		}
		w.page = nil
		w.open()
		check.Equal(t, w.heads(), "▾ a +2 −2 ● 2 of 2|▾ b +1 ● 1 of 1", "when it is opened again the files are %s")
	})
}

func TestTheAcceptedTextBeside(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "a", "1\r\n2\n")
		w.writes("a", "1\r\ntwo\n")
		w.writes("new", "x\n")
		w.open()
		beside := func(path, at string, want ...string) {
			t.Helper()
			m := rpc.ReviewBeside{Path: path, At: rpc.At{Seq: -1}}
			if at != "" {
				m.At = w.at(at)
			}
			w.do(func() { w.review.Tab.Beside(m) })
			w.Expect(want...)
		}
		a := "answer 0 {" + w.path("a") + " a 2 false} "
		beside("", "● 2 + two", "filled 1", "filled 2", a)
		beside("", "▾ a", "filled 1", "filled 2", a)
		beside(w.path("a"), "", "filled 1", "filled 2", a)
		beside(w.path("a"), "▾ new", "filled 1", "filled 2", a)
		beside("", "▾ new", "filled ", "answer 0 {"+w.path("new")+" new 1 false} ")
		beside(w.path("other"), "▾ a", "answer 0 <nil> ")
		beside("", "", "answer 0 <nil> ")
		beside("", "Review", "answer 0 <nil> ")
		kept, _ := record(t, w.path("kept"), "1\n2\n", "1\ntwo\n")
		p, err := kept.Plan(w.path("kept"), review.Keep, review.Selection{})
		if err != nil || !kept.Commit(p) {
			t.Fatalf("keep: %v", err)
		}
		f, _ := kept.File(w.path("kept"))
		f.ID = 99
		w.do(func() { w.review.Take(NewUpdate([]review.File{f}, nil), true) })
		beside("", "▸ kept", "filled 1", "filled two", "answer 0 {"+w.path("kept")+" kept 1 false} ")
		w.tooBig = true
		beside("", "▾ a", "answer 0 <nil> a is too large to show side by side")
		r := review.New(1 << 20)
		r.Changed(w.path("image"), review.Opaque("1"), review.Text("2\n"))
		r.Changed(w.path("picture"), review.Text("2\n"), review.Opaque("1"))
		for i, f := range r.Files() {
			f.ID = 100 + i
			w.do(func() { w.review.Take(NewUpdate([]review.File{f}, nil), true) })
		}
		beside("", "▾ image", "answer 0 <nil> image is not text, or is too large to compare")
		beside("", "▾ picture", "answer 0 <nil> picture is not text, or is too large to compare")
	})
}

// Lines of several files are decided as they are selected, files that are closed as a whole; where there is nothing to
// decide, that is said.
func TestDecidingLinesOfThePage(t *testing.T) {
	play(t, func(w *world) {
		w.twoFiles()
		decide := func(from, to, do string, lines bool) {
			t.Helper()
			m := rpc.ReviewDecide{At: w.at(from), Last: w.row(to), Do: do, Lines: lines}
			w.do(func() { w.review.Tab.Decide(m) })
		}
		decide("● 3 + one", "▾ b", "reject", true) // the old line stays away, the second change goes
		w.Expect()
		w.now("a", strings.Replace(numbered(20), "iii\n", "", 1))
		w.now("b", numbered(20)+"three\n")
		decide("1 i", "2 ii", "keep", true)
		w.Expect("notice info: nothing to decide on these lines")
		decide("1 i", "1 i", "keep", false)
		w.Expect("notice info: nothing to decide on this line")
		w.do(func() { w.review.Tab.Decide(rpc.ReviewDecide{At: rpc.At{Row: 1, Seq: -1}, Do: "keep"}) })
		w.Expect("notice warning: the review has changed: look at it again")

		w.do(func() { w.review.Tab.Fold(rpc.ReviewFold{At: w.at("▾ b"), Fold: "close"}) })
		decide("▸ b", "▸ b", "reject", true)
		w.Expect()
		w.now("b", numbered(20))
		w.do(w.review.Tab.Undo)
		w.now("b", numbered(20)+"three\n")
		w.do(w.review.Tab.Undo)
		w.now("a", numbered(20, "one", "two"))
		w.do(w.review.Tab.Undo)
		w.Expect("notice info: no decision to undo")

		// What is decided can be decided otherwise, if all of it is selected.
		decide("● 3 + one", "● 3 + one", "keep", false)
		decide("✓ 3 - iii", "✓ 3 - iii", "reject", true)
		w.Expect("notice info: nothing to decide on these lines")
		decide("✓ 3 - iii", "✓ 3 + one", "reject", true)
		w.Expect()
		w.now("a", numbered(20, "iii", "two"))
	})
}

// A file is decided at its head, once more otherwise when that is done, and everything at the page's; all of it can be
// undone.
func TestDecidingOnThePage(t *testing.T) {
	play(t, func(w *world) {
		w.twoFiles()
		const a, b = " a +2 −2", " b +1"
		step := func(at, do, heads string, notices ...string) {
			t.Helper()
			m := rpc.ReviewDecide{Do: do}
			if at != "" {
				m.At = w.at(at)
				w.do(func() { w.review.Tab.Decide(m) })
			} else {
				w.do(w.review.Tab.Undo)
			}
			w.Expect(notices...)
			check.Equal(t, w.heads(), heads, do+" at "+at+": the files are %s")
		}
		pending := "▾" + a + " ● 2 of 2|▾" + b + " ● 1 of 1"
		step("▾ a", "keep", "▸"+a+" ✓ kept|▾"+b+" ● 1 of 1")
		step("▸ a", "reject", "▸"+a+" ✗ refused|▾"+b+" ● 1 of 1")
		w.now("a", numbered(20))
		step("Review", "keep", "▸"+a+" ✗ refused|▸"+b+" ✓ kept", "notice info: all pending changes are kept: u undoes that")
		step("Review", "reject", "▸"+a+" ✗ refused|▸"+b+" ✓ kept", "notice info: everything is decided")
		for _, heads := range []string{"▸" + a + " ✗ refused|▾" + b + " ● 1 of 1", "▸" + a + " ✓ kept|▾" + b + " ● 1 of 1", pending} {
			step("", "undo", heads)
		}
		step("Review", "reject", "▸"+a+" ✗ refused|▸"+b+" ✗ refused", "notice info: all pending changes are refused: u undoes that")
		w.now("b", numbered(20))
		step("", "undo", pending)
		w.now("b", numbered(20)+"three\n")

		// Of lines of several files each is decided, and a file that has only comments is not among them.
		must.Write(t, w.Cwd, "ab", "x\n")
		w.do(func() {
			w.review.Comments.At(rpc.CommentAt{Path: w.path("ab"), First: 1, Last: 1, Lines: []string{"x"}})
		})
		w.Expect("answer 0 {1 ab 1 1 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 1, Text: "so?"}) })
		w.do(func() { w.review.Tab.Fold(rpc.ReviewFold{At: w.at("▾ a"), Fold: "close"}) })
		m := rpc.ReviewDecide{At: w.at("▸ a"), Last: w.row("● 21 + three"), Do: "keep", Lines: true}
		w.do(func() { w.review.Tab.Decide(m) })
		w.Expect()
		check.Equal(t, w.heads(), "▸"+a+" ✓ kept|▾ ab 1 comment|▸"+b+" ✓ kept", "the files are %s")
	})
}

// On a line without a change there is nothing to decide.
func TestRowsWithoutAChange(t *testing.T) {
	play(t, func(w *world) {
		w.twoFiles()
		w.do(func() { w.review.Comments.At(rpc.CommentAt{At: w.at("● 3 + one")}) })
		w.Expect("answer 0 {1 a 3 3 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 1, Text: "so?"}) })
		heads := w.heads()
		for _, words := range []string{"↳ you: so?", "1 i"} {
			for lines, notice := range map[bool]string{false: "nothing to decide on this line", true: "nothing to decide on these lines"} {
				w.do(func() { w.review.Tab.Decide(rpc.ReviewDecide{At: w.at(words), Do: "keep", Lines: lines}) })
				w.Expect("notice info: " + notice)
				check.Equal(t, w.heads(), heads, "after "+words+" the files are %s")
			}
		}
	})
}

// A file that was moved is shown with both names, also when the move was refused.
func TestMovedFilesOnThePage(t *testing.T) {
	play(t, func(w *world) {
		r := review.New(1 << 20)
		r.Moved(w.path("a"), w.path("b"), review.Text("1\n"), review.Text("1\n"))
		w.takes(r)
		w.open()
		check.Equal(t, w.heads(), "▾ b ● pending · moved from a", "at first it is %q")
		p, err := r.Plan(w.path("b"), review.Reject, review.Selection{})
		if err != nil || !r.Commit(p) {
			t.Fatalf("refuse: %v", err)
		}
		w.takes(r)
		check.Equal(t, w.heads(), "▸ a ✗ refused · was moved to b", "refused it is %q")
	})
}

// A file in which nothing but conflicts is open is on the page as well, and can be gone to; once they are decided it is not.
func TestConflictsOnThePage(t *testing.T) {
	play(t, func(w *world) {
		count := func(of map[string]int) { w.do(func() { w.review.Tab.SetConflicts(of) }) }
		count(map[string]int{w.path("c"): 2, w.path("d"): 1})
		w.open()
		const c, d = "▾ c 2 conflicts", "▾ d 1 conflict"
		check.Equal(t, w.heads(), c+"|"+d, "the files are %s")
		place := func(name string) {
			t.Helper()
			w.do(func() { w.review.Tab.Place(rpc.ReviewPlace{At: w.at("▾ " + name)}) })
			w.Expect("answer 0 {" + w.path(name) + " 1 false false} ")
		}
		place("c")
		place("d")
		w.do(func() { w.review.Tab.Next(rpc.ReviewNext{At: w.at("Review"), Kind: "hunk", Forward: true}) })
		w.Expect("answer 0 {-1 false} ")
		w.do(func() { w.review.Tab.Next(rpc.ReviewNext{At: w.at("▾ c"), Kind: "file", Forward: true}) })
		w.Expect("answer 0 {" + strconv.Itoa(w.row("▾ d")) + " true} ")
		w.writes("a", "x\n")
		count(map[string]int{w.path("a"): 1, w.path("d"): 1})
		check.Equal(t, w.heads(), "▾ a +1 ● 1 of 1 · new · 1 conflict|"+d, "then the files are %s")
		place("d")
		count(nil)
		check.Equal(t, w.heads(), "▾ a +1 ● 1 of 1 · new", "at last the files are %s")
	})
}

// A page without a change says so, and one that is closed keeps nothing of what was rendered for it.
func TestNothingToReview(t *testing.T) {
	play(t, func(w *world) {
		w.do(func() { w.review.Tab.Open(rpc.ReviewOpen{}) })
		w.Expect("answer 0 <nil> the agent has changed no file in this session")
		w.twoFiles()
		w.do(func() {
			w.review.Tab.Fold(rpc.ReviewFold{Fold: "open_all"})
			w.review.Tab.Close()
		})
		w.page = nil
		w.open()
		check.Equal(t, w.heads(), "▾ a +2 −2 ● 2 of 2|▾ b +1 ● 1 of 1", "the files are %s")
		check.Contains(t, strings.Join(w.page, "\n"), "● 13 + two", "the page is\n%s")
	})
}
