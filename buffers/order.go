package buffers

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// This file has in which order the files are read and written, and behind which gates.

// workers is how many files are worked on at once.
const workers = 8

// Gate decides whether a read or a write of a real path may take place. It is called on a goroutine of
// its own, and calls pass, at once or later and from any goroutine: with nil, or with why it may not.
// Only the first call counts. Until then what the same owner asks of that path waits, and nothing else.
type Gate func(path string, pass func(error))

// job is one read or write. Either run or fail is called, once.
type job struct {
	ctx   context.Context
	path  string // as asked for
	real  string // once it is known
	gate  Gate   // or nil
	owner any    // of a job with a gate
	reads bool   // it changes nothing

	run  func(path string)
	fail func(error)

	started atomic.Bool // or failed
	stop    func() bool
}

// order runs the jobs of one real path one after another, as they were added, and those of different
// paths side by side. It has goroutines only while it has jobs.
type order struct {
	mu        sync.Mutex
	inbox     []*job // whose real path is not known yet
	resolving bool
	held      map[gateway][]*job // whose gates have not let them pass; the first one's is asked
	aside     map[gateway]bool   // where reads need not wait for the first one
	queues    map[string][]*job  // by real path; the first is running or in ready
	ready     []string
	working   int
}

// gateway is where jobs wait for their gates, one after another.
type gateway struct {
	owner any
	path  string
}

// add never blocks: finding the real path is disk work and is done elsewhere, one path after another
// so that the order stays.
func (o *order) add(j *job) {
	j.stop = context.AfterFunc(j.ctx, func() {
		if j.started.CompareAndSwap(false, true) {
			j.fail(context.Cause(j.ctx))
		}
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inbox = append(o.inbox, j)
	if !o.resolving {
		o.resolving = true
		go o.resolve()
	}
}

func (o *order) resolve() {
	for {
		o.mu.Lock()
		if len(o.inbox) == 0 {
			o.resolving = false
			o.mu.Unlock()
			return
		}
		j := o.inbox[0]
		o.inbox = o.inbox[1:]
		o.mu.Unlock()

		path, err := RealPath(j.path)
		if err != nil {
			j.start(func() { j.fail(err) })
			continue
		}
		j.real = path
		if j.gate != nil {
			o.hold(j)
			continue
		}
		o.mu.Lock()
		o.enqueue(j)
		o.mu.Unlock()
	}
}

func (o *order) hold(j *job) {
	at := gateway{j.owner, j.real}
	o.mu.Lock()
	defer o.mu.Unlock()
	if j.reads && o.aside[at] {
		go o.knock(j, func(err error) { o.admit(j, err) })
		return
	}
	if o.held == nil {
		o.held = map[gateway][]*job{}
	}
	o.held[at] = append(o.held[at], j)
	if len(o.held[at]) == 1 {
		o.knockFirst(at)
	}
}

// stepAside lets reads pass the first job at a gateway, until its gate has answered.
func (o *order) stepAside(at gateway) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.held[at]) == 0 {
		return
	}
	if o.aside == nil {
		o.aside = map[gateway]bool{}
	}
	o.aside[at] = true
	stay := o.held[at][:1:1]
	for _, j := range o.held[at][1:] {
		if j.reads {
			go o.knock(j, func(err error) { o.admit(j, err) })
		} else {
			stay = append(stay, j)
		}
	}
	o.held[at] = stay
}

// knockFirst asks the gate of the first job at a gateway. It is called with mu held.
func (o *order) knockFirst(at gateway) {
	j := o.held[at][0]
	go o.knock(j, func(err error) { o.answered(at, j, err) })
}

// knock asks the gate of a job; answered hears of it once.
func (o *order) knock(j *job, answered func(error)) {
	var once sync.Once
	pass := func(err error) { once.Do(func() { answered(err) }) }
	if j.started.Load() { // its context has ended
		pass(context.Canceled)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			pass(fmt.Errorf("internal error: %v", p))
		}
	}()
	j.gate(j.real, pass)
}

func (o *order) answered(at gateway, j *job, err error) {
	o.admit(j, err) // before those that have waited for it
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.aside, at)
	if o.held[at] = o.held[at][1:]; len(o.held[at]) > 0 {
		o.knockFirst(at)
	} else {
		delete(o.held, at)
	}
}

// admit lets a job take its place among those of its file, or fails it.
func (o *order) admit(j *job, err error) {
	if err == nil {
		o.mu.Lock()
		o.enqueue(j)
		o.mu.Unlock()
	} else {
		if ended := context.Cause(j.ctx); ended != nil {
			err = ended // which is why the gate does not open
		}
		j.start(func() { j.fail(err) })
	}
}

// enqueue is called with mu held.
func (o *order) enqueue(j *job) {
	if o.queues == nil {
		o.queues = map[string][]*job{}
	}
	o.queues[j.real] = append(o.queues[j.real], j)
	if len(o.queues[j.real]) > 1 {
		return
	}
	o.ready = append(o.ready, j.real)
	if o.working < workers {
		o.working++
		go o.work()
	}
}

func (o *order) work() {
	for {
		o.mu.Lock()
		if len(o.ready) == 0 {
			o.working--
			o.mu.Unlock()
			return
		}
		path := o.ready[0]
		o.ready = o.ready[1:]
		j := o.queues[path][0]
		o.mu.Unlock()

		j.start(func() {
			if err := j.unmoved(); err != nil {
				j.fail(err)
				return
			}
			j.run(j.real)
		})

		o.mu.Lock()
		if rest := o.queues[path][1:]; len(rest) > 0 {
			o.queues[path] = rest
			o.ready = append(o.ready, path)
		} else {
			delete(o.queues, path)
		}
		o.mu.Unlock()
	}
}

// unmoved returns an error when a path leads to another file than the one that its gate let pass.
func (j *job) unmoved() error {
	if j.gate == nil {
		return nil
	}
	switch now, err := RealPath(j.path); {
	case err != nil:
		return err
	case now != j.real:
		return ErrMoved
	}
	return nil
}

// start calls fn unless the job's context has ended before.
func (j *job) start(fn func()) {
	if j.started.CompareAndSwap(false, true) {
		j.stop()
		fn()
	}
}
