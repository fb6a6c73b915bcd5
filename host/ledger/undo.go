package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file undoes a turn, and redoes it.

// ErrStopped is of an undo that the user has stopped before its end.
var ErrStopped = errors.New("you stopped it; :Acp undo goes on")

var (
	errNoTurn    = errors.New("nothing to undo")
	errOtherTurn = errors.New("another turn has ended since: :Acp undo shows what it would undo now")
	errNoUndone  = errors.New("nothing to redo")
)

// Undo undoes the last turn that was not undone or, with again, redoes the last one that was; which is the name of that
// turn, or "". With preview it only tells what it would do. goOn is asked before each file, with how many are done, and
// may stop an undo. Both run on the ledger's goroutine.
func (l *Ledger) Undo(again, preview bool, which string, goOn func(did, of int) bool, done func(*turns.Turn, []turns.Step, error)) {
	l.wish(func(next func()) {
		finish := func(t *turns.Turn, steps []turns.Step, err error) {
			l.report(nil)
			done(t, steps, err)
			next()
		}
		take := func(t *turns.Turn, steps []turns.Step) {
			if preview {
				finish(t, steps, nil)
				return
			}
			var moves [][2]string
			under := map[string]refusal{}
			for _, step := range steps {
				moves = append(moves, [2]string{step.Back, step.Of.Path})
				if r, known := l.refusalUnder(step.Of.Path, t); known && !again && step.Back == "" {
					under[step.Of.Path] = r
				}
			}
			if !again {
				l.turn = nil // a save meanwhile has it whole
			}
			u := undoing{t, l.foldersSince(t.At, moves), again, steps, under, make([]error, len(steps)), make([]*turns.FileChange, len(steps))}
			l.undoEach(u, goOn, func() {
				did, failed, err := u.came()
				if again {
					l.history.WasDoneAgain(t)
				} else {
					l.neverCame(t)
					l.history.WasUndone(t, did, failed, l.turn == nil) // unless another turn has begun
				}
				l.saveSoon()
				l.lookAtFolders() // what is there now is not the next turn's doing
				finish(t, steps, err)
			})
		}
		// First, what the user has done to the turn's files: a refusal that they have undone is the turn's again.
		l.refresh(l.changed(), func() {
			t, files, err := l.undoable(again)
			if err == nil && which != "" && which != t.Name() {
				err = errOtherTurn
			}
			if err != nil {
				finish(nil, nil, err)
				return
			}
			l.planUndo(files, func(steps []turns.Step) { take(t, steps) })
		})
	})
}

// undoable returns the turn that an undo is about, and its files as they should be taken back.
func (l *Ledger) undoable(again bool) (*turns.Turn, []turns.FileChange, error) {
	if again {
		u, ok := l.history.LastUndone()
		if !ok {
			return nil, nil, errNoUndone
		}
		return u.Turn, u.Files, nil
	}
	l.take(l.turn) // changes after its end count too
	t := l.history.Last()
	if l.turn != nil && len(l.turn.Files) == 0 && len(l.leftUnder(l.turn.Turn)) > 0 {
		t = l.turn.Turn
	}
	if t == nil {
		return nil, nil, errNoTurn
	}
	return t, slices.Concat(t.Files, l.leftUnder(t)), nil
}

// leftUnder returns what only the disk has of a turn under unsaved text, of files that are not among those of the turn: the
// user has taken the rest of it out.
func (l *Ledger) leftUnder(t *turns.Turn) (files []turns.FileChange) {
	for _, path := range slices.Sorted(maps.Keys(l.inStep)) {
		if slices.ContainsFunc(t.Files, func(f turns.FileChange) bool { return f.Path == path }) {
			continue
		}
		if r, _ := l.refusalUnder(path, t); !r.idle() {
			files = append(files, turns.FileChange{Path: path, Before: r.want, After: r.now, Under: true})
		}
	}
	return files
}

// planUndo returns what taking files back does to each as it is now, in the order in which to do it.
func (l *Ledger) planUndo(files []turns.FileChange, done func([]turns.Step)) {
	var paths, old []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			old = append(old, f.OldPath)
		}
	}
	l.seeAll(slices.Concat(paths, old), func(now []fileState) {
		var is []review.Content
		taken := map[string]bool{}
		files := slices.Clone(files)
		for i, f := range files {
			alone := !slices.ContainsFunc(files, func(other turns.FileChange) bool { return other.Path == f.Path && other.Under != f.Under })
			files[i].Under = f.Under && (now[i].unsaved || !now[i].loaded || !alone) // else the buffer has it too
		}
		unseen := map[string]bool{}
		for i, path := range paths {
			is = append(is, now[i].Content)
			unseen[path] = now[i].path == ""
		}
		for i, path := range old {
			taken[path] = now[len(paths)+i].Exists
		}
		steps := turns.Steps(files, is, taken)
		for i, step := range steps {
			if unseen[step.Of.Path] {
				steps[i].Note = "cannot be looked at"
			} else if of := step.Of; review.IsFolder(of.Path) {
				if !l.removable(of.Path, step.Now, step.Want) {
					steps[i].Note = cmp.Or(of.After.Text, of.Before.Text) + " cannot be brought back, as their previous contents were not kept"
				}
			} else if step.Want.Opaque && !step.Want.SameText(step.Now) && !l.onlyMoved(of.Path, step.Want) &&
				!l.originals.has(of.Path, step.Want, l.turn) {
				steps[i].Note = "cannot be brought back, as " + errForgotten.Error()
			}
		}
		done(steps)
	})
}

