package review

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

func TestKeysWaitForAJumpInTheReview(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		reviewed(s)
		s.Command("Acp review")
		awaitPage(s, "lexer_spec.lua")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		s.Keys("gg]v")
		s.AwaitLua(`vim.fn.line('.') > 1`)
		at := s.LuaInt(`vim.fn.line('.')`)
		s.Keys("gg]vjj")
		s.AwaitLua(`vim.fn.line('.') == ...`, at+2)
	})
}

// reviewBuf is the Lua expression for the buffer of the review of the session used last.
const reviewBuf = `vim.fn.bufnr(require('acp.chat.buffers').name('review', require('acp.rpc.state').resolve()))`

// page is the text of the review.
func page(s *scene.Scene) string {
	s.T.Helper()
	var lines []string
	s.Lua(&lines, `local buf = `+reviewBuf+` return buf == -1 and {} or vim.api.nvim_buf_get_lines(buf, 0, -1, false)`)
	return strings.Join(lines, "\n")
}

// awaitPage waits until the review has a text.
func awaitPage(s *scene.Scene, text string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q in the review", text), func() bool { return strings.Contains(page(s), text) })
}

// onPage moves the cursor of the review to the line that has a text.
func onPage(s *scene.Scene, text string) {
	s.T.Helper()
	awaitPage(s, text)
	if s.LuaInt(`vim.fn.search('\\V' .. ..., 'cw')`, text) == 0 {
		s.T.Fatalf("%q is not in the window", text)
	}
}

func TestTabsIndentInTheReview(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.go", strings.Repeat("//\n", 9)+"func f() {\n\treturn 1\n}\n")
		p := s.Begin()
		s.Prompt(p, "edit")
		p.WriteFile(path, strings.Repeat("//\n", 9)+"func f() {\n\treturn 2\n}\n")
		s.Command("Acp review")
		s.AwaitScreen("  10   func f() {")
		s.AwaitScreen("11 +          return 2")
	})
}

const lexerBefore = "local M = {}\n\nfunction M.between(toks, first, last)\n  local out = {}\n  for i = first, last - 1 do\n    out[#out + 1] = toks[i]\n  end\n  return out\nend\n\n" +
	"function M.count(toks)\n  local n = 0\n  for _ in pairs(toks) do\n    n = n + 1\n  end\n  return n\nend\n\nreturn M\n"

var lexerAfter = strings.NewReplacer("last - 1 do", "last do", "  local n = 0\n", "", "    n = n + 1\n", "    total = total + 1\n").Replace(lexerBefore)

// reviewed begins a session whose agent has changed three files.
func reviewed(s *scene.Scene) *scene.Puppet {
	s.T.Helper()
	lexer := s.WriteFile("lexer.lua", lexerBefore)
	old := s.WriteFile("old.lua", "return 1\n")
	p := s.Begin()
	turn := s.Prompt(p, "Fix the lexer")
	p.WriteFile(lexer, lexerAfter)
	p.WriteFile(filepath.Join(s.Dir, "test", "lexer_spec.lua"), "it('works')\n")
	p.WriteFile(old, "return 2\n")
	p.EndTurn(turn)
	return p
}

func TestReviewOnTheScreen(t *testing.T) {
	for _, c := range []struct {
		name, last       string // last are the colours of the code that come last
		size, background nvimtest.Option
	}{
		{"small", "AcpDiffAdd+Constant", nvimtest.Size(80, 24), nvimtest.Background("dark")},
		{"large", "AcpDiffAdd+String", nvimtest.Size(110, 36), nvimtest.Background("light")},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
				reviewed(s)
				s.Command("Acp review")
				awaitPage(s, "lexer_spec.lua")
				s.AwaitScreen("Review")
				s.Await("the code's colours", func() bool { return strings.Contains(s.ScreenAttrs(), c.last) })
				s.Golden("open", nvimtest.Attrs())
			}, c.size, c.background)
		})
	}
}

