package host

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminal"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// terminals are those of one session: the commands that the agent runs through
// this client, and those that it runs itself and tells of. They are read by the
// agent's reader and by the session's goroutine.
type terminals struct {
	mu   sync.Mutex // guards the fields below
	byID map[string]*sessionTerminal
	all  []*sessionTerminal // in the order they began; each has its place as its number, from 1
	made int                // by this client
}

// sessionTerminal is one of them. After its release the agent cannot name it
// any more, and the chat goes on showing it.
type sessionTerminal struct {
	session, number int
	id              string
	display         *terminal.Display
	own             *terminal.Terminal // nil where the agent runs the command
	view            terminalView
	silent          bool // the agent gets none of the output, which the user sees

	// The fields below belong to the session's goroutine.

	command, cwd string

	mu      sync.Mutex            // guards the fields below
	exit    *session.TerminalExit // as the agent told it
	stopped bool                  // the turn was cancelled: it may never tell
	over    bool                  // the agent has released it, or is gone
}

// killGrace is how long a command has to end by itself when it is closed.
const killGrace = 200 * time.Millisecond

// add takes a terminal in. An id of "" is for one of this client's own.
func (t *terminals) add(term *sessionTerminal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[string]*sessionTerminal{}
	}
	for term.id == "" {
		t.made++
		if id := fmt.Sprintf("term-%d", t.made); t.byID[id] == nil {
			term.id = id
		}
	}
	t.byID[term.id] = term
	t.all = append(t.all, term)
	term.number = len(t.all)
}

// get returns a terminal that the agent may still use.
func (t *terminals) get(id string) (*sessionTerminal, error) {
	term := t.named(id)
	if term == nil || term.own == nil || term.isOver() {
		return nil, &acp.Error{Code: acp.CodeResourceNotFound, Message: fmt.Sprintf("there is no terminal %q", id)}
	}
	return term, nil
}

func (t *terminals) named(id string) *sessionTerminal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// numbered returns a terminal by its number, or nil.
func (t *terminals) numbered(n int) *sessionTerminal {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n < 1 || n > len(t.all) {
		return nil
	}
	return t.all[n-1]
}

func (t *terminals) each(f func(*sessionTerminal)) {
	t.mu.Lock()
	all := t.all[:len(t.all):len(t.all)]
	t.mu.Unlock()
	for _, term := range all {
		f(term)
	}
}

// screenful is the end of a terminal's output for the chat.
func (t *terminals) screenful(id string, n int) (transcript.Screenful, bool) {
	term := t.named(id)
	if term == nil {
		return transcript.Screenful{}, false
	}
	lines, total := term.display.Tail(n)
	s := transcript.Screenful{Total: total, Lines: make([]styled.Line, len(lines))}
	for i, l := range lines {
		s.Lines[i] = chatLine(l)
	}
	if exit, ended := term.ended(); ended && !exit.Succeeded() {
		s.State = exit.String()
	}
	return s, true
}

// chatLine keeps of a terminal's colours those that the user's scheme names.
func chatLine(l terminal.Line) styled.Line {
	out := styled.Line{Text: l.Text}
	for _, sp := range l.Spans {
		if c, named := sp.Style.FG.Palette(); named && c < 16 {
			out.Marks = append(out.Marks, styled.Mark{Col: sp.Col, EndCol: sp.EndCol, Group: styled.Ansi0 + styled.Group(c)})
		}
	}
	return out
}

// ended tells how the command ended, if it has.
func (t *sessionTerminal) ended() (session.TerminalExit, bool) {
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

// running tells whether the command goes on, as far as anybody can tell.
func (t *sessionTerminal) running() bool {
	_, ended := t.ended()
	t.mu.Lock()
	defer t.mu.Unlock()
	return !ended && (t.own != nil || !t.stopped && !t.over)
}

// finish says that the agent cannot name the terminal any more, and whether it
// could before.
func (t *sessionTerminal) finish() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.over
	t.over = true
	return !before
}

func (t *sessionTerminal) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

func (t *sessionTerminal) output() session.TerminalOutput {
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

// wait waits for the end of the command, or for ctx.
func (t *sessionTerminal) wait(ctx context.Context) (session.TerminalExit, error) {
	select {
	case <-t.own.Done():
		exit, _ := t.ended()
		return exit, nil
	case <-ctx.Done():
		return session.TerminalExit{}, ctx.Err()
	}
}

// createTerminal runs a command for the agent.
func (s *Session) createTerminal(r session.CreateTerminal) {
	if s.phase != ready {
		r.Reply("", errSessionClosed)
		return
	}
	dir, ok := s.base.Cwd, true
	if r.Dir != "" {
		dir, ok = s.base.Absolute(r.Dir)
	}
	if !ok {
		r.Reply("", &acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf("%q is no folder of this computer", r.Dir)})
		return
	}
	s.ledger.Worked()
	term := &sessionTerminal{session: s.id, command: commandLine(r.Command, r.Args), cwd: filepath.Clean(dir), silent: r.NoOutput}
	term.view.term, term.view.host = term, s.host
	changed := func() { s.base.Box.Put(func() { s.terminalChanged(term, false) }) }
	s.base.Background(func() {
		own, err := terminal.Start(terminal.Config{
			Command: r.Command, Args: r.Args, Env: r.Env, Dir: dir, OutputByteLimit: r.OutputByteLimit, Changed: changed,
		})
		if err != nil {
			r.Reply("", &acp.Error{Code: acp.CodeInvalidParams, Message: err.Error()})
			return
		}
		term.own, term.display = own, own.Display()
		s.base.Editor.Post(groupOp(own.PGID(), true))
		if !s.base.Box.Put(func() { s.takeTerminal(term, r.Reply) }) {
			own.Close(0)
			r.Reply("", errSessionClosed)
		}
		<-own.Done()
		s.base.Editor.Post(groupOp(own.PGID(), false))
		if !s.base.Box.Put(func() { s.terminalChanged(term, true) }) && term.number != 0 {
			// The session was closed, and the command with it.
			s.base.Editor.Post(editor.Do(rpc.Terminals{List: []rpc.Terminal{term.mirror()}}))
			term.view.changed()
		}
	})
}

