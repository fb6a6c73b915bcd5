package linediff

import (
	"slices"
	"testing"
)

func TestMoved(t *testing.T) {
	edits := Compare(Lines("1\n2\n3\n4\n5\n"), Lines("0\n1\n3\nfour\nfive\nfivehalf\n"))
	var got []int
	for line := 1; line <= 5; line++ {
		got = append(got, Moved(edits, line))
	}
	if want := []int{2, 3, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("the lines have become %v, not %v", got, want)
	}
}
