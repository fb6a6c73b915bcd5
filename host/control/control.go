// Package control tracks the requests of a session that its agent should answer within seconds, unlike prompts: the
// user is told when one takes longer, and may cancel it.
package control

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/host/feature"
)

// Slow is how long an agent may take to answer before the user is told.
const Slow = 20 * time.Second

// ErrGivenUp is the answer to a request that the user has cancelled.
var ErrGivenUp = errors.New("it was cancelled")

// Requests are the unanswered requests of one session. They belong to the session's goroutine.
type Requests struct {
	base feature.Base
	blot func(text string) string // masks secrets
	open []*request
}

type request struct {
	method  string
	cancel  func()      // asks the agent to give it up
	over    atomic.Bool // answered or cancelled: whoever sets it calls back
	abandon func()      // calls back with ErrGivenUp
	slow    *time.Timer
}

// New returns the requests of a session, initially none. blot masks secrets in what the agent says.
func New(base feature.Base, blot func(text string) string) *Requests {
	return &Requests{base: base, blot: blot}
}

// Ask sends a request. The function that send gets for the answer must be called once, on any goroutine; it returns
// false if nobody waits any more. then is called on the session's goroutine, perhaps after the session has left the
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

// late says what an agent did not do in time.
func late(method string) string {
	switch method {
	case "initialize", "session/new":
		return "is slow to start"
	}
	return "has not answered " + method + " yet"
}

// Do is Ask for a request whose answer only confirms it.
func (r *Requests) Do(method string, send func(done func(error)) (cancel func()), then func(error)) {
	Ask(r, method, func(answer func(struct{}, error) bool) func() {
		return send(func(err error) { answer(struct{}{}, err) })
	}, func(_ struct{}, err error) { then(err) })
}

// Open reports whether a request with this method is unanswered.
func (r *Requests) Open(method string) bool {
	return slices.ContainsFunc(r.open, func(one *request) bool { return one.method == method })
}

// GiveUp cancels the unanswered requests, and reports whether there were any.
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

// Drop forgets the requests to an agent that the session is leaving.
func (r *Requests) Drop() {
	for _, one := range r.open {
		one.slow.Stop()
		if one.over.CompareAndSwap(false, true) {
			one.cancel()
		}
	}
	r.open = nil
}
