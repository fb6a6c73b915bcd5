package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// numbered is a text of n lines, each of its number.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// works sends a tool call that names places: {path, line}, or {path} without a line.
func (p *puppet) works(id, kind string, places ...[]any) {
	p.t.Helper()
	p.update("tool_call", obj{"toolCallId": id, "title": id, "kind": kind, "status": "in_progress", "locations": locations(places)})
}

func locations(places [][]any) []obj {
	list := []obj{}
	for _, place := range places {
		l := obj{"path": place[0]}
		if len(place) > 1 {
			l["line"] = place[1]
		}
		list = append(list, l)
	}
	return list
}

// follow has the current window follow and gives it.
func (s *scene) follow() int {
	s.t.Helper()
	win := s.LuaInt(`vim.api.nvim_get_current_win()`)
	s.Command("Acp follow")
	return win
}

// shows tells what a window shows: name:line.
func (s *scene) shows(win int) string {
	s.t.Helper()
	return s.LuaString(`(function(win)
		local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ':t')
		return name .. ':' .. vim.api.nvim_win_get_cursor(win)[1]
	end)(...)`, win)
}

func (s *scene) awaitShown(win int, want string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("the window to show %s", want), func() bool { return s.shows(win) == want })
}

// recordJumps notes what every jump came to, in _G.jumps.
func (s *scene) recordJumps() {
	s.t.Helper()
	s.Lua(nil, `
		local follow = require('acp.follow')
		local jump = follow.jump
		_G.jumps = {}
		follow.jump = function(args)
			local outcome = jump(args)
			local buf = vim.fn.bufnr(args.path)
			local lit = buf ~= -1 and vim.api.nvim_buf_get_extmarks(buf, vim.api.nvim_create_namespace('acp_follow'), 0, -1, {}) or {}
			_G.lit = lit[1] and lit[1][2] + 1
			table.insert(_G.jumps, vim.fn.fnamemodify(args.path, ':t') .. ' ' .. outcome)
			return outcome
		end`)
}

// jumps are those with an outcome, in order.
func (s *scene) jumps(outcome string) (names []string) {
	s.t.Helper()
	for _, j := range strings.Split(s.LuaString(`table.concat(_G.jumps, '\n')`), "\n") {
		if name, ok := strings.CutSuffix(j, " "+outcome); ok {
			names = append(names, name)
		}
	}
	return names
}

func (s *scene) awaitJump(jump string) {
	s.t.Helper()
	s.AwaitLua(`vim.tbl_contains(_G.jumps, ...)`, jump)
}

// untouched is what a jump must leave as it was: the current window and mode, and for each window its
// alternate file and jump list.
const untouched = `(function()
	local wins = {}
	for _, win in ipairs(vim.api.nvim_list_wins()) do
		vim.api.nvim_win_call(win, function()
			local jumps = vim.tbl_map(function(j)
				return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(j.bufnr), ':t') .. ':' .. j.lnum
			end, vim.fn.getjumplist()[1])
			table.insert(wins, { win, vim.fn.expand('#:t'), jumps, vim.fn.getjumplist()[2] })
		end)
	end
	return { vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode, wins }
end)()`

