package buffers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// watching is a Neovim whose files are watched, as while a session is open.
type watching struct {
	*neovim
	watch *buffers.Watch

	limits chan error
	toldMu sync.Mutex
	told   []buffers.Written // guarded by toldMu
	saved  []string          // the files that the user has saved, as Lua says; guarded by toldMu

	catchUps int           // how often Lua has waited for a buffer; guarded by toldMu
	held     chan struct{} // what buffers show is told when it is closed, or at once; guarded by toldMu
	tracked  func()        // is called then; guarded by toldMu
}

// follow begins to watch: what Lua tells the host goes straight to the watch.
func (n *neovim) follow() *watching {
	n.t.Helper()
	w := n.watched(func(*watching) {})
	w.settle()
	if len(w.limits) > 0 {
		n.t.Fatalf("limited: %v", <-w.limits)
	}
	return w
}

// watched is follow, with something done between the beginning of the watch and Lua's first word.
func (n *neovim) watched(begun func(*watching)) *watching {
	n.t.Helper()
	w := &watching{neovim: n, limits: make(chan error, 1)}
	w.watch = n.files.Watch(func(c buffers.Written) {
		w.toldMu.Lock()
		defer w.toldMu.Unlock()
		w.told = append(w.told, c)
	}, func(err error) {
		select {
		case w.limits <- err:
		default:
			n.t.Errorf("limited again: %v", err)
		}
	})
	n.t.Cleanup(w.watch.Close)
	must.Do(n.t, n.RegisterHandler("acp", func(method string, args any) {
		m, _ := args.(map[string]any) // an empty table arrives as a list
		name, _ := m["name"].(string)
		switch {
		case method == "file_saved":
			w.toldMu.Lock()
			w.saved = append(w.saved, filepath.Base(name))
			w.toldMu.Unlock()
			disk, _ := m["disk"].(map[string]any)
			w.watch.Saved(name, diskState(disk))
		case method == "reread":
			disk, _ := m["disk"].(map[string]any)
			w.watch.Reread(name, diskState(disk))
		case method == "file_renamed": // the ledger's
		case method == "passed", method == "ahead": // for reads that need not ask
		case method == "compare":
			n.files.Compare(context.Background(), name, func(err error) {
				if err != nil {
					n.t.Errorf("compare: %v", err)
				}
			})
		case method == "catch_up":
			w.toldMu.Lock()
			w.catchUps++
			w.toldMu.Unlock()
			w.watch.CatchUp(name, func(again bool) {
				go n.ExecLua("answer(...)", nil, m["callback"], again) // its error is that Neovim is gone
			})
		case method == "check" && name != "":
			w.watch.CheckFile(name)
		case method == "check":
			w.watch.Check()
		default:
			w.track(m)
		}
	}))
	begun(w)
	n.lua(`
		local host, asked = { ended = require('acp.rpc.signal')() }, {}
		function host.notify(method, args)
			vim.rpcnotify(1, 'acp', method, args)
		end
		function host.request(method, args, callback)
			table.insert(asked, callback)
			args.callback = #asked
			host.notify(method, args)
		end
		function answer(id, result)
			asked[id](result)
		end
		package.loaded['acp.rpc.host'] = host
		require('acp.files.catch_up').patience = 15000
		require('acp.files.track').watch({ on = true, max_size = ... })`, buffers.MaxSync)
	return w
}

// holdTracked keeps from the watch which files buffers show until known is called.
func (w *watching) holdTracked() (known func()) {
	held, told := make(chan struct{}), make(chan struct{})
	w.toldMu.Lock()
	defer w.toldMu.Unlock()
	w.held, w.tracked = held, sync.OnceFunc(func() { close(told) })
	return func() {
		close(held)
		<-told
	}
}

func (w *watching) track(m map[string]any) {
	var files []buffers.Tracked
	list, _ := m["files"].([]any)
	for _, item := range list {
		f := item.(map[string]any)
		tracked := buffers.Tracked{Name: f["name"].(string), Large: f["large"] == true}
		if d, ok := f["disk"].(map[string]any); ok {
			tracked.Disk = new(diskState(d))
		}
		files = append(files, tracked)
	}
	w.toldMu.Lock()
	held, tracked := w.held, w.tracked
	w.toldMu.Unlock()
	if held == nil {
		w.watch.Track(files)
		return
	}
	<-held
	w.watch.Track(files)
	tracked()
}

func diskState(d map[string]any) buffers.DiskState {
	n := func(key string) int64 {
		switch v := d[key].(type) {
		case int64:
			return v
		case uint64:
			return int64(v)
		}
		return 0
	}
	return buffers.DiskState{Exists: d["exists"] == true, Sec: n("sec"), Nsec: n("nsec"), Size: n("size")}
}

// settle waits until what the watch knows of by now has been taken: a change of another tracked file,
// made after everything else, has reached its buffer.
func (w *watching) settle() {
	w.t.Helper()
	w.lua(`
		if not probe then
			probe = vim.fn.bufadd(...)
			vim.fn.bufload(probe)
		end`, w.put("probe", "0\n"))
	text := fmt.Sprint(time.Now().UnixNano())
	deadline := time.Now().Add(hung)
	for {
		w.put("probe", text+"\n")
		if w.lua("local t = ...; return vim.wait(1000, function() return vim.api.nvim_buf_get_lines(probe, 0, 1, false)[1] == t end, 5)", text) == true {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatal("a change of the disk never reaches its buffer")
		}
	}
}

// changes are what was told of files other than the probe, and forgets it.
func (w *watching) changes() []buffers.Written {
	w.toldMu.Lock()
	defer w.toldMu.Unlock()
	told := slices.DeleteFunc(w.told, func(c buffers.Written) bool { return filepath.Base(c.Path) == "probe" })
	w.told = nil
	return told
}

