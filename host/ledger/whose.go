package ledger

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/files"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file has the one rule that says whose a change is. What a file was when the turn began is fixed. From then on
// what the user does to it in Neovim is the user's, and all else until the turn is over is the agent's, by whatever
// means and in whatever order. Outside of a turn only what comes through the client is the agent's.
//
// The sources (writes through the client, changes under a buffer, calls that name files, comparisons of the folders)
// only say which path to look at, not what was there before. The exception is a file that a buffer shows: there the
// agent's changes come one by one, each with the text right before it, and all else is the user's.

// maxWait is how long a prompt waits for the look at the folders with which its turn begins, and maxFirst how much
// longer if the first look of all is still in progress.
var maxWait, maxFirst = 2 * time.Second, 500 * time.Millisecond // longer in tests

// Coarse is how far a file's time may lag behind the clock.
const Coarse = 20 * time.Millisecond

// known returns what a file was when last seen in a turn, or else when that began; false if neither is known. now is
// what is there, which saves reading what has not changed.
func (l *Ledger) known(t *turn, now fileState) (review.Content, bool) {
	if t == nil || t.over {
		return review.Content{}, false
	}
	if is, ok := t.seen[now.path]; ok {
		return is, true
	}
	if t.isCopy(now) {
		return now.Content, true
	}
	s, listed := l.atBegin(t, now)
	switch {
	case s.Kind == checkpoint.None && !listed:
		return l.record.Present(now.path)
	case s.Kind == checkpoint.None:
		return review.Content{}, true
	case s.Kind != checkpoint.File:
		return review.Content{}, false
	case !now.loaded && now.Exists && s.Size == now.size && s.Changed == now.since.UnixNano():
		now.Mode = s.Mode.Perm() // which may have been looked up later
		return now.Content, true
	}
	if is, ok := l.originals.content(s); ok {
		return is, true
	}
	modified := time.Unix(0, s.ModTime)
	is := review.Opaque(largeText(buffers.DiskState{Exists: true, Sec: modified.Unix(), Nsec: int64(modified.Nanosecond()), Size: s.Size}))
	is.Mode = s.Mode.Perm()
	return is, true
}

// atBegin returns what the folders had at a path when a turn began; listed is false if no look covered it.
func (l *Ledger) atBegin(t *turn, now fileState) (s checkpoint.State, listed bool) {
	if t.first == nil {
		return s, false
	}
	s = t.first.State(now.path)
	if t.late && t.before != nil && !t.saved[now.path] && t.away[now.path] == "" {
		changed := time.Unix(0, s.Changed)
		if s.Kind == checkpoint.None { // perhaps it was removed
			if folder, err := os.Stat(filepath.Dir(now.path)); err != nil {
				changed = t.At // with its folder
			} else {
				changed = folder.ModTime()
			}
		}
		if !changed.Before(t.At.Add(-Coarse)) {
			s = t.before.State(now.path) // the look came after the change
			if s.Kind == checkpoint.None && l.loaded[now.path] {
				return s, false // it was made after that look: its buffer has what it was
			}
		}
	}
	if s.Kind != checkpoint.None || !now.Exists {
		return s, s.Kind != checkpoint.None || t.first.Whole(now.path)
	}
	// It is new, unless the look left it out.
	_, fresh := t.fresh[now.path]
	return s, fresh || t.first.Whole(now.path) && now.since.After(t.At.Add(-Coarse)) && !files.Ignored(context.Background(), now.path)
}

