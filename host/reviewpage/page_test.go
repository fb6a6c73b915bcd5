package reviewpage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// buffer is what Neovim makes of the edits.
type buffer struct {
	lines []string
	marks [][]int
}

func (b *buffer) apply(t *testing.T, e page.Edit) {
	t.Helper()
	if e.Count != len(b.lines) {
		t.Fatalf("an edit expects %d lines, there are %d", e.Count, len(b.lines))
	}
	if e.MarkRow != e.Row || e.MarkEnd != e.Row+len(e.Lines) {
		t.Fatalf("an edit of rows %d to %d has the highlights of %d to %d", e.Row, e.Row+len(e.Lines), e.MarkRow, e.MarkEnd)
	}
	b.lines = slices.Replace(b.lines, e.Row, e.EndRow, e.Lines...)
	fresh := make([][]int, len(e.Lines))
	for i := 0; i < len(e.Marks); i += 4 {
		at := e.Marks[i] - e.Row
		fresh[at] = append(fresh[at], e.Marks[i+1:i+4]...)
	}
	b.marks = slices.Replace(b.marks, e.Row, e.EndRow, fresh...)
}

// Whatever the page is to show, the edits lead there, and a row that the user has seen is known.
func TestPageFollows(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 6))
		var p Page
		var b buffer
		blocks := []*Block{fixed(0, []Row{{Text: "title", Source: "title"}})}
		for range 12 {
			blocks = slices.Clone(blocks)
			switch n := r.IntN(5); {
			case n == 0 && len(blocks) > 1:
				i := 1 + r.IntN(len(blocks)-1)
				blocks = slices.Delete(blocks, i, i+1)
			case n == 1 && len(blocks) > 2: // it has another name, and so another place
				i, j := 1+r.IntN(len(blocks)-1), 1+r.IntN(len(blocks)-1)
				blocks[i], blocks[j] = blocks[j], blocks[i]
			case n == 2 && len(blocks) > 1:
				i := r.IntN(len(blocks))
				blocks[i] = fixed(blocks[i].ID, rows(r))
			default:
				id := 1 + r.IntN(1000)
				if !slices.ContainsFunc(blocks, func(b *Block) bool { return b.ID == id }) {
					blocks = slices.Insert(blocks, 1+r.IntN(len(blocks)), fixed(id, rows(r)))
				}
			}
			p.Set(blocks)
			if r.IntN(10) == 0 { // an edit was refused
				p.Reset()
				b = buffer{}
			}
			for range r.IntN(3) {
				for _, e := range p.Take(1 + r.IntN(3000)) {
					b.apply(t, e)
				}
			}
		}
		for i := 0; p.Dirty(); i++ {
			if i > 500 {
				t.Fatalf("seed %d: it does not end", seed)
			}
			for _, e := range p.Take(1 + r.IntN(3000)) {
				b.apply(t, e)
			}
		}
		var want []string
		var marks [][]int
		for _, block := range blocks {
			for _, row := range block.Rendered().Rows {
				want = append(want, row.Text)
				var m []int
				for _, mark := range row.Marks {
					m = append(m, mark.Col, mark.EndCol, int(mark.Group))
				}
				marks = append(marks, m)
			}
		}
		if !slices.Equal(b.lines, want) {
			t.Fatalf("seed %d: the buffer has\n%q\nwanted\n%q", seed, b.lines, want)
		}
		if !slices.EqualFunc(b.marks, marks, slices.Equal) {
			t.Fatalf("seed %d: the highlights are\n%v\nwanted\n%v", seed, b.marks, marks)
		}
		for at, row := range p.All() {
			if r, ok := p.Row(at, p.Seq()); !ok || r.Source != row.Source || r.Source != want[at] {
				t.Fatalf("seed %d: row %d is %q, not %q", seed, at, r.Source, want[at])
			}
			if row.Text != "" || row.Marks != nil {
				t.Fatalf("seed %d: of row %d there is still what it looks like", seed, at)
			}
		}
	}
}

func rows(r *rand.Rand) []Row {
	list := []Row{{Text: fmt.Sprint("head ", r.IntN(1000))}}
	for range r.IntN(8) {
		row := Row{Text: fmt.Sprint("line ", r.IntN(3))}
		if r.IntN(2) == 0 {
			row.Marks = []styled.Mark{{Col: 0, EndCol: 2, Group: styled.Group(r.IntN(3))}}
		}
		list = append(list, row)
	}
	for i := range list {
		list[i].Source = list[i].Text
	}
	return list
}

