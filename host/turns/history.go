package turns

import (
	"cmp"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/review"
)

// The limits of a session's turns: their number, and the bytes of their texts.
const (
	keptTurns = 50
	keptTexts = 64 << 20
)

// History is the turns of a session that can be undone, and those that were. The zero value is an empty
// one. One goroutine owns it.
type History struct {
	Turns  []*Turn  // those that changed something, oldest first; all of it may have been refused since
	Undone []Undone // the last of them can be redone
}

// Undone is a turn that the user has undone, with what the undo did.
type Undone struct {
	Turn  *Turn
	Files []FileChange
}

// Empty reports whether there is nothing to undo or redo.
func (h *History) Empty() bool { return h.Last() == nil && len(h.Undone) == 0 }

// Begin says that a new turn begins: what was undone can no longer be redone.
func (h *History) Begin() { h.Undone = nil }

// Take makes what a turn has changed so far undoable. The oldest turns may be dropped for it, but not the last.
func (h *History) Take(t *Turn) {
	t.gather()
	h.remove(t)
	if len(t.Files) > 0 {
		h.add(t)
	}
	total := 0
	for i, t := range slices.Backward(h.Turns) {
		later := len(h.Turns) - 1 - i
		if total += t.size(); total > keptTexts && later > 0 || later >= keptTurns {
			h.Turns = slices.Clone(h.Turns[i+1:])
			break
		}
	}
}

// Last returns the turn that an undo would undo; nil if there is none.
func (h *History) Last() *Turn {
	for _, t := range slices.Backward(h.Turns) {
		if len(t.Files) > 0 {
			return t
		}
	}
	return nil
}

// LastUndone returns what can be redone, and false if there is nothing.
func (h *History) LastUndone() (Undone, bool) {
	if len(h.Undone) == 0 {
		return Undone{}, false
	}
	return h.Undone[len(h.Undone)-1], true
}

// WasUndone says that a turn was undone, with what leads back to it, and what failed and can be tried again. With redo
// it can be redone.
func (h *History) WasUndone(t *Turn, did, failed []FileChange, redo bool) {
	h.remove(t)
	if len(failed) > 0 {
		h.add(&Turn{Prompt: t.Prompt, At: t.At, Files: failed})
	}
	if redo {
		h.Undone = append(h.Undone, Undone{Turn: t, Files: did})
	}
}

// WasDoneAgain says that the last undone turn was redone.
func (h *History) WasDoneAgain(t *Turn) {
	h.Undone = h.Undone[:max(len(h.Undone)-1, 0)]
	h.remove(t)
	h.add(t)
}

// Gather brings the files of the turns up to date that the user has decided about since they ended.
func (h *History) Gather() {
	for _, t := range h.Turns {
		if t.revised {
			t.gather()
		}
	}
}

// Decided is [Turn.Decided] or, with back, [Turn.WentBack] to there for all turns, the last of which may be nil. f is
// what the record has of the file then; the zero value for nothing. Each turn has the file by the name that it had then.
// [History.Gather] tells what the decision leaves of the turns before the last one.
func (h *History) Decided(last *Turn, path, back string, was, is review.Content, f review.File) {
	learns := func(t *Turn) {
		before := t.nameBefore(path)
		t.learns(path, back, was, is, f)
		path = before
	}
	if last != nil {
		learns(last)
	}
	for _, t := range slices.Backward(h.Turns) {
		if t == last || t.record == nil && !slices.ContainsFunc(t.Files, func(f FileChange) bool { return f.Path == path || f.Path == back }) {
			continue
		}
		t.Reopen()
		_, there := t.record.File(path)
		_, changed := t.record.File(cmp.Or(back, path))
		if there || changed || t.revised {
			learns(t)
			t.revised = true
		}
	}
}

// Names reports whether a turn, also one that was undone, has a file at a path, now or before.
func (h *History) Names(path string) bool {
	has := func(f FileChange) bool { return f.Path == path || f.OldPath == path }
	return slices.ContainsFunc(h.Turns, func(t *Turn) bool { return slices.ContainsFunc(t.Files, has) }) ||
		slices.ContainsFunc(h.Undone, func(u Undone) bool { return slices.ContainsFunc(u.Files, has) })
}

