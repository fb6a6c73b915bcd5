package buffers_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func intp(n int) *int { return &n }

func TestReadsGiveUnsavedText(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		must.Do(t, os.Symlink(path, n.path("link")))
		must.Do(t, os.Mkdir(n.path("sub"), 0o755))
		n.keys("otyped")
		for _, p := range []string{path, n.path("link"), n.dir + "/sub/../a.txt"} {
			check.Equal(t, n.read(p), "one\ntyped\ntwo\n", "%s: %q", p)
		}
		n.cmd("stopinsert")
		check.Equal(t, n.read(n.put("b.txt", "disk\n")), "disk\n", "unloaded: %q")
		n.want("bufnr('b.txt')", int64(-1))
	})
}

// An agent that has just changed the disk by itself reads that, too, where the buffer has unsaved text.
func TestReadsOfUnsavedTextHaveWhatTheDiskHas(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		n.read(path)
		w.settle() // the watch has the new buffer
		n.keys("Gomine<Esc>")
		n.put("a.txt", "ONE\ntwo\nthree\n")
		check.Equal(t, n.read(path), "ONE\ntwo\nthree\nmine\n", "read is %q")
		n.put("a.txt", "ONE\nthree\n")
		check.Equal(t, n.read(path), "ONE\nthree\nmine\n", "then it is %q")
		n.put("a.txt", "")
		check.Equal(t, n.read(path), "ONE\nthree\nmine\n", "while it is written, it is %q")
	})
}

func TestReadsGiveLines(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.put("disk.txt", "1\n2\n3\n4")
		n.edit("live.txt", "1\n2\n3\n")
		n.keys("Go4<Esc>")
		n.cmd("set noendofline nofixendofline")
		for _, c := range []struct {
			line, limit *int
			want        string
		}{
			{nil, nil, "1\n2\n3\n4"},
			{intp(0), nil, "1\n2\n3\n4"},
			{intp(3), nil, "3\n4"},
			{nil, intp(2), "1\n2\n"},
			{intp(2), intp(2), "2\n3\n"},
			{intp(4), intp(9), "4"},
			{intp(5), nil, ""},
			{intp(99), intp(1), ""},
			{intp(1), intp(0), ""},
		} {
			for _, name := range []string{"disk.txt", "live.txt"} {
				got, err := n.tryRead(buffers.Read{Path: n.path(name), Line: c.line, Limit: c.limit})
				if err != nil || got != c.want {
					t.Errorf("%s %v %v: %q, %v; want %q", name, c.line, c.limit, got, err, c.want)
				}
			}
		}
	})
}

// Agents get the same text whatever the bytes are, from the disk, from a buffer, and from one with unsaved text.
func TestReadsGiveTheTextOfAllEncodings(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		for _, c := range []struct{ name, data, want string }{
			{"empty", "", ""},
			{"newline", "\n", "\n"},
			{"noeol", "a\nb", "a\nb"},
			{"nul", "a\x00b\n\x00\n", "a\x00b\n\x00\n"},
			{"dos", "a\r\nb\r\n", "a\nb\n"},
			{"mixed", "a\r\nb\n", "a\r\nb\n"},
			{"bom", "\xef\xbb\xbfa\n", "a\n"},
			{"bomonly", "\xef\xbb\xbf", ""},
			{"latin1", "caf\xe9\nx\n", "café\nx\n"},
			{"invalid", "a\xffb \xe2\x82\n", "aÿb â\u0082\n"},
			{"utf16le", "\xff\xfe=\xd8\x00\xde\n\x00", "😀\n"},
			{"utf16lenoeol", "\xff\xfea\x00\n\x00b\x00", "a\nb"},
			{"utf16ledos", "\xff\xfea\x00\r\x00\n\x00", "a\n"},
			{"utf16be", "\xfe\xff\x20\xac\x00\n", "€\n"},
		} {
			path := n.put(c.name, c.data)
			read := func(state, want string) {
				t.Helper()
				if got, err := n.tryRead(buffers.Read{Path: path}); err != nil || got != want {
					t.Errorf("%s, %s: %q, %v; want %q", c.name, state, got, err, want)
				}
				line, all := 1, linediff.Lines(want)
				if len(all) == 0 {
					return
				}
				if got, err := n.tryRead(buffers.Read{Path: path, Line: &line, Limit: intp(1)}); err != nil || got != all[0] {
					t.Errorf("%s, %s: its first line is %q, %v; want %q", c.name, state, got, err, all[0])
				}
			}
			read("unloaded", c.want)
			n.cmd("edit " + path)
			read("loaded", c.want)
			n.keys("Gotyped<Esc>")
			read("modified", strings.TrimSuffix(c.want, "\n")+"\ntyped\n")
			n.cmd("bwipeout!")
		}
	})
}

