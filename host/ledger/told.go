package ledger

import (
	"cmp"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file hears what agents change: through the client, and on the disk under the buffers.

// Took records a write by the agent through its client, by "fs", or a change on the disk under a loaded buffer, by
// "disk". If the user accepted it before it was made, it is kept.
func (l *Ledger) Took(w buffers.Written, by string, reviewed bool) {
	file := buffers.IdentityOf(w.Path) // before the agent can do more
	l.box.Put(func() {
		if by == "fs" && l.scans.latest == nil && (l.turn == nil || !l.turn.waits[w.Path]) {
			l.took(w, by, reviewed, file) // the first look of all, which comes after it, does not tell
			return
		}
		l.whenKnown(w.Path, w.Deleted, func() { l.took(w, by, reviewed, file) })
	})
}

// Noted runs then, on any goroutine, when what was recorded before is saved, unless that is too much to save at once.
func (l *Ledger) Noted(then func()) {
	if !l.box.Put(func() {
		if len(l.scans.early) > 0 { // some of it waits for the first look
			l.scans.early = append(l.scans.early, func() { l.whenNoted(then) })
			return
		}
		l.whenNoted(then)
	}) {
		then()
	}
}

// TookMove records a move by the agent through its client: what is gone at one path and was created at another.
func (l *Ledger) TookMove(gone, made buffers.Written) {
	l.box.Put(func() {
		l.whenKnown(gone.Path, true, func() {
			t, was, is := l.turn, tellChange(gone, "fs").before, tellChange(made, "fs").now
			was.Mode = is.Mode
			if t != nil && t.over {
				t = nil
			}
			l.agentMoved(t, gone.Path, made.Path, was, is)
			l.named.Store(made.Path, true)
			if t != nil {
				t.disk[gone.Path], t.disk[made.Path] = review.Content{}, is
			}
			l.version[gone.Path]++
			l.version[made.Path]++
			l.report([]Event{{made.Path, "fs"}})
		})
	})
}

// whenKnown runs f when it is known what a file was before the turn, which the first look at the folders tells, or the
// buffer that shows the file, unless it is gone. Whatever else happens to the file waits too.
func (l *Ledger) whenKnown(path string, gone bool, f func()) {
	t := l.turn
	if t == nil || t.over || t.first != nil || !l.scans.running {
		f()
		return
	}
	if _, seen := t.seen[path]; !t.waits[path] && (seen || l.loaded[path] && !gone) {
		f()
		return
	}
	t.waits[path] = true
	l.scans.early = append(l.scans.early, f)
}

// toldChange is a reported change, with the texts for the record.
type toldChange struct {
	buffers.Written
	by                string         // see [Ledger.Took]
	before, now, disk review.Content // of the file; disk is the part of now on the disk, if a buffer has more
}

func tellChange(w buffers.Written, by string) toldChange {
	c := toldChange{Written: w, by: by, before: contentOf(w.Before, w.FormBefore), disk: contentOf(w.Disk, w.FormAfter)}
	if w.Deleted {
		return c
	}
	c.now = contentOf(w.After, w.FormAfter)
	c.now.Mode = modeOf(w.Path)
	if w.Disk != nil && *w.Disk == "" && c.now.Text != "" && w.FormBefore != "" {
		c.now.Form = w.FormBefore // an empty file has none of its own
	}
	if c.now.Opaque && len(*w.After) > maxReviewed {
		c.now.Text = largeMark(w.Path) // as a look marks it
	}
	if w.Disk == nil && !w.Unsaved {
		c.disk = c.now
	} else if c.disk.Exists {
		c.disk.Mode = c.now.Mode
	}
	return c
}

// took records a reported change.
func (l *Ledger) took(w buffers.Written, by string, reviewed bool, file buffers.Identity) {
	c := tellChange(w, by)
	if l.caughtUp(c) {
		return
	}
	l.hearsOfUnsaved(c, reviewed)
	began := l.turn
	t, users := l.madeIn(c)
	if w.Behind != nil && !users {
		l.cameUnder(t, w, c.disk, reviewed)
	}
	if w.Behind != nil && !w.Changed && !w.Created { // all of it conflicts
		if t != nil && !users && c.now.Exists { // else nobody has asked what the buffer has
			was, _ := l.known(t, fileState{path: w.Path, loaded: true})
			c.now.Mode = cmp.Or(was.Mode, c.now.Mode) // a look tells of those
			t.seen[w.Path] = c.now
		}
		return
	}
	if t != began {
		began.seen[w.Path], began.disk[w.Path] = c.now, c.disk
	}
	if users {
		l.userNow(w.Path, c.now)
		l.report(nil)
		return
	}
	l.agentDid(t, c, reviewed, file)
}

// hearsOfUnsaved notes whether the buffer of a reported change has unsaved text, or has no longer.
func (l *Ledger) hearsOfUnsaved(c toldChange, reviewed bool) {
	switch {
	case c.Created, c.Unsaved && c.Behind == nil, reviewed && !c.Unsaved:
		l.nothingUnsaved(c.Path) // which is certain
		if c.Created && c.Unsaved {
			l.noteUnsaved(l.turn, c.Path) // it had no file
		}
	case c.Unsaved:
		l.noteUnsaved(l.turn, c.Path)
	case c.Deleted || !c.before.Exists:
	case l.wasSaved(c.Path, c.before):
		l.nothingUnsaved(c.Path)
	default: // it was given up before this came
		l.unsavedGone(fileState{path: c.Path, Content: c.before}, true)
	}
}

// madeIn returns the turn in which the agent has made a reported change, nil for none; users says that the user has made it:
// the turn that runs has begun since, and none was running.
func (l *Ledger) madeIn(c toldChange) (t *turn, users bool) {
	if t = l.turn; t == nil || t.over || !l.beganAfter(t, c) {
		return t, false
	}
	return t.previous, !t.previous.made(c.Written)
}

// agentDid records a reported change by the agent in a turn, which may be nil.
func (l *Ledger) agentDid(t *turn, c toldChange, reviewed bool, file buffers.Identity) {
	var lost review.Image
	switch {
	case c.Deleted && l.isGone(c.Path):
		return // which a look has told
	case c.Deleted:
		lost = l.removedUnder(c.Path, c.before)
	case c.Created && !c.Unsaved:
		l.madeAnew(c.Path)
	}
	if l.cameByMove(t, c, file) {
		l.hasSeen(t, c, file)
		return
	}
	was, news := l.wasBefore(t, c, reviewed)
	if !news {
		return
	}
	anew := c.Created && c.Unsaved && c.disk.Exists
	if anew && was.Exists {
		l.record.Held(c.Path, was)
	}
	if is, recorded := l.record.Present(c.Path); recorded && c.Unsaved && isText(is) && is.SameText(was) {
		was.Form = is.Form // the disk's is of another text
	}
	if was.Exists {
		l.record.Now(c.Path, was)
	} else {
		l.record.Removed(c.Path) // by the user, before the turn
	}
	inRecord, _ := l.record.File(c.Path)
	if anew {
		l.agentMade(t, c, was)
	} else {
		l.agentChanged(t, c.Path, was, c.now)
	}
	l.record.GoneFrom(c.Path, lost)
	if c.Unsaved && c.now.SameText(c.disk) {
		l.nothingUnsaved(c.Path) // the agent knew it
	}
	if reviewed {
		keepWritten(l.record, c.Path, inRecord, c.before, c.now, c.Shown)
		l.originals.keepDisk(c.Path, c.now) // it may have to come back later
		if is, _ := l.record.Present(c.Path); is.Opaque && is.SameText(c.now) {
			l.originals.keepTextOf(is, c.now) // which the record does not have, as the file once had none
		}
	}
	l.config.Others(c.Path, c.now)
	l.hasSeen(t, c, file)
}

// hasSeen notes what a file is after a reported change, and passes that on. The turn may be nil.
func (l *Ledger) hasSeen(t *turn, c toldChange, file buffers.Identity) {
	l.named.Store(c.Path, true)
	if t != nil {
		t.seen[c.Path], t.disk[c.Path] = c.now, c.disk
		t.spot(fileState{path: c.Path, file: file})
	}
	l.version[c.Path]++
	l.report([]Event{{c.Path, c.by}})
}

// cameByMove records that a file which a buffer still shows is there again because the agent has moved another one there; false
// if it has not. The turn may be nil.
func (l *Ledger) cameByMove(t *turn, c toldChange, file buffers.Identity) bool {
	if c.by != "disk" || !c.Created || c.Unsaved {
		return false
	}
	now := fileState{path: c.Path, loaded: true, since: c.Since, file: file, Content: c.now}
	was, known := l.known(t, now)
	return known && !was.Exists && l.wasMoved(t, now)
}

// caughtUp hears of a change by which a buffer with nothing unsaved has what the agent had written under its unsaved text, as
// the user has given that up, and reports whether it is one.
func (l *Ledger) caughtUp(c toldChange) bool {
	list := l.behind[c.Path]
	if len(list) == 0 || c.Unsaved || !list[len(list)-1].is.SameText(c.now) {
		return false
	}
	is, brings := l.unsavedGone(fileState{path: c.Path, Content: c.now}, true)
	if !brings {
		return false
	}
	if l.turn != nil {
		l.turn.seen[c.Path], l.turn.disk[c.Path] = is, is
	}
	l.sawAgents(c.Path)
	return true
}

// agentMade records a file that the agent has created again under a buffer with unsaved text. If the agent had removed
// it or moved it away, or knew what the buffer has, the rest of the buffer is the user's, and stays where they have put
// it.
func (l *Ledger) agentMade(t *turn, c toldChange, was review.Content) {
	f, recorded := l.record.File(c.Path)
	removed := recorded && !f.Present.Exists
	disk, had := c.disk, c.before
	switch {
	case had.Exists:
	case c.Had == nil && removed: // no line is left in the buffer
		had = contentOf(new(string), c.FormAfter)
	default:
		had = contentOf(c.Had, c.FormAfter)
	}
	had.Mode = c.now.Mode
	inBuffer := had.Exists && t != nil && (t.Gone(c.Path) || c.before.Exists || removed && c.Conflict) // else the disk has it
	if inBuffer {
		t.Held(c.Path, had)
	}
	if c.before.Exists { // the disk has it too then
		l.record.Remade(c.Path, had)
		if t != nil {
			t.Remade(c.Path, had)
		}
	}
	switch {
	case c.before.Exists || removed:
		l.record.Held(c.Path, had)
		l.record.Changed(c.Path, had, c.now)
	case had.Exists: // in the buffer of no file
		l.record.MadeUnder(c.Path, had, c.now)
	default:
		l.record.Changed(c.Path, was, disk)
	}
	switch {
	case t == nil:
		return
	case inBuffer:
		t.Changed(c.Path, had, c.now)
	case had.Exists:
		t.MadeUnder(c.Path, had, c.now)
	default:
		t.Changed(c.Path, was, disk)
	}
	delete(t.gone, c.Path)
}

// shown reports whether a buffer had the file, so that the text right before the change is the reported one.
func (c toldChange) shown(l *Ledger) bool {
	return c.by == "disk" || c.Buf != 0 && (l.loaded[c.Path] || c.Unsaved)
}

// wasBefore returns what the file was before a change in a turn, which may be nil; news is false if the change was seen
// before. The report counts for what a buffer had, and for a file of which nothing else is known.
func (l *Ledger) wasBefore(t *turn, c toldChange, reviewed bool) (was review.Content, news bool) {
	there := fileState{path: c.Path, since: c.Since}
	if !c.Deleted {
		there.Content = c.before
	}
	was, known := l.known(t, there)
	if there.Mode, there.file = c.now.Mode, c.Was; known && !was.Exists && there.Exists && l.wasMoved(t, there) {
		was, known = l.known(t, there)
	}
	if c.Deleted && known && !was.Exists {
		return was, false
	}
	tells := c.before.Exists || c.Created
	switch {
	case c.shown(l) && tells, !known && c.by == "fs":
		mode := cmp.Or(was.Mode, c.now.Mode)
		if was = c.before; was.Exists {
			was.Mode = mode
		}
	case !known:
		was = review.Opaque("not known")
	}
	if reviewed && tells && !was.SameText(c.before) {
		// What it was before was not part of the question.
		before := c.before
		if before.Exists {
			before.Mode = was.Mode
		}
		l.agentChanged(t, c.Path, was, before)
		was = before
	}
	return was, true
}

// beganAfter reports whether a turn began after a change that is reported in it. A file's time may be coarse, and does not
// help if a prompt comes at once; the clock at which the disk was read is exact, and what the first look has seen was there
// before the prompt went out. For a file that is gone, that look decides.
func (l *Ledger) beganAfter(t *turn, w toldChange) bool {
	switch {
	case !w.At.IsZero() && w.At.Before(t.At.Add(-Coarse)), !w.ReadAt.IsZero() && (w.ReadAt.Before(t.At) || !t.asked):
		return true
	case t.first == nil || t.late:
		return false
	case !w.Deleted:
		s := t.first.State(w.Path)
		if s.Kind != checkpoint.File || w.At.IsZero() || s.Changed != w.At.UnixNano() {
			return false
		}
		is, known := l.originals.content(s)
		return !known || is.SameText(w.disk) && is.Form == w.disk.Form // the agent may have written it in the same tick of the clock
	}
	_, seen := t.seen[w.Path]
	return !seen && t.previous != nil && t.first.Whole(w.Path) && t.first.State(w.Path).Kind == checkpoint.None
}

// made reports whether a change may belong to a turn that has ended but is still being looked at; the turn may be nil.
func (t *turn) made(w buffers.Written) bool {
	return t != nil && !t.over && (w.At.IsZero() || !w.At.Before(t.At.Add(-Coarse)) && !w.At.After(t.ended))
}

// Elsewhere hears what a file has become through another session: to this one, that is the user's change.
func (l *Ledger) Elsewhere(path string, is review.Content) {
	l.box.Put(func() {
		l.whenKnown(path, false, func() {
			if l.loaded[path] { // what a buffer has besides this agent's changes is the user's anyway
				if _, unsaved := l.inStep[path]; (unsaved || l.behind[path] != nil) && onDisk(path).SameText(is) {
					l.nothingUnsaved(path) // the other agent knew it
				}
				return
			}
			if t := l.turn; t != nil && !t.over {
				t.seen[path] = is
				delete(t.gone, path)
			}
			if is.Exists {
				l.remade(l.turn, path, is)
			}
			l.userNow(path, is)
			l.report(nil)
		})
	})
}

// sawAgents says that a change by the agent was seen on the disk.
func (l *Ledger) sawAgents(path string) {
	l.named.Store(path, true)
	l.report([]Event{{path, "disk"}})
}
