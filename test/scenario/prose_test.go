package scenario

import "testing"

// Plugins that render markdown ask for the buffer's parser, and hear of text by autocommands.
func TestThoseWhoRenderMarkdownSeeTheMessagesThatHaveEnded(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Lua(nil, `
			vim.treesitter.language.register('markdown', 'acp-chat')
			vim.api.nvim_create_autocmd('FileType', {
				pattern = 'acp-chat',
				callback = function(args)
					_G.parser = vim.treesitter.get_parser(args.buf)
					vim.api.nvim_create_autocmd('TextChanged', {
						buffer = args.buf,
						callback = function()
							_G.seen = {}
							_G.parser:parse({ 0, 1000 })
							_G.parser:for_each_tree(function(tree, lang)
								local first, _, last, col = tree:root():range()
								if lang:lang() == 'markdown' and (last > first or col > 0) then
									local lines = vim.api.nvim_buf_get_lines(args.buf, first, last, false)
									table.insert(_G.seen, table.concat(lines, '|'))
								end
							end)
							table.sort(_G.seen)
						end,
					})
				end,
			})`)
		p := s.begin()
		turn := s.prompt(p, "# A heading of mine")
		p.say("```lua\nlocal unfinished = 1")
		p.update("tool_call", obj{"toolCallId": "c", "title": "rm *all* `of` it", "kind": "execute", "status": "in_progress"})
		s.AwaitLua(`vim.deep_equal(_G.seen, { '` + "```" + `lua|local unfinished = 1' })`)
		p.say("## How\n\n| a | b |\n|---|---|\n| c | d |")
		s.awaitChat("| c | d |")
		p.stop(turn, "end_turn")
		s.AwaitLua(`vim.deep_equal(_G.seen, { '## How||| a | b |||---|---||| c | d |', '` + "```" + `lua|local unfinished = 1' })`)

		// What is folded above them, and drawn anew, leaves them where they are.
		turn = s.prompt(p, "again")
		p.think("hm\n\n# no heading")
		p.say("# Yes")
		s.awaitChat("# Yes")
		s.Command("stopinsert | wincmd k")
		s.Keys("zR")
		s.awaitChat("# no heading")
		p.stop(turn, "end_turn")
		s.AwaitLua(`#_G.seen == 3 and _G.seen[1] == '# Yes'`)
		s.Lua(nil, `_G.seen = nil`)
		s.Command("edit!")
		s.AwaitLua(`_G.seen and #_G.seen == 3 and _G.seen[1] == '# Yes'`)
	})
}
