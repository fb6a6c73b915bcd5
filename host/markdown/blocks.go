package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep quotes and list items nest; markers beyond it are plain text.
const maxDepth = 32

// container is a quote or a list item that is open.
type container struct {
	quote bool
	width int  // item: by how many columns its content is indented
	bare  bool // item: nothing is in it so far
}

type leaf uint8

const (
	leafNone      leaf = iota
	leafParagraph      // buffered in unit
	leafTable          // buffered in unit, cell by cell
	leafIndented       // indented code
	leafFence
	leafHTML
)

// blocks scans lines and keeps the block structure at the end of what it has seen. Finished highlights go to out; those
// of a paragraph or of table rows wait in pending until the block (or the unit, if it gets too large) ends, because
// what follows can still change them.
type blocks struct {
	line       int  // the line being scanned, or the next one
	partial    bool // that line is incomplete: "-" underlines nothing yet
	containers [maxDepth]container
	depth      int

	leaf      leaf
	unit      unit
	pending   []Span // of the unit's lines: markers, pipes
	fenceChar byte
	fenceSize int
	fence     CodeFence
	html      htmlKind

	here   []Span // of the line being scanned: markers, pipes
	ready  batch  // complete units, not parsed so far
	out    []Span
	fences []CodeFence
	parsed int // bytes given to goldmark so far
}

// copyFrom makes b continue where o is, and takes over its pending output. What o goes on using is copied.
func (b *blocks) copyFrom(o *blocks) {
	text, lines, pending, here := b.unit.text, b.unit.lines, b.pending, b.here
	spare := b.ready
	spare.reset()
	*b = *o
	b.unit.text = append(text[:0], o.unit.text...)
	b.unit.lines = append(lines[:0], o.unit.lines...)
	b.pending = append(pending[:0], o.pending...)
	b.here = here[:0]
	o.ready, o.out, o.fences = spare, nil, nil
}

// settled returns the first line whose highlights may still change.
func (b *blocks) settled() int {
	if len(b.unit.lines) > 0 {
		return b.unit.lines[0].line
	}
	return b.line
}

// add scans the next line: text is its first maxLine bytes at most, size its full length.
func (b *blocks) add(text []byte, size int) {
	end := size
	if len(text) < size {
		text = trimPartialRune(text)
	} else if bytes.HasSuffix(text, []byte{'\r'}) {
		end--
	}
	c := cursor{text: bytes.TrimRight(text, " \t\r")}
	b.here = b.here[:0]
	quoteCol := b.scan(&c, end)

	if b.inQuote() {
		if quoteCol < 0 { // a lazy continuation line has no marker
			quoteCol = (&cursor{text: c.text}).next()
		}
		b.mark(quoteCol, len(c.text), Quote)
	}
	if len(b.unit.lines) > 0 { // this line is one of them
		b.pending = append(b.pending, b.here...)
	} else {
		b.out = append(b.out, b.here...)
	}
	b.line++
}

// scan does the work of add and returns the column of the line's first quote marker, or -1.
func (b *blocks) scan(c *cursor, end int) (quoteCol int) {
	matched, quoteCol := b.match(c)
	if b.leaf == leafFence || b.leaf == leafHTML {
		if matched == b.depth && b.continueRaw(c, end) {
			return quoteCol
		}
		b.closeTo(matched)
	}
	if c.blank() {
		b.closeTo(matched)
		return quoteCol
	}

	for matched < maxDepth { // containers that begin in this line
		indent, col := c.indent(), c.next()
		if indent > 3 {
			break
		}
		if c.rest()[0] == '>' {
			b.closeTo(matched)
			b.open(container{quote: true})
			if quoteCol < 0 {
				quoteCol = col
			}
			c.take(1)
			c.skip(1)
		} else {
			marker := listMarker(c.rest())
			if marker == 0 || isRule(c.rest()) {
				break
			}
			if b.leaf == leafParagraph && matched == b.depth && !interrupts(c.rest(), marker) {
				break
			}
			b.closeTo(matched)
			c.take(marker)
			b.mark(col, c.pos, ListMarker)
			bare, gap := c.blank(), c.indent()
			if bare || gap > 4 {
				gap = 1 // the rest of the gap belongs to the content
			}
			b.open(container{width: indent + marker + gap, bare: bare})
			c.skip(gap)
			if b.task(c) {
				return quoteCol
			}
		}
		matched = b.depth
		if c.blank() {
			return quoteCol
		}
	}
	b.scanLeaf(c, matched)
	return quoteCol
}

