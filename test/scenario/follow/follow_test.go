package follow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
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
func works(p *scene.Puppet, id, kind string, places ...[]any) {
	p.T.Helper()
	p.Update("tool_call", obj{"toolCallId": id, "title": id, "kind": kind, "status": "in_progress", "locations": locations(places)})
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
func follow(s *scene.Scene) int {
	s.T.Helper()
	win := s.LuaInt(`vim.api.nvim_get_current_win()`)
	s.Command("Acp follow")
	return win
}

// shows tells what a window shows: name:line.
func shows(s *scene.Scene, win int) string {
	s.T.Helper()
	return s.LuaString(`(function(win)
		local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ':t')
		return name .. ':' .. vim.api.nvim_win_get_cursor(win)[1]
	end)(...)`, win)
}

func awaitShown(s *scene.Scene, win int, want string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("the window to show %s", want), func() bool { return shows(s, win) == want })
}

// recordJumps notes what every jump came to, in _G.jumps.
func recordJumps(s *scene.Scene) {
	s.T.Helper()
	s.Lua(nil, `
		local follow = require('acp.follow.window')
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

// jumpsWith are those with an outcome, in order.
func jumpsWith(s *scene.Scene, outcome string) (names []string) {
	s.T.Helper()
	for _, j := range strings.Split(s.LuaString(`table.concat(_G.jumps, '\n')`), "\n") {
		if name, ok := strings.CutSuffix(j, " "+outcome); ok {
			names = append(names, name)
		}
	}
	return names
}

func awaitJump(s *scene.Scene, jump string) {
	s.T.Helper()
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
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		mine := s.WriteFile("mine.txt", numbered(80))
		read := s.WriteFile("read.lua", strings.ReplaceAll(numbered(80), "line", "return"))
		edit := s.WriteFile("edit.txt", numbered(60))
		s.WriteFile("other.txt", "other\n")
		s.Command("edit other.txt")
		s.Command("edit " + mine)
		s.Keys("30G60G40G")
		s.AwaitLua(`vim.fn.line('.') == 40`)
		win := follow(s)
		recordJumps(s)
		p := s.Begin()
		s.Keys("isome words")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'some words'`)
		turn := s.Prompt(p, "go")
		before := fmt.Sprint(s.Value(untouched))

		works(p, "read", "read", []any{read, 50})
		awaitShown(s, win, "read.lua:50")
		s.AwaitScreen("⌖ following Puppet")
		s.GoldenScreen("read")
		if got := s.Value(`{ vim.bo[vim.api.nvim_win_get_buf(...)].buflisted, vim.bo[vim.api.nvim_win_get_buf(...)].filetype }`, win); fmt.Sprint(got) != "[false lua]" {
			t.Errorf("listed and filetype of the buffer are %v", got)
		}
		check.Equal(t, s.LuaInt(`_G.lit or 0`), 50, "highlighted is line %d")
		s.AwaitLua(`#vim.api.nvim_buf_get_extmarks(vim.api.nvim_win_get_buf(...), vim.api.nvim_create_namespace('acp_follow'), 0, -1, {}) == 0`, win)

		// The location comes late, and the diff tells the line.
		p.Update("tool_call", obj{"toolCallId": "edit", "title": "edit", "kind": "edit"})
		p.Update("tool_call_update", obj{"toolCallId": "edit", "locations": locations([][]any{{edit}}), "content": []obj{
			{"type": "diff", "path": edit, "oldText": "line 33\nline 34\n", "newText": "line 33\nLINE 34\n"},
		}})
		awaitShown(s, win, "edit.txt:34")
		// What was opened only to follow is gone, the user's is not.
		if got := s.Value(`vim.tbl_map(vim.fn.bufexists, { ... })`, read, mine); fmt.Sprint(got) != "[0 1]" {
			t.Errorf("the buffers of read.lua and mine.txt exist: %v", got)
		}
		// A line that comes late.
		works(p, "late", "edit", []any{edit})
		p.Update("tool_call_update", obj{"toolCallId": "late", "locations": locations([][]any{{edit, 12}})})
		awaitShown(s, win, "edit.txt:12")
		// The agent writes the disk: what is shown follows, though the buffer is not listed.
		onDisk := strings.Replace(numbered(60), "line 12\n", "LINE 12\n", 1)
		s.WriteFile("edit.txt", onDisk)
		s.AwaitScreen("LINE 12")
		// Without a line, where it was last seen; by a path relative to the session's folder, by a URI.
		works(p, "mine", "read", []any{"mine.txt"})
		awaitShown(s, win, "mine.txt:40")
		works(p, "uri", "read", []any{"file://" + strings.ReplaceAll(edit, "edit", "%65dit")})
		awaitShown(s, win, "edit.txt:12")

		// Through the client.
		p.ReadFile(read, obj{"line": 70, "limit": 5})
		awaitShown(s, win, "read.lua:70")
		p.WriteFile(edit, strings.Replace(onDisk, "line 55\n", "LINE 55\n", 1))
		awaitShown(s, win, "edit.txt:55")
		made := filepath.Join(s.Dir, "made.txt")
		p.WriteFile(made, "made\n")
		awaitShown(s, win, "made.txt:1")

		check.Equal(t, fmt.Sprint(s.Value(untouched)), before,
			"focus, alternate files and jump lists were\n%s\nnow they are\n%s", before)
		s.Keys("!")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'some words!'`)

		works(p, "back", "read", []any{mine, 5})
		awaitShown(s, win, "mine.txt:5")
		s.Command("Acp follow off")
		check.Equal(t, s.LuaString(`vim.wo[...].winbar`, win), "", "the window has %q above it")
		works(p, "more", "read", []any{read, 3})
		p.EndTurn(turn)
		check.Equal(t, shows(s, win), "mine.txt:5", "without following the window shows %s")
	})
}

func TestFollowOneFileOfABurst(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		var paths []string
		for i := range 20 {
			paths = append(paths, s.WriteFile(fmt.Sprintf("f%d.txt", i), numbered(20)))
		}
		s.Command("edit f0.txt")
		win := follow(s)
		recordJumps(s)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		var lines strings.Builder
		for i, path := range paths {
			kind := "read"
			if i == 7 {
				kind = "edit"
			}
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"t","kind":%q,"locations":[{"path":%q,"line":%d}]}}}`+"\n", scene.SessionID(1), i, kind, path, i+1)
		}
		p.Write(lines.String())
		awaitShown(s, win, "f7.txt:8")
		p.EndTurn(turn)
		if got := jumpsWith(s, "shown"); len(got) != 1 {
			t.Errorf("shown were %v", got)
		}
		if n := s.LuaInt(`#vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):match('f%d+.txt$') end, vim.api.nvim_list_bufs())`); n != 2 {
			t.Errorf("there are buffers of %d files", n)
		}
	})
}

