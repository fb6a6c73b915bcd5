package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// turn is what the agent has changed in a turn.
type turn struct {
	Prompt string
	At     time.Time // when it began
	Files  []turnFile

	// While it may still change:

	record *review.Record
	modes  map[string]modes          // of files seen since it began
	shed   map[string]review.Content // by path, what the user has refused all changes of was before the turn
	first  *checkpoint.Snapshot      // taken when it began, perhaps a little later
	before *checkpoint.Snapshot      // the one before that
}

func newTurn(prompt string, at time.Time) *turn {
	return &turn{Prompt: prompt, At: at, record: review.New(maxRecorded), modes: map[string]modes{}, shed: map[string]review.Content{}}
}

// own tells what was done to a file by the user's wish. What was refused may come back by it.
func (t *turn) own(path string, is review.Content) {
	f, known := t.record.File(path)
	was, shed := t.shed[path]
	if !known && shed {
		t.record.Changed(path, was, is)
		return
	}
	t.record.Now(path, is)
	if _, still := t.record.File(path); known && !still {
		t.shed[path] = f.Baseline
	}
}

// turnFile is a file before a turn and after it. What the user typed meanwhile is in both.
type turnFile struct {
	Path, OldPath string // OldPath: before it was moved
	Before, After review.Content
	Modes         modes
}

// undone is a turn that the user has undone, with what the undo did.
type undone struct {
	Turn  *turn
	Files []turnFile
}

// size is how much texts a turn keeps, in bytes.
func (t *turn) size() (n int) {
	for _, f := range t.Files {
		n += len(f.Before.Text) + len(f.After.Text)
	}
	return n
}

// take puts what a turn has changed up to now among what can be undone.
func (c *changes) take(t *turn) {
	if t == nil {
		return
	}
	t.Files = nil
	seen := map[string]bool{}
	for _, f := range t.record.Files() {
		if f.State == review.Rejected {
			continue
		}
		m := t.modes[f.Path]
		if f.OldPath != "" {
			m.Before = cmp.Or(t.modes[f.OldPath].Before, m.Before)
		}
		if f.Baseline.Exists && (!f.Present.Exists || f.Baseline.Opaque) {
			c.keepOriginal(t, cmp.Or(f.OldPath, f.Path), f.Baseline)
		}
		before := f.Baseline
		if !before.Exists && before.Text != "" { // what the user has written into a file of the agent's stays
			before.Exists = true
		}
		t.Files = append(t.Files, turnFile{Path: f.Path, OldPath: f.OldPath, Before: before, After: f.Present, Modes: m})
		seen[f.Path], seen[f.OldPath] = true, true
	}
	for path, m := range t.modes {
		if !seen[path] && m.Before != 0 && m.After != 0 && m.Before != m.After {
			t.Files = append(t.Files, turnFile{Path: path, Modes: m})
		}
	}
	slices.SortFunc(t.Files, func(a, b turnFile) int { return strings.Compare(a.Path, b.Path) })
	c.turns = slices.DeleteFunc(slices.Clone(c.turns), func(other *turn) bool { return other.At.Equal(t.At) })
	if len(t.Files) > 0 {
		c.turns = append(c.turns, t)
	}
	slices.SortFunc(c.turns, func(a, b *turn) int { return a.At.Compare(b.At) })
	total := 0
	for i, t := range slices.Backward(c.turns) {
		if total += t.size(); total > keptTexts || len(c.turns)-i > keptTurns {
			c.turns = slices.Clone(c.turns[i+1:])
			break
		}
	}
}

// undoStep is what an undo does to one file.
type undoStep struct {
	placed
	from      turnFile
	conflicts int    // places that stay, as the user has changed them since
	note      string // why nothing is done to the file
}

