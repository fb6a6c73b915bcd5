package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// followedCall is what is known already of a call that changes files.
type followedCall struct {
	read    reading
	touched touched
	asked   map[string]bool // paths that were looked at in this turn
	before  *before         // what they were then; nil before the first look
	settled bool            // it has ended, and its files were looked at
}

// reading tells by where they are in memory whether a call has other fields than when it was read: they are
// replaced, and content is appended to.
type reading struct {
	kind    session.ToolKind
	input   *byte
	content *session.ToolCallContent
	length  int
	places  *session.Location
}

func readingOf(call *session.ToolCall) reading {
	return reading{call.Kind, first(call.RawInput), first(call.Content), len(call.Content), first(call.Locations)}
}

func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// before is what the files of a call were before it changed them. Its fields belong to the goroutine of
// changes.box.
type before struct {
	files   map[string]sight // by real path
	missing int              // files that are not looked at yet
	waiting []func()
}

// follow looks at the files of a call when it names them, which is before it changes them unless the agent
// is fast, and when it has ended. A replay is no change.
func (c *changes) follow(call *session.ToolCall) {
	f := c.calls[call]
	if f == nil {
		if !c.session.outbox.turnOpen() && !c.session.working.recent() {
			return
		}
		f = &followedCall{asked: map[string]bool{}}
		c.calls[call] = f
	}
	if !slices.Contains(harmless, call.Kind) {
		c.worked.Store(true)
	}
	if now := readingOf(call); now != f.read {
		f.read, f.touched = now, touchedBy(call, c.session.absolute)
	}
	c.look(f)
	switch finished := call.Shown().Finished(); {
	case !finished:
		f.settled = false
	case !f.settled:
		f.settled = true
		c.settle(call, f)
	}
}

// look takes down what those files of a call are that were not looked at yet. The looks are in order with
// what the agent asks for from now on.
func (c *changes) look(f *followedCall) {
	var fresh []string
	for _, path := range f.touched.paths {
		if !f.asked[path] {
			f.asked[path] = true
			fresh = append(fresh, path)
			c.named.Store(path, true)
		}
	}
	if len(fresh) == 0 {
		return
	}
	if f.before == nil {
		f.before = &before{files: map[string]sight{}}
	}
	b := f.before
	c.box.put(func() {
		c.open[b] = true
		b.missing += len(fresh)
	})
	for _, path := range fresh {
		c.see(path, false, func(seen sight) {
			if _, known := b.files[seen.path]; seen.path != "" && !known {
				seen.Content = c.beforeTurn(seen)
				c.originals.keepDisk(seen.path, seen.Content)
				b.files[seen.path] = seen
				c.named.Store(seen.path, true)
			}
			if b.missing--; b.missing == 0 {
				waiting := b.waiting
				b.waiting = nil
				for _, f := range waiting {
					f()
				}
			}
		})
	}
}

// beforeTurn is what a file was before the agent began to change it, where a look came too late: the agent has
// changed it since the turn began, or is in the middle of writing it, when a file often is empty.
func (c *changes) beforeTurn(seen sight) review.Content {
	t := c.turn
	_, users := c.saved.Load(seen.path)
	empty := seen.Exists && !seen.Opaque && seen.Text == ""
	if t == nil || users || seen.loaded || !seen.Exists || !empty && seen.since.Before(t.At) ||
		c.session.host.claimed(seen.path, c.session) {
		return seen.Content
	}
	if was, ok := c.record.Present(seen.path); ok {
		return was
	}
	for _, snap := range []*checkpoint.Snapshot{t.first, t.before} {
		if snap == nil {
			continue
		}
		if s := snap.State(seen.path); s.Kind == checkpoint.File && s.ModTime < t.At.UnixNano() {
			if was, ok := c.originals.content(s); ok {
				return was
			}
		}
	}
	return seen.Content
}

