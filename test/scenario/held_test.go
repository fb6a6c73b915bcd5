package scenario

import (
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// heldScreen is screen, without for how long a write has waited, and how often its diff was shown anew.
func (s *scene) heldScreen(name string) {
	s.t.Helper()
	s.Golden(name,
		nvimtest.Replace(`(waits|you ·) \d+:\d\d`, "$1 M:SS"),
		nvimtest.Replace(`acp://diff/\d+/`, "acp://diff/N/"),
	)
}

// awaitKept waits until so many hunks of the session are kept, and none is pending.
func (s *scene) awaitKept(n int) {
	s.t.Helper()
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

// beginBefore is begin with review = 'before', and with a file of many lines open.
func (s *scene) beginBefore(diff string) (path, old, text string, p *puppet) {
	s.t.Helper()
	s.configure(`c.review, c.diff = 'before', '` + diff + `'`)
	old, text = linesLua()
	path = s.write("a.lua", old)
	s.Command("edit " + path)
	return path, old, text, s.begin()
}

// lookAtHeld has the agent write a file, and goes to the diff of that.
func (s *scene) lookAtHeld(p *puppet, path, text, shown string) (id int) {
	s.t.Helper()
	id = p.store(path, text)
	s.awaitDiff(shown)
	s.Command("Acp diff")
	s.AwaitLua(`vim.wo.diff`)
	return id
}

// editHeld is lookAtHeld, and makes the new side one that is edited.
func (s *scene) editHeld(p *puppet, path, text, shown string) (id int) {
	s.t.Helper()
	id = s.lookAtHeld(p, path, text, shown)
	s.Keys("gE")
	s.AwaitLua(`vim.bo.buftype == 'acwrite'`)
	return id
}

func TestAWriteWaitsForTheUser(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		turn := s.prompt(p, "change it")
		before := s.scenery()

		// What the file has already is written without a question.
		p.gets(p.store(path, old), "")

		id := p.store(path, text)
		s.awaitDiff("four")
		s.awaitState("requires_action")
		s.AwaitScreen("waits 0:0")
		s.heldScreen("held")
		if got := s.awaitAsked(1); got != "Write a.lua" {
			t.Errorf("asked is %s", got)
		}
		// Nothing else waits for it: reads of the file, other files, the disk.
		p.gets(p.fetch(path), old)
		p.gets(p.fetch(s.write("b.lua", "return 1\n")), "return 1\n")
		if s.file(path) != old {
			t.Error("it is written already")
		}
		s.AwaitScreen("waits 0:02") // the clock goes on by itself

		// Some of it.
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.fn.line('.') == 4`)
		s.Keys("]vg<lt>]vg<lt>")
		s.awaitRefused(2)
		s.heldScreen("refused")
		s.Keys("ga")
		p.fails(id, -32603, "the user refused a part of this text, and only the rest was written. Refused, by the lines of your text: "+
			"line 15 (local extra = 1) not written; after line 24 the file has 1 line more (local line24 = 24). Read the file again")
		want := strings.Replace(old, "= 4\n", "= 'four'\n", 1)
		if got := s.file(path); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.AwaitLua(`vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 3, 4, false)[1] == "local line4 = 'four'"`)
		s.resolved("allow", "user")
		s.awaitNoFloat()
		s.awaitNoDiff()
		s.awaitChat("You refused 2 of 3 hunks of a.lua: the rest is written, and Puppet was told.")
		s.awaitKept(1)
		s.same(before, s.scenery())

		// All of it, and none.
		id = p.store(path, text)
		s.awaitDiff("extra")
		s.Command("Acp permit 1")
		p.gets(id, "")
		if s.file(path) != text {
			t.Error("it is not written")
		}
		s.resolved("allow", "user")
		s.awaitNoFloat()
		id = p.store(path, old)
		s.awaitDiff("line24")
		s.respond(1, "reject")
		p.fails(id, -32603, "the user refused this write, so nothing was written")
		s.resolved("reject", "user")
		s.awaitNoFloat()
		id = s.lookAtHeld(p, path, old, "line24")
		s.Keys("ggVGg<lt>")
		s.awaitRefused(3)
		s.Keys("ga")
		p.fails(id, -32603, "the user refused this write, so nothing was written")
		s.resolved("reject", "user")
		if s.file(path) != text {
			t.Error("something is written")
		}

		// A new file.
		made := s.Dir + "/new/made.lua"
		id = p.store(made, "return 1\n")
		s.awaitDiff("return 1")
		if _, err := os.Stat(made); err == nil {
			t.Error("it is written already")
		}
		s.Command("Acp permit 1")
		p.gets(id, "")
		if got := s.file(made); got != "return 1\n" {
			t.Errorf("the file has %q", got)
		}
		s.resolved("allow", "user")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	}, wide)
}

func TestAHeldWriteIsEdited(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		s.prompt(p, "change it")
		before := s.scenery()
		const sizes = `vim.inspect({ vim.fn.winlayout(), vim.tbl_map(function(win)
			return { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
		end, vim.api.nvim_tabpage_list_wins(0)) })`
		arranged := s.LuaString(`return ` + sizes)
		id := p.store(path, text)
		s.awaitDiff("four")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.fn.line('.') == 4`)
		s.Keys("]vg<lt>")
		s.awaitRefused(1)
		s.Keys("gE")
		// What was refused is out of it.
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 29`)
		s.Keys("4GA -- or five<Esc>")
		s.AwaitScreen("-- or five")
		s.heldScreen("editing")
		// The answer of the float knows nothing of that.
		s.recordNotifications()
		s.Command("Acp permit 1")
		s.awaitNotification("You are editing the text: :w in its window writes it.")
		if s.file(path) != old {
			t.Error("it is written")
		}
		s.Keys(":w<CR>")
		p.fails(id, -32603, "the user changed this text before it was written, and theirs was written. Changed, by the lines of your text: "+
			"line 4 (local line4 = 'four') not written, the file has 1 line (local line4 = 'four' -- or five) there; "+
			"line 15 (local extra = 1) not written. Read the file again")
		want := strings.Replace(strings.Replace(text, "'four'", "'four' -- or five", 1), "local extra = 1\n", "", 1)
		if got := s.file(path); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.awaitNoDiff()
		s.awaitNoFloat()
		s.awaitChat("You changed Puppet's text of a.lua: yours is written, and Puppet was told.")
		s.same(before, s.scenery())

		// Closed instead: as if it had not been edited. By ga, and without a change, it is as the agent wants it.
		id = s.editHeld(p, path, old, "line24")
		s.Keys("ggdd:q!<CR>")
		s.awaitNoDiff()
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("gE")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 30`)
		s.Keys("ga")
		p.gets(id, "")
		if s.file(path) != old {
			t.Error("it is not written")
		}
		s.awaitNoDiff()

		// Withdrawn while it is edited: what was typed stays in its window.
		id = s.editHeld(p, path, text, "four")
		s.Keys("ggOmine<Esc>")
		p.notify("$/cancel_request", obj{"requestId": id})
		p.fails(id, -32800)
		s.awaitNotification("the agent waits for this text no more; it is still in its window")
		s.Keys(":w<CR>")
		s.awaitNotification("the agent does not wait for this text any more")
		s.AwaitLua(`vim.fn.getline(1) == 'mine' and vim.bo.modified`)
		if s.file(path) != old {
			t.Error("it is written")
		}

		// Nothing else of that diff stays, and the next one compares its own windows alone.
		if s.LuaBool(`vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.wo[win].diff end)`) {
			t.Error("windows are compared still")
		}
		if n := s.LuaInt(`#vim.api.nvim_tabpage_list_wins(0)`); n != 4 {
			t.Errorf("%d windows are there", n)
		}
		id = s.lookAtHeld(p, path, text, "four")
		if n := s.LuaInt(`#vim.tbl_filter(function(win) return vim.wo[win].diff end, vim.api.nvim_list_wins())`); n != 2 {
			t.Errorf("%d windows are compared", n)
		}
		s.Keys("gr")
		p.fails(id, -32603, "nothing was written")
		s.awaitNoDiff()
		s.AwaitLua(`vim.fn.getline(1) == 'mine' and vim.bo.modified`)
		s.Keys(":q!<CR>")
		s.AwaitLua(sizes+` == ...`, arranged)
	}, wide)
}

