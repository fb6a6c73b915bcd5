package permission

import (
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// writeScreen is GoldenScreen without for how long a write has waited, and how often its diff was shown anew.
func writeScreen(s *scene.Scene, name string) {
	s.T.Helper()
	s.Golden(name,
		nvimtest.Replace(`(waits|you ·) \d+:\d\d`, "$1 M:SS"),
		nvimtest.Replace(`acp://diff/\d+/`, "acp://diff/N/"),
	)
}

// awaitKept waits until so many hunks of the session are kept, and none is pending.
func awaitKept(s *scene.Scene, n int) {
	s.T.Helper()
	s.AwaitLua(`(function(n)
		local kept = 0
		for _, file in ipairs(require('acp').changes()) do
			for _, hunk in ipairs(file.hunks) do
				if hunk.state ~= 'kept' then return false end
				kept = kept + 1
			end
		end
		return kept == n
	end)(...)`, n)
}

// beginBefore is Begin with review = 'before', and with a file of many lines open.
func beginBefore(s *scene.Scene, diff string) (path, old, text string, p *scene.Puppet) {
	s.T.Helper()
	s.Configure(`c.review, c.diff = 'before', '` + diff + `'`)
	old, text = linesLua()
	path = s.WriteFile("a.lua", old)
	s.Command("edit " + path)
	return path, old, text, s.Begin()
}

// lookAtWrite has the agent write a file, and goes to the diff of that.
func lookAtWrite(s *scene.Scene, p *scene.Puppet, path, text, shown string) (id int) {
	s.T.Helper()
	id = p.Store(path, text)
	s.AwaitDiff(shown)
	s.Command("Acp diff")
	s.AwaitLua(`vim.wo.diff`)
	return id
}

func TestAWriteWaitsForTheUser(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "split")
		turn := s.Prompt(p, "change it")
		before := s.Scenery()

		// What the file has already is written without a question.
		p.AnswersText(p.Store(path, old), "")

		id := p.Store(path, text)
		s.AwaitDiff("four")
		s.AwaitState("requires_action")
		s.AwaitScreen("waits 0:0")
		writeScreen(s, "waits")
		check.Equal(t, s.AwaitPermissions(1), "Write a.lua", "asked is %s")
		// Nothing else waits for it: reads of the file, other files, the disk.
		p.AnswersText(p.Fetch(path), old)
		p.AnswersText(p.Fetch(s.WriteFile("b.lua", "return 1\n")), "return 1\n")
		check.Equal(t, s.ReadFile(path), old, "it is written already: %v")
		s.AwaitScreen("waits 0:02") // the clock goes on by itself

		// Some of it.
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.fn.line('.') == 4`)
		s.Keys("]vg<lt>]vg<lt>")
		s.AwaitRefused(2)
		writeScreen(s, "refused")
		s.Keys("ga")
		p.AnswersError(id, -32603, "the user refused a part of this text, and only the rest was written. Refused, by the lines of your text: "+
			"line 15 (local extra = 1) not written; after line 24 the file has 1 line more (local line24 = 24). Read the file again")
		want := strings.Replace(old, "= 4\n", "= 'four'\n", 1)
		check.Equal(t, s.ReadFile(path), want, "the file has\n%s")
		s.AwaitLua(`vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 3, 4, false)[1] == "local line4 = 'four'"`)
		s.CheckResolved("allow", "user")
		s.AwaitNoFloat()
		s.AwaitNoDiff()
		s.AwaitChat("You refused 2 of 3 hunks of a.lua: the rest is written, and Puppet was told.")
		awaitKept(s, 1)
		s.SameScenery(before, s.Scenery())

		// All of it, and none.
		id = p.Store(path, text)
		s.AwaitDiff("extra")
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		check.Equal(t, s.ReadFile(path), text, "it is not written: %v")
		s.CheckResolved("allow", "user")
		s.AwaitNoFloat()
		id = p.Store(path, old)
		s.AwaitDiff("line24")
		s.Respond(1, "reject")
		p.AnswersError(id, -32603, "the user refused this write, so nothing was written")
		s.CheckResolved("reject", "user")
		s.AwaitNoFloat()
		id = lookAtWrite(s, p, path, old, "line24")
		s.Keys("ggVGg<lt>")
		s.AwaitRefused(3)
		s.Keys("ga")
		p.AnswersError(id, -32603, "the user refused this write, so nothing was written")
		s.CheckResolved("reject", "user")
		check.Equal(t, s.ReadFile(path), text, "something is written: %v")

		// A new file.
		made := s.Dir + "/new/made.lua"
		id = p.Store(made, "return 1\n")
		s.AwaitDiff("return 1")
		if _, err := os.Stat(made); err == nil {
			t.Error("it is written already")
		}
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		check.Equal(t, s.ReadFile(made), "return 1\n", "the file has %q")
		s.CheckResolved("allow", "user")
		p.EndTurn(turn)
		p.Silent()
	}, scene.Wide)
}

func TestTypingWhileAWriteIsPending(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "chat")
		s.RecordNotifications()
		s.Prompt(p, "change it")
		p.AnswersText(p.Fetch(path), old)
		pick := func(n int) {
			t.Helper()
			s.Lua(nil, `local r = require('acp').permissions()[1]
				require('acp.rpc.host').request('select_hunks', { session = r.session, permission = r.id, file = 1,
					looked = require('acp.rpc.state').permissions()[1].selection[1].looked, first = ..., last = ..., refuse = true }, function() end)`, n)
		}
		// Beside the hunks: it stays, and is not saved by this.
		id := p.Store(path, text)
		s.AwaitFloat()
		pick(1)
		s.AwaitRefused(1)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 0, 0, false, { '-- mine' })`)
		s.Command("Acp permit 1")
		p.AnswersError(id, -32603, "line 4 (local line4 = 'four') not written")
		want := strings.Replace(text, "'four'", "4", 1)
		check.Equal(t, s.ReadFile(path), want, "the file has\n%s")
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 0, -1, false), '\n') .. '\n' == ...`, "-- mine\n"+want)
		if !s.LuaBool(`vim.bo[vim.fn.bufnr('a.lua')].modified`) {
			t.Error("the buffer is saved")
		}
		s.AwaitNoFloat()

		// In one of them: asked again, and what was refused stays so.
		id = p.Store(path, old)
		s.AwaitFloat()
		s.AwaitScreen("+1 −1")
		pick(1)
		s.AwaitRefused(1)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 25, 25, false, { '-- here' })
			vim.cmd('Acp permit 1')`) // at once: soon the float shows the change as it is then
		s.AwaitNotification("a.lua has changed meanwhile: look at the hunks again, then answer")
		if p.Answered(id) || s.ReadFile(path) != want {
			t.Error("it is answered")
		}
		s.Command("Acp permit 2")
		p.AnswersError(id, -32603, "nothing was written")
		s.AwaitNoFloat()
	}, scene.Wide)
}

