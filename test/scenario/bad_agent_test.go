package scenario

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// Some agents of these tests do not even read: the puppet always does. They are played by this
// binary too, before TestMain takes it for a test's.
func init() { fakeagent.Main() }

// fake makes a script the agent of the next session.
func (s *scene) fake(script ...fakeagent.Step) {
	s.t.Helper()
	argv, env := fakeagent.Program(s.t, script...)
	s.Lua(nil, `local argv, env = ...
		local c = vim.g.acp
		c.agents.fake = { title = 'Fake', command = argv, env = env }
		c.agent = 'fake'
		vim.g.acp = c`, argv, env)
}

// hosts are the processes of the host, others all that it has started.
func (s *scene) hosts() (hosts, others []int) {
	s.t.Helper()
	for _, p := range s.Leftovers() {
		if strings.HasPrefix(p.Command, host+" host") {
			hosts = append(hosts, p.PID)
		} else {
			others = append(others, p.PID)
		}
	}
	return hosts, others
}

// killHost kills the host.
func (s *scene) killHost() {
	s.t.Helper()
	hosts, _ := s.hosts()
	if len(hosts) == 0 {
		s.t.Fatal("the host does not run")
	}
	for _, pid := range hosts {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			s.t.Fatal(err)
		}
	}
}

// awaitAlone waits until no process is left but the host.
func (s *scene) awaitAlone() {
	s.t.Helper()
	s.Await("the agents' processes to end", func() bool {
		_, others := s.hosts()
		return len(others) == 0
	})
}

// stuck is how long Neovim may at most be away from its loop: what blocks it does so for ever, or
// for as long as the agent pleases.
const stuck = 10 * time.Second

// free checks that what happens meanwhile does not block Neovim: neither its loop nor the user, who
// types into a buffer.
func (s *scene) free(meanwhile func()) {
	s.t.Helper()
	s.Command("tabnew | setlocal buftype=nofile")
	buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
	s.StartGap()
	s.Keys("ione ")
	meanwhile()
	s.Keys("two")
	s.AwaitLua(`vim.api.nvim_buf_get_lines(..., 0, -1, false)[1] == 'one two'`, buf)
	if gap := s.StopGap(); gap > stuck {
		s.t.Errorf("Neovim was blocked for %v", gap)
	}
	if got := s.LuaString(`vim.fn.mode() .. vim.api.nvim_get_current_buf()`); got != fmt.Sprint("i", buf) {
		s.t.Errorf("the user was taken to mode and buffer %s", got)
	}
	s.Keys("<Esc>")
	s.AwaitLua(`vim.fn.mode() == 'n'`)
	s.Command("bwipeout!")
}

// awaitDeath waits until the session is dead, and has said so in these words.
func (s *scene) awaitDeath(words ...string) {
	s.t.Helper()
	s.awaitState("dead")
	for _, w := range words {
		s.awaitChat(w)
	}
	s.awaitAlone()
}

// again restarts the session and waits until it is ready.
func (s *scene) again() *puppet {
	s.t.Helper()
	p := s.restart()
	p.begin()
	s.AwaitEvent("AcpSessionReady")
	return p
}

// restart restarts the session and gives its new agent, which has said nothing yet. What was shown
// must still be.
func (s *scene) restart() *puppet {
	s.t.Helper()
	before := s.chat()
	s.Command("Acp restart")
	p := s.agent()
	after := s.chat()
	for line := range strings.Lines(before) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(after, line) {
			s.t.Errorf("the restart has lost %q", line)
		}
	}
	return p
}

// awaitTurnEnd waits for the next end of a turn, and checks its reason.
func (s *scene) awaitTurnEnd(reason string) {
	s.t.Helper()
	if e := s.AwaitEvent("AcpTurnEnd"); e["stop_reason"] != reason {
		s.t.Errorf("the turn ended with %v, expected %s", e, reason)
	}
}

const restartIt = ":Acp restart starts it again."

