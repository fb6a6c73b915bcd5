package scenario

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// at waits for a condition that holds also after Neovim has ended, when Await gives up.
func at(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !cond() {
		select {
		case <-look.C:
		case <-deadline.C:
			t.Fatalf("waiting for %s: not within a minute", what)
		}
	}
}

// gone tells whether there is no process of that id.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// awaitNothingLeft waits until Neovim and all that it has started have ended.
func (s *scene) awaitNothingLeft() {
	s.t.Helper()
	at(s.t, "Neovim to end", func() bool { return gone(s.PID()) })
	at(s.t, "what it started to end", func() bool { return len(s.Leftovers()) == 0 })
}

// busy makes the puppet's session as busy as it gets: a turn with a terminal that runs, one
// permission open.
func (s *scene) busy() (p *puppet, permission int) {
	s.t.Helper()
	p = s.begin()
	s.prompt(p, "be busy")
	p.say("What was said before.")
	m := p.ask("terminal/create", obj{
		"sessionId": remote(1), "command": "sh", "args": []string{"-c", "echo up and running; sleep 1000"},
	})
	p.update("tool_call", obj{
		"toolCallId": "t", "title": "Run", "kind": "execute", "status": "in_progress",
		"content": []obj{{"type": "terminal", "terminalId": m.text("terminalId")}},
	})
	s.awaitChat("up and running")
	permission = p.permission(obj{"toolCallId": "c", "title": "Do it"}, yesNo...)
	s.awaitFloat()
	return p, permission
}

func TestBadEndOfTheHost(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for i, pick := range []string{"first", "second"} {
			if i == 0 {
				s.busy()
			} else {
				// It is killed again, in the midst of text this time.
				p := s.again()
				s.prompt(p, "and again")
				p.say("Said by the second.")
				s.awaitChat("Said by the second.")
			}
			hosts, others := s.hosts()
			if len(hosts) != 1 || len(others) == 0 {
				t.Fatalf("%s: the processes are %v", pick, s.Leftovers())
			}
			s.free(func() {
				s.killHost()
				s.awaitState("dead")
				s.Await("all processes to end", func() bool { return len(s.Leftovers()) == 0 })
			})
			s.awaitTurnEnd("error")
			s.awaitChat("the host ended")
			s.awaitChat(":Acp restart starts it again")
			s.awaitMessage("the host ended")
			if s.LuaBool(`require('acp.permission').win()`) {
				t.Errorf("%s: the float stays", pick)
			}
			if err := s.refused(`require('acp').prompt('x')`); !strings.Contains(err, ":Acp restart") {
				t.Errorf("%s: a prompt is refused with %q", pick, err)
			}
		}
		p := s.again()
		turn := s.prompt(p, "once more")
		p.say("Here again.\n")
		p.update("plan", obj{"entries": []obj{{"content": "Step", "priority": "low", "status": "pending"}}})
		p.stop(turn, "end_turn")
		s.awaitTurnEnd("end_turn")
		for _, text := range []string{
			"What was said before.", "up and running", "Said by the second.", "Here again.", "Step",
		} {
			if n := strings.Count(s.chat(), text); n != 1 {
				t.Errorf("%q is shown %d times:\n%s", text, n, s.chat())
			}
		}
		if n := s.events("AcpTurnEnd"); n != 3 {
			t.Errorf("%d turns have ended: %v", n, s.Events())
		}
	}, wide)
}

func TestBadEndOfNeovim(t *testing.T) {
	for name, end := range map[string]func(s *scene){
		"killed":     func(s *scene) { s.Kill() },
		"terminated": func(s *scene) { _ = syscall.Kill(s.PID(), syscall.SIGTERM) },
		"hung up":    func(s *scene) { _ = syscall.Kill(s.PID(), syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				p, permission := s.busy()
				end(s)
				s.awaitNothingLeft()
				s.Kill() // so that its exit code is of no interest
				at(t, "the end of the agent", p.ended)
				p.cancelledBeforeTheEnd(permission)
			})
		})
	}
}

// cancelledBeforeTheEnd checks what an agent got whose input has ended: the turn was cancelled, and
// so was the request for permission.
func (p *puppet) cancelledBeforeTheEnd(permission int) {
	p.t.Helper()
	var cancelled, outcomes int
	for _, m := range p.received() {
		switch {
		case m.Method == "session/cancel":
			cancelled++
		case string(m.ID) == fmt.Sprint(permission) && m.Method == "":
			outcomes++
			if m.text("outcome", "outcome") != "cancelled" {
				p.t.Errorf("the request was answered %s", m)
			}
		}
	}
	if cancelled != 1 || outcomes != 1 {
		p.t.Errorf("the agent was told of %d cancels and %d outcomes: %v", cancelled, outcomes, p.received())
	}
}

// quickly is how long quitting may take on a machine that has other things to do.
const quickly = 10 * time.Second

func TestBadEndQuitWithAPermissionOpen(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, permission := s.busy()
		s.Keys("<Esc>")
		s.AwaitLua(`vim.fn.mode() == 'n'`)
		began := time.Now()
		s.Keys(":qa!<CR>")
		s.awaitNothingLeft()
		took := time.Since(began)
		t.Logf("quitting took %v", took)
		if took > quickly {
			t.Errorf("quitting took %v", took)
		}
		p.awaitEnd()
		p.cancelledBeforeTheEnd(permission)
	})
}

// The agent reads nothing any more, and ignores both the end of its input and SIGTERM.
func TestBadEndQuitWithAStubbornAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.fake(append(fakeagent.Start("fake"),
			fakeagent.Step{Ignore: "term"}, fakeagent.Expect("session/prompt"),
			fakeagent.Request(1, "session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c"},
				"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}`),
			fakeagent.Step{Hang: true},
		)...)
		s.Command("Acp")
		s.AwaitEvent("AcpSessionReady")
		s.ok(`require('acp').prompt('go')`)
		s.awaitFloat()
		began := time.Now()
		s.Keys("<Esc>:qa!<CR>")
		s.awaitNothingLeft()
		took := time.Since(began)
		t.Logf("quitting took %v", took)
		if took > quickly {
			t.Errorf("quitting took %v", took)
		}
	})
}
