package styled

import "github.com/acp-nvim/acp-nvim/host/markdown"

// Group is a highlight group; Neovim is told its number, see [Groups].
type Group int

// Plain is the group of text without a highlight.
const Plain Group = -1

// The groups of chat and review. The first ones are the markdown groups.
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
