package buffers

import (
	"container/list"
	"sync"
)

// memoryBytes bounds the texts remembered as bases for merges.
const memoryBytes = 64 << 20

// memory remembers a text for each path, with what belongs to it; the most recently used ones, up to memoryBytes. The
// zero value is empty.
type memory[T texts] struct {
	mu    sync.Mutex
	texts map[string]*list.Element // of remembered[T]
	used  list.List                // most recently used first
	bytes int
}

// texts are what a memory remembers.
type texts interface{ size() int }

type remembered[T texts] struct {
	path string
	what T
}

// lines is the text of a buffer, each line with a newline.
type lines string

func (l lines) size() int { return len(l) }

// known is the text that the agent knows a file to have.
type known struct {
	text string
	// since is the file as the user had last written it by then. It is nil if the agent only wrote the text: it may
	// have read by itself what the user has saved since.
	since *stamp
	asked bool // since is when the agent asked to write: it knew nothing newer
	lacks bool // the disk has more of the user's, which the agent was not given
	disk  bool // this is what the disk had, perhaps before a buffer had it
	// given is the text including the unsaved text that the agent was given, if it has since changed the disk past its
	// client, knowing that text or not.
	given string
}

func (k known) size() int { return len(k.text) + len(k.given) }

// behind reports whether the disk may have text of the user's that the agent does not know; written is the file as the
// user last wrote it.
func (k known) behind(written stamp) bool {
	return k.since != nil && (k.lacks || written.Exists && written != *k.since)
}

// inStep is the disk's state that a buffer was in step with.
type inStep struct {
	text, form string // see Form
	at         stamp  // zero if unknown
	written    stamp  // as the user had last written it
	// base is what of text the buffer has taken over, where unsaved lines conflict with the rest; else it is "".
	base string
}

func (s inStep) size() int { return len(s.text) + len(s.base) }

func (m *memory[T]) put(path string, what T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil {
		m.texts = map[string]*list.Element{}
	}
	if e := m.texts[path]; e != nil {
		m.drop(e)
	}
	if what.size() > memoryBytes {
		return
	}
	m.texts[path] = m.used.PushFront(remembered[T]{path, what})
	m.bytes += what.size()
	for m.bytes > memoryBytes {
		m.drop(m.used.Back())
	}
}

func (m *memory[T]) get(path string) (what T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.texts[path]
	if e == nil {
		return what, false
	}
	m.used.MoveToFront(e)
	return e.Value.(remembered[T]).what, true
}

func (m *memory[T]) forget(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.texts[path]; e != nil {
		m.drop(e)
	}
}

// drop is called with mu held.
func (m *memory[T]) drop(e *list.Element) {
	r := m.used.Remove(e).(remembered[T])
	delete(m.texts, r.path)
	m.bytes -= r.what.size()
}
