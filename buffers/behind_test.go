package buffers_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func quoted(text string) string { return strconv.Quote(text) }

// wantTold checks what one change was told to be.
func wantTold(t *testing.T, what string, got buffers.Written, before, after string) {
	t.Helper()
	if said(got.Before) != before || said(got.After) != after {
		t.Errorf("%s: told is %s before, %s after", what, said(got.Before), said(got.After))
	}
}

// onlyChange is the one change that was told, without waiting for any.
func (w *watching) onlyChange(what string) buffers.Written {
	w.t.Helper()
	told := w.changes()
	if len(told) != 1 {
		w.t.Fatalf("%s: told: %+v", what, told)
	}
	return told[0]
}

// The agent knows what another program has written before the buffer has it: the buffer gets it all the same.
func TestWhatTheAgentKnowsBeforeTheBuffer(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		for name, knows := range map[string]func(path string){
			"read.txt":  func(path string) { n.read(path); n.keys("Omine<Esc>") },
			"asked.txt": func(path string) { n.files.Asked(path); n.keys("Omine<Esc>") },
		} {
			path := n.edit(name, "one\ntwo\nthree\n")
			w := n.follow()
			n.put(name, "one\ntwo\n3\n")
			knows(path)
			w.awaitText("mine\none\ntwo\n3")
		}
	})
}

// TestWritesFollowTheDiskFirst has the disk changed by another program right before somebody else changes the
// file: whether the watch has seen that or not, it is told before.
func TestWritesFollowTheDiskFirst(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\nthree\n")
		w := n.follow()
		text := "one\ntwo\nthree\n"
		for range 3 { // the second time Neovim is not asked first
			n.put("a.txt", "disk\n"+text)
			got := n.write(path, "agent\ndisk\n"+text)
			wantTold(t, "the disk", w.onlyChange("a write"), quoted(text), quoted("disk\n"+text))
			wantTold(t, "the write", got, quoted("disk\n"+text), quoted("agent\ndisk\n"+text))
			text = "agent\ndisk\n" + text
			w.wantNone()
			n.want("&modified", int64(0))
		}

		// Both at once.
		n.put("a.txt", "both\n")
		got := n.write(path, "both\n")
		wantTold(t, "the disk", w.onlyChange("the same text"), quoted(text), quoted("both\n"))
		if got.Changed {
			t.Errorf("the same text: %+v", got)
		}

		// Under unsaved text.
		n.keys("Omine<Esc>")
		n.put("a.txt", "both\ndisk\n")
		got = n.write(path, "both\ndisk\nagent\n")
		wantTold(t, "the disk", w.onlyChange("unsaved text"), quoted("mine\nboth\n"), quoted("mine\nboth\ndisk\n"))
		wantTold(t, "the write", got, quoted("mine\nboth\ndisk\n"), quoted("mine\nboth\ndisk\nagent\n"))
		n.wantDisk("a.txt", "both\ndisk\nagent\n")
		n.want("&modified", int64(1))
		// Once more at once: the disk is what the write has left there.
		n.mu.Lock()
		n.calls = nil
		n.mu.Unlock()
		n.write(path, "both\ndisk\nagent\nagain\n")
		n.mu.Lock()
		for _, call := range n.calls {
			if call == "sync" {
				t.Errorf("what the write has left on the disk is followed: %v", n.calls)
			}
		}
		n.mu.Unlock()
		w.wantNone()
		n.wantText("mine\nboth\ndisk\nagent\nagain")
		n.asksNothing("write")

		// The user's own edits.
		text = "mine\nboth\ndisk\nagent\nagain\n"
		n.put("a.txt", text+"disk\n")
		got = n.change(path, replacing("agent\n", ""))
		wantTold(t, "the disk", w.onlyChange("an edit"), quoted(text), quoted(text+"disk\n"))
		wantTold(t, "the edit", got, quoted(text+"disk\n"), `"mine\nboth\ndisk\nagain\ndisk\n"`)
		n.put("a.txt", "restored\ndisk\n")
		got = n.restore(path, "restored\n", 0o644)
		wantTold(t, "the disk", w.onlyChange("a restored file"), `"mine\nboth\ndisk\nagain\ndisk\n"`, `"restored\ndisk\n"`)
		wantTold(t, "restored", got, `"restored\ndisk\n"`, `"restored\n"`)

		// A last line that does not end.
		path = n.edit("b.txt", "one\ntwo")
		w.settle()
		n.put("b.txt", "one\nTWO")
		got = n.write(path, "ONE\nTWO")
		wantTold(t, "the disk", w.onlyChange("no last newline"), quoted("one\ntwo"), quoted("one\nTWO"))
		wantTold(t, "the write", got, quoted("one\nTWO"), quoted("ONE\nTWO"))
		n.put("b.txt", "ONE\n2")
		n.cmd("edit! | call writefile([], '" + path + "')") // at once, before what was read is told
		got = n.write(path, "1\n2")
		w.settle()
		wantTold(t, "read by the user", w.onlyChange("no last newline"), quoted("ONE\nTWO"), quoted(""))
		wantTold(t, "the write of the emptied file", got, quoted(""), quoted("1\n2"))
		n.cmd("edit a.txt")
		path = n.path("a.txt")

		// Line ends alone.
		n.put("a.txt", "restored\r\n")
		got = n.write(path, "restored\nagent\n")
		if told := w.onlyChange("line ends"); told.FormBefore != "utf-8 unix" || told.FormAfter != "utf-8 dos" || got.FormBefore != "utf-8 dos" || got.FormAfter != "utf-8 dos" {
			t.Errorf("told %+v, then %+v", told, got)
		}
		w.wantNone()
		n.wantDisk("a.txt", "restored\r\nagent\r\n")
	})
}

