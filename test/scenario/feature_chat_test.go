package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// lines is a text of n numbered lines.
func lines(from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// chatWin is the Lua expression for the first chat window of the tab.
const chatWin = `(require('acp.chat.layout').windows(0))`

// view is where a window of the chat stands: its first and last line shown, and its cursor.
func (s *scene) view(win int) string {
	s.t.Helper()
	return s.LuaString(`local win = ...
		return vim.api.nvim_win_call(win, function()
			return ('%d-%d at %d,%d'):format(vim.fn.line('w0'), vim.fn.line('w$'), vim.fn.line('.'), vim.fn.col('.'))
		end)`, win)
}

func (s *scene) atEnd(win int) bool {
	s.t.Helper()
	return s.LuaBool(`local win = ...
		return vim.api.nvim_win_call(win, function()
			return vim.fn.line('w$') == vim.fn.line('$') and vim.fn.line('.') == vim.fn.line('$')
		end)`, win)
}

// Whoever has been in another tab while the agent talked comes back to a full window.
func TestChatFilledFromAnotherTab(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		win := s.LuaInt(chatWin)
		s.Command("tabnew") // which takes a row of the window for the line of the tabs
		turn := s.prompt(p, "talk")
		p.say(lines(1, 60))
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("tabfirst")
		s.Await("the end in view", func() bool { return s.atEnd(win) })
		if shown := s.LuaInt(`vim.api.nvim_win_call(..., function() return vim.fn.line('$') - vim.fn.line('w0') + 1 end)`, win); shown < 10 {
			t.Errorf("%d lines are shown: %s", shown, s.view(win))
		}
	})
}

func TestViewFollowsTheEndUnlessScrolledUp(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		win := s.LuaInt(chatWin)
		turn := s.prompt(p, "talk")
		p.say(lines(1, 60))
		s.awaitChat("line 60")
		s.Await("the end in view", func() bool { return s.atEnd(win) })
		s.Redraw()
		s.screen("following")

		// Scrolled up in the chat's window, it stays whatever comes.
		s.Keys("<Esc><C-w>kgg5j")
		s.AwaitLua(`vim.fn.line('.') == 6`)
		before := s.view(win)
		p.say(lines(61, 60))
		p.think("Hm.")
		p.update("tool_call", obj{"toolCallId": "c", "title": "Look", "kind": "search", "status": "in_progress"})
		p.say(lines(121, 5))
		s.awaitChat("line 125")
		p.update("tool_call_update", obj{"toolCallId": "c", "status": "completed"})
		s.awaitChat("⌕ search")
		if after := s.view(win); after != before {
			t.Errorf("the view went from %s to %s", before, after)
		}

		// Back at the end it follows again.
		s.Keys("G")
		s.AwaitLua(`vim.fn.line('.') == vim.fn.line('$')`)
		p.say(lines(126, 30))
		s.awaitChat("line 155")
		s.Await("the end in view", func() bool { return s.atEnd(win) })

		// A selection stays what it is, also one that begins at the end.
		s.Keys("Vkk")
		s.AwaitLua(`vim.fn.mode() == 'V'`)
		s.AwaitLua(`vim.fn.line('v') - vim.fn.line('.') == 2`)
		selected := `vim.fn.mode() .. vim.fn.line('v') .. '-' .. vim.fn.line('.')`
		chosen := s.LuaString(selected)
		s.Keys("jj")
		s.AwaitLua(`vim.fn.line('v') == vim.fn.line('.')`)
		p.say(lines(156, 30))
		s.awaitChat("line 185")
		if got := s.LuaString(`vim.fn.mode() .. vim.fn.line('v') .. ',' .. vim.fn.line('.')`); strings.Split(chosen, "-")[0]+","+strings.TrimPrefix(strings.Split(chosen, "-")[0], "V") != got {
			t.Errorf("the selection from %s became %s", chosen, got)
		}
		s.Keys("<Esc>")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestTwoWindowsOnOneChat(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		win := s.LuaInt(chatWin)
		turn := s.prompt(p, "talk")
		p.say(lines(1, 60))
		s.awaitChat("line 60")
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, win)
		s.Command("split")
		other := s.LuaInt(`vim.api.nvim_get_current_win()`)
		s.Keys("gg")
		s.AwaitLua(`vim.fn.line('.') == 1`)
		s.Command("wincmd b")
		before := s.view(other)
		p.say(lines(61, 60))
		s.awaitChat("line 120")
		s.Await("the end in view", func() bool { return s.atEnd(win) })
		if after := s.view(other); after != before {
			t.Errorf("the other view went from %s to %s", before, after)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.screen("two")
	})
}

