package session

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestCloseEndsTheSession(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "work")
		_ = turn
		p.Say("Half a ")
		s.AwaitChat("Half a ")
		chat := s.Session()["chat_buf"]
		s.Command("Acp close")
		p.Expect("session/cancel")
		if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "error" || end["error"] == nil {
			t.Errorf("the turn ended with %v", end)
		}
		s.AwaitEvent("AcpSessionClosed")
		p.AwaitEnd()
		check.Equal(t, s.LuaInt(`#require('acp').sessions()`), 0, "there are %d sessions")
		if !s.LuaBool(`vim.api.nvim_buf_is_valid(...)`, chat) {
			t.Error("the chat is gone")
		}
		s.GoldenScreen("closed")
		s.Refused(`require('acp').prompt('x', { session = 1 })`)
		s.Command("Acp")
		s.ReadyAgent()
		if s.Session()["id"] != 2 {
			t.Errorf("the new session is %v", s.Session())
		}
	})
}

// A session that is closed leaves the text of its transcript, for a while, and nothing that Neovim works for.
func TestClosedSessionsCostNothing(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Lua(nil, `
			function left(buf)
				if not vim.api.nvim_buf_is_valid(buf) then return 'gone' end
				local maps, marks = 0, #vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, {})
				for _, mode in ipairs({ 'n', 'x', 'i' }) do
					for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
						maps = maps + ((map.desc or ''):match('^acp') and 1 or 0)
					end
				end
				return ('%d %d %d'):format(#vim.api.nvim_get_autocmds({ buffer = buf }), maps, marks)
			end
			session = require('acp').sessions()[1]`)
		turn := func(n int) {
			t.Helper()
			s.OK(`require('acp').prompt('What?', { session = ... })`, n)
			prompt, _ := p.Prompted()
			p.UpdateIn(prompt.Get("sessionId").(string), "agent_message_chunk", obj{"content": obj{"type": "text", "text": "**Nothing**"}})
			p.EndTurn(prompt)
		}
		closed := func(n int) {
			t.Helper()
			s.OK(`require('acp').close({ session = ... })`, n)
			p.Reply(p.Expect("session/close"), obj{})
			s.AwaitEvent("AcpSessionClosed")
		}
		turn(1)
		s.Command("Acp toggle")
		open := func(n int) {
			t.Helper()
			s.OK(`require('acp').new()`)
			p.NewSession(n)
			s.AwaitEvent("AcpSessionReady")
		}
		open(2) // so that the agent stays
		s.Lua(nil, `require('acp.chat.layout').open(1, false)`)
		closed(1)
		// What is shown stays as it is.
		s.AwaitScreen("closed")
		if got := s.LuaString(`return left(session.chat_buf)`); got[:2] == "0 " {
			t.Errorf("the shown transcript has %s", got)
		}
		s.Lua(nil, `vim.api.nvim_buf_set_lines(session.prompt_buf, 0, -1, false, { 'a draft' })`)
		s.Command("Acp toggle")
		s.AwaitLua(`left(session.chat_buf) == '0 0 0' and left(session.prompt_buf) == '0 0 0'`)
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(session.chat_buf, 0, -1, false)):find('Nothing')`)
		s.AwaitLua(`vim.api.nvim_buf_get_lines(session.prompt_buf, 0, -1, false)[1] == 'a draft'`)

		// What is not shown is left at once, and only the newest may still be read.
		s.Lua(nil, `autocmds, chats, prompts = nil, {}, {}`)
		const all = 15
		for n := 3; n <= all; n++ {
			open(n)
			s.Lua(nil, `local s = require('acp').sessions()[2] chats[s.id], prompts[s.id] = s.chat_buf, s.prompt_buf`)
			turn(n)
			closed(n)
			s.AwaitLua(`left(prompts[...]) == 'gone'`, n)
			s.AwaitLua(`left(chats[...]) == '0 0 0'`, n)
			s.Lua(nil, `autocmds = autocmds or #vim.api.nvim_get_autocmds({})`)
		}
		s.AwaitLua(`#vim.api.nvim_get_autocmds({}) <= autocmds`)
		s.AwaitLua(`left(chats[...]) == 'gone'`, all-10)
		s.AwaitLua(`left(session.prompt_buf) == '0 0 0'`) // the draft is the user's
	})
}
