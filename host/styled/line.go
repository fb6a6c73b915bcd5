// Package styled is text as a window shows it: pieces and lines with their highlights, and what all pages show in the
// same way: a line of a file's change, a command, markdown, a count. It is pure, and does not know what the text is
// about.
package styled

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/page"
)

// Mark highlights the bytes [Col, EndCol) of a line.
type Mark struct {
	Col, EndCol int
	Group       Group
}

// Line is one line of a page. Right is shown at the window's right edge and is not part of the text; Sign is shown in
// the sign column.
type Line struct {
	Text       string
	Marks      []Mark
	Right      string
	RightGroup Group
	Sign       string
	SignGroup  Group
	// Lang is the language of a line of code. It begins at byte Indent, and so does the text of a line with a Side.
	Lang   string
	Indent int
	// Side is the side of the file's change that the line shows, see [NoSide]; 0 if it shows none.
	Side byte
	// Image is the file of a picture that the line names.
	Image string
	// Place is what the line refers to; it is not part of the line's look.
	Place Place

	source *source  // of a line with a Side
	before []string // text of the file before it that is not shown
}

// Place is a place in a file. Line is 1-based, 0 for none. An External file is not text and is opened outside Neovim.
type Place struct {
	Path     string
	Line     int
	External bool
}

// Equal reports whether two lines look the same.
func (l Line) Equal(o Line) bool {
	return l.Text == o.Text && l.Right == o.Right && l.RightGroup == o.RightGroup &&
		l.Sign == o.Sign && l.SignGroup == o.SignGroup && l.Lang == o.Lang && l.Indent == o.Indent &&
		l.Image == o.Image && slices.Equal(l.Marks, o.Marks)
}

// Draw adds the line to an edit, at a row of the buffer.
func (l Line) Draw(e *page.Edit, row int) {
	e.Lines = append(e.Lines, l.Text)
	for _, m := range l.Marks {
		e.Marks = append(e.Marks, row, m.Col, m.EndCol, int(m.Group))
	}
	if l.Right != "" || l.Sign != "" {
		e.Decor = append(e.Decor, page.Decor{Row: row, Right: l.Right, RightGroup: int(l.RightGroup), Sign: l.Sign, SignGroup: int(l.SignGroup)})
	}
	if l.Image != "" {
		e.Images = append(e.Images, page.Image{Row: row, Path: l.Image})
	}
}

// Shift moves a line to the right by n cells.
func (l *Line) Shift(n int) {
	l.Text = strings.Repeat(" ", n) + l.Text
	l.Marks = slices.Clone(l.Marks) // those of a diff are kept for the next time
	for i := range l.Marks {
		l.Marks[i].Col += n
		l.Marks[i].EndCol += n
	}
	l.Indent += n
}

// Shorten cuts a line that has many more than limit bytes, and says how much is missing, followed by more.
func (l *Line) Shorten(limit int, more string) {
	if len(l.Text) <= limit+64 { // or it is short enough already
		return
	}
	end := Boundary(l.Text, limit)
	missing := len(l.Text) - end
	l.Text = l.Text[:end]
	var marks []Mark
	for _, m := range l.Marks {
		if m.Col < end {
			m.EndCol = min(m.EndCol, end)
			marks = append(marks, m)
		}
	}
	l.Marks = marks
	l.Add(Text(" … +"+Size(missing)+more, More))
}

// Piece is a part of a line in one colour.
type Piece struct {
	Text  string
	Group Group
}

// Text is a piece of a line; its group is [Plain] for one without a highlight.
func Text(text string, group Group) Piece { return Piece{text, group} }

// Join makes one line from pieces.
func Join(pieces ...Piece) Line {
	var l Line
	for _, p := range pieces {
		l.Add(p)
	}
	return l
}

// Add puts a piece at the end of a line; a newline in it becomes a space.
func (l *Line) Add(p Piece) {
	from := len(l.Text)
	l.Text += strings.ReplaceAll(p.Text, "\n", " ")
	l.mark(from, len(l.Text), p.Group)
}

// mark highlights bytes of the line, unless the group is [Plain].
func (l *Line) mark(from, to int, group Group) {
	if group != Plain && from < to {
		l.Marks = append(l.Marks, Mark{from, to, group})
	}
}

// Colored gives every line of a text one highlight.
func Colored(text string, group Group) []Line { return Prefixed(text, "", group) }

// Prefixed is [Colored], with something before each line.
func Prefixed(text, prefix string, group Group) []Line {
	list := plainLines(strings.TrimRight(text, "\n"))
	for i := range list {
		list[i] = Join(Text(prefix+list[i].Text, group))
	}
	return list
}

// plainLines returns a text without highlights.
func plainLines(text string) []Line {
	parts := strings.Split(text, "\n")
	list := make([]Line, len(parts))
	for i, p := range parts {
		list[i].Text = p
	}
	return list
}
