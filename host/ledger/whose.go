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
	case !listed:
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
	// It is new, unless the look left it out. A folder that was moved leaves no trace at its files but where they were.
	_, fresh := t.fresh[now.path]
	return s, fresh || t.origin(now) != "" || t.first.Whole(now.path) && now.since.After(t.At.Add(-Coarse)) && !files.Ignored(context.Background(), now.path)
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
		if l.loaded[now.path] && now.Exists { // its buffer is gone, which FileOpened will tell
			if _, brings := l.gaveUpUnsaved(t, now, false); brings {
				return true
			}
		}
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
		if t == nil || t.over {
			l.modeByUser(now.path, now.Mode)
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
		if t.first == nil && !t.asked && t.previous == nil {
			mode = now.Mode // but may have, before the prompt
			l.modeByUser(now.path, mode)
		}
		was, known = now.Content, true
		was.Mode = mode
	}
	switch {
	case !known:
	case was.Mark() == now.Mark():
		l.userNow(now.path, now.Content)
	default:
		if now.loaded {
			l.modeUnder(t, now.path, was.Mode, now.Mode)
		} else {
			delete(l.inStep, now.path) // the record no longer says so
		}
		if !now.Exists {
			l.noteTaken(now.path, was)
		}
		if now.Exists && !was.Exists && !now.loaded {
			t.looked[now.path] = lookedNew{now.since, l.saysOf(t, now.path)}
		}
		l.agentChanged(t, now.path, was, now.Content)
		l.config.Others(now.path, now.Content)
		return true
	}
	return false
}

// lookedNew is a new file that a look took for the agent's: since when it was there as it was, and what record and turns had
// said of it.
type lookedNew struct {
	since time.Time
	said  inStep
}

// usersFirst hears when the user has written a file. A look that found it before Neovim could say so took it for a new one of
// the agent's, which it is not.
func (l *Ledger) usersFirst(path string, wrote time.Time) {
	t := l.turn
	if t == nil || wrote.IsZero() {
		return
	}
	if found, looked := t.looked[path]; looked && !wrote.After(found.since) {
		delete(t.looked, path)
		l.saysAgain(path, found.said)
		if _, ran := found.said.turns[t.Turn]; !ran {
			t.SetBack(path, review.Image{})
		}
	}
}

// isCopy reports whether a file is what the user has written under another name, and was not seen since.
func (t *turn) isCopy(now fileState) bool {
	_, seen := t.seen[now.path]
	return !seen && now.Exists && t.copies[now.path]
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
	if away, noted := l.taken[path]; noted && is.Exists {
		if delete(l.taken, path); away.path != path { // its buffer still has what it had there
			away.all.disk, away.its.disk = review.Content{}, review.Content{}
			l.taken[path] = away
		}
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

// keepTexts keeps the texts of what the agent makes no text, which the turn forgets.
func (l *Ledger) keepTexts(t *turn, path string, was, is review.Content) {
	if !is.Opaque {
		return
	}
	l.originals.keepText(was)
	if t != nil {
		l.originals.keepText(t.Before(path, was))
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
	if is, _ := l.record.Present(path); !is.SameText(now) {
		delete(l.taken, path)
	}
	l.record.Now(path, now)
	l.history.Seen(l.lastTurn(), path, now)
	if l.turn != nil {
		l.turn.Seen(path, now)
	}
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

// wasGone reports whether no file was at a path when that was last seen in a turn, or when that began.
func (l *Ledger) wasGone(t *turn, path string) bool {
	was, known := l.known(t, fileState{path: path})
	return known && !was.Exists
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