func TestFollowPausesWhereTheUserGoes(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `vim.o.winbar = '%f'`)
		one, two := s.WriteFile("one.txt", numbered(100)), s.WriteFile("two.txt", numbered(100))
		s.Command("edit one.txt")
		p := s.Begin()
		turn := s.Prompt(p, "go")
		s.Command("wincmd t")
		win := follow(s)
		recordJumps(s)
		n := 0
		resume := func() {
			t.Helper()
			jumps := len(jumpsWith(s, "shown"))
			s.Command("wincmd b") // the prompt
			s.Command("Acp follow")
			if n > 0 { // to where the agent is
				s.Await("a jump after the pause", func() bool { return len(jumpsWith(s, "shown")) > jumps })
			}
			check.Equal(t, s.LuaString(`vim.wo[...].winbar`, win), "%f%=%#AcpWinbarFollow# ⌖ following Puppet ",
				"the window has %q above it")
		}
		jump := func(path string) string {
			t.Helper()
			n++
			works(p, fmt.Sprint(n), "read", []any{path, n + 20})
			return fmt.Sprintf("%s:%d", filepath.Base(path), n+20)
		}
		resume()
		awaitShown(s, win, jump(two))
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
				s.GoldenScreen("paused")
			}
			at := shows(s, win)
			jump(two)
			// The host has seen the place when it has answered a later read.
			p.ReadFile(one, nil)
			check.Equal(t, shows(s, win), at, "the user %s, and the window went from %s to %s", c.name, at)
			s.Lua(nil, `vim.bo[vim.api.nvim_win_get_buf(...)].modified = false`, win)
			resume()
			s.Await("where the agent has read", func() bool { return strings.HasPrefix(shows(s, win), "one.txt:") })
			awaitShown(s, win, jump(two))
		}
		if got := jumpsWith(s, "busy"); len(got) > 0 {
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
		check.Equal(t, shows(s, win), "two.txt:77", "the window went to %s")
		// The mark goes with the window, not with a split of it.
		s.Command("wincmd t")
		s.Command("split")
		s.AwaitLua(`vim.api.nvim_get_current_win() ~= ... and vim.wo.winbar == '%f'`, win)
		s.Command("close")
		s.Command("Acp follow off")
		check.Equal(t, s.LuaString(`vim.wo[...].winbar`, win), "%f", "the window has %q above it")
		p.EndTurn(turn)
	}, scene.Wide)
}

