package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file has taking a turn back, as Lua asks for it and is told.

var errTurnRuns = errors.New("the turn still runs: :Acp cancel ends it")

// tellUndo undoes a turn for Lua, or tells what that would do.
func (s *Session) tellUndo(m rpc.Undo) {
	if s.prompts.TurnOpen() {
		s.base.Editor.Answer(m.Callback, nil, sentenceOf(errTurnRuns))
		return
	}
	s.ledger.Undo(m.Again, m.Preview, m.Turn, func(t *turns.Turn, steps []turns.Step, err error) {
		if err != nil && steps == nil {
			s.base.Editor.Answer(m.Callback, nil, sentenceOf(err))
			return
		}
		slices.SortFunc(steps, func(a, b turns.Step) int { return cmp.Compare(a.Of.Path, b.Of.Path) })
		result := rpc.Undone{Prompt: t.Prompt, Files: s.stepLines(steps), Again: m.Again, Turn: t.Name()}
		if m.Preview {
			result.Diff = s.stepDiff(steps)
		}
		if err != nil {
			result.Failed = err.Error() + "."
		}
		s.base.Editor.Answer(m.Callback, result, "")
	})
}

func sentenceOf(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// stepLines says of each file what is done to it.
func (s *Session) stepLines(steps []turns.Step) []rpc.UndoneFile {
	var list []rpc.UndoneFile
	for _, step := range steps {
		line := rpc.UndoneFile{
			Path: step.Of.Path, Name: s.base.Short(step.Of.Path), Stays: step.Idle(), Settled: step.Note == turns.AsBefore,
			Conflicts: step.Conflicts,
		}
		switch {
		case step.Note != "":
			line.What = step.Note
		case !step.Now.Exists:
			line.What = "comes back"
		case !step.Want.Exists && step.Back == "":
			line.What = "is removed"
		case step.Back != "":
			line.What = "goes back to " + s.base.Short(step.Back)
		case step.Now.SameText(step.Want) && step.Now != step.Want:
			line.What = strings.Join(review.Styles(step.Now, step.Want), ", ")
		case step.Now.Opaque || step.Want.Opaque:
			line.What = "gets its contents back"
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
		from, to := "a/"+s.base.Short(step.Of.Path), "b/"+s.base.Short(cmp.Or(step.Back, step.Of.Path))
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