func TestAHeldWriteIsEditedFromTheFileItself(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, _, text, p := s.beginBefore("inline")
		s.prompt(p, "change it")
		s.Command("wincmd t")
		id := p.store(path, text)
		s.AwaitScreen("local extra = 1")
		s.Command("Acp diff")
		s.AwaitLua(`vim.fn.line('.') == 4`)
		s.Keys("]vg<lt>]vg<lt>")
		s.awaitRefused(2)
		s.heldScreen("refused")
		s.Keys("[vg>")
		s.awaitRefused(1)
		s.Keys("gE")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 31`)
		s.Keys("ggOmine<Esc>ga")
		p.fails(id, -32603, "the user changed this text", "at the beginning the file has 1 line more (mine)", "after line 24 the file has 1 line more")
		if got := s.file(path); !strings.HasPrefix(got, "mine\n") || !strings.Contains(got, "extra") || !strings.Contains(got, "line24") {
			t.Errorf("the file has\n%s", got)
		}
		s.awaitNoDiff()
	}, wide)
}

func TestTypingWhileAWriteIsHeld(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("chat")
		s.recordNotifications()
		s.prompt(p, "change it")
		p.gets(p.fetch(path), old)
		pick := func(n int) {
			t.Helper()
			s.Lua(nil, `local r = require('acp').permissions()[1]
				require('acp.rpc.host').request('pick', { session = r.session, permission = r.id, file = 1,
					looked = require('acp.rpc.state').permissions()[1].picks[1].looked, first = ..., last = ..., refuse = true }, function() end)`, n)
		}
		// Beside the hunks: it stays, and is not saved by this.
		id := p.store(path, text)
		s.awaitFloat()
		pick(1)
		s.awaitRefused(1)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 0, 0, false, { '-- mine' })`)
		s.Command("Acp permit 1")
		p.fails(id, -32603, "line 4 (local line4 = 'four') not written")
		want := strings.Replace(text, "'four'", "4", 1)
		if got := s.file(path); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 0, -1, false), '\n') .. '\n' == ...`, "-- mine\n"+want)
		if !s.LuaBool(`vim.bo[vim.fn.bufnr('a.lua')].modified`) {
			t.Error("the buffer is saved")
		}
		s.awaitNoFloat()

		// In one of them: asked again, and what was refused stays so.
		id = p.store(path, old)
		s.awaitFloat()
		s.AwaitScreen("+1 −1")
		pick(1)
		s.awaitRefused(1)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 25, 25, false, { '-- here' })`)
		s.Command("Acp permit 1")
		s.awaitNotification("a.lua has changed meanwhile: look at the hunks again, then answer.")
		if p.answered(id) || s.file(path) != want {
			t.Error("it is answered")
		}
		s.Command("Acp permit 2")
		p.fails(id, -32603, "nothing was written")
		s.awaitNoFloat()
	}, wide)
}