func TestFollowWaitsForTheUser(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		one, two := s.WriteFile("one.txt", numbered(100)), s.WriteFile("two.txt", numbered(100))
		s.Command("edit one.txt")
		win := follow(s)
		recordJumps(s)
		s.Lua(nil, `
			local idle = require('acp.ui.safe_state')
			local now = idle.now
			_G.looks = 0
			idle.now = function()
				_G.looks = _G.looks + 1
				return now()
			end`)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		n := 0
		for _, c := range []struct{ begin, in, end string }{
			{":", `vim.fn.mode() == 'c'`, "<Esc>"},
			{"d", `vim.api.nvim_get_mode().mode == 'no'`, "<Esc>"},
			{"q:", `vim.fn.getcmdwintype() == ':'`, ":q<CR>"},
		} {
			n++
			s.Keys(c.begin)
			s.AwaitLua(c.in)
			at := shows(s, win)
			path := []string{one, two}[n%2]
			s.Lua(nil, `_G.jumps = {}`)
			works(p, fmt.Sprint(n), "read", []any{path, n})
			awaitJump(s, filepath.Base(path)+" locked")
			if c.begin == "q:" { // where Neovim is at rest, so that waiting could be an endless loop
				looks := s.LuaInt(`_G.looks`)
				for range 50 {
					s.LuaInt(`1`)
				}
				if n := s.LuaInt(`_G.looks`) - looks; n > 100 {
					t.Errorf("in the command-line window it looked %d times whether that is over", n)
				}
			}
			if got := shows(s, win); got != at || !s.LuaBool(c.in) {
				t.Errorf("after %s the window shows %s, before %s", c.begin, got, at)
			}
			s.Keys(c.end)
			awaitShown(s, win, fmt.Sprintf("%s:%d", filepath.Base(path), n))
			if tries := s.LuaInt(`#_G.jumps`); tries > 3 {
				t.Errorf("during %s it tried %d times", c.begin, tries)
			}
		}
		// In the window without moving: it waits a moment, then goes on.
		s.Command("wincmd t")
		s.Lua(nil, `_G.jumps = {}`)
		works(p, "enter", "read", []any{two, 60})
		awaitShown(s, win, "two.txt:60")
		// Selecting.
		s.Keys("V")
		s.AwaitLua(`vim.fn.mode() == 'V'`)
		s.Lua(nil, `_G.jumps = {}`)
		works(p, "select", "read", []any{one, 61})
		awaitJump(s, "one.txt busy")
		check.Equal(t, shows(s, win), "two.txt:60", "under a selection the window shows %s")
		s.Keys("<Esc>")
		awaitShown(s, win, "one.txt:61")
		p.EndTurn(turn)
	})
}