// account records a file as it was just seen, and reports whether it has something new by the agent. The turn may be
// nil.
func (l *Ledger) account(t *turn, now fileState) bool {
	if now.path == "" {
		return false
	}
	if now.loaded && !l.loaded[now.path] && t != nil && !t.over { // it was opened just now, see FileOpened
		if now.loaded = false; now.unsaved {
			now.Content = onDisk(now.path)
		}
	}
	switch {
	case !now.loaded:
	case now.unsaved:
		l.noteUnsaved(l.turn, now.path)
	default:
		l.nothingUnsaved(now.path)
	}
	switch {
	case l.leftByUser(t, now), t == nil, t.over, l.config.Claimed(now.path) && !l.Names(now.path), t.isCopy(now):
		if t != nil {
			t.seen[now.path] = now.Content
		}
		l.userNow(now.path, now.Content)
		return false
	case now.loaded && (!now.Exists || l.isGone(now.path)):
		return false // the watch will tell, also when it returns
	case !now.loaded && l.loaded[now.path]:
		l.gaveUp(t, now)
	}
	was, known := l.known(t, now)
	if known && !was.Exists && now.Exists && l.wasMoved(t, now) {
		return true
	}
	if known && !was.Exists && !now.loaded {
		l.record.Removed(now.path) // by the user, before the turn
	}
	t.seen[now.path] = now.Content
	t.spot(now)
	if now.loaded {
		mode := cmp.Or(was.Mode, now.Mode) // which the user does not change
		was, known = now.Content, true
		was.Mode = mode
	}
	switch {
	case !known:
	case was.Mark() == now.Mark():
		l.userNow(now.path, now.Content)
	default:
		delete(l.inStep, now.path) // the record no longer says so
		if !now.Exists {
			l.noteTaken(now.path, was)
		}
		l.agentChanged(t, now.path, was, now.Content)
		l.config.Others(now.path, now.Content)
		return true
	}
	return false
}

// renamedSince takes what the user has renamed since the last turn, if it is over, under its new names.
func (l *Ledger) renamedSince() {
	if l.turn == nil || !l.turn.over {
		return
	}
	for from := range l.turn.renamed {
		l.leftByUser(l.turn, fileState{path: from, Content: onDisk(from)})
	}
}

// leftByUser reports whether a file is gone because the user has renamed it. The turn may be nil.
func (l *Ledger) leftByUser(t *turn, now fileState) bool {
	if t == nil || now.Exists || t.renamed[now.path] == "" {
		return false
	}
	to := t.renamed[now.path]
	if was, known := l.lastAt(t, fileState{path: now.path}); known && was.Exists && t.left[now.path] {
		t.wasLeft[now.path] = was // it may have been moved since
	}
	l.nothingUnsaved(now.path)
	l.record.Renamed(now.path, to)
	t.Renamed(now.path, to)
	l.history.Renamed(now.path, to)
	if is, saved := t.seen[to]; saved { // before it left
		l.userNow(to, is)
	}
	return true
}

// isCopy reports whether a file is what the user has written under another name, and was not seen since.
func (t *turn) isCopy(now fileState) bool {
	_, seen := t.seen[now.path]
	return !seen && now.Exists && t.copies[now.path]
}

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
	if c.now.Opaque && len(*w.After) > maxReviewed {
		c.now.Text = largeMark(w.Path) // as a look marks it
	}
	if w.Disk == nil && !w.Unsaved {
		c.disk = c.now
	}
	return c
}

