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
