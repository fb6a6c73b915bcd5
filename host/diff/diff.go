// Package diff is what a change of one file looks like: from what an agent
// tells of it, and the text that the file has now, to hunks with line numbers
// and changed words. It is pure, and safe for use from any goroutine.
//
// Agents tell a change by two texts, which are the whole file or a fragment of
// it, or by a patch in Git's format, or by its name alone (the specification,
// Tool Calls, Diffs). Texts have "\n" between their lines, as [buffers.Files]
// gives them: where all lines of a text end in "\r\n", they are read so.
//
// [buffers.Files]: https://pkg.go.dev/github.com/acp-nvim/acp-nvim/buffers#Files
package diff

import "github.com/acp-nvim/acp-nvim/acp/session"

// Context is how many unchanged lines a hunk has before and after what changes.
const Context = 2

// File is the change of one file.
type File struct {
	Path      string            // as the agent named it, "" never
	OldPath   string            // before a move, or the source of a copy; else ""
	Operation session.Operation // "" never; what no text was told of is a modify

	// Located says that the place of the change in the file is known: Old and New
	// are the whole file, and line numbers are the file's. Else Old and New are
	// what the agent told, without what is around it, and line numbers are 0
	// unless the agent told those too (a patch).
	Located bool
	// Note is a sentence, without a full stop, where there is something to say of
	// the change that its lines do not show: "binary file", or that the file does
	// not have the text. Else "".
	Note string

	// Old and New are the texts before and after, for a view side by side; both
	// are "" of a file that is not text. A file that is not there before or after
	// has the text "", see Operation.
	Old, New string
	// Hunks are in the order of the file. None touches the next.
	Hunks          []Hunk
	Added, Removed int // lines
}

// Hunk is a place where a file changes, with up to [Context] lines around it.
type Hunk struct {
	// OldStart and NewStart are the 1-based numbers of the first line in the old
	// and the new text; where a side has no line in the hunk, of the line that
	// would follow. They are 0 where line numbers are not known.
	OldStart, NewStart int
	Lines              []Line
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
	// Old and New are 1-based line numbers; 0 on the side that does not have the
	// line, and where they are not known.
	Old, New int
	// Words are the bytes of Text that differ from the line it became or was, in
	// order and apart from each other, at boundaries of characters. There are
	// none where nearly all of the line differs: then the line is what changed.
	Words []Span
	// NoNewline says that the text ends with this line, without a newline.
	NoNewline bool
}

// Span is the bytes [Start, End) of a line.
type Span struct{ Start, End int }

// Told is a change as the agent told it, while the file's text is not known.
func Told(d session.Diff) File { return File{Path: d.Path} }

// Of is a change of a file whose text is now *present, nil where there is no
// such file. For a move or a copy it is the text of the old path, or of the new
// one when it has been done. What the agent told is searched in the text, also
// as it is after the change, and the way it is written there counts where only
// white space differs. hint is a line, 1-based, that is near the change, or 0;
// it decides where the text has the fragment more than once.
func Of(d session.Diff, present *string, hint int) File { return Told(d) }
