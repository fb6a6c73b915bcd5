package diff

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestADiffTakesTheRoomOfADashboard(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("lexer.lua", tokensLua)
		s.Dashboard()
		p := s.Begin()
		s.Prompt(p, "fix it")
		const sizes = `vim.json.encode(vim.tbl_map(function(win)
			local buf = vim.api.nvim_win_get_buf(win)
			return vim.b[buf].acp_session and { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) } or 0
		end, { require('acp.layout').windows(0) }))`
		before, scenery := s.LuaString(sizes), s.Scenery()
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		if got := s.LuaString(sizes); got != before {
			t.Errorf("the chat and the prompt have %s, before %s", got, before)
		}
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.SameScenery(scenery, s.Scenery())
	}, scene.Wide)
}