// The disk and the page after keys in the review.
func TestReviewDecides(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		reviewed(s)
		s.Command("Acp review")
		onPage(s, "- return 1")
		disk := func(name, want string) {
			t.Helper()
			s.Await(name+" on the disk", func() bool { return s.ReadOrNone(filepath.Join(s.Dir, name)) == want })
		}
		// A hunk, which goes out of the disk and stays on the page, and comes back as it was.
		s.Keys("x")
		awaitPage(s, "✗ refused")
		disk("old.lua", "return 1\n")
		check.Contains(t, s.LuaString(`vim.api.nvim_get_current_line()`), "old.lua",
			"after a file was closed the cursor is on %q")
		s.Keys("u")
		awaitPage(s, "● 1 of 1\n● 1 - return 1\n● 1 + return 2")
		disk("old.lua", "return 2\n")
		onPage(s, "+ return 2")
		s.Keys("a")
		awaitPage(s, "✓ kept")
		s.Keys("u")
		awaitPage(s, "● 1 - return 1")
		// What is decided twice is undone once.
		s.Keys("aa")
		awaitPage(s, "✓ kept")
		s.Keys("au")
		awaitPage(s, "● 1 - return 1")
		// The selected lines alone: what is added is kept, the line before it is still to be decided.
		onPage(s, "-     n = n + 1")
		s.Keys("jVa")
		awaitPage(s, "✓ 13 +     total = total + 1")
		awaitPage(s, "● 14 -     n = n + 1")
		s.Keys("u")
		awaitPage(s, "● 13 +     total = total + 1")
		// From hunk to hunk, also into a closed file.
		onPage(s, "lexer_spec.lua")
		s.Keys("za")
		awaitPage(s, "▸ test/lexer_spec.lua")
		onPage(s, "Review")
		s.Keys("4]v")
		s.Await("the fourth hunk", func() bool { return strings.Contains(s.LuaString(`vim.api.nvim_get_current_line()`), "- return 1") })
		s.Keys("]v")
		s.Await("the hunk of a closed file", func() bool { return strings.Contains(s.LuaString(`vim.api.nvim_get_current_line()`), "it('works')") })
		s.Keys("[v[v")
		s.Await("the hunk before", func() bool {
			return strings.Contains(s.LuaString(`vim.api.nvim_get_current_line()`), "-     n = n + 1")
		})
		// A decision typed right after is about the hunk, not about the line that the cursor was on.
		onPage(s, "Review")
		s.Keys("2]vx")
		awaitPage(s, "● 2 of 3")
		disk("old.lua", "return 2\n")
		s.Keys("u")
		awaitPage(s, "● 3 of 3")
		// A file, then all that is left, and both undone.
		onPage(s, "▾ lexer.lua")
		s.Keys("x")
		awaitPage(s, "▸ lexer.lua")
		disk("lexer.lua", lexerBefore)
		awaitPage(s, "refused hunks: <C-s> sends them") // which is above it
		check.Contains(t, s.LuaString(`return vim.api.nvim_get_current_line()`), "lexer.lua",
			"after a file was refused the cursor is on %q")
		s.Keys("gga")
		awaitPage(s, "2 kept")
		disk("test/lexer_spec.lua", "it('works')\n")
		s.Keys("ggx")
		s.Await("that nothing is left to decide", func() bool { return strings.Contains(s.Messages(), "everything is decided") })
		s.Keys("uu")
		awaitPage(s, "● 3 of 3")
		disk("lexer.lua", lexerAfter)
		if got := allChanges(s); strings.Contains(got, "kept") || strings.Contains(got, "rejected") {
			t.Errorf("after all was undone there is\n%s", got)
		}
		s.Keys("u")
		s.Await("the end of undo", func() bool { return strings.Contains(s.Messages(), "no decision to undo") })
		// Nothing stays behind.
		s.Keys("q")
		s.AwaitLua(`vim.fn.tabpagenr('$') == 1 and ` + reviewBuf + ` == -1`)
	})
}

