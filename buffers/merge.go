package buffers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// conflict is a place in a merged text that has the user's lines where the other side has different ones.
type conflict struct {
	row, count int // the user's lines in the merged text, 0-based
	// With their newlines: the other side's lines, and the lines that both changed; if those cannot be told line by
	// line, based is false.
	theirs, base []string
	based        bool
}

// merge3 merges the changes from base to theirs into mine, by lines. Where both changed the same lines differently, or
// added different lines at the same place, mine wins, and that is a conflict; conflicts are in line order. Changes to
// neighbouring lines do not conflict.
func merge3(base, mine, theirs string) (merged string, conflicts []conflict) {
	if mine == theirs || base == theirs {
		return mine, nil
	}
	if base == mine {
		return theirs, nil
	}
	old := linediff.Lines(base)
	a, b := hunksOf(old, linediff.Lines(mine)), hunksOf(old, linediff.Lines(theirs))
	a, b = splitAt(a, b), splitAt(b, a)
	var out strings.Builder
	at, row := 0, 0 // in old, and in the merged text
	ended := true
	write := func(lines []string) {
		for _, line := range lines {
			if !ended {
				out.WriteByte('\n') // the last line of one side is not the last of both
			}
			out.WriteString(line)
			ended = strings.HasSuffix(line, "\n")
		}
	}
	emit := func(c hunk) {
		write(old[at:c.Start])
		write(c.Lines)
		row += c.Start - at + len(c.Lines)
		at = c.End
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
			// All overlapping changes of both sides make one region.
			x, y := []hunk{a[0]}, []hunk{b[0]}
			a, b = a[1:], b[1:]
			for {
				start, end := region(x, y)
				whole := hunk{Start: start, End: end}
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
			if slices.EqualFunc(left, old[start:end], sameLine) || start == end && within(left, right) {
				left = right
			} else if start == end && within(right, left) {
				right = left
			}
			emit(hunk{start, end, left})
			if !slices.EqualFunc(right, old[start:end], sameLine) && !slices.EqualFunc(left, right, sameLine) {
				conflicts = append(conflicts, conflictOf(row-len(left), left, right, old[start:end]))
			}
		}
	}
	emit(hunk{Start: len(old), End: len(old)})
	return out.String(), conflicts
}

// both merges two texts without a known common origin: all lines of both, once if both have them, and where they differ
// theirs before mine.
func both(mine, theirs string) string {
	old := linediff.Lines(Lined(mine))
	var lines []string
	at := 0
	for _, h := range hunksOf(old, linediff.Lines(Lined(theirs))) {
		lines = append(lines, old[at:h.Start]...)
		lines = append(lines, h.Lines...)
		lines = append(lines, old[h.Start:h.End]...)
		at = h.End
	}
	return strings.Join(append(lines, old[at:]...), "")
}

// within reports whether lines begin or end with some: whoever wrote lines around them knew them.
func within(some, lines []string) bool {
	n := len(some)
	return n <= len(lines) && (slices.EqualFunc(some, lines[:n], sameLine) || slices.EqualFunc(some, lines[len(lines)-n:], sameLine))
}

// splitAt splits hunks that change lines and add, right before or after them, what one of others adds there: both added
// it, so it should appear once.
func splitAt(hunks, others []hunk) []hunk {
	var list []hunk
	for _, h := range hunks {
		var after []hunk
		for _, o := range others {
			n := len(o.Lines)
			switch {
			case h.Start == h.End || o.Start != o.End || n > len(h.Lines):
			case o.Start == h.Start && slices.EqualFunc(h.Lines[:n], o.Lines, sameLine):
				list = append(list, hunk{h.Start, h.Start, h.Lines[:n:n]})
				h.Lines = h.Lines[n:]
			case o.Start == h.End && slices.EqualFunc(h.Lines[len(h.Lines)-n:], o.Lines, sameLine):
				after = []hunk{{h.End, h.End, h.Lines[len(h.Lines)-n:]}}
				h.Lines = h.Lines[:len(h.Lines)-n]
			}
		}
		list = append(append(list, h), after...)
	}
	return list
}

// conflictOf returns the conflict between two sides of one region, without the lines that both begin or end with.
func conflictOf(row int, mine, theirs, base []string) conflict {
	short := min(len(mine), len(theirs))
	head, tail := 0, 0
	for head < short && sameLine(mine[head], theirs[head]) {
		head++
	}
	for tail < short-head && sameLine(mine[len(mine)-1-tail], theirs[len(theirs)-1-tail]) {
		tail++
	}
	c := conflict{row: row + head, count: len(mine) - head - tail, theirs: theirs[head : len(theirs)-tail]}
	if end := len(base) - tail; head <= end &&
		slices.EqualFunc(base[:head], mine[:head], sameLine) &&
		slices.EqualFunc(base[end:], mine[len(mine)-tail:], sameLine) {
		c.base, c.based = base[head:end], true
	}
	return c
}

// sameLine compares lines except for the newline that a file's last one may lack.
func sameLine(a, b string) bool { return strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n") }

// before reports whether x ends before y begins and the two do not overlap.
func before(x, y hunk) bool {
	return !overlap(x, y) && (x.Start < y.Start || x.Start == y.Start && x.End < y.End)
}

func overlap(x, y hunk) bool {
	if x.Start == x.End && y.Start == y.End {
		return x.Start == y.Start
	}
	return x.Start < y.End && y.Start < x.End
}

func region(x, y []hunk) (start, end int) {
	return min(x[0].Start, y[0].Start), max(x[len(x)-1].End, y[len(y)-1].End)
}

// applied3 returns lines start to end of old with changes applied.
func applied3(old []string, changes []hunk, start, end int) []string {
	var lines []string
	at := start
	for _, c := range changes {
		lines = append(lines, old[at:c.Start]...)
		lines = append(lines, c.Lines...)
		at = c.End
	}
	return append(lines, old[at:end]...)
}

// differing returns the rows of text and of other where they differ: for each place the first row and the one after the
// last.
func differing(text, other string) []int {
	rows := []int{}
	moved := 0
	for _, c := range hunksOf(linediff.Lines(text), linediff.Lines(other)) {
		rows = append(rows, c.Start, c.End, c.Start+moved, c.Start+moved+len(c.Lines))
		moved += len(c.Lines) - (c.End - c.Start)
	}
	return rows
}

// tellConflicts notes n new conflicts; stand says where the lines of both are, keys how the user decides.
func (w *Written) tellConflicts(n int, stand, keys string) {
	where, name := "", filepath.Base(w.Path)
	if n > 1 {
		where = fmt.Sprintf(" in %d places", n)
	}
	w.Conflict = true
	w.Note = fmt.Sprintf("The agent changed lines of %s%s that you have changed too: %s. %s", name, where, stand, keys)
	w.Brief = name + ": your lines and the agent's conflict: :Acp conflicts"
}

// Merge merges the changes from base to theirs into mine; conflicts are the lines of merged, counted from 1, at which
// mine wins against theirs.
func Merge(base, mine, theirs string) (merged string, conflicts []int) {
	merged, list := merge3(base, mine, theirs)
	for _, c := range list {
		conflicts = append(conflicts, c.row+1)
	}
	return merged, conflicts
}
