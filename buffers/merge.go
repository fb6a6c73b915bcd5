package buffers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// change says that lines start to end (0-based, exclusive) of an old text are replaced by lines.
type change struct {
	start, end int
	lines      []string
}

// merge3 merges the changes from base to theirs into mine, by lines. Where both changed the same lines
// differently, or added different lines at the same place, mine stands, and a conflict is counted.
// Changes to neighbouring lines do not conflict.
func merge3(base, mine, theirs string) (merged string, conflicts int) {
	if mine == theirs || base == theirs {
		return mine, 0
	}
	if base == mine {
		return theirs, 0
	}
	old := splitLines(base)
	a, b := diffLines(old, splitLines(mine)), diffLines(old, splitLines(theirs))
	var out strings.Builder
	at := 0 // in old
	emit := func(c change) {
		for _, line := range old[at:c.start] {
			out.WriteString(line)
		}
		for _, line := range c.lines {
			out.WriteString(line)
		}
		at = c.end
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && before(a[0], b[0]):
			emit(a[0])
			a = a[1:]
		case len(a) == 0 || before(b[0], a[0]):
			emit(b[0])
			b = b[1:]
		default:
			// All changes of both that overlap each other make one region.
			x, y := []change{a[0]}, []change{b[0]}
			a, b = a[1:], b[1:]
			for {
				start, end := region(x, y)
				whole := change{start: start, end: end}
				if len(a) > 0 && overlap(a[0], whole) {
					x, a = append(x, a[0]), a[1:]
				} else if len(b) > 0 && overlap(b[0], whole) {
					y, b = append(y, b[0]), b[1:]
				} else {
					break
				}
			}
			start, end := region(x, y)
			left, right := applied3(old, x, start, end), applied3(old, y, start, end)
			if !slices.Equal(left, right) {
				conflicts++
			}
			emit(change{start, end, left})
		}
	}
	emit(change{start: len(old), end: len(old)})
	return out.String(), conflicts
}

// before tells that x is done before y begins and that the two do not overlap.
func before(x, y change) bool {
	return !overlap(x, y) && (x.start < y.start || x.start == y.start && x.end < y.end)
}

func overlap(x, y change) bool {
	if x.start == x.end && y.start == y.end {
		return x.start == y.start
	}
	return x.start < y.end && y.start < x.end
}

func region(x, y []change) (start, end int) {
	return min(x[0].start, y[0].start), max(x[len(x)-1].end, y[len(y)-1].end)
}

// applied3 returns lines start to end of old after changes.
func applied3(old []string, changes []change, start, end int) []string {
	var lines []string
	at := start
	for _, c := range changes {
		lines = append(lines, old[at:c.start]...)
		lines = append(lines, c.lines...)
		at = c.end
	}
	return append(lines, old[at:end]...)
}

// splitLines returns the lines of text with their newlines.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func conflictNote(path string, n int) string {
	name := filepath.Base(path)
	if n == 1 {
		return fmt.Sprintf("The agent changed lines of %s that you have changed too: yours stay in the buffer, the agent's are on disk.", name)
	}
	return fmt.Sprintf("The agent changed lines of %s in %d places that you have changed too: yours stay in the buffer, the agent's are on disk.", name, n)
}
