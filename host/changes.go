package host

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

const (
	maxRecorded = 64 << 20 // bytes of all texts in a session's record
	// maxHeld is the longest that the end of a turn is not told because files are compared.
	maxHeld = time.Second
	// coarse is how far a file's time may be behind the clock.
	coarse = 20 * time.Millisecond
)

// changes brings what the agent does to files into the session's record of it. Three ways lead there: the
// agent's writes through its client, changes on the disk under loaded buffers, which the watch tells, and
// files that the agent's tool calls name, which are looked at before and after. Texts are compared on a
// goroutine of its own, which owns the record; what comes of it goes to the session's.
type changes struct {
	session *Session
	box     *mailbox.Mailbox // of the goroutine that owns the record
	named   sync.Map         // paths that calls of this turn name, or that the agent was seen to change
	saved   sync.Map         // paths that the user has written in this turn
	worked  atomic.Bool      // a call of this turn may have changed files without naming them

	// The fields below belong to the session's goroutine.

	calls map[*session.ToolCall]*followedCall
	ends  int // of turns
	told  int // how many of them may be told: what was changed before is in the record

	// The fields below belong to the goroutine of box.

	record    *review.Record
	turn      *turn // the last one; nil before the first, and when something was undone since
	history   turns.History
	originals originals
	scans     scanner
	keep      keeping

	open    map[*before]bool          // of this turn's calls
	last    map[string]review.Content // by path, what the agent last left there, without its text
	loaded  map[string]bool           // by path, whether a buffer was seen to show it
	version map[string]int            // by path, how often took has changed it
	jobs    []func(done func())       // one after the other; the first is running
}

// turn is what a turn has changed, with what the folders were: in first when it began, perhaps a little
// later, and in before one look earlier. Both may be nil.
type turn struct {
	*turns.Turn
	before, first *checkpoint.Snapshot
	ended         bool
	over          bool // it has ended, and what was changed in it is known
}

func newChanges(s *Session) *changes {
	box := mailbox.New()
	return &changes{
		session: s, box: box,
		calls:     map[*session.ToolCall]*followedCall{},
		record:    review.New(maxRecorded),
		originals: originals{store: s.host.store, of: map[version]original{}},
		scans:     scanner{host: s.host, roots: s.roots, box: box, tell: s.tellLacks},
		open:      map[*before]bool{},
		last:      map[string]review.Content{},
		loaded:    map[string]bool{},
		version:   map[string]int{},
	}
}

// names tells whether a call of the last turn names a file. Any goroutine.
func (c *changes) names(path string) bool {
	_, ok := c.named.Load(path)
	return ok
}

func (c *changes) beginTurn(prompt string) {
	began := time.Now()
	c.named.Clear()
	c.saved.Clear()
	c.box.Put(func() { c.openTurn(prompt, began) })
}

// openTurn begins a turn. The one before may have things to come yet, see findUntold.
func (c *changes) openTurn(prompt string, at time.Time) {
	c.take(c.turn)
	if len(c.history.Undone) > 0 {
		c.history.Begin()
		c.saveSoon()
	}
	t := &turn{Turn: turns.Begin(prompt, at)}
	c.turn = t
	c.scans.scan(func(snap *checkpoint.Snapshot) { t.before, t.first = c.scans.previous, snap })
	// What a buffer once showed is no longer known to be the user's.
	clear(c.loaded)
}

// take puts what a turn, which may be nil, has changed up to now among what can be undone.
func (c *changes) take(t *turn) {
	if t == nil {
		return
	}
	c.history.Take(t.Turn)
	for _, f := range t.Files {
		if f.Before.Exists && (!f.After.Exists || f.Before.Opaque) {
			c.originals.keepBeginning(t, cmp.Or(f.OldPath, f.Path), f.Before)
		}
	}
}

