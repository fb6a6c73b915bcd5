package editortools

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// The session of a call is the one that it names, else the only one that works.
func TestWhoseACallIs(t *testing.T) {
	one, two := &Caller{}, &Caller{}
	c := newCallers()
	find := func(meta map[string]any) (*Caller, error) {
		s, _, err := c.find(t.Context(), saidBy(meta))
		return s, err
	}
	want := func(meta map[string]any, s *Caller, why error) {
		t.Helper()
		if got, err := find(meta); got != s || !errors.Is(err, why) {
			t.Errorf("%v: %p, %v", meta, got, err)
		}
	}
	want(nil, nil, errNoTurn)
	c.Named("s1", one)
	c.Named("s2", two)
	c.Begin(one)
	want(nil, one, nil)
	want(map[string]any{"callId": "unknown"}, one, nil)
	want(map[string]any{"threadId": "s2"}, nil, errNoTurn) // which does not work at the moment
	c.Begin(two)
	want(nil, nil, errManyTurns)
	want(map[string]any{"sessionId": "s1"}, one, nil)
	c.Seen("call", two)
	want(map[string]any{"claudecode/toolUseId": "call"}, two, nil)
	want(map[string]any{"x": map[string]any{"callId": "call"}}, two, nil)
	want(map[string]any{"x": map[string]any{"y": map[string]any{"callId": "call"}}}, nil, errManyTurns)
	_, turn, _ := c.find(t.Context(), said{call: "call"})
	c.Seen("first", one)
	c.Forget(two)
	if turn.ctx.Err() == nil {
		t.Error("a call goes on without its session")
	}
	want(nil, one, nil)
	c.Begin(two)
	want(map[string]any{"sessionId": "s1"}, one, nil)
	want(map[string]any{"callId": "first"}, one, nil)
	want(map[string]any{"sessionId": "s2"}, nil, errManyTurns)
}

// A call may come before the agent tells of it.
func TestACallBeforeItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &Caller{}, &Caller{}
		c := newCallers()
		c.Begin(one)
		c.Begin(two)
		got := make(chan *Caller)
		go func() {
			s, _, _ := c.find(t.Context(), said{call: "later"})
			got <- s
		}()
		synctest.Wait()
		c.Seen("other", one)
		synctest.Wait()
		c.Seen("later", two)
		check.Equal(t, <-got, two, "the call is another session's: %v")
		if _, _, err := c.find(t.Context(), said{call: "never"}); !errors.Is(err, errManyTurns) {
			t.Errorf("a call that is never told: %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errTurnEnded)
		if _, _, err := c.find(ctx, said{call: "never"}); !errors.Is(err, errTurnEnded) {
			t.Errorf("a call that ends before it is told: %v", err)
		}
	})
}

// Of the tool calls of a long session the last are known, the first are forgotten.
func TestManyCalls(t *testing.T) {
	one, two := &Caller{}, &Caller{}
	c := newCallers()
	c.Begin(one)
	c.Begin(two)
	for i := range maxCalls + 2 {
		c.Seen(fmt.Sprint("call ", i), one)
	}
	check.Equal(t, len(c.calls), maxCalls, "%d calls are known")
	check.Equal(t, len(c.order), maxCalls, "%d calls are in order")
	for id, known := range map[string]bool{"call 1": false, "call 2": true, fmt.Sprint("call ", maxCalls+1): true} {
		check.Equal(t, c.calls[id] == one, known, "whether %q is known is %v", id)
	}
}
