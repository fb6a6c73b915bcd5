package history

import "sync"

// writer runs functions on a file one after another. Any goroutine may use it.
type writer struct {
	mu    sync.Mutex // guards the fields below
	queue []func()
	busy  bool
}

// run runs f after everything given before, on a goroutine of background's.
func (w *writer) run(background func(func()), f func()) {
	w.mu.Lock()
	w.queue = append(w.queue, f)
	busy := w.busy
	w.busy = true
	w.mu.Unlock()
	if !busy {
		background(w.work)
	}
}

func (w *writer) work() {
	for {
		w.mu.Lock()
		if len(w.queue) == 0 {
			w.busy = false
			w.mu.Unlock()
			return
		}
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		next()
	}
}

// writer returns the single writer of a session's file.
func (s *Store) writer(agent, id string) *writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.path(agent, id)
	if s.writers[path] == nil {
		s.writers[path] = &writer{}
	}
	return s.writers[path]
}

// ReadLater is Read after everything recorded so far is written, on a goroutine of background's.
func (s *Store) ReadLater(agent, id string, background func(func()), done func(Past, error)) {
	s.writer(agent, id).run(background, func() { done(s.Read(agent, id)) })
}
