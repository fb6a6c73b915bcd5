package reviewui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestCommentsMoveWithTheText(t *testing.T) {
	record := review.New(1 << 20)
	record.Moved("/p/old", "/p/a", review.Text("1\n2\n3\n"), review.Text("above\n1\ntwo\n3\n"))
	moved, _ := record.File("/p/a")
	opaque := moved
	opaque.Present = review.Opaque("x")
	short, long := "1\ntwo\n3\n", "0\n0\n1\ntwo\n3\n"
	at := func(path string, first, last int, present *string) *comment {
		return &comment{Remark: review.Remark{First: first, Last: last}, path: path, present: present}
	}
	for name, test := range map[string]struct {
		f         review.File
		was, is   []*comment
		unchanged bool
	}{
		"with its lines":         {f: moved, was: []*comment{at("/p/a", 2, 3, &short)}, is: []*comment{at("/p/a", 3, 4, nil)}},
		"written in two texts":   {f: moved, was: []*comment{at("/p/a", 2, 2, &short), at("/p/a", 4, 4, &long)}, is: []*comment{at("/p/a", 3, 3, nil), at("/p/a", 3, 3, nil)}},
		"with its file":          {f: moved, was: []*comment{at("/p/old", 2, 2, nil)}, is: []*comment{at("/p/a", 2, 2, nil)}},
		"on another file":        {f: moved, was: []*comment{at("/p/b", 2, 2, &short)}, is: []*comment{at("/p/b", 2, 2, nil)}, unchanged: true},
		"of an unknown text":     {f: moved, was: []*comment{at("/p/a", 2, 2, nil)}, is: []*comment{at("/p/a", 2, 2, nil)}, unchanged: true},
		"on what is not text":    {f: opaque, was: []*comment{at("/p/a", 2, 2, &short)}, is: []*comment{at("/p/a", 2, 2, nil)}, unchanged: true},
		"on a file without name": {f: review.File{Path: "/p/a"}, was: []*comment{at("", 2, 2, nil)}, is: []*comment{at("", 2, 2, nil)}, unchanged: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := Comments{list: test.was}
			c.moveWith(test.f)
			for i, one := range c.list {
				if want := test.is[i]; one.path != want.path || one.First != want.First || one.Last != want.Last {
					t.Errorf("comment %d is on %s, lines %d to %d", i, one.path, one.First, one.Last)
				}
			}
			check.Equal(t, c.version == 0, test.unchanged, "it need not be saved: %t")
		})
	}
}

// A comment can be on any lines of any file, and is found again there, wherever they move.
func TestCommentsInBuffers(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "a", "1\n2\n3\n4\n")
		must.Write(t, w.Cwd, "other", "x\n")
		w.writes("a", "1\n2\n3\nfour\n")
		at := func(callback int, name string, first, last int, lines ...string) {
			w.do(func() {
				m := rpc.CommentAt{Path: w.path(name), First: first, Last: last, Lines: lines}
				m.Callback = callback
				w.review.Comments.At(m)
			})
		}
		at(1, "a", 2, 3, "2", "3")
		w.Expect("answer 1 {1 a 2 3 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 1, Text: "why?\n"}) })
		at(2, "a", 2, 3, "2", "3")
		w.Expect("answer 2 {1 a 2 3 why?} ")
		at(3, "other", 1, 0, "x")
		w.Expect("answer 3 {2 other 1 1 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 2, Text: "and this?"}) })

		w.writes("a", "0\n1\n2\n3\nfour\n")
		at(4, "a", 3, 4, "2", "3")
		w.Expect("answer 4 {1 a 3 4 why?} ")
		at(5, "a", 2, 2, "1")
		w.Expect("answer 5 {3 a 2 2 } ")
		w.writes("a", "00\n0\n1\n2\n3\nfour\n") // while the user writes the comment
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 3, Text: "one?"}) })

		// The page has both, and leads there.
		w.open()
		place := func(words, want string) {
			t.Helper()
			w.do(func() { w.review.Tab.Place(rpc.ReviewPlace{At: w.at(words)}) })
			w.Expect("answer 0 " + want + " ")
		}
		place("↳ you: one?", "{"+w.path("a")+" 3 false false}")
		place("↳ you: why?", "{"+w.path("a")+" 5 false false}")
		place("↳ you: and this?", "{"+w.path("other")+" 1 false false}")
		place("▾ other 1 comment", "{"+w.path("other")+" 1 false false}")
		place("Review", "{ 0 false false}")
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("sent My comments on your changes:\n\na:3\n```\n1\n```\none?\n\na:4-5\n```\n2\n3\n```\nwhy?\n\nother:1\n```\nx\n```\nand this?", "answer 0 false ")

		// The head of a file that is no longer there leads nowhere.
		path, gone := w.review.Tab.pathOf(-2)
		check.Equal(t, path, "", "the page leads to %q")
		check.Equal(t, gone, false, "it is gone: %t")
	})
}

