package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestKeysOfABufferAreShown(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("g?")
		s.AwaitScreen("allow the request")
		s.Keys("q")
		s.AwaitLua(`vim.wo.diff`)
		s.Command("Acp permit 1")
		s.AwaitNoDiff()
		s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(`+scene.ChatBuf+`))`)
		s.Keys("g?")
		s.AwaitScreen("type in the prompt")
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.Keys("<Esc>g?")
		s.AwaitScreen("send the prompt (Insert mode)")
	}, scene.Wide)
}

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

// openLexer is a user with two windows of code, who has moved about in them, and a session.
func openLexer(s *scene.Scene) (path string, p *scene.Puppet) {
	s.T.Helper()
	path = s.WriteFile("lexer.lua", tokensLua)
	other := s.WriteFile("other.txt", "one\ntwo\nthree\n")
	s.Command("edit " + other)
	s.Command("edit " + path)
	s.Command("normal! 5GGgg4j")
	s.Command("split " + other)
	s.Command("resize 6")
	s.Command("wincmd j")
	return path, s.Begin()
}

func TestDiffOpensBesideTheCode(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		before := s.Scenery()
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.GoldenScreen("split")
		if !s.LuaBool(`vim.bo.filetype == 'acp-prompt'`) {
			t.Error("the diff took the focus")
		}
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.SameScenery(before, s.Scenery())

		// By key, from its windows.
		for _, try := range []struct{ keys, want string }{{"ga", "yes"}, {"gr", "no"}} {
			id = p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
			s.AwaitDiff("first, last do")
			s.Command("Acp diff")
			s.AwaitLua(`vim.wo.diff and vim.api.nvim_get_current_line():find('first, last do', 1, true)`)
			s.CheckAnswer(p, id, func() { s.Keys(try.keys) }, try.want)
			s.SameScenery(before, s.Scenery())
		}

		// What the user closes answers nothing, and stays closed until asked for.
		id = p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys(":q<CR>")
		s.AwaitNoDiff()
		s.SameScenery(before, s.Scenery())
		s.AwaitFloat()
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("q")
		s.AwaitNoDiff()
		s.SameScenery(before, s.Scenery())
		if p.Answered(id) {
			t.Error("closing the diff answered the request")
		}
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 3") }, "no")

		// What no rule would choose, these keys do not.
		vague := []obj{
			{"optionId": "both", "name": "Yes", "kind": "allow_once"},
			{"optionId": "both", "name": "No", "kind": "reject_once"},
			{"optionId": "odd", "name": "Perhaps", "kind": "allow_some"},
			{"optionId": "always", "name": "Yes, always", "kind": "allow_always"},
		}
		id = p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), vague...)
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.api.nvim_get_current_line():find('first, last do', 1, true)`)
		s.Keys("gr")
		s.AwaitScreen("no option that refuses")
		s.CheckAnswer(p, id, func() { s.Keys("ga") }, "always")
		s.SameScenery(before, s.Scenery())
	}, scene.Wide)
}

func TestDiffInASmallTerminal(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("lexer.lua", tokensLua)
		s.Command("edit " + path)
		p := s.Begin()
		s.Prompt(p, "fix it")
		before := s.Scenery()
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.AwaitColour("for", "@keyword.repeat.lua") // in the chat
		s.AwaitLua(`#vim.tbl_filter(function(win)
			return vim.treesitter.highlighter.active[vim.api.nvim_win_get_buf(win)] ~= nil
		end, require('acp.diff.view').windows()) == 2`)
		s.Golden("stacked", nvimtest.Attrs())
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 3") }, "no")
		s.SameScenery(before, s.Scenery())
	}, nvimtest.Background("light"))
}

