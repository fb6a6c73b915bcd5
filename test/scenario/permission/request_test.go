package permission

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// beginAtRoot is Begin with a session whose folder has the same name everywhere.
func beginAtRoot(s *scene.Scene) *scene.Puppet {
	s.T.Helper()
	s.OK(`require('acp').new({ cwd = '/' })`)
	return s.Begin()
}

func TestPermissionHasTheFieldsOfTheContract(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginAtRoot(s)
		s.Prompt(p, "test it")
		p.Update("tool_call", scene.RunMake)
		id := p.Permission(obj{"toolCallId": "c1"}, scene.YesNo...)
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
		check.Deep(t, s.Value(`require('acp').permissions()`), want, "the requests are\n%v")
		s.AwaitState("requires_action")
		check.Contains(t, s.LuaString(`require('acp').statusline()`), "1 waiting", "the status line says %q")
		s.Refused(`require('acp').respond(..., 'perhaps')`, e["id"])
		s.OK(`require('acp').respond(..., 'no')`, e["id"])
		p.AwaitOutcome(id, "no")
		s.CheckResolved("no", "user")
		s.Refused(`require('acp').respond(..., 'no')`, e["id"])
		s.AwaitLua(`require('acp').tool_calls()[1].status == 'rejected'`)
		p.Silent()
	})
}

func TestPermissionFloatNeverTakesFocusOrKeys(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "alpha\nbeta\ngamma\ndelta\n"))
		p := beginAtRoot(s)
		turn := s.Prompt(p, "test it")
		s.Command("wincmd t")
		code := s.LuaInt(`vim.api.nvim_get_current_win()`)
		here := func() {
			t.Helper()
			if !s.LuaBool(`vim.api.nvim_get_current_win() == ...`, code) {
				t.Error("the float took the focus")
			}
		}

		// Normal mode: the keys are the code's, digits too.
		id := p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitFloat()
		here()
		s.GoldenScreen("normal")
		s.Keys("jj")
		s.AwaitLua(`vim.fn.line('.') == 3`)
		s.Keys("2k")
		s.AwaitLua(`vim.fn.line('.') == 1`)
		s.Command("Acp permit 3")
		p.AwaitOutcome(id, "no")
		s.CheckResolved("no", "user")
		s.AwaitNoFloat()

		// Insert mode: typing goes on, and a mapped key answers.
		s.Command("imap <F3> <Plug>(AcpPermit1)")
		s.Command("nmap <F3> <Plug>(AcpPermit1)")
		s.Command("xmap <F3> <Plug>(AcpPermit2)")
		s.Keys("Aon")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'alphaon'`)
		id = p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitFloat()
		s.Keys("e 1")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'alphaone 1' and vim.fn.mode() == 'i'`)
		here()
		s.GoldenScreen("insert")
		s.Keys("<F3>")
		p.AwaitOutcome(id, "yes")
		s.AwaitNoFloat()
		s.AwaitLua(`vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == 'alphaone 1'`)
		s.Keys("<Esc>")

		// Visual mode: the selection stays, also when answered by a key.
		s.Keys("gglvj")
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.line('.') == 2`)
		id = p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitFloat()
		s.Keys("j")
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.line('.') == 3 and vim.fn.line('v') == 1`)
		here()
		s.Keys("<F3>")
		p.AwaitOutcome(id, "always")
		s.AwaitNoFloat()
		s.AwaitLua(`vim.fn.mode() == 'v' and vim.fn.line('.') == 3 and vim.fn.line('v') == 1`)
		s.Keys("<Esc>")

		// By the option's id.
		id = p.Permission(obj{"toolCallId": "c2", "title": "`make lint`", "kind": "execute"}, scene.YesNo...)
		s.AwaitFloat()
		s.Command("Acp permit id:always")
		p.AwaitOutcome(id, "always")
		s.AwaitNoFloat()
		s.Command("Acp permit 1")
		s.AwaitMessage("nothing waits for your answer")
		p.EndTurn(turn)
		p.Silent()
	})
}

func TestPermissionIsAnsweredByDigitsInTheFloat(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "test it")
		before := s.LuaInt(`vim.api.nvim_get_current_win()`)
		id := p.Permission(scene.RunMake, scene.YesNo...)
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, s.AwaitFloat())
		s.Keys("2")
		p.AwaitOutcome(id, "always")
		s.AwaitNoFloat()
		if !s.LuaBool(`vim.api.nvim_get_current_win() == ...`, before) {
			t.Error("the focus did not go back")
		}
		id = p.Permission(obj{"toolCallId": "c2", "title": "`make lint`", "kind": "execute"}, scene.YesNo...)
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, s.AwaitFloat())
		s.Keys("G<CR>")
		p.AwaitOutcome(id, "no")
		s.AwaitNoFloat()
	})
}

// Allowing and refusing is one word for all agents, in whichever order they have their answers, and one key in the chat.
func TestAllowAndReject(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "test it")
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
			id := p.Permission(scene.CommandCall(fmt.Sprint("c", n), fmt.Sprint("make ", n)), options...)
			s.AwaitFloat()
			return id
		}
		answered := func(id int, want string) {
			t.Helper()
			p.AwaitOutcome(id, want)
			s.AwaitNoFloat()
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
			s.AwaitMessage("nothing waits for your answer; :Acp review decides about changes")
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
		s.AwaitMessage("no option to allow it")
		s.Command("Acp reject always")
		s.AwaitMessage("no option to always reject it")
		s.Command("Acp reject")
		answered(id, "no")
	})
}

