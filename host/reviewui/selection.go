package reviewui

import (
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
)

// This file turns what the user points at, on the page or in a buffer, into selections of a file's changes.

// nothing selects no change at all; the zero Selection selects every one.
var nothing = review.Selection{Hunks: []int{-1}}

// hunksAt selects count pending hunks of a file, from the one at a line of the present text, counted from 1. Deleted
// lines are at the line after them and, if no change is there, also at the one before.
func hunksAt(f review.File, line, count int) review.Selection {
	changes := slices.DeleteFunc(f.Changes(), func(c review.Change) bool { return c.State != review.Pending })
	at := slices.IndexFunc(changes, func(c review.Change) bool {
		return line >= c.Line && line < c.Line+max(1, len(c.New))
	})
	if at < 0 {
		at = slices.IndexFunc(changes, func(c review.Change) bool { return len(c.New) == 0 && line == c.Line-1 })
	}
	if at < 0 {
		return nothing
	}
	var which review.Selection
	for _, c := range changes[at:] {
		n := len(which.Hunks)
		if n > 0 && which.Hunks[n-1] == c.Hunk {
			continue // changes come in the order of their hunks
		}
		if n == count {
			break
		}
		which.Hunks = append(which.Hunks, c.Hunk)
	}
	return which
}

// changesIn selects the pending changes in lines of the present text.
func changesIn(f review.File, first, last int) review.Selection {
	if which := f.Lines(first, last); len(which.Parts) > 0 {
		return which
	}
	return nothing
}

// hunkNow returns the index of a hunk that was the n-th of a file before the user typed; -1 if it is gone.
func hunkNow(f review.File, n int, was review.Hunk) int {
	same := func(h review.Hunk) bool {
		h.State = ""
		return h == was
	}
	if n < len(f.Hunks) && (same(f.Hunks[n]) || was == review.Hunk{}) {
		return n
	}
	if i := slices.IndexFunc(f.Hunks, same); i >= 0 {
		return i
	}
	// Lines above it were added or removed.
	moved := -1
	for i, h := range f.Hunks {
		if h.OldCount == was.OldCount && h.NewCount == was.NewCount && (moved < 0 || i == n) {
			moved = i
		}
	}
	return moved
}

// pendingOrAll selects what is pending of a file, and all of it once everything is decided.
func pendingOrAll(now review.File) (which review.Selection) {
	if now.State != review.Pending {
		for i := range now.Hunks {
			which.Hunks = append(which.Hunks, i)
		}
	}
	return which
}

// selected is the part of a change that the user selected on the page.
type selected struct {
	review.Change
	whole    bool
	old, new lines
}

// lines are the selected lines of one side of a change. They are consecutive.
type lines struct{ from, to, n int }

// add selects the line of a row.
func (s *selected) add(r reviewpage.Row) {
	side := &s.old
	if r.Side == '+' {
		side = &s.new
	}
	if side.n == 0 {
		side.from = r.At
	}
	side.to = r.At + 1
	side.n++
	s.whole = s.old.n == len(s.Old) && s.new.n == len(s.New)
}

// part returns the selected part of a change, which is now this edit. Without old lines it is at their end, without new
// ones at their beginning.
func (s selected) part(now linediff.Edit) linediff.Edit {
	part := linediff.Edit{A0: now.A1, A1: now.A1, B0: now.B0, B1: now.B0}
	if s.old.n > 0 {
		part.A0, part.A1 = now.A0+s.old.from, now.A0+s.old.to
	}
	if s.new.n > 0 {
		part.B0, part.B1 = now.B0+s.new.from, now.B0+s.new.to
	}
	return part
}

// selecting finds what was selected of a file in its later state. What is gone is left out; finding nothing is not an
// error.
func selecting(all []selected) func(review.File) review.Selection {
	return func(now review.File) (which review.Selection) {
		changes := now.Changes()
		alike := map[string][]int{} // changes that are not taken yet, by what they are
		what := func(c review.Change) string { return fmt.Sprintf("%s %q %q", c.State, c.Old, c.New) }
		for i, c := range changes {
			alike[what(c)] = append(alike[what(c)], i)
		}
		chosen := map[int]bool{} // hunks
		for _, s := range all {
			nearest, same := -1, alike[what(s.Change)]
			for _, i := range same {
				if nearest < 0 || distance(changes[i], s) < distance(changes[nearest], s) {
					nearest = i
				}
			}
			alike[what(s.Change)] = slices.DeleteFunc(same, func(i int) bool { return i == nearest })
			switch {
			case nearest < 0:
			case s.whole:
				if h := changes[nearest].Hunk; !chosen[h] {
					chosen[h] = true
					which.Hunks = append(which.Hunks, h)
				}
			default:
				which.Parts = append(which.Parts, s.part(changes[nearest].Part))
			}
		}
		if len(which.Hunks)+len(which.Parts) == 0 {
			return nothing
		}
		return which
	}
}

func distance(c review.Change, s selected) int { return max(c.Line-s.Line, s.Line-c.Line) }
