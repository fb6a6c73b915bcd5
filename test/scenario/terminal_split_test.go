package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// inCall shows a terminal in a tool call.
func (p *puppet) inCall(call, terminal string) {
	p.t.Helper()
	p.update("tool_call", obj{
		"toolCallId": call, "title": "`run`", "kind": "execute", "status": "in_progress",
		"content": []obj{{"type": "terminal", "terminalId": terminal}},
	})
}

// terminals is what the API tells of the session's terminals.
func (s *scene) terminals() (list []obj) {
	s.t.Helper()
	all, _ := s.value(`require('acp').terminals()`).([]any)
	for _, t := range all {
		list = append(list, t.(obj))
	}
	return list
}

// awaitTerminals waits until there are n terminals.
func (s *scene) awaitTerminals(n int) []obj {
	s.t.Helper()
	s.Await(fmt.Sprintf("%d terminals", n), func() bool { return len(s.terminals()) == n })
	return s.terminals()
}

// openTerminal opens the only terminal, or the one that runs, and gives its buffer.
func (s *scene) openTerminal() int {
	s.t.Helper()
	s.AwaitLua(`#require('acp').terminals() > 0`)
	s.Command("Acp terminal")
	s.AwaitLua(`vim.bo.filetype == 'acp-terminal' and vim.bo.buftype == 'terminal'`)
	return s.LuaInt(`vim.api.nvim_get_current_buf()`)
}

// awaitBuffer waits until a buffer has a text.
func (s *scene) awaitBuffer(buf int, text string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q in buffer %d", text, buf), func() bool { return strings.Contains(s.buffer(buf), text) })
}

func TestTerminalInASplit(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		open := s.gate()
		p := s.begin()
		turn := s.prompt(p, "run")
		id := p.terminal(`printf '\033[32mone\033[0m\n'; read x < gate; echo two; exit 3`, nil)
		p.inCall("c", id)
		s.awaitChat("    one")
		before := s.LuaInt(`vim.api.nvim_get_current_win()`)
		list := s.terminals()
		if len(list) != 1 || list[0]["id"] != id || list[0]["running"] != true || list[0]["cwd"] != s.Dir ||
			list[0]["command"] != `sh -c 'printf '\''\033[32mone\033[0m\n'\''; read x < gate; echo two; exit 3'` {
			t.Errorf("the terminals are %v", list)
		}
		buf := s.openTerminal()
		if list[0]["buf"] != buf {
			t.Errorf("the buffer is %d, not %v", buf, list[0]["buf"])
		}
		s.awaitBuffer(buf, "one\n")
		if mode := s.LuaString(`vim.api.nvim_get_mode().mode`); mode != "nt" {
			t.Errorf("the mode is %q", mode)
		}
		s.screen("live")
		s.Lua(nil, `vim.api.nvim_set_current_win(...)`, before)
		open()
		s.awaitBuffer(buf, "two\n[exited with code 3]")
		p.update("tool_call_update", obj{"toolCallId": "c", "status": "failed"})
		p.inTerminal("release", id)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Await("the end in the API", func() bool { return s.terminals()[0]["running"] == false })
		if list := s.terminals(); list[0]["exit_code"] != 3 || list[0]["signal"] != nil {
			t.Errorf("the terminals are %v", list)
		}
		if win := s.LuaInt(`vim.api.nvim_get_current_win()`); win != before {
			t.Errorf("the focus went to window %d", win)
		}
		s.screen("ended")
		// It is shown again, from the block too, after all windows were closed and the buffer wiped.
		s.Lua(nil, `vim.cmd.bwipeout({ ..., bang = true })`, buf)
		s.Lua(nil, `vim.api.nvim_set_current_win((require('acp.layout').windows(0)))`)
		s.Lua(nil, `vim.fn.search('two')`)
		s.Keys("gs")
		s.AwaitLua(`vim.bo.filetype == 'acp-terminal'`)
		s.awaitBuffer(s.LuaInt(`vim.api.nvim_get_current_buf()`), "one\ntwo\n[exited with code 3]")
	})
}

