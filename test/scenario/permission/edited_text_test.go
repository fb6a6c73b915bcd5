package permission

import (
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// The text of a pending write that the user edits before it is written.

// editWrite is lookAtWrite, and makes the new side one that is edited.
func editWrite(s *scene.Scene, p *scene.Puppet, path, text, shown string) (id int) {
	s.T.Helper()
	id = lookAtWrite(s, p, path, text, shown)
	s.Keys("gE")
	s.AwaitLua(`vim.bo.buftype == 'acwrite'`)
	return id
}

func TestAPendingWriteIsEdited(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "split")
		s.Prompt(p, "change it")
		before := s.Scenery()
		const sizes = `vim.inspect({ vim.fn.winlayout(), vim.tbl_map(function(win)
			return { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
		end, vim.api.nvim_tabpage_list_wins(0)) })`
		arranged := s.LuaString(`return ` + sizes)
		id := p.Store(path, text)
		s.AwaitDiff("four")
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff and vim.fn.line('.') == 4`)
		s.Keys("]vg<lt>")
		s.AwaitRefused(1)
		s.Keys("gE")
		// What was refused is out of it.
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 29`)
		s.Keys("4GA -- or five<Esc>")
		s.AwaitScreen("-- or five")
		writeScreen(s, "editing")
		// The answer of the float knows nothing of that.
		s.RecordNotifications()
		s.Command("Acp permit 1")
		s.AwaitNotification("you are editing the text: :w in its window writes it")
		check.Equal(t, s.ReadFile(path), old, "it is written: %v")
		s.Keys(":w<CR>")
		p.AnswersError(id, -32603, "the user changed this text before it was written, and theirs was written. Changed, by the lines of your text: "+
			"line 4 (local line4 = 'four') not written, the file has 1 line (local line4 = 'four' -- or five) there; "+
			"line 15 (local extra = 1) not written. Read the file again")
		want := strings.Replace(strings.Replace(text, "'four'", "'four' -- or five", 1), "local extra = 1\n", "", 1)
		check.Equal(t, s.ReadFile(path), want, "the file has\n%s")
		s.AwaitNoDiff()
		s.AwaitNoFloat()
		s.AwaitChat("You changed Puppet's text of a.lua: yours is written, and Puppet was told.")
		s.SameScenery(before, s.Scenery())

		// Closed instead: as if it had not been edited. By ga, and without a change, it is as the agent wants it.
		id = editWrite(s, p, path, old, "line24")
		s.Keys("ggdd:q!<CR>")
		s.AwaitNoDiff()
		s.Command("Acp diff")
		s.AwaitLua(`vim.wo.diff`)
		s.Keys("gE")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 30`)
		s.Keys("ga")
		p.AnswersText(id, "")
		check.Equal(t, s.ReadFile(path), old, "it is not written: %v")
		s.AwaitNoDiff()

		// Withdrawn while it is edited: what was typed stays in its window.
		id = editWrite(s, p, path, text, "four")
		s.Keys("ggOmine<Esc>")
		p.Notify("$/cancel_request", obj{"requestId": id})
		p.AnswersError(id, -32800)
		s.AwaitNotification("the agent no longer waits for this text; it is still in its window")
		s.Keys(":w<CR>")
		s.AwaitNotification("the agent no longer waits for this text")
		s.AwaitLua(`vim.fn.getline(1) == 'mine' and vim.bo.modified`)
		check.Equal(t, s.ReadFile(path), old, "it is written: %v")

		// Nothing else of that diff stays, and the next one compares its own windows alone.
		if s.LuaBool(`vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.wo[win].diff end)`) {
			t.Error("windows are compared still")
		}
		check.Equal(t, s.LuaInt(`#vim.api.nvim_tabpage_list_wins(0)`), 4, "%d windows are there")
		id = lookAtWrite(s, p, path, text, "four")
		if n := s.LuaInt(`#vim.tbl_filter(function(win) return vim.wo[win].diff end, vim.api.nvim_list_wins())`); n != 2 {
			t.Errorf("%d windows are compared", n)
		}
		s.Keys("gr")
		p.AnswersError(id, -32603, "nothing was written")
		s.AwaitNoDiff()
		s.AwaitLua(`vim.fn.getline(1) == 'mine' and vim.bo.modified`)
		s.Keys(":q!<CR>")
		s.AwaitLua(sizes+` == ...`, arranged)
	}, scene.Wide)
}

