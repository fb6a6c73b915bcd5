// Package turns keeps what each turn of a session has changed in files, and computes how to undo that. It knows neither
// sessions nor the editor nor the disk.
package turns

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
)

const maxRecorded = 64 << 20 // bytes of all texts in the record of a turn that runs

// Turn is what the agent has changed in a turn. One goroutine owns it.
type Turn struct {
	Prompt string
	At     time.Time    // when it began
	Files  []FileChange // as of the last [History.Take]; never changed in place

	// What it was made of; nothing of a turn that was loaded, see Reopen:

	record   *review.Record
	gathered int                   // the version of record that Files are of
	shed     map[string]FileChange // by path, files whose changes the user refused entirely, or the agent reversed
	back     map[string]string     // by path, where a file was before the user refused its move
	under    map[string]FileChange // by path, see FileChange.Under
	revised  bool                  // the user has decided about its changes since it ended
}

// Name identifies a turn in its session.
func (t *Turn) Name() string { return strconv.FormatInt(t.At.UnixNano(), 10) }

// State is what a running turn has besides its files, for saving.
type State struct {
	Record *review.Record
	Shed   map[string]FileChange
	Back   map[string]string
}

// State returns what the turn has now. It is shared with the turn: copy it to keep it.
func (t *Turn) State() State { return State{t.record, t.shed, t.back} }

// Resume returns a turn that was saved while it ran, to which more can be added.
func Resume(prompt string, at time.Time, was State) *Turn {
	t := Begin(prompt, at)
	t.record, t.gathered = was.Record, -1
	maps.Copy(t.shed, was.Shed)
	maps.Copy(t.back, was.Back)
	return t
}

// LoadRecord is [review.Load] for the record of a turn.
func LoadRecord(groups [][]byte, text func(name string) (string, error)) (*review.Record, error) {
	return review.Load(groups, maxRecorded, text)
}

// FileChange is a file before a turn and after it, as the agent last left it. What the user typed before that is in
// both.
type FileChange struct {
	Path, OldPath string // OldPath: before it was moved
	Left          string // where it was when it was removed, if it had been moved there
	Before, After review.Content
	Typed         bool // see review.File
	Made          bool // by the agent in that turn; Before may have what the user typed there
	Under         bool // the change is only on the disk, under a buffer with unsaved text that conflicts with it
	Reversed      bool // by the agent
}

// Begin returns a turn that has changed nothing yet.
func Begin(prompt string, at time.Time) *Turn {
	return &Turn{Prompt: prompt, At: at, record: review.New(maxRecorded), shed: map[string]FileChange{}, back: map[string]string{}, under: map[string]FileChange{}}
}

// Reopen makes a turn that was loaded of its files, so that they can be changed.
func (t *Turn) Reopen() {
	if t.record != nil {
		return
	}
	files := t.Files
	*t = *Begin(t.Prompt, t.At)
	for _, f := range files {
		if f.Under {
			t.under[f.Path] = f
			continue
		}
		before := f.Before
		before.Exists = before.Exists && !f.Made
		if f.Left != "" {
			t.record.Moved(f.Path, f.Left, before, before)
			t.record.Changed(f.Left, before, f.After)
			continue
		}
		t.record.Had(f.OldPath, f.Path, before, f.After, f.Typed)
	}
	t.Files, t.gathered = files, t.record.Version()
}

// Changed adds a change by the agent.
func (t *Turn) Changed(path string, was, is review.Content) {
	t.reverse(path, path, func() { t.record.Changed(path, was, is) })
}

// reverse makes a change of a file that is at another path then, or at the same. If nothing of the turn is left by it, it
// notes what there was: the user may refuse the reversal.
func (t *Turn) reverse(from, to string, change func()) {
	f, known := t.record.File(from)
	change()
	_, there := t.record.File(to)
	if _, gone := t.record.File(cmp.Or(f.OldPath, from)); known && !there && !gone {
		t.shed[to] = FileChange{Path: to, OldPath: from, Before: f.Baseline, After: f.Present, Reversed: true}
	}
}

// isReversed reports whether a decision that gives a file a content, and that path, takes back what the agent has reversed.
func (f FileChange) isReversed(path string, is review.Content) bool {
	return f.Reversed && f.OldPath == path && is.SameText(f.After)
}

// Conflicted adds a change by the agent that conflicts with a buffer's unsaved text, and is only on the disk.
func (t *Turn) Conflicted(path string, was, is review.Content) {
	t.under[path], t.gathered = FileChange{Path: path, Before: was, After: is, Under: true}, -1
}

// Settled says that the user has removed such a change, or has taken it.
func (t *Turn) Settled(path string) {
	delete(t.under, path)
	t.gathered = -1
}

// Image and SetBack are those of the turn's record.
func (t *Turn) Image(path string) review.Image        { return t.record.Image(path) }
func (t *Turn) SetBack(path string, was review.Image) { t.record.SetBack(path, was) }

// Users is [review.Record.Users] for the turn's record; ok is false where it has none any more.
func (t *Turn) Users(path, text string) (part string, ok bool) {
	if t.record == nil {
		return "", false
	}
	return t.record.Users(path, text), true
}

