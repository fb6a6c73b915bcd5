package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// tokensLua is a file with something to change in it.
const tokensLua = `local M = {}

-- All tokens of a text.
function M.tokens(text)
  local tokens = {}
  for word in text:gmatch('%S+') do
    tokens[#tokens + 1] = word
  end
  return tokens
end

-- The tokens from one to another.
function M.between(tokens, first, last)
  local found = {}
  for i = first, last - 1 do
    found[#found + 1] = tokens[i]
  end
  return found
end

return M
`

var tokensFixed = strings.Replace(tokensLua, "last - 1", "last", 1)

// edits is a call that gives files other texts: path, old, new, and so on. A file without an old text
// is new.
func edits(id string, files ...string) obj {
	var content []obj
	for i := 0; i < len(files); i += 3 {
		d := obj{"type": "diff", "path": files[i], "newText": files[i+2]}
		if files[i+1] != "" {
			d["oldText"] = files[i+1]
		}
		content = append(content, d)
	}
	return obj{"toolCallId": id, "title": "Edit files", "kind": "edit", "status": "pending", "content": content}
}

// awaitDiff waits until a diff is on the screen, with a text in the window of the new side.
func (s *scene) awaitDiff(text string) {
	s.t.Helper()
	s.AwaitLua(`(function(text)
		local wins = require('acp.diff').windows()
		local last = wins[#wins]
		if not last then return false end
		local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(last), 0, -1, false)
		return table.concat(lines, '\n'):find(text, 1, true)
	end)(...)`, text)
}

func (s *scene) awaitNoDiff() {
	s.t.Helper()
	s.AwaitLua(`#require('acp.diff').windows() == 0`)
}

// scenery is all that a diff must leave as it was: layout, sizes, views, focus, buffers, alternate
// files, jumps, options and mappings. The chat grows, so its view is left out.
func (s *scene) scenery() string {
	s.t.Helper()
	return s.LuaString(`local api = vim.api
		local wins, bufs = {}, {}
		for _, win in ipairs(api.nvim_list_wins()) do
			if api.nvim_win_get_config(win).relative == '' then
				local chat = vim.bo[api.nvim_win_get_buf(win)].filetype == 'acp-chat'
				local options = {}
				for name, info in pairs(api.nvim_get_all_options_info()) do
					if info.scope == 'win' and name ~= 'winbar' then
						options[name] = tostring(api.nvim_get_option_value(name, { win = win, scope = 'local' }))
					end
				end
				table.insert(wins, {
					win = win,
					buf = api.nvim_win_get_buf(win),
					size = { api.nvim_win_get_width(win), api.nvim_win_get_height(win) },
					view = not chat and api.nvim_win_call(win, vim.fn.winsaveview) or nil,
					alternate = api.nvim_win_call(win, function() return vim.fn.bufnr('#') end),
					jumps = not chat and vim.fn.getjumplist(win) or nil,
					options = options,
				})
			end
		end
		for _, buf in ipairs(api.nvim_list_bufs()) do
			local maps = {}
			for _, m in ipairs(api.nvim_buf_get_keymap(buf, 'n')) do maps[m.lhs] = m.rhs or 'function' end
			local name = api.nvim_buf_get_name(buf)
			local shown = name ~= '' and not name:match('^acp://[^/]+/permission') or vim.bo[buf].buflisted
			table.insert(bufs, shown and {
				name = api.nvim_buf_get_name(buf), listed = vim.bo[buf].buflisted, loaded = api.nvim_buf_is_loaded(buf),
				modified = vim.bo[buf].modified, maps = maps,
			} or nil)
		end
		local options = {}
		for name, info in pairs(api.nvim_get_all_options_info()) do
			if info.scope == 'global' then
				local known, value = pcall(api.nvim_get_option_value, name, { scope = 'global' })
				options[name] = known and tostring(value) or nil
			end
		end
		local scene = {
			layout = vim.fn.winlayout(), wins = wins, bufs = bufs, options = options,
			tabs = #api.nvim_list_tabpages(), win = api.nvim_get_current_win(), last = vim.fn.winnr('#'),
			tab = vim.fn.tabpagenr('#'), registers = vim.fn.getreg('"'), mode = api.nvim_get_mode().mode,
		}
		return vim.inspect(scene)`)
}

