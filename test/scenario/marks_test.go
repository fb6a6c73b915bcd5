package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reviewed is what the agent makes of before: line 2 is another, line 6 is gone, two are new at the end.
var reviewed = strings.NewReplacer("two", "two, changed", "six\n", "", "eight\n", "eight\nnine\nten\n").Replace(before)

// marked opens a file and has the agent change it.
func (s *scene) marked(text string) (p *puppet, turn message, path string, buf int) {
	s.t.Helper()
	path = s.write("code.txt", before)
	s.Command("edit code.txt")
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	p = s.begin()
	s.Command("wincmd t")
	s.Command("Acp toggle")
	turn = s.prompt(p, "edit")
	p.readFile(path, nil)
	p.writeFile(path, text)
	return p, turn, path, buf
}

// marks are the rows of the current buffer that have a sign or old lines above them, from 1: line, sign, and
// how many old lines.
func (s *scene) marks(buf int) string {
	s.t.Helper()
	return s.LuaString(`
		local ns, rows = vim.api.nvim_get_namespaces().acp_marks, {}
		if not ns then return '' end
		for _, m in ipairs(vim.api.nvim_buf_get_extmarks(..., ns, 0, -1, { details = true })) do
			local d = m[4]
			if not d.invalid and (d.sign_text or d.virt_lines) then
				local row = rows[m[2]] or { '', '' }
				rows[m[2]] = row
				row[1] = row[1] .. (d.virt_lines and '-' .. #d.virt_lines or '')
				row[2] = row[2] .. (d.sign_text and vim.trim(d.sign_text) or '')
			end
		end
		local list = {}
		for row = 0, vim.api.nvim_buf_line_count(...) - 1 do
			if rows[row] then table.insert(list, (row + 1) .. rows[row][1] .. rows[row][2]) end
		end
		return table.concat(list, ' ')`, buf)
}

func (s *scene) awaitMarks(buf int, want string) {
	s.t.Helper()
	got := ""
	defer func() {
		if got != want {
			s.t.Logf("the marks are %q", got)
		}
	}()
	s.Await("the marks "+want, func() bool { got = s.marks(buf); return got == want })
}

func TestChangesAreMarkedInTheBuffer(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, turn, path, buf := s.marked(reviewed)
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.screen("marked")

		// They move with the user's text, and stay what they are.
		s.Keys("ggOmine<Esc>")
		s.awaitMarks(buf, "3-1▌ 7-1▀ 9▌ 10▌")
		s.Keys("u")
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")

		// The agent's next change.
		p.writeFile(path, strings.Replace(reviewed, "four\n", "four\nfour and a half\n", 1))
		s.awaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")

		s.Command("Acp review marks off")
		s.awaitMarks(buf, "")
		s.Keys("3G[v")
		s.AwaitLua(`vim.fn.line('.') == 2`)
		s.Command("Acp review marks on")
		s.awaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")

		// What is read anew is marked anew, and so is what is loaded later.
		s.Command("edit!")
		s.awaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")
		s.Command("bdelete")
		s.Command("edit code.txt")
		s.awaitMarks(buf, "2-1▌ 5▌ 7-1▀ 9▌ 10▌")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")

		s.Command("Acp close")
		s.awaitMarks(buf, "")
		if got := s.LuaString(`vim.fn.maparg('g>', 'n')`); got != "" {
			t.Errorf("g> is still %s", got)
		}
	})
}

