package review

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var (
	rounds = flag.Int("rounds", 300, "random histories")
	seed   = flag.Uint64("seed", 1, "seed of the random histories")
)

// TestRandomHistories has a user and an agent change a file in turns and compares the record with who has
// written which line. Every line is unlike all others, and says in its first letter whose it is: f of the
// file, u of the user, a of the agent.
func TestRandomHistories(t *testing.T) {
	for i := range *rounds {
		h := &history{t: t, Rand: rand.New(rand.NewPCG(*seed, uint64(i))), r: New(1 << 20)}
		for range 10 {
			h.present = append(h.present, h.line("f"))
		}
		for range 20 {
			h.step()
			if t.Failed() {
				t.Fatalf("in history %d of -seed %d", i, *seed)
			}
		}
	}
}

type history struct {
	*rand.Rand
	t       *testing.T
	r       *Record
	present []string
	// gone are the lines that the agent has removed and that it did not write: they must be in the baseline.
	gone  []string
	count int
}

func (h *history) line(who string) string {
	h.count++
	return fmt.Sprintf("%s%d\n", who, h.count)
}

func (h *history) content() Content { return Text(strings.Join(h.present, "")) }

func (h *history) step() {
	if h.IntN(2) == 0 {
		h.userEdits()
		if h.IntN(2) == 0 {
			h.r.Now("f", h.content()) // else the agent's next change tells
		} else {
			h.agentEdits()
		}
	} else {
		h.agentEdits()
	}
	h.check()
}

// userEdits makes one edit of which it is clear whose the lines are: lines put in anywhere, lines taken out or replaced,
// the agent's added to.
func (h *history) userEdits() {
	at := h.IntN(len(h.present) + 1)
	end := min(at+h.IntN(4), len(h.present))
	switch h.IntN(4) {
	case 0:
		var fresh []string
		for range 1 + h.IntN(3) {
			fresh = append(fresh, h.line("u"))
		}
		h.present = slices.Insert(slices.Clone(h.present), at, fresh...)
	case 1:
		h.present = slices.Delete(slices.Clone(h.present), at, end)
	case 2:
		changed := slices.Clone(h.present)
		for i := at; i < end; i++ {
			if changed[i][0] == 'a' {
				changed[i] = strings.TrimSuffix(changed[i], "\n") + "+\n"
			} else {
				changed[i] = h.line("u")
			}
		}
		h.present = changed
	case 3:
		changed := slices.Clone(h.present)
		for i := at; i < end; i++ {
			changed[i] = h.line("u")
		}
		h.present = changed
	}
}

// agentEdits makes several edits at once.
func (h *history) agentEdits() {
	before := h.content()
	lines := slices.Clone(h.present)
	for range 1 + h.IntN(3) {
		at := h.IntN(len(lines) + 1)
		end := min(at+h.IntN(4), len(lines))
		var fresh []string
		for range h.IntN(4) {
			fresh = append(fresh, h.line("a"))
		}
		lines = slices.Replace(lines, at, end, fresh...)
	}
	if f, ok := h.r.File("f"); ok && f.Present == before && h.IntN(8) == 0 {
		lines = split(f.Baseline.Text)
	}
	for _, l := range h.present {
		if l[0] != 'a' && !slices.Contains(lines, l) && !slices.Contains(h.gone, l) {
			h.gone = append(h.gone, l)
		}
	}
	h.present = lines
	h.r.Changed("f", before, h.content())
}

func (h *history) check() {
	f, ok := h.r.File("f")
	if !ok || f.State == Rejected {
		// Nothing of the agent's is left, and nothing that it has removed.
		for _, l := range h.present {
			if l[0] == 'a' {
				h.t.Errorf("the agent's %q is not in the record: %+v", l, f)
			}
		}
		h.gone = nil
		return
	}
	sound(h.t, f)
	if f.Present != h.content() {
		h.t.Errorf("the present text is %q, not %q", f.Present.Text, h.content().Text)
	}
	baseline := split(f.Baseline.Text)
	for _, l := range baseline {
		if l[0] == 'a' {
			h.t.Errorf("the agent's %q is in the baseline", l)
		}
	}
	for _, l := range h.present {
		if l[0] != 'a' && !slices.Contains(baseline, l) {
			h.t.Errorf("%q is not in the baseline", l)
		}
	}
	for _, l := range h.gone {
		if !slices.Contains(baseline, l) {
			h.t.Errorf("the removed %q is not in the baseline", l)
		}
	}
	for _, l := range baseline {
		if !slices.Contains(h.present, l) && !slices.Contains(h.gone, l) {
			h.t.Errorf("the baseline has %q, which the user has removed", l)
		}
	}
}
