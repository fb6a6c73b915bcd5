package chat

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// position is where the cursor is: the buffer's name, the line and the column.
const position = `vim.fn.expand('%:t') .. ':' .. vim.fn.line('.') .. ':' .. vim.fn.col('.')`

// twoTurns is a chat with all that one can move between; the cursor is on its first line.
func twoTurns(s *scene.Scene) *scene.Puppet {
	s.T.Helper()
	s.WriteFiles("src/a.lua", "src/b.lua")
	s.WriteFile("src/a.lua", "one\ntwo\nthree\nfour\n")
	s.WriteFile("src/b.lua", "one\ntwo\nthree\nfour\n")
	p := s.Begin()
	turn := s.Prompt(p, "First question")
	p.Think("Hm.\nWell, it may be.\n")
	p.Say("First answer, see (src/b.lua:3), [there](src/b.lua#L4) and `nothing.lua:1`.\n")
	p.Update("tool_call", obj{
		"toolCallId": "a", "title": "Read src/a.lua", "kind": "read", "status": "completed",
		"locations": []obj{{"path": s.Dir + "/src/a.lua", "line": 2}},
		"content":   []obj{{"type": "content", "content": obj{"type": "text", "text": "one\ntwo\n"}}},
	})
	p.Update("tool_call", obj{
		"toolCallId": "b", "title": "Run make", "kind": "execute", "status": "completed",
		"content": []obj{{"type": "content", "content": obj{"type": "text", "text": scene.Lines(1, 12)}}},
	})
	p.Say("Some code:\n\n- of a list\n\n  ````lua\n  local x = '```'\n    ~~~\n  ````\n\nand\n~~~\nplain ```\n~~~\n")
	p.EndTurn(turn)
	turn = s.Prompt(p, "Second question")
	p.Say("Second answer.\n\n```\nnever closed")
	p.EndTurn(turn)
	s.Keys("<Esc><C-w>kgg")
	s.AwaitCursor("First question")
	return p
}

func TestMotions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		twoTurns(s)
		for _, step := range []struct{ keys, want string }{
			{"]]", "First answer"}, {"]]", "Some code"}, {"]]", "Second question"}, {"]]", "Second answer"},
			{"[[", "Second question"}, {"[[", "Some code"}, {"3[[", "First question"}, {"3]]", "Second question"},
			{"9[[", "First question"}, {"]t", "Read"}, {"]t", "run"}, {"[t", "Read"}, {"gg2]t", "run"},
			// Back by the jump list, and on.
			{"gg", "First question"}, {"]]", "First answer"}, {"<C-o>", "First question"}, {"<C-i>", "First answer"},
			{"gg3]]", "Second question"}, {"''", "First question"},
		} {
			s.Keys(step.keys)
			want := step.want
			if want == "Read" {
				want = "src/a.lua:2"
			}
			s.AwaitCursor(want)
		}
		// They extend a selection.
		s.Keys("ggV2]]")
		s.AwaitCursor("Some code")
		s.AwaitLua(`vim.fn.mode() == 'V' and vim.fn.line('v') == 1`)
		s.Keys("<Esc>gg/second answer\\c<CR>")
		s.AwaitCursor("Second answer")
		// Where there is nothing more, nothing happens.
		s.Keys("]]]t")
		s.Keys("[t")
		s.AwaitCursor("run")
	})
}

