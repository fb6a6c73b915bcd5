package host

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

const (
	maxReviewed = 10 << 20 // bytes of a file that is compared by lines
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
	box     *mailbox // of the goroutine that owns the record
	named   sync.Map // paths that calls of this turn name, or that the agent was seen to change
	saved   sync.Map // paths that the user has written in this turn

	// The fields below belong to the session's goroutine.

	calls map[*session.ToolCall]*followedCall
	ends  int // of turns
	told  int // how many of them may be told: what was changed before is in the record

	// The fields below belong to the goroutine of box.

	ledger
	checkpoints
	open    map[*before]bool          // of this turn's calls
	last    map[string]review.Content // by path, what the agent last left there, without its text
	loaded  map[string]bool           // by path, whether a buffer was seen to show it
	version map[string]int            // by path, how often took has changed it
	jobs    []func(done func())       // one after the other; the first is running
}

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

// sight is a file as it was once.
type sight struct {
	path    string // the real one; "" where it could not be looked at
	loaded  bool
	mode    fs.FileMode
	large   bool // known by its time and size alone
	written time.Time
	review.Content
}

func newChanges(s *Session) *changes {
	return &changes{
		session: s, box: newMailbox(),
		calls:   map[*session.ToolCall]*followedCall{},
		ledger:  newLedger(),
		open:    map[*before]bool{},
		last:    map[string]review.Content{},
		loaded:  map[string]bool{},
		version: map[string]int{},
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
	c.box.put(func() { c.openTurn(prompt, began) })
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
	c.box.put(func() { t = c.turn }) // when the job runs the next may have begun
	c.job(func(done func()) {
		for _, b := range over {
			delete(c.open, b)
		}
		c.refresh(t, func() {
			c.findUntold(t, func() {
				c.take(t)
				c.tell(nil)
				c.saveSoon()
				c.session.box.put(func() { c.release(end) })
				done()
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

// close ends it; whatever waits is told without it.
func (c *changes) close() {
	c.told = c.ends
	c.box.put(c.save)
	c.box.close()
}

// job runs f on the goroutine of box when all jobs before it are done.
func (c *changes) job(f func(done func())) {
	c.box.put(func() {
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

// follow looks at the files of a call when it names them, which is before it changes them unless the agent
// is fast, and when it has ended. A replay is no change.
func (c *changes) follow(call *session.ToolCall) {
	f := c.calls[call]
	if f == nil {
		if !c.session.turnOpen && !c.session.working.recent() {
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
				c.keepDisk(seen.path, seen.Content)
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

// took takes a write of the agent's through its client, by "fs", or a change on the disk under a loaded
// buffer, by "disk". Any goroutine.
func (c *changes) took(w buffers.Written, by string) {
	accepted := by == "fs" && c.session.host.reviewBefore.Load()
	c.box.put(func() {
		var was, is review.Content
		known, ok := c.record.File(w.Path)
		switch {
		case w.Before != nil:
			was = textContent(*w.Before)
		case w.Created:
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
		if accepted {
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

// isGone tells whether the record knows that the agent has removed a file, or has moved it away.
func (c *changes) isGone(path string) bool {
	last, known := c.last[path]
	f, recorded := c.record.File(path)
	return known && !last.Exists && (!recorded || !f.Present.Exists)
}

func changedEvent(path, by string) event {
	return event{name: "AcpFileChanged", data: map[string]any{"path": path, "by": by}}
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

// refresh brings the record in step with the files as they are, then calls done. What has changed under a
// buffer is the user's. A file that no buffer has shown was changed by a command of the agent's, if since
// a turn began, which is nil where none runs.
func (c *changes) refresh(t *turn, done func()) {
	var paths []string
	for _, f := range c.record.Files() {
		paths = append(paths, f.Path)
	}
	c.refreshOnly(t, paths, done)
}

func (c *changes) refreshOnly(t *turn, paths []string, done func()) {
	c.seeAll(paths, func(now []sight) {
		for i, seen := range now {
			f, ok := c.record.File(paths[i])
			if !ok || seen.path != paths[i] || f.Present == seen.Content || f.Present == seen.Mark() {
				continue
			}
			if c.loaded[seen.path] || seen.large || t == nil || seen.Exists && seen.written.Add(coarse).Before(t.At) ||
				c.session.host.worker(seen.path) != c.session {
				c.userNow(seen.path, seen.Content)
				continue
			}
			c.agentChanged(t, seen.path, f.Present, seen.Content)
			c.last[seen.path] = seen.Mark()
			c.tell([]event{changedEvent(seen.path, "disk")})
		}
		done()
	})
}

// see looks at a file; done runs on the goroutine of box. With settle what the disk has reaches the file's
// buffer first.
func (c *changes) see(path string, settle bool, done func(sight)) {
	answer := func(seen buffers.Seen, err error) {
		s := sight{path: seen.Path, loaded: seen.Loaded, mode: seen.Mode, written: time.Unix(seen.Disk.Sec, seen.Disk.Nsec)}
		switch {
		case err != nil:
			s.path = ""
		case !seen.Exists:
		case seen.Large:
			s.large, s.Content = true, review.Opaque(fmt.Sprint(seen.Disk))
		default:
			s.Content = textContent(seen.Text)
		}
		c.box.put(func() {
			if s.loaded {
				c.loaded[s.path] = true
			}
			c.sawMode(s.path, s.mode)
			done(s)
		})
	}
	w := c.session.host.watching()
	if w == nil {
		answer(buffers.Seen{}, errSessionClosed)
		return
	}
	w.Look(path, settle, maxReviewed, answer)
}

// seeAll looks at files, all of them as they are at the end: one that took has changed meanwhile counts as
// not looked at.
func (c *changes) seeAll(paths []string, done func([]sight)) {
	found := make([]sight, len(paths))
	versions := make([]int, len(paths))
	missing := len(paths)
	if missing == 0 {
		done(found)
		return
	}
	for i, path := range paths {
		c.see(path, true, func(seen sight) {
			found[i], versions[i] = seen, c.version[seen.path]
			if missing--; missing > 0 {
				return
			}
			for i := range found {
				if c.version[found[i].path] != versions[i] {
					found[i] = sight{}
				}
			}
			done(found)
		})
	}
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
	s.box.put(func() {
		s.reviewed(changed, gone)
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

// list gives Lua what the quickfix list shows of the record, brought up to date: all, or what is to be
// decided.
func (c *changes) list(all bool, callback int) {
	open := c.session.turnOpen
	c.job(func(done func()) {
		var t *turn
		if open {
			t = c.turn
		}
		c.refresh(t, func() {
			c.tell(nil)
			files := c.record.Files()
			slices.SortFunc(files, func(a, b review.File) int { return cmp.Compare(a.Path, b.Path) })
			items := []any{}
			for _, f := range files {
				items = append(items, entries(f, all)...)
			}
			failure := ""
			if len(items) == 0 && len(files) > 0 {
				failure = "all changes are decided: :Acp changes all lists them"
			}
			c.session.box.put(func() { c.session.host.callback(callback, items, failure) })
			done()
		})
	})
}

// entries are the lines of the quickfix list about a file: all, or what is to be decided.
func entries(f review.File, all bool) []any {
	if !all && f.State != review.Pending {
		return nil
	}
	decided := map[review.State]string{review.Kept: "✓ kept  ", review.Rejected: "✗ refused  "}
	whole := map[review.Status]string{
		review.Added: "new", review.Deleted: "deleted", review.Modified: "changed", review.Moved: "moved from " + f.OldPath,
	}[f.Status]
	whole = decided[f.State] + whole
	entry := map[string]any{"path": f.Path, "line": 1, "text": whole, "gone": f.Status == review.Deleted}
	switch {
	case f.Status == review.Deleted:
		if n := len(f.Hunks); n > 0 {
			entry["text"] = fmt.Sprintf("%s  −%d", whole, f.Hunks[0].OldCount)
		}
		return []any{entry}
	case len(f.Hunks) == 0:
		if f.Present.Opaque {
			entry["text"] = whole + " (not compared: no text, or too large)"
		}
		return []any{entry}
	}
	var list []any
	if f.Status == review.Moved {
		list = append(list, entry)
	}
	for _, h := range f.Hunks {
		text := fmt.Sprintf("+%d −%d  %s", h.NewCount, h.OldCount, f.FirstLine(h))
		if f.Status == review.Added {
			text = "new  " + text
		}
		if text = decided[h.State] + text; !all && h.State != review.Pending {
			continue
		}
		list = append(list, map[string]any{"path": f.Path, "line": max(h.NewStart, 1), "text": text, "gone": false})
	}
	return list
}

// mirrorFile is a file as Lua keeps it; of each hunk its four numbers, and its state by a letter.
func mirrorFile(f review.File) any {
	hunks := make([]int, 0, 4*len(f.Hunks))
	states := make([]byte, len(f.Hunks))
	for i, h := range f.Hunks {
		hunks = append(hunks, h.OldStart, h.OldCount, h.NewStart, h.NewCount)
		states[i] = h.State[0]
	}
	m := map[string]any{"path": f.Path, "status": string(f.Status), "state": string(f.State), "hunks": hunks, "states": string(states)}
	if f.OldPath != "" {
		m["old_path"] = f.OldPath
	}
	return m
}

// textContent is a text for the record, without it where it is too long.
func textContent(text string) review.Content {
	c := review.Text(text)
	if len(text) > maxReviewed {
		return c.Mark()
	}
	return c
}
