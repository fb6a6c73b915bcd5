package transcript

import (
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Due is what the agent changed and the user has not decided about.
type Due struct {
	Files, Added, Removed int
	Key                   string // that keeps all of it, on the line that says so; "" for none
}

// SetDue sets what the line below the last turn with changes says is due, as long as anything is. turn says that the
// turn which has just ended, or continues after its end, is that one.
func (t *Transcript) SetDue(due Due, turn bool) {
	was := t.dueAfter
	if turn {
		for i := len(t.conv.Entries) - 1; i >= 0; i-- {
			if stop, ok := t.conv.Entries[i].(*session.Stop); ok {
				t.dueAfter = stop
				break
			}
		}
	}
	if due == t.due && t.dueAfter == was {
		return
	}
	t.due = due
	left := 2 // one not among the entries yet is drawn anyway
	if was == t.dueAfter {
		left = 1
	}
	for i := len(t.entries) - 1; i >= 0 && left > 0; i-- {
		if stop, ok := t.entries[i].entry.(*session.Stop); ok && (stop == was || stop == t.dueAfter) {
			t.touch(t.entries[i])
			left--
		}
	}
}

// IsDue reports whether a row of the buffer is the line that says what is due.
func (t *Transcript) IsDue(row int) bool {
	i, first := t.page.At(row)
	if i < 0 {
		return false
	}
	stop, ok := t.blocks[i].entry.(*session.Stop)
	return ok && stop == t.dueAfter && t.due.Files > 0 && row == first+t.page.Rows(i)-1
}

// dueLine says what is due, and how to get at it.
func (t *Transcript) dueLine() styled.Line {
	l := styled.Join(styled.Text("  ● ", styled.ToolWaiting), styled.Text(styled.Many(t.due.Files, "file"), styled.Plain))
	for _, p := range styled.Counts(t.due.Added, t.due.Removed) {
		l.Add(p)
	}
	l.Add(styled.Text(" · :Acp review", styled.More))
	keeps := fmt.Sprintf(" · %s keeps all", t.due.Key)
	if t.due.Key != "" && (t.width == 0 || styled.Cells(l.Text+keeps) <= t.width) {
		l.Add(styled.Text(keeps, styled.More))
	}
	return l
}
