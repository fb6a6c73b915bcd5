// Package ledger is the ledger of one session: it records what the agent does to files, in whichever way, in the record
// of changes and in the turns; it carries out the user's decisions about changes, and undoes turns.
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
	// maxHeld is the longest that a comparison of files delays the announcement of a turn's end.
	maxHeld = time.Second
)

// Ledger records what the agent does to files, by the rule in whose.go. It compares texts on a goroutine of its own,
// which owns the record, and passes the results to the session's. Any goroutine may call its methods except BeginTurn,
// EndTurn, Told, Observe and Close, which belong to the session's.
type Ledger struct {
	config Config
	box    *mailbox.Mailbox // of the goroutine that owns the record
	named  sync.Map         // paths that calls of this turn name, or that the agent was seen changing
	worked atomic.Bool      // something of this turn may have changed files

	// The fields below belong to the session's goroutine.

	calls map[*session.ToolCall]*callState
	said  map[*session.ToolCall]*callState // those updated in this turn
	ends  int                              // of turns
	told  int                              // how many of them may be announced: what was changed before is in the record

	// The fields below belong to the ledger's goroutine, that of box.

	record    *review.Record
	turn      *turn // the last one; nil before the first, and when something was undone since
	history   turns.History
	originals originals
	scans     scanner
	keep      keeping

	loaded  map[string]bool     // by path, whether a buffer is known to show it
	version map[string]int      // by path, how often took has changed it
	inStep  map[string]inStep   // by path, of files with unsaved text
	behind  map[string][]behind // by path, the agent's changes under unsaved text, the oldest first
	taken   map[string]taken    // by path, see noteTaken
	applies map[string]bool     // paths that a decision or an undo is changing: it looks at the outcome itself
	// followed has, by path, what buffers had before they followed the disk, of those with nothing unsaved, until it is known
	// what was saved of the session; then it is nil.
	followed map[string]review.Content
	// resuming says that what was saved is being brought in step with the files: that will cover all that is told of
	// them meanwhile.
	resuming bool
	// interrupted is the turn that ran when the session's last host ended, until it is taken up.
	interrupted *turn
	jobs        []func(done func()) // one after the other; the first is running
}

// turn is what a turn has changed, with the files as they were when it began and as seen since.
type turn struct {
	*turns.Turn
	first   *checkpoint.Snapshot // of the folders when it began; may be nil
	before  *checkpoint.Snapshot // one look earlier; may be nil
	asked   bool                 // its prompt may be with the agent
	late    bool                 // that was before first was whole
	seen    map[string]review.Content
	disk    map[string]review.Content   // of files that buffers show, as was told last
	guessed map[string]bool             // those of seen that were unknown before a call named them
	saved   map[string]bool             // paths that the user has written last
	unread  map[string]int              // how many writes by the user are still to be looked at
	renamed map[string]string           // from the old name to what the user has renamed it to
	away    map[string]string           // the same for what they had renamed before it
	copies  map[string]bool             // the paths that it was given
	left    map[string]buffers.Identity // by the old name, the file that was still there then
	at      map[buffers.Identity]string // where files were last seen
	wasLeft map[string]leftFile         // what that was when it was gone
	carried map[string]inStep           // what was said of old names with the unsaved text that went to the new ones
	gone    map[string]review.Content   // by path, the content before the agent removed it
	fresh   map[string]string           // from new paths, by the folders at its end, to where the file was when it began
	waits   map[string]bool             // paths with something that waits for first
	looked  map[string]lookedNew        // new files that a look took for the agent's, by path
	ended   time.Time                   // zero while it runs
	over    bool                        // it has ended, and its changes are known

	previous *turn // while that is not over; may be nil

	// See interrupted.go.

	noted   string // under which session's key it is noted that it runs; "" is not
	unnoted bool   // the log says why it is not
}

func newTurn(prompt string, at time.Time) *turn {
	return &turn{
		Turn: turns.Begin(prompt, at), seen: map[string]review.Content{}, disk: map[string]review.Content{}, guessed: map[string]bool{}, saved: map[string]bool{}, unread: map[string]int{},
		renamed: map[string]string{}, copies: map[string]bool{}, left: map[string]buffers.Identity{}, at: map[buffers.Identity]string{}, wasLeft: map[string]leftFile{}, carried: map[string]inStep{}, gone: map[string]review.Content{}, fresh: map[string]string{}, waits: map[string]bool{}, looked: map[string]lookedNew{},
	}
}

// New returns a ledger, which does nothing before [Ledger.Run].
func New(config Config) *Ledger {
	box := mailbox.New()
	l := &Ledger{
		config: config, box: box,
		calls:     map[*session.ToolCall]*callState{},
		said:      map[*session.ToolCall]*callState{},
		originals: originals{store: config.Store, of: map[version]checkpoint.Sum{}},
		scans:     scanner{config: config, box: box},
		loaded:    map[string]bool{},
		inStep:    map[string]inStep{},
		taken:     map[string]taken{},
		behind:    map[string][]behind{},
		version:   map[string]int{},
		followed:  map[string]review.Content{},
		applies:   map[string]bool{},
	}
	l.records(review.New(maxRecorded))
	return l
}

