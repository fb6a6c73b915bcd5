package permission

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// queue is the open requests of a session, and what the user's answers still imply afterwards. It answers nothing
// itself, see [Requests.resolve].
type queue struct {
	pending []*request // oldest first
	busy    int        // requests and answers that the policy is working on

	unwanted []unwanted // what was allowed although the user had refused a part
	accepted []accepted // what the user allowed in this turn and is not written yet

	askedOnly map[string]bool // by id, the calls that only requests have mentioned; nil at first
}

// next returns the request that the policy must decide about now, or nil: one at a time, so that the user sees them in
// order.
func (q *queue) next() *request {
	i := slices.IndexFunc(q.pending, func(p *request) bool { return !p.open })
	if i < 0 || q.busy > 0 {
		return nil
	}
	return q.pending[i]
}

// has reports whether a request is unanswered.
func (q *queue) has(p *request) bool { return slices.Contains(q.pending, p) }

// drop takes a request off the list, and reports whether it was there.
func (q *queue) drop(p *request) bool {
	i := slices.Index(q.pending, p)
	if i < 0 {
		return false
	}
	q.pending = slices.Delete(q.pending, i, i+1)
	return true
}

// waiting returns the requests that the user sees, oldest first.
func (q *queue) waiting() []*request {
	return slices.DeleteFunc(slices.Clone(q.pending), func(p *request) bool { return !p.open })
}

// waitingAs returns the request with this id that the user sees, or nil.
func (q *queue) waitingAs(id int) *request {
	return q.first(func(p *request) bool { return p.id == int64(id) && p.open })
}

// about returns the oldest request about a call, or nil.
func (q *queue) about(callID string) *request {
	return q.first(func(p *request) bool { return p.asked.Call.ID == callID })
}

// onlyAbout returns the request about a call, or nil if there is none, or several.
func (q *queue) onlyAbout(callID string) *request {
	one := q.about(callID)
	if slices.ContainsFunc(q.pending, func(p *request) bool { return p != one && p.asked.Call.ID == callID }) {
		return nil
	}
	return one
}

// of returns the request about this very call, not another one with its id; or nil.
func (q *queue) of(call *session.ToolCall) *request {
	return q.first(func(p *request) bool { return &p.call == call })
}

func (q *queue) first(is func(*request) bool) *request {
	if i := slices.IndexFunc(q.pending, is); i >= 0 {
		return q.pending[i]
	}
	return nil
}

// asks notes that a request is about a call, which is known before or not. It reports whether only requests have
// mentioned the call.
func (q *queue) asks(callID string, known bool) bool {
	if q.askedOnly == nil {
		q.askedOnly = map[string]bool{}
	}
	q.askedOnly[callID] = !known || q.askedOnly[callID]
	return q.askedOnly[callID]
}

// observe notes that the agent mentioned a call other than in a request.
func (q *queue) observe(callID string) { delete(q.askedOnly, callID) }

// takeUnwanted removes and returns what was unwanted of a call, or of all.
func (q *queue) takeUnwanted(callID string, all bool) []unwanted {
	var taken []unwanted
	q.unwanted = slices.DeleteFunc(q.unwanted, func(u unwanted) bool {
		if all || u.call == callID {
			taken = append(taken, u)
			return true
		}
		return false
	})
	return taken
}

// written notes that a write has made these accepted changes.
func (q *queue) written(list []accepted) {
	q.accepted = slices.DeleteFunc(q.accepted, func(a accepted) bool { return slices.Contains(list, a) })
}
