package terminal

import (
	"slices"
	"unicode/utf8"
)

const (
	// recentRows is how many finished rows are kept with their styles, for Tail.
	recentRows = 500
	// thinRows is how many of these are kept of a command that ended long ago, beside those of the page.
	thinRows = 60
	// historySlack is the least number of bytes kept over the limit before the text is cut.
	historySlack = 64 << 10
)

// history is what scrolled off the top of the main page: its text up to a limit, and the last rows with their styles.
type history struct {
	limit   int
	text    []byte // logical lines, soft wraps joined
	cut     bool   // text has lost its beginning
	recent  []*row // a ring of the last rows; oldest is the next to go once it is full
	oldest  int
	dropped int // lines of which all rows have left recent

	left func(*row) // if not nil, takes the rows, and nothing is kept
}

// push takes a row and returns one that may be used again.
func (h *history) push(r *row) *row {
	if h.left != nil {
		h.left(r)
		return r
	}
	h.text = r.appendText(h.text)
	if !r.wrapped {
		h.text = append(trimBlanks(h.text), '\n')
	}
	if len(h.text) > h.limit+max(h.limit/4, historySlack) {
		h.text = append(h.text[:0], lastBytes(h.text, h.limit)...)
		h.cut = true
	}
	if len(h.recent) < recentRows {
		h.recent = append(h.recent, r)
		return &row{}
	}
	r, h.recent[h.oldest] = h.recent[h.oldest], r
	h.oldest = (h.oldest + 1) % recentRows
	if !r.wrapped {
		h.dropped++
	}
	return r
}

// at returns the i-th row of recent, 0 being the oldest.
func (h *history) at(i int) *row { return h.recent[(h.oldest+i)%len(h.recent)] }

// thin keeps the newest rows.
func (h *history) thin() {
	var kept []*row
	for i := range h.recent {
		switch r := h.at(i); {
		case i >= len(h.recent)-thinRows:
			r.cells = slices.Clone(r.cells)
			kept = append(kept, r)
		case !r.wrapped:
			h.dropped++
		}
	}
	h.recent, h.oldest = kept, 0
}

func (h *history) clear() { *h = history{limit: h.limit, left: h.left} }

// trimBlanks removes the blanks at the end of the last line of b.
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// lastBytes returns at most the last n bytes of b, beginning with a whole character.
func lastBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	b = b[len(b)-n:]
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if utf8.RuneStart(b[0]) && runeWidth(r) > 0 || r < utf8.RuneSelf {
			break
		}
		b = b[size:]
	}
	return b
}
