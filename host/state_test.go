package host

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// What Lua knows of a session is what its agent said, its folders, its prompts and what it lacks.
func TestWhatLuaKnowsOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s := w.add(1, puppet)
		want := rpc.Session{ID: 1, Agent: "puppet", AgentTitle: "Puppet", Cwd: "/", State: "starting", Directories: []string{}}
		is := func(when string) {
			t.Helper()
			s.on(func() { check.Deep(t, s.lua(), want, when+" it is %+v") })
		}
		is("before it begins")

		a, _ := w.process(puppet, session.Info{Forks: true})
		agent := &cancellable{}
		a.adapter = agent
		a.login = session.Login{State: session.LoggedIn, Accounts: "me"}
		s.on(func() {
			s.base.Roots = []string{"/", "/q"}
			s.start()
		})
		synctest.Wait()
		agent.answer(nil)
		synctest.Wait()
		want.State, want.AgentSessionID, want.Forks, want.Cancels = "idle", "a", true, true
		want.Login, want.Account, want.Directories = "authenticated", "me", []string{"/q"}
		is("when it is ready")
		s.on(func() { s.info, s.lacks = session.Info{ForksAfter: true}, ledger.Lack{Why: "too much", Files: "a, b"} })
		want.Forks, want.ForksBefore, want.Lacks = false, true, &rpc.Lack{Why: "too much", Files: "a, b"}
		is("when it lacks something")
		s.on(func() { s.info = session.Info{Providers: true} })
		want.ForksBefore, want.Providers = false, true
		is("with providers")

		s.on(func() {
			s.prompts.Send("go on")
			s.prompts.Send("and on")
		})
		synctest.Wait()
		want.State, want.Queued, want.Queue = "running", 1, []string{"and on"}
		is("while it works")
		s.on(s.prompts.Cancel)
		want.Paused = true
		is("when it is told to stop")
		s.on(func() { s.die(errors.New("It is dead.")) })
		want.State, want.Error, want.StopReason = "dead", "It is dead.", "error"
		want.Login, want.Account, want.Cancels = "", "", false
		is("when it is dead")
	})
}

// A session's state has a name for the user, who may have to do something for it to go on.
func TestStateOfASession(t *testing.T) {
	for want, make := range map[string]func(s *Session){
		"starting":      func(s *Session) { s.phase = starting },
		"auth_required": func(s *Session) { s.phase = authRequired },
		"dead":          func(s *Session) { s.phase = dead },
		"idle":          func(s *Session) {},
		"running":       func(s *Session) { s.prompts.Opened() },
		"requires_action": func(s *Session) {
			s.prompts.Opened()
			s.questions.Ask(session.ElicitationRequest{
				Context: context.Background(), Message: "Which one?", Form: &session.Form{}, Reply: func(session.ElicitationAnswer) {},
			})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			s, _ := w.ready(session.Info{})
			s.on(func() {
				s.failure = "why"
				make(s)
				told := s.lua()
				check.Equal(t, told.State, want, "it is %q")
				check.Equal(t, told.Error != "", s.phase == dead || s.phase == authRequired, want+": that it says why is %t")
			})
		})
	}
}
