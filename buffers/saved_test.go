package buffers_test

import (
	"context"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// foretold writes a text, and checks that it was foretold right.
func (n *neovim) foretold(path, text string) buffers.Written {
	n.t.Helper()
	p, err := n.preview(path, text)
	must.Do(n.t, err)
	got := n.write(path, text)
	if said(&p.Before) != said(got.Before) || said(&p.After) != said(got.After) || (p.Conflicts > 0) != got.Conflict {
		n.t.Errorf("foretold is %+v, written %s of %s, %+v", p, said(got.After), said(got.Before), got)
	}
	return got
}

// TestWhatTheUserHasSavedIsMerged has the user save, in many ways, what the agent's text was not made from.
func TestWhatTheUserHasSavedIsMerged(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.cmd("set hidden")
		w := n.follow()
		const text = "one\ntwo\nthree\nfour\n"
		open := func(name string) string {
			t.Helper()
			path := n.edit(name, text)
			w.settle()
			n.read(path)
			return path
		}
		both := func(what, name, buffer, disk string) {
			t.Helper()
			n.wantText(buffer)
			n.wantDisk(name, disk)
			w.wantNone()
		}

		// Saved, and the buffer stays; then the agent goes on from what it believes to be there.
		path := open("a.txt")
		n.keys("jomine<Esc>")
		n.asksNothing("write")
		got := n.foretold(path, "ONE\ntwo\nthree\nfour\n")
		wantTold(t, "the write", got, `"one\ntwo\nmine\nthree\nfour\n"`, `"ONE\ntwo\nmine\nthree\nfour\n"`)
		both("saved", "a.txt", "ONE\ntwo\nmine\nthree\nfour", "ONE\ntwo\nmine\nthree\nfour\n")
		n.want("&modified", int64(0))
		n.foretold(path, "ONE\ntwo\nthree\nFOUR\n")
		both("saved before", "a.txt", "ONE\ntwo\nmine\nthree\nFOUR", "ONE\ntwo\nmine\nthree\nFOUR\n")
		// Some of it saved, some not.
		n.keys("Gounsaved<Esc>")
		n.foretold(path, "1\ntwo\nthree\nFOUR\n")
		both("saved, and unsaved", "a.txt", "1\ntwo\nmine\nthree\nFOUR\nunsaved", "1\ntwo\nmine\nthree\nFOUR\n")
		n.want("&modified", int64(1))
		n.asksNothing("write")
		// Once it has read the file it means what it writes.
		n.read(path)
		n.foretold(path, "1\ntwo\nthree\nFOUR\nunsaved\n")
		both("read", "a.txt", "1\ntwo\nthree\nFOUR\nunsaved", "1\ntwo\nthree\nFOUR\nunsaved\n")

		// Unsaved text that the agent was given, and the user has saved since.
		path = open("b.txt")
		n.keys("jomine<Esc>")
		n.read(path)
		n.asksNothing("write")
		n.foretold(path, "one\ntwo\nmine\nits\nthree\nfour\n")
		both("given, then saved", "b.txt", "one\ntwo\nmine\nits\nthree\nfour", "one\ntwo\nmine\nits\nthree\nfour\n")

		// What the agent has done to the disk by itself is its own.
		path = open("c.txt")
		n.keys("jomine<Esc>")
		n.asksNothing("write")
		n.put("c.txt", "one\ntwo\nmine\nthree\nby a command\n")
		n.foretold(path, "one\ntwo\nthree\nfour\nagain\n")
		n.wantText("one\ntwo\nmine\nthree\nfour\nagain")
		n.wantDisk("c.txt", "one\ntwo\nmine\nthree\nfour\nagain\n")
		wantTold(t, "the command", w.onlyChange("a command"), `"one\ntwo\nmine\nthree\nfour\n"`, `"one\ntwo\nmine\nthree\nby a command\n"`)
		path = open("d.txt")
		n.put("d.txt", "one\n2\nthree\nfour\n")
		n.foretold(path, text)
		n.wantText("one\ntwo\nthree\nfour")
		w.changes()

		// Saved and closed, saved from another buffer, saved in part; a command's change on top.
		path = open("e.txt")
		n.keys("jomine<Esc>")
		n.cmd("write | bdelete")
		n.foretold(path, "ONE\ntwo\nthree\nfour\n")
		n.wantDisk("e.txt", "ONE\ntwo\nmine\nthree\nfour\n")
		n.put("e.txt", "ONE\ntwo\nmine\nthree\nby a command\n")
		n.foretold(path, "ONE\nTWO\nthree\nfour\n")
		n.wantDisk("e.txt", "ONE\nTWO\nmine\nthree\nfour\n")
		path = n.put("f.txt", text)
		n.read(path)
		n.edit("other.txt", "mine\n"+text)
		n.cmd("write! " + path)
		n.foretold(path, "one\ntwo\nthree\nFOUR\n")
		n.wantDisk("f.txt", "mine\none\ntwo\nthree\nFOUR\n")
		n.read(path)
		n.cmd("1,2write! " + path)
		n.foretold(path, "its\nmine\none\ntwo\nthree\nFOUR\n")
		n.wantDisk("f.txt", "its\nmine\none\n")

		// A file that was emptied in between is in the middle of being written.
		path = open("g.txt")
		n.keys("jomine<Esc>")
		n.asksNothing("write")
		w.settle()
		n.put("g.txt", "")
		n.foretold(path, "ONE\ntwo\nthree\nfour\n")
		both("emptied", "g.txt", "ONE\ntwo\nmine\nthree\nfour", "ONE\ntwo\nmine\nthree\nfour\n")

		// An agent that writes, and reads without its client, may know what the user has saved.
		path = n.edit("h.txt", text)
		w.settle()
		n.write(path, "ONE\ntwo\nthree\nfour\n")
		n.keys("jomine<Esc>")
		n.asksNothing("write")
		n.foretold(path, "ONE\ntwo\nyours\nthree\nfour\n")
		both("read by itself", "h.txt", "ONE\ntwo\nyours\nthree\nfour", "ONE\ntwo\nyours\nthree\nfour\n")
	})
}

