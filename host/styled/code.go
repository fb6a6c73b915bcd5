package styled

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/page"
)

// Coloured is how many lines of a file's change are highlighted in their language.
const Coloured = 500

// source is the file that lines of a change show.
type source struct {
	file  string
	after []string // text that follows, but is not shown
}

// Code returns what a parser should highlight in the lines [from, end) of a block whose first line is at row of a page:
// code in one language, and the files of changes, each as a whole.
func Code(lines []Line, row, from, end int) []page.Code {
	return slices.Concat(fenced(lines, row, from, end), changed(lines, row, from, end))
}

// fenced returns the lines that have a language.
func fenced(lines []Line, row, from, end int) []page.Code {
	var code []page.Code
	for i := 0; i < len(lines); {
		l, first := lines[i], i
		for ; i < len(lines) && lines[i].Lang == l.Lang && lines[i].Indent == l.Indent; i++ {
		}
		if l.Lang != "" && i > from && first < end {
			code = append(code, page.Code{Row: row + first, EndRow: row + i, Lang: l.Lang, Col: l.Indent})
		}
	}
	return code
}

// changed returns the lines of files' changes.
func changed(lines []Line, row, from, end int) []page.Code {
	var codes []page.Code
	for i := 0; i < len(lines); {
		of, first := lines[i].source, i
		var sides strings.Builder
		for ; i < len(lines) && lines[i].source == of; i++ {
			sides.WriteByte(lines[i].Side)
		}
		if of == nil || i <= from || first >= end {
			continue
		}
		last := min(i, first+Coloured)
		code := page.Code{Row: row + first, EndRow: row + last, File: of.file, Sides: sides.String()[:last-first]}
		for j, l := range lines[first:last] {
			if code.Col == 0 && l.Side != NoSide {
				code.Col = l.Indent
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
