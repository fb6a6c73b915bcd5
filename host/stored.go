package host

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// linger is how long a process that was only asked for its stored sessions is kept: often one of them is resumed next.
const linger = 30 * time.Second

// visit asks an agent something without a session: in the process that sessions of that folder share, started if there
// is none. The answer goes to a callback of Lua; without one in time the request is cancelled.
func (h *Host) visit(spec AgentSpec, cwd, method string, callback int, send func(a *agent, answer func(any, error)) (cancel func())) {
	a, err := h.agentFor(spec, cwd)
	if err != nil {
		h.editor.Answer(callback, nil, err.Error())
		return
	}
	var answered atomic.Bool
	var cancel atomic.Pointer[func()]
	answer := func(result any, failure string) {
		if answered.CompareAndSwap(false, true) {
			h.editor.Answer(callback, result, failure)
			time.AfterFunc(linger, a.release)
		}
	}
	slow := time.AfterFunc(control.Slow, func() {
		answer(nil, fmt.Sprintf("%s did not answer %s in time. :Acp traffic shows what was said.", spec.Title, method))
		if c := cancel.Load(); c != nil {
			(*c)()
		}
	})
	a.hold(func(_ session.Info, err error) {
		if err != nil {
			slow.Stop()
			answer(nil, control.Failed(spec.Name, spec.Title, "initialize", err))
			return
		}
		c := send(a, func(result any, err error) {
			slow.Stop()
			if err != nil {
				answer(nil, control.Failed(spec.Name, spec.Title, method, err))
			} else {
				answer(result, "")
			}
		})
		cancel.Store(&c)
	})
}

// storedID names a session that an agent keeps.
type storedID struct{ agent, session string }

// knowFolders notes the folders in which a session works, its own first.
func (h *Host) knowFolders(agent, id string, roots []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.folders[storedID{agent, id}] = roots
}

// rootsOf returns the folders in which a stored session should work: those that Lua names, or else those in which it
// has worked. It reads the disk.
func (h *Host) rootsOf(m rpc.New) []string {
	known := h.foldersOf(m.Agent.Name, m.AgentSessionID)
	cwd, further := m.Cwd, m.Directories
	if m.Anywhere && len(known) > 0 {
		cwd = known[0]
	}
	if len(further) == 0 && len(known) > 0 && known[0] == cwd {
		further = known[1:]
	}
	return append([]string{cwd}, further...)
}

// foldersOf returns the folders in which a stored session works, its own first, if they are known because it was open
// here, or listed, or something was saved of it. It reads the disk.
func (h *Host) foldersOf(agent, id string) []string {
	h.mu.Lock()
	roots := h.folders[storedID{agent, id}]
	h.mu.Unlock()
	if len(roots) > 0 {
		return roots
	}
	if h.history != nil {
		if about, err := h.history.About(agent, id); err == nil && about.Cwd != "" {
			return append([]string{about.Cwd}, about.Directories...)
		}
	}
	entries, err := h.saves.List()
	if err != nil {
		h.log.Warn(err.Error())
	}
	for _, e := range entries {
		if e.Agent == agent && e.ID == id && e.Cwd != "" {
			return []string{e.Cwd}
		}
	}
	return nil
}

// listStored sends Lua the sessions that an agent keeps: either the archived ones or the others.
func (h *Host) listStored(m rpc.ListStored) {
	spec := AgentSpec(m.Agent)
	h.visit(spec, m.Cwd, "session/list", m.Callback, func(a *agent, answer func(any, error)) func() {
		info := a.said()
		if !info.Lists {
			answer(nil, &failure.Failure{Sentence: spec.Title + " does not list its sessions."})
			return func() {}
		}
		return a.speaks().ListSessions(m.Archived && info.Archives, func(list []session.Stored, err error) {
			h.background(func() {
				stored := h.labelled(spec.Name, info, list, m.Archived)
				if err != nil && len(stored) > 0 {
					h.editor.Notify("warning", fmt.Sprintf("the list is incomplete. %s", control.Failed(spec.Name, spec.Title, "session/list", err)))
					err = nil
				}
				answer(stored, err)
			})
		})
	})
}

// labelled returns stored sessions for Lua, with the labels that their agent does not keep.
func (h *Host) labelled(agent string, info session.Info, list []session.Stored, archived bool) []rpc.StoredSession {
	all, stored := h.labels.All(), []rpc.StoredSession{}
	for _, s := range list {
		if s.Cwd != "" {
			h.knowFolders(agent, s.SessionID, append([]string{s.Cwd}, s.Directories...))
		}
		label := all.Of(agent, s.SessionID)
		if !info.Titles {
			s.Title = cmp.Or(label.Title, s.Title)
		}
		if info.Archives || label.Archived == archived {
			stored = append(stored, rpc.StoredSession{
				AgentSessionID: s.SessionID, Cwd: s.Cwd, Directories: s.Directories, Title: styled.OneLine(s.Title), UpdatedAt: s.UpdatedAt,
			})
		}
	}
	return stored
}

// deleteStored makes an agent delete a session that is not open here.
func (h *Host) deleteStored(spec AgentSpec, cwd, id string, callback int) {
	h.visit(spec, cwd, "session/delete", callback, func(a *agent, answer func(any, error)) func() {
		if !a.said().Deletes {
			answer(nil, deletesNot(spec))
			return func() {}
		}
		return a.speaks().DeleteSession(id, func(err error) {
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

// remove makes the agent delete the session, and closes it.
func (s *Session) remove(callback int) {
	fail := func(err error) {
		s.base.Editor.Answer(callback, nil, control.Failed(s.spec.Name, s.spec.Title, "session/delete", err))
	}
	a := s.agent
	switch {
	case a == nil || s.opening.ID() == "":
		s.base.Editor.Answer(callback, nil, s.base.Title+" does not have the session open. :Acp restart starts it")
		return
	case !s.info.Deletes:
		fail(deletesNot(s.spec))
		return
	}
	if s.prompts.TurnOpen() {
		a.speaks().Cancel(s.opening.ID())
	}
	id := s.opening.ID()
	s.requests.Do("session/delete", func(done func(error)) func() { return a.speaks().DeleteSession(id, done) }, func(err error) {
		switch {
		case session.AuthRequired(err) && s.agent == a:
			s.login.After(func() { s.remove(callback) })
		case err != nil:
			fail(err)
		default:
			if s.agent == a {
				s.opening.Closed()
			}
			s.ledger.Forget()
			s.recorder.Drop()
			s.base.Editor.Answer(callback, true, "")
			s.close()
		}
	})
}
