package host

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// aloneSession is a session whose host has no Neovim, in a bubble of synctest.
func aloneSession(t *testing.T) *Session { return sessionIn(t, "/") }

// sessionIn is aloneSession in a folder.
func sessionIn(t *testing.T, cwd string) *Session {
	h := newHost(Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, nil)
	s := newSession(h, 1, AgentSpec{Name: "puppet", Title: "Puppet"}, cwd, nil)
	go s.base.Box.Run()
	t.Cleanup(s.base.Box.Close)
	return s
}

// on runs f on the session's goroutine.
func (s *Session) on(f func()) {
	done := make(chan struct{})
	s.base.Box.Put(func() { f(); close(done) })
	<-done
}

// told are this client's sentences in the chat.
func (s *Session) told() (text string) {
	s.on(func() {
		for _, e := range s.conv.Entries {
			if n, ok := e.(*session.NoticeEntry); ok {
				text += n.Title + "\n"
			}
		}
	})
	return text
}

// cancelCounter is an agent that is told of cancels, and of nothing else.
type cancelCounter struct {
	session.Agent
	cancels int
}

func (c *cancelCounter) Cancel(string) { c.cancels++ }

// A cancel reaches the agent while it works, and else ends the turn that waits to go on, whatever the agent asks for.
func TestCancelOfATurn(t *testing.T) {
	for name, c := range map[string]struct {
		phase phase
		again bool // the prompt waits to be sent again
		told  int
		open  bool
	}{
		"works":                                   {ready, false, 1, true},
		"works, though an option needs a login":   {authRequired, false, 1, true},
		"waits for a login":                       {authRequired, true, 0, false},
		"waits for the new process after a login": {starting, true, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := aloneSession(t)
			var told cancelCounter
			s.on(func() {
				s.agent = &agent{adapter: &told}
				s.phase = c.phase
				s.prompts.Opened()
				if c.again {
					s.prompts.Interrupt(nil)
				}
				s.prompts.Cancel()
				if told.cancels != c.told || s.prompts.TurnOpen() != c.open {
					t.Errorf("%s: the agent was told %d times, and that the turn is open is %v", name, told.cancels, s.prompts.TurnOpen())
				}
			})
		})
	}
}

// An agent that answers a prompt with "request cancelled" has done what the user wanted, if the user did.
func TestPromptAnsweredAsCancelled(t *testing.T) {
	for cancelled, want := range map[bool]session.StopReason{true: session.StopCancelled, false: session.StopError} {
		synctest.Test(t, func(t *testing.T) {
			s := aloneSession(t)
			s.on(func() {
				s.agent, s.phase = &agent{adapter: &cancelCounter{}}, ready
				s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "go on"}}})
				s.prompts.Opened()
				if cancelled {
					s.prompts.Cancel()
				}
				s.answered(nil, "", &acp.Error{Code: acp.CodeRequestCancelled, Message: "Request cancelled"})
				if s.conv.Stop != want || s.prompts.TurnOpen() {
					t.Errorf("cancelled %v: the turn ended with %q", cancelled, s.conv.Stop)
				}
			})
		})
	}
}

// A prompt that the agent has never taken waits again, and is no part of the conversation.
func TestPromptThatIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		s.on(func() {
			s.agent, s.phase = &agent{adapter: &cancelCounter{}}, ready
			s.prompts.Send("go on")
			s.answered(nil, "", fmt.Errorf("%w: request cancelled", session.ErrNotTaken))
			if s.conv.Stop != session.StopCancelled || s.prompts.TurnOpen() || !s.prompts.Paused() {
				t.Errorf("the turn ended with %q", s.conv.Stop)
			}
			if queued := s.prompts.Queued(); len(queued) != 1 || queued[0] != "go on" {
				t.Errorf("%q wait", queued)
			}
			for _, e := range s.conv.Entries {
				if m, ok := e.(*session.Message); ok && m.Text() != "" {
					t.Errorf("the conversation has %q", m.Text())
				}
			}
		})
		check.Contains(t, s.told(), "had not taken your prompt", "the chat has %q")
	})
}

