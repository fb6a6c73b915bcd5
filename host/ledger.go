package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// ledger is what is known of the agent's changes in a session, and of its turns. It belongs to the goroutine
// of changes.box.
type ledger struct {
	record *review.Record
	turn   *turn    // the last one; nil before the first, and when something was undone since
	turns  []*turn  // those that changed something, oldest first; see undo.go
	undone []undone // the last of them can be done again

	originals map[version]original // of what may have to be put back byte for byte
}

// version is a content at a path, by what marks it.
type version struct{ Path, Mark string }

// original is what a file was byte for byte.
type original struct {
	Sum  checkpoint.Sum // in the store
	Mode fs.FileMode    // its permission bits
}

// modes are permission bits at the beginning of a turn, and as last seen; 0 where there was no file.
type modes struct{ Before, After fs.FileMode }

func newLedger() ledger {
	return ledger{record: review.New(maxRecorded), originals: map[version]original{}}
}

// agentChanged takes a change of the agent's in a turn, which may be nil.
func (l *ledger) agentChanged(t *turn, path string, was, is review.Content) {
	l.record.Changed(path, was, is)
	if t != nil {
		t.record.Changed(path, was, is)
	}
}

// agentMoved takes a move by the agent in a turn, which may be nil.
func (l *ledger) agentMoved(t *turn, from, to string, was, is review.Content) {
	l.record.Moved(from, to, was, is)
	if t != nil {
		t.record.Moved(from, to, was, is)
	}
}

// userNow brings what is known of a file in step with what the user has.
func (l *ledger) userNow(path string, now review.Content) {
	l.record.Now(path, now)
	if l.turn != nil {
		l.turn.record.Now(path, now)
	}
}

func (l *ledger) sawMode(path string, mode fs.FileMode) {
	if l.turn == nil {
		return
	}
	m, known := l.turn.modes[path]
	if !known {
		m.Before = mode
	}
	m.After = mode
	l.turn.modes[path] = m
}

// decision is what the user wants of changes: of one file by its real path, or of all. Which of its changes
// is asked when the record is up to date; nil is the whole file.
type decision struct {
	do    review.Decision
	path  string
	which func(review.File) review.Selection
	plan  func(*review.Record) (review.Plan, error) // in place of that
	made  func(review.Plan)                         // called for each file; the goroutine of changes.box
}

var (
	errMovedOn   = errors.New("it has changed meanwhile: look at it again")
	errForgotten = errors.New("what it was is not kept: it is too large, or was not seen before")
)

// decide makes a decision about changes. Any goroutine. The user is told what could not be done; done gets
// that too, and how many files it was about, on the session's goroutine.
func (s *Session) decide(d decision, done func(files int, err error)) {
	c := s.changes
	c.job(func(next func()) {
		finish := func(n int, err error) {
			c.tell(nil)
			s.box.put(func() {
				if err != nil {
					s.host.notify("warning", err.Error())
				}
				done(n, err)
			})
			next()
		}
		var paths []string
		for _, f := range c.record.Files() {
			if d.path == "" || f.Path == d.path {
				paths = append(paths, f.Path)
			}
		}
		if len(paths) == 0 {
			finish(0, errors.New("the agent has changed nothing there"))
			return
		}
		c.refreshOnly(nil, paths, func() { c.decideEach(d, paths, 0, 0, nil, finish) })
	})
}

// decideEach makes a decision about one file after another; tries counts those for the first.
func (c *changes) decideEach(d decision, paths []string, n, tries int, failed error, done func(int, error)) {
	if len(paths) == 0 {
		done(n, failed)
		return
	}
	path := paths[0]
	after := func(err error) {
		switch {
		case errors.Is(err, errMovedOn) && tries < 3:
			c.refreshOnly(nil, paths[:1], func() { c.decideEach(d, paths, n, tries+1, failed, done) })
			return
		case err != nil && failed == nil:
			failed = fmt.Errorf("%s: %w", c.session.short(path), err)
		case err == nil:
			n++
		}
		c.decideEach(d, paths[1:], n, 0, failed, done)
	}
	f, ok := c.record.File(path)
	if !ok || d.path == "" && f.State != review.Pending {
		c.decideEach(d, paths[1:], n, 0, failed, done)
		return
	}
	var which review.Selection
	if d.which != nil {
		which = d.which(f)
	}
	var plan review.Plan
	var err error
	if d.plan != nil {
		plan, err = d.plan(c.record)
	} else {
		plan, err = c.record.Plan(path, d.do, which)
	}
	if err != nil {
		after(err)
		return
	}
	commit := func(err error) {
		if err == nil && !c.record.Commit(plan) {
			err = errMovedOn
		}
		if err == nil && plan.Edits() {
			c.knowOwn(path, plan.Want)
			if plan.Back != "" {
				c.knowOwn(plan.Back, plan.Want)
				c.knowOwn(path, review.Content{})
			}
		}
		if err == nil && d.made != nil {
			d.made(plan)
		}
		after(err)
	}
	if !plan.Edits() {
		commit(nil)
		return
	}
	c.put(placed{path: path, now: plan.Now, want: plan.Want, back: plan.Back}, commit)
}

