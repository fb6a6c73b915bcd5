package buffers

import (
	"container/list"
	"sync"
)

// memoryBytes bounds the texts remembered as bases for merges.
const memoryBytes = 64 << 20

// memory remembers texts by path, those used last, up to memoryBytes. The zero value is empty.
type memory struct {
	mu    sync.Mutex
	texts map[string]*list.Element // of remembered
	used  list.List                // the front was used last
	bytes int
}

type remembered struct{ path, text string }

func (m *memory) put(path, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil {
		m.texts = map[string]*list.Element{}
	}
	if e := m.texts[path]; e != nil {
		m.drop(e)
	}
	if len(text) > memoryBytes {
		return
	}
	m.texts[path] = m.used.PushFront(remembered{path, text})
	m.bytes += len(text)
	for m.bytes > memoryBytes {
		m.drop(m.used.Back())
	}
}

func (m *memory) get(path string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.texts[path]
	if e == nil {
		return "", false
	}
	m.used.MoveToFront(e)
	return e.Value.(remembered).text, true
}

func (m *memory) forget(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.texts[path]; e != nil {
		m.drop(e)
	}
}

// drop is called with mu held.
func (m *memory) drop(e *list.Element) {
	r := m.used.Remove(e).(remembered)
	delete(m.texts, r.path)
	m.bytes -= len(r.text)
}
