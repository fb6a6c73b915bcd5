package page

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// textLine is a line as simple as can be; group is what it looks like, hidden what does not show.
type textLine struct {
	text   string
	group  int
	hidden int
}

func (l textLine) Equal(o textLine) bool { return l.text == o.text && l.group == o.group }

func (l textLine) Draw(e *Edit, row int) {
	e.Lines = append(e.Lines, l.text)
	e.Marks = append(e.Marks, row, 0, len(l.text), l.group)
	if l.group == 0 {
		e.Decor = append(e.Decor, Decor{Row: row, Sign: l.text})
	}
}

// part is a block of the test: lines, or a text that only grows.
type part struct {
	lines []textLine
	have  Lines[textLine]
	was   []textLine // before the last change
	grows bool
	sent  int // of a text that grows, the lines that were sent
	broke int // bytes of the next one that were
}

// author renders parts into a page.
type author struct {
	page  Page
	parts []*part
}

func (a *author) take(budget int) []Edit {
	return a.page.Take(budget, func(i, row, budget int) (*Edit, bool) {
		p := a.parts[i]
		if p.grows {
			return p.grow(row, a.page.Rows(i), budget)
		}
		return p.have.Take(p.lines, row, budget, func(from, end int) []Code {
			return []Code{{Row: row + from, EndRow: row + end}}
		})
	})
}

// grow appends the next line, or half of it.
func (p *part) grow(row, rows, budget int) (*Edit, bool) {
	if p.sent == len(p.lines) {
		return nil, true
	}
	l := p.lines[p.sent]
	end := row + rows
	e := &Edit{Row: end, EndRow: end, MarkRow: end, MarkEnd: end + 1}
	switch {
	case p.broke > 0:
		e.Append, e.Col, e.Lines = true, p.broke, []string{l.text[p.broke:]}
		e.MarkRow, e.MarkEnd = end-1, end
		p.broke = 0
		p.sent++
	case budget < 100:
		p.broke = len(l.text) / 2
		e.Lines = []string{l.text[:p.broke]}
		return e, false
	default:
		e.Lines = []string{l.text}
		p.sent++
	}
	e.Marks = []int{e.MarkRow, 0, len(l.text), l.group}
	e.Code = []Code{{Row: e.MarkRow, EndRow: e.MarkEnd}}
	return e, p.sent == len(p.lines)
}

func (a *author) reset() {
	a.page.Reset()
	for _, p := range a.parts {
		p.have, p.sent, p.broke = Lines[textLine]{}, 0, 0
	}
}

// buffer is what Neovim makes of the edits.
type buffer struct {
	lines []bufferLine
	ids   int
	seq   int
}

type bufferLine struct {
	id    int // of the line, as long as it is not replaced
	text  string
	group int
	sign  string
	code  bool
}

func (b *buffer) apply(e Edit) error {
	if e.Count == 0 {
		b.lines = nil
	}
	switch {
	case e.Count != len(b.lines):
		return fmt.Errorf("there are %d lines, not %d", len(b.lines), e.Count)
	case e.Row < 0 || e.EndRow < e.Row || e.EndRow > len(b.lines):
		return fmt.Errorf("rows out of range: %+v", e)
	case e.EndRow-e.Row > goneAtOnce:
		return fmt.Errorf("%d lines go at once", e.EndRow-e.Row)
	}
	if e.Append {
		if len(e.Lines) != 1 || len(b.lines[e.Row-1].text) != e.Col {
			return fmt.Errorf("an append to the middle of a line: %+v", e)
		}
		b.lines[e.Row-1].text += e.Lines[0]
	} else {
		fresh := make([]bufferLine, len(e.Lines))
		for i, text := range e.Lines {
			b.ids++
			fresh[i] = bufferLine{id: b.ids, text: text}
		}
		b.lines = slices.Replace(b.lines, e.Row, e.EndRow, fresh...)
	}
	if e.MarkRow < 0 || e.MarkEnd < e.MarkRow || e.MarkEnd > len(b.lines) {
		return fmt.Errorf("highlights out of range: %+v", e)
	}
	for i := e.MarkRow; i < e.MarkEnd; i++ {
		b.lines[i].group, b.lines[i].sign = -1, ""
	}
	for m := range slices.Chunk(e.Marks, 4) {
		if m[0] < e.MarkRow || m[0] >= e.MarkEnd {
			return fmt.Errorf("a mark outside of its rows: %+v", e)
		}
		b.lines[m[0]].group = m[3]
	}
	for _, d := range e.Decor {
		b.lines[d.Row].sign = d.Sign
	}
	for _, c := range e.Code {
		for i := c.Row; i < c.EndRow; i++ {
			b.lines[i].code = true
		}
	}
	b.seq = e.Seq
	return nil
}

