package buffers

import "github.com/acp-nvim/acp-nvim/buffers/linediff"

// change says that lines Start to End (0-based, exclusive) of an old text are replaced by Lines.
type change struct {
	Start, End int
	Lines      []string
}

// changes returns what makes the lines text of old, in order, none touching the next.
func changes(old, text []string) []change {
	var list []change
	for _, e := range linediff.Compare(old, text) {
		list = append(list, change{e.A0, e.A1, text[e.B0:e.B1:e.B1]})
	}
	return list
}
