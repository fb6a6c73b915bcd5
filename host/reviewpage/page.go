// Package reviewpage renders the review as a page of text: its lines, how they look, what each of them is, and the
// edits that update a buffer to it. It is pure.
package reviewpage

import (
	"hash/maphash"
	"iter"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Kind says what a row is.
type Kind uint8

// The kinds of a [Row].
const (
	Plain   Kind = iota // nothing to decide
	Title               // of the page
	Head                // of a file
	Text                // a line of a file, or one that was or would be there
	Comment             // a line of the user's comment
)

// Row is a line of the page. Its look is kept until it is drawn, and after that only a hash of it.
type Row struct {
	Text  string
	Marks []styled.Mark
	drawn uint64 // the hash of both; 0 while they are kept

	Kind    Kind
	Side    byte         // of a Text: '-' of the old lines, '+' of the new ones, ' ' in the file
	File    int          // whose it is, by its id; 0 for none
	State   review.State // of a Text with a change
	Change  int          // of a Text: its index in review.File.Changes, -1 for context
	At      int          // of a Text with a change: its index in the lines of that side
	Line    int          // where it is in the present text, or would be, from 1; 0 for nowhere
	Source  string       // of a Text: the file's line
	Comment int          // of a Comment: its id
}

// Equal reports whether two rows look the same.
func (r Row) Equal(o Row) bool {
	if r.drawn == 0 && o.drawn == 0 {
		return r.Text == o.Text && slices.Equal(r.Marks, o.Marks)
	}
	return r.looks() == o.looks()
}

// Draw adds the row to an edit, at a row of the buffer.
func (r Row) Draw(e *page.Edit, row int) {
	styled.Line{Text: r.Text, Marks: r.Marks}.Draw(e, row)
}

var seed = maphash.MakeSeed()

// looks returns a hash of the row's look; collisions are too unlikely to matter.
func (r Row) looks() uint64 {
	if r.drawn != 0 {
		return r.drawn
	}
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(r.Text) // never fails
	for _, m := range r.Marks {
		maphash.WriteComparable(&h, m)
	}
	return max(h.Sum64(), 1)
}

// thin returns the row without what is only needed to draw it.
func (r Row) thin() Row {
	r.drawn, r.Text, r.Marks = r.looks(), "", nil
	return r
}

// Block is rows that change together: the head of the page, that of a file, or what is below it. It is immutable: a
// change makes a new one.
type Block struct {
	ID       int // differs from those of the other blocks
	render   func() Rendered
	rendered *Rendered // until the buffer has it
}

// Rendered is what a block consists of.
type Rendered struct {
	Rows []Row
	Code []page.Code // in rows of the block
}

// NewBlock returns a block that is rendered whenever it is drawn, into rows of its own. Most are drawn once.
func NewBlock(id int, render func() Rendered) *Block { return &Block{ID: id, render: render} }

// Prepare renders a block that takes long before the page has it.
func (b *Block) Prepare() { b.Rendered() }

// Forget drops the rendered rows of a block that no page has any more.
func (b *Block) Forget() { b.rendered = nil }

// Rendered returns what to draw: the same rows until they are drawn.
func (b *Block) Rendered() Rendered {
	if b.rendered == nil {
		var r Rendered
		if b.render != nil {
			r = b.render()
		}
		b.rendered = &r
	}
	return *b.rendered
}

// Page is what the buffer shows, and what it should show. Its zero value is an empty buffer. Of rows that the buffer
// has, it keeps what they are, not how they look.
type Page struct {
	page   page.Page
	blocks []shown // those of the page
}

// shown is a block as the buffer has it, and as it should be: without rows if it is going away.
type shown struct {
	*Block
	lines page.Lines[Row]
}

// Set says what the page should show. A block that has moved is removed from where it was.
func (p *Page) Set(blocks []*Block) {
	place := map[int]int{}
	for i, b := range blocks {
		place[b.ID] = i
	}
	list, was := make([]shown, 0, len(blocks)), make([]int, 0, len(blocks))
	var changed []int
	put := func(old int, s shown, b *Block) {
		if s.Block != b {
			changed = append(changed, len(list))
		}
		s.Block = b
		list, was = append(list, s), append(was, old)
	}
	old := 0
	leave := func() {
		if s := p.blocks[old]; len(s.lines.Have()) > 0 {
			put(old, s, &Block{ID: s.ID})
		}
		old++
	}
	for i, b := range blocks {
		for ; old < len(p.blocks) && p.blocks[old].ID != b.ID; leave() {
			if at, ok := place[p.blocks[old].ID]; ok && at > i {
				break // its turn comes
			}
		}
		if old < len(p.blocks) && p.blocks[old].ID == b.ID {
			put(old, p.blocks[old], b)
			old++
		} else {
			put(-1, shown{}, b)
		}
	}
	for old < len(p.blocks) {
		leave()
	}
	p.page.Arrange(was)
	p.blocks = list
	for _, i := range changed {
		p.page.Touch(i)
	}
}

// Blocks returns the parts of a page: its head, and for each file its head and body, which is nil if the file is
// closed.
func Blocks(page, heads []Row, bodies []*Block) []*Block {
	blocks := []*Block{fixed(0, page)}
	for i, b := range bodies {
		blocks = append(blocks, fixed(headOf(heads[i].File), heads[i:i+1]))
		if b != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// fixed returns a block of given rows.
func fixed(id int, rows []Row) *Block {
	return NewBlock(id, func() Rendered { return Rendered{Rows: slices.Clone(rows)} })
}

// headOf and bodyOf return the block ids of a file.
func headOf(file int) int { return 2 * file }
func bodyOf(file int) int { return 2*file + 1 }

// Dirty reports whether the buffer shows something else.
func (p *Page) Dirty() bool { return p.page.Dirty() }

// Row returns what a row is that the user has seen since the edit seq. If its lines have changed since, it is the one
// in their place.
func (p *Page) Row(at, seq int) (r Row, ok bool) {
	if at, ok = p.RowNow(at, seq); !ok {
		return Row{}, false
	}
	i, first := p.page.At(at)
	if i < 0 {
		return Row{}, false
	}
	return p.blocks[i].lines.Have()[at-first], true
}

// All iterates over the rows that the buffer has.
func (p *Page) All() iter.Seq2[int, Row] {
	return func(yield func(int, Row) bool) {
		at := 0
		for _, s := range p.blocks {
			for _, r := range s.lines.Have() {
				if !yield(at, r) {
					return
				}
				at++
			}
		}
	}
}

// Pending iterates over the rows at which pending changes begin.
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

// Seq returns the number of the last edit.
func (p *Page) Seq() int { return p.page.Seq() }

// RowNow returns where a row has moved since the edit seq, the last one that the user has seen; false if that is too
// long ago.
func (p *Page) RowNow(row, seq int) (int, bool) { return p.page.RowNow(row, seq) }

// Reset forgets what the buffer has: it must be refilled.
func (p *Page) Reset() {
	p.page.Reset()
	for i := range p.blocks {
		p.blocks[i].lines = page.Lines[Row]{}
	}
}

// Take returns edits that bring the buffer closer to what it should show, from the top, at a cost of about budget
// bytes.
func (p *Page) Take(budget int) []page.Edit {
	return p.page.Take(budget, func(i, row, budget int) (*page.Edit, bool) {
		s := &p.blocks[i]
		r := s.Rendered()
		e, done := s.lines.Take(r.Rows, row, budget, func(int, int) []page.Code {
			code := slices.Clone(r.Code)
			for i := range code {
				code[i].Row, code[i].EndRow = code[i].Row+row, code[i].EndRow+row
			}
			return code
		})
		if done {
			s.Forget()
			s.lines.Thin(Row.thin)
		}
		return e, done
	})
}
