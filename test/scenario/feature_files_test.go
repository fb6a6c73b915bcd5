package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func (p *puppet) readFile(path string, extra obj) string {
	p.t.Helper()
	params := obj{"sessionId": remote(1), "path": path}
	for k, v := range extra {
		params[k] = v
	}
	m := p.ask("fs/read_text_file", params)
	if m.Error != nil {
		p.t.Errorf("read %s: %v", path, *m.Error)
	}
	return m.text("content")
}

func (p *puppet) writeFile(path, text string) {
	p.t.Helper()
	m := p.ask("fs/write_text_file", obj{"sessionId": remote(1), "path": path, "content": text})
	if m.Error != nil {
		p.t.Errorf("write %s: %v", path, *m.Error)
	}
}

func TestReadsComeFromUnsavedBuffers(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.unsaved = 'ignore'`)
		path := s.write("code.txt", "one\ntwo\nthree\n")
		disk := s.write("disk.txt", "on the disk\n")
		s.Command("edit code.txt")
		s.Keys("ochanged<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		p := s.begin()
		turn := s.prompt(p, "read")
		if got := p.readFile(path, nil); got != "one\nchanged\ntwo\nthree\n" {
			t.Errorf("the text is %q", got)
		}
		if got := p.readFile(path, obj{"line": 2, "limit": 2}); got != "changed\ntwo\n" && got != "changed\ntwo" {
			t.Errorf("lines 2 and 3 are %q", got)
		}
		if got := p.readFile(disk, nil); got != "on the disk\n" {
			t.Errorf("the text is %q", got)
		}
		if m := p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": path + ".not"}); m.Error == nil || m.Error.Code != -32002 {
			t.Errorf("the answer for a missing file is %s", m)
		}
		if s.LuaBool(`vim.fn.bufexists(...) == 1`, disk) {
			t.Error("reading loaded a buffer")
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"

// after changes line 2 and puts a line behind line 6.
const after = "one\nTWO!\nthree\nfour\nfive\nsix\nnew\nseven\neight\n"

func TestWriteIntoALoadedBuffer(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", before)
		s.Command("edit code.txt")
		s.Lua(nil, `
			vim.api.nvim_buf_set_mark(0, 'a', 8, 2, {})
			vim.api.nvim_buf_set_mark(0, 'b', 2, 1, {}) -- in the line that changes
			local ns = vim.api.nvim_create_namespace('test')
			_G.mark = vim.api.nvim_buf_set_extmark(0, ns, 6, 0, {})
			vim.api.nvim_win_set_cursor(0, { 7, 3 })`)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.readFile(path, nil)
		s.Command("wincmd t")
		p.writeFile(path, after)
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "fs" || e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		if got := s.buffer(buf) + "\n"; got != after {
			t.Errorf("the buffer is %q", got)
		}
		if got := s.file(path); got != after {
			t.Errorf("the disk has %q", got)
		}
		places := s.value(`{ vim.api.nvim_buf_get_mark(0, 'a'), vim.api.nvim_buf_get_mark(0, 'b'), vim.api.nvim_win_get_cursor(0),
			vim.api.nvim_buf_get_extmark_by_id(0, vim.api.nvim_create_namespace('test'), _G.mark, {}), vim.bo.modified }`)
		if got := fmt.Sprint(places); got != "[[9 2] [2 1] [8 3] [7 0] false]" {
			t.Errorf("marks, cursor, extmark, modified are %s", got)
		}
		s.screen("written")
		s.Keys("u")
		s.Await("the text of before", func() bool { return s.buffer(buf)+"\n" == before })
		s.Keys("<C-r>")
		s.Await("the text of after", func() bool { return s.buffer(buf)+"\n" == after })
		// The next :w asks nothing.
		s.Command("write")
		if s.events("AcpFileChanged") != 1 {
			t.Errorf("%d changes were told", s.events("AcpFileChanged"))
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestWriteWhileTheUserInserts(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", before)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.readFile(path, nil)
		s.Command("wincmd t")
		s.Keys("4GA and")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'four and'`)
		p.writeFile(path, after)
		s.AwaitEvent("AcpFileChanged")
		s.Keys(" more")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'four and more' and vim.fn.mode() == 'i'`)
		s.Keys("<Esc>")
		typed := "one\nTWO!\nthree\nfour and more\nfive\nsix\nnew\nseven\neight"
		s.Await("both changes", func() bool { return s.buffer(buf) == typed })
		for _, want := range []string{
			"one\nTWO!\nthree\nfour and\nfive\nsix\nnew\nseven\neight", // without the user's last words
			"one\ntwo\nthree\nfour and\nfive\nsix\nseven\neight",       // without the agent's
			"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight",
		} {
			s.Keys("u")
			s.Await(fmt.Sprintf("%q", want), func() bool { return s.buffer(buf) == want })
		}
		s.Keys("3<C-r>")
		s.Await("both changes again", func() bool { return s.buffer(buf) == typed })
		s.Command("write")
		if got := s.file(path); got != typed+"\n" {
			t.Errorf("the disk has %q", got)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestWriteToFilesWithoutABuffer(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("old.txt", "old\n")
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		fresh := filepath.Join(s.Dir, "a", "b", "new.txt")
		p := s.begin()
		turn := s.prompt(p, "write")
		for _, path := range []string{path, fresh} {
			p.writeFile(path, "text of "+filepath.Base(path)+"\n")
			if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "fs" {
				t.Errorf("told is %v", e)
			}
			if got := s.file(path); got != "text of "+filepath.Base(path)+"\n" {
				t.Errorf("the disk has %q", got)
			}
			if s.LuaBool(`vim.fn.bufexists(...) == 1`, path) {
				t.Error("writing made a buffer")
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
		// A folder cannot be written; the user is told too.
		m := p.ask("fs/write_text_file", obj{"sessionId": remote(1), "path": s.Dir, "content": "x"})
		if m.Error == nil {
			t.Error("a folder was written")
		}
		s.awaitChat("could not write")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}

func TestWriteToAHiddenBuffer(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.unsaved = 'ignore'`)
		path := s.write("code.txt", before)
		s.Command("set hidden")
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.Keys("Gonine<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		s.Command("enew")
		p := s.begin()
		turn := s.prompt(p, "edit")
		if got := p.readFile(path, nil); got != before+"nine\n" {
			t.Errorf("the text is %q", got)
		}
		p.writeFile(path, after+"nine\n")
		s.AwaitEvent("AcpFileChanged")
		if got := s.buffer(buf); got != after+"nine" || s.file(path) != after+"nine\n" {
			t.Errorf("the buffer is %q, the disk has %q", got, s.file(path))
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}
