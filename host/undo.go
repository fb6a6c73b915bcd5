package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/transcript"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

var (
	errTurnRuns  = errors.New("the turn still runs: :Acp cancel ends it")
	errNoTurn    = errors.New("there is no turn that has changed files and could be undone")
	errOtherTurn = errors.New("another turn has come meanwhile: :Acp undo shows what there is to undo now")
	errNoUndone  = errors.New("nothing was undone that could be done again")
)

// undo takes back what the last turn that was not undone has changed, or with again does the last one that
// was undone again; which is the name of that turn, or "". With preview it only tells what it would do. Any
// goroutine; done runs on that of box.
func (c *changes) undo(again, preview bool, which string, done func(*turns.Turn, []turns.Step, error)) {
	c.job(func(next func()) {
		finish := func(t *turns.Turn, steps []turns.Step, err error) {
			c.tell(nil)
			done(t, steps, err)
			next()
		}
		t, files, err := c.undoable(again)
		if err == nil && which != "" && which != turnName(t) {
			err = errOtherTurn
		}
		if err != nil {
			finish(nil, nil, err)
			return
		}
		c.steps(files, func(steps []turns.Step) {
			if preview {
				finish(t, steps, nil)
				return
			}
			if !again {
				c.turn = nil // what is saved meanwhile has it whole
			}
			var moves [][2]string
			for _, step := range steps {
				moves = append(moves, [2]string{step.Back, step.Of.Path})
			}
			u := undoing{folders: c.session.foldersSince(t.At, moves), again: again}
			c.undoEach(u, steps, func(u undoing) {
				if again {
					c.history.WasDoneAgain(t)
				} else {
					c.history.WasUndone(t, u.did, u.failed, c.turn == nil) // unless another turn has begun
				}
				c.saveSoon()
				c.scans.scan(func(*checkpoint.Snapshot) {}) // what is there now is no doing of the next turn's
				finish(t, steps, u.err)
			})
		})
	})
}

// turnName tells a turn from the others of its session.
func turnName(t *turns.Turn) string { return strconv.FormatInt(t.At.UnixNano(), 10) }

// undoable is the turn that an undo is about, and its files as they are to be taken back.
func (c *changes) undoable(again bool) (*turns.Turn, []turns.File, error) {
	if again {
		u, ok := c.history.LastUndone()
		if !ok {
			return nil, nil, errNoUndone
		}
		return u.Turn, u.Files, nil
	}
	c.take(c.turn) // what was changed after its end counts too
	t := c.history.Last()
	if t == nil {
		return nil, nil, errNoTurn
	}
	return t, t.Files, nil
}

// steps says what taking files back does to each as it is now, in the order in which that must be done.
func (c *changes) steps(files []turns.File, done func([]turns.Step)) {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path, cmp.Or(f.OldPath, f.Path))
	}
	c.refresh(nil, func() {
		c.seeAll(paths, func(now []sight) {
			var is []review.Content
			var modes []fs.FileMode
			taken := map[string]bool{}
			unseen := map[string]bool{}
			for i := range files {
				seen, old := now[2*i], now[2*i+1]
				is, modes = append(is, seen.Content), append(modes, seen.mode)
				taken[paths[2*i+1]] = old.Exists
				unseen[paths[2*i]] = seen.path == ""
			}
			steps := turns.Steps(files, is, modes, taken)
			for i, step := range steps {
				if unseen[step.Of.Path] {
					steps[i].Note = "cannot be looked at"
				} else if !step.Idle() && step.Want.Opaque && step.Want != step.Now {
					if _, kept := c.originals.known(step.Of.Path, step.Want, c.turn); !kept {
						steps[i].Note = "cannot be brought back, as " + errForgotten.Error()
					}
				}
			}
			done(steps)
		})
	})
}

// undoing is an undo under way.
type undoing struct {
	folders folders
	again   bool
	did     []turns.File // what leads to where it was again
	failed  []turns.File
	err     error // the first
}

