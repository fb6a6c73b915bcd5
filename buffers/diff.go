package buffers

// maxTable bounds the table of a longest common subsequence, in cells.
const maxTable = 1 << 20

// diffLines returns the changes that make b of a, in order, none touching the next: a patience diff,
// with a longest common subsequence where no line is unique. It takes memory and time about linear in
// the number of lines, and has no cap on the number of changes.
func diffLines(a, b []string) []change {
	d := differ{a: a, b: b}
	d.diff(0, len(a), 0, len(b))
	return d.changes
}

type differ struct {
	a, b    []string
	changes []change
}

func (d *differ) diff(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		d.change(a0, a1, b0, b1)
		return
	}
	pairs := d.unique(a0, a1, b0, b1)
	if len(pairs) == 0 {
		pairs = d.common(a0, a1, b0, b1)
	}
	if len(pairs) == 0 {
		d.change(a0, a1, b0, b1)
		return
	}
	for _, p := range pairs {
		d.diff(a0, p[0], b0, p[1])
		a0, b0 = p[0]+1, p[1]+1
	}
	d.diff(a0, a1, b0, b1)
}

func (d *differ) change(a0, a1, b0, b1 int) {
	if a0 == a1 && b0 == b1 {
		return
	}
	if n := len(d.changes); n > 0 && d.changes[n-1].end == a0 {
		// No common line lies between: one change.
		last := &d.changes[n-1]
		last.end = a1
		last.lines = append(last.lines[:len(last.lines):len(last.lines)], d.b[b0:b1]...)
		return
	}
	d.changes = append(d.changes, change{a0, a1, d.b[b0:b1]})
}

// unique pairs the lines that stand once in each range, as many as keep their order.
func (d *differ) unique(a0, a1, b0, b1 int) [][2]int {
	type place struct{ inA, inB, a, b int }
	places := map[string]*place{}
	for i := a0; i < a1; i++ {
		p := places[d.a[i]]
		if p == nil {
			p = &place{}
			places[d.a[i]] = p
		}
		p.inA, p.a = p.inA+1, i
	}
	for i := b0; i < b1; i++ {
		if p := places[d.b[i]]; p != nil {
			p.inB, p.b = p.inB+1, i
		}
	}
	var pairs [][2]int
	for i := a0; i < a1; i++ {
		if p := places[d.a[i]]; p.inA == 1 && p.inB == 1 {
			pairs = append(pairs, [2]int{i, p.b})
		}
	}
	return increasing(pairs)
}

// increasing returns a longest subsequence of pairs whose second numbers rise.
func increasing(pairs [][2]int) [][2]int {
	var tails []int // by length-1, the pair that ends the subsequence with the least number
	prev := make([]int, len(pairs))
	for i, p := range pairs {
		lo, hi := 0, len(tails)
		for lo < hi {
			mid := (lo + hi) / 2
			if pairs[tails[mid]][1] < p[1] {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		prev[i] = -1
		if lo > 0 {
			prev[i] = tails[lo-1]
		}
		if lo == len(tails) {
			tails = append(tails, i)
		} else {
			tails[lo] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([][2]int, len(tails))
	at := tails[len(tails)-1]
	for n := len(out) - 1; n >= 0; n-- {
		out[n] = pairs[at]
		at = prev[at]
	}
	return out
}

// common pairs the lines of a longest common subsequence of small ranges.
func (d *differ) common(a0, a1, b0, b1 int) [][2]int {
	n, m := a1-a0, b1-b0
	if n > maxTable/m {
		return nil
	}
	// table[i*(m+1)+j] is the length for the lines from a0+i and b0+j on.
	table := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if d.a[a0+i] == d.b[b0+j] {
				table[i*(m+1)+j] = table[(i+1)*(m+1)+j+1] + 1
			} else {
				table[i*(m+1)+j] = max(table[(i+1)*(m+1)+j], table[i*(m+1)+j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case d.a[a0+i] == d.b[b0+j]:
			pairs = append(pairs, [2]int{a0 + i, b0 + j})
			i, j = i+1, j+1
		case table[(i+1)*(m+1)+j] >= table[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
