package reviewui

import (
	"errors"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file makes the decisions that the API, the user's buffers and the chat ask for. Those on the page are
// in tabdecide.go.

// decide makes a decision, and tells the user what could not be done. done gets the error too, and how many files the
// decision was about, on the session's goroutine. Any goroutine may call it.
func (c *Config) decide(d ledger.Decision, done func(files int, err error)) {
	c.Ledger.Decide(d, func(n int, err error) {
		c.Box.Put(func() {
			if err != nil {
				c.Editor.Notify("warning", err.Error())
			}
			done(n, err)
		})
	})
}

// Decide makes a decision for the API: about all files, one file, or a hunk by its number, given the numbers of its
// lines as Lua knows them.
func (r *Review) Decide(m rpc.Decide) {
	d := ledger.Decision{Do: review.Decision(m.Do), Path: m.Path}
	if m.Hunk > 0 {
		was := review.Hunk{OldStart: m.OldStart, OldCount: m.OldCount, NewStart: m.NewStart, NewCount: m.NewCount}
		d.Which = func(f review.File) review.Selection {
			return review.Selection{Hunks: []int{hunkNow(f, m.Hunk-1, was)}}
		}
	}
	r.config.decide(d, func(files int, err error) {
		failure := ""
		switch {
		case err != nil && errors.Unwrap(err) == nil:
			failure = sentence(err)
		case err != nil:
			failure = err.Error() + "." // it begins with the name of a file
		}
		r.config.Editor.Answer(m.Callback, rpc.DecidedFiles{Files: files}, failure)
	})
}

// DecideHunks makes a decision about lines of a buffer, or about the hunks from a line on. Lua is told when it is made
// and the buffer has its marks.
func (r *Review) DecideHunks(m rpc.DecideHunks) {
	r.config.decide(ledger.Decision{
		Do: review.Decision(m.Decision), Path: m.Path,
		Which: func(f review.File) review.Selection {
			if m.Lines {
				return changesIn(f, m.First, m.Last)
			}
			return hunksAt(f, m.First, max(1, m.Count))
		},
	}, func(int, error) {
		r.config.Marks.Settled(m.Path, func() { r.config.Editor.Answer(m.Callback, nil, "") })
	})
}

// KeepAll keeps all that is pending.
func (r *Review) KeepAll() {
	r.config.decide(ledger.Decision{Do: review.Keep}, func(int, error) {})
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
