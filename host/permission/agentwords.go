package permission

import (
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file tells an agent that the user wants only a part of its change.

// How much of hunks a prompt or an error quotes.
const (
	quotedLines = 12  // of one side of a hunk
	quotedAll   = 300 // lines of all hunks
	quotedWidth = 200 // bytes of a line
	namedHunks  = 200 // with their lines
	namedPlaces = 30  // of an error
	quotedWords = 60  // bytes of them in an error
)

// partly returns the prompt that asks for only the kept hunks of a change.
func (rs *Requests) partly(title string, files []*selection) string {
	var b strings.Builder
	what := "the change that you asked about"
	if title != "" {
		what += fmt.Sprintf(" (%s)", styled.Cut(styled.OneLine(title), 200))
	}
	fmt.Fprintf(&b, "I refused %s, as I want only a part of it. Make it again with the hunks that are kept below, as you had them. "+
		"Leave out the refused ones, and put nothing else in their place.\n", what)
	quoted, named := 0, 0
	for _, k := range files {
		fmt.Fprintf(&b, "\n%s\n", rs.base.Short(k.file.Path))
		var left [2]int
		for i, h := range k.hunks {
			verdict, side := "kept", 0
			if k.refused[i] {
				verdict, side = "refused", 1
			}
			if named++; named > namedHunks {
				left[side]++
				continue
			}
			fmt.Fprintf(&b, "- %s: %s\n", verdict, placeOf(k.file, h))
			for _, part := range []struct {
				sign  string
				lines []diff.Line
			}{{"-", h.Old}, {"+", h.New}} {
				for j, l := range part.lines {
					if j == quotedLines || quoted >= quotedAll {
						fmt.Fprintf(&b, "    %s … %s more\n", part.sign, styled.Many(len(part.lines)-j, "line"))
						break
					}
					quoted++
					fmt.Fprintf(&b, "    %s %s\n", part.sign, bounded(l.Text))
				}
			}
		}
		for side, verdict := range []string{"kept", "refused"} {
			if left[side] > 0 {
				fmt.Fprintf(&b, "- %s more %s\n", styled.Many(left[side], "hunk"), verdict)
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// placeOf names where a hunk is in the present file.
func placeOf(f *diff.FileDiff, h diff.Run) string {
	switch {
	case len(h.Old) == 0 && len(h.New) == 0:
		return "all of it"
	case f.Operation == session.OperationAdd:
		return "the new file"
	case !f.Located:
		return "in the text that you gave"
	case len(h.Old) == 0:
		return fmt.Sprintf("%s before line %d", styled.Many(len(h.New), "new line"), h.OldAt)
	}
	return lineRange(h.OldAt, len(h.Old))
}

// lineRange names n lines from one on.
func lineRange(from, n int) string {
	if n <= 1 {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d-%d", from, from+n-1)
}

// bounded returns a line cut to what is quoted.
func bounded(line string) string {
	if short := styled.Cut(line, quotedWidth); short != line {
		return short + "…"
	}
	return line
}

// otherwise says where a text was not written as the agent sent it, by the lines of the agent's text, so that it need
// not guess. edited says that the user wrote something of their own; conflicts is in how many places they have unsaved
// lines where the agent has others.
func otherwise(text, written string, edited bool, conflicts int) string {
	a, b := diff.TextLines(text), diff.TextLines(written)
	var places []string
	edits := linediff.Compare(a, b)
	for i, e := range edits {
		if i == namedPlaces {
			places = append(places, fmt.Sprintf("and in %d more places", len(edits)-i))
			break
		}
		old, is := a[e.A0:e.A1], b[e.B0:e.B1]
		lines := lineRange(e.A0+1, len(old)) + " " + firstWords(old)
		switch {
		case len(old) == 0:
			lines = "at the beginning"
			if e.A0 > 0 {
				lines = fmt.Sprintf("after line %d", e.A0)
			}
			places = append(places, fmt.Sprintf("%s the file has %s more %s", lines, styled.Many(len(is), "line"), firstWords(is)))
		case len(is) == 0:
			places = append(places, lines+" not written")
		default:
			places = append(places, fmt.Sprintf("%s not written, the file has %s %s there", lines, styled.Many(len(is), "line"), firstWords(is)))
		}
	}
	unsaved := ""
	if conflicts > 0 {
		unsaved = fmt.Sprintf("in %s the user has lines of their own, and yours there were not written", styled.Many(conflicts, "place"))
	}
	const after = ". Read the file again before you change it further"
	switch {
	case text == written && conflicts > 0:
		return unsaved + after
	case len(places) == 0:
		places = []string{"the newline at its end"}
	}
	what := "the user refused a part of this text, and only the rest was written. Refused, by the lines of your text: "
	if edited {
		what = "the user changed this text before it was written, and theirs was written. Changed, by the lines of your text: "
	}
	if unsaved != "" {
		places = append(places, unsaved)
	}
	return what + strings.Join(places, "; ") + after
}

// firstWords quotes the beginning of lines.
func firstWords(lines []string) string {
	for _, l := range lines {
		if words := strings.Join(strings.Fields(l), " "); words != "" {
			short := styled.Cut(words, quotedWords)
			if short != words || len(lines) > 1 {
				short += " …"
			}
			return "(" + short + ")"
		}
	}
	return "(empty)"
}