func TestWhatWasAcceptedIsNotPending(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "chat")
		turn := s.Prompt(p, "change it")
		allow := func(option string, files ...string) {
			t.Helper()
			id := p.Permission(scene.EditsCall("e1", files...), scene.YesNo...)
			s.AwaitFloat()
			s.Command("Acp permit id:" + option)
			p.AwaitOutcome(id, option)
			s.AwaitNoFloat()
		}
		written := func(text string) {
			t.Helper()
			p.AnswersText(p.Store(path, text), "")
			check.Equal(t, s.ReadFile(path), text, "it is not written: %v")
		}
		pending := func(text string) {
			t.Helper()
			was := s.ReadFile(path)
			id := p.Store(path, text)
			s.AwaitFloat()
			s.Command("Acp permit 2")
			p.AnswersError(id, -32603, "nothing was written")
			s.AwaitNoFloat()
			check.Equal(t, s.ReadFile(path), was, "it is written: %v")
		}
		allow("yes", path, old, text)
		written(text)
		pending(old)
		pending(text + "more\n")

		// By its place in the file; once.
		allow("yes", path, "local line4 = 'four'\n", "local line4 = 4\n")
		fourth := strings.Replace(text, "'four'", "4", 1)
		written(fourth)
		p.AnswersText(p.Store(path, fourth), "")
		s.Lua(nil, `vim.fn.writefile({ 'other' }, ...)`, path)
		s.AwaitLua(`vim.fn.getline(1) == 'other' or vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 0, 1, false)[1] == 'other'`)
		pending(fourth)

		// A fragment is no whole text, and what is not in the file is not there.
		allow("yes", path, "other\n", "another\n")
		s.Lua(nil, `vim.fn.writefile({ 'one', 'other', 'three' }, ...)`, path)
		s.AwaitLua(`vim.api.nvim_buf_line_count(vim.fn.bufnr('a.lua')) == 3`)
		pending("another\n")
		allow("yes", path, "nowhere\n", "elsewhere\n")
		pending("elsewhere\n")

		// Nor what would remove a line that the user has typed and saved since.
		allow("yes", path, "three\n", "four\n")
		s.Lua(nil, `local buf = vim.fn.bufnr('a.lua')
			vim.api.nvim_buf_set_lines(buf, 0, 0, false, { 'mine' })
			vim.api.nvim_buf_call(buf, function() vim.cmd('silent write') end)`)
		pending("one\nother\nfour\n")
		written("mine\none\nother\nfour\n")
		s.Lua(nil, `vim.fn.writefile({ 'other' }, ...)`, path)
		s.AwaitLua(`vim.api.nvim_buf_line_count(vim.fn.bufnr('a.lua')) == 1`)

		// What was refused, or allowed by a rule, was not accepted by the user.
		allow("no", path, "other\n", "another\n")
		pending("another\n")

		// Until the turn ends.
		allow("yes", path, "other\n", "another\n")
		pending("something else\n")
		p.Stop(turn, "end_turn")
		s.AwaitState("idle")
		s.Prompt(p, "again")
		pending("another\n")
	}, scene.Wide)
}