func TestNothingMovesTheUserElsewhere(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("edit " + s.write("code.txt", "alpha\nbeta\ngamma\n"))
		p := s.begin()
		s.Command("wincmd t")
		turn := s.prompt(p, "talk")
		s.Keys("jAwo")
		p.say(lines(1, 50))
		s.awaitChat("line 50")
		s.Keys("rds")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'betawords' and vim.fn.mode() == 'i' and vim.fn.col('.') == 10`)
		s.Keys("<Esc>vb")
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.col('.') == 1`)
		p.say(lines(51, 50))
		s.awaitChat("line 100")
		if !s.LuaBool(`vim.fn.mode() == 'v' and vim.fn.col('.') == 1 and vim.fn.col('v') == 9`) {
			t.Error("the selection was lost")
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Keys("<Esc>")
	})
}

func TestThoughtsAreCollapsedAndBlocksToggle(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "think")
		p.think("First this.\n")
		s.awaitChat("Thinking …")
		p.think("Then that.")
		p.say("Thought about it.\n")
		p.update("tool_call", obj{
			"toolCallId": "c", "title": "Find", "kind": "search", "status": "completed",
			"content": []obj{{"type": "content", "content": obj{"type": "text", "text": "found it"}}},
		})
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if strings.Contains(s.chat(), "First this.") {
			t.Error("the thought is not collapsed")
		}
		s.screen("closed")
		s.Keys("<Esc><C-w>k")
		for _, b := range []struct{ head, body string }{{"Thought for", "Then that."}, {"⌕ search", "found it"}} {
			s.Command("call search('" + b.head + "', 'w')")
			s.Keys("<CR>")
			s.awaitChat(b.body)
			s.screen("open " + strings.Fields(b.body)[0])
			s.Keys("<CR>")
			s.Await(b.body+" to be hidden", func() bool { return !strings.Contains(s.chat(), b.body) })
		}
		if got := s.LuaString(`vim.api.nvim_get_current_line()`); !strings.Contains(got, "⌕ search") {
			t.Errorf("the cursor went to %q", got)
		}
	})
}

func TestPlan(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "plan it")
		plan := func(status ...string) {
			var entries []obj
			for i, priority := range []string{"high", "medium", "low"} {
				entries = append(entries, obj{
					"content": fmt.Sprintf("Step %d", i+1), "priority": priority, "status": status[i],
				})
			}
			p.update("plan", obj{"entries": entries})
		}
		plan("in_progress", "pending", "pending")
		s.awaitChat("▸ Step 1")
		p.say("One is done.\n")
		plan("completed", "in_progress", "pending")
		s.awaitChat("▸ Step 2")
		if n := strings.Count(s.chat(), "Step 3"); n != 1 {
			t.Errorf("the plan is shown %d times", n)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.screen("plan")
	})
}

func TestToolCallsOfAllKindsAndStatuses(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "use the tools")
		kinds := []string{
			"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", "_dance",
		}
		for _, kind := range kinds {
			p.update("tool_call", obj{"toolCallId": kind, "title": "Title of " + kind, "kind": kind, "status": "completed"})
		}
		for _, status := range []string{"pending", "in_progress", "completed", "failed"} {
			p.update("tool_call", obj{"toolCallId": status, "title": "It is " + status, "kind": "fetch"})
			p.update("tool_call_update", obj{"toolCallId": status, "status": status})
		}
		p.update("tool_call", obj{
			"toolCallId": "diff", "title": "Change two lines", "kind": "edit", "status": "completed",
			"locations": []obj{{"path": s.Dir + "/src/a.lua", "line": 2}},
			"content": []obj{
				{"type": "diff", "path": s.Dir + "/src/a.lua", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"},
			},
		})
		p.update("tool_call", obj{
			"toolCallId": "output", "title": "`make`", "kind": "execute", "status": "failed",
			"content": []obj{{"type": "content", "content": obj{"type": "text", "text": lines(1, 20)}}},
		})
		// What nobody has announced is a call all the same.
		p.update("tool_call_update", obj{"toolCallId": "late", "title": "Unannounced", "status": "in_progress"})
		s.awaitChat("Unannounced")
		s.screen("running")
		// Not on that screen: beside its status the time comes when it has taken a second.
		p.update("tool_call", obj{"toolCallId": "_odd", "title": "It is _odd", "kind": "fetch", "status": "_odd"})
		s.AwaitScreen(" _odd ")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.screen("done")

		var calls []obj
		s.Lua(&calls, `require('acp').tool_calls()`)
		if len(calls) != len(kinds)+5+3 {
			t.Fatalf("there are %d calls", len(calls))
		}
		for i, kind := range kinds {
			if calls[i]["id"] != kind || calls[i]["kind"] != kind || calls[i]["title"] != "Title of "+kind {
				t.Errorf("call %d is %v", i, calls[i])
			}
		}
		if n := s.events("AcpToolCall"); n != len(calls) {
			t.Errorf("%d calls were told of", n)
		}
		if n := s.events("AcpToolCallEnd"); n != len(calls) {
			t.Errorf("%d calls were told to have ended", n)
		}
	}, wide)
}

