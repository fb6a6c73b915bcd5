// Package page turns what a buffer should show into the edits that lead there. It is pure: it knows what the buffer has
// if no edit was refused, returns the next edits, about as many as Neovim takes at once, and starts over if one was
// refused.
//
// A page consists of blocks, identified by their index. Their content belongs to whoever renders them: for most that is
// [Lines], of which only differing ones are sent; text that only grows is appended.
package page

import "slices"

// Page is what a buffer has, and which of it is out of date. Its zero value is an empty buffer. One goroutine owns it.
type Page struct {
	rows  []int // lines the buffer has of each block
	dirty []int // blocks, ascending, that have something to send
	count int   // lines the buffer has
	seq   int   // of the last edit
	moves []move
}

// move is how an edit moved the rows from one on.
type move struct{ row, end, by int }

// remembered is how many edits are remembered that Neovim may not have made yet when it refers to a row.
const remembered = 500

// Insert inserts a block before the one with index i, or at the end; it still has to be sent.
func (p *Page) Insert(i int) {
	p.rows = slices.Insert(p.rows, i, 0)
	at, _ := slices.BinarySearch(p.dirty, i)
	for j := at; j < len(p.dirty); j++ {
		p.dirty[j]++
	}
	p.dirty = slices.Insert(p.dirty, at, i)
}

// Touch says that a block has something to send.
func (p *Page) Touch(i int) {
	if at, found := slices.BinarySearch(p.dirty, i); !found {
		p.dirty = slices.Insert(p.dirty, at, i)
	}
}

// Arrange rearranges the blocks: was has for each its previous index, in ascending order, or -1 for a new one, which
// still has to be sent. One that is left out must have no rows.
func (p *Page) Arrange(was []int) {
	rows, dirty := make([]int, len(was)), []int(nil)
	for i, old := range was {
		known := old >= 0
		if known {
			rows[i] = p.rows[old]
			_, stale := slices.BinarySearch(p.dirty, old)
			known = !stale
		}
		if !known {
			dirty = append(dirty, i)
		}
	}
	p.rows, p.dirty = rows, dirty
}

// Reset says that the buffer must be refilled because an edit did not reach it: somebody changed it, or Neovim was in a
// state that allows no changes. Whoever keeps [Lines] of the page resets those too.
func (p *Page) Reset() {
	clear(p.rows)
	p.count, p.moves = 0, nil
	p.seq++ // so that what was seen before is not mistaken for the empty buffer
	p.dirty = p.dirty[:0]
	for i := range p.rows {
		p.dirty = append(p.dirty, i)
	}
}

// Dirty reports whether there is something to send.
func (p *Page) Dirty() bool { return len(p.dirty) > 0 }

// Rows returns how many lines the buffer has of a block.
func (p *Page) Rows(i int) int { return p.rows[i] }

// Seq returns the number of the last edit.
func (p *Page) Seq() int { return p.seq }

// At returns the block at a row, and the row where it begins; -1 if there is none.
func (p *Page) At(row int) (i, first int) {
	if row < 0 {
		return -1, 0
	}
	for i, n := range p.rows {
		if row < first+n {
			return i, first
		}
		first += n
	}
	return -1, 0
}

// rowOf returns the row where a block begins. Blocks near the end, where nearly all changes of a chat are, are found
// from the end.
func (p *Page) rowOf(i int) int {
	row := p.count
	for _, n := range p.rows[i:] {
		row -= n
	}
	return row
}

// RowNow returns where a row has moved since the edit seq, the last one that the user has seen; false if that is too
// long ago, or the page was refilled.
func (p *Page) RowNow(row, seq int) (int, bool) {
	since := p.seq - seq
	if row < 0 || since < 0 || since > len(p.moves) {
		return 0, false
	}
	for _, m := range p.moves[len(p.moves)-since:] {
		switch {
		case row >= m.end:
			row += m.by
		case row >= m.row:
			row = min(row, max(m.row, m.end+m.by-1))
		}
	}
	return row, true
}

// Take returns the next edits, from the top, about budget bytes of text and highlights. Call it again while the page is
// [Page.Dirty]. next returns the next edit of a block, which begins at row, or nil if nothing differs; done says that
// it has nothing left to send.
func (p *Page) Take(budget int, next func(i, row, budget int) (e *Edit, done bool)) []Edit {
	var edits []Edit
	last, row := -1, 0
	for len(p.dirty) > 0 && budget > 0 {
		i := p.dirty[0]
		if last < 0 {
			row = p.rowOf(i)
		} else {
			for _, n := range p.rows[last:i] {
				row += n
			}
		}
		last = i
		e, done := next(i, row, budget)
		if e != nil {
			p.made(i, e)
			budget -= cost(e.Lines, len(e.Marks), len(e.Decor))
			if n := len(edits); n == 0 || !edits[n-1].join(e) {
				edits = append(edits, *e)
				budget -= editCost
			}
		}
		if !done {
			break // what is left of the budget is not worth the edit
		}
		p.dirty = p.dirty[1:]
	}
	return edits
}

// made counts an edit of a block as made.
func (p *Page) made(i int, e *Edit) {
	p.seq++
	e.Seq, e.Count = p.seq, p.count
	added := e.Added()
	p.count += added
	p.rows[i] += added
	if len(p.moves) >= 2*remembered {
		p.moves = append(p.moves[:0], p.moves[len(p.moves)-remembered:]...)
	}
	p.moves = append(p.moves, move{e.Row, e.EndRow, added})
}