// What is written as it was read changes no byte and no undo history, whatever the file is like, loaded
// or not, modified or not.
func TestWritingWhatWasReadIsNoChange(t *testing.T) {
	contents := map[string]string{
		"unix": "a\nb\n", "noeol": "a\nb", "dos": "a\r\nb\r\n", "dosnoeol": "a\r\nb", "mixed": "a\r\nb\n",
		"bom": "\xef\xbb\xbfa\n", "latin1": "caf\xe9\nx\n", "utf16le": "\xff\xfea\x00\n\x00", "utf16be": "\xfe\xff\x00a\x00\n",
		"empty": "", "newline": "\n", "nul": "a\x00b\n", "blank": "\n\n", "bomdos": "\xef\xbb\xbfa\r\n", "wide": "\xff\xfe=\xd8\x00\xde\n\x00",
	}
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.cmd("let g:post = 0 | autocmd BufWritePost * let g:post += 1")
		for name, data := range contents {
			path := n.put(name, data)
			unloaded := n.read(path)
			if w := n.write(path, unloaded); w.Changed {
				t.Errorf("%s: unloaded: changed", name)
			}
			n.wantDisk(name, data)
			n.cmd("edit " + path)
			before := n.lua("return vim.fn.undotree().seq_last")
			loaded := n.read(path)
			if loaded != unloaded {
				t.Errorf("%s: loaded: %q, unloaded: %q", name, loaded, unloaded)
			}
			if w := n.write(path, loaded); w.Changed {
				t.Errorf("%s: loaded: changed", name)
			}
			n.wantDisk(name, data)
			n.want("undotree().seq_last", before)
			n.want("g:post", int64(0))

			n.keys("ix<Esc>")
			text := n.read(path)
			n.write(path, text)
			n.want("&modified", int64(0))
			n.want("g:post", int64(1))
			n.keys("x")
			if got := n.read(path); got != unloaded && !(name == "noeol" || name == "dosnoeol" || name == "empty") {
				t.Errorf("%s: modified: %q, unloaded: %q", name, got, unloaded)
			}
			if w := n.write(path, unloaded); !w.Changed {
				t.Errorf("%s: taken back: not changed", name)
			}
			n.wantDisk(name, data)
			n.want("&modified", int64(0))
			n.asksNothing("write")
			n.cmd("let g:post = 0")
		}
	})
}

