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
)

// An agent that goes on after a cancel is told of, unless the turn has ended meanwhile.
func TestACancelWithoutAnEnd(t *testing.T) {
	for ends, want := range map[bool]string{false: "Puppet has not ended the turn. :Acp restart starts it again.\n", true: ""} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			s, agent := w.ready(session.Info{})
			s.on(func() { s.prompts.Send("go on") })
			synctest.Wait()
			s.on(s.prompts.Cancel)
			check.Slice(t, agent.take(), []string{"prompt", "cancel a"}, "the agent was asked %q")
			if ends {
				agent.answer(nil)
				synctest.Wait()
				s.on(func() { s.prompts.Send("another") })
			}
			time.Sleep(control.Slow - time.Second)
			check.Equal(t, s.told(), "", "before it is due the chat says %q")
			time.Sleep(time.Minute)
			check.Equal(t, s.told(), want, "the chat says %q")
		})
	}
}

// Words for a running turn whose prompt is not sent yet follow it; a cancel sends the prompt first, as only then the
// agent can end its turn.
func TestWordsAndACancelBeforeThePromptIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, agent := w.ready(session.Info{Steers: true})
		scanned := make(chan struct{})
		s.ledger.Then(func() { <-scanned })
		var became []session.Steering
		s.on(func() {
			s.prompts.Send("go on")
			s.steer([]session.Content{session.Text{Text: "and on"}}, func(now session.Steering) { became = append(became, now) })
		})
		synctest.Wait()
		check.Slice(t, agent.take(), nil, "before the folders are scanned the agent was asked %q")
		s.on(s.cancel)
		check.Slice(t, agent.take(), []string{"prompt", "steer", "cancel a"}, "the agent was asked %q")
		agent.answer(nil)
		synctest.Wait()
		check.Slice(t, became, []session.Steering{session.SteeringTaken}, "the words became %v")
		close(scanned)
		synctest.Wait()
		check.Slice(t, agent.take(), nil, "when the folders are scanned the agent was asked %q")
	})
}

// Who logs in outside the agent's process restarts all of this agent's sessions that wait for a login, and no others.
func TestALoginOutsideTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.process(puppet, session.Info{})
		other := puppet
		other.Name = "other"
		s := w.add(1, puppet)
		waits, works, another := w.add(2, puppet), w.add(3, puppet), w.add(4, other)
		for s, now := range map[*Session]phase{s: authRequired, waits: authRequired, works: ready, another: authRequired} {
			s.on(func() { s.phase = now })
		}
		s.on(s.reconnect)
		synctest.Wait()
		for s, want := range map[*Session]phase{s: starting, waits: starting, works: ready, another: authRequired} {
			s.on(func() { check.Equal(t, s.phase, want, "session %[2]d has phase %[1]d", s.id) })
		}
	})
}

// An agent that does not read is told of in all its sessions.
func TestAStalledAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, _ := w.ready(session.Info{})
		other := w.add(2, puppet)
		s.agent.tellStalled()
		synctest.Wait()
		want := "Puppet has stopped reading its input. :Acp cancel, or :Acp restart to start it again.\n"
		check.Equal(t, s.told(), want, "the chat says %q")
		check.Equal(t, other.told(), "", "the chat of a session in no process says %q")
	})
}

// Who joins a process that has just ended learns why.
func TestJoiningADeadAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		a, _ := w.process(puppet, session.Info{})
		a.phase, a.dead = agentDead, errors.New("It is dead.")
		s := w.add(1, puppet)
		s.on(s.start)
		synctest.Wait()
		check.Contains(t, s.told(), "It is dead.", "the chat says %q")
		check.Equal(t, s.phase, dead, "its phase is %d")
	})
}

// Words that the agent has not taken when its turn ends are cancelled with what it does next.
func TestACancelOfWordsSentAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, agent := w.ready(session.Info{Steers: true})
		s.on(func() { s.prompts.Send("go on") })
		synctest.Wait()
		end := agent.answer
		s.on(func() { s.prompts.Steer(rpc.Steer{Blocks: []rpc.Content{{Type: "text", Text: "and on"}}}) })
		synctest.Wait()
		end(nil)
		synctest.Wait()
		check.Slice(t, agent.take(), []string{"prompt", "steer"}, "the agent was asked %q")
		s.on(s.prompts.Cancel)
		check.Slice(t, agent.take(), []string{"cancel a"}, "then the agent was asked %q")
	})
}