// A decision about a file with unsaved text is undone on the page: refused as a whole afterwards, disk and buffer have what
// the user alone would have.
func TestADecisionUnderUnsavedTextIsUndone(t *testing.T) {
	for _, key := range []string{"a", "x"} {
		t.Run(key, func(t *testing.T) {
			scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
				p, path, buf := s.BeginWithFile("a", "1\n2\n3\n4\n5\n")
				turn := s.Prompt(p, "change it")
				s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 3, 4, true, { 'mine' })`, buf)
				must.Do(t, os.WriteFile(path, []byte("one\n1\n2\n3\nfour\n5\n"), 0o644))
				s.AwaitBuffer(buf, "one\n1\n2\n3\nmine\n5")
				p.EndTurn(turn)
				s.Sync()
				s.Command("Acp review")
				onPage(s, "+ one")
				s.Keys(key)
				awaitPage(s, map[string]string{"a": "✓", "x": "✗"}[key])
				s.Keys("u")
				awaitPage(s, "● 1 of 1")
				s.Keys("ggx")
				s.AwaitBuffer(buf, "1\n2\n3\nmine\n5")
				s.Await("the disk without the agent's lines", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n4\n5\n" })
			})
		})
	}
}

func TestReviewGoesToTheFile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		reviewed(s)
		s.Command("Acp review")
		onPage(s, "+     total")
		s.Keys("<CR>")
		s.AwaitLua(`vim.fn.tabpagenr() == 1 and vim.fn.expand('%:t') == 'lexer.lua' and vim.fn.line('.') == 13`)
		s.Keys("gt")
		onPage(s, "old.lua")
		s.Keys("gD")
		s.AwaitLua(`vim.fn.tabpagenr('$') == 3 and #vim.fn.getwininfo() > 3 and vim.wo.diff`)
		s.AwaitScreen("old.lua · accepted")
		s.Keys("<C-w>h")
		s.AwaitLua(`vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == 'return 1'`)
		s.Keys("q")
		s.AwaitLua(`vim.fn.tabpagenr('$') == 2 and vim.bo.filetype == 'acp-review'`)
		if s.LuaBool(`(function() for _, w in ipairs(vim.api.nvim_list_wins()) do if vim.wo[w].diff then return true end end return false end)()`) {
			t.Error("a window still compares")
		}
	})
}

func TestLongCommentsBreakBetweenWords(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		reviewed(s)
		s.Command("Acp review")
		onPage(s, "+     total")
		s.Keys("c")
		s.AwaitLua(`vim.bo.filetype == 'acp-comment'`)
		s.Keys(strings.Repeat("elephants ", 9) + "end<C-s>")
		awaitPage(s, "↳ you: elephants")
		s.AwaitScreen("elephants end")
		words := strings.Fields(s.Screen())
		for _, word := range words {
			if strings.HasPrefix("elephants", word) && word != "elephants" {
				t.Errorf("a line ends in the middle of a word, with %q:\n%s", word, s.Screen())
				break
			}
		}
	})
}