func TestChangesAreDecidedInTheBuffer(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p, turn, path, buf := s.marked(reviewed)
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")

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
		s.awaitMarks(buf, "6-1▀ 8▌ 9▌")
		restored := strings.Replace(reviewed, "two, changed", "two", 1)
		if got := s.buffer(buf) + "\n"; got != restored || s.disk(path) != restored {
			t.Errorf("the buffer has %q, the disk %q", got, s.disk(path))
		}
		s.Keys("u")
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("<C-r>")
		s.awaitMarks(buf, "6-1▀ 8▌ 9▌")

		// Kept, before what is gone; a selection has one of two lines.
		s.Keys("5Gg>")
		s.awaitMarks(buf, "8▌ 9▌")
		s.Keys("9GVg<lt>")
		s.awaitMarks(buf, "8▌")
		s.Await("to be told that nothing is there", func() bool { // until then the buffer may wait for the host
			s.Keys("3Gg>")
			return strings.Contains(s.notifications(), "there is no pending change here")
		})
		s.Command("7,8Acp review keep")
		s.awaitMarks(buf, "")
		s.Await("the record to have the decisions", func() bool { // it is told ten times a second, as the chat is hidden
			return s.states("code.txt") == "modified code.txt rejected kept rejected kept"
		})
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == '' and vim.fn.maparg('g>', 'x') == ''`)
		s.Command("Acp review keep")
		s.awaitNotification("there is no pending change here")
		s.Command("Acp review next")
		s.awaitNotification("there are no pending changes")
	})
}

// states are those of the hunks of a changed file.
func (s *scene) states(name string) string {
	s.t.Helper()
	return s.LuaString(`
		for _, file in ipairs(require('acp').changes()) do
			if vim.fs.basename(file.path) == ... then
				return vim.iter(file.hunks):fold(file.status .. ' ' .. ..., function(all, hunk) return all .. ' ' .. hunk.state end)
			end
		end
		return ''`, name)
}

func TestFromChangeToChangeAcrossFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		if err := os.Mkdir(filepath.Join(s.Dir, "dir"), 0o700); err != nil {
			t.Fatal(err)
		}
		other := s.write("dir/other.txt", before)
		last := s.write("last.txt", before)
		p, turn, _, buf := s.marked(reviewed)
		p.writeFile(other, strings.Replace(before, "five", "5", 1)) // which no buffer shows
		p.writeFile(last, strings.TrimPrefix(before, "one\n"))
		p.writeFile(filepath.Join(s.Dir, "new.txt"), "new\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		at := func(name string, line int) {
			t.Helper()
			s.AwaitLua(`vim.fn.expand('%:.') == select(1, ...) and vim.fn.line('.') == select(2, ...)`, name, line)
		}
		s.Keys("G]v]v")
		at("last.txt", 1)
		s.AwaitScreen("▀")
		s.screen("another file")
		s.Keys("<C-o>")
		at("dir/other.txt", 5)
		s.Keys("<C-o>")
		at("code.txt", 9)
		s.Keys("4]v")
		at("code.txt", 2)
		s.AwaitScreen("acp: around to the first change")
		s.Keys("[v")
		at("new.txt", 1)

		// With 'nohidden' nothing is lost, and nothing asked.
		s.Command("set nohidden")
		s.Keys("onewer<Esc>]v")
		s.awaitNotification("the next change is in code.txt, but this buffer has unsaved text and 'hidden' is off")
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
		s.Command("edit " + s.write("e.txt", before)) // between two that have some
		s.Command("Acp review next")
		at("last.txt", 1)
		s.Command("edit e.txt")
		s.Command("Acp review previous")
		at("dir/other.txt", 5)
	})
}

// With the last change of a file decided the keys go on to other files, until all is decided.
func TestKeysStayUntilAllIsDecided(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		other := s.write("other.txt", before)
		p, turn, path, buf := s.marked(strings.Replace(before, "two\n", "TWO\n", 1))
		p.writeFile(other, strings.Replace(before, "four\n", "FOUR\n", 1))
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitMarks(buf, "2-1▌")
		s.Keys("2Gg>")
		s.awaitMarks(buf, "")
		s.synced()
		s.Keys("]v")
		s.AwaitLua(`vim.fn.expand('%:t') == 'other.txt' and vim.fn.line('.') == 4`)
		s.AwaitLua(`vim.fn.maparg('g>', 'n') ~= ''`)
		s.Keys("g>")
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == ''`)
		s.Command("edit " + path)
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == ''`)
	})
}

// An option has the cursor go on by itself, also into the next file.
func TestTheCursorGoesOnAfterADecision(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.review_advance = true`)
		other := s.write("other.txt", before)
		p, turn, _, buf := s.marked(reviewed)
		p.writeFile(other, strings.Replace(before, "four\n", "FOUR\n", 1))
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		for _, c := range []struct {
			keys, file string
			line       int
		}{{"2Gg>", "code.txt", 6}, {"g<lt>", "code.txt", 9}, {"g>", "other.txt", 4}} {
			s.Keys(c.keys)
			s.AwaitLua(`vim.fn.expand('%:t') .. vim.fn.line('.') == ...`, fmt.Sprint(c.file, c.line))
		}
		s.awaitMarks(s.LuaInt(`vim.api.nvim_get_current_buf()`), "4-1▌")
		s.Keys("g>")
		s.AwaitLua(`vim.fn.maparg('g>', 'n') == ''`)
	})
}

