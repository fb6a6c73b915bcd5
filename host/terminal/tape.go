package terminal

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

const (
	// blockSize is about how much a block of a tape holds, and keptBlocks how many of them are kept
	// beside the one that is written: 1 MiB in all.
	blockSize  = 64 << 10
	keptBlocks = 16
	// thinBytes is how much is kept of a command that ended long ago.
	thinBytes = 128 << 10
	// newest is about how much a reader that has fallen behind is still shown.
	newest = 2 * blockSize
	// lineCost is the cost of a line to an editor that shows it, in bytes.
	lineCost = 24
)

// tape is the end of what a program wrote, filtered so that another terminal can show it. It is kept in blocks, each of
// which begins between sequences and, if there are lines, at the beginning of one, so that reading can begin with any
// of them.
type tape struct {
	filter filter
	blocks []block
	start  int64 // the position of the first byte that is kept
	end    int64

	asking  bool // queries are kept for readers at the end
	queries []question
}

type block struct {
	data      []byte
	alternate bool // it begins on the alternate page
}

// question is a query and the position that it stands before.
type question struct {
	at   int64
	data []byte
}

// write appends a program's output, and passes what should be drawn to draw.
func (t *tape) write(p []byte, draw func([]byte)) {
	t.filter.feed(p, func(kind unit, data []byte) {
		if kind != query {
			draw(data)
		}
		if kind == inside {
			kind, data = sequence, []byte("\x1b[r") // with the cursor where it would be
		}
		switch {
		case kind == plain:
			t.text(data)
		case kind == sequence:
			if n := len(t.blocks); n == 0 || len(t.blocks[n-1].data)+len(data) > blockSize {
				t.turn()
			}
			t.append(data)
		case t.asking:
			t.queries = append(t.queries, question{t.end, bytes.Clone(data)})
		}
	})
}

// text appends text, a new block beginning with a line if there is one in the last part of the old.
func (t *tape) text(p []byte) {
	for len(p) > 0 {
		if len(t.blocks) == 0 {
			t.turn()
		}
		have := len(t.blocks[len(t.blocks)-1].data)
		room := blockSize - have
		n, full := len(p), false
		early := max(blockSize*3/4-have, 0)
		if early < n {
			if i := bytes.IndexByte(p[early:min(n, room)], '\n'); i >= 0 {
				n, full = early+i+1, true
			}
		}
		if !full && n > room {
			n, full = runeEnd(p, room), true
		}
		t.append(p[:n])
		p = p[n:]
		if full {
			t.turn()
		}
	}
}

func (t *tape) append(p []byte) {
	b := &t.blocks[len(t.blocks)-1]
	b.data = append(b.data, p...)
	t.end += int64(len(p))
}

// turn begins a new block; the oldest makes room for it.
func (t *tape) turn() {
	var data []byte
	if len(t.blocks) > keptBlocks {
		data = t.blocks[0].data
		t.start += int64(len(data))
		t.blocks = append(t.blocks[:0], t.blocks[1:]...)
	}
	t.blocks = append(t.blocks, block{data[:0], t.filter.alternate})
}

// thin keeps the newest blocks, up to thinBytes.
func (t *tape) thin() {
	for len(t.blocks) > thinBytes/blockSize {
		t.start += int64(len(t.blocks[0].data))
		t.blocks = t.blocks[1:]
	}
	t.blocks = slices.Clone(t.blocks)
}

// read appends to dst what follows pos, no more than limit bytes of it and fewer of many lines, with
// the queries in it, and returns the position after it. pos must not be before t.start.
func (t *tape) read(dst []byte, pos int64, limit int) ([]byte, int64) {
	first := t.start
	limit = max(limit, lineCost+utf8.UTFMax)
	for _, b := range t.blocks {
		last := first + int64(len(b.data))
		if last > pos && limit > 0 {
			part := b.data[pos-first:]
			n := affordable(part, limit)
			limit -= n + lineCost*bytes.Count(part[:n], []byte{'\n'})
			if n < len(part) {
				limit = 0
				if part[n-1] != '\n' {
					n = runeEnd(part, n)
				}
			}
			dst, pos = t.ask(dst, pos, part[:n])
		}
		first = last
	}
	if pos == t.end {
		dst, pos = t.ask(dst, pos, nil)
	}
	return dst, pos
}

// affordable returns how much of p costs no more than limit: a whole number of lines, or a part of one.
func affordable(p []byte, limit int) int {
	n := 0
	for n < len(p) {
		i := bytes.IndexByte(p[n:], '\n')
		if i < 0 {
			return n + min(len(p)-n, limit)
		}
		if limit -= i + 1 + lineCost; limit < 0 {
			if n == 0 {
				return min(i+1, limit+i+1+lineCost)
			}
			return n
		}
		n += i + 1
	}
	return n
}

// ask appends part, which is at pos, to dst, with the queries in it.
func (t *tape) ask(dst []byte, pos int64, part []byte) ([]byte, int64) {
	for len(t.queries) > 0 && t.queries[0].at <= pos+int64(len(part)) {
		q := t.queries[0]
		t.queries = t.queries[1:]
		if n := q.at - pos; n >= 0 {
			dst = append(append(dst, part[:n]...), q.data...)
			part, pos = part[n:], q.at
		}
	}
	return append(dst, part...), pos + int64(len(part))
}

// late returns where a reader that only gets the newest part continues.
func (t *tape) late() (pos int64, alternate bool) {
	pos = t.end
	for i := len(t.blocks) - 1; i >= 0; i-- {
		b := t.blocks[i]
		pos -= int64(len(b.data))
		alternate = b.alternate
		if t.end-pos >= newest-blockSize {
			break
		}
	}
	return pos, alternate
}

// runeEnd returns the end of the last whole character in p[:n], or n where there are no characters.
func runeEnd(p []byte, n int) int {
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			return i
		}
	}
	return n
}