func TestCommentsInTheReview(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := reviewed(s)
		s.Command("Acp review")
		onPage(s, "+     total")
		s.Keys("Gc")
		s.AwaitMessage("no line of a file here to comment on")
		s.Keys("gg")
		onPage(s, "+     total")
		s.Keys("c")
		s.AwaitScreen("Esc> leave")
		s.Keys("name it n<CR>as before<C-s>")
		awaitPage(s, "↳ you: name it n")
		s.AwaitScreen("1 comment: <C-s> sends it")
		// Words that are left are not lost; an empty comment is gone.
		onPage(s, "- return 1")
		s.Keys("c")
		s.AwaitLua(`vim.bo.filetype == 'acp-comment'`)
		s.Keys("half<Esc><Esc>")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		s.Keys("c")
		s.AwaitLua(`vim.bo.filetype == 'acp-comment' and vim.api.nvim_get_current_line() == 'half' and vim.fn.mode() == 'n'`)
		s.Keys("A a thought<C-s>")
		awaitPage(s, "↳ you: half a thought")
		onPage(s, "half a thought")
		s.Keys("c")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'half a thought' and vim.fn.mode() == 'n'`)
		s.Keys("dd<CR>")
		s.Await("it to be gone", func() bool { return !strings.Contains(page(s), "half a thought") })
		// What is typed at once is about the comment, not about the changes.
		onPage(s, "+ return 2")
		before := allChanges(s)
		s.Keys("caxu at once<C-s>")
		awaitPage(s, "↳ you: axu at once")
		check.Equal(t, allChanges(s), before, "decided was\n%s")
		onPage(s, "axu at once")
		s.Keys("cby <Esc>")
		s.AwaitLua(`vim.fn.mode() == 'n' and vim.api.nvim_get_current_line():find('axu at once', 1, true) ~= nil`)
		s.Keys("dd<CR>")
		s.Await("it to be gone", func() bool { return !strings.Contains(page(s), "axu") })
		// What is refused goes along.
		onPage(s, "+ return 2")
		s.Keys("x")
		awaitPage(s, "✗ refused")
		awaitPage(s, "1 comment, 1 refused hunk: <C-s> sends them")
		s.Keys("gg")
		s.AwaitScreen("Review · Puppet")
		s.Golden("comments")
		s.Keys("<C-s>")
		turn, got := p.Prompted()
		want := "My comments on your changes:\n\nlexer.lua:13\n```diff\n+    total = total + 1\n```\nname it n\nas before\n\n" +
			"I have refused these changes of yours, and they are not in the files any more. Do not make them again:\n\n" +
			"old.lua:1\n```diff\n-return 1\n+return 2\n```"
		check.Equal(t, got, want, "the agent was told\n%s")
		s.Await("to be told", func() bool { return strings.Contains(s.Messages(), "sent") })
		if strings.Contains(s.Messages(), "as soon as") {
			t.Errorf("the user was told that it waits: %s", s.Messages())
		}
		p.Stop(turn, "end_turn")
		s.Await("the comments to be gone", func() bool {
			return !strings.Contains(page(s), "↳ you") && !strings.Contains(page(s), "sends them")
		})
		s.AwaitEvent("AcpTurnEnd")
		s.Keys("<C-s>")
		s.Await("a sentence", func() bool { return strings.Contains(s.Messages(), "nothing to send") })
	})
}

// What several sessions change is told on the page of each, and the quickfix list says what is decided.
// What has the focus is named in the line of the tabs.
func TestFloatsHaveNames(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := reviewed(s)
		named := func(pattern string) {
			t.Helper()
			s.AwaitLua(`vim.api.nvim_buf_get_name(0):match('^acp://' .. ... .. '$')`, pattern)
		}
		s.Command("Acp undo")
		named("puppet%-1/undo")
		s.Keys("q")
		s.Command("Acp review")
		onPage(s, "+ return 2")
		s.Keys("c")
		named("puppet%-1/comment")
		s.Keys("<Esc>q")
		s.Command("wincmd t")
		s.Prompt(p, "go on")
		p.Permission(obj{"toolCallId": "e1", "title": "Ask", "kind": "other"}, scene.YesNo...)
		s.AwaitLua(`require('acp.permission.float').win() ~= nil`)
		s.Lua(nil, `vim.api.nvim_set_current_win(require('acp.permission.float').win())`)
		named("puppet%-1/permission%-%d+")
		s.Keys("q")
		s.Command("Acp traffic")
		named("%d+/traffic")
	})
}

func TestReviewBesideOthers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := reviewed(s)
		s.Command("Acp new")
		p.NewSession(2)
		s.AwaitLua(`#require('acp').sessions() == 2 and require('acp').sessions()[2].state == 'idle'`)
		s.OK(`require('acp').prompt('more', { session = 2 })`)
		turn, _ := p.Prompted()
		p.Ask("fs/write_text_file", obj{"sessionId": scene.SessionID(2), "path": filepath.Join(s.Dir, "old.lua"), "content": "return 3\n"})
		p.Stop(turn, "end_turn")
		s.AwaitLua(`#require('acp').changes({ session = 2 }) == 1`)
		s.Command("Acp review")
		awaitPage(s, "● 1 of 1 · also changed by Puppet (session 1)")
		onPage(s, "+ return 3")
		s.Keys("a")
		awaitPage(s, "✓ kept")
		s.Command("Acp changes")
		s.Await("a sentence", func() bool { return strings.Contains(s.Messages(), "all changes are decided") })
		s.Command("Acp changes all")
		s.AwaitLua(`#vim.fn.getqflist() == 1 and vim.fn.getqflist()[1].text:find('✓ kept', 1, true) ~= nil`)
	})
}

// Conflicts are part of the review, which leads to the first of them.
func TestConflictsInTheReview(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, turn, _, buf := s.BeginWithConflicts()
		s.Command("Acp review")
		awaitPage(s, "2 conflicts")
		onPage(s, "code.txt")
		s.Keys("<CR>")
		s.AwaitLua(`vim.api.nvim_get_current_buf() == ... and vim.fn.line('.') == 2`, buf)
		s.Keys("c>")
		awaitPage(s, "1 conflict")
		p.Stop(turn, "end_turn")
	})
}

