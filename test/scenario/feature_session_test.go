package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAcpStartsTheDefaultAgentOnlyOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("edit " + s.write("code.txt", "some code\n"))
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.screen("starting")
		p := s.agent()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		s.screen("ready")

		s.Command("wincmd t")
		s.AwaitLua(`not vim.b.acp_session`)
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		if s.session()["id"] != 1 {
			t.Errorf("the session is %v", s.session()["id"])
		}
		p.silent()
		if s.agentsStarted() > 0 {
			t.Error("another agent was started")
		}
	})
}

func TestNewCompletionOffersInstalledAgentsFirst(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		bin := filepath.Join(s.Home, "bin")
		if err := os.Mkdir(bin, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, "goose"), []byte("#!/bin/sh\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		s.Lua(nil, `vim.env.PATH = ...`, bin)
		var names []string
		s.Lua(&names, `vim.fn.getcompletion('Acp new ', 'cmdline')`)
		if len(names) < 10 || names[0] != "goose" || names[1] != "puppet" {
			t.Fatalf("offered are %v", names)
		}
		if rest := names[2:]; !slices.Contains(rest, "claude") || !slices.Contains(rest, "demo") {
			t.Errorf("then are offered %v", rest)
		}
		var some []string
		s.Lua(&some, `vim.fn.getcompletion('Acp per', 'cmdline')`)
		if fmt.Sprint(some) != "[permissions permit]" {
			t.Errorf("completion of :Acp per is %v", some)
		}
	})
}

func TestNewReturnsAtOnceAndOpensNoWindow(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		first := s.LuaInt(`require('acp').new()`)
		got := s.session()
		if got["state"] != "starting" || got["id"] != first || got["agent"] != "puppet" || got["cwd"] != s.Dir {
			t.Errorf("the session is %v", got)
		}
		for key, filetype := range map[string]string{"chat_buf": "acp-chat", "prompt_buf": "acp-prompt"} {
			if ft := s.LuaString(`vim.bo[...].filetype`, got[key]); ft != filetype {
				t.Errorf("%s has the filetype %q", key, ft)
			}
			if name := s.LuaString(`vim.api.nvim_buf_get_name(...)`, got[key]); !strings.HasPrefix(name, "acp://") {
				t.Errorf("%s has the name %q", key, name)
			}
		}
		if n := s.LuaInt(`#vim.api.nvim_list_wins()`); n != 1 {
			t.Errorf("there are %d windows", n)
		}

		// In an open chat the next one is shown, without focus.
		p := s.agent()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp")
		s.Command("wincmd t")
		second := s.LuaInt(`require('acp').new()`)
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		shown := s.LuaInt(`vim.b[vim.api.nvim_win_get_buf(` + chatWin + `)].acp_session`)
		if second == first || shown != second {
			t.Errorf("session %d is shown, not %d", shown, second)
		}
		if !s.LuaBool(`not vim.b.acp_session`) {
			t.Error("the new session took the focus")
		}
		if s.agentsStarted() > 0 {
			t.Error("the second session has a process of its own")
		}
	})
}

func TestSessionsHaveTheFieldsOfTheContract(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("Acp")
		p := s.agent()
		p.initialize(nil)
		p.reply(p.expect("session/new"), obj{
			"sessionId": remote(1),
			"modes": obj{"currentModeId": "ask", "availableModes": []obj{
				{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"},
			}},
			"configOptions": []obj{{
				"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "big",
				"options": []obj{{"value": "big", "name": "Big"}, {"value": "small", "name": "Small"}},
			}},
		})
		s.AwaitEvent("AcpSessionReady")
		turn := s.prompt(p, "do it")
		p.update("session_info_update", obj{"title": "A title"})
		p.update("usage_update", obj{"used": 2000, "size": 10000, "cost": obj{"amount": 0.5, "currency": "EUR"}})
		p.update("plan", obj{"entries": []obj{{"content": "first", "priority": "high", "status": "in_progress"}}})
		p.update("current_mode_update", obj{"currentModeId": "code"})
		p.update("tool_call", obj{"toolCallId": "c1", "title": "Look", "status": "completed"})
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.ok(`require('acp').prompt('more')`)
		s.ok(`require('acp').prompt('and more')`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		got := s.session()
		for key, want := range map[string]any{
			"id": 1, "agent": "puppet", "title": "A title", "cwd": s.Dir, "state": "running",
			"stop_reason": "end_turn", "protocol": 1, "agent_session_id": remote(1),
			"usage": obj{"used": 2000, "size": 10000, "cost": obj{"amount": 0.5, "currency": "EUR"}},
			"mode":  obj{"id": "code", "name": "Code"}, "model": obj{"id": "big", "name": "Big"},
			"plan":       []any{obj{"content": "first", "priority": "high", "status": "in_progress"}},
			"tool_calls": 1, "queued": 1,
		} {
			if !reflect.DeepEqual(got[key], want) {
				t.Errorf("%s is %#v, expected %#v", key, got[key], want)
			}
		}
		if _, ok := got["error"]; ok {
			t.Errorf("error is %v", got["error"])
		}
		s.screen("bars")
	})
}

