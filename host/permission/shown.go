package permission

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file has what Lua and the chat show of the requests.

// Waiting is how many requests wait for the user.
func (rs *Requests) Waiting() int { return len(rs.queue.waiting()) }

// Take is what Lua is to know of the requests that wait for the user; ok is false if it knows it.
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

// Located hears that a change of a call was looked for in its file. It reports whether Lua is to be told.
func (rs *Requests) Located(call *session.ToolCall) bool {
	about := rs.queue.about(call.ID) != nil
	rs.changed = rs.changed || about
	return about
}

// Call is what a request is about, or nil if it is answered.
func (rs *Requests) Call(id int) *session.ToolCall {
	if p := rs.queue.first(func(p *request) bool { return p.id == int64(id) }); p != nil {
		return &p.call
	}
	return nil
}

// Subject is a call as the open request about it means it, if that shows changes; else the call. Hunks that are selected
// in its diff are those of the request.
func (rs *Requests) Subject(call *session.ToolCall) *session.ToolCall {
	p := rs.queue.about(call.ID)
	if p != nil && call.ID != "" && rs.queue.of(call) == nil && len(rs.config.Diffs.Changes(&p.call)) > 0 {
		return &p.call
	}
	return call
}

// About is the number of the open request about a call, the oldest if there are several; 0 for none.
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

// LookAgain has the changes of a call that an open request is about looked for anew, as the user may have typed there
// since; then is called when that has begun. It is not called for a write that ends meanwhile.
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
