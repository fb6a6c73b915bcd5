package ledger

import "github.com/acp-nvim/acp-nvim/host/review"

// refresh brings the record in step with the files as they are, then calls done. What has changed under a
// buffer is the user's. A file that no buffer has shown was changed by a command of the agent's, if since
// a turn began, which is nil where none runs.
func (c *Ledger) refresh(t *turn, done func()) {
	c.refreshOnly(t, c.record.Paths(), done)
}

func (c *Ledger) refreshOnly(t *turn, paths []string, done func()) {
	c.refreshIf(t, paths, func(sight) bool { return true }, done)
}

// refreshIf leaves out what does not count. While a turn runs what commands do is its; of what is gone its end
// tells whether it was removed or moved.
func (c *Ledger) refreshIf(t *turn, paths []string, counts func(sight) bool, done func()) {
	if t == nil && c.turn != nil && !c.turn.over {
		t = c.turn
	}
	c.seeAll(paths, func(now []sight) {
		for i, seen := range now {
			was, ok := c.record.Present(paths[i])
			if !ok && t != nil && !seen.Exists {
				was, ok = t.Present(paths[i]) // as it was before an earlier turn
			}
			if !ok || seen.path != paths[i] || was == seen.Content || was == seen.Mark() || !counts(seen) {
				continue
			}
			if t != nil && !t.ended && !seen.Exists && !c.loaded[seen.path] {
				continue
			}
			if c.loaded[seen.path] || seen.large || t == nil || seen.Exists && seen.since.Add(coarse).Before(t.At) ||
				!c.config.Ours(seen.path) {
				c.userNow(seen.path, seen.Content)
				continue
			}
			c.agentChanged(t, seen.path, was, seen.Content)
			c.last[seen.path] = seen.Mark()
			c.sawOpen(seen.path, seen.Content) // perhaps a call is in the middle of writing it
			c.tell([]Event{{seen.path, "disk"}})
		}
		done()
	})
}

// Files gives the files of the record, in step with buffers and disk; open says that the turn runs which began
// last. done runs on the ledger's goroutine.
func (c *Ledger) Files(open bool, done func([]review.File)) {
	c.job(func(next func()) {
		var t *turn
		if open {
			t = c.turn
		}
		c.refresh(t, func() {
			c.tell(nil)
			done(c.record.Files())
			next()
		})
	})
}

// File gives a file of the record, or the zero value where it has none; with look it is first brought up to
// date with what the user has made of it. done runs on the ledger's goroutine, or at once when that has ended.
func (c *Ledger) File(path string, look bool, done func(review.File)) {
	if !c.box.Put(func() {
		f, known := c.record.File(path)
		if !known || !look {
			done(f)
			return
		}
		c.job(func(next func()) {
			c.refreshOnly(nil, []string{path}, func() {
				now, _ := c.record.File(path)
				if now.Present != f.Present {
					c.tell(nil)
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
func (c *Ledger) Refresh(path string, done func()) {
	c.job(func(next func()) {
		c.refreshOnly(nil, []string{path}, func() {
			c.tell(nil)
			done()
			next()
		})
	})
}
