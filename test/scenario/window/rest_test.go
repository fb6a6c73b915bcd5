package window

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// What waits for the user looks again when something may have changed, not as often as Neovim can: a
// look makes Neovim rest anew, which is an event.
func TestWaitingForTheUserCostsNothing(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `
			local schedule = vim.schedule
			vim.schedule = function(fn) looks = looks + 1; return schedule(fn) end
			looks = 0
			require('acp.ui.typing').watch()`)
		few := func(what string) {
			t.Helper()
			s.AwaitLua("over")
			if looks := s.LuaString("return tostring(looks)"); len(looks) > 1 {
				t.Errorf("%s: %s looks", what, looks)
			}
		}
		for _, keys := range []string{":", "/", "d"} { // where no window may be changed
			s.Keys(keys)
			s.Lua(nil, `looks, over, done = 0, false, false
				require('acp.ui.safe_state').wait(function() done = true end)
				vim.defer_fn(function() over = true end, 300)`)
			few("after " + keys)
			s.Keys("<Esc>")
			s.AwaitLua("done")
		}
		s.Keys("j")
		s.Lua(nil, `looks, over = 0, false
			require('acp.ui.typing').when(function() return true end, function() over = true end)`)
		few("after a key")
	})
}