// match goes past the markers and indents of the open containers and returns how many of them go on in this line.
func (b *blocks) match(c *cursor) (matched, quoteCol int) {
	quoteCol = -1
	for ; matched < b.depth; matched++ {
		k := &b.containers[matched]
		switch {
		case k.quote:
			if c.blank() || c.indent() > 3 || c.rest()[0] != '>' {
				return matched, quoteCol
			}
			if quoteCol < 0 {
				quoteCol = c.next()
			}
			c.take(1)
			c.skip(1)
		case c.blank():
			if k.bare {
				return matched, quoteCol
			}
		case c.indent() >= k.width:
			c.skip(k.width)
			k.bare = false
		default:
			return matched, quoteCol
		}
	}
	return matched, quoteCol
}

// continueRaw scans a line inside a fence or an HTML block. It returns false if the block had ended before this line.
func (b *blocks) continueRaw(c *cursor, end int) bool {
	if b.leaf == leafHTML {
		if c.blank() && b.html.endsAtBlank() {
			return false
		}
		b.scanHTML(c)
		return true
	}
	if char, size := fenceRun(c.rest()); char == b.fenceChar && size >= b.fenceSize &&
		size == len(c.rest()) && c.indent() <= 3 {
		b.mark(c.next(), len(c.text), Fence)
		b.closeLeaf()
		return true
	}
	b.mark(c.pos, end, CodeBlock)
	return true
}

func (b *blocks) scanHTML(c *cursor) {
	b.mark(c.next(), len(c.text), HTML)
	if b.html.endsIn(c.rest()) {
		b.leaf = leafNone
	} else {
		b.leaf = leafHTML
	}
}

// scanLeaf scans what follows the containers of a line, which is not blank. If matched is less than depth, it can only
// be a lazy continuation line of the open paragraph, or it ends the containers that were not matched.
func (b *blocks) scanLeaf(c *cursor, matched int) {
	rest, col := c.rest(), c.next()
	whole := matched == b.depth
	if c.indent() > 3 {
		if b.leaf != leafParagraph {
			if b.leaf != leafIndented || !whole {
				b.closeTo(matched)
			}
			b.leaf = leafIndented
			b.mark(col, len(c.text), CodeBlock)
			return
		}
	} else if b.scanLine(c, matched) {
		return
	}

	switch {
	case b.leaf == leafParagraph && whole && b.startTable(rest, col):
	case b.leaf == leafParagraph:
		b.unitFor(len(rest))
		b.unit.add(rest, b.line, col)
	case b.leaf == leafTable && whole:
		b.unitFor(len(rest))
		b.row(rest, col, b.line, false)
	default:
		b.closeTo(matched)
		b.leaf = leafParagraph
		b.unit.add(rest, b.line, col)
	}
}

// scanLine scans the blocks that are known by their first line. It returns false if the line is plain text.
func (b *blocks) scanLine(c *cursor, matched int) bool {
	rest, col := c.rest(), c.next()
	if b.leaf == leafParagraph && matched == b.depth && !b.partial {
		if level := underline(rest); level > 0 {
			heading := Heading1 + Group(level-1)
			for _, l := range b.unit.lines {
				b.pending = append(b.pending, Span{l.line, l.col, l.col + l.size, heading})
			}
			b.closeLeaf()
			b.mark(col, len(c.text), heading)
			return true
		}
	}
	switch rest[0] {
	case '#':
		level := len(rest) - len(bytes.TrimLeft(rest, "#"))
		if level > 6 || level < len(rest) && rest[level] != ' ' && rest[level] != '\t' {
			return false
		}
		b.closeTo(matched)
		b.mark(col, len(c.text), Heading1+Group(level-1))
		b.unit.add(rest, b.line, col)
		b.flush()
		return true
	case '`', '~':
		char, size := fenceRun(rest)
		info := rest[size:]
		if size < 3 || char == '`' && bytes.IndexByte(info, '`') >= 0 {
			return false
		}
		b.closeTo(matched)
		lang, _, _ := strings.Cut(strings.TrimLeft(string(info), " \t"), " ")
		b.leaf, b.fenceChar, b.fenceSize = leafFence, char, size
		b.fence = CodeFence{Line: b.line + 1, Lang: lang}
		b.mark(col, len(c.text), Fence)
		return true
	case '<':
		kind := b.htmlKind(rest)
		if kind == 0 || kind.needsBlank() && b.leaf == leafParagraph {
			return false
		}
		b.closeTo(matched)
		b.html = kind
		b.scanHTML(c)
		return true
	}
	if !isRule(rest) {
		return false
	}
	b.closeTo(matched)
	b.mark(col, len(c.text), Rule)
	return true
}

// task scans the box at the beginning of a list item, with the text after it.
func (b *blocks) task(c *cursor) bool {
	rest, col := c.rest(), c.next()
	if c.indent() > 3 || len(rest) < 3 || rest[0] != '[' || rest[2] != ']' ||
		len(rest) > 3 && rest[3] != ' ' && rest[3] != '\t' {
		return false
	}
	switch rest[1] {
	case ' ':
		b.mark(col, col+3, TaskOpen)
	case 'x', 'X':
		b.mark(col, col+3, TaskDone)
	default:
		return false
	}
	b.leaf = leafParagraph
	b.unit.add(rest, b.line, col)
	return true
}

