package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
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
	made := folderOf(r.made)
	if in := folderOf(r.changed); in != "" && in == made {
		r.changed, r.made = append(r.changed, r.made...), nil
	}
	l.accountFolder(t, r.changed, false, nil)
	if len(r.made) == 0 {
		return
	}
	var list strings.Builder
	for _, path := range r.made {
		s := r.after.State(path)
		fmt.Fprintf(&list, "%d %d %s\x00", s.Size, s.ModTime, strings.TrimPrefix(path, made))
	}
	l.accountFolder(t, r.made, true, []byte(list.String()))
}

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

// accountFolder records that files of a folder have changed, or were created. list names them.
func (l *Ledger) accountFolder(t *turn, paths []string, made bool, list []byte) {
	if len(paths) == 0 {
		return
	}
	folder, n := folderOf(paths), len(paths)
	was, known := l.record.Present(folder)
	switch {
	case !known && !made:
		was = review.Opaque("as before")
	case known && made:
		if earlier, ok := l.originals.bytes(folder, was, t); ok {
			list = append(earlier, list...)
			n = bytes.Count(list, []byte{0})
		} else {
			made = false
		}
	}
	is := review.Opaque(fmt.Sprintf("%d files at %s", n, time.Now().Format(time.TimeOnly)))
	if made && l.originals.store != nil {
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
			var size, modified int64
			var name string
			if _, err := fmt.Sscanf(of, "%d %d", &size, &modified); err == nil {
				name = strings.SplitN(of, " ", 3)[2]
			}
			info, err := os.Lstat(p.path + name)
			switch {
			case errors.Is(err, os.ErrNotExist):
			case err != nil, buffers.DiskStateOf(info).Size != size, info.ModTime().UnixNano() != modified, os.Remove(p.path+name) != nil:
				left++
			default:
				dirs[filepath.Dir(p.path+name)] = true
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
