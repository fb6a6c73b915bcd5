package ledger

import (
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// This file has what the user had accepted before it was written.

// keepWritten has a change count as kept that the user accepted before it was made. What else is pending in
// the file stays so: before is the file of the record right before that change.
func keepWritten(r *review.Record, path string, before review.File, was, is review.Content) {
	f, ok := r.File(path)
	if !ok {
		return
	}
	which := review.Selection{Lines: was.Exists, Form: was.Form != is.Form}
	if was.Exists && is.Exists && !was.Opaque && !is.Opaque {
		waited := map[int]bool{} // lines of the accepted text that the agent had removed before
		for _, c := range before.Changes() {
			for at := c.Part.A0; c.State == review.Pending && at < c.Part.A1; at++ {
				waited[at] = true
			}
		}
		for _, e := range linediff.Compare(linediff.Lines(was.Text), linediff.Lines(is.Text)) {
			for _, part := range f.Lines(e.B0+1, e.B1).Parts {
				which.Parts = append(which.Parts, without(part, waited)...)
			}
		}
		if len(which.Parts) == 0 {
			return
		}
	}
	if plan, err := r.Plan(path, review.Keep, which); err == nil && !plan.Edits() {
		r.Commit(plan)
	}
}

// without is a part of what is pending without some of the lines that it removes.
func without(part linediff.Edit, lines map[int]bool) (parts []linediff.Edit) {
	added := linediff.Edit{A0: part.A1, A1: part.A1, B0: part.B0, B1: part.B1}
	for at := part.A1 - 1; at >= part.A0; at-- {
		switch last := len(parts) - 1; {
		case lines[at]:
		case last >= 0 && parts[last].A0 == at+1:
			parts[last].A0 = at
		case last < 0:
			added.A0, added.A1 = at, at+1
			parts = append(parts, added)
		default:
			parts = append(parts, linediff.Edit{A0: at, A1: at + 1, B0: part.B0, B1: part.B0})
		}
	}
	if len(parts) == 0 && added.B0 < added.B1 {
		parts = append(parts, added)
	}
	return parts
}
