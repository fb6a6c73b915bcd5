package buffers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// overtaken writes a file as another program would, and runs the user's command before anybody can have
// heard of it. It reports whether Neovim asks a question.
func (w *watching) overtaken(name, data, command string) bool {
	w.t.Helper()
	return w.asks(func() error {
		return w.ExecLua(`
			local path, data, command = ...
			local file = assert(io.open(path, 'w'))
			file:write(data)
			file:close()
			vim.cmd(command)`, nil, w.path(name), data, command)
	})
}

// The user writes a file that another program has written a moment ago. Nothing is asked, and both texts are written.
func TestTheUserWritesRightAfterAnother(t *testing.T) {
	const had = "one\ntwo\nthree\nfour\n"
	for _, c := range []struct {
		name    string
		had     string
		keys    string // what the user types first
		before  string // a command of the user's
		data    string // on the disk then
		command string
		want    string // on the disk, had the user's text been written a little later
		text    string // of the buffer, where that is not the disk's as it is
		left    string // after undo
	}{
		{name: "unmodified", data: "one\n2\nthree\nfour\n", want: "one\n2\nthree\nfour\n", left: "one\ntwo\nthree\nfour"},
		{name: "unsaved", keys: "GAx<Esc>", data: "1\ntwo\nthree\nfour\n", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "inserting", keys: "GAx<Esc>", data: "1\ntwo\nthree\nfour\n", command: `call feedkeys("GAy\<Cmd>write\<CR>", 'xt')`, want: "1\ntwo\nthree\nfourxy\n", left: "one\ntwo\nthree\nfourxy"},
		{name: "bang", keys: "GAx<Esc>", data: "1\ntwo\nthree\nfour\n", command: "write!", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "update", keys: "GAx<Esc>", data: "1\ntwo\nthree\nfour\n", command: "update", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "wall", keys: "GAx<Esc>", data: "1\ntwo\nthree\nfour\n", command: "wall", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "wall, hidden", keys: "GAx<Esc>", before: "set hidden | enew", data: "1\ntwo\nthree\nfour\n", command: "wall | buffer a.txt", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "x", keys: "GAx<Esc>", before: "split", data: "1\ntwo\nthree\nfour\n", command: "x", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "wq", keys: "GAx<Esc>", before: "split", data: "1\ntwo\nthree\nfour\n", command: "wq", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "by name", keys: "GAx<Esc>", data: "1\ntwo\nthree\nfour\n", command: "write ./a.txt", want: "1\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "autowrite", keys: "GAx<Esc>", before: "set autowrite", data: "1\ntwo\nthree\nfour\n", command: "silent !true", want: "1\ntwo\nthree\nfourx\n"},
		{name: "all lines", keys: "GAx<Esc>", data: "0\none\ntwo\nthree\nfour\n", command: "%write", want: "0\none\ntwo\nthree\nfourx\n", left: "one\ntwo\nthree\nfourx"},
		{name: "readonly", before: "setlocal readonly", data: "1\ntwo\nthree\nfour\n", command: "write!", want: "1\ntwo\nthree\nfour\n"},
		{name: "the same", keys: "GAx<Esc>", data: had, want: "one\ntwo\nthree\nfourx\n"},
		{name: "what the user has", keys: "GAx<Esc>", data: "one\ntwo\nthree\nfourx\n", want: "one\ntwo\nthree\nfourx\n"},
		{name: "shorter", keys: "ggAx<Esc>", data: "one\n", want: "onex\n", left: "onex\ntwo\nthree\nfour"},
		{name: "dos", had: "one\r\ntwo\r\n", keys: "GAx<Esc>", data: "1\r\ntwo\r\n", want: "1\r\ntwox\r\n", left: "one\ntwox"},
		{name: "becomes dos", had: "one\ntwo\n", keys: "GAx<Esc>", data: "1\r\ntwo\r\n", want: "1\r\ntwox\r\n", left: "one\ntwox"},
		{name: "bom", had: "\ufeffone\ntwo\n", keys: "GAx<Esc>", data: "\ufeff1\ntwo\n", want: "\ufeff1\ntwox\n", left: "one\ntwox"},
		{name: "latin1", had: "caf\xe9\ntwo\n", keys: "GAx<Esc>", data: "caf\xe9s\ntwo\n", want: "caf\xe9s\ntwox\n", left: "café\ntwox"},
		{name: "utf-16", had: "\xff\xfeo\x00\n\x00t\x00\n\x00", keys: "GAx<Esc>", data: "\xff\xfep\x00\n\x00t\x00\n\x00", want: "\xff\xfep\x00\n\x00t\x00x\x00\n\x00", left: "o\ntx"},
		{name: "no newline", had: "one\ntwo", before: "setlocal nofixendofline", keys: "ggAx<Esc>", data: "one\n2", want: "onex\n2", left: "onex\ntwo"},
		{
			name: "formatter", keys: "GAx<Esc>", before: "autocmd BufWritePre a.txt keeppatterns %s/x$/X/e",
			data: "1\ntwo\nthree\nfour\n", want: "1\ntwo\nthree\nfourX\n",
		},
		{
			name: "formatter in between", keys: "GAx<Esc>", before: "autocmd BufWritePre a.txt ++nested keeppatterns %s/x$/X/e | split | wincmd p | close",
			data: "1\ntwo\nthree\nfour\n", want: "1\ntwo\nthree\nfourX\n",
		},
		{
			name: "formatter that adds lines", keys: "GAx<Esc>", before: "autocmd BufWritePre a.txt call append(0, 'top')",
			data: "one\ntwo\n3\nfour\n", want: "top\none\ntwo\n3\nfourx\n",
		},
		{name: "other file", keys: "GAx<Esc>", data: "1\ntwo\nthree\nfour\n", command: "write b.txt", want: "1\ntwo\nthree\nfour\n", text: "-"},
		{name: "conflict", keys: "ggccmine<Esc>", data: "theirs\ntwo\nthree\n4\n", want: "mine\ntwo\nthree\n4\n", left: "mine\ntwo\nthree\nfour"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onNeovims(t, func(t *testing.T, n *neovim) {
				if c.had == "" {
					c.had = had
				}
				if c.command == "" {
					c.command = "write"
				}
				path := n.edit("a.txt", c.had)
				n.cmd("2mark a")
				w := n.follow()
				if c.before != "" && c.keys == "" {
					n.cmd(c.before)
				}
				if c.keys != "" {
					n.keys(c.keys)
					if c.before != "" {
						n.cmd(c.before)
					}
				}
				if w.overtaken("a.txt", c.data, c.command) {
					t.Error("Neovim asks")
				}
				n.wantDisk("a.txt", c.want)
				w.settle()
				n.wantDisk("a.txt", c.want)
				if c.text == "-" { // by now it was followed as ever
					w.awaitText("1\ntwo\nthree\nfourx")
					n.wantDisk("b.txt", "one\ntwo\nthree\nfourx\n")
					return
				}
				n.want("&modified", int64(0))
				n.cmd("stopinsert")
				if c.left != "" {
					if !strings.HasPrefix(c.data, "0\n") && strings.Count(c.data, "\n") > 1 {
						n.want("line(\"'a\")", int64(2))
					}
					n.cmd("undo")
					n.wantText(c.left)
					n.cmd("redo")
				}
				if c.name == "conflict" {
					if got := n.files.Refused(path); len(got) != 1 || got[0] != c.data {
						t.Errorf("refused: %q", got)
					}
					wantConflict(t, w.onlyChange("the conflict"), "", "yours are on disk now, the agent's are shown below them. ")
					n.want(`len(luaeval('require("acp.files.conflict").get(vim.api.nvim_get_current_buf())'))`, int64(1))
					n.keys("ggc>")
					n.wantText("theirs\ntwo\nthree\n4")
				}
				n.asksNothing("write")
				w.quietly()
				n.want("&modified", int64(0))
			})
		})
	}
}