// await waits until an expression is true in Neovim.
func (w *watching) await(expr string) {
	w.t.Helper()
	if w.lua("local e = ...; return vim.wait(20000, function() return vim.api.nvim_eval(e) == 1 end, 5)", expr) != true {
		w.t.Fatalf("never: %s; the buffer has %.200q", expr, w.text())
	}
}

func (w *watching) awaitText(want string) {
	w.t.Helper()
	w.lua("wanted = ...", want)
	w.await("join(getline(1, '$'), \"\\n\") ==# luaeval('wanted')")
}

// wantOne checks that one change was told, and nothing else.
func (w *watching) wantOne(path string) {
	w.t.Helper()
	w.settle()
	if got := w.changes(); len(got) != 1 || got[0].Path != path || !got[0].Changed || got[0].Conflict || got[0].Note != "" {
		w.t.Errorf("told: %+v", got)
	}
}

func (w *watching) wantNone() {
	w.t.Helper()
	w.settle()
	check.Slice(w.t, w.changes(), nil, "told: %+v")
}

// quietly checks that nothing is asked, whatever the user does now.
func (w *watching) quietly() {
	w.t.Helper()
	w.cmd("let v:warningmsg = '' | let v:errmsg = ''")
	w.asksNothing("checktime")
	w.cmd("doautocmd FocusGained")
	w.want("v:warningmsg .. v:errmsg", "")
}

func TestDiskWriteReachesTheBuffer(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		var lines []string
		for i := range 100 {
			lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%7)))
		}
		path := n.edit("a.txt", join(lines))
		n.lua(`
			ns = vim.api.nvim_create_namespace('t')
			mark = vim.api.nvim_buf_set_extmark(0, ns, 59, 3, {})
			vim.cmd('split | normal! 70Gzt')
			other = vim.api.nvim_get_current_win()
			vim.cmd('60mark a | wincmd p | 50,55fold | normal! 60Gzz$')`)
		w := n.follow()
		text := append([]string{"first", "second"}, lines...)
		text[12] = "LINE"
		text = append(text[:20], text[23:]...)
		n.put("a.txt", join(text))
		w.awaitText(strings.Join(text, "\n"))
		w.wantOne(path)
		n.wantDisk("a.txt", join(text))
		n.want("&modified", int64(0))
		n.want("line('.')", int64(59))
		n.want("getline(\"'a\")", lines[59])
		n.want("foldclosed(50)", int64(49))
		n.want("luaeval('vim.api.nvim_buf_get_extmark_by_id(0, ns, mark, {})[1]')", int64(58))
		n.want("getline(line('w0', luaeval('other')))", lines[69])
		before := n.lua("local s = vim.uv.fs_stat(...); return s.mtime.nsec", path)
		w.quietly()
		if after := n.lua("local s = vim.uv.fs_stat(...); return s.mtime.nsec", path); after != before {
			t.Error("the disk was written")
		}
		n.cmd("undo")
		n.wantText(strings.Join(lines, "\n"))
		n.want("&modified", int64(1))
		w.quietly()
		n.cmd("redo")
		n.want("&modified", int64(0))
		n.cmd("undo")
		n.asksNothing("write")
		n.wantDisk("a.txt", join(lines))
		n.asksNothing("write")
		w.wantNone()
		n.want("exists('#BufWritePre#<buffer>')", int64(0))
	})
}

func TestDiskWriteAndThenTheUsersWrite(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		for i := range 3 { // with another size, and with the same
			n.put("a.txt", fmt.Sprintf("one\ntwo %d\n", i))
			w.awaitText(fmt.Sprintf("one\ntwo %d", i))
			w.wantOne(path)
			n.asksNothing("write")
			n.keys("ggA.<Esc>")
			n.asksNothing("write")
			n.wantDisk("a.txt", fmt.Sprintf("one.\ntwo %d\n", i))
			w.wantNone()
			n.wantText(fmt.Sprintf("one.\ntwo %d", i))
		}
	})
}

func TestDiskWriteWhileInserting(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		w := n.follow()
		n.input("jA")
		n.put("a.txt", "zero\none\ntwo\nthree\n")
		w.awaitText("zero\none\ntwo\nthree")
		n.want("&modified", int64(0))
		n.want("mode()", "i")
		n.input(" mine")
		n.put("a.txt", "zero\none\ntwo\nTHREE\n")
		w.awaitText("zero\none\ntwo mine\nTHREE")
		n.want("&modified", int64(1))
		n.want("mode()", "i")
		n.input(" more<Esc>")
		w.settle()
		if got := w.changes(); len(got) != 2 || got[0].Conflict || got[1].Conflict || got[0].Path != path {
			t.Errorf("told: %+v", got)
		}
		n.wantDisk("a.txt", "zero\none\ntwo\nTHREE\n")
		w.quietly()
		for _, want := range []string{
			"zero\none\ntwo mine\nTHREE", "zero\none\ntwo mine\nthree", "zero\none\ntwo\nthree", "one\ntwo\nthree",
		} {
			n.cmd("undo")
			n.wantText(want)
			n.want("&modified", int64(1))
		}
		n.cmd("redo | redo | redo | redo")
		n.asksNothing("write")
		n.wantDisk("a.txt", "zero\none\ntwo mine more\nTHREE\n")
		w.wantNone()
	})
}

