package setup

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// As `:Lazy reload` does it: deactivate(), all modules forgotten, plugin/ read again.
func TestDeactivateEndsAllInOrder(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, _, _, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		p.Permission(scene.EditsCall("e2", s.Dir+"/code.txt", "two", "zwei"), scene.YesNo...)
		s.AwaitFloat()
		s.Keys("inot sent<Esc>")
		s.AwaitPrompt("not sent")
		s.RecordNotifications()
		s.Lua(nil, `
			require('acp').deactivate()
			for name in pairs(package.loaded) do
				if name == 'acp' or vim.startswith(name, 'acp.') then package.loaded[name] = nil end
			end
			vim.g.loaded_acp = nil
			vim.cmd('runtime! plugin/acp.lua')`)
		p.AwaitEnd()
		left := s.LuaString(`(function()
			local left = {}
			for _, buf in ipairs(vim.api.nvim_list_bufs()) do
				local name = vim.api.nvim_buf_get_name(buf)
				if vim.startswith(name, 'acp://') then table.insert(left, name) end
				for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, 'n')) do
					if vim.startswith(map.desc or '', 'acp: ') then table.insert(left, map.lhs) end
				end
			end
			for _, autocmd in ipairs(vim.api.nvim_get_autocmds({})) do
				if vim.startswith(autocmd.group_name or '', 'acp') then table.insert(left, autocmd.group_name) end
			end
			if #vim.api.nvim_list_wins() > 1 then table.insert(left, #vim.api.nvim_list_wins() .. ' windows') end
			return table.concat(left, ' ')
		end)()`)
		check.Equal(t, left, "", "left are %s")
		check.Equal(t, s.Marks(buf), "", "the marks are %q")
		if said := s.Notifications(); strings.Contains(said, "ended") || strings.Contains(s.Messages(), "deprecated") || !strings.Contains(said, "not sent is in buffer") {
			t.Errorf("the messages are %q", said)
		}
		s.AwaitLua(`#vim.lsp.get_clients({ name = 'acp' }) == 0`)
		// And anew.
		s.Command("Acp")
		next := s.ReadyAgent()
		m, _ := func() (scene.Message, string) { s.OK(`require('acp').prompt('again')`); return next.Prompted() }()
		next.Say("Here I am.")
		next.Stop(m, "end_turn")
		s.AwaitChat("Here I am.")
	})
}
