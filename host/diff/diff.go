// Package diff turns what an agent reports about a change of one file, and the file's present text, into hunks with
// line numbers and changed words. It is pure, and safe for use from any goroutine.
//
// Agents report a change as two texts, of the whole file or a fragment of it, as a patch in Git's format, or by its
// name only (see the specification: Tool Calls, Diffs). Texts have "\n" between their lines, as package buffers returns
// them: if all lines of a text end in "\r\n", they are converted.
package diff

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// Context is how many unchanged lines a hunk has before and after its changes.
const Context = 2

// around is how many more lines a parser gets before and after a hunk; aroundAll bounds them for all hunks.
const around, aroundAll = 40, 800

// LargestFile is the size in bytes up to which a file is read to locate or show a change of it.
const LargestFile = 64 << 20

// FileDiff is the change of one file.
type FileDiff struct {
	Path      string            // as the agent named it, "" never
	OldPath   string            // before a move, or the source of a copy; else ""
	Operation session.Operation // "" never; what no text was told of is a modify

	// Located says that the place of the change in the file is known, and that Old and New are the whole file before
	// and after the change, which need not be what the file has now. Otherwise Old and New are what the agent sent,
	// without what is around it, and lines have numbers only if it sent those too, in a patch, or if the whole is no
	// longer kept (see [File.Brief]).
	Located bool
	// Note is a sentence, without a full stop, for anything that the lines of the change do not show: "binary file", or
	// that the file does not have the text; otherwise "".
	Note string

	// Old and New are the texts before and after, for a side-by-side view, with "\n" between lines. The text of a
	// missing file is "", see Operation; both are "" if there is no text to show.
	Old, New string
	// Hunks are in the order of the file. None touches the next.
	Hunks          []Hunk
	Added, Removed int // lines
}

// Name says which file is changed, and how besides its text; short shortens a path for display.
func (f *FileDiff) Name(short func(string) string) string {
	name := short(f.Path)
	if f.OldPath != "" {
		name = short(f.OldPath) + " → " + name
	}
	switch f.Operation {
	case session.OperationAdd:
		name += " (new)"
	case session.OperationDelete:
		name += " (deleted)"
	case session.OperationCopy:
		name += " (copy)"
	}
	return name
}

// Hunk is a place where a file changes, with up to [Context] lines around it.
type Hunk struct {
	// OldStart and NewStart are the 1-based numbers of the first line in the old and the new text; if a side has no
	// line in the hunk, of the line that would follow. They are 0 if line numbers are not known.
	OldStart, NewStart int
	Lines              []Line
	// Before and After are unchanged lines next to the hunk, without newlines, which a parser needs to understand it.
	// No line is in two hunks.
	Before, After []string
}

// Kind is what a change does to a line.
type Kind int

// Kinds of lines. Among lines that change together, deleted ones come first.
const (
	Equal Kind = iota
	Delete
	Insert
)

// Line is a line of a hunk.
type Line struct {
	Kind Kind
	Text string // without "\n"; it may end in "\r" where a text has both line ends
	// Old and New are 1-based line numbers; 0 on the side that does not have the line, or if they are not known.
	Old, New int
	// Words are the bytes of Text that differ from the line it became or was, in order, not touching, at character
	// boundaries. There are none if nearly all of the line differs: then the whole line changed.
	Words []Span
	// NoNewline says that the text ends with this line, without a newline.
	NoNewline bool
}

// Span is the bytes [Start, End) of a line.
type Span struct{ Start, End int }

// Now is what is known of a file when a change is located in it.
type Now struct {
	// Text is the file's, nil if there is no such file. For a moving file, it is the text at the old path, or at the
	// new one if it has moved; for a copy, its source's.
	Text *string
	// Disk is what the disk has, if Text is unsaved, otherwise nil. Many agents read and write only the disk.
	Disk *string
	// Line, 1-based, is near the change; 0 if the agent named none. It decides if the text has a fragment more than
	// once.
	Line int
	// Done says that the agent has reported the change as made.
	Done bool
}

// Told returns a change as the agent sent it, while the file's text is not known.
func Told(d session.Diff) FileDiff {
	t := read(d)
	t.unlocated()
	return t.FileDiff
}

