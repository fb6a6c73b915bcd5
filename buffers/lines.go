package buffers

import "github.com/acp-nvim/acp-nvim/buffers/linediff"

// hunk says that lines Start to End (0-based, exclusive) of an old text are replaced by Lines.
type hunk struct {
	Start, End int
	Lines      []string
}

// hunksOf returns the hunks that turn the lines old into text, in order, none touching the next.
func hunksOf(old, text []string) []hunk {
	var list []hunk
	for _, e := range linediff.Compare(old, text) {
		list = append(list, hunk{e.A0, e.A1, text[e.B0:e.B1:e.B1]})
	}
	return list
}