// took records a reported change.
func (l *Ledger) took(w buffers.Written, by string, reviewed bool, file buffers.Identity) {
	t := l.turn
	c := tellChange(w, by)
	switch {
	case w.Created, w.Unsaved && w.Behind == nil, reviewed && !w.Unsaved:
		l.nothingUnsaved(w.Path) // which is certain
	case w.Unsaved && !w.Deleted:
		l.noteUnsaved(l.turn, w.Path)
	case !w.Unsaved && !w.Deleted && c.before.Exists: // it was given up before this came
		if l.wasSaved(w.Path, c.before) {
			l.nothingUnsaved(w.Path)
		} else {
			l.unsavedGone(fileState{path: w.Path, Content: c.before}, true)
		}
	}
	began, of, users := t, t, false
	if t != nil && !t.over && t.beganAfter(w) { // it was reported after the turn began
		of, users = t.previous, !t.previous.made(w)
	}
	if w.Behind != nil && !users {
		l.cameUnder(of, w, c.disk, reviewed)
	}
	if w.Behind != nil && !w.Changed && !w.Deleted && !w.Created {
		return // all of it conflicts
	}
	if t = of; began != of {
		began.seen[w.Path], began.disk[w.Path] = c.now, c.disk
	}
	if users {
		l.userNow(w.Path, c.now)
		l.report(nil)
		return
	}
	if w.Deleted {
		l.removedUnder(w.Path, c.before)
	}
	was, news := l.wasBefore(t, c, reviewed)
	if !news {
		return
	}
	anew := c.shown(l) && w.Created && w.Unsaved && c.disk.Exists
	if anew && was.Exists {
		l.record.Held(w.Path, was)
	}
	if was.Exists {
		l.record.Now(w.Path, was)
	} else {
		l.record.Removed(w.Path) // by the user, before the turn
	}
	inRecord, _ := l.record.File(w.Path)
	if anew {
		l.agentMade(t, c, was)
	} else {
		l.agentChanged(t, w.Path, was, c.now)
	}
	if w.Unsaved && c.now.SameText(c.disk) {
		l.nothingUnsaved(w.Path) // the agent knew it
	}
	if reviewed {
		keepWritten(l.record, w.Path, inRecord, c.before, c.now)
		l.originals.keepDisk(w.Path, c.now) // it may have to come back later
	}
	l.named.Store(w.Path, true)
	if t != nil {
		t.seen[w.Path], t.disk[w.Path] = c.now, c.disk
		t.spot(fileState{path: w.Path, file: file})
	}
	l.version[w.Path]++
	l.config.Others(w.Path, c.now)
	l.report([]Event{{w.Path, by}})
}