// stepOf says what brings a file from what a turn has left back to what was before, with what the user has
// changed since. now is what is at its path, and free tells that nothing is where it was before it was moved.
func stepOf(f turnFile, now review.Content, mode fs.FileMode, free bool) undoStep {
	step := undoStep{placed: placed{path: f.Path, now: now, want: now}, from: f}
	if f.Modes.Before != f.Modes.After && mode == f.Modes.After && f.Modes.Before != 0 {
		step.mode = f.Modes.Before
	}
	merge := func(mine string) string {
		text, _ := buffers.Merge(f.After.Text, mine, f.Before.Text)
		return text
	}
	is := func(c review.Content) bool { return now == c || now.Exists && now.Mark() == c.Mark() }
	switch {
	case f.Before == f.After && f.OldPath == "": // its permissions alone
	case is(f.Before) && f.OldPath == "":
		step.note = "is as before already"
	case is(f.After):
		step.want = f.Before
	case !now.Exists:
		step.note = "was deleted since"
	case !f.After.Exists:
		step.note = "was made anew since"
	case now.Opaque, f.After.Opaque, f.Before.Opaque:
		step.note = "was changed since"
	case !f.Before.Exists:
		step.note = "was made in this turn, and changed by you since"
	default:
		step.want = now
		step.want.Text, step.conflicts = buffers.Merge(f.After.Text, now.Text, f.Before.Text)
		step.merge = merge
	}
	if !now.Exists && step.want.Exists {
		step.mode = f.Modes.Before
	}
	if f.OldPath != "" && step.note == "" {
		if step.back = f.OldPath; !free {
			step.back, step.note = "", "cannot go back to "+f.OldPath+", where another file is"
			step.want = now
		}
	}
	return step
}

var (
	errTurnRuns = errors.New("the turn still runs: :Acp cancel ends it")
	errNoTurn   = errors.New("there is no turn that has changed files and could be undone")
	errNoUndone = errors.New("nothing was undone that could be done again")
)

// undo takes back what the last turn that was not undone has changed, or with again does the last one that
// was undone again. With preview it only tells what it would do. Any goroutine; done runs on that of box.
func (c *changes) undo(again, preview bool, done func(*turn, []undoStep, error)) {
	c.job(func(next func()) {
		finish := func(t *turn, steps []undoStep, err error) {
			c.tell(nil)
			done(t, steps, err)
			next()
		}
		var t *turn
		var files []turnFile
		if !again {
			c.take(c.turn) // what was changed after its end counts too
		}
		switch {
		case again && len(c.undone) == 0:
			finish(nil, nil, errNoUndone)
			return
		case again:
			u := c.undone[len(c.undone)-1]
			t, files = u.Turn, u.Files
		case len(c.turns) == 0:
			finish(nil, nil, errNoTurn)
			return
		default:
			t = c.turns[len(c.turns)-1]
			files = t.Files
		}
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path, cmp.Or(f.OldPath, f.Path))
		}
		c.refresh(nil, func() {
			c.seeAll(paths, func(now []sight) {
				var steps []undoStep
				for i, f := range files {
					seen, old := now[2*i], now[2*i+1]
					step := stepOf(f, seen.Content, seen.mode, f.OldPath == "" || !old.Exists)
					if seen.path == "" {
						step.note = "cannot be looked at"
					}
					steps = append(steps, step)
				}
				if preview {
					finish(t, steps, nil)
					return
				}
				running := c.turn
				c.undoEach(undoing{began: t.At, again: again}, steps, func(u undoing) {
					c.turns = slices.DeleteFunc(slices.Clone(c.turns), func(other *turn) bool { return other.At.Equal(t.At) })
					switch {
					case again:
						c.undone = c.undone[:max(len(c.undone)-1, 0)]
						c.turns = append(c.turns, t)
					default:
						if len(u.failed) > 0 { // they can be tried again
							c.turns = append(c.turns, &turn{Prompt: t.Prompt, At: t.At, Files: u.failed})
						}
						if c.turn == running { // no other turn has begun meanwhile
							c.turn = nil
							c.undone = append(c.undone, undone{Turn: t, Files: u.did})
						}
					}
					c.saveSoon()
					c.scan(func(*checkpoint.Snapshot) {}) // what is there now is no doing of the next turn's
					finish(t, steps, u.err)
				})
			})
		})
	})
}

// removeEmpty removes a folder of the session's that was made in a turn, which began at a time, and is
// empty, and those above that are so then.
func (c *changes) removeEmpty(dir string, began time.Time) {
	if inside(dir, c.session.roots) && bornSince(dir, began) && os.Remove(dir) == nil {
		c.removeEmpty(filepath.Dir(dir), began)
	}
}

// undoing is an undo under way.
type undoing struct {
	began  time.Time // the turn
	again  bool
	did    []turnFile // what leads to where it was again
	failed []turnFile
	err    error // the first
}