// Without a watch nothing is heard of a change, however long ago it was.
func TestTheUserWritesWithoutAWatch(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "0\ntwo\n")
		w := n.unwatched()
		n.put("a.txt", "one\ntwo\n")
		n.asksNothing("write") // so the watch has begun
		n.wantText("one\ntwo")
		n.keys("GAx<Esc>")
		n.put("a.txt", "1\ntwo\n")
		n.asksNothing("write")
		n.wantDisk("a.txt", "1\ntwox\n")
		n.wantText("1\ntwox")
		w.quietly()
	})
}

// Another program writes the file while a formatter of the user's takes its time.
func TestTheUserWritesAndAFormatterIsSlow(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.lua(`
			local text
			vim.api.nvim_create_autocmd('BufWritePre', { callback = function()
				local file = assert(io.open(vim.api.nvim_buf_get_name(0), 'w'))
				file:write(text)
				file:close()
				if wait then
					vim.wait(15000, function() return vim.fn.getline(1) .. '\n' == text:match('^[^\n]*\n') end, 5)
				end
			end })
			function slowly(t)
				text = t
				vim.cmd.write()
			end`)
		n.keys("GAx<Esc>")
		disk := "two"
		for _, wait := range []bool{false, true} { // until the host has followed
			n.lua("wait = ...", wait)
			for _, first := range []string{"1", "2"} {
				if w.asks(func() error { return n.ExecLua("slowly(...)", nil, first+"\n"+disk+"\n") }) {
					t.Errorf("%v, %s: Neovim asks", wait, first)
				}
				n.wantDisk("a.txt", first+"\ntwox\n")
				n.wantText(first + "\ntwox")
				disk = "twox"
				w.settle()
				n.keys("ix<BS><Esc>")
			}
		}
	})
}

