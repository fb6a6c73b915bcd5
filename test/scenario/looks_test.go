package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
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
			each(t, func(t *testing.T, s *scene) {
				p := s.begin()
				turn := s.prompt(p, "# Show *all*")
				p.say(markdownText)
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				s.Command("wincmd t | vertical resize 20")
				s.Await("the code's colours", func() bool { return strings.Contains(s.ScreenAttrs(), keyword) })
				s.Golden("markdown", nvimtest.Attrs())
			}, nvimtest.Size(80, 36), nvimtest.Background(background))
		})
	}
}

// colours are the highlights of the chat's code: what stands there, and its group.
func (s *scene) colours() []string {
	s.t.Helper()
	var list []string
	s.Lua(&list, `local buf = `+chatBuf+`
		local list = {}
		for _, m in ipairs(vim.api.nvim_buf_get_extmarks(buf, vim.api.nvim_create_namespace('acp_code'), 0, -1, { details = true })) do
			local d = m[4]
			if d.hl_group then
				local text = vim.api.nvim_buf_get_text(buf, m[2], m[3], d.end_row, d.end_col, {})
				table.insert(list, table.concat(text, '\n') .. ' ' .. d.hl_group)
			end
		end
		return list`)
	return list
}

func (s *scene) awaitColour(text, group string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q as %s", text, group), func() bool { return slices.Contains(s.colours(), text+" "+group) })
}

func TestCodeIsHighlightedOnceComplete(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "write code")
		p.say("See:\n\n```lua\nlocal one = 1\n")
		s.awaitChat("local one = 1")
		if got := s.colours(); len(got) > 0 {
			t.Errorf("highlighted is %q", got)
		}
		// The message ends right behind the fence, and it is the end of the turn that tells.
		p.say("```")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitColour("local", "@keyword.lua")
		s.awaitColour("1", "@number.lua")

		// While the turn goes on; also in a list, after blocks that are left alone.
		turn = s.prompt(p, "write more")
		huge := strings.Repeat("local huge = 1\n", 20_000)
		p.say("```klingon\nlocal no = 1\n```\n```\nlocal plain = 1\n```\n~~~ Lua title\nlocal two = 2\n~~~\n```lua\n" + huge +
			"```\n- in a list:\n  ```vim\n  let three = 3\n  ```\n")
		s.awaitColour("two", "@variable.lua")
		s.awaitColour("let", "@keyword.vim")
		// Behind what is in the works already, so that it is known what was left alone.
		p.say("```c\nreturn 4;\n```\n")
		s.awaitColour("4", "@number.c")
		whole := s.colours()
		for _, c := range whole {
			for _, word := range []string{"no ", "plain ", "huge "} {
				if strings.HasPrefix(c, word) {
					t.Errorf("highlighted is %q", c)
				}
			}
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")

		// Lines that come and go above do not matter.
		s.Lua(nil, `local chat = ...; vim.cmd.bwipeout({ chat, bang = true })`, s.session()["chat_buf"])
		s.Command("Acp")
		s.Await("all colours again", func() bool { return slices.Equal(s.colours(), whole) })
	})
}

func TestFoldsAboveDoNotMoveColours(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "write code")
		p.think("Hm.\nWell.\n")
		p.say("```lua\nlocal one = 1\n```\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitColour("local", "@keyword.lua")
		before := s.colours()
		s.Keys("<C-w>kzR")
		s.awaitChat("Well.")
		if after := s.colours(); !slices.Equal(after, before) {
			t.Errorf("highlighted is %q, was %q", after, before)
		}
	})
}

func TestUsageOfATurn(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		usage := func(used int, cost float64) {
			p.update("usage_update", obj{"used": used, "size": 200_000, "cost": obj{"amount": cost, "currency": "USD"}})
		}
		usage(1000, 0.1)
		s.awaitBar("0.10 USD", true)
		turn := s.prompt(p, "work")
		p.think("Hm.")
		p.say("Done.\n")
		usage(42_000, 0.119)
		p.reply(turn, obj{"stopReason": "end_turn", "usage": obj{"totalTokens": 3126, "inputTokens": 3000, "outputTokens": 126}})
		s.AwaitEvent("AcpTurnEnd")
		s.awaitChat("  · 3,126 tokens · 0.019 USD · ")
		s.screen("usage")
		// A turn of which nothing was told has no such line.
		turn = s.prompt(p, "work")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.once("tokens")
	}, wide)
}

func TestMoreBelowIsShown(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		p.say(lines(1, 100))
		s.awaitChat("line 100")
		s.awaitBar("↓", false)
		s.Keys("<C-w>kgg")
		s.awaitBar("↓", true)
		s.Keys("G")
		s.awaitBar("↓", false)
		s.Keys("<C-u>")
		s.awaitBar("↓", true)
		// It grows without moving.
		s.Keys("G")
		s.awaitBar("↓", false)
		s.Keys("k")
		s.AwaitLua(`vim.fn.line('.') == vim.fn.line('$') - 1`)
		p.say(lines(101, 20))
		s.awaitBar("↓", true)
		// A larger window shows all of it again.
		s.Resize(80, 60)
		s.Keys("G")
		s.awaitBar("↓", false)
		s.Resize(80, 24)
		s.awaitBar("↓", false)
		s.Keys("gg")
		s.awaitBar("↓", true)
	})
}

