package buffers

import (
	"context"
	"errors"
)

// This file makes one attempt at writing a file that a buffer shows.

// attempt is one attempt, step by step: [attempt.readDisk], [attempt.aim], [attempt.endEarly], [attempt.prepare],
// [attempt.apply] and [attempt.record]. Any outcome of a step but onward ends it.
type attempt struct {
	*liveWrite
	buf   live
	disk  file   // as it was read, or as the attempt left it
	mine  string // the buffer's text
	found found
	goal  goal

	before *string // what the user saw
	text   string  // what the disk gets, if anything
	after  string  // what the buffer gets
	apart  bool    // after differs from text, so the host writes the disk
	saves  bool    // the disk's text changes
	byHost bool    // the host writes the disk, as Neovim would freeze; the buffer gets the same text
	data   []byte  // what Neovim will write to the disk; nil if it does not
}

// try does all of the write or nothing, except that under unsaved text the disk may be written before the buffer turns
// out to have changed.
func (w *liveWrite) try(ctx context.Context, l live) (outcome, error) {
	a := attempt{liveWrite: w, buf: l}
	for _, step := range []func(context.Context) (outcome, error){a.readDisk, a.aim, a.endEarly} {
		if done, err := step(ctx); err != nil || done != onward {
			return done, err
		}
	}
	args, err := a.prepare()
	if err != nil {
		return 0, err
	}
	got, done, err := a.apply(ctx, args)
	if err == nil && done == onward {
		a.record(got)
		return applied, nil
	}
	return done, err
}

// readDisk reads the disk, after syncing the buffer with it if another program has changed it.
func (a *attempt) readDisk(ctx context.Context) (outcome, error) {
	var err error
	if a.disk, err = readOld(a.path); err != nil {
		return 0, err
	}
	at := a.disk.stamp()
	inStep := a.old != nil && a.isLeft(a.disk) || a.caught != nil && *a.caught == at
	if inStep || !a.behind(a.path, a.buf, a.disk, a.own) {
		return onward, nil
	}
	err = a.catchUp(ctx, a.path, true)
	if errors.Is(err, errLocked) {
		return locked, nil
	}
	a.caught = &at
	return moved, err
}

// aim determines the present state, and the goal of the write.
func (a *attempt) aim(ctx context.Context) (outcome, error) {
	var ok bool
	var err error
	if a.mine, ok, err = a.whole(ctx, a.path, a.buf); err != nil || !ok {
		return moved, err
	}
	a.found = a.find(a.path, a.buf, a.disk, a.mine)
	if a.own && a.disk.exists() && !a.found.decoded {
		a.found.mine = new(a.mine)
	}
	if a.old != nil && a.old.exists() && a.isLeft(a.disk) {
		before, _ := a.buf.decode(a.old.data)
		a.found.disk = &before // not what an earlier try made of it
	}
	a.goal, err = a.goalOf(a.found)
	return onward, err
}

// endEarly handles the cases where there is nothing to write, or the file is to be removed.
func (a *attempt) endEarly(ctx context.Context) (outcome, error) {
	mine := a.found.mine
	switch {
	case a.own && a.old == nil && sameText(a.goal.buffer, mine) && (a.goal.buffer == nil || !a.found.modified || sameText(a.goal.disk, a.found.disk)):
		form := a.disk.form()
		a.Written = Written{Path: a.path, Buf: a.buf.Buf, Before: mine, After: mine, Disk: a.found.disk, FormBefore: form, FormAfter: form}
		return applied, nil
	case a.goal.buffer == nil:
		return a.remove(ctx, a.buf, a.disk, mine)
	}
	return onward, nil
}

// prepare writes what only the disk gets, and returns what Neovim has to do.
func (a *attempt) prepare() (writeArgs, error) {
	a.before, a.after = a.shownBefore(), *a.goal.buffer
	if a.goal.disk != nil {
		a.text = *a.goal.disk
		if err := makeDir(a.path); err != nil {
			return writeArgs{}, err
		}
	}
	a.apart = a.goal.disk == nil || a.after != a.text
	a.saves = a.goal.disk != nil && (!a.found.decoded || a.found.had != a.text)
	_, formErr := a.buf.form()
	a.byHost = !a.apart && formErr == nil && isSlow(a.text) && (a.saves || a.old != nil)
	args := writeArgs{target: targetOf(a.path, a.buf, a.disk), Unsaved: a.apart, Save: a.saves, Saved: a.byHost, State: a.expect}
	if form, err := a.buf.form(); err != nil {
		args.Text = &a.text // so that Neovim finds out whether it can encode it
	} else if _, err := form.encode(a.text); err != nil {
		return writeArgs{}, err
	}
	if a.saves && (a.apart || a.byHost) {
		var err error
		if a.disk, err = a.replaceDisk(a.buf, a.disk, a.text); err != nil {
			return writeArgs{}, err
		}
		args.Disk = diskArgs(a.disk)
	}
	if a.apart || len(a.goal.conflicts) > 0 {
		args.mergeArgs, args.Text = mergeArgsOf(a.after, a.goal.theirs, a.goal.conflicts), &a.goal.theirs
	}
	args.Steps = a.steps()
	if !a.apart {
		a.data = a.buf.encoded(a.text)
	}
	return args, nil
}

