package host

import (
	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/labels"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file keeps what the user sets on sessions themselves: their titles, and that they are archived. Agents are told
// if they keep that too; we keep it for all of them.

// label changes the label of a session. It writes the disk.
func (h *Host) label(agent, id string, change func(*labels.Label)) {
	if err := h.labels.Change(agent, id, change); err != nil {
		h.log.Warn(err.Error())
	}
}

// takeLabel takes the label of the stored session that is about to be resumed, which is then no longer archived.
func (s *Session) takeLabel(l labels.Label) {
	if l.Title != "" {
		s.conv.Title, s.titled = l.Title, true
	}
	if l.Archived {
		s.opening.Archived()
		s.host.background(func() { s.host.label(l.Agent, l.ID, func(l *labels.Label) { l.Archived = false }) })
	}
}

// takesTitle reports whether the agent's title of the session counts: the user's own title stays, unless the agent
// keeps titles and sends one.
func (s *Session) takesTitle(u session.InfoUpdate) bool {
	title, told := u.Title.Get()
	if s.titled && s.info.Titles && told && title != "" && title != s.conv.Title {
		s.conv.Title = styled.OneLine(title)
		s.keepTitle()
	}
	return !s.titled || s.info.Titles
}

// keepTitle saves the user's title, once the agent's session id is known.
func (s *Session) keepTitle() {
	if id, title := s.opening.Stored(), s.conv.Title; s.titled && id != "" {
		s.base.Background(func() { s.host.label(s.spec.Name, id, func(l *labels.Label) { l.Title = title }) })
	}
}

// rename sets the user's title of the session.
func (s *Session) rename(m rpc.Rename) {
	a, id, title := s.agent, s.opening.ID(), styled.OneLine(m.Title)
	named := func(title string) {
		s.titled = true
		s.apply(session.InfoUpdate{Title: acp.Set(title)})
		s.ledger.Titled(s.conv.Title)
		s.keepTitle()
		s.view.Changed()
		s.base.Editor.Answer(m.Callback, s.conv.Title, "")
	}
	if a == nil || id == "" || !s.info.Titles {
		named(title)
		return
	}
	control.Ask(s.requests, "session/set_title", func(answer func(string, error) bool) func() {
		return a.speaks().SetTitle(id, title, func(title string, err error) { answer(title, err) })
	}, func(kept string, err error) {
		switch {
		case session.AuthRequired(err) && s.agent == a:
			s.login.After(func() { s.rename(m) })
		case err != nil:
			s.base.Editor.Answer(m.Callback, nil, control.Failed(s.spec.Name, s.spec.Title, "session/set_title", err))
		default:
			named(kept)
		}
	})
}

// archive closes the session and takes it out of the lists.
func (s *Session) archive(callback int) {
	a, id := s.agent, s.opening.ID()
	archived := func() {
		stored := s.opening.Stored()
		s.base.Background(func() {
			s.host.label(s.spec.Name, stored, func(l *labels.Label) { l.Archived = true })
			s.base.Editor.Answer(callback, true, "")
		})
		s.close()
	}
	switch {
	case s.opening.Stored() == "":
		s.base.Editor.Answer(callback, nil, "this session is not stored: there is nothing to archive")
	case a == nil || id == "" || !s.info.Archives:
		archived()
	default:
		s.requests.Do("session/archive", func(done func(error)) func() { return a.speaks().Archive(id, true, done) }, func(err error) {
			switch {
			case session.AuthRequired(err) && s.agent == a:
				s.login.After(func() { s.archive(callback) })
			case err != nil:
				s.base.Editor.Answer(callback, nil, control.Failed(s.spec.Name, s.spec.Title, "session/archive", err))
			default:
				if s.agent == a {
					s.opening.Closed()
				}
				archived()
			}
		})
	}
}

// archiveStored takes a session that is not open here out of the lists, or brings it back.
func (h *Host) archiveStored(m rpc.ArchiveStored) {
	spec, method := AgentSpec(m.Agent), "session/archive"
	if !m.Archived {
		method = "session/unarchive"
	}
	h.visit(spec, m.Cwd, method, m.Callback, func(a *agent, answer func(any, error)) func() {
		keep := func(err error) {
			if err != nil {
				answer(nil, err)
				return
			}
			h.background(func() {
				h.label(spec.Name, m.AgentSessionID, func(l *labels.Label) { l.Archived = m.Archived })
				answer(true, nil)
			})
		}
		if !a.said().Archives {
			keep(nil)
			return func() {}
		}
		return a.speaks().Archive(m.AgentSessionID, m.Archived, keep)
	})
}
