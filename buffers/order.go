package buffers

import (
	"context"
	"sync"
	"sync/atomic"
)

// This file decides in which order files are read and written.

// workers is how many files are worked on at once.
const workers = 8

// job is one read or write. Either run or fail is called, once.
type job struct {
	ctx  context.Context
	path string // as asked for
	real string // once known
	same bool   // the path must still lead to real when it is the job's turn

	run  func(path string)
	fail func(error)

	started atomic.Bool // or failed
	stop    func() bool
}

// order runs the jobs of one real path one after another, as they were added, and those of different paths
// concurrently. It has goroutines only while it has jobs.
type order struct {
	mu        sync.Mutex
	inbox     []*job // their real paths are not known yet
	resolving bool
	queues    map[string][]*job // by real path; the first is running or in ready
	ready     []string
	working   int
}

// add never blocks: finding an unknown real path is disk work and is done elsewhere, one path after another to keep the
// order.
func (o *order) add(j *job) {
	j.stop = context.AfterFunc(j.ctx, func() {
		if j.started.CompareAndSwap(false, true) {
			j.fail(context.Cause(j.ctx))
		}
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	if j.real != "" {
		j.same = true
		o.enqueue(j)
		return
	}
	o.inbox = append(o.inbox, j)
	if !o.resolving {
		o.resolving = true
		go o.resolve()
	}
}

// drain calls done when the jobs now in the order have run; from any goroutine.
func (o *order) drain(done func()) {
	o.mu.Lock()
	var last []*job
	for _, j := range o.inbox {
		last = append(last, &job{path: j.path})
	}
	for real := range o.queues {
		last = append(last, &job{path: real, real: real})
	}
	o.mu.Unlock()
	var rest sync.WaitGroup
	rest.Add(len(last))
	for _, j := range last {
		j.ctx, j.run, j.fail = context.Background(), func(string) { rest.Done() }, func(error) { rest.Done() }
		o.add(j)
	}
	go func() {
		rest.Wait()
		done()
	}()
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
		o.mu.Lock()
		o.enqueue(j)
		o.mu.Unlock()
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

// unmoved returns an error if a path leads to another file than it should.
func (j *job) unmoved() error {
	if !j.same {
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

// start calls fn unless the job's context has already ended.
func (j *job) start(fn func()) {
	if j.started.CompareAndSwap(false, true) {
		j.stop()
		fn()
	}
}