func TestFollowReadsAndEdits(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		mine := s.write("mine.txt", numbered(80))
		read := s.write("read.lua", strings.ReplaceAll(numbered(80), "line", "return"))
		edit := s.write("edit.txt", numbered(60))
		s.write("other.txt", "other\n")
		s.Command("edit other.txt")
		s.Command("edit " + mine)
		s.Keys("30G60G40G")
		s.AwaitLua(`vim.fn.line('.') == 40`)
		win := s.follow()
		s.recordJumps()
		p := s.begin()
		s.Keys("isome words")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'some words'`)
		turn := s.prompt(p, "go")
		before := fmt.Sprint(s.value(untouched))

		p.works("read", "read", []any{read, 50})
		s.awaitShown(win, "read.lua:50")
		s.AwaitScreen("⌖ following Puppet")
		s.screen("read")
		if got := s.value(`{ vim.bo[vim.api.nvim_win_get_buf(...)].buflisted, vim.bo[vim.api.nvim_win_get_buf(...)].filetype }`, win); fmt.Sprint(got) != "[false lua]" {
			t.Errorf("listed and filetype of the buffer are %v", got)
		}
		if n := s.LuaInt(`_G.lit or 0`); n != 50 {
			t.Errorf("highlighted is line %d", n)
		}
		s.AwaitLua(`#vim.api.nvim_buf_get_extmarks(vim.api.nvim_win_get_buf(...), vim.api.nvim_create_namespace('acp_follow'), 0, -1, {}) == 0`, win)

		// The location comes late, and the diff tells the line.
		p.update("tool_call", obj{"toolCallId": "edit", "title": "edit", "kind": "edit"})
		p.update("tool_call_update", obj{"toolCallId": "edit", "locations": locations([][]any{{edit}}), "content": []obj{
			{"type": "diff", "path": edit, "oldText": "line 33\nline 34\n", "newText": "line 33\nLINE 34\n"},
		}})
		s.awaitShown(win, "edit.txt:34")
		// What was opened only to follow is gone, the user's is not.
		if got := s.value(`vim.tbl_map(vim.fn.bufexists, { ... })`, read, mine); fmt.Sprint(got) != "[0 1]" {
			t.Errorf("the buffers of read.lua and mine.txt exist: %v", got)
		}
		// A line that comes late.
		p.works("late", "edit", []any{edit})
		p.update("tool_call_update", obj{"toolCallId": "late", "locations": locations([][]any{{edit, 12}})})
		s.awaitShown(win, "edit.txt:12")
		// The agent writes the disk: what is shown follows, though the buffer is not listed.
		onDisk := strings.Replace(numbered(60), "line 12\n", "LINE 12\n", 1)
		s.write("edit.txt", onDisk)
		s.AwaitScreen("LINE 12")
		// Without a line, where it was last seen; by a path relative to the session's folder, by a URI.
		p.works("mine", "read", []any{"mine.txt"})
		s.awaitShown(win, "mine.txt:40")
		p.works("uri", "read", []any{"file://" + strings.ReplaceAll(edit, "edit", "%65dit")})
		s.awaitShown(win, "edit.txt:12")

		// Through the client.
		p.readFile(read, obj{"line": 70, "limit": 5})
		s.awaitShown(win, "read.lua:70")
		p.writeFile(edit, strings.Replace(onDisk, "line 55\n", "LINE 55\n", 1))
		s.awaitShown(win, "edit.txt:55")
		made := filepath.Join(s.Dir, "made.txt")
		p.writeFile(made, "made\n")
		s.awaitShown(win, "made.txt:1")

		if after := fmt.Sprint(s.value(untouched)); after != before {
			t.Errorf("focus, alternate files and jump lists were\n%s\nnow they are\n%s", before, after)
		}
		s.Keys("!")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'some words!'`)

		p.works("back", "read", []any{mine, 5})
		s.awaitShown(win, "mine.txt:5")
		s.Command("Acp follow off")
		if got := s.LuaString(`vim.wo[...].winbar`, win); got != "" {
			t.Errorf("the window has %q above it", got)
		}
		p.works("more", "read", []any{read, 3})
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if got := s.shows(win); got != "mine.txt:5" {
			t.Errorf("without following the window shows %s", got)
		}
	})
}

func TestFollowOneFileOfABurst(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var paths []string
		for i := range 20 {
			paths = append(paths, s.write(fmt.Sprintf("f%d.txt", i), numbered(20)))
		}
		s.Command("edit f0.txt")
		win := s.follow()
		s.recordJumps()
		p := s.begin()
		turn := s.prompt(p, "go")
		var lines strings.Builder
		for i, path := range paths {
			kind := "read"
			if i == 7 {
				kind = "edit"
			}
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"t","kind":%q,"locations":[{"path":%q,"line":%d}]}}}`+"\n", remote(1), i, kind, path, i+1)
		}
		p.write(lines.String())
		s.awaitShown(win, "f7.txt:8")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if got := s.jumps("shown"); len(got) != 1 {
			t.Errorf("shown were %v", got)
		}
		if n := s.LuaInt(`#vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):match('f%d+.txt$') end, vim.api.nvim_list_bufs())`); n != 2 {
			t.Errorf("there are buffers of %d files", n)
		}
	})
}