func TestWriteIsOneUndoStepAndKeepsPlaces(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		lines := strings.Split(strings.TrimSpace(strings.Repeat("line\n", 100)), "\n")
		for i := range lines {
			lines[i] += " " + string(rune('a'+i%26)) + strings.Repeat("x", i%7)
		}
		path := n.edit("a.txt", strings.Join(lines, "\n")+"\n")
		n.cmd("let g:post = 0 | autocmd BufWritePost * let g:post += 1")
		n.cmd("autocmd BufWritePre * throw 'no'")
		n.cmd("set nomodified | 60mark a | 11mark b")
		n.lua(`
			ns = vim.api.nvim_create_namespace('t')
			mark = vim.api.nvim_buf_set_extmark(0, ns, 59, 3, {})
			vim.cmd('split | normal! 70Gzt')
			other = vim.api.nvim_get_current_win()
			vim.cmd('wincmd p | 50,55fold | normal! 60Gzz$')
			top = vim.fn.getline('w0')
		`)
		new := append([]string{"first", "second"}, lines...)
		new[12] = "LINE " + new[12][5:]
		new = append(new[:20], new[23:]...)
		w := n.write(path, strings.Join(new, "\n")+"\n")
		if !w.Changed || w.Created || w.Conflict || w.Buf == 0 || w.Path != path {
			t.Errorf("%+v", w)
		}
		n.wantText(strings.Join(new, "\n"))
		n.wantDisk("a.txt", strings.Join(new, "\n")+"\n")
		n.want("&modified", int64(0))
		n.want("g:post", int64(1))
		n.want("line('.')", int64(59))
		n.want("getline(\"'a\")", lines[59])
		n.want("line(\"'b\")", int64(13))
		n.want("foldclosed(50)", int64(49))
		n.want("getline('w0') ==# luaeval('top')", int64(1))
		n.want("luaeval('vim.api.nvim_buf_get_extmark_by_id(0, ns, mark, {})[1]')", int64(58))
		n.want("getline(line('w0', luaeval('other')))", lines[69])
		n.cmd("undo")
		n.wantText(strings.Join(lines, "\n"))
		n.want("&modified", int64(1))
		n.cmd("redo")
		n.want("&modified", int64(0))
		n.cmd("autocmd! BufWritePre")
		n.asksNothing("write")
	})
}

func TestWriteWhileInserting(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		n.read(path)
		// Insert mode is left open: the keys are typed, not fed for execution.
		n.input("jA mine")
		n.want("mode()", "i")
		w := n.write(path, "zero\none\ntwo\nTHREE\n")
		if w.Conflict || !w.Changed {
			t.Errorf("%+v", w)
		}
		n.want("mode()", "i")
		n.wantText("zero\none\ntwo mine\nTHREE")
		n.want("[line('.'), col('.')] == [3, 9]", int64(1))
		n.wantDisk("a.txt", "zero\none\ntwo\nTHREE\n")
		n.want("&modified", int64(1))
		n.input(" more<Esc>")
		n.wantText("zero\none\ntwo mine more\nTHREE")
		for _, want := range []string{"zero\none\ntwo mine\nTHREE", "one\ntwo mine\nthree", "one\ntwo\nthree"} {
			n.cmd("undo")
			n.wantText(want)
			n.want("&modified", int64(1))
		}
		n.cmd("redo | redo | redo")
		n.asksNothing("write")
		n.wantDisk("a.txt", "zero\none\ntwo mine more\nTHREE\n")
	})
}

// input types keys as a terminal does, and returns when Neovim has taken them.
func (n *neovim) input(keys string) {
	n.t.Helper()
	_, err := n.Input(keys)
	must.Do(n.t, err)
	// A request is answered after the input before it has been taken.
	n.lua("return vim.wait(60000, function() return vim.fn.getchar(1) == 0 end, 1)")
}

// Edits begin and end between characters, also where characters share bytes.
func TestEditsAreMinimalAndOfWholeCharacters(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "foo aéb\nbar a©c\nsame\n\tone two three\n")
		n.lua(`
			edits = {}
			vim.api.nvim_buf_attach(0, false, {on_bytes = function(_, _, _, row, col, _, rows, cols, _, rows2, cols2)
				table.insert(edits, table.concat({row, col, rows, cols, rows2, cols2}, ' '))
			end})`)
		n.write(path, "foo aèb\nbar aéc\nsame\n\tone 2 three\nnew\n")
		n.want("luaeval('table.concat(edits, \", \")')", "4 0 0 0 1 0, 3 5 0 3 0 1, 1 5 0 2 0 2, 0 5 0 2 0 2")
	})
}

