package ledger

import (
	"cmp"
	"os"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file hears what the user does to files in Neovim.

// UserChanged hears of the user's change on the disk under a loaded buffer. Together with what they do next it would
// look different.
func (l *Ledger) UserChanged(w buffers.Written) {
	l.box.Put(func() {
		if !w.Changed || w.Before == nil || w.After == nil {
			return
		}
		c := tellChange(w, "disk")
		if _, noted := l.followed[w.Path]; l.followed != nil && !noted && !w.Unsaved {
			l.followed[w.Path] = c.before
		}
		if l.resuming {
			return
		}
		if l.caughtUp(c) {
			return
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

// UserSaved hears that the user has written a file, and when: what it then has is theirs.
func (l *Ledger) UserSaved(path string, wrote time.Time) {
	file := buffers.IdentityOf(path) // before the agent can take it away
	l.box.Put(func() {
		t := l.turn
		if t == nil || t.over || l.loaded[path] {
			return
		}
		l.usersFirst(path, wrote)
		t.saved[path] = true
		t.unread[path]++
		t.spot(fileState{path: path, file: file})
		l.see(path, false, func(now fileState) {
			if t.unread[path]--; l.loaded[path] { // it was opened meanwhile, which has told what was written
				l.noteSaved()
				return
			}
			if now.Exists { // otherwise it is gone again, which the watch reports
				t.seen[now.path] = now.Content
				l.originals.keepDisk(now.path, now.Content)
				l.remade(t, now.path, now.Content)
				l.userNow(now.path, now.Content)
				l.saveSoon()
				l.noteSaved()
			}
		})
	})
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
			l.turn.left[from], l.turn.at[left] = left, from
		}
		l.saveSoon()
	})
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

// leftFile is a file that the user has left under its old name, as it was last seen, and what record and turns said of it.
type leftFile struct {
	is   review.Content
	said inStep
}

// leftByUser reports whether a file is gone because the user has renamed it. The turn may be nil.
func (l *Ledger) leftByUser(t *turn, now fileState) bool {
	if t == nil || now.Exists {
		return false
	}
	to := t.renamed[now.path]
	if to == "" { // they may have done so before the turn, and Neovim says so later
		return t.away[now.path] != "" && t.first != nil && t.first.State(now.path).Kind == checkpoint.None
	}
	left, stayed := t.left[now.path]
	if stayed && slices.ContainsFunc(keys(t.copies), func(path string) bool { return buffers.IdentityOf(path) == left }) {
		return false // the agent has moved that over what they had written there
	}
	if was, known := l.lastAt(t, fileState{path: now.path}); known && was.Exists && stayed {
		t.wasLeft[now.path] = leftFile{was, l.saysOf(t, now.path)} // it may have been moved since
	}
	l.nothingUnsaved(now.path)
	if shown, brought := t.carried[now.path]; brought {
		l.record.SetBack(now.path, shown.record)
		t.SetBack(now.path, shown.turns[t.Turn])
		delete(t.carried, now.path) // under its new name it may change from now on
	}
	l.record.Renamed(now.path, to)
	t.Renamed(now.path, to)
	l.history.Renamed(now.path, to)
	if is, saved := t.seen[to]; saved { // before it left
		l.userNow(to, is)
	}
	return true
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
		if l.saveSoon(); o.Saved {
			l.noteSaved()
		}
	}()
	if o.Text == nil && !opened || l.applies[o.Path] || l.resuming {
		return
	}
	l.usersFirst(o.Path, o.Wrote)
	now, there := l.inBuffer(o, opened)
	if now.file = file; l.turn == nil || l.turn.over {
		l.modeByUser(o.Path, now.Mode)
	}
	told := true
	switch {
	case o.Text == nil:
		l.openedBehind(now)
		return
	case opened && (l.turn == nil || l.turn.unread[o.Path] == 0):
		if l.account(l.turn, now) {
			l.sawAgents(o.Path)
		}
	case o.Saved, opened: // with what they have just written, which is still to be looked at
		told = l.savedBuffer(now, there, !o.Unread)
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
	case o.Loaded && !o.Saved && !there && now.Text == "":
		now.Content = review.Content{} // the buffer shows a file that is not there, or has read that there is none
	case !opened, !there:
		was, _ := l.known(l.turn, now)
		is, _ := l.record.Present(o.Path)
		now.Mode = cmp.Or(was.Mode, mode, is.Mode) // which the user does not change
	}
	return now, there
}

// savedBuffer hears that the user has written a file from its buffer, and whether now is what they have written. It reports
// whether that is news: what is gone by now was reported.
func (l *Ledger) savedBuffer(now fileState, there, read bool) bool {
	was, taken := l.taken[now.path]
	delete(l.taken, now.path)
	l.nothingUnsaved(now.path)
	l.originals.keepDisk(now.path, now.Content)
	t := l.turn
	if !there && l.isGone(now.path) {
		l.savedAndGone(t, now, read)
		return false
	}
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

// savedAndGone hears that the user has written a file that is gone again, after what was heard of its removal. While a turn
// runs it is the agent who has removed it since, else the user. The turn may be nil.
func (l *Ledger) savedAndGone(t *turn, now fileState, read bool) {
	running := t != nil && !t.over
	if running && !read {
		return // the watch has told of the removal, with what the buffer had
	}
	l.remade(t, now.path, now.Content)
	l.userNow(now.path, now.Content)
	if running {
		l.agentChanged(t, now.path, now.Content, review.Content{})
	}
	l.report(nil)
}

// noteSaved saves at once that the user has written a file while a turn runs: if the host is killed, the disk alone would say
// that the agent did.
func (l *Ledger) noteSaved() {
	if l.turn != nil && !l.turn.over {
		l.whenNoted(func() {})
	}
}

// leftBuffer hears that a buffer has read its file anew, or no longer shows it. It returns what the disk has, and whether
// that is news.
func (l *Ledger) leftBuffer(now fileState, there, loaded bool) (review.Content, bool) {
	if !there {
		l.nothingInBuffer(now.path)
	}
	t := l.turn
	running := t != nil && !t.over
	is, brings := l.gaveUpUnsaved(t, now, loaded)
	if recorded, _ := l.record.Present(now.path); there && !loaded && recorded.Exists {
		if disk := onDisk(now.path); recorded.SameText(disk) { // which the buffer may have left before it had that
			if was, known := l.known(t, now); known {
				disk.Form = was.Form
			}
			disk.Mode = now.Mode
			now.Content = disk
		}
	}
	switch {
	case brings:
		l.sawAgents(now.path)
		return is, true
	case l.isGone(now.path), !there && (!running || l.wasGone(t, now.path)):
		return now.Content, false // as reported
	case !there && l.leftByUser(t, fileState{path: now.path}):
		t.seen[now.path] = review.Content{}
		return review.Content{}, true
	case !there && running && t.away[now.path] != "":
		return review.Content{}, false // the look will tell if the user took it away before the turn, or the agent has in it
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

// gaveUpUnsaved is unsavedGone for a buffer that no longer shows its file, or has read it anew. The turn may be nil.
func (l *Ledger) gaveUpUnsaved(t *turn, now fileState, loaded bool) (is review.Content, brings bool) {
	var said inStep
	carries := t != nil && t.renamed[now.path] != ""
	if carries {
		said = l.saysOf(t, now.path)
	}
	if is, brings = l.unsavedGone(now, loaded); brings && t != nil {
		t.seen[now.path] = is
		if carries {
			t.carried[now.path] = said
		}
	}
	return is, brings
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
}
