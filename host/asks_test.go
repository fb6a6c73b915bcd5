package host

import (
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// What the user asks of a session's agent is asked again after the login that the agent wants for it. If the agent
// refuses it, or leaves meanwhile, the user is told why it was not done.
func TestRequestsThatNeedALogin(t *testing.T) {
	can := session.Info{Titles: true, Archives: true, Deletes: true}
	for name, c := range map[string]struct {
		asks  map[string]any
		asked string
		done  string
		sent  string
	}{
		"rename":  {map[string]any{"title": "New"}, "title New", "7 New ", "session/set_title"},
		"archive": {nil, "archive a true", "7 true ", "session/archive"},
		"delete":  {nil, "delete a", "7 true ", "session/delete"},
	} {
		play := func(play func(w *world, s *Session, agent *asked)) {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, Options{})
					s, agent := w.ready(can)
					m := map[string]any{"session": 1, "callback": 7}
					maps.Copy(m, c.asks)
					w.receive(method(name), m)
					synctest.Wait()
					check.Slice(t, agent.take(), []string{c.asked}, "the agent was asked %q")
					play(w, s, agent)
				})
			})
		}
		play(func(w *world, s *Session, agent *asked) {
			agent.answer(errLogin)
			w.told()
			check.Contains(w.t, s.told(), "Puppet needs you to log in first.", "the chat says %q")
			s.on(func() { s.loggedIn(s.agent) })
			check.Slice(w.t, agent.take(), []string{c.asked}, "after the login the agent was asked %q")
			agent.answer(nil)
			w.told(c.done)
		})
		play(func(w *world, s *Session, agent *asked) {
			agent.answer(&acp.Error{Code: acp.CodeInternalError, Message: "no"})
			w.told("7 <nil> Puppet refused " + c.sent + ": no.")
			check.Equal(w.t, s.closed, false, "that it is closed is %v")
		})
		play(func(w *world, s *Session, agent *asked) {
			s.on(func() {
				agent.answer(errLogin)
				s.die(errors.New("It is dead."))
			})
			w.told("7 <nil> Puppet needs you to log in first: :Acp new puppet, then :Acp auth.")
			check.Equal(w.t, s.told(), "It is dead.\n", "the chat says %q")
		})
		play(func(w *world, s *Session, agent *asked) {
			time.Sleep(control.Slow)
			synctest.Wait()
			check.Contains(w.t, s.told(), "Puppet has not answered "+c.sent+" yet.", "the chat says %q")
			s.on(s.prompts.Cancel)
			check.Slice(w.t, agent.take(), []string{"withdrawn: " + c.asked}, "when the user gives up, of the agent was asked %q")
			w.told("7 <nil> Puppet refused " + c.sent + ": it was cancelled.")
		})
	}
}

// An agent that does not delete sessions is not asked to; what it does not archive is put away here all the same.
func TestRequestsThatAnAgentDoesNotKnow(t *testing.T) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		s, agent := w.ready(session.Info{})
		w.receive("delete", map[string]any{"session": 1, "callback": 7})
		w.told("7 <nil> Puppet cannot delete sessions.")
		check.Slice(t, agent.take(), nil, "to delete it the agent was asked %q")
		w.receive("archive", map[string]any{"session": 1, "callback": 8})
		w.told("8 true ")
		check.Slice(t, agent.take(), []string{"close a"}, "to archive it the agent was asked %q")
		check.Equal(t, s.closed, true, "that it is closed is %t")
		check.Equal(t, w.labels.Of("puppet", "a").Archived, true, "that it is archived is kept as %t")
	})
}

// A session that its agent does not have open cannot be deleted or archived there.
func TestRequestsWithoutASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.add(1, puppet)
		w.receive("delete", map[string]any{"session": 1, "callback": 7})
		w.told("7 <nil> Puppet does not have the session open. :Acp restart starts it")
		w.receive("archive", map[string]any{"session": 1, "callback": 8})
		w.told("8 <nil> this session is not stored: there is nothing to archive")
		w.process(puppet, session.Info{Deletes: true})
		s := w.sessions[1]
		s.on(s.start) // it is being opened
		w.receive("delete", map[string]any{"session": 1, "callback": 9})
		w.told("9 <nil> Puppet does not have the session open. :Acp restart starts it")
	})
}