// undoing is an undo in progress.
type undoing struct {
	turn    *turns.Turn
	folders folders
	again   bool
	steps   []turns.Step
	under   map[string]refusal  // of files with unsaved text, by path
	errs    []error             // of each step
	did     []*turns.FileChange // by each step: what redoes it; nil for nothing
}

// undoEach takes the steps, as long as goOn says so.
func (l *Ledger) undoEach(u undoing, goOn func(did, of int) bool, done func()) {
	did := 0
	l.inOrder(len(u.steps), u.kindOf, func(i int, done func()) {
		if !goOn(did, len(u.steps)) && !u.steps[i].Idle() {
			u.errs[i], u.steps[i].Note = ErrStopped, "not reached"
			done()
			return
		}
		l.undoStep(u, i, func() {
			did++
			done()
		})
	}, done)
}

func (u undoing) kindOf(i int) kind {
	switch step := u.steps[i]; {
	case step.Back != "", u.again && step.Of.Under: // of a file that another step brings back
		return alone
	case step.Want.Exists:
		return stays
	}
	return goes
}

// undoStep takes a step.
func (l *Ledger) undoStep(u undoing, i int, done func()) {
	step := u.steps[i]
	path := step.Of.Path
	r, exact := u.under[path]
	if step.Idle() && !r.idle() {
		l.editUnder(path, r.of, r.want, func(err error) {
			if err == nil {
				l.nothingUnsaved(path)
				u.did[i] = &turns.FileChange{Path: path, Under: true, Before: r.now, After: r.want}
			} else {
				u.failed(l, i, err)
			}
			done()
		})
		return
	}
	if step.Idle() {
		done()
		return
	}
	to := target{path: path, now: step.Now, want: step.Want, back: step.Back, made: step.Of.Made, usersIn: l.usersIn(u.turn)}
	var stood *conflict
	if was := l.taken[path]; was.turn == u.turn && !u.again {
		to.taken, stood = was.its, was.conflict
	}
	if step.Back != "" && !u.again {
		l.goesBack(&to, u.turn)
	}
	if step.Merged {
		to.merge = step.With
	}
	if exact && isText(step.Now) && isText(step.Want) {
		to.under = r.of
	}
	if step.Of.Under {
		l.undoUnder(u, i, done)
		return
	}
	var disk review.Content
	if to.made {
		disk = onDisk(path)
	}
	l.applies[path], l.applies[cmp.Or(step.Back, path)] = true, true
	over := done
	done = func() {
		delete(l.applies, path)
		delete(l.applies, step.Back)
		over()
	}
	l.apply(to, func(err error) {
		if err != nil {
			u.failed(l, i, err)
			l.refresh([]string{path}, done) // what was told of it meanwhile was left to this step
			return
		}
		if step.Back != "" || !step.Want.Exists {
			u.folders.remove(filepath.Dir(path))
		}
		if to.under != nil {
			l.settled(path)
		}
		did := step.Reverse()
		u.did[i] = &did
		paths := []string{path, did.Path}
		if did.Path == path {
			paths = paths[:1]
		}
		l.seeAll(paths, func(now []fileState) {
			is := now[len(now)-1]
			was, want := step.Now, step.Want
			if to.made && is.path != "" && !is.Exists { // what is unsaved stays in its buffer
				was, want = disk, review.Content{}
				did.Before, did.After = was, want
				l.unsavedGone(fileState{path: path, Content: disk}, true) // the record goes by the disk
				l.userNow(path, disk)
				l.settled(path)
			}
			switch {
			case now[0].path == "" || is.path == "":
			case !u.again && step.Back != "":
				l.record.MoveRetracted(path, did.Path, was, want)
			case step.Of.Left != "":
				l.record.MoveRetracted(step.Of.Left, path, was, want)
			case !u.again:
				l.record.Retracted(did.Path, was, want)
			case step.Back != "":
				l.agentMoved(nil, path, did.Path, was, want)
			default:
				l.agentChanged(nil, path, was, want)
			}
			if is.Exists == want.Exists {
				if is.unsaved {
					l.userNow(is.path, common(want, is.Content)) // lines in place of others were not made from those
				}
				l.userNow(is.path, is.Content) // including unsaved text
			}
			if step.Of.Made && is.Exists {
				l.history.RemadeBefore(u.turn, is.path, is.Content)
			}
			for _, seen := range now {
				delete(l.inStep, seen.path)
				if seen.path != "" {
					l.config.Others(seen.path, seen.Content)
				}
			}
			if stood != nil && is.unsaved && onDisk(did.Path).SameText(stood.under.disk) {
				l.standsAgain(did.Path, u.turn, *stood, is.Content)
			}
			done()
		})
	})
}