// same fails the test where two sceneries differ, with the lines that do.
func (s *scene) same(before, after string) {
	s.t.Helper()
	if before == after {
		return
	}
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	var told []string
	for i := range max(len(was), len(is)) {
		var a, b string
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a != b && len(told) < 12 {
			told = append(told, fmt.Sprintf("%d: %s → %s", i, strings.TrimSpace(a), strings.TrimSpace(b)))
		}
	}
	s.t.Errorf("not as it was before:\n%s", strings.Join(told, "\n"))
}

// openLexer is a user with two windows of code, who has moved about in them, and a session.
func (s *scene) openLexer() (path string, p *puppet) {
	s.t.Helper()
	path = s.write("lexer.lua", tokensLua)
	other := s.write("other.txt", "one\ntwo\nthree\n")
	s.Command("edit " + other)
	s.Command("edit " + path)
	s.Command("normal! 5GGgg4j")
	s.Command("split " + other)
	s.Command("resize 6")
	s.Command("wincmd j")
	return path, s.begin()
}

// allows answers the oldest request with its first option and checks that the agent is told.
func (s *scene) answers(p *puppet, id int, how func(), want string) {
	s.t.Helper()
	how()
	if got := outcome(s.t, p.answer(id)); got != want {
		s.t.Errorf("the answer is %s, not %s", got, want)
	}
	s.awaitNoFloat()
	s.awaitNoDiff()
}

func TestDiffOpensBesideTheCode(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		before := s.scenery()
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.screen("split")
		if !s.LuaBool(`vim.bo.filetype == 'acp-prompt'`) {
			t.Error("the diff took the focus")
		}
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.same(before, s.scenery())

		// By key, from its windows.
		for _, try := range []struct{ keys, want string }{{"ga", "yes"}, {"gr", "no"}} {
			id = p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
			s.awaitDiff("first, last do")
			s.Command("Acp diff")
			s.AwaitLua(`vim.wo.diff and vim.api.nvim_get_current_line():find('first, last do', 1, true)`)
			s.answers(p, id, func() { s.Keys(try.keys) }, try.want)
			s.same(before, s.scenery())
		}

		// What the user closes answers nothing, and stays closed until asked for.
		id = p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys(":q<CR>")
		s.awaitNoDiff()
		s.same(before, s.scenery())
		s.awaitFloat()
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("q")
		s.awaitNoDiff()
		s.same(before, s.scenery())
		if p.answered(id) {
			t.Error("closing the diff answered the request")
		}
		s.answers(p, id, func() { s.Command("Acp permit 3") }, "no")

		// What no rule would choose, these keys do not.
		vague := []obj{
			{"optionId": "both", "name": "Yes", "kind": "allow_once"},
			{"optionId": "both", "name": "No", "kind": "reject_once"},
			{"optionId": "odd", "name": "Perhaps", "kind": "allow_some"},
			{"optionId": "always", "name": "Yes, always", "kind": "allow_always"},
		}
		id = p.permission(edits("e1", path, tokensLua, tokensFixed), vague...)
		s.awaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.api.nvim_get_current_line():find('first, last do', 1, true)`)
		s.Keys("gr")
		s.AwaitScreen("no option that refuses")
		s.answers(p, id, func() { s.Keys("ga") }, "always")
		s.same(before, s.scenery())
	}, wide)
}

func TestDiffInASmallTerminal(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("lexer.lua", tokensLua)
		s.Command("edit " + path)
		p := s.begin()
		s.prompt(p, "fix it")
		before := s.scenery()
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.awaitColour("for", "@keyword.repeat.lua") // in the chat
		s.AwaitLua(`#vim.tbl_filter(function(win)
			return vim.treesitter.highlighter.active[vim.api.nvim_win_get_buf(win)] ~= nil
		end, require('acp.diff').windows()) == 2`)
		s.Golden("stacked", nvimtest.Attrs())
		s.answers(p, id, func() { s.Command("Acp permit 3") }, "no")
		s.same(before, s.scenery())
	}, nvimtest.Background("light"))
}

func TestDiffInATab(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.diff = 'tab'`)
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		before := s.scenery()
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 2`)
		if !s.LuaBool(`vim.fn.tabpagenr() == 1 and vim.bo.filetype == 'acp-prompt'`) {
			t.Error("the diff took the focus")
		}
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.awaitFloat()
		s.screen("tab")
		s.answers(p, id, func() { s.Keys("ga") }, "yes")
		s.same(before, s.scenery())

		// Closed by the user.
		id = p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 2`)
		s.Command("tabclose 2")
		s.Command("Acp permissions")
		s.awaitFloat()
		if p.answered(id) {
			t.Error("closing the tab answered the request")
		}
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.same(before, s.scenery())
	}, wide)
}