func TestPendingWritesEndWithTheirTurn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "split")
		before := s.Scenery()
		begin := func() (turn scene.Message, id int) {
			t.Helper()
			turn = s.Prompt(p, "change it")
			id = p.Store(path, text)
			s.AwaitDiff("four")
			return turn, id
		}
		over := func() {
			t.Helper()
			s.AwaitNoFloat()
			s.AwaitNoDiff()
			check.Equal(t, s.ReadFile(path), old, "it is written: %v")
			s.SameScenery(before, s.Scenery())
		}
		turn, id := begin()
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		p.AnswersError(id, -32603, "the user has not decided about this write, so nothing was written")
		p.Stop(turn, "cancelled")
		over()
		s.AwaitState("idle")

		turn, id = begin()
		p.Notify("$/cancel_request", obj{"requestId": id})
		p.AnswersError(id, -32800)
		over()
		s.AwaitChat("Puppet has withdrawn its write of a.lua.")
		p.Stop(turn, "end_turn")
		s.AwaitState("idle")

		turn, id = begin()
		p.Stop(turn, "end_turn")
		p.AnswersError(id, -32603, "nothing was written")
		over()
		s.AwaitState("idle")

		if s.CountInChat("could not write") > 0 {
			t.Errorf("the chat says it twice:\n%s", s.Chat())
		}
		begin()
		p.Exit(1, "")
		over()
		s.AwaitState("dead")
		s.Command("Acp restart")
		p = s.Agent()
		p.Begin()
		s.AwaitState("idle")
		_, id = begin()
		s.Command("Acp close")
		p.Expect("session/cancel")
		p.AnswersError(id, -32603, "nothing was written")
		s.AwaitNoFloat()
		check.Equal(t, s.ReadFile(path), old, "it is written: %v")
	}, scene.Wide)
}

func TestPendingWritesAndThePolicyOfPaths(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.permissions = {
			{ kind = 'edit', path = '/**/*.lua', action = 'allow' },
			{ kind = 'edit', path = '**/*.no', action = 'reject' },
		}`)
		path, _, text, p := beginBefore(s, "chat")
		s.Prompt(p, "change it")

		// One question, whatever it is about.
		other := s.WriteOutside("other.txt", "other\n")
		id := p.Store(other, "new\n")
		s.AwaitFloat()
		s.AwaitScreen("It is outside of the session's folder.")
		check.Equal(t, s.LuaInt(`#require('acp').permissions()`), 1, "%d questions are open")
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		check.Equal(t, s.ReadFile(other), "new\n", "the file has %q")
		s.AwaitNoFloat()
		// Asked about the place alone, where nothing changes.
		id = p.Store(other, "new\n")
		s.AwaitFloat()
		s.AwaitScreen("Always allow this file")
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		s.AwaitNoFloat()
		private := s.WriteFile(".env", "KEY=1\n")
		id = p.Store(private, "KEY=2\n")
		s.AwaitFloat()
		s.AwaitScreen("It is private.")
		s.Command("Acp permit 2")
		p.AnswersError(id, -32603, "the user refused this write")
		s.AwaitNoFloat()

		// A rule that allows is no review; one that rejects needs none.
		id = p.Store(path, text)
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		s.AwaitNoFloat()
		outside := s.WriteOutside("x.lua", "x\n")
		id = p.Store(outside, "y\n")
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		s.AwaitNoFloat()
		p.AnswersError(p.Store(s.WriteFile("x.no", "x\n"), "y\n"), -32603, "the user has decided before to refuse this write, so nothing was written")
		check.Equal(t, s.LuaInt(`#require('acp').permissions()`), 0, "%d questions are open")
	}, scene.Wide)
}

