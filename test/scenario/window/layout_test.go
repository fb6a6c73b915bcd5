package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestLayouts(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		first := true
		for _, layout := range []string{"right", "left", "bottom", "tab", "float", "current"} {
			s.Lua(nil, `local c = vim.g.acp; c.layout = ...; require('acp').setup(c)`, layout)
			s.Command("Acp")
			if first {
				p := s.ReadyAgent()
				p.Say("Hello.")
				s.AwaitChat("Hello.")
				first = false
			}
			s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
			s.GoldenScreen(layout)
			s.Command("Acp toggle")
			s.AwaitLua(`#vim.api.nvim_list_wins() == 1 and vim.fn.expand('%:t') == 'code.txt'`)
			check.Equal(t, s.LuaInt(`#vim.api.nvim_list_tabpages()`), 1, "%s: %d tabs are left", layout)
		}
	})
}

// The last window of all goes on with a file of the user's, not with an empty buffer.
func TestToggleInTheLastWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		s.Begin()
		for _, name := range []string{"chat", "prompt"} {
			s.Command("Acp")
			s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
			if name == "chat" {
				s.Command("wincmd k")
			}
			s.AwaitLua(`vim.bo.filetype == 'acp-' .. ...`, name)
			s.Command("only")
			s.Command("Acp toggle")
			s.AwaitLua(`#vim.api.nvim_list_wins() == 1 and vim.fn.expand('%:t') == 'code.txt'`)
		}
		s.Command("Acp")
		s.Command("only")
		s.Command("bdelete code.txt") // nothing of the user's is left
		s.Command("Acp toggle")
		s.AwaitLua(`#vim.api.nvim_list_wins() == 1 and vim.fn.bufname() == '' and vim.bo.buftype == ''`)
	})
}

func TestLayoutSizes(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for _, c := range []struct{ layout, want string }{
			{`{ position = 'right', width = 30 }`, "30"},
			{`{ position = 'left', width = 0.25 }`, "20"},
		} {
			s.Lua(nil, `local c = vim.g.acp; c.layout = `+c.layout+`; require('acp').setup(c)`)
			s.Command("Acp")
			check.Equal(t, s.LuaString(`tostring(vim.api.nvim_win_get_width(`+scene.ChatWin+`))`), c.want,
				"%s is %s wide", c.layout)
			s.Command("Acp toggle")
		}
		s.ReadyAgent()
	})
}

func TestWindowsClosedByHand(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		p := s.Begin()
		turn := s.Prompt(p, "talk")
		said := 0
		saySome := func() {
			t.Helper()
			p.Say(scene.Lines(said+1, 3))
			said += 3
		}
		whole := func() {
			t.Helper()
			s.Command("Acp")
			s.AwaitLua(`vim.bo.filetype == 'acp-prompt' and ` + scene.ChatWin)
			s.AwaitChat(strings.TrimSuffix(scene.Lines(1, said), "\n"))
		}
		saySome()
		for _, close := range []string{
			"close", "wincmd k | close", "wincmd t | only", "tabnew | tabonly", "tabnew | tabprevious | tabclose",
			"quit", "wincmd k | quit", "bdelete", "wincmd k | bdelete",
		} {
			s.Command(close)
			saySome()
			whole()
		}
		p.EndTurn(turn)
		whole()
	})
}

func TestWipedBuffersComeBack(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "talk")
		p.Say(scene.Lines(1, 30))
		s.AwaitChat("line 30")
		before := s.Chat()
		got := s.Session()
		s.Command("wincmd t")
		s.Lua(nil, `local chat, prompt = ...; vim.cmd.bwipeout({ chat, bang = true }); vim.cmd.bwipeout({ prompt, bang = true })`,
			got["chat_buf"], got["prompt_buf"])
		p.Say(scene.Lines(31, 10))
		p.EndTurn(turn)
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.AwaitChat("line 40")
		check.Equal(t, s.Chat(), before+"\n"+strings.TrimSuffix(scene.Lines(31, 10), "\n"), "the chat is\n%s")
		again := s.Session()
		if again["chat_buf"] == got["chat_buf"] || again["prompt_buf"] == got["prompt_buf"] {
			t.Errorf("the buffers are %v and %v", again["chat_buf"], again["prompt_buf"])
		}
		s.GoldenScreen("again")
		s.Keys("iback<C-s>")
		turn = p.PromptedWith("back")
		p.EndTurn(turn)
	})
}