// What names another session is told so, in one line.
func TestTerminalOfNoSession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		for _, method := range []string{"create", "output", "wait_for_exit", "kill", "release"} {
			a := p.ask("terminal/"+method, obj{"sessionId": "nobody's", "command": "true", "terminalId": "term-1"})
			if a.Error == nil || a.Error.Code != -32002 || a.Error.Message != `session "nobody's" is not open in this client` {
				t.Errorf("%s is answered %+v", method, a)
			}
		}
	})
}

// From the prompt, in Insert mode, the way leads to Normal mode too; and when the host has died what
// was shown stays, apart from what the next host shows.
func TestTerminalOutlivesTheHost(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.gate()
		p := s.begin()
		s.prompt(p, "run")
		p.inCall("c", p.terminal(`echo one; read x < gate`, nil))
		s.AwaitLua(`#require('acp').terminals() > 0`)
		s.Keys("i<Cmd>Acp terminal<CR>")
		s.AwaitLua(`vim.bo.buftype == 'terminal'`)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.awaitBuffer(buf, "one")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
		s.recordNotifications()
		s.killHost()
		s.awaitNotification("the host ended")
		s.AwaitLua(`vim.wo.winbar:find('no longer running')`)
		p = s.restart()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		s.prompt(p, "again")
		p.inCall("d", p.terminal(`echo two; read x < gate`, nil))
		list := s.awaitTerminals(1)
		s.Command("new")
		other, _ := list[0]["buf"].(int)
		s.Command(fmt.Sprintf("buffer %d", other))
		s.awaitBuffer(other, "two")
		s.Lua(nil, `vim.cmd.bwipeout({ ..., bang = true })`, buf)
		p.inTerminal("kill", list[0]["id"].(string))
		s.awaitBuffer(other, "two\n[killed by SIGTERM]")
	})
}

// Neovim leaves nothing behind of what commands have started: the end of the test looks for it.
func TestTerminalLeavesNothingBehind(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "run")
		p.inCall("c", p.terminal(`trap '' HUP; setsid sleep 1000 & (setsid sh -c '(sleep 1000 &) &' &) ; echo up; sleep 1000`, nil))
		s.awaitChat("    up")
		ended := p.terminal(`trap '' HUP; setsid sleep 1000 & echo done`, nil)
		p.inCall("d", ended)
		s.awaitChat("    done")
		p.inTerminal("wait_for_exit", ended)
		released := p.terminal(`trap '' HUP; setsid sleep 1000 & echo gone`, nil)
		p.inCall("e", released)
		s.awaitChat("    gone")
		p.inTerminal("release", released)
	})
}

// The clipboard, titles and notifications are the user's.
func TestTerminalReachesNothingOutside(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		open := s.gate()
		s.Lua(nil, `_G.copied = 0
			local function copy() _G.copied = _G.copied + 1 end
			local function paste() return { { 'mine' }, 'v' } end
			vim.g.clipboard = { name = 'test', copy = { ['+'] = copy, ['*'] = copy }, paste = { ['+'] = paste, ['*'] = paste } }
			_G.requests = 0
			vim.api.nvim_create_autocmd('TermRequest', { callback = function() _G.requests = _G.requests + 1 end })`)
		p := s.begin()
		s.prompt(p, "run")
		p.inCall("c", p.terminal(`printf 'a\033]52;c;aGVsbG8=\007b\033]0;title\007c\033]9;note\033\\d\033[6n\033[c\033[5n\a'; read x < gate; echo e`, nil))
		buf := s.openTerminal()
		s.awaitBuffer(buf, "abcd")
		// What Neovim answers by itself must not be typed into the command's terminal, which echoes.
		open()
		s.awaitBuffer(buf, "abcde\n[exited with code 0]")
		if n := s.LuaInt(`_G.copied`); n != 0 {
			t.Errorf("the clipboard was set %d times", n)
		}
		if n := s.LuaInt(`_G.requests`); n != 0 {
			t.Errorf("there were %d requests", n)
		}
	})
}

