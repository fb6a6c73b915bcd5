package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/terminal"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// terminals are the commands that an agent runs through this client in one
// session. They are read by the agent's reader and by the session's goroutine.
type terminals struct {
	mu   sync.Mutex // guards the fields below
	byID map[string]*sessionTerminal
	made int
}

// sessionTerminal is one of them. After its release the agent cannot name it
// any more, and the chat goes on showing it.
type sessionTerminal struct {
	*terminal.Terminal
	released bool // guarded by terminals.mu
	release  func()
}

// killGrace is how long a command has to end by itself when it is closed.
const killGrace = 200 * time.Millisecond

func (t *terminals) add(term *sessionTerminal) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[string]*sessionTerminal{}
	}
	t.made++
	id := fmt.Sprintf("term-%d", t.made)
	t.byID[id] = term
	return id
}

// get returns a terminal that the agent may still use.
func (t *terminals) get(id string) (*sessionTerminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	term := t.byID[id]
	if term == nil || term.released {
		return nil, &acp.Error{Code: acp.CodeResourceNotFound, Message: fmt.Sprintf("there is no terminal %q", id)}
	}
	return term, nil
}

// closeAll ends every command, in the background.
func (t *terminals) closeAll(background func(func())) {
	t.mu.Lock()
	var open []*sessionTerminal
	for _, term := range t.byID {
		if !term.released {
			term.released = true
			open = append(open, term)
		}
	}
	t.mu.Unlock()
	for _, term := range open {
		background(func() { term.Close(killGrace) })
	}
}

// screenful is the end of a terminal's output for the chat.
func (t *terminals) screenful(id string, n int) (transcript.Screenful, bool) {
	t.mu.Lock()
	term := t.byID[id]
	t.mu.Unlock()
	if term == nil {
		return transcript.Screenful{}, false
	}
	lines, total := term.Tail(n)
	s := transcript.Screenful{Total: total, Lines: make([]transcript.Line, len(lines))}
	for i, l := range lines {
		s.Lines[i] = chatLine(l)
	}
	if exit, ended := term.Exit(); ended {
		s.State = exitText(exit)
	}
	return s, true
}

// chatLine keeps of a terminal's colours those that the user's scheme names.
func chatLine(l terminal.Line) transcript.Line {
	out := transcript.Line{Text: l.Text}
	for _, sp := range l.Spans {
		if c, named := sp.Style.FG.Palette(); named && c < 16 {
			out.Marks = append(out.Marks, transcript.Mark{Col: sp.Col, EndCol: sp.EndCol, Group: transcript.Ansi0 + transcript.Group(c)})
		}
	}
	return out
}

// exitText says how a command ended, where that is worth saying.
func exitText(e terminal.Exit) string {
	switch {
	case e.Signal != "":
		return "killed by " + e.Signal
	case e.Code != nil && *e.Code != 0:
		return fmt.Sprintf("exited with code %d", *e.Code)
	}
	return ""
}

func (s *Session) createTerminal(r session.CreateTerminal) {
	if s.phase != ready {
		r.Reply("", errSessionClosed)
		return
	}
	dir := r.Dir
	if dir == "" {
		dir = s.cwd
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.cwd, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		r.Reply("", &acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf("cwd %s is no folder", dir)})
		return
	}
	term := &sessionTerminal{}
	var id string
	changed := func() {
		s.box.put(func() {
			s.chat.TouchTerminal(id)
			s.mark()
		})
	}
	t, err := terminal.Start(terminal.Config{
		Command: r.Command, Args: r.Args, Env: r.Env, Dir: dir, OutputByteLimit: r.OutputByteLimit, Changed: changed,
	})
	if err != nil {
		r.Reply("", &acp.Error{Code: acp.CodeInvalidParams, Message: err.Error()})
		return
	}
	term.Terminal = t
	id = s.terminals.add(term)
	s.host.editor.Post(groupOp(t.PGID(), true))
	term.release = func() {
		s.terminals.mu.Lock()
		term.released = true
		s.terminals.mu.Unlock()
		t.Close(killGrace)
	}
	s.host.background(func() {
		<-t.Done()
		s.host.editor.Post(groupOp(t.PGID(), false))
		changed()
	})
	r.Reply(id, nil)
}

func (t *sessionTerminal) output() session.TerminalOutput {
	o := t.Output()
	out := session.TerminalOutput{Text: o.Text, Truncated: o.Truncated}
	if o.Exit != nil {
		out.Exit = &session.TerminalExit{Code: o.Exit.Code, Signal: o.Exit.Signal}
	}
	return out
}

// wait waits for the end of the command, or for ctx.
func (t *sessionTerminal) wait(ctx context.Context) (session.TerminalExit, error) {
	select {
	case <-t.Done():
		exit, _ := t.Exit()
		return session.TerminalExit{Code: exit.Code, Signal: exit.Signal}, nil
	case <-ctx.Done():
		return session.TerminalExit{}, ctx.Err()
	}
}
