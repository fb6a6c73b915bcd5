package diffview

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Kinds of a row that has the old text left and the new one right.
const (
	rowEqual   = '='
	rowChange  = '~' // both sides have a line
	rowDelete  = '-' // only the left one
	rowInsert  = '+' // only the right one
	rowBetween = '.' // lines without a change are left out here
)

type row struct {
	kind     byte
	old, new diff.Line
}

// sideBySide puts the lines of hunks next to each other.
func sideBySide(hunks []diff.Hunk) []row {
	var rows []row
	for i, h := range hunks {
		if i > 0 {
			rows = append(rows, row{kind: rowBetween})
		}
		var old, text []diff.Line
		flush := func() {
			for i := range max(len(old), len(text)) {
				switch {
				case i >= len(old):
					rows = append(rows, row{kind: rowInsert, new: text[i]})
				case i >= len(text):
					rows = append(rows, row{kind: rowDelete, old: old[i]})
				default:
					rows = append(rows, row{rowChange, old[i], text[i]})
				}
			}
			old, text = nil, nil
		}
		for _, l := range h.Lines {
			switch l.Kind {
			case diff.Delete:
				old = append(old, l)
			case diff.Insert:
				text = append(text, l)
			default:
				flush()
				rows = append(rows, row{rowEqual, l, l})
			}
		}
		flush()
	}
	return rows
}

// rowPlaces is places for lines that are side by side.
func rowPlaces(rows []row) []int {
	list := []int{}
	for i, r := range rows {
		switch {
		case r.kind == rowEqual || r.kind == rowBetween:
		case i > 0 && rows[i-1].kind != rowEqual && rows[i-1].kind != rowBetween:
			list[len(list)-3]++
			list[len(list)-1]++
		default:
			list = append(list, i+1, 1, i+1, 1)
		}
	}
	return list
}

// rowPieces returns rows as Lua takes them: the lines of both sides, their numbers, 0 for none, their changed words,
// and the kinds, a byte each.
func rowPieces(rows []row) []rpc.DiffPiece {
	var pieces []rpc.DiffPiece
	left := len(rows) - mostLines
	rows = rows[:min(len(rows), mostLines)]
	for rest := range slices.Chunk(rows, pieceLines/2) {
		var oldLines, newLines []diff.Line
		kinds := make([]byte, len(rest))
		oldNumbers, newNumbers := make([]int, len(rest)), make([]int, len(rest))
		for i, r := range rest {
			kinds[i] = r.kind
			oldLines, newLines = append(oldLines, short(r.old)), append(newLines, short(r.new))
			oldNumbers[i], newNumbers[i] = r.old.Old, r.new.New
		}
		oldTexts, oldWords := linesAndWords(oldLines)
		newTexts, newWords := linesAndWords(newLines)
		pieces = append(pieces, rpc.DiffPiece{
			Old: oldTexts, New: newTexts, OldWords: oldWords, NewWords: newWords,
			OldNumbers: oldNumbers, NewNumbers: newNumbers, Kinds: string(kinds),
		})
	}
	if left > 0 {
		more := "… +" + styled.Many(left, "line")
		pieces = append(pieces, rpc.DiffPiece{
			Old: []string{more}, New: []string{more}, OldWords: []int{}, NewWords: []int{},
			OldNumbers: []int{0}, NewNumbers: []int{0}, Kinds: string(rowBetween),
		})
	}
	return pieces
}

// short cuts a line that Neovim would draw slowly.
func short(l diff.Line) diff.Line {
	if len(l.Text) <= longLine {
		return l
	}
	l.Text = styled.Cut(l.Text, longLine)
	l.Words = slices.DeleteFunc(slices.Clone(l.Words), func(w diff.Span) bool { return w.End > len(l.Text) })
	l.Text += "…"
	return l
}
