package session

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Some agents of these tests do not even read: the puppet always does. They are played by this
// binary too, before TestMain takes it for a test's.
func init() { fakeagent.Main() }

// fake makes a script the agent of the next session.
func fake(s *scene.Scene, script ...fakeagent.Step) {
	s.T.Helper()
	argv, env := fakeagent.Program(s.T, script...)
	s.Lua(nil, `local argv, env = ...
		local c = vim.g.acp
		c.agents.fake = { title = 'Fake', command = argv, env = env }
		c.agent = 'fake'
		vim.g.acp = c`, argv, env)
}

// awaitAlone waits until no process is left but the host.
func awaitAlone(s *scene.Scene) {
	s.T.Helper()
	s.Await("the agents' processes to end", func() bool {
		_, others := s.Hosts()
		return len(others) == 0
	})
}

// awaitDeath waits until the session is dead, and has said so in these words.
func awaitDeath(s *scene.Scene, words ...string) {
	s.T.Helper()
	s.AwaitState("dead")
	for _, w := range words {
		s.AwaitChat(w)
	}
	awaitAlone(s)
}

const restartIt = ":Acp restart starts it again."

func TestBadAgentDiesAtAnyPoint(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		var p *scene.Puppet
		deaths := []struct {
			name   string
			die    func()
			says   []string
			reason string // of the turn's end, if a turn was open
		}{
			{"before the answer to initialize", func() {
				p.Expect("initialize")
				p.Exit(3, "no luck today\n")
			}, []string{"Puppet exited with code 3: no luck today. " + restartIt}, ""},
			{"after the answer to initialize", func() {
				p.Initialize(nil)
				p.Exit(4, "")
			}, []string{"Puppet exited with code 4. " + restartIt}, ""},
			{"during session/new", func() {
				p.Initialize(nil)
				p.Expect("session/new")
				p.Exit(2, "")
			}, []string{"Puppet exited with code 2. " + restartIt}, ""},
			{"idle", func() {
				p.Begin()
				s.AwaitEvent("AcpSessionReady")
				p.Exit(5, "out of luck\n")
			}, []string{"Puppet exited with code 5: out of luck. " + restartIt}, ""},
			{"in a turn", func() {
				p.Begin()
				s.AwaitEvent("AcpSessionReady")
				s.Prompt(p, "first")
				p.Say("Half an answ")
				s.AwaitChat("Half an answ")
				p.Exit(6, "")
			}, []string{"Half an answ", "Puppet exited with code 6. " + restartIt}, "error"},
			{"in a line", func() {
				p.Begin()
				s.AwaitEvent("AcpSessionReady")
				s.Prompt(p, "second")
				p.Write(`{"jsonrpc":"2.0","method":"session/update","params":{"sess`)
				p.Exit(7, "")
			}, []string{"Puppet exited with code 7. " + restartIt}, "error"},
			{"with a permission open", func() {
				p.Begin()
				s.AwaitEvent("AcpSessionReady")
				s.Prompt(p, "third")
				p.Permission(obj{"toolCallId": "c", "title": "Do it"}, scene.YesNo...)
				s.AwaitFloat()
				p.Exit(8, "")
			}, []string{"Puppet exited with code 8. " + restartIt}, "error"},
			{"with a terminal running", func() {
				p.Begin()
				s.AwaitEvent("AcpSessionReady")
				s.Prompt(p, "fourth")
				m := p.Ask("terminal/create", obj{
					"sessionId": scene.SessionID(1), "command": "sh", "args": []string{"-c", "echo up and running; sleep 1000"},
				})
				p.Update("tool_call", obj{
					"toolCallId": "t", "title": "Run", "kind": "execute", "status": "in_progress",
					"content": []obj{{"type": "terminal", "terminalId": m.Text("terminalId")}},
				})
				s.AwaitChat("up and running")
				p.Exit(9, "")
			}, []string{"up and running", "Puppet exited with code 9. " + restartIt}, "error"},
			{"right after the answer to a prompt", func() {
				p.Begin()
				s.AwaitEvent("AcpSessionReady")
				turn := s.Prompt(p, "fifth")
				p.Say("All said.")
				p.Stop(turn, "end_turn")
				p.Exit(10, "")
			}, []string{"All said.", "Puppet exited with code 10. " + restartIt}, "end_turn"},
			{"killed", func() {
				p.Begin()
				s.AwaitEvent("AcpSessionReady")
				s.Prompt(p, "sixth")
				_, agents := s.Hosts()
				for _, pid := range agents {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}, []string{"Puppet was killed by SIGKILL (by hand, or for want of memory). " + restartIt}, "error"},
		}
		s.Command("Acp")
		p = s.Agent()
		turns := 0
		s.NotBlocked(func() {
			for i, d := range deaths {
				if i > 0 {
					p = s.Restart()
				}
				d.die()
				awaitDeath(s, d.says...)
				if d.reason != "" {
					turns++
					s.AwaitTurnEnd(d.reason)
				}
				if s.LuaBool(`require('acp.permission.float').win()`) || len(s.Value(`require('acp').permissions()`).([]any)) > 0 {
					t.Errorf("%s: the float stays", d.name)
				}
				if s.Session()["error"] == nil {
					t.Errorf("%s: the session has no error", d.name)
				}
			}
		})
		p = s.RestartAndBegin()
		s.Command("Acp")
		turn := s.Prompt(p, "the last")
		p.Say("Alive again.")
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
		for _, text := range []string{"Half an answ", "All said.", "no luck today", "Alive again."} {
			check.Equal(t, strings.Count(s.Chat(), text), 1, "%q is shown %d times", text)
		}
		if n := s.CountEvents("AcpTurnEnd"); n != turns+1 {
			t.Errorf("%d turns have ended, not %d: %v", n, turns+1, s.Events())
		}
		check.Equal(t, s.CountEvents("AcpPermissionResolved"), 1, "%d permissions were resolved")
	}, scene.Wide)
}