// However a file is written, it is one change.
func TestWaysToWriteAFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "0\n")
		must.Do(t, os.Symlink("a.txt", n.path("link")))
		w := n.follow()
		for i, write := range []func(text string){
			func(text string) { // over it, as editors do
				n.put("tmp", text)
				must.Do(t, os.Rename(n.path("tmp"), path))
			},
			func(text string) { // in place, in pieces
				f, err := os.Create(path)
				must.Do(t, err)
				defer f.Close()
				for _, b := range []byte(text) {
					_, err := f.Write([]byte{b})
					must.Do(t, err)
				}
			},
			func(text string) { // away, and anew
				must.Do(t, os.Rename(path, n.path("backup")))
				n.put("a.txt", text)
			},
			func(text string) { n.put("link", text) },
			func(text string) { // the same once more
				n.put("a.txt", text)
				w.awaitText(strings.TrimSuffix(text, "\n"))
				n.put("a.txt", text)
			},
		} {
			text := fmt.Sprintf("0\nwrite %d\n", i)
			write(text)
			w.awaitText(strings.TrimSuffix(text, "\n"))
			w.wantOne(path)
			n.want("&modified", int64(0))
			w.quietly()
		}
		n.want("undotree().seq_last", int64(5))
		n.asksNothing("write")
	})
}

// A file that is empty or gone is waited for: most such are being written.
func TestFilesInTheMiddleOfBeingWritten(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		for i, begin := range []func() error{
			func() error { return os.Truncate(path, 0) },
			func() error { return os.Remove(path) },
		} {
			began := time.Now()
			must.Do(t, begin())
			w.settle() // longer than other files are waited for
			text := n.text()
			n.put("a.txt", fmt.Sprintf("write %d\n", i))
			inTime := time.Since(began) < 300*time.Millisecond // else it was waited for in vain, rightly
			if inTime && text == "" {
				t.Error("the buffer was emptied")
			}
			w.awaitText(fmt.Sprintf("write %d", i))
			w.settle()
			if got := w.changes(); inTime && (len(got) != 1 || got[0].Note != "") {
				t.Errorf("told: %+v", got)
			}
		}
	})
}

// A file that is written all the time is not waited for until that ends.
func TestFilesThatAreWrittenOnAndOn(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.log", "one\n")
		w := n.follow()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		must.Do(t, err)
		defer f.Close()
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			ticker := time.NewTicker(time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					if _, err := f.WriteString("line\n"); err != nil {
						t.Error(err)
					}
				case <-stop:
					return
				}
			}
		}()
		w.await("line('$') > 1")
		close(stop)
		<-stopped
		w.awaitText(strings.TrimSuffix(n.disk("a.log"), "\n"))
		w.quietly()
	})
}

// The agent has Neovim write and then writes the file itself, or the other way round.
func TestTheSameTextTwice(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		n.write(path, "two\n")
		n.put("a.txt", "two\n")
		w.wantNone()
		n.want("undotree().seq_last", int64(1))
		w.quietly()
		n.put("a.txt", "three\n")
		w.awaitText("three")
		if got := n.write(path, "three\n"); got.Changed {
			t.Errorf("%+v", got)
		}
		w.wantOne(path)
		n.want("undotree().seq_last", int64(2))
		// With unsaved text: what the write merged is not merged again.
		n.keys("Omine<Esc>")
		n.write(path, "three\nfour\n")
		n.put("a.txt", "three\nfour\n")
		w.wantNone()
		n.wantText("mine\nthree\nfour")
		n.want("undotree().seq_last", int64(4))
		n.cmd("setlocal fileformat=dos") // unsaved too
		n.put("a.txt", "three\nfour\n")
		w.wantNone()
		n.want("&fileformat", "dos")
		n.cmd("setlocal fileformat=unix")
		w.quietly()
		n.asksNothing("write")
	})
}

func TestDiskWriteUnderUnsavedText(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\nfour\n")
		w := n.follow()
		n.keys("ggccMINE<Esc>")
		n.put("a.txt", "one\ntwo\nTHEIRS\nfour\n")
		w.awaitText("MINE\ntwo\nTHEIRS\nfour")
		w.wantOne(path)
		n.want("&modified", int64(1))
		w.quietly()

		n.put("a.txt", "ONE\ntwo\nTHEIRS\nFOUR\n")
		w.awaitText("MINE\ntwo\nTHEIRS\nFOUR")
		w.settle()
		if got := w.changes(); len(got) != 1 || !got[0].Conflict || !strings.Contains(got[0].Note, "a.txt") {
			t.Errorf("told: %+v", got)
		}
		if got := n.files.Refused(path); len(got) != 1 || got[0] != "ONE\ntwo\nTHEIRS\nFOUR\n" {
			t.Errorf("refused: %q", got)
		}
		w.quietly()
		// The disk gets what the user has.
		n.put("a.txt", "MINE\ntwo\nTHEIRS\nFOUR\n")
		w.await("!&modified")
		n.keys("Gofive<Esc>")
		n.asksNothing("write")
		n.wantDisk("a.txt", "MINE\ntwo\nTHEIRS\nFOUR\nfive\n")
		w.wantNone()

		// An agent that was given unsaved text writes with that in it.
		n.keys("Gosix<Esc>")
		n.put("a.txt", strings.Replace(n.read(path), "five", "FIVE", 1))
		w.awaitText("MINE\ntwo\nTHEIRS\nFOUR\nFIVE\nsix")
		w.wantOne(path)
		n.keys("Goseven<CR>nine<Esc>")
		n.put("a.txt", strings.Replace(n.read(path), "nine", "NINE", 1))
		w.awaitText("MINE\ntwo\nTHEIRS\nFOUR\nFIVE\nsix\nseven\nNINE")
		w.wantOne(path)
		n.want("&modified", int64(0))
		n.asksNothing("write")

		// One that was given it, and yet knows what was on the disk alone, has not removed it.
		n.keys("Gcceight<Esc>")
		n.read(path)
		n.put("a.txt", "MINE\ntwo\nTHEIRS\nFOUR\nfive\nSIX\nseven\n")
		w.await(`len(nvim_buf_get_extmarks(0, nvim_create_namespace('acp_conflict'), 0, -1, {})) > 0`)
		n.wantText("MINE\ntwo\nTHEIRS\nFOUR\nfive\nSIX\nseven\neight")
		w.settle()
		if got := w.changes(); len(got) != 1 || !got[0].Conflict {
			t.Errorf("told: %+v", got)
		}
	})
}

