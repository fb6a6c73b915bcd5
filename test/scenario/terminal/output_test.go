package terminal

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// The output of a command that the agent tells as text is what :Acp terminal shows where there is no terminal.
func TestOutputWithoutATerminal(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "run")
		p.Update("tool_call", obj{
			"toolCallId": "c", "kind": "execute", "title": "make", "status": "completed",
			"content":   []any{obj{"type": "content", "content": obj{"type": "text", "text": "one\ntwo"}}},
			"rawOutput": obj{"metadata": obj{"exit": 3}},
		})
		s.AwaitChat("✗ $ run    make")
		s.AwaitChat("    exited with code 3")
		p.EndTurn(turn)
		s.Keys("i<Cmd>Acp terminal<CR>")
		s.AwaitLua(`vim.api.nvim_buf_get_name(0):match('acp://block/') and vim.b.acp_filled`)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		check.Contains(t, s.BufferText(buf), "one\ntwo\n", "shown is %q")
		check.Equal(t, s.LuaString(`vim.api.nvim_get_mode().mode`), "n", "the mode is %q")
	})
}

// An agent that wants no output gets none; the user sees it.
func TestNoOutputForTheAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "run")
		id := p.Terminal(`echo words`, obj{"outputByteLimit": 0})
		inCall(p, "c", id)
		p.InTerminal("wait_for_exit", id)
		if m := p.InTerminal("output", id); m.Text("output") != "" || m.Get("truncated") != true {
			t.Errorf("the output is %s", m)
		}
		s.AwaitChat("    words")
	})
}
