package terminal

import "strings"

const (
	// resolvedAtOnce is how much of a text is resolved at a time, in bytes.
	resolvedAtOnce = 16 << 10
	// resolvedRows is how far up the cursor can go in it.
	resolvedRows = mostRows
)

// Resolve gives the lines that a text without a terminal's carriage returns shows, one after the other,
// and false after the last. However long the text is, little more than a screen of it is kept.
func Resolve(text string, cols int) func() (Line, bool) {
	var lines []Line // that are resolved, and not yet given
	var f filter
	screen := NewScreen(cols, min(strings.Count(text, "\n")+1+len(text)/cols, resolvedRows), 1)
	screen.newlineMode = true
	screen.history.left = func(r *row) { lines = append(lines, r.line()) }
	draw := func(kind unit, data []byte) {
		if kind != query {
			_, _ = screen.Write(data)
		}
	}
	ended := false
	return func() (Line, bool) {
		for len(lines) == 0 && !ended {
			n := min(len(text), resolvedAtOnce)
			f.feed([]byte(text[:n]), draw)
			if text = text[n:]; text == "" {
				ended = true
				rest, _ := screen.tail(2*resolvedRows, 0)
				lines = append(lines, rest...)
			}
		}
		if len(lines) == 0 {
			return Line{}, false
		}
		l := lines[0]
		lines = lines[1:]
		return l, true
	}
}