func TestBadAgentTalksNonsense(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "talk nonsense")
		chunk := func(text string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":`+
				`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, text)
		}
		s.NotBlocked(func() {
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
				p.Write(junk)
			}
			p.Write("Loading… " + chunk("After junk. ") + "\r\n")
			half := chunk("In two halves. ") + "\n"
			p.Write(half[:40])
			p.Write(half[40:])
			p.Write("[" + chunk("A batch, ") + "," + chunk("its second. ") + ",4]\n")
			p.Write(chunk("Two in ") + chunk("one line. ") + "\n")
			s.AwaitChat("After junk. In two halves. A batch, its second. Two in one line.")

			// Unknown requests get an answer, whatever their id is like; unknown notifications silence.
			for _, id := range []string{"0", "-7", `"a string"`, `""`, "null", "1.5", "12345678901234567890"} {
				p.Write(`{"jsonrpc":"2.0","id":` + id + `,"method":"_no/such","params":{"a":[]}}` + "\n")
				if m := p.AnswerTo(id); m.Error == nil || m.Error.Code != -32601 {
					t.Errorf("the request with the id %s was answered %s", id, m)
				}
			}
			p.Notify("_no/such", obj{"a": 1})
			p.Notify("$/progress", obj{})
			for _, id := range []string{"0", "-8", `"ask"`, "null"} {
				p.Write(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s-1",` +
					`"toolCall":{"toolCallId":"c"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}` + "\n")
				s.AwaitFloat()
				s.Command("Acp permit 1")
				if m := p.AnswerTo(id); m.Text("outcome", "optionId") != "yes" {
					t.Errorf("the request with the id %s was answered %s", id, m)
				}
				s.AwaitLua(`not require('acp.permission.float').win()`)
			}
			// Requests that lack what they need.
			for _, request := range []string{
				`"session/request_permission"`, `"session/request_permission","params":null`,
				`"fs/read_text_file","params":{"sessionId":"s-1"}`, `"fs/write_text_file","params":[]`,
				`"terminal/output","params":{"sessionId":"s-1","terminalId":"none"}`, `"terminal/create","params":{"sessionId":"s-1"}`,
				`"fs/read_text_file","params":{"sessionId":"who","path":"/x"}`, `7`,
			} {
				p.Write(`{"jsonrpc":"2.0","id":"bad","method":` + request + "}\n")
				if m := p.AnswerTo(`"bad"`); m.Error == nil && m.Text("outcome", "outcome") != "cancelled" {
					t.Errorf("%s was answered %s", request, m)
				}
			}
		})
		p.Stop(turn, "end_turn")
		p.Stop(turn, "refusal")
		p.Refuse(turn, -32603, "third answer", nil)
		s.AwaitTurnEnd("end_turn")

		// An answer to the last turn does not end the next.
		next := s.Prompt(p, "and now")
		p.Stop(turn, "refusal")
		p.Say("Sense.\n")
		p.Stop(next, "end_turn")
		s.AwaitTurnEnd("end_turn")
		s.AwaitChat("Sense.")
		check.Equal(t, s.CountEvents("AcpTurnEnd"), 2, "%d turns have ended")
		p.Silent()
	})
}

