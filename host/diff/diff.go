// Package diff is what a change of one file looks like: from what an agent tells of it, and the text that the file has
// now, to hunks with line numbers and changed words. It is pure, and safe for use from any goroutine.
//
// Agents tell a change by two texts, which are the whole file or a fragment of it, or by a patch in Git's format, or by
// its name alone (the specification, Tool Calls, Diffs). Texts have "\n" between their lines, as package buffers gives
// them: where all lines of a text end in "\r\n", they are read so.
package diff

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// Context is how many unchanged lines a hunk has before and after what changes.
const Context = 2

// around is how many more lines a parser gets before and after a hunk; where there are many hunks, that many for all.
const around, aroundAll = 40, 800

// LargestFile is the size in bytes up to which a file is read to find or to show a change of it.
const LargestFile = 64 << 20

// File is the change of one file.
type File struct {
	Path      string            // as the agent named it, "" never
	OldPath   string            // before a move, or the source of a copy; else ""
	Operation session.Operation // "" never; what no text was told of is a modify

	// Located says that the place of the change in the file is known, and that Old and New are the whole file: before
	// the change and after it, which need not be what the file has now. Else Old and New are what the agent told,
	// without what is around it, and lines have numbers only where it told those too, by a patch, or where the whole is
	// kept no more (see [File.Brief]).
	Located bool
	// Note is a sentence, without a full stop, where there is something to say of the change that its lines do not
	// show: "binary file", or that the file does not have the text. Else "".
	Note string

	// Old and New are the texts before and after, for a view side by side, with "\n" between lines. A file that is not
	// there before or after has the text "", see Operation; and so have both where there is no text to show.
	Old, New string
	// Hunks are in the order of the file. None touches the next.
	Hunks          []Hunk
	Added, Removed int // lines
}

// Name says what the change is of, and what it does beside changing the text; short makes of a path what is shown.
func (f *File) Name(short func(string) string) string {
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
	// OldStart and NewStart are the 1-based numbers of the first line in the old and the new text; where a side has no
	// line in the hunk, of the line that would follow. They are 0 where line numbers are not known.
	OldStart, NewStart int
	Lines              []Line
	// Before and After are unchanged lines next to those, without newlines, which
	// a parser needs to understand them. No line is in two hunks.
	Before, After []string
}

// Kind is what a change does to a line.
type Kind int

// Kinds of lines. Of lines that change together those deleted come first.
const (
	Equal Kind = iota
	Delete
	Insert
)

// Line is a line of a hunk.
type Line struct {
	Kind Kind
	Text string // without "\n"; it may end in "\r" where a text has both line ends
	// Old and New are 1-based line numbers; 0 on the side that does not have the line, and where they are not known.
	Old, New int
	// Words are the bytes of Text that differ from the line it became or was, in order and apart from each other, at
	// boundaries of characters. There are none where nearly all of the line differs: then the line is what changed.
	Words []Span
	// NoNewline says that the text ends with this line, without a newline.
	NoNewline bool
}

// Span is the bytes [Start, End) of a line.
type Span struct{ Start, End int }

// Now is what is known of a file when its change is looked for in it.
type Now struct {
	// Text is the file's, nil where there is no such file. Of a file that moves, it is the text at the old path, or at
	// the new one when it has moved; of a copy, that of its source.
	Text *string
	// Disk is what the disk has of it, where Text has what is unsaved there; else
	// nil. Many agents read and write that alone.
	Disk *string
	// Line, 1-based, is near the change; 0 where the agent named none. It decides
	// where the text has a fragment more than once.
	Line int
	// Done says that the agent has reported the change as made.
	Done bool
}

// Told is a change as the agent told it, while the file's text is not known.
func Told(d session.Diff) File {
	t := read(d)
	t.unlocated()
	return t.File
}

// Of is a change with its place in the file. It is searched there as it was before the change and as it is after; where
// only white space differs, what the file has counts. What is not found is as the agent told it, and Note says so.
func Of(d session.Diff, now Now) File {
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
		t.say(why)
		t.unlocated()
		return t.File
	}
	if t.opaque {
		return t.File
	}
	t.Located = true
	t.between(true)
	if t.Old != t.New && strings.TrimSuffix(t.Old, "\n") == strings.TrimSuffix(t.New, "\n") && t.Operation == session.OperationModify {
		t.say(newlineAlone)
	}
	if len(t.Hunks) == 0 && t.Note == "" {
		switch t.Operation {
		case session.OperationModify:
			t.say(nothingChanges)
		case session.OperationAdd, session.OperationDelete:
			t.say("empty file")
		}
	}
	return t.File
}

// Line is the number of the first changed line in the text after the change, or
// of the line that follows where lines were removed; 0 where it is not known.
func (f File) Line() int {
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

// Alike reports whether two changes remove and add the same lines, but for white space around them.
func (f *File) Alike(g *File) bool {
	return slices.EqualFunc(f.changed(), g.changed(), func(a, b Line) bool {
		return a.Kind == b.Kind && strings.TrimSpace(a.Text) == strings.TrimSpace(b.Text)
	})
}

// changed are the lines that are removed and added.
func (f *File) changed() (lines []Line) {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.Kind != Equal {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// Brief is the change without the whole texts, for what is kept long: Old and New are the lines of the hunks, which
// still have their numbers. It shares no memory with f.
func (f File) Brief() File {
	return f.brief(len(f.Hunks), 0)
}

// Top is the beginning of the change, about n lines of its hunks, and else as
// [File.Brief]; Note says so where there are more. Added and Removed stay.
func (f File) Top(n int) File {
	for i, h := range f.Hunks {
		if n -= len(h.Lines); n < 0 {
			f.say("only its beginning is kept")
			return f.brief(i+1, -n)
		}
	}
	return f.Brief()
}

// brief keeps the first n hunks, the last of them without its last lines.
func (f File) brief(n, without int) File {
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

// TextLines are the lines of a text, without their ends.
func TextLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
