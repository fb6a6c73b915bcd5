package editortools

import (
	"context"
	"errors"
	"sync"
	"time"
)

// This file says which session of an agent's process has called a tool.

// callPatience is how long a call that names a tool call waits for the agent to report that, if several turns are
// running.
const callPatience = 3 * time.Second

// maxCalls is how many tool calls are remembered.
const maxCalls = 1024

var (
	errNoTurn    = errors.New("no turn of this agent is running, so nobody in Neovim has asked for this")
	errManyTurns = errors.New("several sessions of this agent are working and the call does not say which one it is for: try again when only one is")
	errTurnEnded = errors.New("the turn has ended")
)

// callers are the sessions of an agent's process.
type callers struct {
	mu      sync.Mutex
	turns   map[*Caller]*turn
	named   map[string]*Caller // by the agent's id
	calls   map[string]*Caller // by the tool call's id
	order   []string           // of the calls, oldest first
	changed chan struct{}      // closed when a call has come
}

// turn is a session's current turn. Calls are abandoned with it.
type turn struct {
	ctx context.Context
	end context.CancelCauseFunc
}

func newCallers() *callers {
	return &callers{turns: map[*Caller]*turn{}, named: map[string]*Caller{}, calls: map[string]*Caller{}, changed: make(chan struct{})}
}

// Named sets the agent's id of a session.
func (c *callers) Named(id string, s *Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.named[id] = s
}

// Begin says that a turn of a session has begun.
func (c *callers) Begin(s *Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turns[s] == nil {
		ctx, end := context.WithCancelCause(context.Background())
		c.turns[s] = &turn{ctx, end}
	}
}

// End says that the turn has ended, or is being cancelled.
func (c *callers) End(s *Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.turns[s]; t != nil {
		t.end(errTurnEnded)
		delete(c.turns, s)
	}
}

// Forget says that a session is no longer the agent's.
func (c *callers) Forget(s *Caller) {
	c.End(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, of := range c.named {
		if of == s {
			delete(c.named, id)
		}
	}
	for id, of := range c.calls {
		if of == s {
			delete(c.calls, id)
		}
	}
}

// Seen says that a session has reported a tool call.
func (c *callers) Seen(id string, s *Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.calls[id] {
	case s:
		return
	case nil:
		if c.order = append(c.order, id); len(c.order) > maxCalls {
			delete(c.calls, c.order[0])
			c.order = c.order[1:]
		}
	}
	c.calls[id] = s
	close(c.changed)
	c.changed = make(chan struct{})
}

// said is what a call says about its origin. Each agent says it differently.
type said struct {
	session, call string
}

func saidBy(meta map[string]any) said {
	var s said
	var look func(m map[string]any, deep bool)
	look = func(m map[string]any, deep bool) {
		for key, value := range m {
			switch v := value.(type) {
			case string:
				switch key {
				case "claudecode/toolUseId", "callId":
					s.call = v
				case "sessionId", "threadId":
					s.session = v
				}
			case map[string]any:
				if deep {
					look(v, false)
				}
			}
		}
	}
	look(meta, true)
	return s
}

// find returns the session of a call: by the tool call that it names, by the session that it names, else the only one
// that has a turn. Only a working session gets an answer: the context ends with its turn.
func (c *callers) find(ctx context.Context, from said) (*Caller, *turn, error) {
	patience := time.NewTimer(callPatience)
	defer patience.Stop()
	for {
		c.mu.Lock()
		s, clear := c.calls[from.call], true
		if s == nil {
			s = c.named[from.session]
		}
		if s == nil && len(c.turns) == 1 {
			for s = range c.turns {
				break
			}
		}
		if s == nil {
			clear = from.call == "" // otherwise the agent may still report the call
		}
		var t *turn
		if s != nil {
			t = c.turns[s]
		}
		running, changed := len(c.turns), c.changed
		c.mu.Unlock()
		switch {
		case t != nil:
			return s, t, nil
		case s != nil, running == 0:
			return nil, nil, errNoTurn
		case clear:
			return nil, nil, errManyTurns
		}
		select {
		case <-changed:
		case <-patience.C:
			return nil, nil, errManyTurns
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}