func TestRowsFollowEdits(t *testing.T) {
	var p Page
	block := func(id int, texts ...string) *Block {
		var rows []Row
		for _, text := range texts {
			rows = append(rows, Row{Text: text, Source: text})
		}
		return fixed(id, rows)
	}
	p.Set([]*Block{block(0, "title"), block(1, "a", "b", "c"), block(2, "d")})
	p.Take(1 << 20)
	seen := p.Seq()
	p.Set([]*Block{block(0, "title"), block(3, "new", "new"), block(1, "a", "b", "c"), block(2, "d")})
	p.Take(1 << 20)
	if r, ok := p.Row(3, seen); !ok || r.Source != "c" {
		t.Errorf("the row has become %q", r.Source)
	}
	if r, ok := p.Row(3, p.Seq()); !ok || r.Source != "a" {
		t.Errorf("the row is %q", r.Source)
	}
	p.Set([]*Block{block(0, "title"), block(3, "new", "new"), block(2, "d")})
	p.Take(1 << 20)
	if r, ok := p.Row(4, seen); !ok || r.Source != "d" {
		t.Errorf("the row below a block that is gone has become %q", r.Source)
	}
	p.Reset()
	if _, ok := p.Row(0, seen); ok || !p.Dirty() {
		t.Error("a row of a page that is to be filled anew is known")
	}
}

// Neovim is never to take many lines away at once.
func TestManyRowsGo(t *testing.T) {
	var p Page
	var b buffer
	many := func(text string) (list []Row) {
		for i := range 3 * 20_000 {
			list = append(list, Row{Text: fmt.Sprint(text, i)})
		}
		return list
	}
	top := fixed(0, []Row{{Text: "title"}})
	for _, blocks := range [][]*Block{
		{top, fixed(1, many("a"))},
		{top, fixed(1, many("b"))},
		{top, fixed(1, []Row{{Text: "c"}})},
		{top, fixed(1, many("d"))},
		{top, fixed(2, []Row{{Text: "e"}})},
	} {
		p.Set(blocks)
		for p.Dirty() {
			for _, e := range p.Take(256 << 10) {
				if n := e.EndRow - e.Row; n > 20_000 {
					t.Errorf("%d lines go at once", n)
				}
				b.apply(t, e)
			}
		}
		n := 0
		for _, block := range blocks {
			n += len(block.Rendered().Rows)
		}
		if last := blocks[1].Rendered().Rows; len(b.lines) != n || b.lines[n-1] != last[len(last)-1].Text {
			t.Errorf("there are %d lines, not %d", len(b.lines), n)
		}
	}
}

// Of many files none is rendered before its turn, and none is kept as it looks.
func TestBlocksAreRenderedAsTheyAreDrawn(t *testing.T) {
	var p Page
	var blocks []*Block
	rendered := 0
	for i := range 1000 {
		blocks = append(blocks, NewBlock(i, func() Rendered {
			rendered++
			return Rendered{Rows: []Row{{Text: fmt.Sprint("row ", i)}}}
		}))
	}
	p.Set(blocks)
	p.Take(1 << 10)
	if rendered == 0 || rendered > 100 {
		t.Errorf("for the first rows %d blocks were rendered", rendered)
	}
	for p.Dirty() {
		p.Take(1 << 10)
	}
	p.Set(slices.Clone(blocks))
	if p.Dirty() || rendered != len(blocks) {
		t.Errorf("%d blocks were rendered %d times, and the page is dirty: %v", len(blocks), rendered, p.Dirty())
	}
	for _, b := range blocks {
		if b.rendered != nil {
			t.Fatalf("block %d is kept as it looks", b.ID)
		}
	}
}

// A row whose text or whose marks are others looks otherwise, whether or not it is kept as it was drawn.
func TestRowsThatLookAlike(t *testing.T) {
	added, removed := []styled.Mark{{EndCol: 1, Group: styled.DiffAdd}}, []styled.Mark{{EndCol: 1, Group: styled.DiffDelete}}
	for _, c := range []struct {
		one, other Row
		alike      bool
	}{
		{Row{Text: "a", Marks: added}, Row{Text: "a", Marks: slices.Clone(added), Kind: Text}, true},
		{Row{Text: "a", Marks: added}, Row{Text: "a", Marks: removed}, false},
		{Row{Text: "a", Marks: added}, Row{Text: "b", Marks: added}, false},
	} {
		drawn := c.other
		drawn.drawn = c.other.looks()
		check.Equal(t, c.one.Equal(c.other), c.alike, "%+v looks like %+v: %v", c.one, c.other)
		check.Equal(t, c.one.Equal(drawn), c.alike, "%+v looks like what was drawn of %+v: %v", c.one, c.other)
	}
}