// A text that the user has saved is none any more when the disk has another one, also where the buffer
// stays as it is: undo leads to unsaved text.
func TestUndoToWhatWasSaved(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.keys("ccMINE<Esc>")
		n.asksNothing("write")
		w.settle()
		n.keys("ccMORE<Esc>")
		n.put("a.txt", "THEIRS\ntwo\n")
		w.await("exists('*maparg') && maparg('c>', 'n') != ''")
		n.cmd("undo")
		n.wantText("MINE\ntwo")
		n.want("&modified", int64(1))
		n.put("a.txt", "\ntwo\n")
		w.settle()
		n.wantText("MINE\ntwo")
	})
}

// touch(1), rsync -t and the like change nothing but the time.
func TestTheTimeAloneUnderUnsavedText(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.keys("ggccMINE<Esc>")
		later := time.Now().Add(time.Hour)
		must.Do(t, os.Chtimes(path, later, later)) // of one of both Linux tells as of a write
		w.settle()
		n.asksNothing("write")
		n.wantDisk("a.txt", "MINE\ntwo\n")
		w.wantNone()
	})
}

// What Neovim has read before the session began is known to nobody: no text of either side is lost.
func TestChangesBeforeTheSession(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("b.txt", "one\ntwo\nthree\n")
		n.put("b.txt", "one\nPULLED\nthree\n")
		path := n.edit("a.txt", "one\ntwo\nthree\nfour\n")
		n.put("a.txt", "one\nPULLED\nthree\nfour\n")
		n.keys("Gomine<Esc>")
		w := n.follow()
		w.await("getbufline('b.txt', 1, '$') ==# ['one', 'PULLED', 'three']")
		w.await("len(luaeval('require(\"acp.files.conflict\").get(vim.api.nvim_get_current_buf())')) == 2")
		n.wantText("one\ntwo\nthree\nfour\nmine")
		w.settle()
		if got := n.files.Refused(path); len(got) != 1 || got[0] != "one\nPULLED\nthree\nfour\n" {
			t.Errorf("refused: %q", got)
		}
		w.quietly()
	})
}

func TestAFileThatBecomesAFolder(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		must.Do(t, os.Remove(path))
		must.Do(t, os.Mkdir(path, 0o755))
		deadline := time.Now().Add(hung)
		var got []buffers.Written
		for len(got) == 0 && time.Now().Before(deadline) {
			w.settle()
			got = w.changes()
		}
		if len(got) != 1 || !got[0].Deleted || got[0].Before == nil || *got[0].Before != "one\n" {
			t.Errorf("told: %+v", got)
		}
	})
}

func TestDeletedFiles(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		must.Do(t, os.Remove(path))
		deadline := time.Now().Add(hung)
		var got []buffers.Written
		for len(got) == 0 && time.Now().Before(deadline) {
			w.settle()
			got = w.changes()
		}
		if len(got) != 1 || got[0].Changed || !strings.Contains(got[0].Note, "a.txt was deleted") {
			t.Errorf("told: %+v", got)
		}
		n.wantText("one")
		w.quietly()
		must.Do(t, os.Mkdir(path, 0o755))
		w.watch.Check()
		w.wantNone()
		must.Do(t, os.Remove(path))
		n.put("a.txt", "two\n")
		w.awaitText("two")
		w.wantOne(path)
		must.Do(t, os.Remove(path))
		n.asksNothing("write")
		n.wantDisk("a.txt", "two\n")
		w.settle()
		n.wantText("two")
	})
}

func TestTheUsersOwnWritesAreNoChanges(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		for _, backupcopy := range []string{"yes", "no"} {
			n.cmd("set backupcopy=" + backupcopy)
			for range 3 {
				n.keys("ggAx<Esc>")
				n.asksNothing("write")
				n.keys("Ay<Esc>")
				w.wantNone()
				n.want("&modified", int64(1))
			}
			n.asksNothing("write")
			n.asksNothing("1write!") // a part
			w.wantNone()
			n.want("line('$')", int64(2))
			n.asksNothing("write!")
			n.asksNothing("edit!")
			w.wantNone()
			n.want("&modified", int64(0))
		}
	})
}

func TestFormatsOfTheDisk(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\r\ntwo\r\n")
		w := n.follow()
		for _, c := range []struct{ disk, text, format string }{
			{"one\r\n2\r\n", "one\n2", "dos"},
			{"one\n2\n", "one\n2", "unix"},
			{"one\r\n3\r\n", "one\n3", "dos"},
			{"caf\xe9\r\n", "café", "dos"},
		} {
			n.put("a.txt", c.disk)
			w.awaitText(c.text)
			w.await("!&modified && &fileformat ==# '" + c.format + "'")
			w.quietly()
			n.asksNothing("write")
			n.wantDisk("a.txt", c.disk)
		}
	})
}

