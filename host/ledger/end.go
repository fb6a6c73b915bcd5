package ledger

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file ends a turn: it looks at all that may have changed in it.

// tooMany is how many files the folders may have, if all are looked at, for turns without any work to be compared;
// fewer in tests.
var tooMany = 100_000

// harmless are the kinds of calls that change no files.
var harmless = []session.ToolKind{
	session.KindRead, session.KindSearch, session.KindThink, session.KindFetch, session.KindSwitchMode,
}

// seeAtEnd records all that was changed in a turn, which may be nil. worked says that something in it may have changed
// files.
func (l *Ledger) seeAtEnd(t *turn, worked bool, done func()) {
	if t == nil {
		done()
		return
	}
	ended := time.Now()
	l.catchUp(func() {
		l.compareFolders(t, worked, func(after *checkpoint.Snapshot) {
			asSeen := func(now fileState) fileState { return now }
			l.accountDoubt(t, l.doubtful(t, after, ended), asSeen, done)
		})
	})
}

// atATime is how many files that have not moved are looked at together, so that not all their texts are in memory at
// once.
const atATime = 1000

// accountDoubt records what has changed in a turn, and the turn is over. as judges what was seen.
func (l *Ledger) accountDoubt(t *turn, d doubt, as func(fileState) fileState, done func()) {
	left := append([][]string{d.together}, slices.Collect(slices.Chunk(d.others, atATime))...)
	var next func()
	next = func() {
		if len(left) == 0 {
			l.accountOverflow(t, d.rest)
			t.over, t.previous = true, nil
			clear(t.seen) // it has the texts of many files
			done()
			return
		}
		some := left[0]
		left = left[1:]
		l.seeAll(some, func(now []fileState) {
			for i := range now {
				if now[i].path != "" {
					now[i] = as(now[i])
				}
			}
			l.accountAll(t, now)
			l.finish(goneUnderBuffers(now), next)
		})
	}
	next()
}

// catchUp brings all buffers up to date with the disk.
func (l *Ledger) catchUp(done func()) {
	if w := l.config.Watch(); w != nil {
		w.Settle(func() { l.box.Put(done) })
		return
	}
	done()
}

// compareFolders takes a snapshot of the folders at the end of a turn; nil if that is not needed, or not possible.
func (l *Ledger) compareFolders(t *turn, worked bool, done func(*checkpoint.Snapshot)) {
	first := t.first
	if first == nil {
		first = l.scans.latest // the one in progress has about as many
	}
	idle := !worked && len(t.seen) == 0 && first != nil && first.Len() > tooMany && !first.Watched()
	if idle || t.first == nil && !l.scans.running {
		done(nil)
		return
	}
	l.scans.scan(done)
}

// doubt holds the paths that may have changed by the end of a turn.
type doubt struct {
	together []string // what may have been added, removed or moved, or was seen before
	others   []string // files that have changed in place
	rest     overflow
}

// doubtful returns the paths that may have changed: those where the folders differ between the turn's begin and its
// end, those seen during the turn, and those in the record that no look at the folders covers, such as what the user
// has changed in a buffer. What has changed after the end is left out.
func (l *Ledger) doubtful(t *turn, after *checkpoint.Snapshot, ended time.Time) doubt {
	paths, others := map[string]bool{}, map[string]bool{}
	for path := range t.seen {
		paths[path] = true
	}
	for path := range t.gone {
		paths[path] = true
	}
	for _, path := range slices.Concat(l.record.Paths(), t.Paths()) {
		if l.loaded[path] || after == nil || t.first == nil || !after.Whole(path) || after.State(path).Kind == checkpoint.None {
			paths[path] = true
		}
	}
	var unkept, fresh []string
	if after != nil && t.first != nil {
		from := []*checkpoint.Snapshot{t.first}
		if t.late && t.before != nil {
			from = append(from, t.before)
		}
		for _, snap := range from {
			for _, ch := range snap.Changes(after) {
				linked := ch.Before.Kind == checkpoint.File && ch.After.Kind == checkpoint.Symlink // then the file is gone
				if odd(ch.Before) || odd(ch.After) && !linked || ch.After.Changed > ended.Add(Coarse).UnixNano() {
					continue
				}
				if ch.OldPath != "" || ch.Before.Kind == checkpoint.None {
					t.fresh[ch.Path] = ch.OldPath
				}
				switch _, recorded := l.record.Present(ch.Path); {
				case recorded, l.loaded[ch.Path], l.Names(ch.Path), ch.OldPath != "":
					paths[ch.Path], paths[cmp.Or(ch.OldPath, ch.Path)] = true, true
				case ch.Before.Kind == checkpoint.None:
					fresh = append(fresh, ch.Path)
				case ch.Before.Sum.IsZero():
					unkept = append(unkept, ch.Path)
				case ch.After.Kind == checkpoint.None, linked:
					paths[ch.Path] = true
				default:
					others[ch.Path] = true
				}
			}
		}
	}
	var rest overflow
	if len(unkept) > maxUnkept {
		unkept, rest.changed = nil, unkept
	}
	if room := max(0, maxListed-len(paths)-len(others)); len(fresh) > room {
		rest.after = after
		fresh, rest.made = fresh[:room], fresh[room:]
	}
	for _, path := range slices.Concat(unkept, fresh) {
		paths[path] = true
	}
	for path := range paths {
		delete(others, path)
	}
	return doubt{slices.Sorted(maps.Keys(paths)), slices.Sorted(maps.Keys(others)), rest}
}

