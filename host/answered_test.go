package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// happened are the events of a session since the last time, with what they say.
func (w *world) happened() (list []string) {
	w.settle()
	w.nvim.mu.Lock()
	defer w.nvim.mu.Unlock()
	for _, e := range w.nvim.events {
		text := e.Name
		for _, key := range []string{"prompt", "stop_reason", "error"} {
			if value, told := e.Data[key]; told {
				text += fmt.Sprint(" ", key, "=", value)
			}
		}
		list = append(list, text)
	}
	w.nvim.events = nil
	return list
}

// remarked are this client's sentences in the chat, with their severities.
func (s *Session) remarked() (list []string) {
	s.on(func() {
		for _, e := range s.conv.Entries {
			if n, ok := e.(*session.NoticeEntry); ok {
				list = append(list, n.Severity+": "+n.Title)
			}
		}
	})
	return list
}

// When a prompt is answered the turn ends, and the next prompt is sent; a login keeps both waiting. Neovim is told how it is.
func TestWhatAnAnswerToAPromptDoes(t *testing.T) {
	const begins, next = "AcpTurnStart prompt=go on", "AcpTurnStart prompt=and on"
	for name, c := range map[string]struct {
		answer  error
		cancels bool
		ends    []string
		state   string
		asked   []string
		says    []string
	}{
		"it is done": {ends: []string{"AcpTurnEnd stop_reason=end_turn", next}, state: "running", asked: []string{"prompt"}},
		"it fails": {
			answer: &acp.Error{Code: acp.CodeInternalError, Message: "no"},
			ends:   []string{"AcpTurnEnd stop_reason=error error=Puppet answered with an error: no", next},
			state:  "running", asked: []string{"prompt"},
		},
		"it is cancelled": {
			answer: &acp.Error{Code: acp.CodeRequestCancelled, Message: "cancelled"}, cancels: true,
			ends: []string{"AcpTurnEnd stop_reason=cancelled"}, state: "idle",
			says: []string{"info: 1 prompt queued. Send an empty prompt to resume the queue."},
		},
		"it fails after a cancel": {
			answer: &acp.Error{Code: acp.CodeInternalError, Message: "no"}, cancels: true,
			ends: []string{"AcpTurnEnd stop_reason=error error=Puppet answered with an error: no"}, state: "idle",
			says: []string{"info: 1 prompt queued. Send an empty prompt to resume the queue."},
		},
		"a login is needed": {answer: errLogin, state: "auth_required",
			says: []string{"warning: Puppet needs you to log in first. Then :Acp restart. What you asked is kept."}},
		"the process has ended": {answer: acp.ErrClosed, state: "running"}, // of which it is told otherwise
		"it is not taken": {
			answer: session.ErrNotTaken, ends: []string{"AcpTurnEnd stop_reason=cancelled"}, state: "idle",
			says: []string{"info: Puppet had not taken your prompt: it waits in the queue."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s, agent := w.ready(session.Info{})
				check.Slice(t, w.happened(), []string{"AcpSessionReady"}, "at first there are the events %q")
				s.on(func() {
					s.prompts.Send("go on")
					s.prompts.Send("and on")
				})
				check.Slice(t, w.happened(), []string{begins}, "of the turn there are the events %q")
				check.Equal(t, w.nvim.state.State, "running", "its state is %q")
				if c.cancels {
					s.on(s.prompts.Cancel)
				}
				agent.take()
				agent.answer(c.answer)
				check.Slice(t, w.happened(), c.ends, "of its end there are the events %q")
				check.Equal(t, w.nvim.state.State, c.state, "then its state is %q")
				check.Slice(t, agent.take(), c.asked, "then the agent was asked %q")
				check.Slice(t, s.remarked(), c.says, "the chat says %q")
				if c.answer != errLogin {
					return
				}
				s.on(func() { s.loggedIn(s.agent) })
				w.settle()
				check.Equal(t, w.nvim.state.State, "running", "after the login its state is %q")
				check.Slice(t, agent.take(), []string{"prompt"}, "after the login the agent was asked %q")
			})
		})
	}
}

// What the agent asks in a turn is withdrawn with its end, however it ends.
func TestWhatIsAskedEndsWithTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		does func(s *Session, agent *asked)
		ends []string
	}{
		"it is done":      {func(s *Session, agent *asked) { agent.answer(nil) }, []string{"AcpTurnEnd stop_reason=end_turn"}},
		"it is cancelled": {func(s *Session, _ *asked) { s.on(s.prompts.Cancel) }, nil},
		"the agent dies": {func(s *Session, _ *asked) { s.on(func() { s.die(errors.New("It is dead.")) }) },
			[]string{"AcpTurnEnd stop_reason=error error=It is dead."}},
		"it is restarted": {func(s *Session, _ *asked) { s.on(s.again) },
			[]string{"AcpTurnEnd stop_reason=error error=The session was restarted."}},
		"it is closed": {func(s *Session, _ *asked) { s.on(s.close) },
			[]string{"AcpTurnEnd stop_reason=error error=The session was closed.", "AcpSessionClosed"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s, agent := w.ready(session.Info{})
				s.on(func() { s.prompts.Send("go on") })
				w.happened()
				var answers []string
				client := clientOf{s.agent}
				client.RequestPermission(session.PermissionRequest{
					SessionID: "a", Context: t.Context(), Call: session.ToolCallPatch{ID: "c", Title: acp.Set("Write")},
					Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
					Reply:   func(option string) { answers = append(answers, "request "+option) },
				})
				client.Elicit(session.ElicitationRequest{
					SessionID: "a", Context: t.Context(), Message: "Which one?", Form: &session.Form{},
					Reply: func(a session.ElicitationAnswer) { answers = append(answers, "question "+string(a.Action)) },
				})
				synctest.Wait()
				s.on(func() { check.Equal(t, s.state(), "requires_action", "its state is %q") })
				check.Slice(t, answers, nil, "at once %q are answered")
				check.Equal(t, s.working.running(), true, "what changes now is the agent's: %t")
				w.happened()
				c.does(s, agent)
				var ends []string
				for _, e := range w.happened() {
					if strings.HasPrefix(e, "AcpTurnEnd") || strings.HasPrefix(e, "AcpSession") {
						ends = append(ends, e)
					}
				}
				check.Slice(t, ends, c.ends, "of the end there are the events %q")
				check.Slice(t, answers, []string{"request ", "question cancel"}, "%q are answered")
				check.Equal(t, s.working.running(), c.ends == nil, "what changes then is the agent's: %t")
			})
		})
	}
}
