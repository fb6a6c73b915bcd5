package host

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
)

// foretold is a prospect where the user has no unsaved text, or with text as the agent gives it.
func foretold(before, after, text string) prospect {
	return prospect{
		Preview: buffers.Preview{Exists: true, Before: before, After: after, Text: text},
		file:    diff.Whole("f", session.OperationModify, before, after), known: true,
	}
}

// TestDecideRandomly has texts of lines that stand once each: of every line it is known which hunk it is of.
// The user types lines of their own between the hunks, before or after they were shown, and saves some of it.
func TestDecideRandomly(t *testing.T) {
	for seed := range 3000 {
		r := rand.New(rand.NewPCG(3, uint64(seed)))
		count := 0
		line := func(who string) string {
			count++
			return fmt.Sprintf("%s%d\n", who, count)
		}
		var disk, text, shownBefore, shownAfter, nowBefore, nowAfter, want string
		var refused []bool
		all := func(l string) {
			for _, side := range []*string{&disk, &text, &shownBefore, &shownAfter, &nowBefore, &nowAfter, &want} {
				*side += l
			}
		}
		all(line("same"))
		for range 1 + r.IntN(5) {
			old, is := "", ""
			for range r.IntN(3) {
				old += line("old")
			}
			for range r.IntN(3) {
				is += line("new")
			}
			if old+is == "" {
				is = line("new")
			}
			no := r.IntN(2) == 0
			refused = append(refused, no)
			disk, shownBefore, nowBefore = disk+old, shownBefore+old, nowBefore+old
			text, shownAfter, nowAfter = text+is, shownAfter+is, nowAfter+is
			if no {
				want += old
			} else {
				want += is
			}
			all(line("same"))
			if r.IntN(3) == 0 { // typed, and not saved
				mine := line("mine")
				nowBefore, nowAfter = nowBefore+mine, nowAfter+mine
				if r.IntN(2) == 0 {
					shownBefore, shownAfter = shownBefore+mine, shownAfter+mine
				}
				all(line("same"))
			}
		}
		shown, now := foretold(shownBefore, shownAfter, text), foretold(nowBefore, nowAfter, text)
		v, ok := decideHeld(shown, now, refused, nil)
		switch none, every := !slices.Contains(refused, true), !slices.Contains(refused, false); {
		case !ok:
			t.Fatalf("seed %d: asked again", seed)
		case every:
			if v.option != refuse || v.instead != nil {
				t.Fatalf("seed %d: all is refused, and %+v", seed, v)
			}
		case none:
			if v.option != writeIt || v.instead != nil || v.told != nil {
				t.Fatalf("seed %d: nothing is refused, and %+v", seed, v)
			}
		case v.option != writeIt || v.instead == nil || *v.instead != want:
			t.Fatalf("seed %d: %+v, want %q", seed, v, want)
		}

		// A line of the user's inside of a hunk is asked about.
		hunk := r.IntN(len(refused))
		h := hunksOf(&now.file)[hunk]
		if len(h.old) > 0 {
			l := h.old[0].Text + "\n"
			other := foretold(strings.Replace(nowBefore, l, "typed\n"+l, 1), nowAfter, text)
			if v, ok := decideHeld(shown, other, refused, nil); ok {
				t.Fatalf("seed %d: not asked again: %+v", seed, v)
			}
		}
	}
}

func TestDecideAboutAnEditedText(t *testing.T) {
	text := func(s string) *string { return &s }
	shown := foretold("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n")
	for _, c := range []struct {
		what   string
		now    prospect
		edited string
		want   string // "" is that the agent's is written
		ok     bool
	}{
		{"as it was", shown, "a\nB\nc\n", "", true},
		{"changed", shown, "a\nBB\nc\n", "a\nBB\nc\n", true},
		{"back to what it was", shown, "a\nb\nc\n", "a\nb\nc\n", true},
		{"typed elsewhere", foretold("0\na\nb\nc\n", "0\na\nB\nc\n", "a\nB\nc\n"), "a\nBB\nc\n", "a\nBB\nc\n", true},
		{"saved elsewhere", foretold("0\na\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n"), "a\nBB\nc\n", "0\na\nBB\nc\n", true},
		{"typed in the same lines", foretold("a\nx\nc\n", "a\nB\nc\n", "a\nB\nc\n"), "a\nBB\nc\n", "", false},
	} {
		v, ok := decideHeld(shown, c.now, nil, text(c.edited))
		switch {
		case ok != c.ok:
			t.Errorf("%s: %v", c.what, ok)
		case ok && (v.instead == nil) != (c.want == ""), v.instead != nil && *v.instead != c.want:
			t.Errorf("%s: %+v, want %q", c.what, v, c.want)
		case v.instead != nil && !strings.HasPrefix(v.told.Error(), "the user changed this text"):
			t.Errorf("%s: the agent hears %q", c.what, v.told)
		}
	}
	// What cannot be compared is written as a whole, or not.
	if v, ok := decideHeld(prospect{}, prospect{}, nil, nil); !ok || v.option != writeIt || v.instead != nil {
		t.Errorf("of unknown texts: %+v, %v", v, ok)
	}
	if _, ok := decideHeld(shown, prospect{}, []bool{true}, nil); ok {
		t.Error("what was shown cannot be compared any more, and it is written")
	}
}