func TestFollowKeepsWhatTheUserUses(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		var paths []string
		for i := range 5 {
			paths = append(paths, s.WriteFile(fmt.Sprintf("f%d.txt", i), numbered(20)))
		}
		s.Command("enew")
		win := follow(s)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		show := func(i int) {
			t.Helper()
			works(p, fmt.Sprintf("%d.%d", i, s.LuaInt(`vim.uv.hrtime() % 1000000`)), "read", []any{paths[i], i + 1})
			awaitShown(s, win, fmt.Sprintf("f%d.txt:%d", i, i+1))
		}
		show(0)
		s.Lua(nil, `vim.bo[vim.api.nvim_win_get_buf(...)].modified = true`, win)
		show(1)
		s.Lua(nil, `vim.api.nvim_win_call(..., function() vim.cmd('botright vsplit') end)`, win)
		show(2)
		s.Lua(nil, `vim.bo[vim.api.nvim_win_get_buf(...)].buflisted = true`, win)
		show(3)
		show(4)
		got := s.Value(`vim.tbl_map(function(path) return vim.fn.bufexists(path) end, ...)`, paths)
		if fmt.Sprint(got) != "[1 1 1 0 1]" {
			t.Errorf("modified, elsewhere, listed, replaced, shown exist: %v", got)
		}
		// What the user has changed is listed, and stays when it is saved.
		s.Lua(nil, `vim.bo[vim.fn.bufnr(...)].modified = false`, paths[0])
		show(3)
		if s.LuaInt(`vim.fn.buflisted(...)`, paths[0]) != 1 {
			t.Error("a buffer that the user has changed is not listed")
		}
		p.EndTurn(turn)
	})
}

// The change that an agent tells is the place, whatever comes beside it: no line, or that of the hunk's beginning. A line
// told before an edit moves with it.
func TestFollowTheLocatedChange(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, other := s.WriteFile("code.txt", numbered(120)), s.WriteFile("other.txt", numbered(50))
		s.Command("edit other.txt")
		win := follow(s)
		recordJumps(s)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		change := func(line string) []obj {
			return []obj{{"type": "diff", "path": path, "oldText": line + "\n", "newText": strings.ToUpper(line) + "\n"}}
		}
		p.Update("tool_call", obj{"toolCallId": "codex", "title": "edit", "kind": "edit", "status": "in_progress", "content": change("line 70")})
		id := p.Permission(obj{"toolCallId": "codex", "kind": "edit", "locations": locations([][]any{{path}})}, scene.YesNo...)
		awaitShown(s, win, "code.txt:70")
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")

		p.Update("tool_call", obj{"toolCallId": "claude", "title": "edit", "kind": "edit", "status": "in_progress",
			"content": change("line 91"), "locations": locations([][]any{{path, 88}})})
		awaitShown(s, win, "code.txt:91")
		// Where the change is not in the file the location counts.
		p.Update("tool_call", obj{"toolCallId": "lost", "title": "edit", "kind": "edit", "status": "in_progress",
			"content": change("line 500"), "locations": locations([][]any{{path, 20}})})
		awaitShown(s, win, "code.txt:20")

		works(p, "away", "read", []any{other, 3})
		awaitShown(s, win, "other.txt:3")
		p.WriteFile(path, "new\nnew\n"+numbered(120))
		awaitShown(s, win, "code.txt:1")
		works(p, "away again", "read", []any{other, 30})
		awaitShown(s, win, "other.txt:30")
		s.WriteFile("other.txt", "new\nnew\n"+numbered(50))
		works(p, "code", "read", []any{path, 5})
		awaitShown(s, win, "code.txt:5")
		s.AwaitBuffer(s.LuaInt(`vim.fn.bufnr('other.txt')`), "new\nnew\n"+strings.TrimSuffix(numbered(50), "\n"))
		works(p, "back", "read", []any{other})
		awaitShown(s, win, "other.txt:32")
		p.EndTurn(turn)
	})
}