func TestBadAgentDiesAtAnyPoint(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var p *puppet
		deaths := []struct {
			name   string
			die    func()
			says   []string
			reason string // of the turn's end, if a turn was open
		}{
			{"before the answer to initialize", func() {
				p.expect("initialize")
				p.exit(3, "no luck today\n")
			}, []string{"Puppet exited with code 3: no luck today. " + restartIt}, ""},
			{"after the answer to initialize", func() {
				p.initialize(nil)
				p.exit(4, "")
			}, []string{"Puppet exited with code 4. " + restartIt}, ""},
			{"during session/new", func() {
				p.initialize(nil)
				p.expect("session/new")
				p.exit(2, "")
			}, []string{"Puppet exited with code 2. " + restartIt}, ""},
			{"idle", func() {
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				p.exit(5, "out of luck\n")
			}, []string{"Puppet exited with code 5: out of luck. " + restartIt}, ""},
			{"in a turn", func() {
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				s.prompt(p, "first")
				p.say("Half an answ")
				s.awaitChat("Half an answ")
				p.exit(6, "")
			}, []string{"Half an answ", "Puppet exited with code 6. " + restartIt}, "error"},
			{"in a line", func() {
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				s.prompt(p, "second")
				p.write(`{"jsonrpc":"2.0","method":"session/update","params":{"sess`)
				p.exit(7, "")
			}, []string{"Puppet exited with code 7. " + restartIt}, "error"},
			{"with a permission open", func() {
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				s.prompt(p, "third")
				p.permission(obj{"toolCallId": "c", "title": "Do it"}, yesNo...)
				s.awaitFloat()
				p.exit(8, "")
			}, []string{"Puppet exited with code 8. " + restartIt}, "error"},
			{"with a terminal running", func() {
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				s.prompt(p, "fourth")
				m := p.ask("terminal/create", obj{
					"sessionId": remote(1), "command": "sh", "args": []string{"-c", "echo up and running; sleep 1000"},
				})
				p.update("tool_call", obj{
					"toolCallId": "t", "title": "Run", "kind": "execute", "status": "in_progress",
					"content": []obj{{"type": "terminal", "terminalId": m.text("terminalId")}},
				})
				s.awaitChat("up and running")
				p.exit(9, "")
			}, []string{"up and running", "Puppet exited with code 9. " + restartIt}, "error"},
			{"right after the answer to a prompt", func() {
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				turn := s.prompt(p, "fifth")
				p.say("All said.")
				p.stop(turn, "end_turn")
				p.exit(10, "")
			}, []string{"All said.", "Puppet exited with code 10. " + restartIt}, "end_turn"},
			{"killed", func() {
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				s.prompt(p, "sixth")
				_, agents := s.hosts()
				for _, pid := range agents {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}, []string{"Puppet was killed by SIGKILL (by hand, or for want of memory). " + restartIt}, "error"},
		}
		s.Command("Acp")
		p = s.agent()
		turns := 0
		s.free(func() {
			for i, d := range deaths {
				if i > 0 {
					p = s.restart()
				}
				d.die()
				s.awaitDeath(d.says...)
				if d.reason != "" {
					turns++
					s.awaitTurnEnd(d.reason)
				}
				if s.LuaBool(`require('acp.permission').win()`) || len(s.value(`require('acp').permissions()`).([]any)) > 0 {
					t.Errorf("%s: the float stays", d.name)
				}
				if s.session()["error"] == nil {
					t.Errorf("%s: the session has no error", d.name)
				}
			}
		})
		p = s.again()
		s.Command("Acp")
		turn := s.prompt(p, "the last")
		p.say("Alive again.")
		p.stop(turn, "end_turn")
		s.awaitTurnEnd("end_turn")
		for _, text := range []string{"Half an answ", "All said.", "no luck today", "Alive again."} {
			if n := strings.Count(s.chat(), text); n != 1 {
				t.Errorf("%q is shown %d times", text, n)
			}
		}
		if n := s.events("AcpTurnEnd"); n != turns+1 {
			t.Errorf("%d turns have ended, not %d: %v", n, turns+1, s.Events())
		}
		if n := s.events("AcpPermissionResolved"); n != 1 {
			t.Errorf("%d permissions were resolved", n)
		}
	}, wide)
}

