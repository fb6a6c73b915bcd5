package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
)

// This file has looking for the changes of a session's tool calls in their files, once, in the background.

const (
	// comparedAtOnce is how much text of a change is compared on the session's
	// goroutine, in bytes.
	comparedAtOnce = 128 << 10
	// longestHeld is how long the end of a turn is not told while a change is
	// looked for.
	longestHeld = time.Second
	// largestFile is how large a file may be to be searched for a change, in bytes.
	largestFile = 64 << 20
	// wholeTexts is how much of whole files is kept for changes, in bytes; of
	// older ones only the hunks, of which hunkTexts is kept, and of still older
	// ones only topLines lines.
	wholeTexts = 32 << 20
	hunkTexts  = 8 << 20
	topLines   = 200
)

// diffs are the changes that a session's calls tell of. Each is looked for in
// its file once, when it comes; what was found then stays, as the file goes on
// changing. It belongs to the session's goroutine.
type diffs struct {
	calls   map[*session.ToolCall][]*change
	waiting []*change // to be looked for, oldest first
	working bool      // the first of them, or those of its file, are being looked for
	began   time.Time // when that began
	whole   kept      // with the whole texts
	hunks   kept      // with all hunks
	after   []waiter
	asked   map[string][]session.Diff // by the id of the call: what was asked last, and is answered
}

// change is a change of one file by a call.
type change struct {
	call    *session.ToolCall
	told    session.Diff
	file    *diff.File // never changes, but is replaced by one of which more is known
	settled bool       // it was looked for
	looked  int        // how often
	dropped bool       // the call does not tell of it any more
}

// kept are changes whose texts together stay below a limit.
type kept struct {
	list []*change // oldest first
	size int       // of their texts, in bytes
}

// add takes a change, and returns those that are too much now.
func (k *kept) add(c *change, limit int) (over []*change) {
	k.list = append(k.list, c)
	k.size += c.size()
	for len(k.list) > 1 && k.size > limit {
		over = append(over, k.list[0])
		k.size -= k.list[0].size()
		k.list = k.list[1:]
	}
	return over
}

// drop forgets the changes that no call tells of any more, or that are looked
// for again.
func (k *kept) drop() {
	k.list = slices.DeleteFunc(k.list, func(c *change) bool {
		gone := c.dropped || !c.settled
		if gone {
			k.size -= c.size()
		}
		return gone
	})
}

// waiter waits until all changes of a call were looked for.
type waiter struct {
	call *session.ToolCall
	then func()
}

// files are the changes that a call tells of, in its order, as much as is known
// of them now: before a change is located in its file (see [Session.whenLocated])
// it is what the agent told. Paths are the agent's. Only for the session's
// goroutine; what the files point to is shared and never changes.
func (s *Session) files(call *session.ToolCall) []diff.File {
	shared := s.sharedFiles(call)
	files := make([]diff.File, len(shared))
	for i, f := range shared {
		files[i] = *f
	}
	return files
}

// sharedFiles is files for the chat: the same pointers while nothing more is
// known.
func (s *Session) sharedFiles(call *session.ToolCall) []*diff.File {
	changes := s.diffs.calls[call]
	files := make([]*diff.File, len(changes))
	for i, c := range changes {
		files[i] = c.file
	}
	return files
}

// whenLocated calls then once, on the session's goroutine, when all changes that
// the call has now were looked for in their files: at once where nothing is
// awaited. It is not called when the session is closed before. Only for the
// session's goroutine.
func (s *Session) whenLocated(call *session.ToolCall, then func()) {
	s.diffs.after = append(s.diffs.after, waiter{call, then})
	s.callWaiters()
}

// locating tells whether the end of a turn waits for changes to be looked for: not
// for ever, and not in a session that has ended.
func (s *Session) locating() bool {
	return s.diffs.working && s.phase != dead && time.Since(s.diffs.began) < longestHeld
}

func (s *Session) callWaiters() {
	var ready []waiter
	s.diffs.after = slices.DeleteFunc(s.diffs.after, func(w waiter) bool {
		located := !slices.ContainsFunc(s.diffs.calls[w.call], func(c *change) bool { return !c.settled })
		if located {
			ready = append(ready, w)
		}
		return located
	})
	for _, w := range ready {
		w.then()
	}
}

// followDiffs learns which changes a call tells of now. What it told before, and
// tells again in equal words, stays as it was found.
func (s *Session) followDiffs(call *session.ToolCall) {
	s.tellDiffs(call, s.diffsOf(call))
}

// askAboutDiffs learns which changes a request tells of now.
func (s *Session) askAboutDiffs(p *permission) {
	s.tellDiffs(&p.call, diffsIn(p.call.Content))
}

