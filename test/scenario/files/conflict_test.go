package files

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

func TestConflictsAreShownAndDecided(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, turn, path, buf := s.BeginWithConflicts()
		check.Equal(t, s.ReadFile(path), scene.ConflictingTexts, "the disk has %q")
		s.AwaitChat(":Acp conflicts lists them")
		s.GoldenScreen("marked")
		s.Command("Acp toggle")
		check.Equal(t, s.Value(`vim.api.nvim_get_hl(0, { name = 'AcpConflictTheirs' }).link`), "DiffAdd",
			"AcpConflictTheirs is linked to %v")

		s.Keys(":Acp conflicts<CR>")
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		s.GoldenScreen("list")
		s.Keys(":cclose<CR>2Gc>")
		s.Await("the agent's line 2", func() bool {
			return s.BufferText(buf)+"\n" == strings.Replace(scene.ConflictingTexts, "five\n", "five\nsix by me\n", 1)
		})
		s.Keys("]x")
		s.AwaitLua(`vim.fn.line('.') == 7`)
		if !s.LuaBool(`vim.bo.modified`) {
			t.Error("the buffer is unmodified, and is not the disk's")
		}
		s.Keys("c>")
		s.AwaitLua(`not vim.bo.modified`)
		check.Equal(t, s.BufferText(buf)+"\n", scene.ConflictingTexts, "the buffer is %q")
		s.GoldenScreen("decided")
		s.Keys("u")
		s.AwaitLua(`vim.bo.modified and vim.fn.maparg('c>', 'n') ~= ''`)
		s.AwaitScreen("agent removed this")

		// The disk is the agent's until the user writes, which is said.
		s.Keys(":w<CR>")
		s.AwaitScreen("your lines overwrote the agent's")
		s.GoldenScreen("written")
		check.Equal(t, s.ReadFile(path), s.BufferText(buf)+"\n", "the disk has %q")
		s.Keys(":Acp conflicts diff<CR>")
		s.AwaitLua(`vim.wo.diff`)
		s.GoldenScreen("diff")
		s.Keys("<C-w>wq")
		s.AwaitLua(`#vim.api.nvim_tabpage_list_wins(0) == 1 and not vim.wo.diff`)
		if !s.LuaBool(`vim.wo.foldmethod == 'manual' and vim.wo.foldcolumn == '0' and not vim.wo.scrollbind`) {
			t.Error("the window is not as it was")
		}
		p.EndTurn(turn)
	}, scene.Wide)
}

// A key that is the beginning of one of the user's is not taken, nor offered.
func TestConflictsLeaveLongerKeys(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("nnoremap c>> <Cmd>let g:mine = 1<CR>")
		p, turn, _, _ := s.BeginWithConflicts()
		s.AwaitScreen("c< yours")
		if screen := s.Screen(); strings.Contains(screen, "c> take") {
			t.Errorf("c> is offered:\n%s", screen)
		}
		s.AwaitLua(`vim.fn.maparg('c<lt>', 'n', false, true).buffer == 1`)
		s.Keys("c>>")
		s.AwaitLua(`vim.g.mine == 1`)
		p.EndTurn(turn)
	}, scene.Wide)
}

// Where no chat is shown a message tells.
func TestConflictsAreToldWithoutAChat(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.ReadFile(path, nil)
		s.Command("wincmd t")
		s.Command("Acp toggle")
		s.Keys("ggccmine<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		p.WriteFile(path, strings.Replace(scene.TextBefore, "one", "ONE", 1))
		s.AwaitNotification("code.txt: your lines and the agent's conflict: :Acp conflicts")
		// Once: what the agent writes elsewhere is no new conflict.
		p.WriteFile(path, strings.Replace(scene.TextBefore, "one", "ONE", 1)+"nine\n")
		s.Command("setlocal readonly")
		m := p.Ask("fs/write_text_file", obj{"sessionId": scene.SessionID(1), "path": path, "content": "x"})
		if m.Error == nil || !strings.Contains(m.Error.Message, "read-only") {
			t.Errorf("the answer is %s", m)
		}
		s.AwaitNotification("Puppet could not write code.txt: its buffer is read-only")
		s.Await("the chat to say so", func() bool { return s.CountInChat("Puppet could not write code.txt: its buffer is read-only.") == 1 })
		if got := s.Notifications(); strings.Count(got, "conflict:") != 1 {
			t.Errorf("told is %q", got)
		}
		s.Keys(":Acp conflicts nonsense<CR>")
		s.AwaitNotification(":Acp conflicts takes nothing, or diff")
		p.EndTurn(turn)
	})
}

