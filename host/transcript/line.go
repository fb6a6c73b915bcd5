package transcript

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/host/markdown"
	"github.com/acp-nvim/acp-nvim/host/page"
)

// Group is a highlight group; Neovim is told its number, see [Groups].
type Group int

// The groups of the chat. The first ones are the markdown groups.
const (
	User Group = Group(markdown.GroupCount) + iota
	Thought
	ToolKind
	ToolTitle
	ToolDone
	ToolRunning
	ToolWaiting
	ToolFailed
	DiffAdd
	DiffDelete
	DiffAddText
	DiffDeleteText
	DiffAdded
	DiffRemoved
	DiffLine
	DiffHunk
	Output
	More
	Plan
	PlanDone
	PlanNow
	Info
	Warning
	Error
	ShellCommand
	ShellString
	ShellOperator
	ShellVariable
	ReviewTitle
	ReviewFile
	ReviewKept
	ReviewStruck
	ReviewComment
	Ansi0 // to Ansi0+15: the terminal colours
)

var ownGroups = []string{
	"AcpUser", "AcpThought", "AcpToolKind", "AcpToolTitle", "AcpToolDone", "AcpToolRunning",
	"AcpToolWaiting", "AcpToolFailed", "AcpDiffAdd", "AcpDiffDelete",
	"AcpDiffAddText", "AcpDiffDeleteText", "AcpDiffAdded", "AcpDiffRemoved", "AcpDiffLine", "AcpDiffHunk", "AcpOutput",
	"AcpMore", "AcpPlan", "AcpPlanDone", "AcpPlanNow", "AcpInfo", "AcpWarning", "AcpError",
	"AcpShellCommand", "AcpShellString", "AcpShellOperator", "AcpShellVariable",
	"AcpReviewTitle", "AcpReviewFile", "AcpReviewKept", "AcpReviewStruck", "AcpReviewComment",
	"AcpAnsi0", "AcpAnsi1", "AcpAnsi2", "AcpAnsi3", "AcpAnsi4", "AcpAnsi5", "AcpAnsi6", "AcpAnsi7",
	"AcpAnsi8", "AcpAnsi9", "AcpAnsi10", "AcpAnsi11", "AcpAnsi12", "AcpAnsi13", "AcpAnsi14", "AcpAnsi15",
}

// Groups lists the highlight groups' names; a [Group] is an index into it.
func Groups() []string {
	var names []string
	for g := range markdown.GroupCount {
		names = append(names, "Acp"+markdown.Group(g).String())
	}
	return append(names, ownGroups...)
}

// Mark highlights the bytes [Col, EndCol) of a line.
type Mark struct {
	Col, EndCol int
	Group       Group
}

// Line is one line of the chat. Right is shown at the window's right edge and
// is no part of the text; Sign stands in the sign column.
type Line struct {
	Text       string
	Marks      []Mark
	Right      string
	RightGroup Group
	Sign       string
	SignGroup  Group
	// Lang is the language of a line of code, which begins at byte Indent.
	Lang   string
	Indent int
	// Image is the file of a picture that the line names.
	Image string
	// Place is where the line leads to; it is no part of how the line looks.
	Place Place

	source *source // of a diff
	side   byte
	tail   int      // bytes of the line that are the file's text, at its end
	before []string // text of the file that stands there, but is not shown
}

// Place is a place in a file. Line is 1-based, 0 for none. What is External is
// no text and is opened outside of Neovim.
type Place struct {
	Path     string
	Line     int
	External bool
}

// Equal tells whether two lines look the same.
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

// shift moves a line to the right by n cells.
func (l *Line) shift(n int) {
	l.Text = strings.Repeat(" ", n) + l.Text
	l.Marks = slices.Clone(l.Marks) // those of a diff are kept for the next time
	for i := range l.Marks {
		l.Marks[i].Col += n
		l.Marks[i].EndCol += n
	}
	l.Indent += n
}

// maxLine is how many bytes of a line are shown: one of a megabyte, drawn with
// all that Neovim does to a line, would slow every key.
const maxLine = 2000

// maxWords is that of a line of words: a message, a thought, a prompt. A step of the cursor takes Neovim with the
// square of it: 0.10 some 6 ms in 4 KB, 50 ms in 8 KB.
const maxWords = 4 << 10

// elsewhere says where to find all of what is shown in part.
const elsewhere = " · in a window of its own"

// shorten cuts a line that is too long, and says how much is missing.
func (l *Line) shorten() { l.shortenTo(maxLine, "") }

// shortenTo is shorten to so many bytes, and says something behind.
func (l *Line) shortenTo(limit int, more string) {
	if len(l.Text) <= limit+64 { // or it is short enough already
		return
	}
	end := limit
	for end > 0 && !utf8.RuneStart(l.Text[end]) {
		end--
	}
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
	l.add(piece{" … +" + size(missing) + more, More})
}

// add puts a piece at the end of a line.
func (l *Line) add(p piece) {
	from := len(l.Text)
	l.Text += p.text
	l.Marks = append(l.Marks, Mark{from, len(l.Text), p.group})
}

// piece is a part of a line in one colour.
type piece struct {
	text  string
	group Group
}

// plain is the group of text without a highlight.
const plain Group = -1

// line joins pieces to one line: a newline in them becomes a space.
func line(pieces ...piece) Line {
	var l Line
	for _, p := range pieces {
		from := len(l.Text)
		l.Text += strings.ReplaceAll(p.text, "\n", " ")
		if p.group != plain && p.text != "" {
			l.Marks = append(l.Marks, Mark{from, len(l.Text), p.group})
		}
	}
	return l
}

// Colored gives every line of a text one highlight.
func Colored(text string, group Group) []Line { return colored(text, "", group) }
