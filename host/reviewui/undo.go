package reviewui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// Undo undoes a turn for Lua, or redoes it, or only says what that would change.
func (r *Review) Undo(m rpc.Undo) {
	answer := func(result any, failure string) { r.config.Editor.Answer(m.Callback, result, failure) }
	if r.config.TurnOpen() {
		answer(nil, "the turn is still running: :Acp cancel ends it")
		return
	}
	u := &undo{}
	if !m.Preview && !m.Again {
		r.undo = u
	}
	goOn := u.goOn(m.Again, func(text string) { r.config.Editor.Notify("info", text) })
	r.config.Ledger.Undo(m.Again, m.Preview, m.Turn, goOn, func(t *turns.Turn, steps []turns.Step, err error) {
		u.over.Store(true)
		if err != nil && steps == nil {
			answer(nil, sentence(err))
			return
		}
		slices.SortFunc(steps, func(a, b turns.Step) int { return cmp.Compare(a.Of.Path, b.Of.Path) })
		result := rpc.Undone{Prompt: t.Prompt, Files: stepLines(steps, m.Again, r.config.Short), Again: m.Again, Turn: t.Name(), Unseen: r.config.Ledger.Unseen()}
		if m.Preview {
			result.Diff = stepDiff(steps, r.config.Short)
		}
		if err != nil {
			result.Failed = err.Error() + "."
			if errors.Is(err, ledger.ErrStopped) {
				result.Failed = sentence(err)
			}
		}
		answer(result, "")
	})
}

// An undo says how far it is when it has taken a second, and then again from time to time.
const (
	tellsFirst = time.Second
	tellsAgain = 3 * time.Second
)

// undo is an undo under way.
type undo struct{ stop, over atomic.Bool }

// StopUndo stops the undo that is under way, and reports whether there is one.
func (r *Review) StopUndo() bool {
	under := r.undo != nil && !r.undo.over.Load()
	if under {
		r.undo.stop.Store(true)
	}
	return under
}

// goOn tells the user how far it is, and reports whether they have not stopped it. Doing a turn again is not stopped.
func (u *undo) goOn(again bool, notify func(text string)) func(did, of int) bool {
	next := time.Now().Add(tellsFirst)
	return func(did, of int) bool {
		if now := time.Now(); now.After(next) {
			next = now.Add(tellsAgain)
			of := styled.Thousands(of) + " files"
			if again {
				notify("redoing: " + styled.Thousands(did) + " of " + of)
			} else {
				notify("undoing: " + styled.Thousands(did) + " of " + of + ", :Acp cancel stops it")
			}
		}
		return again || !u.stop.Load()
	}
}

// stepLines says what each step does to its file.
func stepLines(steps []turns.Step, again bool, short func(path string) string) []rpc.UndoneFile {
	comes, moves, gets := "comes back", "goes back to ", "gets its contents back"
	if again {
		comes, moves, gets = "is made again", "is moved to ", "gets its new contents again"
	}
	var list []rpc.UndoneFile
	for _, step := range steps {
		line := rpc.UndoneFile{
			Path: step.Of.Path, Name: short(step.Of.Path), Stays: step.Idle(), Settled: step.Note == turns.AsBefore,
			Conflicts: step.Conflicts,
		}
		switch {
		case step.Note != "":
			line.What = step.Note
		case !step.Now.Exists:
			line.What = comes
		case !step.Want.Exists && step.Back == "":
			line.What = "is removed"
		case step.Back != "":
			line.What = moves + short(step.Back)
		case step.Now.SameText(step.Want) && step.Now != step.Want:
			line.What = strings.Join(review.Styles(step.Now, step.Want), ", ")
		case step.Now.Opaque || step.Want.Opaque:
			line.What = gets
		default:
			added, removed := 0, 0
			for _, e := range linediff.Compare(linediff.Lines(step.Now.Text), linediff.Lines(step.Want.Text)) {
				added, removed = added+e.B1-e.B0, removed+e.A1-e.A0
			}
			line.What = fmt.Sprintf("+%d −%d", added, removed)
		}
		if styles := review.Styles(step.Now, step.Want); len(styles) > 0 && !step.Now.SameText(step.Want) {
			line.What = fmt.Sprintf("%s, %s", line.What, strings.Join(styles, ", "))
		}
		if step.Of.Under && !line.Stays {
			line.What += " on the disk, under your unsaved text"
		}
		list = append(list, line)
	}
	return list
}

// mostPreviewed is how many lines of its diff the preview of an undo shows.
const mostPreviewed = 2000

// stepDiff returns what the steps change, as a unified diff.
func stepDiff(steps []turns.Step, short func(path string) string) []string {
	lines := []string{}
	for _, step := range steps {
		if step.Note != "" || step.Now == step.Want || step.Now.Opaque || step.Want.Opaque {
			continue
		}
		from, to := "a/"+short(step.Of.Path), "b/"+short(cmp.Or(step.Back, step.Of.Path))
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
			return append(lines[:mostPreviewed], "… "+styled.Many(more, "more line"))
		}
	}
	return lines
}
