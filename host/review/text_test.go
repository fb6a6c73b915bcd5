package review

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// TestChangeLooksAtTheLinesThatDiffer compares changes with those of which all lines are looked at.
func TestChangeLooksAtTheLinesThatDiffer(t *testing.T) {
	spared := 0
	for i := range 20 * *rounds {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		text := func(lines []string) string {
			text := strings.Join(lines, "")
			if r.IntN(4) == 0 {
				text = strings.TrimSuffix(text, "\n")
			}
			return text
		}
		random := func(n int) (lines []string) {
			for range r.IntN(n) {
				lines = append(lines, string(rune('a'+r.IntN(6)))+"\n")
			}
			return lines
		}
		p := newPair(text(random(14)))
		for range 8 {
			// A few lines become others.
			lines := ended(linediff.Lines(p.present))
			from := r.IntN(len(lines) + 1)
			to := from + r.IntN(min(3, len(lines)-from)+1)
			now := text(append(append(append([]string{}, lines[:from]...), random(4)...), lines[to:]...))
			agent := r.IntN(2) == 0
			got, want := p, p
			if now == p.present {
				continue
			}
			all := linediff.Lines(now)
			want.apply(linediff.Compare(linediff.Lines(p.present), all), all, agent)
			if got.changeBetween(now, agent) {
				spared++
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("history %d of -seed %d: %s to %q, agent %v:\n%s\nnot\n%s", i, *seed, shown(p), now, agent, shown(got), shown(want))
				}
			}
			p = want
		}
	}
	if spared < 40**rounds {
		t.Errorf("only %d changes were made so", spared)
	}
}

func shown(p pair) string { return fmt.Sprintf("%q %q %v", p.base, p.present, p.edits) }
