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
	for want, c := range map[string][2]Content{
		"[]":                         {styled("", 0o644), styled("", 0o644)},
		"[line ends LF → CRLF]":      {styled("", 0o644), styled("utf-8 dos", 0o644)},
		"[permissions 644 → 755]":    {styled("", 0o644), styled("", 0o755)},
		"[without its last newline]": {styled("", 0), styled("utf-8 unix noeol", 0)},
		"[with a last newline]":      {styled("utf-8 unix noeol", 0), styled("", 0)},
		"[line ends LF → CRLF permissions 1 → 2]":             {styled("utf-8 unix bom noeol", 1), styled("utf-8 dos bom noeol", 2)},
		"[with a byte order mark]":                            {styled("", 0), styled("utf-8 unix bom", 0o755)},
		"[encoding latin1 → utf-8 line ends CRLF → LF]":       {styled("latin1 dos", 0o644), styled("", 0o644)},
		"[without its byte order mark permissions 755 → 644]": {styled("utf-8 unix bom", 0o755), styled("", 0o644)},
	} {
		check.Equal(t, fmt.Sprint(Styles(c[0], c[1])), want, "%v")
	}
	if got := append(Styles(Content{}, styled("utf-8 dos", 0o644)), Styles(styled("utf-8 dos", 0o644), Content{})...); got != nil {
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