// refusesInFiles is the key that refuses a diff in the file itself: since 0.11 Neovim has keys of its own that begin
// with gr.
func (s *scene) refusesInFiles() string {
	s.t.Helper()
	if s.LuaBool(`vim.iter(vim.api.nvim_get_keymap('n')):any(function(map) return vim.startswith(map.lhs, 'gr') end)`) {
		return "gR"
	}
	return "gr"
}

func TestDiffInTheFileItself(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.diff = 'inline'`)
		path, p := s.openLexer()
		hidden := s.write("hidden.lua", tokensLua)
		s.Lua(nil, `local buf = vim.fn.bufnr(...)
			vim.api.nvim_buf_set_keymap(buf, 'n', 'ga', ':echo "mine"<CR>', { desc = 'mine' })`, path)
		s.prompt(p, "fix it")
		before := s.scenery()
		refuse := s.refusesInFiles() + " refuse"
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.AwaitScreen(refuse)
		s.screen("inline")
		s.answers(p, id, func() { s.Command("Acp permit 3") }, "no")
		s.same(before, s.scenery())

		id = p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitFloat() // the screen may have the first one still
		s.AwaitScreen(refuse)
		s.Command("Acp diff")
		s.AwaitLua(`vim.fn.expand('%:t') == 'lexer.lua' and vim.fn.line('.') == 15`)
		s.answers(p, id, func() { s.Keys("ga") }, "yes")
		s.same(before, s.scenery())
		if got := s.file(path); got != tokensLua || s.LuaBool(`vim.bo[vim.fn.bufnr(...)].modified`, path) {
			t.Errorf("the file was modified: %q", got)
		}

		// A file that no window shows.
		id = p.permission(edits("e2", hidden, tokensLua, tokensFixed), yesNo...)
		s.AwaitScreen(refuse)
		s.screen("hidden")
		s.answers(p, id, func() { s.Command("Acp permit 3") }, "no")
		s.same(before, s.scenery())
	}, wide)
}

// No key of a diff in the user's own file is the beginning of one that is mapped there, or begins with one.
func TestDiffInTheFileLeavesLongerAndShorterKeys(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.diff = 'inline'`)
		path, p := s.openLexer()
		s.Command("nnoremap grn <Cmd>let g:renamed = 1<CR>")
		s.prompt(p, "fix it")
		refuses := func(hint string, how func()) {
			t.Helper()
			id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
			s.awaitFloat()
			s.AwaitScreen(hint)
			s.Command("Acp diff")
			s.AwaitLua(`vim.fn.expand('%:t') == 'lexer.lua' and vim.fn.line('.') == 15`)
			how()
			if got := outcome(t, p.answer(id)); got != "no" {
				t.Errorf("the answer is %s", got)
			}
			s.awaitNoFloat()
		}
		refuses("ga allow · gR refuse", func() {
			s.Keys("grn")
			s.AwaitLua(`vim.g.renamed == 1`)
			s.Keys("gR")
		})

		// Where there is no key, the command is named; a shorter one that does not wait is in nobody's way.
		s.Command("nnoremap gRR <Cmd>let g:renamed = 2<CR>")
		s.Command("nnoremap g> <Cmd>let g:kept = 1<CR>")
		s.Command("nnoremap [ <Cmd>let g:back = 1<CR>")
		s.Command("nnoremap <nowait> ] <Cmd>let g:on = 1<CR>")
		refuses("ga allow · :Acp permit 3 refuse", func() {
			mapped := func(lhs string) bool {
				return s.LuaBool(`vim.fn.maparg(..., 'n', false, true).buffer == 1`, lhs)
			}
			for lhs, want := range map[string]bool{"gr": false, "gR": false, "g>": true, "[v": false, "]v": true} {
				if mapped(lhs) != want {
					t.Errorf("%s: borrowed is %v", lhs, !want)
				}
			}
			s.Command("Acp permit 3")
		})
		p.silent()
	}, wide)
}

