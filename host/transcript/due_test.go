package transcript

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestWhatIsDueStandsBelowTheTurnThatChangedIt(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	show := func() string {
		t.Helper()
		tr.Sync()
		for b.take(t, tr, 1<<20); tr.Dirty(); {
			b.take(t, tr, 1<<20)
		}
		return b.text()
	}
	turn := func(words string) {
		for _, u := range []session.Update{
			session.TurnStart{Prompt: []session.Content{session.Text{Text: words}}},
			session.TurnEnd{StopReason: session.StopEndTurn},
		} {
			w.conv.Apply(u)
		}
	}
	turn("one")
	tr.SetDue(Due{Files: 2, Added: 3, Removed: 1, Key: "g>"}, true)
	const first = "one\n\n  ● 2 files  +3 −1 · :Acp review · g> keeps all"
	check.Equal(t, show(), first, "after the turn:\n%s")
	for row := range 6 {
		if tr.IsDue(row) != (row == 2) {
			t.Errorf("row %d: %v", row, tr.IsDue(row))
		}
	}
	tr.SetWidth(46)
	check.Equal(t, show(), strings.TrimSuffix(first, " · g> keeps all"), "in a narrow window:\n%s")
	tr.SetWidth(47)
	check.Equal(t, show(), first, "in a window as wide as the line:\n%s")
	turn("two")
	tr.SetDue(Due{Files: 1, Removed: 1}, false)
	if got := show(); !strings.HasPrefix(got, "one\n\n  ● 1 file  −1 · :Acp review\n\ntwo") || strings.Count(got, "●") != 1 {
		t.Errorf("after a turn without changes:\n%s", got)
	}
	tr.SetDue(Due{Files: 1}, true)
	check.Equal(t, show(), "one\n\ntwo\n\n  ● 1 file · :Acp review", "after another turn with changes:\n%s")
	tr.SetDue(Due{}, false)
	check.Equal(t, show(), "one\n\ntwo", "when all is decided:\n%s")
	for row := range 6 {
		if tr.IsDue(row) {
			t.Errorf("row %d", row)
		}
	}
}