// What throws while a file is shown changes nothing of the line; what the user has typed in a file that was opened only
// to follow is theirs, and listed.
func TestFollowWhereSomethingThrows(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		bad := s.WriteFile("bad.txt", numbered(60)+"vim: set nosuchoption=1:\n")
		code := s.WriteFile("code.lua", strings.ReplaceAll(numbered(60), "line", "return"))
		s.WriteFile("plain.txt", numbered(60))
		s.Lua(nil, `
			vim.o.modeline = true
			local group = vim.api.nvim_create_augroup('mine', {})
			vim.api.nvim_create_autocmd('BufEnter', { group = group, pattern = 'code.lua', callback = function() error('mine') end })
			vim.api.nvim_create_autocmd('FileType', { group = group, pattern = 'lua', callback = function() error('mine') end })`)
		s.Command("edit plain.txt")
		win := follow(s)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		works(p, "bad", "read", []any{bad, 40})
		awaitShown(s, win, "bad.txt:40")
		works(p, "code", "read", []any{code, 30})
		awaitShown(s, win, "code.lua:30")

		s.Lua(nil, `vim.api.nvim_clear_autocmds({ group = 'mine' })
			vim.api.nvim_set_current_win(...)`, win)
		s.Keys("omine<Esc>")
		s.AwaitScreen("⌖ paused")
		s.Command("Acp follow")
		works(p, "away", "read", []any{bad, 20})
		awaitShown(s, win, "bad.txt:20")
		s.AwaitLua(`vim.bo[vim.fn.bufnr('code.lua')].buflisted and vim.bo[vim.fn.bufnr('code.lua')].modified`)
		s.Command("Acp follow off")
		p.EndTurn(turn)
		s.Lua(nil, `vim.cmd.bwipeout({ 'code.lua', bang = true })`)
	})
}

func TestFollowOddFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `
			vim.o.updatecount, vim.o.directory = 200, '.'
			_G.types = 0
			vim.api.nvim_create_autocmd('FileType', { pattern = 'lua', callback = function() _G.types = _G.types + 1 end })`)
		big := s.WriteFile("big.lua", strings.Repeat("local x = 1 -- some more text\n", 70000))
		swapped := s.WriteFile("swapped.lua", numbered(30))
		s.WriteFile("end.txt", numbered(30))
		binary := s.WriteFile("binary.txt", "a\x00b\n")
		utf16 := s.WriteFile("utf16.txt", "\xff\xfea\x00\n\x00")
		outside := filepath.Join(t.TempDir(), "outside.txt")
		must.Do(t, os.WriteFile(outside, []byte(numbered(30)), 0o666))
		s.WriteFile("plain.txt", "plain\n")
		s.Command("edit plain.txt")
		win := follow(s)
		recordJumps(s)
		p := s.Begin()
		turn := s.Prompt(p, "go")

		works(p, "big", "read", []any{big, 60000})
		awaitShown(s, win, "big.lua:60000")
		if got := s.LuaString(`vim.bo[vim.api.nvim_win_get_buf(...)].filetype`, win); got != "" || s.LuaInt(`_G.types`) != 0 || s.LuaString(`vim.o.eventignore`) != "" {
			t.Errorf("2 MB have filetype %q, %d events, 'eventignore' is %q", got, s.LuaInt(`_G.types`), s.LuaString(`vim.o.eventignore`))
		}

		// Another program's swap file: no question, and the agent can write.
		swap := swapFile(s, swapped)
		works(p, "swapped", "read", []any{swapped, 20})
		awaitShown(s, win, "swapped.lua:20")
		s.AwaitScreen("following Puppet · swap file")
		if s.LuaInt(`_G.types`) != 1 || s.LuaBool(`vim.bo[vim.api.nvim_win_get_buf(...)].readonly`, win) {
			t.Error("a file with a swap file has no filetype, or is read-only")
		}
		p.WriteFile(swapped, strings.Replace(numbered(30), "line 25\n", "LINE 25\n", 1))
		awaitShown(s, win, "swapped.lua:25")
		if _, err := os.Stat(swap); err != nil {
			t.Errorf("the swap file: %v", err)
		}

		// A name as the user would have given it.
		works(p, "detour", "read", []any{s.Dir + "/./../" + filepath.Base(s.Dir) + "/end.txt", 7})
		awaitShown(s, win, "end.txt:7")
		check.Equal(t, s.LuaString(`vim.fn.bufname(vim.api.nvim_win_get_buf(...))`, win), "end.txt",
			"the file is named %q")
		works(p, "swapped again", "read", []any{swapped, 25})
		awaitShown(s, win, "swapped.lua:25")

		// What cannot be shown is not.
		for i, path := range []string{binary, s.Dir, filepath.Join(s.Dir, "missing.txt"), "http://example.org/x"} {
			works(p, fmt.Sprint("odd", i), "read", []any{path, 3})
			works(p, fmt.Sprint("odd2", i), "read", []any{path})
		}
		works(p, "end", "read", []any{"end.txt", 4000})
		awaitShown(s, win, "end.txt:30")
		works(p, "binary", "read", []any{binary, 1})
		works(p, "utf16", "read", []any{utf16, 1})
		awaitShown(s, win, "utf16.txt:1")
		works(p, "outside", "read", []any{outside, 7})
		awaitShown(s, win, "outside.txt:7")
		// A file that an edit makes is shown once it is there.
		fresh := filepath.Join(s.Dir, "fresh.txt")
		p.Update("tool_call", obj{"toolCallId": "fresh", "title": "fresh", "kind": "edit", "locations": locations([][]any{{fresh}}),
			"content": []obj{{"type": "diff", "path": fresh, "newText": "a\nb\n"}}})
		awaitJump(s, "fresh.txt skipped")
		s.WriteFile("fresh.txt", "a\nb\n")
		p.Update("tool_call_update", obj{"toolCallId": "fresh", "status": "completed"})
		awaitShown(s, win, "fresh.txt:1")
		check.Equal(t, s.Messages(), "", "messages: %s")
		p.EndTurn(turn)
	})
}

