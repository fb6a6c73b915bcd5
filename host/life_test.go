package host

import (
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A session that is closed is closed in its agent too, if it is open there, and others go on in the process.
func TestClosingASession(t *testing.T) {
	for name, c := range map[string]struct {
		before func(s *Session)
		asked  []string
	}{
		"that is idle":        {func(*Session) {}, []string{"close a"}},
		"that works":          {func(s *Session) { s.prompts.Send("go on") }, []string{"prompt", "cancel a", "close a"}},
		"that is opened anew": {func(s *Session) { s.opening.Left(); s.opening.Closed() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s, agent := w.ready(session.Info{})
				a := s.agent
				s.on(func() { c.before(s) })
				synctest.Wait()
				s.on(s.close)
				synctest.Wait()
				check.Slice(t, agent.take(), c.asked, "the agent was asked %q")
				check.Equal(t, w.session(1), nil, "the host has it still: %p")
				check.Equal(t, w.agents[a.key], a, "the process is %p")
				check.Equal(t, len(a.sessions()), 0, "in the process there are %d")
				s.base.Box.Put(func() { t.Error("it goes on") })
				synctest.Wait()
			})
		})
	}
}

// The user's title of a session is kept once the agent has named the session; the agent's is not.
func TestWhichTitlesAreKept(t *testing.T) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		_, agent := w.process(puppet, session.Info{})
		s := w.add(1, puppet)
		s.on(s.start)
		synctest.Wait()
		w.receive("rename", map[string]any{"session": 1, "callback": 7, "title": "Mine"})
		w.told("7 Mine ")
		agent.answer(nil)
		w.settle()
		check.Equal(t, w.labels.Of("puppet", "a").Title, "Mine", "kept is %q")
		s.on(func() { s.bring(session.InfoUpdate{Title: acp.Set("Agent's")}) })
		check.Equal(t, s.conv.Title, "Mine", "the title is %q")
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: t.TempDir()})
		s, _ := w.ready(session.Info{})
		s.on(func() {
			s.bring(session.InfoUpdate{Title: acp.Set("Agent's")})
			s.keepTitle()
		})
		w.settle()
		check.Equal(t, s.conv.Title, "Agent's", "the title is %q")
		check.Equal(t, w.labels.Of("puppet", "a").Title, "", "kept is %q")
	})
}

// A session that needs a login says how, is opened when the user has logged in, and what waited for that is done then.
func TestALoginBeforeASessionIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		spec := puppet
		spec.Login = "Run puppet login."
		_, agent := w.process(spec, session.Info{})
		s := w.add(1, spec)
		s.on(s.start)
		synctest.Wait()
		s.on(func() { s.prompts.Send("go on") })
		agent.answer(errLogin)
		synctest.Wait()
		check.Contains(t, s.told(), "Run puppet login.", "the chat says %q")
		s.on(func() { check.Equal(t, s.state(), "auth_required", "its state is %q") })
		check.Slice(t, agent.take(), []string{"new"}, "the agent was asked %q")
		s.on(func() { s.loggedIn(s.agent) })
		synctest.Wait()
		check.Slice(t, agent.take(), []string{"new"}, "after the login the agent was asked %q")
		agent.answer(nil)
		synctest.Wait()
		check.Slice(t, agent.take(), []string{"prompt"}, "when it is open the agent was asked %q")
		s.on(func() { check.Equal(t, s.state(), "running", "its state is then %q") })
	})
}
