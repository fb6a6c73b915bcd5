package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// runMake is a tool call that wants to run a command.
var runMake = obj{
	"toolCallId": "c1", "title": "`make test`", "kind": "execute", "status": "pending",
	"rawInput": obj{"command": "make test", "description": "Runs the tests"},
}

// outcome is how a permission request was answered: an option's id, or "cancelled".
func outcome(t *testing.T, m message) string {
	t.Helper()
	if m.Error != nil {
		t.Errorf("the answer is the error %v", *m.Error)
	}
	if m.text("outcome", "outcome") == "selected" {
		return m.text("outcome", "optionId")
	}
	return m.text("outcome", "outcome")
}

// resolved checks the next AcpPermissionResolved.
func (s *scene) resolved(option any, by string) {
	s.t.Helper()
	if e := s.AwaitEvent("AcpPermissionResolved"); e["option_id"] != option || e["by"] != by {
		s.t.Errorf("the request was resolved with %v, expected %v by %s", e, option, by)
	}
}

// awaitNoFloat waits until the float is gone.
func (s *scene) awaitNoFloat() {
	s.t.Helper()
	s.AwaitLua(`not require('acp.permission.float').win() and
		#vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end, vim.api.nvim_list_wins()) == 0`)
}

func TestPermissionHasTheFieldsOfTheContract(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginAtRoot()
		s.prompt(p, "test it")
		p.update("tool_call", runMake)
		id := p.permission(obj{"toolCallId": "c1"}, yesNo...)
		e := s.AwaitEvent("AcpPermissionRequest")
		want := []any{obj{
			"id": e["id"], "session": 1, "title": "`make test`", "description": "Runs the tests", "tool_call_id": "c1",
			"command": "make test", "cwd": "/",
			"options": []any{
				obj{"id": "yes", "name": "Yes", "kind": "allow_once"},
				obj{"id": "always", "name": "Yes, always", "kind": "allow_always"},
				obj{"id": "no", "name": "No", "kind": "reject_once"},
			},
		}}
		if got := s.value(`require('acp').permissions()`); !reflect.DeepEqual(got, want) {
			t.Errorf("the requests are\n%v\nexpected\n%v", got, want)
		}
		s.awaitState("requires_action")
		if line := s.LuaString(`require('acp').statusline()`); !strings.Contains(line, "1 waiting") {
			t.Errorf("the status line says %q", line)
		}
		s.refused(`require('acp').respond(..., 'perhaps')`, e["id"])
		s.ok(`require('acp').respond(..., 'no')`, e["id"])
		if got := outcome(t, p.answer(id)); got != "no" {
			t.Errorf("the answer is %s", got)
		}
		s.resolved("no", "user")
		s.refused(`require('acp').respond(..., 'no')`, e["id"])
		s.AwaitLua(`require('acp').tool_calls()[1].status == 'rejected'`)
		p.silent()
	})
}