func TestAPendingWriteIsEditedFromTheFileItself(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, _, text, p := beginBefore(s, "inline")
		s.Prompt(p, "change it")
		s.Command("wincmd t")
		id := p.Store(path, text)
		s.AwaitScreen("local extra = 1")
		s.Command("Acp diff")
		s.AwaitLua(`vim.fn.line('.') == 4`)
		s.Keys("]vg<lt>]vg<lt>")
		s.AwaitRefused(2)
		writeScreen(s, "refused")
		s.Keys("[vg>")
		s.AwaitRefused(1)
		s.Keys("gE")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.line('$') == 31`)
		s.Keys("ggOmine<Esc>ga")
		p.AnswersError(id, -32603, "the user changed this text", "at the beginning the file has 1 line more (mine)", "after line 24 the file has 1 line more")
		if got := s.ReadFile(path); !strings.HasPrefix(got, "mine\n") || !strings.Contains(got, "extra") || !strings.Contains(got, "line24") {
			t.Errorf("the file has\n%s", got)
		}
		s.AwaitNoDiff()
	}, scene.Wide)
}

func TestAnEditedTextAndTheSameLinesTyped(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, _, text, p := beginBefore(s, "split")
		s.RecordNotifications()
		s.Prompt(p, "change it")
		id := editWrite(s, p, path, text, "four")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 3, 4, false, { 'typed' })`)
		s.Keys(":4s/four/five/<CR>:w<CR>")
		s.AwaitNotification("a.lua has changed in the same lines meanwhile: another :w writes your text over that.")
		if p.Answered(id) {
			t.Error("it is answered")
		}
		s.Keys(":w<CR>")
		p.AnswersError(id, -32603, "line 4 (local line4 = 'four') not written, the file has 1 line (local line4 = 'five') there")
		check.Equal(t, s.ReadFile(path), strings.Replace(text, "four", "five", 1), "the file has\n%s")
		s.AwaitNoDiff()
	}, scene.Wide)
}

// What the user has made of a text and could not be written is not lost with its window.
func TestAnEditedTextThatIsNotWritten(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, old, text, p := beginBefore(s, "split")
		s.RecordNotifications()
		s.Prompt(p, "change it")
		id := editWrite(s, p, path, text, "four")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 3, 4, false, { 'typed' })`)
		s.Keys(":4s/four/five/<CR>:wq<CR>")
		s.AwaitNotification("a.lua has changed in the same lines meanwhile: another :w writes your text over that.")
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.bo.modified and vim.fn.getline(4) == "local line4 = 'five'"`)
		s.Keys(":wq<CR>")
		p.AnswersError(id, -32603, "line 4 (local line4 = 'four') not written, the file has 1 line (local line4 = 'five') there")
		check.Equal(t, s.ReadFile(path), strings.Replace(text, "four", "five", 1), "the file has\n%s")
		s.AwaitNoDiff()

		// There is no file any more that could be compared.
		s.Lua(nil, `vim.cmd('bwipeout! ' .. vim.fn.bufnr('a.lua'))`)
		s.WriteFile("a.lua", old)
		id = editWrite(s, p, path, text, "four")
		must.Do(t, os.Remove(path))
		must.Do(t, os.Mkdir(path, 0o777))
		s.Keys(":4s/four/six/<CR>:wq<CR>")
		s.AwaitNotification("your text is in buffer acp://edited/")
		s.Command("buffer acp://edited")
		check.Equal(t, s.LuaString(`return vim.fn.getline(4)`), "local line4 = 'six'", "the fourth line is %q")
		if !s.LuaBool(`vim.bo.modified`) {
			t.Error("nothing says that it is not on the disk")
		}
		s.Command("Acp permit 2")
		p.AnswersError(id, -32603, "the user refused this write")
	}, scene.Wide)
}

// The text that is edited is the user's also when its window is the only one left.
func TestAnEditedTextAlone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, _, text, p := beginBefore(s, "split")
		s.Prompt(p, "change it")
		id := editWrite(s, p, path, text, "four")
		s.Keys("omine<Esc>:only<CR>")
		s.AwaitLua(`vim.fn.winnr('$') == 1 and vim.bo.buftype == 'acwrite' and vim.bo.modified`)
		s.Keys(":w<CR>")
		p.AnswersError(id, -32603, "(mine)")
		s.AwaitLua(`vim.fn.winnr('$') == 1 and vim.bo.buftype == '' and vim.fn.expand('%:t') == 'a.lua'`)
		check.Contains(t, s.ReadFile(path), "\nmine\n", "the file has\n%s")
	}, scene.Wide)
}