func TestUnsavedTextIsMerged(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\nfour\n")
		n.read(path)
		n.keys("ggccMINE<Esc>")
		w := n.write(path, "one\ntwo\nTHEIRS\nfour\n")
		if w.Conflict || w.Note != "" {
			t.Errorf("%+v", w)
		}
		n.wantText("MINE\ntwo\nTHEIRS\nfour")
		n.wantDisk("a.txt", "one\ntwo\nTHEIRS\nfour\n")
		n.want("&modified", int64(1))

		// The agent does not know MINE; its next text is against its last one.
		w = n.write(path, "ONE\ntwo\nTHEIRS\nFOUR\n")
		wantConflict(t, w, "", "yours stay in the buffer, the agent's are on disk. ")
		n.wantText("MINE\ntwo\nTHEIRS\nFOUR")
		n.wantDisk("a.txt", "ONE\ntwo\nTHEIRS\nFOUR\n")
		if got := n.files.Refused(path); len(got) != 1 || got[0] != "ONE\ntwo\nTHEIRS\nFOUR\n" {
			t.Errorf("refused: %q", got)
		}
		n.cmd("let v:warningmsg = ''")
		n.asksNothing("checktime")
		n.want("v:warningmsg", "")
		n.want("&modified", int64(1))
		n.keys("Gofive<Esc>")
		n.asksNothing("write")
		n.wantDisk("a.txt", "MINE\ntwo\nTHEIRS\nFOUR\nfive\n")
		n.want("&modified", int64(0))
		n.want("exists('#BufWritePre#<buffer>')", int64(0))
		n.keys("ggx")
		n.asksNothing("write")

		// Read with the unsaved text in it, and written with it: no difference is left.
		n.keys("ggOtop<Esc>")
		n.write(path, n.read(path)+"end\n")
		n.want("&modified", int64(0))
		n.asksNothing("write")
	})
}

// What the agent takes for the file is what it has read whole: a part that it reads later tells it
// nothing of the user's changes elsewhere.
func TestReadsOfPartsAreNoBase(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		n.read(path)
		n.keys("ggccMINE<Esc>")
		for _, line := range []int{1, 3} {
			_, err := n.tryRead(buffers.Read{Path: path, Line: &line, Limit: intp(1)})
			must.Do(t, err)
		}
		n.write(path, "one\ntwo\nTHREE\n")
		n.wantText("MINE\ntwo\nTHREE")
	})
}

func TestSpecialBuffersAreNotTheFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "disk\n")
		n.keys("ccview<Esc>")
		n.cmd("setlocal buftype=acwrite | set modified")
		check.Equal(t, n.read(path), "disk\n", "%q")
	})
}

func TestHiddenBuffersAreWrittenWhereTheyAre(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		n.cmd("set hidden")
		n.edit("b.txt", "b\n")
		n.edit("c.txt", "c\n")
		state := "[bufname(), bufname('#'), winnr('$'), len(getbufinfo()), getjumplist(), v:errmsg, &cpoptions, &eventignore]"
		n.cmd("let g:state = " + state)
		if w := n.write(path, "ONE\ntwo\n"); w.Buf == 0 || !w.Changed {
			t.Errorf("%+v", w)
		}
		n.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 1, 2, true, {'mine'})")
		n.write(path, "ONE\ntwo\nthree\n")
		n.want("getbufline('a.txt', 1, '$') == ['ONE', 'mine', 'three']", int64(1))
		n.want("getbufvar('a.txt', '&modified')", int64(1))
		n.want("g:state == "+state, int64(1))
		n.wantDisk("a.txt", "ONE\ntwo\nthree\n")
		n.asksNothing("wall")
		n.wantDisk("a.txt", "ONE\nmine\nthree\n")
		n.cmd("bunload a.txt")
		n.write(path, "disk\n")
		n.wantDisk("a.txt", "disk\n")
		n.want("bufloaded('a.txt')", int64(0))
	})
}

func TestSameTextFromDiskAndWriteIsOneChange(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		n.keys("ma")
		n.put("a.txt", "one\nnew\ntwo\n")
		n.write(path, "one\nnew\ntwo\n")
		n.wantText("one\nnew\ntwo")
		n.want("&modified", int64(0))
		n.asksNothing("checktime")
		n.asksNothing("write")
		n.cmd("undo")
		n.wantText("one\ntwo")

		// A buffer that is older than the disk: the disk's text can be had back by undo.
		n.cmd("edit!")
		n.put("a.txt", "newer\n")
		n.write(path, "agent\n")
		n.wantText("agent")
		n.cmd("undo")
		n.wantText("newer")
		n.cmd("undo")
		n.wantText("one\nnew\ntwo")
		n.want("&modified", int64(1))
	})
}

