package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"golang.org/x/sys/unix"
)

// This file gives a file the text that a decision or an undo wants.

// target is what a file should become at the user's wish.
type target struct {
	path      string
	now, want review.Content
	back      string // where it is to be moved, or ""
	merge     func(now string) string
	under     func(disk, mine string) *string // see [buffers.Edit]; nil is the same change
	taken     returning                       // of a file that was taken away under a buffer
	made      bool                            // by the agent: if only unsaved text by the user remains, there is no file
	usersIn   func(path, text string) string  // the user's part of a text of a made file, as far as it is remembered
	users     string                          // that part of what the disk has
}

// apply gives a file what is wanted if it has not changed, otherwise what merge makes of it; done runs on the ledger's
// goroutine.
func (l *Ledger) apply(p target, done func(error)) {
	if err := l.separate(p); err != nil {
		done(fmt.Errorf("it has another name, and cannot be written without that: %w", err))
		return
	}
	onlyUnsaved := false // all that remains of a file made by the agent is text that only its buffer has
	if p.made {
		disk := onDisk(p.path)
		p.users = p.usersIn(p.path, disk.Text)
		onlyUnsaved = isText(disk) && p.nothingOf(disk)
	}
	if onlyUnsaved && p.want.Exists {
		p.under = func(_, _ string) *string { return new("") }
	}
	switch {
	case review.IsFolder(p.path) && !p.want.Exists:
		l.removeMade(p, done)
	case p.back != "" && !p.now.Exists:
		l.apply(target{path: p.back, want: p.want, taken: p.taken}, done)
	case p.back != "":
		l.moveBack(p, done)
	case p.want == p.now && onlyUnsaved:
		l.removeFile(p.path, done)
	case p.want == p.now:
		done(nil)
	case p.want.Exists && !p.now.Exists, p.want.Opaque && !p.want.SameText(p.now):
		l.restore(p, done)
	default:
		l.originals.keepDisk(p.path, p.now)
		l.edit(p, func(w buffers.Written, err error) {
			switch {
			case err == nil && p.made && w.Disk != nil && p.nothingOf(contentOf(w.Disk, "")):
				l.removeFile(p.path, done)
			case err == nil && p.unlikeForm(w):
				l.reform(p, w, done)
			default:
				done(err)
			}
		})
	}
}

// separate gives a file that has other names in the folders, perhaps by the agent, a copy of its own, so that what is
// written here does not change those.
func (l *Ledger) separate(p target) error {
	if l.scans.latest == nil || !p.now.Exists || !p.want.Exists || p.want == p.now || len(l.scans.latest.Names(p.path)) == 0 {
		return nil
	}
	return buffers.Separate(p.path)
}

// unlikeForm reports whether an edit has left disk or buffer in another form than is wanted: a buffer writes the form that
// the file had last, also where that is empty and has none.
func (p target) unlikeForm(w buffers.Written) bool {
	is := contentOf(cmp.Or(w.Disk, w.After), w.FormAfter)
	return p.want.Exists && (p.now.Form != p.want.Form || isText(is) && is.Form != p.want.Form && !is.StandsAs(p.want.Form))
}

// nothingOf reports whether the disk has no line of what is wanted, and none that was the user's there: what else they have
// removed, only in a buffer, is the agent's.
func (p target) nothingOf(disk review.Content) bool {
	return common(disk, p.want).Text+common(disk, review.Text(p.users)).Text == ""
}

// together is how many files are changed at once.
const together = 8

// inOrder does n things, started in order: neighbours of one kind concurrently, those of kind alone one by one. do
// calls its done on the ledger's goroutine, where over is called too.
func (l *Ledger) inOrder(n int, kindOf func(i int) kind, do func(i int, done func()), over func()) {
	next, running, now := 0, 0, alone
	var goOn func()
	goOn = func() {
		for next < n && (running == 0 || running < together && now != alone && kindOf(next) == now) {
			i := next
			next, running, now = next+1, running+1, kindOf(i)
			do(i, func() {
				l.box.Put(func() {
					running--
					goOn()
				})
			})
		}
		if running == 0 {
			over()
		}
	}
	goOn()
}

// kind says which files may be changed at once: removals make room first, and moves have two paths.
type kind int

const (
	alone kind = iota
	goes
	stays
)

// applied runs done on the ledger's goroutine with the outcome of a change.
func (l *Ledger) applied(done func(buffers.Written, error)) func(buffers.Written, error) {
	return func(w buffers.Written, err error) {
		l.box.Put(func() {
			var e *buffers.Error
			if errors.As(err, &e) {
				err = e.Err
			}
			done(w, err)
		})
	}
}

// ended adapts a done that does not need what was written.
func ended(done func(error)) func(buffers.Written, error) {
	return func(_ buffers.Written, err error) { done(err) }
}

// restore gives a file the bytes that it had.
func (l *Ledger) restore(p target, done func(error)) {
	data, saved := p.savedBytes()
	if !saved {
		var known bool
		if data, known = l.originals.bytes(p.path, p.want, l.turn); !known {
			done(errForgotten)
			return
		}
	}
	l.see(p.path, true, func(seen fileState) {
		if seen.Mark() != p.now.Mark() || l.savedOver(p.now, seen) {
			done(errMovedOn)
			return
		}
		l.originals.keepDisk(p.path, p.now)
		l.makeRoom(p.path)
		l.config.Files.Restore(context.Background(), buffers.Restored{
			Path: p.path, Data: data, Mode: cmp.Or(p.want.Mode, seen.Mode, 0o644), Saved: saved, Buffer: p.taken.inBuffer(),
		}, l.applied(ended(done)))
	})
}