func TestPromptIsSentWithBothKeys(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.Keys("ione<CR>two<C-s>")
		turn, text := p.prompted()
		if text != "one\ntwo" {
			t.Errorf("the prompt is %q", text)
		}
		s.AwaitLua(`vim.api.nvim_get_current_line() == '' and vim.fn.mode() == 'i'`)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Keys("three<Esc><CR>")
		turn, text = p.prompted()
		if text != "three" {
			t.Errorf("the prompt is %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.screen("sent")
	})
}

func TestPromptsQueueWhileStartingAndRunning(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("Acp prompt first")
		s.ok(`require('acp').prompt('second')`)
		p := s.agent()
		s.AwaitLua(`require('acp').sessions()[1].queued == 2`)
		p.begin()
		turn, text := p.prompted()
		if text != "first" {
			t.Errorf("the first prompt is %q", text)
		}
		s.Command("Acp prompt third")
		s.AwaitLua(`require('acp').sessions()[1].queued == 2`)
		p.silent()
		for _, want := range []string{"second", "third"} {
			p.stop(turn, "end_turn")
			if turn, text = p.prompted(); text != want {
				t.Errorf("the next prompt is %q, not %q", text, want)
			}
		}
		p.stop(turn, "end_turn")
		for range 3 {
			s.AwaitEvent("AcpTurnEnd")
		}
		if starts, ends := s.events("AcpTurnStart"), s.events("AcpTurnEnd"); starts != 3 || ends != 3 {
			t.Errorf("%d turns began and %d ended", starts, ends)
		}
		var order []string
		for _, e := range s.Events() {
			if strings.HasPrefix(e.Name, "AcpTurn") {
				order = append(order, fmt.Sprint(e.Name, e.Data["session"]))
			}
		}
		want := strings.TrimSpace(strings.Repeat("AcpTurnStart1 AcpTurnEnd1 ", 3))
		if got := strings.Join(order, " "); got != want {
			t.Errorf("the events are %s", got)
		}
	})
}

