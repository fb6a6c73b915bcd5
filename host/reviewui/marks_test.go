package reviewui

import (
	"fmt"
	"strings"
	"testing"
)

// TestMarksAreToldOnce has Lua know the changes of a buffer, of which some change.
func TestMarksAreToldOnce(t *testing.T) {
	of := MarkSource{Session: 1, Title: "Agent"}
	k := NewMarks(MarksConfig{})
	// tell gives the ids of all, with what is fresh in brackets.
	tell := func(answer, have int, before, after string) string {
		var b strings.Builder
		pieces := k.pieces(7, answer, have, withMarks(nil, of, recorded(t, "f", before, after)))
		for i, p := range pieces {
			if done := p.Done; done != (i == len(pieces)-1) {
				t.Errorf("piece %d of %d: done is %v", i, len(pieces), done)
			}
			at := p.At
			for j := 0; j < len(at); j += 2 {
				fmt.Fprintf(&b, "%d:%d ", at[j], at[j+1])
			}
			for _, m := range p.Fresh {
				fmt.Fprintf(&b, "[%v] ", m.ID)
			}
		}
		return strings.TrimSpace(b.String())
	}
	for _, c := range []struct {
		answer, have  int
		before, after string
		want          string
	}{
		{1, 0, "a\nb\nc\nd\n", "A\nb\nC\nd\n", "1:1 2:3 [1] [2]"},
		{2, 1, "a\nb\nc\nd\n", "A\nb\nC\nd\n", "1:1 2:3"},
		{3, 2, "x\na\nb\nc\nd\n", "x\nA\nb\nC\nd\n", "1:2 2:4"},
		{4, 3, "a\nb\nc\nd\n", "a\nb\nC\nd\n", "2:3"},
		{5, 4, "a\nb\nc\nd\n", "a\nb\nC\nD\n", "3:3 [3]"},
		{6, 4, "a\nb\nc\nd\n", "a\nb\nC\nD\n", "4:3 [4]"}, // Lua does not have answer 5
		{7, 6, "a\n", "a\n b\n", "5:2 [5]"},
	} {
		if got := tell(c.answer, c.have, c.before, c.after); got != c.want {
			t.Errorf("answer %d: %q, wanted %q", c.answer, got, c.want)
		}
	}
}

// TestManyMarksComeInPieces bounds what Neovim gets at once.
func TestManyMarksComeInPieces(t *testing.T) {
	const n = 3*changesAtOnce + 1
	k := NewMarks(MarksConfig{})
	before, after := strings.Repeat("a\nb\n", n), strings.Repeat("a\nc\n", n)
	pieces := k.pieces(1, 1, 0, withMarks(nil, MarkSource{Session: 1}, recorded(t, "f", before, after)))
	if len(pieces) != 4 {
		t.Errorf("%d changes came in %d pieces", n, len(pieces))
	}
	long := strings.Repeat("b", 10_000) + "\n"
	before = strings.Repeat("a\n"+strings.Repeat(long, 30), 20)
	pieces = k.pieces(2, 1, 0, withMarks(nil, MarkSource{Session: 1}, recorded(t, "g", before, strings.Repeat("a\nc\n", 20))))
	if len(pieces) < 3 {
		t.Errorf("20 changes of 300 KB came in %d pieces", len(pieces))
	}
	m := pieces[0].Fresh[0]
	old := m.Old
	if len(old) != oldLinesShown || m.More != 30-oldLinesShown || len(old[0]) > oldLineShown+len("…") {
		t.Errorf("shown are %d lines of %d bytes, and %v more", len(old), len(old[0]), m.More)
	}
}

// TestMarksOfTwoSessions says where both have changed something.
func TestMarksOfTwoSessions(t *testing.T) {
	newer, older := MarkSource{Session: 2, Title: "Newer"}, MarkSource{Session: 1, Title: "Older"}
	list := withMarks(nil, newer, recorded(t, "f", "a\nb\nc\nd\ne\n", "a\nB\nc\nd\n"))
	list = withMarks(list, older, recorded(t, "f", "a\nb\nd\n", "a\nB\nc\nd\n"))
	list = withMarks(list, older, recorded(t, "f", "A\nB\nc\nd\n", "a\nB\nc\nd\n"))
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprint(m.session, " ", m.Line, " ", m.also))
	}
	if want := "1 1 []; 2 2 [Older]; 2 5 []"; strings.Join(got, "; ") != want {
		t.Errorf("marked are %q, wanted %q", got, want)
	}
}
