package review

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestChangesAreMarkedInTheBuffer(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p, turn, path, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.GoldenScreen("marked")

		// They move with the user's text, and stay what they are.
		s.Keys("ggOmine<Esc>")
		s.AwaitMarks(buf, "3-1▌ 7-1▀ 9▌ 10▌")
		s.Keys("u")
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")

		// The agent's next change.
		p.WriteFile(path, strings.Replace(scene.TextReviewed, "four\n", "four\nfour and a half\n", 1))
		s.AwaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")

		s.Command("Acp review marks off")
		s.AwaitMarks(buf, "")
		s.Keys("3G[v")
		s.AwaitLua(`vim.fn.line('.') == 2`)
		s.Command("Acp review marks on")
		s.AwaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")

		// What is read anew is marked anew, and so is what is loaded later.
		s.Command("edit!")
		s.AwaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")
		s.Command("bdelete")
		s.Command("edit code.txt")
		s.AwaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")
		p.EndTurn(turn)

		s.Command("Acp close")
		s.AwaitMarks(buf, "")
		check.Equal(t, s.LuaString(`vim.fn.maparg('g>', 'n')`), "", "g> is still %s")
	})
}

func TestChangesAreDecidedInTheBuffer(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p, turn, path, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		p.EndTurn(turn)

		// From change to change, with a count and around the end.
		for _, c := range []struct {
			keys string
			line int
		}{{"gg]v", 2}, {"]v", 6}, {"]v", 8}, {"]v", 2}, {"[v", 8}, {"2[v", 2}, {"2]v", 8}} {
			s.Keys(c.keys)
			s.AwaitLua(`vim.fn.line('.') == ...`, c.line)
		}

		// Refused, undone, done again.
		s.Keys("2Gg<lt>")
		s.AwaitMarks(buf, "6-1▀ 8▌ 9▌")
		restored := strings.Replace(scene.TextReviewed, "two, changed", "two", 1)
		if got := s.BufferText(buf) + "\n"; got != restored || s.ReadOrNone(path) != restored {
			t.Errorf("the buffer has %q, the disk %q", got, s.ReadOrNone(path))
		}
		s.Keys("u")
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("<C-r>")
		s.AwaitMarks(buf, "6-1▀ 8▌ 9▌")

		// Kept, before what is gone; a selection has one of two lines.
		s.Keys("5Gg>")
		s.AwaitMarks(buf, "8▌ 9▌")
		s.Keys("9GVkg<lt>") // selected upwards
		s.AwaitMarks(buf, "")
		s.Keys("u")
		s.AwaitMarks(buf, "8▌ 9▌")
		s.AwaitLua(`vim.fn.maparg('g<', 'x') ~= ''`)
		s.Keys("9GVg<lt>")
		s.AwaitMarks(buf, "8▌")
		s.Await("to be told that nothing is there", func() bool { // until then the buffer may wait for the host
			s.Keys("3Gg>")
			return strings.Contains(s.Notifications(), "no pending change here")
		})
		s.Command("7,8Acp review keep")
		s.AwaitMarks(buf, "")
		s.Await("the record to have the decisions", func() bool { // it is told ten times a second, as the chat is hidden
			return states(s, "code.txt") == "modified code.txt rejected kept rejected kept"
		})
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == '' and vim.fn.maparg('g>', 'x') == ''`)
		s.Command("Acp review keep")
		s.AwaitNotification("no pending change here")
		s.Command("Acp review next")
		s.AwaitNotification("there are no pending changes")
	})
}

// A key costs Neovim one message to the host, and its answer comes when the buffer has the marks.
func TestADecisionIsOneMessage(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, turn, _, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		p.EndTurn(turn)
		s.AwaitLua(`require('acp').sessions()[1].state == 'idle'`)
		s.Lua(nil, `
			_G.sent = {}
			local notify = vim.rpcnotify
			vim.rpcnotify = function(channel, name, method, message)
				table.insert(_G.sent, method)
				return notify(channel, name, method, message)
			end
			local answer = require('acp.rpc.host').answer
			require('acp.rpc.host').answer = function(...)
				_G.marks_at_answer = #vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('acp_marks_place'), 0, -1, {})
				return answer(...)
			end`)
		s.Keys("2Gg<lt>")
		s.AwaitLua(`_G.marks_at_answer == 2`)
		s.AwaitMarks(buf, "6-1▀ 8▌ 9▌")
		check.Equal(t, s.LuaString(`return table.concat(_G.sent, ' ')`), "decide_hunks", "the host was sent %s")
	})
}

// states are those of the hunks of a changed file.
func states(s *scene.Scene, name string) string {
	s.T.Helper()
	return s.LuaString(`
		for _, file in ipairs(require('acp').changes()) do
			if vim.fs.basename(file.path) == ... then
				return vim.iter(file.hunks):fold(file.status .. ' ' .. ..., function(all, hunk) return all .. ' ' .. hunk.state end)
			end
		end
		return ''`, name)
}

func TestFromChangeToChangeAcrossFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		must.Do(t, os.Mkdir(filepath.Join(s.Dir, "dir"), 0o700))
		other := s.WriteFile("dir/other.txt", scene.TextBefore)
		last := s.WriteFile("last.txt", scene.TextBefore)
		p, turn, _, buf := s.BeginWithChange(scene.TextReviewed)
		p.WriteFile(other, strings.Replace(scene.TextBefore, "five", "5", 1)) // which no buffer shows
		p.WriteFile(last, strings.TrimPrefix(scene.TextBefore, "one\n"))
		p.WriteFile(filepath.Join(s.Dir, "new.txt"), "new\n")
		p.EndTurn(turn)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		at := func(name string, line int) {
			t.Helper()
			s.AwaitLua(`vim.fn.expand('%:.') == select(1, ...) and vim.fn.line('.') == select(2, ...)`, name, line)
		}
		s.Keys("G]v]v")
		at("last.txt", 1)
		s.AwaitScreen("▀")
		s.GoldenScreen("another file")
		s.Keys("<C-o>")
		at("dir/other.txt", 5)
		s.Keys("<C-o>")
		at("code.txt", 9)
		s.Keys("4]v")
		at("code.txt", 2)
		s.AwaitScreen("acp: wrapped around to the first change")
		s.Keys("[v")
		at("new.txt", 1)

		// With 'nohidden' nothing is lost, and nothing asked.
		s.Command("set nohidden")
		s.Keys("onewer<Esc>]v")
		s.AwaitNotification("next is code.txt, but this buffer has unsaved text and 'hidden' is off")
		at("new.txt", 2)
		s.Keys("u]v")
		at("code.txt", 2)

		// The command goes there from a file without changes.
		s.Command("set hidden")
		s.Command("enew")
		s.Command("Acp review next")
		at("code.txt", 2)
		s.Command("Acp review previous")
		at("new.txt", 1)
		s.Command("edit " + s.WriteFile("e.txt", scene.TextBefore)) // between two that have some
		s.Command("Acp review next")
		at("last.txt", 1)
		s.Command("edit e.txt")
		s.Command("Acp review previous")
		at("dir/other.txt", 5)
	})
}

// With the last change of a file decided the keys go on to other files, until all is decided.
func TestKeysStayUntilAllIsDecided(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		other := s.WriteFile("other.txt", scene.TextBefore)
		p, turn, path, buf := s.BeginWithChange(strings.Replace(scene.TextBefore, "two\n", "TWO\n", 1))
		p.WriteFile(other, strings.Replace(scene.TextBefore, "four\n", "FOUR\n", 1))
		p.EndTurn(turn)
		s.AwaitMarks(buf, "2-1▌")
		s.Keys("2Gg>")
		s.AwaitMarks(buf, "")
		s.Sync()
		s.Keys("]v")
		s.AwaitLua(`vim.fn.expand('%:t') == 'other.txt' and vim.fn.line('.') == 4`)
		s.AwaitMarks(s.LuaInt(`vim.api.nvim_get_current_buf()`), "4-1▌")
		s.AwaitLua(`vim.fn.maparg('g>', 'n') ~= ''`)
		s.Keys("g>")
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == ''`)
		s.Command("edit " + path)
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == ''`)
	})
}

// An option has the cursor go on by itself, also into the next file.
func TestTheCursorGoesOnAfterADecision(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.review_advance = true`)
		other := s.WriteFile("other.txt", scene.TextBefore)
		p, turn, _, buf := s.BeginWithChange(scene.TextReviewed)
		p.WriteFile(other, strings.Replace(scene.TextBefore, "four\n", "FOUR\n", 1))
		p.EndTurn(turn)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		for _, c := range []struct {
			keys, file string
			line       int
		}{{"2Gg>", "code.txt", 6}, {"g<lt>", "code.txt", 9}, {"g>", "other.txt", 4}} {
			s.Keys(c.keys)
			s.AwaitLua(`vim.fn.expand('%:t') .. vim.fn.line('.') == ...`, fmt.Sprint(c.file, c.line))
		}
		s.AwaitMarks(s.LuaInt(`vim.api.nvim_get_current_buf()`), "4-1▌")
		s.Keys("g>")
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == ''`)
	})
}

// The words that have changed are seen in the line, which is coloured to its end.
func TestChangedWordsAreSeen(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("words.txt", "one\na line of some words\n")
		s.Command("edit words.txt")
		p := s.Begin()
		s.Command("wincmd t")
		s.Command("Acp toggle")
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "one\na line of other words\n")
		s.AwaitMarks(s.LuaInt(`vim.api.nvim_get_current_buf()`), "2-1▌")
		colours := func() string {
			return s.LuaString(`(function()
				vim.cmd.redraw()
				local list = {}
				for _, at in ipairs({ { 1, 1 }, { 2, 1 }, { 2, 11 }, { 2, 70 } }) do
					local pos = vim.fn.screenpos(0, at[1], 1)
					table.insert(list, vim.fn.screenattr(pos.row, pos.col + at[2] - 1))
				end
				return table.concat(list, ' ')
			end)()`)
		}
		s.Await("a line in colour, and words in another", func() bool {
			is := strings.Fields(colours())
			return is[0] != is[1] && is[1] != is[2] && is[0] != is[2] && is[1] == is[3]
		})
		p.EndTurn(turn)
	})
}

// What a line was looks as it did, tabs and wide characters and all.
func TestOldLinesHaveTheirTabStops(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("tabs.txt", "ab\tcd\tsome\tend\n")
		s.Command("edit tabs.txt | setlocal tabstop=4")
		p := s.Begin()
		s.Command("wincmd t")
		s.Command("Acp toggle")
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "ab\tcd\tother\tend\n")
		s.AwaitScreen("ab  cd  some    end")
		s.AwaitScreen("ab  cd  other   end")
		for tabstops, want := range map[string]string{
			"tabstop=8":                "日本    x       y",
			"tabstop=3":                "日本  x  y",
			"tabstop=8 vartabstop=3,6": "日本     x     y",
		} {
			s.Command("setlocal vartabstop= " + tabstops)
			got := s.LuaString(`(require('acp.ui.virt_lines').untabbed('日本\tx', 0)) ..
				(require('acp.ui.virt_lines').untabbed('\ty', 0, select(2, require('acp.ui.virt_lines').untabbed('日本\tx', 0))))`)
			check.Equal(t, got, want, "%s: %q", tabstops)
		}
		p.EndTurn(turn)
	})
}

func TestKeysOfTheUserStay(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.keys = { review_next = ']h', review_previous = false }`)
		s.Command("nnoremap g> :let g:pressed = 1<CR>")
		s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		s.Command("xnoremap <buffer> g<lt> :<C-u>let g:pressed = 2<CR>")
		p, turn, path, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("g>")
		s.AwaitLua(`vim.g.pressed == 1`)
		s.Keys("Vg<lt>")
		s.AwaitLua(`vim.g.pressed == 2`)
		s.Keys("gg]h")
		s.AwaitLua(`vim.fn.line('.') == 2`)
		s.AwaitLua(`vim.fn.maparg('[v', 'n') == ''`)
		s.Command("nmap <buffer> K <Plug>(AcpReviewKeep)")
		s.Keys("K")
		s.AwaitMarks(buf, "6-1▀ 8▌ 9▌")
		s.Keys("8GVkkg>") // from below
		s.AwaitMarks(buf, "9▌")
		s.Keys("9Gg<lt>")
		s.AwaitMarks(buf, "")
		check.Equal(t, s.ReadOrNone(path), strings.Replace(scene.TextReviewed, "ten\n", "", 1), "the disk has %q")
		s.AwaitLua(`vim.fn.maparg('g<lt>', 'n') == ''`)
		s.AwaitLua(`vim.fn.maparg('g>', 'n') ~= '' and vim.fn.maparg('g<lt>', 'x') ~= ''`)
		p.EndTurn(turn)
	})
}