func TestDiffInATab(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'tab'`)
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		before := s.Scenery()
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 2`)
		if !s.LuaBool(`vim.fn.tabpagenr() == 1 and vim.bo.filetype == 'acp-prompt'`) {
			t.Error("the diff took the focus")
		}
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.AwaitFloat()
		s.GoldenScreen("tab")
		s.CheckAnswer(p, id, func() { s.Keys("ga") }, "yes")
		s.SameScenery(before, s.Scenery())

		// Closed by the user.
		id = p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 2`)
		s.Command("tabclose 2")
		s.Command("Acp permissions")
		s.AwaitFloat()
		if p.Answered(id) {
			t.Error("closing the tab answered the request")
		}
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.SameScenery(before, s.Scenery())
	}, scene.Wide)
}

// refusesInFiles is the key that refuses a diff in the file itself: since 0.11 Neovim has keys of its own that begin
// with gr.
func refusesInFiles(s *scene.Scene) string {
	s.T.Helper()
	if s.LuaBool(`vim.iter(vim.api.nvim_get_keymap('n')):any(function(map) return vim.startswith(map.lhs, 'gr') end)`) {
		return "gR"
	}
	return "gr"
}

func TestDiffInTheFileItself(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'inline'`)
		path, p := openLexer(s)
		hidden := s.WriteFile("hidden.lua", tokensLua)
		s.Lua(nil, `local buf = vim.fn.bufnr(...)
			vim.api.nvim_buf_set_keymap(buf, 'n', 'ga', ':echo "mine"<CR>', { desc = 'mine' })`, path)
		s.Prompt(p, "fix it")
		before := s.Scenery()
		refuse := refusesInFiles(s) + " refuse"
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitScreen(refuse)
		s.GoldenScreen("inline")
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 3") }, "no")
		s.SameScenery(before, s.Scenery())

		id = p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitFloat() // the screen may have the first one still
		s.AwaitScreen(refuse)
		s.Command("Acp diff")
		s.AwaitLua(`vim.fn.expand('%:t') == 'lexer.lua' and vim.fn.line('.') == 15`)
		s.CheckAnswer(p, id, func() { s.Keys("ga") }, "yes")
		s.SameScenery(before, s.Scenery())
		if got := s.ReadFile(path); got != tokensLua || s.LuaBool(`vim.bo[vim.fn.bufnr(...)].modified`, path) {
			t.Errorf("the file was modified: %q", got)
		}

		// A file that no window shows.
		id = p.Permission(scene.EditsCall("e2", hidden, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitScreen(refuse)
		s.GoldenScreen("hidden")
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 3") }, "no")
		s.SameScenery(before, s.Scenery())
	}, scene.Wide)
}

// No key of a diff in the user's own file is the beginning of one that is mapped there, or begins with one.
func TestDiffInTheFileLeavesLongerAndShorterKeys(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'inline'`)
		path, p := openLexer(s)
		s.Command("nnoremap grn <Cmd>let g:renamed = 1<CR>")
		s.Prompt(p, "fix it")
		refuses := func(hint string, how func()) {
			t.Helper()
			id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
			s.AwaitFloat()
			s.AwaitScreen(hint)
			s.Command("Acp diff")
			s.AwaitLua(`vim.fn.expand('%:t') == 'lexer.lua' and vim.fn.line('.') == 15`)
			how()
			p.AwaitOutcome(id, "no")
			s.AwaitNoFloat()
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
		p.Silent()
	}, scene.Wide)
}

// Where the change is off the screen, the code says which way it is, and how to get there.
func TestDiffInTheFileSaysWhereItIs(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'inline'`)
		text := scene.Lines(1, 200)
		path := s.WriteFile("long.txt", text)
		s.Command("edit " + path)
		p := s.Begin()
		s.Prompt(p, "fix it")
		s.Command("wincmd t")
		id := p.Permission(scene.EditsCall("e1", path, text, strings.Replace(text, "line 150\n", "another\n", 1)), scene.YesNo...)
		s.AwaitScreen("↓ line 150: a change by the agent · ]v goes there · ga allow")
		s.Keys("]v")
		s.AwaitLua(`vim.fn.line('.') == 150`)
		gone := func() bool { return !strings.Contains(s.Screen(), "a change by the agent") }
		s.Await("no note", gone)
		s.Keys("G")
		s.AwaitScreen("↑ line 150: a change by the agent · [v goes there")
		s.Keys("gg")
		s.AwaitScreen("↓ line 150")
		s.CheckAnswer(p, id, func() { s.Keys("ga") }, "yes")
		s.Await("no note", gone)
		// Where only a later change is in sight, the keys are there all the same, over the window.
		p.Permission(scene.EditsCall("e2", path, text, strings.NewReplacer("line 50\n", "first\n", "line 150\n", "second\n").Replace(text)), scene.YesNo...)
		s.AwaitScreen("↓ line 50")
		s.Keys("]v")
		s.AwaitScreen("first")
		s.Await("one line with the keys", func() bool { return strings.Count(s.Screen(), "ga allow") == 1 })
		s.Keys("150Gzz")
		s.AwaitScreen("second")
		s.AwaitScreen("long.txt · proposed  +2 −2 · ga allow")
	}, scene.Wide)
}

func TestDiffOfSeveralFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		gone := s.WriteFile("gone.txt", "it was\n")
		s.Prompt(p, "fix it")
		before := s.Scenery()
		call := scene.EditsCall("e1", path, tokensLua, tokensFixed, s.Dir+"/new.lua", "", "return 'new'\n", gone, "it was\n", "")
		id := p.Permission(call, scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.GoldenScreen("first")
		s.Keys("]f")
		s.AwaitDiff("return 'new'")
		s.GoldenScreen("second")
		s.Keys("]f")
		s.AwaitScreen("3 of 3")
		s.GoldenScreen("third")
		// A count is no answer.
		s.Keys("2[f")
		s.AwaitScreen("1 of 3")
		s.Keys("2]f")
		s.AwaitScreen("3 of 3")
		if p.Answered(id) {
			t.Error("a count answered the request")
		}
		s.Keys("[f")
		s.AwaitDiff("return 'new'")
		s.CheckAnswer(p, id, func() { s.Keys("ga") }, "yes")
		s.SameScenery(before, s.Scenery())
	}, scene.Wide)
}

// The float of a request leaves the line above a diff in sight that says which file of how many it is, and
// the lines that change.
func TestFloatBesideADiff(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'split'`)
		a := s.WriteFile("lexer_of_the_language.lua", "local one\nlocal two\n")
		s.Command("edit " + a)
		p := s.Begin()
		s.Prompt(p, "change it")
		s.Command("wincmd t")
		call := scene.EditsCall("e1", a, "local two", "local three", a+"1", "", "new\n", a+"2", "", "new\n", a+"3", "", "new\n", a+"4", "", "new\n")
		p.Permission(call, scene.YesNo...)
		s.AwaitDiff("three")
		s.AwaitScreen("╭ Puppet wants to edit")
		for _, text := range []string{"1 of 5 · ]f next", "· q close", "local two", "local three"} {
			s.AwaitScreen(text)
		}
	}, nvimtest.Size(120, 40))
}

func TestDiffWaitsForTheUserToRest(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		s.Command("wincmd t")
		layout := s.LuaString(`vim.inspect(vim.fn.winlayout())`)
		unchanged := func(when string) {
			t.Helper()
			check.Equal(t, s.LuaString(`vim.inspect(vim.fn.winlayout())`), layout, "a diff opened %s: %v", when)
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
			id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
			s.AwaitLua(`#require('acp').permissions() == 1`)
			// The text is there, so that it is the user alone who is waited for.
			s.AwaitLua(`require('acp.diff.view').waits()`)
			// What they typed is long ago, so that it is what they are in the middle of.
			s.AwaitLua(`require('acp.ui.typing').left() < -20`)
			if try.begin != "q:" {
				unchanged(try.when)
			}
			s.Keys(try.end)
			s.AwaitDiff("first, last do")
			s.CheckAnswer(p, id, func() { s.Command("Acp permit 3") }, "no")
			unchanged("and stayed")
		}
	}, scene.Wide)
}

