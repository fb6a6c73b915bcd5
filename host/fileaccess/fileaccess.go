// Package fileaccess has the reads and writes that an agent asks for wait until it is decided whether they may be,
// those of one file one after another. It knows neither what decides nor what then reads and writes.
package fileaccess

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/buffers"
)

// Request is a read or a write of a file. Of Do and Fail one is called, once, from any goroutine.
type Request struct {
	Context context.Context // its end withdraws the request
	Path    string          // absolute, as the agent named it
	Reads   bool            // it changes nothing
	// Decide is called on a goroutine of its own, with the file that Path leads to. It calls decided, at once or later
	// and from any goroutine: with nil, or with why the request is not granted. Only the first call counts.
	Decide func(real string, decided func(error))
	Do     func(real string) // the request is granted: it must not block
	Fail   func(error)
}

// Queue is the requests of one agent. The next one of a file is decided about when the one before it was. Its zero
// value is empty. Its methods may be called from any goroutine and do not block.
type Queue struct {
	mu        sync.Mutex
	inbox     []*request // whose file is not known yet
	resolving bool
	waiting   map[string][]*request // by real path; the first one is being decided about
	aside     map[string]bool       // where reads need not wait for the first one
}

// request is a [Request] on its way.
type request struct {
	Request
	real  string      // the file, once it is known
	ended atomic.Bool // done, or failed
	stop  func() bool
}

// Add puts a request behind those that were added before it.
func (q *Queue) Add(r Request) {
	one := &request{Request: r}
	one.stop = context.AfterFunc(r.Context, func() {
		if one.ended.CompareAndSwap(false, true) {
			r.Fail(context.Cause(r.Context))
		}
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inbox = append(q.inbox, one)
	if !q.resolving {
		q.resolving = true
		go q.resolve()
	}
}

// resolve finds the files of requests, which is disk work, one after another so that their order stays.
func (q *Queue) resolve() {
	for {
		q.mu.Lock()
		if len(q.inbox) == 0 {
			q.resolving = false
			q.mu.Unlock()
			return
		}
		r := q.inbox[0]
		q.inbox = q.inbox[1:]
		q.mu.Unlock()

		real, err := buffers.RealPath(r.Path)
		if err != nil {
			r.end(func() { r.Fail(err) })
			continue
		}
		r.real = real
		q.wait(r)
	}
}

// wait gives a request its place among those of its file.
func (q *Queue) wait(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.Reads && q.aside[r.real] {
		go r.decide(r.settle)
		return
	}
	if q.waiting == nil {
		q.waiting = map[string][]*request{}
	}
	q.waiting[r.real] = append(q.waiting[r.real], r)
	if len(q.waiting[r.real]) == 1 {
		q.decideFirst(r.real)
	}
}

// StepAside lets reads of a file pass the write that is being decided about: they get the text that the file has.
func (q *Queue) StepAside(real string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting[real]) == 0 {
		return
	}
	if q.aside == nil {
		q.aside = map[string]bool{}
	}
	q.aside[real] = true
	stay := q.waiting[real][:1:1]
	for _, r := range q.waiting[real][1:] {
		if r.Reads {
			go r.decide(r.settle)
		} else {
			stay = append(stay, r)
		}
	}
	q.waiting[real] = stay
}

// decideFirst has the first request of a file decided about, then the next one. It is called with mu held.
func (q *Queue) decideFirst(real string) {
	r := q.waiting[real][0]
	go r.decide(func(err error) {
		r.settle(err) // before those that have waited for it
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.aside, real)
		if q.waiting[real] = q.waiting[real][1:]; len(q.waiting[real]) > 0 {
			q.decideFirst(real)
		} else {
			delete(q.waiting, real)
		}
	})
}

// decide has a request decided about; then hears of it once.
func (r *request) decide(then func(error)) {
	var once sync.Once
	decided := func(err error) { once.Do(func() { then(err) }) }
	if err := context.Cause(r.Context); err != nil {
		decided(err)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			decided(fmt.Errorf("internal error: %v", p))
		}
	}()
	r.Decide(r.real, decided)
}

// settle does a request, or fails it.
func (r *request) settle(err error) {
	if err == nil {
		r.end(func() { r.Do(r.real) })
		return
	}
	if withdrawn := context.Cause(r.Context); withdrawn != nil {
		err = withdrawn // which is why it is not granted
	}
	r.end(func() { r.Fail(err) })
}

// end calls fn, unless the request has ended before.
func (r *request) end(fn func()) {
	if r.ended.CompareAndSwap(false, true) {
		r.stop()
		fn()
	}
}
