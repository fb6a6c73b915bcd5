package host

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A command that an agent runs ends when the agent says so, or is gone; the end of a turn is nothing to it.
func TestHowCommandsOfAnAgentEnd(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		does    func(c clientOf, s *Session, id string) error
		fails   bool
	}{
		"the turn is done": {"until [ -e go ]; do sleep 0.01; done", func(_ clientOf, s *Session, _ string) error {
			s.on(func() {
				s.endTurn(session.StopEndTurn, "")
			})
			return nil
		}, false},
		"the agent kills it": {"sleep 1000", func(c clientOf, _ *Session, id string) error { return c.KillTerminal("a", id) }, true},
		"the agent is gone": {"sleep 1000", func(_ clientOf, s *Session, _ string) error {
			s.on(s.detach)
			return nil
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOutside(t, Options{})
			s := w.opens(1, nil)
			a := &agent{host: w.Host, spec: puppet, routes: newRoutes(), adapter: &asked{}}
			client := clientOf{a}
			client.routes.add("a", s)
			s.on(func() {
				s.agent, s.phase = a, ready
				s.prompts.Opened()
				s.prompts.Send("go on")
				check.Equal(t, s.prompts.TurnOpen(), true, "that a turn is open is %t")
			})
			dir, made := t.TempDir(), make(chan string, 1)
			client.CreateTerminal(session.CreateTerminal{
				SessionID: "a", Dir: dir, Command: "sh", Args: []string{"-c", "echo it begins; " + c.command},
				Reply: func(id string, err error) {
					must.Do(t, err)
					made <- id
				},
			})
			id := must.Receive(t, "the terminal", made)
			must.Become(t, "its beginning", func() bool {
				out, err := client.TerminalOutput("a", id)
				must.Do(t, err)
				return strings.Contains(out.Text, "it begins")
			})
			ended := make(chan session.TerminalExit, 1)
			client.WaitForTerminalExit(t.Context(), "a", id, func(e session.TerminalExit, _ error) { ended <- e })
			must.Do(t, c.does(client, s, id))
			must.Write(t, dir, "go", "")
			check.Equal(t, must.Receive(t, "its end", ended).Succeeded(), !c.fails, "it ends by itself: %t")
			if _, err := client.TerminalOutput("a", id); (err != nil) != (name == "the agent is gone") {
				t.Errorf("what it has said cannot be read: %v", err)
			}
			_ = client.ReleaseTerminal("a", id)
			if _, err := client.TerminalOutput("a", id); err == nil {
				t.Error("what it has said can be read when it is released")
			}
		})
	}
}