// TestWritesOfRemovedAndEmptiedFiles has another program remove or empty a file right before it is written.
func TestWritesOfRemovedAndEmptiedFiles(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		must.Do(t, os.Remove(path))
		got := n.write(path, "one\nagent\n")
		if told := w.onlyChange("removed"); !told.Deleted || said(told.Before) != `"one\ntwo\n"` {
			t.Errorf("told: %+v", told)
		}
		wantTold(t, "the write", got, "nothing", `"one\nagent\n"`)
		if !got.Created {
			t.Errorf("%+v", got)
		}
		w.wantNone()
		n.wantText("one\nagent")
		n.wantDisk("a.txt", "one\nagent\n")

		// Under unsaved text, twice, and then by the user.
		n.keys("Omine<Esc>")
		must.Do(t, os.Remove(path))
		n.write(path, "one\nagent\nmore\n")
		if told := w.onlyChange("removed under unsaved text"); !told.Deleted {
			t.Errorf("told: %+v", told)
		}
		n.wantText("mine\none\nagent\nmore")
		n.wantDisk("a.txt", "one\nagent\nmore\n")
		must.Do(t, os.Remove(path))
		n.change(path, replacing("agent\n", ""))
		if told := w.onlyChange("removed before an edit"); !told.Deleted {
			t.Errorf("told: %+v", told)
		}
		n.wantText("mine\none\nmore")
		w.wantNone()

		// Who empties a file and then writes it is in the middle of writing it, by whichever way.
		n.asksNothing("write")
		w.wantNone()
		path = n.edit("b.txt", "one\ntwo\nthree\n")
		n.cmd("2mark a")
		w.settle()
		undos := n.lua("return vim.fn.undotree().seq_last").(int64)
		must.Do(t, os.Truncate(path, 0))
		got = n.write(path, "one\ntwo\nagent\n")
		wantTold(t, "the write", got, `"one\ntwo\nthree\n"`, `"one\ntwo\nagent\n"`)
		n.want("getline(\"'a\")", "two")
		n.want("undotree().seq_last", undos+1)
		w.wantNone()
		n.keys("Omine<Esc>")
		must.Do(t, os.Truncate(path, 0))
		got = n.write(path, "one\n2\nagent\n")
		wantTold(t, "the write", got, `"mine\none\ntwo\nagent\n"`, `"mine\none\n2\nagent\n"`)
		if got.Conflict {
			t.Errorf("%+v", got)
		}
		n.wantDisk("b.txt", "one\n2\nagent\n")
		w.wantNone()

		// The other way round.
		n.asksNothing("write")
		text := "mine\none\n2\nagent\n"
		got = n.write(path, text+"agent\n")
		must.Do(t, os.Truncate(path, 0))
		finished := make(chan struct{})
		w.watch.Finish(path, func() { close(finished) })
		<-finished
		wantTold(t, "emptied", w.onlyChange("a write and then nothing"), quoted(text+"agent\n"), `""`)
		w.wantNone()
		n.wantText("")
	})
}

// TestTheUserReadsWhatAnotherHasWritten has the user reload a file before its change has reached the buffer:
// that is no change by the user.
func TestTheUserReadsWhatAnotherHasWritten(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		one := func(what, before, after string) {
			t.Helper()
			w.settle()
			wantTold(t, what, w.onlyChange(what), before, after)
		}
		n.put("a.txt", "one\ntwo\n")
		n.cmd("edit!")
		one("reloaded", `"one\n"`, `"one\ntwo\n"`)
		n.put("a.txt", "one\ntwo\nthree\n")
		n.cmd("edit!")
		n.keys("Omine<Esc>")
		one("reloaded and typed into", `"one\ntwo\n"`, `"one\ntwo\nthree\n"`)
		n.cmd("write | edit")
		w.wantNone()
		n.put("a.txt", "disk\n")
		n.cmd("edit!")
		got := n.write(path, "disk\nagent\n")
		one("reloaded, then written by the agent", `"mine\none\ntwo\nthree\n"`, `"disk\n"`)
		wantTold(t, "the write", got, `"disk\n"`, `"disk\nagent\n"`)
	})
}

