package chat

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// markdownText has all that is highlighted in a message.
const markdownText = `# First *of* all
## Second
###### Sixth

Some **bold**, *italic*, ~~struck~~ and ` + "`inline`" + ` words, a [link](https://example.org) and <b>HTML</b>.

- one
  1. two
- [ ] open
- [x] done

> quoted **words**

| Name | Size |
|------|-----:|
| a    |    1 |

---

    indented

` + "```lua\nlocal x = 'one' -- two\n```\n"

// keyword is what a word of code looks like that the language's parser knows.
const keyword = "+Statement"

func TestMarkdownOnTheScreen(t *testing.T) {
	for _, background := range []string{"dark", "light"} {
		t.Run(background, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				p := s.Begin()
				turn := s.Prompt(p, "# Show *all*")
				p.Say(markdownText)
				p.EndTurn(turn)
				s.Command("wincmd t | vertical resize 20")
				s.Await("the code's colours", func() bool { return strings.Contains(s.ScreenAttrs(), keyword) })
				s.Golden("markdown", nvimtest.Attrs())
			}, nvimtest.Size(80, 36), nvimtest.Background(background))
		})
	}
}

func TestCodeIsHighlightedOnceComplete(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "write code")
		p.Say("See:\n\n```lua\nlocal one = 1\n")
		s.AwaitChat("local one = 1")
		if got := s.Colours(); len(got) > 0 {
			t.Errorf("highlighted is %q", got)
		}
		// The message ends right behind the fence, and it is the end of the turn that tells.
		p.Say("```")
		p.EndTurn(turn)
		s.AwaitColour("local", "@keyword.lua")
		s.AwaitColour("1", "@number.lua")

		// While the turn goes on; also in a list, after blocks that are left alone.
		turn = s.Prompt(p, "write more")
		huge := strings.Repeat("local huge = 1\n", 20_000)
		p.Say("```klingon\nlocal no = 1\n```\n```\nlocal plain = 1\n```\n~~~ Lua title\nlocal two = 2\n~~~\n```lua\n" + huge +
			"```\n- in a list:\n  ```vim\n  let three = 3\n  ```\n")
		s.AwaitColour("two", "@variable.lua")
		s.AwaitColour("let", "@keyword.vim")
		// Behind what is in the works already, so that it is known what was left alone.
		p.Say("```c\nreturn 4;\n```\n")
		s.AwaitColour("4", "@number.c")
		whole := s.Colours()
		for _, c := range whole {
			for _, word := range []string{"no ", "plain ", "huge "} {
				if strings.HasPrefix(c, word) {
					t.Errorf("highlighted is %q", c)
				}
			}
		}
		p.EndTurn(turn)

		// Lines that come and go above do not matter.
		s.Lua(nil, `local chat = ...; vim.cmd.bwipeout({ chat, bang = true })`, s.Session()["chat_buf"])
		s.Command("Acp")
		s.Await("all colours again", func() bool { return slices.Equal(s.Colours(), whole) })
	})
}

func TestFoldsAboveDoNotMoveColours(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "write code")
		p.Think("Hm.\nWell.\n")
		p.Say("```lua\nlocal one = 1\n```\n")
		p.EndTurn(turn)
		s.AwaitColour("local", "@keyword.lua")
		before := s.Colours()
		s.Keys("<C-w>kzR")
		s.AwaitChat("Well.")
		if after := s.Colours(); !slices.Equal(after, before) {
			t.Errorf("highlighted is %q, was %q", after, before)
		}
	})
}

// richTurn is a turn with all that a chat shows, until it waits for the user.
func richTurn(s *scene.Scene) {
	s.T.Helper()
	s.Configure(`c.diff = 'chat'`)
	p := s.Begin()
	p.Update("session_info_update", obj{"title": "Fix the parser's off-by-one"})
	p.Update("usage_update", obj{"used": 42_000, "size": 200_000, "cost": obj{"amount": 0.12, "currency": "USD"}})
	s.Prompt(p, "Why does `tokens_between` skip the last token? Fix it and run the tests.")
	p.Think("The loop ends too early, I think.")
	p.Say("I looked at `src/lexer.lua`. The loop stops **too early**:\n\n```lua\nfor i = first, #toks - 1 do\n```\n" +
		"That drops the last token:\n\n| input | tokens |\n|-------|-------:|\n| `a b` |      1 |\n")
	p.Update("plan", obj{"entries": []obj{
		{"content": "Find the loop", "priority": "medium", "status": "completed"},
		{"content": "Fix it", "priority": "high", "status": "in_progress"},
		{"content": "Run the tests", "priority": "medium", "status": "pending"},
	}})
	p.Update("tool_call", obj{
		"toolCallId": "r", "title": "Read src/lexer.lua", "kind": "read", "status": "completed",
		"locations": []obj{{"path": s.Dir + "/src/lexer.lua", "line": 40}},
	})
	p.Update("tool_call", obj{
		"toolCallId": "t", "title": "`make test`", "kind": "execute", "status": "failed",
		"content": []obj{{"type": "content", "content": obj{"type": "text", "text": "ok  11\n" + scene.Lines(1, 12) + "not ok 13"}}},
	})
	p.Permission(obj{
		"toolCallId": "e", "title": "Edit src/lexer.lua", "kind": "edit", "status": "pending",
		"locations": []obj{{"path": s.Dir + "/src/lexer.lua", "line": 48}},
		"content": []obj{{"type": "diff", "path": s.Dir + "/src/lexer.lua",
			"oldText": "local n = 1\nfor i = first, #toks - 1 do\nend\n", "newText": "local n = 1\nfor i = first, #toks do\nend\n"}},
	}, scene.YesNo...)
	s.AwaitFloat()
	s.OK(`require('acp').prompt('also add a test for the empty range')`)
	s.AwaitQueue("also add a test for the empty range")
	s.Keys("iand one more")
	s.AwaitPrompt("and one more")
	s.AwaitScreen("1 queued")
	s.Await("the code's colours", func() bool { return len(s.Colours()) > 0 })
	s.Redraw()
}

// Plugins that render markdown ask for the buffer's parser, and hear of text by autocommands.
func TestThoseWhoRenderMarkdownSeeTheMessagesThatHaveEnded(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
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
		p := s.Begin()
		turn := s.Prompt(p, "# A heading of mine")
		p.Say("```lua\nlocal unfinished = 1")
		p.Update("tool_call", obj{"toolCallId": "c", "title": "rm *all* `of` it", "kind": "execute", "status": "in_progress"})
		s.AwaitLua(`vim.deep_equal(_G.seen, { '` + "```" + `lua|local unfinished = 1' })`)
		p.Say("## How\n\n| a | b |\n|---|---|\n| c | d |")
		s.AwaitChat("| c | d |")
		p.Stop(turn, "end_turn")
		s.AwaitLua(`vim.deep_equal(_G.seen, { '## How||| a | b |||---|---||| c | d |', '` + "```" + `lua|local unfinished = 1' })`)

		// What is folded above them, and drawn anew, leaves them where they are.
		turn = s.Prompt(p, "again")
		p.Think("hm\n\n# no heading")
		p.Say("# Yes")
		s.AwaitChat("# Yes")
		s.Command("stopinsert | wincmd k")
		s.Keys("zR")
		s.AwaitChat("# no heading")
		p.Stop(turn, "end_turn")
		s.AwaitLua(`#_G.seen == 3 and _G.seen[1] == '# Yes'`)
		s.Lua(nil, `_G.seen = nil`)
		s.Command("edit!")
		s.AwaitLua(`_G.seen and #_G.seen == 3 and _G.seen[1] == '# Yes'`)
	})
}
