package attention

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// takeWinbars has another plugin set the lines above all windows again and again, as lualine does: one for the
// current window, none for the others.
func takeWinbars(s *scene.Scene) {
	s.T.Helper()
	s.Lua(nil, `
		local timer = vim.uv.new_timer()
		timer:start(0, 20, vim.schedule_wrap(function()
			for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
				if vim.fn.win_gettype(win) ~= 'popup' then
					local mine = win == vim.api.nvim_get_current_win() and 'theirs' or ''
					vim.api.nvim_set_option_value('winbar', mine, { win = win })
				end
			end
		end))`)
}

// virtual is the virtual text of a namespace in a buffer, line by line.
func virtText(s *scene.Scene, namespace string, buf int) string {
	s.T.Helper()
	return s.LuaString(`
		local name, buf = ...
		local ns, lines = vim.api.nvim_get_namespaces()[name], {}
		local function join(chunks)
			return table.concat(vim.tbl_map(function(chunk) return chunk[1] end, chunks))
		end
		for _, m in ipairs(ns and vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true }) or {}) do
			for _, line in ipairs(m[4].virt_lines or { m[4].virt_text }) do
				table.insert(lines, (m[2] + 1) .. ': ' .. vim.trim(join(line)))
			end
		end
		return table.concat(lines, '\n')`, namespace, buf)
}

func TestWhatTheLinesSayIsSeenWhereAnotherPluginHasThem(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.follow = 'window'`)
		path := s.WriteFile("code.lua", "one\ntwo\nthree\nfour\nfive\n")
		s.Command("edit code.lua")
		file := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		prompt := s.LuaInt(`require('acp').sessions()[1].prompt_buf`)
		check.Equal(t, virtText(s, "acp_winbar", prompt)+virtText(s, "acp_bar_text", file), "",
			"without another plugin it says %q")
		takeWinbars(s)
		s.Await("the lines below the prompt", func() bool {
			return virtText(s, "acp_winbar", prompt) == "1: Puppet\n1: <CR> send"
		})
		s.Await("the mark of the window that follows", func() bool {
			return strings.HasSuffix(virtText(s, "acp_bar_text", file), ": ⌖ following Puppet")
		})
		s.AwaitScreenMatch(`(?m)Ask Puppet\s*$\n.*│ Puppet\s*$\n.*<CR> send`)

		// They stay below the text, and say what goes on.
		s.Keys("ia<CR>b<Esc>")
		turn := s.Prompt(p, "do it")
		asked := p.Permission(scene.EditsCall("e1", path, "two\n", "2\n"), scene.YesNo...)
		s.Await("what waits", func() bool {
			lines := virtText(s, "acp_winbar", prompt)
			return strings.HasPrefix(lines, "2: Puppet") && strings.Contains(lines, "waits for you\n2:")
		})
		s.AwaitFloat()
		s.Await("the keys of the diff", func() bool {
			return strings.Contains(s.LuaString(`
				local list = {}
				for _, buf in ipairs(vim.api.nvim_list_bufs()) do
					local ns = vim.api.nvim_get_namespaces().acp_bar_text
					for _, m in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
						for _, chunk in ipairs(m[4].virt_text) do table.insert(list, chunk[1]) end
					end
				end
				return table.concat(list)`), "ga allow · gr refuse")
		})
		s.Command("Acp follow off")
		s.Await("no mark", func() bool { return virtText(s, "acp_bar_text", file) == "" })
		s.Command("Acp permit 1")
		p.Answer(asked)
		p.EndTurn(turn)
	}, nvimtest.Size(120, 40))
}
