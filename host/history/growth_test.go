package history

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
)

// What is said costs the same however many calls there were before.
func TestCallsOfEarlierAreNotLookedAt(t *testing.T) {
	s := begin(t)
	s.Open(about)
	s.Note(session.SessionStart{})
	allocated := func(calls int) uint64 {
		s.Note(ask("go on"))
		for i := range calls {
			s.Note(session.ToolCallPatch{ID: fmt.Sprint(calls, " ", i), Title: acp.Set("Read"), Status: acp.Set(session.StatusCompleted)})
		}
		s.Note(session.TurnEnd{StopReason: session.StopEndTurn})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Note(ask("and on"))
		s.Note(agentSays("m", "yes"))
		s.Note(session.TurnEnd{StopReason: session.StopEndTurn})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(10), allocated(5000)
	if limit := 2*few + 20_000; many > limit {
		t.Errorf("a turn takes %d bytes after 10 calls, and %d after 5000", few, many)
	}
}