func TestDiffOfTheNextRequestOpensInTheSamePlace(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		other := s.WriteFile("second.txt", "it was\n")
		s.Prompt(p, "fix it")
		before := s.Scenery()
		first := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		command := p.Permission(scene.RunMake, scene.YesNo...)
		second := p.Permission(scene.EditsCall("e2", other, "it was\n", "it is\n"), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("ga")
		p.AwaitOutcome(first, "yes")
		// A command has no diff; the one of the request behind it waits.
		s.AwaitNoDiff()
		s.AwaitScreen("wants to run a command")
		s.Command("Acp permit 3")
		p.AwaitOutcome(command, "no")
		s.AwaitDiff("it is")
		third := p.Permission(scene.EditsCall("e3", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitScreen("1 of 2")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		wins := s.LuaString(`vim.inspect(require('acp.diff.view').windows())`)
		layout := s.LuaString(`vim.inspect(vim.fn.winlayout())`)
		s.Keys("gr")
		p.AwaitOutcome(second, "no")
		s.AwaitDiff("first, last do")
		if s.LuaString(`vim.inspect(require('acp.diff.view').windows())`) != wins || s.LuaString(`vim.inspect(vim.fn.winlayout())`) != layout {
			t.Error("the next diff opened somewhere else")
		}
		s.CheckAnswer(p, third, func() { s.Keys("ga") }, "yes")
		s.SameScenery(before, s.Scenery())
	}, scene.Wide)
}

func TestDiffIsClosedWhileTheUserTypes(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		s.Command("imap <F3> <Plug>(AcpPermit1)")
		s.Command("wincmd t")
		s.Keys("imore <Esc>u0") // typing itself changes jumps
		s.AwaitLua(`vim.fn.undotree().seq_last == 1 and not vim.bo.modified`)
		before := s.Scenery()
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Keys("imore ")
		s.AwaitLua(`vim.fn.mode() == 'i'`)
		s.CheckAnswer(p, id, func() { s.Keys("<F3>") }, "yes")
		if !s.LuaBool(`vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == 'more one'`) {
			t.Error("typing was disturbed")
		}
		s.Keys("<Esc>u0")
		s.AwaitLua(`vim.fn.mode() == 'n' and vim.api.nvim_get_current_line() == 'one' and not vim.bo.modified`)
		s.SameScenery(before, s.Scenery())

		// Withdrawn by the agent, and the turn cancelled.
		id = p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.CheckAnswer(p, id, func() { s.OK(`require('acp').cancel()`) }, "cancelled")
	}, scene.Wide)
}

func TestDiffDoesNotOpenOverOthers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		s.Command("wincmd t | diffthis | wincmd j | diffthis")
		comparing := `#vim.tbl_filter(function(w) return vim.wo[w].diff end, vim.api.nvim_tabpage_list_wins(0))`
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitLua(`require('acp.diff.view').waits()`)
		s.AwaitFloat()
		check.Equal(t, s.LuaInt(comparing), 2, "%d windows compare, where the user has two")
		// Whoever asks gets it in a tab.
		s.Command("Acp diff")
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 2 and vim.wo.diff`)
		s.Keys("q")
		s.AwaitLua(`#vim.api.nvim_list_tabpages() == 1`)
		s.Command("diffoff!")
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")

		// A picker.
		s.Lua(nil, `_G.picker = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
			{ relative = 'editor', row = 2, col = 2, width = 150, height = 38 })`)
		id = p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitLua(`require('acp.diff.view').waits()`)
		if !s.LuaBool(`#require('acp.diff.view').windows() == 0`) {
			t.Error("a diff opened behind the picker")
		}
		s.Lua(nil, `vim.api.nvim_win_close(_G.picker, true)`)
		s.AwaitDiff("first, last do")
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, scene.Wide)
}

