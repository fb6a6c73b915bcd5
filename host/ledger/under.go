package ledger

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file refuses what only the disk has: changes by the agent that a buffer has not taken over, as they conflict
// with its unsaved text, or that the user has taken out of it. The record has what buffers show, so these are not in it.

// underIn returns the files that may have such changes: the one at a path, or all for "".
func (l *Ledger) underIn(path string) (paths []string) {
	for p := range l.behind {
		if path == "" || p == path {
			paths = append(paths, p)
		}
	}
	for p := range l.inStep {
		if path != "" && p != path || l.behind[p] != nil {
			continue
		}
		if r, _ := l.refusalUnder(p, nil); !r.idle() {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// refusal is what the disk of a file with unsaved text gets where the agent's changes are refused or undone.
type refusal struct{ now, want review.Content }

// idle reports whether there is nothing to do.
func (r refusal) idle() bool { return r.now.SameText(r.want) && r.now.Form == r.want.Form }

// recordUnder returns what the agent has changed on the disk of a file with unsaved text, in all or in a turn, if that is
// known: the buffer, which record and turns have, may lack lines that both had, and says less of where a line belongs.
func (l *Ledger) recordUnder(path string, of *turns.Turn) (r *review.Record, known bool) {
	s, noted := l.inStep[path]
	if !noted {
		return nil, false
	}
	was := s.record
	if of != nil {
		was = s.turns[of] // nothing, if it has begun since
	}
	r = review.New(maxRecorded)
	r.SetBack(path, was)
	for _, b := range l.behind[path] {
		if !b.was.Exists || of != nil && (b.turn == nil || b.turn.Turn != of) {
			return nil, false
		}
		inRecord, _ := r.File(path)
		r.Now(path, b.was)
		r.Changed(path, b.was, b.is)
		if b.kept && of == nil {
			keepWritten(r, path, inRecord, b.was, b.is, nil)
		}
	}
	return r, true
}

// refusalUnder returns what refuses all of that, or what undoes a turn's, if it has lines and stays at its path.
func (l *Ledger) refusalUnder(path string, of *turns.Turn) (refusal, bool) {
	if r, back, known := l.refusalOf(path, of); known && back == "" {
		return r, true
	}
	return refusal{}, false
}

// goesBack gives a file that goes back to another path on the disk what refuses all of that, or undoes a turn's, if that is
// known, and no buffer had been left there.
func (l *Ledger) goesBack(p *target, of *turns.Turn) {
	if r, back, known := l.refusalOf(p.path, of); known && back == p.back && !isText(p.taken.disk) {
		p.taken.disk = r.want
	}
}

// refusalOf is refusalUnder wherever the file goes: back is the path if that is another one.
func (l *Ledger) refusalOf(path string, of *turns.Turn) (_ refusal, back string, known bool) {
	r, known := l.recordUnder(path, of)
	if !known {
		return refusal{}, "", false
	}
	plan, _ := r.Plan(path, review.Reject, review.Selection{})
	if now, want := plan.Now, plan.Want; isText(now) && isText(want) && onDisk(path).SameText(now) {
		return refusal{now, want}, plan.Back, true
	}
	return refusal{}, "", false
}

// partUnder returns what the disk gets where the user decides about a part of a file with unsaved text, nil for the same
// as the buffer, and what notes that when it is done; nil where what the disk has of the agent's is not known.
func (l *Ledger) partUnder(plan review.Plan, do review.Decision) (under func(disk, mine string) *string, note func()) {
	path := plan.Path
	r, known := l.recordUnder(path, nil)
	if !known {
		return nil, nil
	}
	if was, _ := r.Present(path); !onDisk(path).SameText(was) {
		return nil, nil
	}
	before, _ := l.record.File(path)
	turn, in := l.turn, map[*turns.Turn]review.Image{}
	if do == review.Keep {
		in = maps.Clone(l.inStep[path].turns)
	}
	var its *review.Record
	if turn != nil {
		its, _ = l.recordUnder(path, turn.Turn)
	}
	var refused review.Plan
	if f, _ := r.File(path); do == review.Reject {
		which := alike(f, plan.Want.Text, plan.Now.Text)
		if of, err := r.Plan(path, do, which); len(which.Parts) > 0 && err == nil && isText(of.Want) {
			refused, under = of, refusal{of.Now, of.Want}.of
		}
	}
	return under, func() {
		if under != nil {
			r.Commit(refused)
		}
		is := onDisk(path)
		r.Now(path, is)
		if do == review.Keep {
			f, _ := l.record.File(path)
			keepLike(r, path, before.Accepted.Text, f.Accepted.Text)
		}
		if its != nil {
			its.Now(path, is)
			in[turn.Turn] = its.Image(path)
		}
		l.settled(path)
		l.inStep[path] = inStep{r.Image(path), in}
	}
}

// keepLike keeps that part of what is pending in a record that made is of an accepted text.
func keepLike(r *review.Record, path, was, is string) {
	f, _ := r.File(path)
	if which := alike(f, was, is); len(which.Parts) > 0 {
		keepIn(r, path, which)
	}
}

// alike selects those lines of what is pending in a file that were changed alike in another text of it, from was to is.
func alike(f review.File, was, is string) review.Selection {
	which := review.Selection{Lines: true}
	for _, s := range f.Like(was, is) {
		which.Parts = append(which.Parts, s.Parts...)
	}
	return which
}

// of returns what the disk gets, or nil if it has something else by now.
func (r refusal) of(disk, _ string) *string {
	switch is := contentOf(&disk, ""); {
	case is.SameText(r.want):
		return &disk
	case is.SameText(r.now):
		return new(endedAs(disk, r.want.Text))
	}
	return nil
}

// decideUnder applies the user's decision about whole files to such changes too. It tells done how many files had some,
// and why the first of them could not be changed.
func (l *Ledger) decideUnder(d Decision, done func(files int, failed error)) {
	if d.Which != nil || d.Back != nil {
		done(0, nil)
		return
	}
	paths := l.underIn(d.Path)
	if d.Do == review.Keep {
		for _, path := range paths {
			l.keepUnder(path)
		}
		l.saveSoon()
		done(0, nil)
		return
	}
	l.refuseUnder(slices.DeleteFunc(paths, func(path string) bool {
		plan, _ := l.record.Plan(path, review.Reject, review.Selection{})
		_, known := l.refusalWith(plan)
		return known
	}), done)
}

// keepUnder notes that the user has kept all that the agent has changed of a file with unsaved text, which can still be
// undone with its turn.
func (l *Ledger) keepUnder(path string) {
	if s, noted := l.inStep[path]; noted {
		r := review.New(maxRecorded)
		r.SetBack(path, s.record)
		if keepIn(r, path, review.Selection{}) {
			l.inStep[path] = inStep{r.Image(path), s.turns}
		}
	}
	for i := range l.behind[path] {
		l.behind[path][i].kept = true
	}
}

// undecided is what is noted of a file with unsaved text before the user decides about it, and what the disk has then.
type undecided struct {
	inStep inStep
	noted  bool
	behind []behind
	disk   review.Content
}

// undecided returns that of a file now; nil where nothing is noted.
func (l *Ledger) undecided(path string) *undecided {
	s, noted := l.inStep[path]
	list := slices.Clone(l.behind[path])
	if !noted && len(list) == 0 {
		return nil
	}
	return &undecided{s, noted, list, onDisk(path)}
}

// planBack returns the plan that takes a decision back. Under unsaved text the disk must still have what the decision
// left there; where the user has saved since, it has what the buffer has.
func (l *Ledger) planBack(m Made) (review.Plan, error) {
	plan, err := l.record.Undo(m.Plan)
	if err != nil || m.found == nil || m.Plan.Back != "" {
		return plan, err
	}
	if is := onDisk(m.Plan.Path); !is.SameText(m.left) && !is.SameText(plan.Now) {
		return review.Plan{}, review.ErrChangedSince
	}
	return plan, nil
}

// under returns what gives the disk under unsaved text back what it had before the decision; nil for the same as the
// buffer.
func (m Made) under() func(disk, mine string) *string {
	if !isText(m.left) || !isText(m.found.disk) {
		return nil
	}
	return refusal{m.left, m.found.disk}.of
}

// undecide says again what was said before a decision that was taken back: in the turns, as the lines of what came and
// went do not tell whose they were; and of unsaved text, if the disk has again what it had then.
func (l *Ledger) undecide(m Made) {
	path := m.Plan.Path
	for name, said := range m.turns {
		l.history.PutBack(l.lastTurn(), name, said)
	}
	if m.found == nil || !onDisk(path).SameText(m.found.disk) {
		return
	}
	l.isUnder(path, *m.found)
}

// isUnder says again what was said of a file with unsaved text.
func (l *Ledger) isUnder(path string, was undecided) {
	l.nothingUnsaved(path)
	if was.noted {
		l.inStep[path] = was.inStep
	}
	for _, b := range was.behind {
		if b.turn != nil && b.turn != l.turn && !slices.Contains(l.history.Turns, b.turn.Turn) {
			b.turn, b.fresh = nil, false // undone since, see neverCame
		}
		l.isBehind(path, append(l.behind[path], b))
	}
}

// refusalWith returns what the disk gets together with the buffer, which a plan to refuse a whole file changes; false if it
// changes no lines, or what the disk has is not known.
func (l *Ledger) refusalWith(plan review.Plan) (refusal, bool) {
	if plan.Now.Text == plan.Want.Text {
		return refusal{}, false
	}
	return l.refusalUnder(plan.Path, nil)
}

// refuseUnder takes such changes back, the last one first.
func (l *Ledger) refuseUnder(paths []string, done func(files int, failed error)) {
	files, errs := 0, make([]error, len(paths))
	l.inOrder(len(paths), func(int) kind { return stays }, func(i int, next func()) {
		path, list := paths[i], l.behind[paths[i]]
		over := func(err error) {
			if err == nil {
				l.nothingUnsaved(path)
			} else {
				errs[i] = fmt.Errorf("%s: %w", l.config.Short(path), err)
			}
			next()
		}
		r, known := l.refusalUnder(path, nil)
		switch {
		case known && r.idle(), !known && !slices.ContainsFunc(list, func(b behind) bool { return !b.kept }):
			next() // what there is was kept, but its turn can still be undone
			return
		case known:
			files++
			l.editUnder(path, r.of, r.want, over)
			return
		}
		if slices.ContainsFunc(list, func(b behind) bool { return b.conflicts && !b.kept }) {
			files++
		}
		var back func(at int, err error)
		back = func(at int, err error) {
			switch {
			case err != nil || at < 0:
				over(err)
			case list[at].kept:
				back(at-1, nil)
			default:
				l.takeBack(path, list[at], func(err error) { back(at-1, err) })
			}
		}
		back(len(list)-1, nil)
	}, func() {
		done(files, cmp.Or(errs...))
	})
}

// takeBack takes one such change back; a file that was not there before is removed, if the disk still has what the
// agent wrote.
func (l *Ledger) takeBack(path string, b behind, done func(error)) {
	switch {
	case b.before.Exists && (b.before.Opaque || b.is.Opaque):
		l.restoreUnder(path, b.is, b.before, done)
	case b.before.Exists:
		l.editUnder(path, b.without, b.before, done)
	case onDisk(path).SameText(b.is):
		l.removeFile(path, done)
	default:
		done(nil)
	}
}

// restoreUnder gives the disk what it had, if that or what it has now is not text, unless the record does so because it
// has the file as opaque.
func (l *Ledger) restoreUnder(path string, from, to review.Content, done func(error)) {
	f, _ := l.record.File(path)
	if f.State == review.Pending && (f.Present.Opaque || f.Accepted.Opaque) || !onDisk(path).SameText(from) {
		done(nil)
		return
	}
	data, known := l.originals.bytes(path, to, l.turn)
	if !known {
		done(errForgotten)
		return
	}
	l.originals.keepDisk(path, from)
	l.config.Files.Restore(context.Background(), buffers.Restored{Path: path, Data: data, Mode: cmp.Or(to.Mode, modeOf(path))}, l.applied(ended(done)))
}

// makeAgain redoes one such change.
func (l *Ledger) makeAgain(path string, b behind, done func(error)) {
	switch {
	case b.before.Opaque || b.is.Opaque:
		l.restoreUnder(path, b.before, b.is, done)
	case !b.before.Exists:
		l.restore(target{path: path, want: b.is, taken: returning{disk: b.is}}, done)
	default:
		l.editUnder(path, b.again, b.is, done)
	}
}

// settled notes that no change by the agent remains under a buffer's unsaved text.
func (l *Ledger) settled(path string) {
	for _, b := range l.behind[path] {
		if b.turn != nil {
			b.turn.Settled(path)
		}
	}
	delete(l.behind, path)
}

// editUnder edits the disk under a buffer's unsaved text with to, gives it the form of want, and leaves the buffer alone.
func (l *Ledger) editUnder(path string, to func(disk, mine string) *string, want review.Content, done func(error)) {
	over := func(w buffers.Written, err error) {
		if l.turn != nil && w.Disk != nil {
			l.turn.disk[path] = contentOf(w.Disk, w.FormAfter)
		}
		done(err)
	}
	l.config.Files.Edit(context.Background(), buffers.Edit{Path: path, Disk: to}, l.applied(func(w buffers.Written, err error) {
		if err != nil || !isText(want) {
			over(w, err)
			return
		}
		if is := onDisk(path); isText(is) && is.Form != want.Form {
			w.Disk = &is.Text
			l.reform(target{path: path, want: want}, w, func(err error) {
				w.FormAfter = want.Form
				over(w, err)
			})
			return
		}
		over(w, err)
	}))
}

// without takes a change that a buffer with the text mine lacks out of the disk's text.
func (b behind) without(disk, mine string) *string {
	return new(buffers.WithdrawUnder(mine, b.is.Text, disk, b.before.Text))
}

// again redoes the change in the disk's text.
func (b behind) again(disk, _ string) *string {
	text, _ := buffers.Withdraw(b.before.Text, disk, b.is.Text)
	return &text
}
