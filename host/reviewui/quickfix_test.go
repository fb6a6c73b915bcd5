package reviewui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// Each change has an entry that says what it is.
func TestQuickfixEntries(t *testing.T) {
	t.Parallel()
	styled := func(text, form string) review.Content {
		c := review.Text(text)
		c.Form, c.Mode = form, 0o644
		return c
	}
	private := styled("a\n", "")
	private.Mode = 0o600
	for want, does := range map[string]func(*review.Record){
		"1 +1 −1  b":                                   func(r *review.Record) { r.Changed("f", review.Text("a\n"), review.Text("b\n")) },
		"1 new  +1 −0  a":                              func(r *review.Record) { r.Changed("f", review.Content{}, review.Text("a\n")) },
		"1 deleted  −1, gone":                          func(r *review.Record) { r.Changed("f", review.Text("a\n"), review.Content{}) },
		"1 permissions 600 → 644":                      func(r *review.Record) { r.Changed("f", private, styled("a\n", "")) },
		"1 line ends LF → CRLF":                        func(r *review.Record) { r.Changed("f", styled("a\n", ""), styled("a\n", "utf-8 dos")) },
		"1 line ends LF → CRLF, permissions 600 → 644": func(r *review.Record) { r.Changed("f", private, styled("a\n", "utf-8 dos")) },
		"1 new":                       func(r *review.Record) { r.Changed("f", review.Content{}, review.Text("")) },
		"1 moved from f":              func(r *review.Record) { r.Moved("f", "g", private, styled("a\n", "")) },
		"1 moved from f | 2 +1 −0  b": func(r *review.Record) { r.Moved("f", "g", review.Text("a\n"), review.Text("a\nb\n")) },
		"1 150000 files at 12:03:44": func(r *review.Record) {
			r.Changed(review.Folder("f"), review.Opaque("as before"), review.Opaque("150000 files at 12:03:44"))
		},
		"1 changed (not compared: not text, or too large)": func(r *review.Record) { r.Changed("f", review.Opaque("1"), review.Opaque("2")) },
	} {
		r := review.New(1 << 20)
		does(r)
		var list []string
		for _, f := range r.Files() {
			for _, e := range quickfix(f, false) {
				text := fmt.Sprint(e.Line, " ", e.Text)
				if e.Gone {
					text += ", gone"
				}
				check.Equal(t, e.Path, f.Path, want+": its path is %q")
				list = append(list, text)
			}
		}
		check.Equal(t, strings.Join(list, " | "), want, "it is %q")
	}
}

// The list of all changes says what was decided, also of a file as a whole.
func TestQuickfixEntriesOfWhatIsDecided(t *testing.T) {
	t.Parallel()
	opaque, folder := review.Opaque, review.Folder("/d")
	for _, test := range []struct {
		do   review.Decision
		path string
		does func(*review.Record)
		want string
	}{
		{review.Keep, "/f", func(r *review.Record) { r.Changed("/f", review.Text("a\n"), review.Text("b\n")) }, "✓ kept  +1 −1  b"},
		{review.Reject, "/f", func(r *review.Record) { r.Changed("/f", review.Text("a\n"), review.Text("b\n")) }, "✗ refused  +1 −1  a"},
		{review.Keep, "/f", func(r *review.Record) { r.Changed("/f", opaque("1"), review.Content{}) }, "✓ kept  deleted"},
		{review.Keep, folder, func(r *review.Record) { r.Changed(folder, opaque("as before"), opaque("9 files")) }, "✓ kept  9 files"},
		{review.Reject, "/g", func(r *review.Record) { r.Moved("/f", "/g", review.Text("a\n"), review.Text("a\n")) }, "✗ refused  was moved to /g"},
	} {
		r := review.New(1 << 20)
		test.does(r)
		p, err := r.Plan(test.path, test.do, review.Selection{})
		if err != nil || !r.Commit(p) {
			t.Fatalf("decide: %v", err)
		}
		var list []string
		for _, f := range r.Files() {
			if pending := quickfix(f, false); len(pending) > 0 {
				t.Errorf("what is decided awaits review: %v", pending)
			}
			for _, e := range quickfix(f, true) {
				list = append(list, e.Text)
			}
		}
		check.Equal(t, strings.Join(list, " | "), test.want, "it is %q")
	}
}

// The list has all files in order, or what is pending of them; when all is decided that is said.
func TestListOfChanges(t *testing.T) {
	play(t, func(w *world) {
		w.writes("b", "x\n")
		must.Write(t, w.Cwd, "a", "1\n")
		w.writes("a", "one\n")
		list := func(all bool, want string) {
			t.Helper()
			w.do(func() { w.review.List(rpc.ListChanges{All: all}) })
			w.Expect("answer 0 " + want)
		}
		a, b := "{"+w.path("a")+" 1 +1 −1  one false}", "{"+w.path("b")+" 1 new  +1 −0  x false}"
		list(false, "["+a+" "+b+"] ")
		w.do(func() { w.review.Decide(rpc.Decide{Do: "keep", Path: w.path("a")}) })
		w.Expect("answer 0 {1} ")
		list(false, "["+b+"] ")
		w.do(func() { w.review.Decide(rpc.Decide{Do: "keep"}) })
		w.Expect("answer 0 {1} ")
		list(false, "[] all changes are decided: :Acp changes all lists them")
		kept := strings.NewReplacer("1 +", "1 ✓ kept  +", "new", "✓ kept  new")
		list(true, "["+kept.Replace(a)+" "+kept.Replace(b)+"] ")
	})
	play(t, func(w *world) {
		w.do(func() { w.review.List(rpc.ListChanges{}) })
		w.Expect("answer 0 [] ")
		w.writes("a", "x\n")
		w.do(func() { w.review.Decide(rpc.Decide{Do: "keep"}) })
		w.Expect("answer 0 {1} ")
		w.do(func() { w.review.List(rpc.ListChanges{}) })
		w.Expect("answer 0 [] all changes are decided: :Acp changes all lists them")
	})
}

// An agent that asks hears of each change that is pending, but not of private files.
func TestListOfWhatIsPending(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "b", "1\n2\n3\n4\n")
		for name, text := range map[string]string{"b": "one\n2\n3\n4\n5\n6\n", "a": "x\n", "secret": "x\n", "kept": "x\n"} {
			w.writes(name, text)
		}
		w.do(func() { w.review.Decide(rpc.Decide{Do: "keep", Path: w.path("kept")}) })
		w.Expect("answer 0 {1} ")
		var got, asked []string
		w.do(func() {
			w.review.ListPending(func(paths []string) map[string]bool {
				asked = paths
				return map[string]bool{w.path("secret"): true}
			}, func(lines []string) { got = lines })
		})
		check.Slice(t, got, []string{"a (added) line 1: +1 -0;", "b (modified) line 1: +1 -1; line 5: +2 -0;"}, "it hears %q")
		check.Equal(t, len(asked), 4, "of %d files is asked whether they are private")
	})
}