// Many agents know no encoding but UTF-8.
func TestALatin1FileThatBecomesUTF8(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "caf\xe9\ntwo\n")
		w := n.follow()
		n.want("&fileencoding", "latin1")
		n.put("a.txt", "café\n2\n")
		w.awaitText("café\n2")
		w.await("!&modified && &fileencoding ==# 'utf-8'")
		w.quietly()
		n.keys("Gothree €<Esc>")
		n.asksNothing("write")
		n.wantDisk("a.txt", "café\n2\nthree €\n")

		// Nothing but the encoding.
		n.edit("c.txt", "caf\xe9\n")
		w.settle()
		n.put("c.txt", "café\n")
		w.await("!&modified && &fileencoding ==# 'utf-8'")
		w.quietly()

		// Under unsaved text the same.
		n.edit("b.txt", "caf\xe9\ntwo\n")
		w.settle()
		n.keys("Gomine<Esc>")
		n.put("b.txt", "café au lait\ntwo\n")
		w.awaitText("café au lait\ntwo\nmine")
		n.want("&modified .. &fileencoding", "1utf-8")
		n.asksNothing("write")
		n.wantDisk("b.txt", "café au lait\ntwo\nmine\n")
	})
}

// A file whose bytes say in which encoding they are is shown in that, whatever it was before.
func TestFilesThatGetAnotherEncoding(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		little, err := buffers.Encoded("café\ntwo\n", "utf-16le unix bom")
		must.Do(t, err)
		big, err := buffers.Encoded("café\ntwo\n", "utf-16 unix bom")
		must.Do(t, err)
		for name, c := range map[string]struct{ before, encoding, after, then, bomb string }{
			"little":  {string(little), "utf-16le", "café\n2\n", "utf-8", "0"},
			"big":     {string(big), "utf-16", "café\n2\n", "utf-8", "0"},
			"marked":  {string(little), "utf-16le", "\ufeffcafé\n2\n", "utf-8", "1"},
			"latin1":  {"caf\xe9\ntwo\n", "latin1", "\ufeffcafé\n2\n", "utf-8", "1"},
			"widened": {"caf\xe9\ntwo\n", "latin1", "\xff\xfec\x00a\x00f\x00\xe9\x00\n\x002\x00\n\x00", "utf-16le", "1"},
			"swapped": {string(big), "utf-16", "\xff\xfec\x00a\x00f\x00\xe9\x00\n\x002\x00\n\x00", "utf-16le", "1"},
		} {
			n.edit(name, c.before)
			w.settle()
			n.wantText("café\ntwo")
			n.want("&fileencoding", c.encoding)
			n.put(name, c.after)
			w.awaitText("café\n2")
			w.await("!&modified && &fileencoding ==# '" + c.then + "' && &bomb == " + c.bomb)
			w.quietly()
			n.keys("Go3<Esc>")
			n.asksNothing("write")
			three, err := buffers.Encoded("3\n", c.then)
			must.Do(t, err)
			n.wantDisk(name, c.after+string(three))
		}
	})
}

// A file whose name leads nowhere is not watched; the others are.
func TestTrackedNamesThatLeadNowhere(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		must.Do(t, os.Symlink("loop", n.path("loop")))
		path := n.edit("a.txt", "one\n")
		watch := n.files.Watch(func(buffers.Written) {}, func(error) {})
		watch.Track([]buffers.Tracked{{Name: n.path("loop")}, {Name: path}, {Name: n.path("loop/below")}})
		must.Receive(t, "what is tracked", watch.Tracks())
		settled := make(chan struct{})
		watch.Settle(func() { close(settled) })
		must.Receive(t, "the end", settled)
		check.Slice(t, watch.Loaded(), []string{path}, "watched are %q")
		watch.Close()
		// Afterwards nobody waits in vain.
		over := make(chan struct{}, 2)
		watch.Settle(func() { over <- struct{}{} })
		watch.Heard(func() { over <- struct{}{} })
		for range 2 {
			must.Receive(t, "an answer of a watch that is over", over)
		}
	})
}

// unheard is an inbox with messages that have not been taken in.
type unheard struct{ waits chan func() }

func (u unheard) Heard() bool           { return false }
func (u unheard) WhenHeard(done func()) { u.waits <- done }

// What Neovim has already sent is taken in first: it may tell of files that only then are tracked.
func TestWhatNeovimHasSentComesFirst(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		in := unheard{make(chan func(), 2)}
		n.files.Inbox = in
		path := n.edit("a.txt", "one\n")
		watch := n.files.Watch(func(buffers.Written) {}, func(error) {})
		defer watch.Close()
		watch.Track(nil)
		must.Receive(t, "that nothing is tracked", watch.Tracks())
		for name, ask := range map[string]func(func()){"settle": watch.Settle, "heard": watch.Heard} {
			over := make(chan []string, 1)
			ask(func() { over <- watch.Loaded() })
			heard := must.Receive(t, name, in.waits)
			watch.Track([]buffers.Tracked{{Name: path}})
			heard()
			check.Slice(t, must.Receive(t, name, over), []string{path}, name+": tracked are %q")
			watch.Track(nil)
		}
	})
}

// What the user writes right before another program removes the file is told as what was there.
func TestSavedAndRemovedAtOnce(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		for _, how := range []string{"os.remove(...)", "os.rename(..., ... .. '.moved')"} {
			n.lua(`
				vim.api.nvim_buf_set_lines(0, 1, -1, true, { 'mine' })
				vim.cmd('silent write')
				`+how, path)
			var told []buffers.Written
			for deadline := time.Now().Add(hung); len(told) == 0 && time.Now().Before(deadline); told = w.changes() {
				w.settle()
			}
			if len(told) != 1 || !told[0].Deleted || said(told[0].Before) != `"one\nmine\n"` {
				t.Fatalf("%s: told: %+v", how, told)
			}
			n.put("a.txt", "one\n")
			w.awaitText("one")
			w.settle()
			w.changes()
		}
		// What is not saved was not there.
		n.keys("Gounsaved<Esc>")
		must.Do(t, os.Remove(path))
		var told []buffers.Written
		for deadline := time.Now().Add(hung); len(told) == 0 && time.Now().Before(deadline); told = w.changes() {
			w.settle()
		}
		if len(told) != 1 || said(told[0].Before) != `"one\n"` {
			t.Errorf("told: %+v", told)
		}
	})
}

