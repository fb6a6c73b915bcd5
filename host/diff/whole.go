package diff

import (
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// Whole returns the change of a file whose texts are both known, with "\n" between their lines.
func Whole(path string, op session.Operation, old, text string) FileDiff {
	f := FileDiff{Path: path, Operation: op}
	if binary(&old) || binary(&text) {
		f.addNote("binary file")
		return f
	}
	f.Located, f.Old, f.New = true, old, text
	f.between(true)
	switch {
	case len(f.Hunks) == 0 && op == session.OperationAdd:
		f.addNote("empty file")
	case len(f.Hunks) == 0:
		f.addNote(nothingChanges)
	case op == session.OperationModify && strings.TrimSuffix(old, "\n") == strings.TrimSuffix(text, "\n"):
		f.addNote(newlineAlone)
	}
	return f
}

// Without returns a text with the old lines in some of the places where it differs from an old text. The places are
// counted from 0, as runs of lines of [FileDiff.Hunks] with no unchanged line between them.
func Without(old, text string, refused func(place int) bool) string {
	a, b := linediff.Lines(old), linediff.Lines(text)
	var out strings.Builder
	write := func(lines []string) {
		for _, line := range lines {
			out.WriteString(line)
		}
	}
	at := 0
	for i, e := range linediff.Compare(a, b) {
		write(a[at:e.A0])
		if refused(i) {
			write(a[e.A0:e.A1])
		} else {
			write(b[e.B0:e.B1])
		}
		at = e.A1
	}
	write(a[at:])
	return out.String()
}