func TestBadAgentTalksNonsense(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "talk nonsense")
		chunk := func(text string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":`+
				`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, text)
		}
		s.free(func() {
			for _, junk := range []string{
				"\n", "debug: hello\n", "\x00\x01\xff\xfe\n", "null\n", "3\n", "\"text\"\n", "[]\n", "{}\n", "[1,null,[]]\n",
				"{\"jsonrpc\":\"2.0\"}\n", "{\"jsonrpc\":\"2.0\",\"method\":7}\n", "{\"id\":77,\"result\":{}}\n",
				"{\"id\":\"x\",\"result\":{}}\n", "{\"id\":null,\"error\":null}\n", "{\"jsonrpc\":\"2.0\",\"method\":\"\n",
				"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\"}\n",
				"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":[1]}\n",
				"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":9,\"update\":null}}\n",
				"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":{\"sessionUpdate\":5}}}\n",
				"\x1b[31mred\x1b[0m\r\n",
			} {
				p.write(junk)
			}
			p.write("Loading… " + chunk("After junk. ") + "\r\n")
			half := chunk("In two halves. ") + "\n"
			p.write(half[:40])
			p.write(half[40:])
			p.write("[" + chunk("A batch, ") + "," + chunk("its second. ") + ",4]\n")
			p.write(chunk("Two in ") + chunk("one line. ") + "\n")
			s.awaitChat("After junk. In two halves. A batch, its second. Two in one line.")

			// Unknown requests get an answer, whatever their id is like; unknown notifications silence.
			for _, id := range []string{"0", "-7", `"a string"`, `""`, "null", "1.5", "12345678901234567890"} {
				p.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"_no/such","params":{"a":[]}}` + "\n")
				if m := p.answerTo(id); m.Error == nil || m.Error.Code != -32601 {
					t.Errorf("the request with the id %s was answered %s", id, m)
				}
			}
			p.notify("_no/such", obj{"a": 1})
			p.notify("$/progress", obj{})
			for _, id := range []string{"0", "-8", `"ask"`, "null"} {
				p.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s-1",` +
					`"toolCall":{"toolCallId":"c"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}` + "\n")
				s.awaitFloat()
				s.Command("Acp permit 1")
				if m := p.answerTo(id); m.text("outcome", "optionId") != "yes" {
					t.Errorf("the request with the id %s was answered %s", id, m)
				}
				s.AwaitLua(`not require('acp.permission').win()`)
			}
			// Requests that lack what they need.
			for _, request := range []string{
				`"session/request_permission"`, `"session/request_permission","params":null`,
				`"fs/read_text_file","params":{"sessionId":"s-1"}`, `"fs/write_text_file","params":[]`,
				`"terminal/output","params":{"sessionId":"s-1","terminalId":"none"}`, `"terminal/create","params":{"sessionId":"s-1"}`,
				`"fs/read_text_file","params":{"sessionId":"who","path":"/x"}`, `7`,
			} {
				p.write(`{"jsonrpc":"2.0","id":"bad","method":` + request + "}\n")
				if m := p.answerTo(`"bad"`); m.Error == nil && m.text("outcome", "outcome") != "cancelled" {
					t.Errorf("%s was answered %s", request, m)
				}
			}
		})
		p.stop(turn, "end_turn")
		p.stop(turn, "refusal")
		p.refuse(turn, -32603, "third answer", nil)
		s.awaitTurnEnd("end_turn")

		// An answer to the last turn does not end the next.
		next := s.prompt(p, "and now")
		p.stop(turn, "refusal")
		p.say("Sense.\n")
		p.stop(next, "end_turn")
		s.awaitTurnEnd("end_turn")
		s.awaitChat("Sense.")
		if n := s.events("AcpTurnEnd"); n != 2 {
			t.Errorf("%d turns have ended", n)
		}
		p.silent()
	})
}

func TestBadAgentNeverAnswers(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "work")
		p.say("Working …")
		s.awaitChat("Working …")
		s.Command("Acp cancel")
		p.expect("session/cancel")
		if state := s.session()["state"]; state != "running" {
			t.Errorf("the session is %v", state)
		}
		s.Command("Acp restart")
		p.awaitEnd()
		s.awaitTurnEnd("error")
		p = s.agent()
		// Nor does this one, not even at the beginning.
		p.expect("initialize")
		s.Command("Acp restart")
		p.awaitEnd()
		p = s.agent()
		p.begin()
		turn := s.prompt(p, "once more")
		p.stop(turn, "end_turn")
		s.awaitTurnEnd("end_turn")
		s.awaitChat("Working …")
		if n := s.events("AcpTurnEnd"); n != 2 {
			t.Errorf("%d turns have ended", n)
		}
	})
}

