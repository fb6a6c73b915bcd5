package host

import "sync"

// mailbox is how a session is spoken to: functions that its goroutine runs one
// after the other, in the order they were put.
type mailbox struct {
	mu     sync.Mutex
	queue  []func()
	room   *sync.Cond // signalled when the queue was taken
	ready  chan struct{}
	closed bool
}

// floodLimit is how many of an agent's updates may wait; the agent's reader
// then waits too, and with it, through the pipe, the agent.
const floodLimit = 4096

func newMailbox() *mailbox {
	m := &mailbox{ready: make(chan struct{}, 1)}
	m.room = sync.NewCond(&m.mu)
	return m
}

// put adds f and returns at once; false when the mailbox is closed.
func (m *mailbox) put(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(f)
}

// putSlowly adds f, after waiting for room.
func (m *mailbox) putSlowly(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) >= floodLimit && !m.closed {
		m.room.Wait()
	}
	return m.add(f)
}

func (m *mailbox) add(f func()) bool {
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

// run calls what is put, until a function closes the mailbox. What is still
// queued then is run too: a request in it must get its answer.
func (m *mailbox) run() {
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

// close lets run return after what is queued.
func (m *mailbox) close() {
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
