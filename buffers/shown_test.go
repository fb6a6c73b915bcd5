package buffers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/neovim/go-client/msgpack"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// counted counts the bytes of what goes to Neovim and back, and in how many calls.
type counted struct {
	*neovim
	bytes, calls int
}

func (c *counted) CallBuffers(ctx context.Context, fn string, args, result any) error {
	err := c.neovim.CallBuffers(ctx, fn, args, result)
	c.calls++
	for _, v := range []any{args, result} {
		var packed strings.Builder
		must.Do(c.t, msgpack.NewEncoder(&packed).Encode(v))
		c.bytes += packed.Len()
	}
	return err
}

// What a buffer has crosses once, and of a change of it the lines that are new.
func TestOnlyWhatChangesCrosses(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		c := &counted{neovim: n}
		n.files = buffers.New(c)
		lines := make([]string, 20_000)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d of the file", i)
		}
		path := n.edit("a.txt", join(lines))
		cost := func(what string, most int, do func()) {
			t.Helper()
			c.bytes = 0
			do()
			if c.bytes > most {
				t.Errorf("%s: %d bytes went to Neovim and back", what, c.bytes)
			}
		}
		size := len(join(lines))
		const little = 4000
		write := func(row int) {
			lines[row] = fmt.Sprintf("new in %d", row)
			n.write(path, join(lines))
			n.wantText(strings.Join(lines, "\n"))
		}
		cost("the first write", size+size/10+little, func() { write(100) })
		cost("a write", little, func() { write(19_999) })
		cost("a write", little, func() { write(0) })
		n.cmd("undo")
		lines[0] = "line 0 of the file"
		cost("a read after an undo", size+size/10+little, func() {
			check.Equal(t, n.read(path), join(lines), "another text was read after an undo: %v")
		})
		cost("a read of the same", little, func() {
			check.Equal(t, n.read(path), join(lines), "another text was read: %v")
		})
		cost("a write into unsaved text", little, func() { write(5000) })
		n.want("&modified", truth(false))
		n.cmd("set noendofline nofixendofline")
		n.cmd("set modified")
		if got := n.read(path); got != strings.TrimSuffix(join(lines), "\n") {
			t.Error("the text does not end as :write would end it")
		}
	})
}

// A write after a write is one call, unless something of the buffer is other than Neovim has told; then it
// does what the first write does, which asks.
func TestWriteAfterWriteAsksNothing(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		c := &counted{neovim: n}
		for name, between := range map[string]struct {
			do    string // in Neovim
			disk  string // what the file has after a write
			err   error
			calls int // where that counts
		}{
			"nothing":       {"", "new\n", nil, 1},
			"typed":         {"call setline(1, 'mine')", "", nil, 0},
			"written":       {"call setline(1, 'mine') | write", "new\n", nil, 0},
			"modified":      {"setlocal modified", "", nil, 0},
			"nomodifiable":  {"setlocal nomodifiable", "", buffers.ErrNotModifiable, 0},
			"readonly":      {"setlocal readonly", "", buffers.ErrReadOnly, 0},
			"fileformat":    {"setlocal fileformat=dos nomodified", "new\r\n", nil, 0},
			"fileencoding":  {"setlocal fileencoding=utf-16le nomodified", "n\x00e\x00w\x00\n\x00", nil, 0},
			"bomb":          {"setlocal bomb nomodified", "\xef\xbb\xbfnew\n", nil, 0},
			"buftype":       {"setlocal buftype=nofile", "", buffers.ErrSpecialBuffer, 0},
			"another name":  {"keepalt file other.txt", "", nil, 0},
			"unloaded":      {"enew | bunload #", "new\n", nil, 0},
			"edited":        {"edit!", "new\n", nil, 0},
			"another other": {"edit other.txt", "new\n", nil, 1},
		} {
			n.files = buffers.New(c)
			file := strings.ReplaceAll(name, " ", "_") + ".txt"
			path := n.edit(file, "old\nlast\n")
			n.write(path, "first\nlast\n")
			n.cmd(between.do)
			c.calls = 0
			_, err := n.tryWrite(path, "new\n")
			if !errors.Is(err, between.err) {
				t.Errorf("%s: the error is %v, not %v", name, err, between.err)
			}
			if between.calls > 0 && c.calls != between.calls {
				t.Errorf("%s: %d calls, not %d", name, c.calls, between.calls)
			}
			if between.disk != "" {
				n.wantDisk(file, between.disk)
			}
			n.cmd("%bwipeout!")
		}
	})
}