func TestWriteCreates(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.write(n.path("x/y/new.txt"), "text\n")
		if !w.Created || !w.Changed || w.Buf != 0 {
			t.Errorf("%+v", w)
		}
		n.wantDisk("x/y/new.txt", "text\n")
		n.cmd("edit " + n.path("v/w/new.txt"))
		w = n.write(n.path("v/w/new.txt"), "text\n")
		if !w.Created || w.Buf == 0 {
			t.Errorf("%+v", w)
		}
		n.wantText("text")
		n.wantDisk("v/w/new.txt", "text\n")
		n.want("&modified", int64(0))
		n.keys("x")
		n.asksNothing("write")
		for _, text := range []string{"", "\n", "", "a", "\n\n"} {
			n.write(n.path("v/w/new.txt"), text)
			n.wantDisk("v/w/new.txt", text)
			n.want("&modified", int64(0))
		}
		// A dangling link is followed.
		must.Do(t, os.Symlink("target.txt", n.path("dangling")))
		n.write(n.path("dangling"), "t\n")
		n.wantDisk("target.txt", "t\n")
	})
}

func TestUnloadedWriteKeepsWhatTheFileIs(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.put("run.sh", "a\r\n")
		must.Do(t, os.Chmod(path, 0o751))
		must.Do(t, os.Symlink("run.sh", n.path("link")))
		n.write(n.path("link"), "b\nc\n")
		n.wantDisk("run.sh", "b\r\nc\r\n")
		if info, _ := os.Lstat(n.path("link")); info.Mode()&fs.ModeSymlink == 0 {
			t.Error("the link was replaced")
		}
		if info, _ := os.Stat(path); info.Mode().Perm() != 0o751 {
			t.Errorf("mode %v", info.Mode())
		}
		must.Do(t, os.Link(path, n.path("hard")))
		n.write(path, "d\n")
		n.wantDisk("hard", "d\r\n")
		n.want("len(getbufinfo()) - len(getbufinfo(''))", int64(0))
		left, _ := filepath.Glob(n.path(".acp-*"))
		if len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
		n.put("l1.txt", "caf\xe9\n")
		n.write(n.path("l1.txt"), "thé\n")
		n.wantDisk("l1.txt", "th\xe9\n")
	})
}