func TestWhatWasAcceptedIsNotHeld(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("chat")
		turn := s.prompt(p, "change it")
		allow := func(option string, files ...string) {
			t.Helper()
			id := p.permission(edits("e1", files...), yesNo...)
			s.awaitFloat()
			s.Command("Acp permit id:" + option)
			if got := outcome(t, p.answer(id)); got != option {
				t.Errorf("the answer is %s", got)
			}
			s.awaitNoFloat()
		}
		written := func(text string) {
			t.Helper()
			p.gets(p.store(path, text), "")
			if s.file(path) != text {
				t.Error("it is not written")
			}
		}
		held := func(text string) {
			t.Helper()
			was := s.file(path)
			id := p.store(path, text)
			s.awaitFloat()
			s.Command("Acp permit 2")
			p.fails(id, -32603, "nothing was written")
			s.awaitNoFloat()
			if s.file(path) != was {
				t.Error("it is written")
			}
		}
		allow("yes", path, old, text)
		written(text)
		held(old)
		held(text + "more\n")

		// By its place in the file; once.
		allow("yes", path, "local line4 = 'four'\n", "local line4 = 4\n")
		fourth := strings.Replace(text, "'four'", "4", 1)
		written(fourth)
		p.gets(p.store(path, fourth), "")
		s.Lua(nil, `vim.fn.writefile({ 'other' }, ...)`, path)
		s.AwaitLua(`vim.fn.getline(1) == 'other' or vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 0, 1, false)[1] == 'other'`)
		held(fourth)

		// A fragment is no whole text, and what is not in the file is not there.
		allow("yes", path, "other\n", "another\n")
		s.Lua(nil, `vim.fn.writefile({ 'one', 'other', 'three' }, ...)`, path)
		s.AwaitLua(`vim.api.nvim_buf_line_count(vim.fn.bufnr('a.lua')) == 3`)
		held("another\n")
		allow("yes", path, "nowhere\n", "elsewhere\n")
		held("elsewhere\n")

		// Nor what would remove a line that the user has typed and saved since.
		allow("yes", path, "three\n", "four\n")
		s.Lua(nil, `local buf = vim.fn.bufnr('a.lua')
			vim.api.nvim_buf_set_lines(buf, 0, 0, false, { 'mine' })
			vim.api.nvim_buf_call(buf, function() vim.cmd('silent write') end)`)
		held("one\nother\nfour\n")
		written("mine\none\nother\nfour\n")
		s.Lua(nil, `vim.fn.writefile({ 'other' }, ...)`, path)
		s.AwaitLua(`vim.api.nvim_buf_line_count(vim.fn.bufnr('a.lua')) == 1`)

		// What was refused, or allowed by a rule, was not accepted by the user.
		allow("no", path, "other\n", "another\n")
		held("another\n")

		// Until the turn ends.
		allow("yes", path, "other\n", "another\n")
		held("something else\n")
		p.stop(turn, "end_turn")
		s.awaitState("idle")
		s.prompt(p, "again")
		held("another\n")
	}, wide)
}

