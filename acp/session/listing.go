package session

import (
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// listing collects the pages of session/list.
type listing struct {
	ask   func(cursor string, page func(sessionPage, error)) (cancel func())
	done  func([]Stored, error)
	found []Stored
	pages int

	mu        sync.Mutex // guards the fields below
	asked     int        // for how many pages
	cancel    func()     // of the page being requested
	cancelled bool
}

// pageLimit bounds the list of an agent that never ends it.
const pageLimit = 200

// sessionPage is an answer to session/list: stored sessions, and the cursor of the next page, "" on the last one.
type sessionPage struct {
	found []Stored
	next  string
}

// list requests one page after another, for [Agent.ListSessions]. R is the answer as the agent's version writes it.
func list[R any](conn *acp.Conn, archived bool, read func(R) sessionPage, done func([]Stored, error)) (cancel func()) {
	l := &listing{done: done, ask: func(cursor string, page func(sessionPage, error)) func() {
		request := wire.ListSessionsRequest{Cursor: cursor, Archived: archiveFilter(archived)}
		return conn.Call(wire.MethodSessionList, request, answered(page, read))
	}}
	l.next("")
	return l.giveUp
}

func (l *listing) next(cursor string) {
	l.mu.Lock()
	l.asked++
	nth := l.asked
	l.mu.Unlock()
	cancel := l.ask(cursor, func(page sessionPage, err error) {
		l.found = append(l.found, page.found...)
		if l.pages++; err != nil || page.next == "" || page.next == cursor || l.pages == pageLimit {
			l.done(l.found, err)
			return
		}
		l.next(page.next)
	})
	l.mu.Lock()
	cancelled := l.cancelled
	if nth == l.asked { // else its answer was faster, and the next page is asked for already
		l.cancel = cancel
	}
	l.mu.Unlock()
	if cancelled {
		cancel()
	}
}

func (l *listing) giveUp() {
	l.mu.Lock()
	cancel := l.cancel
	l.cancelled = true
	l.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
