package terminal

// The least and the largest size of a screen.
const (
	leastCols, leastRows = 10, 2
	mostCols, mostRows   = 1000, 500
)

// Resize gives the screen another size. No text of the main page is lost: rows that are too long go on
// in the next one, as wrapped, and what finds no room becomes history. The text for a model stays as
// it is. The alternate page is cut, as the program that uses it draws it anew.
func (s *Screen) Resize(cols, rows int) {
	cols = min(max(cols, leastCols), mostCols)
	rows = min(max(rows, leastRows), mostRows)
	if cols == s.cols && rows == s.rows {
		return
	}
	inMain := s.page == s.main
	mainCursor, otherCursor := &s.cursor, &s.alternate.saved
	if !inMain {
		mainCursor, otherCursor = &s.main.saved, &s.cursor
	}
	s.resizeMain(mainCursor, cols, rows)
	s.resizeAlternate(otherCursor, cols, rows)
	if inMain {
		s.main.saved.clamp(cols, rows)
	} else {
		s.alternate.saved.clamp(cols, rows)
	}
	for i := len(s.stops); i < cols; i++ {
		s.stops = append(s.stops, i%8 == 0)
	}
	s.stops = s.stops[:cols]
	s.cols, s.rows = cols, rows
	s.top, s.bottom = 0, rows-1
}

func (s *Screen) resizeMain(c *cursor, cols, rows int) {
	at := c.x // where the next character goes, in the cursor's row
	if c.pendingWrap {
		at++
	}
	all := s.main.rows[:max(s.main.used(), c.y+1)]
	var fitted []*row
	line := c.y
	for y, r := range all {
		first := len(fitted)
		if y != line {
			fitted = r.fit(fitted, cols, 0)
			continue
		}
		fitted = r.fit(fitted, cols, at)
		c.x = at
		for c.y = first; c.y < len(fitted)-1 && c.x >= len(fitted[c.y].cells); c.y++ {
			c.x -= len(fitted[c.y].cells)
		}
	}
	c.pendingWrap = c.x == cols && len(fitted[c.y].cells) == cols
	c.x = min(c.x, cols-1)
	for len(fitted) > rows {
		s.history.push(fitted[0])
		fitted = fitted[1:]
		c.y = max(c.y-1, 0)
	}
	for len(fitted) < rows {
		fitted = append(fitted, &row{})
	}
	s.main.rows = fitted
}

func (s *Screen) resizeAlternate(c *cursor, cols, rows int) {
	first := max(c.y-rows+1, 0)
	kept := s.alternate.rows[min(first, len(s.alternate.rows)):]
	kept = append([]*row(nil), kept[:min(rows, len(kept))]...)
	for _, r := range kept {
		if len(r.cells) > cols {
			r.split(cols)
			r.cells = r.cells[:cols]
		}
		r.wrapped = false
	}
	for len(kept) < rows {
		kept = append(kept, &row{})
	}
	s.alternate.rows = kept
	c.y -= first
	c.clamp(cols, rows)
}

func (c *cursor) clamp(cols, rows int) {
	c.x, c.y = min(c.x, cols-1), min(c.y, rows-1)
	c.pendingWrap = c.pendingWrap && c.x == cols-1
}

// fit appends r to rows, in as many pieces as cols columns make of it, at being where the cursor is.
func (r *row) fit(rows []*row, cols, at int) []*row {
	if at > cols {
		r.pad(at)
	}
	if !r.wrapped && len(r.cells) > cols {
		end := max(r.used(), cols, at) // blanks at the end need no row of their own
		r.split(end)
		r.cells = r.cells[:end]
	}
	for len(r.cells) > cols {
		n := cols
		for n > 0 && r.cells[n].width == 0 {
			n-- // a wide character goes to the next row whole
		}
		if n == 0 {
			n = cols
			r.split(n)
		}
		rows = append(rows, &row{cells: append([]cell(nil), r.cells[:n]...), wrapped: true})
		r = &row{cells: append([]cell(nil), r.cells[n:]...), wrapped: r.wrapped}
	}
	return append(rows, r)
}