func TestDiffOfAFinishedCall(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		turn := s.Prompt(p, "fix it")
		before := s.Scenery()
		s.Command("Acp diff")
		s.AwaitMessage("no diff to show")
		call := scene.EditsCall("e1", path, tokensLua, tokensFixed)
		call["status"] = "completed"
		p.Update("tool_call", call)
		image := scene.EditsCall("e2", s.Dir+"/note.txt", "one\n", "two\n")
		p.Update("tool_call", image)
		p.EndTurn(turn)
		s.Command("Acp diff")
		s.AwaitDiff("two")
		s.AwaitScreen("⚠ no such file")
		s.Keys("q")
		s.AwaitNoDiff()
		s.SameScenery(before, s.Scenery())

		// By key, of the block under the cursor.
		s.Command("wincmd k")
		s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)
		s.Keys("gg]t")
		s.AwaitCursor("edit")
		s.Keys("gD")
		s.AwaitDiff("first, last do")
		s.AwaitLua(`vim.wo.diff`)
		s.AwaitScreen("lexer.lua · before")
		s.GoldenScreen("finished")
		s.Keys("ga")
		s.Keys("q")
		s.AwaitNoDiff()
		s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)
		p.Silent()
	}, scene.Wide)
}

func TestDiffLeavesARepurposedWindowAlone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Command("edit " + s.WriteFile("mine.txt", "mine\n"))
		s.AwaitNoDiff()
		if !s.LuaBool(`vim.fn.expand('%:t') == 'mine.txt' and not vim.wo.diff and not vim.wo.scrollbind and vim.wo.winbar == ''`) {
			t.Error("the window of the user's is not as other windows")
		}
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.AwaitLua(`vim.fn.expand('%:t') == 'mine.txt'`)
	}, scene.Wide)
}

func TestDiffLeavesTheCodeWhereItHasAllRoom(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("<C-w>o")
		s.AwaitNoDiff()
		s.AwaitLua(`#vim.api.nvim_list_wins() == 1 and vim.fn.expand('%:t') == 'lexer.lua'`)
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, scene.Wide)
}

func TestDiffIsLookedForAgainWhenAskedFor(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		id := p.Permission(scene.EditsCall("e1", path, "last - 1", "last"), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, 0, false, { '-- Mine.' })`, path)
		s.Command("Acp diff")
		s.AwaitDiff("-- Mine.")
		s.AwaitLua(`vim.fn.line('.') == 16`)

		// From its block in the chat too.
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, 0, false, { '-- More.' })`, path)
		s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(require('acp').sessions()[1].chat_buf))
			vim.fn.search('edit   ')`)
		s.Keys("gD")
		s.AwaitDiff("-- More.")
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, scene.Wide)
}

func TestDiffIsOfTheTextThatTheUserHasWhenItOpens(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		other := s.WriteFile("second.txt", "it was\n")
		s.Prompt(p, "fix it")
		s.Command("wincmd t | wincmd j")
		s.Keys("ggO")
		first := p.Permission(scene.EditsCall("e1", other, "it was\n", "it is\n"), scene.YesNo...)
		second := p.Permission(scene.EditsCall("e2", path, "last - 1", "last"), scene.YesNo...)
		s.AwaitLua(`require('acp.diff.view').waits()`)
		s.Keys("-- Mine.<Esc>")
		s.AwaitDiff("it is")
		s.Command("Acp permit 1")
		p.AwaitOutcome(first, "yes")
		s.AwaitDiff("-- Mine.") // typed while another waited before it
		s.CheckAnswer(p, second, func() { s.Command("Acp permit 1") }, "yes")

		s.Keys("ggO")
		third := p.Permission(scene.EditsCall("e3", path, "last - 1", "last"), scene.YesNo...)
		s.AwaitLua(`require('acp.diff.view').waits()`)
		s.Keys("-- More.<Esc>")
		s.AwaitDiff("-- More.") // typed while it waited for the user to rest
		s.CheckAnswer(p, third, func() { s.Command("Acp permit 1") }, "yes")
	}, scene.Wide)
}

// An agent tells the whole text of the disk, of a file that has unsaved lines: they are around the change that is shown.
func TestDiffOfAFileWithUnsavedLines(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, 0, false, { '-- Mine.' })`, path)
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("-- Mine.")
		s.AwaitDiff("first, last do")
		s.Command("Acp diff")
		s.AwaitLua(`vim.fn.line('.') == 16`)
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.AwaitNoDiff()

		// Where both change a line it is as the agent sent it, and says why.
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 15, 16, false, { '  for i = 1, 2 do' })`, path)
		id = p.Permission(scene.EditsCall("e2", path, "for i = first, last - 1", "for i = first, last"), scene.YesNo...)
		s.AwaitScreen("you have other unsaved lines there")
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
	}, scene.Wide)
}

func TestDiffOfTenThousandLines(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		old, text := scene.LargeChange()
		path := s.WriteFile("large.txt", old)
		p := s.Begin()
		s.Prompt(p, "change it")
		before := s.Scenery()
		id := p.Permission(scene.EditsCall("e1", path, old, text), scene.YesNo...)
		s.AwaitDiff("LINE 2")
		s.AwaitDiff("LINE 49997")
		s.Command("Acp diff")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'LINE 2'`)
		s.GoldenScreen("large")
		s.Keys("G")
		s.AwaitScreen("LINE 49997")
		s.GoldenScreen("end")
		s.CheckAnswer(p, id, func() { s.Keys("gr") }, "no")
		s.SameScenery(before, s.Scenery())
	}, scene.Wide)
}

