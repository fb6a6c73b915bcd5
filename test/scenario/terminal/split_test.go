package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// inCall shows a terminal in a tool call.
func inCall(p *scene.Puppet, call, terminal string) {
	p.T.Helper()
	p.Update("tool_call", obj{
		"toolCallId": call, "title": "`run`", "kind": "execute", "status": "in_progress",
		"content": []obj{{"type": "terminal", "terminalId": terminal}},
	})
}

// terminals is what the API tells of the session's terminals.
func terminals(s *scene.Scene) (list []obj) {
	s.T.Helper()
	all, _ := s.Value(`require('acp').terminals()`).([]any)
	for _, t := range all {
		list = append(list, t.(obj))
	}
	return list
}

// awaitTerminals waits until there are n terminals.
func awaitTerminals(s *scene.Scene, n int) []obj {
	s.T.Helper()
	s.Await(fmt.Sprintf("%d terminals", n), func() bool { return len(terminals(s)) == n })
	return terminals(s)
}

// openTerminal opens the only terminal, or the one that runs, and gives its buffer.
func openTerminal(s *scene.Scene) int {
	s.T.Helper()
	s.AwaitLua(`#require('acp').terminals() > 0`)
	s.Command("Acp terminal")
	s.AwaitLua(`vim.bo.filetype == 'acp-terminal' and vim.bo.buftype == 'terminal'`)
	return s.LuaInt(`vim.api.nvim_get_current_buf()`)
}

func TestTerminalInASplit(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		open := gate(s)
		p := s.Begin()
		turn := s.Prompt(p, "run")
		id := p.Terminal(`printf '\033[32mone\033[0m\n'; read x < gate; echo two; exit 3`, nil)
		inCall(p, "c", id)
		s.AwaitChat("    one")
		before := s.LuaInt(`vim.api.nvim_get_current_win()`)
		list := terminals(s)
		if len(list) != 1 || list[0]["id"] != id || list[0]["running"] != true || list[0]["cwd"] != s.Dir ||
			list[0]["command"] != `sh -c 'printf '\''\033[32mone\033[0m\n'\''; read x < gate; echo two; exit 3'` {
			t.Errorf("the terminals are %v", list)
		}
		buf := openTerminal(s)
		if list[0]["buf"] != buf {
			t.Errorf("the buffer is %d, not %v", buf, list[0]["buf"])
		}
		s.AwaitBuffer(buf, "one\n")
		check.Equal(t, s.LuaString(`vim.api.nvim_get_mode().mode`), "nt", "the mode is %q")
		s.GoldenScreen("live")
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, before)
		open()
		s.AwaitBuffer(buf, "two\n[exited with code 3]")
		p.Update("tool_call_update", obj{"toolCallId": "c", "status": "failed"})
		p.InTerminal("release", id)
		p.EndTurn(turn)
		s.Await("the end in the API", func() bool { return terminals(s)[0]["running"] == false })
		if list := terminals(s); list[0]["exit_code"] != 3 || list[0]["signal"] != nil {
			t.Errorf("the terminals are %v", list)
		}
		check.Equal(t, s.LuaInt(`vim.api.nvim_get_current_win()`), before, "the focus went to window %d")
		s.GoldenScreen("ended")
		// It is shown again, from the block too, after all windows were closed and the buffer wiped.
		s.Lua(nil, `vim.cmd.bwipeout({ ..., bang = true })`, buf)
		s.Lua(nil, `vim.api.nvim_set_current_win((require('acp.chat.layout').windows(0)))`)
		s.Lua(nil, `vim.fn.search('two')`)
		s.Keys("gs")
		s.AwaitLua(`vim.bo.filetype == 'acp-terminal'`)
		s.AwaitBuffer(s.LuaInt(`vim.api.nvim_get_current_buf()`), "one\ntwo\n[exited with code 3]")
	})
}

// What names another session is told so, in one line.
func TestTerminalOfNoSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for _, method := range []string{"create", "output", "wait_for_exit", "kill", "release"} {
			a := p.Ask("terminal/"+method, obj{"sessionId": "nobody's", "command": "true", "terminalId": "term-1"})
			if a.Error == nil || a.Error.Code != -32002 || a.Error.Message != `session "nobody's" is not open in this client` {
				t.Errorf("%s is answered %+v", method, a)
			}
		}
	})
}

