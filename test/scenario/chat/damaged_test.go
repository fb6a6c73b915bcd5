package chat

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// chatHas reports whether the chat has these lines, in their order.
func chatHas(s *scene.Scene, lines ...string) bool {
	s.T.Helper()
	rest := s.Chat() + "\n"
	for _, line := range lines {
		_, after, found := strings.Cut(rest, line+"\n")
		if !found {
			return false
		}
		rest = after
	}
	return true
}

func TestBadChatIsWiped(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		p := s.Begin()
		turn := s.Prompt(p, "first")
		p.Say("Before.\n")
		s.AwaitChat("Before.")
		chat, prompt := s.LuaInt(scene.ChatBuf), s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.Lua(nil, `vim.cmd('bwipeout! ' .. ...)`, chat)
		p.Say("Meanwhile.\n")
		p.Update("tool_call", obj{"toolCallId": "c", "title": "Look", "kind": "search", "status": "completed"})
		p.Ask("_probe", obj{})
		s.Lua(nil, `vim.cmd('bwipeout! ' .. ...)`, prompt)
		p.Say("Later.\n")
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.AwaitChat("Later.")
		if s.LuaInt(scene.ChatBuf) == chat || s.LuaInt(`vim.api.nvim_get_current_buf()`) == prompt {
			t.Error("the buffers are not new")
		}
		for _, text := range []string{"first", "Before.", "Meanwhile.", "Look", "Later."} {
			if n := strings.Count(s.Chat(), text); n != 1 {
				t.Errorf("%q is shown %d times:\n%s", text, n, s.Chat())
			}
		}
		// The new ones do what the old ones did.
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
		s.Keys("isecond<C-s>")
		next := p.PromptedWith("second")
		p.Stop(next, "end_turn")
		s.AwaitTurnEnd("end_turn")
		s.GoldenScreen("wiped")
	})
}

// Somebody makes the chat modifiable and changes it: the next edit finds that out and the chat is
// drawn anew, as long as the number of lines shows it.
func TestBadChatIsEdited(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "first")
		p.Say(scene.Lines(1, 30))
		s.AwaitChat("line 30")
		change := func(lua string) {
			t.Helper()
			s.Lua(nil, `local buf = ...
				vim.bo[buf].modifiable = true
				vim.api.nvim_buf_call(buf, function() `+lua+` end)`, s.LuaInt(scene.ChatBuf))
		}
		for i, c := range []struct {
			change string
			mended bool // by the next edit, for the number of lines is another
		}{
			{`vim.cmd('5,10delete')`, true},
			{`vim.cmd('%delete')`, true},
			{`vim.cmd('normal! ggOmine')`, true},
			{`vim.cmd('normal! Gomine')`, true},
			{`vim.cmd('normal! Gccshort')`, false},
			{`vim.cmd('normal! GAlong')`, false},
			{`vim.cmd('normal! ggcclast')`, false},
			{`vim.cmd('silent undo')`, false},
		} {
			change(c.change)
			// A message that grows, one that begins, and a call in between.
			text := strings.Repeat("I", i+1)
			p.Say(" more " + text + "\n")
			p.Update("tool_call", obj{"toolCallId": text, "title": "Call " + text, "kind": "search", "status": "completed"})
			p.Say("Then " + text + ".\n")
			s.Await(c.change+": the chat", func() bool {
				return chatHas(s, "Then "+text+".") && (!c.mended ||
					chatHas(s, "first", "line 1", "line 5", "line 10", "line 30", "Then I.") && !strings.Contains(s.Chat(), "mine"))
			})
		}
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
		// Whatever was changed is mended when the chat is drawn anew.
		change(`vim.cmd('%delete')`)
		next := s.Prompt(p, "second")
		p.Say("The end.\n")
		p.Stop(next, "end_turn")
		s.AwaitTurnEnd("end_turn")
		s.Await("the whole chat", func() bool {
			return chatHas(s, "line 1", "line 2", "line 29", "line 30", "Then I.", "Then IIII.", "Then IIIIIIII.") &&
				!strings.Contains(s.Chat(), "mine") && chatHas(s, "The end.")
		})
		if s.LuaBool(`vim.bo[...].modifiable`, s.LuaInt(scene.ChatBuf)) {
			t.Error("the chat is modifiable")
		}
	})
}

