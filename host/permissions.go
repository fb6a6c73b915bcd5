package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// permissions has a session's permission requests while they are open, and what the user's answers still mean
// afterwards. It belongs to the session's goroutine, and answers nothing itself, see [Session.resolve].
type permissions struct {
	asked []*permission // oldest first
	busy  int           // requests and answers that the policy is at work on

	unwanted []unwanted // what was allowed against the user's picks
	accepted []accepted // what the user has allowed in this turn, and is not written yet

	askedOnly map[string]bool // the calls that nothing but requests have told of; nil until there is one
}

// next is the request that the policy is to decide about now, or nil: one after the other, so that they come before the user in their
// order.
func (ps *permissions) next() *permission {
	i := slices.IndexFunc(ps.asked, func(p *permission) bool { return !p.open })
	if i < 0 || ps.busy > 0 {
		return nil
	}
	return ps.asked[i]
}

// has tells whether a request is not answered yet.
func (ps *permissions) has(p *permission) bool { return slices.Contains(ps.asked, p) }

// drop takes a request off the list, and reports whether it was there.
func (ps *permissions) drop(p *permission) bool {
	i := slices.Index(ps.asked, p)
	if i < 0 {
		return false
	}
	ps.asked = slices.Delete(ps.asked, i, i+1)
	return true
}

// waiting are the requests that are before the user, oldest first.
func (ps *permissions) waiting() []*permission {
	return slices.DeleteFunc(slices.Clone(ps.asked), func(p *permission) bool { return !p.open })
}

// waitingAs is the request with this id that is before the user, or nil.
func (ps *permissions) waitingAs(id int) *permission {
	return ps.first(func(p *permission) bool { return p.id == int64(id) && p.open })
}

// about is the oldest request about a call, or nil.
func (ps *permissions) about(callID string) *permission {
	return ps.first(func(p *permission) bool { return p.request.Call.ID == callID })
}

// onlyAbout is the request about a call, or nil where there is none, or several.
func (ps *permissions) onlyAbout(callID string) *permission {
	one := ps.about(callID)
	if slices.ContainsFunc(ps.asked, func(p *permission) bool { return p != one && p.request.Call.ID == callID }) {
		return nil
	}
	return one
}

// of is the request that means this call itself, and no other of its id; or nil.
func (ps *permissions) of(call *session.ToolCall) *permission {
	return ps.first(func(p *permission) bool { return &p.call == call })
}

func (ps *permissions) first(is func(*permission) bool) *permission {
	if i := slices.IndexFunc(ps.asked, is); i >= 0 {
		return ps.asked[i]
	}
	return nil
}

// tells is told that a request tells of a call, which is known before or not. It reports whether nothing but
// requests has told of it.
func (ps *permissions) tells(callID string, known bool) bool {
	if ps.askedOnly == nil {
		ps.askedOnly = map[string]bool{}
	}
	ps.askedOnly[callID] = !known || ps.askedOnly[callID]
	return ps.askedOnly[callID]
}

// told is told that the agent tells of a call in another way.
func (ps *permissions) told(callID string) { delete(ps.askedOnly, callID) }

// takeUnwanted takes out what was allowed of a call, or of all, against the user's picks.
func (ps *permissions) takeUnwanted(callID string, all bool) []unwanted {
	var taken []unwanted
	ps.unwanted = slices.DeleteFunc(ps.unwanted, func(u unwanted) bool {
		if all || u.call == callID {
			taken = append(taken, u)
			return true
		}
		return false
	})
	return taken
}

// written is told that a write has come to these changes, which the user had accepted.
func (ps *permissions) written(list []accepted) {
	ps.accepted = slices.DeleteFunc(ps.accepted, func(a accepted) bool { return slices.Contains(list, a) })
}
