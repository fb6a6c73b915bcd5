package markdown

import "bytes"

// startTable makes the last line of the open paragraph the header of a table,
// if s, which follows it, is the row under a header and has as many cells.
func (b *blocks) startTable(s []byte, col int) bool {
	columns := delimiterCells(s)
	if columns == 0 {
		return false
	}
	last := b.unit.lines[len(b.unit.lines)-1]
	header := bytes.Clone(b.unit.text[last.start : last.start+last.size])
	if len(splitRow(header)) != columns {
		return false
	}

	// The header leaves the paragraph, with the markers before it.
	var i int
	for i = len(b.pending); i > 0 && b.pending[i-1].Line == last.line; i-- {
	}
	b.here = append(b.here, b.pending[i:]...)
	b.pending = b.pending[:i]
	b.unit.text = b.unit.text[:last.start]
	b.unit.lines = b.unit.lines[:len(b.unit.lines)-1]
	b.closeLeaf()

	b.leaf = leafTable
	b.row(header, last.col, last.line, true)
	b.mark(col, col+len(s), TableSep)
	return true
}

// row adds a row of the table, whose cells are inline text of their own.
func (b *blocks) row(s []byte, col, line int, header bool) {
	for i, char := range s {
		if char == '|' && !escaped(s, i) {
			b.here = append(b.here, Span{line, col + i, col + i + 1, TableSep})
		}
	}
	for _, c := range splitRow(s) {
		if c.start == c.end {
			continue
		}
		if header {
			b.here = append(b.here, Span{line, col + c.start, col + c.end, TableHeader})
		}
		b.unit.add(s[c.start:c.end], line, col+c.start)
		b.unit.text = append(b.unit.text, '\n') // a blank line between cells
	}
}

// cell is the text of a cell in its row, without white space around it.
type cell struct{ start, end int }

// splitRow splits a row at its pipes. Those at its ends are optional.
func splitRow(s []byte) (cells []cell) {
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && (s[i] != '|' || escaped(s, i)) {
			continue
		}
		if i > 0 && (i < len(s) || start < len(s)) {
			c := cell{start, i}
			for c.start < c.end && (s[c.start] == ' ' || s[c.start] == '\t') {
				c.start++
			}
			for c.end > c.start && (s[c.end-1] == ' ' || s[c.end-1] == '\t') {
				c.end--
			}
			cells = append(cells, c)
		}
		start = i + 1
	}
	return cells
}

func escaped(s []byte, i int) bool { return i > 0 && s[i-1] == '\\' }

// delimiterCells returns the number of cells if s is the row under a table's header ("|---|:-:|"), else 0.
func delimiterCells(s []byte) int {
	if bytes.IndexByte(s, '|') < 0 || len(bytes.Trim(s, "|:- \t")) > 0 {
		return 0
	}
	cells := splitRow(s)
	for _, c := range cells {
		dashes := bytes.TrimPrefix(bytes.TrimSuffix(s[c.start:c.end], []byte{':'}), []byte{':'})
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return 0
		}
	}
	return len(cells)
}