// The words that have changed are seen in the line, which is coloured to its end.
func TestChangedWordsAreSeen(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("words.txt", "one\na line of some words\n")
		s.Command("edit words.txt")
		p := s.begin()
		s.Command("wincmd t")
		s.Command("Acp toggle")
		turn := s.prompt(p, "edit")
		p.writeFile(path, "one\na line of other words\n")
		s.awaitMarks(s.LuaInt(`vim.api.nvim_get_current_buf()`), "2-1▌")
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
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// What a line was looks as it did, tabs and wide characters and all.
func TestOldLinesHaveTheirTabStops(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("tabs.txt", "ab\tcd\tsome\tend\n")
		s.Command("edit tabs.txt | setlocal tabstop=4")
		p := s.begin()
		s.Command("wincmd t")
		s.Command("Acp toggle")
		turn := s.prompt(p, "edit")
		p.writeFile(path, "ab\tcd\tother\tend\n")
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
			if got != want {
				t.Errorf("%s: %q, want %q", tabstops, got, want)
			}
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestKeysOfTheUserStay(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.keys = { review_next = ']h', review_previous = false }`)
		s.Command("nnoremap g> :let g:pressed = 1<CR>")
		s.write("code.txt", before)
		s.Command("edit code.txt")
		s.Command("xnoremap <buffer> g<lt> :<C-u>let g:pressed = 2<CR>")
		p, turn, path, buf := s.marked(reviewed)
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("g>")
		s.AwaitLua(`vim.g.pressed == 1`)
		s.Keys("Vg<lt>")
		s.AwaitLua(`vim.g.pressed == 2`)
		s.Keys("gg]h")
		s.AwaitLua(`vim.fn.line('.') == 2`)
		s.AwaitLua(`vim.fn.maparg('[v', 'n') == ''`)
		s.Command("nmap <buffer> K <Plug>(AcpReviewKeep)")
		s.Keys("K")
		s.awaitMarks(buf, "6-1▀ 8▌ 9▌")
		s.Keys("8GVkkg>") // from below
		s.awaitMarks(buf, "9▌")
		s.Keys("9Gg<lt>")
		s.awaitMarks(buf, "")
		if got := s.disk(path); got != strings.Replace(reviewed, "ten\n", "", 1) {
			t.Errorf("the disk has %q", got)
		}
		s.AwaitLua(`vim.fn.maparg('g<lt>', 'n') == ''`)
		s.AwaitLua(`vim.fn.maparg('g>', 'n') ~= '' and vim.fn.maparg('g<lt>', 'x') ~= ''`)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestNothingIsMarkedWithoutReview(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.review = false`)
		p, turn, _, buf := s.marked(reviewed)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if got := s.marks(buf); got != "" || s.LuaBool(`vim.fn.maparg('g>', 'n') ~= ''`) {
			t.Errorf("marked are %q", got)
		}
	})
}

// What the user types in a line of the agent's, and elsewhere, leaves the rest as it is.
func TestMarksWhileTheUserTypes(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, turn, _, buf := s.marked(reviewed)
		s.awaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Keys("2GA by me<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		s.Keys("gg2OX<Esc>")
		s.awaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		s.Keys("11Gdd")
		s.awaitMarks(buf, "4-1▌ 8-1▀ 10▌")
		s.Keys("u")
		s.awaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		s.Keys("11Gddp:4<CR>ddP")
		s.awaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		// A formatter that replaces all lines.
		s.Lua(nil, `local lines = vim.api.nvim_buf_get_lines(..., 0, -1, false)
			vim.api.nvim_buf_set_lines(..., 0, -1, false, lines)`, buf)
		s.awaitMarks(buf, "4-1▌ 8-1▀ 10▌ 11▌")
		s.screen("typed")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// What was decided last may be undone too: the text goes on being looked at.
func TestTheLastDecisionIsUndone(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, turn, _, buf := s.marked(strings.Replace(before, "two\n", "TWO\n", 1))
		p.stop(turn, "end_turn")
		s.awaitMarks(buf, "2-1▌")
		s.Keys("2Gg<lt>")
		s.awaitMarks(buf, "")
		s.AwaitLua(`vim.fn.maparg('g<', 'n') == ''`)
		s.Keys("u")
		s.Await("waiting again", func() bool { return strings.HasSuffix(s.changes(), "+2,1\n") })
		s.awaitMarks(buf, "2-1▌")
		s.Keys("<C-r>")
		s.awaitMarks(buf, "")
		s.Await("refused again", func() bool { return strings.HasSuffix(s.changes(), " rejected\n") })
	})
}

// What is typed right behind a decision is about the text as it is then.
func TestDecisionsTypedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("long.txt", "1\n2\n3\n4\n5\n6\n7\n8\n")
		s.Command("edit long.txt")
		p := s.begin()
		s.Command("wincmd t")
		turn := s.prompt(p, "edit")
		p.writeFile(path, "1\na\nb\nc\n2\n3\n4\nd\n5\n6\n7\ne\n8\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.awaitMarks(buf, "2▌ 3▌ 4▌ 8▌ 12▌")
		s.Keys("gg]vg<lt>]vg<lt>")
		s.awaitBuffer(buf, "1\n2\n3\n4\n5\n6\n7\ne\n8")
		s.Keys("uu")
		s.awaitBuffer(buf, "1\na\nb\nc\n2\n3\n4\nd\n5\n6\n7\ne\n8")
		s.awaitMarks(buf, "2▌ 3▌ 4▌ 8▌ 12▌")
		s.Keys("2Gg>]vg<lt>u]vg>")
		s.awaitMarks(buf, "8▌")
		s.awaitBuffer(buf, "1\na\nb\nc\n2\n3\n4\nd\n5\n6\n7\ne\n8")
	})
}

// The colour of a changed line is not that of one typed below it, not even until the marks are looked at.
func TestALineTypedBelowAChangeHasNoColour(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, turn, _, buf := s.marked(strings.Replace(before, "two\n", "TWO\n", 1))
		p.stop(turn, "end_turn")
		s.awaitMarks(buf, "2-1▌")
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
			if covered != "" {
				t.Errorf("the line typed with %s has the colours %s", keys, covered)
			}
			s.Keys("u")
			s.awaitMarks(buf, "2-1▌")
		}
	})
}
