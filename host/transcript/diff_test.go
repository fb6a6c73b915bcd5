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
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// toldFiles are changes as the agent told them.
func toldFiles() func(*session.ToolCall) []*diff.FileDiff {
	known := map[session.Diff]*diff.FileDiff{}
	return func(c *session.ToolCall) (files []*diff.FileDiff) {
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
func located(path, old, text string) *diff.FileDiff {
	f := diff.Of(session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}, diff.Now{Text: &old})
	return &f
}

// Each file of a call is told as code once its lines are in the buffer, again
// when they change, and not when only what is above them does.
func TestDiffIsToldAsCode(t *testing.T) {
	w := newWorld()
	files := []*diff.FileDiff{
		located("a.go", numbers(1, 99, "x%d"), strings.Replace(numbers(1, 99, "x%d"), "x50\n", "y\n", 1)),
		located("b.lua", "1\n2\n", "1\n"),
	}
	config := w.config()
	config.Files = func(*session.ToolCall) []*diff.FileDiff { return files }
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
	files = []*diff.FileDiff{files[0], located("b.lua", "1\n2\n", "2\n")}
	tr.TouchCall(w.conv.Calls[0])
	if got := take(1 << 20); len(got) != 1 || got[0].File != "b.lua" || got[0].Sides != "- " {
		t.Errorf("another change: told %v", got)
	}
	tr.Fold(0, Close)
	if got := take(1 << 20); got != nil {
		t.Errorf("nothing is shown: told %v", got)
	}
}

func numberList(from, to int) (list []string) {
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprintf("x%d", i))
	}
	return list
}

// A long diff goes out in pieces, and its beginning is told as code, when all of it is there.
func TestLongDiffIsSentInPieces(t *testing.T) {
	w := newWorld()
	f := located("a.go", numbers(1, 5000, "call(%d, old, text)"), numbers(1, 5000, "call(%d, new, text)"))
	config := w.config()
	config.Files = func(*session.ToolCall) []*diff.FileDiff { return []*diff.FileDiff{f} }
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
	if takes < 10 || len(codes) != 1 || len(codes[0].Sides) != styled.Coloured || codes[0].EndRow-codes[0].Row != styled.Coloured {
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
	config.Files = func(*session.ToolCall) []*diff.FileDiff { return []*diff.FileDiff{f} }
	tr, b := New(w.conv, config), newBuffer()
	w.apply(call(session.KindEdit, session.StatusCompleted, "a.go", output("Wrote the file.")))
	tr.Sync()
	b.take(t, tr, 1<<20)
	if got := b.String(); !strings.Contains(got, "a.go  +1 −1") || !strings.Contains(got, "1 + new") || strings.Contains(got, "Wrote") {
		t.Error(got)
	}
}
