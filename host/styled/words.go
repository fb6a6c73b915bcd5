package styled

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// OneLine returns a text as one line, with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Many returns a number of things, in words.
func Many(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Thousands is a number with its digits in groups of three.
func Thousands[N int | uint64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size returns a number of bytes, in words.
func Size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20-51: // more would be written as 1024.0
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// Counts says how many lines a change adds and removes, with two spaces before each number; nothing if there are none.
func Counts(added, removed int) []Piece {
	var list []Piece
	if added > 0 {
		list = append(list, Text("  ", Plain), Text(fmt.Sprintf("+%d", added), DiffAdded))
	}
	if removed > 0 {
		list = append(list, Text("  "[min(added, 1):], Plain), Text(fmt.Sprintf("−%d", removed), DiffRemoved))
	}
	return list
}

// Relative returns a path for display: relative to a folder if it is below it.
func Relative(folder, p string) string {
	if rel, err := filepath.Rel(folder, p); err == nil && path.IsAbs(p) && rel != ".." && !strings.HasPrefix(rel, "../") {
		if strings.HasSuffix(p, "/") {
			rel += "/"
		}
		return rel
	}
	return p
}

// Cells returns how many cells of a window a text takes.
func Cells(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidthWc(s)
		}
	}
	return len(s)
}

// CellsOf is [Cells] of pieces.
func CellsOf(pieces []Piece) int {
	n := 0
	for _, p := range pieces {
		n += Cells(p.Text)
	}
	return n
}
