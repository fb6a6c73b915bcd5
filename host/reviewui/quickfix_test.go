package reviewui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
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
		"1 +1 −1  b":                  func(r *review.Record) { r.Changed("f", review.Text("a\n"), review.Text("b\n")) },
		"1 new  +1 −0  a":             func(r *review.Record) { r.Changed("f", review.Content{}, review.Text("a\n")) },
		"1 deleted  −1, gone":         func(r *review.Record) { r.Changed("f", review.Text("a\n"), review.Content{}) },
		"1 permissions 600 → 644":     func(r *review.Record) { r.Changed("f", private, styled("a\n", "")) },
		"1 line ends LF → CRLF":       func(r *review.Record) { r.Changed("f", styled("a\n", ""), styled("a\n", "utf-8 dos")) },
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
