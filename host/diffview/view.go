// Package diffview prepares the change of a file for Lua to show: side by side, or in the file.
package diffview

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// What Neovim is given of a diff is bounded, so that it is never busy for long.
const (
	// pieceLines is how many lines go to Neovim at once, which takes a few milliseconds.
	pieceLines = 2000
	// mostLines is how many lines of one side are shown if only the changes are.
	mostLines = 100_000
	// wholeCost bounds the files that Neovim compares by itself. It walks its list of changes for each line, without a
	// break: a file of 20,000 lines takes 20 ms, and as much again for each 300 changes.
	wholeCost    = 20_000
	wholeChanges = 300
	// wholeBlock is how many lines may be replaced in one place: Neovim compares their words.
	wholeBlock = 500
	// longLine is the length in bytes above which Neovim should not compare words.
	longLine = 5000
)

// View is the change of one file as lua/acp/diff/view.lua shows it.
type View struct {
	// Form is "whole": both texts, which Neovim compares; "changes": the changed lines, side by side already; "inline":
	// the changed lines, for the file's own window; "sentence": words in place of a text.
	Form               string
	First              int // line of the first change, from 1
	OldLines, NewLines int // how many each text has
	// Hunks are where each of [diff.FileDiff.Parts] is on both sides, in the lines that are shown: old start and count, new
	// start and count, and so on; if a side has none, the line that follows.
	Hunks  []int
	Pieces []rpc.DiffPiece
}

// Of returns a change in the wanted form, if it has that: "inline"; "rows": the whole texts side by side, as in
// "changes"; "whole", even if there is only a text to edit; "" is any.
func Of(f diff.FileDiff, wanted string) View {
	changes := diff.Runs(f.Hunks)
	oldLines, newLines := diff.TextLines(f.Old), diff.TextLines(f.New)
	v := View{First: 1, OldLines: len(oldLines), NewLines: len(newLines)}
	for i := range max(len(oldLines), len(newLines)) {
		if i >= len(oldLines) || i >= len(newLines) || oldLines[i] != newLines[i] {
			v.First = i + 1
			break
		}
	}
	v.Hunks = places(f, changes)
	switch {
	case len(changes) == 0 && f.Note != "" && f.Old == f.New && (wanted != "whole" || f.Old == ""):
		v.Form = "sentence"
		v.Pieces = []rpc.DiffPiece{{New: []string{sentence(f.Note)}}}
	case wanted == "inline" && f.Located && f.Operation != session.OperationAdd:
		v.Form = "inline"
		v.Pieces = inlinePieces(changes)
	case wanted != "rows" && (f.Old != "" || f.New != "") && neovimCompares(oldLines, newLines, changes):
		v.Form = "whole"
		v.Pieces = wholePieces(oldLines, newLines)
	default:
		hunks := f.Hunks
		if wanted == "rows" && f.Located {
			hunks = []diff.Hunk{f.WholeHunk()}
		}
		rows := sideBySide(hunks)
		v.Form = "changes"
		v.First = 1 + max(0, slices.IndexFunc(rows, func(r row) bool { return r.kind != rowEqual }))
		v.Pieces = rowPieces(rows)
		if len(changes) > 0 {
			v.Hunks = rowPlaces(rows)
		}
	}
	return v
}

// places returns where the hunks of a change are in its two texts.
func places(f diff.FileDiff, changes []diff.Run) []int {
	list := []int{}
	if len(changes) == 0 {
		for range f.Parts() {
			list = append(list, 1, 1, 1, 1)
		}
		return list
	}
	if f.Located {
		for _, c := range changes {
			list = append(list, c.OldAt, len(c.Old), c.NewAt, len(c.New))
		}
		return list
	}
	edits := linediff.Compare(diff.TextLines(f.Old), diff.TextLines(f.New)) // the lines have no numbers
	if len(edits) != len(changes) {
		return list
	}
	for _, e := range edits {
		list = append(list, e.A0+1, e.A1-e.A0, e.B0+1, e.B1-e.B0)
	}
	return list
}

// TooLarge reports whether Neovim takes too long to compare two texts of so many lines with so many changes.
func TooLarge(lines, changes int) bool { return lines*(wholeChanges+changes)/wholeChanges > wholeCost }

// neovimCompares reports whether Neovim can compare two texts with such changes without the user noticing.
func neovimCompares(old, text []string, changes []diff.Run) bool {
	if TooLarge(max(len(old), len(text)), len(changes)) {
		return false
	}
	large := func(r diff.Run) bool { return min(len(r.Old), len(r.New)) > wholeBlock }
	long := func(line string) bool { return len(line) > longLine }
	return !slices.ContainsFunc(changes, large) && !slices.ContainsFunc(old, long) && !slices.ContainsFunc(text, long)
}

func sentence(note string) string {
	r, size := utf8.DecodeRuneInString(note)
	return strings.ToUpper(string(r)) + note[size:] + "."
}

func wholePieces(oldLines, newLines []string) []rpc.DiffPiece {
	var pieces []rpc.DiffPiece
	for len(oldLines)+len(newLines) > 0 {
		o, n := min(len(oldLines), pieceLines), min(len(newLines), pieceLines)
		pieces = append(pieces, rpc.DiffPiece{Old: oldLines[:o], New: newLines[:n]})
		oldLines, newLines = oldLines[o:], newLines[n:]
	}
	return pieces
}

// inlinePieces returns changes as lua/acp/diff/inline.lua takes them.
func inlinePieces(changes []diff.Run) []rpc.DiffPiece {
	var pieces []rpc.DiffPiece
	var list []rpc.InlineChange
	lines := 0
	flush := func() {
		if len(list) > 0 {
			pieces = append(pieces, rpc.DiffPiece{Changes: list})
			list, lines = nil, 0
		}
	}
	for _, c := range changes {
		oldLines, oldWords := linesAndWords(c.Old)
		newLines, newWords := linesAndWords(c.New)
		list = append(list, rpc.InlineChange{
			OldAt: c.OldAt, NewAt: c.NewAt, Old: oldLines, New: newLines, OldWords: oldWords, NewWords: newWords,
		})
		if lines += len(c.Old) + len(c.New); lines >= pieceLines/4 {
			flush()
		}
	}
	flush()
	return pieces
}

// linesAndWords returns the texts of lines and their changed words, as index of the line, start, end, and so on.
func linesAndWords(lines []diff.Line) (texts []string, words []int) {
	texts, words = make([]string, len(lines)), []int{}
	for i, l := range lines {
		texts[i] = l.Text
		for _, w := range l.Words {
			words = append(words, i, w.Start, w.End)
		}
	}
	return texts, words
}