func TestHeldWritesEndWithTheirTurn(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		before := s.scenery()
		hold := func() (turn message, id int) {
			t.Helper()
			turn = s.prompt(p, "change it")
			id = p.store(path, text)
			s.awaitDiff("four")
			return turn, id
		}
		over := func() {
			t.Helper()
			s.awaitNoFloat()
			s.awaitNoDiff()
			if s.file(path) != old {
				t.Error("it is written")
			}
			s.same(before, s.scenery())
		}
		turn, id := hold()
		s.Command("Acp cancel")
		p.expect("session/cancel")
		p.fails(id, -32603, "the user has not decided about this write, so nothing was written")
		p.stop(turn, "cancelled")
		over()
		s.awaitState("idle")

		turn, id = hold()
		p.notify("$/cancel_request", obj{"requestId": id})
		p.fails(id, -32800)
		over()
		s.awaitChat("Puppet has withdrawn its write of a.lua.")
		p.stop(turn, "end_turn")
		s.awaitState("idle")

		turn, id = hold()
		p.stop(turn, "end_turn")
		p.fails(id, -32603, "nothing was written")
		over()
		s.awaitState("idle")

		if s.said("could not write") > 0 {
			t.Errorf("the chat says it twice:\n%s", s.chat())
		}
		hold()
		p.exit(1, "")
		over()
		s.awaitState("dead")
		s.Command("Acp restart")
		p = s.agent()
		p.begin()
		s.awaitState("idle")
		_, id = hold()
		s.Command("Acp close")
		p.expect("session/cancel")
		p.fails(id, -32603, "nothing was written")
		s.awaitNoFloat()
		if s.file(path) != old {
			t.Error("it is written")
		}
	}, wide)
}

