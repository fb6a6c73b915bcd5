// Package calldiff keeps the changes that a session's tool calls show, locates each in its file, and has Lua show them.
package calldiff

import (
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/feature"
)

const (
	// comparedAtOnce is how much text of a change, in bytes, is compared on the session's goroutine.
	comparedAtOnce = 128 << 10
	// MaxDelay is the longest that a search for changes delays the end of a turn.
	MaxDelay = time.Second
)

// Config is what Diffs needs of its session. All are called on the session's goroutine.
type Config struct {
	Mark  func()                       // asks for Neovim to be updated soon
	Found func(call *session.ToolCall) // a change of the call was looked for
	Idle  func()                       // the last search has ended

	Conversation *session.Conversation
	At           func(row int) *session.ToolCall // the call at a row of the chat; nil for none
	Requests     func() Requests
}

// Diffs are the changes that the tool calls of a session, and its permission requests, show. Each is located in its
// file once, when it arrives; the result stays, as the file goes on changing. It belongs to the session's goroutine.
type Diffs struct {
	base    feature.Base
	config  Config
	calls   map[*session.ToolCall][]*CallDiff
	waiting []*CallDiff // for a search, oldest first
	working bool        // a search is running
	began   time.Time   // when it began
	whole   kept        // changes with their whole texts
	hunks   kept        // changes with all of their hunks
	waiters []waiter
	asked   map[string][]session.Diff // by the call's id: what the last answered request about it showed
}

// CallDiff is a change of one file by a call.
type CallDiff struct {
	File    *diff.FileDiff // never changes, but is replaced when more is known
	Looked  int            // how often it was searched for
	Settled bool           // it was searched for, and will not be again

	call    *session.ToolCall
	told    session.Diff
	instead []*diff.FileDiff // what the call showed of the file before, until this is located
	dropped bool             // the call no longer shows it
}

// waiter waits until all changes of a call have been searched for.
type waiter struct {
	call *session.ToolCall
	then func()
}

// New returns the changes of a session that has no calls yet.
func New(base feature.Base, config Config) *Diffs {
	return &Diffs{base: base, config: config, calls: map[*session.ToolCall][]*CallDiff{}, asked: map[string][]session.Diff{}}
}

// Changes returns the changes that a call shows, in its order.
func (d *Diffs) Changes(call *session.ToolCall) []*CallDiff { return d.calls[call] }

// Files returns the changes that a call shows, in its order, as far as known: before a change is located in its file
// (see [Diffs.WhenLocated]) it is what the agent sent. Paths are the agent's. What the files point to is shared and
// never changes.
func (d *Diffs) Files(call *session.ToolCall) []diff.FileDiff {
	shared := d.Shared(call)
	files := make([]diff.FileDiff, len(shared))
	for i, f := range shared {
		files[i] = *f
	}
	return files
}

// Shared is Files without copies: a pointer stays the same while nothing more is known.
func (d *Diffs) Shared(call *session.ToolCall) []*diff.FileDiff {
	changes := d.calls[call]
	files := make([]*diff.FileDiff, len(changes))
	for i, c := range changes {
		files[i] = c.File
	}
	return files
}

// WhenLocated calls then once, on the session's goroutine, when all of the call's present changes have been searched
// for in their files, which may be at once. It is never called if the session is closed before that.
func (d *Diffs) WhenLocated(call *session.ToolCall, then func()) {
	d.waiters = append(d.waiters, waiter{call, then})
	d.callWaiters()
}

func (d *Diffs) callWaiters() {
	var ready []waiter
	d.waiters = slices.DeleteFunc(d.waiters, func(w waiter) bool {
		located := !slices.ContainsFunc(d.calls[w.call], func(c *CallDiff) bool { return !c.Settled })
		if located {
			ready = append(ready, w)
		}
		return located
	})
	for _, w := range ready {
		w.then()
	}
}

// Locating reports whether the end of a turn waits for a search, which it does for at most [MaxDelay].
func (d *Diffs) Locating() bool { return d.working && time.Since(d.began) < MaxDelay }

// Observe notes which changes a call shows now. A change that it already showed stays as it was located.
func (d *Diffs) Observe(call *session.ToolCall) { d.setTold(call, d.Of(call)) }

// Ask notes which changes a permission request shows now; call is the request's own.
func (d *Diffs) Ask(call *session.ToolCall) { d.setTold(call, session.Diffs(call.Content)) }

// Of returns the changes that a call shows, as the agent sent them. Some agents replace them with a message that it was
// done or refused: then they are those of the request about the call.
func (d *Diffs) Of(call *session.ToolCall) []session.Diff {
	told := session.Diffs(call.Shows())
	if len(told) == 0 && call.Shown() != session.StatusFailed {
		told = d.asked[call.ID]
	}
	return told
}

// Answered remembers the changes of a request that is answered; call is the request's own.
func (d *Diffs) Answered(call *session.ToolCall) {
	if told := session.Diffs(call.Content); len(told) > 0 {
		d.asked[call.ID] = told
	}
}

// Reused forgets what earlier requests about a call's id showed, because a new request reuses the id for another call.
func (d *Diffs) Reused(callID string) { delete(d.asked, callID) }

// Forget drops the changes of a call that nobody needs any more.
func (d *Diffs) Forget(call *session.ToolCall) {
	d.setTold(call, nil)
	delete(d.calls, call)
}

func (d *Diffs) setTold(call *session.ToolCall, told []session.Diff) {
	before := slices.Clone(d.calls[call])
	var now []*CallDiff
	for _, t := range told {
		at := slices.IndexFunc(before, func(c *CallDiff) bool { return c.told.Equal(t) })
		if at < 0 {
			c := &CallDiff{call: call, told: t, File: toldFile(t)}
			now = append(now, c)
			d.waiting = append(d.waiting, c)
			continue
		}
		c := before[at]
		c.told = t
		now = append(now, c)
		before = slices.Delete(before, at, at+1)
	}
	for _, c := range before {
		c.dropped = true
		for _, n := range now {
			if !n.Settled && n.told.Path == c.told.Path {
				n.instead = append(n.instead, c.File)
			}
		}
	}
	if len(before) > 0 {
		d.release()
	}
	if len(now) > 0 || len(before) > 0 {
		d.calls[call] = now
		d.callWaiters()
		d.locate()
	}
}

// toldFile returns a change as the agent sent it, without its text if comparing that would take long.
func toldFile(d session.Diff) *diff.FileDiff {
	size := len(d.Patch)
	for _, text := range []*string{d.OldText, d.NewText} {
		if text != nil {
			size += len(*text)
		}
	}
	f := diff.FileDiff{Path: d.Path, OldPath: d.OldPath, Operation: d.Operation, Note: "comparing …"}
	if size <= comparedAtOnce {
		f = diff.Told(d)
	}
	return &f
}

// LookAgain locates the changes of a call again, in their files' present text.
func (d *Diffs) LookAgain(call *session.ToolCall) {
	for _, c := range d.calls[call] {
		if !c.Settled {
			continue
		}
		c.Settled = false
		d.waiting = append(d.waiting, c)
	}
	d.release()
	d.locate()
}

// Replace makes a call show a single change that is already located. before is the last one that it showed, or nil.
func (d *Diffs) Replace(call *session.ToolCall, told session.Diff, file diff.FileDiff) (now, before *CallDiff) {
	now = &CallDiff{call: call, told: told, File: &file, Settled: true, Looked: 1}
	for _, before = range d.calls[call] {
		before.dropped = true
		now.Looked = before.Looked + 1
	}
	d.release()
	d.calls[call] = []*CallDiff{now}
	d.keep(now)
	return now, before
}
