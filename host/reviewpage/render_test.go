package reviewpage

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

var update = flag.Bool("update", false, "write the golden file anew; look at what changed")

const golden = "testdata/golden.txt"

func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func changed(text string, by ...string) string { return strings.NewReplacer(by...).Replace(text) }

// decided is the record of a file, with what the user has decided hunk by hunk: 'k' and 'r'.
func decided(t *testing.T, path string, was, is review.Content, decisions string) review.File {
	t.Helper()
	r := review.New(64 << 20)
	r.Changed(path, was, is)
	for i, d := range decisions {
		what := map[rune]review.Decision{'k': review.Keep, 'r': review.Reject}[d]
		if what == "" {
			continue
		}
		p, err := r.Plan(path, what, review.Selection{Hunks: []int{i}})
		if err != nil || !r.Commit(p) {
			t.Fatalf("decide: %v", err)
		}
	}
	f, ok := r.File(path)
	if !ok {
		t.Fatalf("%s is not in the record", path)
	}
	return f
}

func cases(t *testing.T) []struct {
	name    string
	header  Header
	entries []Entry
} {
	text := review.Text
	long := numbers(1, 40)
	three := changed(long, "line 5\n", "line five\n", "line 20\n", "", "line 35\n", "line 35\nline 35a\n")
	file := func(id int, f review.File, open bool) Entry {
		f.ID = id
		return Entry{ID: id, File: f, Name: strings.TrimPrefix(f.Path, "/p/"), Open: open}
	}
	moved := func() Entry {
		r := review.New(1 << 20)
		r.Moved("/p/doc/README.md", "/p/README.md", text("words\n"), text("words\n"))
		f, _ := r.File("/p/README.md")
		e := file(2, f, true)
		e.OldName = "doc/README.md"
		return e
	}()
	remarked := file(1, decided(t, "/p/a.lua", text(long), text(three), ""), true)
	remarked.Remarks = []review.Remark{
		{ID: 1, First: 5, Last: 5, Text: "name it as the others\nand test it"},
		{ID: 2, First: 20, Last: 20, Beside: "line 20", Text: "this was right"},
		{ID: 3, First: 28, Last: 29, Text: "look here too"},
	}
	behind := file(1, decided(t, "/p/a", text("one\n"), text("1\n"), ""), true)
	behind.Remarks = []review.Remark{{ID: 1, First: 7, Last: 7, Text: "what was here?"}}
	several := file(1, decided(t, "/p/a.lua", text(long), text(three), ""), false)
	several.Also, several.Conflicts = []string{"Gemini · tests"}, 2
	several.Remarks = remarked.Remarks
	return []struct {
		name    string
		header  Header
		entries []Entry
	}{
		{"nothing", Header{}, nil},
		{"pending", Header{Title: "Fix the parser's\noff-by-one"}, []Entry{file(1, decided(t, "/p/src/lexer.lua", text(long), text(three), ""), true)}},
		{"decided in part", Header{Title: "Fix it", Send: "<C-s>", Refused: 1}, []Entry{file(1, decided(t, "/p/a.lua", text(long), text(three), "kr"), true)}},
		{"refused, of lines that were removed", Header{}, []Entry{file(1, decided(t, "/p/a.lua", text(long), text(three), " r"), true)}},
		{"closed", Header{Title: "Fix it"}, []Entry{
			file(1, decided(t, "/p/a.lua", text(long), text(three), "kkk"), false),
			file(2, decided(t, "/p/a/much/longer/name.lua", text(long), text(three), "rrr"), false),
			file(3, decided(t, "/p/b.lua", text(long), text(three), "krr"), false),
			file(4, decided(t, "/p/new.lua", review.Content{}, text("new\n"), ""), false),
		}},
		{"new, removed, moved, no text", Header{}, []Entry{
			file(1, decided(t, "/p/new.lua", review.Content{}, text("one\ntwo"), ""), true),
			moved,
			file(3, decided(t, "/p/old.lua", text("gone\n"), review.Content{}, ""), true),
			file(4, decided(t, "/p/picture.png", review.Opaque("a"), review.Opaque("b"), ""), true),
			file(5, decided(t, "/p/empty", review.Content{}, text(""), ""), true),
			file(6, decided(t, review.Folder("/p/build"), review.Opaque("as before"), review.Opaque("150000 files at 12:03:44"), ""), true),
		}},
		{"comments", Header{Title: "Fix it", Send: "<C-s>"}, []Entry{remarked, {
			ID: -1, Name: "other.lua", Open: true, File: review.File{Path: "/p/other.lua"},
			Remarks: []review.Remark{{ID: 9, First: 9, Last: 10, Quoted: []string{"nine", "ten"}, Text: "why?"}},
		}}},
		{"a folder that is new", Header{}, []Entry{
			file(1, decided(t, review.Folder("/p/build"), review.Content{}, review.Opaque("150000 files at 12:03:44"), ""), true),
		}},
		{"all of it conflicts", Header{}, []Entry{{
			ID: 1, Name: "a.lua", Open: true, Conflicts: 1,
			File: review.File{
				ID: 1, Path: "/p/a.lua", Status: review.Modified, State: review.Pending, Baseline: text("x\n"), Present: text("x\n"),
			},
		}}},
		{"one kept and one refused", Header{}, []Entry{file(1, decided(t, "/p/a.lua", text(long), text(changed(long, "line 5\n", "5\n", "line 20\n", "20\n")), "kr"), false)}},
		{"a comment behind the end", Header{}, []Entry{behind}},
		{"with others", Header{}, []Entry{several}},
		{"the end of the file", Header{}, []Entry{file(1, decided(t, "/p/a", text("one\ntwo\n"), text("one\n2"), ""), true)}},
		{"many digits", Header{}, []Entry{file(1, decided(t, "/p/a", text(numbers(1, 1200)), text(changed(numbers(1, 1200), "line 7\n", "", "line 1100\n", "x\n")), ""), true)}},
	}
}

