package session

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// busy makes the puppet's session as busy as it gets: a turn with a terminal that runs, one permission open.
func busy(s *scene.Scene) (p *scene.Puppet, permission int) {
	s.T.Helper()
	p = s.Begin()
	s.Prompt(p, "be busy")
	p.Say("What was said before.")
	m := p.Ask("terminal/create", obj{
		"sessionId": scene.SessionID(1), "command": "sh", "args": []string{"-c", "echo up and running; sleep 1000"},
	})
	p.Update("tool_call", obj{
		"toolCallId": "t", "title": "Run", "kind": "execute", "status": "in_progress",
		"content": []obj{{"type": "terminal", "terminalId": m.Text("terminalId")}},
	})
	s.AwaitChat("up and running")
	permission = p.Permission(obj{"toolCallId": "c", "title": "Do it"}, scene.YesNo...)
	s.AwaitFloat()
	return p, permission
}

func TestBadEndOfTheHost(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for i, pick := range []string{"first", "second"} {
			if i == 0 {
				busy(s)
			} else {
				// It is killed again, in the midst of text this time.
				p := s.RestartAndBegin()
				s.Prompt(p, "and again")
				p.Say("Said by the second.")
				s.AwaitChat("Said by the second.")
			}
			hosts, others := s.Hosts()
			if len(hosts) != 1 || len(others) == 0 {
				t.Fatalf("%s: the processes are %v", pick, s.Leftovers())
			}
			s.NotBlocked(func() {
				s.KillHost()
				s.AwaitState("dead")
				s.Await("all processes to end", func() bool { return len(s.Leftovers()) == 0 })
			})
			s.AwaitTurnEnd("error")
			s.AwaitChat("the host ended")
			s.AwaitChat(":Acp restart starts it again")
			s.AwaitMessage("the host ended")
			if s.LuaBool(`require('acp.permission.float').win()`) {
				t.Errorf("%s: the float stays", pick)
			}
			check.Contains(t, s.Refused(`require('acp').prompt('x')`), ":Acp restart",
				"%s: a prompt is refused with %q", pick)
		}
		p := s.RestartAndBegin()
		turn := s.Prompt(p, "once more")
		p.Say("Here again.\n")
		p.Update("plan", obj{"entries": []obj{{"content": "Step", "priority": "low", "status": "pending"}}})
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
		for _, text := range []string{
			"What was said before.", "up and running", "Said by the second.", "Here again.", "Step",
		} {
			if n := strings.Count(s.Chat(), text); n != 1 {
				t.Errorf("%q is shown %d times:\n%s", text, n, s.Chat())
			}
		}
		if n := s.CountEvents("AcpTurnEnd"); n != 3 {
			t.Errorf("%d turns have ended: %v", n, s.Events())
		}
	}, scene.Wide)
}

func TestBadEndOfNeovim(t *testing.T) {
	for name, end := range map[string]func(s *scene.Scene){
		"killed":     func(s *scene.Scene) { s.Kill() },
		"terminated": func(s *scene.Scene) { _ = syscall.Kill(s.PID(), syscall.SIGTERM) },
		"hung up":    func(s *scene.Scene) { _ = syscall.Kill(s.PID(), syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				p, permission := busy(s)
				end(s)
				s.AwaitNothingLeft()
				s.Kill() // so that its exit code is of no interest
				scene.AwaitAfterEnd(t, "the end of the agent", p.Ended)
				cancelledBeforeTheEnd(p, permission)
			})
		})
	}
}

// cancelledBeforeTheEnd checks what an agent got whose input has ended: the turn was cancelled, and
// so was the request for permission.
func cancelledBeforeTheEnd(p *scene.Puppet, permission int) {
	p.T.Helper()
	var cancelled, outcomes int
	for _, m := range p.Received() {
		switch {
		case m.Method == "session/cancel":
			cancelled++
		case string(m.ID) == fmt.Sprint(permission) && m.Method == "":
			outcomes++
			if m.Text("outcome", "outcome") != "cancelled" {
				p.T.Errorf("the request was answered %s", m)
			}
		}
	}
	if cancelled != 1 || outcomes != 1 {
		p.T.Errorf("the agent was told of %d cancels and %d outcomes: %v", cancelled, outcomes, p.Received())
	}
}

// quickly is how long quitting may take on a machine that has other things to do.
const quickly = 10 * time.Second

