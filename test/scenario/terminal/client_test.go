package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// gate makes a named pipe at which a command waits until the test opens it.
func gate(s *scene.Scene) (open func()) {
	s.T.Helper()
	path := filepath.Join(s.Dir, "gate")
	must.Do(s.T, syscall.Mkfifo(path, 0o600))
	return func() {
		s.T.Helper()
		// Opening it waits for the command to wait.
		must.Do(s.T, os.WriteFile(path, []byte("go\n"), 0o600))
	}
}

func TestTerminalIsShownLive(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		open := gate(s)
		p := s.Begin()
		turn := s.Prompt(p, "run")
		id := p.Terminal(`printf '\033[32mone\033[0m\n'; read x < gate; echo two; exit 3`, nil)
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "`./run`", "kind": "execute", "status": "in_progress",
			"content": []obj{{"type": "terminal", "terminalId": id}},
		})
		s.AwaitChat("    one")
		s.GoldenScreen("live")
		wait := p.Call("terminal/wait_for_exit", obj{"sessionId": scene.SessionID(1), "terminalId": id})
		open()
		if m := p.Answer(wait); fmt.Sprint(m.Get("exitCode"), m.Get("signal")) != "3 <nil>" {
			t.Errorf("the end is %s", m)
		}
		s.AwaitChat("exited with code 3")
		m := p.InTerminal("output", id)
		if out := strings.ReplaceAll(m.Text("output"), "\r\n", "\n"); !strings.Contains(out, "one") || !strings.HasSuffix(out, "two\n") ||
			m.Get("truncated") != false || !reflect.DeepEqual(m.Get("exitStatus", "exitCode"), 3.0) {
			t.Errorf("the output is %s", m)
		}
		p.Update("tool_call_update", obj{"toolCallId": "c", "status": "failed"})
		p.InTerminal("release", id)
		if m := p.Ask("terminal/output", obj{"sessionId": scene.SessionID(1), "terminalId": id}); m.Error == nil {
			t.Error("a released terminal has an output")
		}
		p.EndTurn(turn)
		s.GoldenScreen("ended")
		var calls []obj
		s.Lua(&calls, `require('acp').tool_calls()[1].content`)
		if len(calls) != 1 || calls[0]["type"] != "terminal" || calls[0]["terminal_id"] != id {
			t.Errorf("the content is %v", calls)
		}
	})
}

func TestTerminalEnvironmentFolderAndKill(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		must.Do(t, os.Mkdir(filepath.Join(s.Dir, "sub"), 0o777))
		p := s.Begin()
		turn := s.Prompt(p, "run")
		id := p.Terminal(`echo "$FLAVOUR in $PWD"; test -t 1 && echo on a tty`, obj{
			"env": []obj{{"name": "FLAVOUR", "value": "sweet and sour"}}, "cwd": filepath.Join(s.Dir, "sub"),
		})
		p.InTerminal("wait_for_exit", id)
		out := strings.ReplaceAll(p.InTerminal("output", id).Text("output"), "\r\n", "\n")
		check.Equal(t, out, "sweet and sour in "+s.Dir+"/sub\non a tty\n", "the output is %q")
		id = p.Terminal(`pwd`, nil)
		p.InTerminal("wait_for_exit", id)
		if out := p.InTerminal("output", id).Text("output"); strings.TrimSpace(out) != s.Dir {
			t.Errorf("the folder is %q", out)
		}

		gate(s)
		id = p.Terminal(`echo up; read x < gate`, nil)
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "`serve`", "kind": "execute", "status": "in_progress",
			"content": []obj{{"type": "terminal", "terminalId": id}},
		})
		s.AwaitChat("    up")
		p.InTerminal("kill", id)
		m := p.InTerminal("wait_for_exit", id)
		if m.Get("exitCode") != nil || !strings.HasPrefix(m.Text("signal"), "SIG") {
			t.Errorf("the end is %s", m)
		}
		s.AwaitChat("killed by")
		if out := p.InTerminal("output", id).Text("output"); strings.TrimSpace(out) != "up" {
			t.Errorf("the output is %q", out)
		}
		p.InTerminal("release", id)

		for _, params := range []obj{
			{"command": "no-such-command"}, {"command": "true", "cwd": s.Dir + "/nowhere"},
		} {
			params["sessionId"] = scene.SessionID(1)
			if m := p.Ask("terminal/create", params); m.Error == nil {
				t.Errorf("%v was run", params)
			}
		}
		p.EndTurn(turn)
	})
}
