package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/host/failure"
)

// control is a request of a session that its agent should answer within
// seconds, which a prompt is not: the user is told when it takes longer, and
// may give it up.
type control struct {
	method  string
	cancel  func()      // asks the agent to give it up
	over    atomic.Bool // answered, or given up: whoever sets it may tell
	abandon func()      // tells who asked
	slow    *time.Timer
}

// slowAnswer is when the user is told that an agent has not answered.
const slowAnswer = 20 * time.Second

// errGivenUp is the answer to a request that the user has cancelled.
var errGivenUp = errors.New("it was cancelled")

// ask sends a control request. The function that send gets for the answer is
// to be called once, on any goroutine; it returns false when nobody waits any
// more. then is called on the session's goroutine, perhaps after the session
// has left the agent.
func ask[T any](s *Session, method string, send func(answer func(T, error) bool) (cancel func()), then func(T, error)) {
	c := &control{method: method}
	finish := func(value T, err error) {
		c.slow.Stop()
		s.pending = slices.DeleteFunc(s.pending, func(other *control) bool { return other == c })
		then(value, err)
	}
	c.abandon = func() {
		var none T
		finish(none, errGivenUp)
	}
	c.slow = s.later(slowAnswer, func() {
		if slices.Contains(s.pending, c) {
			s.remark("warning", fmt.Sprintf("%s has not answered %s yet. :Acp cancel gives it up, :Acp restart starts it again, :Acp traffic shows what was said.",
				s.base.Title, method))
		}
	})
	s.pending = append(s.pending, c)
	c.cancel = send(func(value T, err error) bool {
		return c.over.CompareAndSwap(false, true) && s.base.Box.Put(func() { finish(value, err) })
	})
}

// askPlain is ask for a request whose answer says no more than that it was done.
func askPlain(s *Session, method string, send func(done func(error)) (cancel func()), then func(error)) {
	ask(s, method, func(answer func(struct{}, error) bool) func() {
		return send(func(err error) { answer(struct{}{}, err) })
	}, func(_ struct{}, err error) { then(err) })
}

// asking reports whether a request of this method has no answer yet.
func (s *Session) asking(method string) bool {
	return slices.ContainsFunc(s.pending, func(c *control) bool { return c.method == method })
}

// giveUp cancels the control requests that have no answer, and reports whether
// there were any.
func (s *Session) giveUp() bool {
	some := false
	for _, c := range slices.Clone(s.pending) {
		if c.over.CompareAndSwap(false, true) {
			c.cancel()
			c.abandon()
			some = true
		}
	}
	return some
}

// dropControls forgets the requests to an agent that the session leaves.
func (s *Session) dropControls() {
	for _, c := range s.pending {
		c.slow.Stop()
		if c.over.CompareAndSwap(false, true) {
			c.cancel()
		}
	}
	s.pending = nil
}

// refusal is the sentence for an error answer to a request of ours.
func (s *Session) refusal(method string, err error) *failure.Failure {
	var told *failure.Failure
	if errors.As(err, &told) {
		return told
	}
	if errors.Is(err, errGivenUp) {
		return &failure.Failure{Sentence: method + " was cancelled.", Advice: ":Acp restart tries again."}
	}
	words, detail := failure.Explain(err)
	return &failure.Failure{
		Sentence: fmt.Sprintf("%s refused %s: %s.", s.base.Title, method, strings.TrimRight(words, ".")),
		Advice:   ":Acp restart tries again, :Acp traffic shows what was said.",
		Detail:   detail,
	}
}