// records has the ledger use a record. What that forgets may have to come back.
func (l *Ledger) records(r *review.Record) {
	l.record, r.Forgets = r, l.originals.keepText
}

// Run is the goroutine that owns the record; it returns after [Ledger.Close].
func (l *Ledger) Run() { l.box.Run() }

// Names reports whether a call of the last turn names a file, or the agent was seen changing it.
func (l *Ledger) Names(path string) bool {
	_, ok := l.named.Load(path)
	return ok
}

// Worked notes that the agent does something that may change files without naming them.
func (l *Ledger) Worked() { l.worked.Store(true) }

// BeginTurn begins a turn with the text of its prompt. ready is called, on any goroutine, when the state of the files
// is known, or has taken too long: then the prompt may go out.
func (l *Ledger) BeginTurn(prompt string, ready func()) {
	began := time.Now()
	l.named.Clear()
	l.worked.Store(false)
	t := newTurn(prompt, began)
	var once sync.Once
	goOn := func() {
		once.Do(func() {
			l.box.Put(func() { t.asked, t.late = true, t.first == nil })
			ready()
		})
	}
	wait := maxWait
	if l.scans.first.Load() {
		wait += maxFirst
	}
	time.AfterFunc(wait, goOn)
	if !l.box.Put(func() { l.openTurn(t, goOn) }) {
		goOn()
	}
}

// openTurn begins a turn. The one before may still be unfinished, see EndTurn.
func (l *Ledger) openTurn(t *turn, looked func()) {
	l.renamedSince()
	l.take(l.turn)
	l.record.NewTurn()
	l.trim()
	if len(l.history.Undone) > 0 {
		l.history.Begin()
		l.saveSoon()
	}
	switch {
	case l.turn == nil:
	case l.turn.over:
		t.away = l.turn.renamed
	default:
		t.previous = l.turn
	}
	l.turn, l.followed = t, nil
	clear(l.loaded)
	if w := l.config.Watch(); w != nil {
		for _, path := range w.Loaded() {
			l.loaded[path] = true
		}
	}
	// Buffers are looked at between what the user did before and what they do next: together it would look different.
	l.refresh(slices.DeleteFunc(l.changed(), func(path string) bool { return !l.loaded[path] }), func() {})
	l.scans.scan(func(snap *checkpoint.Snapshot) {
		t.before, t.first = l.scans.previous, snap
		looked()
		l.writeDown(t)
	})
}

// lastTurn returns the last turn, which may still change; nil before the first, and when something was undone since.
func (l *Ledger) lastTurn() *turns.Turn {
	if l.turn == nil {
		return nil
	}
	return l.turn.Turn
}

// take makes what a turn, which may be nil, has changed so far undoable, without what was refused of those before it.
func (l *Ledger) take(t *turn) {
	l.history.Gather()
	if t == nil {
		return
	}
	l.history.Take(t.Turn)
	for _, f := range t.Files {
		if f.Before.Opaque {
			l.originals.keepBeginning(t, cmp.Or(f.OldPath, f.Path), f.Before)
		}
	}
}

// EndTurn returns the number of the turn's end, which must not be announced before [Ledger.Told] allows it. over is
// called on the session's goroutine when the turn's changes are known.
func (l *Ledger) EndTurn(over func()) int {
	for call, f := range l.said {
		if !call.Status.Finished() {
			l.settle(call, f)
			delete(l.calls, call) // a later update of it counts as new
		}
		f.asked = map[string]bool{}
	}
	l.said = map[*session.ToolCall]*callState{} // a map that was once large stays slow
	l.ends++
	end := l.ends
	worked := l.worked.Swap(false)
	ended := time.Now()
	var t *turn
	l.box.Put(func() {
		if t = l.turn; t != nil { // the next may have begun by the time the job runs
			t.ended = ended
		}
	})
	l.job(func(done func()) {
		l.seeAtEnd(t, worked, func() {
			l.take(t)
			l.report(nil)
			l.save()
			l.whenSaved(func() { l.crossOut(t) })
			l.config.Put(func() {
				l.release(end)
				over()
			})
			done()
		})
	})
	time.AfterFunc(maxHeld, func() { l.config.Put(func() { l.release(end) }) })
	return end
}

// Told reports whether the end of a turn may be announced: what was changed before it is in the record.
func (l *Ledger) Told(end int) bool { return end <= l.told }

// release allows the ends of turns to be announced.
func (l *Ledger) release(end int) {
	if l.told < end {
		l.told = end
		l.config.Hurry()
	}
}

// Close ends it, and returns when the last save is on its way; ends of turns that wait are announced without it.
func (l *Ledger) Close() {
	l.told = l.ends
	saved := make(chan struct{})
	if l.box.Put(func() {
		l.save()
		l.scans.end()
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

// report passes what is new in the record to the session, followed by events.
func (l *Ledger) report(events []Event) {
	changed, gone := l.record.Take()
	l.saveSoon() // also what turns and unsaved text have come to without it
	l.config.Changed(changed, gone, events)
}
