package files

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Most agents write the disk themselves.
func TestDiskWritesOfTheAgentReachTheBuffer(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.Lua(nil, `
			vim.api.nvim_buf_set_mark(0, 'a', 8, 2, {})
			vim.api.nvim_win_set_cursor(0, { 7, 3 })`)
		p := s.Begin()
		s.AwaitLua(`vim.bo[...].autoread == false`, buf)
		turn := s.Prompt(p, "edit")
		s.Command("wincmd t")
		must.Do(t, os.WriteFile(path+".tmp", []byte(scene.TextAfter), 0o666))
		must.Do(t, os.Rename(path+".tmp", path))
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "disk" || e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		check.Equal(t, s.BufferText(buf)+"\n", scene.TextAfter, "the buffer is %q")
		places := s.Value(`{ vim.api.nvim_buf_get_mark(0, 'a'), vim.api.nvim_win_get_cursor(0), vim.bo.modified }`)
		check.Equal(t, fmt.Sprint(places), "[[9 2] [8 3] false]", "mark, cursor, modified are %s")
		// The same text once more is no change, whoever brings it.
		p.WriteFile(path, scene.TextAfter)
		s.WriteFile("code.txt", scene.TextAfter)
		s.AwaitLua(`(function(buf, path)
			local track = require('acp.files.track')
			return track.disk_is(path, track.get(buf).disk)
		end)(...)`, buf, path)
		p.EndTurn(turn)
		s.Keys("u")
		s.Await("the text of before", func() bool { return s.BufferText(buf)+"\n" == scene.TextBefore })
		s.Command("checktime")
		s.Command("write")
		check.Equal(t, s.ReadFile(path), scene.TextBefore, "the disk has %q")

		// Under unsaved text: a conflict is told, and the user's line stays.
		turn = s.Prompt(p, "again")
		s.Keys("ggccmine<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		s.WriteFile("code.txt", strings.Replace(scene.TextBefore, "one", "ONE", 1)+"nine\n")
		s.AwaitChat("yours stay in the buffer")
		check.Equal(t, s.BufferText(buf)+"\n", strings.Replace(scene.TextBefore, "one", "mine", 1)+"nine\n",
			"the buffer is %q")
		s.AwaitEvent("AcpFileChanged")
		p.EndTurn(turn)
		check.Equal(t, s.CountEvents("AcpFileChanged"), 2, "%d changes were told")

		// The last session's end gives the user's 'autoread' back.
		s.OK(`require('acp').close()`)
		s.AwaitLua(`vim.bo[...].autoread == nil`, buf)
		if s.LuaBool(`vim.fn.exists('#acp_track') == 1`) {
			t.Error("files are tracked without a session")
		}
	})
}

func TestHealthTellsThatTheDiskCannotBeWatched(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `require('acp.rpc.ops').batch({ { 'watch_limit', { why = 'no space left on device' } } })`)
		s.Command("Acp health")
		s.AwaitLua(`vim.bo.filetype == 'checkhealth'`)
		if got := s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`)); !strings.Contains(got, "cannot be watched (no space left on device)") {
			t.Errorf("health says:\n%s", got)
		}
		s.Lua(nil, `require('acp.rpc.ops').batch({ { 'watch', { on = false } } })`)
		s.Command("Acp health")
		s.Await("no word of the watch", func() bool {
			return !strings.Contains(s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`)), "cannot be watched")
		})
	})
}

// The agent writes the disk at the very moment in which the user writes the buffer.
func TestTheUserWritesRightAfterTheAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		s.Command("wincmd t")
		s.AwaitLua(`(require('acp.files.track').get(...) or {}).disk ~= nil`, buf)
		// Nobody hears of the disk between the two.
		s.Lua(nil, `
			function both(text, command)
				local file = assert(io.open(vim.api.nvim_buf_get_name(0), 'w'))
				file:write(text)
				file:close()
				vim.cmd(command)
			end`)
		s.Keys("Gonine<Esc>")
		agents := strings.Replace(scene.TextBefore, "one", "ONE", 1)
		s.Lua(nil, `both(...)`, agents, "write")
		check.Equal(t, s.ReadFile(path), agents+"nine\n", "the disk has %q")
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "disk" || e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		s.Keys("u")
		s.Await("the text without the agent's", func() bool { return s.BufferText(buf)+"\n" == scene.TextBefore+"nine\n" })
		s.Keys("<C-r>")
		s.Await("the agent's text", func() bool { return s.BufferText(buf)+"\n" == agents+"nine\n" })

		// Where both changed a line, the user's is written, and the agent's is there to be taken.
		s.Keys("ggccmine<Esc>")
		s.AwaitLua(`vim.fn.getline(1) == 'mine'`)
		theirs := strings.Replace(agents, "ONE", "theirs", 1) + "nine\n"
		s.Lua(nil, `both(...)`, theirs, "write")
		check.Equal(t, s.ReadFile(path), strings.Replace(theirs, "theirs", "mine", 1), "the disk has %q")
		s.AwaitChat("yours are on disk now")
		s.Keys("c>")
		s.AwaitLua(`vim.fn.getline(1) == 'theirs' and vim.bo.modified`)
		s.Command("write")
		check.Equal(t, s.ReadFile(path), theirs, "the disk has %q")

		// A host that does not answer holds nothing up for long: Neovim asks.
		hosts, _ := s.Hosts()
		must.Do(t, syscall.Kill(hosts[0], syscall.SIGSTOP))
		s.Keys("Goten<Esc>")
		s.Keys(":lua both('other\\n', 'write')<CR>")
		s.AwaitScreen("Do you really want")
		s.Keys("n")
		s.AwaitScreen("Press ENTER")
		s.Keys("<CR>")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'n' and vim.bo.modified`)
		check.Equal(t, s.ReadFile(path), "other\n", "the disk has %q")
		must.Do(t, syscall.Kill(hosts[0], syscall.SIGCONT))
		// The buffer still gets to know the disk, merged or as a conflict: who has written it knew what was there, or not.
		s.AwaitLua(`#require('acp.files.conflict').get(...) == 1 or vim.api.nvim_buf_get_lines(..., 0, 1, true)[1] == 'other'`, buf)
		s.Command("write")
		p.EndTurn(turn)
	})
}
