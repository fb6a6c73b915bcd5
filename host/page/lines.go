package page

import "slices"

// Line is a line of a block, of its renderer's type. Lines are never changed in place.
type Line[L any] interface {
	Equal(L) bool // whether both look the same
	// Draw adds the line to an edit: its text, and its look at a row.
	Draw(e *Edit, row int)
}

// Lines is what the buffer has of a block that is made of lines. Its zero value is nothing.
type Lines[L Line[L]] struct {
	have []L
	// If the last edit did not send all of want: how much it did send, and how many lines at both ends are as they were
	// before the first such edit.
	want       []L
	sent       int
	head, tail int
}

// Have returns the lines that the buffer has.
func (l *Lines[L]) Have() []L { return l.have }

// Thin replaces the lines that the buffer has by equal ones that take less memory.
func (l *Lines[L]) Thin(thin func(L) L) {
	have := make([]L, len(l.have))
	for i, line := range l.have {
		have[i] = thin(line)
	}
	l.have = have
}

// goneAtOnce is how many lines Neovim may remove at once, as removals are not counted by bytes.
const goneAtOnce = 20_000

// Take returns the edit of a block at row that brings it closer to the lines want, of about budget bytes, or nil if it
// already has them. When it is done, code is asked for the code that the lines [from, end) of the block are part of, in
// rows of the buffer.
func (l *Lines[L]) Take(want []L, row, budget int, code func(from, end int) []Code) (e *Edit, done bool) {
	old, cut := l.have, l.want != nil
	from := 0
	if cut && len(want) == len(l.want) && &want[0] == &l.want[0] {
		from = l.sent
	}
	for from < len(old) && from < len(want) && old[from].Equal(want[from]) {
		from++
	}
	end, oldEnd := len(want), len(old)
	for end > from && oldEnd > from && want[end-1].Equal(old[oldEnd-1]) {
		end, oldEnd = end-1, oldEnd-1
	}
	head, tail := from, len(want)-end
	if cut {
		head, tail = min(head, l.head), min(tail, l.tail)
	}
	if oldEnd-from > end-from+goneAtOnce {
		gone := oldEnd - goneAtOnce
		l.have = slices.Concat(old[:gone], old[oldEnd:])
		l.sent, l.head, l.tail = min(l.sent, gone), head, tail
		return &Edit{Row: row + gone, EndRow: row + oldEnd, MarkRow: row + gone, MarkEnd: row + gone}, false
	}
	if from == end && from == oldEnd && !cut {
		l.have = want // invisible details may differ
		return nil, true
	}
	e = &Edit{Row: row + from, EndRow: row + oldEnd, MarkRow: row + from}
	for i := from; i < end; i++ {
		if budget <= 0 {
			// The rest follows later, and until then as many lines stay as they are.
			left := min(oldEnd, i)
			l.have = want[:i:i]
			if left < len(old) {
				l.have = slices.Concat(l.have, old[left:])
			}
			l.want, l.sent, l.head, l.tail = want, i, head, tail
			e.EndRow, e.MarkEnd = row+left, row+i
			return e, false
		}
		marks, decor := len(e.Marks), len(e.Decor)
		want[i].Draw(e, row+i)
		budget -= cost(e.Lines[len(e.Lines)-1:], len(e.Marks)-marks, len(e.Decor)-decor)
	}
	e.MarkEnd = row + end
	e.Code = code(head, len(want)-tail)
	l.have, l.want = want, nil
	return e, true
}
