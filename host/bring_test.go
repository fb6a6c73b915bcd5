package host

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// The agent's title of a session counts until the user gives one, and then only if the agent keeps titles.
func TestWhoseTitleCounts(t *testing.T) {
	for name, c := range map[string]struct {
		keeps  bool
		titled string
		sent   session.InfoUpdate
		title  string
		kept   string
	}{
		"the agent's":                {false, "", session.InfoUpdate{Title: acp.Set("Agent's")}, "Agent's", ""},
		"the agent's, that it keeps": {true, "", session.InfoUpdate{Title: acp.Set("Agent's")}, "Agent's", ""},
		"the user's":                 {false, "Mine", session.InfoUpdate{Title: acp.Set("Agent's")}, "Mine", "Mine"},
		"the one that it keeps":      {true, "Mine", session.InfoUpdate{Title: acp.Set("Agent's")}, "Agent's", "Agent's"},
		"of two lines":               {true, "Mine", session.InfoUpdate{Title: acp.Set("Agent\n's")}, "Agent 's", "Agent 's"},
		"nothing is said of it":      {true, "Mine", session.InfoUpdate{}, "Mine", "Mine"},
		"the same":                   {true, "Mine", session.InfoUpdate{Title: acp.Set("Mine")}, "Mine", "Mine"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Data: data})
				s, agent := w.ready(session.Info{Titles: c.keeps})
				if c.titled != "" {
					w.receive("rename", map[string]any{"session": 1, "callback": 7, "title": c.titled})
					if w.settle(); c.keeps {
						agent.answer(nil)
					}
					w.told("7 " + c.titled + " ")
				}
				clientOf{s.agent}.Update("a", c.sent)
				w.settle()
				s.on(func() { check.Equal(t, s.conv.Title, c.title, "it is %q") })
				check.Equal(t, w.labels.Of("puppet", "a").Title, c.kept, "kept is %q")
			})
		})
	}
}

// An update that cannot be understood is in the log once, whatever else of its kind comes, and a notice is an event.
func TestUpdatesThatAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, _ := w.ready(session.Info{})
		client := clientOf{s.agent}
		for _, u := range []session.UnknownUpdate{
			{Type: "plan", Reason: "no entries"}, {Type: "plan", Reason: "no entries"}, {Type: "plan", Reason: "no text"},
			{Type: "mode", Reason: "no entries"}, {Type: "new"},
		} {
			client.Update("a", u)
		}
		synctest.Wait()
		for part, want := range map[string]int{
			"ignored an update": 3, `type=plan err="no entries"`: 1, `type=plan err="no text"`: 1, `type=mode err="no entries"`: 1,
		} {
			check.Equal(t, strings.Count(w.log.String(), part), want, "the log has %q %d times", part)
		}

		client.Update("b", session.Notice{Title: "Of another session"})
		client.Update("a", session.Notice{Severity: "warning", Title: "Low", Description: "Little is left."})
		w.settle()
		var told []map[string]any
		for _, e := range w.nvim.events {
			if e.Name == "AcpNotice" {
				told = append(told, e.Data)
			}
		}
		want := []map[string]any{{"session": 1, "severity": "warning", "title": "Low", "description": "Little is left."}}
		check.Deep(t, told, want, "the events are %v")
	})
}

// What the agent does without a prompt is a turn of its own, which ends when the agent says so; that is nothing to a turn of
// the user's.
func TestWorkOfTheAgentsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, agent := w.ready(session.Info{})
		client := clientOf{s.agent}
		open := func(when string, want bool, does func()) {
			t.Helper()
			does()
			synctest.Wait()
			s.on(func() { check.Equal(t, s.prompts.TurnOpen(), want, when+" a turn is open: %t") })
		}
		works := func(ended bool) func() {
			return func() { client.Works("a", session.OwnWork{Ended: ended, StopReason: session.StopRefusal}) }
		}
		open("when nothing ends", false, works(true))
		open("when it begins", true, works(false))
		open("when it begins again", true, works(false))
		open("when it ends", false, works(true))
		s.on(func() { check.Equal(t, s.conv.Stop, session.StopRefusal, "it has ended with %q") })
		open("when the user asks for something", true, func() { s.on(func() { s.prompts.Send("go on") }) })
		open("when something begins meanwhile", true, works(false))
		open("when that ends", true, works(true))
		open("when the prompt is answered", false, func() { agent.answer(nil) })
		check.Slice(t, agent.take(), []string{"prompt"}, "the agent was asked %q")
		check.Slice(t, w.happened(), []string{
			"AcpSessionReady", "AcpTurnStart", "AcpTurnEnd stop_reason=refusal",
			"AcpTurnStart prompt=go on", "AcpTurnEnd stop_reason=end_turn",
		}, "the events are %q")
	})
}

// Who is logged in is told when the agent says it.
func TestWhoIsLoggedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, _ := w.ready(session.Info{})
		w.settle()
		clientOf{s.agent}.LoggedIn(session.Login{State: session.LoggedOut, Accounts: "me"})
		w.settle()
		check.Equal(t, w.nvim.state.Account, "me", "the account is %q")
		check.Equal(t, w.nvim.state.Login, "unauthenticated", "its state is %q")
	})
}

// Terminals that there are not, or of sessions that are not open, are refused.
func TestTerminalsThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s, _ := w.ready(session.Info{})
		c := clientOf{s.agent}
		for _, id := range []string{"a", "unknown"} {
			_, err := c.TerminalOutput(id, "t")
			var waits error
			answers := 0
			c.WaitForTerminalExit(t.Context(), id, "t", func(_ session.TerminalExit, err error) { waits, answers = err, answers+1 })
			synctest.Wait()
			check.Equal(t, answers, 1, id+": who waits is answered %d times")
			for what, err := range map[string]error{
				"output": err, "exit": waits, "kill": c.KillTerminal(id, "t"), "release": c.ReleaseTerminal(id, "t"),
			} {
				if err == nil {
					t.Errorf("session %s: its %s is not refused", id, what)
				}
			}
		}
	})
}