// seen is a row that the user has looked at.
type seen struct{ row, seq, id int }

// Whatever the blocks are and however the edits are cut, refused and made, in the end the buffer shows them;
// and a line that was seen is found again for as long as it stands.
func TestEditsLeadThere(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		var a author
		var b buffer
		var glance []seen
		refusing := true
		send := func() {
			budget := 1 + r.IntN([]int{300, 4000}[r.IntN(2)])
			spent := budget
			refused := false
			for _, e := range a.take(budget) {
				if spent <= 0 {
					t.Fatalf("seed %d: a budget of %d is overdrawn", seed, budget)
				}
				spent -= editCost
				for m := range slices.Chunk(e.Marks, 4) {
					spent -= 16 + m[2]
				}
				if refusing && r.IntN(40) == 0 {
					refused = true
					continue
				}
				if err := b.apply(e); err != nil && !refused {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			if refused {
				a.reset()
				return
			}
			for _, s := range glance {
				at := slices.IndexFunc(b.lines, func(l bufferLine) bool { return l.id == s.id })
				if row, ok := a.page.RowNow(s.row, s.seq); ok && at >= 0 && row != at {
					t.Fatalf("seed %d: the line that was in row %d is in %d, not %d", seed, s.row, at, row)
				} else if !ok && a.page.Seq()-s.seq <= len(a.page.moves) {
					t.Fatalf("seed %d: row %d is forgotten", seed, s.row)
				}
			}
			if n := len(b.lines); n > 0 && b.seq == a.page.Seq() {
				row := r.IntN(n)
				glance = append(glance, seen{row, b.seq, b.lines[row].id})
			}
		}
		for range 30 {
			a.change(r)
			for range r.IntN(3) {
				send()
			}
		}
		for i := 0; a.page.Dirty(); i++ {
			if i > 3000 {
				t.Fatalf("seed %d: it does not end", seed)
			}
			refusing = i < 20
			send()
		}
		var want []bufferLine
		for _, p := range a.parts {
			for _, l := range p.lines {
				line := bufferLine{text: l.text, group: l.group, code: true}
				if l.group == 0 && !p.grows {
					line.sign = l.text
				}
				want = append(want, line)
			}
			if !p.grows && !slices.Equal(p.have.Have(), p.lines) {
				t.Fatalf("seed %d: the page has %v, not %v", seed, p.have.Have(), p.lines)
			}
		}
		for i := range b.lines {
			b.lines[i].id = 0
		}
		if len(want) > 0 && !slices.Equal(b.lines, want) {
			t.Fatalf("seed %d: the buffer has\n%v\nnot\n%v", seed, b.lines, want)
		}
		row := 0
		for i, p := range a.parts {
			if got, first := a.page.At(row); len(p.lines) > 0 && (got != i || first != row) {
				t.Fatalf("seed %d: block %d begins at %d, not block %d at %d", seed, i, row, got, first)
			}
			row += len(p.lines)
		}
	}
}

// change does something to the parts.
func (a *author) change(r *rand.Rand) {
	line := func() textLine { return textLine{fmt.Sprint("line ", r.IntN(5)), r.IntN(3), r.IntN(1000)} }
	some := func() (lines []textLine) {
		for range r.IntN(12) {
			lines = append(lines, line())
		}
		return lines
	}
	i := -1
	if len(a.parts) > 0 {
		i = r.IntN(len(a.parts))
		if p := a.parts[i]; !p.grows {
			if r.IntN(5) == 0 {
				p.lines, p.was = p.was, p.lines
				a.page.Touch(i)
				return
			}
			p.was = p.lines
		}
	}
	switch n := r.IntN(10); {
	case n < 3 || i < 0:
		at := len(a.parts)
		if r.IntN(3) == 0 {
			at = r.IntN(at + 1)
		}
		a.parts = slices.Insert(a.parts, at, &part{lines: some(), grows: r.IntN(3) == 0})
		a.page.Insert(at)
	case n == 3: // other blocks, without those that are empty
		var parts []*part
		var was []int
		for i, p := range a.parts {
			if r.IntN(6) == 0 {
				parts, was = append(parts, &part{lines: some()}), append(was, -1)
			}
			if a.page.Rows(i) > 0 || r.IntN(2) == 0 {
				parts, was = append(parts, p), append(was, i)
			}
		}
		a.parts = parts
		a.page.Arrange(was)
	case a.parts[i].grows:
		a.parts[i].lines = append(a.parts[i].lines, some()...)
		a.page.Touch(i)
	case n == 4:
		a.parts[i].lines = nil // it goes away
		a.page.Touch(i)
	case n == 5:
		a.parts[i].lines = some()
		a.page.Touch(i)
	case n == 6 && len(a.parts[i].lines) > 0: // some are others
		a.parts[i].lines = slices.Clone(a.parts[i].lines)
		for range 1 + r.IntN(3) {
			a.parts[i].lines[r.IntN(len(a.parts[i].lines))] = line()
		}
		a.page.Touch(i)
	default:
		lines := slices.Clone(a.parts[i].lines)
		at := r.IntN(len(lines) + 1)
		a.parts[i].lines = slices.Insert(lines, at, some()...)
		a.page.Touch(i)
	}
}

// What was begun, given up while many lines were to go, and then wanted after all is all there.
func TestBegunAgain(t *testing.T) {
	many := func(text string) (lines []textLine) {
		for i := range 5 * goneAtOnce / 2 {
			lines = append(lines, textLine{text: fmt.Sprint(text, i), group: 1})
		}
		return lines
	}
	var a author
	var b buffer
	p := &part{lines: many("a")}
	a.parts = []*part{p}
	a.page.Insert(0)
	take := func(budget int) {
		for _, e := range a.take(budget) {
			must.Do(t, b.apply(e))
		}
	}
	take(1 << 30)
	begun := many("b")
	p.lines = begun
	a.page.Touch(0)
	for range 4 {
		take(300 << 10)
	}
	for at, want := range map[int]byte{7 * goneAtOnce / 4: 'b', len(begun) - 1: 'a'} {
		if text := b.lines[at].text; text[0] != want {
			t.Fatalf("line %d is %s", at, text)
		}
	}
	p.lines = []textLine{{text: "c"}}
	take(1)
	must.Equal(t, len(b.lines), len(begun)-goneAtOnce, "there are %d lines")
	take(1)
	p.lines = begun
	for a.page.Dirty() {
		take(1 << 20)
	}
	for i, l := range b.lines {
		if len(b.lines) != len(begun) || l.text != begun[i].text {
			t.Fatalf("line %d of %d is %s", i, len(b.lines), l.text)
		}
	}
}

// Only what differs is sent.
func TestTheRestStands(t *testing.T) {
	var a author
	p := &part{lines: []textLine{{text: "a"}, {text: "b"}, {text: "c"}}}
	a.parts = []*part{p}
	a.page.Insert(0)
	a.take(1 << 20)
	p.lines = []textLine{{text: "a"}, {text: "new"}, {text: "b", hidden: 1}, {text: "c"}}
	a.page.Touch(0)
	edits := a.take(1 << 20)
	if len(edits) != 1 || edits[0].Row != 1 || edits[0].EndRow != 1 || !slices.Equal(edits[0].Lines, []string{"new"}) {
		t.Errorf("it sends %+v", edits)
	}
	p.lines = []textLine{{text: "a"}, {text: "new"}, {text: "b", hidden: 2}, {text: "c"}}
	a.page.Touch(0)
	if edits := a.take(1 << 20); len(edits) != 0 || p.have.Have()[2].hidden != 2 {
		t.Errorf("it sends %+v and has %v", edits, p.have.Have())
	}
}

// Edits are joined where the next one begins at the line below, and so do its highlights.
func TestJoin(t *testing.T) {
	first := Edit{Seq: 1, Row: 2, EndRow: 4, Lines: []string{"a"}, MarkRow: 2, MarkEnd: 3}
	for _, c := range []struct {
		what        string
		first, next Edit
		want        bool
	}{
		{"right below", first, Edit{Seq: 2, Row: 3, EndRow: 5, Lines: []string{"b"}, MarkRow: 3, MarkEnd: 4}, true},
		{"further down", first, Edit{Row: 4, EndRow: 5, MarkRow: 4, MarkEnd: 4}, false},
		{"text further down", first, Edit{Row: 4, EndRow: 5, MarkRow: 3, MarkEnd: 4}, false},
		{"highlights above", first, Edit{Row: 3, EndRow: 5, MarkRow: 2, MarkEnd: 3}, false},
		{"highlights only", first, Edit{Row: 3, EndRow: 3, MarkRow: 2, MarkEnd: 3}, false},
		{"an append", first, Edit{Append: true, Row: 3, EndRow: 3, Lines: []string{"b"}, MarkRow: 3, MarkEnd: 3}, false},
		{"to an append", Edit{Append: true, Row: 2, EndRow: 2, Lines: []string{"a"}, MarkRow: 1, MarkEnd: 3}, Edit{Row: 3, EndRow: 3, MarkRow: 3, MarkEnd: 3}, false},
		{"to highlights elsewhere", Edit{Row: 2, EndRow: 2, MarkRow: 0, MarkEnd: 1}, Edit{Row: 2, EndRow: 2, MarkRow: 2, MarkEnd: 2}, false},
	} {
		e := c.first
		if got := e.join(&c.next); got != c.want {
			t.Errorf("%s: joined: %v", c.what, got)
		} else if got && (e.Seq != 2 || e.EndRow != 6 || e.MarkEnd != 4 || !slices.Equal(e.Lines, []string{"a", "b"})) {
			t.Errorf("%s: %+v", c.what, e)
		}
	}
}

// Edits that are joined have the looks of both.
func TestWhatIsJoined(t *testing.T) {
	of := func(row int) Edit {
		return Edit{
			Row: row, EndRow: row, Lines: []string{"a"}, MarkRow: row, MarkEnd: row + 1, Marks: []int{row, 0, 1, 2},
			Decor: []Decor{{Row: row}}, Code: []Code{{Row: row, EndRow: row + 1}}, Prose: [][2]int{{row, row + 1}}, Images: []Image{{Row: row}},
		}
	}
	e, next := of(2), of(3)
	check.Equal(t, e.join(&next), true, "they are joined: %t")
	check.Deep(t, e, Edit{
		Row: 2, EndRow: 2, Lines: []string{"a", "a"}, MarkRow: 2, MarkEnd: 4, Marks: []int{2, 0, 1, 2, 3, 0, 1, 2},
		Decor: []Decor{{Row: 2}, {Row: 3}}, Code: []Code{{Row: 2, EndRow: 3}, {Row: 3, EndRow: 4}},
		Prose: [][2]int{{2, 3}, {3, 4}}, Images: []Image{{Row: 2}, {Row: 3}},
	}, "they become %+v")
}

// A line that was replaced or is gone leads to one in its place.
func TestRowsOfWhatIsGone(t *testing.T) {
	var a author
	a.parts = []*part{{lines: []textLine{{text: "a"}, {text: "b"}, {text: "c"}, {text: "d"}}}}
	a.page.Insert(0)
	a.take(1 << 20)
	before := a.page.Seq()
	for _, c := range []struct {
		lines []textLine
		want  []int // of the rows at first
	}{
		{[]textLine{{text: "a"}, {text: "x"}, {text: "y"}, {text: "d"}}, []int{0, 1, 2, 3}},
		{[]textLine{{text: "a"}, {text: "z"}, {text: "d"}}, []int{0, 1, 1, 2}},
		{[]textLine{{text: "a"}, {text: "d"}}, []int{0, 1, 1, 1}},
	} {
		a.parts[0].lines = c.lines
		a.page.Touch(0)
		a.take(1 << 20)
		for row, want := range c.want {
			if got, ok := a.page.RowNow(row, before); !ok || got != want {
				t.Errorf("with %d lines row %d has become %d, not %d", len(c.lines), row, got, want)
			}
		}
	}
}

// What was seen before the page was filled anew is not mistaken for what is there now.
func TestResetForgetsRows(t *testing.T) {
	var a author
	a.parts = []*part{{lines: []textLine{{text: "a"}, {text: "b"}}}}
	a.page.Insert(0)
	a.take(1 << 20)
	before := a.page.Seq()
	a.reset()
	for range 2 {
		if row, ok := a.page.RowNow(1, before); ok {
			t.Errorf("row 1 has become %d", row)
		}
		a.take(1 << 20)
	}
	if row, ok := a.page.RowNow(1, a.page.Seq()); !ok || row != 1 {
		t.Errorf("row 1 is %d, %v", row, ok)
	}
}

// A row is followed over as many edits as Neovim may be behind, and no further.
func TestFollowRemembers(t *testing.T) {
	var a author
	for i := range 3 * remembered {
		a.parts = append([]*part{{lines: []textLine{{text: fmt.Sprint(i)}}}}, a.parts...)
		was := []int{-1}
		for old := range i {
			was = append(was, old)
		}
		a.page.Arrange(was)
		a.take(1 << 20)
		for _, since := range []int{1, remembered} {
			if row, ok := a.page.RowNow(0, a.page.Seq()-since); i >= remembered && (!ok || row != since) {
				t.Fatalf("after %d edits, row 0 before the last %d is %d, %v", i, since, row, ok)
			}
		}
	}
	if _, ok := a.page.RowNow(0, 1); ok || len(a.page.moves) > 2*remembered {
		t.Errorf("%d edits are remembered", len(a.page.moves))
	}
}

// Neovim is never to take many lines away at once.
func TestManyLinesGo(t *testing.T) {
	many := func(text string, n int) (lines []textLine) {
		for i := range n {
			lines = append(lines, textLine{text: fmt.Sprint(text, i)})
		}
		return lines
	}
	var a author
	var b buffer
	a.parts = []*part{{lines: many("top", 1)}, {}}
	a.page.Insert(0)
	a.page.Insert(1)
	for _, lines := range [][]textLine{
		many("a", 3*goneAtOnce), many("b", 3*goneAtOnce), many("c", 1), many("d", 3*goneAtOnce), nil, many("e", 2),
	} {
		a.parts[1].lines = lines
		for a.page.Touch(1); a.page.Dirty(); {
			for _, e := range a.take(256 << 10) {
				must.Do(t, b.apply(e))
			}
		}
		if n := len(lines); len(b.lines) != 1+n || n > 0 && b.lines[n].text != lines[n-1].text {
			t.Errorf("there are %d lines, not %d", len(b.lines), 1+n)
		}
	}
}
