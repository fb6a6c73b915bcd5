package reviewui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// TestManyMarksComeInPieces bounds what Neovim gets at once.
func TestManyMarksComeInPieces(t *testing.T) {
	const n = 3*changesAtOnce + 1
	k := NewMarks(MarksConfig{})
	before, after := strings.Repeat("a\nb\n", n), strings.Repeat("a\nc\n", n)
	pieces := k.pieces(&markedBuffer{}, false, withMarks(nil, MarkSource{Session: 1}, recorded(t, "f", before, after)))
	check.Equal(t, len(pieces), 4, "%d changes came in %d pieces", n)
	long := strings.Repeat("b", 10_000) + "\n"
	before = strings.Repeat("a\n"+strings.Repeat(long, 30), 20)
	pieces = k.pieces(&markedBuffer{}, false, withMarks(nil, MarkSource{Session: 1}, recorded(t, "g", before, strings.Repeat("a\nc\n", 20))))
	if len(pieces) < 3 {
		t.Errorf("20 changes of 300 KB came in %d pieces", len(pieces))
	}
	m := pieces[0].Fresh[0]
	old := m.Old
	if len(old) != oldLinesShown || m.More != 30-oldLinesShown || old[0] != long[:oldLineShown]+"…" {
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
	list = withMarks(list, MarkSource{Session: 0, Title: "Oldest"}, recorded(t, "f", "a\nb\nd\n", "a\nB\nc\nd\n"))
	shown, _ := list[1].shown(9)
	if shown.ID != 9 || shown.Session != 2 || shown.Also != "Older, Oldest" || shown.Known != "B" || shown.Last != "B" {
		t.Errorf("where all three have changed something %+v is shown", shown)
	}
}

// A change that is decided is marked no more.
func TestMarksOfWhatIsDecided(t *testing.T) {
	for _, do := range []review.Decision{review.Keep, review.Reject} {
		r, _ := record(t, "/f", "a\nb\nc\n", "A\nb\nC\n")
		p, err := r.Plan("/f", do, review.Selection{Hunks: []int{0}})
		if err != nil || !r.Commit(p) {
			t.Fatalf("decide: %v", err)
		}
		f, _ := r.File("/f")
		var got []string
		for _, m := range withMarks(nil, MarkSource{Session: 1}, f) {
			got = append(got, fmt.Sprint(m.Line, m.known, m.last))
		}
		check.Equal(t, strings.Join(got, " "), "3CC", string(do)+": marked are the lines %s")
	}
}
