package ledger

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
)

// touched is what a tool call says of the files that it changes. Paths are absolute.
type touched struct {
	paths []string
	moves [][2]string // from, to; both are in paths too
	diffs []session.Diff
	lines map[string]int // of the locations, counted from 1
}

// touchedBy reads a call; absolute completes a path, or says that it is none of this computer.
func touchedBy(call *session.ToolCall, absolute func(string) (string, bool)) touched {
	files := call.Files()
	t := touched{paths: session.AllAbsolute(files.Changed, absolute)}
	moved := map[[2]string]bool{}
	for _, m := range files.Moves {
		from, here := absolute(m[0])
		to, there := absolute(m[1])
		if pair := [2]string{from, to}; here && there && from != to && !moved[pair] {
			moved[pair] = true
			t.moves = append(t.moves, pair)
		}
	}
	for _, item := range call.Content {
		if d, ok := item.(session.Diff); ok {
			if d.Path, ok = absolute(d.Path); ok {
				t.diffs = append(t.diffs, d)
			}
		}
	}
	for _, l := range call.Locations {
		if path, ok := absolute(l.Path); ok && l.Line > 0 {
			if t.lines == nil {
				t.lines = map[string]int{}
			}
			t.lines[path] = l.Line
		}
	}
	return t
}
