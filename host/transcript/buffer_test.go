package transcript

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// buffer is a chat buffer as Neovim has it. Edits are applied in the way of
// edit in lua/acp/chat/transcript.lua; decor moves as extmarks do.
type buffer struct {
	lines []bufferLine
	empty bool // nothing was written since the transcript began
}

type bufferLine struct {
	text  string
	marks []styled.Mark
	decor []page.Decor // without rows
	image string
}

func newBuffer() *buffer { return &buffer{lines: make([]bufferLine, 1), empty: true} }

func (b *buffer) apply(e page.Edit) error {
	whole := e.Count == 0
	switch {
	case whole && !b.empty && len(b.lines) > 0:
		return fmt.Errorf("an edit of an empty buffer, which has %d lines: %+v", len(b.lines), e)
	case !whole && e.Count != len(b.lines):
		return fmt.Errorf("the buffer has %d lines, not %d", len(b.lines), e.Count)
	case e.Row < 0 || e.EndRow < e.Row || (!whole && e.EndRow > len(b.lines)):
		return fmt.Errorf("rows out of range: %+v", e)
	case slices.ContainsFunc(e.Lines, func(l string) bool { return strings.Contains(l, "\n") }):
		return fmt.Errorf("a line with a newline in it: %q", e.Lines)
	case slices.ContainsFunc(e.Lines, func(l string) bool { return !utf8.ValidString(l) }):
		return fmt.Errorf("half a character: %q", e.Lines)
	}
	b.empty = false
	switch {
	case e.Append:
		if whole || len(e.Lines) == 0 || e.Row < 1 || len(b.lines[e.Row-1].text) != e.Col {
			return fmt.Errorf("an append to the middle of a line: %+v", e)
		}
		b.appendTo(e.Row-1, e.Lines)
	case whole:
		b.lines = blank(e.Lines)
	default:
		b.lines = slices.Concat(b.lines[:e.Row], blank(e.Lines), b.lines[e.EndRow:])
	}
	if e.MarkRow < 0 || e.MarkEnd < e.MarkRow || e.MarkEnd > len(b.lines) {
		return fmt.Errorf("highlights out of range: %+v", e)
	}
	for i := e.MarkRow; i < e.MarkEnd; i++ {
		b.lines[i].marks, b.lines[i].decor = nil, nil
	}
	for m := range slices.Chunk(e.Marks, 4) {
		if m[0] < e.MarkRow || m[0] >= e.MarkEnd || m[1] < 0 || m[2] < m[1] || m[2] > len(b.lines[m[0]].text) {
			return fmt.Errorf("mark %v of %+v", m, e)
		}
		l := &b.lines[m[0]]
		l.marks = append(l.marks, styled.Mark{Col: m[1], EndCol: m[2], Group: styled.Group(m[3])})
	}
	for _, d := range e.Decor {
		if d.Row < e.MarkRow || d.Row >= e.MarkEnd {
			return fmt.Errorf("decor %v of %+v", d, e)
		}
		l := &b.lines[d.Row]
		d.Row = 0
		l.decor = append(l.decor, d)
	}
	for _, i := range e.Images {
		if i.Row >= len(b.lines) || !strings.HasSuffix(b.lines[i.Row].text, i.Path) {
			return fmt.Errorf("image %v of %+v", i, e)
		}
		b.lines[i.Row].image = i.Path
	}
	for _, c := range e.Code {
		if c.Row < 0 || c.EndRow < c.Row || c.EndRow > len(b.lines) {
			return fmt.Errorf("code %v in %d lines", c, len(b.lines))
		}
	}
	return nil
}

func blank(texts []string) []bufferLine {
	lines := make([]bufferLine, len(texts))
	for i, t := range texts {
		lines[i].text = t
	}
	return lines
}

// appendTo is nvim_buf_set_text at the end of a line. A mark stays with the line,
// an extmark that begins exactly there moves along.
func (b *buffer) appendTo(row int, texts []string) {
	added := blank(texts)
	first, last := &b.lines[row], &added[len(added)-1]
	col := len(first.text)
	if len(added) == 1 {
		last = first
	}
	added[0].text = first.text + added[0].text
	decor := first.decor
	first.text = added[0].text
	if col == 0 && last != first {
		first.decor, last.decor = nil, decor
	}
	b.lines = slices.Concat(b.lines[:row+1], added[1:], b.lines[row+1:])
}

// diff says where two buffers differ first.
func (b *buffer) diff(o *buffer) string {
	for i := range max(len(b.lines), len(o.lines)) {
		if i >= len(b.lines) || i >= len(o.lines) {
			return fmt.Sprintf("%d lines, not %d", len(b.lines), len(o.lines))
		}
		if g, w := b.lines[i].String(), o.lines[i].String(); g != w {
			return fmt.Sprintf("line %d is\n%s\nnot\n%s", i, g, w)
		}
	}
	return ""
}

