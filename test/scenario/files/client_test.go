package files

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestReadsComeFromUnsavedBuffers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		path := s.WriteFile("code.txt", "one\ntwo\nthree\n")
		disk := s.WriteFile("disk.txt", "on the disk\n")
		s.Command("edit code.txt")
		s.Keys("ochanged<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		p := s.Begin()
		turn := s.Prompt(p, "read")
		check.Equal(t, p.ReadFile(path, nil), "one\nchanged\ntwo\nthree\n", "the text is %q")
		if got := p.ReadFile(path, obj{"line": 2, "limit": 2}); got != "changed\ntwo\n" && got != "changed\ntwo" {
			t.Errorf("lines 2 and 3 are %q", got)
		}
		check.Equal(t, p.ReadFile(disk, nil), "on the disk\n", "the text is %q")
		if m := p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": path + ".not"}); m.Error == nil || m.Error.Code != -32002 {
			t.Errorf("the answer for a missing file is %s", m)
		}
		if s.LuaBool(`vim.fn.bufexists(...) == 1`, disk) {
			t.Error("reading loaded a buffer")
		}
		p.EndTurn(turn)
	})
}

func TestWriteIntoALoadedBuffer(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		s.Lua(nil, `
			vim.api.nvim_buf_set_mark(0, 'a', 8, 2, {})
			vim.api.nvim_buf_set_mark(0, 'b', 2, 1, {}) -- in the line that changes
			local ns = vim.api.nvim_create_namespace('test')
			_G.mark = vim.api.nvim_buf_set_extmark(0, ns, 6, 0, {})
			vim.api.nvim_win_set_cursor(0, { 7, 3 })`)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.ReadFile(path, nil)
		s.Command("wincmd t")
		p.WriteFile(path, scene.TextAfter)
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "fs" || e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		check.Equal(t, s.BufferText(buf)+"\n", scene.TextAfter, "the buffer is %q")
		check.Equal(t, s.ReadFile(path), scene.TextAfter, "the disk has %q")
		places := s.Value(`{ vim.api.nvim_buf_get_mark(0, 'a'), vim.api.nvim_buf_get_mark(0, 'b'), vim.api.nvim_win_get_cursor(0),
			vim.api.nvim_buf_get_extmark_by_id(0, vim.api.nvim_create_namespace('test'), _G.mark, {}), vim.bo.modified }`)
		check.Equal(t, fmt.Sprint(places), "[[9 2] [2 1] [8 3] [7 0] false]", "marks, cursor, extmark, modified are %s")
		s.GoldenScreen("written")
		s.Keys("u")
		s.Await("the text of before", func() bool { return s.BufferText(buf)+"\n" == scene.TextBefore })
		s.Keys("<C-r>")
		s.Await("the text of after", func() bool { return s.BufferText(buf)+"\n" == scene.TextAfter })
		// The next :w asks nothing.
		s.Command("write")
		check.Equal(t, s.CountEvents("AcpFileChanged"), 1, "%d changes were told")
		p.EndTurn(turn)
	})
}

func TestWriteWhileTheUserInserts(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.ReadFile(path, nil)
		s.Command("wincmd t")
		s.Keys("4GA and")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'four and'`)
		p.WriteFile(path, scene.TextAfter)
		s.AwaitEvent("AcpFileChanged")
		s.Keys(" more")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'four and more' and vim.fn.mode() == 'i'`)
		s.Keys("<Esc>")
		typed := "one\nTWO!\nthree\nfour and more\nfive\nsix\nnew\nseven\neight"
		s.Await("both changes", func() bool { return s.BufferText(buf) == typed })
		for _, want := range []string{
			"one\nTWO!\nthree\nfour and\nfive\nsix\nnew\nseven\neight", // without the user's last words
			"one\ntwo\nthree\nfour and\nfive\nsix\nseven\neight",       // without the agent's
			"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight",
		} {
			s.Keys("u")
			s.Await(fmt.Sprintf("%q", want), func() bool { return s.BufferText(buf) == want })
		}
		s.Keys("3<C-r>")
		s.Await("both changes again", func() bool { return s.BufferText(buf) == typed })
		s.Command("write")
		check.Equal(t, s.ReadFile(path), typed+"\n", "the disk has %q")
		p.EndTurn(turn)
	})
}

func TestWriteToFilesWithoutABuffer(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("old.txt", "old\n")
		must.Do(t, os.Chmod(path, 0o640))
		fresh := filepath.Join(s.Dir, "a", "b", "new.txt")
		p := s.Begin()
		turn := s.Prompt(p, "write")
		for _, path := range []string{path, fresh} {
			p.WriteFile(path, "text of "+filepath.Base(path)+"\n")
			if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "fs" {
				t.Errorf("told is %v", e)
			}
			check.Equal(t, s.ReadFile(path), "text of "+filepath.Base(path)+"\n", "the disk has %q")
			if s.LuaBool(`vim.fn.bufexists(...) == 1`, path) {
				t.Error("writing made a buffer")
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
		// A folder cannot be written; the user is told too.
		m := p.Ask("fs/write_text_file", obj{"sessionId": scene.SessionID(1), "path": s.Dir, "content": "x"})
		if m.Error == nil {
			t.Error("a folder was written")
		}
		s.AwaitChat("could not write")
		p.EndTurn(turn)
	})
}

func TestWriteToAHiddenBuffer(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("set hidden")
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.Keys("Gonine<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		s.Command("enew")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		check.Equal(t, p.ReadFile(path, nil), scene.TextBefore+"nine\n", "the text is %q")
		p.WriteFile(path, scene.TextAfter+"nine\n")
		s.AwaitEvent("AcpFileChanged")
		if got := s.BufferText(buf); got != scene.TextAfter+"nine" || s.ReadFile(path) != scene.TextAfter+"nine\n" {
			t.Errorf("the buffer is %q, the disk has %q", got, s.ReadFile(path))
		}
		p.EndTurn(turn)
	})
}