// From the prompt, in Insert mode, the way leads to Normal mode too; and when the host has died what
// was shown stays, apart from what the next host shows.
func TestTerminalOutlivesTheHost(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		gate(s)
		p := s.Begin()
		s.Prompt(p, "run")
		inCall(p, "c", p.Terminal(`echo one; read x < gate`, nil))
		s.AwaitLua(`#require('acp').terminals() > 0`)
		s.Keys("i<Cmd>Acp terminal<CR>")
		s.AwaitLua(`vim.bo.buftype == 'terminal'`)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.AwaitBuffer(buf, "one")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
		s.RecordNotifications()
		s.KillHost()
		s.AwaitNotification("the host ended")
		s.AwaitLua(`vim.wo.winbar:find('no longer running')`)
		p = s.Restart()
		p.Begin()
		s.AwaitEvent("AcpSessionReady")
		s.Prompt(p, "again")
		inCall(p, "d", p.Terminal(`echo two; read x < gate`, nil))
		list := awaitTerminals(s, 1)
		s.Command("new")
		other, _ := list[0]["buf"].(int)
		s.Command(fmt.Sprintf("buffer %d", other))
		s.AwaitBuffer(other, "two")
		s.Lua(nil, `vim.cmd.bwipeout({ ..., bang = true })`, buf)
		p.InTerminal("kill", list[0]["id"].(string))
		s.AwaitBuffer(other, "two\n[killed by SIGTERM]")
	})
}

// Neovim leaves nothing behind of what commands have started: the end of the test looks for it.
func TestTerminalLeavesNothingBehind(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "run")
		inCall(p, "c", p.Terminal(`trap '' HUP; setsid sleep 1000 & (setsid sh -c '(sleep 1000 &) &' &) ; echo up; sleep 1000`, nil))
		s.AwaitChat("    up")
		ended := p.Terminal(`trap '' HUP; setsid sleep 1000 & echo done`, nil)
		inCall(p, "d", ended)
		s.AwaitChat("    done")
		p.InTerminal("wait_for_exit", ended)
		released := p.Terminal(`trap '' HUP; setsid sleep 1000 & echo gone`, nil)
		inCall(p, "e", released)
		s.AwaitChat("    gone")
		p.InTerminal("release", released)
	})
}

// A host that is killed cannot end what its commands have started: the plugin does.
func TestKilledHostLeavesNothingBehind(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "run")
		inCall(p, "c", p.Terminal(`trap '' HUP; setsid sleep 1000 & (setsid sh -c '(sleep 1000 &) &' &) ; echo up; sleep 1000`, nil))
		s.AwaitChat("    up")
		s.KillHost()
		s.AwaitState("dead")
		s.Await("all processes to end", func() bool { return len(s.Leftovers()) == 0 })
	})
}

// The clipboard, titles and notifications are the user's.
func TestTerminalReachesNothingOutside(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		open := gate(s)
		s.Lua(nil, `_G.copied = 0
			local function copy() _G.copied = _G.copied + 1 end
			local function paste() return { { 'mine' }, 'v' } end
			vim.g.clipboard = { name = 'test', copy = { ['+'] = copy, ['*'] = copy }, paste = { ['+'] = paste, ['*'] = paste } }
			_G.requests = 0
			vim.api.nvim_create_autocmd('TermRequest', { callback = function() _G.requests = _G.requests + 1 end })`)
		p := s.Begin()
		s.Prompt(p, "run")
		inCall(p, "c", p.Terminal(`printf 'a\033]52;c;aGVsbG8=\007b\033]0;title\007c\033]9;note\033\\d\033[6n\033[c\033[5n\a'; read x < gate; echo e`, nil))
		buf := openTerminal(s)
		s.AwaitBuffer(buf, "abcd")
		// What Neovim answers by itself must not be typed into the command's terminal, which echoes.
		open()
		s.AwaitBuffer(buf, "abcde\n[exited with code 0]")
		check.Equal(t, s.LuaInt(`_G.copied`), 0, "the clipboard was set %d times")
		check.Equal(t, s.LuaInt(`_G.requests`), 0, "there were %d requests")
	})
}