func TestCancelPausesTheQueueAndSaysSo(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "work")
		p.say("Working on it.\n")
		s.awaitChat("Working on it.")
		s.ok(`require('acp').prompt('later')`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		s.Keys("<C-c>")
		p.expect("session/cancel")
		s.awaitChat("1 prompt queued")
		p.stop(turn, "cancelled")
		if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "cancelled" {
			t.Errorf("the turn ended with %v", end)
		}
		p.silent()
		s.AwaitScreen("1 queued, paused")
		s.screen("paused")
		s.Keys("<CR>")
		turn, text := p.prompted()
		if text != "later" {
			t.Errorf("the queue went on with %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestTurnEndComesAfterTheTranscriptShowsAll(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.Lua(nil, `vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnEnd', callback = function()
			local lines = vim.api.nvim_buf_get_lines(require('acp').sessions()[1].chat_buf, 0, -1, false)
			_G.at_end = lines[#lines] .. '/' .. lines[#lines - 1]
			_G.state_at_end = require('acp').sessions()[1].state
		end })`)
		turn := s.prompt(p, "tell me all")
		// Too much for one batch.
		p.say(strings.Repeat("This is a line like **many** others.\n", 40_000) + "The very last")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if got := s.LuaString(`_G.at_end`); got != "The very last/This is a line like **many** others." {
			t.Errorf("at the end of the turn the chat ended with %q", got)
		}
		if got := s.LuaString(`_G.state_at_end`); got != "idle" {
			t.Errorf("at the end of the turn the state was %q", got)
		}
		if n := s.events("AcpTurnEnd"); n != 1 {
			t.Errorf("the turn ended %d times", n)
		}
	})
}

func TestStopReasonsAreShown(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		for _, reason := range []string{"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "_tired"} {
			turn := s.prompt(p, "Until "+reason)
			p.say("Some words.")
			p.stop(turn, reason)
			if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != reason || end["error"] != nil {
				t.Errorf("the turn ended with %v, not %s", end, reason)
			}
		}
		s.screen("reasons")
	}, wide)
}

func TestErrorAnswersAreSentences(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "fail")
		p.say("I try.")
		p.refuse(turn, -32603, "Internal error", obj{"details": "the quota is used up"})
		end := s.AwaitEvent("AcpTurnEnd")
		why, _ := end["error"].(string)
		if end["stop_reason"] != "error" || !strings.Contains(why, "the quota is used up") {
			t.Errorf("the turn ended with %v", end)
		}
		s.awaitState("idle")
		turn = s.prompt(p, "again")
		p.refuse(turn, -32603, "", nil)
		s.AwaitEvent("AcpTurnEnd")
		s.screen("errors")

		// The session itself is refused.
		s.Command("Acp new")
		p.refuse(p.expect("session/new"), -32602, "bad folder", nil)
		s.awaitChat("Puppet refused session/new: bad folder.")
		if state := s.LuaString(`require('acp').sessions()[2].state`); state != "dead" {
			t.Errorf("the refused session is %s", state)
		}
		s.refused(`require('acp').prompt('hello', { session = 2 })`)
	})
}

func TestLoginKeepsThePromptUntilRestart(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.agents.puppet.login = 'Run puppet-login.'`)
		s.Command("Acp prompt waiting words")
		p := s.agent()
		p.initialize(obj{"authMethods": []obj{{"id": "l", "name": "Log in"}}})
		p.refuse(p.expect("session/new"), -32000, "Authentication required", nil)
		s.awaitState("auth_required")
		s.awaitChat("needs you to log in first. Run puppet-login.")
		if got := s.session(); got["queued"] != 1 || got["error"] == nil {
			t.Errorf("the session is %v", got)
		}
		s.screen("login")
		s.Command("Acp restart")
		p = s.agent()
		p.begin()
		turn, text := p.prompted()
		if text != "waiting words" {
			t.Errorf("the prompt is %q", text)
		}

		// Logged out in the middle of a session.
		p.refuse(turn, -32000, "Authentication required", nil)
		s.awaitState("auth_required")
		if n := s.events("AcpTurnEnd"); n != 0 {
			t.Errorf("%d turns ended", n)
		}
		s.Command("Acp restart")
		p = s.agent()
		p.begin()
		if turn, text = p.prompted(); text != "waiting words" {
			t.Errorf("the prompt is %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if n := s.events("AcpTurnStart"); n != 1 {
			t.Errorf("%d turns began", n)
		}
		if n := strings.Count(s.chat(), "waiting words"); n != 1 {
			t.Errorf("the prompt is shown %d times in\n%s", n, s.chat())
		}
	})
}

func TestContentBlocksAreSent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.ok(`require('acp').prompt({
			{ type = 'text', text = 'look at' },
			{ type = 'resource_link', uri = 'file:///a.txt', name = 'a.txt' },
		})`)
		turn, _ := p.prompted()
		want := []any{
			obj{"type": "text", "text": "look at"},
			obj{"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"},
		}
		if got := turn.get("prompt"); !reflect.DeepEqual(got, want) {
			t.Errorf("the prompt is %v", got)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.refused(`require('acp').prompt(7)`)
	})
}

func TestUnknownIdsAreAnErrorAndNothingThrows(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for _, lua := range []string{
			`prompt('x')`, `cancel()`, `close()`, `tool_calls()`, `new({ agent = 'nobody' })`,
		} {
			s.refused(`require('acp').` + lua)
		}
		p := s.begin()
		// What is not delivered yet says so the same way.
		for _, lua := range []string{
			`prompt('x', { session = 99 })`, `cancel({ session = 99 })`, `close({ session = 99 })`,
			`restart({ session = 99 })`, `tool_calls(99)`, `tool_call(99, 'x', print)`, `respond(99, 'yes')`, `respond(99)`,
			`traffic({ session = 99 }, print)`, `answer(99, { action = 'cancel' })`, `options(99)`,
			`set_option(99, 'mode', 'x')`, `stored('nobody', print)`, `resume({ agent = 'nobody', agent_session_id = 'x' })`,
			`authenticate(99, 'x')`, `changes({ session = 99 })`, `keep({ session = 99 })`, `reject({ session = 99 })`,
			`undo_turn({ session = 99 })`, `terminals({ session = 99 })`,
		} {
			s.refused(`require('acp').` + lua)
		}
		for _, lua := range []string{`elicitations()`, `on_request('_x/y', print)`} {
			s.Lua(nil, `require('acp').`+lua)
		}
		s.Lua(nil, `require('acp').tool_call(1, 'nothing', function(call, err) _G.answer = { call == nil, type(err) } end)`)
		s.AwaitLua(`_G.answer and _G.answer[1] and _G.answer[2] == 'string'`)
		p.silent()
	})
}