// knowOwn tells what was done to a file by the user's wish.
func (c *changes) knowOwn(path string, is review.Content) {
	if c.turn != nil {
		c.turn.own(path, is)
	}
	c.last[path] = is.Mark()
	for b := range c.open {
		if seen, ok := b.files[path]; ok {
			seen.Content = is
			b.files[path] = seen
		}
	}
}

// placed is what a file is to become by the user's wish.
type placed struct {
	path      string
	now, want review.Content
	mode      fs.FileMode // permission bits; 0: as they are
	back      string      // where it is to be moved, or ""
	merge     func(now string) string
}

// put gives a file what is wanted, if it is still as it was, or else what merge makes of it; done runs on
// the goroutine of box.
func (c *changes) put(p placed, done func(error)) {
	files := c.session.host.files
	ctx := context.Background()
	answer := func(w buffers.Written, err error) {
		c.box.put(func() {
			var e *buffers.Error
			if errors.As(err, &e) {
				err = e.Err
			}
			done(err)
		})
	}
	same := func(now *string) bool {
		if now == nil {
			return !p.now.Exists
		}
		is := textContent(*now)
		return is == p.now || p.now.Exists && is.Mark() == p.now.Mark()
	}
	var mode *fs.FileMode
	if p.mode != 0 {
		mode = &p.mode
	}
	switch {
	case p.back != "":
		c.moveBack(p, done)
	case p.want.Opaque && p.want == p.now && mode == nil:
		done(nil)
	case p.want.Opaque, p.want.Exists && !p.now.Exists && c.original(p.path, p.want) != nil:
		old := c.original(p.path, p.want)
		if old == nil {
			done(errForgotten)
			return
		}
		c.see(p.path, true, func(seen sight) {
			p.mode = cmp.Or(p.mode, seen.mode, old.mode)
			if seen.Content != p.now && seen.Mark() != p.now.Mark() {
				done(errMovedOn)
				return
			}
			c.keepDisk(p.path, p.now)
			files.Restore(ctx, p.path, old.data, p.mode, answer)
		})
	default:
		if !p.want.Exists {
			c.keepDisk(p.path, p.now)
		}
		files.Edit(ctx, buffers.Edit{Path: p.path, Mode: mode, Change: func(now *string) (*string, error) {
			switch {
			case !same(now) && (p.merge == nil || now == nil):
				return nil, errMovedOn
			case !same(now):
				text := p.merge(*now)
				return &text, nil
			case !p.want.Exists:
				return nil, nil
			case p.want.Opaque: // its permissions alone
				return now, nil
			}
			return &p.want.Text, nil
		}}, answer)
	}
}

// moveBack puts a file where it was before it was moved, with what is wanted of it.
func (c *changes) moveBack(p placed, done func(error)) {
	info, err := os.Stat(p.path)
	data, err2 := os.ReadFile(p.path)
	if err := cmp.Or(err, err2); err != nil {
		done(err)
		return
	}
	mode := p.mode
	if mode == 0 {
		mode = info.Mode().Perm()
	}
	ctx := context.Background()
	// As it is first, which keeps its encoding; then what is wanted.
	c.session.host.files.Restore(ctx, p.back, data, mode, func(_ buffers.Written, err error) {
		c.box.put(func() {
			if err != nil {
				done(err)
				return
			}
			to := placed{path: p.back, now: textContent(buffers.Decoded(data)), want: p.want}
			if to.now == p.want.Mark() || to.now.Mark() == p.want {
				to.now = p.want
			}
			c.put(to, func(err error) {
				if err != nil {
					done(err)
					return
				}
				c.put(placed{path: p.path, now: p.now}, done)
			})
		})
	})
}