func pageOf(h Header, entries []Entry) []*Block {
	sums := make([]Summary, len(entries))
	for i, e := range entries {
		sums[i] = Summarize(e.File)
	}
	top, heads := Heads(h, entries, sums)
	var bodies []*Block
	for _, e := range entries {
		bodies = append(bodies, Body(e))
	}
	return Blocks(top, heads, bodies)
}

func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, c := range cases(t) {
		fmt.Fprintf(&b, "== %s\n", c.name)
		for _, block := range pageOf(c.header, c.entries) {
			for _, r := range block.Rendered().Rows {
				b.WriteString(r.Text + "\n")
			}
		}
	}
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	must.Do(t, err)
	if b.String() != string(want) {
		t.Errorf("the pages are\n%s\nwanted\n%s", b.String(), want)
	}
}

// What is highlighted in a row.
func colours(r Row) string {
	names := styled.Groups()
	var list []string
	for _, m := range r.Marks {
		list = append(list, fmt.Sprintf("%s:%s", strings.TrimPrefix(names[m.Group], "Acp"), r.Text[m.Col:m.EndCol]))
	}
	return strings.Join(list, "|")
}

func TestHighlights(t *testing.T) {
	was, is := "the old line\nkept\nrefused\n", "the new line\nKEPT\nREFUSED\n"
	f := decided(t, "/p/a", review.Text(was), review.Text(strings.ReplaceAll(is, "KEPT\nREFUSED\n", "kept\nrefused\n")), "")
	blocks := pageOf(Header{}, []Entry{{ID: 1, File: f, Name: "a", Open: true}})
	rows := slices.Concat(blocks[1].Rendered().Rows, blocks[2].Rendered().Rows)
	for i, want := range []string{
		0: "More: ▾ |ReviewFile:a|DiffAdded:+1|DiffRemoved:−1|ToolWaiting:● 1 of 1",
		1: "ToolWaiting:●|DiffLine: 1 |DiffDelete:- the old line|DiffRemoved:-|DiffDeleteText:old",
		2: "ToolWaiting:●|DiffLine: 1 |DiffAdd:+ the new line|DiffAdded:+|DiffAddText:new",
		3: "DiffLine: 2 ",
	} {
		check.Equal(t, colours(rows[i]), want, "row %d has %s", i)
	}
	for decision, want := range map[string][]string{
		"k": {"ToolDone:✓|DiffLine: 1 |ReviewKept:- the old line|ReviewKept:-", "ToolDone:✓|DiffLine: 1 |ReviewKept:+ the new line|ReviewKept:+"},
		"r": {"ToolFailed:✗|DiffLine: 1 ", "ToolFailed:✗|DiffLine:   |ReviewKept:+ the new line|ReviewKept:+|ReviewStruck:the new line"},
	} {
		f := decided(t, "/p/a", review.Text("the old line\n"), review.Text("the new line\n"), decision)
		rows := pageOf(Header{}, []Entry{{ID: 1, File: f, Name: "a", Open: true}})[2].Rendered().Rows
		for i := range want {
			check.Equal(t, colours(rows[i]), want[i], "%s: row %d has %s", decision, i)
		}
	}
}

