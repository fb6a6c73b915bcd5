package terminals

import (
	"context"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/terminal"
)

// Terminal is one terminal of a session. After its release the agent can no longer name it, but the chat still shows
// it. Any goroutine may call the exported methods, on a terminal of this client's.
type Terminal struct {
	set     *Set
	number  int // 0 until it is in the set
	id      string
	display *terminal.Display
	own     *terminal.Terminal // nil if the agent runs the command
	view    view
	silent  bool // the agent gets none of the output, which the user sees

	command, cwd string // belong to the session's goroutine
	counted      bool   // it has ended, and was put into [Set.whole]; belongs to it too

	mu       sync.Mutex            // guards the fields below
	exit     *session.TerminalExit // as the agent reported it
	stopped  bool                  // the turn was cancelled: the end may never be reported
	behind   bool                  // it runs in the background, whatever happens to its call
	released bool                  // by the agent, or the agent is gone
}

func (s *Set) terminal(id string) *Terminal {
	t := &Terminal{set: s, id: id}
	t.view.term = t
	return t
}

// ended reports whether the command has ended, and how.
func (t *Terminal) ended() (session.TerminalExit, bool) {
	if t.own != nil {
		exit, ended := t.own.Exit()
		return session.TerminalExit{Code: exit.Code, Signal: exit.Signal}, ended
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exit == nil {
		return session.TerminalExit{}, false
	}
	return *t.exit, true
}

// running reports whether the command is still running, as far as known.
func (t *Terminal) running() bool {
	_, ended := t.ended()
	t.mu.Lock()
	defer t.mu.Unlock()
	return !ended && (t.own != nil || !t.released && (t.behind || !t.stopped))
}

// goesOn says whether the command runs in the background, and reports whether that is new.
func (t *Terminal) goesOn(behind bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.behind
	t.behind = behind
	return was != behind
}

// isBehind reports whether the command runs in the background.
func (t *Terminal) isBehind() bool {
	running := t.running()
	t.mu.Lock()
	defer t.mu.Unlock()
	return running && t.behind
}

// stop marks a terminal of the agent's as ended, and reports whether it was running.
func (t *Terminal) stop() bool {
	if t.own != nil || !t.running() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	return true
}

// revive undoes stop, and reports whether there was one.
func (t *Terminal) revive() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	stopped := t.stopped
	t.stopped = false
	return stopped
}

// release removes the terminal's name, and reports whether it had one.
func (t *Terminal) release() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	released := t.released
	t.released = true
	return !released
}

func (t *Terminal) isReleased() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.released
}

// Release ends the command; the agent cannot name the terminal from here on.
func (t *Terminal) Release() {
	if t.release() {
		t.set.letGo()
		t.set.Background(func() { t.own.Close(killGrace) })
	}
}

// Kill ends the command.
func (t *Terminal) Kill() { t.own.Kill() }

// Output returns the output for the agent.
func (t *Terminal) Output() session.TerminalOutput {
	o := t.own.Output()
	out := session.TerminalOutput{Text: o.Text, Truncated: o.Truncated}
	if t.silent {
		out.Text, out.Truncated = "", o.Truncated || o.Text != ""
	}
	if o.Exit != nil {
		out.Exit = &session.TerminalExit{Code: o.Exit.Code, Signal: o.Exit.Signal}
	}
	return out
}

// Wait waits for the end of the command; its error is that of ctx.
func (t *Terminal) Wait(ctx context.Context) (session.TerminalExit, error) {
	select {
	case <-t.own.Done():
		exit, _ := t.ended()
		return exit, nil
	case <-ctx.Done():
		return session.TerminalExit{}, ctx.Err()
	}
}

// patch applies what the agent reports.
func (t *Terminal) patch(p session.TerminalPatch) {
	if !p.Command.IsZero() {
		t.command = p.Command.Or("")
	}
	if !p.Cwd.IsZero() {
		t.cwd = p.Cwd.Or("")
	}
	if size, ok := p.Size.Get(); ok {
		t.display.Resize(size.Cols, size.Rows)
	}
	if !p.Output.IsZero() {
		t.display.Replace(p.Output.Or(nil), p.Plain)
	}
	if !p.Exit.IsZero() {
		t.mu.Lock()
		t.exit = nil
		if exit, ok := p.Exit.Get(); ok {
			t.exit = &exit
		}
		t.mu.Unlock()
	}
}

// luaTerminal returns the terminal as acp.terminals() does, and what else Lua needs.
func (t *Terminal) luaTerminal() rpc.Terminal {
	m := rpc.Terminal{
		Session: t.set.Session, Number: t.number, ID: t.id, Running: t.running(), TakesKeys: t.own != nil,
		Command: t.command, Cwd: t.cwd,
	}
	if exit, ended := t.ended(); ended {
		m.Ending, m.ExitCode, m.Signal = exit.String(), exit.Code, exit.Signal
	}
	return m
}