// endTurn returns the number of the turn's end, which is not to be told before told has reached it.
func (c *changes) endTurn() int {
	var over []*before
	for call, f := range c.calls {
		if !call.Status.Finished() {
			c.settle(call, f)
			delete(c.calls, call) // what the agent says of it later counts as new
		}
		over = append(over, f.before)
		f.before = nil
		clear(f.asked)
	}
	c.ends++
	end := c.ends
	var t *turn
	c.box.Put(func() { t = c.turn }) // when the job runs the next may have begun
	c.job(func(done func()) {
		for _, b := range over {
			delete(c.open, b)
		}
		// What is gone may have been moved, which only the folders tell.
		var gone []string
		there := func(seen sight) bool {
			if !seen.Exists {
				gone = append(gone, seen.path)
			}
			return seen.Exists
		}
		paths := c.record.Paths()
		if t != nil {
			t.ended = true
			paths = append(paths, t.Paths()...)
			slices.Sort(paths)
			paths = slices.Compact(paths)
		}
		c.refreshIf(t, paths, there, func() {
			c.findUntold(t, func() {
				c.refreshOnly(t, gone, func() {
					if t != nil {
						t.over = true
					}
					c.take(t)
					c.tell(nil)
					c.save()
					c.session.box.Put(func() { c.release(end) })
					done()
				})
			})
		})
	})
	c.session.later(maxHeld, func() { c.release(end) })
	return end
}

// release lets the ends of turns be told.
func (c *changes) release(end int) {
	if c.told < end {
		c.told = end
		c.session.host.editor.Hurry(c.session)
	}
}

// close ends it, and returns when what is to be saved is on its way; whatever waits is told without it.
func (c *changes) close() {
	c.told = c.ends
	saved := make(chan struct{})
	if c.box.Put(func() {
		c.save()
		close(saved)
	}) {
		c.box.Close()
		<-saved
	}
}

// job runs f on the goroutine of box when all jobs before it are done.
func (c *changes) job(f func(done func())) {
	c.box.Put(func() {
		if c.jobs = append(c.jobs, f); len(c.jobs) == 1 {
			f(c.next)
		}
	})
}

func (c *changes) next() {
	if c.jobs = c.jobs[1:]; len(c.jobs) > 0 {
		c.jobs[0](c.next)
	}
}

// took takes a write of the agent's through its client, by "fs", or a change on the disk under a loaded
// buffer, by "disk". One that the user has decided about before it was made is kept. Any goroutine.
func (c *changes) took(w buffers.Written, by string, reviewed bool) {
	c.box.Put(func() {
		var was, is review.Content
		known, ok := c.record.File(w.Path)
		switch {
		case w.Before != nil:
			was = textContent(*w.Before)
		case w.Created:
			was = c.openHad(w.Path)
		case ok:
			was = known.Present
		default:
			was = review.Opaque("not known")
		}
		switch {
		case w.Deleted && c.isGone(w.Path):
			return // a call of the agent's has told
		case w.Deleted:
		case w.After != nil:
			is = textContent(*w.After)
		}
		c.agentChanged(c.turn, w.Path, was, is)
		if reviewed {
			keepWritten(c.record, w.Path, was, is)
		}
		c.named.Store(w.Path, true)
		c.last[w.Path] = is.Mark()
		c.version[w.Path]++
		c.loaded[w.Path] = c.loaded[w.Path] || w.Buf != 0
		for b := range c.open {
			switch seen, ok := b.files[w.Path]; {
			case is.Opaque:
				delete(b.files, w.Path) // a look may know it by another mark
			case ok:
				seen.Content = is
				b.files[w.Path] = seen
			}
		}
		c.tell([]event{changedEvent(w.Path, by)})
	})
}

// agentChanged takes a change of the agent's in a turn, which may be nil.
func (c *changes) agentChanged(t *turn, path string, was, is review.Content) {
	c.record.Changed(path, was, is)
	if t != nil {
		t.Changed(path, was, is)
	}
}