func TestErrorsLeaveEverythingAsItWas(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		must.Do(t, syscall.Mkfifo(n.path("fifo"), 0o644))
		must.Do(t, os.Mkdir(n.path("dir"), 0o755))
		must.Do(t, os.Symlink("loop", n.path("loop")))
		must.Do(t, os.Chmod(n.put("ro", "x\n"), 0o444))
		n.put("file", "x\n")
		for _, c := range []struct {
			path        string
			read, write error
		}{
			{"relative", buffers.ErrNotAbsolute, buffers.ErrNotAbsolute},
			{n.path("missing"), fs.ErrNotExist, nil},
			{n.path("dir"), buffers.ErrDirectory, buffers.ErrDirectory},
			{n.path("fifo"), buffers.ErrNotRegular, buffers.ErrNotRegular},
			{"/dev/zero", buffers.ErrNotRegular, buffers.ErrNotRegular},
			{n.path("ro"), nil, fs.ErrPermission},
			{n.path("file/below"), syscall.ENOTDIR, syscall.ENOTDIR},
			{n.path(strings.Repeat("long", 100)), syscall.ENAMETOOLONG, syscall.ENAMETOOLONG},
		} {
			_, err := n.tryRead(buffers.Read{Path: c.path})
			if !errors.Is(err, c.read) || (err == nil) != (c.read == nil) {
				t.Errorf("read %s: %v", c.path, err)
			}
			_, err = n.tryWrite(c.path, "new\n")
			if !errors.Is(err, c.write) || (err == nil) != (c.write == nil) {
				t.Errorf("write %s: %v", c.path, err)
			}
		}
		if _, err := n.tryRead(buffers.Read{Path: n.path("loop")}); err == nil {
			t.Error("a loop of links was read")
		}
		n.wantDisk("ro", "x\n")

		n.cmd("edit ++enc=utf-8 ++bad=keep " + n.put("bad", "a\xff\n"))
		if text, err := n.tryRead(buffers.Read{Path: n.path("bad")}); !errors.Is(err, buffers.ErrNotText) {
			t.Errorf("invalid UTF-8: %q, %v", text, err)
		}

		n.cmd("edit ++enc=cp1251 " + n.put("cyrillic", "\xe4\xe0\n"))
		_, err := n.tryWrite(n.path("cyrillic"), "語\n")
		check.Equal(t, errors.Is(err, buffers.ErrEncoding), true, "of no form in an encoding of Neovim's: %v: %v", err)
		n.wantText("да")
		n.want("&modified", int64(0))
		n.keys("omine<Esc>")
		_, err = n.tryWrite(n.path("cyrillic"), "нет\n")
		if err == nil || !strings.Contains(err.Error(), "is on disk as unix cp1251, which only Neovim can write: save it first") {
			t.Errorf("unsaved text in an encoding of Neovim's: %v", err)
		}
		n.wantText("да\nmine")
		n.wantDisk("cyrillic", "\xe4\xe0\n")

		path := n.edit("a.txt", "x\n")
		for _, c := range []struct {
			set, unset string
			want       error
		}{
			{"setlocal readonly", "setlocal noreadonly", buffers.ErrReadOnly},
			{"setlocal nomodifiable", "setlocal modifiable", buffers.ErrNotModifiable},
			{"setlocal buftype=nofile", "setlocal buftype=", buffers.ErrSpecialBuffer},
			{"setlocal fileencoding=latin1", "setlocal fileencoding=utf-8", buffers.ErrEncoding},
		} {
			n.cmd(c.set)
			if _, err := n.tryWrite(path, "→\n"); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.set, err)
			}
			n.cmd(c.unset)
			n.wantText("x")
			n.wantDisk("a.txt", "x\n")
		}
	})
}

// A limit on the size of files stands in for a full disk.
func TestFullDisk(t *testing.T) {
	onNeovims(t, func(t *testing.T, first *neovim) {
		command := first.lua("return vim.v.progpath").(string)
		n := startNeovim(t, command, `trap '' XFSZ; ulimit -f 64; exec "$@"`)
		small := strings.Repeat("0123456789abcde\n", 1000)
		path := n.edit("a.txt", small)
		n.cmd("let g:undos = undotree().seq_last")
		for _, options := range []string{"set backupcopy=auto", "set backupcopy=yes", "set nowritebackup backupskip=*"} {
			n.cmd(options)
			_, err := n.tryWrite(path, strings.Repeat(small, 10))
			if err == nil {
				t.Fatal("no error")
			}
			n.wantText(strings.TrimSuffix(small, "\n"))
			n.wantDisk("a.txt", small)
			n.want("&modified", int64(0))
			n.want("undotree().seq_cur", n.lua("return vim.g.undos"))
		}
		n.input("A")
		if _, err := n.tryWrite(path, strings.Repeat(small, 10)); err == nil {
			t.Fatal("no error")
		}
		n.want("mode()", "i")
		n.input("!?<Esc>")
		n.wantText(strings.TrimSuffix(strings.Replace(small, "\n", "!?\n", 1), "\n"))
		n.wantDisk("a.txt", small)
		n.write(path, "works\n")
		n.wantDisk("a.txt", "works\n")
	})
}

func TestChangesBetweenLookingAndWriting(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		n.read(path)
		once := false
		n.hook = func(fn string) {
			if fn == "write" && !once {
				once = true
				n.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, {'typed'})")
			}
		}
		n.write(path, "ONE\ntwo\n")
		n.wantText("ONE\ntwo\ntyped")
		n.wantDisk("a.txt", "ONE\ntwo\n")
		n.cmd("write")

		once = false
		n.hook = func(fn string) {
			if fn == "write" && !once {
				once = true
				n.put("a.txt", "other\n")
			}
		}
		n.write(path, "agent\n")
		n.hook = nil
		n.wantDisk("a.txt", "agent\n")
		n.cmd("undo")
		n.wantText("other")
	})
}

