package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file records files that are too many to list one by one, as one change of their folder.

var (
	// maxListed is how many files of a turn are recorded one by one, as many as the store has contents of; fewer in
	// tests.
	maxListed = 50_000
	// maxUnkept is how many of them may have no kept content to restore; fewer in tests.
	maxUnkept = 1000
)

// overflow holds the files of a turn beyond maxListed.
type overflow struct {
	changed []string // nothing is kept of what they were
	made    []string
	after   *checkpoint.Snapshot // what they are
}

// accountOverflow records the overflow of a turn. If all files of a folder are new, they can be removed.
func (l *Ledger) accountOverflow(t *turn, r overflow) {
	changed, made := folderOf(r.changed), folderOf(r.made)
	if made == changed {
		r.changed, r.made = append(r.changed, r.made...), nil
	}
	if len(r.changed) > 0 {
		l.accountFolder(t, changed, len(r.changed), nil)
	}
	if len(r.made) > 0 {
		var list []byte
		for _, path := range r.made {
			s := r.after.State(path)
			list = append(list, asMade(s.Size, s.ModTime)+strings.TrimPrefix(path, made)+"\x00"...)
		}
		l.accountFolder(t, made, len(r.made), list)
	}
}

// asMade says what a file is, in front of its name in the list of a folder's new files. It has no other slash.
func asMade(size, modified int64) string { return fmt.Sprintf("%d %d/", size, modified) }

// folderOf returns the deepest folder that all paths are in, as the record names it; "" for no paths.
func folderOf(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	in := filepath.Dir(paths[0])
	for _, path := range paths {
		for in != "/" && !strings.HasPrefix(path, in+"/") {
			in = filepath.Dir(in)
		}
	}
	return review.Folder(in)
}

// accountFolder records that n files of a folder have changed or, with a list of them, were created.
func (l *Ledger) accountFolder(t *turn, folder string, n int, list []byte) {
	was, known := l.record.Present(folder)
	switch {
	case !known && list == nil:
		was = review.Opaque("as before")
	case known && list != nil:
		if earlier, ok := l.originals.bytes(folder, was, t); ok {
			list = append(earlier, list...)
			n = bytes.Count(list, []byte{0})
		} else {
			list = nil
		}
	}
	is := review.Opaque(fmt.Sprintf("%d files at %s", n, time.Now().Format(time.TimeOnly)))
	if list != nil {
		l.originals.keep(is, list)
	}
	l.agentChanged(t, folder, was, is)
	l.report([]Event{{folder, "disk"}})
}

// removable reports whether the files of a folder's change are known, and should be removed.
func (l *Ledger) removable(folder string, now, want review.Content) bool {
	return !want.Exists && l.originals.has(folder, now, l.turn)
}

// removeMade removes the files that were created in a folder, and the folders created for them. What has changed since
// stays.
func (l *Ledger) removeMade(p target, done func(error)) {
	list, known := l.originals.bytes(p.path, p.now, l.turn)
	if !known {
		done(errForgotten)
		return
	}
	folders := l.foldersSince(l.began(), nil)
	l.config.Background(func() {
		left, dirs := 0, map[string]bool{}
		for of := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
			is, name, _ := strings.Cut(of, "/")
			path := p.path + name
			info, err := os.Lstat(path)
			switch {
			case errors.Is(err, os.ErrNotExist):
			case err != nil, asMade(info.Size(), info.ModTime().UnixNano()) != is+"/", os.Remove(path) != nil:
				left++
			default:
				dirs[filepath.Dir(path)] = true
			}
		}
		for dir := range dirs {
			folders.remove(dir)
		}
		l.box.Put(func() {
			if left > 0 {
				done(fmt.Errorf("%d of its files have changed since, and stay", left))
				return
			}
			done(nil)
		})
	})
}