func TestBadAgentNeverAnswers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "work")
		p.Say("Working …")
		s.AwaitChat("Working …")
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		check.Equal(t, s.Session()["state"], "running", "the session is %v")
		s.Command("Acp restart")
		p.AwaitEnd()
		s.AwaitTurnEnd("error")
		p = s.Agent()
		// Nor does this one, not even at the beginning.
		p.Expect("initialize")
		s.Command("Acp restart")
		p.AwaitEnd()
		p = s.Agent()
		p.Begin()
		turn := s.Prompt(p, "once more")
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
		s.AwaitChat("Working …")
		check.Equal(t, s.CountEvents("AcpTurnEnd"), 2, "%d turns have ended")
	})
}

func TestBadAgentWritesHugeLines(t *testing.T) {
	const size = 20 << 20
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "talk")
		s.NotBlocked(func() {
			p.Write(strings.Repeat("junk ", size/5) + "\n")
			p.Say("After the junk.\n\n")
			s.AwaitChat("After the junk.")
			p.Update("tool_call", obj{"toolCallId": "c", "title": "Big", "kind": "other", "rawOutput": obj{"blob": strings.Repeat("x", size)}})
			s.AwaitChat("Big")
			p.Update("tool_call_update", obj{
				"toolCallId": "c", "status": "completed",
				"content": []obj{{"type": "content", "content": obj{"type": "text", "text": strings.Repeat("0123456789abcdef\n", size/17)}}},
			})
			s.AwaitChat("✓")
			p.Say("Still here.\n")
			s.AwaitChat("Still here.")
		})
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
	})
}

// diesInATurn has the agent end in a turn in which it has said something, and go on with a restart: the turn ends once.
func diesInATurn(s *scene.Scene, said, why string) {
	s.T.Helper()
	s.Command("Acp")
	s.AwaitEvent("AcpSessionReady")
	s.NotBlocked(func() {
		s.OK(`require('acp').prompt('go')`)
		awaitDeath(s, said, why)
	})
	s.AwaitTurnEnd("error")
	s.Command("Acp restart")
	s.AwaitEvent("AcpSessionReady")
	s.AwaitChat(said)
	check.Equal(s.T, s.CountEvents("AcpTurnEnd"), 1, "%d turns have ended")
}

func TestBadAgentClosesItsOutputButLives(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		fake(s, append(fakeagent.Start("fake"),
			fakeagent.Expect("session/prompt"), fakeagent.Message("Almost d"),
			fakeagent.Step{Ignore: "term"}, fakeagent.Step{Close: "stdout"}, fakeagent.Step{Hang: true},
		)...)
		diesInATurn(s, "Almost d", "Fake has closed its output and was ended. "+restartIt)
	}, scene.Wide)
}

// The agent asks for more than 64 MiB of answers, and takes none.
func TestBadAgentStopsReading(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("big.txt", strings.Repeat("0123456789abcdef\n", (1<<20)/17))
		fake(s, append(fakeagent.Start("fake"),
			fakeagent.Expect("session/prompt"), fakeagent.Message("Let me read"),
			fakeagent.Step{
				Line:  fmt.Sprintf(`{"jsonrpc":"2.0","id":${n},"method":"fs/read_text_file","params":{"sessionId":"s1","path":%q}}`, path),
				Times: 100,
			},
			fakeagent.Step{Hang: true},
		)...)
		diesInATurn(s, "Let me read", "Fake has stopped reading its input and was ended. "+restartIt)
	}, scene.Wide)
}

// What cannot be started says why. Once the user has mended it, the restart works.
func TestBadAgentCannotBeStarted(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		program := s.Dir + "/agent"
		s.Configure(`c.agents.puppet.command = { '` + program + `' }; c.agents.puppet.install = 'Get it from the moon.'`)
		// The missing program must not lose what is sent before Neovim knows that it is missing.
		s.OK(`require('acp').new() and require('acp').prompt('kept for later')`)
		awaitDeath(s, "Puppet is not installed", "Get it from the moon.")
		refusals := []struct{ script, says string }{
			{"echo 'no such model: x' >&2; exit 2", "Puppet exited with code 2: no such model: x. " + restartIt},
			{"exec /nowhere/at/all", "Puppet exited with code 127 (command not found): "},
			{"exit 126", "Puppet exited with code 126 (command not executable). " + restartIt},
			{"exit 0", "Puppet ended. " + restartIt},
			{"echo usage: agent >&1; exit 1", "Puppet exited with code 1. " + restartIt},
		}
		for _, r := range refusals {
			s.WriteFile("agent", "#!/bin/sh\n"+r.script+"\n")
			must.Do(t, os.Chmod(program, 0o755))
			s.Command("Acp restart")
			s.AwaitChat(r.says)
			awaitDeath(s)
		}
		s.WriteFile("agent", "#!/bin/sh\nexec "+scene.Self+"\n")
		p := s.RestartAndBegin()
		p.Expect("session/prompt")
	}, scene.Wide)
}
