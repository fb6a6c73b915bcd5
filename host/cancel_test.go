package host

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// Words go into a turn only of an agent that takes them, while it works.
func TestWordsForNoTurn(t *testing.T) {
	for name, make := range map[string]func(s *Session){
		"the agent takes none": func(s *Session) { s.info.Steers = false },
		"it is not ready":      func(s *Session) { s.phase = authRequired },
		"it waits for a login": func(s *Session) { s.prompts.Interrupt(nil) },
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			s, agent := w.ready(session.Info{Steers: true})
			s.on(func() { s.prompts.Send("go on") })
			synctest.Wait()
			agent.take()
			var became []session.Steering
			s.on(func() {
				make(s)
				s.steer([]session.Content{session.Text{Text: "and on"}}, func(now session.Steering) { became = append(became, now) })
			})
			synctest.Wait()
			check.Slice(t, became, []session.Steering{session.SteeringLeft}, name+": the words became %v")
			check.Slice(t, agent.take(), nil, name+": the agent was asked %q")
		})
	}
}

// Who gives up on an agent that does not begin has a dead session, whatever the agent says later.
func TestGivingUpOnAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		process, agent := w.process(puppet, session.Info{})
		process.phase = agentStarting
		s := w.add(1, puppet)
		s.base.Box.Put(func() { s.remarks.Remind("Something waits.") })
		s.on(s.start)
		time.Sleep(control.Slow)
		w.settle()
		check.Equal(t, w.nvim.state.State, "starting", "its state is %q")
		const slow = "Puppet is slow to start. :Acp cancel gives up on it, " +
			":Acp restart starts it again, :Acp traffic shows what was said."
		check.Slice(t, s.remarked(), []string{"warning: " + slow}, "the chat says %q")
		s.on(s.prompts.Cancel)
		w.settle()
		check.Equal(t, w.nvim.state.State, "dead", "then its state is %q")
		check.Slice(t, s.remarked(), []string{
			"warning: " + slow, "error: initialize was cancelled. :Acp restart tries again.", "info: Something waits.",
		}, "then the chat says %q")
		must.Equal(t, len(process.waiting), 1, "%d wait for its beginning")
		process.waiting[0](session.Info{}, nil)
		synctest.Wait()
		check.Slice(t, agent.take(), nil, "the agent was asked %q")
	})
}

// A login is nothing to a session that does not wait for one, or waits for another agent's.
func TestALoginThatIsNotNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, agent := w.ready(session.Info{})
		check.Slice(t, w.foldersOf("puppet", "a"), []string{"/"}, "its folders are %q")
		s.on(func() { s.phase = starting })
		s.on(func() { s.loggedIn(s.agent) })
		check.Equal(t, s.phase, starting, "its phase is %d")
		s.on(func() { s.phase = authRequired })
		other, _ := w.process(AgentSpec{Name: "other"}, session.Info{})
		s.on(func() { s.loggedIn(other) })
		check.Equal(t, s.phase, authRequired, "when another is logged in its phase is %d")
		check.Slice(t, agent.take(), nil, "the agent was asked %q")
	})
}

// A late answer to a prompt of before a restart is nothing to the turn that runs now.
func TestAnAnswerAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, agent := w.ready(session.Info{})
		s.on(func() { s.prompts.Send("go on") })
		synctest.Wait()
		late := agent.answer
		s.on(s.again)
		synctest.Wait()
		agent.answer(nil)
		synctest.Wait()
		s.on(func() { s.prompts.Send("once more") })
		synctest.Wait()
		check.Slice(t, agent.take(), []string{"prompt", "close a", "new", "prompt"}, "the agent was asked %q")
		late(nil)
		synctest.Wait()
		s.on(func() { check.Equal(t, s.prompts.TurnOpen(), true, "that its turn is open is %t") })
	})
}

// Words that wait for the prompt of their turn to be sent are left when it never is.
func TestWordsForAPromptThatIsNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, agent := w.ready(session.Info{Steers: true})
		scanned := make(chan struct{})
		defer close(scanned)
		s.ledger.Then(func() { <-scanned })
		var became []session.Steering
		s.on(func() {
			s.prompts.Send("go on")
			s.steer([]session.Content{session.Text{Text: "and on"}}, func(now session.Steering) { became = append(became, now) })
			s.die(errors.New("It is dead."))
		})
		synctest.Wait()
		check.Slice(t, became, []session.Steering{session.SteeringLeft}, "the words became %v")
		check.Slice(t, agent.take(), []string{"close a"}, "the agent was asked %q")
	})
}

// A cancel ends the turn that runs, or else what the user waits for; where there is nothing the agent is not bothered.
func TestWhatACancelReaches(t *testing.T) {
	type does = func(*world, *Session)
	renames := func(w *world, _ *Session) {
		w.receive("rename", map[string]any{"session": 1, "callback": 7, "title": "New"})
	}
	works := func(_ *world, s *Session) { s.on(func() { s.prompts.Send("go on") }) }
	says := func(_ *world, s *Session) { steers(s) }
	for name, c := range map[string]struct {
		before []does
		asked  []string
	}{
		"nothing":                {nil, nil},
		"a turn":                 {[]does{works}, []string{"cancel a"}},
		"a request":              {[]does{renames}, []string{"withdrawn: title New"}},
		"a turn and a request":   {[]does{works, renames}, []string{"cancel a"}},
		"a turn and words of it": {[]does{works, says}, []string{"cancel a"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			s, agent := w.ready(session.Info{Titles: true, Steers: true})
			for _, does := range c.before {
				does(w, s)
				synctest.Wait()
			}
			agent.take()
			s.on(s.prompts.Cancel)
			check.Slice(t, agent.take(), c.asked, name+": the agent was asked %q")
		})
	}
}

// steers has the user say something in the turn.
func steers(s *Session) {
	s.on(func() { s.prompts.Steer(rpc.Steer{Blocks: []rpc.Content{{Type: "text", Text: "and on"}}}) })
}