// Where the change is off the screen, the code says which way it is, and how to get there.
func TestDiffInTheFileSaysWhereItIs(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.diff = 'inline'`)
		text := lines(1, 200)
		path := s.write("long.txt", text)
		s.Command("edit " + path)
		p := s.begin()
		s.prompt(p, "fix it")
		s.Command("wincmd t")
		id := p.permission(edits("e1", path, text, strings.Replace(text, "line 150\n", "another\n", 1)), yesNo...)
		s.AwaitScreen("↓ line 150: a change of the agent · ]v goes there · ga allow")
		s.Keys("]v")
		s.AwaitLua(`vim.fn.line('.') == 150`)
		gone := func() bool { return !strings.Contains(s.Screen(), "a change of the agent") }
		s.Await("no note", gone)
		s.Keys("G")
		s.AwaitScreen("↑ line 150: a change of the agent · [v goes there")
		s.Keys("gg")
		s.AwaitScreen("↓ line 150")
		s.answers(p, id, func() { s.Keys("ga") }, "yes")
		s.Await("no note", gone)
	}, wide)
}

func TestDiffOfSeveralFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		gone := s.write("gone.txt", "it was\n")
		s.prompt(p, "fix it")
		before := s.scenery()
		call := edits("e1", path, tokensLua, tokensFixed, s.Dir+"/new.lua", "", "return 'new'\n", gone, "it was\n", "")
		id := p.permission(call, yesNo...)
		s.awaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.screen("first")
		s.Keys("]f")
		s.awaitDiff("return 'new'")
		s.screen("second")
		s.Keys("]f")
		s.AwaitScreen("3 of 3")
		s.screen("third")
		// A count is no answer.
		s.Keys("2[f")
		s.AwaitScreen("1 of 3")
		s.Keys("2]f")
		s.AwaitScreen("3 of 3")
		if p.answered(id) {
			t.Error("a count answered the request")
		}
		s.Keys("[f")
		s.awaitDiff("return 'new'")
		s.answers(p, id, func() { s.Keys("ga") }, "yes")
		s.same(before, s.scenery())
	}, wide)
}

// The float of a request leaves the line above a diff in sight that says which file of how many it is, and
// the lines that change.
func TestFloatBesideADiff(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.diff = 'split'`)
		a := s.write("lexer_of_the_language.lua", "local one\nlocal two\n")
		s.Command("edit " + a)
		p := s.begin()
		s.prompt(p, "change it")
		s.Command("wincmd t")
		call := edits("e1", a, "local two", "local three", a+"1", "", "new\n", a+"2", "", "new\n", a+"3", "", "new\n", a+"4", "", "new\n")
		p.permission(call, yesNo...)
		s.awaitDiff("three")
		s.AwaitScreen("╭ Puppet wants to edit")
		for _, text := range []string{"1 of 5 · ]f next", "· q close", "local two", "local three"} {
			s.AwaitScreen(text)
		}
	}, nvimtest.Size(120, 40))
}

func TestDiffWaitsForTheUserToRest(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		s.Command("wincmd t")
		layout := s.LuaString(`vim.inspect(vim.fn.winlayout())`)
		unchanged := func(when string) {
			t.Helper()
			if s.LuaString(`vim.inspect(vim.fn.winlayout())`) != layout {
				t.Errorf("a diff opened %s", when)
			}
		}
		for _, try := range []struct{ when, begin, mode, end string }{
			{"in Insert mode", "A more", "i", "<Esc>"},
			{"in Visual mode", "v", "v", "<Esc>"},
			{"in the command line", ":echo 1", "c", "<Esc>"},
			{"in an operator", "d", "no", "<Esc>"},
			{"in Replace mode", "R", "R", "<Esc>"},
			{"in Select mode", "gh", "s", "<Esc>"},
			{"in the command-line window", "q:", "n", ":q<CR>"},
		} {
			s.Keys(try.begin)
			s.AwaitLua(`vim.api.nvim_get_mode().mode == ...`, try.mode)
			if try.begin == "q:" {
				s.AwaitLua(`vim.fn.getcmdwintype() == ':'`)
			}
			id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
			s.AwaitLua(`#require('acp').permissions() == 1`)
			// The text is there, so that it is the user alone who is waited for.
			s.AwaitLua(`require('acp.diff').waits()`)
			// What they typed is long ago, so that it is what they are in the middle of.
			s.AwaitLua(`require('acp.rest').left() < -20`)
			if try.begin != "q:" {
				unchanged(try.when)
			}
			s.Keys(try.end)
			s.awaitDiff("first, last do")
			s.answers(p, id, func() { s.Command("Acp permit 3") }, "no")
			unchanged("and stayed")
		}
	}, wide)
}

