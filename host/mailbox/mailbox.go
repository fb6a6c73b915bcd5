// Package mailbox passes functions to a goroutine that owns some state.
package mailbox

import "sync"

// Mailbox is functions that one goroutine runs one after the other, in the order
// they were put. Any goroutine may use it, but only one may run it.
type Mailbox struct {
	mu     sync.Mutex
	queue  []func()
	room   *sync.Cond // signalled when the queue was taken
	ready  chan struct{}
	closed bool
}

// floodLimit is how many of an agent's updates may wait; the agent's reader
// then waits too, and with it, through the pipe, the agent.
const floodLimit = 4096

// New returns an empty mailbox, which nobody runs yet.
func New() *Mailbox {
	m := &Mailbox{ready: make(chan struct{}, 1)}
	m.room = sync.NewCond(&m.mu)
	return m
}

// Put adds f and returns at once; false when the mailbox is closed.
func (m *Mailbox) Put(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(f)
}

// PutSlowly adds f, after waiting for room.
func (m *Mailbox) PutSlowly(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) >= floodLimit && !m.closed {
		m.room.Wait()
	}
	return m.add(f)
}

func (m *Mailbox) add(f func()) bool {
	if m.closed {
		return false
	}
	m.queue = append(m.queue, f)
	select {
	case m.ready <- struct{}{}:
	default:
	}
	return true
}

// Run calls the functions in the mailbox until one closes it. Those still queued are run too: a request in them must
// get its answer.
func (m *Mailbox) Run() {
	for range m.ready {
		m.mu.Lock()
		batch := m.queue
		m.queue = nil
		closed := m.closed
		m.room.Broadcast()
		m.mu.Unlock()
		for _, f := range batch {
			f()
		}
		if closed {
			return
		}
	}
}

// Close lets Run return after what is queued.
func (m *Mailbox) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.closed = true
	m.room.Broadcast()
	select {
	case m.ready <- struct{}{}:
	default:
	}
}
