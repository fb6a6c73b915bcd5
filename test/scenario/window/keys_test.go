package window

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Every key says in words what it does, as which-key and :map show it.
func TestKeysSayInWordsWhatTheyDo(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		var without []string
		s.Lua(&without, `
			local config, without = require('acp.config'), {}
			for action in pairs(config.get().keys) do
				if not config.words[action] then table.insert(without, action) end
			end
			return without`)
		if len(without) > 0 {
			t.Errorf("without words are %q", without)
		}
		p, turn, _, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.CheckDescriptions("acp-prompt", "acp: send the prompt")
		s.CheckDescriptions("acp-chat", "acp: open or close the block")
		s.CheckDescriptions("text", "acp: keep the change")
		p.EndTurn(turn)
		s.Command("Acp review")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		s.CheckDescriptions("acp-review", "acp: undo the last decision")
	})
}

// The list of keys has all of its words in a narrow screen too.
func TestTheListOfKeysIsNotCut(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "do it")
		p.WriteFile(s.WriteFile("code.txt", "one\n"), "two\n")
		s.Keys("<Esc>g?")
		s.AwaitScreen("bring back the next prompt")
		s.Keys("q")
		s.Command("Acp review")
		s.AwaitScreen("+ two")
		s.Keys("Gg?")
		s.AwaitScreen("│                 with what you have accepted")
		// What the agent goes on to change is drawn below the list, which stays.
		p.WriteFile(s.WriteFile("before.txt", "one\n"), "two\n")
		s.AwaitScreen("2 files")
		s.AwaitScreen("│                 with what you have accepted")
		s.Keys("q")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		p.EndTurn(turn)
	}, nvimtest.Size(50, 40))
}
