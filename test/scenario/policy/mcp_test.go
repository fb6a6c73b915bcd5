package policy

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// A tool of an MCP server's is asked about in words, and an answer that lasts is about that tool alone.
func TestToolsOfMCPServers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.SetRules(`{
			{ tool = 'tickets/list', action = 'allow' },
			{ kind = { 'read', 'execute' }, action = 'allow' },
			{ path = '**', action = 'allow' },
		}`)
		p := s.Begin()
		turn := s.Prompt(p, "do it")

		qwen := func(id, tool, path string) obj {
			return obj{
				"toolCallId": id, "title": `{"path":"` + path + `"}`, "kind": "read", "rawInput": obj{"path": path},
				"_meta": obj{"toolName": tool},
			}
		}
		p.Update("tool_call", obj{
			"toolCallId": "x1", "title": "mcp.tickets.find", "kind": "execute", "status": "pending",
			"rawInput": obj{"server": "tickets", "tool": "find", "arguments": obj{"text": "parser", "limit": 3}},
		})
		id := p.Permission(obj{"toolCallId": "x1", "_meta": obj{"is_mcp_tool_approval": true}}, scene.YesNo...)
		s.AwaitFloat()
		s.GoldenScreen("asked")
		s.Command("Acp permit 1")
		p.Answer(id)
		s.CheckResolved("yes", "user")
		s.AwaitNoFloat()
		p.Update("tool_call_update", obj{
			"toolCallId": "x1", "status": "failed",
			"rawOutput": obj{"result": obj{"content": []obj{{"type": "text", "text": "No ticket speaks of it."}}}},
		})
		s.AwaitChat("No ticket speaks of it.")

		s.CheckDecision(p, qwen("q0", "mcp__tickets__list", "x"), "yes")
		asked(s, p, qwen("q1", "mcp__tickets__read", "x"), 2) // always
		s.CheckDecision(p, qwen("q2", "mcp__tickets__read", "y"), "always")
		s.AwaitChat("tickets: read")
		asked(s, p, qwen("q3", "mcp__other__read", "x"), 1)
		asked(s, p, qwen("q4", "mcp__tickets__read__all", "x"), 1)
		p.EndTurn(turn)
	})
}