// A diff moves no window of the user's that goes along with others, and they go along with each other again
// afterwards; 'scrollopt' is as it was.
func TestDiffBesideBoundWindows(t *testing.T) {
	for _, form := range []string{"split", "inline", "tab"} {
		t.Run(form, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(`c.diff = '` + form + `'`)
				var lines strings.Builder
				for i := range 300 {
					fmt.Fprintf(&lines, "line %d\n", i)
				}
				path := s.WriteFile("a.txt", lines.String())
				s.Command("edit " + path)
				s.Command("vsplit " + s.WriteFile("b.txt", lines.String()))
				s.Command("windo set scrollbind cursorbind scrollopt=")
				s.Keys("40Gzt")
				s.AwaitLua(`vim.fn.line('.', vim.fn.bufwinid('b.txt')) == 40`)
				p := s.Begin()
				s.Prompt(p, "change it")
				before := s.Scenery()
				refuse := "gr"
				if form == "inline" { // it is the window of the user's
					refuse = refusesInFiles(s)
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
						s.AwaitNoDiff()
						s.Command("Acp permit 3")
					},
				} {
					id := p.Permission(scene.EditsCall("e1", path, "line 199\n", "LINE 199\n"), scene.YesNo...)
					s.AwaitLua(`#require('acp.diff.view').windows() > 0 or #vim.api.nvim_list_tabpages() == 2`)
					s.AwaitFloat()
					if s.LuaBool(`vim.wo[require('acp.permission.float').win()].scrollbind`) {
						t.Error("the float moves along")
					}
					if n := s.LuaInt(`vim.fn.line('.', vim.fn.bufwinid('b.txt'))`); n != 40 {
						t.Errorf("the other window's cursor is in line %d", n)
					}
					s.CheckAnswer(p, id, end, "no")
					s.SameScenery(before, s.Scenery())
				}
				s.Command("call win_gotoid(bufwinid('b.txt'))")
				s.Keys("50G")
				s.AwaitLua(`vim.fn.line('.', vim.fn.bufwinid('a.txt')) == 50`)
			}, scene.Wide)
		})
	}
}