func TestPermissionFloatNeverTakesFocusOrKeys(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("edit " + s.write("code.txt", "alpha\nbeta\ngamma\ndelta\n"))
		p := s.beginAtRoot()
		turn := s.prompt(p, "test it")
		s.Command("wincmd t")
		code := s.LuaInt(`vim.api.nvim_get_current_win()`)
		here := func() {
			t.Helper()
			if !s.LuaBool(`vim.api.nvim_get_current_win() == ...`, code) {
				t.Error("the float took the focus")
			}
		}

		// Normal mode: the keys are the code's, digits too.
		id := p.permission(runMake, yesNo...)
		s.awaitFloat()
		here()
		s.screen("normal")
		s.Keys("jj")
		s.AwaitLua(`vim.fn.line('.') == 3`)
		s.Keys("2k")
		s.AwaitLua(`vim.fn.line('.') == 1`)
		s.Command("Acp permit 3")
		if got := outcome(t, p.answer(id)); got != "no" {
			t.Errorf("the answer is %s", got)
		}
		s.resolved("no", "user")
		s.awaitNoFloat()

		// Insert mode: typing goes on, and a mapped key answers.
		s.Command("imap <F3> <Plug>(AcpPermit1)")
		s.Command("nmap <F3> <Plug>(AcpPermit1)")
		s.Command("xmap <F3> <Plug>(AcpPermit2)")
		s.Keys("Aon")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'alphaon'`)
		id = p.permission(runMake, yesNo...)
		s.awaitFloat()
		s.Keys("e 1")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'alphaone 1' and vim.fn.mode() == 'i'`)
		here()
		s.screen("insert")
		s.Keys("<F3>")
		if got := outcome(t, p.answer(id)); got != "yes" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
		s.AwaitLua(`vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == 'alphaone 1'`)
		s.Keys("<Esc>")

		// Visual mode: the selection stays, also when answered by a key.
		s.Keys("gglvj")
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.line('.') == 2`)
		id = p.permission(runMake, yesNo...)
		s.awaitFloat()
		s.Keys("j")
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.line('.') == 3 and vim.fn.line('v') == 1`)
		here()
		s.Keys("<F3>")
		if got := outcome(t, p.answer(id)); got != "always" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.line('.') == 3 and vim.fn.line('v') == 1`)
		s.Keys("<Esc>")

		// By the option's id.
		id = p.permission(obj{"toolCallId": "c2", "title": "`make lint`", "kind": "execute"}, yesNo...)
		s.awaitFloat()
		s.Command("Acp permit id:always")
		if got := outcome(t, p.answer(id)); got != "always" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
		s.Command("Acp permit 1")
		s.awaitMessage("nothing waits for your answer")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	})
}

func TestPermissionIsAnsweredByDigitsInTheFloat(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "test it")
		before := s.LuaInt(`vim.api.nvim_get_current_win()`)
		id := p.permission(runMake, yesNo...)
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, s.awaitFloat())
		s.Keys("2")
		if got := outcome(t, p.answer(id)); got != "always" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
		if !s.LuaBool(`vim.api.nvim_get_current_win() == ...`, before) {
			t.Error("the focus did not go back")
		}
		id = p.permission(obj{"toolCallId": "c2", "title": "`make lint`", "kind": "execute"}, yesNo...)
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, s.awaitFloat())
		s.Keys("G<CR>")
		if got := outcome(t, p.answer(id)); got != "no" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
	})
}

// Allowing and refusing is one word for all agents, in whichever order they have their answers, and one key in the chat.
func TestAllowAndReject(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "test it")
		options := []obj{
			{"optionId": "what", "name": "What?", "kind": "_what"},
			{"optionId": "never", "name": "Never", "kind": "reject_always"},
			{"optionId": "no", "name": "No", "kind": "reject_once"},
			{"optionId": "always", "name": "Always in this session", "kind": "allow_always"},
			{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
		}
		n := 0
		ask := func(options ...obj) int {
			t.Helper()
			n++
			id := p.permission(command(fmt.Sprint("c", n), fmt.Sprint("make ", n)), options...)
			s.awaitFloat()
			return id
		}
		answered := func(id int, want string) {
			t.Helper()
			if got := outcome(t, p.answer(id)); got != want {
				t.Errorf("the answer is %s, expected %s", got, want)
			}
			s.awaitNoFloat()
		}
		for i, want := range []string{"yes", "always", "no", "never", "what"} {
			id := ask(options...)
			s.Command(fmt.Sprint("Acp permit ", i+1))
			answered(id, want)
		}
		for line, want := range map[string]string{"allow": "yes", "allow always": "always", "reject": "no", "reject always": "never"} {
			id := ask(options...)
			s.Command("Acp " + line)
			answered(id, want)
			// From an answer that allows on it runs, though the request said that it is pending.
			s.AwaitLua(`require('acp').tool_calls()[...].status == (vim.startswith(select(2, ...), 'allow') and 'in_progress' or 'rejected')`, n, line)
		}
		for _, in := range []string{"chat_buf", "prompt_buf"} {
			s.Lua(nil, `local buf = require('acp').sessions()[1][...]
				vim.api.nvim_set_current_win(vim.fn.win_findbuf(buf)[1])`, in)
			for keys, want := range map[string]string{"ga": "yes", "gr": "no"} {
				id := ask(options...)
				s.Keys(keys)
				answered(id, want)
			}
			s.Keys("ga")
			s.awaitMessage("nothing waits for your answer")
			s.Command("messages clear")
		}
		s.Command("imap <F3> <Plug>(AcpRejectAlways)")
		s.Keys("i")
		s.AwaitLua(`vim.fn.mode() == 'i'`)
		id := ask(options...)
		s.Keys("<F3>")
		answered(id, "never")
		s.Keys("<Esc>")

		id = ask(options[0], options[2])
		s.Command("Acp allow")
		s.awaitMessage("there is no answer to allow it")
		s.Command("Acp reject always")
		s.awaitMessage("there is no answer to always reject it")
		s.Command("Acp reject")
		answered(id, "no")
	})
}

func TestClosingTheFloatAnswersNothing(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "test it")
		id := p.permission(runMake, yesNo...)
		s.Lua(nil, `vim.api.nvim_win_close(..., true)`, s.awaitFloat())
		s.awaitNoFloat()
		p.say("Still here.")
		s.awaitChat("Still here.")
		if p.answered(id) || s.LuaInt(`#require('acp').permissions()`) != 1 {
			t.Error("closing the float answered the request")
		}
		s.Command("Acp permissions")
		s.awaitFloat()
		s.Command("Acp permit 1")
		if got := outcome(t, p.answer(id)); got != "yes" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
	})
}

func TestTwoPermissionsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginAtRoot()
		s.prompt(p, "test it")
		first := p.permission(runMake, yesNo...)
		second := p.permission(obj{
			"toolCallId": "c2", "title": "Edit two files", "kind": "edit",
			"content": []obj{
				{"type": "diff", "path": "/src/a.lua", "oldText": "one\ntwo\n", "newText": "one\n2\n"},
				{"type": "diff", "path": "/src/new.lua", "newText": "return 1\n"},
			},
		}, yesNo...)
		s.AwaitScreen("1 of 2")
		s.screen("first")
		s.Command("Acp permit 1")
		if got := outcome(t, p.answer(first)); got != "yes" {
			t.Errorf("the answer is %s", got)
		}
		s.AwaitScreen("wants to edit")
		s.screen("second")
		if p.answered(second) {
			t.Error("the second request is answered too")
		}
		s.Command("Acp permit 3")
		if got := outcome(t, p.answer(second)); got != "no" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
	}, wide)
}

func TestPermissionFollowsTheUserToAnotherTab(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginAtRoot()
		s.prompt(p, "test it")
		id := p.permission(runMake, yesNo...)
		s.awaitFloat()
		s.Command("tabnew")
		here := `(function() local w = require('acp.permission.float').win()
			return w and vim.api.nvim_win_is_valid(w) and vim.api.nvim_win_get_tabpage(w) == vim.api.nvim_get_current_tabpage() end)()`
		s.AwaitLua(here)
		s.screen("tab")
		s.Command("tabclose")
		s.AwaitLua(here)
		s.Command("Acp permit 2")
		if got := outcome(t, p.answer(id)); got != "always" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
	})
}

func TestPermissionWithdrawnByTheAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "test it")
		id := p.permission(runMake, yesNo...)
		s.awaitFloat()
		p.notify("$/cancel_request", obj{"requestId": id})
		if m := p.answer(id); m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("the answer is %s", m)
		}
		s.resolved(nil, "agent")
		s.awaitNoFloat()
		s.awaitState("running")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	})
}

func TestCancelAnswersPermissionsCancelled(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "test it")
		first, second := p.permission(runMake, yesNo...), p.permission(runMake, yesNo...)
		s.AwaitScreen("1 of 2")
		s.Command("Acp cancel")
		p.expect("session/cancel")
		for _, id := range []int{first, second} {
			if got := outcome(t, p.answer(id)); got != "cancelled" {
				t.Errorf("the answer is %s", got)
			}
			s.resolved(nil, "cancel")
		}
		s.awaitNoFloat()
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	})
}

func TestRespondWithoutAnOptionCancelsTheTurn(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "test it")
		id := p.permission(runMake, yesNo...)
		s.awaitFloat()
		s.ok(`require('acp').respond(...)`, s.AwaitEvent("AcpPermissionRequest")["id"])
		if got := outcome(t, p.answer(id)); got != "cancelled" {
			t.Errorf("the answer is %s", got)
		}
		p.expect("session/cancel")
		s.resolved(nil, "cancel")
		p.stop(turn, "cancelled")
		if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "cancelled" {
			t.Errorf("the turn ended with %v", end)
		}
		p.silent()
	})
}

func TestPermissionWithoutAnOptionAndWithForty(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginAtRoot()
		turn := s.prompt(p, "test it")
		id := p.permission(runMake)
		s.awaitFloat()
		s.screen("none")
		s.Command("Acp cancel")
		if got := outcome(t, p.answer(id)); got != "cancelled" {
			t.Errorf("the answer is %s", got)
		}
		p.expect("session/cancel")
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitNoFloat()

		s.prompt(p, "again")
		var many []obj
		for i := 1; i <= 40; i++ {
			many = append(many, obj{"optionId": fmt.Sprint("o", i), "name": fmt.Sprint("Way ", i), "kind": "allow_once"})
		}
		id = p.permission(runMake, many...)
		s.awaitFloat()
		s.screen("forty")
		s.Command("Acp permit 41")
		s.awaitMessage("takes a number from 1 to 40")
		s.Command("Acp permit 40")
		if got := outcome(t, p.answer(id)); got != "o40" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
	})
}

func TestPermissionsAreAnsweredWhenTheSessionEnds(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "test it")
		id := p.permission(runMake, yesNo...)
		s.awaitFloat()
		s.Command("Acp close")
		if got := outcome(t, p.answer(id)); got != "cancelled" {
			t.Errorf("the answer is %s", got)
		}
		s.resolved(nil, "cancel")
		s.AwaitEvent("AcpSessionClosed")
		s.awaitNoFloat()
		p.awaitEnd()

		// Quitting answers too.
		s.Command("Acp")
		p = s.agent()
		p.begin()
		s.prompt(p, "test it")
		id = p.permission(runMake, yesNo...)
		s.awaitFloat()
		s.quit()
		if got := outcome(t, p.answer(id)); got != "cancelled" {
			t.Errorf("the answer is %s", got)
		}
		p.awaitEnd()
	})
}
