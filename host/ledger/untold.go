package ledger

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// maxUntold is how many files that no call has named are taken into the record of a turn.
const maxUntold = 5000

// harmless are the kinds of calls that change no files. After a turn with another one the folders are
// compared: also a call that says which files it changes may not name all of them.
var harmless = []session.ToolKind{
	session.KindRead, session.KindSearch, session.KindThink, session.KindFetch, session.KindSwitchMode,
}

// findUntold brings into the record what commands of the agent's have changed in a turn without naming it.
func (l *Ledger) findUntold(t *turn, done func()) {
	if !l.worked.Swap(false) || t == nil {
		done()
		return
	}
	l.scans.scan(func(after *checkpoint.Snapshot) {
		if after == nil || t.first == nil {
			done()
			return
		}
		list := l.untold(t, after)
		// What was moved first: another file may be where it was.
		slices.SortStableFunc(list, func(a, b checkpoint.Change) int {
			return cmp.Compare(b.OldPath, "") - cmp.Compare(a.OldPath, "")
		})
		l.takeUntold(t, list, done)
	})
}

// untold is what may have been changed by commands since a turn began, in the order of the paths.
func (l *Ledger) untold(t *turn, after *checkpoint.Snapshot) []checkpoint.Change {
	found := map[string]checkpoint.Change{}
	if t.before != nil {
		// What was changed while the first look of the turn was taken.
		for _, ch := range t.before.Changes(t.first) {
			if changedSince(ch, t.At.Add(-coarse)) && !l.superseded(t, ch) {
				found[ch.Path] = ch
			}
		}
	}
	for _, ch := range t.first.Changes(after) {
		at := cmp.Or(ch.OldPath, ch.Path)
		if first, ok := found[at]; ok {
			delete(found, at)
			ch.Before = first.Before
			ch.OldPath = cmp.Or(first.OldPath, ch.OldPath)
			if first.Before.Kind == checkpoint.None {
				ch.OldPath = ""
			} else if ch.After.Kind == checkpoint.None {
				ch.Path, ch.OldPath = cmp.Or(ch.OldPath, ch.Path), ""
			}
		} else if t.before != nil && ch.Before.Size == 0 {
			// Not all file systems give a file another time when it is emptied to be written.
			if was := t.before.State(at); was.Size > 0 && was.ModTime == ch.Before.ModTime && was.Inode == ch.Before.Inode {
				ch.Before = was
			}
		}
		found[ch.Path] = ch
	}
	var list []checkpoint.Change
	for path, ch := range found {
		if l.isUntold(path, ch) {
			if ch.Before.ModTime >= t.At.Add(-coarse).UnixNano() {
				ch.Before.Sum = checkpoint.Sum{} // the first look was too late, or in the middle of a write
			}
			list = append(list, ch)
		}
	}
	slices.SortFunc(list, func(a, b checkpoint.Change) int { return strings.Compare(a.Path, b.Path) })
	list = l.withMoves(t, list, after)
	return list[:min(len(list), maxUntold)]
}

// withMoves makes one change of a file that is gone and a new one that has what was there. The snapshots do not
// tell it when the agent had changed or moved the file since the turn began, or had moved another one away
// from where it is now.
func (l *Ledger) withMoves(t *turn, list []checkpoint.Change, after *checkpoint.Snapshot) []checkpoint.Change {
	var fresh []int // indices of new files
	from := map[review.Content][]string{}
	gone := map[string]checkpoint.State{}
	add := func(path string, was checkpoint.State) {
		last, known := l.last[path]
		switch {
		case !known:
			last, known = l.originals.content(was)
		case !last.Exists:
			last = l.removed[path] // a call that had changed it was looked at after the move
		}
		if _, double := gone[path]; known && last.Exists && !double {
			from[last.Mark()] = append(from[last.Mark()], path)
			gone[path] = was
		}
	}
	for i, ch := range list {
		switch {
		case ch.After.Kind == checkpoint.None:
			add(ch.Path, ch.Before)
		case (ch.Before.Kind == checkpoint.None || t.MovedTo(ch.Path) != "") && ch.After.Size > 0:
			fresh = append(fresh, i)
		}
	}
	if len(fresh) == 0 {
		return list
	}
	// Those that the snapshots do not tell to be gone: a call has told of them, or the user has decided about them
	// since the first look.
	for _, path := range slices.Concat(t.Paths(), l.record.Paths()) {
		is, known := t.Present(path)
		if !known {
			is, _ = l.record.Present(path)
		}
		if is.Exists && after.State(path).Kind == checkpoint.None {
			was := t.first.State(path)
			if was.Kind == checkpoint.None && t.before != nil {
				was = t.before.State(path)
			}
			add(path, was)
		}
	}
	to := map[string][]int{}
	for _, i := range fresh {
		is, ok := l.originals.content(list[i].After)
		if paths := from[is.Mark()]; ok && len(paths) == 1 {
			to[paths[0]] = append(to[paths[0]], i)
		}
	}
	for path, news := range to {
		if len(news) == 1 {
			list[news[0]].OldPath, list[news[0]].Before = path, gone[path]
		}
	}
	return slices.DeleteFunc(list, func(ch checkpoint.Change) bool { return len(to[ch.Path]) == 1 })
}