// mark adds a span in the line being scanned.
func (b *blocks) mark(col, end int, group Group) {
	if col < end || group.ToEOL() {
		b.here = append(b.here, Span{b.line, col, end, group})
	}
}

func (b *blocks) open(k container) {
	b.containers[b.depth] = k
	b.depth++
}

func (b *blocks) inQuote() bool {
	for _, k := range b.containers[:b.depth] {
		if k.quote {
			return true
		}
	}
	return false
}

// closeTo ends the open leaf and all containers but the first depth ones.
func (b *blocks) closeTo(depth int) {
	b.closeLeaf()
	b.depth = depth
}

func (b *blocks) closeLeaf() {
	switch b.leaf {
	case leafParagraph, leafTable:
		b.flush()
	case leafFence:
		if !b.inQuote() {
			b.fence.EndLine = b.line
			b.fences = append(b.fences, b.fence)
		}
	}
	b.leaf = leafNone
}

// unitFor ends the unit if n more bytes would make it too large. That is only
// done between lines: a line that is settled must be so as a whole.
func (b *blocks) unitFor(n int) {
	if len(b.unit.text)+n > maxUnit {
		b.flush()
	}
}

// flush ends the unit.
func (b *blocks) flush() {
	b.out = append(b.out, b.pending...)
	b.pending = b.pending[:0]
	b.ready.add(&b.unit)
	b.unit.reset()
	if b.ready.size() > maxUnit {
		b.parse()
	}
}

// parse gives out the highlights of the units that are complete.
func (b *blocks) parse() {
	b.parsed += b.ready.size()
	b.out = b.ready.highlight(b.out)
	b.ready.reset()
}

// cursor walks over a line. Tabs go to the next multiple of 4 columns.
type cursor struct {
	text []byte // without white space at its end
	pos  int
	col  int
	pad  int // columns of the tab before pos that were not taken
}

// next returns the position of the next byte that is not white space.
func (c *cursor) next() int {
	i := c.pos
	for i < len(c.text) && (c.text[i] == ' ' || c.text[i] == '\t') {
		i++
	}
	return i
}

// indent returns the columns of white space before next.
func (c *cursor) indent() int {
	col := c.col
	for i := c.pos; i < len(c.text); i++ {
		if c.text[i] == '\t' {
			col += 4 - col%4
		} else if c.text[i] == ' ' {
			col++
		} else {
			break
		}
	}
	return c.pad + col - c.col
}

func (c *cursor) blank() bool  { return c.next() == len(c.text) }
func (c *cursor) rest() []byte { return c.text[c.next():] }

// take moves past white space and n other bytes.
func (c *cursor) take(n int) {
	c.col += c.indent() - c.pad + n
	c.pos = c.next() + n
	c.pad = 0
}

// skip moves past up to n columns of white space.
func (c *cursor) skip(n int) {
	for {
		k := min(n, c.pad)
		c.pad -= k
		n -= k
		if n == 0 || c.pos == len(c.text) {
			return
		}
		switch c.text[c.pos] {
		case ' ':
			c.pad = 1
		case '\t':
			c.pad = 4 - c.col%4
		default:
			return
		}
		c.col += c.pad
		c.pos++
	}
}

// listMarker returns the length of the list marker at the beginning of s, or 0.
func listMarker(s []byte) int {
	n := 0
	for n < len(s) && n < 9 && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n == len(s) || n == 0 && bytes.IndexByte([]byte("-+*"), s[0]) < 0 ||
		n > 0 && s[n] != '.' && s[n] != ')' {
		return 0
	}
	n++
	if n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// interrupts reports whether a list item may follow a paragraph without a
// blank line.
func interrupts(s []byte, marker int) bool {
	return len(s) > marker && (marker == 1 || string(s[:marker-1]) == "1")
}

// isRule reports whether s is a thematic break.
func isRule(s []byte) bool {
	n := 0
	for _, char := range s {
		switch {
		case char == ' ' || char == '\t':
		case char == s[0] && (char == '-' || char == '*' || char == '_'):
			n++
		default:
			return false
		}
	}
	return n >= 3
}

// underline returns the level of the heading that s underlines, or 0.
func underline(s []byte) int {
	for _, char := range s {
		if char != s[0] {
			return 0
		}
	}
	switch s[0] {
	case '=':
		return 1
	case '-':
		return 2
	}
	return 0
}

// fenceRun returns the run of fence characters at the beginning of s.
func fenceRun(s []byte) (char byte, size int) {
	if len(s) == 0 || s[0] != '`' && s[0] != '~' {
		return 0, 0
	}
	for size < len(s) && s[size] == s[0] {
		size++
	}
	return s[0], size
}

// trimPartialRune removes an incomplete UTF-8 sequence from the end of s.
func trimPartialRune(s []byte) []byte {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRune(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}