// What the user has written where a file was gone is what was there, also where others have changed it right then.
func TestSavedWhereItWasGoneAndChangedAtOnce(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		await := func() (told []buffers.Written) {
			for deadline := time.Now().Add(hung); len(told) == 0 && time.Now().Before(deadline); told = w.changes() {
				w.settle()
			}
			return told
		}
		must.Do(t, os.Remove(path))
		await()
		n.lua(`
			vim.api.nvim_buf_set_lines(0, 1, -1, true, { 'mine' })
			vim.cmd('silent write')
			local f = io.open(..., 'a')
			f:write('more\n')
			f:close()`, path)
		if told := await(); len(told) != 1 || told[0].Created || said(told[0].Before) != `"one\nmine\n"` {
			t.Errorf("told: %+v", told)
		}
	})
}

// What the user reads again in a buffer is told at once, not when an event comes or an empty file has been so for a
// while: they may type and save before that.
func TestFilesThatAreReadAgain(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		opened := make(chan buffers.Opened, 9)
		w := n.unwatched(func(w *watching) { w.watch.Opened = func(o buffers.Opened) { opened <- o } })
		<-opened
		before := `"one\n"`
		for _, text := range []string{"two\n", "", "three\n"} {
			n.put("a.txt", text)
			n.cmd("edit!")
			var told []buffers.Written
			for deadline := time.Now().Add(hung); len(told) == 0 && time.Now().Before(deadline); told = w.changes() {
				n.want("1", int64(1)) // it goes on
			}
			if len(told) != 1 || told[0].Path != path || said(told[0].Before) != before || said(told[0].After) != fmt.Sprintf("%q", text) {
				t.Fatalf("told: %+v", told)
			}
			before = fmt.Sprintf("%q", text)
		}
	})
}

// What the user has read again is told as they read it, though others empty or remove the file at once.
func TestReadAgainRightBeforeAChange(t *testing.T) {
	for what, then := range map[string]string{"emptied": "call writefile([], %q)", "removed": "call delete(%q)"} {
		t.Run(what, func(t *testing.T) {
			onNeovims(t, func(t *testing.T, n *neovim) {
				path := n.edit("a.txt", "one\n")
				opened := make(chan buffers.Opened, 9)
				n.unwatched(func(w *watching) { w.watch.Opened = func(o buffers.Opened) { opened <- o } })
				<-opened
				n.keys("Gomine<Esc>")
				n.cmd("edit! | " + fmt.Sprintf(then, path))
				select {
				case o := <-opened:
					check.Equal(t, said(o.Text), `"one\n"`, "read is %s")
				case <-time.After(hung):
					t.Error("what was read is not told")
				}
			})
		})
	}
}

// A file that is gone by the time the user reads it again, or opens it, has no text: not what it had before.
func TestGoneAsItIsRead(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		opened := make(chan buffers.Opened, 9)
		is := func(want string) {
			t.Helper()
			o := must.Receive(t, "what the buffer shows", opened)
			if said(o.Text) != want || !o.Loaded || o.Saved {
				t.Errorf("told: %+v with %s, want %s", o, said(o.Text), want)
			}
		}
		n.unwatched(func(w *watching) { w.watch.Opened = func(o buffers.Opened) { opened <- o } })
		path := n.edit("a.txt", "one\n")
		is(`"one\n"`)
		n.keys("Gomine<Esc>")
		must.Do(t, os.Remove(path))
		n.cmd("edit!")
		is(`""`)

		agents := n.path("b.txt")
		n.write(agents, "two\n")
		must.Do(t, os.Remove(agents))
		n.cmd("edit b.txt")
		is(`""`)
	})
}

// What others make of the disk while no agent works is none's doing: a write that an agent made of an older text leaves
// it, as it does with what the user has typed.
func TestChangesWhileNoAgentWorks(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		var began atomic.Pointer[time.Time] // an agent works since then
		w := n.watched(func(w *watching) {
			w.watch.Agents = func(at time.Time) bool { return !at.Before(*began.Load()) }
		})
		for name, agents := range map[string]bool{"users.txt": false, "agents.txt": true} {
			began.Store(&time.Time{})
			path := n.edit(name, "one\ntwo\n")
			w.settle()
			n.read(path)
			n.put(name, "one\ntwo\nmore\n")
			if !agents {
				now := time.Now() // and what was changed before is seen only then
				began.Store(&now)
			}
			w.awaitText("one\ntwo\nmore")
			w.settle()
			n.write(path, "ONE\ntwo\n")
			want := "ONE\ntwo\nmore\n"
			if agents {
				want = "ONE\ntwo\n"
			}
			n.wantDisk(name, want)
			n.wantText(strings.TrimSuffix(want, "\n"))
		}
	})
}

// opens has Neovim read a file that the agent has written, and another program since. Lua tells nothing of that before tell is
// called: files has it, with so many that it takes a moment to watch their folders.
func (w *watching) opens(path, written, now string) (files []buffers.Tracked, tell func()) {
	w.t.Helper()
	w.write(path, written)
	must.Do(w.t, os.WriteFile(path, []byte(now), 0o644))
	info, err := os.Stat(path)
	must.Do(w.t, err)
	disk := buffers.DiskState{Exists: true, Sec: info.ModTime().Unix(), Nsec: int64(info.ModTime().Nanosecond()), Size: info.Size()}
	files = []buffers.Tracked{{Name: path, Disk: &disk}}
	dir := w.t.TempDir()
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprint(i), "b")
		must.Do(w.t, os.Mkdir(filepath.Dir(name), 0o755))
		files = append(files, buffers.Tracked{Name: name})
	}
	tell = w.holdTracked()
	w.lua("vim.cmd.edit(...)", path)
	return files, tell
}