// agentMade records a file that the agent has created again under a buffer with unsaved text. If the agent had removed
// it or moved it away, or knew what the buffer has, the rest of the buffer is the user's, and stays where they have put
// it.
func (l *Ledger) agentMade(t *turn, c toldChange, was review.Content) {
	f, recorded := l.record.File(c.Path)
	removed := recorded && !f.Present.Exists
	disk, had := c.disk, c.before
	disk.Mode = c.now.Mode
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
	if had.Exists && (c.before.Exists || removed) {
		l.record.Held(c.Path, had)
		l.record.Changed(c.Path, had, c.now)
	} else {
		l.record.Changed(c.Path, was, disk)
		l.userNow(c.Path, c.now) // what else the buffer has
	}
	switch {
	case t == nil:
		return
	case inBuffer:
		t.Changed(c.Path, had, c.now)
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
	if c.Deleted && (known && !was.Exists || l.isGone(c.Path)) {
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
	if reviewed && (c.before.Exists || c.Created && known && was.Exists) && !was.SameText(c.before) {
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
// help if a prompt comes at once; the clock at which the disk was read is exact. For a file that is gone, the look with
// which the turn began decides.
func (t *turn) beganAfter(w buffers.Written) bool {
	if !w.At.IsZero() && w.At.Before(t.At.Add(-Coarse)) || !w.ReadAt.IsZero() && w.ReadAt.Before(t.At) {
		return true
	}
	_, seen := t.seen[w.Path]
	return w.Deleted && !seen && t.previous != nil && t.first != nil && t.first.Whole(w.Path) &&
		t.first.State(w.Path).Kind == checkpoint.None
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

// isGone reports whether the record knows that the agent has removed a file, or has moved it away.
func (l *Ledger) isGone(path string) bool {
	if f, recorded := l.record.File(path); recorded {
		return !f.Present.Exists
	}
	return l.turn != nil && l.turn.gone[path].Exists
}

// agentChanged records a change by the agent in a turn, which may be nil.
func (l *Ledger) agentChanged(t *turn, path string, was, is review.Content) {
	l.keepTexts(t, path, was, is)
	if is.Exists {
		delete(l.taken, path)
	}
	l.record.Changed(path, was, is)
	if t == nil {
		return
	}
	t.Changed(path, was, is)
	delete(t.saved, path)
	switch {
	case is.Exists:
		delete(t.gone, path)
	case was.Exists:
		t.gone[path] = was
	}
}

// keepTexts keeps the texts of what the agent makes no text, which the record forgets.
func (l *Ledger) keepTexts(t *turn, path string, was, is review.Content) {
	if !is.Opaque {
		return
	}
	l.record.Now(path, was)
	f, _ := l.record.File(path)
	texts := []review.Content{was, f.Baseline, f.Accepted}
	if t != nil {
		texts = append(texts, t.Before(path, was))
	}
	for _, text := range texts {
		l.originals.keepText(text)
	}
}

// agentMoved records a move by the agent in a turn, which may be nil.
func (l *Ledger) agentMoved(t *turn, from, to string, was, is review.Content) {
	if _, noted := l.taken[from]; !noted {
		l.noteTaken(from, was)
	}
	delete(l.taken, to)
	if was, noted := l.taken[from]; noted {
		delete(l.taken, from)
		l.taken[to] = was
	}
	l.nothingUnsaved(from)
	l.nothingUnsaved(to)
	l.keepTexts(t, from, was, is)
	l.record.Moved(from, to, was, is)
	l.config.Others(from, review.Content{})
	l.config.Others(to, is)
	if t == nil {
		return
	}
	t.Moved(from, to, was, is)
	delete(t.renamed, from)
	t.seen[from], t.seen[to] = review.Content{}, is
	delete(t.gone, from)
}

// userNow updates what is known of a file to what the user has.
func (l *Ledger) userNow(path string, now review.Content) {
	if !now.Exists {
		l.record.Removed(path)
		return // undoing the turn tells them
	}
	if is, recorded := l.record.Present(path); !recorded || !is.SameText(now) {
		delete(l.taken, path)
	}
	l.record.Now(path, now)
	l.history.Seen(l.lastTurn(), path, now)
	if l.turn != nil {
		l.turn.Seen(path, now)
	}
}

// UserChanged hears of the user's change on the disk under a loaded buffer. Together with what they do next it would
// look different.
func (l *Ledger) UserChanged(w buffers.Written) {
	l.box.Put(func() {
		if l.resuming || !w.Changed || w.Before == nil || w.After == nil {
			return
		}
		c := tellChange(w, "disk")
		if list := l.behind[w.Path]; len(list) > 0 && !w.Unsaved && list[len(list)-1].is.SameText(c.now) {
			// They have taken back all that was unsaved, and the buffer has what the agent had written under it.
			if _, brings := l.unsavedGone(fileState{path: w.Path, Content: c.now}, true); brings {
				l.sawAgents(w.Path)
				return
			}
		}
		f, recorded := l.record.File(w.Path)
		if !recorded {
			return
		}
		c.before.Mode = f.Present.Mode
		l.userNow(w.Path, c.before)
		l.userNow(w.Path, c.now)
		l.report(nil)
	})
}

// UserSaved hears that the user has written a file: what it then has is theirs.
func (l *Ledger) UserSaved(path string) {
	file := buffers.IdentityOf(path) // before the agent can take it away
	l.box.Put(func() {
		t := l.turn
		if t == nil || t.over || l.loaded[path] {
			return
		}
		t.saved[path] = true
		t.spot(fileState{path: path, file: file})
		l.see(path, false, func(now fileState) {
			if now.path != "" && now.Exists { // otherwise it is gone again, which the watch reports
				t.seen[now.path] = now.Content
				l.originals.keepDisk(now.path, now.Content)
				l.remade(t, now.path, now.Content)
				l.userNow(now.path, now.Content)
				l.saveSoon()
			}
		})
	})
}

// remade says that the user has written a file, which the agent may have taken away. The turn, the last one, may be nil.
func (l *Ledger) remade(t *turn, path string, is review.Content) {
	l.record.Remade(path, is)
	l.history.Remade(l.lastTurn(), path, is)
	if t != nil {
		t.Remade(path, is)
		delete(t.gone, path)
	}
}

// UserRenamed hears that the user has given the file of a buffer another name, and may have written it under that.
func (l *Ledger) UserRenamed(from, to string) {
	left := buffers.IdentityOf(from) // before the agent can take it away
	l.box.Put(func() {
		if l.isGone(from) {
			return
		}
		if l.turn == nil { // there was none for this host, or something was undone since
			l.turn = newTurn("", time.Now())
			l.turn.over = true
		}
		for first, then := range l.turn.renamed {
			if then == from {
				l.turn.renamed[first] = to
			}
		}
		l.turn.renamed[from], l.turn.copies[to] = to, true
		delete(l.turn.renamed, to)
		if left != (buffers.Identity{}) {
			l.turn.left[from], l.turn.at[left] = true, from
		}
		l.saveSoon()
	})
}

// FileOpened hears that a buffer shows a file or no longer does, or that the user has saved it, with the text that the
// disk had when Neovim read it, or when the buffer last matched it. While a turn runs, what others changed before the
// file was opened is the agent's; what the user leaves unsaved is gone.
func (l *Ledger) FileOpened(o buffers.Opened) {
	file := buffers.IdentityOf(o.Path) // before the agent can replace it
	l.box.Put(func() { l.whenKnown(o.Path, false, func() { l.fileOpened(o, file) }) })
}

func (l *Ledger) fileOpened(o buffers.Opened, file buffers.Identity) {
	opened := o.Loaded && !l.loaded[o.Path] && !o.Saved
	defer func() {
		l.loaded[o.Path] = o.Loaded
		l.saveSoon()
	}()
	if o.Text == nil && !opened || l.applies[o.Path] || l.resuming {
		return
	}
	now, there := l.inBuffer(o, opened)
	now.file = file
	told := true
	switch {
	case o.Text == nil:
		l.openedBehind(now)
		return
	case opened:
		if l.account(l.turn, now) {
			l.sawAgents(o.Path)
		}
	case o.Saved:
		told = l.savedBuffer(now, there)
	default:
		now.Content, told = l.leftBuffer(now, there, o.Loaded)
	}
	if told && l.turn != nil {
		l.turn.disk[o.Path] = now.Content
	}
}

// inBuffer returns a file as a buffer has it, or had it, and whether the disk has one now.
func (l *Ledger) inBuffer(o buffers.Opened, opened bool) (now fileState, there bool) {
	now = fileState{path: o.Path, since: o.Since, Content: contentOf(o.Text, o.Form)}
	var mode os.FileMode // 0 where there is no file
	if info, err := os.Stat(o.Path); err == nil {
		now.size, mode = info.Size(), info.Mode().Perm()
	} else {
		now.since = time.Now() // what it was when the turn began says if it was new
	}
	there = mode != 0
	switch now.Mode = mode; {
	case opened && !there && now.Text == "":
		now.Content = review.Content{} // the buffer shows a file that is not there
	case !opened, !there:
		was, _ := l.known(l.turn, now)
		is, _ := l.record.Present(o.Path)
		now.Mode = cmp.Or(was.Mode, mode, is.Mode) // which the user does not change
	}
	return now, there
}

// savedBuffer hears that the user has written a file from its buffer. It reports whether that is news: what is gone by
// now was reported.
func (l *Ledger) savedBuffer(now fileState, there bool) bool {
	was, taken := l.taken[now.path]
	delete(l.taken, now.path)
	l.nothingUnsaved(now.path)
	l.originals.keepDisk(now.path, now.Content)
	if !there && l.isGone(now.path) {
		return false
	}
	t := l.turn
	if t != nil {
		t.seen[now.path] = now.Content
		t.saved[now.path] = true
		t.spot(now)
	}
	if there {
		if taken && was.all.buffer != nil { // what the buffer that had it lacks, the user has taken out
			l.record.Held(now.path, now.Content)
			was.turn.Held(now.path, now.Content)
		}
		l.remade(t, now.path, now.Content)
	}
	l.userNow(now.path, now.Content)
	l.report(nil)
	return true
}

// leftBuffer hears that a buffer has read its file anew, or no longer shows it. It returns what the disk has, and whether
// that is news.
func (l *Ledger) leftBuffer(now fileState, there, loaded bool) (review.Content, bool) {
	if !there {
		l.nothingInBuffer(now.path)
	}
	t := l.turn
	running := t != nil && !t.over
	is, brings := l.unsavedGone(now, loaded)
	if recorded, ok := l.record.Present(now.path); ok && there && !loaded {
		if disk := onDisk(now.path); recorded.SameText(disk) {
			now.Content = disk // which the buffer may have left before it had that
		}
	}
	switch {
	case brings:
		l.sawAgents(now.path)
		if t != nil {
			t.seen[now.path] = is
		}
		return is, true
	case l.isGone(now.path), !there && (!running || l.wasGone(t, now.path)):
		return now.Content, false // as reported
	case !there && l.leftByUser(t, fileState{path: now.path}):
		t.seen[now.path] = review.Content{}
		return review.Content{}, true
	case loaded && l.account(t, now):
		l.sawAgents(now.path)
		return now.Content, true
	case t != nil:
		t.seen[now.path] = now.Content
	}
	if there { // else it is gone, which the watch reports
		l.userNow(now.path, now.Content)
		l.report(nil)
	}
	return now.Content, true
}

// wasGone reports whether no file was at a path when that was last seen in a turn, or when that began.
func (l *Ledger) wasGone(t *turn, path string) bool {
	was, known := l.known(t, fileState{path: path})
	return known && !was.Exists
}

// sawAgents says that a change by the agent was seen on the disk.
func (l *Ledger) sawAgents(path string) {
	l.named.Store(path, true)
	l.report([]Event{{path, "disk"}})
}

// openedBehind hears of a buffer that shows a file of which the disk has had another text since, and in which the user has
// typed by now, so that nobody knows what it began with: what the disk has in a turn is the agent's, and conflicts.
func (l *Ledger) openedBehind(now fileState) {
	now.Content = onDisk(now.path)
	was, known := l.known(l.turn, now)
	if !known || was.Opaque || was.Mark() == now.Mark() {
		return
	}
	w := buffers.Written{Path: now.path, Created: !was.Exists, FormBefore: was.Form, Behind: &was.Text, Conflict: true}
	l.noteUnsaved(l.turn, now.path)
	l.cameUnder(l.turn, w, now.Content, false)
	l.sawAgents(now.path)
}

// gaveUp makes what was last seen of a file what the disk had then: the user has given up its buffer's unsaved text, by
// reloading, closing or renaming it.
func (l *Ledger) gaveUp(t *turn, now fileState) {
	disk, told := t.disk[now.path]
	switch {
	case !told:
		l.asItBegan(t, now)
		return
	case !disk.Exists:
		return
	}
	disk.Mode = cmp.Or(t.seen[now.path].Mode, now.Mode, disk.Mode)
	t.seen[now.path] = disk
	l.userNow(now.path, disk)
}

// asItBegan makes what was last seen of a file what it was when the turn began, but for the permissions, which no buffer
// has.
func (l *Ledger) asItBegan(t *turn, now fileState) {
	mode := t.seen[now.path].Mode
	delete(t.seen, now.path)
	if was, known := l.known(t, now); known && was.Exists && mode != 0 {
		was.Mode = mode
		t.seen[now.path] = was
	}
}

// largeMark distinguishes the contents of a file that is too large to compare.
func largeMark(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return largeText(buffers.DiskStateOf(info))
}

func modeOf(path string) os.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}