// An agent that works on a session is told to stop before the session is deleted.
func TestDeletingAWorkingSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, agent := w.ready(session.Info{Deletes: true})
		s.on(s.prompts.Opened)
		w.receive("delete", map[string]any{"session": 1, "callback": 7})
		synctest.Wait()
		check.Slice(t, agent.take(), []string{"cancel a", "delete a"}, "the agent was asked %q")
	})
}

// Whoever asks an agent about the sessions that it keeps gets one answer, though the agent is missing, cannot do it, or
// never answers: then the request is withdrawn.
func TestAskingForStoredSessions(t *testing.T) {
	asks := map[string]any{
		"agent": puppetFields,
		"cwd":   "/", "callback": 7, "agent_session_id": "x", "archived": true,
	}
	for name, c := range map[string]struct {
		ask     method
		missing bool
		info    session.Info
		asked   []string
		told    string
	}{
		"there is no agent":     {ask: "list_stored", missing: true, told: "Puppet is not installed: /puppet does not exist or is not executable."},
		"it does not list them": {ask: "list_stored", told: "Puppet does not list its sessions."},
		"it does not delete":    {ask: "delete_stored", told: "Puppet cannot delete sessions."},
		"it does not answer": {
			ask: "list_stored", info: session.Info{Lists: true}, asked: []string{"list", "withdrawn: list"},
			told: "Puppet did not answer session/list in time. :Acp traffic shows what was said.",
		},
		"it does not answer to delete one": {
			ask: "delete_stored", info: session.Info{Deletes: true}, asked: []string{"delete x", "withdrawn: delete x"},
			told: "Puppet did not answer session/delete in time. :Acp traffic shows what was said.",
		},
		"it does not answer to archive one": {
			ask: "archive_stored", info: session.Info{Archives: true}, asked: []string{"archive x true", "withdrawn: archive x true"},
			told: "Puppet did not answer session/archive in time. :Acp traffic shows what was said.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				agent := &asked{}
				if !c.missing {
					_, agent = w.process(AgentSpec(rpc.Decode[rpc.ListStored](asks).Agent), c.info)
				}
				w.receive(c.ask, asks)
				time.Sleep(control.Slow)
				w.told("7 <nil> " + c.told)
				check.Slice(t, agent.take(), c.asked, "the agent was asked %q")
			})
		})
	}
}

// A session that is not open here is put away, or brought back, once its agent has done that, if the agent keeps it.
func TestArchivingAStoredSession(t *testing.T) {
	can := session.Info{Archives: true}
	for name, c := range map[string]struct {
		info     session.Info
		archived bool
		answer   error
		asked    []string
		told     string
		kept     bool
	}{
		"the agent does it":       {info: can, archived: true, asked: []string{"archive x true"}, told: "true ", kept: true},
		"it is brought back":      {info: can, asked: []string{"archive x false"}, told: "true "},
		"the agent knows nothing": {archived: true, told: "true ", kept: true},
		"the agent refuses": {info: can, archived: true, answer: &acp.Error{Message: "no"}, asked: []string{"archive x true"},
			told: "<nil> Puppet refused session/archive: no."},
		"the agent does not bring it back": {info: can, answer: &acp.Error{Message: "no"}, asked: []string{"archive x false"},
			told: "<nil> Puppet refused session/unarchive: no."},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Data: data})
				asks := map[string]any{"agent": puppetFields, "cwd": "/", "callback": 7, "agent_session_id": "x", "archived": c.archived}
				_, agent := w.process(AgentSpec(rpc.Decode[rpc.ArchiveStored](asks).Agent), c.info)
				w.receive("archive_stored", asks)
				w.settle()
				if agent.answer != nil {
					agent.answer(c.answer)
				}
				w.told("7 " + c.told)
				check.Slice(t, agent.take(), c.asked, "the agent was asked %q")
				check.Equal(t, w.labels.Of("puppet", "x").Archived, c.kept, "that it is archived is kept as %v")
			})
		})
	}
}