// TestSavedLinesConflict has the user save lines that the agent changes too.
func TestSavedLinesConflict(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		path := n.edit("a.txt", "one\ntwo\nthree\nfour\n")
		w.settle()
		n.read(path)
		n.keys("jccmine<Esc>")
		n.asksNothing("write")
		wantConflict(t, n.foretold(path, "one\nits\nthree\nFOUR\n"), "", "yours stay, the agent's are shown below them. ")
		n.wantText("one\nmine\nthree\nFOUR")
		n.wantDisk("a.txt", "one\nmine\nthree\nFOUR\n")
		n.want("&modified", int64(0))
		n.want("luaeval('#require(\"acp.files.conflict\").get(vim.fn.bufnr())')", int64(1))
		if texts := n.files.Refused(path); len(texts) != 1 || texts[0] != "one\nits\nthree\nFOUR\n" {
			t.Errorf("refused: %q", texts)
		}
		w.wantNone()
		n.lua("vim.api.nvim_win_set_cursor(0, {2, 0}); require('acp.files.conflict').actions.conflict_theirs.run(1)")
		n.wantText("one\nits\nthree\nFOUR")
		n.asksNothing("write")
		n.wantDisk("a.txt", "one\nits\nthree\nFOUR\n")

		// Where no buffer shows the file.
		n.read(path)
		n.keys("ggccmy one<Esc>")
		n.cmd("write | bdelete")
		wantConflict(t, n.foretold(path, "its one\nits\nthree\nfour\n"), "", "yours stay on disk. :Acp conflicts diff shows the agent's")
		if texts := n.files.Refused(path); len(texts) == 0 || texts[len(texts)-1] != "its one\nits\nthree\nfour\n" {
			t.Errorf("refused: %q", texts)
		}
		n.wantDisk("a.txt", "my one\nits\nthree\nfour\n")
	})
}

// TestSavedWhileAWriteWaits has the user save while the write of an agent that never asks for a file's text waits
// for an answer.
func TestSavedWhileAWriteWaits(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		path := n.edit("a.txt", "one\ntwo\n")
		w.settle()
		n.keys("Osaved<Esc>")
		n.asksNothing("write")
		wait := func(text string, meanwhile func()) {
			t.Helper()
			n.files.Asked(path)
			meanwhile()
			done := make(chan error, 1)
			write := buffers.Write{Path: path, Real: path, Text: text}
			n.files.Write(context.Background(), write, func(_ buffers.Written, err error) { done <- err })
			must.Do(t, <-done)
		}
		// It may have read what was saved before.
		wait("one\ntwo\nits\n", func() {
			n.keys("ggOmine<Esc>")
			n.asksNothing("write")
			if p, err := n.preview(path, "one\ntwo\nits\n"); err != nil || p.After != "mine\none\ntwo\nits\n" {
				t.Errorf("foretold is %+v, %v", p, err)
			}
		})
		n.wantText("mine\none\ntwo\nits")
		n.wantDisk("a.txt", "mine\none\ntwo\nits\n")
		wait("one\n", func() {})
		n.wantDisk("a.txt", "one\n")
		// A file that no buffer shows until then.
		path = n.put("b.txt", "one\n")
		wait("one\nits\n", func() {
			n.cmd("edit " + path)
			n.keys("Omine<Esc>")
			n.asksNothing("write")
		})
		n.wantDisk("b.txt", "mine\none\nits\n")
	})
}

// TestTheHostsOwnSavesAreNotTheUsers compares what Lua tells of the user's saving with who has saved.
func TestTheHostsOwnSavesAreNotTheUsers(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		want := func(what string, names ...string) {
			t.Helper()
			w.settle() // which comes behind it
			w.toldMu.Lock()
			defer w.toldMu.Unlock()
			check.Slice(t, w.saved, names, "%s: the user has saved %q", what)
			w.saved = nil
			check.Equal(t, n.lua("return require('acp.files.track').written(...) ~= nil", path), (len(names) > 0),
				"%s: written by the user: %v", what)
		}
		n.write(path, "one\ntwo\n")
		want("a write")
		n.change(path, replacing("two", "TWO"))
		want("an edit")
		n.asUser()
		n.cmd("autocmd BufWritePre a.txt keeppatterns %s/T/t/e")
		n.write(path, "one\nTWO\nthree\n")
		n.wantDisk("a.txt", "one\ntWO\nthree\n")
		want("a write that is saved as the user does")
		n.asksNothing("write")
		want("the user", "a.txt")
		if w.catchUps > 0 {
			t.Errorf("%d times Neovim has waited for the host, which waits for it", w.catchUps)
		}
	})
}

// A file that is gone as soon as it is written does not disturb whoever closes its buffer right then.
func TestClosedWhereTheFileIsGoneAtOnce(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.cmd("autocmd BufWritePost gone.txt call delete(expand('<afile>'))")
		n.edit("gone.txt", "one\n")
		w := n.follow()
		n.cmd("silent write | bwipeout")
		w.settle()
		n.want("bufexists('gone.txt')", int64(0))
		n.want("v:errmsg", "")
	})
}