// What an agent writes by itself does not wait.
func TestWritesPastTheClientAreNotPending(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "split")
		turn := s.Prompt(p, "change it")
		p.Update("tool_call", scene.EditsCall("e1", path, old, text))
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
		p.Update("tool_call_update", obj{"toolCallId": "e1", "status": "completed"})
		p.EndTurn(turn)
		s.AwaitLua(`vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 3, 4, false)[1] == "local line4 = 'four'"`)
		check.Equal(t, s.CountEvents("AcpPermissionRequest"), 0, "%d questions")
		// They are reviewed afterwards; what is decided about before is not once more.
		s.Prompt(p, "more")
		s.Command("Acp changes")
		id := p.Store(path, strings.Replace(text, "= 9\n", "= 'nine'\n", 1))
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		s.AwaitLua(`(function()
			local states = {}
			for _, hunk in ipairs(require('acp').changes()[1].hunks) do table.insert(states, hunk.state) end
			return table.concat(states, ' ') == 'pending kept pending pending'
		end)()`)
	}, scene.Wide)
}

func TestTheDiffOfAPendingWriteFollowsTheFile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "split")
		s.Prompt(p, "change it")
		p.AnswersText(p.Fetch(path), old)
		id := lookAtWrite(s, p, path, text, "four")
		s.Keys("]v]vg<lt>")
		s.AwaitRefused(1)
		s.AwaitLua(`vim.fn.line('.') == 25`)
		// The user goes on in the file; the focus stays there.
		s.Command("wincmd t")
		s.Keys("gg:20<CR>Omine<Esc>")
		s.AwaitDiff("mine")
		s.AwaitLua(`vim.fn.expand('%:t') == 'a.lua' and vim.bo.buftype == ''`)
		s.AwaitScreen("1 of 3 refused")
		if line := s.LuaInt(`vim.api.nvim_win_get_cursor(require('acp.diff.view').windows()[2])[1]`); line != 25 {
			t.Errorf("the cursor of the diff is in line %d", line)
		}
		writeScreen(s, "followed")
		s.Command("Acp permit 1")
		p.AnswersError(id, -32603, "after line 24 the file has 1 line more (local line24 = 24)")
		if got, want := s.ReadFile(path), strings.Replace(text, "local line25", "local line24 = 24\nlocal line25", 1); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.AwaitNoDiff()
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('mine') and vim.bo.modified`)
	}, scene.Wide)
}

// Where Neovim would pair other lines than the hunks do, the windows show the hunks.
func TestHunksWhereNeovimSeesOthers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.review, c.diff = 'before', 'split'`)
		old := "local M = {}\nfunction M.add(a, b)\n  return a + b\nend\nreturn M\n"
		text := "local M = {}\nfunction M.add(a, b)\n  return a + b + 1\nend\nfunction M.new()\n  return 1\nend\n\nreturn M\n"
		path := s.WriteFile("a.lua", old)
		s.Command("edit " + path)
		p := s.Begin()
		s.Prompt(p, "change it")
		id := p.Store(path, text)
		s.AwaitDiff("b + 1")
		s.Command("Acp diff")
		s.AwaitLua(`vim.api.nvim_get_current_line() == '  return a + b + 1'`)
		s.Keys("]vg<lt>")
		s.AwaitRefused(1)
		writeScreen(s, "rows")
		s.Keys("ga")
		p.AnswersError(id, -32603, "line 8 (empty) not written")
		check.Equal(t, s.ReadFile(path), strings.Replace(text, "end\n\n", "end\n", 1), "the file has\n%s")
		s.AwaitNoDiff()

		// To be edited it is shown whole.
		id = p.Store(path, old)
		s.AwaitDiff("return M")
		s.Command("Acp diff")
		s.AwaitLua(`#require('acp.diff.view').windows() == 2 and vim.b.acp_diff`)
		s.Keys("gE")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 5`)
		s.Keys("ga")
		p.AnswersText(id, "")
		check.Equal(t, s.ReadFile(path), old, "it is not written: %v")
	}, scene.Wide)
}

func TestPendingWritesThatAreNoText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.review, c.diff = 'before', 'split'`)
		p := s.Begin()
		s.RecordNotifications()
		s.Prompt(p, "change it")
		path := s.WriteFile("x.bin", "a\x00b\n")
		id := p.Store(path, "text\n")
		s.AwaitLua(`#require('acp.diff.view').windows() > 0`)
		s.Command("Acp diff")
		s.AwaitLua(`vim.b.acp_diff`)
		s.Keys("g<lt>")
		s.AwaitNotification("this can only be written or refused as a whole")
		s.Keys("gE")
		s.AwaitNotification("this text cannot be edited here")
		s.Keys("ga")
		p.AnswersText(id, "")
		check.Equal(t, s.ReadFile(path), "text\n", "the file has %q")
		s.AwaitNoDiff()

		// Writes of one file wait for each other; those of a folder fail as ever.
		first, second := p.Store(path, "first\n"), p.Store(path, "second\n")
		check.Equal(t, s.AwaitPermissions(1), "Write x.bin", "asked is %s")
		s.AwaitScreen("first")
		s.Command("Acp permit 1")
		p.AnswersText(first, "")
		s.AwaitScreen("second")
		s.Command("Acp permit 2")
		p.AnswersError(second, -32603, "nothing was written")
		p.AnswersError(p.Store(s.Dir, "x"), -32603, "it is a directory")
	}, scene.Wide)
}