func TestNothingIsMarkedWithoutReview(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.review = false`)
		p, turn, _, buf := s.BeginWithChange(scene.TextReviewed)
		p.EndTurn(turn)
		if got := s.Marks(buf); got != "" || s.LuaBool(`vim.fn.maparg('g>', 'n') ~= ''`) {
			t.Errorf("marked are %q", got)
		}
	})
}

// What the user types in a line of the agent's, and elsewhere, leaves the rest as it is.
func TestMarksWhileTheUserTypes(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p, turn, _, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("2GA by me<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		s.Keys("gg2OX<Esc>")
		s.AwaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		s.Keys("11Gdd")
		s.AwaitMarks(buf, "4-1▌ 8-1▀ 10▌")
		s.Keys("u")
		s.AwaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		s.Keys("11Gddp:4<CR>ddP")
		s.AwaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		// A formatter that replaces all lines.
		s.Lua(nil, `local lines = vim.api.nvim_buf_get_lines(..., 0, -1, false)
			vim.api.nvim_buf_set_lines(..., 0, -1, false, lines)`, buf)
		s.AwaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		s.GoldenScreen("typed")
		p.EndTurn(turn)
	})
}

// What was decided last may be undone too: the text goes on being looked at.
func TestTheLastDecisionIsUndone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, turn, _, buf := s.BeginWithChange(strings.Replace(scene.TextBefore, "two\n", "TWO\n", 1))
		p.Stop(turn, "end_turn")
		s.AwaitMarks(buf, "2-1▌")
		s.Keys("2Gg<lt>")
		s.AwaitMarks(buf, "")
		s.AwaitLua(`vim.fn.maparg('g<', 'n') == ''`)
		s.Keys("u")
		s.Await("waiting again", func() bool { return strings.HasSuffix(allChanges(s), "+2,1\n") })
		s.AwaitMarks(buf, "2-1▌")
		s.Keys("<C-r>")
		s.AwaitMarks(buf, "")
		s.Await("refused again", func() bool { return strings.HasSuffix(allChanges(s), " rejected\n") })
	})
}

// What is typed right behind a decision is about the text as it is then.
func TestDecisionsTypedAtOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("long.txt", "1\n2\n3\n4\n5\n6\n7\n8\n")
		s.Command("edit long.txt")
		p := s.Begin()
		s.Command("wincmd t")
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "1\na\nb\nc\n2\n3\n4\nd\n5\n6\n7\ne\n8\n")
		p.EndTurn(turn)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.AwaitMarks(buf, "2▌ 3▌ 4▌ 8▌ 12▌")
		s.Keys("gg]vg<lt>]vg<lt>")
		s.AwaitBuffer(buf, "1\n2\n3\n4\n5\n6\n7\ne\n8")
		s.Keys("uu")
		s.AwaitBuffer(buf, "1\na\nb\nc\n2\n3\n4\nd\n5\n6\n7\ne\n8")
		s.AwaitMarks(buf, "2▌ 3▌ 4▌ 8▌ 12▌")
		s.Keys("2Gg>]vg<lt>u]vg>")
		s.AwaitMarks(buf, "8▌")
		s.AwaitBuffer(buf, "1\na\nb\nc\n2\n3\n4\nd\n5\n6\n7\ne\n8")
	})
}

func TestADashboardIsTakenForTheFile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		win := s.Dashboard()
		p := s.Begin()
		s.Prompt(p, "edit")
		p.ReadFile(path, nil)
		p.WriteFile(path, scene.TextReviewed)
		s.AwaitLua(`#require('acp').changes() > 0 and #require('acp').changes()[1].hunks >= 3`)
		s.Command("wincmd t")
		s.Command("Acp review next")
		s.AwaitLua(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'code.txt' and vim.api.nvim_win_get_cursor(0)[1] == 2`)
		if got := s.LuaInt(`vim.api.nvim_get_current_win()`); got != win {
			t.Errorf("the file is in window %d, not in %d", got, win)
		}
	}, scene.Wide)
}

// From the prompt too the next change is gone to, in a window for code.
func TestTheNextChangeFromThePrompt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "1\n")
		win := s.Dashboard()
		p := s.Begin()
		s.Command("Acp review next")
		s.AwaitMessage("there are no pending changes")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "1\n2\n")
		p.EndTurn(turn)
		s.Sync()
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.Command("stopinsert | Acp review next")
		s.AwaitLua(`vim.fn.expand('%:t') == 'a.txt' and vim.api.nvim_get_current_win() == ...`, win)
	})
}

// The colour of a changed line is not that of one typed below it, not even until the marks are looked at.
func TestALineTypedBelowAChangeHasNoColour(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, turn, _, buf := s.BeginWithChange(strings.Replace(scene.TextBefore, "two\n", "TWO\n", 1))
		p.EndTurn(turn)
		s.AwaitMarks(buf, "2-1▌")
		for _, keys := range []string{"o", "A<CR>"} {
			covered := s.LuaString(`(function(keys)
				vim.api.nvim_win_set_cursor(0, { vim.fn.search('^TWO', 'nw'), 0 })
				vim.api.nvim_feedkeys(vim.keycode(keys .. 'typed<Esc>'), 'xt', false)
				local row, list = vim.fn.search('typed', 'nw') - 1, {}
				local ns = vim.api.nvim_create_namespace('acp_marks')
				for _, m in ipairs(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })) do
					local d = m[4]
					if d.hl_eol and m[2] <= row and (d.end_row or m[2]) > row then
						table.insert(list, d.hl_group)
					end
				end
				return table.concat(list, ' ')
			end)(...)`, keys)
			check.Equal(t, covered, "", "the line typed with %s has the colours %s", keys)
			s.Keys("u")
			s.AwaitMarks(buf, "2-1▌")
		}
	})
}
