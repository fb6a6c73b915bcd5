package session

import "sync"

// listing collects the pages of session/list.
type listing struct {
	ask   func(cursor string, page func([]Stored, string, error)) (cancel func())
	done  func([]Stored, error)
	found []Stored
	pages int

	mu        sync.Mutex // guards the fields below
	cancel    func()     // of the page being requested
	cancelled bool
}

// pageLimit bounds the list of an agent that never ends it.
const pageLimit = 200

// list requests one page after another, for [Agent.ListSessions].
func list(ask func(cursor string, page func([]Stored, string, error)) func(), done func([]Stored, error)) (cancel func()) {
	l := &listing{ask: ask, done: done}
	l.next("")
	return l.giveUp
}

func (l *listing) next(cursor string) {
	cancel := l.ask(cursor, func(found []Stored, next string, err error) {
		l.found = append(l.found, found...)
		if l.pages++; err != nil || next == "" || next == cursor || l.pages == pageLimit {
			l.done(l.found, err)
			return
		}
		l.next(next)
	})
	l.mu.Lock()
	cancelled := l.cancelled
	l.cancel = cancel
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