// The page has the comments of a file in the order of its lines; of two that have come to be on the same line, each is
// found in its own row.
func TestCommentsInTheOrderOfLines(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "other", "1\n2\n3\n")
		w.writes("a", "1\n2\n3\n4\n")
		comment := func(name string, line int, text string) {
			t.Helper()
			id := w.review.Comments.lastID + 1
			w.do(func() {
				w.review.Comments.At(rpc.CommentAt{Path: w.path(name), First: line, Last: line, Lines: []string{"x"}})
			})
			w.Expect(fmt.Sprintf("answer 0 {%d %s %d %d } ", id, name, line, line))
			w.do(func() { w.review.Comments.Write(rpc.Comment{ID: id, Text: text}) })
		}
		for _, line := range []int{3, 1, 2} {
			comment("a", line, fmt.Sprint("of a ", line))
			comment("other", line, fmt.Sprint("of other ", line))
		}
		w.open()
		var order []string
		for _, l := range w.page {
			if _, text, found := strings.Cut(l, "↳ you: of "); found {
				order = append(order, text)
			}
		}
		check.Slice(t, order, []string{"a 1", "a 2", "a 3", "other 1", "other 2", "other 3"}, "the comments are %q")

		w.writes("a", "1\n4\n")
		for _, c := range []string{"5 a 2 2 of a 2", "1 a 2 2 of a 3"} {
			w.do(func() { w.review.Comments.At(rpc.CommentAt{At: w.at("↳ you: " + c[8:])}) })
			w.Expect("answer 0 {" + c + "} ")
		}
	})
}

