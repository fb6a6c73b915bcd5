package buffers

import (
	"context"
	"errors"
	"os"
	"time"
)

// This file writes a file that a buffer may show, until disk and buffer have what they should.

// liveWrite is a write to a file, in as many attempts as it takes.
type liveWrite struct {
	*Files
	path   string
	goalOf func(found) (goal, error) // may be called again for each attempt
	own    bool                      // on the user's behalf: the agent does not learn of it

	looked bool   // there was a first attempt
	expect string // the state that the buffer must be in, if Neovim was not asked
	// old is the disk before the write, once the write has replaced it, and left its state since then.
	old  *file
	left stamp
	// save is the buffer's changedtick at which it must be saved again, as by the user; 0 if not.
	save int
	// kept is the write's journal entry while Neovim is writing.
	kept *kept
	// edited says that the buffer's text was changed.
	edited bool
	// caught is the disk that the buffer was synced with, or could not be, before this write.
	caught *stamp

	Written
}

func (f *Files) write(ctx context.Context, path string, asked Write) (Written, error) {
	w := liveWrite{Files: f, path: path}
	w.goalOf = func(s found) (goal, error) {
		if asked.Base != nil {
			return f.decided(path, s.form.normal(asked.Text), *asked.Base, s), nil
		}
		return f.agents(path, asked.Text, s), nil
	}
	return w.run(ctx, asked.Waiting)
}

// run tries until all is done, or nothing. waiting is Write.Waiting.
func (w *liveWrite) run(ctx context.Context, waiting func()) (Written, error) {
	for try := 0; try < maxTries; {
		outcome, err := w.look(ctx)
		if err == nil && outcome == locked {
			err = wait(ctx, lockedPoll)
		}
		switch {
		case err != nil:
			return Written{}, errors.Join(err, w.takeBack())
		case outcome == moved:
			try++
		case outcome == applied:
			if w.save != 0 {
				w.saveAsUser(ctx, waiting)
			}
			return w.Written, nil
		}
	}
	return Written{}, errors.Join(ErrBusy, w.takeBack())
}

// look makes one attempt, wherever the file's text is.
func (w *liveWrite) look(ctx context.Context) (outcome, error) {
	if l, ok := w.expected(); ok {
		w.expect = l.State
		done, err := w.try(ctx, l)
		w.expect = ""
		if err == nil && done != moved || ctx.Err() != nil {
			return done, err
		}
	}
	l, err := w.liveWith(ctx, w.path, 0, -1, forAll)
	if err == nil {
		err = l.obstacle()
	}
	switch {
	case err != nil:
		return 0, err
	case l.Buf != 0:
		return w.try(ctx, l)
	}
	if err := w.takeBack(); err != nil {
		return 0, err
	}
	return applied, w.writeDisk(l)
}

// expected returns what Neovim last said about the buffer, so that an agent's first attempt need not ask: Neovim
// refuses it if the buffer has changed. For a buffer with unsaved text Neovim is asked, as then the disk is written
// first.
func (w *liveWrite) expected() (live, bool) {
	if w.own || w.looked {
		return live{}, false
	}
	w.looked = true
	l := w.shown.last(w.path)
	return l, l.State != "" && !l.Modified && l.obstacle() == nil
}

// writeDisk writes a file that no buffer shows.
func (w *liveWrite) writeDisk(l live) error {
	old, err := readOld(w.path)
	if err != nil {
		return err
	}
	s := findUnloaded(l, old)
	had := s.disk
	g, err := w.goalOf(s)
	if err != nil {
		return err
	}
	done := Written{
		Path: w.path, Changed: !sameText(had, g.disk), Before: had, After: g.disk,
		FormBefore: old.form(), FormAfter: old.form(), Since: changedAt(w.path), Was: IdentityOf(w.path),
	}
	switch {
	case done.Changed && g.disk == nil:
		done.Deleted, done.FormAfter = true, ""
		if err := removeReal(w.path); err != nil {
			return cause(err)
		}
		w.removed.Store(w.path, true)
	case done.Changed:
		done.Created = had == nil
		data, err := s.form.encode(*g.disk)
		if err != nil {
			return err
		}
		done.FormAfter = Form(data)
		write := w.journal.write
		if w.own {
			write = w.journal.undo
		}
		if err := write(w.path, data, old, old.standing()); err != nil {
			return err
		}
		if info, err := os.Stat(w.path); err == nil {
			g.at = stampOf(info)
		}
	}
	w.Written = done
	if g.disk != nil {
		w.settle(g, l.Written)
	}
	if len(g.conflicts) > 0 {
		w.tellConflicts(len(g.conflicts), "yours stay on disk", ":Acp conflicts diff shows the agent's where the file is open.")
		w.refused.put(w.path, g.theirs)
	}
	return nil
}

// sameText compares texts; nil is no file.
func sameText(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

type outcome int

const (
	onward outcome = iota // there is more to do
	applied
	moved  // something changed since it was looked at: look again
	locked // Neovim allows no text changes now
)

// settle remembers what was achieved; w.Written is filled in.
func (w *liveWrite) settle(g goal, written stamp) {
	if g.known != nil {
		w.seen.put(w.path, *g.known)
	}
	w.synced.put(w.path, inStep{text: g.synced, form: w.FormAfter, at: g.at, written: written, base: g.base})
	w.there(w.path)
}

// there notes that a file exists which may have been gone.
func (f *Files) there(path string) {
	f.removed.Delete(path)
	if w := f.watch.Load(); w != nil {
		w.set(path, func(f *watched) { f.gone = false })
	}
}

// hand has Neovim do its part of a write. If ctx ends first, Neovim continues, and late gets its answer; if Neovim is
// gone, the file shows the journal how far it came.
func hand[T any](ctx context.Context, w *liveWrite, fn string, args any, late func(T)) (got T, err error) {
	type result struct {
		got T
		err error
	}
	kept, results := w.kept, make(chan result, 1)
	go func() {
		var r result
		r.err = w.editor.CallBuffers(context.WithoutCancel(ctx), fn, args, &r.got)
		if r.err != nil {
			kept.abandon()
		}
		results <- r
	}()
	select {
	case r := <-results:
		return r.got, r.err
	case <-ctx.Done():
		go func() {
			if r := <-results; r.err == nil {
				late(r.got)
			}
		}()
		return got, ctx.Err()
	}
}

// replaceDisk writes the disk a text that the buffer will not have, in the buffer's encoding and format.
func (w *liveWrite) replaceDisk(l live, disk file, text string) (file, error) {
	form, err := l.form()
	if err != nil {
		return file{}, err
	}
	data, err := form.encode(text)
	if err != nil {
		return file{}, err
	}
	if err := w.journal.write(w.path, data, disk, disk.standing()); err != nil {
		return file{}, err
	}
	if w.old == nil {
		w.old = &disk
	}
	now, err := readFile(w.path)
	if err == nil {
		w.left = stampOf(now.info)
	}
	return now, err
}

// isLeft reports whether the disk is as the write left it.
func (w *liveWrite) isLeft(disk file) bool { return disk.exists() && stampOf(disk.info) == w.left }

// takeBack restores the disk after a write that failed, unless another program has changed it since.
func (w *liveWrite) takeBack() error {
	if w.old == nil {
		return nil
	}
	old := *w.old
	w.old = nil
	now, err := readFile(w.path)
	switch {
	case err != nil || !w.isLeft(now):
		return nil
	case !old.exists():
		return cause(removeReal(w.path))
	}
	return w.journal.write(w.path, old.data, now, old.standing())
}

// wait returns after d, or ctx's error if that ends before.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