func TestBigReadsAreSlicedAndOfOneState(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", strings.Repeat("line\n", 10_000))
		n.keys("Otop<Esc>")
		want := "top\n" + strings.Repeat("line\n", 10_000)
		n.calls = nil
		if got := n.read(path); got != want {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
		check.Equal(t, strings.Join(n.calls, " "), "follow lines", "%v")
		// Long lines make fewer of them, and one that is longer than that comes in pieces.
		long := n.edit("long.txt", strings.Repeat(strings.Repeat("x", 99_999)+"\n", 5)+strings.Repeat("y", 600_000)+"\nend\n")
		n.keys("Otop<Esc>")
		n.calls = nil
		if got, want := n.read(long), "top\n"+n.disk("long.txt"); got != want {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
		check.Equal(t, strings.Join(n.calls, " "), "follow lines lines lines", "%v")
		n.cmd("write | buffer " + path)
		n.keys("ix<Esc>")

		// The buffer changes with every call: the read comes to an end, with one state.
		n.files = buffers.New(n) // which knows nothing of the text
		line, limit := 9_000, 2
		part, err := n.tryRead(buffers.Read{Path: path, Line: &line, Limit: &limit})
		check.Equal(t, fmt.Sprintf("%q %v", part, err), `"line\nline\n" <nil>`, "two lines of it are %.200s")
		n.files = buffers.New(n)
		count := 0
		n.hook = func(fn string) {
			if fn == "lines" {
				count++
				n.lua(`
					vim.api.nvim_buf_set_lines(0, 0, 1, true, {...})
					vim.api.nvim_buf_set_lines(0, -2, -1, true, {...})`, fmt.Sprint(count))
			}
		}
		got := n.read(path)
		if count < 2 || got != fmt.Sprintf("%d\n", count)+strings.Repeat("line\n", 9_999)+fmt.Sprintf("%d\n", count) {
			t.Errorf("not the state after change %d", count)
		}
	})
}

func TestLockedTextIsWrittenLater(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		n.cmd("inoremap <expr> X nr2char(getchar())")
		_, err := n.Input("iX")
		must.Do(t, err)
		seen := make(chan struct{})
		n.hook = func(fn string) {
			if fn == "write" {
				n.hook = nil
				close(seen)
			}
		}
		done := make(chan error, 1)
		n.files.Write(context.Background(), buffers.Write{Path: path, Text: "two\n"}, func(_ buffers.Written, err error) { done <- err })
		<-seen
		_, err = n.Input("y<Esc>")
		must.Do(t, err)
		must.Do(t, <-done)
		n.wantDisk("a.txt", "two\n")
	})
}

// Lines that come above a fold do not get into it.
func TestFoldsStay(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\nfour\n")
		n.cmd("set foldmethod=manual | 2,3fold")
		n.write(path, "one\nnew\n\x00\ntwo\nthree\nfour\n")
		n.want("foldclosed(4) .. '-' .. foldclosedend(4)", "4-5")
		n.wantDisk("a.txt", "one\nnew\n\x00\ntwo\nthree\nfour\n")
		n.cmd("normal! zE")
		n.cmd("1,2fold")
		n.write(path, "newest\none\nnew\n\x00\ntwo\nthree\nfour\n")
		n.want("foldclosed(2) .. '-' .. foldclosedend(2)", "2-3")
	})
}

