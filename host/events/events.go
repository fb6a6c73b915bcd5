// Package events holds back the `User` autocommands of a session until Neovim is up to date with what they are about.
package events

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Config is what a queue needs to know. All are called on the session's goroutine.
type Config struct {
	Session  int                               // its id
	Listed   func(call *session.ToolCall) bool // Lua has the call as it is now
	Drawn    func() bool                       // the chat shows all of the conversation
	Recorded func(end int) bool                // the record has the changes of the turn with this end, see [Queue.AddEnd]
}

// Queue has the events of a session in order: each waits for its own condition, and those after it wait with it. It
// belongs to the session's goroutine.
type Queue struct {
	config Config
	list   []event
	ends   int // of turns, among them
}

type event struct {
	rpc.Event
	call *session.ToolCall // that must be listed; may be nil
	end  int               // of a turn; 0 of another event
}

// New returns a queue without events.
func New(config Config) *Queue { return &Queue{config: config} }

// Add queues an event that waits only for those before it. data may be nil.
func (q *Queue) Add(name string, data map[string]any) {
	q.list = append(q.list, q.event(name, data))
}

// AddCall queues an event about a tool call, which waits until Lua has the call.
func (q *Queue) AddCall(name string, call *session.ToolCall, data map[string]any) {
	e := q.event(name, data)
	e.Data["id"], e.call = call.ID, call
	q.list = append(q.list, e)
}

// AddEnd queues the end of a turn, which has a positive number. It waits until the chat shows the turn, and the record
// has its changes.
func (q *Queue) AddEnd(end int, data map[string]any) {
	e := q.event("AcpTurnEnd", data)
	e.end = end
	q.list = append(q.list, e)
	q.ends++
}

// AddChanges queues changes of files that are new in the record, before the end of the turn that made them.
func (q *Queue) AddChanges(all []map[string]any) {
	at := slices.IndexFunc(q.list, func(e event) bool { return e.end > 0 && !q.config.Recorded(e.end) })
	if at < 0 {
		at = len(q.list)
	}
	list := make([]event, len(all))
	for i, data := range all {
		list[i] = q.event("AcpFileChanged", data)
	}
	q.list = slices.Insert(q.list, at, list...)
}

func (q *Queue) event(name string, data map[string]any) event {
	if data == nil {
		data = map[string]any{}
	}
	data["session"] = q.config.Session
	return event{Event: rpc.Event{Name: name, Data: data}}
}

// Ending reports whether the end of a turn is queued.
func (q *Queue) Ending() bool { return q.ends > 0 }

// atOnce is how many events Neovim fires in one batch: handlers must not hold up a key.
const atOnce = 500

// Due reports whether an event is due.
func (q *Queue) Due() bool { return len(q.list) > 0 && !q.waits(q.list[0]) }

// Take removes and returns events that are due, no more than Neovim takes at once.
func (q *Queue) Take() (due []rpc.Event) {
	for len(due) < atOnce && q.Due() {
		if q.list[0].end > 0 {
			q.ends--
		}
		due = append(due, q.list[0].Event)
		q.list = q.list[1:]
	}
	return due
}

func (q *Queue) waits(e event) bool {
	return e.end > 0 && !(q.config.Drawn() && q.config.Recorded(e.end)) || e.call != nil && !q.config.Listed(e.call)
}
