// Package linediff finds what changes from one list of strings to another: the
// lines of two texts, or the words of two lines. It is pure.
package linediff

import (
	"math"
	"slices"
)

const (
	// anchorings is how often ranges are split at lines that occur once in each.
	anchorings = 4
	// maxCost is up to how many changes a shortest path is searched for, in both directions, before the best one so far
	// is taken.
	maxCost = 256
)

// Edit says that a[A0:A1] becomes b[B0:B1].
type Edit struct{ A0, A1, B0, B1 int }

// Compare returns the edits that turn a into b, in order, none touching the next. Sequences are split where an element
// occurs once in both, as people read them, then compared by Myers' algorithm in linear space. Time is at worst about
// linear in their length times [maxCost], whatever is in them.
func Compare(a, b []string) []Edit {
	from, end := 0, 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	for end < len(a)-from && end < len(b)-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	n, m := len(a)-from-end, len(b)-from-end
	if n == 0 || m == 0 {
		if n+m == 0 {
			return nil
		}
		return settle([]Edit{{from, from + n, from, from + m}}, a, b)
	}
	ids := make(map[string]int32, n)
	c := comparison{a: number(a[from:from+n], ids), b: number(b[from:from+m], ids)}
	c.once = make([]place, len(ids))
	// In these tables, diagonal k is at k + len(c.b) + 1.
	c.forward = make([]int, n+m+3)
	c.backward = make([]int, n+m+3)
	c.anchored(0, n, 0, m, anchorings)
	for i, e := range c.edits {
		c.edits[i] = Edit{e.A0 + from, e.A1 + from, e.B0 + from, e.B1 + from}
	}
	return settle(c.edits, a, b)
}

// number gives equal strings equal numbers.
func number(list []string, ids map[string]int32) []int32 {
	numbers := make([]int32, len(list))
	for i, s := range list {
		id, known := ids[s]
		if !known {
			id = int32(len(ids))
			ids[s] = id
		}
		numbers[i] = id
	}
	return numbers
}

type comparison struct {
	a, b              []int32
	forward, backward []int
	once              []place // by number; zero but for the range at work
	edits             []Edit
}

// place is how often a number occurs in a range of a and b, and where last.
type place struct{ inA, inB, b int32 }

// trim leaves out the common beginning and end of both ranges.
func (c *comparison) trim(a0, a1, b0, b1 int) (int, int, int, int) {
	for a0 < a1 && b0 < b1 && c.a[a0] == c.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && c.a[a1-1] == c.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	return a0, a1, b0, b1
}

func (c *comparison) anchored(a0, a1, b0, b1, depth int) {
	a0, a1, b0, b1 = c.trim(a0, a1, b0, b1)
	if a0 == a1 || b0 == b1 || depth == 0 {
		c.shortest(a0, a1, b0, b1)
		return
	}
	anchors := c.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 {
		c.shortest(a0, a1, b0, b1)
		return
	}
	for _, at := range anchors {
		c.anchored(a0, at[0], b0, at[1], depth-1)
		a0, b0 = at[0]+1, at[1]+1
	}
	c.anchored(a0, a1, b0, b1, depth-1)
}

// anchors pairs what occurs once in each range, as far as the order is the same.
func (c *comparison) anchors(a0, a1, b0, b1 int) [][2]int {
	for _, id := range c.a[a0:a1] {
		c.once[id].inA++
	}
	for i, id := range c.b[b0:b1] {
		c.once[id].inB++
		c.once[id].b = int32(b0 + i)
	}
	var pairs [][2]int
	for i, id := range c.a[a0:a1] {
		if p := c.once[id]; p.inA == 1 && p.inB == 1 {
			pairs = append(pairs, [2]int{a0 + i, int(p.b)})
		}
	}
	for _, id := range c.a[a0:a1] {
		c.once[id] = place{}
	}
	for _, id := range c.b[b0:b1] {
		c.once[id] = place{}
	}
	return rising(pairs)
}

// rising returns a longest subsequence of pairs whose second numbers rise.
func rising(pairs [][2]int) [][2]int {
	if len(pairs) == 0 {
		return nil
	}
	var ends []int // by length-1, the pair with the least second number that ends such a subsequence
	before := make([]int, len(pairs))
	for i, p := range pairs {
		low, high := 0, len(ends)
		for low < high {
			if mid := (low + high) / 2; pairs[ends[mid]][1] < p[1] {
				low = mid + 1
			} else {
				high = mid
			}
		}
		before[i] = -1
		if low > 0 {
			before[i] = ends[low-1]
		}
		if low == len(ends) {
			ends = append(ends, i)
		} else {
			ends[low] = i
		}
	}
	longest := make([][2]int, len(ends))
	at := ends[len(ends)-1]
	for n := len(longest) - 1; n >= 0; n-- {
		longest[n] = pairs[at]
		at = before[at]
	}
	return longest
}

