package reviewui

import (
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/review"
)

// ListPending passes the changes that await review to done, a line for each, without private files; private says which
// paths are. Both functions are called on any goroutine, as this may be.
func (r *Review) ListPending(private func(paths []string) map[string]bool, done func([]string)) {
	r.config.Ledger.Files(func(files []review.File) {
		var lines, paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		private := private(paths)
		for _, f := range files {
			if f.State != review.Pending || private[f.Path] {
				continue
			}
			line := fmt.Sprintf("%s (%s)", r.config.Short(f.Path), f.Status)
			for _, h := range f.Hunks {
				if h.State == review.Pending {
					line += fmt.Sprintf(" line %d: +%d -%d;", max(h.NewStart, 1), h.NewCount, h.OldCount)
				}
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		done(lines)
	})
}