// What the disk gets while Neovim reads a file is merged with what the user types before the buffer has it.
func TestChangedAsItIsOpened(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\nthree\nfour\n")
		n.put("a.txt", "one\nthree\nfour\n")
		typed := make(chan struct{})
		types := sync.OnceFunc(func() {
			n.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, {'mine'})")
			close(typed)
		})
		n.hook = func(fn string) {
			if fn == "sync" {
				types()
			}
		}
		w := n.follow()
		select {
		case <-typed:
		case <-time.After(hung):
			t.Fatal("the disk is not followed")
		}
		w.settle()
		n.wantText("one\nthree\nfour\nmine")
		told := w.onlyChange("opened, changed and typed into")
		wantTold(t, "the disk", told, `"one\ntwo\nthree\nfour\nmine\n"`, `"one\nthree\nfour\nmine\n"`)
		if told.Conflict || told.Behind == nil || *told.Behind != "one\ntwo\nthree\nfour\n" {
			t.Errorf("it is told as %+v", told)
		}
	})
}

// TestWritesThatWaitToFollow has no text change when a write finds that the disk has changed.
func TestWritesThatWaitToFollow(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		n.cmd("inoremap <expr> X nr2char(getchar())")
		_, err := n.Input("iX")
		must.Do(t, err)
		tried := make(chan struct{}, 100)
		n.hook = func(fn string) {
			if fn == "sync" {
				select {
				case tried <- struct{}{}:
				default:
				}
			}
		}
		write := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			n.files.Write(ctx, buffers.Write{Path: path, Text: "one\ndisk\nagent\n"}, func(_ buffers.Written, err error) { done <- err })
			select {
			case <-tried:
			case <-time.After(hung):
				t.Fatal("the disk is not followed")
			}
			return done
		}
		n.put("a.txt", "one\ndisk\n")
		ctx, cancel := context.WithCancel(context.Background())
		done := write(ctx)
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		case <-time.After(hung):
			t.Fatal("who asks for a write no more waits for its end")
		}
		done = write(context.Background())
		_, err = n.Input("y<Esc>")
		must.Do(t, err)
		must.Do(t, <-done)
		told := w.onlyChange("locked")
		wantTold(t, "the disk", told, quoted(strings.TrimSuffix(*told.After, "disk\n")), quoted(*told.After))
		n.wantDisk("a.txt", "one\ndisk\nagent\n")
		w.wantNone()
	})
}

// The agent changes the disk past its client under unsaved text that it has read, then writes what it has made of that:
// the lines that it leaves in are the user's, and stand once.
func TestWritesOfUnsavedTextOverTheDisk(t *testing.T) {
	for name, c := range map[string]struct{ read, write, want string }{
		"made of what was read":   {"before", "mine\nagent\n", "mine\nagent"},
		"and of what came after":  {"before", "too\ndisk\nthree\n", "too\ndisk\nthree"},
		"read then":               {"after", "mine\nagent\n", "mine\nagent"},
		"made of the disk's text": {"before", "disk\n3\n", "mine\ntoo\ndisk\n3"},
	} {
		t.Run(name, func(t *testing.T) {
			onNeovims(t, func(t *testing.T, n *neovim) {
				path := n.edit("a.txt", "one\nthree\n")
				w := n.follow()
				n.keys("Omine<CR>too<Esc>")
				if c.read == "before" {
					n.read(path)
				}
				n.put("a.txt", "disk\nthree\n")
				if c.read == "after" {
					n.read(path)
				}
				w.settle()
				n.write(path, c.write)
				n.wantText(c.want)
			})
		})
	}
}

// What does not fit into the encoding of a buffer with unsaved text is told with what the disk has.
func TestDiskThatCannotBeMerged(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		n.keys("Omine<Esc>")
		n.put("a.txt", "tw\xf3\n")
		told := make(chan struct{})
		w.watch.Finish(path, func() { close(told) }) // it may have been seen while it was empty, and be waited for
		<-told
		got := w.onlyChange("another encoding")
		check.Equal(t, said(got.Behind)+said(got.Disk)+got.FormAfter, quoted("one\n")+quoted("twó\n")+"latin1 unix", "told is %q")
		check.Equal(t, got.Conflict, true, "that it conflicts is %v")
		n.wantText("mine\none")
	})
}