func TestHeldWritesAndThePolicyOfPaths(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.permissions = {
			{ kind = 'edit', path = '/**/*.lua', action = 'allow' },
			{ kind = 'edit', path = '**/*.no', action = 'reject' },
		}`)
		path, _, text, p := s.beginBefore("chat")
		s.prompt(p, "change it")

		// One question, whatever it is about.
		other := s.outside("other.txt", "other\n")
		id := p.store(other, "new\n")
		s.awaitFloat()
		s.AwaitScreen("It is outside of the session's folder.")
		if n := s.LuaInt(`#require('acp').permissions()`); n != 1 {
			t.Errorf("%d questions are open", n)
		}
		s.Command("Acp permit 1")
		p.gets(id, "")
		if got := s.file(other); got != "new\n" {
			t.Errorf("the file has %q", got)
		}
		s.awaitNoFloat()
		// Asked about the place alone, where nothing changes.
		id = p.store(other, "new\n")
		s.awaitFloat()
		s.AwaitScreen("Always allow this file")
		s.Command("Acp permit 1")
		p.gets(id, "")
		s.awaitNoFloat()
		private := s.write(".env", "KEY=1\n")
		id = p.store(private, "KEY=2\n")
		s.awaitFloat()
		s.AwaitScreen("It is private.")
		s.Command("Acp permit 2")
		p.fails(id, -32603, "the user refused this write")
		s.awaitNoFloat()

		// A rule that allows is no review; one that rejects needs none.
		id = p.store(path, text)
		s.awaitFloat()
		s.Command("Acp permit 1")
		p.gets(id, "")
		s.awaitNoFloat()
		outside := s.outside("x.lua", "x\n")
		id = p.store(outside, "y\n")
		s.awaitFloat()
		s.Command("Acp permit 1")
		p.gets(id, "")
		s.awaitNoFloat()
		p.fails(p.store(s.write("x.no", "x\n"), "y\n"), -32603, "the user has decided before to refuse this write, so nothing was written")
		if n := s.LuaInt(`#require('acp').permissions()`); n != 0 {
			t.Errorf("%d questions are open", n)
		}
	}, wide)
}

// What an agent writes by itself cannot be held.
func TestWritesPastTheClientAreNotHeld(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		turn := s.prompt(p, "change it")
		p.update("tool_call", edits("e1", path, old, text))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p.update("tool_call_update", obj{"toolCallId": "e1", "status": "completed"})
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitLua(`vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 3, 4, false)[1] == "local line4 = 'four'"`)
		if n := s.events("AcpPermissionRequest"); n != 0 {
			t.Errorf("%d questions", n)
		}
		// They are reviewed afterwards; what is decided about before is not once more.
		s.prompt(p, "more")
		s.Command("Acp changes")
		id := p.store(path, strings.Replace(text, "= 9\n", "= 'nine'\n", 1))
		s.awaitFloat()
		s.Command("Acp permit 1")
		p.gets(id, "")
		s.AwaitLua(`(function()
			local states = {}
			for _, hunk in ipairs(require('acp').changes()[1].hunks) do table.insert(states, hunk.state) end
			return table.concat(states, ' ') == 'pending kept pending pending'
		end)()`)
	}, wide)
}

