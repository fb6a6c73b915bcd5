package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file carries out what the user decides about changes.

// Decision is what the user decides about changes: of one file by its real path, or of all. Which returns the changes,
// and is called when the record is up to date; nil means the whole file.
type Decision struct {
	Do    review.Decision
	Path  string
	Which func(review.File) review.Selection
	Back  *Made      // instead: takes that decision back
	Made  func(Made) // called for each file, on the ledger's goroutine

	folders folders
	found   map[string]*undecided // by path, of files with unsaved text
}

// Made is what a decision did to one file, by which it can be taken back.
type Made struct {
	Plan review.Plan

	found *undecided     // nil where nothing was unsaved
	left  review.Content // what it left on the disk, if found
	turns turns.Said     // before it; nil where the file did not change
}

// Path is where the file is since then.
func (m Made) Path() string { return cmp.Or(m.Plan.Back, m.Plan.Path) }

var (
	errMovedOn   = errors.New("it has changed meanwhile: look at it again")
	errForgotten = errors.New("its previous content was not kept: it is too large, or was never seen")
)

// Decide carries out a decision about changes. done gets how many files it covered, and the first failure, on the
// ledger's goroutine.
func (l *Ledger) Decide(d Decision, done func(files int, err error)) {
	l.wish(func(next func()) {
		finish := func(n int, err error) {
			l.report(nil)
			done(n, err)
			next()
		}
		// What was created or moved last first makes room for what was there before.
		var all, left []decided
		var moves [][2]string
		files := l.record.Files()
		slices.Reverse(files)
		for _, f := range backFirst(files) {
			moves = append(moves, [2]string{f.OldPath, f.Path})
			switch {
			case d.Path != "" && f.Path != d.Path:
			case f.OldPath != "":
				all = append(all, decided{f.Path, alone})
			case f.Status == review.Added:
				all = append(all, decided{f.Path, goes})
			default:
				left = append(left, decided{f.Path, stays})
			}
		}
		all = append(all, left...)
		d.folders = l.foldersSince(l.began(), moves)
		if len(all) == 0 && d.Back != nil {
			l.takeBackAll(d, finish)
			return
		}
		if len(all) == 0 && len(l.underIn(d.Path)) == 0 {
			finish(0, review.ErrNotChanged)
			return
		}
		var paths []string
		for _, of := range all {
			paths = append(paths, of.path)
		}
		l.refresh(paths, func() {
			d.found = map[string]*undecided{}
			for _, path := range paths {
				d.found[path] = l.undecided(path)
			}
			// The disk under unsaved text comes first: then it has what the buffer shows of the agent's changes.
			l.decideUnder(d, func(under int, failed error) {
				l.decideAll(d, all, func(n int, err error) { finish(n+under, cmp.Or(failed, err)) })
			})
		})
	})
}

// takeBackAll takes back a decision that has left nothing of the agent's in its file.
func (l *Ledger) takeBackAll(d Decision, done func(files int, err error)) {
	l.see(d.Path, true, func(now fileState) {
		if now.path == "" || !d.Back.Plan.AsLeft(now.Content) {
			done(0, review.ErrNotChanged)
			return
		}
		d.found = map[string]*undecided{d.Path: l.undecided(d.Path)}
		l.decideAll(d, []decided{{d.Path, stays}}, done)
	})
}

// decided is a file that a decision is about.
type decided struct {
	path string
	kind kind
}

// backFirst moves a file that is at another one's old path in front of that one, as it has to make room. Otherwise the
// order stays.
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
		for path, last := files[i].OldPath, ""; path != last; path, last = filepath.Dir(path), path { // or a file where its folder was
			if first, ok := at[path]; ok {
				add(first)
			}
		}
		list = append(list, files[i])
	}
	for i := range files {
		add(i)
	}
	return list
}

// decideAll carries out a decision about files; done gets how many they were, and the first error.
func (l *Ledger) decideAll(d Decision, all []decided, done func(int, error)) {
	n := 0
	errs := make([]error, len(all))
	l.inOrder(len(all), func(i int) kind { return all[i].kind }, func(i int, over func()) {
		l.decideOne(d, all[i].path, 0, func(did bool, err error) {
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", l.config.Short(all[i].path), err)
			} else if did {
				n++
			}
			over()
		})
	}, func() { done(n, cmp.Or(errs...)) })
}

// deciding is a decision about one file that is being carried out.
type deciding struct {
	Decision
	plan review.Plan
	to   target
	part func()     // notes a part that was decided under unsaved text; may be nil
	left string     // where the agent had moved the file and then removed it, or ""
	said turns.Said // see Made
}

