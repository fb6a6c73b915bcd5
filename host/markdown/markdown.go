// Package markdown computes highlights for markdown that streams in and is shown byte for byte as it came.
//
// The work is split in two. A scanner of our own (blocks.go) walks the lines once and finds their block structure:
// quotes, lists, fences, tables, headings. What remains are short runs of inline text, which goldmark parses
// (inline.go). A run never crosses a blank line or a table cell, or exceeds maxUnit bytes, and where runs begin and end
// depends only on the text; so the work is linear in the text, and the highlights do not depend on how the text was cut
// into chunks.
package markdown

import (
	"cmp"
	"slices"
	"strings"
)

// maxLine is how many bytes of a line are looked at; what comes after them is not highlighted, except that CodeBlock
// spans always cover the whole line.
const maxLine = 4096

// Group says what a span is. Where two spans cover the same bytes, the one
// whose group comes first here is the outer one.
type Group uint8

const (
	Quote Group = iota
	Heading1
	Heading2
	Heading3
	Heading4
	Heading5
	Heading6
	TableHeader // the text of a cell in a table's first row
	TableSep    // a pipe, or the row under a table's header
	Rule        // a thematic break
	ListMarker  // "-", "1."
	TaskOpen    // "[ ]"
	TaskDone    // "[x]"
	Link        // the text of a link or image
	URL
	Bold
	Italic
	Strikethrough
	Code      // inline, with its backticks
	HTML      // a line of an HTML block, or an inline tag
	Fence     // the line that opens or closes a fenced block
	CodeBlock // a line of code, in a fence or indented

	GroupCount // how many groups there are
)

var groupNames = [...]string{
	Quote: "Quote", Heading1: "Heading1", Heading2: "Heading2", Heading3: "Heading3",
	Heading4: "Heading4", Heading5: "Heading5", Heading6: "Heading6",
	TableHeader: "TableHeader", TableSep: "TableSep", Rule: "Rule",
	ListMarker: "ListMarker", TaskOpen: "TaskOpen", TaskDone: "TaskDone",
	Link: "Link", URL: "URL", Bold: "Bold", Italic: "Italic",
	Strikethrough: "Strikethrough", Code: "Code", HTML: "HTML",
	Fence: "Fence", CodeBlock: "CodeBlock",
}

// String returns the name of the highlight group, without a prefix.
func (g Group) String() string { return groupNames[g] }

// ToEOL reports whether the group is meant for the line up to the window's
// edge (hl_eol). Only spans of such groups may be empty.
func (g Group) ToEOL() bool { return g == Fence || g == CodeBlock }

// Span is a highlight within one line.
type Span struct {
	Line        int // 0-based, in the document
	Col, EndCol int // bytes in the line, EndCol exclusive
	Group       Group
}

func compareSpans(a, b Span) int {
	return cmp.Or(
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Col, b.Col),
		cmp.Compare(b.EndCol, a.EndCol), // the outer one first
		cmp.Compare(a.Group, b.Group),
	)
}

// CodeFence is a completed fenced block outside of quotes, whose code can be highlighted by its language. (In a quote
// the lines carry markers that are not code.)
type CodeFence struct {
	Line, EndLine int    // the lines of code are [Line, EndLine)
	Lang          string // first word of the info string, as written; may be empty
}

// Document is a markdown text that grows at its end. The zero value is an
// empty document. It is not safe for concurrent use.
type Document struct {
	blocks   blocks // has seen all complete lines
	probe    blocks // scratch: goes on from blocks over the incomplete line
	partial  []byte // the incomplete last line, at most maxLine bytes of it
	size     int    // the full length of that line
	newlines int
	from     int  // where the next Highlight starts
	changed  bool // since the last Highlight
}

// Append adds text at the end. It must not be called after End.
func (d *Document) Append(text string) {
	for text != "" {
		part, rest, ended := strings.Cut(text, "\n")
		if d.size <= maxLine || d.blocks.leaf == leafFence {
			d.changed = true // else: beyond what is looked at
		}
		d.partial = append(d.partial, part[:min(len(part), maxLine-len(d.partial))]...)
		d.size += len(part)
		if ended {
			d.endLine()
			d.newlines++
		}
		text = rest
	}
}

// End says that the text is complete: its last line needs no newline any more, and an open fence ends here.
func (d *Document) End() {
	if d.size > 0 {
		d.endLine()
	}
	d.blocks.closeLeaf()
	d.changed = true
}

func (d *Document) endLine() {
	d.blocks.add(d.partial, d.size)
	d.partial, d.size = d.partial[:0], 0
	d.changed = true
}

// Lines returns the number of lines of the text split at "\n": 1 for an empty
// text, and a newline at the end begins one more line.
func (d *Document) Lines() int { return d.newlines + 1 }

// Highlight returns what changed since it was called last: all highlights from line from on, sorted by line and column,
// an outer span before the spans in it, and the fenced blocks that were completed. Lines before from keep the
// highlights they have. If nothing changed, from is Lines(). The caller owns the slices.
func (d *Document) Highlight() (from int, spans []Span, fences []CodeFence) {
	if !d.changed {
		return d.Lines(), nil, nil
	}
	d.changed = false

	// The open block and the incomplete line, as if the text ended here.
	fences = d.blocks.fences
	p := &d.probe
	p.copyFrom(&d.blocks)
	if d.size > 0 {
		p.partial = true
		p.add(d.partial, d.size)
	}
	p.closeLeaf()
	p.parse()
	d.blocks.parsed = p.parsed

	from, d.from = d.from, d.blocks.settled()
	slices.SortFunc(p.out, compareSpans)
	return from, p.out, fences
}

// FenceFor returns a fence for a text as code, which may contain fences itself.
func FenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