// What can be commented on on the page: lines of one file, a whole file, and a comment once more.
func TestCommentsOnThePage(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "a", "1\n2\n3\n")
		must.Write(t, w.Cwd, "gone", "1\n")
		w.writes("a", "1\ntwo\n3\n")
		w.writes("b", "x\n")
		w.open()
		at := func(from, to string) {
			t.Helper()
			m := rpc.CommentAt{At: w.at(from), Last: w.row(to)}
			w.do(func() { w.review.Comments.At(m) })
		}
		at("▾ a", "▾ a")
		w.Expect("answer 0 {1 a 0 0 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 1, Text: "all of it?"}) })
		at("↳ you: all of it?", "↳ you: all of it?")
		w.Expect("answer 0 {1 a 0 0 all of it?} ")
		at("▾ a", "3 3") // the head is not what is selected
		w.Expect("answer 0 {2 a 1 3 } ")
		at("● 2 + two", "● 1 + x") // of the first file only
		w.Expect("answer 0 {3 a 2 3 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 3, Text: "these"}) })
		at("● 2 + two", "↳ you: these") // and comments between lines are not
		w.Expect("answer 0 {3 a 2 3 these} ")
		between := rpc.At{Row: w.row("▾ b") - 1, Seq: w.review.Tab.page.Seq()} // the two files
		w.do(func() { w.review.Comments.At(rpc.CommentAt{At: between}) })
		w.Expect("answer 0 <nil> no line of a file here to comment on")
		w.do(func() {
			w.review.Comments.At(rpc.CommentAt{Path: w.path("a"), First: 1, Last: 1, Lines: []string{"1"}})
		})
		w.Expect("answer 0 {4 a 1 1 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 4, Text: "in the buffer"}) })
		at("1 1", "1 1") // which the page finds too
		w.Expect("answer 0 {4 a 1 1 in the buffer} ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 4}) })
		at("Review · Puppet", "Review · Puppet")
		w.Expect("answer 0 <nil> no line of a file here to comment on")
		w.do(func() { w.review.Comments.At(rpc.CommentAt{At: rpc.At{Row: 1, Seq: -1}}) })
		w.Expect("answer 0 <nil> the review has changed: look at it again")

		w.unable = "The agent has ended."
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("answer 0 <nil> The agent has ended. Your comments are kept.")
		w.unable = ""
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("sent My comments on your changes:\n\na\nall of it?\n\na:2-3\n```diff\n+two\n 3\n```\nthese", "answer 0 false ")
	})
}

// A comment on a line that is not in the file is beside that line; one that the user leaves, or empties, is gone.
func TestCommentsBesideLines(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "a", "1\n2\n3\n")
		w.writes("a", "1\ntwo\n3\n")
		w.open()
		at := func(words string, want string) {
			t.Helper()
			w.do(func() { w.review.Comments.At(rpc.CommentAt{At: w.at(words)}) })
			w.Expect("answer 0 " + want + " ")
		}
		write := func(m rpc.Comment) { w.do(func() { w.review.Comments.Write(m) }) }
		at("● 2 - 2", "{1 a 2 2 }")
		write(rpc.Comment{ID: 1, Text: "was right"})
		at("● 2 + two", "{2 a 2 2 }") // the new line in its place is another
		write(rpc.Comment{ID: 2, Text: "is wrong"})
		write(rpc.Comment{ID: 1, Dropped: true}) // what the user began to write anew, and not the comment
		at("● 2 - 2", "{1 a 2 2 was right}")
		at("3 3", "{3 a 3 3 }")
		write(rpc.Comment{ID: 3, Dropped: true})
		write(rpc.Comment{ID: 3, Text: "too late"})
		write(rpc.Comment{ID: 2, Text: " \n"})
		at("● 2 + two", "{4 a 2 2 }")
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("sent My comments on your changes:\n\na:2\n```diff\n-2\n```\nwas right", "answer 0 false ")
	})
}

// What the agent was told before its session was resumed is not told again.
func TestRestoredCommentsAndRefusals(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "a", "1\n")
		must.Write(t, w.Cwd, "b", "1\n2\n")
		w.writes("a", "one\n")
		w.writes("b", "2\n")
		f := w.review.files.at(w.path("a"))
		key := refusalKey(f.File, f.Changes()[0])
		w.do(func() {
			w.review.Comments.Write(rpc.Comment{ID: 1, Text: "of none"})
			w.review.Comments.restore([]saved.Comment{{Remark: review.Remark{ID: 7, First: 1, Last: 1, Text: "so?"}, Path: w.path("a")}}, []string{key})
			w.review.Decide(rpc.Decide{Do: "reject"})
		})
		w.Expect("answer 0 {2} ")
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("sent My comments on your changes:\n\na:1\nso?\n\n"+
			"I have refused these changes of yours, and they are not in the files any more. Do not make them again:\n\n"+
			"b:1\n```diff\n-1\n```", "answer 0 false ")
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("answer 0 <nil> there is nothing to send: no comment, nothing refused")
	})
}

