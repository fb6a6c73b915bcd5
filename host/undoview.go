package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file has taking a turn back, as Lua asks for it and is told.

var errTurnRuns = errors.New("the turn still runs: :Acp cancel ends it")

// tellUndo undoes a turn for Lua, or tells what that would do.
func (s *Session) tellUndo(m message) {
	again, preview, callback := m.flag("again"), m.flag("preview"), m.integer("callback")
	if s.outbox.turnOpen() {
		s.host.callback(callback, nil, sentenceOf(errTurnRuns))
		return
	}
	s.ledger.Undo(again, preview, m.text("turn"), func(t *turns.Turn, steps []turns.Step, err error) {
		if err != nil && steps == nil {
			s.host.callback(callback, nil, sentenceOf(err))
			return
		}
		slices.SortFunc(steps, func(a, b turns.Step) int { return cmp.Compare(a.Of.Path, b.Of.Path) })
		result := map[string]any{"prompt": t.Prompt, "files": s.stepLines(steps), "again": again, "turn": t.Name()}
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
		line := map[string]any{"path": step.Of.Path, "name": s.short(step.Of.Path), "stays": step.Idle(), "settled": step.Note == turns.AsBefore}
		switch {
		case step.Note != "":
			line["what"] = step.Note
		case !step.Now.Exists:
			line["what"] = "comes back"
		case !step.Want.Exists && step.Back == "":
			line["what"] = "is removed"
		case step.Back != "":
			line["what"] = "goes back to " + s.short(step.Back)
		case step.Now.SameText(step.Want) && step.Now != step.Want:
			line["what"] = strings.Join(review.Styles(step.Now, step.Want), ", ")
		case step.Now.Opaque || step.Want.Opaque:
			line["what"] = "gets its contents back"
		default:
			added, removed := 0, 0
			for _, e := range linediff.Compare(linediff.Lines(step.Now.Text), linediff.Lines(step.Want.Text)) {
				added, removed = added+e.B1-e.B0, removed+e.A1-e.A0
			}
			line["what"] = fmt.Sprintf("+%d −%d", added, removed)
		}
		if styles := review.Styles(step.Now, step.Want); len(styles) > 0 && !step.Now.SameText(step.Want) {
			line["what"] = fmt.Sprintf("%s, %s", line["what"], strings.Join(styles, ", "))
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
			return append(lines[:mostPreviewed], "… "+styled.Many(more, "more line"))
		}
	}
	return lines
}