func (b *buffer) text() string {
	texts := make([]string, len(b.lines))
	for i, l := range b.lines {
		texts[i] = l.text
	}
	return strings.Join(texts, "\n")
}

// String is the line's text, and under it what is highlighted and what stands beside it.
func (l bufferLine) String() string {
	var notes []string
	for _, m := range l.marks {
		notes = append(notes, fmt.Sprintf("%s %q", groupName(m.Group), l.text[m.Col:m.EndCol]))
	}
	for _, d := range l.decor {
		if d.Sign != "" {
			notes = append(notes, fmt.Sprintf("sign %s %q", groupName(styled.Group(d.SignGroup)), d.Sign))
		}
		if d.Right != "" {
			notes = append(notes, fmt.Sprintf("right %s %q", groupName(styled.Group(d.RightGroup)), d.Right))
		}
	}
	if l.image != "" {
		notes = append(notes, "image "+l.image)
	}
	s := "|" + l.text + "\n"
	if len(notes) > 0 {
		s += "    " + strings.Join(notes, ", ") + "\n"
	}
	return s
}

func (b *buffer) String() string {
	var s strings.Builder
	for _, l := range b.lines {
		s.WriteString(l.String())
	}
	return s.String()
}

func groupName(g styled.Group) string { return strings.TrimPrefix(styled.Groups()[g], "Acp") }

// take applies the next edits of a transcript.
func (b *buffer) take(t *testing.T, tr *Transcript, budget int) []page.Edit {
	t.Helper()
	edits := tr.Take(budget)
	for _, e := range edits {
		must.Do(t, b.apply(e))
	}
	return edits
}

// drawn is the buffer of a conversation that is rendered at once, its blocks
// folded as those of the transcript like, if there is one.
func drawn(t *testing.T, conv *session.Conversation, config Config, like *Transcript) *buffer {
	t.Helper()
	tr := New(conv, config)
	if like != nil {
		tr.width = like.width
	}
	var all []int
	for i := range conv.Entries {
		b := tr.add()
		if like != nil {
			b.open = like.entries[i].open
		}
		all = append(all, i)
	}
	tr.nest(all)
	if like != nil {
		tr.Await(like.awaited)
	}
	tr.placeWaiting()
	tr.Reset()
	b := newBuffer()
	b.take(t, tr, 1<<30)
	if tr.Dirty() {
		t.Fatal("one large Take was not enough")
	}
	return b
}

// The simulation must be strict, or the tests that stand on it mean nothing.
func TestBufferRefuses(t *testing.T) {
	for name, e := range map[string]page.Edit{
		"a wrong count":           {Count: 3},
		"an empty buffer":         {},
		"rows beyond the end":     {Count: 2, Row: 2, EndRow: 3},
		"an append elsewhere":     {Count: 2, Append: true, Row: 2, EndRow: 2, Col: 0, Lines: []string{"x"}},
		"half a character":        {Count: 2, Row: 2, EndRow: 2, Lines: []string{"\xc3"}},
		"a newline":               {Count: 2, Row: 2, EndRow: 2, Lines: []string{"x\n"}},
		"marks beyond the end":    {Count: 2, Row: 2, EndRow: 2, MarkEnd: 3},
		"a mark outside its rows": {Count: 2, Row: 2, EndRow: 2, Marks: []int{0, 0, 1, 1}},
		"a mark beyond the line":  {Count: 2, Row: 2, EndRow: 2, MarkEnd: 1, Marks: []int{0, 0, 9, 1}},
		"decor outside its rows":  {Count: 2, Row: 2, EndRow: 2, Decor: []page.Decor{{Row: 1}}},
	} {
		b := &buffer{lines: blank([]string{"a", "b"})}
		if b.apply(e) == nil {
			t.Errorf("it took %s", name)
		}
	}
}

func TestBufferMovesMarks(t *testing.T) {
	mark := func(from, to int) []styled.Mark { return []styled.Mark{{Col: from, EndCol: to, Group: styled.Error}} }
	b := &buffer{lines: []bufferLine{{text: "a", marks: mark(0, 1)}, {text: "", marks: mark(0, 0)}, {text: "c", marks: mark(0, 1)}}}
	for _, e := range []page.Edit{
		{Count: 3, Row: 2, EndRow: 2, Append: true, Lines: []string{"b", "bb"}},
		{Count: 4, Row: 1, EndRow: 1, Append: true, Col: 1, Lines: []string{"A"}},
		{Count: 4, Row: 3, EndRow: 3, Lines: []string{"new"}},
	} {
		must.Do(t, b.apply(e))
	}
	want := []bufferLine{{text: "aA", marks: mark(0, 1)}, {text: "b", marks: mark(0, 0)}, {text: "bb"}, {text: "new"}, {text: "c", marks: mark(0, 1)}}
	if !reflect.DeepEqual(b.lines, want) {
		t.Errorf("got\n%v", b)
	}
}