func TestSavedWithTheUsersAutocommands(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.write = 'autocmds'`)
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		s.Command("autocmd BufWritePre code.txt keeppatterns %s/two/formatted/e")
		s.Command("autocmd BufWritePost code.txt ++nested silent write! copy.txt")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		s.Lua(nil, `local host = require('acp.rpc.host')
			local notify = host.notify
			_G.users = {} -- files that the host is told the user has written
			host.notify = function(method, args)
				if method == 'file_saved' then
					table.insert(_G.users, vim.fs.basename(args.name))
				end
				return notify(method, args)
			end`)
		p.WriteFile(path, scene.TextBefore+"nine\n")
		// What the host has Neovim write, and what autocommands write by that, is not the user's.
		s.AwaitLua(`vim.fn.filereadable('copy.txt') == 1`)
		if s.LuaBool(`#_G.users > 0 or require('acp.files.track').written(...) ~= nil`, path) {
			t.Errorf("the host's own write is taken for the user's: %v", s.Value(`_G.users`))
		}
		want := strings.Replace(scene.TextBefore, "two", "formatted", 1) + "nine\n"
		check.Equal(t, s.ReadFile(path), want, "the disk has %q")
		s.AwaitEvent("AcpFileChanged")
		changes := s.Value(`require('acp').changes()`).([]any)
		if len(changes) != 1 || len(changes[0].(obj)["hunks"].([]any)) != 2 {
			t.Errorf("the changes are %v", changes)
		}

		// The user's own is.
		s.Command("wincmd t | silent write")
		s.AwaitLua(`vim.deep_equal(_G.users, { 'copy.txt', 'code.txt' }) or vim.deep_equal(_G.users, { 'code.txt', 'copy.txt' })`)
		if s.LuaBool(`require('acp.files.track').written(...) == nil`, path) {
			t.Error("the user's own write is not known")
		}
		s.Command("autocmd! BufWritePost code.txt")

		// An autocommand that asks does not hold up the agent.
		s.Command("autocmd! BufWritePre code.txt")
		s.Command("autocmd BufWritePre code.txt call confirm('Really?', '&Yes')")
		s.Command("wincmd t")
		p.WriteFile(path, scene.TextBefore)
		s.Keys("y")
		s.AwaitChat("with your autocommands")
		if got, err := os.ReadFile(path); err != nil || string(got) != scene.TextBefore {
			t.Errorf("the disk has %q, %v", got, err)
		}
		p.EndTurn(turn)
	})
}

// A write that ended with a Neovim that was killed is offered when the next one starts.
func TestWriteCutShortIsRecovered(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		path := s.WriteFile("code.txt", "ol")
		dir := s.LuaString(`local dir = vim.fn.stdpath('state') .. '/acp/writes'; vim.fn.mkdir(dir, 'p'); return dir`)
		kept := fmt.Sprintf(`{"Path":%q,"Old":4,"New":4}`, path) + "\nold\nnew\n"
		must.Do(t, os.WriteFile(filepath.Join(dir, "1"), []byte(kept), 0o600))
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.Begin()
		s.AwaitNotification("writing code.txt was interrupted. :Acp recover")
		s.Lua(nil, `vim.ui.select = function(items, opts, done)
			_G.offered = opts.prompt .. ': ' .. table.concat(vim.tbl_map(opts.format_item, items), ', ')
			done(items[2])
		end`)
		s.Command("Acp recover")
		want := "code.txt was interrupted. Give it: the text from before, the agent's text, the file as it is now"
		check.Equal(t, s.LuaString(`_G.offered`), want, "offered is %q")
		s.Await("the agent's text", func() bool { return s.ReadFile(path) == "new\n" && s.BufferText(buf) == "new" })
		s.Command("Acp recover")
		s.AwaitNotification("no write was interrupted")
	})
}
