package linediff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestEditsMakeTheOther(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	random := func() []string {
		lines := make([]string, r.IntN(12))
		for i := range lines {
			lines[i] = string(rune('a' + r.IntN(5)))
		}
		return lines
	}
	for range 5000 {
		a, b := random(), random()
		edits := Compare(a, b)
		var got []string
		at := 0
		for i, e := range edits {
			if i > 0 && e.A0 <= edits[i-1].A1 {
				t.Fatalf("%v %v: %v touch", a, b, edits)
			}
			got = append(append(got, a[at:e.A0]...), b[e.B0:e.B1]...)
			at = e.A1
		}
		got = append(got, a[at:]...)
		if !slices.Equal(got, b) {
			t.Fatalf("%v to %v: got %v by %v", a, b, got, edits)
		}
	}
}

func TestNoCap(t *testing.T) {
	var a, b []string
	for i := range 20_000 {
		a = append(a, fmt.Sprintf("line %d", i))
		if b = append(b, a[i]); i%10 == 5 {
			b[i] = "changed"
		}
	}
	check.Equal(t, len(Compare(a, b)), 2000, "%d changes, want 2000")
	for i := range a {
		a[i], b[i] = "}", "{"
	}
	b[100] = "}"
	Compare(a, b) // ends in the test's time, without a table of 20000 x 20000
}

// A shortest script is known from the table of longest common subsequences.
func TestFewChanges(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		list := func() (l []string) {
			for range r.IntN(30) {
				l = append(l, fmt.Sprint(r.IntN(4)))
			}
			return l
		}
		a, b := list(), list()
		table := make([][]int, len(a)+1)
		for i := range table {
			table[i] = make([]int, len(b)+1)
		}
		for i := range a {
			for j := range b {
				table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
				if a[i] == b[j] {
					table[i+1][j+1] = table[i][j] + 1
				}
			}
		}
		ids := map[string]int32{}
		c := comparison{a: number(a, ids), b: number(b, ids), forward: make([]int, 99), backward: make([]int, 99)}
		c.shortest(0, len(a), 0, len(b))
		n := 0
		for _, e := range c.edits {
			n += e.A1 - e.A0 + e.B1 - e.B0
		}
		if want := len(a) + len(b) - 2*table[len(a)][len(b)]; n != want {
			t.Fatalf("seed %d: %d changes, not %d, between %v and %v", seed, n, want, a, b)
		}
	}
}

func TestLineAfter(t *testing.T) {
	edits := Compare(Lines("1\n2\n3\n4\n5\n6\n7\n8\n"), Lines("0\n1\n2\nthree\n6\n7\n7a\n7b\n8\n"))
	got := ""
	for line := 1; line <= 9; line++ {
		got += fmt.Sprintf("%d→%d ", line, LineAfter(edits, line))
	}
	check.Equal(t, got, "1→2 2→3 3→4 4→4 5→4 6→5 7→6 8→9 9→10 ", "lines move %s")
}
