package session

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestTurnEndComesAfterTheTranscriptShowsAll(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Lua(nil, `vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnEnd', callback = function()
			local lines = vim.api.nvim_buf_get_lines(require('acp').sessions()[1].chat_buf, 0, -1, false)
			_G.at_end = lines[#lines] .. '/' .. lines[#lines - 1]
			_G.state_at_end = require('acp').sessions()[1].state
		end })`)
		turn := s.Prompt(p, "tell me all")
		// Too much for one batch.
		p.Say(strings.Repeat("This is a line like **many** others.\n", 40_000) + "The very last")
		p.EndTurn(turn)
		check.Equal(t, s.LuaString(`_G.at_end`), "The very last/This is a line like **many** others.",
			"at the end of the turn the chat ended with %q")
		check.Equal(t, s.LuaString(`_G.state_at_end`), "idle", "at the end of the turn the state was %q")
		check.Equal(t, s.CountEvents("AcpTurnEnd"), 1, "the turn ended %d times")
	})
}

func TestStopReasonsAreShown(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for _, reason := range []string{"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "_tired"} {
			turn := s.Prompt(p, "Until "+reason)
			p.Say("Some words.")
			p.Stop(turn, reason)
			if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != reason || end["error"] != nil {
				t.Errorf("the turn ended with %v, not %s", end, reason)
			}
		}
		s.GoldenScreen("reasons")
	}, scene.Wide)
}

func TestErrorAnswersAreSentences(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "fail")
		p.Say("I try.")
		p.Refuse(turn, -32603, "Internal error", obj{"details": "the quota is used up"})
		end := s.AwaitEvent("AcpTurnEnd")
		why, _ := end["error"].(string)
		if end["stop_reason"] != "error" || !strings.Contains(why, "the quota is used up") {
			t.Errorf("the turn ended with %v", end)
		}
		s.AwaitState("idle")
		turn = s.Prompt(p, "again")
		p.Refuse(turn, -32603, "", nil)
		s.AwaitEvent("AcpTurnEnd")
		s.GoldenScreen("errors")

		// The session itself is refused.
		s.Command("Acp new")
		p.Refuse(p.Expect("session/new"), -32602, "bad folder", nil)
		s.AwaitChat("Puppet refused session/new: bad folder.")
		check.Equal(t, s.LuaString(`require('acp').sessions()[2].state`), "dead", "the refused session is %s")
		s.Refused(`require('acp').prompt('hello', { session = 2 })`)
	})
}