func TestFolds(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		twoTurns(s)
		const thought, read, output = "Well, it may be.", "    one", "    line 5\n"
		shows := func(step string, want ...string) {
			t.Helper()
			s.Await(step+" to show what it should", func() bool {
				chat := s.Chat()
				for _, body := range []string{thought, read, output} {
					if strings.Contains(chat, body) != slices.Contains(want, body) {
						return false
					}
				}
				return true
			})
		}
		shows("the beginning")
		// The cursor, and what stands around it, stays.
		s.Command("normal! G")
		for _, step := range []struct {
			at, keys string
			want     []string
		}{
			{"Thought for", "<CR>", []string{thought}},
			{"may be", "za", nil},
			{"Thought for", "zo", []string{thought}},
			{"Thought for", "zo", []string{thought}},
			{"src/a.lua:2", "zo", []string{thought, read}},
			{"Thought for", "zc", []string{read}},
			{"First answer", "za", []string{read}},
			{"Second answer", "zR", []string{thought, read, output}},
			{"Second answer", "zM", nil},
			{"run  ", "zo", []string{output}},
			{"line 7", "zM", nil},
			{"never closed", "zR", []string{thought, read, output}},
			{"never closed", "zM", nil},
		} {
			s.Command("call search('" + step.at + "', 'w')")
			s.AwaitCursor(step.at)
			s.Keys("zz")
			s.Redraw()
			const place = `('%s %d'):format(vim.api.nvim_get_current_line():match('%a+'), vim.fn.winline())`
			before := s.LuaString(place)
			s.Keys(step.keys)
			shows(step.keys+" at "+step.at, step.want...)
			s.Redraw()
			if step.at == "may be" || step.at == "line 7" {
				continue // its line is gone
			}
			if after := s.LuaString(place); after != before && !strings.HasPrefix(after, "Thought ") {
				t.Errorf("%s at %q leads from %s to %s", step.keys, step.at, before, after)
			}
		}
	})
}

func TestGoingToTheCode(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		twoTurns(s)
		chat := s.LuaInt(`vim.api.nvim_get_current_win()`)
		for _, place := range []struct{ search, want string }{
			{"src/a.lua:2", "a.lua:2:1"}, {"src/b.lua:3", "b.lua:3:1"}, {"there", "b.lua:4:1"},
		} {
			s.Lua(nil, `vim.api.nvim_set_current_win(...); vim.fn.cursor(1, 1)`, chat)
			s.Command("call search('" + place.search + "')")
			s.Keys("gd")
			s.AwaitLua(position+` == ...`, place.want)
			s.AwaitLua(`vim.bo.buftype == '' and vim.bo[vim.api.nvim_win_get_buf(...)].filetype == 'acp-chat'`, chat)
			check.Equal(t, s.LuaInt(`#vim.api.nvim_list_wins()`), 3, "there are %d windows")
		}
		// Back, where one was.
		s.Keys("<C-o>")
		s.AwaitLua(position + ` == 'b.lua:3:1'`)
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, chat)
		s.Command("call search('nothing.lua', 'w')")
		s.Keys("gd")
		s.AwaitNotification("no file here")
		// Without a window for code there is a new one beside the chat, which keeps its own.
		s.Lua(nil, `vim.cmd.wincmd('t'); vim.cmd.close()`)
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, chat)
		s.Command("call search('src/a.lua:2', 'w')")
		s.Keys("gd")
		s.AwaitLua(position + ` == 'a.lua:2:1'`)
		s.GoldenScreen("a new window")
	})
}

func TestYankingCode(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		twoTurns(s)
		yank := func(at, keys, register string) string {
			t.Helper()
			n := s.LuaInt(`#_G.notifications`)
			s.Command("call search('" + at + "', 'w')")
			s.Keys(keys)
			s.AwaitLua(`#_G.notifications > ...`, n)
			return s.LuaString(`vim.fn.getreg(...)`, register)
		}
		for at, want := range map[string]string{
			"local x":      "local x = '```'\n  ~~~\n",
			"````lua":      "local x = '```'\n  ~~~\n",
			"plain":        "plain ```\n",
			"never closed": "never closed\n",
		} {
			check.Equal(t, yank(at, "gy", `"`), want, "yanked at %q is %q", at)
		}
		check.Equal(t, yank("plain", `"agy`, "a"), "plain ```\n", "register a is %q")
		yank("Second question", "gy", `"`)
		s.AwaitNotification("no code block here")
		yank("^and$", "gy", `"`)
		check.Contains(t, s.LuaString(`_G.notifications[#_G.notifications]`), "no code block", "told was %q")
	})
}