// A parser gets the lines as the file has them, with what is around them.
func TestCode(t *testing.T) {
	was := numbers(1, 100)
	f := decided(t, "/p/a.lua", review.Text(was), review.Text(changed(was, "line 60\n", "line sixty\n", "line 5\n", "")), "")
	block := pageOf(Header{}, []Entry{{ID: 1, File: f, Name: "a.lua", Open: true, Remarks: []review.Remark{{First: 59, Last: 59, Text: "so?"}}}})[2].Rendered()
	must.Equal(t, len(block.Code), 1, "there are %d pieces of code")
	c := block.Code[0]
	if c.File != "/p/a.lua" || c.Row != 0 || c.EndRow != len(block.Rows)-1 || c.Sides != "   -   .   -+.   " {
		t.Errorf("the code is %+v", c)
	}
	for i, side := range c.Sides {
		row := block.Rows[c.Row+i]
		if side != '.' && row.Text[c.Cols[i]:] != row.Source {
			t.Errorf("row %q has its text at %d", row.Text, c.Cols[i])
		}
	}
	var first []string
	for _, a := range c.Around {
		first = append(first, fmt.Sprint(a.Line, " ", len(a.Lines), " ", a.Lines[0]))
	}
	check.Slice(t, first, []string{"0 1 line 1", "8 40 line 17", "17 37 line 64"}, "around is %q")
}

// Rows say what they are of.
func TestRowsLead(t *testing.T) {
	long := numbers(1, 40)
	f := decided(t, "/p/a.lua", review.Text(long), review.Text(changed(long, "line 5\n", "5a\n5b\n", "line 20\n", "")), "")
	var got []string
	for _, r := range pageOf(Header{}, []Entry{{ID: 1, File: f, Name: "a.lua", Open: true}})[2].Rendered().Rows {
		if r.Kind == Text && r.Change >= 0 {
			got = append(got, fmt.Sprintf("%d%c%d@%d %s", r.Change, r.Side, r.At, r.Line, r.Source))
		}
	}
	want := []string{"0-0@5 line 5", "0+0@5 5a", "0+1@6 5b", "1-0@21 line 20"}
	check.Slice(t, got, want, "the rows are %q")
}

// A file of very many changes takes no more time than its lines.
func TestManyChanges(t *testing.T) {
	var was, is strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&was, "row %d\n", i)
		fmt.Fprintf(&is, "ROW %d\n", i)
	}
	f := decided(t, "/p/a.lua", review.Text(was.String()), review.Text(is.String()), "")
	s := Summarize(f)
	if !s.Long || s.added != 100_000 || s.removed != 100_000 {
		t.Errorf("the summary is %+v", s)
	}
	e := Entry{ID: 1, File: f, Name: "a.lua", Open: true}
	check.Equal(t, len(pageOf(Header{}, []Entry{e})[2].Rendered().Rows), 200_001, "there are %d rows")
}

// A file that is decided as a whole is a hunk of the page's, like any other.
func TestWhatIsDecidedAsAWhole(t *testing.T) {
	for want, do := range map[string]review.Decision{
		"1 hunk": "", "1 hunk 1 kept": review.Keep, "1 hunk 1 refused": review.Reject,
	} {
		r := review.New(1 << 20)
		r.Changed("/f", review.Opaque("1"), review.Opaque("2"))
		if do != "" {
			p, err := r.Plan("/f", do, review.Selection{})
			must.Do(t, err)
			check.Equal(t, r.Commit(p), true, "it is decided: %t")
		}
		f, _ := r.File("/f")
		top, _ := Heads(Header{}, []Entry{{ID: 1, Name: "f", File: f}}, []Summary{Summarize(f)})
		check.Equal(t, strings.Join(strings.Fields(top[0].Text), " "), "Review 1 file "+want, "the page's head is %q")
	}
}

// A file is closed at first that has a long change, also one that was refused, or many short ones.
func TestWhichFilesAreLong(t *testing.T) {
	of := func(line string, n int) string { return strings.Repeat(line+"\n", n) }
	for name, c := range map[string]struct {
		was, is string
		refused bool // its first hunk
		long    bool
	}{
		"as much as fits":     {of("a", LongDiff/2), of("b", LongDiff-LongDiff/2), false, false},
		"a line more":         {of("a", LongDiff/2), of("b", LongDiff-LongDiff/2+1), false, true},
		"the same, refused":   {of("a", LongDiff/2) + of("x", 9), of("b", LongDiff-LongDiff/2+1) + of("x", 9) + "c\n", true, true},
		"as much, in several": {of("a\nx\nx", LongDiff/2), of("b\nx\nx", LongDiff/2), false, false},
		"more, in several":    {of("a\nx\nx", LongDiff/2+1), of("b\nx\nx", LongDiff/2+1), false, true},
	} {
		r := review.New(1 << 20)
		r.Changed("/f", review.Text(c.was), review.Text(c.is))
		if c.refused {
			p, err := r.Plan("/f", review.Reject, review.Selection{Hunks: []int{0}})
			must.Do(t, err)
			check.Equal(t, r.Commit(p), true, "it is decided: %t")
		}
		f, _ := r.File("/f")
		check.Equal(t, Summarize(f).Long, c.long, name+": it is long: %t")
	}
}