func TestDiffOfTheNextRequestOpensInTheSamePlace(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		other := s.write("second.txt", "it was\n")
		s.prompt(p, "fix it")
		before := s.scenery()
		first := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		command := p.permission(runMake, yesNo...)
		second := p.permission(edits("e2", other, "it was\n", "it is\n"), yesNo...)
		s.awaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("ga")
		if got := outcome(t, p.answer(first)); got != "yes" {
			t.Errorf("the answer is %s", got)
		}
		// A command has no diff; the one of the request behind it waits.
		s.awaitNoDiff()
		s.AwaitScreen("wants to run a command")
		s.Command("Acp permit 3")
		if got := outcome(t, p.answer(command)); got != "no" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitDiff("it is")
		third := p.permission(edits("e3", path, tokensLua, tokensFixed), yesNo...)
		s.AwaitScreen("1 of 2")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		wins := s.LuaString(`vim.inspect(require('acp.diff').windows())`)
		layout := s.LuaString(`vim.inspect(vim.fn.winlayout())`)
		s.Keys("gr")
		if got := outcome(t, p.answer(second)); got != "no" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitDiff("first, last do")
		if s.LuaString(`vim.inspect(require('acp.diff').windows())`) != wins || s.LuaString(`vim.inspect(vim.fn.winlayout())`) != layout {
			t.Error("the next diff opened somewhere else")
		}
		s.answers(p, third, func() { s.Keys("ga") }, "yes")
		s.same(before, s.scenery())
	}, wide)
}

func TestDiffIsClosedWhileTheUserTypes(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		s.Command("imap <F3> <Plug>(AcpPermit1)")
		s.Command("wincmd t")
		s.Keys("imore <Esc>u0") // typing itself changes jumps
		s.AwaitLua(`vim.fn.undotree().seq_last == 1 and not vim.bo.modified`)
		before := s.scenery()
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.Keys("imore ")
		s.AwaitLua(`vim.fn.mode() == 'i'`)
		s.answers(p, id, func() { s.Keys("<F3>") }, "yes")
		if !s.LuaBool(`vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == 'more one'`) {
			t.Error("typing was disturbed")
		}
		s.Keys("<Esc>u0")
		s.AwaitLua(`vim.fn.mode() == 'n' and vim.api.nvim_get_current_line() == 'one' and not vim.bo.modified`)
		s.same(before, s.scenery())

		// Withdrawn by the agent, and the turn cancelled.
		id = p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.answers(p, id, func() { s.ok(`require('acp').cancel()`) }, "cancelled")
	}, wide)
}

func TestDiffDoesNotOpenOverOthers(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		s.Command("wincmd t | diffthis | wincmd j | diffthis")
		comparing := `#vim.tbl_filter(function(w) return vim.wo[w].diff end, vim.api.nvim_tabpage_list_wins(0))`
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.AwaitLua(`require('acp.diff').waits()`)
		s.awaitFloat()
		if n := s.LuaInt(comparing); n != 2 {
			t.Errorf("%d windows compare, where the user has two", n)
		}
		// Whoever asks gets it in a tab.
		s.Command("Acp diff")
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 2 and vim.wo.diff`)
		s.Keys("q")
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 1`)
		s.Command("diffoff!")
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")

		// A picker.
		s.Lua(nil, `_G.picker = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
			{ relative = 'editor', row = 2, col = 2, width = 150, height = 38 })`)
		id = p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.AwaitLua(`require('acp.diff').waits()`)
		if !s.LuaBool(`#require('acp.diff').windows() == 0`) {
			t.Error("a diff opened behind the picker")
		}
		s.Lua(nil, `vim.api.nvim_win_close(_G.picker, true)`)
		s.awaitDiff("first, last do")
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, wide)
}

