package attention

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Neovim fires no event that nobody hears; a name, a list of names and a pattern all hear.
func TestEventsReachWhoeverHearsThem(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for i, test := range []struct {
			pattern string
			want    int
		}{
			{`'AcpToolCallEnd'`, 1},
			{`{ 'AcpNotice', 'AcpToolCall' }`, 1},
			{`'AcpToolCall*'`, 2},
			{`'Acp{ToolCall,Other}'`, 1},
			{`'*'`, 2},
		} {
			s.Lua(nil, `vim.api.nvim_clear_autocmds({ event = 'User' })
				_G.heard, _G.over = 0, false
				vim.api.nvim_create_autocmd('User', { pattern = `+test.pattern+`, callback = function(e)
					_G.heard = _G.heard + (e.match:find('^AcpToolCall') and 1 or 0)
				end })
				vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnEnd', callback = function() _G.over = true end })`)
			turn := s.Prompt(p, "use a tool")
			p.Update("tool_call", obj{"toolCallId": fmt.Sprint("c", i), "title": "Look", "status": "completed"})
			p.Stop(turn, "end_turn")
			s.AwaitLua(`_G.over`)
			if got := s.Value(`_G.heard`); fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%s heard %v events, want %d", test.pattern, got, test.want)
			}
		}
	})
}