// takeTerminal hands the agent a terminal whose command has been started,
// unless it has gone meanwhile.
func (s *Session) takeTerminal(term *sessionTerminal, reply func(string, error)) {
	if s.phase != ready {
		s.base.Background(func() { term.own.Close(0) })
		reply("", errSessionClosed)
		return
	}
	s.terminals.add(term)
	s.terminalChanged(term, true)
	reply(term.id, nil)
}

// release ends a terminal of this client's; it cannot be named from here on.
func (t *sessionTerminal) release(h *Host) {
	if t.finish() {
		h.background(func() { t.own.Close(killGrace) })
	}
}

// agentTerminal returns the terminal that the agent means, which begins with
// being named. One of an agent that is gone is another one.
func (s *Session) agentTerminal(id string) *sessionTerminal {
	term := s.terminals.named(id)
	if term != nil && (term.own != nil || !term.isOver()) {
		return term
	}
	term = &sessionTerminal{session: s.id, id: id, display: terminal.NewDisplay()}
	term.view.term, term.view.host = term, s.host
	s.terminals.add(term)
	s.terminalChanged(term, true)
	return term
}

// updateTerminal takes what the agent tells of a terminal that it owns.
func (s *Session) updateTerminal(u session.Update) {
	switch u := u.(type) {
	case session.TerminalPatch:
		term := s.agentTerminal(u.ID)
		if term.own != nil {
			s.base.Log.Warn("the agent tells of a terminal that is this client's", "session", s.id, "terminal", u.ID)
			return
		}
		term.patch(u)
		s.terminalChanged(term, true)
	case session.TerminalChunk:
		term := s.agentTerminal(u.ID)
		if term.own != nil {
			return
		}
		term.display.Write(u.Data, u.Plain)
		term.mu.Lock()
		revived := term.stopped
		term.stopped = false
		term.mu.Unlock()
		s.terminalChanged(term, revived)
	}
}

func (t *sessionTerminal) patch(p session.TerminalPatch) {
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

// refer sees to it that there is a terminal for each that a call shows. What
// the agent runs in it does not go on when the call has ended.
func (s *Session) refer(call *session.ToolCall) {
	for _, item := range call.Content {
		ref, ok := item.(session.TerminalRef)
		if !ok {
			continue
		}
		t := s.terminals.named(ref.TerminalID)
		if t == nil {
			t = s.agentTerminal(ref.TerminalID)
		}
		if call.Shown().Finished() {
			s.stopTerminal(t)
		}
	}
}

// stopTerminals says that a turn was cancelled or has failed: what the agent
// does not tell the end of counts as ended, until more comes of it.
func (s *Session) stopTerminals() {
	s.terminals.each(s.stopTerminal)
}

func (s *Session) stopTerminal(t *sessionTerminal) {
	if t.own == nil && t.running() {
		t.mu.Lock()
		t.stopped = true
		t.mu.Unlock()
		s.terminalChanged(t, true)
	}
}

// leaveTerminals ends the commands of an agent that is gone.
func (s *Session) leaveTerminals() {
	s.terminals.each(func(t *sessionTerminal) {
		if t.own != nil {
			t.release(s.host)
		} else if t.finish() {
			s.terminalChanged(t, true)
		}
	})
}

// terminalChanged says that a terminal shows more; or that what the mirror has
// of it is out of date too.
func (s *Session) terminalChanged(t *sessionTerminal, state bool) {
	if t.number == 0 {
		return // not handed out yet
	}
	s.shown.terminals[t] = s.shown.terminals[t] || state
	if state {
		s.urgent.Store(true)
	}
	s.mark()
	t.view.changed()
}

// mirror is the terminal as acp.terminals() returns it, and what the editor
// needs to know besides.
func (t *sessionTerminal) mirror() rpc.Terminal {
	m := rpc.Terminal{
		Session: t.session, Number: t.number, ID: t.id, Running: t.running(), TakesKeys: t.own != nil,
		Command: t.command, Cwd: t.cwd,
	}
	if exit, ended := t.ended(); ended {
		m.Ending, m.ExitCode, m.Signal = exit.String(), exit.Code, exit.Signal
	}
	return m
}

func (s *Session) terminalOps() []editor.Op {
	if len(s.shown.terminals) == 0 {
		return nil
	}
	var list []rpc.Terminal
	s.terminals.each(func(t *sessionTerminal) {
		if s.shown.terminals[t] {
			list = append(list, t.mirror())
		}
	})
	clear(s.shown.terminals)
	if len(list) == 0 {
		return nil
	}
	return []editor.Op{editor.Do(rpc.Terminals{List: list})}
}

// terminalsAt are the numbers of the terminals that the tool call at a row of
// the chat shows.
func (s *Session) terminalsAt(row int) []int {
	numbers := []int{}
	if call, ok := s.chat.Entry(row).(*session.ToolCall); ok {
		for _, item := range call.Content {
			if ref, ok := item.(session.TerminalRef); ok {
				if t := s.terminals.named(ref.TerminalID); t != nil {
					numbers = append(numbers, t.number)
				}
			}
		}
	}
	return numbers
}

// commandLine is a command as a shell would take it.
func commandLine(command string, args []string) string {
	if len(args) == 0 {
		return command
	}
	return command + " " + session.Quoted(args)
}