// odd reports whether something is not a file and cannot be restored.
func odd(s checkpoint.State) bool { return s.Kind != checkpoint.None && s.Kind != checkpoint.File }

// accountAll records files as they were just seen, moved ones first, as another file may be at the old path.
func (l *Ledger) accountAll(t *turn, now []fileState) {
	var events []Event
	moves := l.moves(t, now)
	moved := map[string]bool{}
	for _, m := range moves {
		if l.accountMove(t, m) {
			moved[m.from], moved[m.to.path] = true, true
			events = append(events, Event{m.to.path, "disk"})
		}
	}
	for _, there := range []bool{true, false} { // a file's new path tells that it was moved from its old one
		for _, seen := range now {
			if seen.Exists == there && (!moved[seen.path] || seen.loaded) && l.account(t, seen) {
				l.named.Store(seen.path, true)
				events = append(events, Event{seen.path, "disk"})
			}
		}
	}
	l.report(events)
}

// move is a file that is at another path now.
type move struct {
	from string
	was  review.Content // at the old path
	to   fileState
}

// inside reports whether one of two paths is in the other, a folder now or before.
func inside(a, b string) bool { return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/") }

// accountMove records a move, unless the user has made it, or a file has become a folder with the same text in it: these
// are two changes, as one has to make room for the other.
func (l *Ledger) accountMove(t *turn, m move) bool {
	if inside(m.from, m.to.path) || t.renamed[m.from] == m.to.path || l.config.Claimed(m.to.path) && !l.Names(m.to.path) {
		return false
	}
	l.named.Store(m.to.path, true)
	if over, recorded := l.record.File(m.to.path); m.to.loaded && recorded && over.Baseline.Exists && over.Present.Exists {
		// The watch has told of the buffer there, in which the user may have typed since: another file is gone, that is all.
		if !l.isGone(m.from) {
			l.noteTaken(m.from, m.was)
			l.nothingUnsaved(m.from)
			l.agentChanged(t, m.from, m.was, review.Content{})
			l.config.Others(m.from, review.Content{})
		}
		t.seen[m.from] = review.Content{}
		return true
	}
	l.agentMoved(t, m.from, m.to.path, m.was, m.to.Content)
	return true
}

// wasMoved records a file that is new at a path as moved, if it was at another path when the turn began and is there no
// longer. So what happens to it from now on is told apart, whatever it contains. If a buffer shows the other path, the
// watch first tells that it is gone.
func (l *Ledger) wasMoved(t *turn, now fileState) bool {
	from := t.origin(now)
	if l.loaded[from] && !l.isGone(from) {
		return false
	}
	was, _ := l.lastAt(t, fileState{path: from})
	l.leftByUser(t, fileState{path: from})
	if left, users := t.wasLeft[from]; users {
		was = left.is
		delete(t.wasLeft, from)
		l.saysAgain(from, left.said) // both it and the user's new file have the agent's changes
	}
	return was.Exists && l.accountMove(t, move{from, was, now})
}

// identity returns which file it is.
func (s fileState) identity() buffers.Identity {
	if s.file != (buffers.Identity{}) {
		return s.file
	}
	return buffers.IdentityOf(s.path)
}

// origin returns where a file that is new at a path was last seen, or when the turn began; "" for nowhere, or if there is
// still something.
func (t *turn) origin(now fileState) string {
	file := now.identity()
	from, seen := t.at[file]
	if !seen && t.first != nil {
		look := t.first
		if from = look.Of(file.Device, file.Number); from == now.path && t.late && t.before != nil {
			look = t.before // the other came after the move
			from = look.Of(file.Device, file.Number)
		}
		if file.Made > look.State(from).Changed {
			return "" // a new file has the number of one that was deleted
		}
	}
	from = t.MovedTo(from)
	if from == "" || isThere(from) {
		return ""
	}
	return from
}

// spot notes where a file is.
func (t *turn) spot(now fileState) {
	if file := now.identity(); file != (buffers.Identity{}) {
		t.at[file] = now.path
	}
}

// moves pairs files that are gone with new ones of the same content that are the same file, or each the only one with
// it.
func (l *Ledger) moves(t *turn, now []fileState) []move {
	if t.over || !slices.ContainsFunc(now, func(seen fileState) bool { return !seen.Exists }) {
		return nil
	}
	from, to := map[review.Content][]string{}, map[review.Content][]fileState{}
	away := t.MovedAway()
	last := map[string]review.Content{}
	for _, seen := range now {
		if seen.path == "" {
			continue
		}
		if seen.Exists && !l.isNew(t, seen, away) {
			continue
		}
		was, known := l.lastAt(t, seen)
		switch {
		case !known, !seen.Exists && t.renamed[seen.path] != "": // the user has left it
		case !seen.Exists && was.Exists:
			last[seen.path] = was
			from[unstyled(was)] = append(from[unstyled(was)], seen.path)
		case seen.Exists:
			if disk, told := t.disk[seen.path]; seen.loaded && told {
				disk.Mode = seen.Mode
				seen.Content = disk // what the user has changed is looked at afterwards
			}
			to[unstyled(seen.Content)] = append(to[unstyled(seen.Content)], seen)
		}
	}
	var list []move
	for is, news := range to {
		if is.Text == unstyled(review.Text("")).Text {
			continue // empty files cannot be told apart
		}
		olds := from[is]
		var rest []fileState
		for _, seen := range news {
			old := t.fresh[seen.path]
			for t.renamed[old] != "" { // the user has written it there
				old = t.renamed[old]
			}
			if slices.Contains(olds, old) { // the very same file, by the folders
				list = append(list, move{old, last[old], seen})
				olds = slices.DeleteFunc(slices.Clone(olds), func(path string) bool { return path == old })
			} else {
				rest = append(rest, seen)
			}
		}
		if len(olds) == 1 && len(rest) == 1 {
			list = append(list, move{olds[0], last[olds[0]], rest[0]})
		}
	}
	slices.SortFunc(list, func(a, b move) int { return cmp.Compare(a.from, b.from) })
	return list
}

// unstyled marks a content, ignoring its permissions.
func unstyled(c review.Content) review.Content {
	c = c.Mark()
	c.Mode = 0
	return c
}

// isNew reports whether nothing was at a path when the turn began, or what was there has been moved away, and the user
// has not put something there. away has the paths from which files were moved.
func (l *Ledger) isNew(t *turn, seen fileState, away map[string]bool) bool {
	if t.saved[seen.path] {
		return false
	}
	if away[seen.path] {
		return true
	}
	s, listed := l.atBegin(t, seen)
	return s.Kind == checkpoint.None && listed
}

// lastAt returns what the disk is last known to have had at a path when something was there.
func (l *Ledger) lastAt(t *turn, now fileState) (review.Content, bool) {
	if was, gone := t.gone[now.path]; gone {
		return was, true
	}
	was, known := l.known(t, now)
	if disk := t.disk[now.path]; l.loaded[now.path] && disk.Exists && was.Exists {
		disk.Mode = was.Mode
		return disk, true
	}
	return was, known
}

// goneUnderBuffers returns the paths of deleted files that buffers show.
func goneUnderBuffers(now []fileState) (paths []string) {
	for _, seen := range now {
		if seen.loaded && !seen.Exists {
			paths = append(paths, seen.path)
		}
	}
	return paths
}

// finish brings the buffers of files up to date with the disk, also if these are empty or gone.
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
