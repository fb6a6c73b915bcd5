package host

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
)

// routes bring what an agent says of a session to that session, by the agent's id of it. What comes for a session that
// the agent is about to name is kept until then. Any goroutine.
type routes struct {
	mu       sync.Mutex // guards the fields below
	sessions map[string]*Session
	unnamed  int                         // how many session/new are not answered yet
	early    map[string][]func(*Session) // what comes meanwhile for ids that are not known
	earlyIDs []string                    // those ids, in the order they came
}

// earlyLimit bounds what is kept for a session the agent has not named yet, and for how many ids.
const earlyLimit = 256

func newRoutes() *routes {
	return &routes{sessions: map[string]*Session{}, early: map[string][]func(*Session){}}
}

// add directs what is said of a session to s, beginning with what came before it had a name here. Reader goroutine.
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

// awaitName says that the agent is asked for a session, which has no name yet.
func (r *routes) awaitName() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unnamed++
}

// named says that it has answered; what came for other names is of sessions that are not open.
func (r *routes) named() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unnamed--; r.unnamed == 0 {
		clear(r.early)
		r.earlyIDs = nil
	}
}

// forgetEarly drops what came for a session that was not open.
func (r *routes) forgetEarly(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.early, id)
}

// to runs f for the session of an id. For a name that is not known it waits until session/new is answered.
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

// keep has f run for a session that the agent is about to name; it reports whether there may be one.
func (r *routes) keep(id string, f func(*Session)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unnamed == 0 {
		return false
	}
	r.keepEarly(id, f)
	return true
}

// keepEarly keeps what comes for a name that is not known; of too many names the oldest goes. r.mu is held.
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

// session is the session of a request, at once.
func (r *routes) session(id string) (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &acp.Error{Code: acp.CodeResourceNotFound, Message: fmt.Sprintf("session %q is not open in this client", id)}
}

// unnamedOf is one of the sessions that the agent has not named yet, or else any; nil for none.
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
