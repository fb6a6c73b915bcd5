package buffers

import (
	"context"
	"strings"
	"sync"
)

// This file keeps what Neovim says of buffers before a read asks, see lua/acp/files/read.lua: so long as Neovim has not
// said that it holds no longer, and all that it has sent was heard, it is what Neovim would answer.

// ahead is answers to reads. The zero value is empty.
type ahead struct {
	mu      sync.Mutex
	passed  int             // the newest count of [Files.Passed]
	answers map[string]live // by real path, none with lines
}

// put keeps an answer, unless it may hold no longer.
func (a *ahead) put(path string, l live) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.Changes < a.passed || l.Buf == 0 || l.Buftype != "" {
		return
	}
	if a.answers == nil {
		a.answers = map[string]live{}
	}
	l.Slice, l.Patch = nil, nil
	a.answers[path] = l
}

func (a *ahead) get(path string) (live, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.answers[path]
	return l, ok
}

// Passed tells that what Neovim has answered of a buffer holds no longer, 0 is of all buffers; changes counts how often it
// has said so. Any goroutine.
func (f *Files) Passed(buf, changes int) {
	f.ahead.mu.Lock()
	defer f.ahead.mu.Unlock()
	f.ahead.passed = changes
	for path, l := range f.ahead.answers {
		if buf == 0 || l.Buf == buf {
			delete(f.ahead.answers, path)
		}
	}
}

// Ahead takes Neovim's answer to the next read of a real path; decode sets a pointer to a struct with msgpack tags. Any
// goroutine.
func (f *Files) Ahead(path string, decode func(into any)) {
	var l live
	decode(&l)
	if l.Modified {
		lines, ok := f.shown.get(path, version{l.Buf, l.Known})
		if ok && l.Patch != nil {
			lines = l.Patch.of(lines)
		}
		if !ok || strings.Count(lines, "\n") != l.Lines {
			return // the next read asks for all of it
		}
		f.shown.put(path, l, lines)
	}
	f.ahead.put(path, l)
}

// liveAhead is [Files.liveWith] for a read of an agent: Neovim is asked only where it has not said the answer before.
func (f *Files) liveAhead(ctx context.Context, path string, first, end int) (live, error) {
	if f.Inbox != nil && f.Inbox.Heard() {
		if l, ok := f.ahead.get(path); ok {
			return l, nil
		}
	}
	l, err := f.liveWith(ctx, path, first, end, follow)
	if err == nil {
		f.ahead.put(path, l)
	}
	return l, err
}