// hearsAhead has what Neovim says for reads before they ask reach the files of c.
func (c *counted) hearsAhead() {
	sent := make(chan int, 1)
	must.Do(c.t, c.RegisterHandler("acp", func(method string, args any) {
		m, _ := args.(map[string]any)
		number := func(field string) int { return int(reflect.ValueOf(m[field]).Convert(reflect.TypeFor[int]()).Int()) }
		switch method {
		case "passed":
			if m["buf"] == nil {
				m["buf"] = 0
			}
			c.files.Passed(number("buf"), number("changes"))
		case "ahead":
			c.files.Ahead(m["path"].(string), func(into any) {
				var packed bytes.Buffer
				must.Do(c.t, msgpack.NewEncoder(&packed).Encode(m["info"]))
				must.Do(c.t, msgpack.NewDecoder(&packed).Decode(into))
			})
		case "sent":
			sent <- 0
		}
	}))
	c.lua("require('acp.rpc.host').notify = function(method, args) vim.rpcnotify(1, 'acp', method, args) end")
	c.files.Inbox = heard(func() bool {
		c.lua("vim.rpcnotify(1, 'acp', 'sent', {})")
		<-sent
		return true
	})
}

// heard is an inbox that is asked only whether everything was taken in.
type heard func() bool

func (h heard) Heard() bool           { return h() }
func (h heard) WhenHeard(done func()) { done() }

// The lines that the user has changed since the last read cross alone, however they were changed, and mostly before it.
func TestReadsOfAnEditedBuffer(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		r := rand.New(rand.NewPCG(*seed, 4))
		c := &counted{neovim: n}
		n.files = buffers.New(c)
		c.hearsAhead()
		lines := make([]string, 400)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d of the file", i)
		}
		path := n.edit("a.txt", join(lines))
		n.cmd("set undolevels=1000 nofixendofline inccommand=split | call setline(1, 'unsaved')")
		reads, whole, asked := 0, 0, 0
		for i := range 6 * *rounds {
			var done []string
			for range r.IntN(4) {
				at, to := r.IntN(50)+1, r.IntN(50)+1
				edit := []string{
					fmt.Sprintf("call setline(%d, 'set %d')", at, i),
					fmt.Sprintf("call append(%d, ['x %d', 'y'])", at, i),
					fmt.Sprintf("silent! %dd", at),
					fmt.Sprintf("silent! %d,%dd", min(at, to), max(at, to)),
					fmt.Sprintf("silent! %d,%dm%d", at, at+3, at+to+4),
					fmt.Sprintf("silent! %dt%d", at, to),
					fmt.Sprintf("silent! %d,%dsort!", min(at, to), max(at, to)),
					fmt.Sprintf("silent! %d,%ds/l/L\\r/", min(at, to), max(at, to)),
					"silent! g/set/normal! ddp",
					"silent! undo", "silent! undo", "silent! redo", "silent! earlier 3",
					fmt.Sprintf("silent! %d,%djoin", at, at+2),
					fmt.Sprintf("silent! %d,%d!cat", min(at, to), max(at, to)),
					fmt.Sprintf("silent! normal! %dGA more\x1b.", at),
					fmt.Sprintf("silent! normal! %dG\x16jjx", at),
					"silent! %d", "silent! normal! Gox\x1b", "silent! normal! ggOtop\x1b",
					fmt.Sprintf("silent! normal! %dG\x01", at),
					"silent! retab! 3",
					fmt.Sprintf("lua pcall(vim.api.nvim_buf_set_text, 0, %d, 1, %d, 2, {'a', 'b\\0c', ''})", at, at+1),
				}
				e := edit[r.IntN(len(edit))]
				if e == "silent! %d" && r.IntN(8) > 0 {
					continue
				}
				done = append(done, e)
				n.cmd(e)
			}
			if r.IntN(40) == 0 {
				n.cmd("silent! edit! | silent! call setline(1, 'unsaved')")
				done = append(done, "edit!")
			}
			if r.IntN(40) == 0 {
				n.cmd("lua require('acp.files.dirty').forget()")
				done = append(done, "forget")
			}
			if r.IntN(20) == 0 {
				n.write(path, n.text()+"\nwritten\n")
				done = append(done, "write")
			}
			n.cmd("if !&modified | set modified | endif")
			c.bytes, c.calls = 0, 0
			want := n.text()
			if n.lua("return vim.fn.wordcount().bytes").(int64) > 0 {
				want += "\n"
			}
			must.Equal(t, n.read(path), want, "round %d of -seed %d: after %q there is\n%q", i, *seed, done)
			asked += c.calls
			if len(want) < 3000 {
				n.write(path, join(lines))
				n.cmd("call setline(1, 'unsaved')")
			} else if reads++; c.bytes > len(want) {
				whole++
			}
		}
		if whole > reads/2 {
			t.Errorf("%d of %d reads had all of the text cross", whole, reads)
		}
		if asked > 6**rounds/2 {
			t.Errorf("%d of %d reads asked", asked, 6**rounds)
		}
	})
}