// steps returns the buffer's undo steps: one, preceded by another if the buffer lacks what the disk has.
func (a *attempt) steps() []undoStep {
	lines := a.buf.unended(a.mine)
	lags := a.found.decoded && !a.buf.Modified && !a.found.emptied && a.found.had != a.mine
	if !lags || a.apart || len(a.goal.conflicts) > 0 {
		return []undoStep{stepTo(lines, a.after)}
	}
	return []undoStep{stepTo(lines, a.found.had), stepTo(Lined(a.found.had), a.after)}
}

// apply has Neovim do its part, and restores the disk if that fails.
func (a *attempt) apply(ctx context.Context, args writeArgs) (answered, outcome, error) {
	a.kept = nil
	if !a.apart && !a.byHost {
		a.kept = a.journal.inPlace(a.path, a.disk, a.data)
	}
	changes := len(args.Steps[len(args.Steps)-1].Hunks) > 0
	a.warn(ctx, a.path, a.after, args.Steps, !a.byHost && (a.saves || changes))
	got, err := hand(ctx, a.liveWrite, "write", args, func(late answered) {
		if late.Err != "" {
			a.kept.abandon()
		} else {
			a.kept.end()
		}
	})
	if err != nil {
		return got, 0, err
	}
	if got.Err != "" {
		had, already := a.disk, (*journal)(nil) // this write's entry has both texts
		if a.old != nil {
			had, already = *a.old, a.journal
		}
		err := already.restore(a.path, had)
		a.kept.abandon()
		return got, 0, errors.Join(errors.New(got.Err), err)
	}
	if got.Save == 0 {
		a.kept.end()
	}
	switch {
	case got.Moved:
		return got, moved, nil
	case got.Locked:
		return got, locked, nil
	case got.Lossy:
		return got, 0, ErrEncoding
	}
	return got, onward, nil
}

// record notes what the write did.
func (a *attempt) record(got answered) {
	had := a.disk
	if a.old != nil {
		had = *a.old
	}
	formBefore := had.form()
	if was, ok := a.synced.get(a.path); ok && was.text != "" && a.found.emptied {
		formBefore = was.form // like the text before
	} else if had.exists() && len(had.data) == 0 && a.before != nil {
		formBefore = a.buf.formOver(*a.before)
	}
	a.Written = Written{
		Path: a.path, Buf: a.buf.Buf, Before: a.before, After: new(a.after), Disk: a.goal.disk, Unsaved: a.buf.Modified,
		Changed:    a.saves || got.Changed || a.old != nil,
		Created:    a.goal.disk != nil && (!a.disk.exists() || !had.exists()),
		FormBefore: formBefore, FormAfter: a.disk.form(),
	}
	if !a.apart && (a.saves || got.Changed || a.buf.Modified) {
		a.FormAfter = a.formWritten()
	}
	if got.Info.Disk != nil {
		a.goal.at = *got.Info.Disk
	}
	if a.goal.disk != nil {
		if a.apart {
			a.goal.base = a.takenOver(a.path, a.mine, a.after, a.goal.conflicts)
		}
		a.settle(a.goal, a.buf.Written)
	}
	now := live{Buf: a.buf.Buf, Changedtick: got.Tick}
	if got.Info.version() == now.version() {
		now = got.Info
	}
	a.shown.put(a.path, now, Lined(a.after))
	a.save, a.edited = got.Save, got.Changed
	if a.buf.Modified {
		a.Behind = a.diskBefore()
	}
	if len(a.goal.conflicts) > 0 {
		a.recordConflicts(got.Keys)
	}
}

// recordConflicts reports the conflicts that the write made; keys are how the user decides them.
func (a *attempt) recordConflicts(keys string) {
	stand := "yours stay in the buffer, the agent's are on disk"
	if a.text != a.goal.theirs {
		stand = "yours stay, the agent's are shown below them"
	}
	a.tellConflicts(len(a.goal.conflicts), stand, keys)
	a.refused.put(a.path, a.goal.theirs)
	a.Behind = a.diskBefore()
}

// diskBefore returns what the disk had before the write.
func (a *attempt) diskBefore() *string {
	if a.old == nil {
		return a.found.disk
	}
	had, _ := detect(a.old.data)
	return &had
}

// shownBefore returns what the user saw: the buffer's text, or the disk's if the buffer may lag behind it.
func (a *attempt) shownBefore() *string {
	switch f := a.found; {
	case a.buf.Modified && !f.at.Exists && a.mine == "":
		return nil
	case !a.buf.Modified && f.decoded && a.goal.disk != nil && f.had == *a.goal.disk: // the buffer may be behind
		if synced, ok := a.synced.get(a.path); ok {
			return &synced.text
		}
	}
	return a.found.mine
}

// formWritten returns the form on disk, as far as known, of the text that Neovim has just written.
func (a *attempt) formWritten() string {
	if _, err := a.buf.form(); err == nil {
		return Form(a.data)
	}
	now, _ := readFile(a.path) // its error means that somebody has removed it since
	return now.form()
}
