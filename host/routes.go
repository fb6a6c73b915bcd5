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
	unnamed  int                // how many session/new are unanswered
	early    map[string][]early // messages meanwhile for unknown ids
	earlyIDs []string           // those ids, in the order they came
}

// early is a message that came before its session was named.
type early struct {
	pass func(*Session)
	drop func() // is called instead if there is no such session; nil for none
}

// drop drops messages. It may answer the agent, so r.mu is not held.
func drop(messages []early) {
	for _, m := range messages {
		if m.drop != nil {
			m.drop()
		}
	}
}

// earlyLimit bounds what is kept for a session that the agent has not named yet, and for how many ids.
const earlyLimit = 256

func newRoutes() *routes {
	return &routes{sessions: map[string]*Session{}, early: map[string][]early{}}
}

// add directs a session's messages to s, beginning with those that came before its id was known. Reader goroutine.
func (r *routes) add(id string, s *Session) {
	r.mu.Lock()
	r.sessions[id] = s
	messages := r.early[id]
	delete(r.early, id)
	r.mu.Unlock()
	for _, m := range messages {
		m.pass(s)
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
	var dropped []early
	r.mu.Lock()
	if r.unnamed--; r.unnamed == 0 {
		dropped = slices.Concat(slices.Collect(maps.Values(r.early))...)
		clear(r.early)
		r.earlyIDs = nil
	}
	r.mu.Unlock()
	drop(dropped)
}

// forgetEarly drops the messages for a session that was not open.
func (r *routes) forgetEarly(id string) {
	r.mu.Lock()
	dropped := r.early[id]
	delete(r.early, id)
	r.mu.Unlock()
	drop(dropped)
}

// to runs f for the session of an id. For an unknown id it waits until session/new is answered.
func (r *routes) to(id string, f func(*Session)) {
	r.pass(id, early{pass: f})
}

// ask is to for a request, which is refused where no session has its id.
func (r *routes) ask(id string, f func(*Session), refuse func()) {
	r.pass(id, early{f, refuse})
}

func (r *routes) pass(id string, m early) {
	dropped := []early{m}
	r.mu.Lock()
	s := r.sessions[id]
	if s == nil && r.unnamed > 0 {
		dropped = r.keepEarly(id, m)
	}
	r.mu.Unlock()
	if s != nil {
		m.pass(s)
		return
	}
	drop(dropped)
}

// keepEarly keeps a message for an unknown id, and returns what there is no room for: of too many ids the oldest is
// dropped. r.mu is held.
func (r *routes) keepEarly(id string, m early) (dropped []early) {
	list, known := r.early[id]
	if len(list) >= earlyLimit {
		return []early{m}
	}
	if !known {
		if r.earlyIDs = append(r.earlyIDs, id); len(r.earlyIDs) > earlyLimit {
			dropped = r.early[r.earlyIDs[0]]
			delete(r.early, r.earlyIDs[0])
			r.earlyIDs = r.earlyIDs[1:]
		}
	}
	r.early[id] = append(list, m)
	return dropped
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
