package markdown

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// maxUnit bounds the bytes of a paragraph or of table rows that are looked at together, and so what goldmark's
	// quadratic cases can cost. A unit can be one line of maxLine bytes.
	maxUnit = 4096
	// maxBrackets bounds the same for links; a unit with more has none.
	maxBrackets = 256
	// maxNesting bounds how many spans cover a byte, since nested emphasis over many lines adds spans to all of them.
	maxNesting = 8
	// maxTag bounds an inline HTML tag or an autolink.
	maxTag = 512
)

// unit is inline text, to be parsed at once: lines without the markers of the
// containers they are in. Blank lines separate paragraphs (cells of a table).
type unit struct {
	text  []byte
	lines []unitLine
}

// unitLine says where a line of a unit comes from.
type unitLine struct {
	start, size int // in unit.text, without the newline
	line, col   int // in the document
}

func (u *unit) add(s []byte, line, col int) {
	u.lines = append(u.lines, unitLine{len(u.text), len(s), line, col})
	u.text = append(u.text, s...)
	u.text = append(u.text, '\n')
}

// batch holds complete units until they are parsed, several at a time. Units do not influence each other. Looking for
// bare links at each space is slow, so the units that may have some are kept apart.
type batch struct{ plain, linked unit }

// add adds a unit if it can have any highlight at all.
func (b *batch) add(o *unit) {
	u := &b.plain
	if bytes.Contains(o.text, []byte("://")) || bytes.Contains(o.text, []byte("www.")) ||
		bytes.IndexByte(o.text, '@') >= 0 {
		u = &b.linked
	} else if !bytes.ContainsAny(o.text, "*_`]<~") {
		return
	}
	offset := len(u.text)
	for _, l := range o.lines {
		l.start += offset
		u.lines = append(u.lines, l)
	}
	u.text = append(u.text, o.text...)
	if bytes.Count(o.text, []byte{'['}) > maxBrackets {
		for i, char := range u.text[offset:] {
			if char == '[' || char == ']' {
				u.text[offset+i] = ';' // punctuation that means nothing
			}
		}
	}
	u.text = append(u.text, '\n')
}

func (u *unit) reset() { u.text, u.lines = u.text[:0], u.lines[:0] }

func (b *batch) size() int { return len(b.plain.text) + len(b.linked.text) }

func (b *batch) reset() {
	b.plain.reset()
	b.linked.reset()
}

// highlight appends the spans of all units to out.
func (b *batch) highlight(out []Span) []Span {
	out = b.plain.highlight(out, markupParser)
	return b.linked.highlight(out, linkingParser)
}

func (u *unit) highlight(out []Span, p parser.Parser) []Span {
	if len(u.text) == 0 {
		return out
	}
	w := walker{unit: u, places: map[ast.Node]place{}, out: out}
	ctx := parser.NewContext()
	ctx.Set(placesKey, w.places)
	doc := p.Parse(text.NewReader(u.text), parser.WithContext(ctx))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		w.children(n, 0)
	}
	return w.out
}

// walker goes over the inline nodes and adds their spans. goldmark does not say where most nodes end: those with a
// parser of their own are noted in places while it parses, emphasis follows from its content.
type walker struct {
	unit   *unit
	places map[ast.Node]place
	out    []Span
}

// place is where a node's parser stood before and after it, in unit.text.
type place struct{ before, after int }

// children walks over the nodes in n and returns what they cover.
func (w *walker) children(n ast.Node, depth int) (start, end int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		from, to := w.node(c, depth)
		if c == n.FirstChild() {
			start = from
		} else if from < end {
			// What is left of a run of delimiters after it closed something:
			// goldmark places it at the beginning of the run.
			to += end - from
		}
		end = to
	}
	return start, end
}

// node adds the spans of n and returns what it covers.
func (w *walker) node(n ast.Node, depth int) (start, end int) {
	source, at := w.unit.text, w.places[n]
	switch n := n.(type) {
	case *ast.Text:
		return n.Segment.Start, n.Segment.Stop
	case *ast.Emphasis:
		start, end = w.children(n, depth+1)
		start, end = start-n.Level, end+n.Level
		group := Italic
		if n.Level == 2 {
			group = Bold
		}
		if depth < maxNesting {
			w.add(start, end, group)
		}
	case *extast.Strikethrough:
		start, end = w.children(n, depth+1)
		start, end = start-1, end+1
		if start > 0 && source[start-1] == '~' && end < len(source) && source[end] == '~' {
			start, end = start-1, end+1
		}
		if depth < maxNesting {
			w.add(start, end, Strikethrough)
		}
	case *ast.Link:
		return w.link(n, n.Pos()+1, n.Destination, depth)
	case *ast.Image:
		return w.link(n, n.Pos()+2, n.Destination, depth)
	case *ast.CodeSpan:
		start, end = at.before, at.after
		w.add(start, end, Code)
	case *ast.RawHTML:
		start, end = at.before, at.after
		w.add(start, end, HTML)
	case *ast.AutoLink:
		start, end = at.before, at.after
		if source[start] == '<' {
			w.add(start+1, end-1, URL)
		} else { // a bare one; its parser may have stood before a space
			start = end - len(n.Label(source))
			w.add(start, end, URL)
		}
	}
	return start, end
}

