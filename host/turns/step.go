package turns

import (
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// AsBefore is the note of a step with nothing to do.
const AsBefore = "is already as it was"

// Step is what undoing a turn does to one file.
type Step struct {
	Of        FileChange
	Now, Want review.Content
	Back      string // where it is moved back to, or ""
	Merged    bool   // Want is merged with what the user has changed since
	Conflicts []int  // lines of that, counted from 1, at which the user's stay
	Note      string // why nothing is done to the file
}

// Steps returns what undoes changes of files, see [StepOf], in the required order: removals first, to make room. now is
// what is at their paths, and taken says whether a path is occupied.
func Steps(files []FileChange, now []review.Content, taken map[string]bool) []Step {
	taken = maps.Clone(taken)
	became := map[string]review.Content{} // by path, by the steps before
	var steps []Step
	done := make([]bool, len(files))
	inTheWay := func(path string) bool { // a file that has to go first is where the path has a folder
		for i, f := range files {
			if !done[i] && strings.HasPrefix(path, f.Path+"/") {
				return true
			}
		}
		return false
	}
	take := func(which func(FileChange) bool) (took bool) {
		for i, f := range files {
			if done[i] || !which(f) {
				continue
			}
			is := now[i]
			if later, ok := became[f.Path]; ok {
				is = later
			}
			step := StepOf(f, is, !taken[f.OldPath])
			if !step.Idle() && !f.Under {
				if became[f.Path] = step.Want; step.Back != "" {
					became[f.Path], became[step.Back] = review.Content{}, step.Want
				}
				if step.Back != "" || !step.Want.Exists {
					taken[f.Path] = false
				}
			}
			steps, done[i], took = append(steps, step), true, true
		}
		return took
	}
	comesBack := func(path string) bool {
		return slices.ContainsFunc(files, func(f FileChange) bool { return f.Path == path && !f.Under && !f.After.Exists })
	}
	take(func(f FileChange) bool { return f.Under && !comesBack(f.Path) }) // then disk and buffer have the same of the rest
	take(func(f FileChange) bool { return !f.Before.Exists })
	for take(func(f FileChange) bool { return f.OldPath != "" && !taken[f.OldPath] && !inTheWay(f.OldPath) }) {
	}
	take(func(f FileChange) bool { return !f.Under })
	take(func(FileChange) bool { return true })
	return steps
}

// StepOf returns what brings a file from what a turn left back to what was before, keeping what the user has changed
// since. now is what is at its path, and free says that its path from before a move is unoccupied.
func StepOf(f FileChange, now review.Content, free bool) Step {
	if f.Under {
		return Step{Of: f, Now: f.After, Want: f.Before}
	}
	step := Step{Of: f, Now: now, Want: now.Restyled(f.After, f.Before)}
	switch {
	case now.SameText(f.Before): // left are its form and permissions
	case f.Typed:
		step.Note = "has changes of yours, and is too large or not text, so they cannot be told apart"
	case now.SameText(f.After):
		if step.Want.Exists && f.Before.Exists {
			step.Want.Opaque, step.Want.Text = f.Before.Opaque, f.Before.Text
		} else {
			step.Want = f.Before
		}
	case !now.Exists:
		step.Note = "has been deleted since"
	case !f.After.Exists:
		step.Note = "has been created again since"
	case f.Before.SameText(f.After): // only its form and permissions
	case now.Opaque, f.After.Opaque, f.Before.Opaque:
		step.Note = "has been changed since"
	default:
		step.Merged = true
		if step.Want.Text, step.Conflicts = step.merge(now.Text); step.Want.Text == "" && !f.Before.Exists {
			step.Want = review.Content{}
		} else if step.Want.Text != "" && f.Before.Text == "" {
			step.Want.Form = now.Form // an empty file has none, and what the user has typed there stands as it does
		}
	}
	if now.Form != f.After.Form && f.Before.Text != "" && step.Want.Text != now.Text && (f.After.Text == "" || now.StandsAs(f.After.Form)) {
		step.Want.Form = f.Before.Form
	}
	if step.Note != "" {
		step.Want = now
	}
	if f.OldPath != "" && step.Note == "" {
		if step.Back = f.OldPath; !free {
			step.Back, step.Note = "", "cannot go back to "+f.OldPath+", where another file is"
			step.Want, step.Merged = now, false
		}
	}
	if step.Idle() && step.Note == "" && len(step.Conflicts) == 0 {
		step.Note = AsBefore
	}
	return step
}

// Idle reports whether nothing is done to the file.
func (s Step) Idle() bool {
	return s.Note != "" || s.Now == s.Want && s.Back == ""
}

// With returns what the file becomes if the user's text is mine: the step must be Merged.
func (s Step) With(mine string) string {
	text, _ := s.merge(mine)
	return text
}

func (s Step) merge(mine string) (text string, conflicts []int) {
	return buffers.Withdraw(s.Of.After.Text, mine, s.Of.Before.Text)
}

// Reverse returns the change for undoing this step: the present state is Before.
func (s Step) Reverse() FileChange {
	f := FileChange{Path: s.Of.Path, Before: s.Now, After: s.Want, Under: s.Of.Under}
	if s.Back != "" {
		f.Path, f.OldPath = s.Back, s.Of.Path
	}
	return f
}
