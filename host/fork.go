package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/history"
)

// fork is what a session is made from: another one as it is, or as it was.
type fork struct {
	session int    // its id in this Neovim
	id      string // the agent's
	after   string // the agent's id of the last message that the new one has too; "" for all of them
	title   string
	past    []history.Said // what was said until then, as far as it is kept
}

// beginFork starts the session with what was said in another one, before one of its prompts, from 1, or at all. Any
// goroutine.
func (s *Session) beginFork(source *Session, before int) {
	fail := func(err error) { s.base.Box.Put(func() { s.die(err) }) }
	closed := &failure.Failure{Sentence: "The session to be forked is closed."}
	if source == nil || !source.base.Box.Put(func() {
		source.forkAt(before, func(f *fork, err error) {
			if err != nil {
				fail(err)
				return
			}
			s.base.Box.Put(func() {
				s.remote.fork, s.conv.Title = f, f.title
				s.tellPast(history.Past{Said: f.past})
				s.start()
			})
		})
	}) {
		fail(closed)
	}
}

// forkAt tells from where the session can be forked; done is called on any goroutine.
func (s *Session) forkAt(before int, done func(*fork, error)) {
	refuse := func(format string, args ...any) {
		done(nil, &failure.Failure{Sentence: fmt.Sprintf(format, args...)})
	}
	f := &fork{session: s.id, id: s.remote.id}
	if s.conv.Title != "" {
		f.title = strings.TrimSuffix(s.conv.Title, " (fork)") + " (fork)"
	}
	switch {
	case s.phase != ready:
		refuse("%s is not ready yet", s.base.Title)
		return
	case !s.info.Forks:
		refuse("%s cannot fork sessions", s.base.Title)
		return
	case before > 0 && !s.info.ForksAfter:
		refuse("%s cannot fork a session before an earlier prompt; :Acp fork takes all of it", s.base.Title)
		return
	case before == 0 && s.prompts.TurnOpen():
		refuse("%s is working: a session can be forked when the turn is over", s.base.Title)
		return
	case before > 0:
		if f.after = s.messageBefore(before); f.after == "" {
			refuse("%s has said nothing before this prompt: :Acp new starts a new session", s.base.Title)
			return
		}
	}
	if s.host.history == nil || s.host.unkept.Load() {
		done(f, nil)
		return
	}
	s.recorder.Flush(nil)
	s.host.history.ReadLater(s.spec.Name, f.id, s.base.Background, func(past history.Past, err error) {
		if err != nil {
			s.base.Log.Warn(err.Error()) // the fork begins without it
		}
		f.past = past.Said
		if before > 0 {
			f.past = past.Before(before - 1)
		}
		done(f, nil)
	})
}

// messageBefore is the agent's id of its last message before a prompt of the session, from 1; "" where there is none.
func (s *Session) messageBefore(prompt int) (id string) {
	for _, e := range s.conv.Entries {
		switch m, ok := e.(*session.Message); {
		case !ok:
		case m.Role == session.RoleUser:
			if prompt--; prompt == 0 {
				return id
			}
		case m.Role == session.RoleAgent && m.Wire != "":
			id = m.Wire
		}
	}
	return ""
}

// promptNumber is which of the prompts of the session one is, from 1.
func (s *Session) promptNumber(prompt *session.Message) int {
	n := 0
	for _, e := range s.conv.Entries[:slices.Index(s.conv.Entries, session.Entry(prompt))+1] {
		if m, ok := e.(*session.Message); ok && m.Role == session.RoleUser {
			n++
		}
	}
	return n
}

// openFork makes the session from another one in the agent. Some agents tell what was said in that.
func (s *Session) openFork() {
	a, f := s.agent, s.remote.fork
	s.remote.skipping = len(f.past) > 0
	s.request("session/fork", func(done func(session.Setup, error)) func() {
		a.awaitName()
		return a.ForkSession(f.id, f.after, s.place, func(setup session.Setup, err error) {
			done(setup, err)
			a.named()
		})
	}, func(setup session.Setup) {
		s.record()
		s.recorder.Begin(f.past)
		s.apply(session.SessionStart{Options: setup.Options})
		s.offered(setup)
		s.remark("info", fmt.Sprintf("Forked from session %d, which stays as it is.", f.session))
		s.remote.stored, s.remote.fork = s.remote.id, nil
		s.remote.resumed()
		s.becomeReady()
	})
}