// link adds the spans of [label](destination), whose label begins at label.
func (w *walker) link(n ast.Node, label int, destination []byte, depth int) (start, end int) {
	at := w.places[n] // before is at the closing bracket
	if depth < maxNesting {
		w.add(label, at.before, Link)
	}
	w.children(n, depth+1)
	url := at.before + len("](")
	for url < at.after && (util.IsSpace(w.unit.text[url]) || w.unit.text[url] == '<') {
		url++
	}
	w.add(url, url+len(destination), URL)
	return n.Pos(), at.after
}

// add adds a span for each line that [start, end) of the unit's text covers.
func (w *walker) add(start, end int, group Group) {
	lines := w.unit.lines
	first, last := 0, len(lines)
	for first < last { // the first line that ends behind start
		mid := (first + last) / 2
		if lines[mid].start+lines[mid].size <= start {
			first = mid + 1
		} else {
			last = mid
		}
	}
	for _, l := range lines[first:] {
		if l.start >= end {
			break
		}
		from, to := max(start-l.start, 0), min(end-l.start, l.size)
		if from < to {
			w.out = append(w.out, Span{l.line, l.col + from, l.col + to, group})
		}
	}
}

var placesKey = parser.NewContextKey()

var bareURL = regexp.MustCompile("^(?:https?|ftp)://[-a-zA-Z0-9@:%._+~#=\\[\\]]+(?:[/?][^\\s<>\"`]*)?")

// The parsers see paragraphs only: all other blocks are known before.
var (
	markupParser  = newParser()
	linkingParser = newParser(util.Prioritized(
		placed{extension.NewLinkifyParser(extension.WithLinkifyURLRegexp(bareURL))}, 999))
)

func newParser(more ...util.PrioritizedValue) parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 100)),
		parser.WithInlineParsers(append(more,
			util.Prioritized(placed{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(placedLink{placed{parser.NewLinkParser()}}, 200),
			util.Prioritized(placed{angleParser{parser.NewAutoLinkParser()}}, 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		)...),
	)
}

// placed notes the places of the nodes that a parser makes.
type placed struct{ parser.InlineParser }

func (p placed) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, before := block.Position()
	n := p.InlineParser.Parse(parent, block, pc)
	switch n.(type) {
	case *ast.CodeSpan, *ast.Link, *ast.Image, *ast.AutoLink, *ast.RawHTML:
		_, after := block.Position()
		pc.Get(placesKey).(map[ast.Node]place)[n] = place{before.Start, after.Start}
	}
	return n
}

// placedLink is a placed link parser, which is told about the end of blocks.
type placedLink struct{ placed }

func (p placedLink) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	p.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// angleParser parses an autolink, a tag or a comment, within a line. goldmark's
// parsers look at all the rest of the text for each "<".
type angleParser struct{ autoLink parser.InlineParser }

func (angleParser) Trigger() []byte { return []byte{'<'} }

func (p angleParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	line = line[:min(len(line), maxTag)]
	if bytes.HasPrefix(line, []byte("<!--")) {
		end := bytes.Index(line[4:], []byte("-->"))
		if end < 0 {
			return nil
		}
		block.Advance(4 + end + 3)
		return ast.NewRawHTML()
	}
	end := bytes.IndexAny(line[1:], "<>") + 1
	if end == 0 || line[end] == '<' {
		return nil
	}
	if n := p.autoLink.Parse(parent, block, pc); n != nil {
		return n
	}
	if !isTag(line[1:end]) {
		return nil
	}
	block.Advance(end + 1)
	return ast.NewRawHTML()
}

// isTag reports whether s, between "<" and ">", is a tag: a name, and perhaps attributes.
func isTag(s []byte) bool {
	s = bytes.TrimPrefix(s, []byte{'/'})
	if len(s) == 0 || !isLetter(s[0]) {
		return false
	}
	for _, char := range s {
		if char == ' ' || char == '\t' || char == '/' {
			return true
		}
		if !isLetter(char) && char != '-' && (char < '0' || char > '9') {
			return false
		}
	}
	return true
}

func isLetter(char byte) bool { return 'a' <= char|0x20 && char|0x20 <= 'z' }
