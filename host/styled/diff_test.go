package styled

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
)

// located is a change of a file that has the text before it.
func located(path, old, text string) *diff.FileDiff {
	f := diff.Of(session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}, diff.Now{Text: &old})
	return &f
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// asText is the text of lines, and under each what is highlighted.
func asText(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		var notes []string
		for _, m := range l.Marks {
			notes = append(notes, fmt.Sprintf("%s %q", strings.TrimPrefix(Groups()[m.Group], "Acp"), l.Text[m.Col:m.EndCol]))
		}
		b.WriteString("|" + l.Text + "\n")
		if len(notes) > 0 {
			b.WriteString("    " + strings.Join(notes, ", ") + "\n")
		}
	}
	return b.String()
}

func TestDiffLines(t *testing.T) {
	old := numbered(20)
	text := strings.NewReplacer("line 9\n", "line nine\r\n", "line 20\n", "line 20").Replace(old)
	lines, more := Diff(located("a.go", old, text), "  ", 100)
	want := `|   7   line 7
    DiffLine " 7 "
|   8   line 8
    DiffLine " 8 "
|   9 - line 9
    DiffLine " 9 ", DiffDelete "- line 9", DiffRemoved "-", DiffDeleteText "9"
|   9 + line nine
    DiffLine " 9 ", DiffAdd "+ line nine", DiffAdded "+", DiffAddText "nine"
|  10   line 10
    DiffLine "10 "
|  11   line 11
    DiffLine "11 "
|  ⋯
    DiffHunk "  ⋯"
|  18   line 18
    DiffLine "18 "
|  19   line 19
    DiffLine "19 "
|  20 - line 20
    DiffLine "20 ", DiffDelete "- line 20", DiffRemoved "-"
|  20 + line 20
    DiffLine "20 ", DiffAdd "+ line 20", DiffAdded "+"
|  \ No newline at end of file
    More "  \\ No newline at end of file"
`
	if got := asText(lines); got != want || more != 0 {
		t.Errorf("%d more, got\n%s\nwant\n%s", more, got, want)
	}
	if some, more := Diff(located("a.go", old, text), "  ", 5); len(some) != 5 || more != len(lines)-5 {
		t.Errorf("%d lines and %d more, of %d", len(some), more, len(lines))
	}
}

// A huge line is cut, between characters, and its changed words with it.
func TestHugeLines(t *testing.T) {
	old := strings.Repeat("ä", 100_000)
	for _, change := range []string{"%s a\n", " a%s\n", old + " a%s\n"} {
		f := located("a", fmt.Sprintf(change, old), fmt.Sprintf(strings.Replace(change, "a", "b", 1), old))
		lines, _ := Diff(f, "", 9)
		for _, l := range lines {
			last := l.Marks[len(l.Marks)-1]
			if len(l.Text) > longestLine+50 || !strings.Contains(l.Text, "… +") {
				t.Errorf("%d bytes, to %q", len(l.Text), l.Text[len(l.Text)-30:])
			}
			if word := l.Text[last.Col:last.EndCol]; word != "a" && word != "b" {
				t.Errorf("the changed word is %q", word)
			}
		}
	}
	old = strings.Repeat("word ", 900)
	lines, _ := Diff(located("a", old+strings.Repeat("x", 2000)+"\n", old+strings.Repeat("y", 2000)+"\n"), "", 9)
	for _, l := range lines {
		last := l.Marks[len(l.Marks)-1]
		if word := l.Text[last.Col:last.EndCol]; len(strings.Trim(word, "xy")) > 0 || len(word) < longestLine/2 {
			t.Errorf("the changed word is %q", word)
		}
	}
}

// Where the lines are moved to the right, the text is.
func TestDiffIsToldWhereItStands(t *testing.T) {
	lines, _ := Diff(located("a.go", "1\n2\n", "1\nnew\n"), "  ", 9)
	for i := range lines {
		lines[i].Shift(4)
	}
	note, _ := Diff(&diff.FileDiff{Path: "a", Note: "binary file"}, "  ", 9)
	if codes := Code(note, 0, 0, 1); len(codes) != 0 {
		t.Errorf("told %+v of a note", codes)
	}
	if codes := Code(lines, 0, 0, len(lines)); len(codes) != 1 || codes[0].Col != 10 || lines[2].Text[10:] != "new" {
		t.Errorf("told %+v of %v", codes, lines)
	}
}