// A turn ends once, whoever ends it, and what has no turn says its failure all the same.
func TestATurnEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		go s.ledger.Run()
		t.Cleanup(func() { s.on(s.ledger.Close) })
		s.on(func() {
			s.phase = ready
			s.prompts.Opened()
			s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "go on"}}})
			s.endTurn(session.StopEndTurn, "")
			s.endTurn(session.StopError, "again")
			s.die(errors.New("It is dead."))
		})
		synctest.Wait()
		ends := 0
		ops, _ := s.view.Take(1 << 20)
		for _, e := range eventsOf(ops) {
			if e.Name == "AcpTurnEnd" {
				ends++
			}
		}
		if ends != 1 || s.conv.Stop != session.StopEndTurn {
			t.Errorf("it ended %d times, with %q", ends, s.conv.Stop)
		}
		check.Contains(t, s.told(), "It is dead.", "the chat has %q")
	})
}

// A session is idle for Neovim when it is told the turn's end, and not before: not while the chat lacks some of it.
func TestIdleWithTheTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		go s.ledger.Run()
		t.Cleanup(func() { s.on(s.ledger.Close) })
		s.on(func() {
			s.phase = ready
			s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "go on"}}})
			s.apply(session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.Text{Text: strings.Repeat("a line\n", 10_000)}})
			s.prompts.Opened()
			s.endTurn(session.StopEndTurn, "")
		})
		synctest.Wait()
		takes := 0
		for ended := false; !ended && !t.Failed(); takes++ {
			state := ""
			ops, _ := s.view.Take(1 << 10)
			for _, op := range ops {
				if args, ok := op.Args.(rpc.Session); ok {
					state = args.State
				}
			}
			for _, e := range eventsOf(ops) {
				ended = ended || e.Name == "AcpTurnEnd"
			}
			if (state == "idle") != ended {
				t.Errorf("the state told is %q, and that the turn has ended is %v", state, ended)
			}
			synctest.Wait()
		}
		if takes < 3 {
			t.Errorf("all was told in %d times", takes)
		}
	})
}

// eventsOf are the events that Neovim is to fire with these operations.
func eventsOf(ops []editor.Op) (list []rpc.Event) {
	for _, op := range ops {
		if args, ok := op.Args.(rpc.Events); ok {
			list = append(list, args.Events...)
		}
	}
	return list
}

// cancellable is an agent that is asked to cancel single tool calls.
type cancellable struct {
	asked
	lets bool
}

func (c *cancellable) MayCancel(string) bool { return true }

func (c *cancellable) CancelCall(id string, terminals []string, done func(error)) bool {
	c.request(fmt.Sprint("cancel ", id, terminals), done)
	return c.lets
}

// A single tool call is cancelled if the agent lets that be; otherwise the user learns why it goes on.
func TestCancelOfACall(t *testing.T) {
	for name, c := range map[string]struct {
		entry  session.Entry
		lets   bool
		answer error
		asked  []string
		told   []string
	}{
		"it is cancelled": {entry: &session.ToolCall{ID: "c"}, lets: true, asked: []string{"cancel c[]"}},
		"of a terminal": {
			entry: &session.ToolCall{ID: "c", Content: []session.ToolCallContent{session.TerminalRef{TerminalID: "t"}, session.Diff{}}},
			lets:  true, asked: []string{"cancel c[t]"},
		},
		"it is refused": {
			entry: &session.ToolCall{ID: "c"}, lets: true, answer: errors.New("no"), asked: []string{"cancel c[]"},
			told: []string{"warning: Puppet has not cancelled it: no"},
		},
		"it cannot be now": {
			entry: &session.ToolCall{ID: "c"}, asked: []string{"cancel c[]"},
			told: []string{"info: Puppet cannot cancel this alone; :Acp cancel ends the turn"},
		},
		"it is no call": {entry: &session.Message{}, told: []string{"warning: this is not a tool call"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s, _ := w.ready(session.Info{})
				agent := &cancellable{lets: c.lets}
				s.agent.adapter = agent
				s.on(func() {
					s.cancelCall(c.entry)
					if c.lets {
						agent.answer(c.answer)
					}
				})
				check.Slice(t, agent.take(), c.asked, "the agent was asked %q")
				w.told(c.told...)
			})
		})
	}
}

// What is ready late does not bring a dead session to life.
func TestADeadSessionIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		s.on(func() {
			s.die(errors.New("It is dead."))
			s.becomeReady()
			check.Equal(t, s.state(), "dead", "its state is %q")
			check.Equal(t, s.lua().Error, "It is dead.", "its error is %q")
		})
	})
}
