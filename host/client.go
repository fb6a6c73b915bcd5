package host

import (
	"context"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/opening"
	"github.com/acp-nvim/acp-nvim/host/terminals"
)

// This file connects an agent and its sessions: the agent as a session sees it, and what it asks of them.

// member is an agent as one of its sessions sees it.
type member struct {
	session.Agent
	process *agent
	s       *Session
}

var _ opening.Agent = member{}

func (m member) Route(id string)       { m.process.routes.add(id, m.s) }
func (m member) Unroute(id string)     { m.process.routes.remove(id, m.s) }
func (m member) AwaitName()            { m.process.routes.awaitName() }
func (m member) Named()                { m.process.routes.named() }
func (m member) ForgetEarly(id string) { m.process.routes.forgetEarly(id) }

func (m member) Discard(id string) {
	m.Unroute(id)
	m.Close(id)
}

// clientOf is the client side of an agent: it passes each call to its session.
type clientOf struct{ *agent }

var _ session.Client = clientOf{}

func (c clientOf) Update(id string, u session.Update) {
	c.routes.to(id, func(s *Session) { s.base.Box.PutSlowly(func() { s.opening.Hear(u) }) })
}

func (c clientOf) RequestPermission(r session.PermissionRequest) {
	s, err := c.routes.session(r.SessionID)
	if err != nil || !s.base.Box.PutSlowly(func() { s.permission.Ask(r) }) {
		r.Reply("")
	}
}

// Elicit passes a question to its session or, if it belongs to none, to one of those that wait for the agent.
func (c clientOf) Elicit(e session.ElicitationRequest) {
	cancel := func() { e.Reply(session.ElicitationAnswer{Action: session.ElicitationCancel}) }
	ask := func(s *Session) {
		if !s.base.Box.PutSlowly(func() { s.questions.Ask(e) }) {
			cancel()
		}
	}
	if e.SessionID != "" {
		c.routes.ask(e.SessionID, ask, cancel)
	} else if s := c.routes.unnamedOf(c.sessions()); s != nil {
		ask(s)
	} else {
		cancel()
	}
}

func (c clientOf) Works(id string, w session.OwnWork) {
	c.routes.to(id, func(s *Session) { s.base.Box.PutSlowly(func() { s.ownWork(w) }) })
}

func (c clientOf) LoggedIn(l session.Login) {
	c.mu.Lock()
	c.login = l
	c.mu.Unlock()
	for _, s := range c.sessions() {
		s.base.Box.Put(s.view.Changed)
	}
}

func (c clientOf) Extend(r session.ExtensionRequest) bool { return c.host.extension.Ask(r) }

func (c clientOf) ElicitationCompleted(id string) {
	for _, s := range c.sessions() {
		s.base.Box.Put(func() { s.questions.Completed(id) })
	}
}

func (c clientOf) ReadTextFile(r session.ReadTextFile) {
	s, err := c.routes.session(r.SessionID)
	if err != nil {
		r.Reply("", err)
		return
	}
	s.permission.Read(r)
}

func (c clientOf) WriteTextFile(r session.WriteTextFile) {
	s, err := c.routes.session(r.SessionID)
	if err != nil {
		r.Reply(err)
		return
	}
	s.permission.Write(r)
}

func (c clientOf) CreateTerminal(r session.CreateTerminal) {
	s, err := c.routes.session(r.SessionID)
	if err == nil && !s.base.Box.PutSlowly(func() { s.terminals.Create(r) }) {
		err = feature.ErrClosed
	}
	if err != nil {
		r.Reply("", err)
	}
}

func (c clientOf) TerminalOutput(sessionID, id string) (session.TerminalOutput, error) {
	t, err := c.terminal(sessionID, id)
	if err != nil {
		return session.TerminalOutput{}, err
	}
	return t.Output(), nil
}

func (c clientOf) WaitForTerminalExit(ctx context.Context, sessionID, id string, reply func(session.TerminalExit, error)) {
	t, err := c.terminal(sessionID, id)
	if err != nil {
		reply(session.TerminalExit{}, err)
		return
	}
	c.host.background(func() { reply(t.Wait(ctx)) })
}

func (c clientOf) KillTerminal(sessionID, id string) error {
	t, err := c.terminal(sessionID, id)
	if err == nil {
		t.Kill()
	}
	return err
}

func (c clientOf) ReleaseTerminal(sessionID, id string) error {
	t, err := c.terminal(sessionID, id)
	if err == nil {
		t.Release()
	}
	return err
}

func (c clientOf) terminal(sessionID, id string) (*terminals.Terminal, error) {
	s, err := c.routes.session(sessionID)
	if err != nil {
		return nil, err
	}
	return s.terminals.Get(id)
}
