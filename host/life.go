package host

import (
	"errors"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/opening"
)

// This file has the life of a session: it starts, waits for a login, gets ready, is restarted, dies, is closed.

// start finds or starts the agent's process and opens the session in it.
func (s *Session) start() {
	s.phase, s.failure = starting, ""
	s.reading = false
	s.view.Changed()
	s.prompts.Unsaved.Forget()
	s.ledger.LookAtFolders()
	a, err := s.host.agentFor(s.spec, s.base.Cwd)
	if err != nil {
		s.die(err)
		return
	}
	s.agent = a
	control.Ask(s.requests, "initialize", func(answer func(session.Info, error) bool) func() {
		a.join(s, func(info session.Info, err error) { answer(info, err) })
		return func() {} // other sessions wait for it too
	}, func(info session.Info, err error) {
		switch {
		case s.agent != a: // closed or restarted meanwhile
		case err != nil:
			s.die(s.requests.Refusal("initialize", err))
		default:
			s.info = info
			s.open()
		}
	})
}

// open opens the session in its agent.
func (s *Session) open() {
	s.phase = starting
	s.opening.Open()
}

// becomeReady lets the user's prompts be sent, each once the session's folders have been scanned.
func (s *Session) becomeReady() {
	if s.phase != starting {
		return
	}
	s.ledger.Opened(s.about())
	s.host.knowFolders(s.spec.Name, s.opening.Stored(), s.base.Roots)
	s.keepTitle()
	s.events.Add("AcpSessionReady", nil)
	s.goOn()
}

// goOn does what was waiting for the session to be ready.
func (s *Session) goOn() {
	s.phase, s.failure = ready, ""
	waiting := s.login.Over()
	s.remarks.SayReminder()
	s.view.Changed()
	for _, f := range waiting {
		f()
	}
	s.prompts.Proceed()
}

// restart ends the agent's process and starts it again, with all sessions that live in it or died with it.
func (s *Session) restart() {
	if a := s.agent; a != nil {
		for _, other := range a.abandon() {
			if other != s {
				other.base.Box.Put(func() {
					if other.agent == a {
						other.again()
					}
				})
			}
		}
		a.stop()
	} else if a := s.died; a != nil {
		s.host.others(s, func(other *Session) {
			if other.died == a && other.phase == dead {
				other.again()
			}
		})
	}
	s.again()
}

// again opens the session in a new process. Queued prompts wait for that, and so does a prompt that a login
// interrupted.
func (s *Session) again() {
	if s.prompts.Working() {
		s.endTurn(session.StopError, "The session was restarted.")
	}
	s.detach()
	s.died = nil
	s.opening.Again(s.conv.Said())
	s.start()
}

// loggedIn handles the user's login to the agent, which is asked again for what it refused.
func (s *Session) loggedIn(a *agent) {
	switch {
	case s.agent != a || s.phase != authRequired:
	case s.opening.ID() == "":
		s.open()
	default:
		s.goOn()
	}
}

// reconnect restarts the agent after a login outside its process, and with it the agent's other processes that wait for
// a login.
func (s *Session) reconnect() {
	s.host.others(s, func(other *Session) {
		if other.spec.Name == s.spec.Name && other.phase == authRequired {
			other.restart()
		}
	})
	s.restart()
}

// member returns the agent as this session sees it, nil while there is none to talk to.
func (s *Session) member() opening.Agent {
	if s.agent == nil {
		return nil
	}
	adapter := s.agent.speaks()
	if adapter == nil {
		return nil
	}
	return member{adapter, s.agent, s}
}

// speaks is member for what belongs to no session.
func (s *Session) speaks() session.Agent {
	if m := s.member(); m != nil {
		return m
	}
	return nil
}

// die ends the session's life in its agent; what is shown stays.
func (s *Session) die(err error) {
	var f *failure.Failure
	if !errors.As(err, &f) {
		f = &failure.Failure{Sentence: err.Error()}
	}
	s.detach()
	s.phase, s.failure = dead, f.Error()
	if !s.failTurn(f) {
		s.remarks.Fail("error", f)
	}
	s.remarks.SayReminder()
	s.view.Changed()
}

// detach leaves the agent and answers everything that is open.
func (s *Session) detach() {
	s.permission.WithdrawAll("cancel")
	s.questions.WithdrawAll()
	s.terminals.Release()
	s.tools.Leave()
	if a := s.agent; a != nil {
		s.agent = nil
		s.apply(session.AgentGone{})
		s.requests.Drop()
		a.leave(s, s.opening.ID())
	}
	s.opening.Left()
}

func (s *Session) agentDied(a *agent, why *failure.Failure) {
	if s.agent == a {
		s.die(why)
		s.died = a
		if !s.view.Visible() {
			a.mourned.Do(func() { s.base.Editor.Notify("error", why.Brief(s.base.Title)+" :Acp restart starts it again") })
		}
	}
}

// close ends the session for good.
func (s *Session) close() {
	if s.agent != nil && s.conv.Running {
		s.agent.speaks().Cancel(s.opening.ID())
	}
	s.detach()
	s.endTurn(session.StopError, "The session was closed.")
	s.phase, s.closed = dead, true
	s.view.StopClock()
	s.recorder.Close()
	s.ledger.Close()
	s.events.Add("AcpSessionClosed", nil)
	s.host.forgetSession(s)
	s.review.Close()
	s.view.Close()
	s.terminals.Close()
	s.base.Box.Close()
}
