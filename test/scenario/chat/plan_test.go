package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestPlan(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "plan it")
		plan := func(status ...string) {
			var entries []obj
			for i, priority := range []string{"high", "medium", "low"} {
				entries = append(entries, obj{
					"content": fmt.Sprintf("Step %d", i+1), "priority": priority, "status": status[i],
				})
			}
			p.Update("plan", obj{"entries": entries})
		}
		plan("in_progress", "pending", "pending")
		s.AwaitChat("▸ Step 1")
		p.Say("One is done.\n")
		plan("completed", "in_progress", "pending")
		s.AwaitChat("▸ Step 2")
		check.Equal(t, strings.Count(s.Chat(), "Step 3"), 1, "the plan is shown %d times")
		p.EndTurn(turn)
		s.GoldenScreen("plan")
	})
}

func TestPlanFloat(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		s.Keys("<C-w>kgp")
		s.AwaitNotification("no plan yet")
		turn := s.Prompt(p, "plan")
		p.Update("plan", obj{"entries": []obj{
			{"content": "Find\nthe loop", "priority": "high", "status": "completed"},
			{"content": "Fix it", "priority": "medium", "status": "in_progress"},
			{"content": "Run the tests", "priority": "low", "status": "pending"},
		}})
		s.AwaitChat("Run the tests")
		p.Say(scene.Lines(1, 40))
		s.AwaitChat("line 40")
		s.Keys("gp")
		s.AwaitScreen("─ Plan ─")
		s.GoldenScreen("float")
		if !s.LuaBool(`vim.bo.filetype == 'acp-chat'`) {
			t.Error("the float took the focus")
		}
		s.Keys("k")
		s.Await("the float to go", func() bool { return !strings.Contains(s.Screen(), "─ Plan ─") })
		p.EndTurn(turn)
	})
}