// settle compares the files of a call that has ended with what they were.
func (c *changes) settle(call *session.ToolCall, f *followedCall) {
	t, b := f.touched, f.before
	if b == nil {
		return // it names none
	}
	completed := call.Status == session.StatusCompleted
	var in *turn
	c.box.put(func() { in = c.turn })
	c.job(func(done func()) {
		compare := func() {
			c.seeAll(t.paths, func(now []sight) {
				if events := c.compare(in, t, b, now, completed); len(events) > 0 {
					c.tell(events)
				}
				done()
			})
		}
		if b.missing > 0 {
			b.waiting = append(b.waiting, compare)
		} else {
			compare()
		}
	})
}

// compare brings into the record what has become of the files of a call, and gives the events of it.
// completed says that the call has done what it says.
func (c *changes) compare(in *turn, t touched, b *before, now []sight, completed bool) (events []event) {
	files := map[string]sight{} // by real path
	real := map[string]string{} // by path as named
	for i, seen := range now {
		if seen.path != "" {
			files[seen.path], real[t.paths[i]] = seen, seen.path
		}
	}
	tell := func(path string, is review.Content) {
		c.last[path] = is.Mark()
		events = append(events, changedEvent(path, "disk"))
	}
	moved := map[string]bool{}
	for _, m := range t.moves {
		from, to := real[m[0]], real[m[1]]
		was, over, is := b.files[from].Content, b.files[to].Content, files[to].Content
		if from == "" || to == "" || files[from].Exists || !is.Exists {
			continue
		}
		switch {
		case was.Exists && !over.Exists:
		case completed && !was.Exists && over == is && !c.isGone(from):
			// It was moved before it could be looked at.
			was = is
			if f, ok := c.record.File(from); ok {
				was = f.Present
			}
		default:
			continue
		}
		c.agentMoved(in, from, to, was, is)
		c.last[from] = review.Content{}
		tell(to, is)
		moved[from], moved[to] = true, true
	}
	for _, seen := range now {
		path, is := seen.path, seen.Content
		was, known := b.files[path]
		if !known {
			continue
		}
		b.files[path] = seen
		switch {
		case moved[path]:
			continue
		case was.loaded && seen.loaded && (is.Exists || !was.Exists):
			continue // the watch tells
		}
		old := was.Content
		if completed && c.tooLate(t, real, path, old, is) {
			if rebuilt, ok := withoutDiffs(t, real, path, is); ok {
				old = rebuilt
			} else {
				c.worked.Store(true) // what the folders were when the turn began tells
			}
		}
		if old != is {
			c.agentChanged(in, path, old, is)
			tell(path, is)
		}
	}
	return events
}

// tooLate tells that a file was not looked at before the agent changed it: it had then what it has now, or
// was in the middle of being written.
func (c *changes) tooLate(t touched, real map[string]string, path string, old, is review.Content) bool {
	if old == is {
		last, known := c.last[path]
		return !known || last != is.Mark()
	}
	return old.Text == "" && !old.Opaque && slices.ContainsFunc(t.diffs, func(d session.Diff) bool {
		return real[d.Path] == path && d.OldText != nil && *d.OldText != ""
	})
}

// withoutDiffs takes the diffs of a call out of what it has left.
func withoutDiffs(t touched, real map[string]string, path string, is review.Content) (review.Content, bool) {
	if is.Opaque {
		return is, false
	}
	text, found := is.Text, false
	for _, d := range slices.Backward(t.diffs) {
		switch {
		case real[d.Path] != path:
		case !is.Exists && d.OldText != nil && (d.NewText == nil || *d.NewText == ""):
			return textContent(*d.OldText), true
		case !is.Exists || d.NewText == nil:
		case d.OldText != nil:
			if was, ok := review.Undone(text, *d.OldText, *d.NewText, t.lines[d.Path]); ok {
				text, found = was, true
			}
		case d.Operation == session.OperationAdd:
			return review.Content{}, true
		}
	}
	return textContent(text), found
}
