package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// listChanges gives Lua what the quickfix list shows of the record, brought up to date: all, or what is to be
// decided.
func (s *Session) listChanges(all bool, callback int) {
	s.ledger.Files(func(files []review.File) {
		slices.SortFunc(files, func(a, b review.File) int { return cmp.Compare(a.Path, b.Path) })
		items := []rpc.Change{}
		for _, f := range files {
			items = append(items, entries(f, all)...)
		}
		failure := ""
		if len(items) == 0 && len(files) > 0 {
			failure = "all changes are decided: :Acp changes all lists them"
		}
		s.base.Box.Put(func() { s.base.Editor.Answer(callback, items, failure) })
	})
}

// entries are the lines of the quickfix list about a file: all, or what is to be decided.
func entries(f review.File, all bool) []rpc.Change {
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
		case f.Present.Opaque:
			entry.Text = whole + " (not compared: no text, or too large)"
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

// mirrorFile is a file as Lua keeps it; of each hunk its four numbers, and its state by a letter.
func mirrorFile(f review.File) *rpc.ChangedFile {
	hunks := make([]int, 0, 4*len(f.Hunks))
	states := make([]byte, len(f.Hunks))
	for i, h := range f.Hunks {
		hunks = append(hunks, h.OldStart, h.OldCount, h.NewStart, h.NewCount)
		states[i] = h.State[0]
	}
	return &rpc.ChangedFile{
		Path: f.Path, OldPath: f.OldPath, Status: string(f.Status), State: string(f.State), Hunks: hunks, States: string(states),
	}
}