func TestTerminalTakesKeys(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "run")
		id := p.terminal(`trap 'echo caught; exit 4' INT; stty -echo < /dev/tty; printf 'name? '; read name < /dev/tty; echo "hello $name";
			stty raw < /dev/tty; printf '\033[5n'; dd bs=1 count=4 2>/dev/null < /dev/tty | tail -c 2 ; stty sane < /dev/tty
			echo; echo "status"; while :; do sleep 0.01; done`, nil)
		p.inCall("c", id)
		buf := s.openTerminal()
		s.awaitBuffer(buf, "name? ")
		s.Keys("iBob<CR>")
		s.awaitBuffer(buf, "hello Bob")
		s.awaitBuffer(buf, "status") // the answer to the query was four bytes
		s.Keys("<C-c>")
		s.awaitBuffer(buf, "caught\n[exited with code 4]")
		if m := p.inTerminal("wait_for_exit", id); m.get("exitCode") != 4.0 {
			t.Errorf("the end is %s", m)
		}
		s.Await("the end in the API", func() bool { return s.terminals()[0]["running"] == false })
		s.Keys("x") // nobody takes it
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
		s.Keys("i")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
	})
}

func TestTerminalFollowsTheWindow(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "run")
		id := p.terminal(`trap 'stty size < /dev/tty' WINCH; stty size < /dev/tty; while :; do sleep 0.01; done`, nil)
		p.inCall("c", id)
		s.awaitChat("    40 120")
		buf := s.openTerminal()
		size := func() string {
			return s.LuaString(`(function(info) return info.height .. ' ' .. (info.width - info.textoff) end)(
				vim.fn.getwininfo(vim.fn.win_findbuf(...)[1])[1])`, buf)
		}
		s.awaitBuffer(buf, size())
		s.Command("vertical belowright 30new")
		s.Command("wincmd p")
		s.Command("resize 9")
		if got := size(); !strings.HasPrefix(got, "8 ") {
			t.Fatalf("the window is %s", got)
		}
		s.awaitBuffer(buf, size())
		p.inTerminal("kill", id)
		s.awaitBuffer(buf, "[killed by SIGTERM]")
	}, wide)
}

func TestTerminalWithAMillionLines(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		open := s.gate()
		p := s.begin()
		s.prompt(p, "run")
		id := p.terminal(`read x < gate; seq 1000000`, obj{"outputByteLimit": 100})
		p.inCall("c", id)
		buf := s.openTerminal()
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
		if m := p.inTerminal("output", id); len(m.text("output")) > 100 || m.get("truncated") != true || !strings.HasSuffix(m.text("output"), "999999\n1000000\n") {
			t.Errorf("the output is %s", m)
		}
	})
}