func TestToolCallsHaveTheFieldsOfTheContract(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "use a tool")
		long := strings.Repeat("0123456789", 1000)
		p.update("tool_call", obj{
			"toolCallId": "c", "title": "Change it", "kind": "edit", "status": "completed",
			"locations": []obj{{"path": "/a/b.txt", "line": 7}, {"path": "/c"}},
			"rawInput":  obj{"path": "/a/b.txt"}, "rawOutput": obj{"ok": true},
			"content": []obj{
				{"type": "content", "content": obj{"type": "text", "text": long}},
				{"type": "diff", "path": "/a/b.txt", "oldText": "old", "newText": "new"},
			},
		})
		if e := s.AwaitEvent("AcpToolCall"); e["id"] != "c" || e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		if e := s.AwaitEvent("AcpToolCallEnd"); e["id"] != "c" || e["status"] != "completed" {
			t.Errorf("told is %v", e)
		}
		p.stop(turn, "end_turn")
		got := fmt.Sprint(s.value(`require('acp').tool_calls(1)`))
		short := strings.ReplaceAll(got, long[:4096], "LONG")
		want := "[map[content:[map[block:text text:LONG type:content] map[old_text:old operation:modify path:/a/b.txt text:new type:diff]] id:c " +
			"kind:edit locations:[map[line:7 path:/a/b.txt] map[path:/c]] status:completed title:Change it]]"
		if short != want {
			t.Errorf("the calls are\n%.400s\nexpected\n%s", short, want)
		}
		s.Lua(nil, `require('acp').tool_call(1, 'c', function(call) _G.call = call end)`)
		s.AwaitLua(`_G.call`)
		if s.LuaString(`_G.call.content[1].text`) != long {
			t.Error("the whole call is not whole")
		}
		if in := s.LuaString(`_G.call.raw_input.path`); in != "/a/b.txt" {
			t.Errorf("the raw input is %q", in)
		}
	})
}

func TestUnknownUpdatesAreShownGenerically(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "surprise me")
		p.update("_weather", obj{"forecast": "sunny"})
		p.update("_weather", obj{"forecast": "rain"})
		p.say("Between.")
		p.update("agent_message_chunk", obj{"content": obj{"type": "_hologram", "beams": 3}})
		p.update("tool_call", obj{
			"toolCallId": "c", "title": "Odd", "kind": "other", "status": "completed",
			"content": []obj{{"type": "_smell"}},
		})
		p.update("notice", obj{"severity": "warning", "title": "Beware", "description": "It is odd."})
		if e := s.AwaitEvent("AcpNotice"); e["severity"] != "warning" || e["title"] != "Beware" {
			t.Errorf("the notice is %v", e)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.screen("unknown")
	})
}

func TestAgentTextStandsByteForByte(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "write")
		chunks := []string{
			"# Title\r\n", "tab\there, a no-break\u00a0space, a soft\u00adhyphen\n",
			"e", "\u0301 combines, \u202eright to left\u202c, \u200bzero width, \ufeffBOM inside\n",
			"👩", "\u200d", "🚀 family 🇩", "🇪, Ａ full width, 한국어, नमस्ते, ﷽\n",
			"null \x00 bell \x07 escape \x1b[31m delete \x7f line\u2028separator\u0085next\n",
			"  trailing blanks   \n\n\n", "```\n", "code *not* styled\n", "```", "\n\n    indented\n", "| a |\n|---|\n",
			"replacement \ufffd, private \ue000, last \U0010ffff\n", strings.Repeat("long", 1000) + "\n", "no end of line",
		}
		for _, chunk := range chunks {
			p.say(chunk)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		want, got := strings.Join(chunks, ""), s.chat()
		if !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("the chat is %.3000q", got)
		}
	})
}

func TestHighlights(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "show colours")
		p.say("# Title\n\nA **bold** word, `code`, a [link](https://example.org).\n\n- item\n\n```lua\nlocal x = 1\n```\n")
		p.update("tool_call", obj{"toolCallId": "a", "title": "Look", "kind": "search", "status": "completed"})
		p.update("tool_call", obj{"toolCallId": "b", "title": "Look away", "kind": "search", "status": "failed"})
		p.stop(turn, "max_tokens")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("wincmd t | vertical resize 20")
		s.AwaitScreen("Look away")
		// A finished block of code gets its colours when there is time.
		s.Await("the code's colours", func() bool { return strings.Contains(s.ScreenAttrs(), "+Statement") })
		s.Golden("colours", nvimtest.Attrs())
	})
}