// The turn ends, or is cancelled, while a proposed text is edited: what was typed stays in its window, the old side goes,
// and the next diff compares its own two windows.
func TestAnEditedTextWhoseTurnEnds(t *testing.T) {
	for name, end := range map[string]func(s *scene.Scene, p *scene.Puppet, turn scene.Message){
		"by itself": func(_ *scene.Scene, p *scene.Puppet, turn scene.Message) { p.Stop(turn, "end_turn") },
		"cancelled": func(s *scene.Scene, p *scene.Puppet, turn scene.Message) {
			s.Command("Acp cancel")
			p.Expect("session/cancel")
			p.Stop(turn, "cancelled")
		},
	} {
		t.Run(name, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				path, old, text, p := beginBefore(s, "split")
				s.RecordNotifications()
				windows := s.LuaInt(`#vim.api.nvim_tabpage_list_wins(0)`)
				turn := s.Prompt(p, "change it")
				id := editWrite(s, p, path, text, "four")
				s.Keys("ggOmine<Esc>")
				end(s, p, turn)
				p.AnswersError(id, -32603, "nothing was written")
				s.AwaitState("idle")
				s.AwaitNotification("the agent no longer waits for this text; it is still in its window")
				s.AwaitLua(`#vim.api.nvim_tabpage_list_wins(0) == ...`, windows+1)
				if got := s.LuaString(`vim.fn.getline(1)`); got != "mine" || s.LuaBool(`vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.wo[win].diff end)`) {
					t.Errorf("the first line is %q, or windows are compared still", got)
				}
				s.Prompt(p, "once more")
				id = lookAtWrite(s, p, path, text, "four")
				if n := s.LuaInt(`#vim.tbl_filter(function(win) return vim.wo[win].diff end, vim.api.nvim_list_wins())`); n != 2 {
					t.Errorf("%d windows are compared", n)
				}
				s.Keys("gr")
				p.AnswersError(id, -32603, "nothing was written")
				s.AwaitNoDiff()
				check.Equal(t, s.ReadFile(path), old, "it is written: %v")
			}, scene.Wide)
		})
	}
}

// gE is pressed while a later look at the change is on its way: that is the one which is edited.
func TestAnEditedTextThatChangesMeanwhile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, _, text, p := beginBefore(s, "split")
		s.Prompt(p, "change it")
		id := lookAtWrite(s, p, path, text, "four")
		s.Lua(nil, `
			local host = require('acp.rpc.host')
			local request = host.request
			host.request = function(method, ...)
				local args = { ... }
				if method ~= 'edit_pending' then return request(method, ...) end
				host.request = request
				_G.go_on = function() request(method, unpack(args)) end
			end`)
		s.Keys("gE")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 0, 0, false, { 'typed' })`)
		s.AwaitLua(`vim.fn.getline(1) == 'typed'`)
		s.Lua(nil, `_G.go_on()`)
		s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.getline(1) == 'typed'`)
		s.Keys("Gomine<Esc>:w<CR>")
		p.AnswersError(id, -32603, "(mine)")
		check.Equal(t, s.ReadFile(path), text+"mine\n", "the file has\n%s")
		s.AwaitNoDiff()
	}, scene.Wide)
}

// Where all of the agent's text conflicts with unsaved text there is nothing to see, but a text to edit.
func TestATextToEditWhereAllConflicts(t *testing.T) {
	for _, diff := range []string{"split", "inline"} {
		t.Run(diff, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				path, old, _, p := beginBefore(s, diff)
				s.Prompt(p, "change it")
				s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.lua'), 3, 4, false, { 'typed' })`)
				id := p.Store(path, strings.Replace(old, "line4 = 4", "line4 = 'four'", 1))
				s.AwaitScreen("Nothing changes.")
				s.Command("Acp diff")
				s.AwaitLua(`vim.b.acp_diff`)
				s.Keys("gE")
				s.AwaitLua(`vim.bo.buftype == 'acwrite' and vim.fn.getline(4) == 'typed'`)
				if s.LuaBool(`vim.fn.foldclosed(1) > 0`) {
					t.Error("lines of the text are folded away")
				}
				s.Keys("Gomine<Esc>:w<CR>")
				p.AnswersError(id, -32603, "(mine)")
				check.Equal(t, s.ReadFile(path), old+"mine\n", "the file has\n%s")
				s.AwaitNoDiff()
			}, scene.Wide)
		})
	}
}