// What Neovim has read is not compared with what the agent had written before, however soon it is told after the buffer.
func TestReadAsSoonAsItIsTracked(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w, path := n.follow(), n.put("a.txt", "one\n")
		files, tell := w.opens(path, "two\n", "three\n")
		w.watch.Track(files)
		for !slices.Contains(w.watch.Loaded(), path) {
			runtime.Gosched()
		}
		w.watch.Reread(path, *files[0].Disk)
		tell()
		w.settle()
		if told := w.changes(); len(told) > 0 {
			t.Errorf("told: %+v", told)
		}
	})
}

// A file that is looked at as soon as a buffer shows it is what Neovim has read, not what the agent had written before.
func TestLookedAtAsSoonAsItIsTracked(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w, path := n.follow(), n.put("a.txt", "one\n")
		files, tell := w.opens(path, "two\n", "three\r\n")
		w.watch.Track(files)
		looked := make(chan buffers.Seen, 1)
		w.watch.Look(path, true, 1<<20, func(seen buffers.Seen, err error) { looked <- seen })
		seen := must.Receive(t, "the look", looked)
		tell()
		if seen.Text != "three\n" || seen.Form != buffers.Form([]byte("three\r\n")) || !seen.Loaded {
			t.Errorf("there is %+v", seen)
		}
		if told := w.changes(); len(told) > 0 {
			t.Errorf("told: %+v", told)
		}
	})
}

// What was done to a file that a buffer has just begun to show, and that the user has written since, once or more often, is
// told by the time that all is said to be settled.
func TestSettlingKnowsWhatIsNewlyShown(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		for i, writes := range []string{"silent write", "silent write | silent $put ='two' | silent write"} {
			known := w.holdTracked()
			n.lua("vim.cmd('silent edit ' .. ... .. ' | "+strings.ReplaceAll(writes, "'", "\\'")+"') os.remove(...)", n.put(fmt.Sprint(i), "one\n"))
			known()
			done := make(chan struct{})
			w.watch.Settle(func() { close(done) })
			<-done
			want := []string{`"one\n"`, `"one\ntwo\n"`}[i]
			if told := w.changes(); len(told) != 1 || !told[0].Deleted || said(told[0].Before) != want {
				t.Errorf("%s: told: %+v", writes, told)
			}
		}
	})
}

// What the user has written under a new name is told as that, though others change the file before anybody could read it.
func TestWrittenUnderANewNameAndChangedAtOnce(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		opened := make(chan buffers.Opened, 9)
		w := n.watched(func(w *watching) { w.watch.Opened = func(o buffers.Opened) { opened <- o } })
		known := w.holdTracked()
		n.edit("a.txt", "one\n")
		n.cmd("silent saveas b.txt")
		info, err := os.Stat(n.path("b.txt"))
		must.Do(t, err)
		n.put("b.txt", "one\ntwo\n")
		known()
		var o buffers.Opened
		for filepath.Base(o.Path) != "b.txt" { // its first name may have been heard before it was held back
			o = must.Receive(t, "what the buffer shows", opened)
		}
		if !o.Saved || said(o.Text) != `"one\n"` || !o.Wrote.Equal(info.ModTime()) {
			t.Errorf("told: %+v with %s", o, said(o.Text))
		}
		w.settle()
		wantTold(t, "the disk", w.onlyChange("the change"), `"one\n"`, `"one\ntwo\n"`)
	})
}

// A file that others remove before anybody could look at what Neovim has read is told as removed.
func TestReadAndRemovedAtOnce(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		known := w.holdTracked()
		path := n.edit("a.txt", "one\n")
		must.Do(t, os.Remove(path))
		known()
		settled := make(chan struct{})
		w.watch.Settle(func() { close(settled) })
		<-settled
		c := w.onlyChange("the removal")
		if !c.Deleted || said(c.Before) != `"one\n"` {
			t.Errorf("told: %+v with %s", c, said(c.Before))
		}
	})
}

func TestWatchingEnds(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		n.cmd("set autoread | split | edit " + n.put("b.txt", "b\n") + " | setlocal noautoread | wincmd p")
		w := n.follow()
		n.want("&l:autoread", int64(0))
		n.put("a.txt", "two\n")
		w.awaitText("two")
		w.settle()
		n.lua("require('acp.files.track').watch({ on = false })")
		w.watch.Close()
		n.want("&autoread", int64(1))
		n.want("getbufvar('b.txt', '&autoread')", int64(0))
		n.want("exists('#acp_track')", int64(0))
		n.asksNothing("checktime")
		n.want("undotree().seq_last", int64(1)) // it was not read again
		n.put("a.txt", "three\nthree\n")
		n.asksNothing("checktime")
		n.wantText("three\nthree")
		if got := w.changes(); len(got) != 1 || got[0].Path != path {
			t.Errorf("told: %+v", got)
		}
	})
}

func TestBuffersThatMayNotBeChanged(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		n.cmd("setlocal readonly nomodifiable")
		w := n.follow()
		n.put("a.txt", "two\n")
		w.awaitText("two")
		w.wantOne(path)
		n.want("&readonly && !&modifiable && !&modified", int64(1))
		w.quietly()
	})
}

