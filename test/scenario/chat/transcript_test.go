package chat

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// view is where a window of the chat stands: its first and last line shown, and its cursor.
func view(s *scene.Scene, win int) string {
	s.T.Helper()
	return s.LuaString(`local win = ...
		return vim.api.nvim_win_call(win, function()
			return ('%d-%d at %d,%d'):format(vim.fn.line('w0'), vim.fn.line('w$'), vim.fn.line('.'), vim.fn.col('.'))
		end)`, win)
}

func atEnd(s *scene.Scene, win int) bool {
	s.T.Helper()
	return s.LuaBool(`local win = ...
		return vim.api.nvim_win_call(win, function()
			return vim.fn.line('w$') == vim.fn.line('$') and vim.fn.line('.') == vim.fn.line('$')
		end)`, win)
}

func TestThoughtsAreCollapsedAndBlocksToggle(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "think")
		p.Think("First this.\n")
		s.AwaitChat("Thinking …")
		p.Think("Then that.")
		p.Say("Thought about it.\n")
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "Find", "kind": "search", "status": "completed",
			"content": []obj{{"type": "content", "content": obj{"type": "text", "text": "found it"}}},
		})
		p.EndTurn(turn)
		if strings.Contains(s.Chat(), "First this.") {
			t.Error("the thought is not collapsed")
		}
		s.GoldenScreen("closed")
		s.Keys("<Esc><C-w>k")
		for _, b := range []struct{ head, body string }{{"Thought for", "Then that."}, {"⌕ search", "found it"}} {
			s.Command("call search('" + b.head + "', 'w')")
			s.Keys("<CR>")
			s.AwaitChat(b.body)
			s.GoldenScreen("open " + strings.Fields(b.body)[0])
			s.Keys("<CR>")
			s.Await(b.body+" to be hidden", func() bool { return !strings.Contains(s.Chat(), b.body) })
		}
		check.Contains(t, s.LuaString(`vim.api.nvim_get_current_line()`), "⌕ search", "the cursor went to %q")
	})
}

func TestUnknownUpdatesAreShownGenerically(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "surprise me")
		p.Update("_weather", obj{"forecast": "sunny"})
		p.Update("_weather", obj{"forecast": "rain"})
		p.Say("Between.")
		p.Update("agent_message_chunk", obj{"content": obj{"type": "_hologram", "beams": 3}})
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "Odd", "kind": "other", "status": "completed",
			"content": []obj{{"type": "_smell"}},
		})
		p.Update("notice", obj{"severity": "warning", "title": "Beware", "description": "It is odd."})
		if e := s.AwaitEvent("AcpNotice"); e["severity"] != "warning" || e["title"] != "Beware" {
			t.Errorf("the notice is %v", e)
		}
		p.EndTurn(turn)
		s.GoldenScreen("unknown")
	})
}

func TestAgentTextStandsByteForByte(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "write")
		chunks := []string{
			"# Title\r\n", "tab\there, a no-break\u00a0space, a soft\u00adhyphen\n",
			"e", "\u0301 combines, \u202eright to left\u202c, \u200bzero width, \ufeffBOM inside\n",
			"👩", "\u200d", "🚀 family 🇩", "🇪, Ａ full width, 한국어, नमस्ते, ﷽\n",
			"null \x00 bell \x07 escape \x1b[31m delete \x7f line\u2028separator\u0085next\n",
			"  trailing blanks   \n\n\n", "```\n", "code *not* styled\n", "```", "\n\n    indented\n", "| a |\n|---|\n",
			"replacement \ufffd, private \ue000, last \U0010ffff\n", strings.Repeat("long", 1000) + "\n", "no end of line",
		}
		for _, chunk := range chunks {
			p.Say(chunk)
		}
		p.EndTurn(turn)
		want, got := strings.Join(chunks, ""), s.Chat()
		if !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("the chat is %.3000q", got)
		}
	})
}

func TestHighlights(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "show colours")
		p.Say("# Title\n\nA **bold** word, `code`, a [link](https://example.org).\n\n- item\n\n```lua\nlocal x = 1\n```\n")
		p.Update("tool_call", obj{"toolCallId": "a", "title": "Look", "kind": "search", "status": "completed"})
		p.Update("tool_call", obj{"toolCallId": "b", "title": "Look away", "kind": "search", "status": "failed"})
		p.Stop(turn, "max_tokens")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("wincmd t | vertical resize 20")
		s.AwaitScreen("Look away")
		// A finished block of code gets its colours when there is time.
		s.Await("the code's colours", func() bool { return strings.Contains(s.ScreenAttrs(), "+Statement") })
		s.Golden("colours", nvimtest.Attrs())
	})
}