// undoEach takes one step after another.
func (c *changes) undoEach(u undoing, steps []turns.Step, done func(undoing)) {
	if len(steps) == 0 {
		done(u)
		return
	}
	step := steps[0]
	if step.Idle() {
		c.undoEach(u, steps[1:], done)
		return
	}
	path := step.Of.Path
	to := placement{path: path, now: step.Now, want: step.Want, mode: step.Mode, back: step.Back}
	if step.Merged {
		to.merge = step.With
	}
	c.place(to, func(err error) {
		if err != nil {
			u.err = cmp.Or(u.err, fmt.Errorf("%s: %w", c.session.short(path), err))
			u.failed = append(u.failed, step.Of)
			steps[0].Note = "could not be changed"
			c.undoEach(u, steps[1:], done)
			return
		}
		if step.Back != "" || !step.Want.Exists {
			u.folders.remove(filepath.Dir(path))
		}
		did := step.Reverse()
		u.did = append(u.did, did)
		c.seeAll([]string{path, did.Path}, func(now []sight) {
			switch {
			case now[0].path == "" || now[1].path == "":
			case !u.again && step.Back != "":
				c.record.MoveRetracted(path, did.Path, step.Now, now[1].Content)
			case !u.again:
				c.record.Retracted(did.Path, step.Now, now[1].Content)
			case step.Back != "":
				c.agentMoved(nil, path, did.Path, step.Now, now[1].Content)
			default:
				c.agentChanged(nil, path, step.Now, now[0].Content)
			}
			for _, seen := range now {
				c.last[seen.path] = seen.Mark()
			}
			for b := range c.open {
				delete(b.files, path)
			}
			c.undoEach(u, steps[1:], done)
		})
	})
}

// began is when the first turn that is known began.
func (c *changes) began() time.Time {
	switch {
	case len(c.history.Turns) > 0:
		return c.history.Turns[0].At
	case c.turn != nil:
		return c.turn.At
	}
	return time.Now()
}

// tellUndo undoes a turn for Lua, or tells what that would do.
func (s *Session) tellUndo(m message) {
	again, preview, callback := m.flag("again"), m.flag("preview"), m.integer("callback")
	if s.outbox.turnOpen() {
		s.host.callback(callback, nil, sentenceOf(errTurnRuns))
		return
	}
	s.changes.undo(again, preview, m.text("turn"), func(t *turns.Turn, steps []turns.Step, err error) {
		if err != nil && steps == nil {
			s.host.callback(callback, nil, sentenceOf(err))
			return
		}
		slices.SortFunc(steps, func(a, b turns.Step) int { return cmp.Compare(a.Of.Path, b.Of.Path) })
		result := map[string]any{"prompt": t.Prompt, "files": s.stepLines(steps), "again": again, "turn": turnName(t)}
		if preview {
			result["diff"] = s.stepDiff(steps)
		}
		if err != nil {
			result["failed"] = err.Error() + "."
		}
		s.host.callback(callback, result, "")
	})
}

func sentenceOf(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// stepLines says of each file what is done to it.
func (s *Session) stepLines(steps []turns.Step) []any {
	list := []any{}
	for _, step := range steps {
		line := map[string]any{"path": step.Of.Path, "name": s.short(step.Of.Path), "stays": step.Note != "", "settled": step.Note == turns.AsBefore}
		switch {
		case step.Note != "":
			line["what"] = step.Note
		case !step.Now.Exists:
			line["what"] = "comes back"
		case !step.Want.Exists && step.Back == "":
			line["what"] = "is removed"
		case step.Back != "":
			line["what"] = "goes back to " + s.short(step.Back)
		case step.Now == step.Want && step.Mode != 0:
			line["what"] = fmt.Sprintf("gets its permissions back (%o)", step.Mode)
		case step.Now.Opaque || step.Want.Opaque:
			line["what"] = "gets its contents back"
		default:
			added, removed := 0, 0
			for _, e := range linediff.Compare(linediff.Lines(step.Now.Text), linediff.Lines(step.Want.Text)) {
				added, removed = added+e.B1-e.B0, removed+e.A1-e.A0
			}
			line["what"] = fmt.Sprintf("+%d −%d", added, removed)
		}
		if step.Mode != 0 && step.Now.Exists && step.Now != step.Want {
			line["what"] = fmt.Sprintf("%s, with its permissions (%o)", line["what"], step.Mode)
		}
		if len(step.Conflicts) > 0 {
			line["conflicts"] = step.Conflicts
		}
		list = append(list, line)
	}
	return list
}

// mostPreviewed is how many lines of an undo are shown before.
const mostPreviewed = 2000

// stepDiff is what would change, as diff writes it.
func (s *Session) stepDiff(steps []turns.Step) []string {
	lines := []string{}
	for _, step := range steps {
		if step.Note != "" || step.Now == step.Want || step.Now.Opaque || step.Want.Opaque {
			continue
		}
		from, to := "a/"+s.short(step.Of.Path), "b/"+s.short(cmp.Or(step.Back, step.Of.Path))
		if !step.Now.Exists {
			from = "/dev/null"
		}
		if !step.Want.Exists {
			to = "/dev/null"
		}
		text, err := linediff.Unified(from, to, step.Now.Text, step.Want.Text)
		if err != nil {
			continue
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		if more := len(lines) - mostPreviewed; more > 0 {
			return append(lines[:mostPreviewed], "… "+transcript.Many(more, "more line"))
		}
	}
	return lines
}