func TestFilesThatAreTooLarge(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		large := strings.Repeat(strings.Repeat("x", 1023)+"\n", 16<<10) + "more\n"
		n.cmd("edit " + n.put("large", large) + " | buffer a.txt")
		w := n.follow()
		n.want("getbufvar('a.txt', '&autoread')", int64(0))
		n.want("luaeval('require(\"acp.files.track\").get(_A) == nil', bufnr('large'))", true)
		n.put("a.txt", large)
		deadline := time.Now().Add(hung)
		var got []buffers.Written
		for len(got) == 0 && time.Now().Before(deadline) {
			w.settle()
			got = w.changes()
		}
		if len(got) != 1 || got[0].Changed || !strings.Contains(got[0].Note, "too large") {
			t.Errorf("told: %+v", got)
		}
		n.wantText("one")
		n.put("a.txt", "two\n")
		w.awaitText("two")
		w.wantOne(path)
	})
}

// The user is told once that a large file has changed under its buffer, until they have read it again, and not of
// what they have written themselves.
func TestLargeFilesThatChange(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		large := strings.Repeat(strings.Repeat("x", 1023)+"\n", 16<<10) + "more\n"
		n.edit("a.txt", "one\n")
		path := n.put("large", large)
		n.cmd("edit " + path)
		w := n.follow()
		told := func(note string) {
			t.Helper()
			var got []buffers.Written
			for deadline := time.Now().Add(hung); len(got) == 0 && time.Now().Before(deadline); {
				w.settle()
				got = w.changes()
			}
			if len(got) != 1 || got[0].Path != path || got[0].Changed || !strings.Contains(got[0].Note, note) {
				t.Errorf("told: %+v", got)
			}
		}
		n.put("large", large+"even more\n")
		told("has changed on disk, and is too large to be followed")
		n.put("large", large+"and more\n")
		w.wantNone()
		n.want("getline('$')", "more")
		n.cmd("edit!")
		n.put("large", "all of it\n"+large)
		told("has changed on disk, and is too large to be followed")
		n.cmd("edit!")
		n.cmd("call setline(1, 'mine') | write")
		w.wantNone()
		n.write(path, large)
		w.wantNone()
		n.want("getline(1)", strings.Repeat("x", 1023))
		must.Do(t, os.Remove(path))
		told("was deleted")
		n.put("large", "small\n")
		n.cmd("edit!")
		w.settle()
		w.changes()
		n.put("large", "smaller\n")
		w.awaitText("smaller")
		w.wantOne(path)
		must.Do(t, os.Rename(n.put("larger", large), path)) // whole at once: a part of it may still be small enough
		told("has grown too large")
		n.cmd("edit!")
		w.settle()
		n.put("large", large+"even more\n")
		told("has changed on disk, and is too large to be followed")
	})
}

// Files that are opened later, under another name, or no more.
func TestTheFilesThatAreWatched(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		must.Do(t, os.Mkdir(n.path("sub"), 0o755))
		n.put("sub/b.txt", "one\n")
		must.Do(t, os.Symlink(n.path("sub/b.txt"), n.path("link")))
		w := n.follow()
		n.cmd("edit " + n.path("link"))
		w.settle()
		n.put("sub/b.txt", "two\n")
		w.awaitText("two")
		w.wantOne(n.path("sub/b.txt"))
		n.asksNothing("saveas! " + n.path("c.txt"))
		w.settle()
		n.put("c.txt", "three\n")
		w.awaitText("three")
		w.wantOne(n.path("c.txt"))
		n.cmd("bdelete")
		n.put("c.txt", "four\n")
		w.wantNone()
		n.cmd("edit " + n.path("c.txt"))
		n.wantText("four")
	})
}

// A language server's edits load buffers that nobody lists and no window shows.
func TestFilesOfBuffersThatAreNotListed(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		load := "hidden = vim.fn.bufadd(...); vim.fn.bufload(hidden)"
		shown := "join(getbufline(luaeval('hidden'), 1, '$'), \"\\n\")"
		n.lua(load, n.put("before.txt", "one\n"))
		w := n.follow()
		for _, name := range []string{"before.txt", "after.txt", "new.txt"} {
			if name == "after.txt" {
				n.put(name, "one\n")
			}
			n.lua(load, n.path(name))
			w.settle()
			n.put(name, "two\n")
			w.await(shown + " ==# 'two'")
			w.wantOne(n.path(name))
			n.want("buflisted(luaeval('hidden'))", int64(0))
		}
	})
}

// unwatched is watched where there can be no watch.
func (n *neovim) unwatched(begun ...func(*watching)) *watching {
	n.t.Helper()
	var limit syscall.Rlimit
	must.Do(n.t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	must.Do(n.t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: limit.Max}))
	return n.watched(func(w *watching) {
		defer func() { must.Do(n.t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
		for _, f := range begun {
			f(w)
		}
		select {
		case err := <-w.limits:
			if !errors.Is(err, syscall.EMFILE) {
				n.t.Errorf("limited: %v", err)
			}
		case <-time.After(hung):
			n.t.Error("no limit is told")
		}
	})
}

// Without a watch, here for want of file descriptors, changes are found when Neovim gets the focus and
// when the host asks for it.
func TestWithoutAWatch(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\n")
		w := n.unwatched()
		// What the disk has at first is read in the background.
		got := any(false)
		for i := 0; got != true && i < 20; i++ {
			text := fmt.Sprintf("text %d", i)
			n.put("a.txt", text+"\n")
			n.cmd("doautocmd FocusGained")
			got = n.lua("local t = ...; return vim.wait(1000, function() return vim.api.nvim_get_current_line() == t end, 5)", text)
		}
		if got != true {
			t.Error("the change is never found")
		}
		w.quietly()
	})
}
