package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file has what is only on the disk: changes of the agent's that a buffer has not taken over, as they conflict with
// unsaved text there. The record has what buffers show, so these are kept beside it until the user writes the
// buffer, gives its text up, or refuses them.

// under is such a change of one turn's.
type under struct {
	turn    *turn          // nil for none
	was, is review.Content // the disk
}

// conflicts takes down that the disk has something of the agent's that its buffer has not.
func (l *Ledger) conflicts(path string, change under) {
	list := l.under[path]
	if last := len(list) - 1; last >= 0 && list[last].turn == change.turn {
		change.was, list = list[last].was, list[:last]
	}
	l.under[path] = append(list, change)
	if change.turn != nil {
		change.turn.Conflicted(path, change.was, change.is)
	}
}

// settled tells that the disk has nothing any more that only the disk has.
func (l *Ledger) settled(path string) {
	for _, u := range l.under[path] {
		if u.turn != nil {
			u.turn.Settled(path)
		}
	}
	delete(l.under, path)
}

// readUnder tells that a buffer has given up what was unsaved in it for what the disk has, some of which the agent
// has written: from there on it is as if nothing had been unsaved, also in earlier turns.
func (l *Ledger) readUnder(now sight) bool {
	list := l.under[now.path]
	l.settled(now.path)
	if len(list) == 0 || !now.Exists || list[0].was.Mark() == now.Mark() {
		return false
	}
	l.record.Now(now.path, list[0].was)
	for i, u := range list {
		is := now.Content
		if i+1 < len(list) {
			is = list[i+1].was
		}
		l.agentChanged(u.turn, now.path, u.was, is)
		if u.turn != l.turn {
			l.take(u.turn)
		}
	}
	return true
}

// neverCame tells that a turn was undone: what comes of it from now on is of no turn.
func (l *Ledger) neverCame(undone *turns.Turn) {
	for _, list := range l.under {
		for i := range list {
			if list[i].turn != nil && list[i].turn.Turn == undone {
				list[i].turn = nil
			}
		}
	}
}

// underIn returns the files, of one path or with "" of all, that have such changes.
func (l *Ledger) underIn(path string) (paths []string) {
	for p := range l.under {
		if path == "" || p == path {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// decideUnder has the user's decision about files as a whole be about such changes too. It gives done how many more
// files it was about, and why the first of them could not be changed.
func (l *Ledger) decideUnder(d Decision, done func(files int, failed error)) {
	if d.Which != nil || d.Plan != nil {
		done(0, nil)
		return
	}
	paths := l.underIn(d.Path)
	if d.Do == review.Keep {
		for _, path := range paths {
			l.settled(path)
		}
		done(0, nil)
		return
	}
	l.refuseUnder(paths, done)
}

// refuseUnder takes such changes of files back, the last one first.
func (l *Ledger) refuseUnder(paths []string, done func(files int, failed error)) {
	errs := make([]error, len(paths))
	l.inOrder(len(paths), func(int) kind { return stays }, func(i int, next func()) {
		list := l.under[paths[i]]
		var back func(at int)
		back = func(at int) {
			if at < 0 {
				next()
				return
			}
			l.editUnder(paths[i], list[at].without, func(err error) {
				if errs[i] = err; err != nil {
					at = 0
				}
				back(at - 1)
			})
		}
		back(len(list) - 1)
	}, func() {
		var failed error
		for i, err := range errs {
			if err == nil {
				l.settled(paths[i])
			} else if failed == nil {
				failed = fmt.Errorf("%s: %w", l.config.Short(paths[i]), err)
			}
		}
		done(len(paths), failed)
	})
}

// editUnder gives the disk of a buffer with unsaved text what to makes of it, and leaves the buffer.
func (l *Ledger) editUnder(path string, to func(disk, mine string) string, done func(error)) {
	l.config.Files.Edit(context.Background(), buffers.Edit{Path: path, Disk: to}, l.applied(func(w buffers.Written, err error) {
		if err == nil && l.turn != nil && w.Disk != nil {
			l.turn.disk[path] = contentOf(w.Disk, w.FormAfter)
		}
		done(err)
	}))
}

// without is what takes a change of the disk back.
func (u under) without(disk, mine string) string {
	return buffers.WithdrawUnder(mine, u.is.Text, disk, u.was.Text)
}

// again is what makes the change once more.
func (u under) again(disk, _ string) string {
	text, _ := buffers.Withdraw(u.was.Text, disk, u.is.Text)
	return text
}
