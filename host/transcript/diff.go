package transcript

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 2

// DiffLines is a change as unified hunks, without file names. Text of the
// file stands behind indent and a sign.
func DiffLines(d session.Diff, indent string) []Line { return diffLines(unified(d), indent) }

func diffLines(hunks []*udiff.Hunk, indent string) []Line {
	var lines []Line
	for i, h := range hunks {
		if i > 0 {
			lines = append(lines, line(piece{indent + "⋯", DiffHunk}))
		}
		at := h.ToLine
		for _, l := range h.Lines {
			sign, group := "  ", plain
			switch l.Kind {
			case udiff.Insert:
				sign, group = "+ ", DiffAdd
			case udiff.Delete:
				sign, group = "- ", DiffDelete
			}
			text := strings.TrimSuffix(l.Content, "\n")
			lines = append(lines, line(piece{indent, plain}, piece{sign + text, group}))
			lines[len(lines)-1].Place.Line = at
			if l.Kind != udiff.Delete {
				at++
			}
		}
	}
	return lines
}

// DiffCount counts the lines a change adds and removes.
func DiffCount(d session.Diff) (added, removed int) { return countLines(unified(d)) }

func countLines(hunks []*udiff.Hunk) (added, removed int) {
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	return added, removed
}

// diff is a change with what was computed of it: that is too much work for each
// tick of a clock.
type diff struct {
	session.Diff
	lines          []Line
	added, removed int
}

// diffsOf are the changes of a call, computed where they are not known yet.
func diffsOf(c *session.ToolCall, known []diff) []diff {
	var diffs []diff
	for _, item := range c.Content {
		d, ok := item.(session.Diff)
		if !ok {
			continue
		}
		at := slices.IndexFunc(known, func(k diff) bool { return k.Diff == d })
		if at >= 0 {
			diffs = append(diffs, known[at])
			continue
		}
		hunks := unified(d)
		added, removed := countLines(hunks)
		diffs = append(diffs, diff{d, diffLines(hunks, "    "), added, removed})
	}
	return diffs
}

func unified(d session.Diff) []*udiff.Hunk {
	old, text := "", ""
	if d.OldText != nil {
		old = *d.OldText
	}
	if d.NewText != nil {
		text = *d.NewText
	}
	edits := udiff.Lines(old, text)
	u, err := udiff.ToUnifiedDiff("", "", old, edits, contextLines)
	if err != nil {
		return nil // edits of our own making are consistent
	}
	return u.Hunks
}
