package buffers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Edit asks for a file to be changed from what the user has there, by the user's own wish: the agent does
// not get to know it.
type Edit struct {
	Path string // absolute
	// Change gives the text that should be there from the one that the user has at Path, unsaved text
	// included; nil is no file. An error ends it with nothing done. It may be called several times, from
	// any goroutine, and must be pure.
	Change func(now *string) (*string, error)
	Mode   *fs.FileMode // permission bits that the file is to have afterwards; nil: as they are
}

// Edit changes the file e.Path, on the disk and in its buffer; done is as with Read. Unsaved text stays
// unsaved: the disk gets the same change, made to what it has, but for lines that the user has not saved.
// A file that is to be no more is removed; its buffer stays where it is shown or has unsaved text.
func (f *Files) Edit(ctx context.Context, e Edit, done func(Written, error)) {
	submit(f, "edit", &job{ctx: ctx, path: e.Path}, func(path string) (Written, error) {
		w := liveWrite{Files: f, path: path, own: true}
		w.goal = func(s found) (goal, error) { return w.users(s, e.Change) }
		return f.withMode(ctx, path, e.Mode, func() (Written, error) { return w.run(ctx, nil) })
	}, done)
}

// Restore gives the file at path exactly these bytes and permission bits: a file that was deleted, or one
// that is no text. Its buffer follows as it follows other programs, and the user's unsaved lines stay there.
// done is as with Read.
func (f *Files) Restore(ctx context.Context, path string, data []byte, mode fs.FileMode, done func(Written, error)) {
	submit(f, "restore", &job{ctx: ctx, path: path}, func(path string) (Written, error) {
		return f.withMode(ctx, path, &mode, func() (Written, error) { return f.restore(ctx, path, data) })
	}, done)
}

// users is the goal of an edit.
func (w *liveWrite) users(s found, change func(*string) (*string, error)) (goal, error) {
	next, err := change(s.mine)
	if err != nil || next == nil {
		return goal{}, err
	}
	g := goal{disk: next, buffer: next, synced: *next}
	if !s.modified {
		return g, nil
	}
	if g.disk = s.disk; s.disk == nil {
		return g, nil // a file that the user has not saved yet
	}
	disk := changed(*s.disk, *s.mine, *next)
	g.disk, g.synced = &disk, disk
	// What another program has made of the disk, and has not reached the buffer yet, is still to reach it.
	if synced, ok := w.synced.get(w.path); ok && synced != *s.disk {
		g.synced = changed(synced, *s.mine, *next)
	}
	return g, nil
}

// changed makes the changes from old to next to text, except where text has other lines than old. The last
// newline stays too, unless it is one of them.
func changed(text, old, next string) string {
	now, _ := merge3(old, text, next)
	ended := func(s string) bool { return strings.HasSuffix(s, "\n") }
	switch {
	case text == "" || now == "" || ended(old) != ended(next) || ended(now) == ended(text):
		return now
	case ended(text):
		return now + "\n"
	}
	return strings.TrimSuffix(now, "\n")
}

// remove removes the file of a buffer, and the buffer too where nothing shows it and all of it was saved.
func (w *liveWrite) remove(ctx context.Context, l live, disk file, before *string) (outcome, error) {
	if disk.exists() {
		if err := unix.Access(filepath.Dir(w.path), unix.W_OK); err != nil {
			return 0, cause(err)
		}
	}
	args := map[string]any{"buf": l.Buf, "changedtick": l.Changedtick, "path": w.path, "disk": diskArgs(disk)}
	var got struct {
		Moved  bool   `msgpack:"moved"`
		Locked bool   `msgpack:"locked"`
		Wiped  bool   `msgpack:"wiped"`
		Err    string `msgpack:"err"`
	}
	err := w.editor.CallBuffers(ctx, "remove", args, &got)
	switch {
	case err != nil:
		return 0, err
	case got.Moved:
		return moved, nil
	case got.Locked:
		return locked, nil
	case got.Err != "":
		return 0, errors.New(got.Err)
	}
	w.Written = Written{Path: w.path, Buf: l.Buf, Changed: disk.exists(), Deleted: true, Before: before}
	if got.Wiped {
		w.Buf = 0
	}
	w.removed.Store(w.path, true)
	return applied, nil
}

func (f *Files) restore(ctx context.Context, path string, data []byte) (Written, error) {
	l, err := f.live(ctx, path)
	if err == nil {
		err = l.obstacle()
	}
	if err != nil {
		return Written{}, err
	}
	old, err := readOld(path)
	if err != nil {
		return Written{}, err
	}
	w := Written{Path: path, Buf: l.Buf, Created: !old.exists(), Changed: !old.exists() || string(old.data) != string(data)}
	if before, err := f.read(ctx, path, Read{peek: true}); err == nil {
		w.Before = &before
	}
	if !w.Changed {
		w.After = w.Before
		return w, nil
	}
	if err := f.journal.write(path, data, old, old.standing()); err != nil {
		return Written{}, err
	}
	if l.Buf == 0 {
		text, _ := detect(data)
		f.synced.put(path, text)
		w.After = &text
		return w, nil
	}
	took, err := f.follow(ctx, path, how{empty: true, own: true})
	if note, ok := gone(path, err); ok {
		w.Note = note
		return w, nil
	}
	if err != nil {
		return Written{}, errors.Join(err, f.journal.restore(path, old))
	}
	w.Buf, w.After, w.Conflict = took.Buf, took.After, took.Conflict
	if l.Modified && !took.Changed {
		w.After = w.Before
	}
	if w.Conflict {
		w.Note = fmt.Sprintf("%s was restored on disk; your unsaved lines stay in its buffer.", filepath.Base(path))
	}
	return w, nil
}

// withMode gives a file its permission bits, if not nil, after edit has changed it. Where edit fails they
// stay.
func (f *Files) withMode(ctx context.Context, path string, mode *fs.FileMode, edit func() (Written, error)) (Written, error) {
	if mode == nil {
		return edit()
	}
	old, err := os.Stat(path)
	exists := err == nil && old.Mode().IsRegular()
	if exists {
		// What may not be done fails before anything is, and a file that is to be writable may be written.
		if err := os.Chmod(path, old.Mode()|*mode&0o200); err != nil {
			return Written{}, cause(err)
		}
	}
	w, err := edit()
	if err != nil {
		if exists {
			err = errors.Join(err, cause(os.Chmod(path, old.Mode())))
		}
		return Written{}, err
	}
	now, err := os.Stat(path)
	if err != nil {
		return w, nil // the file is no more
	}
	if err := os.Chmod(path, now.Mode()&^fs.ModePerm|mode.Perm()); err != nil {
		return Written{}, cause(err)
	}
	if w.Buf != 0 && !w.Deleted {
		var got struct {
			Noted bool `msgpack:"noted"`
		}
		f.editor.CallBuffers(ctx, "note", map[string]any{"buf": w.Buf}, &got) // its error is that Neovim is gone
	}
	return w, nil
}
