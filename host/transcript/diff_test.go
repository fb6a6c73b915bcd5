package transcript

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/page"
)

// toldFiles are changes as the agent told them.
func toldFiles() func(*session.ToolCall) []*diff.File {
	known := map[session.Diff]*diff.File{}
	return func(c *session.ToolCall) (files []*diff.File) {
		for _, item := range c.Content {
			d, ok := item.(session.Diff)
			if !ok {
				continue
			}
			if known[d] == nil {
				f := diff.Told(d)
				known[d] = &f
			}
			files = append(files, known[d])
		}
		return files
	}
}

// located is a change of a file that has the text before it.
func located(path, old, text string) *diff.File {
	f := diff.Of(session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}, diff.Now{Text: &old})
	return &f
}

func asText(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(bufferLine{text: l.Text, marks: l.Marks}.String())
	}
	return b.String()
}

func TestDiffLines(t *testing.T) {
	old := numbers(1, 20, "line %d")
	text := strings.NewReplacer("line 9\n", "line nine\r\n", "line 20\n", "line 20").Replace(old)
	lines, more := DiffLines(located("a.go", old, text), "  ", 100)
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
	if some, more := DiffLines(located("a.go", old, text), "  ", 5); len(some) != 5 || more != len(lines)-5 {
		t.Errorf("%d lines and %d more, of %d", len(some), more, len(lines))
	}
}

// A huge line is cut, between characters, and its changed words with it.
func TestHugeLines(t *testing.T) {
	old := strings.Repeat("ä", 100_000)
	for _, change := range []string{"%s a\n", " a%s\n", old + " a%s\n"} {
		f := located("a", fmt.Sprintf(change, old), fmt.Sprintf(strings.Replace(change, "a", "b", 1), old))
		lines, _ := DiffLines(f, "", 9)
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
	lines, _ := DiffLines(located("a", old+strings.Repeat("x", 2000)+"\n", old+strings.Repeat("y", 2000)+"\n"), "", 9)
	for _, l := range lines {
		last := l.Marks[len(l.Marks)-1]
		if word := l.Text[last.Col:last.EndCol]; len(strings.Trim(word, "xy")) > 0 || len(word) < longestLine/2 {
			t.Errorf("the changed word is %q", word)
		}
	}
}

func TestChangeName(t *testing.T) {
	upper := func(s string) string { return strings.ToUpper(s) }
	for want, f := range map[string]diff.File{
		"A":            {Path: "a", Operation: session.OperationModify},
		"A (new)":      {Path: "a", Operation: session.OperationAdd},
		"A (deleted)":  {Path: "a", Operation: session.OperationDelete},
		"B → A":        {Path: "a", OldPath: "b", Operation: session.OperationMove},
		"B → A (copy)": {Path: "a", OldPath: "b", Operation: session.OperationCopy},
	} {
		if got := ChangeName(&f, upper); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Each file of a call is told as code once its lines are in the buffer, again
// when they change, and not when only what is above them does.
func TestDiffIsToldAsCode(t *testing.T) {
	w := newWorld()
	files := []*diff.File{
		located("a.go", numbers(1, 99, "x%d"), strings.Replace(numbers(1, 99, "x%d"), "x50\n", "y\n", 1)),
		located("b.lua", "1\n2\n", "1\n"),
	}
	config := w.config()
	config.Files = func(*session.ToolCall) []*diff.File { return files }
	tr, b := New(w.conv, config), newBuffer()
	take := func(budget int) (codes []page.Code) {
		for tr.Sync(); tr.Dirty(); {
			for _, e := range b.take(t, tr, budget) {
				codes = append(codes, e.Code...)
			}
		}
		return codes
	}
	w.apply(call(session.KindEdit, session.StatusInProgress, "Change", change("a.go", "", ""), change("b.lua", "", "")))
	got := take(100)
	want := []page.Code{
		{Row: 2, EndRow: 8, File: "a.go", Col: 9, Sides: "  -+  "},
		{Row: 9, EndRow: 11, File: "b.lua", Col: 8, Sides: " -"},
	}
	around := []page.Around{{Line: 0, Lines: numberList(8, 47)}, {Line: 6, Lines: numberList(53, 92)}}
	want[0].Around = around
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("told\n%+v\nwant\n%+v\n%s", got, want, b)
	}
	for _, c := range got {
		for i, side := range c.Sides {
			if text := b.lines[c.Row+i].text; rune(text[c.Col-2]) != side {
				t.Errorf("%q is of side %q", text, side)
			}
		}
	}
	w.apply(session.ToolCallPatch{ID: "c", Title: acp.Set("Change it")})
	if got := take(1 << 20); got != nil {
		t.Errorf("another title: told %v", got)
	}
	files = []*diff.File{files[0], located("b.lua", "1\n2\n", "2\n")}
	tr.TouchCall(w.conv.Calls[0])
	if got := take(1 << 20); len(got) != 1 || got[0].File != "b.lua" || got[0].Sides != "- " {
		t.Errorf("another change: told %v", got)
	}
	tr.Fold(0, Close)
	if got := take(1 << 20); got != nil {
		t.Errorf("nothing is shown: told %v", got)
	}
}

// Where the lines are moved to the right, the text is.
func TestDiffIsToldWhereItStands(t *testing.T) {
	lines, _ := DiffLines(located("a.go", "1\n2\n", "1\nnew\n"), "  ", 9)
	for i := range lines {
		lines[i].Text = "    " + lines[i].Text
	}
	note, _ := DiffLines(&diff.File{Path: "a", Note: "binary file"}, "  ", 9)
	if codes := sources(note, 0, 0, 1); len(codes) != 0 {
		t.Errorf("told %+v of a note", codes)
	}
	if codes := sources(lines, 0, 0, len(lines)); len(codes) != 1 || codes[0].Col != 10 || lines[2].Text[10:] != "new" {
		t.Errorf("told %+v of %v", codes, lines)
	}
}

func numberList(from, to int) (list []string) {
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprintf("x%d", i))
	}
	return list
}

