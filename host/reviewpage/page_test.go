package reviewpage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/transcript"
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
		blocks := []Block{{ID: 0, Rows: []Row{{Text: "title"}}}}
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
				blocks[i].Rows = rows(r)
			default:
				id := 1 + r.IntN(1000)
				if !slices.ContainsFunc(blocks, func(b Block) bool { return b.ID == id }) {
					blocks = slices.Insert(blocks, 1+r.IntN(len(blocks)), Block{ID: id, Rows: rows(r)})
				}
			}
			p.Set(blocks)
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
			for _, row := range block.Rows {
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
			if r, ok := p.Row(at, p.Seq()); !ok || r.Text != row.Text {
				t.Fatalf("seed %d: row %d is %q, not %q", seed, at, r.Text, row.Text)
			}
		}
	}
}

func rows(r *rand.Rand) []Row {
	list := []Row{{Text: fmt.Sprint("head ", r.IntN(1000))}}
	for range r.IntN(8) {
		row := Row{Text: fmt.Sprint("line ", r.IntN(3))}
		if r.IntN(2) == 0 {
			row.Marks = []transcript.Mark{{Col: 0, EndCol: 2, Group: transcript.Group(r.IntN(3))}}
		}
		list = append(list, row)
	}
	return list
}

func TestRowsFollowEdits(t *testing.T) {
	var p Page
	block := func(id int, texts ...string) Block {
		b := Block{ID: id}
		for _, text := range texts {
			b.Rows = append(b.Rows, Row{Text: text})
		}
		return b
	}
	p.Set([]Block{block(0, "title"), block(1, "a", "b", "c"), block(2, "d")})
	p.Take(1 << 20)
	seen := p.Seq()
	p.Set([]Block{block(0, "title"), block(3, "new", "new"), block(1, "a", "b", "c"), block(2, "d")})
	p.Take(1 << 20)
	if r, ok := p.Row(3, seen); !ok || r.Text != "c" {
		t.Errorf("the row has become %q", r.Text)
	}
	if r, ok := p.Row(3, p.Seq()); !ok || r.Text != "a" {
		t.Errorf("the row is %q", r.Text)
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
	top := Block{Rows: []Row{{Text: "title"}}}
	for _, blocks := range [][]Block{
		{top, {ID: 1, Rows: many("a")}},
		{top, {ID: 1, Rows: many("b")}},
		{top, {ID: 1, Rows: []Row{{Text: "c"}}}},
		{top, {ID: 1, Rows: many("d")}},
		{top, {ID: 2, Rows: []Row{{Text: "e"}}}},
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
			n += len(block.Rows)
		}
		if last := blocks[1].Rows; len(b.lines) != n || b.lines[n-1] != last[len(last)-1].Text {
			t.Errorf("there are %d lines, not %d", len(b.lines), n)
		}
	}
}