func TestDiffOfAFinishedCall(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		turn := s.prompt(p, "fix it")
		before := s.scenery()
		s.Command("Acp diff")
		s.awaitMessage("there is no diff")
		call := edits("e1", path, tokensLua, tokensFixed)
		call["status"] = "completed"
		p.update("tool_call", call)
		image := edits("e2", s.Dir+"/note.txt", "one\n", "two\n")
		p.update("tool_call", image)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("Acp diff")
		s.awaitDiff("two")
		s.AwaitScreen("⚠ no such file")
		s.Keys("q")
		s.awaitNoDiff()
		s.same(before, s.scenery())

		// By key, of the block under the cursor.
		s.Command("wincmd k")
		s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)
		s.Keys("gg]t")
		s.awaitCursor("edit")
		s.Keys("gD")
		s.awaitDiff("first, last do")
		s.AwaitLua(`vim.wo.diff`)
		s.AwaitScreen("lexer.lua · before")
		s.screen("finished")
		s.Keys("ga")
		s.Keys("q")
		s.awaitNoDiff()
		s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)
		p.silent()
	}, wide)
}

func TestDiffLeavesARepurposedWindowAlone(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Command("edit " + s.write("mine.txt", "mine\n"))
		s.awaitNoDiff()
		if !s.LuaBool(`vim.fn.expand('%:t') == 'mine.txt' and not vim.wo.diff and not vim.wo.scrollbind and vim.wo.winbar == ''`) {
			t.Error("the window of the user's is not as other windows")
		}
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.AwaitLua(`vim.fn.expand('%:t') == 'mine.txt'`)
	}, wide)
}

func TestDiffLeavesTheCodeWhereItHasAllRoom(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("<C-w>o")
		s.awaitNoDiff()
		s.AwaitLua(`#vim.api.nvim_list_wins() == 1 and vim.fn.expand('%:t') == 'lexer.lua'`)
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, wide)
}

func TestDiffIsLookedForAgainWhenAskedFor(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		id := p.permission(edits("e1", path, "last - 1", "last"), yesNo...)
		s.awaitDiff("first, last do")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, 0, false, { '-- Mine.' })`, path)
		s.Command("Acp diff")
		s.awaitDiff("-- Mine.")
		s.AwaitLua(`vim.fn.line('.') == 16`)

		// From its block in the chat too.
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, 0, false, { '-- More.' })`, path)
		s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(require('acp').sessions()[1].chat_buf))
			vim.fn.search('edit   ')`)
		s.Keys("gD")
		s.awaitDiff("-- More.")
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, wide)
}

// An agent tells the whole text of the disk, of a file that has unsaved lines: they are around the change that is shown.
func TestDiffOfAFileWithUnsavedLines(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, p := s.openLexer()
		s.prompt(p, "fix it")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, 0, false, { '-- Mine.' })`, path)
		id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
		s.awaitDiff("-- Mine.")
		s.awaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.fn.line('.') == 16`)
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.awaitNoDiff()

		// Where both change a line it is as the agent sent it, and says why.
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 15, 16, false, { '  for i = 1, 2 do' })`, path)
		id = p.permission(edits("e2", path, "for i = first, last - 1", "for i = first, last"), yesNo...)
		s.AwaitScreen("you have other unsaved lines there")
		s.answers(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, wide)
}

func TestDiffOfTenThousandLines(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var old, text strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&old, "line %d\n", i)
			if i%5 == 2 {
				fmt.Fprintf(&text, "LINE %d\n", i)
			} else {
				fmt.Fprintf(&text, "line %d\n", i)
			}
		}
		path := s.write("large.txt", old.String())
		p := s.begin()
		s.prompt(p, "change it")
		before := s.scenery()
		id := p.permission(edits("e1", path, old.String(), text.String()), yesNo...)
		s.awaitDiff("LINE 2")
		s.awaitDiff("LINE 49997")
		s.Command("Acp diff")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'LINE 2'`)
		s.screen("large")
		s.Keys("G")
		s.AwaitScreen("LINE 49997")
		s.screen("end")
		s.answers(p, id, func() { s.Keys("gr") }, "no")
		s.same(before, s.scenery())
	}, wide)
}

// A diff moves no window of the user's that goes along with others, and they go along with each other again
// afterwards; 'scrollopt' is as it was.
func TestDiffBesideBoundWindows(t *testing.T) {
	for _, form := range []string{"split", "inline", "tab"} {
		t.Run(form, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.configure(`c.diff = '` + form + `'`)
				var lines strings.Builder
				for i := range 300 {
					fmt.Fprintf(&lines, "line %d\n", i)
				}
				path := s.write("a.txt", lines.String())
				s.Command("edit " + path)
				s.Command("vsplit " + s.write("b.txt", lines.String()))
				s.Command("windo set scrollbind cursorbind scrollopt=")
				s.Keys("40Gzt")
				s.AwaitLua(`vim.fn.line('.', vim.fn.bufwinid('b.txt')) == 40`)
				p := s.begin()
				s.prompt(p, "change it")
				before := s.scenery()
				refuse := "gr"
				if form == "inline" { // it is the window of the user's
					refuse = s.refusesInFiles()
				}
				for _, end := range []func(){
					func() { s.Command("Acp permit 3") },
					func() { s.Command("Acp diff"); s.AwaitLua(`vim.fn.line('.') == 200`); s.Keys(refuse) },
					func() {
						s.Command("Acp diff")
						s.AwaitLua(`vim.fn.line('.') == 200`)
						if form == "inline" {
							s.Keys(refuse)
							return
						}
						s.Keys(":q<CR>")
						s.awaitNoDiff()
						s.Command("Acp permit 3")
					},
				} {
					id := p.permission(edits("e1", path, "line 199\n", "LINE 199\n"), yesNo...)
					s.AwaitLua(`#require('acp.diff').windows() > 0 or #vim.api.nvim_list_tabpages() == 2`)
					s.awaitFloat()
					if n := s.LuaInt(`vim.fn.line('.', vim.fn.bufwinid('b.txt'))`); n != 40 {
						t.Errorf("the other window's cursor is in line %d", n)
					}
					s.answers(p, id, end, "no")
					s.same(before, s.scenery())
				}
				s.Command("call win_gotoid(bufwinid('b.txt'))")
				s.Keys("50G")
				s.AwaitLua(`vim.fn.line('.', vim.fn.bufwinid('a.txt')) == 50`)
			}, wide)
		})
	}
}