func TestClosingTheFloatAnswersNothing(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "test it")
		id := p.Permission(scene.RunMake, scene.YesNo...)
		s.Lua(nil, `vim.api.nvim_win_close(..., true)`, s.AwaitFloat())
		s.AwaitNoFloat()
		p.Say("Still here.")
		s.AwaitChat("Still here.")
		if p.Answered(id) || s.LuaInt(`#require('acp').permissions()`) != 1 {
			t.Error("closing the float answered the request")
		}
		s.Command("Acp permissions")
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.AwaitOutcome(id, "yes")
		s.AwaitNoFloat()
	})
}

func TestTwoPermissionsAtOnce(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := beginAtRoot(s)
		s.Prompt(p, "test it")
		first := p.Permission(scene.RunMake, scene.YesNo...)
		second := p.Permission(obj{
			"toolCallId": "c2", "title": "Edit two files", "kind": "edit",
			"content": []obj{
				{"type": "diff", "path": "/src/a.lua", "oldText": "one\ntwo\n", "newText": "one\n2\n"},
				{"type": "diff", "path": "/src/new.lua", "newText": "return 1\n"},
			},
		}, scene.YesNo...)
		s.AwaitScreen("1 of 2")
		s.GoldenScreen("first")
		s.Command("Acp permit 1")
		p.AwaitOutcome(first, "yes")
		s.AwaitScreen("wants to edit")
		s.GoldenScreen("second")
		if p.Answered(second) {
			t.Error("the second request is answered too")
		}
		s.Command("Acp permit 3")
		p.AwaitOutcome(second, "no")
		s.AwaitNoFloat()
	}, scene.Wide)
}

func TestPermissionFollowsTheUserToAnotherTab(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginAtRoot(s)
		s.Prompt(p, "test it")
		id := p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitFloat()
		s.Command("tabnew")
		here := `(function() local w = require('acp.permission.float').win()
			return w and vim.api.nvim_win_is_valid(w) and vim.api.nvim_win_get_tabpage(w) == vim.api.nvim_get_current_tabpage() end)()`
		s.AwaitLua(here)
		s.GoldenScreen("tab")
		s.Command("tabclose")
		s.AwaitLua(here)
		s.Command("Acp permit 2")
		p.AwaitOutcome(id, "always")
		s.AwaitNoFloat()
	})
}

func TestPermissionWithdrawnByTheAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "test it")
		id := p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitFloat()
		p.Notify("$/cancel_request", obj{"requestId": id})
		if m := p.Answer(id); m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("the answer is %s", m)
		}
		s.CheckResolved(nil, "agent")
		s.AwaitNoFloat()
		s.AwaitState("running")
		p.EndTurn(turn)
		p.Silent()
	})
}

func TestCancelAnswersPermissionsCancelled(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "test it")
		first, second := p.Permission(scene.RunMake, scene.YesNo...), p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitScreen("1 of 2")
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		for _, id := range []int{first, second} {
			p.AwaitOutcome(id, "cancelled")
			s.CheckResolved(nil, "cancel")
		}
		s.AwaitNoFloat()
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		p.Silent()
	})
}

func TestRespondWithoutAnOptionCancelsTheTurn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "test it")
		id := p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitFloat()
		s.OK(`require('acp').respond(...)`, s.AwaitEvent("AcpPermissionRequest")["id"])
		p.AwaitOutcome(id, "cancelled")
		p.Expect("session/cancel")
		s.CheckResolved(nil, "cancel")
		p.Stop(turn, "cancelled")
		if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "cancelled" {
			t.Errorf("the turn ended with %v", end)
		}
		p.Silent()
	})
}

func TestPermissionWithoutAnOptionAndWithForty(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := beginAtRoot(s)
		turn := s.Prompt(p, "test it")
		id := p.Permission(scene.RunMake)
		s.AwaitFloat()
		s.GoldenScreen("none")
		s.Command("Acp cancel")
		p.AwaitOutcome(id, "cancelled")
		p.Expect("session/cancel")
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitNoFloat()

		s.Prompt(p, "again")
		var many []obj
		for i := 1; i <= 40; i++ {
			many = append(many, obj{"optionId": fmt.Sprint("o", i), "name": fmt.Sprint("Way ", i), "kind": "allow_once"})
		}
		id = p.Permission(scene.RunMake, many...)
		s.AwaitFloat()
		s.GoldenScreen("forty")
		s.Command("Acp permit 41")
		s.AwaitMessage("takes a number from 1 to 40")
		s.Command("Acp permit 40")
		p.AwaitOutcome(id, "o40")
		s.AwaitNoFloat()
	})
}

func TestPermissionsAreAnsweredWhenTheSessionEnds(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "test it")
		id := p.Permission(scene.RunMake, scene.YesNo...)
		s.AwaitFloat()
		s.Command("Acp close")
		p.AwaitOutcome(id, "cancelled")
		s.CheckResolved(nil, "cancel")
		s.AwaitEvent("AcpSessionClosed")
		s.AwaitNoFloat()
		p.AwaitEnd()
	})
}
