// Package editor is the only way to Neovim: one goroutine makes every call, at most one batch of operations is in
// flight, and batches are sized so that Neovim is busy with one no longer than a frame. A Neovim that does not answer
// (a pending key, a hit-enter prompt) holds up this goroutine and nothing else.
package editor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Op is one operation of lua/acp/rpc/ops.lua.
type Op struct {
	Name string
	Args any
	// Done, if set, gets the operation's result or error, on the editor goroutine. It must not block.
	Done func(result any, err error)
}

// Do returns the operation with these arguments.
func Do(args any) Op { return Op{Name: rpc.Name(args), Args: args} }

// Source is something whose changes are shown in Neovim. It is asked for them when Neovim has time, so that everything
// that happened in between is one change.
type Source interface {
	// Take returns the next operations, about budget bytes of them, and
	// whether there are more. Called on the editor goroutine.
	Take(budget int) (ops []Op, more bool)
	// Interval is the least time between two calls of Take.
	Interval() time.Duration
}

// Neovim executes a batch and answers for each operation. Busy is how long Neovim worked on it.
type Neovim interface {
	Batch(ops []any) (answers []any, busy time.Duration, err error)
}

// ErrGone is the error of every call to a Neovim that has ended.
var ErrGone = errors.New("neovim has gone")

const (
	frame       = 16 * time.Millisecond // from one batch to the next, if it took all there was and nothing hurries
	rest        = 4 * time.Millisecond  // for Neovim to draw and take keys, however slow it is
	busyGoal    = 6 * time.Millisecond  // of Neovim's time for one batch
	minBudget   = 64 << 10              // less only adds overhead, as with a huge line
	firstBudget = 256 << 10             // takes 2 ms if Neovim is fast
	maxBudget   = 512 << 10
)

// Editor owns the connection to Neovim. Create it with [New], run it with [Editor.Run].
type Editor struct {
	nvim Neovim
	wake chan struct{}
	gone chan struct{}

	mu      sync.Mutex // guards the fields below
	calls   []Op
	sources []*source // in the order they were marked
	marked  map[Source]*source
	closed  bool
}

type source struct {
	Source
	last    time.Time // of the last Take
	marked  bool
	hurried bool
}

// New returns an editor that is not running yet.
func New(n Neovim) *Editor {
	return &Editor{
		nvim:   n,
		wake:   make(chan struct{}, 1),
		gone:   make(chan struct{}),
		marked: map[Source]*source{},
	}
}

// Mark says that s has changes. Any goroutine; it returns at once.
func (e *Editor) Mark(s Source) { e.mark(s, false) }

// Hurry says that s has changes that must not wait for a frame or an interval, as the user is waiting for them and no
// more are expected soon. Any goroutine; it returns at once.
func (e *Editor) Hurry(s Source) { e.mark(s, true) }

func (e *Editor) mark(s Source, hurry bool) {
	e.mu.Lock()
	m := e.marked[s]
	if m == nil {
		m = &source{Source: s}
		e.marked[s] = m
		e.sources = append(e.sources, m)
	}
	fresh := !m.marked || hurry && !m.hurried
	m.marked, m.hurried = true, m.hurried || hurry
	e.mu.Unlock()
	if fresh {
		e.signal()
	}
}

// Forget drops a source that has ended.
func (e *Editor) Forget(s Source) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.marked, s)
	for i, m := range e.sources {
		if m.Source == s {
			e.sources = append(e.sources[:i:i], e.sources[i+1:]...)
			return
		}
	}
}

// Post queues an operation for the next batch. Any goroutine; it returns at once. Op.Done is called in any case.
func (e *Editor) Post(op Op) {
	e.mu.Lock()
	closed := e.closed
	if !closed {
		e.calls = append(e.calls, op)
	}
	e.mu.Unlock()
	if closed {
		op.finish(nil, ErrGone)
		return
	}
	e.signal()
}

// Call executes one operation and waits for its result, or for ctx.
func (e *Editor) Call(ctx context.Context, op Op) (any, error) {
	type answer struct {
		result any
		err    error
	}
	got := make(chan answer, 1)
	op.Done = func(result any, err error) { got <- answer{result, err} }
	e.Post(op)
	select {
	case a := <-got:
		return a.result, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Notify shows a message to the user: "info", "warning" or "error". Any goroutine.
func (e *Editor) Notify(level, text string) { e.Post(Do(rpc.Notify{Level: level, Text: text})) }

// Answer passes a result to a Lua function that waits for it or, in a sentence, why there is none. Any goroutine.
func (e *Editor) Answer(callback int, result any, failure string) {
	e.Post(Do(rpc.Callback{ID: callback, Result: result, Error: failure}))
}

// Gone is closed when Neovim has ended or [Editor.Close] was called.
func (e *Editor) Gone() <-chan struct{} { return e.gone }

// Close ends Run; what was not sent fails with [ErrGone].
func (e *Editor) Close() {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.gone)
	}
	e.mu.Unlock()
}

