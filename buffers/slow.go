package buffers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// This file has what Neovim takes long for.

// A buffer with a larger text stops Neovim for some tenths of a second when it takes a change: Neovim sets lines and
// writes files without a look at its keys. A file that no buffer shows is written by the host.
const (
	slowBytes = 8 << 20
	slowLines = 250_000
)

// warn tells the user, before Neovim is given a text for a buffer, that this takes long, and what to do.
func (f *Files) warn(ctx context.Context, path, text string) {
	lines := strings.Count(text, "\n")
	if f.Slow == nil || len(text) <= slowBytes && lines <= slowLines {
		return
	}
	if _, told := f.slow.LoadOrStore(path, true); told {
		return
	}
	longest := 0
	for l := range strings.Lines(text) {
		longest = max(longest, len(l))
	}
	has := fmt.Sprintf("%d lines, %.1f MB", lines, float64(len(text))/(1<<20))
	if longest > slowBytes {
		has = fmt.Sprintf("a line of %d MB", longest>>20)
	}
	// In few words: a message that fills the line asks for a key.
	f.Slow(ctx, fmt.Sprintf("%s has %s: Neovim will freeze; :bdelete avoids that", filepath.Base(path), has))
}
