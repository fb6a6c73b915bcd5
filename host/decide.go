package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file has decisions about changes, as Lua asks for them and is told.

// decide makes a decision about changes. Any goroutine. The user is told what could not be done; done gets
// that too, and how many files it was about, on the session's goroutine.
func (s *Session) decide(d ledger.Decision, done func(files int, err error)) {
	s.ledger.Decide(d, func(n int, err error) {
		s.base.Box.Put(func() {
			if err != nil {
				s.base.Editor.Notify("warning", err.Error())
			}
			done(n, err)
		})
	})
}

// tellDecision makes a decision for Lua: about all files, one, or a hunk of it by its number, with the
// numbers of its lines as Lua knows them.
func (s *Session) tellDecision(m rpc.Decide) {
	d := ledger.Decision{Do: review.Decision(m.Do), Path: m.Path}
	if m.Hunk > 0 {
		at := review.Hunk{OldStart: m.OldStart, OldCount: m.OldCount, NewStart: m.NewStart, NewCount: m.NewCount}
		d.Which = func(f review.File) review.Selection {
			return review.Selection{Hunks: []int{hunkNow(f, m.Hunk-1, at)}}
		}
	}
	s.decide(d, func(files int, err error) {
		failure := ""
		if err != nil {
			failure = sentenceOf(err)
		}
		s.base.Editor.Answer(m.Callback, rpc.DecidedFiles{Files: files}, failure)
	})
}

// hunkNow is where in a file's list a hunk is that was the n-th, when the user has typed since; -1 is
// nowhere.
func hunkNow(f review.File, n int, at review.Hunk) int {
	same := func(h review.Hunk) bool {
		h.State = ""
		return h == at
	}
	if n < len(f.Hunks) && (same(f.Hunks[n]) || at == review.Hunk{}) {
		return n
	}
	if i := slices.IndexFunc(f.Hunks, same); i >= 0 {
		return i
	}
	// Lines above it have come or gone.
	moved := -1
	for i, h := range f.Hunks {
		if h.OldCount == at.OldCount && h.NewCount == at.NewCount && (moved < 0 || i == n) {
			moved = i
		}
	}
	return moved
}
