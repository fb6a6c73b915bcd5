package reviewui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
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

// Lua gets of a mark what the buffer shows: the old lines as far as they fit, and where its words have changed.
func TestWhatAMarkShows(t *testing.T) {
	short, long := strings.Repeat("a ", oldLineShown/2), strings.Repeat("a ", newLineShown)
	for name, c := range map[string]struct {
		before, after string
		want          rpc.Mark
	}{
		"a line": {"x\none old line\n", "x\none new line\n", rpc.Mark{
			Count: 1, Old: []string{"one old line"}, Known: "one new line", Last: "one new line", OldWords: []int{0, 4, 7}, NewWords: []int{0, 4, 7},
		}},
		"two lines": {"x\na b\nc d\n", "x\na B\nc D\n", rpc.Mark{
			Count: 2, Old: []string{"a b", "c d"}, Known: "a B", Last: "c D", OldWords: []int{0, 2, 3, 1, 2, 3}, NewWords: []int{0, 2, 3, 1, 2, 3},
		}},
		"a line that is gone": {"x\ny\nz\n", "x\nz\n", rpc.Mark{Old: []string{"y"}, Known: "z", Last: "z"}},
		"a new line":          {"x\n", "x\ny\n", rpc.Mark{Count: 1, Known: "y", Last: "y"}},
		"a line that just fits": {short[1:] + "b\n", short[1:] + "B\n", rpc.Mark{
			Count: 1, Old: []string{short[1:] + "b"}, OldWords: []int{0, oldLineShown - 1, oldLineShown}, NewWords: []int{0, oldLineShown - 1, oldLineShown},
		}},
		"a line that does not fit": {short + "b\n", short + "B\n", rpc.Mark{
			Count: 1, Old: []string{short + "…"}, NewWords: []int{0, oldLineShown, oldLineShown + 1},
		}},
		"a line that is too long for words": {long + "b\n", long + "B\n", rpc.Mark{Count: 1, Old: []string{short + "…"}}},
	} {
		list := withMarks(nil, MarkSource{Session: 1}, recorded(t, "f", c.before, c.after))
		must.Equal(t, len(list), 1, name+": there are %d marks")
		c.want.ID, c.want.Session = 9, 1
		if c.want.Known == "" {
			c.want.Known = c.after[:knownBy]
			c.want.Last = c.want.Known
		}
		shown, bytes := list[0].shown(9)
		check.Equal(t, fmt.Sprintf("%+v", shown), fmt.Sprintf("%+v", c.want), name+": it shows %s")
		least := len(strings.Join(shown.Old, "")) + len(shown.Known) + len(shown.Last)
		if bytes < least || bytes > least+200 {
			t.Errorf("%s: these are %d bytes, or rather %d", name, least, bytes)
		}
	}
}

// A mark that would look otherwise is another one, which Lua gets anew.
func TestMarksThatLookAlike(t *testing.T) {
	of := func(session int, known string, also []string, was, is []string) mark {
		return mark{Change: review.Change{Old: was, New: is}, session: session, known: known, also: also}
	}
	a, b := []string{"a\n"}, []string{"b\n"}
	same := of(1, "b", nil, a, b)
	moved := same
	moved.Line, moved.last = 7, "x"
	for name, c := range map[string]struct {
		m    mark
		same bool
	}{
		"elsewhere":               {moved, true},
		"of another session":      {of(2, "b", nil, a, b), false},
		"with another agent":      {of(1, "b", []string{"Other"}, a, b), false},
		"of another line":         {of(1, "b", nil, b, b), false},
		"with another line":       {of(1, "b", nil, a, a), false},
		"of a line that is gone":  {of(1, "b", nil, []string{"a\n", "b\n"}, nil), false},
		"of a new line":           {of(1, "b", nil, nil, []string{"a\n", "b\n"}), false},
		"before another line":     {of(1, "c", nil, a, b), false},
		"with text of the known":  {of(1, "", nil, a, []string{"b\n", "b"}), false},
		"with its line end moved": {of(1, "\nb", nil, a, []string{"b"}), false},
	} {
		check.Equal(t, c.m.key() == same.key(), c.same, "one %s is the same: %t", name)
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