// A buffer that was loaded before it was tracked.
func TestTheUserWritesWhatWasLoadedBefore(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("b.txt", "\n")
		w := n.follow()
		n.put("a.txt", "one\ntwo\n")
		n.lua("vim.fn.bufload(vim.fn.bufadd(...))", n.path("a.txt"))
		n.cmd("edit " + n.path("a.txt"))
		w.settle()
		n.keys("GAx<Esc>")
		if w.overtaken("a.txt", "1\ntwo\n", "write") {
			t.Error("Neovim asks")
		}
		n.wantDisk("a.txt", "1\ntwox\n")
	})
}

// A file that another program has made, of a buffer for a new one.
func TestTheUserWritesANewFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("b.txt", "\n")
		w := n.follow()
		n.cmd("edit " + n.path("a.txt"))
		w.settle()
		n.put("a.txt", "one\n")
		w.awaitText("one")
		w.settle()
		n.keys("GAx<Esc>")
		n.asksNothing("write")
		n.wantDisk("a.txt", "onex\n")
	})
}

// What is no file, or none any more, is as ever.
func TestTheUserWritesWhatIsNoFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		n.keys("Ax<Esc>")
		n.lua("os.remove(...) vim.cmd.write()", path)
		n.wantDisk("a.txt", "onex\n")
		w.settle()
		must.Do(t, os.Remove(path))
		must.Do(t, os.Mkdir(path, 0o755))
		if err := n.Command("write"); err == nil || !strings.Contains(err.Error(), "E502") {
			t.Errorf("%v", err)
		}
	})
}

// A file that has been truncated is waited for, in case it is being written.
func TestTheUserWritesWhatIsBeingWritten(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.keys("GAx<Esc>")
		asked := w.asks(func() error {
			return w.ExecLua(`
				local path = ...
				local file = assert(io.open(path, 'w'))
				local timer = vim.uv.new_timer()
				timer:start(10, 0, function()
					timer:close()
					file:write('1\ntwo\n')
					file:close()
				end)
				vim.cmd.write()`, nil, n.path("a.txt"))
		})
		if asked {
			t.Error("Neovim asks")
		}
		n.wantDisk("a.txt", "1\ntwox\n")
		// It stays empty.
		if w.overtaken("a.txt", "", "write") {
			t.Error("Neovim asks")
		}
		n.wantDisk("a.txt", "")
	})
}

