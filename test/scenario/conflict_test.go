package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// conflicting is what the agent makes of before: lines 2 and 6, of which the user has other ideas.
const conflicting = "one\nTWO by the agent\nand more\nthree\nfour\nfive\nseven\neight\n"

// clash has the user change lines 2 and 6 of a file that the agent has read, and the agent then write it.
func (s *scene) clash() (p *puppet, turn message, path string, buf int) {
	s.t.Helper()
	path = s.write("code.txt", before)
	s.Command("edit code.txt")
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	p = s.begin()
	turn = s.prompt(p, "edit")
	p.readFile(path, nil)
	s.Command("wincmd t")
	s.Keys("2Gcctwo by me<Esc>6Gccsix by me<Esc>gg")
	s.AwaitLua(`vim.bo[...].modified`, buf)
	p.writeFile(path, conflicting)
	s.awaitChat("in 2 places")
	return p, turn, path, buf
}

func TestConflictsAreShownAndDecided(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, turn, path, buf := s.clash()
		if got := s.file(path); got != conflicting {
			t.Errorf("the disk has %q", got)
		}
		s.awaitChat(":Acp conflicts lists them")
		s.screen("marked")
		s.Command("Acp toggle")
		if got := s.value(`vim.api.nvim_get_hl(0, { name = 'AcpConflictTheirs' }).link`); got != "DiffAdd" {
			t.Errorf("AcpConflictTheirs is linked to %v", got)
		}

		s.Keys(":Acp conflicts<CR>")
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		s.screen("list")
		s.Keys(":cclose<CR>2Gc>")
		s.Await("the agent's line 2", func() bool {
			return s.buffer(buf)+"\n" == strings.Replace(conflicting, "five\n", "five\nsix by me\n", 1)
		})
		s.Keys("]x")
		s.AwaitLua(`vim.fn.line('.') == 7`)
		if !s.LuaBool(`vim.bo.modified`) {
			t.Error("the buffer is unmodified, and is not the disk's")
		}
		s.Keys("c>")
		s.AwaitLua(`not vim.bo.modified`)
		if got := s.buffer(buf) + "\n"; got != conflicting {
			t.Errorf("the buffer is %q", got)
		}
		s.screen("decided")
		s.Keys("u")
		s.AwaitLua(`vim.bo.modified and vim.fn.maparg('c>', 'n') ~= ''`)
		s.AwaitScreen("agent removed this")

		// The disk is the agent's until the user writes, which is said.
		s.Keys(":w<CR>")
		s.AwaitScreen("yours went over the agent's")
		s.screen("written")
		if got := s.file(path); got != s.buffer(buf)+"\n" {
			t.Errorf("the disk has %q", got)
		}
		s.Keys(":Acp conflicts diff<CR>")
		s.AwaitLua(`vim.wo.diff`)
		s.screen("diff")
		s.Keys("<C-w>wq")
		s.AwaitLua(`#vim.api.nvim_tabpage_list_wins(0) == 1 and not vim.wo.diff`)
		if !s.LuaBool(`vim.wo.foldmethod == 'manual' and vim.wo.foldcolumn == '0' and not vim.wo.scrollbind`) {
			t.Error("the window is not as it was")
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	}, wide)
}

// A key that is the beginning of one of the user's is not taken, nor offered.
func TestConflictsLeaveLongerKeys(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("nnoremap c>> <Cmd>let g:mine = 1<CR>")
		p, turn, _, _ := s.clash()
		s.AwaitScreen("c< yours")
		if screen := s.Screen(); strings.Contains(screen, "c> take") {
			t.Errorf("c> is offered:\n%s", screen)
		}
		s.AwaitLua(`vim.fn.maparg('c<lt>', 'n', false, true).buffer == 1`)
		s.Keys("c>>")
		s.AwaitLua(`vim.g.mine == 1`)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	}, wide)
}

// Where no chat is shown a message tells.
func TestConflictsAreToldWithoutAChat(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		path := s.write("code.txt", before)
		s.Command("edit code.txt")
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.readFile(path, nil)
		s.Command("wincmd t")
		s.Command("Acp toggle")
		s.Keys("ggccmine<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		p.writeFile(path, strings.Replace(before, "one", "ONE", 1))
		s.awaitNotification("code.txt: your lines and the agent's conflict: :Acp conflicts")
		// Once: what the agent writes elsewhere is no new conflict.
		p.writeFile(path, strings.Replace(before, "one", "ONE", 1)+"nine\n")
		s.Command("setlocal readonly")
		m := p.ask("fs/write_text_file", obj{"sessionId": remote(1), "path": path, "content": "x"})
		if m.Error == nil || !strings.Contains(m.Error.Message, "read-only") {
			t.Errorf("the answer is %s", m)
		}
		s.awaitNotification("Puppet could not write code.txt: its buffer is read-only.")
		s.Await("the chat to say so", func() bool { return s.said("Puppet could not write code.txt: its buffer is read-only.") == 1 })
		if got := s.notifications(); strings.Count(got, "conflict:") != 1 {
			t.Errorf("told is %q", got)
		}
		s.Keys(":Acp conflicts nonsense<CR>")
		s.awaitNotification(":Acp conflicts takes nothing, or diff")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestSavedWithTheUsersAutocommands(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.write = 'autocmds'`)
		path := s.write("code.txt", before)
		s.Command("edit code.txt")
		s.Command("autocmd BufWritePre code.txt keeppatterns %s/two/formatted/e")
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.writeFile(path, before+"nine\n")
		want := strings.Replace(before, "two", "formatted", 1) + "nine\n"
		if got := s.file(path); got != want {
			t.Errorf("the disk has %q", got)
		}
		s.AwaitEvent("AcpFileChanged")
		changes := s.value(`require('acp').changes()`).([]any)
		if len(changes) != 1 || len(changes[0].(obj)["hunks"].([]any)) != 2 {
			t.Errorf("the changes are %v", changes)
		}

		// An autocommand that asks does not hold up the agent.
		s.Command("autocmd! BufWritePre code.txt")
		s.Command("autocmd BufWritePre code.txt call confirm('Really?', '&Yes')")
		s.Command("wincmd t")
		p.writeFile(path, before)
		s.Keys("y")
		s.awaitChat("with your autocommands")
		if got, err := os.ReadFile(path); err != nil || string(got) != before {
			t.Errorf("the disk has %q, %v", got, err)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

// A write that ended with a Neovim that was killed is offered when the next one starts.
func TestWriteCutShortIsRecovered(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		path := s.write("code.txt", "ol")
		dir := s.LuaString(`local dir = vim.fn.stdpath('state') .. '/acp/writes'; vim.fn.mkdir(dir, 'p'); return dir`)
		kept := fmt.Sprintf(`{"Path":%q,"Old":4,"New":4}`, path) + "\nold\nnew\n"
		if err := os.WriteFile(filepath.Join(dir, "1"), []byte(kept), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.begin()
		s.awaitNotification("writing code.txt was cut short. :Acp recover")
		s.Lua(nil, `vim.ui.select = function(items, opts, done)
			_G.offered = opts.prompt .. ': ' .. table.concat(vim.tbl_map(opts.format_item, items), ', ')
			done(items[2])
		end`)
		s.Command("Acp recover")
		want := "code.txt was cut short. Give it: the text from before, the agent's text, the file as it is now"
		if got := s.LuaString(`_G.offered`); got != want {
			t.Errorf("offered is %q", got)
		}
		s.Await("the agent's text", func() bool { return s.file(path) == "new\n" && s.buffer(buf) == "new" })
		s.Command("Acp recover")
		s.awaitNotification("no file was cut short")
	})
}