// Terminals that the agent owns, as Claude and Codex tell of them.
func TestTerminalOfTheAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "run")
		p.inCall("c", "shell/1")
		list := s.awaitTerminals(1)
		if list[0]["id"] != "shell/1" || list[0]["running"] != true || list[0]["command"] != nil {
			t.Errorf("the terminals are %v", list)
		}
		tell := func(meta obj) {
			p.update("tool_call_update", obj{"toolCallId": "c", "_meta": meta})
		}
		tell(obj{"terminal_info": obj{"terminal_id": "shell/1", "cwd": s.Dir}})
		tell(obj{"terminal_output_delta": obj{"terminal_id": "shell/1", "data": "one\ntw"}})
		tell(obj{"terminal_output": obj{"terminal_id": "shell/1", "data": "o\n\x1b[3"}})
		s.awaitChat("    two")
		buf := s.openTerminal()
		s.awaitBuffer(buf, "one\ntwo")
		tell(obj{"terminal_output": obj{"terminal_id": "shell/1", "data": "1mred\n"}})
		s.awaitBuffer(buf, "one\ntwo\nred")
		s.Keys("i")
		s.awaitMessage("takes no keys")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'nt'`)
		tell(obj{"terminal_exit": obj{"terminal_id": "shell/1", "exit_code": 2}})
		s.awaitBuffer(buf, "red\n[exited with code 2]")
		s.awaitChat("exited with code 2")
		if list := s.terminals(); list[0]["running"] != false || list[0]["exit_code"] != 2 || list[0]["cwd"] != s.Dir {
			t.Errorf("the terminals are %v", list)
		}
		// A snapshot that is another text replaces the old one.
		s.Lua(nil, `require('acp.terminal').output({ session = 1, number = 1, anew = true, data = 'other' })`)
		s.AwaitLua(`vim.trim(table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\n')) == 'other'`, buf)
		// One whose end is never told does not run after the turn was cancelled.
		p.inCall("d", "shell/2")
		s.awaitTerminals(2)
		s.ok(`require('acp').cancel()`)
		p.expect("session/cancel")
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		if list := s.terminals(); list[1]["running"] != false {
			t.Errorf("the terminals are %v", list)
		}
		// Nor after its call has ended.
		turn = s.prompt(p, "again")
		p.inCall("e", "shell/3")
		s.awaitTerminals(3)
		if list := s.terminals(); list[2]["running"] != true {
			t.Errorf("the terminals are %v", list)
		}
		p.update("tool_call_update", obj{"toolCallId": "e", "status": "completed"})
		s.AwaitLua(`not require('acp').terminals()[3].running`)
		p.stop(turn, "end_turn")
	}, nvimtest.AllowErrors("takes no keys"))
}

// What a terminal has shown stays when the session is closed, and the end of the command is told.
func TestTerminalOfAClosedSession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.gate()
		p := s.begin()
		s.prompt(p, "run")
		p.inCall("c", p.terminal(`trap 'sleep 0.1; exit 5' TERM; echo one; read x < gate`, nil))
		p.inCall("d", "shell")
		s.awaitTerminals(2)
		buf := s.LuaInt(`require('acp').terminals()[1].buf`)
		s.Command(fmt.Sprintf("buffer %d", buf)) // in any window
		s.awaitBuffer(buf, "one")
		other := s.LuaInt(`require('acp').terminals()[2].buf`)
		s.ok(`require('acp').close()`)
		s.AwaitEvent("AcpSessionClosed")
		s.awaitBuffer(buf, "[exited with code 5]")
		s.AwaitLua(`vim.wo.winbar:find('exited with code 5')`)
		if s.LuaBool(`vim.api.nvim_buf_is_valid(...)`, other) {
			t.Error("a terminal that nobody has seen stays")
		}
	})
}

func TestTerminalsOfADeadAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.gate()
		p := s.begin()
		s.prompt(p, "run")
		p.inCall("c", p.terminal(`echo one; read x < gate`, nil))
		p.inCall("d", "shell")
		buf := s.awaitTerminals(2)[0]["buf"].(int)
		s.Command(fmt.Sprintf("buffer %d", buf))
		s.awaitBuffer(buf, "one")
		p.exit(1, "bye")
		s.awaitBuffer(buf, "one\n[killed by SIGTERM]")
		s.Await("nothing to run", func() bool {
			list := s.terminals()
			return list[0]["running"] == false && list[1]["running"] == false
		})
		// The next process may use the same name for another one.
		p = s.restart()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		s.prompt(p, "again")
		p.inCall("d", "shell")
		p.update("tool_call_update", obj{"toolCallId": "d", "_meta": obj{"terminal_output": obj{"terminal_id": "shell", "data": "fresh\n"}}})
		list := s.awaitTerminals(3)
		if list[2]["id"] != "shell" || list[2]["running"] != true {
			t.Errorf("the terminals are %v", list)
		}
	})
}
