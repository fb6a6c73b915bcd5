package buffers

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What is cut off before two texts are compared is whole lines, and all of the rest is compared.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	line := func() string {
		return []string{"\n", "a\n", "b\n", "ab\n", "ba\n", strings.Repeat("x", 3000) + "\n"}[r.IntN(6)]
	}
	for range 20_000 {
		var old []string
		for range r.IntN(12) {
			old = append(old, line())
		}
		text := slices.Clone(old)
		for range r.IntN(3) {
			at := r.IntN(len(text) + 1)
			end := min(at+r.IntN(3), len(text))
			var fresh []string
			for range r.IntN(3) {
				fresh = append(fresh, line())
			}
			text = slices.Replace(text, at, end, fresh...)
		}
		a, b := strings.Join(old, ""), strings.Join(text, "")
		got := between(a, b)
		must.Equal(t, strings.Join(applied3(old, got, 0, len(old)), ""), b, "%q becomes %q", a)
		count := func(list []hunk) (n int) {
			for _, c := range list {
				n += c.End - c.Start + len(c.Lines)
			}
			return n
		}
		if all := hunksOf(linediff.Lines(a), linediff.Lines(b)); count(got) > count(all) {
			t.Fatalf("from %q to %q: %v, where %v does", a, b, got, all)
		}
	}
}