func TestCommandsOfTheContract(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		var offered []string
		s.Lua(&offered, `vim.fn.getcompletion('Acp ', 'cmdline')`)
		for _, name := range strings.Fields(`new toggle prompt add cancel follow review undo permit permissions sessions
			resume close delete mode model config auth logout queue terminal diff export restart log traffic build health`) {
			if !slices.Contains(offered, name) {
				t.Errorf(":Acp %s is not offered", name)
			}
		}
		// Without a session, and where not delivered yet, each says so in a message.
		for i, name := range strings.Fields(`cancel review undo permit permissions sessions close delete mode model config
			auth logout queue terminal diff export restart log traffic nonsense`) {
			s.Command("Acp " + name)
			s.Await("a message of :Acp "+name, func() bool { return s.LuaInt(`#_G.notifications`) == i+1 })
		}
		if said := s.notifications(); strings.Count(said, "acp: ") != s.LuaInt(`#_G.notifications`) {
			t.Errorf("the messages are\n%s", said)
		}
	})
}

func TestEachWordOfACommandCompletesWhatComesNext(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("traffic/some file.json", "other.txt")
		for line, want := range map[string]string{
			"review ":          "diff keep marks next previous reject send",
			"review m":         "marks",
			"review marks ":    "on off",
			"review marks of":  "off",
			"review marks on ": "",
			"review keep ":     "",
			"follow ":          "on off",
			"follow on ":       "",
			"changes all ":     "",
			"nothing ":         "",
			"rev":              "review",
			"traffic tr":       "traffic/",
			"traffic traffic/": "traffic/some",
			"traffic o":        "other.txt",
		} {
			got := s.LuaString(`table.concat(vim.fn.getcompletion('Acp ' .. ..., 'cmdline'), ' ')`, line)
			if got != want {
				t.Errorf(":Acp %s offers %q, want %q", line, got, want)
			}
		}
		const inside = `table.concat(require('acp.command').complete('', 'Acp review  marks x', 18), ' ')`
		if got := s.LuaString(inside); got != "on off" {
			t.Errorf("before the end of a line there is %q", got)
		}
	})
}

func TestCloseEndsTheSession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "work")
		_ = turn
		p.say("Half a ")
		s.awaitChat("Half a ")
		chat := s.session()["chat_buf"]
		s.Command("Acp close")
		p.expect("session/cancel")
		if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "error" || end["error"] == nil {
			t.Errorf("the turn ended with %v", end)
		}
		s.AwaitEvent("AcpSessionClosed")
		p.awaitEnd()
		if n := s.LuaInt(`#require('acp').sessions()`); n != 0 {
			t.Errorf("there are %d sessions", n)
		}
		if !s.LuaBool(`vim.api.nvim_buf_is_valid(...)`, chat) {
			t.Error("the chat is gone")
		}
		s.screen("closed")
		s.refused(`require('acp').prompt('x', { session = 1 })`)
		s.Command("Acp")
		s.agent().begin()
		s.AwaitEvent("AcpSessionReady")
		if s.session()["id"] != 2 {
			t.Errorf("the new session is %v", s.session())
		}
	})
}

func TestToggleAndSessions(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.Command("Acp toggle")
		s.AwaitLua(`#vim.api.nvim_list_wins() == 1`)
		s.Command("Acp toggle")
		s.AwaitLua(`#vim.api.nvim_list_wins() == 3 and vim.bo.filetype == 'acp-prompt'`)
		s.Command("Acp new")
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.Lua(nil, `vim.ui.select = function(items, opts, choose)
			_G.offered = vim.tbl_map(opts.format_item, items)
			choose(items[1])
		end`)
		s.Command("Acp sessions")
		var offered []string
		s.Lua(&offered, `_G.offered`)
		if len(offered) != 2 || !strings.Contains(offered[0], "1 Puppet") || !strings.Contains(offered[1], "2 Puppet") {
			t.Errorf("offered are %q", offered)
		}
		s.AwaitLua(`vim.b.acp_session == 1 and vim.bo.filetype == 'acp-prompt'`)
	})
}