func TestViewWithLinesThatWrap(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		win := s.LuaInt(chatWin)
		turn := s.prompt(p, "talk")
		long := func(from, n int) string {
			var b strings.Builder
			for i := from; i < from+n; i++ {
				fmt.Fprintf(&b, "Paragraph %d: %send of %d.\n\n", i, strings.Repeat("it goes on and on, ", 12), i)
			}
			return b.String()
		}
		p.say(long(1, 20))
		s.AwaitScreen("end of 20.")
		p.say(long(21, 5))
		s.AwaitScreen("end of 25.")

		// Scrolled up, with a line at the top: it stays there.
		s.Keys("<C-w>k")
		s.Command("call search('Paragraph 10:')")
		s.Keys("zt")
		s.awaitCursor("Paragraph 10:")
		s.AwaitLua(`vim.fn.line('w0') == vim.fn.line('.')`)
		before := s.view(win)
		p.say(long(26, 5))
		s.awaitChat("end of 30.")
		if after := s.view(win); after != before {
			t.Errorf("the view went from %s to %s", before, after)
		}

		// Smaller and larger, the end is followed.
		s.Keys("G<C-w>j")
		for i, size := range [][2]int{{60, 18}, {200, 50}, {80, 24}} {
			s.Resize(size[0], size[1])
			last := 31 + i
			p.say(long(last, 1))
			s.AwaitScreen(fmt.Sprintf("end of %d.", last))
		}

		// One line that is longer than the window is followed to its end too.
		p.say("Endless: ")
		for i := range 5 {
			p.say(strings.Repeat("and on, ", 100) + fmt.Sprintf("part%d, ", i))
			s.AwaitScreen(fmt.Sprintf("part%d,", i))
		}
		s.Keys("<C-w>kgg<C-w>j")
		s.Await("the beginning", func() bool { return strings.Contains(s.Screen(), "talk") })
		p.say("the end of it.")
		s.awaitChat("the end of it.")
		if strings.Contains(s.Screen(), "the end of it.") {
			t.Error("the view has moved")
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// richTurn is a turn with all that a chat shows, until it waits for the user.
func (s *scene) richTurn() {
	s.t.Helper()
	s.configure(`c.diff = 'chat'`)
	p := s.begin()
	p.update("session_info_update", obj{"title": "Fix the parser's off-by-one"})
	p.update("usage_update", obj{"used": 42_000, "size": 200_000, "cost": obj{"amount": 0.12, "currency": "USD"}})
	s.prompt(p, "Why does `tokens_between` skip the last token? Fix it and run the tests.")
	p.think("The loop ends too early, I think.")
	p.say("I looked at `src/lexer.lua`. The loop stops **too early**:\n\n```lua\nfor i = first, #toks - 1 do\n```\n" +
		"That drops the last token:\n\n| input | tokens |\n|-------|-------:|\n| `a b` |      1 |\n")
	p.update("plan", obj{"entries": []obj{
		{"content": "Find the loop", "priority": "medium", "status": "completed"},
		{"content": "Fix it", "priority": "high", "status": "in_progress"},
		{"content": "Run the tests", "priority": "medium", "status": "pending"},
	}})
	p.update("tool_call", obj{
		"toolCallId": "r", "title": "Read src/lexer.lua", "kind": "read", "status": "completed",
		"locations": []obj{{"path": s.Dir + "/src/lexer.lua", "line": 40}},
	})
	p.update("tool_call", obj{
		"toolCallId": "t", "title": "`make test`", "kind": "execute", "status": "failed",
		"content": []obj{{"type": "content", "content": obj{"type": "text", "text": "ok  11\n" + lines(1, 12) + "not ok 13"}}},
	})
	p.permission(obj{
		"toolCallId": "e", "title": "Edit src/lexer.lua", "kind": "edit", "status": "pending",
		"locations": []obj{{"path": s.Dir + "/src/lexer.lua", "line": 48}},
		"content": []obj{{"type": "diff", "path": s.Dir + "/src/lexer.lua",
			"oldText": "local n = 1\nfor i = first, #toks - 1 do\nend\n", "newText": "local n = 1\nfor i = first, #toks do\nend\n"}},
	}, yesNo...)
	s.awaitFloat()
	s.ok(`require('acp').prompt('also add a test for the empty range')`)
	s.awaitQueue("also add a test for the empty range")
	s.Keys("iand one more")
	s.awaitPrompt("and one more")
	s.AwaitScreen("1 queued")
	s.Await("the code's colours", func() bool { return len(s.colours()) > 0 })
	s.Redraw()
}

func TestLooks(t *testing.T) {
	for _, look := range []struct {
		name string
		set  string
		opts []nvimtest.Option
	}{
		{"80x24", `c.layout = 'right'`, nil},
		{"80x24 bottom", `c.layout = 'bottom'`, nil},
		{"200x50", `c.layout = 'right'`, []nvimtest.Option{nvimtest.Size(200, 50)}},
		{"200x50 nerd", `c.nerd_font = true`, []nvimtest.Option{nvimtest.Size(200, 50)}},
		{"40 columns", `c.layout = { position = 'right', width = 40 }`, []nvimtest.Option{nvimtest.Size(120, 50)}},
	} {
		t.Run(look.name, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.configure(look.set)
				s.richTurn()
				s.screen("rich")
			}, look.opts...)
		})
	}
	for _, background := range []string{"dark", "light"} {
		t.Run(background, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.richTurn()
				s.Golden("rich", nvimtest.Attrs(), nvimtest.Replace(`\d\.\d s\b`, "N.N s"))
			}, nvimtest.Size(120, 50), nvimtest.Background(background))
		})
	}
}
