package scenario

import (
	"strings"
	"testing"
)

// The output of a command that the agent tells as text is what :Acp terminal shows where there is no terminal.
func TestOutputWithoutATerminal(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "run")
		p.update("tool_call", obj{
			"toolCallId": "c", "kind": "execute", "title": "make", "status": "completed",
			"content":   []any{obj{"type": "content", "content": obj{"type": "text", "text": "one\ntwo"}}},
			"rawOutput": obj{"metadata": obj{"exit": 3}},
		})
		s.awaitChat("✗ $ run    make")
		s.awaitChat("    exited with code 3")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Keys("i<Cmd>Acp terminal<CR>")
		s.AwaitLua(`vim.api.nvim_buf_get_name(0):match('acp://block/') and vim.b.acp_filled`)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		if got := s.buffer(buf); !strings.Contains(got, "one\ntwo\n") {
			t.Errorf("shown is %q", got)
		}
		if mode := s.LuaString(`vim.api.nvim_get_mode().mode`); mode != "n" {
			t.Errorf("the mode is %q", mode)
		}
	})
}

// An agent that wants no output gets none; the user sees it.
func TestNoOutputForTheAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "run")
		id := p.terminal(`echo words`, obj{"outputByteLimit": 0})
		p.inCall("c", id)
		p.inTerminal("wait_for_exit", id)
		if m := p.inTerminal("output", id); m.text("output") != "" || m.get("truncated") != true {
			t.Errorf("the output is %s", m)
		}
		s.awaitChat("    words")
	})
}