// A file that is made under unsaved text of a removed one is in the review with its conflict, and both are gone when it is
// refused.
func TestConflictsOfAMadeFileInTheReview(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("code.txt", "one\n")
		s.Command("edit code.txt")
		p := s.Begin()
		s.Command("wincmd t")
		s.Shell("rm code.txt")
		s.Await("a message", func() bool { return strings.Contains(s.Messages(), "was deleted on disk") })
		turn := s.Prompt(p, "make")
		s.Keys("ccmine<Esc>")
		p.ToolCall("command", "execute", nil)
		s.Shell("echo agent >code.txt")
		p.Finish("command", nil)
		p.EndTurn(turn)
		s.Command("Acp review")
		awaitPage(s, "new · 1 conflict")
		awaitPage(s, "All of it conflicts with your unsaved text: <CR> shows it there.")
		onPage(s, "code.txt")
		s.Keys("x")
		s.Await("no conflict in the review", func() bool { return !strings.Contains(page(s), "conflict") })
		if _, err := os.Stat(filepath.Join(s.Dir, "code.txt")); err == nil {
			t.Error("the file is there")
		}
	})
}

// Files without hunks are decided on their lines, and a move that was refused can be taken back.
func TestReviewOfFilesWithoutHunks(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Shell("printf 'a\\0b' >image; printf '\\0' >gone; echo 1 >old; mkdir d; echo 1 >d/f; echo 2 >d/g; echo 1 >x")
		before := tree(s)
		p := s.Begin()
		turn := s.Prompt(p, "change")
		p.ToolCall("command", "execute", nil)
		s.Shell("printf 'a\\0c' >image; rm gone; printf '\\0new' >made; mv old new; mkdir e; mv d/f e; rm d/g; echo 2 >e/g; echo more >>e/g; rm x; mkdir x; echo other >x/y")
		p.Finish("command", nil)
		p.EndTurn(turn)
		after := tree(s)
		s.Command("Acp review")
		heads := func(want string) {
			t.Helper()
			var got string
			s.Await("the files to be\n"+want, func() bool {
				got = ""
				for line := range strings.Lines(page(s)) {
					if strings.HasPrefix(line, " ▾ ") || strings.HasPrefix(line, " ▸ ") {
						got += strings.Join(strings.Fields(line)[1:], " ") + "\n"
					}
				}
				return got == want
			})
		}
		all := "d/g −1 ● 1 of 1 · deleted\ne/f ● pending · moved from d/f\ne/g +2 ● 1 of 1 · new\n" +
			"gone ● pending · deleted · binary or large\nimage ● pending · binary or large\n" +
			"made ● pending · new · binary or large\nnew ● pending · moved from old\nx −1 ● 1 of 1 · deleted\nx/y +1 ● 1 of 1 · new\n"
		heads(all)
		for _, name := range []string{"e/f", "image", "gone", "made", "new"} {
			onPage(s, "▾ "+name)
			s.Keys("x")
		}
		heads("d/f ✗ refused · was moved to e/f\nd/g −1 ● 1 of 1 · deleted\ne/g +2 ● 1 of 1 · new\n" +
			"gone ✗ refused · deleted · binary or large\nimage ✗ refused · binary or large\n" +
			"made ✗ refused · new\nold ✗ refused · was moved to new\nx −1 ● 1 of 1 · deleted\nx/y +1 ● 1 of 1 · new\n")
		onPage(s, "5 refused")
		for _, name := range []string{"e/g", "d/g", "x/y", "x "} {
			onPage(s, "▾ "+name)
			s.Keys("x")
		}
		onPage(s, "9 refused")
		awaitTree(s, "refused", before)
		// One is taken back after all.
		onPage(s, "▸ old")
		s.Keys("a")
		onPage(s, "▸ new  ")
		s.Keys("u")
		onPage(s, "▸ old")
		for range 9 {
			s.Keys("u")
		}
		heads(all)
		awaitTree(s, "undone", after)
		// All of it at once, and back.
		s.Keys("ggx")
		onPage(s, "9 refused")
		awaitTree(s, "all refused", before)
		s.Keys("u")
		heads(all)
		awaitTree(s, "all undone", after)
	})
}
