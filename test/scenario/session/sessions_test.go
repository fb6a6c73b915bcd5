package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestSessionsTellsWhichWorkAndWhichWait(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "work")
		s.OK(`require('acp').new({ cwd = '/' })`)
		q := s.Agent()
		q.Initialize(nil)
		q.Refuse(q.Expect("session/new"), -32000, "Authentication required", nil)
		s.AwaitLua(`require('acp').sessions()[2].state == 'auth_required'`)
		s.Choose("nothing")
		s.Command("Acp sessions")
		offered := s.Offered(1)
		want := []any{"1 Puppet · works · " + s.LuaString(`vim.fn.fnamemodify(vim.fn.getcwd(), ':~')`), "2 Puppet · waits for a login · /"}
		check.Deep(t, offered, want, "offered are %q")
	})
}

func TestSessionsHaveTheFieldsOfTheContract(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(nil)
		p.Reply(p.Expect("session/new"), obj{
			"sessionId": scene.SessionID(1),
			"modes": obj{"currentModeId": "ask", "availableModes": []obj{
				{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"},
			}},
			"configOptions": []obj{{
				"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "big",
				"options": []obj{{"value": "big", "name": "Big"}, {"value": "small", "name": "Small"}},
			}},
		})
		s.AwaitEvent("AcpSessionReady")
		turn := s.Prompt(p, "do it")
		p.Update("session_info_update", obj{"title": "A title"})
		p.Update("usage_update", obj{"used": 2000, "size": 10000, "cost": obj{"amount": 0.5, "currency": "EUR"}})
		p.Update("plan", obj{"entries": []obj{{"content": "first", "priority": "high", "status": "in_progress"}}})
		p.Update("current_mode_update", obj{"currentModeId": "code"})
		p.Update("tool_call", obj{"toolCallId": "c1", "title": "Look", "status": "completed"})
		p.EndTurn(turn)
		s.OK(`require('acp').prompt('more')`)
		s.OK(`require('acp').prompt('and more')`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		got := s.Session()
		for key, want := range map[string]any{
			"id": 1, "agent": "puppet", "title": "A title", "cwd": s.Dir, "state": "running",
			"stop_reason": "end_turn", "protocol": 1, "agent_session_id": scene.SessionID(1),
			"usage": obj{"used": 2000, "size": 10000, "cost": obj{"amount": 0.5, "currency": "EUR"}},
			"mode":  obj{"id": "code", "name": "Code"}, "model": obj{"id": "big", "name": "Big"},
			"plan":       []any{obj{"content": "first", "priority": "high", "status": "in_progress"}},
			"tool_calls": 1, "queued": 1,
		} {
			check.Deep(t, got[key], want, "%s is %#v", key)
		}
		if _, ok := got["error"]; ok {
			t.Errorf("error is %v", got["error"])
		}
		s.GoldenScreen("bars")
	})
}

func TestToggleAndSessions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Command("Acp toggle")
		s.AwaitLua(`#vim.api.nvim_list_wins() == 1`)
		s.Command("Acp toggle")
		s.AwaitLua(`#vim.api.nvim_list_wins() == 3 and vim.bo.filetype == 'acp-prompt'`)
		s.Command("Acp new")
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.Choose("1 Puppet")
		s.Command("Acp sessions")
		if offered := s.Offered(1); len(offered) != 2 || !strings.Contains(fmt.Sprint(offered[1]), "2 Puppet") {
			t.Errorf("offered are %q", offered)
		}
		s.AwaitLua(`vim.b.acp_session == 1 and vim.bo.filetype == 'acp-prompt'`)
	})
}