func TestTerminalTakesKeys(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "run")
		id := p.Terminal(`trap 'echo caught; exit 4' INT; stty -echo < /dev/tty; printf 'name? '; read name < /dev/tty; echo "hello $name";
			stty raw < /dev/tty; printf '\033[5n'; dd bs=1 count=4 2>/dev/null < /dev/tty | tail -c 2 ; stty sane < /dev/tty
			echo; echo "status"; while :; do sleep 0.01; done`, nil)
		inCall(p, "c", id)
		buf := openTerminal(s)
		s.AwaitBuffer(buf, "name? ")
		s.Keys("iBob<CR>")
		s.AwaitBuffer(buf, "hello Bob")
		s.AwaitBuffer(buf, "status") // the answer to the query was four bytes
		s.Keys("<C-c>")
		s.AwaitBuffer(buf, "caught\n[exited with code 4]")
		if m := p.InTerminal("wait_for_exit", id); m.Get("exitCode") != 4.0 {
			t.Errorf("the end is %s", m)
		}
		s.Await("the end in the API", func() bool { return terminals(s)[0]["running"] == false })
		s.Keys("x") // nobody takes it
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
		s.Keys("i")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
	})
}

func TestTerminalFollowsTheWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "run")
		id := p.Terminal(`trap 'stty size < /dev/tty' WINCH; stty size < /dev/tty; while :; do sleep 0.01; done`, nil)
		inCall(p, "c", id)
		s.AwaitChat("    40 120")
		buf := openTerminal(s)
		size := func() string {
			return s.LuaString(`(function(info) return info.height .. ' ' .. (info.width - info.textoff) end)(
				vim.fn.getwininfo(vim.fn.win_findbuf(...)[1])[1])`, buf)
		}
		s.AwaitBuffer(buf, size())
		s.Command("vertical belowright 30new")
		s.Command("wincmd p")
		s.Command("resize 9")
		if got := size(); !strings.HasPrefix(got, "8 ") {
			t.Fatalf("the window is %s", got)
		}
		s.AwaitBuffer(buf, size())
		p.InTerminal("kill", id)
		s.AwaitBuffer(buf, "[killed by SIGTERM]")
	}, scene.Wide)
}

func TestTerminalWithAMillionLines(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		open := gate(s)
		p := s.Begin()
		s.Prompt(p, "run")
		id := p.Terminal(`read x < gate; seq 1000000`, obj{"outputByteLimit": 100})
		inCall(p, "c", id)
		buf := openTerminal(s)
		s.Lua(nil, `local function cpu()
				local r = vim.uv.getrusage()
				return (r.utime.sec + r.stime.sec) * 1000 + (r.utime.usec + r.stime.usec) / 1000
			end
			local last = cpu()
			_G.longest = 0
			vim.uv.new_timer():start(0, 1, function()
				local now = cpu()
				_G.longest, last = math.max(_G.longest, now - last), now
			end)`)
		open()
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(..., -40, -1, false), '\n'):find('999999\n1000000\n[exited with code 0]', 1, true)`, buf)
		// Of its own time, as others use the machine too. What it takes at once is bounded, which shows here.
		if ms := s.LuaInt(`math.floor(_G.longest)`); ms > 60 {
			t.Errorf("Neovim was away for %d ms", ms)
		} else {
			t.Logf("the longest gap was %d ms", ms)
		}
		if m := p.InTerminal("output", id); len(m.Text("output")) > 100 || m.Get("truncated") != true || !strings.HasSuffix(m.Text("output"), "999999\n1000000\n") {
			t.Errorf("the output is %s", m)
		}
	})
}

// Terminals that the agent owns, as Claude and Codex tell of them.
func TestTerminalOfTheAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "run")
		inCall(p, "c", "shell/1")
		list := awaitTerminals(s, 1)
		if list[0]["id"] != "shell/1" || list[0]["running"] != true || list[0]["command"] != nil {
			t.Errorf("the terminals are %v", list)
		}
		update := func(meta obj) {
			p.Update("tool_call_update", obj{"toolCallId": "c", "_meta": meta})
		}
		update(obj{"terminal_info": obj{"terminal_id": "shell/1", "cwd": s.Dir}})
		update(obj{"terminal_output_delta": obj{"terminal_id": "shell/1", "data": "one\ntw"}})
		update(obj{"terminal_output": obj{"terminal_id": "shell/1", "data": "o\n\x1b[3"}})
		s.AwaitChat("    two")
		buf := openTerminal(s)
		s.AwaitBuffer(buf, "one\ntwo")
		update(obj{"terminal_output": obj{"terminal_id": "shell/1", "data": "1mred\n"}})
		s.AwaitBuffer(buf, "one\ntwo\nred")
		s.Keys("i")
		s.AwaitMessage("takes no keys")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
		update(obj{"terminal_exit": obj{"terminal_id": "shell/1", "exit_code": 2}})
		s.AwaitBuffer(buf, "red\n[exited with code 2]")
		s.AwaitChat("exited with code 2")
		if list := terminals(s); list[0]["running"] != false || list[0]["exit_code"] != 2 || list[0]["cwd"] != s.Dir {
			t.Errorf("the terminals are %v", list)
		}
		// A snapshot that is another text replaces the old one.
		s.Lua(nil, `require('acp.terminal.view').output({ session = 1, number = 1, anew = true, data = 'other' })`)
		s.AwaitLua(`vim.trim(table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\n')) == 'other'`, buf)
		// One whose end is never told does not run after the turn was cancelled.
		inCall(p, "d", "shell/2")
		awaitTerminals(s, 2)
		s.OK(`require('acp').cancel()`)
		p.Expect("session/cancel")
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		if list := terminals(s); list[1]["running"] != false {
			t.Errorf("the terminals are %v", list)
		}
		// Nor after its call has ended.
		turn = s.Prompt(p, "again")
		inCall(p, "e", "shell/3")
		awaitTerminals(s, 3)
		if list := terminals(s); list[2]["running"] != true {
			t.Errorf("the terminals are %v", list)
		}
		p.Update("tool_call_update", obj{"toolCallId": "e", "status": "completed"})
		s.AwaitLua(`not require('acp').terminals()[3].running`)
		p.Stop(turn, "end_turn")
	}, nvimtest.AllowErrors("takes no keys"))
}