func TestBadEndQuitWithAPermissionOpen(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, permission := busy(s)
		s.Keys("<Esc>")
		s.AwaitLua(`vim.fn.mode() == 'n'`)
		began := time.Now()
		s.Keys(":qa!<CR>")
		s.AwaitNothingLeft()
		took := time.Since(began)
		t.Logf("quitting took %v", took)
		if took > quickly {
			t.Errorf("quitting took %v", took)
		}
		p.AwaitEnd()
		cancelledBeforeTheEnd(p, permission)
	})
}

// The agent reads nothing any more, and ignores both the end of its input and SIGTERM.
func TestBadEndQuitWithAStubbornAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		fake(s, append(fakeagent.Start("fake"),
			fakeagent.Step{Ignore: "term"}, fakeagent.Expect("session/prompt"),
			fakeagent.Request(1, "session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c"},
				"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}`),
			fakeagent.Step{Hang: true},
		)...)
		s.Command("Acp")
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').prompt('go')`)
		s.AwaitFloat()
		began := time.Now()
		s.Keys("<Esc>:qa!<CR>")
		s.AwaitNothingLeft()
		took := time.Since(began)
		t.Logf("quitting took %v", took)
		if took > quickly {
			t.Errorf("quitting took %v", took)
		}
	})
}

func TestHostCrashIsSurvived(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		s.Prompt(p, "before")
		p.Say("Said before.")
		s.AwaitChat("Said before.")
		s.OK(`require('acp').prompt('queued')`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		s.KillHost()
		s.AwaitState("dead")
		s.Command("Acp restart")
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		resume := p.Expect("session/resume")
		if resume.Text("sessionId") != scene.SessionID(1) {
			t.Errorf("resumed %s", resume)
		}
		p.Reply(resume, obj{})
		turn := p.PromptedWith("queued")
		p.Say("Said after.")
		p.Stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd") // of the crash
		s.AwaitEvent("AcpTurnEnd")
		s.OnceInChat("Said before.", "the agent remembers", "Said after.")
	})
}

// The end of an agent is seen wherever the user is: with the chat hidden, and in the prompt, which offers nothing to send.
func TestAnEndIsSeen(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Command("Acp toggle")
		s.AwaitLua(`require('acp.chat.buffers').get(1).visible == false`)
		s.Sync() // the host has heard of it
		p.Exit(3, "")
		s.AwaitScreen("acp: Puppet exited with code 3. :Acp restart starts it again")
		s.Command("Acp")
		s.AwaitScreen("ended · :Acp restart")
		s.Keys("iagain")
		s.AwaitScreen("-- INSERT --")
		s.AwaitScreen("ended · :Acp restart") // in place of the key that sends
		s.Keys("<C-s>")
		s.AwaitLua(`vim.fn.execute('messages'):find('restart starts it again\n.*restart starts it again') ~= nil`)
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'again'`)
	})
}

// A message about a hidden agent that has ended needs no key: what explains the code is in the chat.
func TestAnEndOfManyWordsIsOneLine(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Command("Acp toggle")
		s.AwaitLua(`require('acp.chat.buffers').get(1).visible == false`)
		s.Sync() // the host has heard of it
		p.Exit(137, "")
		s.AwaitScreen("acp: Puppet exited with code 137. :Acp restart starts it again")
		s.AwaitChat("for want of memory")
	})
}

// After the host has died the chat follows on, with what the next one writes.
func TestTheChatFollowsAfterTheHostsEnd(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "before")
		p.Say(strings.Repeat("Said before.\n\n", 30))
		p.EndTurn(turn)
		const atEnd = `(function()
			local win = vim.fn.win_findbuf(require('acp').sessions()[1].chat_buf)[1]
			return vim.api.nvim_win_get_cursor(win)[1] == vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
		end)()`
		s.AwaitLua(atEnd)
		s.KillHost()
		s.AwaitState("dead")
		s.AwaitChat("the host ended")
		s.AwaitLua(atEnd)
		s.Command("Acp restart")
		p = s.ReadyAgent()
		turn = s.Prompt(p, "after")
		p.Say(strings.Repeat("Said after.\n\n", 30) + "The end.")
		s.AwaitScreen("The end.")
		p.EndTurn(turn)
		s.AwaitLua(atEnd)
	})
}