// A write that conflicts with unsaved text shows what the buffer will have. What is refused of it, edited or
// allowed beside leaves unsaved text unsaved, and the agent hears nothing of lines that it never had.
func TestPendingWritesAndUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "split")
		s.Prompt(p, "change it")
		p.AnswersText(p.Fetch(path), old)
		// One of the user's own in line 4, one beside, and one that is gone.
		s.Command("wincmd t")
		s.Keys("4GccUNSAVED<Esc>20Goadded<Esc>28Gdd")
		mine := func(text string) string {
			text = strings.Replace(text, "local line20 = 20\n", "local line20 = 20\nadded\n", 1)
			return strings.Replace(text, "local line27 = 27\n", "", 1)
		}
		unsaved := func(text string) string {
			return mine(strings.Replace(strings.Replace(text, "local line4 = 4\n", "UNSAVED\n", 1), "local line4 = 'four'\n", "UNSAVED\n", 1))
		}
		is := func(disk, buffer string) {
			t.Helper()
			check.Equal(t, s.ReadFile(path), disk, "the disk has\n%s")
			s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 0, -1, false), '\n') .. '\n' == ...`, buffer)
			if !s.LuaBool(`vim.bo[vim.fn.bufnr('a.lua')].modified`) {
				t.Error("nothing says that there is unsaved text")
			}
		}
		is(old, unsaved(old))

		// A hunk refused.
		id := lookAtWrite(s, p, path, text, "extra")
		s.AwaitScreen("1 place conflicts with your text: yours stays")
		s.AwaitLua(`#vim.tbl_filter(function(l) return l == 'UNSAVED' end, vim.api.nvim_buf_get_lines(0, 0, -1, false)) == 1`)
		if s.LuaBool(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('four', 1, true)`) {
			t.Error("the diff shows lines that will not be there")
		}
		s.Keys("gg]vg<lt>")
		s.AwaitRefused(1)
		s.Keys("ga")
		m := p.Answer(id)
		if m.Error == nil {
			t.Fatalf("the answer is %s", m)
		}
		why := m.Error.Message
		if !strings.Contains(why, "in 1 place the user has lines of their own, and yours there were not written") {
			t.Errorf("the agent hears %q", why)
		}
		for _, words := range []string{"UNSAVED", "added", "line27"} {
			if strings.Contains(why, words) {
				t.Errorf("the agent hears of %s: %q", words, why)
			}
		}
		s.AwaitNoDiff()
		disk := s.ReadFile(path)
		if strings.Contains(disk, "UNSAVED") || strings.Contains(disk, "four") || strings.Contains(disk, "added") || !strings.Contains(disk, "line27") {
			t.Errorf("the disk has\n%s", disk)
		}
		is(disk, unsaved(disk))

		// All allowed: where it conflicts nothing is written.
		id = lookAtWrite(s, p, path, text, "extra")
		s.Keys("ga")
		p.AnswersError(id, -32603, "in 1 place the user has lines of their own, and yours there were not written. Read the file again")
		s.AwaitNoDiff()
		partly := strings.Replace(text, "'four'", "4", 1)
		is(partly, unsaved(text))

		// Edited beside.
		id = editWrite(s, p, path, old, "line24")
		s.Keys("Gomine<Esc>:w<CR>")
		p.AnswersError(id, -32603, "the user changed this text", "after line 30 the file has 1 line more (mine)")
		s.AwaitNoDiff()
		is(old+"mine\n", unsaved(old)+"mine\n")
		if s.LuaBool(`#require('acp.files.conflict').get(vim.fn.bufnr('a.lua')) > 0`) {
			t.Error("a conflict is there")
		}
	}, scene.Wide)
}