// However a diff ends, 'scrollopt' is as it was, and the tab that was used last is too.
func TestDiffLeavesOptionsAndTabs(t *testing.T) {
	for _, form := range []string{"split", "tab"} {
		t.Run(form, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(`c.diff = '` + form + `'`)
				path, p := openLexer(s)
				s.Prompt(p, "fix it")
				s.Command("tabnew")
				s.Command("tabnext 1")
				for _, option := range []string{"", "ver,jump", "ver,jump,hor"} {
					s.Command("set scrollopt=" + option)
					before := s.Scenery()
					ask := func() int {
						t.Helper()
						id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
						s.AwaitLua(`vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.wo[win].diff end)`)
						s.AwaitFloat()
						return id
					}
					// From its windows, and from a tab of the user's.
					id := ask()
					s.Command("Acp diff")
					s.AwaitLua(`vim.wo.diff`)
					s.CheckAnswer(p, id, func() { s.Keys("ga") }, "yes")
					s.SameScenery(before, s.Scenery())
					id = ask()
					s.Keys("g<Tab>")
					s.AwaitLua(`vim.fn.tabpagenr() == vim.fn.tabpagenr('$')`)
					s.CheckAnswer(p, id, func() { s.Command("Acp permit 3") }, "no")
					s.Keys("g<Tab>")
					s.AwaitLua(`vim.fn.tabpagenr() == 1`)
					s.SameScenery(before, s.Scenery())
				}
				// What the user compares by then goes on.
				s.Command("set scrollopt=ver,jump")
				id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
				s.AwaitLua(`vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.wo[win].diff end)`)
				s.Command("tabnext $")
				s.Command("diffthis")
				s.CheckAnswer(p, id, func() { s.Command("Acp permit 3") }, "no")
				check.Equal(t, s.LuaString(`vim.o.scrollopt`), "ver,jump,hor", "'scrollopt' is %q")
			}, scene.Wide)
		})
	}
}

func TestKeysOfARequestSayInWordsWhatTheyDo(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, p := openLexer(s)
		s.Prompt(p, "fix it")
		p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		s.AwaitFloat()
		s.CheckDescriptions("", "acp: allow the request")
		s.CheckDescriptions("", "acp: give answer 1")
	})
}

func TestADiffTakesTheRoomOfADashboard(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("lexer.lua", tokensLua)
		s.Dashboard()
		p := s.Begin()
		s.Prompt(p, "fix it")
		const sizes = `vim.json.encode(vim.tbl_map(function(win)
			local buf = vim.api.nvim_win_get_buf(win)
			return vim.b[buf].acp_session and { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) } or 0
		end, { require('acp.chat.layout').windows(0) }))`
		before, scenery := s.LuaString(sizes), s.Scenery()
		id := p.Permission(scene.EditsCall("e1", path, tokensLua, tokensFixed), scene.YesNo...)
		s.AwaitDiff("first, last do")
		if got := s.LuaString(sizes); got != before {
			t.Errorf("the chat and the prompt have %s, before %s", got, before)
		}
		s.CheckAnswer(p, id, func() { s.Command("Acp permit 1") }, "yes")
		s.SameScenery(scenery, s.Scenery())
	}, scene.Wide)
}

// The keys are in sight also in a narrow window, and above the first line of a file that the user is in.
func TestDiffInTheFileShowsItsKeysInANarrowWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'inline'`)
		path := s.WriteFile("some_longer_name.txt", scene.Lines(1, 5))
		s.Command("edit " + path)
		p := s.Begin()
		s.Prompt(p, "fix it")
		s.Command("wincmd t")
		for _, line := range []int{1, 3} {
			changed := strings.Replace(scene.Lines(1, 5), fmt.Sprintf("line %d\n", line), "another\n", 1)
			id := p.Permission(scene.EditsCall(fmt.Sprint("e", line), path, scene.Lines(1, 5), changed), scene.YesNo...)
			s.AwaitScreen(" +1 −1 · ga allow · " + refusesInFiles(s) + " refuse")
			s.CheckAnswer(p, id, func() { s.Keys("ga") }, "yes")
			s.AwaitNoFloat()
		}
	})
}
