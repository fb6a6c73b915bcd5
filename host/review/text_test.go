package review

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/test/check"
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
		p := newTextDiff(text(random(14)))
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

func shown(p textDiff) string { return fmt.Sprintf("%q %q %v", p.base, p.present, p.edits) }

// The user types lines again where the agent has removed them, some of them and with others between: these wait no
// more, and a refusal brings back the rest in its place.
func TestLinesTypedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		before, agents, users string
		refused               string
		pending               []span
	}{
		"all":                    {"abcdef", "af", "abcdef", "abcdef", nil},
		"with another between":   {"abcdef", "af", "abXdf", "abcXdef", []span{{3, 1, 2, 0}, {6, 1, 4, 0}}},
		"others on both sides":   {"abcd", "ad", "aXbYcZd", "aXbYcZd", nil},
		"twice the same":         {"abcbd", "ad", "abXbd", "abcXbd", []span{{3, 1, 2, 0}}},
		"in another order":       {"abcd", "ad", "acbd", "abcbd", []span{{2, 1, 1, 0}}},
		"below what is new":      {"abcd", "aNd", "aNbXcd", "abXcd", []span{{1, 0, 2, 1}}},
		"none":                   {"abcd", "ad", "aXd", "abcXd", []span{{2, 2, 1, 0}}},
		"and beside the agent's": {"abcdef", "aNf", "aNbXdf", "abcXdef", []span{{1, 0, 2, 1}, {3, 1, 3, 0}, {6, 1, 5, 0}}},
	} {
		r := New(1 << 20)
		r.Changed("f", Text(letters(c.before)), Text(letters(c.agents)))
		r.Now("f", Text(letters(c.users)))
		f, _ := r.File("f")
		check.Deep(t, spans(f.Hunks, Pending), c.pending, "%s: %v waits", name)
		if p, err := r.Plan("f", Reject, Selection{}); len(c.pending) > 0 && (err != nil || p.Want.Text != letters(c.refused)) {
			t.Errorf("%s: refused there is %q (%v), wanted %q", name, p.Want.Text, err, letters(c.refused))
		}
	}
}

// A change among lines that repeat may be told to be further down than where the texts begin to differ.
func TestAChangeAmongRepeatedLines(t *testing.T) {
	p := newTextDiff("b\na\nc\na\nc\n")
	if p.change("c\nc\nb\na\nc\n", true); p.present != "c\nc\nb\na\nc\n" || !p.sound() {
		t.Errorf("it is %+v", p)
	}
}

// Of what was saved, edits that run backwards, or beyond the end, are not taken.
func TestEditsThatRunBackwards(t *testing.T) {
	const once, twice = "a\nb\n", "a\na\nb\n"
	for _, p := range []textDiff{
		{base: once, present: twice, edits: []linediff.Edit{{A0: 1, A1: 0, B0: 1, B1: 1}}},
		{base: twice, present: once, edits: []linediff.Edit{{A0: 1, A1: 1, B0: 1, B1: 0}}},
		{base: once, present: once, edits: []linediff.Edit{{A0: 1, A1: 2, B0: 0, B1: 2}}},
		{base: once, present: once, edits: []linediff.Edit{{A0: 0, A1: 2, B0: 0, B1: 3}}},
		{base: once, present: twice, edits: []linediff.Edit{{A0: 0, A1: 2, B0: 0, B1: 2}, {A0: 1, A1: 2, B0: 2, B1: 3}}},
		{base: twice, present: once, edits: []linediff.Edit{{A0: 0, A1: 2, B0: 0, B1: 2}, {A0: 2, A1: 3, B0: 1, B1: 2}}},
	} {
		if p.sound() {
			t.Errorf("%+v is taken", p.edits)
		}
	}
}

// A line is made from another one where three quarters of the shorter one, at its beginning and its end, are in both.
func TestVersionsOfALine(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]bool{
		"abcd|abcX": true, "abcd|abXX": false, "abcd|Xbcd": true, "abcdefgh|abXXefgh": true, "ab|abcdefgh": true, "  ab |ab": true, "|a": false, "a|": false,
	} {
		was, is, _ := strings.Cut(lines, "|")
		check.Equal(t, isVersion(was, is), want, "%s: %v", lines)
	}
}

// Lines that the user makes of the agent's, with more among them, are still the agent's, unless there are too many to compare:
// then all are the user's.
func TestManyVersionsOfLines(t *testing.T) {
	t.Parallel()
	for lines, want := range map[int]bool{3: true, 1024: false} {
		var was, is strings.Builder
		for i := range lines {
			fmt.Fprintf(&was, "a line, number %d\n", i)
			fmt.Fprintf(&is, "a line, number %d!\n", i)
		}
		r := play([]step{agent("a\n", "a\n"+was.String()), user("a\n" + is.String() + "mine\n")})
		f, _ := r.File("f")
		check.Equal(t, len(spans(f.Hunks, Pending)) > 0, want, "of %d lines some are the agent's: %v", lines)
	}
}