func TestTheDiffOfAHeldWriteFollowsTheFile(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		s.prompt(p, "change it")
		p.gets(p.fetch(path), old)
		id := s.lookAtHeld(p, path, text, "four")
		s.Keys("]v]vg<lt>")
		s.awaitRefused(1)
		s.AwaitLua(`vim.fn.line('.') == 25`)
		// The user goes on in the file; the focus stays there.
		s.Command("wincmd t")
		s.Keys("gg:20<CR>Omine<Esc>")
		s.awaitDiff("mine")
		s.AwaitLua(`vim.fn.expand('%:t') == 'a.lua' and vim.bo.buftype == ''`)
		s.AwaitScreen("1 of 3 refused")
		if line := s.LuaInt(`vim.api.nvim_win_get_cursor(require('acp.diff.view').windows()[2])[1]`); line != 25 {
			t.Errorf("the cursor of the diff is in line %d", line)
		}
		s.heldScreen("followed")
		s.Command("Acp permit 1")
		p.fails(id, -32603, "after line 24 the file has 1 line more (local line24 = 24)")
		if got, want := s.file(path), strings.Replace(text, "local line25", "local line24 = 24\nlocal line25", 1); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.awaitNoDiff()
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('mine') and vim.bo.modified`)
	}, wide)
}

// Real agents ask for permission with the text that they then write: one question, not two.
func TestRecordedAgentsAreNotAskedAboutTwice(t *testing.T) {
	for _, name := range []string{"gemini-edit", "sdk-turns", "demo-tour"} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/recordings/" + name + ".jsonl"
			did, files := readRecording(t, path)
			each(t, func(t *testing.T, s *scene) {
				s.configure(`c.review = 'before'`)
				s.replay(path, did, files)
			}, wide)
		})
	}
}

// Where Neovim would pair other lines than the hunks do, the windows show the hunks.
func TestHunksWhereNeovimSeesOthers(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.review, c.diff = 'before', 'split'`)
		old := "local M = {}\nfunction M.add(a, b)\n  return a + b\nend\nreturn M\n"
		text := "local M = {}\nfunction M.add(a, b)\n  return a + b + 1\nend\nfunction M.new()\n  return 1\nend\n\nreturn M\n"
		path := s.write("a.lua", old)
		s.Command("edit " + path)
		p := s.begin()
		s.prompt(p, "change it")
		id := p.store(path, text)
		s.awaitDiff("b + 1")
		s.Command("Acp diff")
		s.AwaitLua(`vim.api.nvim_get_current_line() == '  return a + b + 1'`)
		s.Keys("]vg<lt>")
		s.awaitRefused(1)
		s.heldScreen("rows")
		s.Keys("ga")
		p.fails(id, -32603, "line 8 (empty) not written")
		if got, want := s.file(path), strings.Replace(text, "end\n\n", "end\n", 1); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.awaitNoDiff()

		// To be edited it is shown whole.
		id = p.store(path, old)
		s.awaitDiff("return M")
		s.Command("Acp diff")
		s.AwaitLua(`#require('acp.diff.view').windows() == 2 and vim.b.acp_diff`)
		s.Keys("gE")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 5`)
		s.Keys("ga")
		p.gets(id, "")
		if s.file(path) != old {
			t.Error("it is not written")
		}
	}, wide)
}

func TestAnEditedTextAndTheSameLinesTyped(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, _, text, p := s.beginBefore("split")
		s.recordNotifications()
		s.prompt(p, "change it")
		id := s.editHeld(p, path, text, "four")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 3, 4, false, { 'typed' })`)
		s.Keys(":4s/four/five/<CR>:w<CR>")
		s.awaitNotification("a.lua has changed in the same lines meanwhile: :w once more writes your text over that.")
		if p.answered(id) {
			t.Error("it is answered")
		}
		s.Keys(":w<CR>")
		p.fails(id, -32603, "line 4 (local line4 = 'four') not written, the file has 1 line (local line4 = 'five') there")
		if got, want := s.file(path), strings.Replace(text, "four", "five", 1); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.awaitNoDiff()
	}, wide)
}

// What the user has made of a text and could not be written is not lost with its window.
func TestAnEditedTextThatIsNotWritten(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		s.recordNotifications()
		s.prompt(p, "change it")
		id := s.editHeld(p, path, text, "four")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 3, 4, false, { 'typed' })`)
		s.Keys(":4s/four/five/<CR>:wq<CR>")
		s.awaitNotification("a.lua has changed in the same lines meanwhile: :w once more writes your text over that.")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.bo.modified and vim.fn.getline(4) == "local line4 = 'five'"`)
		s.Keys(":wq<CR>")
		p.fails(id, -32603, "line 4 (local line4 = 'four') not written, the file has 1 line (local line4 = 'five') there")
		if got, want := s.file(path), strings.Replace(text, "four", "five", 1); got != want {
			t.Errorf("the file has\n%s", got)
		}
		s.awaitNoDiff()

		// There is no file any more that could be compared.
		s.Lua(nil, `vim.cmd('bwipeout! ' .. vim.fn.bufnr('a.lua'))`)
		s.write("a.lua", old)
		id = s.editHeld(p, path, text, "four")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		s.Keys(":4s/four/six/<CR>:wq<CR>")
		s.awaitNotification("your text is in the buffer acp://edited/")
		s.Command("buffer acp://edited")
		if got := s.LuaString(`return vim.fn.getline(4)`); got != "local line4 = 'six'" {
			t.Errorf("the fourth line is %q", got)
		}
		if !s.LuaBool(`vim.bo.modified`) {
			t.Error("nothing says that it is not on the disk")
		}
		s.Command("Acp permit 2")
		p.fails(id, -32603, "the user refused this write")
	}, wide)
}

// The text that is edited is the user's also when its window is the only one left.
func TestAnEditedTextAlone(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, _, text, p := s.beginBefore("split")
		s.prompt(p, "change it")
		id := s.editHeld(p, path, text, "four")
		s.Keys("omine<Esc>:only<CR>")
		s.AwaitLua(`vim.fn.winnr('$') == 1 and vim.bo.buftype == 'acwrite' and vim.bo.modified`)
		s.Keys(":w<CR>")
		p.fails(id, -32603, "(mine)")
		s.AwaitLua(`vim.fn.winnr('$') == 1 and vim.bo.buftype == '' and vim.fn.expand('%:t') == 'a.lua'`)
		if got := s.file(path); !strings.Contains(got, "\nmine\n") {
			t.Errorf("the file has\n%s", got)
		}
	}, wide)
}

