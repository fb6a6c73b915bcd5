package session

import (
	"strings"
	"testing"

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
		if text := s.ReadFile(path); text != "two\n" {
			t.Errorf("the file has %q", text)
		}
		s.AwaitLua(`require('acp').tool_calls()[1].locations[1].path == ...`, path)
		s.AwaitLua(`require('acp').changes()[1].path == ...`, path)
	})
}
