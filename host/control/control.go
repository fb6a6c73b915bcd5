// Package control has the requests of a session that its agent should answer within seconds, which a prompt is not: the
// user is told when one takes longer, and may give it up.
package control

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/host/feature"
)

// Slow is after how long the user is told that an agent has not answered.
const Slow = 20 * time.Second

// ErrGivenUp is the answer to a request that the user has cancelled.
var ErrGivenUp = errors.New("it was cancelled")

// Requests are those of one session that have no answer yet. They belong to the session's goroutine.
type Requests struct {
	base feature.Base
	blot func(text string) string // blots out secrets
	open []*request
}

type request struct {
	method  string
	cancel  func()      // asks the agent to give it up
	over    atomic.Bool // answered, or given up: whoever sets it may call back
	abandon func()      // calls back with ErrGivenUp
	slow    *time.Timer
}

// New makes the requests of a session; there are none. blot blots secrets out of what the agent says.
func New(base feature.Base, blot func(text string) string) *Requests {
	return &Requests{base: base, blot: blot}
}

// Ask sends a request. The function that send gets for the answer is to be called once, on any goroutine; it returns
// false when nobody waits any more. then is called on the session's goroutine, perhaps after the session has left the
// agent.
func Ask[T any](r *Requests, method string, send func(answer func(T, error) bool) (cancel func()), then func(T, error)) {
	one := &request{method: method}
	finish := func(value T, err error) {
		one.slow.Stop()
		r.open = slices.DeleteFunc(r.open, func(other *request) bool { return other == one })
		then(value, err)
	}
	one.abandon = func() {
		var none T
		finish(none, ErrGivenUp)
	}
	one.slow = time.AfterFunc(Slow, func() {
		r.base.Box.Put(func() {
			if slices.Contains(r.open, one) {
				r.base.Remark("warning", fmt.Sprintf("%s %s. :Acp cancel gives up on it, :Acp restart starts it again, :Acp traffic shows what was said.",
					r.base.Title, late(method)))
			}
		})
	})
	r.open = append(r.open, one)
	one.cancel = send(func(value T, err error) bool {
		return one.over.CompareAndSwap(false, true) && r.base.Box.Put(func() { finish(value, err) })
	})
}

// late says what an agent has not done in time.
func late(method string) string {
	switch method {
	case "initialize", "session/new":
		return "is slow to start"
	}
	return "has not answered " + method + " yet"
}

// Do is Ask for a request whose answer says no more than that it was done.
func (r *Requests) Do(method string, send func(done func(error)) (cancel func()), then func(error)) {
	Ask(r, method, func(answer func(struct{}, error) bool) func() {
		return send(func(err error) { answer(struct{}{}, err) })
	}, func(_ struct{}, err error) { then(err) })
}

// Open reports whether a request of this method has no answer yet.
func (r *Requests) Open(method string) bool {
	return slices.ContainsFunc(r.open, func(one *request) bool { return one.method == method })
}

// GiveUp cancels the requests that have no answer, and reports whether there were any.
func (r *Requests) GiveUp() bool {
	some := false
	for _, one := range slices.Clone(r.open) {
		if one.over.CompareAndSwap(false, true) {
			one.cancel()
			one.abandon()
			some = true
		}
	}
	return some
}

// Drop forgets the requests to an agent that the session leaves.
func (r *Requests) Drop() {
	for _, one := range r.open {
		one.slow.Stop()
		if one.over.CompareAndSwap(false, true) {
			one.cancel()
		}
	}
	r.open = nil
}