// diffsOf are the changes that a call tells of. Some agents replace them by a
// word that all is done, or was refused: then they are what the user was asked.
func (s *Session) diffsOf(call *session.ToolCall) []session.Diff {
	told := diffsIn(call.Shows())
	if len(told) == 0 && call.Shown() != session.StatusFailed {
		told = s.diffs.asked[call.ID]
	}
	return told
}

func diffsIn(content []session.ToolCallContent) []session.Diff {
	var told []session.Diff
	for _, item := range content {
		if d, ok := item.(session.Diff); ok {
			told = append(told, d)
		}
	}
	return told
}

// keepAsked remembers the changes of a request that is answered.
func (s *Session) keepAsked(p *permission) {
	told := diffsIn(p.call.Content)
	if len(told) == 0 {
		return
	}
	if s.diffs.asked == nil {
		s.diffs.asked = map[string][]session.Diff{}
	}
	s.diffs.asked[p.request.Call.ID] = told
}

func (s *Session) tellDiffs(call *session.ToolCall, told []session.Diff) {
	before := slices.Clone(s.diffs.calls[call])
	var now []*change
	for _, d := range told {
		at := slices.IndexFunc(before, func(c *change) bool { return equalDiffs(c.told, d) })
		if at < 0 {
			c := &change{call: call, told: d, file: toldFile(d)}
			now = append(now, c)
			s.diffs.waiting = append(s.diffs.waiting, c)
			continue
		}
		c := before[at]
		c.told = d
		now = append(now, c)
		before = slices.Delete(before, at, at+1)
	}
	for _, c := range before {
		c.dropped = true
	}
	if len(before) > 0 {
		s.diffs.whole.drop()
		s.diffs.hunks.drop()
	}
	if len(now) > 0 || len(before) > 0 {
		if s.diffs.calls == nil {
			s.diffs.calls = map[*session.ToolCall][]*change{}
		}
		s.diffs.calls[call] = now
		s.callWaiters()
		s.locate()
	}
}

// toldFile is a change as the agent told it; nothing of its text where to compare
// that takes long.
func toldFile(d session.Diff) *diff.File {
	size := len(d.Patch)
	for _, text := range []*string{d.OldText, d.NewText} {
		if text != nil {
			size += len(*text)
		}
	}
	f := diff.File{Path: d.Path, OldPath: d.OldPath, Operation: d.Operation, Note: "comparing …"}
	if size <= comparedAtOnce {
		f = diff.Told(d)
	}
	return &f
}

// lookAgain has the changes of a call looked for in their files as those are now.
func (s *Session) lookAgain(call *session.ToolCall) {
	for _, c := range s.diffs.calls[call] {
		if !c.settled {
			continue
		}
		c.settled = false
		s.diffs.waiting = append(s.diffs.waiting, c)
	}
	s.diffs.whole.drop()
	s.diffs.hunks.drop()
	s.locate()
}

// replace has a call tell of one change alone, which was found already. before is
// what it told last, or nil.
func (d *diffs) replace(call *session.ToolCall, told session.Diff, file diff.File) (now, before *change) {
	now = &change{call: call, told: told, file: &file, settled: true, looked: 1}
	for _, before = range d.calls[call] {
		before.dropped = true
		now.looked = before.looked + 1
	}
	d.whole.drop()
	d.hunks.drop()
	if d.calls == nil {
		d.calls = map[*session.ToolCall][]*change{}
	}
	d.calls[call] = []*change{now}
	d.keep(now)
	return now, before
}

// forgetDiffs drops the changes of a call that nobody asks for any more.
func (s *Session) forgetDiffs(call *session.ToolCall) {
	s.tellDiffs(call, nil)
	delete(s.diffs.calls, call)
}

func equalDiffs(a, b session.Diff) bool {
	equal := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	if !equal(a.OldText, b.OldText) || !equal(a.NewText, b.NewText) {
		return false
	}
	a.OldText, a.NewText = b.OldText, b.NewText
	return a == b
}