// undoEach takes one step after another.
func (c *changes) undoEach(u undoing, steps []undoStep, done func(undoing)) {
	if len(steps) == 0 {
		done(u)
		return
	}
	step := steps[0]
	if step.note != "" || step.now == step.want && step.mode == 0 && step.back == "" {
		c.undoEach(u, steps[1:], done)
		return
	}
	c.put(step.placed, func(err error) {
		if err != nil {
			u.err = cmp.Or(u.err, fmt.Errorf("%s: %w", c.session.short(step.path), err))
			u.failed = append(u.failed, step.from)
			c.undoEach(u, steps[1:], done)
			return
		}
		if step.back != "" || !step.want.Exists {
			c.removeEmpty(filepath.Dir(step.path), u.began)
		}
		at := cmp.Or(step.back, step.path)
		u.did = append(u.did, turnFile{
			Path: at, OldPath: step.otherPath(), Before: step.now, After: step.want,
			Modes: modes{Before: step.from.Modes.After, After: step.from.Modes.Before},
		})
		c.seeAll([]string{step.path, at}, func(now []sight) {
			switch {
			case now[0].path == "" || now[1].path == "":
			case !u.again:
				c.userNow(step.path, now[0].Content)
				c.userNow(at, now[1].Content)
			case step.back != "":
				c.agentMoved(nil, step.path, at, step.now, now[1].Content)
			default:
				c.agentChanged(nil, step.path, step.now, now[0].Content)
			}
			for _, seen := range now {
				c.last[seen.path] = seen.Mark()
			}
			for b := range c.open {
				delete(b.files, step.path)
			}
			c.undoEach(u, steps[1:], done)
		})
	})
}

// otherPath is where a file was that the step has moved back.
func (s undoStep) otherPath() string {
	if s.back == "" {
		return ""
	}
	return s.path
}

// tellUndo undoes a turn for Lua, or tells what that would do.
func (s *Session) tellUndo(m message) {
	again, preview, callback := m.flag("again"), m.flag("preview"), m.integer("callback")
	if s.turnOpen {
		s.host.callback(callback, nil, sentenceOf(errTurnRuns))
		return
	}
	s.changes.undo(again, preview, func(t *turn, steps []undoStep, err error) {
		if err != nil && steps == nil {
			s.host.callback(callback, nil, sentenceOf(err))
			return
		}
		result := map[string]any{"prompt": t.Prompt, "files": s.stepLines(steps), "again": again}
		if preview {
			result["diff"] = s.stepDiff(steps)
		}
		if err != nil {
			result["failed"] = sentenceOf(err)
		}
		s.host.callback(callback, result, "")
	})
}

func sentenceOf(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// stepLines says of each file what is done to it.
func (s *Session) stepLines(steps []undoStep) []any {
	list := []any{}
	for _, step := range steps {
		line := map[string]any{"path": step.path, "name": s.short(step.path), "stays": step.note != ""}
		switch {
		case step.note != "":
			line["what"] = step.note
		case !step.now.Exists:
			line["what"] = "comes back"
		case !step.want.Exists && step.back == "":
			line["what"] = "is removed"
		case step.back != "":
			line["what"] = "goes back to " + s.short(step.back)
		case step.now == step.want && step.mode != 0:
			line["what"] = fmt.Sprintf("gets its permissions back (%o)", step.mode)
		case step.now.Opaque || step.want.Opaque:
			line["what"] = "gets its contents back"
		default:
			added, removed := 0, 0
			for _, e := range linediff.Compare(linediff.Lines(step.now.Text), linediff.Lines(step.want.Text)) {
				added, removed = added+e.B1-e.B0, removed+e.A1-e.A0
			}
			line["what"] = fmt.Sprintf("+%d −%d", added, removed)
		}
		if step.conflicts > 0 {
			line["conflicts"] = step.conflicts
		}
		list = append(list, line)
	}
	return list
}

// mostPreviewed is how many lines of an undo are shown before.
const mostPreviewed = 2000

// stepDiff is what would change, as diff writes it.
func (s *Session) stepDiff(steps []undoStep) []string {
	lines := []string{}
	for _, step := range steps {
		if step.note != "" || step.now == step.want || step.now.Opaque || step.want.Opaque {
			continue
		}
		from, to := "a/"+s.short(step.path), "b/"+s.short(cmp.Or(step.back, step.path))
		if !step.now.Exists {
			from = "/dev/null"
		}
		if !step.want.Exists {
			to = "/dev/null"
		}
		text, err := linediff.Unified(from, to, step.now.Text, step.want.Text)
		if err != nil {
			continue
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		if more := len(lines) - mostPreviewed; more > 0 {
			return append(lines[:mostPreviewed], "… "+count(more, "more line"))
		}
	}
	return lines
}