// agentMoved takes a move by the agent in a turn, which may be nil.
func (c *changes) agentMoved(t *turn, from, to string, was, is review.Content) {
	c.record.Moved(from, to, was, is)
	if t != nil {
		t.Moved(from, to, was, is)
	}
}

// userNow brings what is known of a file in step with what the user has.
func (c *changes) userNow(path string, now review.Content) {
	if !now.Exists {
		c.record.Removed(path)
		return // an undo of the turn says so
	}
	c.record.Now(path, now)
}

// openHad is what a file was before a call that is not compared yet: where nothing is now the call has removed
// it, or moved it away.
func (c *changes) openHad(path string) (was review.Content) {
	for b := range c.open {
		if seen := b.files[path]; seen.Exists {
			was = seen.Content
		}
	}
	return was
}

// sawOpen tells the calls that are under way what a file is before they go on.
func (c *changes) sawOpen(path string, is review.Content) {
	for b := range c.open {
		if seen, ok := b.files[path]; ok {
			seen.Content = is
			b.files[path] = seen
		}
	}
}

// isGone tells whether the record knows that the agent has removed a file, or has moved it away.
func (c *changes) isGone(path string) bool {
	last, known := c.last[path]
	f, recorded := c.record.File(path)
	return known && !last.Exists && (!recorded || !f.Present.Exists)
}

func changedEvent(path, by string) event {
	return event{name: "AcpFileChanged", data: map[string]any{"path": path, "by": by}}
}

// refresh brings the record in step with the files as they are, then calls done. What has changed under a
// buffer is the user's. A file that no buffer has shown was changed by a command of the agent's, if since
// a turn began, which is nil where none runs.
func (c *changes) refresh(t *turn, done func()) {
	c.refreshOnly(t, c.record.Paths(), done)
}

func (c *changes) refreshOnly(t *turn, paths []string, done func()) {
	c.refreshIf(t, paths, func(sight) bool { return true }, done)
}

// refreshIf leaves out what does not count. While a turn runs what commands do is its; of what is gone its end
// tells whether it was removed or moved.
func (c *changes) refreshIf(t *turn, paths []string, counts func(sight) bool, done func()) {
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
				c.session.host.worker(seen.path) != c.session {
				c.userNow(seen.path, seen.Content)
				continue
			}
			c.agentChanged(t, seen.path, was, seen.Content)
			c.last[seen.path] = seen.Mark()
			c.sawOpen(seen.path, seen.Content) // perhaps a call is in the middle of writing it
			c.tell([]event{changedEvent(seen.path, "disk")})
		}
		done()
	})
}

// files gives the files of the record, in step with buffers and disk; done runs on the session's goroutine.
func (c *changes) files(done func([]review.File)) {
	c.job(func(next func()) {
		c.refresh(nil, func() {
			c.tell(nil)
			files := c.record.Files()
			c.session.box.Put(func() { done(files) })
			next()
		})
	})
}

// tell hands what is new in the record to the session, and events that follow it.
func (c *changes) tell(events []event) {
	changed, gone := c.record.Take()
	shown := map[int]any{}
	for _, f := range changed {
		shown[f.ID] = mirrorFile(f)
	}
	for _, id := range gone {
		shown[id] = false
	}
	s := c.session
	if len(shown) > 0 {
		c.saveSoon()
	}
	s.box.Put(func() {
		if len(changed)+len(gone) > 0 {
			s.review.changed(changed, gone)
		}
		maps.Copy(s.shown.changes, shown)
		held := slices.IndexFunc(s.shown.events, func(e event) bool { return e.after > c.told })
		for _, e := range events {
			s.event(e.name, e.data)
		}
		if held >= 0 { // they belong before the turn's end
			told := s.shown.events
			s.shown.events = slices.Concat(told[:held], told[len(told)-len(events):], told[held:len(told)-len(events)])
		}
		s.changed()
	})
}
