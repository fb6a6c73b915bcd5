package ledger

import (
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// keepWritten has a change count as kept that the user accepted before it was made. What else is pending in
// the file stays so.
func keepWritten(r *review.Record, path string, was, is review.Content) {
	f, ok := r.File(path)
	if !ok {
		return
	}
	var which review.Selection
	if was.Exists && is.Exists && !was.Opaque && !is.Opaque {
		for _, e := range linediff.Compare(linediff.Lines(was.Text), linediff.Lines(is.Text)) {
			which.Parts = append(which.Parts, f.Lines(e.B0+1, e.B1).Parts...)
		}
		if len(which.Parts) == 0 {
			return
		}
	}
	if plan, err := r.Plan(path, review.Keep, which); err == nil && !plan.Edits() {
		r.Commit(plan)
	}
}