// Images returns what the turns, the last of which may be nil, say of a file now.
func (h *History) Images(last *Turn, path string) map[*Turn]review.Image {
	are := map[*Turn]review.Image{}
	if last != nil {
		are[last] = last.Image(path)
	}
	for _, t := range h.Turns {
		if t.record == nil && slices.ContainsFunc(t.Files, func(f FileChange) bool { return f.Path == path }) {
			t.Reopen()
		}
		if t.record != nil {
			are[t] = t.Image(path)
		}
	}
	return are
}

// Said is what turns say of a file, by each of the names that it had in them.
type Said map[string]map[*Turn]review.Image

// Said returns what the turns, the last of which may be nil, say of a file now.
func (h *History) Said(last *Turn, path string) Said {
	of := Said{}
	for names := []string{path}; len(names) > 0; names = names[1:] {
		name := names[0]
		of[name] = h.Images(last, name)
		for t := range of[name] {
			if before := t.nameBefore(name); of[before] == nil {
				names = append(names, before)
			}
		}
	}
	return of
}

// PutBack makes the turns that can still be undone, and the last one, say that again.
func (h *History) PutBack(last *Turn, path string, were map[*Turn]review.Image) {
	for t, was := range were {
		if t == last || slices.Contains(h.Turns, t) {
			t.SetBack(path, was)
		}
	}
}

// Seen is [Turn.Seen] for the turns before the last one, see [History.Decided].
func (h *History) Seen(last *Turn, path string, now review.Content) {
	for _, t := range h.Turns {
		if t != last && t.revised {
			t.Seen(path, now)
		}
	}
}

// Remade is [Turn.Remade] for the turns before the last one, see [History.Decided]. What an agent has removed before one has
// made the file anew is still removed.
func (h *History) Remade(last *Turn, path string, now review.Content) {
	if last == nil || !last.made(path) {
		h.RemadeBefore(last, path, now)
	}
}

// RemadeBefore says that a file is the user's which turns other than last have removed: undoing last, which had made it, has
// left what the user has typed there. last may be nil.
func (h *History) RemadeBefore(last *Turn, path string, now review.Content) {
	if last != nil {
		path = last.wasAt(path)
	}
	for _, t := range slices.Backward(h.Turns) {
		if t == last {
			continue
		}
		if t.made(path) {
			return
		}
		was := t.wasAt(path)
		if slices.ContainsFunc(t.Files, func(f FileChange) bool { return f.OldPath == path || f.Path == path && !f.After.Exists }) {
			t.Reopen()
			t.Remade(path, now)
			t.revised = true
		}
		path = was
	}
}

// Renamed is [Turn.Renamed] for all turns.
func (h *History) Renamed(from, to string) {
	for _, t := range h.Turns {
		if t.record != nil {
			t.Renamed(from, to)
		}
		t.Files = slices.Clone(t.Files)
		for i := range t.Files {
			if t.Files[i].Path == from {
				t.Files[i].Path = to
			}
		}
	}
}

// add puts a turn into its place in time.
func (h *History) add(t *Turn) {
	h.Turns = append(h.Turns, t)
	slices.SortFunc(h.Turns, func(a, b *Turn) int { return a.At.Compare(b.At) })
}

func (h *History) remove(t *Turn) {
	h.Turns = slices.DeleteFunc(slices.Clone(h.Turns), func(other *Turn) bool { return other.At.Equal(t.At) })
}

// MapFiles returns a copy of files with each text replaced by f.
func MapFiles(list []FileChange, f func(text string) (string, error)) (_ []FileChange, err error) {
	list = slices.Clone(list)
	for i := range list {
		for _, text := range []*string{&list[i].Before.Text, &list[i].After.Text} {
			if err == nil {
				*text, err = f(*text)
			}
		}
	}
	return list, err
}
