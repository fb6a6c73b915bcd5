package buffers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// This file warns the user when Neovim will take long.

// Neovim handles no keys while it sets lines and writes files: a few tenths of a second for more than this. So the host
// writes a larger text to the disk itself, and Neovim gets only the buffer's changes.
const (
	slowBytes = 8 << 20
	slowLines = 250_000
)

func isSlow(text string) bool { return len(text) > slowBytes || strings.Count(text, "\n") > slowLines }

// warn tells the user, before Neovim gets much work, that this will take long, and what to do. steps bring a buffer to
// a text; with writes, Neovim also writes all of it.
func (f *Files) warn(ctx context.Context, path, text string, steps []undoStep, writes bool) {
	bytes, lines, longest := 0, 0, 0
	for _, step := range steps {
		for _, h := range step.Hunks {
			lines += h.removes()
			for _, l := range h.adds() {
				bytes, lines, longest = bytes+len(l)+1, lines+1, max(longest, len(l))
			}
		}
	}
	if writes {
		bytes, lines = max(bytes, len(text)), max(lines, strings.Count(text, "\n"))
	}
	if f.Slow == nil || bytes <= slowBytes && lines <= slowLines {
		return
	}
	if _, told := f.slow.LoadOrStore(path, true); told {
		return
	}
	has := fmt.Sprintf("%d lines, %.1f MB", strings.Count(text, "\n"), float64(len(text))/(1<<20))
	if longest > slowBytes {
		has = fmt.Sprintf("a line of %d MB", longest>>20)
	}
	// Short: a message that fills the line makes Neovim wait for a key.
	f.Slow(ctx, fmt.Sprintf("%s has %s: Neovim will freeze; :bdelete avoids that", filepath.Base(path), has))
}
