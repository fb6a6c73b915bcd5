package scene

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// This file awaits what the user sees: messages, the chat, the prompt, requests and their diffs, marks, words of keys.

// RecordNotifications takes vim.notify's messages for AwaitNotification and Notifications: long ones
// make Neovim wait for a key, which is tested elsewhere.
func (s *Scene) RecordNotifications() {
	s.T.Helper()
	s.Lua(nil, `_G.notifications = {}
		vim.notify = function(text) table.insert(_G.notifications, text) end`)
}

// Notifications are the recorded messages, a line each.
func (s *Scene) Notifications() string {
	s.T.Helper()
	return s.LuaString(`table.concat(_G.notifications, '\n')`)
}

// AwaitNotification waits until one of the recorded messages has a text.
func (s *Scene) AwaitNotification(text string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q to be notified", text), func() bool { return strings.Contains(s.Notifications(), text) })
}

// AwaitMessage waits until :messages has a text.
func (s *Scene) AwaitMessage(text string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q in :messages", text), func() bool { return strings.Contains(s.Messages(), text) })
}

// GoldenScreen compares the screen with a golden one, without what differs from run to run: spinners,
// durations, folders.
func (s *Scene) GoldenScreen(name string) {
	s.T.Helper()
	s.Golden(name,
		nvimtest.Replace(`[⣷⣯⣟⡿⢿⣻⣽⣾]( \d+:\d\d)?`, "*"),
		nvimtest.Replace(`(?m) {2,}\d+(\.\d)? s$`, ""), // beside a tool call, when it took long enough
		nvimtest.Replace(`\d+(\.\d)? s\b`, "N s"),
	)
}

// ChatBuf is the Lua expression for the chat buffer of the session used last.
const ChatBuf = `(function() for _, s in ipairs(require('acp').sessions()) do if s.id == require('acp.rpc.state').resolve() then return s.chat_buf end end end)()`

// ChatWin is the Lua expression for the first chat window of the tab.
const ChatWin = `(require('acp.chat.layout').windows(0))`

// Chat is the text of the chat of the session used last.
func (s *Scene) Chat() string {
	s.T.Helper()
	var lines []string
	s.Lua(&lines, `vim.api.nvim_buf_get_lines(`+ChatBuf+`, 0, -1, false)`)
	return strings.Join(lines, "\n")
}

// AwaitChat waits until the chat has a text.
func (s *Scene) AwaitChat(text string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q in the chat", text), func() bool { return strings.Contains(s.Chat(), text) })
}

// CountInChat is how often the chat says something.
func (s *Scene) CountInChat(text string) int {
	s.T.Helper()
	return strings.Count(strings.Join(strings.Fields(s.Chat()), " "), text)
}

// OnceInChat checks that the chat has each text exactly once.
func (s *Scene) OnceInChat(texts ...string) {
	s.T.Helper()
	chat := s.Chat()
	for _, text := range texts {
		if n := strings.Count(chat, text); n != 1 {
			s.T.Errorf("%q is shown %d times in\n%s", text, n, chat)
		}
	}
}

// ToBlock puts the cursor of the chat's window on a line with a text.
func (s *Scene) ToBlock(text string) {
	s.T.Helper()
	s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(`+ChatBuf+`))`)
	s.Command(`call cursor(1, 1) | call search('\V` + strings.ReplaceAll(text, "'", "''") + `', 'c')`)
	s.AwaitCursor(text)
}

// AwaitCursor waits until the cursor is on a line with a text, which is the line's.
func (s *Scene) AwaitCursor(text string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("the cursor at %q", text), func() bool {
		return strings.Contains(s.LuaString(`vim.api.nvim_get_current_line()`), text)
	})
}

// AwaitBar waits until a text is, or is not, above the chat.
func (s *Scene) AwaitBar(text string, shown bool) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q above the chat: %v", text, shown), func() bool {
		return strings.Contains(strings.SplitN(s.Screen(), "\n", 2)[0], text) == shown
	})
}

// Colours are the highlights of the chat's code: what stands there, and its group.
func (s *Scene) Colours() []string {
	s.T.Helper()
	var list []string
	s.Lua(&list, `local buf = `+ChatBuf+`
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

// AwaitColour waits until a text of the chat's code has a group.
func (s *Scene) AwaitColour(text, group string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q as %s", text, group), func() bool { return slices.Contains(s.Colours(), text+" "+group) })
}

// PromptText is the text of the prompt of the session used last.
func (s *Scene) PromptText() string {
	s.T.Helper()
	return s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(
		require('acp.chat.buffers').get(require('acp.rpc.state').resolve()).prompt, 0, -1, false), '\n')`)
}

// AwaitPrompt waits until the prompt has exactly this text.
func (s *Scene) AwaitPrompt(want string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q in the prompt", want), func() bool { return s.PromptText() == want })
}

// queue is what waits, as acp.sessions() tells it.
func (s *Scene) queue() []string {
	s.T.Helper()
	var queue []string
	s.Lua(&queue, `require('acp').sessions()[1].queue`)
	return queue
}

// AwaitQueue waits until exactly these prompts wait.
func (s *Scene) AwaitQueue(want ...string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("the queue %q", want), func() bool { return slices.Equal(s.queue(), want) })
}