// Of returns a change located in its file, which is searched for the text before the change and the text after it; if
// only white space differs, the file's counts. A change that is not found is as the agent sent it, and Note says so.
func Of(d session.Diff, now Now) FileDiff {
	t := read(d)
	for _, text := range []**string{&now.Text, &now.Disk} {
		if *text != nil {
			bare, _ := bareLines(strings.TrimPrefix(**text, bom))
			*text = &bare
		}
	}
	why := t.locate(now)
	if why != "" && now.Text != nil && now.Disk != nil {
		why = t.locateOnDisk(now, why)
	}
	if why != "" {
		t.addNote(why)
		t.unlocated()
		return t.FileDiff
	}
	if t.opaque {
		return t.FileDiff
	}
	t.Located = true
	t.between(true)
	if t.Old != t.New && strings.TrimSuffix(t.Old, "\n") == strings.TrimSuffix(t.New, "\n") && t.Operation == session.OperationModify {
		t.addNote(newlineAlone)
	}
	if len(t.Hunks) == 0 && t.Note == "" {
		switch t.Operation {
		case session.OperationModify:
			t.addNote(nothingChanges)
		case session.OperationAdd, session.OperationDelete:
			t.addNote("empty file")
		}
	}
	return t.FileDiff
}

// Line returns the number of the first changed line in the text after the change, or of the line that follows removed
// ones; 0 if it is not known.
func (f FileDiff) Line() int {
	if len(f.Hunks) == 0 || f.Hunks[0].NewStart == 0 {
		return 0
	}
	h := f.Hunks[0]
	n := 0
	for n < len(h.Lines) && h.Lines[n].Kind == Equal {
		n++
	}
	return h.NewStart + n
}

// Alike reports whether two changes remove and add the same lines, ignoring surrounding white space.
func (f *FileDiff) Alike(g *FileDiff) bool {
	return slices.EqualFunc(f.changed(), g.changed(), func(a, b Line) bool {
		return a.Kind == b.Kind && strings.TrimSpace(a.Text) == strings.TrimSpace(b.Text)
	})
}

// changed returns the removed and added lines.
func (f *FileDiff) changed() (lines []Line) {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.Kind != Equal {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// Brief returns the change without the whole texts, to be kept for long: Old and New are the lines of the hunks, which
// still have their numbers. It shares no memory with f.
func (f FileDiff) Brief() FileDiff {
	return f.brief(len(f.Hunks), 0)
}

// Top returns the beginning of the change, about n lines of its hunks, otherwise like [FileDiff.Brief]; Note says so if
// there are more. Added and Removed stay.
func (f FileDiff) Top(n int) FileDiff {
	for i, h := range f.Hunks {
		if n -= len(h.Lines); n < 0 {
			f.addNote("only its beginning is kept")
			return f.brief(i+1, -n)
		}
	}
	return f.Brief()
}

// brief keeps the first n hunks, the last of them without its last lines.
func (f FileDiff) brief(n, without int) FileDiff {
	hunks := make([]Hunk, n)
	var old, text strings.Builder
	for i, h := range f.Hunks[:n] {
		if i == n-1 {
			h.Lines = h.Lines[:len(h.Lines)-without]
		}
		h.Before, h.After = nil, nil
		h.Lines = slices.Clone(h.Lines)
		hunks[i] = h
		for _, l := range h.Lines {
			if l.Kind != Insert {
				old.WriteString(l.Text + l.end())
			}
			if l.Kind != Delete {
				text.WriteString(l.Text + l.end())
			}
		}
	}
	f.Hunks, f.Old, f.New, f.Located = hunks, old.String(), text.String(), false
	// The lines are parts of these texts.
	for at, older, newer := 0, f.Old, f.New; at < len(hunks); at++ {
		for i := range hunks[at].Lines {
			l := &hunks[at].Lines[i]
			size, all := len(l.Text), len(l.Text)+len(l.end())
			if l.Kind != Delete {
				l.Text, newer = newer[:size], newer[all:]
			}
			if l.Kind != Insert {
				l.Text, older = older[:size], older[all:]
			}
			l.Words = slices.Clone(l.Words)
		}
	}
	return f
}

func (l Line) end() string {
	if l.NoNewline {
		return ""
	}
	return "\n"
}

// TextLines returns the lines of a text, without their ends.
func TextLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
