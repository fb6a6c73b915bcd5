// Package ledger is the ledger of one session: what its agent does to files, by whichever way, brought into the
// record of changes and into the turns; what the user decides about it; and taking a turn back.
package ledger

import (
	"cmp"
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

// Ledger brings what the agent does to files into the session's record of it. Three ways lead there: the
// agent's writes through its client, changes on the disk under loaded buffers, which the watch tells, and
// files that the agent's tool calls name, which are looked at before and after. Texts are compared on a
// goroutine of its own, which owns the record; what comes of it goes to the session's. But for BeginTurn,
// EndTurn, Told, Follow and Close, which belong to the session's goroutine, any may call its methods.
type Ledger struct {
	config Config
	box    *mailbox.Mailbox // of the goroutine that owns the record
	named  sync.Map         // paths that calls of this turn name, or that the agent was seen to change
	saved  sync.Map         // paths that the user has written in this turn
	worked atomic.Bool      // a call of this turn may have changed files without naming them

	// The fields below belong to the session's goroutine.

	calls map[*session.ToolCall]*followedCall
	ends  int // of turns
	told  int // how many of them may be told: what was changed before is in the record

	// The fields below belong to the ledger's goroutine, that of box.

	record    *review.Record
	turn      *turn // the last one; nil before the first, and when something was undone since
	history   turns.History
	originals originals
	scans     scanner
	keep      keeping

	open    map[*before]bool          // of this turn's calls
	last    map[string]review.Content // by path, what the agent last left there, without its text
	removed map[string]review.Content // by path, what was there before the agent removed it in this turn, likewise
	loaded  map[string]bool           // by path, whether a buffer was seen to show it
	version map[string]int            // by path, how often Took has changed it
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

// New opens a ledger, which does nothing before [Ledger.Run].
func New(config Config) *Ledger {
	box := mailbox.New()
	return &Ledger{
		config: config, box: box,
		calls:     map[*session.ToolCall]*followedCall{},
		record:    review.New(maxRecorded),
		originals: originals{store: config.Store, of: map[version]original{}},
		scans:     scanner{config: config, box: box},
		open:      map[*before]bool{},
		last:      map[string]review.Content{},
		removed:   map[string]review.Content{},
		loaded:    map[string]bool{},
		version:   map[string]int{},
	}
}

// Run is the goroutine that owns the record; it returns after [Ledger.Close].
func (l *Ledger) Run() { l.box.Run() }

// Names tells whether a call of the last turn names a file, or the agent was seen to change it.
func (l *Ledger) Names(path string) bool {
	_, ok := l.named.Load(path)
	return ok
}

// UserSaved hears that the user has written a buffer: what its file has then is no command's doing.
func (l *Ledger) UserSaved(path string) { l.saved.Store(path, true) }

// BeginTurn begins a turn with the words of its prompt.
func (l *Ledger) BeginTurn(prompt string) {
	began := time.Now()
	l.named.Clear()
	l.saved.Clear()
	l.box.Put(func() { l.openTurn(prompt, began) })
}

// openTurn begins a turn. The one before may have things to come yet, see findUntold.
func (l *Ledger) openTurn(prompt string, at time.Time) {
	l.take(l.turn)
	if len(l.history.Undone) > 0 {
		l.history.Begin()
		l.saveSoon()
	}
	t := &turn{Turn: turns.Begin(prompt, at)}
	l.turn = t
	l.scans.scan(func(snap *checkpoint.Snapshot) { t.before, t.first = l.scans.previous, snap })
	// What a buffer once showed is no longer known to be the user's.
	clear(l.loaded)
	clear(l.removed)
}

// take puts what a turn, which may be nil, has changed up to now among what can be undone.
func (l *Ledger) take(t *turn) {
	if t == nil {
		return
	}
	l.history.Take(t.Turn)
	for _, f := range t.Files {
		if f.Before.Exists && (!f.After.Exists || f.Before.Opaque) {
			l.originals.keepBeginning(t, cmp.Or(f.OldPath, f.Path), f.Before)
		}
	}
}

// EndTurn returns the number of the turn's end, which is not to be told before [Ledger.Told] says so.
func (l *Ledger) EndTurn() int {
	var over []*before
	for call, f := range l.calls {
		if !call.Status.Finished() {
			l.settle(call, f)
			delete(l.calls, call) // what the agent says of it later counts as new
		}
		over = append(over, f.before)
		f.before = nil
		clear(f.asked)
	}
	l.ends++
	end := l.ends
	var t *turn
	l.box.Put(func() { t = l.turn }) // when the job runs the next may have begun
	l.job(func(done func()) {
		for _, b := range over {
			delete(l.open, b)
		}
		// What is gone may have been moved, which only the folders tell.
		var gone []string
		there := func(seen sight) bool {
			if !seen.Exists {
				gone = append(gone, seen.path)
			}
			return seen.Exists
		}
		paths := l.record.Paths()
		if t != nil {
			t.ended = true
			paths = append(paths, t.Paths()...)
			slices.Sort(paths)
			paths = slices.Compact(paths)
		}
		l.refreshIf(t, paths, there, func() {
			l.findUntold(t, func() {
				l.refreshOnly(t, gone, func() {
					if t != nil {
						t.over = true
					}
					l.take(t)
					l.tell(nil)
					l.save()
					l.config.Put(func() { l.release(end) })
					done()
				})
			})
		})
	})
	time.AfterFunc(maxHeld, func() { l.config.Put(func() { l.release(end) }) })
	return end
}

// Told tells whether the end of a turn may be told: what was changed before it is in the record.
func (l *Ledger) Told(end int) bool { return end <= l.told }

// release lets the ends of turns be told.
func (l *Ledger) release(end int) {
	if l.told < end {
		l.told = end
		l.config.Hurry()
	}
}

// Close ends it, and returns when what is to be saved is on its way; whatever waits is told without it.
func (l *Ledger) Close() {
	l.told = l.ends
	saved := make(chan struct{})
	if l.box.Put(func() {
		l.save()
		close(saved)
	}) {
		l.box.Close()
		<-saved
	}
}

// job runs f on the ledger's goroutine when all jobs before it are done.
func (l *Ledger) job(f func(done func())) {
	l.box.Put(func() {
		if l.jobs = append(l.jobs, f); len(l.jobs) == 1 {
			f(l.next)
		}
	})
}

func (l *Ledger) next() {
	if l.jobs = l.jobs[1:]; len(l.jobs) > 0 {
		l.jobs[0](l.next)
	}
}

// Then runs f on the ledger's goroutine when what was asked for before is done.
func (l *Ledger) Then(f func()) {
	l.job(func(next func()) {
		f()
		next()
	})
}

// Took takes a write of the agent's through its client, by "fs", or a change on the disk under a loaded
// buffer, by "disk". One that the user has decided about before it was made is kept.
func (l *Ledger) Took(w buffers.Written, by string, reviewed bool) {
	l.box.Put(func() {
		var was, is review.Content
		known, ok := l.record.File(w.Path)
		switch {
		case w.Before != nil:
			was = textContent(*w.Before)
		case w.Created:
			was = l.openHad(w.Path)
		case ok:
			was = known.Present
		default:
			was = review.Opaque("not known")
		}
		switch {
		case w.Deleted && l.isGone(w.Path):
			return // a call of the agent's has told
		case w.Deleted:
		case w.After != nil:
			is = textContent(*w.After)
		}
		l.agentChanged(l.turn, w.Path, was, is)
		if reviewed {
			keepWritten(l.record, w.Path, was, is)
		}
		l.named.Store(w.Path, true)
		l.last[w.Path] = is.Mark()
		l.version[w.Path]++
		l.loaded[w.Path] = l.loaded[w.Path] || w.Buf != 0
		for b := range l.open {
			switch seen, ok := b.files[w.Path]; {
			case is.Opaque:
				delete(b.files, w.Path) // a look may know it by another mark
			case ok:
				seen.Content = is
				b.files[w.Path] = seen
			}
		}
		l.tell([]Event{{w.Path, by}})
	})
}

// agentChanged takes a change of the agent's in a turn, which may be nil.
func (l *Ledger) agentChanged(t *turn, path string, was, is review.Content) {
	if f, known := l.record.File(path); known && is.Opaque {
		// The record forgets the texts of what is no text any more.
		l.originals.keepText(path, f.Baseline)
		l.originals.keepText(path, f.Accepted)
	}
	l.record.Changed(path, was, is)
	if t != nil {
		t.Changed(path, was, is)
	}
	if was.Exists && !is.Exists {
		l.removed[path] = was.Mark()
	}
}

// agentMoved takes a move by the agent in a turn, which may be nil.
func (l *Ledger) agentMoved(t *turn, from, to string, was, is review.Content) {
	l.record.Moved(from, to, was, is)
	if t != nil {
		t.Moved(from, to, was, is)
	}
}

// userNow brings what is known of a file in step with what the user has.
func (l *Ledger) userNow(path string, now review.Content) {
	if !now.Exists {
		l.record.Removed(path)
		return // an undo of the turn says so
	}
	l.record.Now(path, now)
}

// openHad is what a file was before a call that is not compared yet: where nothing is now the call has removed
// it, or moved it away.
func (l *Ledger) openHad(path string) (was review.Content) {
	for b := range l.open {
		if seen := b.files[path]; seen.Exists {
			was = seen.Content
		}
	}
	return was
}

// sawOpen tells the calls that are under way what a file is before they go on.
func (l *Ledger) sawOpen(path string, is review.Content) {
	for b := range l.open {
		if seen, ok := b.files[path]; ok {
			seen.Content = is
			b.files[path] = seen
		}
	}
}

// isGone tells whether the record knows that the agent has removed a file, or has moved it away.
func (l *Ledger) isGone(path string) bool {
	last, known := l.last[path]
	f, recorded := l.record.File(path)
	return known && !last.Exists && (!recorded || !f.Present.Exists)
}

// tell hands what is new in the record to the session, and events that follow it.
func (l *Ledger) tell(events []Event) {
	changed, gone := l.record.Take()
	if len(changed)+len(gone) > 0 {
		l.saveSoon()
	}
	l.config.Changed(changed, gone, events)
}
