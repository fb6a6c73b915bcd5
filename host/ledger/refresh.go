package ledger

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file brings the record up to date with its files.

// refresh brings record and turns in step with files of the record, then calls done. While a turn runs, its end will tell
// whether a missing file was removed or moved.
func (l *Ledger) refresh(paths []string, done func()) {
	t := l.turn
	l.seeAll(paths, func(now []fileState) {
		var events []Event
		for _, seen := range now {
			if t != nil && !t.over && !seen.Exists && t.renamed[seen.path] == "" {
				continue
			}
			if l.account(t, seen) {
				l.named.Store(seen.path, true)
				events = append(events, Event{seen.path, "disk"})
			}
		}
		if len(events) > 0 {
			l.report(events)
		}
		done()
	})
}

// changed returns the paths at which the agent has changed something, also where only the disk has that.
func (l *Ledger) changed() []string {
	paths := slices.Concat(l.record.Paths(), keys(l.behind))
	slices.Sort(paths)
	return slices.Compact(paths)
}

// wish is a job on files as the user has them: it starts when all that they opened, reloaded, wrote and renamed before is
// known. What they have decided is saved at once, as they will not be asked again.
func (l *Ledger) wish(do func(done func())) {
	l.job(func(next func()) {
		begin := func() {
			l.renamedSince()
			do(func() {
				l.whenNoted(func() {})
				next()
			})
		}
		if w := l.config.Watch(); w != nil {
			w.Heard(func() { l.box.Put(begin) })
			return
		}
		begin()
	})
}

// Files passes the record's files to done, in step with buffers and disk. done runs on the ledger's goroutine.
func (l *Ledger) Files(done func([]review.File)) {
	l.job(func(next func()) {
		l.renamedSince()
		l.refresh(l.changed(), func() {
			l.report(nil)
			done(l.record.Files())
			next()
		})
	})
}

// File passes a file of the record to done, or the zero value if it has none; with look, it is first brought up to date
// with what the user has. done runs on the ledger's goroutine, or at once if that has ended.
func (l *Ledger) File(path string, look bool, done func(review.File)) {
	if !l.box.Put(func() {
		f, known := l.record.File(path)
		if !known || !look {
			done(f)
			return
		}
		l.job(func(next func()) {
			l.refresh([]string{path}, func() {
				now, _ := l.record.File(path)
				if now.Present != f.Present {
					l.report(nil)
				}
				done(now)
				next()
			})
		})
	}) {
		done(review.File{})
	}
}

// Refresh brings a file of the record in step with what the user has, and passes that on; done runs on the ledger's
// goroutine.
func (l *Ledger) Refresh(path string, done func()) {
	l.job(func(next func()) {
		l.refresh([]string{path}, func() {
			l.report(nil)
			done()
			next()
		})
	})
}