func TestRestartKeepsWhatWasShown(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "before")
		p.say("Said before.")
		s.awaitChat("Said before.")
		p.exit(3, strings.Repeat("[log] a phase of the start\n", 20)+"Error: no key is given\n    at main\n")
		end := s.AwaitEvent("AcpTurnEnd")
		if end["stop_reason"] != "error" || !strings.Contains(fmt.Sprint(end["error"]), "code 3") {
			t.Errorf("the turn ended with %v", end)
		}
		s.awaitState("dead")
		s.awaitChat("no key is given")
		s.screen("dead")
		s.toBlock("no key is given")
		s.Keys("<CR>")
		s.awaitChat("a phase of the start")
		s.Keys("<CR>")
		s.Await("the log to be closed", func() bool { return !strings.Contains(s.chat(), "a phase") })
		s.Command("Acp restart")
		p = s.agent()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		turn := s.prompt(p, "after")
		p.say("Said after.")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		chat := s.chat()
		if !strings.Contains(chat, "Said before.") || !strings.Contains(chat, "does not remember") {
			t.Errorf("the chat is\n%s", chat)
		}
	})
}

// The end of an agent is seen wherever the user is: with the chat hidden, and in the prompt, which offers nothing to send.
func TestAnEndIsSeen(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.Command("Acp toggle")
		s.AwaitLua(`require('acp.bufs').get(1).visible == false`)
		s.synced() // the host has heard of it
		p.exit(3, "")
		s.AwaitScreen("acp: Puppet exited with code 3. :Acp restart starts it again.")
		s.Command("Acp")
		s.AwaitScreen("ended · :Acp restart")
		s.Keys("iagain")
		s.AwaitScreen("-- INSERT --")
		s.AwaitScreen("ended · :Acp restart") // in place of the key that sends
		s.Keys("<C-s>")
		s.AwaitLua(`vim.fn.execute('messages'):find('restart starts it again.\n.*restart starts it again.') ~= nil`)
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'again'`)
	})
}

// A message about a hidden agent that has ended needs no key: what explains the code is in the chat.
func TestAnEndOfManyWordsIsOneLine(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.Command("Acp toggle")
		s.AwaitLua(`require('acp.bufs').get(1).visible == false`)
		s.synced() // the host has heard of it
		p.exit(137, "")
		s.AwaitScreen("acp: Puppet exited with code 137. :Acp restart starts it again.")
		s.awaitChat("for want of memory")
	})
}

// After the host has died the chat follows on, with what the next one writes.
func TestTheChatFollowsAfterTheHostsEnd(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "before")
		p.say(strings.Repeat("Said before.\n\n", 30))
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		const atEnd = `(function()
			local win = vim.fn.win_findbuf(require('acp').sessions()[1].chat_buf)[1]
			return vim.api.nvim_win_get_cursor(win)[1] == vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
		end)()`
		s.AwaitLua(atEnd)
		s.killHost()
		s.awaitState("dead")
		s.awaitChat("the host ended")
		s.AwaitLua(atEnd)
		s.Command("Acp restart")
		p = s.agent()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		turn = s.prompt(p, "after")
		p.say(strings.Repeat("Said after.\n\n", 30) + "The end.")
		s.AwaitScreen("The end.")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitLua(atEnd)
	})
}

// Neovim fires no event that nobody hears; a name, a list of names and a pattern all hear.
func TestEventsReachWhoeverHearsThem(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		for i, test := range []struct {
			pattern string
			want    int
		}{
			{`'AcpToolCallEnd'`, 1},
			{`{ 'AcpNotice', 'AcpToolCall' }`, 1},
			{`'AcpToolCall*'`, 2},
			{`'Acp{ToolCall,Other}'`, 1},
			{`'*'`, 2},
		} {
			s.Lua(nil, `vim.api.nvim_clear_autocmds({ event = 'User' })
				_G.heard, _G.over = 0, false
				vim.api.nvim_create_autocmd('User', { pattern = `+test.pattern+`, callback = function(e)
					_G.heard = _G.heard + (e.match:find('^AcpToolCall') and 1 or 0)
				end })
				vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnEnd', callback = function() _G.over = true end })`)
			turn := s.prompt(p, "use a tool")
			p.update("tool_call", obj{"toolCallId": fmt.Sprint("c", i), "title": "Look", "status": "completed"})
			p.stop(turn, "end_turn")
			s.AwaitLua(`_G.over`)
			if got := s.value(`_G.heard`); fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%s heard %v events, want %d", test.pattern, got, test.want)
			}
		}
	})
}