// swapFile makes a swap file of a file, as another Neovim leaves it that was killed.
func swapFile(s *scene.Scene, path string) string {
	s.T.Helper()
	swap := s.LuaString(`(function(path)
		local code = 'vim.o.directory = "." vim.o.updatecount = 200 vim.cmd.edit(vim.fn.fnameescape(' .. vim.inspect(path) .. '))'
			.. ' vim.api.nvim_buf_set_lines(0, 0, 1, false, {"unsaved"}) vim.cmd.preserve()'
			.. ' io.write(vim.fn.swapname("%")) io.flush() vim.uv.kill(vim.uv.os_getpid(), "sigkill")'
		local got = vim.system({ vim.v.progpath, '--clean', '--headless', '--cmd', 'lua ' .. code }, { text = true }):wait()
		return got.stdout
	end)(...)`, path)
	if _, err := os.Stat(swap); err != nil {
		s.T.Fatalf("the swap file %q: %v", swap, err)
	}
	return swap
}

func TestFollowByConfiguration(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.follow = 'window'`)
		one, two, three := s.WriteFile("one.txt", numbered(100)), s.WriteFile("two.txt", numbered(100)), s.WriteFile("three.txt", numbered(100))
		s.Command("edit one.txt")
		s.Lua(nil, `vim.cmd('terminal'); vim.cmd('belowright vsplit one.txt')`)
		s.AwaitLua(`vim.fn.bufwinid('one.txt') ~= -1`)
		code := s.LuaInt(`vim.fn.bufwinid('one.txt')`)
		p := s.Begin()
		s.AwaitLua(`vim.wo[...].winbar:find('following Puppet', 1, true)`, code)
		turn := s.Prompt(p, "go")
		works(p, "one", "read", []any{two, 50})
		awaitShown(s, code, "two.txt:50")

		// The chat is hidden, and nobody is in a window of it.
		s.Command("Acp toggle")
		works(p, "two", "read", []any{one, 51})
		awaitShown(s, code, "one.txt:51")

		// The window is closed: that ends it.
		s.Lua(nil, `vim.api.nvim_win_close(..., true)`, code)
		s.AwaitMessage("the following window was closed")
		works(p, "three", "read", []any{two, 52})
		p.ReadFile(two, nil)
		if s.LuaBool(`vim.fn.bufwinid('two.txt') ~= -1`) {
			t.Error("it follows still")
		}

		// Without a window for code one is opened beside the chat.
		s.Command("Acp")
		s.Lua(nil, `
			local chat, prompt = require('acp.chat.layout').windows(0)
			for _, win in ipairs(vim.api.nvim_list_wins()) do
				if win ~= chat and win ~= prompt then vim.api.nvim_win_close(win, true) end
			end`)
		s.Command("Acp follow")
		s.AwaitMessage("a window will open with the first file")
		current := s.LuaInt(`vim.api.nvim_get_current_win()`)
		works(p, "four", "read", []any{three, 53})
		s.AwaitLua(`vim.fn.bufwinid('three.txt') ~= -1`)
		opened := s.LuaInt(`vim.fn.bufwinid('three.txt')`)
		awaitShown(s, opened, "three.txt:53")
		check.Equal(t, s.LuaInt(`vim.api.nvim_get_current_win()`), current, "the focus went away: %v")
		s.Command("set cmdheight=1")
		s.Keys(":<Esc>")
		s.GoldenScreen("opened")

		check.Contains(t, s.Refused(`require('acp').follow('yes')`), "true or false", "it says %q")
		s.OK(`require('acp').follow(false)`)
		s.OK(`require('acp').follow(true)`)
		s.OK(`require('acp').follow()`)
		p.EndTurn(turn)
	}, scene.Wide)
}

// What a window shows is moved no more than it must be, and the user's options count.
func TestFollowView(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		one := s.WriteFile("one.txt", numbered(300))
		s.Command("edit one.txt")
		s.Command("setlocal scrolloff=3 foldmethod=manual")
		s.Command("200,220fold")
		win := follow(s)
		recordJumps(s)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		n := 0
		show := func(line int, want string) {
			t.Helper()
			n++
			works(p, fmt.Sprint(n), "read", []any{one, line})
			awaitShown(s, win, fmt.Sprintf("one.txt:%d", line))
			got := s.LuaString(`vim.fn.line('w0', ...) .. ' ' .. vim.fn.line('w$', ...)`, win)
			check.Equal(t, got, want, "at line %d the window shows lines %s", line)
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
		p.WriteFile(one, "new\nnew\n"+numbered(300))
		awaitShown(s, win, "one.txt:1")
		show(50, "40 60")
		// Nor what the user's own autocommands make of a file that was opened.
		s.Lua(nil, `vim.api.nvim_create_autocmd('BufReadPost', { pattern = '*.md', callback = function()
			local win = vim.api.nvim_get_current_win()
			vim.schedule(function() vim.api.nvim_win_set_cursor(win, { 3, 0 }) end)
		end })`)
		works(p, "md", "read", []any{s.WriteFile("a.md", numbered(20)), 10})
		awaitShown(s, win, "a.md:3")
		n++
		works(p, fmt.Sprint(n), "read", []any{one, 60})
		awaitShown(s, win, "one.txt:60")
		// Nor is a terminal that the user types in.
		s.Command("botright 5new | terminal cat")
		s.Keys("i")
		s.AwaitLua(`vim.fn.mode() == 't'`)
		s.Keys("typed")
		n++
		works(p, fmt.Sprint(n), "read", []any{one, 100})
		awaitShown(s, win, "one.txt:100")
		s.Keys(" on")
		s.AwaitScreen("typed on")
		s.AwaitLua(`vim.fn.mode() == 't'`)
		p.EndTurn(turn)
	})
}

// The window is current where the first place comes, without having been marked.
func TestFollowLeavesTheCurrentWindowToAWriter(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		one, two := s.WriteFile("one.txt", numbered(300)), s.WriteFile("two.txt", numbered(300))
		s.Configure(`c.follow = 'window'`)
		s.Command("edit one.txt")
		win := s.LuaInt(`vim.api.nvim_get_current_win()`)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		s.Command("wincmd t")
		recordJumps(s)
		s.Keys("Atext")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'line 1text'`)
		works(p, "two", "read", []any{two, 10})
		p.ReadFile(one, nil)
		s.Keys(" more")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'line 1text more'`)
		s.AwaitLua(`vim.wo[...].winbar:find('paused', 1, true)`, win)
		s.Keys("<Esc>")
		s.Command("Acp follow")
		s.Command("wincmd b")
		s.AwaitLua(`_G.jumps[#_G.jumps] == 'one.txt shown'`)
		if got := jumpsWith(s, "shown"); fmt.Sprint(got) != "[one.txt]" {
			t.Errorf("shown were %v", got)
		}
		p.EndTurn(turn)
	})
}