func TestHeldWritesThatAreNoText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.review, c.diff = 'before', 'split'`)
		p := s.begin()
		s.recordNotifications()
		s.prompt(p, "change it")
		path := s.write("x.bin", "a\x00b\n")
		id := p.store(path, "text\n")
		s.AwaitLua(`#require('acp.diff.view').windows() > 0`)
		s.Command("Acp diff")
		s.AwaitLua(`vim.b.acp_diff`)
		s.Keys("g<lt>")
		s.awaitNotification("This can only be written or refused as a whole.")
		s.Keys("gE")
		s.awaitNotification("this text cannot be edited here")
		s.Keys("ga")
		p.gets(id, "")
		if got := s.file(path); got != "text\n" {
			t.Errorf("the file has %q", got)
		}
		s.awaitNoDiff()

		// Writes of one file wait for each other; those of a folder fail as ever.
		first, second := p.store(path, "first\n"), p.store(path, "second\n")
		if got := s.awaitAsked(1); got != "Write x.bin" {
			t.Errorf("asked is %s", got)
		}
		s.AwaitScreen("first")
		s.Command("Acp permit 1")
		p.gets(first, "")
		s.AwaitScreen("second")
		s.Command("Acp permit 2")
		p.fails(second, -32603, "nothing was written")
		p.fails(p.store(s.Dir, "x"), -32603, "it is a directory")
	}, wide)
}

// A write that conflicts with unsaved text shows what the buffer will have. What is refused of it, edited or
// allowed beside leaves unsaved text unsaved, and the agent hears nothing of lines that it never had.
func TestHeldWritesAndUnsavedText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, old, text, p := s.beginBefore("split")
		s.prompt(p, "change it")
		p.gets(p.fetch(path), old)
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
			if got := s.file(path); got != disk {
				t.Errorf("the disk has\n%s", got)
			}
			s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.lua'), 0, -1, false), '\n') .. '\n' == ...`, buffer)
			if !s.LuaBool(`vim.bo[vim.fn.bufnr('a.lua')].modified`) {
				t.Error("nothing says that there is unsaved text")
			}
		}
		is(old, unsaved(old))

		// A hunk refused.
		id := s.lookAtHeld(p, path, text, "extra")
		s.AwaitScreen("1 place conflicts with your unsaved text: yours stays")
		s.AwaitLua(`#vim.tbl_filter(function(l) return l == 'UNSAVED' end, vim.api.nvim_buf_get_lines(0, 0, -1, false)) == 1`)
		if s.LuaBool(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('four', 1, true)`) {
			t.Error("the diff shows lines that will not be there")
		}
		s.Keys("gg]vg<lt>")
		s.awaitRefused(1)
		s.Keys("ga")
		m := p.answer(id)
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
		s.awaitNoDiff()
		disk := s.file(path)
		if strings.Contains(disk, "UNSAVED") || strings.Contains(disk, "four") || strings.Contains(disk, "added") || !strings.Contains(disk, "line27") {
			t.Errorf("the disk has\n%s", disk)
		}
		is(disk, unsaved(disk))

		// All allowed: where it conflicts nothing is written.
		id = s.lookAtHeld(p, path, text, "extra")
		s.Keys("ga")
		p.fails(id, -32603, "in 1 place the user has lines of their own, and yours there were not written. Read the file again")
		s.awaitNoDiff()
		partly := strings.Replace(text, "'four'", "4", 1)
		is(partly, unsaved(text))

		// Edited beside.
		id = s.editHeld(p, path, old, "line24")
		s.Keys("Gomine<Esc>:w<CR>")
		p.fails(id, -32603, "the user changed this text", "after line 30 the file has 1 line more (mine)")
		s.awaitNoDiff()
		is(old+"mine\n", unsaved(old)+"mine\n")
		if s.LuaBool(`#require('acp.files.conflict').get(vim.fn.bufnr('a.lua')) > 0`) {
			t.Error("a conflict is there")
		}
	}, wide)
}
