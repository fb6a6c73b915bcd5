package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/page"
)

const (
	// longestLine is how much of a line of a diff the chat shows, in bytes.
	longestLine = 1000
	// coloured is how many lines of a diff get the colours of their language.
	coloured = 500
)

// source is the text of a file that lines of the chat show.
type source struct {
	file  string
	col   int      // where the text begins in each line
	after []string // text that follows, but is not shown
}

// What a line is to the source it shows. Lines of the chat between those, which
// are no text of the file, are of no side.
const (
	bothSides = ' '
	oldSide   = '-'
	newSide   = '+'
	noSide    = '.'
)

// DiffLines is a change as unified hunks, without the file's name: about limit
// lines of it, and how many more there are. What a line says behind indent is
// its number, where that is known, a sign, and the file's text.
func DiffLines(f *diff.File, indent string, limit int) (lines []Line, more int) {
	width := numberWidth(f)
	of := &source{file: f.Path, col: len(indent) + len("+ ")}
	if width > 0 {
		of.col += width + 1
	}
	add := func(make func() Line) {
		if len(lines) < limit {
			lines = append(lines, make())
		} else {
			more++
		}
	}
	if f.Note != "" {
		add(func() Line { return of.line(noSide, piece{indent + f.Note, More}) })
	}
	for i, h := range f.Hunks {
		if i > 0 {
			add(func() Line { return of.line(noSide, piece{indent + "⋯", DiffHunk}) })
		}
		for j, l := range h.Lines {
			add(func() Line {
				shown := of.diffLine(l, indent, width)
				if j == 0 && i > 0 {
					shown.before = slices.Concat(f.Hunks[i-1].After, h.Before)
				} else if j == 0 {
					shown.before = h.Before
				}
				return shown
			})
			if l.NoNewline {
				add(func() Line { return of.line(noSide, piece{indent + `\ No newline at end of file`, More}) })
			}
		}
	}
	if last := len(f.Hunks) - 1; last >= 0 && more == 0 {
		of.after = f.Hunks[last].After
	}
	return lines, more
}

