package styled

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A page draws again the lines that look different, and no others.
func TestLinesThatLookTheSame(t *testing.T) {
	whole := Line{
		Text: "text", Marks: []Mark{{0, 1, Error}}, Right: "right", RightGroup: More, Sign: "!", SignGroup: Warning,
		Lang: "go", Indent: 2, Image: "a.png",
	}
	for what, change := range map[string]func(*Line){
		"text": func(l *Line) { l.Text = "test" }, "marks": func(l *Line) { l.Marks = []Mark{{0, 2, Error}} },
		"right": func(l *Line) { l.Right = "" }, "right's group": func(l *Line) { l.RightGroup = Error },
		"sign": func(l *Line) { l.Sign = "?" }, "sign's group": func(l *Line) { l.SignGroup = Error },
		"language": func(l *Line) { l.Lang = "c" }, "indent": func(l *Line) { l.Indent = 0 }, "picture": func(l *Line) { l.Image = "" },
	} {
		other := whole
		if change(&other); whole.Equal(other) || other.Equal(whole) {
			t.Errorf("a line with another %s looks the same", what)
		}
	}
	other := whole
	if other.Place.Path = "a"; !whole.Equal(other) {
		t.Error("its place makes a line look different")
	}
}

// A line brings to an edit what it has beside its text, and nothing that it has not.
func TestDraw(t *testing.T) {
	var e page.Edit
	for row, l := range []Line{
		{Text: "plain"},
		{Text: "both", Marks: []Mark{{1, 3, Error}}, Right: "now", RightGroup: More, Image: "a.png"},
		{Text: "sign", Sign: "!", SignGroup: Warning},
	} {
		l.Draw(&e, 7+row)
	}
	check.Slice(t, e.Lines, []string{"plain", "both", "sign"}, "the lines are %q")
	check.Slice(t, e.Marks, []int{8, 1, 3, int(Error)}, "the marks are %v")
	check.Deep(t, e.Decor, []page.Decor{{Row: 8, Right: "now", RightGroup: int(More)}, {Row: 9, Sign: "!", SignGroup: int(Warning)}}, "beside it is %+v")
	check.Slice(t, e.Images, []page.Image{{Row: 8, Path: "a.png"}}, "the pictures are %v")
}

// A long line is cut between characters, with its highlights, unless that would save next to nothing.
func TestShorten(t *testing.T) {
	text := strings.Repeat("é", 100)
	whole := Line{Text: text}
	whole.Shorten(200-64, "")
	check.Equal(t, whole.Text, text, "it is %s")
	l := Line{Text: text, Marks: []Mark{{0, 4, Error}, {8, 60, Warning}, {12, 40, User}}}
	l.Shorten(13, ", open it")
	check.Equal(t, l.Text, strings.Repeat("é", 6)+" … +188 bytes, open it", "it is %s")
	check.Slice(t, l.Marks, []Mark{{0, 4, Error}, {8, 12, Warning}, {12, len(l.Text), More}}, "the highlights are %v")
}

// What is moved to the right takes its highlights along, and leaves those of others alone.
func TestShift(t *testing.T) {
	marks := []Mark{{0, 2, Error}}
	l := Line{Text: "ab", Marks: marks, Indent: 1}
	l.Shift(3)
	check.Equal(t, fmt.Sprintf("%q %v %d", l.Text, l.Marks, l.Indent), fmt.Sprintf("%q %v %d", "   ab", []Mark{{3, 5, Error}}, 4), "it is %s")
	check.Slice(t, marks, []Mark{{0, 2, Error}}, "the highlights were moved too: %v")
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		limit int
		want  string
	}{{0, "aéb"}, {1, "a"}, {2, "a"}, {3, "aé"}, {4, "aéb"}, {9, "aéb"}} {
		check.Equal(t, Cut("aéb", c.limit), c.want, "cut to %d it is %q", c.limit)
	}
	check.Equal(t, Cut("\x80\x80\x80", 2), "", "bytes that are no text are cut to %q")
}