// MadeUnder is [review.Record.MadeUnder] for the turn's record.
func (t *Turn) MadeUnder(path string, had, now review.Content) {
	t.reverse(path, path, func() { t.record.MadeUnder(path, had, now) })
}

// Held is [review.Record.Held] for the turn's record.
func (t *Turn) Held(path string, now review.Content) { t.record.Held(path, now) }

// WasGone is [review.Record.Gone] for the turn's record.
func (t *Turn) WasGone(path string) { t.record.Gone(path) }

// Gone reports whether the agent has removed a file in the turn.
func (t *Turn) Gone(path string) bool {
	f, known := t.record.File(path)
	return known && f.Baseline.Exists && !f.Present.Exists
}

// Before returns what a file was before the turn, with what the user has changed since: now is what is there.
func (t *Turn) Before(path string, now review.Content) review.Content {
	t.record.Now(path, now)
	return t.Baseline(path)
}

// Baseline returns what a file that the turn has changed was before it.
func (t *Turn) Baseline(path string) review.Content {
	f, _ := t.record.File(path)
	return f.Baseline
}

// Moved adds a move by the agent, with what was at the old path and what is at the new one.
func (t *Turn) Moved(from, to string, was, is review.Content) {
	t.reverse(from, to, func() { t.record.Moved(from, to, was, is) })
}

// Renamed says that the user has renamed a file.
func (t *Turn) Renamed(from, to string) { t.record.Renamed(from, to) }

// Remade says that the user has put a file back where the agent had removed it or moved it away.
func (t *Turn) Remade(path string, now review.Content) {
	if t.record.Remade(path, now); t.Gone(path) {
		t.record.Now(path, now)
	}
}

// Decided says that a file has changed by the user's decision about the agent's changes, which may bring back what was
// refused.
func (t *Turn) Decided(path string, was, is review.Content) {
	f, known := t.record.File(path)
	all, shed := t.shed[path]
	switch {
	case !known && shed && !all.Reversed && all.OldPath != "":
		t.record.Moved(all.OldPath, path, all.Before, change(all.Before, was, is))
		return
	case !known && shed && (!all.Reversed || all.isReversed(path, is)):
		t.record.Changed(path, all.Before, change(all.Before, was, is))
		return
	case known && f.Baseline.Exists && !is.Exists: // an earlier turn has made it, or what was there since is not this turn's
		if t.record.Removed(path); f.OldPath != "" {
			t.shed[path] = FileChange{Path: path, OldPath: f.OldPath, Before: f.Baseline, After: f.Present}
		}
		return
	}
	was = t.refused(path, was, is)
	if now, _ := t.record.Present(path); known && now.Opaque && is.Exists && was.SameText(now) {
		t.record.Changed(path, now, is) // no more of it can be the user's than before
	} else {
		t.record.Now(path, change(now, was, is))
	}
	if _, still := t.record.File(path); known && !still {
		t.shed[path] = FileChange{Path: path, Before: f.Baseline, After: f.Present}
	}
}

// learns is Decided or, with back, WentBack to there. If nothing is pending in the file any more, which all is in the record of
// all turns, and it has nothing of what was kept, nothing is left: where it had changed lines of another turn, the lines do
// not tell.
func (t *Turn) learns(path, back string, was, is review.Content, all review.File) {
	from, at := path, cmp.Or(back, path)
	before, known := t.record.File(from)
	if !known { // another turn has moved it
		from = at
		before, known = t.record.File(from)
	}
	if back != "" {
		t.WentBack(path, back, was, is)
	} else {
		t.Decided(path, was, is)
	}
	f, left := t.record.File(at)
	switch {
	case all.State == review.Pending, !known, !left, f.State == review.Rejected:
		return
	case all.State == review.Kept && (!f.Present.SameText(is) || keeps(f, all)): // a later turn has changed it since
		return
	}
	t.record.SetBack(at, review.Image{})
	t.shed[at] = FileChange{Path: at, Before: before.Baseline, After: before.Present}
}

// made reports whether the agent has made a file in the turn.
func (t *Turn) made(path string) bool {
	if t.record != nil {
		f, known := t.record.File(path)
		return known && !f.Baseline.Exists && f.Present.Exists
	}
	return slices.ContainsFunc(t.Files, func(f FileChange) bool { return f.Path == path && f.Made && f.After.Exists })
}

// wasAt returns the path from which the agent has moved a file in the turn; the same if it has not.
func (t *Turn) wasAt(path string) string {
	if t.record != nil {
		f, _ := t.record.File(path)
		return cmp.Or(f.OldPath, path)
	}
	for _, f := range t.Files {
		if f.Path == path && f.OldPath != "" {
			return f.OldPath
		}
	}
	return path
}

// nameBefore returns the path that a file had before the turn, in which the agent may have moved it, also if that is refused.
func (t *Turn) nameBefore(path string) string {
	f, known := t.record.File(path)
	if all := t.shed[path]; !known && !all.Reversed {
		f.OldPath = all.OldPath
	}
	return cmp.Or(f.OldPath, path)
}

