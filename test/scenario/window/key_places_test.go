package window

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// keysInHelp are the actions that the help lists, by the place that it says they are in.
func keysInHelp(t *testing.T) map[string][]string {
	t.Helper()
	help, err := os.ReadFile("../../../doc/acp.txt")
	must.Do(t, err)
	listed := map[string][]string{}
	for _, part := range strings.Split(string(help), "\n\n") {
		place, lines, ok := strings.Cut(part, " ~\n")
		for line := range strings.Lines(lines) {
			if ok {
				listed[strings.TrimSpace(place)] = append(listed[strings.TrimSpace(place)], strings.Fields(line)[0])
			}
		}
	}
	return listed
}

// bufWhere is a Lua expression for a buffer of which a condition holds.
func bufWhere(condition string) string {
	return fmt.Sprintf(`vim.iter(vim.api.nvim_list_bufs()):find(function(buf) return %s end)`, condition)
}

// checkKeys compares the keys of a buffer with those that the help lists for places, and those that are told of below
// its list.
func checkKeys(s *scene.Scene, listed map[string][]string, buf, also string, places ...string) {
	s.T.Helper()
	var actions, wrong []string
	for _, place := range places {
		if len(listed[place]) == 0 {
			s.T.Fatalf("the help has no keys %q", place)
		}
		actions = append(actions, listed[place]...)
	}
	s.AwaitLua(buf)
	s.Lua(&wrong, `
		local actions, also = ...
		local more = { toggle = 'ToggleBlock', open = 'OpenBlock', close = 'CloseBlock',
			open_all = 'OpenBlocks', close_all = 'CloseBlocks', cancel = 'CancelTurn' }
		local keys, wrong, expected, mapped = require('acp.config').get().keys, {}, {}, {}
		for _, action in ipairs(actions) do
			expected[vim.fn.keytrans(vim.api.nvim_replace_termcodes(keys[action], true, true, true))] = action
		end
		for _, mode in ipairs({ 'n', 'x', 'i' }) do
			for _, map in ipairs(vim.api.nvim_buf_get_keymap(`+buf+`, mode)) do
				if vim.startswith(map.lhs, '<Plug>') then
					mapped[map.lhs] = true
				elseif vim.startswith(map.desc or '', 'acp: ') then
					local lhs = vim.fn.keytrans(map.lhsraw)
					mapped[lhs] = true
					if not expected[lhs] and not vim.tbl_contains(vim.split(also, ' '), lhs) then
						table.insert(wrong, lhs .. ' is not listed: ' .. map.desc)
					end
				end
			end
		end
		for lhs, action in pairs(expected) do
			if not mapped[lhs] then
				table.insert(wrong, action .. ' is listed, but ' .. lhs .. ' is not mapped')
			end
			local by_rule = action:gsub('_(%a)', string.upper):gsub('^%a', string.upper)
			if not (mapped['<Plug>(Acp' .. by_rule .. ')'] or mapped['<Plug>(Acp' .. (more[action] or '') .. ')']) then
				table.insert(wrong, action .. ' has no <Plug>(Acp' .. by_rule .. ')')
			end
		end
		return wrong`, actions, also)
	for _, w := range wrong {
		s.T.Errorf("%s: %s", places[0], w)
	}
}

// The help says of each buffer which keys it has, and of no other.
func TestTheHelpHasTheKeysOfEachBuffer(t *testing.T) {
	listed := keysInHelp(t)
	const diffs = "In the diff of a request"
	listed[diffs] = slices.DeleteFunc(listed[diffs], func(a string) bool { return a == "review_edit" }) // of a pending write alone
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, turn, path, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		prompt, chat := bufWhere(`vim.bo[buf].filetype == 'acp-prompt'`), bufWhere(`vim.bo[buf].filetype == 'acp-chat'`)
		checkKeys(s, listed, prompt, "", "In the prompt", "In the prompt and the transcript")
		checkKeys(s, listed, chat, "za a A I o O", "In the transcript", "In the prompt and the transcript")
		checkKeys(s, listed, fmt.Sprint(buf), "", "In a file that an agent has changed")
		edits := scene.EditsCall("e1", path, scene.TextReviewed, scene.TextAfter, s.WriteFile("b.txt", "one\n"), "one\n", "two\n")
		id := p.Permission(edits, scene.YesNo...)
		diff := bufWhere(`vim.iter(vim.api.nvim_buf_get_keymap(buf, 'n')):any(function(map) return map.lhs == '<Plug>(AcpDiffClose)' end)`)
		checkKeys(s, listed, diff, "", diffs)
		s.Command("Acp permit id:no")
		p.AwaitOutcome(id, "no")
		p.EndTurn(turn)
		s.Command("Acp review")
		checkKeys(s, listed, bufWhere(`vim.bo[buf].filetype == 'acp-review'`), "za zo zc gO", "In the review")
		s.Command("edit acp://history/puppet/none")
		checkKeys(s, listed, bufWhere(`vim.startswith(vim.api.nvim_buf_get_name(buf), 'acp://history/')`), "", "In the transcript of another session")
		s.Command("Acp agents")
		checkKeys(s, listed, bufWhere(`vim.bo[buf].filetype == 'acp-agents'`), "", "On the page of agents")
	}, scene.Wide)
}

func TestTheHelpHasTheKeysOfConflicts(t *testing.T) {
	listed := keysInHelp(t)
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		_, _, _, buf := s.BeginWithConflicts()
		keys := fmt.Sprintf(`#vim.api.nvim_buf_get_keymap(%d, 'n') > 0 and %d`, buf, buf)
		checkKeys(s, listed, keys, "", "In a file with conflicts")
	})
}
