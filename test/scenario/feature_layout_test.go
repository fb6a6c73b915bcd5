package scenario

import (
	"strings"
	"testing"
)

func TestLayouts(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("edit " + s.write("code.txt", "some code\n"))
		first := true
		for _, layout := range []string{"right", "left", "bottom", "tab", "float", "current"} {
			s.Lua(nil, `local c = vim.g.acp; c.layout = ...; require('acp').setup(c)`, layout)
			s.Command("Acp")
			if first {
				p := s.agent()
				p.begin()
				s.AwaitEvent("AcpSessionReady")
				p.say("Hello.")
				s.awaitChat("Hello.")
				first = false
			}
			s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
			s.screen(layout)
			s.Command("Acp toggle")
			s.AwaitLua(`#vim.api.nvim_list_wins() == 1 and vim.fn.expand('%:t') == 'code.txt'`)
			if n := s.LuaInt(`#vim.api.nvim_list_tabpages()`); n != 1 {
				t.Errorf("%s: %d tabs are left", layout, n)
			}
		}
	})
}

func TestLayoutSizes(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for _, c := range []struct{ layout, want string }{
			{`{ position = 'right', width = 30 }`, "30"},
			{`{ position = 'left', width = 0.25 }`, "20"},
		} {
			s.Lua(nil, `local c = vim.g.acp; c.layout = `+c.layout+`; require('acp').setup(c)`)
			s.Command("Acp")
			if got := s.LuaString(`tostring(vim.api.nvim_win_get_width(` + chatWin + `))`); got != c.want {
				t.Errorf("%s is %s wide", c.layout, got)
			}
			s.Command("Acp toggle")
		}
		s.agent().begin()
		s.AwaitEvent("AcpSessionReady")
	})
}

func TestWindowsClosedByHand(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("edit " + s.write("code.txt", "some code\n"))
		p := s.begin()
		turn := s.prompt(p, "talk")
		said := 0
		say := func() {
			t.Helper()
			p.say(lines(said+1, 3))
			said += 3
		}
		whole := func() {
			t.Helper()
			s.Command("Acp")
			s.AwaitLua(`vim.bo.filetype == 'acp-prompt' and ` + chatWin)
			s.awaitChat(strings.TrimSuffix(lines(1, said), "\n"))
		}
		say()
		for _, close := range []string{
			"close", "wincmd k | close", "wincmd t | only", "tabnew | tabonly", "tabnew | tabprevious | tabclose",
			"quit", "wincmd k | quit", "bdelete", "wincmd k | bdelete",
		} {
			s.Command(close)
			say()
			whole()
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		whole()
	})
}

func TestWipedBuffersComeBack(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "talk")
		p.say(lines(1, 30))
		s.awaitChat("line 30")
		before := s.chat()
		got := s.session()
		s.Command("wincmd t")
		s.Lua(nil, `local chat, prompt = ...; vim.cmd.bwipeout({ chat, bang = true }); vim.cmd.bwipeout({ prompt, bang = true })`,
			got["chat_buf"], got["prompt_buf"])
		p.say(lines(31, 10))
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.awaitChat("line 40")
		if after := s.chat(); after != before+"\n"+strings.TrimSuffix(lines(31, 10), "\n") {
			t.Errorf("the chat is\n%s", after)
		}
		again := s.session()
		if again["chat_buf"] == got["chat_buf"] || again["prompt_buf"] == got["prompt_buf"] {
			t.Errorf("the buffers are %v and %v", again["chat_buf"], again["prompt_buf"])
		}
		s.screen("again")
		s.Keys("iback<C-s>")
		turn, text := p.prompted()
		if text != "back" {
			t.Errorf("the prompt is %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestQuittingEndsAllAgents(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "work")
		if len(s.Leftovers()) < 2 {
			t.Errorf("host and agent are %v", s.Leftovers())
		}
		s.quit()
		p.expect("session/cancel")
		p.awaitEnd()
	})
}
