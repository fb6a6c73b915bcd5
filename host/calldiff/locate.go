package calldiff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editor"
)

var errTooLarge = errors.New("it is too large to be searched")

// locate searches the file whose changes have waited longest, unless a search is running.
func (d *Diffs) locate() {
	d.waiting = slices.DeleteFunc(d.waiting, func(c *CallDiff) bool { return c.dropped })
	if d.working || len(d.waiting) == 0 {
		return
	}
	d.working, d.began = true, time.Now()
	time.AfterFunc(MaxDelay, func() { d.base.Box.Put(d.config.Mark) })
	first := d.waiting[0].told
	var changes []*CallDiff
	d.waiting = slices.DeleteFunc(d.waiting, func(c *CallDiff) bool {
		same := c.told.Path == first.Path && c.told.OldPath == first.OldPath
		if same {
			changes = append(changes, c)
		}
		return same
	})
	told := make([]session.Diff, len(changes))
	now := make([]diff.Now, len(changes))
	for i, c := range changes {
		told[i] = c.told
		now[i].Done = c.call.Status == session.StatusCompleted
		for _, l := range c.call.Locations {
			if l.Path == c.told.Path && l.Line > 0 {
				now[i].Line = l.Line
				break
			}
		}
	}
	d.base.Background(func() {
		files := d.search(told, now)
		d.base.Box.Put(func() { d.found(changes, files) })
	})
}

// found handles the results of a search, and begins the next one.
func (d *Diffs) found(changes []*CallDiff, files []*diff.FileDiff) {
	for i, c := range changes {
		if c.dropped {
			continue
		}
		c.File, c.Settled = better(files[i], c.instead), true
		c.instead = nil
		c.Looked++
		d.keep(c)
		d.config.Found(c.call)
	}
	d.config.Mark()
	d.working = false
	d.callWaiters()
	if d.locate(); !d.working {
		d.config.Idle()
	}
}

// better returns a change as it was located or, if the file does not have exactly its text, as it was located earlier,
// when it differed only in white space. Once a change is made, Claude sends what it shows on its own screen, where tabs
// are two spaces.
func better(found *diff.FileDiff, instead []*diff.FileDiff) *diff.FileDiff {
	for _, f := range instead {
		if found.Note != "" && f.Located && f.Note == "" && f.Alike(found) {
			return f
		}
	}
	return found
}

// search locates changes of one file in its text. It reads the disk and asks Neovim, so it must not run on the
// session's goroutine.
func (d *Diffs) search(told []session.Diff, now []diff.Now) []*diff.FileDiff {
	path := told[0].Path
	text, err := d.peek(path)
	if old := told[0].OldPath; old != "" {
		if before, oldErr := d.peek(old); oldErr == nil {
			path, text, err = old, before, nil
		}
	}
	unsaved := sync.OnceValue(func() *buffers.Unsaved { return d.unsaved(path) })
	files := make([]*diff.FileDiff, len(told))
	for i, t := range told {
		var f diff.FileDiff
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f = diff.Told(t)
			if f.Note == "" {
				f.Note = fmt.Sprintf("the file cannot be read: %v", buffers.Cause(err))
			}
		} else {
			if err == nil {
				now[i].Text = &text
			}
			f = diff.Of(t, now[i])
			if i > 0 && !f.Located && files[i-1].Located { // edits may build on each other
				now[i].Text = &files[i-1].New
				if after := diff.Of(t, now[i]); after.Located {
					f = after
				}
			}
			if err == nil && !f.Located {
				if u := unsaved(); u != nil && u.Disk != nil {
					now[i].Text, now[i].Disk = &u.Text, u.Disk
					f = diff.Of(t, now[i])
				}
			}
		}
		files[i] = &f
	}
	return files
}

// peek returns the text of a file as the user sees it.
func (d *Diffs) peek(path string) (string, error) {
	path, ok := d.base.Absolute(path)
	if !ok {
		return "", buffers.ErrNotAbsolute
	}
	if info, err := os.Stat(path); err == nil && info.Size() > diff.LargestFile {
		return "", errTooLarge
	}
	return unlessGone(d.base.Editor, func(done func(string, error)) { d.base.Files.Peek(context.Background(), path, done) })
}

// unsaved returns what a file's buffer and the disk have if the two differ, otherwise nil.
func (d *Diffs) unsaved(path string) *buffers.Unsaved {
	path, _ = d.base.Absolute(path)
	unsaved, err := unlessGone(d.base.Editor, func(done func(*buffers.Unsaved, error)) { d.base.Files.Unsaved(context.Background(), path, done) })
	if err != nil {
		return nil // as if nothing were unsaved: the change is shown as it was sent
	}
	return unsaved
}

// unlessGone waits for Neovim's answer to ask, unless Neovim ends.
func unlessGone[T any](nvim *editor.Editor, ask func(done func(T, error))) (answer T, err error) {
	type result struct {
		answer T
		err    error
	}
	got := make(chan result, 1)
	ask(func(answer T, err error) { got <- result{answer, err} })
	select {
	case r := <-got:
		return r.answer, r.err
	case <-nvim.Gone():
		return answer, editor.ErrGone
	}
}