func TestFollowNoReplay(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		old, fresh := s.WriteFile("old.txt", numbered(30)), s.WriteFile("new.txt", numbered(30))
		s.Command("enew")
		win := follow(s)
		recordJumps(s)
		s.OK(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, scene.SessionID(1))
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true))
		load := p.Expect("session/load")
		works(p, "old", "edit", []any{old, 20})
		p.Reply(load, obj{})
		s.AwaitEvent("AcpSessionReady")
		turn := s.Prompt(p, "go")
		works(p, "new", "read", []any{fresh, 7})
		awaitShown(s, win, "new.txt:7")
		if got := jumpsWith(s, "shown"); fmt.Sprint(got) != "[new.txt]" {
			t.Errorf("shown were %v", got)
		}
		// What was decided before the user's last action is refused.
		outcome := s.LuaString(`require('acp.follow.window').jump({ path = ..., line = 3, exists = true, big = false, activity = -1 })`, old)
		if outcome != "busy" || shows(s, win) != "new.txt:7" {
			t.Errorf("a late jump is %s, and the window shows %s", outcome, shows(s, win))
		}
		p.EndTurn(turn)
	})
}

func TestFollowGoesOnWithAnotherHost(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		one := s.WriteFile("one.txt", numbered(30))
		s.Command("enew")
		win := follow(s)
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		turn := s.Prompt(p, "go")
		p.EndTurn(turn)
		s.KillHost()
		s.AwaitState("dead")
		s.OK(`require('acp').restart()`)
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitState("idle")
		turn = s.Prompt(p, "again")
		works(p, "one", "read", []any{one, 9})
		awaitShown(s, win, "one.txt:9")
		p.EndTurn(turn)
	}, nvimtest.AllowErrors("the host ended"))
}

