package styled

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/host/diff"
)

// longestLine is how much of a line of a change is shown, in bytes.
const longestLine = 1000

// The sides of a change that a line of it is on. One that is not text of the file, or not from its beginning, is on
// none.
const (
	BothSides = ' '
	OldSide   = '-'
	NewSide   = '+'
	NoSide    = '.'
)

// FileText is a line of a file as a change shows it.
type FileText struct {
	Lead  []Piece     // what comes before its sign
	Side  byte        // which is its sign; not NoSide
	Text  string      // without "\n"
	Words []diff.Span // of Text, that have changed
	Look  Look
}

// Look is how a [FileText] is highlighted; [Plain] is no highlight.
type Look struct {
	Line  Group // from the sign to the end
	Sign  Group
	Text  Group
	Words Group
}

// The looks of undecided lines.
var (
	Same    = Look{Plain, Plain, Plain, Plain}
	Added   = Look{Line: DiffAdd, Sign: DiffAdded, Text: Plain, Words: DiffAddText}
	Removed = Look{Line: DiffDelete, Sign: DiffRemoved, Text: Plain, Words: DiffDeleteText}
)

// Render returns the line: its lead, its sign, and its text; of a long one what has changed and how much is missing.
func (f FileText) Render() Line {
	l := Join(f.Lead...)
	sign := len(l.Text)
	l.Add(Text(string(f.Side)+" ", Plain))
	l.Side, l.Indent = f.Side, len(l.Text)
	text := strings.TrimSuffix(f.Text, "\r")
	from, to := shownPart(text, f.Words)
	if from > 0 {
		l.Add(Text("…", More))
		l.Side = NoSide
	}
	start := len(l.Text) - from // of the whole text
	l.Add(Text(text[from:to], Plain))
	if hidden := len(text) - (to - from); hidden > 0 {
		l.Add(Text("… +"+Size(hidden), More))
	}
	l.mark(sign, start+to, f.Look.Line)
	l.mark(sign, sign+1, f.Look.Sign)
	l.mark(start+from, start+to, f.Look.Text)
	for _, w := range f.Words {
		if w.Start < to {
			l.mark(start+w.Start, start+min(w.End, to), f.Look.Words)
		}
	}
	return l
}

// shownPart returns what is shown of a line: all, or what changed in a long one.
func shownPart(text string, words []diff.Span) (from, to int) {
	if len(text) <= longestLine {
		return 0, len(text)
	}
	if len(words) > 0 && words[0].Start > longestLine/2 {
		from = Boundary(text, words[0].Start-longestLine/4)
	}
	return from, Boundary(text, min(len(text), from+longestLine))
}

// Boundary returns a place between characters, at most n.
func Boundary(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// Diff returns a change as unified hunks, without the file's name: about limit lines of it, and how many more there
// are. After indent, a line has its number, if known, a sign, and the file's text.
func Diff(f *diff.FileDiff, indent string, limit int) (lines []Line, more int) {
	width := numberWidth(f)
	of := &source{file: f.Path}
	add := func(make func() Line) {
		if len(lines) >= limit {
			more++
			return
		}
		l := make()
		l.source = of
		lines = append(lines, l)
	}
	note := func(text string, group Group) {
		add(func() Line {
			l := Join(Text(indent+text, group))
			l.Side = NoSide
			return l
		})
	}
	if f.Note != "" {
		note(f.Note, More)
	}
	for i, h := range f.Hunks {
		before := h.Before
		if i > 0 {
			note("⋯", DiffHunk)
			before = slices.Concat(f.Hunks[i-1].After, before)
		}
		for j, l := range h.Lines {
			add(func() Line {
				shown := hunkLine(l, indent, width)
				if j == 0 {
					shown.before = before
				}
				return shown
			})
			if l.NoNewline {
				note(`\ No newline at end of file`, More)
			}
		}
	}
	if last := len(f.Hunks) - 1; last >= 0 && more == 0 {
		of.after = f.Hunks[last].After
	}
	return lines, more
}

// hunkLine returns a line of a hunk, which refers to the file's.
func hunkLine(l diff.Line, indent string, width int) Line {
	f := FileText{Lead: []Piece{Text(indent, Plain)}, Side: BothSides, Text: l.Text, Words: l.Words, Look: Same}
	number := l.New
	switch l.Kind {
	case diff.Insert:
		f.Side, f.Look = NewSide, Added
	case diff.Delete:
		f.Side, f.Look, number = OldSide, Removed, l.Old
	}
	if width > 0 {
		f.Lead = append(f.Lead, Text(fmt.Sprintf("%*d ", width, number), DiffLine))
	}
	out := f.Render()
	out.Place.Line = number
	return out
}

// numberWidth returns the width of the widest line number, 0 if none is known.
func numberWidth(f *diff.FileDiff) int {
	highest := 0
	for _, h := range f.Hunks[max(0, len(f.Hunks)-1):] {
		for _, l := range h.Lines {
			highest = max(highest, l.Old, l.New)
		}
	}
	if highest == 0 {
		return 0
	}
	return len(strconv.Itoa(highest))
}

// FileHead returns the name of a file and how much of it changes.
func FileHead(name string, added, removed int) Line {
	return Join(append([]Piece{Text(name, ToolTitle)}, Counts(added, removed)...)...)
}

// MoreLine stands for n lines that are not shown.
func MoreLine(n int) Line { return Join(Text("    … +"+Many(n, "line"), More)) }
