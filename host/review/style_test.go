package review

import (
	"fmt"
	"io/fs"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestStyles(t *testing.T) {
	styled := func(form string, mode fs.FileMode) Content {
		c := Text("a\n")
		c.Form, c.Mode = form, mode
		return c
	}
	emptied := func(form string, mode fs.FileMode) Content { return Content{Exists: true, Form: form, Mode: mode} }
	for want, c := range map[string][2]Content{
		"[]":                         {styled("", 0o644), styled("", 0o644)},
		"[line ends LF → CRLF]":      {styled("", 0o644), styled("utf-8 dos", 0o644)},
		"[permissions 644 → 755]":    {styled("", 0o644), styled("", 0o755)},
		"[without its last newline]": {styled("", 0), styled("utf-8 unix noeol", 0)},
		"[with a last newline]":      {styled("utf-8 unix noeol", 0), styled("", 0)},
		"[line ends LF → CRLF permissions 1 → 2]":             {styled("utf-8 unix bom noeol", 1), styled("utf-8 dos bom noeol", 2)},
		"[with a byte order mark]":                            {styled("", 0), styled("utf-8 unix bom", 0o755)},
		"[permissions 600 → 644]":                             {emptied("latin1 dos", 0o600), styled("", 0o644)},
		"[permissions 644 → 600]":                             {styled("utf-8 dos", 0o644), emptied("", 0o600)},
		"[encoding latin1 → utf-8 line ends CRLF → LF]":       {styled("latin1 dos", 0o644), styled("", 0o644)},
		"[encoding latin1 → utf-8]":                           {styled("latin1 unix", 0), styled("", 0)},
		"[without its byte order mark]":                       {emptied("utf-8 unix bom", 0), emptied("", 0)},
		"[without its byte order mark permissions 755 → 644]": {styled("utf-8 unix bom", 0o755), styled("", 0o644)},
	} {
		check.Equal(t, fmt.Sprint(Styles(c[0], c[1])), want, "%v")
	}
	if got := append(Styles(styled("", 0o644), styled("", 0)), Styles(styled("", 0), styled("", 0o644))...); got != nil {
		t.Errorf("of permissions that are not known: %v", got)
	}
	if got := append(Styles(Content{}, styled("utf-8 dos bom", 0o644)), Styles(styled("utf-8 dos bom", 0o644), Content{})...); got != nil {
		t.Errorf("of a new file, and one that is gone: %v", got)
	}
}

// What a change does to a form it does to another one too.
func TestReformed(t *testing.T) {
	for _, c := range [][4]string{
		{"latin1 unix", "utf-8 unix noeol", "", "latin1 unix"},
		{"latin1 unix noeol", "utf-8 unix noeol", "", "latin1 unix"},
		{"latin1 unix", "", "utf-8 dos bom", "latin1 dos bom"},
		{"utf-8 dos bom", "utf-16 unix bom", "latin1 unix", "latin1 dos"},
		{"utf-8 dos", "latin1 dos", "latin1 unix", ""},
		{"latin1 unix", "latin1 unix", "", ""},
		{"latin1 unix", "utf-8 dos", "utf-8 dos", "latin1 unix"},
	} {
		check.Equal(t, reformed(c[0], c[1], c[2]), c[3], "it is %q")
	}
}

// What the user brings back, or types, where the agent has emptied a file changes no form: an empty file has none.
func TestFormOfWhatComesBack(t *testing.T) {
	t.Parallel()
	dos := Text("a\n")
	dos.Form = "utf-8 dos"
	r := New(1 << 20)
	r.Changed("f", Text("a\n"), dos)
	r.Changed("f", dos, Text(""))
	r.Now("f", dos)
	plan, err := r.Plan("f", Reject, Selection{})
	if err != nil || plan.Want != Text("a\n") {
		t.Errorf("refusing gives %q in the form %q, %v", plan.Want.Text, plan.Want.Form, err)
	}
	r = New(1 << 20)
	r.Changed("f", dos, Text(""))
	r.Now("f", Text("u\n"))
	if plan, err = r.Plan("f", Reject, Selection{}); err != nil || plan.Want.Form != "utf-8 dos" {
		t.Errorf("refusing gives %q in the form %q, %v", plan.Want.Text, plan.Want.Form, err)
	}
	r = New(1 << 20)
	r.Changed("empty", Text(""), Text("b\n"))
	r.Changed("empty", Text("b\n"), Text(""))
	r.Changed("empty", Text(""), Text("b\n"))
	now := Text("a\nb\n")
	now.Form = "utf-8 dos"
	r.Now("empty", Text(""))
	r.Now("empty", now)
	f, _ := r.File("empty")
	check.Equal(t, f.Accepted.Form, "utf-8 dos", "a file that was empty gets the user's form: %q")
}

// What has no letter that shows its encoding has the one that it had, also where the user has taken out the last such letter:
// what comes back is written in it.
func TestEncodingThatCannotBeSeen(t *testing.T) {
	t.Parallel()
	latin := func(text string) Content {
		c := Text(text)
		c.Form = "latin1 unix"
		return c
	}
	for _, byUser := range []bool{false, true} {
		r := New(1 << 20)
		r.Changed("f", latin("é\nf\n"), latin("a\nf\né\n"))
		if byUser {
			r.Now("f", Text("a\nf\n"))
		} else {
			r.Changed("f", latin("a\nf\né\n"), Text("a\nf\n"))
		}
		plan, err := r.Plan("f", Reject, Selection{})
		if err != nil || plan.Want != latin("é\nf\n") {
			t.Errorf("refusing gives %q in the form %q, %v", plan.Want.Text, plan.Want.Form, err)
		}
	}
	r := New(1 << 20)
	r.Changed("f", Text("a\n"), latin("é\n"))
	r.Changed("f", latin("é\n"), Text("a\n"))
	check.Slice(t, statusOf(r), nil, "what has the text that it had is listed: %q")
	r.Changed("f", latin("é\n"), Text("ü\n"))
	r.Changed("f", Text("ü\n"), Text("a\n"))
	f, _ := r.File("f")
	check.Equal(t, f.Present.Form, "latin1 unix", "after another encoding it has the form %q")
	r.Changed("f", f.Present, Content{})
	f, _ = r.File("f")
	check.Equal(t, f.Present, Content{}, "a file that is gone is %+v")
}