// Code that stands in the lines asked for is told as a whole, and code beside them is not.
func TestCodeOfSomeLines(t *testing.T) {
	lines := Markdown("text\n```go\na\nb\n```\n```lua\nc\n```\n- ```sh\n  d\n  ```")
	for _, c := range []struct {
		from, end int
		want      string
	}{
		{0, 11, "[12-14 go @0] [16-17 lua @0]"}, {0, 2, ""}, {0, 3, "[12-14 go @0]"}, {3, 4, "[12-14 go @0]"}, {4, 6, ""}, {6, 11, "[16-17 lua @0]"},
	} {
		var got []string
		for _, code := range Code(lines, 10, c.from, c.end) {
			if code.Lang != "sh" {
				got = append(got, fmt.Sprintf("[%d-%d %s @%d]", code.Row, code.EndRow, code.Lang, code.Col))
			}
		}
		check.Equal(t, strings.Join(got, " "), c.want, "in lines %d to %d is %s", c.from, c.end)
	}
	apart := []Line{{Text: "a", Lang: "go"}, {Text: "  b", Lang: "go", Indent: 2}}
	check.Equal(t, len(Code(apart, 0, 0, 2)), 2, "with two indents there are %d")
}

// A parser is told of a file's change with the lines around it that are not shown, unless the end of it is not shown
// either.
func TestCodeOfAChange(t *testing.T) {
	old := numbered(40)
	f := located("a.go", old, strings.NewReplacer("line 10\n", "", "line 30\n", "line thirty\n").Replace(old))
	told := func(lines []Line) string {
		var got []string
		for _, c := range Code(lines, 0, 0, len(lines)) {
			text := fmt.Sprintf("%s %d-%d %q", c.File, c.Row, c.EndRow, c.Sides)
			for _, a := range c.Around {
				text += fmt.Sprintf(" %d:%s..%s", a.Line, a.Lines[0], a.Lines[len(a.Lines)-1])
			}
			got = append(got, text)
		}
		return strings.Join(got, "; ")
	}
	lines, _ := Diff(f, "", 100)
	want := `a.go 0-12 "  -  .  -+  " 0:line 1..line 7 6:line 13..line 27 12:line 33..line 40`
	check.Equal(t, told(lines), want, "told %s")
	check.Equal(t, lines[0].Place.Line, 8, "the first line is %d")
	check.Equal(t, lines[2].Place.Line, 10, "the line that goes was %d")
	if part, more := Diff(f, "", 11); more != 1 || strings.Contains(told(part), "line 33") {
		t.Errorf("without the end, told %s, %d more", told(part), more)
	}

	same, other := Diff(f, "", 100)
	check.Equal(t, other, 0, "%d more")
	both := append(lines, same...)
	check.Equal(t, len(Code(both, 0, 0, 24)), 2, "of two changes, %d are told")
	check.Equal(t, len(Code(both, 0, 12, 24)), 1, "of the second of two, %d are told")
	check.Equal(t, len(Code(both, 0, 0, 12)), 1, "of the first of two, %d are told")
}

// Before the part of a huge line that is shown there is an ellipsis, which is no text of the file; a line of just the
// limit is whole.
func TestPartsOfLines(t *testing.T) {
	long := strings.Repeat("x", longestLine)
	l := FileText{Side: NewSide, Text: long, Look: Added}.Render()
	check.Equal(t, l.Text, "+ "+long, "it is %s")
	l = FileText{Side: NewSide, Text: long + "abc", Words: []diff.Span{{Start: longestLine, End: longestLine + 3}}, Look: Added}.Render()
	check.Equal(t, l.Text, "+ …"+strings.Repeat("x", longestLine/4)+"abc… +750 bytes", "it is %s")
	check.Equal(t, l.Side, byte(NoSide), "its side is %c")
	l = FileText{Side: BothSides, Text: "text\r", Look: Look{Plain, Plain, More, Plain}}.Render()
	check.Slice(t, l.Marks, []Mark{{2, 6, More}}, "the highlights are %v")
	note, _ := Diff(&diff.FileDiff{Path: "a", Note: "binary file"}, "  ", 9)
	check.Equal(t, asText(note), "|  binary file\n    More \"  binary file\"\n", "a note is %s")
}
