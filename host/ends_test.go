package host

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// The end of an agent is an error in each of its chats, and also one short notice if no window shows one of them.
func TestTheEndOfAnAgent(t *testing.T) {
	for visible, want := range map[bool][]string{
		true: nil, false: {"error: Puppet exited with code 1. :Acp restart starts it again"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			a, _ := w.process(puppet, session.Info{})
			for id := range 2 {
				s := w.add(id, puppet)
				s.view.Show(visible)
				s.on(func() { s.agent = a })
				a.users[s] = struct{}{}
			}
			other := w.add(3, puppet)
			a.fail(&failure.Failure{Sentence: "Puppet exited with code 1 (command not executable).", Advice: "Restart it."})
			w.told(want...)
			for id := range 2 {
				s := w.sessions[id]
				check.Equal(t, s.told(), "Puppet exited with code 1 (command not executable). Restart it.\n", "the chat says %q")
				s.on(func() {
					check.Equal(t, s.phase, dead, "its phase is %d")
					said, _ := s.conv.Entries[0].(*session.NoticeEntry)
					check.Equal(t, said.Severity, "error", "it is of severity %q")
				})
			}
			other.on(func() { other.agentDied(a, &failure.Failure{Sentence: "It is dead."}) })
			check.Equal(t, other.told(), "", "the chat of a session in no process says %q")
		})
	}
}

// Who restarts a session that died with its agent restarts the others that did; one that died by itself restarts alone.
func TestARestartAfterTheEndOfAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		a, _ := w.process(puppet, session.Info{})
		for id := range 5 {
			s := w.add(id, puppet)
			if id < 2 {
				s.on(func() { s.agent = a })
				a.users[s] = struct{}{}
			} else {
				s.on(func() { s.die(errors.New("It is dead.")) })
			}
		}
		a.fail(&failure.Failure{Sentence: "It is dead."})
		synctest.Wait()
		w.process(puppet, session.Info{})
		for _, c := range []struct {
			restarts int
			want     []phase
		}{
			{2, []phase{dead, dead, starting, dead, dead}},
			{0, []phase{starting, starting, starting, dead, dead}},
		} {
			s := w.sessions[c.restarts]
			s.on(s.restart)
			synctest.Wait()
			var phases []phase
			for id := range 5 {
				s := w.sessions[id]
				s.on(func() {
					phases = append(phases, s.phase)
					check.Equal(t, s.failure == "", s.phase == starting, "that nothing is wrong is %t")
				})
			}
			check.Slice(t, phases, c.want, "the phases are %d")
		}
	})
}