// What a terminal has shown stays when the session is closed, and the end of the command is told.
func TestTerminalOfAClosedSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		gate(s)
		p := s.Begin()
		s.Prompt(p, "run")
		inCall(p, "c", p.Terminal(`trap 'exit 5' TERM; echo one; read x < gate`, nil))
		inCall(p, "d", "shell")
		awaitTerminals(s, 2)
		buf := s.LuaInt(`require('acp').terminals()[1].buf`)
		s.Command(fmt.Sprintf("buffer %d", buf)) // in any window
		s.AwaitBuffer(buf, "one")
		other := s.LuaInt(`require('acp').terminals()[2].buf`)
		s.OK(`require('acp').close()`)
		s.AwaitEvent("AcpSessionClosed")
		const how = `(vim.wo.winbar:match('exited with code 5') or vim.wo.winbar:match('killed by %w+'))` // if slow
		s.AwaitLua(how)
		s.AwaitBuffer(buf, "["+s.LuaString(how)+"]")
		if s.LuaBool(`vim.api.nvim_buf_is_valid(...)`, other) {
			t.Error("a terminal that nobody has seen stays")
		}
	})
}

func TestTerminalsOfADeadAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		gate(s)
		p := s.Begin()
		s.Prompt(p, "run")
		inCall(p, "c", p.Terminal(`echo one; read x < gate`, nil))
		inCall(p, "d", "shell")
		buf := awaitTerminals(s, 2)[0]["buf"].(int)
		s.Command(fmt.Sprintf("buffer %d", buf))
		s.AwaitBuffer(buf, "one")
		p.Exit(1, "bye")
		s.AwaitBuffer(buf, "one\n[killed by SIGTERM]")
		s.Await("nothing to run", func() bool {
			list := terminals(s)
			return list[0]["running"] == false && list[1]["running"] == false
		})
		// The next process may use the same name for another one.
		p = s.Restart()
		p.Begin()
		s.AwaitEvent("AcpSessionReady")
		s.Prompt(p, "again")
		inCall(p, "d", "shell")
		p.Update("tool_call_update", obj{"toolCallId": "d", "_meta": obj{"terminal_output": obj{"terminal_id": "shell", "data": "fresh\n"}}})
		list := awaitTerminals(s, 3)
		if list[2]["id"] != "shell" || list[2]["running"] != true {
			t.Errorf("the terminals are %v", list)
		}
	})
}
