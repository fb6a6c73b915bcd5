package scenario

import (
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"slices"
	"strings"
	"testing"
)

// Every key says in words what it does, as which-key and :map show it.
func TestKeysSayInWordsWhatTheyDo(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
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
		p, turn, _, buf := s.marked(reviewed)
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.described("acp-prompt", "acp: send the prompt")
		s.described("acp-chat", "acp: open or close the block")
		s.described("text", "acp: keep the change")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("Acp review")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		s.described("acp-review", "acp: undo the last decision")
	})
}

func TestKeysOfARequestSayInWordsWhatTheyDo(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.awaitFloat()
		s.described("", "acp: allow what is asked")
		s.described("", "acp: give answer 1")
	})
}

// described checks what the mappings say in the buffers of a filetype, or in all that are no files, and that one of
// them says this.
func (s *scene) described(filetype, want string) {
	s.t.Helper()
	var said []string
	s.Lua(&said, `
		local said, filetype = {}, ...
		for _, buf in ipairs(vim.api.nvim_list_bufs()) do
			local mapped = vim.bo[buf].filetype == filetype or filetype == '' and vim.bo[buf].buftype ~= ''
			for _, mode in ipairs(mapped and { 'n', 'x', 'i' } or {}) do
				for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
					table.insert(said, map.desc or ('nothing: ' .. map.lhs))
				end
			end
		end
		return said`, filetype)
	if !slices.Contains(said, want) {
		s.t.Errorf("%s: none of the keys says %q: %q", filetype, want, said)
	}
	for _, words := range said {
		if !strings.HasPrefix(words, "acp: ") || strings.Contains(words, "_") || words != strings.TrimSpace(words) {
			s.t.Errorf("%s: a key says %q", filetype, words)
		}
	}
}

// The list of keys has all of its words in a narrow screen too.
func TestTheListOfKeysIsNotCut(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "do it")
		p.writeFile(s.write("code.txt", "one\n"), "two\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Keys("<Esc>g?")
		s.AwaitScreen("│        then the draft")
		s.Keys("q")
		s.Command("Acp review")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		s.Keys("g?")
		s.AwaitScreen("│          you have accepted")
	}, nvimtest.Size(50, 40))
}