func TestFollowPausesWhereTheUserGoes(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Lua(nil, `vim.o.winbar = '%f'`)
		one, two := s.write("one.txt", numbered(100)), s.write("two.txt", numbered(100))
		s.Command("edit one.txt")
		p := s.begin()
		turn := s.prompt(p, "go")
		s.Command("wincmd t")
		win := s.follow()
		s.recordJumps()
		n := 0
		resume := func() {
			t.Helper()
			jumps := len(s.jumps("shown"))
			s.Command("wincmd b") // the prompt
			s.Command("Acp follow")
			if n > 0 { // to where the agent is
				s.Await("a jump after the pause", func() bool { return len(s.jumps("shown")) > jumps })
			}
			if bar := s.LuaString(`vim.wo[...].winbar`, win); bar != "%f%=%#AcpWinbarFollow# ⌖ following Puppet " {
				t.Errorf("the window has %q above it", bar)
			}
		}
		jump := func(path string) string {
			t.Helper()
			n++
			p.works(fmt.Sprint(n), "read", []any{path, n + 20})
			return fmt.Sprintf("%s:%d", filepath.Base(path), n+20)
		}
		resume()
		s.awaitShown(win, jump(two))
		for _, c := range []struct{ name, keys, done string }{
			{"moves the cursor", "<C-w>tj", `vim.fn.line('.') == %d + 1`},
			{"scrolls", "<C-w>t<C-e>", `vim.fn.line('w0') > 1`},
			{"types", "<C-w>tix<Esc>", `vim.bo.modified`},
			{"edits in Normal mode", "<C-w>tx", `vim.bo.modified`},
			{"opens a file", "<C-w>t:hide edit one.txt<CR>", `vim.fn.expand('%%:t') == 'one.txt'`},
		} {
			line := n + 20
			s.Keys(c.keys)
			if strings.Contains(c.done, "%d") {
				c.done = fmt.Sprintf(c.done, line)
			}
			s.AwaitLua(strings.ReplaceAll(c.done, "%%", "%"))
			s.Await(fmt.Sprintf("a pause when the user %s", c.name), func() bool {
				return s.LuaString(`vim.wo[...].winbar`, win) == "%f%=%#AcpWinbarFollow# ⌖ paused · :Acp follow resumes "
			})
			if c.name == "moves the cursor" {
				s.screen("paused")
			}
			at := s.shows(win)
			jump(two)
			// The host has seen the place when it has answered a later read.
			p.readFile(one, nil)
			if got := s.shows(win); got != at {
				t.Errorf("the user %s, and the window went from %s to %s", c.name, at, got)
			}
			s.Lua(nil, `vim.bo[vim.api.nvim_win_get_buf(...)].modified = false`, win)
			resume()
			s.Await("where the agent has read", func() bool { return strings.HasPrefix(s.shows(win), "one.txt:") })
			s.awaitShown(win, jump(two))
		}
		if got := s.jumps("busy"); len(got) > 0 {
			t.Errorf("it tried to jump while the window was the user's: %v", got)
		}
		// The mouse, over the window that is not current.
		s.Lua(nil, `vim.o.mouse = 'a'; vim.api.nvim_input_mouse('wheel', 'down', '', 0, 5, 5)`)
		s.AwaitLua(`vim.wo[...].winbar:find('paused', 1, true)`, win)
		resume()
		// What others do on the user's behalf: a jump to a place from the chat.
		s.Lua(nil, `vim.api.nvim_win_set_cursor(..., { 77, 0 })`, win)
		jump(two)
		s.AwaitLua(`vim.wo[...].winbar:find('paused', 1, true)`, win)
		if got := s.shows(win); got != "two.txt:77" {
			t.Errorf("the window went to %s", got)
		}
		// The mark goes with the window, not with a split of it.
		s.Command("wincmd t")
		s.Command("split")
		s.AwaitLua(`vim.api.nvim_get_current_win() ~= ... and vim.wo.winbar == '%f'`, win)
		s.Command("close")
		s.Command("Acp follow off")
		if bar := s.LuaString(`vim.wo[...].winbar`, win); bar != "%f" {
			t.Errorf("the window has %q above it", bar)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	}, wide)
}