// Menu is the text of the completion menu's items, or nothing where none is shown.
func (s *Scene) Menu() []string {
	s.T.Helper()
	var items []string
	s.Lua(&items, `
		if vim.fn.pumvisible() == 0 then return {} end
		return vim.tbl_map(function(item) return item.abbr end, vim.fn.complete_info({ 'items' }).items)`)
	return items
}

// AwaitMenu waits until the completion menu has these items.
func (s *Scene) AwaitMenu(want ...string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("the menu %q", want), func() bool { return slices.Equal(s.Menu(), want) })
}

// AwaitFloat waits until the permission float is shown and gives its window.
func (s *Scene) AwaitFloat() int {
	s.T.Helper()
	s.AwaitLua(`require('acp.permission.float').win()`)
	return s.LuaInt(`require('acp.permission.float').win()`)
}

// AwaitNoFloat waits until the float is gone.
func (s *Scene) AwaitNoFloat() {
	s.T.Helper()
	s.AwaitLua(`not require('acp.permission.float').win() and
		#vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end, vim.api.nvim_list_wins()) == 0`)
}

// FloatText is the text of the float.
func (s *Scene) FloatText() string {
	s.T.Helper()
	s.AwaitLua(`require('acp.permission.float').win()`) // the screen may still show the one before
	return s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(
		vim.api.nvim_win_get_buf(require('acp.permission.float').win()), 0, -1, false), '\n')`)
}

// Permit answers with the n-th option.
func (s *Scene) Permit(p *Puppet, id, n int, want string) {
	s.T.Helper()
	s.Command(fmt.Sprint("Acp permit ", n))
	p.AwaitOutcome(id, want)
	s.AwaitNoFloat()
}

// AwaitDiff waits until a diff is on the screen, with a text in the window of the new side.
func (s *Scene) AwaitDiff(text string) {
	s.T.Helper()
	s.AwaitLua(`(function(text)
		local wins = require('acp.diff.view').windows()
		local last = wins[#wins]
		if not last then return false end
		local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(last), 0, -1, false)
		return table.concat(lines, '\n'):find(text, 1, true)
	end)(...)`, text)
}

// AwaitNoDiff waits until no diff is on the screen.
func (s *Scene) AwaitNoDiff() {
	s.T.Helper()
	s.AwaitLua(`#require('acp.diff.view').windows() == 0`)
}

// AwaitRefused waits until the request that was asked first has so many hunks refused.
func (s *Scene) AwaitRefused(n int) {
	s.T.Helper()
	s.AwaitLua(`(function(n)
		local r = require('acp.rpc.state').permissions()[1]
		if not r then return false end
		local sum = 0
		for _, file in ipairs(r.selection or {}) do sum = sum + #file.refused end
		return sum == n
	end)(...)`, n)
}

// CheckAnswer has the user answer a request and checks what the agent is told.
func (s *Scene) CheckAnswer(p *Puppet, id int, how func(), want string) {
	s.T.Helper()
	how()
	p.AwaitOutcome(id, want)
	s.AwaitNoFloat()
	s.AwaitNoDiff()
}

// Marks are the rows of a buffer that have a sign or old lines above them, from 1: line, sign, and how many old lines.
func (s *Scene) Marks(buf int) string {
	s.T.Helper()
	return s.LuaString(`
		local ns, rows = vim.api.nvim_get_namespaces().acp_marks, {}
		if not ns then return '' end
		for _, m in ipairs(vim.api.nvim_buf_get_extmarks(..., ns, 0, -1, { details = true })) do
			local d = m[4]
			if not d.invalid and (d.sign_text or d.virt_lines) then
				local row = rows[m[2]] or { '', '' }
				rows[m[2]] = row
				row[1] = row[1] .. (d.virt_lines and '-' .. #d.virt_lines or '')
				row[2] = row[2] .. (d.sign_text and vim.trim(d.sign_text) or '')
			end
		end
		local list = {}
		for row = 0, vim.api.nvim_buf_line_count(...) - 1 do
			if rows[row] then table.insert(list, (row + 1) .. rows[row][1] .. rows[row][2]) end
		end
		return table.concat(list, ' ')`, buf)
}

// AwaitMarks waits until a buffer has these marks, in the words of Marks.
func (s *Scene) AwaitMarks(buf int, want string) {
	s.T.Helper()
	got := ""
	defer func() {
		if got != want {
			s.T.Logf("the marks are %q", got)
		}
	}()
	s.Await("the marks "+want, func() bool { got = s.Marks(buf); return got == want })
}

// CheckDescriptions checks what the mappings say in the buffers of a filetype, or in all that are no files, and that
// one of them says this.
func (s *Scene) CheckDescriptions(filetype, want string) {
	s.T.Helper()
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
		s.T.Errorf("%s: none of the keys says %q: %q", filetype, want, said)
	}
	for _, words := range said {
		if !strings.HasPrefix(words, "acp: ") || strings.Contains(words, "_") || words != strings.TrimSpace(words) {
			s.T.Errorf("%s: a key says %q", filetype, words)
		}
	}
}
