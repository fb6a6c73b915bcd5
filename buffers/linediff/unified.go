package linediff

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Unified returns the changes from one text to another as a unified diff with three lines of context; from and to are
// the names in its header. It is empty if nothing changes.
func Unified(from, to, old, text string) (string, error) {
	was, is := Lines(old), Lines(text)
	starts := make([]int, len(was)+1)
	for i, l := range was {
		starts[i+1] = starts[i] + len(l)
	}
	var edits []udiff.Edit
	for _, e := range Compare(was, is) {
		edits = append(edits, udiff.Edit{Start: starts[e.A0], End: starts[e.A1], New: strings.Join(is[e.B0:e.B1], "")})
	}
	patch, err := udiff.ToUnified(from, to, old, edits, 3)
	if err != nil {
		return "", fmt.Errorf("write a diff of %s: %w", to, err)
	}
	return patch, nil
}

// Lines returns the lines of a text with their newlines; the last may have none.
func Lines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}