// A long diff goes out in pieces, and its beginning is told as code, when all
// of it is there.
func TestLongDiffIsSentInPieces(t *testing.T) {
	w := newWorld()
	f := located("a.go", numbers(1, 5000, "call(%d, old, text)"), numbers(1, 5000, "call(%d, new, text)"))
	config := w.config()
	config.Files = func(*session.ToolCall) []*diff.File { return []*diff.File{f} }
	tr, b := New(w.conv, config), newBuffer()
	w.apply(call(session.KindEdit, session.StatusCompleted, "Change", change("a.go", "", "")))
	tr.Sync()
	b.take(t, tr, 1<<20)
	tr.Fold(0, Open)
	takes, codes := 0, []page.Code(nil)
	for ; tr.Dirty(); takes++ {
		for _, e := range b.take(t, tr, 64<<10) {
			if len(codes) > 0 {
				t.Fatal("it was told as code before all of it was there")
			}
			codes = append(codes, e.Code...)
			if len(e.Lines) > 2000 {
				t.Errorf("%d lines at once", len(e.Lines))
			}
		}
	}
	if takes < 10 || len(codes) != 1 || len(codes[0].Sides) != coloured || codes[0].EndRow-codes[0].Row != coloured {
		t.Errorf("%d pieces, code %d", takes, len(codes))
	}
	marks := 0
	for _, l := range b.lines {
		marks += len(l.marks)
	}
	if marks > 4*len(b.lines)+10 || !slices.ContainsFunc(b.lines, func(l bufferLine) bool { return strings.HasSuffix(l.text, "call(5000, new, text)") }) {
		t.Errorf("%d marks in %d lines", marks, len(b.lines))
	}
}

// A change that the call's content does not tell of any more stands below it.
func TestChangesThatAreToldNoMore(t *testing.T) {
	w := newWorld()
	f := located("a.go", "old\n", "new\n")
	config := w.config()
	config.Files = func(*session.ToolCall) []*diff.File { return []*diff.File{f} }
	tr, b := New(w.conv, config), newBuffer()
	w.apply(call(session.KindEdit, session.StatusCompleted, "a.go", output("Wrote the file.")))
	tr.Sync()
	b.take(t, tr, 1<<20)
	if got := b.String(); !strings.Contains(got, "a.go  +1 −1") || !strings.Contains(got, "1 + new") || strings.Contains(got, "Wrote") {
		t.Error(got)
	}
}