// A host that cannot answer holds nothing up for long, and Neovim asks rightly.
func TestTheUserWritesWhileTheHostHangs(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.lua("require('acp.files.catch_up').patience = 100; package.loaded['acp.rpc.host'].request = function() end")
		n.keys("GAx<Esc>")
		release := make(chan struct{})
		n.hook = func(string) { <-release }
		if !w.overtaken("a.txt", "1\ntwo\n", "write") {
			t.Error("Neovim does not ask")
		}
		n.wantDisk("a.txt", "1\ntwo\n")
		n.want("&modified", int64(1))
		if !w.asks(func() error { return n.Command("write") }) { // and does so at once
			t.Error("Neovim does not ask again")
		}
		// What was not written is followed later, as ever.
		close(release)
		w.awaitText("1\ntwox")
		n.asksNothing("write")
		n.wantDisk("a.txt", "1\ntwox\n")
	})
}

// The user need not wait.
func TestTheUserStopsWaiting(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.lua("require('acp.files.catch_up').patience = 3600000; package.loaded['acp.rpc.host'].request = function() end")
		release := make(chan struct{})
		n.hook = func(string) { <-release }
		defer close(release)
		asked := make(chan bool)
		go func() { asked <- w.overtaken("a.txt", "1\ntwo\n", "write") }()
		for n.lua("return require('acp.files.catch_up').writing ~= nil") != true {
		}
		_, err := n.Input("<C-c>")
		must.Do(t, err)
		if !<-asked {
			t.Error("Neovim does not ask")
		}
	})
}

// A write that fails ends no conflict.
func TestConflictsStayWhereNothingWasWritten(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.keys("ggccmine<Esc>")
		n.put("a.txt", "theirs\ntwo\n")
		conflicts := `len(luaeval('require("acp.files.conflict").get(vim.api.nvim_get_current_buf())'))`
		w.await(conflicts + " == 1")
		n.cmd("set backup backupskip= backupdir=/dev/null/nowhere")
		n.cmd("silent! write") // after an error that is shown autocommands come as after success
		n.want(conflicts, int64(1))
		n.wantDisk("a.txt", "theirs\ntwo\n")
		n.cmd("set backup& backupdir=" + n.path(".backup//"))
		n.asksNothing("write")
		n.want(conflicts, int64(0))
		n.wantDisk("a.txt", "mine\ntwo\n")
	})
}

// A change that was followed is none that Neovim asks about, whoever writes the buffer: autocommands that do
// not nest, as those of many configurations, fire no BufWritePre.
func TestAnAutocommandWritesAfterAnother(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.cmd("autocmd User Save write")
		for _, data := range []string{"1\ntwo\n", "2\ntwo\n"} {
			n.put("a.txt", data)
			w.awaitText(strings.TrimSuffix(data, "\n"))
			w.settle()
			n.keys("GAx<Esc>")
			n.asksNothing("doautocmd User Save")
			n.wantDisk("a.txt", strings.TrimSuffix(data, "\n")+"x\n")
			n.put("a.txt", "one\ntwo\n")
			w.awaitText("one\ntwo")
		}
		// Nor one that the agent made through its client.
		n.keys("GAx<Esc>")
		n.write(path, "agent\ntwo\n")
		n.wantText("agent\ntwox")
		n.asksNothing("doautocmd User Save")
		n.wantDisk("a.txt", "agent\ntwox\n")
		// One that came while an autocommand waited.
		n.lua("vim.api.nvim_create_autocmd('User', { pattern = 'Wait', callback = function() vim.wait(15000, function() return vim.fn.getline(1) == 'late' end, 5) end })")
		n.put("a.txt", "late\ntwox\n")
		n.asksNothing("doautocmd User Wait")
		n.wantText("late\ntwox")
		n.wantDisk("a.txt", "late\ntwox\n")
		n.asksNothing("write")
	})
}