func TestBadChatIsReloadedOrRenamed(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		file := s.WriteFile("code.txt", "some code\n")
		p := s.Begin()
		turn := s.Prompt(p, "first")
		p.Say("Before.\n")
		s.AwaitChat("Before.")
		chat := s.LuaInt(scene.ChatBuf)
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, s.LuaInt(scene.ChatWin))
		for i, c := range []string{
			"edit!", "edit", "set filetype=markdown", "set filetype=", "file renamed", "set buftype=", "set bufhidden=wipe",
			"silent! write", "checktime", "filetype detect", "set nomodifiable readonly", "syntax on", "set fileformat=dos",
		} {
			s.Lua(nil, `pcall(vim.cmd, ...)`, c)
			text := strings.Repeat("I", i+1)
			p.Say("Then " + text + ".\n")
			s.Await(c+": the text", func() bool { return chatHas(s, "Then "+text+".") })
		}
		// Another file in the chat's window; the chat is wiped with that, as its bufhidden was changed.
		s.Command("edit! " + file)
		p.Say("Hidden.\n")
		p.Ask("_probe", obj{})
		s.Command("Acp")
		s.AwaitChat("Hidden.")
		check.Equal(t, s.BufferText(s.LuaInt(`vim.fn.bufnr('code.txt')`)), "some code", "the file has become %q")
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
		if !chatHas(s, "Before.", "Then I.", "Then IIIIIIIIIIIII.", "Hidden.") {
			t.Errorf("the chat is\n%s", s.Chat())
		}
		if s.LuaBool(`vim.api.nvim_buf_is_valid(...)`, chat) {
			t.Error("the buffer was not wiped: the test is of no use")
		}
	})
}

func TestBadChatWindowsAreClosedWhileItStreams(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		p := s.Begin()
		turn := s.Prompt(p, "first")
		i := 0
		stream := func() {
			i++
			for range 50 {
				p.Say("All work and no play. ")
			}
			p.Say(strings.Repeat("I", i) + "\n\n")
		}
		for _, c := range []string{
			"only", "Acp", "close", "Acp", "wincmd t", "only", "Acp toggle", "Acp toggle", "tab split", "Acp", "tabonly", "tabnew",
			"tabprevious", "quit", "Acp", "wincmd H", "wincmd T", "tabclose", "Acp", "wincmd k", "quit", "Acp", "new", "only",
		} {
			stream()
			s.Lua(nil, `pcall(vim.cmd, ...)`, c)
		}
		s.Command("Acp")
		last := strings.Repeat("I", i)
		s.Await("the last line", func() bool { return strings.HasSuffix(strings.TrimSpace(s.Chat()), last) })
		if n := strings.Count(s.Chat(), "All work and no play."); n != 50*i {
			t.Errorf("%d of %d sentences are shown", n, 50*i)
		}
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
	})
}

// A NUL makes a Blob of a text for Vim's functions, which throw then.
func TestNULsInNames(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "go on")
		p.Update("session_info_update", obj{"title": "A ti\x00tle"})
		for _, id := range []string{"one\x00", "two\x00"} {
			p.Update("tool_call", obj{
				"toolCallId": id, "title": "Run\x00 it", "kind": "execute", "status": "in_progress", "rawInput": obj{"command": "make\x00 " + id},
				"content": []obj{{"type": "terminal", "terminalId": id}}, "_meta": obj{"terminal_info": obj{"terminal_id": id}},
			})
		}
		p.Permission(obj{"toolCallId": "ask", "title": "Go\x00 on", "kind": "other"}, scene.YesNo...)
		s.AwaitFloat()
		s.AwaitScreen("A ti tle")
		s.AwaitLua(`vim.iter(vim.api.nvim_list_wins()):any(function(win)
			local buf = vim.api.nvim_win_get_buf(win)
			return vim.bo[buf].filetype == 'acp-chat'
				and vim.api.nvim_win_get_cursor(win)[1] == vim.api.nvim_buf_line_count(buf)
		end)`)
		s.Lua(nil, `vim.ui.select = function(list, opts, choose)
			names = vim.tbl_map(opts.format_item, list)
			choose(list[1])
		end`)
		s.Command("Acp terminal")
		s.AwaitLua(`vim.bo.filetype == 'acp-terminal'`)
		check.Equal(t, s.LuaString(`table.concat(names, '\n')`), "make  two  · running\nmake  one  · running",
			"the terminals are %q")
		s.Command("Acp sessions")
		if got := s.LuaString(`table.concat(names, '\n')`); !strings.Contains(got, "A ti tle") || strings.Contains(got, "\x00") {
			t.Errorf("the sessions are %q", got)
		}
		s.Lua(nil, `vim.ui.select = function() error('Keyboard interrupt', 0) end`)
		s.Command("Acp sessions") // which CTRL-C ends without a word
	})
}
