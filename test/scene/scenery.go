package scene

import (
	"fmt"
	"strings"
)

// This file opens the user's windows, and compares all windows with what they were before.

// Scenery is all that a diff must leave as it was: layout, sizes, views, focus, buffers, alternate
// files, jumps, options and mappings. The chat grows, so its view is left out.
func (s *Scene) Scenery() string {
	s.T.Helper()
	return s.LuaString(`local api = vim.api
		local wins, bufs = {}, {}
		for _, win in ipairs(api.nvim_list_wins()) do
			if api.nvim_win_get_config(win).relative == '' then
				local chat = vim.bo[api.nvim_win_get_buf(win)].filetype == 'acp-chat'
				local options = {}
				for name, info in pairs(api.nvim_get_all_options_info()) do
					if info.scope == 'win' and name ~= 'winbar' then
						options[name] = tostring(api.nvim_get_option_value(name, { win = win, scope = 'local' }))
					end
				end
				table.insert(wins, {
					win = win,
					buf = api.nvim_win_get_buf(win),
					size = { api.nvim_win_get_width(win), api.nvim_win_get_height(win) },
					view = not chat and api.nvim_win_call(win, vim.fn.winsaveview) or nil,
					alternate = api.nvim_win_call(win, function() return vim.fn.bufnr('#') end),
					jumps = not chat and vim.fn.getjumplist(win) or nil,
					options = options,
				})
			end
		end
		for _, buf in ipairs(api.nvim_list_bufs()) do
			local maps = {}
			for _, m in ipairs(api.nvim_buf_get_keymap(buf, 'n')) do maps[m.lhs] = m.rhs or 'function' end
			local name = api.nvim_buf_get_name(buf)
			local shown = name ~= '' and not name:match('^acp://[^/]+/permission') or vim.bo[buf].buflisted
			table.insert(bufs, shown and {
				name = api.nvim_buf_get_name(buf), listed = vim.bo[buf].buflisted, loaded = api.nvim_buf_is_loaded(buf),
				modified = vim.bo[buf].modified, maps = maps,
			} or nil)
		end
		local options = {}
		for name, info in pairs(api.nvim_get_all_options_info()) do
			if info.scope == 'global' then
				local known, value = pcall(api.nvim_get_option_value, name, { scope = 'global' })
				options[name] = known and tostring(value) or nil
			end
		end
		local scene = {
			layout = vim.fn.winlayout(), wins = wins, bufs = bufs, options = options,
			tabs = #api.nvim_list_tabpages(), win = api.nvim_get_current_win(), last = vim.fn.winnr('#'),
			tab = vim.fn.tabpagenr('#'), registers = vim.fn.getreg('"'), mode = api.nvim_get_mode().mode,
		}
		return vim.inspect(scene)`)
}

// SameScenery fails the test where two sceneries differ, with the lines that do.
func (s *Scene) SameScenery(before, after string) {
	s.T.Helper()
	if before == after {
		return
	}
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	var told []string
	for i := range max(len(was), len(is)) {
		var a, b string
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a != b && len(told) < 12 {
			told = append(told, fmt.Sprintf("%d: %s → %s", i, strings.TrimSpace(a), strings.TrimSpace(b)))
		}
	}
	s.T.Errorf("not as it was before:\n%s", strings.Join(told, "\n"))
}

// Dashboard has the only window show what is no file, as a start screen, a file tree or a terminal do.
func (s *Scene) Dashboard() (win int) {
	s.T.Helper()
	s.Lua(nil, `
		local buf = vim.api.nvim_create_buf(false, true)
		vim.bo[buf].bufhidden = 'wipe'
		vim.api.nvim_buf_set_lines(buf, 0, -1, false, { 'Welcome' })
		vim.api.nvim_win_set_buf(0, buf)
		vim.bo[buf].modifiable = false`)
	return s.LuaInt(`vim.api.nvim_get_current_win()`)
}
