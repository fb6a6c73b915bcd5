package linediff

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestEndsAreWholeLines(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	random := func() string {
		var text strings.Builder
		for range r.IntN(8) {
			text.WriteString([]string{"a\n", "b\n", "ab\n", "ba\n", "\n"}[r.IntN(5)])
		}
		if r.IntN(3) == 0 {
			text.WriteString([]string{"a", "b", "ab"}[r.IntN(3)])
		}
		return text.String()
	}
	for range 20_000 {
		a, b := random(), random()
		was, is := Lines(a), Lines(b)
		from, behind := 0, 0 // bytes
		for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
			from += len(was[0])
			was, is = was[1:], is[1:]
		}
		for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
			behind += len(was[len(was)-1])
			was, is = was[:len(was)-1], is[:len(is)-1]
		}
		if start, end := Ends(a, b); a != b && (start != from || end != behind) || a == b && start+end != len(a) {
			t.Fatalf("Ends(%q, %q) = %d, %d, not %d, %d", a, b, start, end, from, behind)
		}
	}
}

func TestEndsOfLongTexts(t *testing.T) {
	long := strings.Repeat("the same line\n", 1000)
	if start, end := Ends(long+"a\n"+long, long+"b\n"+long); start != len(long) || end != len(long) {
		t.Errorf("%d, %d, not %d", start, end, len(long))
	}
}