// undoUnder takes a step on what only the disk has.
func (l *Ledger) undoUnder(u undoing, i int, done func()) {
	step := u.steps[i]
	path, change := step.Of.Path, behind{was: step.Want, before: step.Want, is: step.Now}
	take := l.takeBack
	if r, exact := u.under[path]; exact {
		take = func(path string, _ behind, done func(error)) { l.editUnder(path, r.of, r.want, done) }
	}
	if u.again {
		change = behind{was: step.Now, before: step.Now, is: step.Want, conflicts: true}
		take = l.makeAgain
	}
	take(path, change, func(err error) {
		if err != nil {
			u.failed(l, i, err)
			done()
			return
		}
		did := step.Reverse()
		u.did[i] = &did
		if u.again {
			l.isUnderAgain(path, change, done)
			return
		}
		its := func(other behind) bool { return other.began(path) == change.before && other.is == change.is }
		for _, other := range l.behind[path] {
			if its(other) && other.before.Exists && !isThere(path) {
				l.agentChanged(nil, path, other.before, review.Content{}) // an earlier turn has removed it, which waits again
			}
		}
		if disk := onDisk(path); u.madeIt(path) && isText(disk) { // what the buffer has of it too is undone with the file
			for i, other := range l.behind[path] {
				if its(other) {
					l.behind[path][i].is, l.behind[path][i].conflicts = disk, false
				}
			}
			done()
			return
		}
		left := slices.DeleteFunc(l.behind[path], its)
		if l.behind[path] = left; len(left) == 0 {
			l.settled(path)
		}
		done()
	})
}

// usersIn returns what tells the user's part of the text of a file that a turn has made. The whole record counts lines for
// theirs that were in a file of that name before, which the agent had removed in an earlier turn.
func (l *Ledger) usersIn(t *turns.Turn) func(path, text string) string {
	return func(path, text string) string {
		if part, ok := t.Users(path, text); ok {
			return part
		}
		return l.record.Users(path, text)
	}
}

// madeIt reports whether the turn has made a file.
func (u undoing) madeIt(path string) bool {
	return slices.ContainsFunc(u.steps, func(s turns.Step) bool { return s.Of.Path == path && s.Of.Made && !s.Of.Under && !s.Idle() })
}

// isUnderAgain says that a change is under unsaved text again. Where it makes a file that the agent had removed before, what
// the buffer lacks of that the user has taken out.
func (l *Ledger) isUnderAgain(path string, change behind, done func()) {
	if !change.was.Exists {
		change.before, change.fresh = l.removed(nil, path, false), true
	}
	l.behind[path] = append(l.behind[path], change)
	l.seeAll([]string{path}, func(now []fileState) {
		if now[0].unsaved {
			l.record.Held(path, now[0].Content)
		}
		done()
	})
}

// failed notes why a step could not be taken.
func (u undoing) failed(l *Ledger, i int, err error) {
	u.errs[i] = fmt.Errorf("%s: %w", l.config.Short(u.steps[i].Of.Path), err)
	u.steps[i].Note = "could not be changed"
}

// common returns a content with only the lines that another one has too.
func common(is, other review.Content) review.Content {
	if is.Opaque || other.Opaque {
		return is
	}
	lines, left, at := linediff.Lines(is.Text), "", 0
	for _, e := range linediff.Compare(lines, linediff.Lines(other.Text)) {
		left += strings.Join(lines[at:e.A0], "")
		at = e.A1
	}
	is.Text = left + strings.Join(lines[at:], "")
	return is
}

// came returns the outcome of the steps: what redoes them, what could not be changed, and why the first of that could
// not.
func (u undoing) came() (did, failed []turns.FileChange, err error) {
	for i, step := range u.steps {
		if u.did[i] != nil {
			did = append(did, *u.did[i])
		}
		if u.errs[i] != nil {
			failed = append(failed, step.Of)
		}
	}
	return did, failed, cmp.Or(u.errs...)
}

// began returns when the first known turn began.
func (l *Ledger) began() time.Time {
	switch {
	case len(l.history.Turns) > 0:
		return l.history.Turns[0].At
	case l.turn != nil:
		return l.turn.At
	}
	return time.Now()
}