// numberWidth is the width of the widest line number, 0 where none is known.
func numberWidth(f *diff.File) int {
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

func (s *source) line(side byte, pieces ...piece) Line {
	l := line(pieces...)
	l.source, l.side, l.tail = s, side, len(l.Text)-s.col
	return l
}

func (s *source) diffLine(l diff.Line, indent string, width int) Line {
	sign, side, number := "  ", byte(bothSides), l.New
	signGroup, group, words := plain, plain, plain
	switch l.Kind {
	case diff.Insert:
		sign, side = "+ ", newSide
		signGroup, group, words = DiffAdded, DiffAdd, DiffAddText
	case diff.Delete:
		sign, side, number = "- ", oldSide, l.Old
		signGroup, group, words = DiffRemoved, DiffDelete, DiffDeleteText
	}
	text := strings.TrimSuffix(l.Text, "\r")
	from, to := ShownPart(text, l.Words)
	pieces := []piece{{indent, plain}}
	if width > 0 {
		pieces = append(pieces, piece{fmt.Sprintf("%*d ", width, number), DiffLine})
	}
	pieces = append(pieces, piece{sign, plain})
	start := s.col - from // of the whole text
	if from > 0 {
		pieces = append(pieces, piece{"…", More})
		start += len("…")
		side = noSide
	}
	pieces = append(pieces, piece{text[from:to], plain})
	if hidden := len(text) - (to - from); hidden > 0 {
		pieces = append(pieces, piece{fmt.Sprintf("… +%s", size(hidden)), More})
	}
	out := s.line(side, pieces...)
	out.Place.Line = number
	if l.Kind == diff.Equal {
		return out
	}
	at := s.col - len(sign)
	out.Marks = append(out.Marks, Mark{at, start + to, group}, Mark{at, at + 1, signGroup})
	for _, w := range l.Words {
		if w.Start < to {
			out.Marks = append(out.Marks, Mark{start + w.Start, start + min(w.End, to), words})
		}
	}
	return out
}

// ShownPart is what is shown of a line: all, or of a long one what changed.
func ShownPart(text string, words []diff.Span) (from, to int) {
	if len(text) <= longestLine {
		return 0, len(text)
	}
	if len(words) > 0 && words[0].Start > longestLine/2 {
		from = between(text, words[0].Start-longestLine/4)
	}
	return from, between(text, min(len(text), from+longestLine))
}

// between is a place between characters, at most n.
func between(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// ChangeName is what a change is of, and what it does beside changing the text;
// short makes of a path what is shown.
func ChangeName(f *diff.File, short func(string) string) string {
	name := short(f.Path)
	if f.OldPath != "" {
		name = short(f.OldPath) + " → " + name
	}
	switch f.Operation {
	case session.OperationAdd:
		name += " (new)"
	case session.OperationDelete:
		name += " (deleted)"
	case session.OperationCopy:
		name += " (copy)"
	}
	return name
}

// fileChange is a change with the lines that show it: they are made once, not at
// each tick of a clock.
type fileChange struct {
	*diff.File
	named bool   // the name of the file stands above it
	only  bool   // the call changes nothing else
	lines []Line // as many as were to be shown
	limit int
	more  int
}

// diffsOf are the changes of a call, with what is known already of those that
// are as before.
func (t *Transcript) diffsOf(c *session.ToolCall, known []fileChange) []fileChange {
	files := t.config.Files(c)
	if len(files) == 0 {
		return nil
	}
	changes := make([]fileChange, len(files))
	for i, f := range files {
		if at := slices.IndexFunc(known, func(k fileChange) bool { return k.File == f }); at >= 0 {
			changes[i] = known[at]
		} else {
			changes[i] = fileChange{File: f}
		}
		changes[i].only = len(files) == 1
		changes[i].named = len(files) > 1 && (i == 0 || files[i-1].Path != f.Path) ||
			f.Operation != session.OperationModify || f.OldPath != ""
	}
	return changes
}

// diffBody shows a change: the beginning of it, or all where the block is open.
func (t *Transcript) diffBody(b *block, d *fileChange) []Line {
	limit := previewDiff
	if b.open == opened {
		limit = 1 << 30
	}
	if d.lines == nil || d.limit != limit {
		d.lines, d.more = DiffLines(d.File, "    ", limit)
		d.limit = limit
	}
	var lines []Line
	if name := "    " + ChangeName(d.File, t.relative); d.only && d.named {
		lines = append(lines, FileLine(name, 0, 0)) // the head says how much
	} else if d.named {
		lines = append(lines, FileLine(name, d.Added, d.Removed))
	}
	if d.more == 0 {
		return append(lines, d.lines...)
	}
	last := len(d.lines) - 1
	return append(append(lines, d.lines[:last]...), MoreLine(d.more+1))
}

// sources are the lines [from, end) of a block as code, each file's together
// and whole; row is the block's.
func sources(lines []Line, row, from, end int) []page.Code {
	var codes []page.Code
	for i := 0; i < len(lines); {
		of, first := lines[i].source, i
		var sides strings.Builder
		for ; i < len(lines) && lines[i].source == of; i++ {
			sides.WriteByte(lines[i].side)
		}
		if of == nil || i <= from || first >= end {
			continue
		}
		last := min(i, first+coloured)
		code := page.Code{Row: row + first, EndRow: row + last, File: of.file, Sides: sides.String()[:last-first]}
		for j, l := range lines[first:last] {
			if code.Col == 0 && l.side != noSide {
				code.Col = len(l.Text) - l.tail // it may have been moved to the right
			}
			if len(l.before) > 0 {
				code.Around = append(code.Around, page.Around{Line: j, Lines: l.before})
			}
		}
		if code.Col == 0 {
			continue // but a note
		}
		if last == i && len(of.after) > 0 {
			code.Around = append(code.Around, page.Around{Line: i - first, Lines: of.after})
		}
		codes = append(codes, code)
	}
	return codes
}