func TestFollowGivesTheCurrentWindowAMoment(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		one, two := s.WriteFile("one.txt", numbered(30)), s.WriteFile("two.txt", numbered(30))
		s.Configure(`c.follow = 'window'`)
		s.Command("setlocal buftype=nofile") // a window that cannot be marked at the start
		win := s.LuaInt(`vim.api.nvim_get_current_win()`)
		p := s.Begin()
		turn := s.Prompt(p, "go")
		recordJumps(s)
		s.Command("wincmd t")
		s.Command("edit " + one)
		works(p, "two", "read", []any{two, 10})
		awaitShown(s, win, "two.txt:10")
		check.Equal(t, s.LuaString(`table.concat(_G.jumps, ', ')`), "two.txt busy, two.txt shown", "the jumps are %s")
		p.EndTurn(turn)
	})
}

// Files below the current folder have short names on the screen, as if the user had opened them.
func TestNamesOnTheScreenAreShort(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		must.Do(t, os.Mkdir(filepath.Join(s.Dir, "src"), 0o755))
		followed, gone := s.WriteFile("src/followed.txt", numbered(9)), s.WriteFile("src/gone.txt", numbered(9))
		s.Command("cd " + s.Dir)
		s.Command("edit mine.txt")
		win := follow(s)
		p := s.Begin()
		s.Prompt(p, "go")
		works(p, "one", "read", []any{followed, 3})
		awaitShown(s, win, "followed.txt:3")
		s.Command("Acp follow off")
		works(p, "two", "read", []any{gone, 4})
		s.AwaitChat("gone.txt")
		s.Keys("<Esc>")
		s.ToBlock("gone.txt")
		s.Keys("gd")
		s.AwaitLua(`vim.fn.expand('%:t') == 'gone.txt'`)
		for _, path := range []string{followed, gone} {
			check.Equal(t, s.LuaString(`vim.fn.bufname(...)`, path), "src/"+filepath.Base(path), "the name is %s")
		}
	})
}

func TestFollowingTakesADashboard(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		win := s.Dashboard()
		s.Configure(`c.follow = 'window'`)
		p := s.Begin()
		s.Prompt(p, "look")
		works(p, "r1", "read", []any{path, 4})
		s.AwaitLua(`(function(win)
			return vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))) == 'code.txt'
				and vim.api.nvim_win_get_cursor(win)[1] == 4
		end)(...)`, win)
		check.Equal(t, s.LuaInt(`#vim.api.nvim_list_wins()`), 3, "there are %d windows")
	}, scene.Wide)
}