// superseded tells that a file was no longer what a snapshot has of it when the turn after that began: the
// user has decided about it, or has undone a turn. Of what calls of the turn have changed that is not known.
func (l *Ledger) superseded(t *turn, ch checkpoint.Change) bool {
	differs := func(path string, was review.Content) bool {
		last, known := l.last[path]
		_, changed := t.Present(path)
		return known && !changed && last != was.Mark()
	}
	was := l.originals.before(ch)
	if ch.OldPath != "" {
		return differs(ch.OldPath, was) || differs(ch.Path, review.Content{})
	}
	return differs(ch.Path, was)
}

// changedSince tells whether a change was made after a time, as far as can be told: a file that is gone has
// no time, but the folder where it was has.
func changedSince(ch checkpoint.Change, t time.Time) bool {
	if ch.After.Kind != checkpoint.None {
		return max(ch.After.ModTime, ch.After.Changed) >= t.UnixNano()
	}
	for dir := filepath.Dir(ch.Path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil:
			return !info.ModTime().Before(t)
		case dir == filepath.Dir(dir):
			return false
		}
	}
}

// isUntold tells whether a change may be one of the agent's that nobody has told of.
func (l *Ledger) isUntold(path string, ch checkpoint.Change) bool {
	odd := func(s checkpoint.State) bool { return s.Kind != checkpoint.None && s.Kind != checkpoint.File }
	_, users := l.saved.Load(path)
	return !odd(ch.Before) && !odd(ch.After) && !users && !l.config.Claimed(path)
}

// takeUntold looks at files that were changed in a turn and brings that into the record.
func (l *Ledger) takeUntold(t *turn, list []checkpoint.Change, done func()) {
	paths := make([]string, len(list))
	for i, ch := range list {
		paths[i] = ch.Path
	}
	l.seeAll(paths, func(now []sight) {
		// The watch waits with a file that may be in the middle of being written. The turn is over.
		var late, left []string
		for i, ch := range list {
			if l.loaded[now[i].path] && (ch.After.Size == 0 || ch.OldPath != "") {
				late = append(late, ch.Path)
			}
			if ch.OldPath != "" {
				left = append(left, ch.OldPath)
			}
		}
		l.finish(late, func() {
			l.takeSeen(t, list, now)
			l.finish(left, done)
		})
	})
}

// finish has what the disk has of files reach the buffers that show them, also that they are empty or gone.
func (l *Ledger) finish(paths []string, done func()) {
	w := l.config.Watch()
	missing := len(paths)
	if missing == 0 || w == nil {
		done()
		return
	}
	for _, path := range paths {
		w.Finish(path, func() {
			l.box.Put(func() {
				if missing--; missing == 0 {
					done()
				}
			})
		})
	}
}

// takeSeen brings files that were changed in a turn, as they are now, into the record.
func (l *Ledger) takeSeen(t *turn, list []checkpoint.Change, now []sight) {
	var events []Event
	for i, ch := range list {
		seen := now[i]
		if ch.Before.Kind == checkpoint.File {
			t.KnowModes(ch.Path, turns.Modes{Before: ch.Before.Mode.Perm(), After: ch.After.Mode.Perm()})
		}
		if seen.path != ch.Path {
			continue
		}
		was, is := l.originals.before(ch), seen.Content
		from := ch.OldPath
		if from != "" {
			if to := t.MovedTo(from); to != "" {
				from = to // as a call has told
			}
			if from == ch.Path {
				continue
			}
			if is.Mark() == l.last[from] || is.Mark() == l.removed[from] {
				was = is // the agent had changed it before
			}
		} else if t.MovedTo(ch.Path) != "" {
			was = review.Content{}
		}
		f, recorded := l.record.File(seen.path)
		if told, ok := t.Present(seen.path); ok && from == "" {
			if was = told; recorded {
				was = f.Present // with what the user has typed
			}
		}
		last, left := l.last[seen.path]
		// The watch tells of the text of a loaded file.
		known := l.loaded[seen.path] && from == "" || recorded && (f.Present == is || f.Present == is.Mark()) || left && last == is.Mark()
		switch {
		case known && from != "" && !l.isGone(from):
			// What is at the new path was made there, and the old file removed.
			l.agentChanged(t, from, was, review.Content{})
			l.last[from] = review.Content{}
			events = append(events, Event{from, "disk"})
			continue
		case known, was == is && from == "":
			continue
		}
		if from != "" && is.Exists {
			l.agentMoved(t, from, seen.path, was, is)
			l.last[from] = review.Content{}
		} else {
			l.agentChanged(t, seen.path, was, is)
		}
		l.last[seen.path] = is.Mark()
		l.named.Store(seen.path, true)
		events = append(events, Event{seen.path, "disk"})
	}
	l.tell(events)
}