// keeps reports whether a turn's file has something of what the user has kept of it.
func keeps(f, all review.File) bool {
	if f.Status != review.Modified || f.OldPath != "" || f.Present.Opaque || all.Baseline.Opaque || all.Accepted.Opaque {
		return true // that cannot be told
	}
	return slices.ContainsFunc(f.Like(all.Baseline.Text, all.Accepted.Text), func(s review.Same) bool { return len(s.Parts) > 0 })
}

// refused removes from the turn what a decision removed from a file, from was to is, if the user has since changed
// lines next to that, and it can be identified by its lines. It returns was without it.
func (t *Turn) refused(path string, was, is review.Content) review.Content {
	f, known := t.record.File(path)
	if !known || f.Status != review.Modified || was.SameText(f.Present) {
		return was
	}
	var which review.Selection
	old, now, left, at := linediff.Lines(was.Text), linediff.Lines(is.Text), "", 0
	for _, s := range f.Like(is.Text, was.Text) {
		if s.All {
			which.Parts = append(which.Parts, s.Parts...)
			left += strings.Join(old[at:s.Edit.B0], "") + strings.Join(now[s.Edit.A0:s.Edit.A1], "")
			at = s.Edit.B1
		}
	}
	if plan, err := t.record.Plan(path, review.Reject, which); len(which.Parts) > 0 && err == nil && t.record.Commit(plan) {
		was.Text = left + strings.Join(old[at:], "")
	}
	return was
}

// Seen says what the user sees at a path: what they refused and then brought back by undo in the buffer is the turn's
// again. What they typed is not.
func (t *Turn) Seen(path string, now review.Content) {
	t.record.Recall(path, now)
	if _, known := t.record.File(path); known {
		return
	}
	if all, shed := t.shed[path]; shed && all.OldPath == "" && now.SameText(all.After) && (now == all.After || !now.SameText(all.Before)) {
		t.record.Changed(path, all.Before, all.After)
	}
}

// WentBack is Decided for a file that has gone back to where it was before the agent moved it, or from there to where
// it had been moved.
func (t *Turn) WentBack(from, to string, was, is review.Content) {
	f, known := t.record.File(from)
	switch {
	case t.back[from] == to:
		t.record.Moved(from, to, was, was)
	case known && f.OldPath == to:
		t.record.Moved(from, to, was, was)
		t.back[to] = from
	case !known && t.shed[from].isReversed(to, is):
		all := t.shed[from]
		t.record.Moved(from, to, all.Before, change(all.Before, was, is))
		return
	case known: // the agent had moved it in an earlier turn
		t.record.Renamed(from, to)
	}
	t.Decided(to, was, is)
}

// change applies the change from was to is to a content, which may lack what the user typed.
func change(of, was, is review.Content) review.Content {
	for _, c := range []review.Content{of, was, is} {
		if !c.Exists || c.Opaque {
			return is
		}
	}
	text, conflicts := buffers.Merge(was.Text, of.Text, is.Text)
	if len(conflicts) > 0 { // lines of a later turn were among those that go
		text, _ = buffers.Withdraw(was.Text, of.Text, is.Text)
	}
	of.Text = text
	return of.Restyled(was, is)
}

// Paths returns the paths of the files changed so far.
func (t *Turn) Paths() []string { return t.record.Paths() }

// Present returns what the agent left at one of those paths.
func (t *Turn) Present(path string) (review.Content, bool) { return t.record.Present(path) }

// MovedTo returns the path to which the agent has moved the file that was at one, perhaps to remove it there; the same if
// it has not.
func (t *Turn) MovedTo(path string) string {
	for _, f := range t.record.Files() {
		if f.OldPath == path && path != "" {
			return f.Path
		}
	}
	return cmp.Or(t.record.Left(path), path)
}

// MovedAway returns the paths from which the agent has moved files away so far.
func (t *Turn) MovedAway() map[string]bool {
	paths := map[string]bool{}
	for _, f := range t.record.Files() {
		if f.OldPath != "" {
			paths[f.OldPath] = true
		}
	}
	return paths
}

// gather brings Files up to date.
func (t *Turn) gather() {
	if t.gathered == t.record.Version() {
		return
	}
	t.Files, t.gathered = nil, t.record.Version()
	for _, f := range t.record.Files() {
		if f.State == review.Rejected {
			continue
		}
		before := f.Baseline
		if before.Text != "" { // what the user wrote into the agent's file stays
			before.Exists = true
		}
		if before == f.Present && f.OldPath == "" {
			continue // nothing else is left of it
		}
		t.Files = append(t.Files, FileChange{Path: f.Path, OldPath: f.OldPath, Left: t.record.Left(f.Path), Before: before, After: f.Present, Typed: f.Typed, Made: !f.Baseline.Exists})
	}
	t.Files = slices.AppendSeq(t.Files, maps.Values(t.under))
	slices.SortStableFunc(t.Files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
}

// size returns how many bytes of text a turn keeps.
func (t *Turn) size() (n int) {
	for _, f := range t.Files {
		for _, c := range []review.Content{f.Before, f.After} {
			if !c.Opaque { // otherwise it is a mark
				n += len(c.Text)
			}
		}
	}
	return n
}
