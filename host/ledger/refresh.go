package ledger

import "github.com/acp-nvim/acp-nvim/host/review"

// refresh brings the record in step with the files as they are, then calls done. What has changed under a
// buffer is the user's. A file that no buffer has shown was changed by a command of the agent's, if since
// a turn began, which is nil where none runs.
func (l *Ledger) refresh(t *turn, done func()) {
	l.refreshOnly(t, l.record.Paths(), done)
}

func (l *Ledger) refreshOnly(t *turn, paths []string, done func()) {
	l.refreshIf(t, paths, func(sight) bool { return true }, done)
}

// refreshIf leaves out what does not count. While a turn runs what commands do is its; of what is gone its end
// tells whether it was removed or moved.
func (l *Ledger) refreshIf(t *turn, paths []string, counts func(sight) bool, done func()) {
	if t == nil && l.turn != nil && !l.turn.over {
		t = l.turn
	}
	l.seeAll(paths, func(now []sight) {
		for i, seen := range now {
			was, ok := l.record.Present(paths[i])
			if !ok && t != nil && !seen.Exists {
				was, ok = t.Present(paths[i]) // as it was before an earlier turn
			}
			if !ok || seen.path != paths[i] || was == seen.Content || was == seen.Mark() || !counts(seen) {
				continue
			}
			if t != nil && !t.ended && !seen.Exists && !l.loaded[seen.path] {
				continue
			}
			if l.loaded[seen.path] || seen.large || t == nil || seen.Exists && seen.since.Add(coarse).Before(t.At) ||
				!l.config.Ours(seen.path) {
				l.userNow(seen.path, seen.Content)
				continue
			}
			l.agentChanged(t, seen.path, was, seen.Content)
			l.last[seen.path] = seen.Mark()
			l.sawOpen(seen.path, seen.Content) // perhaps a call is in the middle of writing it
			l.tell([]Event{{seen.path, "disk"}})
		}
		done()
	})
}

// Files gives the files of the record, in step with buffers and disk; open says that the turn runs which began
// last. done runs on the ledger's goroutine.
func (l *Ledger) Files(open bool, done func([]review.File)) {
	l.job(func(next func()) {
		var t *turn
		if open {
			t = l.turn
		}
		l.refresh(t, func() {
			l.tell(nil)
			done(l.record.Files())
			next()
		})
	})
}

// File gives a file of the record, or the zero value where it has none; with look it is first brought up to
// date with what the user has made of it. done runs on the ledger's goroutine, or at once when that has ended.
func (l *Ledger) File(path string, look bool, done func(review.File)) {
	if !l.box.Put(func() {
		f, known := l.record.File(path)
		if !known || !look {
			done(f)
			return
		}
		l.job(func(next func()) {
			l.refreshOnly(nil, []string{path}, func() {
				now, _ := l.record.File(path)
				if now.Present != f.Present {
					l.tell(nil)
				}
				done(now)
				next()
			})
		})
	}) {
		done(review.File{})
	}
}

// Refresh brings a file of the record in step with what the user has, and tells so; done runs on the ledger's
// goroutine.
func (l *Ledger) Refresh(path string, done func()) {
	l.job(func(next func()) {
		l.refreshOnly(nil, []string{path}, func() {
			l.tell(nil)
			done()
			next()
		})
	})
}
