package permission

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file has what Lua and the chat show of the requests.

// Waiting returns how many requests wait for the user.
func (rs *Requests) Waiting() int { return len(rs.queue.waiting()) }

// Take returns the waiting requests for Lua; ok is false if it already knows them.
func (rs *Requests) Take() (list []rpc.Permission, ok bool) {
	if !rs.changed {
		return nil, false
	}
	rs.changed = false
	waiting := rs.queue.waiting()
	list = make([]rpc.Permission, len(waiting))
	for i, p := range waiting {
		list[i] = rs.snapshot(p)
	}
	return list, true
}

// Located notes that a change of a call was searched for in its file. It reports whether Lua must be told.
func (rs *Requests) Located(call *session.ToolCall) bool {
	about := rs.queue.about(call.ID) != nil
	rs.changed = rs.changed || about
	return about
}

// Call returns what a request is about, or nil if it has been answered.
func (rs *Requests) Call(id int) *session.ToolCall {
	if p := rs.queue.first(func(p *request) bool { return p.id == int64(id) }); p != nil {
		return &p.call
	}
	return nil
}

// Subject returns a call as the open request about it describes it, if that shows changes; otherwise the call. Hunks
// selected in its diff are those of the request.
func (rs *Requests) Subject(call *session.ToolCall) *session.ToolCall {
	p := rs.queue.about(call.ID)
	if p != nil && call.ID != "" && rs.queue.of(call) == nil && len(rs.config.Diffs.Changes(&p.call)) > 0 {
		return &p.call
	}
	return call
}

// About returns the number of the open request about a call, the oldest if there are several; 0 for none.
func (rs *Requests) About(call *session.ToolCall) (id int) {
	for _, p := range slices.Backward(rs.queue.pending) {
		if &p.call == call {
			return int(p.id)
		}
		if p.asked.Call.ID == call.ID {
			id = int(p.id)
		}
	}
	return id
}

// LookAgain locates the changes of an open request's call again, as the user may have typed there since; then is called
// when that has begun, but not for a write that ends meanwhile.
func (rs *Requests) LookAgain(call *session.ToolCall, then func()) {
	if rs.queue.about(call.ID) == nil {
		then()
		return
	}
	if p := rs.queue.of(call); p != nil && p.write != nil {
		rs.refreshWrite(p, then)
		return
	}
	rs.config.Diffs.LookAgain(call)
	then()
}
