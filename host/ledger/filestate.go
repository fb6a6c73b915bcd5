package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file looks at a file.

const maxReviewed = 10 << 20 // bytes of a file that is compared by lines

var errNoWatch = errors.New("files are not watched")

// fileState is a file as it was at one moment.
type fileState struct {
	path    string // the real one; "" where it could not be looked at
	loaded  bool
	unsaved bool             // its buffer has what the disk has not
	saved   bool             // by the user, from a buffer that shows it, as it is
	size    int64            // on the disk, in bytes
	since   time.Time        // the disk has it so
	file    buffers.Identity // before a write; zero if it is what is at the path
	review.Content

	overtaken *string // see [buffers.Seen]
}

// see looks at a file; done runs on the ledger's goroutine. With settle, the file's buffer first catches up with the
// disk.
func (l *Ledger) see(path string, settle bool, done func(fileState)) {
	if review.IsFolder(path) { // too many files to look at again
		l.box.Put(func() {
			is, _ := l.record.Present(path)
			done(fileState{path: path, Content: is})
		})
		return
	}
	answer := func(seen buffers.Seen, err error) {
		s := fileState{path: seen.Path, loaded: seen.Loaded, unsaved: seen.Unsaved, saved: seen.Saved, overtaken: seen.Overtaken, size: seen.Disk.Size, since: seen.Since}
		switch {
		case errors.Is(err, buffers.ErrDirectory): // no file
		case err != nil:
			s.path = ""
		case !seen.Exists:
		case seen.Large:
			s.Content = review.Opaque(largeText(seen.Disk))
		default:
			s.Content = contentOf(&seen.Text, seen.Form)
		}
		if s.Exists {
			s.Mode = seen.Mode
		}
		l.box.Put(func() {
			if s.path != path && s.path != "" && l.hadFile(path) {
				s = fileState{path: path} // a symbolic link is there, or above it: the file itself is gone
			}
			if is, _ := l.record.Present(s.path); is.Text == s.Text {
				s.Text = is.Text // one copy in memory, as there may be thousands of files
			}
			done(s)
		})
	}
	w := l.config.Watch()
	if w == nil {
		answer(buffers.Seen{}, errNoWatch)
		return
	}
	w.Look(path, settle, maxReviewed, answer)
}

// hadFile reports whether there was a file at a path itself, as far as record and turns know.
func (l *Ledger) hadFile(path string) bool {
	if _, recorded := l.record.File(path); recorded {
		return true
	}
	knows := func(t *turn) bool {
		return t != nil && (t.seen[path].Exists || t.first != nil && t.first.State(path).Kind == checkpoint.File)
	}
	return knows(l.turn) || knows(l.interrupted) || l.history.Names(path)
}

// seeAll looks at files, all as they are at the end: one that has reportedly changed meanwhile counts as not looked at.
func (l *Ledger) seeAll(paths []string, done func([]fileState)) {
	found := make([]fileState, len(paths))
	versions := make([]int, len(paths))
	missing := len(paths)
	if missing == 0 {
		done(found)
		return
	}
	for i, path := range paths {
		l.see(path, true, func(seen fileState) {
			found[i], versions[i] = seen, l.version[seen.path]
			if missing--; missing > 0 {
				return
			}
			for i := range found {
				if l.version[found[i].path] != versions[i] {
					found[i] = fileState{}
				}
			}
			done(found)
		})
	}
}

// largeText stands for the text of a file that is too large to compare.
func largeText(disk buffers.DiskState) string { return fmt.Sprint(disk) }

// contentOf returns a text as a content for the record, opaque if it is too long; nil is no file. Every line gets a
// newline: whether the last one has it on the disk is part of the form, as an editor does not show it.
func contentOf(text *string, form string) review.Content {
	if text == nil {
		return review.Content{}
	}
	c := review.Text(buffers.Lined(*text))
	if form != review.Plain {
		c.Form = form
	}
	if len(*text) > maxReviewed {
		return c.Mark()
	}
	return c
}