// The chat goes along with the terminal's size, and a width of the user's own in proportion.
func TestTheChatFollowsTheTerminal(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Begin()
		const width = `vim.api.nvim_win_get_width((require('acp.chat.layout').windows(0)))`
		s.AwaitLua(width + ` == 80`)
		s.Resize(80, 24)
		s.AwaitLua(width + ` == 40`)
		s.Resize(200, 40)
		s.AwaitLua(width + ` == 80`)
		s.Lua(nil, `vim.api.nvim_win_set_width(require('acp.chat.layout').windows(0), 100)`)
		s.Redraw()
		s.Resize(100, 24)
		s.AwaitLua(width + ` == 50`)
	}, nvimtest.Size(200, 40))
}

// With only the prompt left the chat opens above it.
func TestTheChatComesBackAboveThePrompt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Begin()
		s.Lua(nil, `vim.api.nvim_win_close(require('acp.chat.layout').windows(0), true)`)
		s.Command("Acp")
		s.AwaitLua(`(function()
			local chat, prompt = require('acp.chat.layout').windows(0)
			if not chat or #vim.api.nvim_tabpage_list_wins(0) ~= 3 then return false end
			local a, b = vim.api.nvim_win_get_position(chat), vim.api.nvim_win_get_position(prompt)
			return a[2] == b[2] and a[1] < b[1] and vim.api.nvim_win_get_height(prompt) == 4
				and vim.api.nvim_win_get_width(chat) == 40
		end)()`)
	}, nvimtest.Size(80, 24))
}

// What a restored session of Neovim's has of a chat says so, is no text of the user's, and gives way to the next one.
func TestWindowsOfARestoredSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("set number")
		s.Begin()
		s.Lua(nil, `local file = ...
			vim.cmd.mksession(file)
			-- As it is in another Neovim.
			local lines = vim.fn.readfile(file)
			for i, line in ipairs(lines) do lines[i] = line:gsub('(acp://%a+)%-%d', '%1-7') end
			vim.fn.writefile(lines, file)
			vim.cmd.source(file)`, s.Dir+"/Session.vim")
		s.AwaitScreen("This window showed an agent")
		s.AwaitLua(`(function()
			local n = 0
			for _, buf in ipairs(vim.api.nvim_list_bufs()) do
				if vim.b[buf].acp_gone then
					n = n + 1
					if vim.bo[buf].modified or vim.bo[buf].buflisted then return false end
				end
			end
			return n == 2
		end)()`)
		s.Command("new acp://nobody-9/chat")
		s.AwaitLua(`vim.b.acp_gone == true`)
		s.Command("edit acp://nobody-2/chat")
		s.AwaitLua(`vim.b.acp_gone == true`)
		s.Lua(nil, `require('acp').new()`)
		s.AwaitLua(`vim.api.nvim_buf_get_name(0):match('acp://puppet%-2/chat') and vim.b.acp_session == 2
			and not vim.wo.number`)
	})
}

// A session of Neovim's that is restored where it was made has the agents that go on in their windows.
func TestWindowsOfASessionRestoredInTheSameNeovim(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("set number")
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		p := s.Begin()
		turn := s.Prompt(p, "hello")
		p.Say("Some words.")
		s.AwaitChat("Some words.")
		buffers := s.LuaInt(`#vim.api.nvim_list_bufs()`)
		s.Lua(nil, `local file = ...
			vim.cmd.mksession(file)
			vim.cmd('silent! source ' .. vim.fn.fnameescape(file))`, s.Dir+"/Session.vim")
		s.AwaitLua(`(function()
			local chat, prompt = require('acp.chat.layout').windows(0)
			return chat and prompt and #vim.api.nvim_tabpage_list_wins(0) == 3
				and not vim.wo[chat].number and vim.wo[chat].winfixwidth and not vim.wo[prompt].number
		end)()`)
		if n := s.LuaInt(`#vim.api.nvim_list_bufs()`); n != buffers {
			t.Errorf("%d buffers were %d", n, buffers)
		}
		p.Say(" More.")
		s.AwaitChat("Some words. More.")
		s.AwaitScreen("Some words. More.")
		p.EndTurn(turn)
	})
}

func TestAChatThatIsReadAnewIsRedrawn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "hello")
		p.Say("Some words.")
		s.AwaitChat("Some words.")
		before := s.Chat()
		s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(`+scene.ChatBuf+`))`)
		s.Command("edit!")
		s.Await("the chat again", func() bool { return s.Chat() == before })
		p.Say(" More.")
		s.AwaitChat("Some words. More.")
		p.EndTurn(turn)
	})
}

func TestTheFloatingChatFollowsTheTerminal(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.layout = 'float'`)
		s.Begin()
		const sizes = `(function()
			local list = {}
			for _, win in ipairs({ require('acp.chat.layout').windows(0) }) do
				local c = vim.api.nvim_win_get_config(win)
				table.insert(list, ('%dx%d at %d,%d'):format(c.width, c.height, c.row, c.col))
			end
			return table.concat(list, ', ')
		end)()`
		s.AwaitLua(sizes + ` == '128x25 at 4,16, 128x4 at 31,16'`)
		s.Resize(80, 24)
		s.AwaitLua(sizes + ` == '64x12 at 2,8, 64x4 at 16,8'`)
		s.Resize(30, 8)
		s.AwaitLua(sizes + ` == '24x1 at 1,3, 24x4 at 4,3'`)
		s.Resize(160, 40)
		s.AwaitLua(sizes + ` == '128x25 at 4,16, 128x4 at 31,16'`)
	}, nvimtest.Size(160, 40))
}

