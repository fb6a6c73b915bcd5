package ledger

import (
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file keeps what the user accepted before it was written.

// keepWritten keeps a change that the user accepted before it was made. What else is pending in the file stays so:
// before is the record's file right before that change. They were shown the change as one of the text shown, or of what the
// file was if that is nil.
func keepWritten(r *review.Record, path string, before review.File, was, is review.Content, shown *string) {
	f, ok := r.File(path)
	if !ok {
		return
	}
	lines := was.Exists || shown != nil || before.Accepted.Exists && !before.Accepted.Opaque // removed before, which was not in the question
	form := was.Form
	if !was.Exists && is.Form != "" {
		form = f.Accepted.Form // all of the new one
	}
	which := review.Selection{Lines: lines, Form: &form, Made: true}
	if lines && !was.Opaque && !f.Present.Opaque {
		if shown == nil {
			which.Parts = f.Written(before, was.Text).Parts
		} else {
			for _, same := range f.Like(buffers.Lined(*shown), is.Text) {
				which.Parts = append(which.Parts, same.Parts...)
			}
		}
		if len(which.Parts) == 0 {
			return
		}
	}
	keepIn(r, path, which)
}

// keepIn keeps a part of what is pending of a file, or all of it, in a record. It reports whether it could.
func keepIn(r *review.Record, path string, which review.Selection) bool {
	plan, err := r.Plan(path, review.Keep, which)
	return err == nil && !plan.Edits() && r.Commit(plan)
}
