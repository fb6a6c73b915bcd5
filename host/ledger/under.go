package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file refuses what only the disk has: changes by the agent that a buffer has not taken over, as they conflict
// with its unsaved text. The record has what buffers show, so these are not in it.

// underIn returns the files that may have such changes: the one at a path, or all for "".
func (l *Ledger) underIn(path string) (paths []string) {
	for p := range l.behind {
		if path == "" || p == path {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// decideUnder applies the user's decision about whole files to such changes too. It tells done how many files had some,
// and why the first of them could not be changed.
func (l *Ledger) decideUnder(d Decision, done func(files int, failed error)) {
	if d.Which != nil || d.Plan != nil {
		done(0, nil)
		return
	}
	paths := l.underIn(d.Path)
	if d.Do == review.Keep {
		for _, path := range paths {
			l.nothingUnsaved(path)
		}
		done(0, nil)
		return
	}
	l.refuseUnder(paths, done)
}

// refuseUnder takes such changes back, the last one first.
func (l *Ledger) refuseUnder(paths []string, done func(files int, failed error)) {
	files, errs := 0, make([]error, len(paths))
	l.inOrder(len(paths), func(int) kind { return stays }, func(i int, next func()) {
		path, list := paths[i], l.behind[paths[i]]
		if slices.ContainsFunc(list, func(b behind) bool { return b.conflicts && !b.kept }) {
			files++
		}
		var back func(at int)
		back = func(at int) {
			if at < 0 {
				l.settled(path)
				next()
				return
			}
			if list[at].kept {
				back(at - 1)
				return
			}
			l.takeBack(path, list[at], func(err error) {
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", l.config.Short(path), err)
					next()
					return
				}
				back(at - 1)
			})
		}
		back(len(list) - 1)
	}, func() {
		done(files, cmp.Or(errs...))
	})
}

// takeBack takes one such change back; a file that was not there before is removed, if the disk still has what the
// agent wrote.
func (l *Ledger) takeBack(path string, b behind, done func(error)) {
	switch {
	case b.before.Exists && (b.before.Opaque || b.is.Opaque):
		l.restoreUnder(path, b.is, b.before, done)
	case b.before.Exists:
		l.editUnder(path, b.without, done)
	case onDisk(path).SameText(b.is):
		l.removeFile(path, done)
	default:
		done(nil)
	}
}

// restoreUnder gives the disk what it had, if that or what it has now is not text, unless the record does so because it
// has the file as opaque.
func (l *Ledger) restoreUnder(path string, from, to review.Content, done func(error)) {
	if f, recorded := l.record.File(path); recorded && f.State == review.Pending || !onDisk(path).SameText(from) {
		done(nil)
		return
	}
	data, known := l.originals.bytes(path, to, l.turn)
	if !known {
		done(errForgotten)
		return
	}
	l.originals.keepDisk(path, from)
	l.config.Files.Restore(context.Background(), path, data, cmp.Or(to.Mode, modeOf(path)), l.applied(ended(done)))
}

// makeAgain redoes one such change.
func (l *Ledger) makeAgain(path string, b behind, done func(error)) {
	if b.before.Opaque || b.is.Opaque {
		l.restoreUnder(path, b.before, b.is, done)
		return
	}
	l.editUnder(path, b.again, done)
}

// settled notes that no change by the agent remains under a buffer's unsaved text.
func (l *Ledger) settled(path string) {
	for _, b := range l.behind[path] {
		if b.turn != nil {
			b.turn.Settled(path)
		}
	}
	delete(l.behind, path)
}

// editUnder edits the disk under a buffer's unsaved text with to, and leaves the buffer alone.
func (l *Ledger) editUnder(path string, to func(disk, mine string) string, done func(error)) {
	l.config.Files.Edit(context.Background(), buffers.Edit{Path: path, Disk: to}, l.applied(func(w buffers.Written, err error) {
		if err == nil && l.turn != nil && w.Disk != nil {
			l.turn.disk[path] = contentOf(w.Disk, w.FormAfter)
		}
		done(err)
	}))
}

// without takes a change that a buffer with the text mine lacks out of the disk's text.
func (b behind) without(disk, mine string) string {
	return buffers.WithdrawUnder(mine, b.is.Text, disk, b.before.Text)
}

// again redoes the change in the disk's text.
func (b behind) again(disk, _ string) string {
	text, _ := buffers.Withdraw(b.before.Text, disk, b.is.Text)
	return text
}
