package diff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// places counts the runs of changed lines in hunks.
func places(hunks []Hunk) (n int) {
	for _, h := range hunks {
		open := false
		for _, l := range h.Lines {
			if l.Kind != Equal && !open {
				n++
			}
			open = l.Kind != Equal
		}
	}
	return n
}

// TestWithout makes two texts of pieces of which it is known which have changed, refuses some of them, and
// compares with the text put together from the pieces. No line stands twice, so there is one way to compare.
func TestWithout(t *testing.T) {
	for seed := range 2000 {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		count := 0
		lines := func(n int) string {
			var text strings.Builder
			for range n {
				count++
				fmt.Fprintf(&text, "line %d\n", count)
			}
			return text.String()
		}
		var old, text, want string
		var refused []bool
		put := func(a, b string, refuse bool) {
			old, text = old+a, text+b
			if refuse {
				want += a
			} else {
				want += b
			}
		}
		if r.IntN(2) == 0 {
			same := lines(1 + r.IntN(3))
			put(same, same, false)
		}
		for range r.IntN(6) {
			was, is := lines(r.IntN(3)), lines(r.IntN(3))
			if was == "" && is == "" {
				is = lines(1)
			}
			refused = append(refused, r.IntN(2) == 0)
			put(was, is, refused[len(refused)-1])
			same := lines(1 + r.IntN(7))
			put(same, same, false)
		}
		switch r.IntN(4) {
		case 0: // the last line loses its newline, or gets one, in a place of its own
			refused = append(refused, r.IntN(2) == 0)
			last := strings.TrimSuffix(lines(1), "\n")
			a, b := last, last+"\n"
			if r.IntN(2) == 0 {
				a, b = b, a
			}
			put(a, b, refused[len(refused)-1])
		case 1: // no side has one
			same := strings.TrimSuffix(lines(1), "\n")
			put(same, same, false)
		}
		f := Whole("f", session.OperationModify, old, text)
		if n := places(f.Hunks); n != len(refused) {
			t.Fatalf("seed %d: %d places, want %d:\n%s\n%s", seed, n, len(refused), old, text)
		}
		if f.Old != old || f.New != text || !f.Located {
			t.Fatalf("seed %d: the texts are others", seed)
		}
		asked := 0
		got := Without(old, text, func(i int) bool {
			must.Equal(t, i, asked, "seed %d: asked for place %d", seed)
			asked++
			return refused[i]
		})
		if got != want {
			t.Fatalf("seed %d: refused %v\n%q\nwant\n%q\nof\n%q\n%q", seed, refused, got, want, old, text)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		old, text string
		op        session.Operation
		note      string
		places    int
	}{
		{"", "", session.OperationAdd, "empty file", 0},
		{"", "a\n", session.OperationAdd, "", 1},
		{"", "\n", session.OperationAdd, "", 1},
		{"a\n", "a\n", session.OperationModify, "nothing changes", 0},
		{"a\n", "a", session.OperationModify, newlineAlone, 1},
		{"a\n", "", session.OperationModify, "", 1},
		{"a\x00\n", "b\n", session.OperationModify, "binary file", 0},
	} {
		f := Whole("f", c.op, c.old, c.text)
		if f.Note != c.note || places(f.Hunks) != c.places {
			t.Errorf("%q to %q: %q and %d places", c.old, c.text, f.Note, places(f.Hunks))
		}
	}
}