// An agent that reads a file again need not wait for Neovim, which has said before what it would answer.
func TestReadsThatNeedNotAsk(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		c := &counted{neovim: n}
		n.files = buffers.New(c)
		c.hearsAhead()
		path := n.edit("a.txt", "one\ntwo\n")
		n.lua("later = vim.schedule")
		read := func(after, want string, calls int) {
			t.Helper()
			n.cmd(after)
			c.calls = 0
			if got := n.read(path); got != want || c.calls != calls {
				t.Errorf("after %q there is %q, in %d calls; want %q in %d", after, got, c.calls, want, calls)
			}
		}
		read("", "one\ntwo\n", 1)
		read("", "one\ntwo\n", 0)
		read("call setline(1, 'ONE')", "ONE\ntwo\n", 1) // none of its text was known
		read("call setline(2, 'TWO')", "ONE\nTWO\n", 0)
		read("undo", "ONE\ntwo\n", 0)
		read("undo", "one\ntwo\n", 0)
		read("redo", "ONE\ntwo\n", 0)
		read("lua vim.schedule = function() end", "ONE\ntwo\n", 0)
		read("call setline(1, 'busy')", "busy\ntwo\n", 1) // Neovim has not come to say what it has now
		read("lua vim.schedule = later", "busy\ntwo\n", 0)
		read("set nofixendofline noendofline", "busy\ntwo", 1)
		read("set nomodified", "one\ntwo\n", 1)
		read("set modified", "busy\ntwo", 1)
		read("write", "busy\ntwo", 1)
		read("call setline(1, 'again')", "again\ntwo", 0)
		read("edit!", "busy\ntwo", 1)
		read("file other.txt | call setline(1, 'mine')", "busy\ntwo", 1)
		read("", "busy\ntwo", 1) // of what no buffer shows nothing is known
	})
}

// Whoever reads some lines gets the whole text along, where Neovim need not be asked for it.
func TestTheWholeTextOfWhichLinesAreRead(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		c := &counted{neovim: n}
		n.files = buffers.New(c)
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		read := func(want string, calls int) {
			t.Helper()
			line, whole := 2, ""
			c.calls = 0
			got, err := n.tryRead(buffers.Read{Path: path, Line: &line, Limit: &line, Whole: func(text string) { whole = text }})
			if err != nil || got != "two\nthree\n" || whole != want || c.calls != calls {
				t.Errorf("read %q of %q, in %d calls; %v", got, whole, c.calls, err)
			}
		}
		read("one\ntwo\nthree\n", 1) // the disk's
		n.cmd("call setline(1, 'ONE')")
		read("ONE\ntwo\nthree\n", 1)
		n.cmd("call setline(1, 'One')")
		read("One\ntwo\nthree\n", 1)
		// The disk of a file that no buffer shows.
		n.cmd("bwipeout!")
		read("one\ntwo\nthree\n", 1)
	})
}

// The buffer of a file is found whatever becomes of names, and without a look at all buffers.
func TestWhichBufferShowsAFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		check := func(name, want string) {
			t.Helper()
			check.Equal(t, n.read(n.path(name)), want, "%s: %q was read", name)
		}
		for _, name := range []string{"a", "b", "c", "d", "dir/e"} {
			must.Do(t, os.MkdirAll(n.path("dir"), 0o755))
			n.put(name, name+" on the disk\n")
		}
		must.Do(t, os.Symlink(n.path("dir"), n.path("link")))
		check("a", "a on the disk\n") // no buffer has a name
		change := func(text string) { n.cmd("call setline(1, '" + text + "')") }
		n.cmd("set hidden | edit " + n.path("a")) // the first buffer becomes this one
		change("a")
		check("a", "a\n")
		n.lua("other = vim.fn.bufadd(...)", n.path("b"))
		check("b", "b on the disk\n")
		n.cmd("call bufload(luaeval('other')) | call setbufline(luaeval('other'), 1, 'b')")
		check("b", "b\n")
		n.cmd("edit " + n.path("link/e"))
		change("e")
		check("dir/e", "e\n")
		check("link/e", "e\n")
		n.cmd("file " + n.path("f"))
		check("dir/e", "dir/e on the disk\n")
		check("f", "e\n")
		n.lua("vim.api.nvim_buf_set_name(other, ...)", n.path("c"))
		check("b", "b on the disk\n")
		check("c", "b\n")
		n.cmd("buffer " + n.path("a") + " | bwipeout!")
		check("a", "a on the disk\n")
		n.cmd("edit " + n.path("d"))
		change("d")
		check("d", "d\n")
		n.cmd("bunload!")
		check("d", "d on the disk\n")

		names := n.lua(`
			for i = 1, 300 do vim.fn.bufload(vim.fn.bufadd('/nowhere/' .. i)) end
			local info = require('acp.files.buffers').info
			info({ path = ... })
			local names, name, realpath = 0, vim.api.nvim_buf_get_name, vim.uv.fs_realpath
			vim.api.nvim_buf_get_name = function(buf) names = names + 1 return name(buf) end
			vim.uv.fs_realpath = function(path) names = names + 1 return realpath(path) end
			info({ path = ... })
			vim.api.nvim_buf_get_name, vim.uv.fs_realpath = name, realpath
			return names`, n.path("a"))
		if looks, _ := names.(int64); looks > 20 {
			t.Errorf("%d names were looked at", looks)
		}
	})
}