// widths are those of the windows in the first line of the screen, from left to right.
const widths = `table.concat(vim.tbl_map(function(win)
	return tostring(vim.api.nvim_win_get_width(win[2]))
end, vim.tbl_map(function(win)
	return win[1] == 'leaf' and win or win[2][1]
end, vim.fn.winlayout()[2])), ' ')`

func TestTheChatTakesItsWidthFromAllWindows(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("vsplit")
		s.Command("Acp")
		if got := s.LuaString(widths); got != "43 42 63" && got != "42 43 63" {
			t.Errorf("the widths are %s", got)
		}
		s.Command("Acp toggle")
		s.Command("set noequalalways | 1wincmd w | vertical resize 60")
		s.Command("Acp")
		check.Equal(t, s.LuaString(widths), "60 25 63", "without 'equalalways' the widths are %s")
	}, nvimtest.Size(150, 40))
}

// A file that opens in a window of a chat, as pickers and CTRL-^ do, goes on to one for code.
func TestFilesGoOnToAWindowForCode(t *testing.T) {
	const shown = `(function()
		local chat, prompt = require('acp.chat.layout').windows(0)
		local name = vim.fs.basename(vim.api.nvim_buf_get_name(0))
		return ('%s:%d %s %s'):format(name, vim.fn.line('.'),
			chat and (vim.wo[chat].winfixwidth and not vim.wo[chat].number and 'chat' or 'plain'), prompt and 'prompt' or 'none')
	end)()`
	for layout, rest := range map[string]string{"right": "chat prompt", "bottom": "chat prompt", "float": "nil none", "tab": "chat prompt"} {
		t.Run(layout, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(fmt.Sprintf(`c.layout = %q`, layout))
				s.Command("set number hidden")
				s.WriteFile("one.txt", scene.Lines(1, 40))
				s.WriteFile("two.txt", scene.Lines(1, 40))
				s.Command("edit one.txt")
				s.Begin()
				windows := s.LuaInt(`#vim.api.nvim_tabpage_list_wins(0)`)
				s.Lua(nil, `vim.cmd.edit('two.txt')
					vim.api.nvim_win_set_cursor(0, { 20, 0 })`)
				s.AwaitLua(shown+` == 'two.txt:20 ' .. ...`, rest)
				s.Command("Acp")
				s.Lua(nil, `vim.api.nvim_set_current_win((require('acp.chat.layout').windows(0)))
					vim.cmd('edit +30 one.txt')`)
				s.AwaitLua(shown+` == 'one.txt:30 ' .. ...`, rest)
				s.Command("Acp")
				if layout == "tab" {
					windows++ // there was none for code
				}
				if n := s.LuaInt(`#vim.api.nvim_tabpage_list_wins(0)`); n != windows {
					t.Errorf("%d windows were %d", n, windows)
				}
				// What would be lost stays where it is.
				s.Lua(nil, `vim.cmd.wincmd('p')
					local code = require('acp.ui.window').code()
					vim.api.nvim_buf_set_lines(vim.api.nvim_win_get_buf(code), 0, 1, true, { 'typed' })
					vim.o.hidden = false`)
				s.Command("Acp")
				s.Lua(nil, `vim.cmd.edit('two.txt')`)
				s.AwaitLua(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'two.txt' and #vim.fn.win_findbuf(vim.fn.bufnr('one.txt')) > 0`)
				s.Command("set hidden")
			})
		})
	}
}

// In the layout that has the chat in the window of the code, a file takes its place.
func TestAFileTakesThePlaceOfTheChatInTheCurrentWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.layout = 'current'`)
		s.WriteFile("one.txt", "one\n")
		s.Command("edit one.txt")
		s.Begin()
		s.Lua(nil, `vim.api.nvim_set_current_win((require('acp.chat.layout').windows(0)))
			vim.cmd.edit('one.txt')
			vim.schedule(function() vim.g.later = true end)`)
		s.AwaitLua(`vim.g.later and vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'one.txt' and #vim.api.nvim_tabpage_list_wins(0) == 2`)
	})
}
