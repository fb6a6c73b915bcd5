package host

import (
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A fork asks the agent of the session for it, or says in the new chat why there is none.
func TestForks(t *testing.T) {
	can := session.Info{Forks: true, ForksAfter: true}
	for name, c := range map[string]struct {
		info   session.Info
		before int
		source func(*Session) // what is particular about the session
		asks   string
		says   string
	}{
		"of all":                  {info: can, asks: "fork a after "},
		"before a prompt":         {info: can, before: 2, asks: "fork a after m1"},
		"before the first prompt": {info: can, before: 1, says: "Puppet has said nothing before this prompt: :Acp new starts a new session\n"},
		"of a turn":               {info: can, source: func(s *Session) { s.prompts.Opened() }, says: "Puppet is working: a session can be forked when the turn is over\n"},
		"before a turn":           {info: can, before: 2, source: func(s *Session) { s.prompts.Opened() }, asks: "fork a after m1"},
		"before it is ready":      {info: can, source: func(s *Session) { s.phase = authRequired }, says: "Puppet is not ready yet\n"},
		"cannot":                  {before: 1, says: "Puppet cannot fork sessions\n"},
		"only of all":             {info: session.Info{Forks: true}, before: 2, says: "Puppet cannot fork a session before an earlier prompt; :Acp fork takes all of it\n"},
		"only of all, not of its end": {
			info: session.Info{Forks: true}, before: 1, says: "Puppet cannot fork a session before an earlier prompt; :Acp fork takes all of it\n",
		},
		"of all, as ever":     {info: session.Info{Forks: true}, asks: "fork a after "},
		"of a closed session": {info: can, source: func(s *Session) { s.close() }, says: "The session to be forked is closed.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s, agent := w.ready(c.info)
				s.on(func() {
					for _, id := range []string{"m1", "m2"} {
						s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "go on"}}})
						s.apply(session.MessageChunk{MessageID: id, Wire: id, Role: session.RoleAgent, Content: session.Text{Text: "Done."}})
						s.apply(session.TurnEnd{StopReason: session.StopEndTurn})
					}
					s.apply(session.InfoUpdate{Title: acp.Set("Work")})
				})
				if c.source != nil {
					s.on(func() { c.source(s) })
					synctest.Wait()
				}
				agent.take()
				fork := w.add(2, puppet)
				fork.beginFork(s, c.before)
				synctest.Wait()
				if c.says != "" {
					check.Equal(t, fork.told(), c.says, "the chat says %q")
					check.Equal(t, fork.phase, dead, "its phase is %d")
					check.Slice(t, agent.take(), nil, "the agent was asked %q")
					return
				}
				check.Slice(t, agent.take(), []string{c.asks}, "the agent was asked %q")
				check.Equal(t, fork.conv.Title, "Work (fork)", "its title is %q")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		fork := w.add(2, puppet)
		fork.beginFork(nil, 0)
		check.Equal(t, fork.told(), "The session to be forked is closed.\n", "of none the chat says %q")
	})
}

// A fork has the title of its session, which says that it is one.
func TestTitlesOfForks(t *testing.T) {
	for title, want := range map[string]string{"": "", "Work": "Work (fork)", "Work (fork)": "Work (fork)"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			s, _ := w.ready(session.Info{Forks: true})
			s.on(func() { s.conv.Title = title })
			fork := w.add(2, puppet)
			fork.beginFork(s, 0)
			synctest.Wait()
			check.Equal(t, fork.conv.Title, want, "of "+title+" it is %q")
		})
	}
}

// A fork shows what was said in its session until then, if that is kept.
func TestWhatAForkShows(t *testing.T) {
	for name, c := range map[string]struct {
		before int
		unkept bool
		shows  []string
	}{
		"of all":          {0, false, []string{"one", "two"}},
		"before a prompt": {2, false, []string{"one"}},
		"nothing is kept": {0, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Data: data})
				s, agent := w.ready(session.Info{Forks: true, ForksAfter: true})
				s.on(func() {
					for _, text := range []string{"one", "two"} {
						s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: text}}})
						s.apply(session.MessageChunk{MessageID: text, Wire: text, Role: session.RoleAgent, Content: session.Text{Text: "Done."}})
						s.apply(session.TurnEnd{StopReason: session.StopEndTurn})
					}
				})
				w.receive("set_rules", map[string]any{"unkept": c.unkept})
				fork := w.add(2, puppet)
				fork.beginFork(s, c.before)
				w.settle()
				check.Equal(t, len(agent.take()), 1, "the agent was asked %d times")
				check.Slice(t, fork.userSaid(), c.shows, "of the user it shows %q")
			})
		})
	}
}
