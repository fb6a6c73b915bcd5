package terminals

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// posted is a Neovim that notes what is posted to it.
type posted struct {
	mu   sync.Mutex
	ops  []any
	fail bool // at what it is to show
}

func (n *posted) Batch(ops []any) ([]any, time.Duration, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := make([]any, len(ops))
	for i, op := range ops {
		n.ops = append(n.ops, op.([]any)[1])
		answers[i] = []any{!n.fail, nil}
	}
	return answers, 0, nil
}

// told returns what came since the last call.
func (n *posted) told() []any {
	n.mu.Lock()
	defer n.mu.Unlock()
	ops := n.ops
	n.ops = nil
	return ops
}

// shown is a set of terminals without a session, and the Neovim that shows it.
func shown() (*Set, *posted) {
	nvim := &posted{}
	e := editor.New(nvim)
	go e.Run()
	return New(Config{Base: feature.Base{Session: 1, Editor: e, Log: slog.New(slog.DiscardHandler)}, Mark: func(bool) {}}), nvim
}

// runs is a set of terminals with the goroutine of its session.
type runs struct {
	*Set
	t      *testing.T
	nvim   *posted
	closed atomic.Bool // the agent is gone
	work   sync.WaitGroup
}

// running returns an empty set in a folder of its own; its commands end with the test.
func running(t *testing.T) *runs {
	s, nvim := shown()
	r := &runs{Set: s, t: t, nvim: nvim}
	s.Box, s.Background = mailbox.New(), r.work.Go
	s.Ready, s.Worked = func() bool { return !r.closed.Load() }, func() {}
	s.Cwd = t.TempDir()
	r.work.Go(s.Box.Run)
	t.Cleanup(func() {
		s.Box.Put(s.Release)
		s.Box.Close()
		r.work.Wait()
		s.Editor.Close()
	})
	return r
}

// do runs a function on the session's goroutine.
func (r *runs) do(f func()) {
	r.t.Helper()
	done := make(chan struct{})
	if !r.Box.Put(func() { f(); close(done) }) {
		r.t.Fatal("the session is closed")
	}
	must.Receive(r.t, "the session's goroutine", done)
}

// create runs a command for the agent and returns what it is told.
func (r *runs) create(c session.CreateTerminal) (id string, err error) {
	r.t.Helper()
	came := make(chan struct{})
	c.Reply = func(i string, e error) {
		id, err = i, e
		close(came)
	}
	r.do(func() { r.Create(c) })
	must.Receive(r.t, "an answer", came)
	if err != nil && id != "" {
		r.t.Errorf("there is a terminal %q, and not: %v", id, err)
	}
	return id, err
}

// start runs a line of sh for the agent.
func (r *runs) start(line string) *Terminal {
	r.t.Helper()
	id, err := r.create(session.CreateTerminal{Command: "sh", Args: []string{"-c", line}})
	must.Do(r.t, err)
	term, err := r.Get(id)
	must.Do(r.t, err)
	return term
}

// list returns Lua's copy of the terminals that changed.
func (r *runs) list() (list []rpc.Terminal) {
	r.do(func() {
		for _, op := range r.Ops() {
			list = append(list, op.Args.(rpc.Terminals).List...)
		}
	})
	return list
}

// killed waits until Neovim knows that the only command has ended.
func (r *runs) killed() {
	r.t.Helper()
	var groups []rpc.Group
	must.Become(r.t, "the end of the command", func() bool {
		for _, op := range r.nvim.told() {
			if g, ok := op.(rpc.Group); ok {
				groups = append(groups, g)
			}
		}
		return len(groups) == 2
	})
	if groups[0].Pgid != groups[1].Pgid || !groups[0].Alive || groups[1].Alive {
		r.t.Errorf("Neovim is told of %+v", groups)
	}
}
