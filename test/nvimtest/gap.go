package nvimtest

import "time"

// StartGap makes Neovim note, with a timer of 5 ms, how long its event loop is ever away from work:
// drawing, Lua, everything that keeps a key from being seen. A second call starts anew.
func (n *Nvim) StartGap() {
	n.t.Helper()
	n.Lua(nil, `
if _G.nvimtest_gap then _G.nvimtest_gap.timer:close() end
local gap = {timer = vim.uv.new_timer(), last = vim.uv.hrtime(), longest = 0}
_G.nvimtest_gap = gap
gap.timer:start(0, 5, function()
  local now = vim.uv.hrtime()
  gap.longest = math.max(gap.longest, now - gap.last)
  gap.last = now
end)`)
}

// StopGap ends what StartGap began and tells the longest time between two ticks: about 5 ms when Neovim was never busy.
func (n *Nvim) StopGap() time.Duration {
	n.t.Helper()
	return time.Duration(n.LuaInt(`
local gap = assert(_G.nvimtest_gap, 'StartGap was not called')
_G.nvimtest_gap = nil
gap.timer:close()
return math.max(gap.longest, vim.uv.hrtime() - gap.last)`))
}
