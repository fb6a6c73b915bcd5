package transcript

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/markdown"
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
	Ansi0 // to Ansi0+15: the terminal colours
)

var ownGroups = []string{
	"AcpUser", "AcpThought", "AcpToolKind", "AcpToolTitle", "AcpToolDone", "AcpToolRunning",
	"AcpToolWaiting", "AcpToolFailed", "AcpDiffAdd", "AcpDiffDelete",
	"AcpDiffAddText", "AcpDiffDeleteText", "AcpDiffAdded", "AcpDiffRemoved", "AcpDiffLine", "AcpDiffHunk", "AcpOutput",
	"AcpMore", "AcpPlan", "AcpPlanDone", "AcpPlanNow", "AcpInfo", "AcpWarning", "AcpError",
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

	source *source // of a diff
	side   byte
	tail   int      // bytes of the line that are the file's text, at its end
	before []string // text of the file that stands there, but is not shown
}

func (l Line) equal(o Line) bool {
	return l.Text == o.Text && l.Right == o.Right && l.RightGroup == o.RightGroup &&
		l.Sign == o.Sign && l.SignGroup == o.SignGroup && slices.Equal(l.Marks, o.Marks)
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
