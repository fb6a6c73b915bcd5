package host

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
)

// routes directs an agent's messages to its sessions, by the agent's ids. Messages for a session that the agent is
// about to name are kept until then. Any goroutine.
type routes struct {
	mu       sync.Mutex // guards the fields below
	sessions map[string]*Session
	unnamed  int                         // how many session/new are unanswered
	early    map[string][]func(*Session) // messages meanwhile for unknown ids
	earlyIDs []string                    // those ids, in the order they came
}

// earlyLimit bounds what is kept for a session that the agent has not named yet, and for how many ids.
const earlyLimit = 256

func newRoutes() *routes {
	return &routes{sessions: map[string]*Session{}, early: map[string][]func(*Session){}}
}

// add directs a session's messages to s, beginning with those that came before its id was known. Reader goroutine.
func (r *routes) add(id string, s *Session) {
	r.mu.Lock()
	r.sessions[id] = s
	early := r.early[id]
	delete(r.early, id)
	r.mu.Unlock()
	for _, f := range early {
		f(s)
	}
}

// remove undoes add.
func (r *routes) remove(id string, s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions[id] == s {
		delete(r.sessions, id)
	}
}

// awaitName says that the agent was asked for a session, which has no id yet.
func (r *routes) awaitName() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unnamed++
}

// named says that the agent has answered; messages for other ids are for sessions that are not open.
func (r *routes) named() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unnamed--; r.unnamed == 0 {
		clear(r.early)
		r.earlyIDs = nil
	}
}

// forgetEarly drops the messages for a session that was not open.
func (r *routes) forgetEarly(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.early, id)
}

// to runs f for the session of an id. For an unknown id it waits until session/new is answered.
func (r *routes) to(id string, f func(*Session)) {
	r.mu.Lock()
	s := r.sessions[id]
	if s == nil && r.unnamed > 0 {
		r.keepEarly(id, f)
	}
	r.mu.Unlock()
	if s != nil {
		f(s)
	}
}

// keep keeps f for a session that the agent is about to name; it reports whether there may be one.
func (r *routes) keep(id string, f func(*Session)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unnamed == 0 {
		return false
	}
	r.keepEarly(id, f)
	return true
}

// keepEarly keeps f for an unknown id; if there are too many ids, the oldest is dropped. r.mu is held.
func (r *routes) keepEarly(id string, f func(*Session)) {
	list, known := r.early[id]
	if len(list) >= earlyLimit {
		return
	}
	if !known {
		if r.earlyIDs = append(r.earlyIDs, id); len(r.earlyIDs) > earlyLimit {
			delete(r.early, r.earlyIDs[0])
			r.earlyIDs = r.earlyIDs[1:]
		}
	}
	r.early[id] = append(list, f)
}

// session returns the session of a request, without waiting.
func (r *routes) session(id string) (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &acp.Error{Code: acp.CodeResourceNotFound, Message: fmt.Sprintf("session %q is not open in this client", id)}
}

// unnamedOf returns one of the sessions that the agent has not named yet, or else any; nil for none.
func (r *routes) unnamedOf(sessions []*Session) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := slices.Collect(maps.Values(r.sessions))
	for _, s := range sessions {
		if !slices.Contains(named, s) {
			return s
		}
	}
	if len(sessions) == 0 {
		return nil
	}
	return sessions[len(sessions)-1]
}
