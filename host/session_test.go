package host

import (
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// cancelCounter is an agent that is told of cancels, and of nothing else.
type cancelCounter struct {
	session.Agent
	cancels int
}

func (c *cancelCounter) Cancel(string) { c.cancels++ }

// A cancel reaches the agent while it works, and else ends the turn that waits to go on, whatever the agent asks
// for.
func TestCancelOfATurn(t *testing.T) {
	for name, c := range map[string]struct {
		phase phase
		stage stage
		told  int
		open  bool
	}{
		"works":                                   {ready, running, 1, true},
		"works, though an option needs a login":   {authRequired, running, 1, true},
		"waits for a login":                       {authRequired, interrupted, 0, false},
		"waits for the new process after a login": {starting, interrupted, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := aloneSession(t)
			var told cancelCounter
			s.on(func() {
				s.agent = &agent{Agent: &told}
				s.phase, s.outbox.stage = c.phase, c.stage
				s.submitCancel()
				if told.cancels != c.told || s.outbox.turnOpen() != c.open {
					t.Errorf("%s: the agent was told %d times, and that the turn is open is %v", name, told.cancels, s.outbox.turnOpen())
				}
			})
		})
	}
}