// decideOne carries out a decision about one file, if there is something to decide; tries counts the attempts.
func (l *Ledger) decideOne(d Decision, path string, tries int, done func(did bool, err error)) {
	after := func(err error) {
		if errors.Is(err, errMovedOn) && tries < 3 {
			l.refresh([]string{path}, func() {
				d.found[path] = l.undecided(path)
				l.decideOne(d, path, tries+1, done)
			})
			return
		}
		done(err == nil, err)
	}
	f, ok := l.record.File(path)
	if d.Back == nil && (!ok || d.Path == "" && f.State != review.Pending) {
		done(false, nil)
		return
	}
	f.Path = path // also where the record has forgotten it, see takeBackAll
	is, err := l.deciding(d, f)
	if err != nil {
		after(err)
		return
	}
	commit := func(err error) {
		delete(l.applies, path)
		delete(l.applies, is.plan.Back)
		if err == nil && !l.record.Commit(is.plan) {
			err = errMovedOn
		}
		if err == nil {
			l.committed(is)
		}
		after(err)
	}
	if !is.plan.Edits() && !is.to.made {
		l.originals.keepDisk(path, is.plan.Want) // what is kept may have to come back later
		commit(nil)
		return
	}
	l.applies[path], l.applies[cmp.Or(is.plan.Back, path)] = true, true
	l.apply(is.to, commit)
}

// deciding returns what a decision does to a file of the record.
func (l *Ledger) deciding(d Decision, f review.File) (is deciding, err error) {
	is.Decision = d
	if d.Back != nil {
		is.plan, err = l.planBack(*d.Back)
	} else {
		var which review.Selection
		if d.Which != nil {
			which = d.Which(f)
		}
		is.plan, err = l.record.Plan(f.Path, d.Do, which)
	}
	if err != nil {
		return is, err
	}
	is.to = target{
		path: f.Path, now: is.plan.Now, want: is.plan.Want, back: is.plan.Back, taken: l.taken[f.Path].all,
		made: d.Do == review.Reject && !f.Baseline.Exists && !f.Accepted.Exists, usersIn: l.record.Users,
	}
	is.left = l.record.Left(f.Path)
	if is.plan.Edits() {
		is.said = l.history.Said(l.lastTurn(), f.Path)
	}
	switch {
	case d.Back != nil:
		is.to.under = d.Back.under()
	case d.Which != nil:
		is.to.under, is.part = l.partUnder(is.plan, d.Do)
	case d.Do == review.Reject && is.plan.Back != "":
		l.goesBack(&is.to, nil)
	case d.Do == review.Reject:
		if under, known := l.refusalWith(is.plan); known {
			is.to.under = under.of
		}
	}
	return is, nil
}

// committed notes that a decision about a file was carried out.
func (l *Ledger) committed(is deciding) {
	plan, path := is.plan, is.plan.Path
	if plan.Edits() {
		l.knowOwn(plan, is.left)
		if plan.Back != "" || !plan.Want.Exists {
			is.folders.remove(filepath.Dir(path))
		}
		if plan.Back != "" || plan.Now.Exists != plan.Want.Exists {
			l.lookAtFolders() // what is there now is not the next turn's doing
		}
	}
	if is.to.under != nil {
		l.settled(path)
	}
	if is.Do == review.Keep && is.Which == nil && !plan.Edits() {
		l.keepUnder(path)
	} else {
		delete(l.inStep, path) // the record no longer says so
	}
	if is.part != nil {
		is.part()
	}
	if is.Back != nil {
		l.undecide(*is.Back)
	}
	if is.Made != nil {
		made := Made{Plan: plan, found: is.found[path], turns: is.said}
		if made.found != nil {
			made.left = onDisk(path)
		}
		is.Made(made)
	}
}

// knowOwn tells the turns and the other sessions what was done to a file at the user's wish; left is where the agent had
// moved it and then removed it, or "".
func (l *Ledger) knowOwn(plan review.Plan, left string) {
	from, back := plan.Path, plan.Back
	if left != "" && back == "" {
		from, back = left, plan.Path
	}
	at := cmp.Or(back, from)
	now := map[string]review.Content{from: {}}
	now[at] = plan.Want
	f, _ := l.record.File(at)
	l.history.Decided(l.lastTurn(), from, back, plan.Now, plan.Want, f)
	for path, is := range now {
		delete(l.inStep, path)
		if path == back && !l.loaded[path] {
			is = onDisk(path) // what is unsaved stays in the buffer of the other path
		}
		if l.turn != nil {
			l.turn.seen[path] = is
			l.turn.spot(fileState{path: path}) // it may be another file now
			if _, told := l.turn.disk[path]; told || l.loaded[path] {
				l.turn.disk[path] = onDisk(path)
			}
			delete(l.turn.gone, path)
			if !is.Exists {
				delete(l.turn.renamed, path) // it did not go to the user's new name
			}
		}
		l.config.Others(path, is)
	}
}