func TestFollowWaitsForTheUser(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one, two := s.write("one.txt", numbered(100)), s.write("two.txt", numbered(100))
		s.Command("edit one.txt")
		win := s.follow()
		s.recordJumps()
		s.Lua(nil, `
			local idle = require('acp.idle')
			local now = idle.now
			_G.looks = 0
			idle.now = function()
				_G.looks = _G.looks + 1
				return now()
			end`)
		p := s.begin()
		turn := s.prompt(p, "go")
		n := 0
		for _, c := range []struct{ begin, in, end string }{
			{":", `vim.fn.mode() == 'c'`, "<Esc>"},
			{"d", `vim.api.nvim_get_mode().mode == 'no'`, "<Esc>"},
			{"q:", `vim.fn.getcmdwintype() == ':'`, ":q<CR>"},
		} {
			n++
			s.Keys(c.begin)
			s.AwaitLua(c.in)
			at := s.shows(win)
			path := []string{one, two}[n%2]
			s.Lua(nil, `_G.jumps = {}`)
			p.works(fmt.Sprint(n), "read", []any{path, n})
			s.awaitJump(filepath.Base(path) + " locked")
			if c.begin == "q:" { // where Neovim is at rest, so that waiting could be an endless loop
				looks := s.LuaInt(`_G.looks`)
				for range 50 {
					s.LuaInt(`1`)
				}
				if n := s.LuaInt(`_G.looks`) - looks; n > 100 {
					t.Errorf("in the command-line window it looked %d times whether that is over", n)
				}
			}
			if got := s.shows(win); got != at || !s.LuaBool(c.in) {
				t.Errorf("after %s the window shows %s, before %s", c.begin, got, at)
			}
			s.Keys(c.end)
			s.awaitShown(win, fmt.Sprintf("%s:%d", filepath.Base(path), n))
			if tries := s.LuaInt(`#_G.jumps`); tries > 3 {
				t.Errorf("during %s it tried %d times", c.begin, tries)
			}
		}
		// In the window without moving: it waits a moment, then goes on.
		s.Command("wincmd t")
		s.Lua(nil, `_G.jumps = {}`)
		p.works("enter", "read", []any{two, 60})
		s.awaitShown(win, "two.txt:60")
		// Selecting.
		s.Keys("V")
		s.AwaitLua(`vim.fn.mode() == 'V'`)
		s.Lua(nil, `_G.jumps = {}`)
		p.works("select", "read", []any{one, 61})
		s.awaitJump("one.txt busy")
		if got := s.shows(win); got != "two.txt:60" {
			t.Errorf("under a selection the window shows %s", got)
		}
		s.Keys("<Esc>")
		s.awaitShown(win, "one.txt:61")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestFollowKeepsWhatTheUserUses(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var paths []string
		for i := range 5 {
			paths = append(paths, s.write(fmt.Sprintf("f%d.txt", i), numbered(20)))
		}
		s.Command("enew")
		win := s.follow()
		p := s.begin()
		turn := s.prompt(p, "go")
		show := func(i int) {
			t.Helper()
			p.works(fmt.Sprintf("%d.%d", i, s.LuaInt(`vim.uv.hrtime() % 1000000`)), "read", []any{paths[i], i + 1})
			s.awaitShown(win, fmt.Sprintf("f%d.txt:%d", i, i+1))
		}
		show(0)
		s.Lua(nil, `vim.bo[vim.api.nvim_win_get_buf(...)].modified = true`, win)
		show(1)
		s.Lua(nil, `vim.api.nvim_win_call(..., function() vim.cmd('botright vsplit') end)`, win)
		show(2)
		s.Lua(nil, `vim.bo[vim.api.nvim_win_get_buf(...)].buflisted = true`, win)
		show(3)
		show(4)
		got := s.value(`vim.tbl_map(function(path) return vim.fn.bufexists(path) end, ...)`, paths)
		if fmt.Sprint(got) != "[1 1 1 0 1]" {
			t.Errorf("modified, elsewhere, listed, replaced, shown exist: %v", got)
		}
		// What the user has changed is listed, and stays when it is saved.
		s.Lua(nil, `vim.bo[vim.fn.bufnr(...)].modified = false`, paths[0])
		show(3)
		if s.LuaInt(`vim.fn.buflisted(...)`, paths[0]) != 1 {
			t.Error("a buffer that the user has changed is not listed")
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// The change that an agent tells is the place, whatever comes beside it: no line, or that of the hunk's beginning. A line
// told before an edit moves with it.
func TestFollowTheLocatedChange(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, other := s.write("code.txt", numbered(120)), s.write("other.txt", numbered(50))
		s.Command("edit other.txt")
		win := s.follow()
		s.recordJumps()
		p := s.begin()
		turn := s.prompt(p, "go")
		change := func(line string) []obj {
			return []obj{{"type": "diff", "path": path, "oldText": line + "\n", "newText": strings.ToUpper(line) + "\n"}}
		}
		p.update("tool_call", obj{"toolCallId": "codex", "title": "edit", "kind": "edit", "status": "in_progress", "content": change("line 70")})
		id := p.permission(obj{"toolCallId": "codex", "kind": "edit", "locations": locations([][]any{{path}})}, yesNo...)
		s.awaitShown(win, "code.txt:70")
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")

		p.update("tool_call", obj{"toolCallId": "claude", "title": "edit", "kind": "edit", "status": "in_progress",
			"content": change("line 91"), "locations": locations([][]any{{path, 88}})})
		s.awaitShown(win, "code.txt:91")
		// Where the change is not in the file the location counts.
		p.update("tool_call", obj{"toolCallId": "lost", "title": "edit", "kind": "edit", "status": "in_progress",
			"content": change("line 500"), "locations": locations([][]any{{path, 20}})})
		s.awaitShown(win, "code.txt:20")

		p.works("away", "read", []any{other, 3})
		s.awaitShown(win, "other.txt:3")
		p.writeFile(path, "new\nnew\n"+numbered(120))
		s.awaitShown(win, "code.txt:1")
		p.works("away again", "read", []any{other, 30})
		s.awaitShown(win, "other.txt:30")
		s.write("other.txt", "new\nnew\n"+numbered(50))
		p.works("code", "read", []any{path, 5})
		s.awaitShown(win, "code.txt:5")
		s.awaitBuffer(s.LuaInt(`vim.fn.bufnr('other.txt')`), "new\nnew\n"+strings.TrimSuffix(numbered(50), "\n"))
		p.works("back", "read", []any{other})
		s.awaitShown(win, "other.txt:32")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// What throws while a file is shown changes nothing of the line; what the user has typed in a file that was opened only
// to follow is theirs, and listed.
func TestFollowWhereSomethingThrows(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		bad := s.write("bad.txt", numbered(60)+"vim: set nosuchoption=1:\n")
		code := s.write("code.lua", strings.ReplaceAll(numbered(60), "line", "return"))
		s.write("plain.txt", numbered(60))
		s.Lua(nil, `
			vim.o.modeline = true
			local group = vim.api.nvim_create_augroup('mine', {})
			vim.api.nvim_create_autocmd('BufEnter', { group = group, pattern = 'code.lua', callback = function() error('mine') end })
			vim.api.nvim_create_autocmd('FileType', { group = group, pattern = 'lua', callback = function() error('mine') end })`)
		s.Command("edit plain.txt")
		win := s.follow()
		p := s.begin()
		turn := s.prompt(p, "go")
		p.works("bad", "read", []any{bad, 40})
		s.awaitShown(win, "bad.txt:40")
		p.works("code", "read", []any{code, 30})
		s.awaitShown(win, "code.lua:30")

		s.Lua(nil, `vim.api.nvim_clear_autocmds({ group = 'mine' })
			vim.api.nvim_set_current_win(...)`, win)
		s.Keys("omine<Esc>")
		s.AwaitScreen("⌖ paused")
		s.Command("Acp follow")
		p.works("away", "read", []any{bad, 20})
		s.awaitShown(win, "bad.txt:20")
		s.AwaitLua(`vim.bo[vim.fn.bufnr('code.lua')].buflisted and vim.bo[vim.fn.bufnr('code.lua')].modified`)
		s.Command("Acp follow off")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Lua(nil, `vim.cmd.bwipeout({ 'code.lua', bang = true })`)
	})
}

func TestFollowOddFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Lua(nil, `
			vim.o.updatecount, vim.o.directory = 200, '.'
			_G.types = 0
			vim.api.nvim_create_autocmd('FileType', { pattern = 'lua', callback = function() _G.types = _G.types + 1 end })`)
		big := s.write("big.lua", strings.Repeat("local x = 1 -- some more text\n", 70000))
		swapped := s.write("swapped.lua", numbered(30))
		s.write("end.txt", numbered(30))
		binary := s.write("binary.txt", "a\x00b\n")
		utf16 := s.write("utf16.txt", "\xff\xfea\x00\n\x00")
		outside := filepath.Join(t.TempDir(), "outside.txt")
		if err := os.WriteFile(outside, []byte(numbered(30)), 0o666); err != nil {
			t.Fatal(err)
		}
		s.write("plain.txt", "plain\n")
		s.Command("edit plain.txt")
		win := s.follow()
		s.recordJumps()
		p := s.begin()
		turn := s.prompt(p, "go")

		p.works("big", "read", []any{big, 60000})
		s.awaitShown(win, "big.lua:60000")
		if got := s.LuaString(`vim.bo[vim.api.nvim_win_get_buf(...)].filetype`, win); got != "" || s.LuaInt(`_G.types`) != 0 || s.LuaString(`vim.o.eventignore`) != "" {
			t.Errorf("2 MB have filetype %q, %d events, 'eventignore' is %q", got, s.LuaInt(`_G.types`), s.LuaString(`vim.o.eventignore`))
		}

		// Another program's swap file: no question, and the agent can write.
		swap := s.swapFile(swapped)
		p.works("swapped", "read", []any{swapped, 20})
		s.awaitShown(win, "swapped.lua:20")
		s.AwaitScreen("following Puppet · swap file")
		if s.LuaInt(`_G.types`) != 1 || s.LuaBool(`vim.bo[vim.api.nvim_win_get_buf(...)].readonly`, win) {
			t.Error("a file with a swap file has no filetype, or is read-only")
		}
		p.writeFile(swapped, strings.Replace(numbered(30), "line 25\n", "LINE 25\n", 1))
		s.awaitShown(win, "swapped.lua:25")
		if _, err := os.Stat(swap); err != nil {
			t.Errorf("the swap file: %v", err)
		}

		// A name as the user would have given it.
		p.works("detour", "read", []any{s.Dir + "/./../" + filepath.Base(s.Dir) + "/end.txt", 7})
		s.awaitShown(win, "end.txt:7")
		if got := s.LuaString(`vim.fn.bufname(vim.api.nvim_win_get_buf(...))`, win); got != "end.txt" {
			t.Errorf("the file is named %q", got)
		}
		p.works("swapped again", "read", []any{swapped, 25})
		s.awaitShown(win, "swapped.lua:25")

		// What cannot be shown is not.
		for i, path := range []string{binary, s.Dir, filepath.Join(s.Dir, "missing.txt"), "http://example.org/x"} {
			p.works(fmt.Sprint("odd", i), "read", []any{path, 3})
			p.works(fmt.Sprint("odd2", i), "read", []any{path})
		}
		p.works("end", "read", []any{"end.txt", 4000})
		s.awaitShown(win, "end.txt:30")
		p.works("binary", "read", []any{binary, 1})
		p.works("utf16", "read", []any{utf16, 1})
		s.awaitShown(win, "utf16.txt:1")
		p.works("outside", "read", []any{outside, 7})
		s.awaitShown(win, "outside.txt:7")
		// A file that an edit makes is shown once it is there.
		fresh := filepath.Join(s.Dir, "fresh.txt")
		p.update("tool_call", obj{"toolCallId": "fresh", "title": "fresh", "kind": "edit", "locations": locations([][]any{{fresh}}),
			"content": []obj{{"type": "diff", "path": fresh, "newText": "a\nb\n"}}})
		s.awaitJump("fresh.txt skipped")
		s.write("fresh.txt", "a\nb\n")
		p.update("tool_call_update", obj{"toolCallId": "fresh", "status": "completed"})
		s.awaitShown(win, "fresh.txt:1")
		if got := s.Messages(); got != "" {
			t.Errorf("messages: %s", got)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// swapFile makes a swap file of a file, as another Neovim leaves it that was killed.
func (s *scene) swapFile(path string) string {
	s.t.Helper()
	swap := s.LuaString(`(function(path)
		local code = 'vim.o.directory = "." vim.o.updatecount = 200 vim.cmd.edit(vim.fn.fnameescape(' .. vim.inspect(path) .. '))'
			.. ' vim.api.nvim_buf_set_lines(0, 0, 1, false, {"unsaved"}) vim.cmd.preserve()'
			.. ' io.write(vim.fn.swapname("%")) io.flush() vim.uv.kill(vim.uv.os_getpid(), "sigkill")'
		local got = vim.system({ vim.v.progpath, '--clean', '--headless', '--cmd', 'lua ' .. code }, { text = true }):wait()
		return got.stdout
	end)(...)`, path)
	if _, err := os.Stat(swap); err != nil {
		s.t.Fatalf("the swap file %q: %v", swap, err)
	}
	return swap
}

func TestFollowByConfiguration(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.follow = 'window'`)
		one, two, three := s.write("one.txt", numbered(100)), s.write("two.txt", numbered(100)), s.write("three.txt", numbered(100))
		s.Command("edit one.txt")
		s.Lua(nil, `vim.cmd('terminal'); vim.cmd('belowright vsplit one.txt')`)
		s.AwaitLua(`vim.fn.bufwinid('one.txt') ~= -1`)
		code := s.LuaInt(`vim.fn.bufwinid('one.txt')`)
		p := s.begin()
		s.AwaitLua(`vim.wo[...].winbar:find('following Puppet', 1, true)`, code)
		turn := s.prompt(p, "go")
		p.works("one", "read", []any{two, 50})
		s.awaitShown(code, "two.txt:50")

		// The chat is hidden, and nobody is in a window of it.
		s.Command("Acp toggle")
		p.works("two", "read", []any{one, 51})
		s.awaitShown(code, "one.txt:51")

		// The window is closed: that ends it.
		s.Lua(nil, `vim.api.nvim_win_close(..., true)`, code)
		s.awaitMessage("the following window was closed")
		p.works("three", "read", []any{two, 52})
		p.readFile(two, nil)
		if s.LuaBool(`vim.fn.bufwinid('two.txt') ~= -1`) {
			t.Error("it follows still")
		}

		// Without a window for code one is opened beside the chat.
		s.Command("Acp")
		s.Lua(nil, `
			local chat, prompt = require('acp.layout').windows(0)
			for _, win in ipairs(vim.api.nvim_list_wins()) do
				if win ~= chat and win ~= prompt then vim.api.nvim_win_close(win, true) end
			end`)
		s.Command("Acp follow")
		s.awaitMessage("a window opens with the first file")
		current := s.LuaInt(`vim.api.nvim_get_current_win()`)
		p.works("four", "read", []any{three, 53})
		s.AwaitLua(`vim.fn.bufwinid('three.txt') ~= -1`)
		opened := s.LuaInt(`vim.fn.bufwinid('three.txt')`)
		s.awaitShown(opened, "three.txt:53")
		if got := s.LuaInt(`vim.api.nvim_get_current_win()`); got != current {
			t.Error("the focus went away")
		}
		s.Command("set cmdheight=1")
		s.Keys(":<Esc>")
		s.screen("opened")

		if got := s.refused(`require('acp').follow('yes')`); !strings.Contains(got, "true or false") {
			t.Errorf("it says %q", got)
		}
		s.ok(`require('acp').follow(false)`)
		s.ok(`require('acp').follow(true)`)
		s.ok(`require('acp').follow()`)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	}, wide)
}

// What a window shows is moved no more than it must be, and the user's options count.
func TestFollowView(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.write("one.txt", numbered(300))
		s.Command("edit one.txt")
		s.Command("setlocal scrolloff=3 foldmethod=manual")
		s.Command("200,220fold")
		win := s.follow()
		s.recordJumps()
		p := s.begin()
		turn := s.prompt(p, "go")
		n := 0
		show := func(line int, want string) {
			t.Helper()
			n++
			p.works(fmt.Sprint(n), "read", []any{one, line})
			s.awaitShown(win, fmt.Sprintf("one.txt:%d", line))
			got := s.LuaString(`vim.fn.line('w0', ...) .. ' ' .. vim.fn.line('w$', ...)`, win)
			if got != want {
				t.Errorf("at line %d the window shows lines %s, expected %s", line, got, want)
			}
		}
		show(15, "1 21")
		show(19, "9 29") // in the margin at the end
		show(24, "9 29")
		show(12, "9 29")
		show(11, "1 21")
		show(300, "280 300")
		show(210, "200 220")
		if s.LuaInt(`vim.api.nvim_win_call(..., function() return vim.fn.foldclosed(210) end)`, win) != -1 {
			t.Error("the fold around the place is closed")
		}
		// Text that the agent puts above is no doing of the user's.
		p.writeFile(one, "new\nnew\n"+numbered(300))
		s.awaitShown(win, "one.txt:1")
		show(50, "40 60")
		// Nor what the user's own autocommands make of a file that was opened.
		s.Lua(nil, `vim.api.nvim_create_autocmd('BufReadPost', { pattern = '*.md', callback = function()
			local win = vim.api.nvim_get_current_win()
			vim.schedule(function() vim.api.nvim_win_set_cursor(win, { 3, 0 }) end)
		end })`)
		p.works("md", "read", []any{s.write("a.md", numbered(20)), 10})
		s.awaitShown(win, "a.md:3")
		n++
		p.works(fmt.Sprint(n), "read", []any{one, 60})
		s.awaitShown(win, "one.txt:60")
		// Nor is a terminal that the user types in.
		s.Command("botright 5new | terminal cat")
		s.Keys("i")
		s.AwaitLua(`vim.fn.mode() == 't'`)
		s.Keys("typed")
		n++
		p.works(fmt.Sprint(n), "read", []any{one, 100})
		s.awaitShown(win, "one.txt:100")
		s.Keys(" on")
		s.AwaitScreen("typed on")
		s.AwaitLua(`vim.fn.mode() == 't'`)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// The window is current where the first place comes, without having been marked.
func TestFollowLeavesTheCurrentWindowToAWriter(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one, two := s.write("one.txt", numbered(300)), s.write("two.txt", numbered(300))
		s.configure(`c.follow = 'window'`)
		s.Command("edit one.txt")
		win := s.LuaInt(`vim.api.nvim_get_current_win()`)
		p := s.begin()
		turn := s.prompt(p, "go")
		s.Command("wincmd t")
		s.recordJumps()
		s.Keys("Atext")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'line 1text'`)
		p.works("two", "read", []any{two, 10})
		p.readFile(one, nil)
		s.Keys(" more")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'line 1text more'`)
		s.AwaitLua(`vim.wo[...].winbar:find('paused', 1, true)`, win)
		s.Keys("<Esc>")
		s.Command("Acp follow")
		s.Command("wincmd b")
		s.AwaitLua(`_G.jumps[#_G.jumps] == 'one.txt shown'`)
		if got := s.jumps("shown"); fmt.Sprint(got) != "[one.txt]" {
			t.Errorf("shown were %v", got)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestFollowNoReplay(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		old, fresh := s.write("old.txt", numbered(30)), s.write("new.txt", numbered(30))
		s.Command("enew")
		win := s.follow()
		s.recordJumps()
		s.ok(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, remote(1))
		p := s.agent()
		p.initialize(keeps(true))
		load := p.expect("session/load")
		p.works("old", "edit", []any{old, 20})
		p.reply(load, obj{})
		s.AwaitEvent("AcpSessionReady")
		turn := s.prompt(p, "go")
		p.works("new", "read", []any{fresh, 7})
		s.awaitShown(win, "new.txt:7")
		if got := s.jumps("shown"); fmt.Sprint(got) != "[new.txt]" {
			t.Errorf("shown were %v", got)
		}
		// What was decided before the user's last action is refused.
		outcome := s.LuaString(`require('acp.follow').jump({ path = ..., line = 3, exists = true, big = false, activity = -1 })`, old)
		if outcome != "busy" || s.shows(win) != "new.txt:7" {
			t.Errorf("a late jump is %s, and the window shows %s", outcome, s.shows(win))
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestFollowGoesOnWithAnotherHost(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.write("one.txt", numbered(30))
		s.Command("enew")
		win := s.follow()
		p := s.beginWith(keeps(true, "resume"))
		turn := s.prompt(p, "go")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.killHost()
		s.awaitState("dead")
		s.ok(`require('acp').restart()`)
		p = s.agent()
		p.initialize(keeps(true, "resume"))
		p.reply(p.expect("session/resume"), obj{})
		s.awaitState("idle")
		turn = s.prompt(p, "again")
		p.works("one", "read", []any{one, 9})
		s.awaitShown(win, "one.txt:9")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	}, nvimtest.AllowErrors("the host ended"))
}

func TestFollowGivesTheCurrentWindowAMoment(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one, two := s.write("one.txt", numbered(30)), s.write("two.txt", numbered(30))
		s.configure(`c.follow = 'window'`)
		s.Command("setlocal buftype=nofile") // a window that cannot be marked at the start
		win := s.LuaInt(`vim.api.nvim_get_current_win()`)
		p := s.begin()
		turn := s.prompt(p, "go")
		s.recordJumps()
		s.Command("wincmd t")
		s.Command("edit " + one)
		p.works("two", "read", []any{two, 10})
		s.awaitShown(win, "two.txt:10")
		if got := s.LuaString(`table.concat(_G.jumps, ', ')`); got != "two.txt busy, two.txt shown" {
			t.Errorf("the jumps are %s", got)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// Files below the current folder have short names on the screen, as if the user had opened them.
func TestNamesOnTheScreenAreShort(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if err := os.Mkdir(filepath.Join(s.Dir, "src"), 0o755); err != nil {
			t.Fatal(err)
		}
		followed, gone := s.write("src/followed.txt", numbered(9)), s.write("src/gone.txt", numbered(9))
		s.Command("cd " + s.Dir)
		s.Command("edit mine.txt")
		win := s.follow()
		p := s.begin()
		s.prompt(p, "go")
		p.works("one", "read", []any{followed, 3})
		s.awaitShown(win, "followed.txt:3")
		s.Command("Acp follow off")
		p.works("two", "read", []any{gone, 4})
		s.awaitChat("gone.txt")
		s.Keys("<Esc>")
		s.toBlock("gone.txt")
		s.Keys("gd")
		s.AwaitLua(`vim.fn.expand('%:t') == 'gone.txt'`)
		for _, path := range []string{followed, gone} {
			if got, want := s.LuaString(`vim.fn.bufname(...)`, path), "src/"+filepath.Base(path); got != want {
				t.Errorf("the name is %s, want %s", got, want)
			}
		}
	})
}
