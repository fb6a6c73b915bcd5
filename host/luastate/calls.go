package luastate

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// callsAtOnce is how many tool calls Lua gets in one batch. It also bounds their events: a burst of them must not hold
// up a key.
const callsAtOnce = 500

// Calls are the tool calls of a session, and which of them Lua does not have yet. It belongs to the session's
// goroutine.
type Calls struct {
	positions map[*session.ToolCall]int // of all calls, in the order first seen
	ended     map[*session.ToolCall]bool
	changed   []*session.ToolCall        // in the order in which they changed, so that new ones are in that of their positions
	waits     map[*session.ToolCall]bool // those of changed
}

// NewCalls returns no calls.
func NewCalls() *Calls {
	return &Calls{positions: map[*session.ToolCall]int{}, ended: map[*session.ToolCall]bool{}, waits: map[*session.ToolCall]bool{}}
}

// Touch notes that a call is new or has changed. It reports whether this is the first time, and whether it has just
// ended, which it does once.
func (c *Calls) Touch(call *session.ToolCall) (began, ended bool) {
	if _, known := c.positions[call]; !known {
		c.positions[call] = len(c.positions)
		began = true
	}
	if ended = call.Shown().Finished() && !c.ended[call]; ended {
		c.ended[call] = true
	}
	if !c.waits[call] {
		c.waits[call] = true
		c.changed = append(c.changed, call)
	}
	return began, ended
}

// Listed reports whether Lua has the present state of a call.
func (c *Calls) Listed(call *session.ToolCall) bool { return !c.waits[call] }

// Pending reports whether there is more to tell Lua.
func (c *Calls) Pending() bool { return len(c.changed) > 0 }

// Take returns what to tell Lua next, no more than it takes at once.
func (c *Calls) Take() (calls []rpc.ToolCallAt) {
	n := min(callsAtOnce, len(c.changed))
	for _, call := range c.changed[:n] {
		calls = append(calls, rpc.ToolCallAt{At: c.positions[call] + 1, Call: ToolCall(call, MaxText)})
		delete(c.waits, call)
	}
	if c.changed = c.changed[n:]; len(c.changed) == 0 {
		c.changed, c.waits = nil, map[*session.ToolCall]bool{} // a map that was large once stays slow
	}
	return calls
}