func TestBadAgentWritesHugeLines(t *testing.T) {
	const size = 20 << 20
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "talk")
		s.free(func() {
			p.write(strings.Repeat("junk ", size/5) + "\n")
			p.say("After the junk.\n\n")
			s.awaitChat("After the junk.")
			p.update("tool_call", obj{"toolCallId": "c", "title": "Big", "kind": "other", "rawOutput": obj{"blob": strings.Repeat("x", size)}})
			s.awaitChat("Big")
			p.update("tool_call_update", obj{
				"toolCallId": "c", "status": "completed",
				"content": []obj{{"type": "content", "content": obj{"type": "text", "text": strings.Repeat("0123456789abcdef\n", size/17)}}},
			})
			s.awaitChat("✓")
			p.say("Still here.\n")
			s.awaitChat("Still here.")
		})
		p.stop(turn, "end_turn")
		s.awaitTurnEnd("end_turn")
	})
}

func TestBadAgentClosesItsOutputButLives(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.fake(append(fakeagent.Start("fake"),
			fakeagent.Expect("session/prompt"), fakeagent.Message("Almost d"),
			fakeagent.Step{Ignore: "term"}, fakeagent.Step{Close: "stdout"}, fakeagent.Step{Hang: true},
		)...)
		s.Command("Acp")
		s.AwaitEvent("AcpSessionReady")
		s.free(func() {
			s.ok(`require('acp').prompt('go')`)
			s.awaitDeath("Almost d", "Fake has closed its output and was ended. "+restartIt)
		})
		s.awaitTurnEnd("error")
		s.Command("Acp restart")
		s.AwaitEvent("AcpSessionReady")
		s.awaitChat("Almost d")
		if n := s.events("AcpTurnEnd"); n != 1 {
			t.Errorf("%d turns have ended", n)
		}
	}, wide)
}

// The agent asks for more than 64 MiB of answers, and takes none.
func TestBadAgentStopsReading(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("big.txt", strings.Repeat("0123456789abcdef\n", (1<<20)/17))
		s.fake(append(fakeagent.Start("fake"),
			fakeagent.Expect("session/prompt"), fakeagent.Message("Let me read"),
			fakeagent.Step{
				Line:  fmt.Sprintf(`{"jsonrpc":"2.0","id":${n},"method":"fs/read_text_file","params":{"sessionId":"s1","path":%q}}`, path),
				Times: 100,
			},
			fakeagent.Step{Hang: true},
		)...)
		s.Command("Acp")
		s.AwaitEvent("AcpSessionReady")
		s.free(func() {
			s.ok(`require('acp').prompt('go')`)
			s.awaitDeath("Let me read", "Fake has stopped reading its input and was ended. "+restartIt)
		})
		s.awaitTurnEnd("error")
		s.Command("Acp restart")
		s.AwaitEvent("AcpSessionReady")
		s.awaitChat("Let me read")
		if n := s.events("AcpTurnEnd"); n != 1 {
			t.Errorf("%d turns have ended", n)
		}
	}, wide)
}

// What cannot be started says why. Once the user has mended it, the restart works.
func TestBadAgentCannotBeStarted(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		program := s.Dir + "/agent"
		s.configure(`c.agents.puppet.command = { '` + program + `' }; c.agents.puppet.install = 'Get it from the moon.'`)
		s.ok(`require('acp').new()`)
		s.ok(`require('acp').prompt('kept for later')`) // which the missing program must not lose
		s.awaitDeath("Puppet is not installed", "Get it from the moon.")
		refusals := []struct{ script, says string }{
			{"echo 'no such model: x' >&2; exit 2", "Puppet exited with code 2: no such model: x. " + restartIt},
			{"exec /nowhere/at/all", "Puppet exited with code 127 (command not found): "},
			{"exit 126", "Puppet exited with code 126 (command not executable). " + restartIt},
			{"exit 0", "Puppet ended. " + restartIt},
			{"echo usage: agent >&1; exit 1", "Puppet exited with code 1. " + restartIt},
		}
		for _, r := range refusals {
			s.write("agent", "#!/bin/sh\n"+r.script+"\n")
			if err := os.Chmod(program, 0o755); err != nil {
				t.Fatal(err)
			}
			s.Command("Acp restart")
			s.awaitChat(r.says)
			s.awaitDeath()
		}
		s.write("agent", "#!/bin/sh\nexec "+self+"\n")
		p := s.again()
		p.expect("session/prompt")
	}, wide)
}
