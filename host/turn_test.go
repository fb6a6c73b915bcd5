package host

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// An agent that goes on after a cancel is told of, unless the turn has ended meanwhile.
func TestACancelWithoutAnEnd(t *testing.T) {
	const late = "warning: Puppet has not ended the turn. :Acp restart starts it again."
	for ends, want := range map[bool][]string{false: {late}, true: nil} {
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
			check.Slice(t, s.remarked(), want, "the chat says %q")
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
		steers(s)
		synctest.Wait()
		end(nil)
		synctest.Wait()
		check.Slice(t, agent.take(), []string{"prompt", "steer"}, "the agent was asked %q")
		s.on(s.prompts.Cancel)
		check.Slice(t, agent.take(), []string{"cancel a"}, "then the agent was asked %q")
	})
}

// A cancel says how many prompts wait now, if any do.
func TestACancelWithAQueue(t *testing.T) {
	for queued, want := range map[int]string{
		0: "", 1: "1 prompt queued. Send an empty prompt to resume the queue.\n",
		2: "2 prompts queued. Send an empty prompt to resume the queue.\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			s, agent := w.ready(session.Info{})
			s.on(func() {
				s.prompts.Send("go on")
				for range queued {
					s.prompts.Send("and on")
				}
			})
			synctest.Wait()
			s.on(s.prompts.Cancel)
			check.Equal(t, s.told(), want, "the chat says %q")
			agent.answer(nil)
			synctest.Wait()
			check.Slice(t, agent.take(), []string{"prompt", "cancel a"}, "the agent was asked %q")
			s.on(func() { check.Equal(t, len(s.prompts.Queued()), queued, "%d wait") })
		})
	}
}

// steered is an agent that tells what became of words for the running turn.
type steered struct {
	*asked
	became session.Steering
}

func (a *steered) Steer(_ string, _ []session.Content, done func(session.Steering, error)) {
	a.request("steer", func(err error) { done(a.became, err) })
}

// Words for the running turn are in it, or begin the agent's own when it was over; else they are no part of the
// conversation.
func TestWhatBecomesOfWordsForTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		became session.Steering
		over   bool // when the agent answers
		open   bool // a turn, then
		said   string
	}{
		"they are taken":                 {session.SteeringTaken, false, true, "go on|and on"},
		"they are taken at the end":      {session.SteeringTaken, true, false, "go on|and on"},
		"they are left":                  {session.SteeringLeft, false, true, "go on"},
		"they begin a turn":              {session.SteeringBegan, true, true, "go on|and on"},
		"they begin one before its time": {session.SteeringBegan, false, true, "go on|and on"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s, agent := w.ready(session.Info{Steers: true})
				s.agent.adapter = &steered{agent, c.became}
				s.on(func() { s.prompts.Send("go on") })
				synctest.Wait()
				end := agent.answer
				var became []session.Steering
				s.on(func() {
					s.steer([]session.Content{session.Text{Text: "and on"}}, func(now session.Steering) { became = append(became, now) })
				})
				if c.over {
					end(nil)
					synctest.Wait()
				}
				agent.answer(nil)
				synctest.Wait()
				said := s.userSaid()
				s.on(func() {
					check.Equal(t, s.prompts.TurnOpen(), c.open, "that a turn is open is %t")
				})
				check.Equal(t, strings.Join(said, "|"), c.said, "the user has said %q")
				check.Slice(t, became, []session.Steering{c.became}, "the words became %v")
				own := c.over && c.became == session.SteeringBegan
				check.Equal(t, slices.Contains(w.happened(), "AcpTurnStart prompt=and on"), own, "that a turn has begun with them is %t")
				s.on(func() {
					s.ownWork(session.OwnWork{Ended: true, StopReason: session.StopEndTurn})
					check.Equal(t, s.prompts.TurnOpen(), c.open && !own, "when its own work is over a turn is open: %t")
				})
			})
		})
	}
}