// shortest finds nearly the fewest changes between two ranges.
func (c *comparison) shortest(a0, a1, b0, b1 int) {
	for {
		a0, a1, b0, b1 = c.trim(a0, a1, b0, b1)
		if a0 == a1 || b0 == b1 {
			c.add(Edit{a0, a1, b0, b1})
			return
		}
		x, y := c.middle(a0, a1, b0, b1)
		c.shortest(a0, x, b0, y)
		a0, b0 = x, y
	}
}

// middle returns a point on a shortest path from (a0, b0) to (a1, b1), searched from both ends at once; if that takes
// too many changes, the point furthest from where its search began. The ranges are not empty and differ at both ends.
func (c *comparison) middle(a0, a1, b0, b1 int) (x, y int) {
	const nowhere = math.MaxInt / 2
	fwd, bwd, zero := c.forward, c.backward, len(c.b)+1
	low, high := a0-b1, a1-b0 // diagonals, x - y
	start, end := a0-b0, a1-b1
	odd := (start-end)&1 != 0
	fwd[zero+start], bwd[zero+end] = a0, a1
	fmin, fmax, bmin, bmax := start, start, end, end
	for cost := 1; ; cost++ {
		if fmin > low {
			fmin--
			fwd[zero+fmin-1] = -1
		} else {
			fmin++
		}
		if fmax < high {
			fmax++
			fwd[zero+fmax+1] = -1
		} else {
			fmax--
		}
		for k := fmax; k >= fmin; k -= 2 {
			x := max(fwd[zero+k-1]+1, fwd[zero+k+1])
			y := x - k
			for x < a1 && y < b1 && c.a[x] == c.b[y] {
				x, y = x+1, y+1
			}
			fwd[zero+k] = x
			if odd && bmin <= k && k <= bmax && bwd[zero+k] <= x {
				return x, y
			}
		}
		if bmin > low {
			bmin--
			bwd[zero+bmin-1] = nowhere
		} else {
			bmin++
		}
		if bmax < high {
			bmax++
			bwd[zero+bmax+1] = nowhere
		} else {
			bmax--
		}
		for k := bmax; k >= bmin; k -= 2 {
			x := min(bwd[zero+k-1], bwd[zero+k+1]-1)
			y := x - k
			for x > a0 && y > b0 && c.a[x-1] == c.b[y-1] {
				x, y = x-1, y-1
			}
			bwd[zero+k] = x
			if !odd && fmin <= k && k <= fmax && x <= fwd[zero+k] {
				return x, y
			}
		}
		if cost < maxCost {
			continue
		}
		best := -1
		for k := fmax; k >= fmin; k -= 2 {
			fx := min(fwd[zero+k], a1, b1+k)
			if done := fx + fx - k - a0 - b0; done > best {
				best, x, y = done, fx, fx-k
			}
		}
		for k := bmax; k >= bmin; k -= 2 {
			bx := max(bwd[zero+k], a0, b0+k)
			if done := a1 + b1 - bx - (bx - k); done > best {
				best, x, y = done, bx, bx-k
			}
		}
		return x, y
	}
}

func (c *comparison) add(e Edit) { c.edits = join(c.edits, e) }

// join adds an edit, merged into the last one if they touch.
func join(edits []Edit, e Edit) []Edit {
	if e.A0 == e.A1 && e.B0 == e.B1 {
		return edits
	}
	if n := len(edits); n > 0 && edits[n-1].A1 == e.A0 && edits[n-1].B1 == e.B0 {
		edits[n-1].A1, edits[n-1].B1 = e.A1, e.B1
		return edits
	}
	return append(edits, e)
}

// settle moves pure additions and removals down as far as they go, so that what is added to a list ends where the list
// goes on.
func settle(edits []Edit, a, b []string) []Edit {
	settled := edits[:0]
	for i, e := range edits {
		a2, b2 := len(a), len(b)
		if i+1 < len(edits) {
			a2, b2 = edits[i+1].A0, edits[i+1].B0
		}
		for e.A0 == e.A1 && e.B1 < b2 && b[e.B0] == b[e.B1] || e.B0 == e.B1 && e.A1 < a2 && a[e.A0] == a[e.A1] {
			e = Edit{e.A0 + 1, e.A1 + 1, e.B0 + 1, e.B1 + 1}
		}
		settled = join(settled, e)
	}
	return settled
}

// Brings reports whether another text has lines that the first one has not.
func Brings(was, is string) bool {
	return slices.ContainsFunc(Compare(Lines(was), Lines(is)), func(e Edit) bool { return e.B0 < e.B1 })
}

// Distance is how many lines have to go from a text, or to be added to it, to make it another one.
func Distance(a, b string) (lines int) {
	for _, e := range Compare(Lines(a), Lines(b)) {
		lines += e.A1 - e.A0 + e.B1 - e.B0
	}
	return lines
}

// LineAfter returns where a line, counted from 1, is after edits: at the nearest line if it was replaced.
func LineAfter(edits []Edit, line int) int {
	at := line - 1
	by := 0
	for _, e := range edits {
		switch {
		case e.A1 <= at:
			by = e.B1 - e.A1
		case e.A0 <= at:
			return max(1, min(e.B0+at-e.A0, max(e.B0, e.B1-1))+1)
		}
	}
	return max(1, at+by+1)
}
