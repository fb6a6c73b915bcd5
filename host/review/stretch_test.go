package review

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// randomText has lines of which many are alike, and may lack its last newline.
func randomText(r *rand.Rand, kinds, lines int) string {
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "%d\n", r.IntN(kinds))
	}
	if r.IntN(4) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

// retouched is a text with some of its lines changed, taken out or put in.
func retouched(r *rand.Rand, kinds int, text string) string {
	lines := linediff.Lines(text)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(lines) + 1)
		end := min(at+r.IntN(3), len(lines))
		lines = slices.Replace(slices.Clone(lines), at, end, linediff.Lines(randomText(r, kinds, r.IntN(3)))...)
	}
	return strings.Join(ended(slices.Clone(lines)), "")
}

// What is decided stretch by stretch leaves the same texts as it does in the whole file. Where lines are alike it
// cannot be told which of them was kept, so what had been refused may be beside another one.
func TestStretchesAreTheWholeFile(t *testing.T) {
	for i := range 5000 {
		r := rand.New(rand.NewPCG(11, uint64(i)))
		kinds := []int{8, 1 << 30}[i%2]
		l := newLayers(randomText(r, kinds, 1+r.IntN(16)))
		for range 1 + r.IntN(4) {
			l.agent(retouched(r, kinds, l.present()))
			parts := slices.Clone(l.pending.edits)
			slices.Reverse(parts)
			parts = slices.DeleteFunc(parts, func(linediff.Edit) bool { return r.IntN(2) == 0 })
			one, stretches := l, l
			do := (*layers).keep
			if r.IntN(2) == 0 {
				do = (*layers).refuse
			}
			for _, e := range parts {
				do(&one, e)
			}
			stretches.all(parts, do)
			for what, texts := range map[string][2]string{
				"baseline": {one.baseline(), stretches.baseline()},
				"accepted": {one.accepted(), stretches.accepted()},
				"present":  {one.present(), stretches.present()},
				"refused":  {one.refused.base, stretches.refused.base},
			} {
				if texts[0] != texts[1] && (kinds > 8 || what != "refused" && what != "baseline") {
					t.Fatalf("history %d: %v of %+v: the %s is %q, not %q", i, parts, l, what, texts[1], texts[0])
				}
			}
			l = stretches
			for _, p := range l.pairs() {
				if got := applied(*p); got != p.present {
					t.Fatalf("history %d: the edits %v make %q of %q, not %q", i, p.edits, got, p.base, p.present)
				}
			}
			if l.kept.present != l.accepted() || l.refused.present != l.accepted() {
				t.Fatalf("history %d: the pairs have other accepted texts: %+v", i, l)
			}
		}
	}
}

// applied is what the edits of a textDiff make of its base.
func applied(p textDiff) string {
	base, present := linediff.Lines(p.base), linediff.Lines(p.present)
	var b strings.Builder
	at := 0
	for _, e := range p.edits {
		b.WriteString(strings.Join(base[at:e.A0], "") + strings.Join(present[e.B0:e.B1], ""))
		at = e.A1
	}
	return b.String() + strings.Join(base[at:], "")
}

// Deciding all of a file takes memory as its hunks are, which tells of time too: texts that are split anew for each
// take it with the square.
func TestDecidingAllGrowsWithTheHunks(t *testing.T) {
	costs := func(hunks int, do func(r *Record, was, is Content)) float64 {
		was, is := Text(everyLine(hunks, "compute")), Text(everyLine(hunks, "derive"))
		r := New(256 << 20)
		r.Changed("f", was, is)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do(r, was, is)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	all := func(d Decision) func(r *Record, was, is Content) {
		return func(r *Record, _, _ Content) { decide(t, r, d, Selection{}) }
	}
	for name, do := range map[string]func(r *Record, was, is Content){
		"refused": all(Reject),
		"kept":    all(Keep),
		"kept, then refused": func(r *Record, _, _ Content) {
			decide(t, r, Keep, Selection{})
			decide(t, r, Reject, Selection{Hunks: hunksOf(r.files["f"].File)})
		},
		"refused, which the user takes back": func(r *Record, _, is Content) {
			decide(t, r, Reject, Selection{})
			r.Now("f", is)
			if f, _ := r.File("f"); count(f, Pending) != len(f.Hunks) {
				t.Errorf("%d of %d hunks wait again", count(f, Pending), len(f.Hunks))
			}
		},
		"refused, then changed again": func(r *Record, was, is Content) {
			decide(t, r, Reject, Selection{})
			r.Changed("f", was, Text(strings.ReplaceAll(is.Text, "derive", "deduce")))
		},
		"kept, and half of it taken back": func(r *Record, was, is Content) {
			decide(t, r, Keep, Selection{})
			before, after := split(was.Text), split(is.Text)
			r.Retracted("f", is, Text(strings.Join(slices.Concat(after[:len(after)/2], before[len(after)/2:]), "")))
		},
	} {
		if few, many := costs(100, do), costs(800, do); many > 2*8*few {
			t.Errorf("%s: %.0f times the memory for 8 times the hunks", name, many/few)
		}
	}
}

// The lines of a text have their ends, but for the last.
func TestLinesAreEnded(t *testing.T) {
	t.Parallel()
	check.Slice(t, ended([]string{"a", "b", "c\n", "d"}), []string{"a\n", "b\n", "c\n", "d"}, "they are %q")
}