// However a diff ends, 'scrollopt' is as it was, and the tab that was used last is too.
func TestDiffLeavesOptionsAndTabs(t *testing.T) {
	for _, form := range []string{"split", "tab"} {
		t.Run(form, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.configure(`c.diff = '` + form + `'`)
				path, p := s.openLexer()
				s.prompt(p, "fix it")
				s.Command("tabnew")
				s.Command("tabnext 1")
				for _, option := range []string{"", "ver,jump", "ver,jump,hor"} {
					s.Command("set scrollopt=" + option)
					before := s.scenery()
					ask := func() int {
						t.Helper()
						id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
						s.AwaitLua(`vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.wo[win].diff end)`)
						s.awaitFloat()
						return id
					}
					// From its windows, and from a tab of the user's.
					id := ask()
					s.Command("Acp diff")
					s.AwaitLua(`vim.wo.diff`)
					s.answers(p, id, func() { s.Keys("ga") }, "yes")
					s.same(before, s.scenery())
					id = ask()
					s.Keys("g<Tab>")
					s.AwaitLua(`vim.fn.tabpagenr() == vim.fn.tabpagenr('$')`)
					s.answers(p, id, func() { s.Command("Acp permit 3") }, "no")
					s.Keys("g<Tab>")
					s.AwaitLua(`vim.fn.tabpagenr() == 1`)
					s.same(before, s.scenery())
				}
				// What the user compares by then goes on.
				s.Command("set scrollopt=ver,jump")
				id := p.permission(edits("e1", path, tokensLua, tokensFixed), yesNo...)
				s.AwaitLua(`vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.wo[win].diff end)`)
				s.Command("tabnext $")
				s.Command("diffthis")
				s.answers(p, id, func() { s.Command("Acp permit 3") }, "no")
				if got := s.LuaString(`vim.o.scrollopt`); got != "ver,jump,hor" {
					t.Errorf("'scrollopt' is %q", got)
				}
			}, wide)
		})
	}
}

// The keys are in sight also in a narrow window, and above the first line of a file that the user is in.
func TestDiffInTheFileShowsItsKeysInANarrowWindow(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.diff = 'inline'`)
		path := s.write("some_longer_name.txt", lines(1, 5))
		s.Command("edit " + path)
		p := s.begin()
		s.prompt(p, "fix it")
		s.Command("wincmd t")
		for _, line := range []int{1, 3} {
			changed := strings.Replace(lines(1, 5), fmt.Sprintf("line %d\n", line), "another\n", 1)
			id := p.permission(edits(fmt.Sprint("e", line), path, lines(1, 5), changed), yesNo...)
			s.AwaitScreen(" +1 −1 · ga allow · " + s.refusesInFiles() + " refuse")
			s.answers(p, id, func() { s.Keys("ga") }, "yes")
			s.awaitNoFloat()
		}
	})
}
