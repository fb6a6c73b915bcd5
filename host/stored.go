package host

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// linger is how long a process that was only asked for its stored sessions is
// kept: the next thing is often to take one of them up.
const linger = 30 * time.Second

// visit asks something of an agent without a session: in the process that
// sessions of that folder share, started if there is none. The answer goes to a
// callback of Lua; without one in time the request is given up.
func (h *Host) visit(spec AgentSpec, cwd, method string, callback int, send func(a *agent, answer func(any, error)) (cancel func())) {
	a, err := h.agentFor(spec, cwd)
	if err != nil {
		h.editor.Answer(callback, nil, err.Error())
		return
	}
	var told atomic.Bool
	var cancel atomic.Pointer[func()]
	tell := func(result any, failure string) {
		if told.CompareAndSwap(false, true) {
			h.editor.Answer(callback, result, failure)
			time.AfterFunc(linger, a.release)
		}
	}
	slow := time.AfterFunc(control.Slow, func() {
		tell(nil, fmt.Sprintf("%s has not answered %s, which was given up. :Acp traffic shows what was said.", spec.Title, method))
		if c := cancel.Load(); c != nil {
			(*c)()
		}
	})
	a.hold(func(_ session.Info, err error) {
		if err != nil {
			slow.Stop()
			tell(nil, visitFailure(spec, "initialize", err))
			return
		}
		c := send(a, func(result any, err error) {
			slow.Stop()
			if err != nil {
				tell(nil, visitFailure(spec, method, err))
			} else {
				tell(result, "")
			}
		})
		cancel.Store(&c)
	})
}

// visitFailure is the sentence for what an agent refused outside of a session.
func visitFailure(spec AgentSpec, method string, err error) string {
	var told *failure.Failure
	switch {
	case errors.As(err, &told):
		return told.Error()
	case session.AuthRequired(err):
		return fmt.Sprintf("%s needs you to log in first: :Acp new %s, then :Acp auth.", spec.Title, spec.Name)
	case errors.Is(err, acp.ErrClosed):
		return fmt.Sprintf("%s ended before it answered %s.", spec.Title, method)
	}
	return fmt.Sprintf("%s refused %s: %s.", spec.Title, method, strings.TrimRight(failure.Text(err), "."))
}

// storedID names a session that an agent keeps.
type storedID struct{ agent, session string }

// knowFolder takes down in which folder a session works.
func (h *Host) knowFolder(agent, id, cwd string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.folders[storedID{agent, id}] = cwd
}

// folderOf is the folder in which a session that an agent keeps works, as far as that is known: it was open here, or
// listed, or something was saved of it. It reads the disk.
func (h *Host) folderOf(agent, id, otherwise string) string {
	h.mu.Lock()
	cwd := h.folders[storedID{agent, id}]
	h.mu.Unlock()
	if cwd != "" {
		return cwd
	}
	entries, err := h.saves.List()
	if err != nil {
		h.log.Warn(err.Error())
	}
	for _, e := range entries {
		if e.Agent == agent && e.ID == id && e.Cwd != "" {
			return e.Cwd
		}
	}
	if h.history != nil {
		if about, err := h.history.About(agent, id); err == nil && about.Cwd != "" {
			return about.Cwd
		}
	}
	return otherwise
}

// listStored gives Lua the sessions that an agent keeps.
func (h *Host) listStored(spec AgentSpec, cwd string, callback int) {
	h.visit(spec, cwd, "session/list", callback, func(a *agent, answer func(any, error)) func() {
		if !a.said().Lists {
			answer(nil, &failure.Failure{Sentence: spec.Title + " gives no list of its sessions."})
			return func() {}
		}
		return a.ListSessions(func(list []session.Stored, err error) {
			stored := make([]rpc.StoredSession, len(list))
			for i, s := range list {
				if s.Cwd != "" {
					h.knowFolder(spec.Name, s.SessionID, s.Cwd)
				}
				stored[i] = rpc.StoredSession{
					AgentSessionID: s.SessionID, Cwd: s.Cwd, Title: styled.OneLine(s.Title), UpdatedAt: s.UpdatedAt,
				}
			}
			if err != nil && len(stored) > 0 {
				h.editor.Notify("warning", fmt.Sprintf("This is not the whole list. %s", visitFailure(spec, "session/list", err)))
				err = nil
			}
			answer(stored, err)
		})
	})
}

// deleteStored has an agent forget a session that is not open here.
func (h *Host) deleteStored(spec AgentSpec, cwd, id string, callback int) {
	h.visit(spec, cwd, "session/delete", callback, func(a *agent, answer func(any, error)) func() {
		if !a.said().Deletes {
			answer(nil, deletesNot(spec))
			return func() {}
		}
		return a.DeleteSession(id, func(err error) {
			if err == nil {
				h.background(func() { h.forgetSaved(spec.Name, id) })
			}
			answer(true, err)
		})
	})
}

func deletesNot(spec AgentSpec) *failure.Failure {
	return &failure.Failure{Sentence: spec.Title + " cannot delete sessions."}
}

// remove has the agent forget the session, and closes it.
func (s *Session) remove(callback int) {
	fail := func(err error) { s.base.Editor.Answer(callback, nil, visitFailure(s.spec, "session/delete", err)) }
	a := s.agent
	switch {
	case a == nil || s.remote.id == "":
		s.base.Editor.Answer(callback, nil, s.base.Title+" does not have the session open. :Acp restart starts it again.")
		return
	case !s.info.Deletes:
		fail(deletesNot(s.spec))
		return
	}
	if s.prompts.TurnOpen() {
		a.Cancel(s.remote.id)
	}
	id := s.remote.id
	s.requests.Do("session/delete", func(done func(error)) func() { return a.DeleteSession(id, done) }, func(err error) {
		switch {
		case session.AuthRequired(err) && s.agent == a:
			s.afterLogin(func() { s.remove(callback) })
		case err != nil:
			fail(err)
		default:
			if s.agent == a {
				a.unroute(s, id)
				s.remote.id = "" // there is nothing left to be closed
			}
			s.ledger.Forget()
			s.recorder.Drop()
			s.base.Editor.Answer(callback, true, "")
			s.close()
		}
	})
}
