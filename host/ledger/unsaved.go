package ledger

import (
	"cmp"
	"maps"
	"os"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file keeps what the record and the turns say of a file without its unsaved text, for when the user gives that
// up.

// inStep is what record and turns said of a file when its buffer last matched the disk. turns has those that ran.
type inStep struct {
	record review.Image
	turns  map[*turns.Turn]review.Image
}

// behind is a change by the agent to the disk under unsaved text, with which it may conflict.
type behind struct {
	turn    *turn          // in which it came; nil for none
	was, is review.Content // what the disk had before it, and then
	// before is what a refusal gives the disk: was, or what had been there before the agent removed it.
	before review.Content
	fresh  bool // it was removed before the turn, whose undo therefore leaves no file
	// conflicts says that the buffer does not have all of it.
	conflicts bool
	kept      bool // the user had accepted it before it was made
}

// noteUnsaved notes what record and turns say of a file, before its buffer gets something unsaved. The turn, the last one,
// may be nil.
func (l *Ledger) noteUnsaved(t *turn, path string) {
	if _, noted := l.inStep[path]; noted || l.behind[path] != nil {
		return
	}
	l.inStep[path] = l.saysOf(t, path)
}

// saysOf returns what record and turns say of a file now; the last turn may be nil.
func (l *Ledger) saysOf(t *turn, path string) inStep {
	var last *turns.Turn
	if t != nil {
		last = t.Turn
	}
	return inStep{l.record.Image(path), l.history.Images(last, path)}
}

// modeUnder notes permissions that the agent has changed also in what record and turns said before something was unsaved, as the
// file has them whatever the buffer has.
func (l *Ledger) modeUnder(t *turn, path string, was, is os.FileMode) {
	s, noted := l.inStep[path]
	if !noted || was == is {
		return
	}
	text := onDisk(path)
	if list := l.behind[path]; len(list) > 0 {
		text = list[0].was
	}
	changed := func(said review.Image) review.Image {
		r := review.New(maxRecorded)
		r.SetBack(path, said)
		before, recorded := r.Present(path)
		if !recorded {
			before = text
		}
		after := before
		before.Mode, after.Mode = was, is
		r.Changed(path, before, after)
		return r.Image(path)
	}
	in := maps.Clone(s.turns)
	in[t.Turn] = changed(in[t.Turn])
	l.inStep[path] = inStep{changed(s.record), in}
}

// modeByUser notes permissions that the user has given a file in what the record said before something was unsaved, and in
// what came since.
func (l *Ledger) modeByUser(path string, mode os.FileMode) {
	if is, _ := l.record.Present(path); mode == 0 || mode == is.Mode {
		return
	}
	if s, noted := l.inStep[path]; noted {
		r := review.New(maxRecorded)
		r.SetBack(path, s.record)
		if had, recorded := r.Present(path); recorded && had.Exists {
			had.Mode = mode
			r.Now(path, had)
		}
		l.inStep[path] = inStep{r.Image(path), s.turns}
	}
	for i, b := range l.behind[path] {
		if b.was.Exists {
			l.behind[path][i].was.Mode = mode
		}
	}
}

// nothingUnsaved says that a buffer matches the disk, or that a decision has changed what record and turns say of the
// file.
func (l *Ledger) nothingUnsaved(path string) {
	delete(l.inStep, path)
	l.settled(path)
}

// cameUnder notes a change by the agent to the disk that its buffer may lack, for when the buffer is reloaded. The turn
// may be nil; reviewed says that the user had accepted the change.
func (l *Ledger) cameUnder(t *turn, w buffers.Written, is review.Content, reviewed bool) {
	list := l.behind[w.Path]
	came := behind{turn: t, is: is, conflicts: w.Conflict, kept: reviewed}
	if last := len(list) - 1; last >= 0 && list[last].turn == t && !list[last].kept && !reviewed {
		came.was, came.before, came.fresh = list[last].was, list[last].before, list[last].fresh
		came.conflicts = came.conflicts || list[last].conflicts
		list = list[:last]
	} else if w.Created {
		came.before, came.fresh = l.removed(t, w.Path, w.Before != nil), t != nil && !t.Gone(w.Path)
	} else {
		came.was = contentOf(w.Behind, w.FormBefore)
		was, _ := l.known(t, fileState{path: w.Path})
		came.was.Mode = cmp.Or(was.Mode, modeOf(w.Path))
		came.before = came.was
	}
	l.isBehind(w.Path, append(list, came))
	l.saveSoon()
}

// began returns what an undo of its turn, if it has one, gives the disk. The user may have kept that the agent had removed the
// file in the same turn.
func (b behind) began(path string) review.Content {
	switch {
	case b.fresh:
		return review.Content{}
	case b.turn != nil && !b.before.Exists:
		return b.turn.Baseline(path)
	}
	return b.before
}

// isBehind notes the changes under unsaved text, the last of which is new: what of it conflicts is its turn's to undo.
func (l *Ledger) isBehind(path string, list []behind) {
	l.behind[path] = list
	if last := list[len(list)-1]; last.turn != nil && last.conflicts {
		last.turn.Conflicted(path, last.began(path), last.is)
	}
}

// removed returns what a file had on the disk before the agent removed it, if that is pending or was in a turn; or, if it is
// remade with what a buffer has of it, before the agent moved it away.
func (l *Ledger) removed(t *turn, path string, remade bool) review.Content {
	if f, recorded := l.record.File(path); recorded && !f.Present.Exists {
		return f.Accepted
	}
	if t != nil && t.gone[path].Exists {
		return t.gone[path]
	}
	for _, f := range l.record.Files() {
		if f.OldPath == path && remade {
			return f.Accepted
		}
	}
	return review.Content{}
}

// unsavedGone says that what was unsaved in a buffer is gone, and the disk counts, where the agent may have written:
// from now on it is as if nothing had been unsaved, also in earlier turns. It reports whether that brings in a change
// by the agent, and what the disk has then. loaded says that the buffer still exists.
func (l *Ledger) unsavedGone(now fileState, loaded bool) (review.Content, bool) {
	list := l.behind[now.path]
	inBuffer, _ := l.record.File(now.path)
	_, noted := l.inStep[now.path]
	l.setBack(now.path, list)
	l.nothingUnsaved(now.path)
	if len(list) > 0 && !loaded && list[0].was.SameText(now.Content) {
		if mode := modeOf(now.path); mode != 0 { // else it is gone since
			now.Content = list[len(list)-1].is // what the buffer never took; what is there by now may be the user's
			now.Mode = mode
		}
	}
	made := len(list) > 0 && !list[0].was.Exists
	if made {
		list[0].was = list[0].before // the agent had removed it
		if list[0].fresh && list[0].turn != nil {
			list[0].turn.Changed(now.path, review.Content{}, list[0].before)
		}
	}
	if len(list) == 0 || !now.Exists || len(list) == 1 && list[0].was.Mark() == now.Mark() {
		return now.Content, false
	}
	if is, recorded := l.record.Present(now.path); recorded && is.Exists {
		list[0].was.Mode = is.Mode // what it was under the unsaved text may not be what the record says now
	}
	l.record.Now(now.path, list[0].was)
	for i, b := range list {
		is := now.Content
		if i+1 < len(list) {
			next := &list[i+1].was
			next.Mode = cmp.Or(next.Mode, b.was.Mode) // where it is not known
			is = *next
		}
		inRecord, _ := l.record.File(now.path)
		was, kept := b.was, b.kept
		if made && kept && i == 0 && inBuffer.Baseline.Exists && !inBuffer.Baseline.Opaque && !is.Opaque {
			// The user accepted it in what the buffer had, but not that the agent had removed the file before.
			was.Text, _ = buffers.Merge(inBuffer.Baseline.Text, b.was.Text, inBuffer.Accepted.Text)
			l.agentChanged(b.turn, now.path, b.was, was)
			keepWritten(l.record, now.path, inRecord, b.was, was, nil)
			kept = false
		}
		l.agentChanged(b.turn, now.path, was, is)
		if kept {
			keepWritten(l.record, now.path, inRecord, was, is, nil)
		}
		l.take(b.turn)
	}
	if !noted { // the user has decided about a part since
		keepLike(l.record, now.path, inBuffer.Baseline.Text, inBuffer.Accepted.Text)
	}
	if !made && inBuffer.State == review.Kept && !slices.ContainsFunc(list, func(b behind) bool { return !b.kept }) {
		keepIn(l.record, now.path, review.Selection{}) // and its permissions
	}
	return now.Content, true
}

// wasSaved reports whether the user has saved a buffer with unsaved text, of which nobody was told, rather than given that
// up: what the disk had afterwards is nearer to what the buffer had than to what the agent had written under it.
func (l *Ledger) wasSaved(path string, had review.Content) bool {
	list := l.behind[path]
	if len(list) == 0 || l.turn == nil || !isText(had) {
		return false
	}
	inBuffer, disk := l.turn.seen[path], list[len(list)-1].is
	return isText(inBuffer) && isText(disk) && linediff.Distance(inBuffer.Text, had.Text) < linediff.Distance(disk.Text, had.Text)
}

// taken is what is there again where a refusal, or the undo of a turn, brings back a file that was taken away under a
// buffer. By then the buffer may have other lines, which the user has brought back or typed without saving them.
type taken struct {
	path     string // where it was
	all, its returning
	turn     *turns.Turn
	// conflict is what was said of a file when it was taken away, where the disk had something that conflicts with unsaved
	// text; nil for nothing.
	conflict *conflict
}

// conflict is what record and turns said of a file, and what came to its disk under unsaved text.
type conflict struct {
	said  inStep
	under undecided
}

// returning is what disk and buffer get of a file that was taken away.
type returning struct {
	disk   review.Content           // none where it is not known
	had    review.Image             // what the record or turn had when the buffer last followed it
	buffer func(mine string) string // what its buffer gets; nil if that has nothing of it
	// anew is set where the buffer has followed another file since, which the agent has made in its place: then it has something
	// of this one only if the user has brought that back.
	anew bool
}

// inBuffer is the Buffer of [buffers.Restored] for a file that comes back.
func (r returning) inBuffer() func(mine string) (string, bool) {
	if r.buffer == nil {
		return nil
	}
	return func(mine string) (string, bool) {
		has := review.Text(mine)
		if r.anew && common(has, r.disk).Text+common(has, r.had.Present()).Text == "" {
			return "", false
		}
		return r.buffer(mine), true
	}
}

// madeAnew says that the buffer of a file that was taken away has followed another one, which the agent has made there.
func (l *Ledger) madeAnew(path string) {
	for to, was := range l.taken {
		if was.path == path {
			was.all.anew, was.its.anew = true, true
			l.taken[to] = was
		}
	}
}

// nothingInBuffer says that no buffer has anything of a file that was taken away any more: the user has read it anew, or
// has closed it.
func (l *Ledger) nothingInBuffer(path string) {
	for to, was := range l.taken {
		if was.path == path {
			was.all.buffer, was.its.buffer = nil, nil
			l.taken[to] = was
		}
	}
}

// withoutAgents returns what takes the agent's changes out of a buffer's text, given what the record had of the file
// when the buffer last followed it; nil where that has no lines.
func withoutAgents(path string, had review.Image) func(mine string) string {
	record := func() (r *review.Record, f review.File, changed bool) {
		r = review.New(maxRecorded)
		r.SetBack(path, had)
		f, changed = r.File(path)
		return r, f, changed
	}
	if _, f, changed := record(); !changed {
		return func(mine string) string { return mine }
	} else if !isText(f.Present) {
		return nil
	}
	return func(mine string) string {
		r, f, _ := record()
		now := f.Present
		now.Text = mine
		r.Now(path, now)
		if plan, err := r.Plan(path, review.Reject, review.Selection{}); err == nil {
			return plan.Want.Text
		}
		return mine
	}
}

// noteTaken notes that of a file that the agent removes, or moves to another path, with what was there.
func (l *Ledger) noteTaken(path string, was review.Content) {
	delete(l.taken, path)
	if !l.loaded[path] || l.turn == nil {
		return
	}
	_, unsaved := l.inStep[path]
	if !unsaved && len(l.behind[path]) == 0 {
		if is, recorded := l.record.Present(path); recorded && is.Exists {
			before := was
			before.Mode = is.Mode
			l.record.Now(path, before) // with what the user has saved since, or another session's agent has written
		}
		l.turn.Before(path, was)
	}
	disk := func(of *turns.Turn, is review.Image) review.Content {
		inBuffer := review.New(maxRecorded)
		inBuffer.SetBack(path, is)
		users, changed := inBuffer.File(path)
		if !unsaved && len(l.behind[path]) == 0 {
			if !changed {
				return was
			}
			return users.Accepted
		}
		r, known := l.recordUnder(path, of)
		if !known {
			return review.Content{}
		}
		f, _ := r.File(path)
		both := f.Present // what the buffer has is not known
		if changed {
			both = common(users.Accepted, f.Present)
		}
		if common(both, f.Accepted).Text != both.Text {
			return review.Content{} // the agent has written what was not saved: the buffer would lose it with the disk
		}
		return f.Accepted
	}
	all, its := l.record.Image(path), l.turn.Image(path)
	l.taken[path] = taken{
		path: path, all: returning{disk: disk(nil, all), had: all, buffer: withoutAgents(path, all)},
		its: returning{disk: disk(l.turn.Turn, its), had: its, buffer: withoutAgents(path, its)}, turn: l.turn.Turn,
	}
}

// standsAgain says that an undo of a turn that had removed a file has brought it back as it was under unsaved text, with which
// it conflicts still. What the user has typed since is in the buffer.
func (l *Ledger) standsAgain(path string, undone *turns.Turn, was conflict, now review.Content) {
	l.record.SetBack(path, was.said.record)
	said := maps.Clone(was.said.turns)
	delete(said, undone)
	l.history.PutBack(l.lastTurn(), path, said)
	l.isUnder(path, was.under)
	l.userNow(path, now)
}

// removedUnder says that the agent has removed a file under unsaved text, with what the disk had. It returns what the record
// had of the buffer, if that had other lines of the agent's than the disk: the file may be made anew from those.
func (l *Ledger) removedUnder(path string, was review.Content) (lost review.Image) {
	l.noteTaken(path, was)
	noted, known := l.taken[path]
	if list := l.behind[path]; slices.ContainsFunc(list, func(b behind) bool { return b.conflicts }) {
		made := !list[0].was.Exists
		lost = l.record.Image(path)
		noted.conflict = &conflict{l.saysOf(l.turn, path), *l.undecided(path)}
		noted.conflict.under.disk = list[len(list)-1].is
		l.unsavedGone(fileState{path: path, Content: was}, true) // what the buffer lacks it will never get
		if f, _ := l.record.File(path); known && made {
			noted.all.disk, noted.its.disk = f.Accepted, l.turn.Before(path, was)
		}
		if known {
			l.taken[path] = noted
		}
	}
	l.nothingUnsaved(path)
	return lost
}

// setBack makes record and turns say of a file what they said before something was unsaved, if that is known. list has
// what came since.
func (l *Ledger) setBack(path string, list []behind) {
	s, noted := l.inStep[path]
	if !noted {
		return
	}
	l.saysAgain(path, s)
	for _, b := range append(list, behind{turn: l.turn}) {
		if b.turn == nil {
			continue
		}
		if _, ran := s.turns[b.turn.Turn]; !ran {
			b.turn.SetBack(path, review.Image{}) // it has begun since
		}
	}
}

// saysAgain makes record and turns say of a file what they said before.
func (l *Ledger) saysAgain(path string, said inStep) {
	l.record.SetBack(path, said.record)
	for t, was := range said.turns {
		t.SetBack(path, was)
	}
}

// neverCame says that a turn was undone: what still comes of it belongs to no turn.
func (l *Ledger) neverCame(undone *turns.Turn) {
	for _, list := range l.behind {
		for i := range list {
			if list[i].turn != nil && list[i].turn.Turn == undone {
				list[i].turn, list[i].fresh = nil, false
			}
		}
	}
}
