package terminal

import (
	"slices"
	"unicode/utf8"
)

// maxMarks bounds the combining characters kept on one cell, in bytes.
const maxMarks = 64

// cell is one column of a row. A character wider than one column fills a head cell and width-1
// following cells of width 0. A tab written onto empty space is such a character too, all its cells
// being tabs, so that text for a model has the program's tabs and not spaces.
type cell struct {
	marks string // combining characters after char
	char  rune
	width uint16
	style Style
}

func blank(style Style) cell { return cell{char: ' ', width: 1, style: style} }

// row is one row of the screen. Columns at and after len(cells) are empty.
type row struct {
	cells   []cell
	wrapped bool // the line goes on in the next row, for want of width only
}

func (r *row) reset() {
	r.cells = r.cells[:0]
	r.wrapped = false
}

// pad makes the row at least n columns long.
func (r *row) pad(n int) {
	for len(r.cells) < n {
		r.cells = append(r.cells, blank(Style{}))
	}
}

// split makes col a boundary between characters: one that spans it becomes blanks.
func (r *row) split(col int) {
	if col >= len(r.cells) || r.cells[col].width != 0 {
		return
	}
	head := col
	for r.cells[head].width == 0 {
		head--
	}
	end := head + int(r.cells[head].width)
	for i := head; i < end; i++ {
		r.cells[i] = blank(r.cells[i].style)
	}
}

// erase empties columns [from, to) of a row of cols columns, leaving the style's background.
func (r *row) erase(from, to, cols int, style Style) {
	style = Style{BG: style.BG}
	if to >= cols {
		to = cols
		r.wrapped = false
	}
	r.split(from)
	r.split(to)
	if style.BG == 0 && to >= len(r.cells) {
		r.cells = r.cells[:min(from, len(r.cells))]
		return
	}
	r.pad(to)
	for i := from; i < to; i++ {
		r.cells[i] = blank(style)
	}
}

// insert shifts the columns from col on to the right by n; what passes cols is lost.
func (r *row) insert(col, n, cols int, style Style) {
	if col >= len(r.cells) {
		return
	}
	n = min(n, cols-col)
	r.split(col)
	r.split(cols - n)
	r.cells = r.cells[:min(len(r.cells), cols-n)]
	r.cells = slices.Insert(r.cells, col, slices.Repeat([]cell{blank(Style{BG: style.BG})}, n)...)
}

// remove deletes n columns at col; the rest of the row shifts to the left.
func (r *row) remove(col, n int) {
	if col >= len(r.cells) {
		return
	}
	end := min(col+n, len(r.cells))
	r.split(col)
	r.split(end)
	r.cells = slices.Delete(r.cells, col, end)
}

// appendText appends the row's characters, tabs as tabs.
func (r *row) appendText(b []byte) []byte {
	for i := range r.cells {
		c := &r.cells[i]
		switch {
		case c.width == 0:
		case c.char < utf8.RuneSelf:
			b = append(b, byte(c.char))
		default:
			b = utf8.AppendRune(b, c.char)
		}
		b = append(b, c.marks...)
	}
	return b
}

// used returns the number of columns up to the last one that shows something.
func (r *row) used() int {
	n := len(r.cells)
	for n > 0 {
		c := &r.cells[n-1]
		isBlank := c.char == '\t' || c.char == ' ' && c.marks == ""
		if !isBlank || c.style.showsOnBlank() {
			break
		}
		n--
	}
	return n
}

// line renders the row for display, tabs as the blanks they cover.
func (r *row) line() Line {
	var text []byte
	var spans []Span
	for i := 0; i < r.used(); i++ {
		c := &r.cells[i]
		start := len(text)
		switch {
		case c.char == '\t':
			text = append(text, ' ')
		case c.width == 0:
			continue
		default:
			text = utf8.AppendRune(text, c.char)
		}
		text = append(text, c.marks...)
		if c.style == (Style{}) {
			continue
		}
		if n := len(spans); n > 0 && spans[n-1].EndCol == start && spans[n-1].Style == c.style {
			spans[n-1].EndCol = len(text)
		} else {
			spans = append(spans, Span{Col: start, EndCol: len(text), Style: c.style})
		}
	}
	return Line{Text: string(text), Spans: spans}
}

// grid is one of the two pages of a screen: the main one, or the alternate one.
type grid struct {
	rows  []*row
	saved cursor // by DECSC
}

func newGrid(n int) *grid {
	g := &grid{rows: make([]*row, n)}
	for i := range g.rows {
		g.rows[i] = &row{}
	}
	return g
}

func (g *grid) reset() {
	for _, r := range g.rows {
		r.reset()
	}
	g.saved = cursor{}
}

// ended is used, up to the end of the line that the last of these rows is part of. Open says that the
// first row goes on with one before it.
func (g *grid) ended(open bool) int {
	n := g.used()
	if open {
		n = max(n, 1)
	}
	for n > 0 && n < len(g.rows) && g.rows[n-1].wrapped {
		n++
	}
	return n
}

// used returns the number of rows up to the last one that shows something.
func (g *grid) used() int {
	n := len(g.rows)
	for n > 0 && g.rows[n-1].used() == 0 {
		n--
	}
	return n
}