// The agent hears of everything that was refused: as a whole where there are no lines, and only how much more there is.
func TestWhatTheAgentIsToldOfRefusals(t *testing.T) {
	play(t, func(w *world) {
		many, few := strings.Repeat("x\ny\n", mostRefused+3), strings.Repeat("x\n", mostRefused+3)
		r := review.New(1 << 20)
		refuse := func(name string, was, is review.Content) {
			t.Helper()
			path := w.path(name)
			r.Changed(path, was, is)
			p, err := r.Plan(path, review.Reject, review.Selection{})
			if err != nil || !r.Commit(p) {
				t.Fatalf("refuse %s: %v", name, err)
			}
		}
		refuse("added", review.Content{}, review.Opaque("1"))
		refuse("changed", review.Opaque("1"), review.Opaque("2"))
		refuse("deleted", review.Opaque("1"), review.Content{})
		refuse("many", review.Text(many), review.Text(few))
		r.Moved(w.path("old"), w.path("new"), review.Opaque("1"), review.Opaque("1"))
		p, err := r.Plan(w.path("new"), review.Reject, review.Selection{})
		if err != nil || !r.Commit(p) {
			t.Fatalf("refuse a move: %v", err)
		}
		w.takes(r)
		text, _ := w.review.Comments.prompt()
		for _, part := range []string{
			"\nadded (the new file)\n", "\nchanged (the change of the file)\n", "\ndeleted (that it is deleted)\n",
			"\nmany:2\n```diff\n-y\n```\n", "\n\nand 7 changes more.",
		} {
			check.Contains(t, text, part, "it is told\n%s")
		}
		check.Equal(t, strings.Count(text, "```diff"), mostRefused-3, "%d changes are quoted")
	})
	play(t, func(w *world) {
		r := review.New(1 << 20)
		for i := range mostRefused {
			path := w.path(fmt.Sprint(i))
			r.Changed(path, review.Content{}, review.Opaque("1"))
			p, err := r.Plan(path, review.Reject, review.Selection{})
			if err != nil || !r.Commit(p) {
				t.Fatalf("refuse %s: %v", path, err)
			}
		}
		r.Changed(w.path("pending"), review.Opaque("1"), review.Opaque("2"))
		w.takes(r)
		check.Equal(t, w.review.Comments.newRefusals(), mostRefused, "%d are new to it")
		text, _ := w.review.Comments.prompt()
		check.Equal(t, strings.Count(text, " (the new file)"), mostRefused, "%d changes are named")
		check.Equal(t, strings.Contains(text, "pending"), false, "that it is told of what is pending is %t")
		check.Equal(t, strings.Contains(text, "changes more."), false, "that there are more is told: %t")
	})
	short := func(path string) string { return "~" + path }
	check.Equal(t, wholeChange(review.File{Status: review.Moved, MovedTo: "/b"}, short), "that it is moved to ~/b", "a move is %q")
	check.Equal(t, wholeChange(review.File{Status: review.Moved}, short), "that it is moved", "a move that stands is %q")
}

// Comments and refusals go in one prompt, a blank line between them.
func TestCommentsAndRefusalsTogether(t *testing.T) {
	play(t, func(w *world) {
		w.twoFiles()
		w.do(func() { w.review.Comments.At(rpc.CommentAt{At: w.at("1 i"), Last: w.row("2 ii")}) })
		w.Expect("answer 0 {1 a 1 2 } ")
		w.do(func() { w.review.Comments.Write(rpc.Comment{ID: 1, Text: "so?"}) })
		w.do(func() { w.review.Decide(rpc.Decide{Do: "reject"}) })
		w.Expect("answer 0 {2} ")
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("sent My comments on your changes:\n\na:1-2\n```\ni\nii\n```\nso?\n\n"+
			"I have refused these changes of yours, and they are not in the files any more. Do not make them again:\n\n"+
			"a:3\n```diff\n-iii\n+one\n```\n\na:13\n```diff\n-iiiiiiiiiiiii\n+two\n```\n\nb:21\n```diff\n+three\n```", "answer 0 false ")
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("answer 0 <nil> there is nothing to send: no comment, nothing refused")
	})
}

// What is quoted ends, and ends where it says.
func TestQuotes(t *testing.T) {
	check.Equal(t, fenced("go", []string{"a", "```", "b"}), "````go\na\n```\nb\n````", "quoted is %q")
	got := fenced("", slices.Repeat([]string{"x"}, mostQuoted+2))
	if !strings.HasSuffix(got, "x\n… and 2 lines more\n```") || strings.Count(got, "x") != mostQuoted {
		t.Errorf("quoted is %q", got)
	}
}
