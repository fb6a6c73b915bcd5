// Package reviewpage is the review as a page of text: which lines it has, how they look, what each of them
// is, and the edits that bring a buffer up to date with it. It is pure.
package reviewpage

import (
	"iter"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Kind says what a row is.
type Kind int

// The kinds of a [Row].
const (
	Plain   Kind = iota // nothing that could be decided
	Title               // of the page
	Head                // of a file
	Text                // a line of a file, or one that was or would be there
	Comment             // a line of what the user has to say
)

// Row is a line of the page.
type Row struct {
	Text  string
	Marks []transcript.Mark
	Kind  Kind

	File    int          // whose it is, by its id; 0 for none
	State   review.State // of a Text with a change
	Change  int          // of a Text: its index in review.File.Changes, -1 for what is around
	Side    byte         // of a Text: '-' of the old lines, '+' of the new ones, ' ' in the file
	At      int          // of a Text with a change: its index in the lines of that side
	Line    int          // where it is in the present text, or would be, from 1; 0 for nowhere
	Source  string       // of a Text: the file's line
	Comment int          // of a Comment: its id
}

func (r Row) equal(o Row) bool { return r.Text == o.Text && slices.Equal(r.Marks, o.Marks) }

// Block is rows that change together: the head of the page, that of a file, or what is below it. Rows are
// never changed in place.
type Block struct {
	ID   int // differs from those of the other blocks
	Rows []Row
	Code []transcript.Code // in rows of the block
}

// Page is what the buffer shows, and what it is to show. Its zero value is an empty buffer.
type Page struct {
	want  []Block
	have  []shown
	stale bool
	seq   int
	moves []move
}

// shown is a block as the buffer has it.
type shown struct {
	id   int
	rows []Row
	done *Row // the first row of the block that it shows whole
}

// move is how an edit moved the rows from one on.
type move struct{ row, end, by int }

// remembered is how many edits are known that Neovim may not have made yet when it says something of a row.
const remembered = 500

// editCost is about what an edit costs Neovim, however little it changes, in bytes of plain text.
const editCost = 1 << 10

// goneAtOnce is how many lines Neovim is to take away at once, which are not counted by their bytes.
const goneAtOnce = 20_000

// Set says what the page is to show.
func (p *Page) Set(blocks []Block) {
	p.want = slices.DeleteFunc(slices.Clone(blocks), func(b Block) bool { return len(b.Rows) == 0 })
	p.stale = true
}

// Blocks are the parts of a page: its head, and of each file its head and what is below.
func Blocks(page, heads []Row, bodies []Block) []Block {
	blocks := []Block{{Rows: page}}
	for i, b := range bodies {
		blocks = append(blocks, Block{ID: b.ID - 1, Rows: heads[i : i+1 : i+1]}, b)
	}
	return blocks
}

// Dirty tells whether the buffer shows something else.
func (p *Page) Dirty() bool { return p.stale }

// Rows is how many lines the buffer has, 0 for an empty one.
func (p *Page) Rows() int {
	n := 0
	for _, s := range p.have {
		n += len(s.rows)
	}
	return n
}

// Row gives what a row is that the user sees since the edit seq. Where its lines were changed since, it is
// another one in their place.
func (p *Page) Row(at, seq int) (r Row, ok bool) {
	at, ok = p.Follow(at, seq)
	for _, s := range p.have {
		if ok && at < len(s.rows) {
			return s.rows[at], true
		}
		at -= len(s.rows)
	}
	return Row{}, false
}

// All gives the rows that the buffer has.
func (p *Page) All() iter.Seq2[int, Row] {
	return func(yield func(int, Row) bool) {
		at := 0
		for _, s := range p.have {
			for _, r := range s.rows {
				if !yield(at, r) {
					return
				}
				at++
			}
		}
	}
}

// Pending gives the rows at which changes begin that are to be decided.
func (p *Page) Pending() iter.Seq2[int, Row] {
	return func(yield func(int, Row) bool) {
		var last Row
		for at, r := range p.All() {
			if r.Kind != Text {
				continue
			}
			again := r.File == last.File && r.Change == last.Change
			if last = r; r.State == review.Pending && !again && !yield(at, r) {
				return
			}
		}
	}
}

// Seq is the number of the last edit.
func (p *Page) Seq() int { return p.seq }

// Reset forgets what the buffer has: it is to be filled anew.
func (p *Page) Reset() { p.have, p.moves, p.stale = nil, nil, true }

// Follow gives the row that a row has become since the edit seq, the last one that the user has seen; false
// where that is too long ago.
func (p *Page) Follow(row, seq int) (int, bool) {
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

// Take returns edits that bring the buffer nearer to what it is to show, from the top, which cost about
// budget bytes.
func (p *Page) Take(budget int) []transcript.Edit {
	var edits []transcript.Edit
	add := func(e *transcript.Edit) {
		p.seq++
		e.Seq = p.seq
		if len(p.moves) >= 2*remembered {
			p.moves = append(p.moves[:0], p.moves[len(p.moves)-remembered:]...)
		}
		p.moves = append(p.moves, move{e.Row, e.EndRow, len(e.Lines) - (e.EndRow - e.Row)})
		if last := len(edits) - 1; last >= 0 && join(&edits[last], e) {
			return
		}
		budget -= editCost
		edits = append(edits, *e)
	}
	wanted := map[int]int{}
	for i, b := range p.want {
		wanted[b.ID] = i
	}
	count, row := p.Rows(), 0
	for i := 0; i < len(p.want) || i < len(p.have); i++ {
		if budget <= 0 {
			return edits
		}
		for i < len(p.have) && (i >= len(p.want) || p.have[i].id != p.want[i].ID) {
			if at, ok := wanted[p.have[i].id]; ok && at > i {
				break // its turn comes
			}
			left, e := p.have[i].shorten(row)
			e.Count = count
			count -= e.EndRow - e.Row
			add(e)
			if left > 0 {
				return edits
			}
			p.have = slices.Delete(p.have, i, i+1)
		}
		if i >= len(p.want) {
			break
		}
		b := p.want[i]
		if i >= len(p.have) || p.have[i].id != b.ID {
			p.have = slices.Insert(p.have, i, shown{id: b.ID}) // one further down is taken away there
		}
		have := &p.have[i]
		if have.done != &b.Rows[0] {
			if e := have.take(b, row, &budget); e != nil {
				e.Count = count
				count += len(e.Lines) - (e.EndRow - e.Row)
				add(e)
			}
			if have.done == nil {
				return edits
			}
		}
		row += len(have.rows)
	}
	p.stale = false
	return edits
}

// shorten takes away the last rows of a block, and says how many are left.
func (s *shown) shorten(row int) (left int, e *transcript.Edit) {
	n := len(s.rows)
	left = max(0, n-goneAtOnce)
	s.rows, s.done = s.rows[:left:left], nil
	return left, &transcript.Edit{Row: row + left, EndRow: row + n, MarkRow: row + left, MarkEnd: row + left}
}

// take has a block show what it is to show, as far as the budget goes; done is nil where there is more.
func (s *shown) take(b Block, row int, budget *int) *transcript.Edit {
	old, rows := s.rows, b.Rows
	from := 0
	for from < len(old) && from < len(rows) && old[from].equal(rows[from]) {
		from++
	}
	end, oldEnd := len(rows), len(old)
	for end > from && oldEnd > from && rows[end-1].equal(old[oldEnd-1]) {
		end, oldEnd = end-1, oldEnd-1
	}
	if oldEnd-from > end-from+goneAtOnce {
		// The others another time.
		gone := oldEnd - goneAtOnce
		s.rows, s.done = slices.Concat(old[:gone], old[oldEnd:]), nil
		return &transcript.Edit{Row: row + gone, EndRow: row + oldEnd, MarkRow: row + gone, MarkEnd: row + gone}
	}
	s.rows, s.done = rows, &rows[0]
	if from == end && from == oldEnd {
		return nil
	}
	for i := from; i < end; i++ {
		if *budget -= 16 + len(rows[i].Text) + 8*len(rows[i].Marks); *budget <= 0 && i > from {
			// The rest of it another time, and until then as many rows stay as they are.
			end, oldEnd, s.done = i, min(oldEnd, i), nil
			s.rows = slices.Concat(rows[:end:end], old[oldEnd:])
			break
		}
	}
	e := &transcript.Edit{Row: row + from, EndRow: row + oldEnd, MarkRow: row + from, MarkEnd: row + end}
	for i, r := range rows[from:end] {
		e.Lines = append(e.Lines, r.Text)
		for _, m := range r.Marks {
			e.Marks = append(e.Marks, row+from+i, m.Col, m.EndCol, int(m.Group))
		}
	}
	if s.done != nil {
		for _, c := range b.Code {
			c.Row, c.EndRow = c.Row+row, c.EndRow+row
			e.Code = append(e.Code, c)
		}
	}
	return e
}

// join takes in the edit that comes next, where it changes the lines right below.
func join(e, next *transcript.Edit) bool {
	if next.Row != e.Row+len(e.Lines) || next.MarkRow != e.MarkEnd || e.MarkEnd != next.Row {
		return false
	}
	e.EndRow += next.EndRow - next.Row
	e.Lines = append(e.Lines, next.Lines...)
	e.MarkEnd = next.MarkEnd
	e.Marks = append(e.Marks, next.Marks...)
	e.Code = append(e.Code, next.Code...)
	e.Seq = next.Seq
	return true
}
