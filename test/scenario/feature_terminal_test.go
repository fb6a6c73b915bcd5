package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// gate makes a named pipe at which a command waits until the test opens it.
func (s *scene) gate() (open func()) {
	s.t.Helper()
	path := filepath.Join(s.Dir, "gate")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		// Opening it waits for the command to wait.
		if err := os.WriteFile(path, []byte("go\n"), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (p *puppet) terminal(script string, extra obj) string {
	p.t.Helper()
	params := obj{"sessionId": remote(1), "command": "sh", "args": []string{"-c", script}}
	for k, v := range extra {
		params[k] = v
	}
	m := p.ask("terminal/create", params)
	if m.Error != nil {
		p.t.Fatalf("create a terminal: %v", *m.Error)
	}
	return m.text("terminalId")
}

func (p *puppet) inTerminal(method, id string) message {
	p.t.Helper()
	m := p.ask("terminal/"+method, obj{"sessionId": remote(1), "terminalId": id})
	if m.Error != nil {
		p.t.Errorf("%s: %v", method, *m.Error)
	}
	return m
}

func TestTerminalIsShownLive(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		open := s.gate()
		p := s.begin()
		turn := s.prompt(p, "run")
		id := p.terminal(`printf '\033[32mone\033[0m\n'; read x < gate; echo two; exit 3`, nil)
		p.update("tool_call", obj{
			"toolCallId": "c", "title": "`./run`", "kind": "execute", "status": "in_progress",
			"content": []obj{{"type": "terminal", "terminalId": id}},
		})
		s.awaitChat("    one")
		s.screen("live")
		wait := p.call("terminal/wait_for_exit", obj{"sessionId": remote(1), "terminalId": id})
		open()
		if m := p.answer(wait); fmt.Sprint(m.get("exitCode"), m.get("signal")) != "3 <nil>" {
			t.Errorf("the end is %s", m)
		}
		s.awaitChat("exited with code 3")
		m := p.inTerminal("output", id)
		if out := strings.ReplaceAll(m.text("output"), "\r\n", "\n"); !strings.Contains(out, "one") || !strings.HasSuffix(out, "two\n") ||
			m.get("truncated") != false || !reflect.DeepEqual(m.get("exitStatus", "exitCode"), 3.0) {
			t.Errorf("the output is %s", m)
		}
		p.update("tool_call_update", obj{"toolCallId": "c", "status": "failed"})
		p.inTerminal("release", id)
		if m := p.ask("terminal/output", obj{"sessionId": remote(1), "terminalId": id}); m.Error == nil {
			t.Error("a released terminal has an output")
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.screen("ended")
		var calls []obj
		s.Lua(&calls, `require('acp').tool_calls()[1].content`)
		if len(calls) != 1 || calls[0]["type"] != "terminal" || calls[0]["terminal_id"] != id {
			t.Errorf("the content is %v", calls)
		}
	})
}

func TestTerminalEnvironmentFolderAndKill(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if err := os.Mkdir(filepath.Join(s.Dir, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		p := s.begin()
		turn := s.prompt(p, "run")
		id := p.terminal(`echo "$FLAVOUR in $PWD"; test -t 1 && echo on a tty`, obj{
			"env": []obj{{"name": "FLAVOUR", "value": "sweet and sour"}}, "cwd": filepath.Join(s.Dir, "sub"),
		})
		p.inTerminal("wait_for_exit", id)
		out := strings.ReplaceAll(p.inTerminal("output", id).text("output"), "\r\n", "\n")
		if out != "sweet and sour in "+s.Dir+"/sub\non a tty\n" {
			t.Errorf("the output is %q", out)
		}
		id = p.terminal(`pwd`, nil)
		p.inTerminal("wait_for_exit", id)
		if out := p.inTerminal("output", id).text("output"); strings.TrimSpace(out) != s.Dir {
			t.Errorf("the folder is %q", out)
		}

		s.gate()
		id = p.terminal(`echo up; read x < gate`, nil)
		p.update("tool_call", obj{
			"toolCallId": "c", "title": "`serve`", "kind": "execute", "status": "in_progress",
			"content": []obj{{"type": "terminal", "terminalId": id}},
		})
		s.awaitChat("    up")
		p.inTerminal("kill", id)
		m := p.inTerminal("wait_for_exit", id)
		if m.get("exitCode") != nil || !strings.HasPrefix(m.text("signal"), "SIG") {
			t.Errorf("the end is %s", m)
		}
		s.awaitChat("killed by")
		if out := p.inTerminal("output", id).text("output"); strings.TrimSpace(out) != "up" {
			t.Errorf("the output is %q", out)
		}
		p.inTerminal("release", id)

		for _, params := range []obj{
			{"command": "no-such-command"}, {"command": "true", "cwd": s.Dir + "/nowhere"},
		} {
			params["sessionId"] = remote(1)
			if m := p.ask("terminal/create", params); m.Error == nil {
				t.Errorf("%v was run", params)
			}
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}
