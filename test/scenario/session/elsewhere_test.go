package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// An agent that sees the project under another name is told that one, and what it says of it is understood.
func TestAgentElsewhere(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "one\n")
		s.Configure(`c.agents.puppet.paths = { [vim.uv.cwd()] = '/workspace' }`)
		s.Command("edit a.txt")
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(nil)
		m := p.Expect("session/new")
		if said := string(m.Params); !strings.Contains(said, `"cwd":"/workspace"`) || strings.Contains(said, s.Dir) {
			t.Errorf("the agent is told %s", said)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
		turn := s.Prompt(p, "Look at @a.txt")
		if said := string(turn.Params); strings.Contains(said, s.Dir) {
			t.Errorf("the agent is told %s", said)
		}
		p.WriteFile("/workspace/a.txt", "two\n")
		p.ToolCall("c1", "edit", obj{"title": "Edit", "locations": []any{obj{"path": "/workspace/a.txt"}}})
		p.EndTurn(turn)
		check.Equal(t, s.ReadFile(path), "two\n", "the file has %q")
		s.AwaitLua(`require('acp').tool_calls()[1].locations[1].path == ...`, path)
		s.AwaitLua(`require('acp').changes()[1].path == ...`, path)
	})
}

// An agent in another mount namespace, which has the project under a name of its own and nothing under the user's, works
// in it: what it reads, changes and runs there is followed, marked, gone to and undone here.
func TestAgentInAnotherNamespace(t *testing.T) {
	if err := exec.Command("unshare", "-rm", "true").Run(); err != nil {
		t.Skipf("there are no mount namespaces for us here: %v", err)
	}
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		readme := s.WriteFile("README.md", "# Here\n")
		there := filepath.Join(t.TempDir(), "there")
		must.Do(t, os.Mkdir(there, 0o700))
		script := `mount --bind "$1" "$2" && mount -t tmpfs none "$1" && cd "$2" && exec "$3" demo-agent --protocol 2`
		s.Lua(nil, `local dir, there, script, host = ...
			local c = vim.g.acp
			c.agents.away = { protocol = 2, command = { 'unshare', '-rm', 'sh', '-c', script, 'sh', dir, there, host }, paths = { [dir] = there } }
			vim.g.acp = c; require('acp.config').reset()`, s.Dir, there, script, scene.Host)
		s.Command("edit README.md")
		s.Command("Acp new away")
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').prompt('Hello')`)
		s.AwaitState("requires_action")
		s.AwaitLua(`require('acp').tool_calls()[2].locations[1].path == ...`, readme)
		s.Command("Acp allow")
		s.AwaitLua(`vim.iter(require('acp').permissions()):any(function(p) return (p.command or '') ~= '' end)`)
		s.Command("Acp allow")
		s.AwaitTurnEnd("end_turn")
		check.Contains(t, s.ReadFile(readme), "The demo agent of acp-nvim was here.", "the file has %q")
		s.AwaitLua(`require('acp').changes()[1].path == ...`, readme)
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('README.md'), 0, -1, false), '\n'):find('was here', 1, true) ~= nil`)
		if chat := s.Chat(); strings.Contains(chat, there) {
			t.Errorf("the chat has the agent's names:\n%s", chat)
		}
		s.Lua(nil, `vim.api.nvim_set_current_win(`+scene.ChatWin+`); vim.fn.search('README.md')`)
		s.Keys("gd")
		s.AwaitLua(`vim.api.nvim_buf_get_name(0) == ...`, readme)
		s.OK(`require('acp').undo_turn({})`)
		s.Await("the turn to be undone", func() bool { return s.ReadFile(readme) == "# Here\n" })
	})
}