// savedOver reports whether the disk has what the user has saved over what is no text, though they have undone that in the
// buffer since: nothing can be merged with it.
func (l *Ledger) savedOver(now review.Content, seen fileState) bool {
	return now.Opaque && seen.unsaved && len(l.behind[seen.path]) == 0 && onDisk(seen.path).Mark() != now.Mark()
}

// makeRoom removes what is where a file is to be again: symbolic links, which no path of the record had when the file was
// there, and a folder without files. Anything else stays, and is told when it is to be written over.
func (l *Ledger) makeRoom(path string) {
	l.config.Files.RemoveLinks(path, l.config.Inside)
	var dirs []string
	if err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			return fs.ErrExist
		}
		dirs = append(dirs, path)
		return err
	}); err != nil {
		return
	}
	for _, dir := range slices.Backward(dirs) {
		_ = unix.Rmdir(dir)
	}
}

// savedBytes returns what the disk gets of a file that was taken away under a buffer, if that is known.
func (p target) savedBytes() ([]byte, bool) {
	if !isText(p.taken.disk) || !isText(p.want) {
		return nil, false
	}
	data, err := buffers.Encoded(p.taken.disk.Text, p.want.Form)
	return data, err == nil
}

// edit gives a file the text and permissions that are wanted.
func (l *Ledger) edit(p target, done func(buffers.Written, error)) {
	same := func(now *string) bool { return contentOf(now, "").SameText(p.now) }
	var mode *fs.FileMode
	if p.want.Mode != 0 && p.want.Mode != p.now.Mode {
		mode = &p.want.Mode
	}
	l.config.Files.Edit(context.Background(), buffers.Edit{Path: p.path, Mode: mode, Disk: p.under, Change: func(now *string) (*string, error) {
		switch {
		case !same(now) && (p.merge == nil || now == nil):
			return nil, errMovedOn
		case !same(now):
			text := endedAs(*now, p.merge(buffers.Lined(*now)))
			return &text, nil
		case !p.want.Exists:
			return nil, nil
		case p.want.Opaque: // only its permissions
			return now, nil
		}
		text := endedAs(*now, p.want.Text)
		return &text, nil
	}}, l.applied(done))
}

// removeFile removes a file from the disk; what is unsaved in its buffer stays there.
func (l *Ledger) removeFile(path string, done func(error)) {
	nothing := func(*string) (*string, error) { return nil, nil }
	l.config.Files.Edit(context.Background(), buffers.Edit{Path: path, Change: nothing}, l.applied(ended(done)))
}

// endedAs returns a text whose last line has a newline if that of other does; the form is another matter.
func endedAs(other, text string) string {
	if other == buffers.Lined(other) {
		return text
	}
	return strings.TrimSuffix(text, "\n")
}

// reform gives what an edit has written to the disk the form that is wanted.
func (l *Ledger) reform(p target, w buffers.Written, done func(error)) {
	text := cmp.Or(w.Disk, w.After)
	data, err := buffers.Encoded(buffers.Lined(*text), p.want.Form)
	if err != nil {
		done(fmt.Errorf("its text cannot be written as it was, as %s: %w", p.want.Form, err))
		return
	}
	l.config.Files.Restore(context.Background(), buffers.Restored{Path: p.path, Data: data, Mode: cmp.Or(p.want.Mode, modeOf(p.path))}, l.applied(ended(done)))
}

// moveBack puts a file back where it was before it was moved, with what is wanted in it.
func (l *Ledger) moveBack(p target, done func(error)) {
	l.makeRoom(p.back)
	if isThere(p.back) {
		done(fmt.Errorf("it cannot go back to %s, where another file is", l.config.Short(p.back)))
		return
	}
	if l.onlyMoved(p.path, p.want) {
		err := os.MkdirAll(filepath.Dir(p.back), 0o755)
		if err == nil {
			err = os.Rename(p.path, p.back)
		}
		if err == nil && p.want.Mode != 0 {
			err = os.Chmod(p.back, p.want.Mode)
		}
		done(err)
		return
	}
	data, saved := p.savedBytes()
	if !saved {
		var err error
		if data, err = l.bytesBack(p); err != nil {
			done(err)
			return
		}
	}
	// A buffer may show what was there before: it gets what is wanted, along with its unsaved text.
	l.config.Files.Restore(context.Background(), buffers.Restored{
		Path: p.back, Data: data, Mode: cmp.Or(p.want.Mode, modeOf(p.path)), Saved: saved, Buffer: p.taken.inBuffer(),
	}, l.applied(func(_ buffers.Written, err error) {
		if err != nil {
			done(err)
			return
		}
		l.apply(target{path: p.path, now: p.now}, done)
	}))
}

// onlyMoved reports whether a file that no buffer shows is what is wanted, of which no bytes are kept.
func (l *Ledger) onlyMoved(path string, want review.Content) bool {
	return want.Opaque && want.Text == largeMark(path) && !l.loaded[path]
}

// bytesBack returns what a file gets that returns to where it was before it was moved.
func (l *Ledger) bytesBack(p target) ([]byte, error) {
	data, err := os.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	disk := decoded(data)
	switch {
	case disk.SameText(p.want) && disk.Form == p.want.Form:
		return data, nil
	case !disk.Opaque && !p.now.Opaque && !p.want.Opaque:
		// Unsaved text stays in the buffer, as when the agent moves its file.
		text, _ := buffers.Withdraw(p.now.Text, disk.Text, p.want.Text)
		if p.merge != nil {
			text = p.merge(disk.Text)
		}
		if text == "" && p.want.Text != "" {
			return nil, nil // the form is that of what is unsaved
		}
		return buffers.Encoded(buffers.Lined(text), p.want.Form)
	}
	wanted, known := l.originals.bytes(p.path, p.want, l.turn)
	if !known {
		return nil, errForgotten
	}
	return wanted, nil
}
