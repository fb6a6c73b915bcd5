package host

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// decision is what the user wants of changes: of one file by its real path, or of all. Which of its changes
// is asked when the record is up to date; nil is the whole file.
type decision struct {
	do    review.Decision
	path  string
	which func(review.File) review.Selection
	plan  func(*review.Record) (review.Plan, error) // in place of that
	made  func(review.Plan)                         // called for each file; the goroutine of changes.box

	folders folders
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
			s.box.Put(func() {
				if err != nil {
					s.host.notify("warning", err.Error())
				}
				done(n, err)
			})
			next()
		}
		// What was made or moved last makes room first for what was there before.
		var paths, left []string
		var moves [][2]string
		files := c.record.Files()
		slices.Reverse(files)
		for _, f := range backFirst(files) {
			moves = append(moves, [2]string{f.OldPath, f.Path})
			switch {
			case d.path != "" && f.Path != d.path:
			case f.Status == review.Added || f.OldPath != "":
				paths = append(paths, f.Path)
			default:
				left = append(left, f.Path)
			}
		}
		paths = append(paths, left...)
		d.folders = s.foldersSince(c.began(), moves)
		if len(paths) == 0 {
			finish(0, errors.New("the agent has changed nothing there"))
			return
		}
		c.refreshOnly(nil, paths, func() { c.decideEach(d, paths, 0, 0, nil, finish) })
	})
}

// backFirst puts a file that is where another one was before it was moved in front of that one: it has to make
// room. Else the order stays.
func backFirst(files []review.File) []review.File {
	at := map[string]int{}
	for i, f := range files {
		at[f.Path] = i
	}
	var list []review.File
	done := make([]bool, len(files))
	var add func(i int)
	add = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		if first, ok := at[files[i].OldPath]; ok {
			add(first)
		}
		list = append(list, files[i])
	}
	for i := range files {
		add(i)
	}
	return list
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
			c.knowOwn(plan)
			if plan.Back != "" || !plan.Want.Exists {
				d.folders.remove(filepath.Dir(path))
			}
			if plan.Back != "" || plan.Now.Exists != plan.Want.Exists {
				c.scans.scan(func(*checkpoint.Snapshot) {}) // what is there now is no doing of the next turn's
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
	c.place(placement{path: path, now: plan.Now, want: plan.Want, back: plan.Back}, commit)
}

// knowOwn tells what was done to a file by the user's wish.
func (c *changes) knowOwn(plan review.Plan) {
	now := map[string]review.Content{plan.Path: plan.Want}
	if plan.Back != "" {
		now = map[string]review.Content{plan.Path: {}, plan.Back: plan.Want}
	}
	if plan.Back != "" && !plan.Now.Exists {
		c.history.CameBack(plan.Path)
	}
	switch {
	case c.turn == nil:
	case plan.Back != "":
		c.turn.WentBack(plan.Path, plan.Back, plan.Now, plan.Want)
	default:
		c.turn.Decided(plan.Path, plan.Now, plan.Want)
	}
	for path, is := range now {
		c.last[path] = is.Mark()
		c.sawOpen(path, is)
	}
}

// tellDecision makes a decision for Lua: about all files, one, or a hunk of it by its number, with the
// numbers of its lines as Lua knows them.
func (s *Session) tellDecision(m message) {
	d := decision{do: review.Decision(m.text("do")), path: m.text("path")}
	if n := m.integer("hunk"); n > 0 {
		at := review.Hunk{OldStart: m.integer("old_start"), OldCount: m.integer("old_count"), NewStart: m.integer("new_start"), NewCount: m.integer("new_count")}
		d.which = func(f review.File) review.Selection { return review.Selection{Hunks: []int{hunkNow(f, n-1, at)}} }
	}
	s.decide(d, func(files int, err error) {
		failure := ""
		if err != nil {
			failure = sentenceOf(err)
		}
		s.host.callback(m.integer("callback"), map[string]any{"files": files}, failure)
	})
}

// hunkNow is where in a file's list a hunk is that was the n-th, when the user has typed since; -1 is
// nowhere.
func hunkNow(f review.File, n int, at review.Hunk) int {
	same := func(h review.Hunk) bool {
		h.State = ""
		return h == at
	}
	if n < len(f.Hunks) && (same(f.Hunks[n]) || at == review.Hunk{}) {
		return n
	}
	if i := slices.IndexFunc(f.Hunks, same); i >= 0 {
		return i
	}
	// Lines above it have come or gone.
	moved := -1
	for i, h := range f.Hunks {
		if h.OldCount == at.OldCount && h.NewCount == at.NewCount && (moved < 0 || i == n) {
			moved = i
		}
	}
	return moved
}
