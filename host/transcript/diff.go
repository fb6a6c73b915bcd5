package transcript

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// fileChange is a change with the lines that show it: they are rendered once, not at each tick of a clock.
type fileChange struct {
	*diff.FileDiff
	named bool          // the name of the file is shown above it
	only  bool          // the call changes nothing else
	lines []styled.Line // as many as were to be shown
	limit int
	more  int
}

// diffsOf returns the changes of a call, reusing what is known of unchanged ones.
func (t *Transcript) diffsOf(c *session.ToolCall, known []fileChange) []fileChange {
	files := t.config.Files(c)
	if len(files) == 0 {
		return nil
	}
	changes := make([]fileChange, len(files))
	for i, f := range files {
		if at := slices.IndexFunc(known, func(k fileChange) bool { return k.FileDiff == f }); at >= 0 {
			changes[i] = known[at]
		} else {
			changes[i] = fileChange{FileDiff: f}
		}
		changes[i].only = len(files) == 1
		changes[i].named = len(files) > 1 && (i == 0 || files[i-1].Path != f.Path) ||
			f.Operation != session.OperationModify || f.OldPath != ""
	}
	return changes
}

// diffBody shows a change: its beginning, or all if the block is open.
func (t *Transcript) diffBody(b *block, d *fileChange) []styled.Line {
	limit := previewDiff
	if b.open == opened {
		limit = 1 << 30
	}
	if d.lines == nil || d.limit != limit {
		d.lines, d.more = styled.Diff(d.FileDiff, "    ", limit)
		d.limit = limit
	}
	var lines []styled.Line
	if name := "    " + d.Name(t.relative); d.only && d.named {
		lines = append(lines, styled.FileHead(name, 0, 0)) // the head says how much
	} else if d.named {
		lines = append(lines, styled.FileHead(name, d.Added, d.Removed))
	}
	if d.more == 0 {
		return append(lines, d.lines...)
	}
	last := len(d.lines) - 1
	return append(append(lines, d.lines[:last]...), styled.MoreLine(d.more+1))
}