// A line that is too long for one answer of Neovim's comes in pieces.
func TestReadsOfALongLine(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		long := strings.Repeat("äbc日", 500_000) // 4.5 MB
		for name, text := range map[string]string{
			"unix":     "one\n" + long + "\ntwo\n",
			"dos":      "one\r\n" + long + "\r\ntwo\r\n",
			"no end":   "one\n" + long,
			"alone":    long + "\n",
			"just so":  strings.Repeat("x", 512<<10) + "\n" + strings.Repeat("x", 512<<10+1) + "\r\n" + strings.Repeat("x", 1<<20-4) + "\n",
			"with NUL": "a\x00b" + long + "\n",
		} {
			path := n.edit("a.txt", text)
			n.cmd("call setline(line('$'), getline('$') . 'end')")
			n.cmd("setlocal nofixendofline")
			want := strings.ReplaceAll(text, "\r\n", "\n")
			if name == "just so" {
				want = text
			}
			if body, ended := strings.CutSuffix(want, "\n"); ended {
				want = body + "end\n"
			} else {
				want += "end"
			}
			n.calls = nil
			if got := n.read(path); got != want {
				t.Errorf("%s: read %d bytes, not the %d there are", name, len(got), len(want))
			}
			// A read without pieces has one call where the line is most of the file.
			if least := len(text) / (700 << 10); len(n.calls) < least {
				t.Errorf("%s: there were %d calls", name, len(n.calls))
			}
			n.cmd("bwipeout!")
		}
	})
}

// What stops Neovim for long is said before, once for each file.
func TestSlowBuffersAreToldBefore(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		for name, c := range map[string]struct{ text, want string }{
			"line.txt":  {strings.Repeat("x", 9<<20) + "\n", "line.txt has a line of 9 MB: "},
			"lines.txt": {strings.Repeat("x\n", 250_001), "lines.txt has 250001 lines, 0.5 MB: "},
			"large.txt": {strings.Repeat(strings.Repeat("x", 99)+"\n", 100_000), "large.txt has 100000 lines, 9.5 MB: "},
			"small.txt": {strings.Repeat(strings.Repeat("x", 99)+"\n", 1_000), ""},
		} {
			var told []string
			n.files.Slow = func(_ context.Context, why string) {
				n.want("getline(1)", "one") // before
				told = append(told, why)
			}
			path := n.edit(name, "one\n")
			n.write(path, c.text)
			n.write(path, "more\n"+c.text)
			n.wantDisk(name, "more\n"+c.text)
			switch {
			case c.want == "" && len(told) > 0, c.want != "" && (len(told) != 1 || !strings.HasPrefix(told[0], c.want)):
				t.Errorf("%s: told %q", name, told)
			}
			// Nothing is slow about a file that no buffer shows.
			n.cmd("bwipeout")
			n.files = buffers.New(n)
			n.files.Slow = func(context.Context, string) { t.Errorf("%s: told of a file without a buffer", name) }
			n.write(path, c.text)
			n.files.Slow = nil
		}
	})
}

// A large text is written by the host, so that Neovim does not stand still for one changed line of it: its buffer has
// the text as after a write of Neovim's own.
func TestLargeTextsAreWrittenByTheHost(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		lines := strings.Split(strings.Repeat(strings.Repeat("x", 99)+"\n", 100_000), "\n") // 10 MB
		text := strings.Join(lines, "\n")
		path := n.edit("large.txt", text)
		n.files.Slow = func(_ context.Context, why string) { t.Errorf("told: %s", why) }
		before, err := os.Stat(path)
		must.Do(t, err)
		n.cmd("100 mark a")
		n.cmd("autocmd BufWritePost * let g:written = get(g:, 'written') + 1")
		lines[50_000] = "the agent's"
		n.write(path, strings.Join(lines, "\n"))
		n.wantDisk("large.txt", strings.Join(lines, "\n"))
		if now, err := os.Stat(path); err != nil || os.SameFile(before, now) || now.Mode() != before.Mode() {
			t.Errorf("Neovim has written it, or its mode is another one: %v", err)
		}
		n.want("getline(50001)", "the agent's")
		n.want("&modified", int64(0))
		n.want("g:written", int64(1))
		n.want("line(\"'a\")", int64(100))
		n.cmd("undo")
		n.want("getline(50001)", lines[0])
		n.want("&modified", int64(1))
		n.cmd("redo")
		n.want("&modified", int64(0))
		lines[50_000] = "the agent's again"
		n.write(path, strings.Join(lines, "\n"))
		n.cmd("call setline(1, 'mine')")
		n.cmd("write") // without a question
		lines[0] = "mine"
		n.wantDisk("large.txt", strings.Join(lines, "\n"))
	})
}
