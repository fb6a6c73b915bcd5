package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file has which changes are meant at a line, and deciding about them.

// decideHunks makes a decision about lines of a file, or about the hunks from a line on, as Lua says. What could
// not be done is told. Lua hears when it is over.
func (s *Session) decideHunks(m rpc.DecideHunks) {
	s.decide(ledger.Decision{
		Do: review.Decision(m.Decision), Path: m.Path,
		Which: func(f review.File) review.Selection {
			if m.Lines {
				return changesIn(f, m.First, m.Last)
			}
			return hunksAt(f, m.First, max(1, m.Count))
		},
	}, func(int, error) { s.base.Editor.Answer(m.Callback, nil, "") })
}

// nothing selects no change at all; the zero Selection selects every one.
var nothing = review.Selection{Hunks: []int{-1}}

// hunksAt selects the pending hunk at a line of the present text, from 1, and those behind it, so many in all.
// Lines that are gone are at the line behind them, and else at the one before.
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
			continue // they are in the order of their hunks
		}
		if n == count {
			break
		}
		which.Hunks = append(which.Hunks, c.Hunk)
	}
	return which
}

// changesIn selects what is pending in lines of the present text.
func changesIn(f review.File, first, last int) review.Selection {
	if which := f.Lines(first, last); len(which.Parts) > 0 {
		return which
	}
	return nothing
}
