package reviewui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// List sends Lua the updated record for the quickfix list: all changes, or the pending ones.
func (r *Review) List(m rpc.ListChanges) {
	r.config.Ledger.Files(func(files []review.File) {
		slices.SortFunc(files, func(a, b review.File) int { return cmp.Compare(a.Path, b.Path) })
		items := []rpc.Change{}
		for _, f := range files {
			items = append(items, quickfix(f, m.All)...)
		}
		failure := ""
		if len(items) == 0 && len(files) > 0 {
			failure = "all changes are decided: :Acp changes all lists them"
		}
		r.config.Box.Put(func() { r.config.Editor.Answer(m.Callback, items, failure) })
	})
}

// quickfix returns the entries of a file: all, or the pending ones.
func quickfix(f review.File, all bool) []rpc.Change {
	if !all && f.State != review.Pending {
		return nil
	}
	decided := map[review.State]string{review.Kept: "✓ kept  ", review.Rejected: "✗ refused  "}
	whole := map[review.Status]string{
		review.Added: "new", review.Deleted: "deleted", review.Modified: "changed", review.Moved: "moved from " + f.OldPath,
	}[f.Status]
	if f.MovedTo != "" {
		whole = "was moved to " + f.MovedTo
	}
	whole = decided[f.State] + whole
	entry := rpc.Change{Path: f.Path, Line: 1, Text: whole, Gone: f.Status == review.Deleted}
	switch {
	case f.Status == review.Deleted:
		if n := len(f.Hunks); n > 0 {
			entry.Text = fmt.Sprintf("%s  −%d", whole, f.Hunks[0].OldCount)
		}
		return []rpc.Change{entry}
	case len(f.Hunks) == 0:
		switch styles := review.Styles(f.Baseline, f.Present); {
		case review.IsFolder(f.Path):
			entry.Text = decided[f.State] + f.Present.Text
		case f.Present.Opaque:
			entry.Text = whole + " (not compared: not text, or too large)"
		case f.Status == review.Modified && len(styles) > 0:
			entry.Text = decided[f.State] + strings.Join(styles, ", ")
		}
		return []rpc.Change{entry}
	}
	var list []rpc.Change
	if f.Status == review.Moved {
		list = append(list, entry)
	}
	for _, h := range f.Hunks {
		text := fmt.Sprintf("+%d −%d  %s", h.NewCount, h.OldCount, f.FirstLine(h))
		if f.Status == review.Added {
			text = "new  " + text
		}
		if text = decided[h.State] + text; !all && h.State != review.Pending {
			continue
		}
		list = append(list, rpc.Change{Path: f.Path, Line: max(h.NewStart, 1), Text: text})
	}
	return list
}
