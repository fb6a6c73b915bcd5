package turns

import (
	"io/fs"
	"maps"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// AsBefore is the note of a step for which nothing is to be done.
const AsBefore = "is as before already"

// Step is what taking a turn back does to one file.
type Step struct {
	Of        File
	Now, Want review.Content
	Mode      fs.FileMode // permission bits that it gets; 0: it keeps its own
	Back      string      // where it is moved back to, or ""
	Merged    bool        // Want is a merge with what the user has changed since
	Conflicts []int       // lines of that, counted from 1, at which the user's stay
	Note      string      // why nothing is done to the file
}

// Steps says what takes files back, see [StepOf], in the order in which that must be done: what goes makes
// room first. now and modes are what is at their paths, and taken tells of a path whether something is there.
func Steps(files []File, now []review.Content, modes []fs.FileMode, taken map[string]bool) []Step {
	taken = maps.Clone(taken)
	became := map[string]review.Content{} // by path, by the steps before
	var steps []Step
	done := make([]bool, len(files))
	take := func(which func(File) bool) (took bool) {
		for i, f := range files {
			if done[i] || !which(f) {
				continue
			}
			is, mode := now[i], modes[i]
			if later, ok := became[f.Path]; ok {
				if is = later; !is.Exists {
					mode = 0
				}
			}
			step := StepOf(f, is, mode, !taken[f.OldPath])
			if !step.Idle() {
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
	take(func(f File) bool { return f.OldPath == "" && !f.Before.Exists })
	for take(func(f File) bool { return f.OldPath != "" && !taken[f.OldPath] }) {
	}
	take(func(File) bool { return true })
	return steps
}

// StepOf says what brings a file from what a turn has left back to what was before, with what the user has
// changed since. now and mode are what is at its path, and free tells that nothing is where it was before it
// was moved.
func StepOf(f File, now review.Content, mode fs.FileMode, free bool) Step {
	step := Step{Of: f, Now: now, Want: now}
	if f.Modes.Before != f.Modes.After && mode == f.Modes.After && f.Modes.Before != 0 {
		step.Mode = f.Modes.Before
	}
	is := func(c review.Content) bool { return now == c || now.Exists && now.Mark() == c.Mark() }
	switch {
	case f.Before == f.After && f.OldPath == "": // its permissions alone
	case is(f.Before) && f.OldPath == "":
		step.Note = AsBefore
	case is(f.After):
		step.Want = f.Before
	case !now.Exists:
		step.Note = "was deleted since"
	case !f.After.Exists:
		step.Note = "was made anew since"
	case now.Opaque, f.After.Opaque, f.Before.Opaque:
		step.Note = "was changed since"
	case !f.Before.Exists:
		step.Note = "was made in this turn, and changed by you since"
	default:
		step.Merged = true
		step.Want.Text, step.Conflicts = step.merge(now.Text)
	}
	if !now.Exists && step.Want.Exists {
		step.Mode = f.Modes.Before
	}
	if f.OldPath != "" && step.Note == "" {
		if step.Back = f.OldPath; !free {
			step.Back, step.Note = "", "cannot go back to "+f.OldPath+", where another file is"
			step.Want, step.Merged = now, false
		}
	}
	return step
}

// Idle tells that nothing is done to the file.
func (s Step) Idle() bool {
	return s.Note != "" || s.Now == s.Want && s.Mode == 0 && s.Back == ""
}

// With returns what the file becomes where the user's text is mine: the step must be Merged.
func (s Step) With(mine string) string {
	text, _ := s.merge(mine)
	return text
}

func (s Step) merge(mine string) (text string, conflicts []int) {
	return buffers.Merge(s.Of.After.Text, mine, s.Of.Before.Text)
}

// Reverse returns the file as an undo of this step has it: what it is now was before.
func (s Step) Reverse() File {
	f := File{Path: s.Of.Path, Before: s.Now, After: s.Want, Modes: Modes{Before: s.Of.Modes.After, After: s.Of.Modes.Before}}
	if s.Back != "" {
		f.Path, f.OldPath = s.Back, s.Of.Path
	}
	return f
}