// locate looks for the changes of the file that has waited longest.
func (s *Session) locate() {
	s.diffs.waiting = slices.DeleteFunc(s.diffs.waiting, func(c *change) bool { return c.dropped })
	if s.diffs.working || len(s.diffs.waiting) == 0 {
		return
	}
	s.diffs.working, s.diffs.began = true, time.Now()
	s.later(longestHeld, s.mark)
	first := s.diffs.waiting[0].told
	var changes []*change
	s.diffs.waiting = slices.DeleteFunc(s.diffs.waiting, func(c *change) bool {
		same := c.told.Path == first.Path && c.told.OldPath == first.OldPath
		if same {
			changes = append(changes, c)
		}
		return same
	})
	told := make([]session.Diff, len(changes))
	now := make([]diff.Now, len(changes))
	for i, c := range changes {
		told[i] = c.told
		now[i].Done = c.call.Status == session.StatusCompleted
		for _, l := range c.call.Locations {
			if l.Path == c.told.Path && l.Line > 0 {
				now[i].Line = l.Line
				break
			}
		}
	}
	s.base.Background(func() {
		files := s.search(told, now)
		s.base.Box.Put(func() { s.found(changes, files) })
	})
}

// search looks for changes of one file in its text. It reads the disk and asks
// Neovim, so not on the session's goroutine.
func (s *Session) search(told []session.Diff, now []diff.Now) []*diff.File {
	path := told[0].Path
	text, err := s.peek(path)
	if old := told[0].OldPath; old != "" {
		if before, oldErr := s.peek(old); oldErr == nil {
			path, text, err = old, before, nil
		}
	}
	unsaved := sync.OnceValue(func() *buffers.Unsaved { return s.unsavedText(path) })
	files := make([]*diff.File, len(told))
	for i, d := range told {
		var f diff.File
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f = diff.Told(d)
			if f.Note == "" {
				f.Note = fmt.Sprintf("the file cannot be read: %v", cause(err))
			}
		} else {
			if err == nil {
				now[i].Text = &text
			}
			f = diff.Of(d, now[i])
			if i > 0 && !f.Located && files[i-1].Located { // edits may build on each other
				now[i].Text = &files[i-1].New
				if after := diff.Of(d, now[i]); after.Located {
					f = after
				}
			}
			if err == nil && !f.Located {
				if u := unsaved(); u != nil && u.Disk != nil {
					now[i].Text, now[i].Disk = &u.Text, u.Disk
					f = diff.Of(d, now[i])
				}
			}
		}
		files[i] = &f
	}
	return files
}

var errTooLarge = errors.New("it is too large to be searched")

// peek is the text of a file as the user has it.
func (s *Session) peek(path string) (string, error) {
	path, ok := s.base.Absolute(path)
	if !ok {
		return "", buffers.ErrNotAbsolute
	}
	if info, err := os.Stat(path); err == nil && info.Size() > largestFile {
		return "", errTooLarge
	}
	return unlessGone(s, func(done func(string, error)) { s.base.Files.Peek(context.Background(), path, done) })
}

// unlessGone waits for the answer to what ask asks of Neovim, which may be gone by then.
func unlessGone[T any](s *Session, ask func(done func(T, error))) (answer T, err error) {
	type result struct {
		answer T
		err    error
	}
	got := make(chan result, 1)
	ask(func(answer T, err error) { got <- result{answer, err} })
	select {
	case r := <-got:
		return r.answer, r.err
	case <-s.base.Editor.Gone():
		return answer, errSessionClosed
	}
}

// unsavedText is what a file's buffer and the disk have where the two differ; else nil.
func (s *Session) unsavedText(path string) *buffers.Unsaved {
	path, _ = s.base.Absolute(path)
	unsaved, err := unlessGone(s, func(done func(*buffers.Unsaved, error)) { s.base.Files.Unsaved(context.Background(), path, done) })
	if err != nil {
		return nil // as where nothing is unsaved: the change is shown as it was told
	}
	return unsaved
}

// cause is what is wrong with a file, without its name.
func cause(err error) error {
	var e *buffers.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// found takes up what was found of changes, and has them drawn anew.
func (s *Session) found(changes []*change, files []*diff.File) {
	for i, c := range changes {
		if c.dropped {
			continue
		}
		c.file, c.settled = files[i], true
		c.looked++
		s.diffs.keep(c)
		s.chat.TouchCall(c.call)
		if s.permissions.about(c.call.ID) != nil {
			s.shown.permissions = true
			s.base.Editor.Hurry(s)
		}
	}
	s.mark()
	s.diffs.working = false
	s.callWaiters()
	s.locate()
	if !s.prompts.TurnOpen() && !s.diffs.working {
		s.base.Editor.Hurry(s) // the end of the turn may have waited for it
	}
}

// keep keeps a change whole, and less of older ones.
func (d *diffs) keep(c *change) {
	for _, older := range d.whole.add(c, wholeTexts) {
		brief := older.file.Brief()
		older.file = &brief
		for _, oldest := range d.hunks.add(older, hunkTexts) {
			top := oldest.file.Top(topLines)
			oldest.file = &top
		}
	}
}

func (c *change) size() int { return len(c.file.Old) + len(c.file.New) }
