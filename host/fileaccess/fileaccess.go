// Package fileaccess queues the reads and writes that an agent asks for until they are allowed or not, those of one
// file one after another. It knows neither who decides nor who then reads and writes.
package fileaccess

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/buffers"
)

// Request is a read or a write of a file. Either Do or Fail is called, once, from any goroutine.
type Request struct {
	Context context.Context // its end withdraws the request
	Path    string          // absolute, as the agent named it
	Reads   bool            // it only reads
	// Decide is called on a goroutine of its own, with the real path of Path. It calls decided, at once or later, from
	// any goroutine, with nil or with why the request is not granted. Only the first call counts.
	Decide func(real string, decided func(error))
	Do     func(real string) // the request is granted: it must not block
	Fail   func(error)
}

// Queue is the requests of one agent. The next request for a file is decided after the one before it. Its zero value is
// empty. Its methods may be called from any goroutine and do not block.
type Queue struct {
	mu      sync.Mutex
	inbox   []*request            // whose file is not known yet; the first one's is being resolved
	waiting map[string][]*request // by real path; the first one is being decided
	aside   map[string]bool       // files whose reads need not wait for the first one
}

// request is a [Request] on its way.
type request struct {
	Request
	real  string      // the file, once it is known
	ended atomic.Bool // done, or failed
	stop  func() bool
}

// Add queues a request.
func (q *Queue) Add(r Request) {
	one := &request{Request: r}
	one.stop = context.AfterFunc(r.Context, func() {
		if one.ended.CompareAndSwap(false, true) {
			r.Fail(context.Cause(r.Context))
		}
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.inbox = append(q.inbox, one); len(q.inbox) == 1 {
		go q.resolve()
	}
}

// resolve finds the files of requests, which is disk work, one after another to keep their order. It runs the decision
// about the last of them itself.
func (q *Queue) resolve() {
	for {
		q.mu.Lock()
		r := q.inbox[0]
		q.mu.Unlock()

		real, err := buffers.RealPath(r.Path)
		var decide func()
		q.mu.Lock()
		if err == nil {
			r.real = real
			decide = q.wait(r)
		}
		q.inbox = q.inbox[1:]
		last := len(q.inbox) == 0
		q.mu.Unlock()
		switch {
		case err != nil:
			r.end(func() { r.Fail(err) })
		case decide != nil && last:
			decide()
		case decide != nil:
			go decide()
		}
		if last {
			return
		}
	}
}

// wait queues a request for its file, and returns the function that decides it if it is its turn. It is called with mu
// held.
func (q *Queue) wait(r *request) (decide func()) {
	if r.Reads && q.aside[r.real] {
		return func() { r.decide(r.settle) }
	}
	if q.waiting == nil {
		q.waiting = map[string][]*request{}
	}
	q.waiting[r.real] = append(q.waiting[r.real], r)
	if len(q.waiting[r.real]) > 1 {
		return nil
	}
	return q.first(r)
}

// StepAside lets reads of a file pass the write that is being decided: they get the file's present text.
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

// first returns the function that decides the first request of a file, then the next one.
func (q *Queue) first(r *request) (decide func()) {
	return func() {
		r.decide(func(err error) {
			r.settle(err) // before those that have waited for it
			q.mu.Lock()
			defer q.mu.Unlock()
			delete(q.aside, r.real)
			if q.waiting[r.real] = q.waiting[r.real][1:]; len(q.waiting[r.real]) > 0 {
				go q.first(q.waiting[r.real][0])()
			} else {
				delete(q.waiting, r.real)
			}
		})
	}
}

// decide runs a request's decision; then is called with it, once.
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

// settle carries out a request, or fails it.
func (r *request) settle(err error) {
	if err == nil {
		r.end(func() { r.Do(r.real) })
		return
	}
	r.end(func() { r.Fail(cmp.Or(context.Cause(r.Context), err)) }) // if it was withdrawn, that is why
}

// end calls fn, unless the request has already ended.
func (r *request) end(fn func()) {
	if r.ended.CompareAndSwap(false, true) {
		r.stop()
		fn()
	}
}
