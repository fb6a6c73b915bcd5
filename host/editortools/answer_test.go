package editortools

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// Answers are short, relative, and without what is private; a file elsewhere is named, its text is not told.
func TestPlaces(t *testing.T) {
	c := &call{Caller: &Caller{
		Base:    feature.Base{Folder: folder.Folder{Cwd: "/p", Roots: []string{"/p"}}},
		Private: func(_, _ []string) map[string]bool { return map[string]bool{"/p/.env": true} },
	}}
	m := rpc.EditorToolDone{Partial: true, Places: []rpc.EditorPlace{
		{Path: "/p/a.go", Line: 3, Column: 6, Text: "\tfunc parse() {"},
		{Path: "/p/.env", Line: 1, Text: "KEY=1"},
		{Path: "/usr/x.go", Line: 9, Text: "secret", Kind: "function", Name: "f"},
	}}
	want := "2 places:\na.go:3:6: func parse() {\n/usr/x.go:9: function f\n(a language server was too slow or failed: there may be more)"
	check.Equal(t, c.places(m), want, "got\n%s")
	m = rpc.EditorToolDone{Places: []rpc.EditorPlace{
		{Path: "/p/a.go", Line: 3, Kind: "method", Name: "parse", Container: "Reader", Text: "func (r Reader) parse() {"},
		{Path: "/p/a.go", Line: 3, Column: 1, Name: "parse"},
		{Path: "/p/a.go", Line: 4, Text: strings.Repeat("x", maxLine+1)},
	}}
	want = "3 places:\na.go:3: method parse in Reader: func (r Reader) parse() {\na.go:3:1: parse\na.go:4: " + strings.Repeat("x", maxLine)
	check.Equal(t, c.places(m), want, "of places with their text: %s")
	for n, end := range map[int]string{maxListed: "a.go:1", maxListed + 1: "\n+1 more", 1000: "\n+900 more"} {
		m.Places = slices.Repeat([]rpc.EditorPlace{{Path: "/p/a.go", Line: 1}}, n)
		if got := c.places(m); !strings.HasPrefix(got, fmt.Sprintf("%d places:\na.go:1\n", n)) || !strings.HasSuffix(got, end) {
			t.Errorf("of %d places\n%s", n, got)
		}
	}
	found := rpc.EditorToolDone{Diagnostics: []rpc.EditorDiagnostic{{Path: "/p/a.go", Line: 1, Column: 2, Severity: "error", Message: "no"}},
		Counted: rpc.EditorCounted{Paths: []string{"/p/a.go", "/p/.env"}, Counts: []int{9999, 7}}}
	check.Equal(t, c.diagnoses(found), "10000 diagnostics:\na.go:1:2: error: no\n+9999 more", "of many diagnostics: %s")
	check.Equal(t, c.places(rpc.EditorToolDone{}), "no places", "of nothing: %s")
}

func TestLinesOfAFile(t *testing.T) {
	for _, test := range []struct {
		first, last int
		text, want  string
	}{
		{0, 0, "a\nb\n", "lines 1 to 2 of 2:\na\nb\n"},
		{2, 9, "a\nb", "lines 2 to 2 of 2:\nb"},
		{3, 0, "a\nb\n", "f has 2 lines"},
		{0, 0, "", "f has 0 lines"},
		{-1, 1, "a\nb\n", "lines 1 to 1 of 2:\na\n"},
	} {
		c := &call{Caller: &Caller{Base: feature.Base{Folder: folder.Folder{Cwd: "/p"}}}, args: arguments{Path: "f", First: test.first, Last: test.last}}
		check.Equal(t, c.lines(test.text), test.want, "%+v: %q", test)
	}
}

// A long outline is cut and says so; that of a private file is not told.
func TestOutline(t *testing.T) {
	c := &call{Caller: &Caller{
		Base:    feature.Base{Folder: folder.Folder{Cwd: "/p", Roots: []string{"/p"}}},
		Private: func(_, _ []string) map[string]bool { return map[string]bool{"/p/.env": true} },
	}}
	outline := func(path string, n int) string {
		var m rpc.EditorToolDone
		for range n {
			m.Places = append(m.Places, rpc.EditorPlace{Path: path, Kind: "function", Name: "f", Line: 1})
		}
		return c.outline(m)
	}
	check.Equal(t, outline("/p/a.go", maxSymbol+7), "407 symbols:"+strings.Repeat("\nfunction f  1", maxSymbol)+"\n+7 more", "the outline is %s")
	check.Equal(t, outline("/p/.env", 1), "no symbols", "of a private file it is %s")
}

// Of a long file as many lines are told as an answer takes, and how many follow; a huge line is cut.
func TestLinesOfALongFile(t *testing.T) {
	c := &call{}
	want := "lines 1 to 2000 of 2003:\n" + strings.Repeat("x\n", maxLines) + "+3 more lines"
	check.Equal(t, c.lines(strings.Repeat("x\n", maxLines+3)), want, "many lines are told as %s")
	want = "lines 1 to 1 of 2:\n" + strings.Repeat("x", maxBytes) + "\n+10 more bytes\n+1 more lines"
	check.Equal(t, c.lines(strings.Repeat("x", maxBytes+9)+"\nlast\n"), want, "a huge one is told as %s")
	want = strings.Repeat("x", maxBytes) + "\n+9 more bytes"
	check.Equal(t, whole(c, rpc.EditorToolDone{Text: strings.Repeat("x", maxBytes+9)}), want, "a huge text is told as %s")
}

// Of a command's output the end is told, and how much is before it.
func TestTail(t *testing.T) {
	text := strings.Repeat("x", maxBytes)
	check.Equal(t, tail(text), text, "it is %s")
	check.Equal(t, tail("a"+text), "+1 bytes before\n"+text, "it is %s")
	check.Equal(t, tail("ab"+text), "+2 bytes before\n"+text, "it is %s")
}