func (e *Editor) isGone() bool {
	select {
	case <-e.gone:
		return true
	default:
		return false
	}
}

func (e *Editor) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (op Op) finish(result any, err error) {
	if op.Done != nil {
		op.Done(result, err)
	}
}

// Run makes the calls until Neovim is gone. It is the editor goroutine.
func (e *Editor) Run() {
	defer e.drain()
	budget := firstBudget
	// When Neovim has had its rest, and when the next batch of unhurried sources is due.
	var free, due time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !e.isGone() {
		began := time.Now()
		ops, taken, full, next := e.collect(budget, free, due)
		if len(ops) == 0 {
			if next > 0 {
				timer.Reset(next)
			} else {
				timer.Stop()
			}
			select {
			case <-e.wake:
			case <-timer.C:
			case <-e.gone:
			}
			continue
		}
		busy, err := e.execute(ops)
		if err != nil {
			e.Close()
		}
		free = time.Now().Add(rest)
		switch {
		case full:
			due = free
		case taken:
			due = began.Add(frame)
		}
		budget = adapt(budget, full, busy)
	}
}

// adapt sizes the next batch by how long Neovim worked on this one. One that was not full does not show how much more
// Neovim could do.
func adapt(budget int, full bool, busy time.Duration) int {
	fitting := int(float64(budget) * float64(busyGoal) / float64(max(busy, busyGoal/2)))
	switch {
	case busy > busyGoal:
		return max(minBudget, budget/2, fitting)
	case full:
		return min(maxBudget, fitting)
	}
	return budget
}

// collect takes the waiting calls, and the operations of each source whose time has come; taken says that an unhurried
// source was asked, full that one of them has more. With nothing to do it returns how long until there may be
// something; 0 is until woken.
func (e *Editor) collect(budget int, free, due time.Time) (ops []Op, taken, full bool, next time.Duration) {
	now := time.Now()
	e.mu.Lock()
	ops, e.calls = e.calls, nil
	var ready []*source
	for _, m := range e.sources {
		if !m.marked {
			continue
		}
		at := free
		if own := m.last.Add(m.Interval()); !m.hurried {
			at = latest(at, due, own)
		}
		wait := at.Sub(now)
		if wait > 0 {
			if next == 0 || wait < next {
				next = wait
			}
			continue
		}
		taken = taken || !m.hurried
		m.marked, m.hurried, m.last = false, false, now
		ready = append(ready, m)
	}
	e.mu.Unlock()
	for _, m := range ready {
		some, more := m.Take(budget / len(ready))
		ops = append(ops, some...)
		if more {
			full = true
			e.mu.Lock()
			m.marked = true // no effect if it was forgotten meanwhile
			e.mu.Unlock()
		}
	}
	return ops, taken, full, next
}

func latest(at time.Time, others ...time.Time) time.Time {
	for _, other := range others {
		if other.After(at) {
			at = other
		}
	}
	return at
}

func (e *Editor) execute(ops []Op) (time.Duration, error) {
	batch := make([]any, len(ops))
	for i, op := range ops {
		batch[i] = []any{op.Name, op.Args}
	}
	answers, busy, err := e.nvim.Batch(batch)
	for i, op := range ops {
		switch {
		case err != nil:
			op.finish(nil, fmt.Errorf("%w: %w", ErrGone, err))
		case i >= len(answers):
			op.finish(nil, fmt.Errorf("%s: no answer from Neovim", op.Name))
		default:
			op.finish(result(op.Name, answers[i]))
		}
	}
	return busy, err
}

// result decodes one answer: {ok, value} as a list, where value is the error message if ok is false.
func result(name string, answer any) (any, error) {
	pair, _ := answer.([]any)
	if len(pair) == 0 {
		return nil, fmt.Errorf("%s: malformed answer from Neovim: %v", name, answer)
	}
	var value any
	if len(pair) > 1 {
		value = pair[1]
	}
	if ok, _ := pair[0].(bool); !ok {
		return nil, fmt.Errorf("%s: %v", name, value)
	}
	return value, nil
}

func (e *Editor) drain() {
	e.mu.Lock()
	calls := e.calls
	e.calls = nil
	e.mu.Unlock()
	for _, op := range calls {
		op.finish(nil, ErrGone)
	}
}