func TestKeysOfTheChatAreConfigured(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.keys = { toggle = false, jump = 'gf', close_all = 'zX', next_message = '<Tab>' }`)
		twoTurns(s)
		var wrong []string
		s.Lua(&wrong, `local wrong = {}
			local function mapped(lhs, mode) return vim.fn.maparg(lhs, mode or 'n') ~= '' end
			for _, lhs in ipairs({ '<CR>', 'gd', 'zM', ']]' }) do
				if mapped(lhs) then table.insert(wrong, lhs) end
			end
			for _, lhs in ipairs({ 'gf', 'zX', 'zo', 'zc', 'zR', 'za', '<Tab>', '[[', ']t', '[t', 'gy', 'gp', '<C-c>', 'i' }) do
				if not mapped(lhs) then table.insert(wrong, lhs) end
			end
			for _, plug in ipairs({ 'ToggleBlock', 'OpenBlock', 'CloseBlock', 'OpenBlocks', 'CloseBlocks', 'NextMessage',
				'PreviousMessage', 'NextCall', 'PreviousCall', 'Jump', 'YankCode', 'Plan', 'CancelTurn', 'Prompt' }) do
				if not mapped('<Plug>(Acp' .. plug .. ')') then table.insert(wrong, plug) end
			end
			vim.cmd.wincmd('j')
			for _, plug in ipairs({ 'HistoryPrevious', 'HistoryNext', 'Send', 'CancelTurn' }) do
				if not mapped('<Plug>(Acp' .. plug .. ')') then table.insert(wrong, plug) end
			end
			if not mapped('<Plug>(AcpSendInsert)', 'i') then table.insert(wrong, 'SendInsert') end
			vim.cmd.wincmd('k')
			return wrong`)
		if len(wrong) > 0 {
			t.Errorf("wrong are %q", wrong)
		}
		s.Keys("<CR>")
		s.AwaitLua(`vim.fn.line('.') == 2`) // as Neovim has it
		s.Keys("<Tab>")
		s.AwaitCursor("First answer")
		s.Lua(nil, `vim.keymap.set('n', 'X', '<Plug>(AcpOpenBlocks)', { buffer = 0 })`)
		s.Keys("X")
		s.AwaitChat("Well, it may be.")
		s.Command("call search('src/a.lua:2', 'w')")
		s.Keys("gf")
		s.AwaitLua(position + ` == 'a.lua:2:1'`)
	})
}

// Whoever wants to type in the transcript types in the prompt, behind what stands there.
func TestTypingInTheTranscriptGoesToThePrompt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Begin()
		want := ""
		for _, key := range []string{"i", "a", "A", "I", "o", "O"} {
			s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(`+scene.ChatBuf+`))`)
			s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)
			s.Keys(key + "abc")
			want += "abc"
			s.AwaitPrompt(want)
			s.Keys("<Esc>")
			s.AwaitLua(`vim.fn.mode() == 'n'`)
		}
		s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(`+scene.ChatBuf+`))`)
		s.Lua(nil, `vim.api.nvim_win_close(vim.fn.bufwinid(require('acp.chat.buffers').get(require('acp.rpc.state').resolve()).prompt), true)`)
		s.Keys("iabc")
		s.AwaitPrompt(want + "abc")
	})
}

// What is typed behind a jump is about the place where it leads, also keys that are not ours.
func TestKeysWaitForAJump(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		twoTurns(s)
		const line = `vim.fn.line('.')`
		s.Keys("gg]]")
		s.AwaitCursor("First answer")
		at := s.LuaInt(line)
		s.Keys("gg]]jj")
		s.AwaitLua(line+` == ...`, at+2)
		s.Keys("gg]tgdj")
		s.AwaitLua(`vim.fn.expand('%:t') == 'a.lua' and vim.fn.line('.') == 3`)
	})
}
