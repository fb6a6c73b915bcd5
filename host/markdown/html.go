package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// htmlKind is one of CommonMark's seven kinds of HTML blocks, 0 for none.
type htmlKind int

var htmlParser = parser.NewParser(
	parser.WithBlockParsers(util.Prioritized(parser.NewHTMLBlockParser(), 100)),
)

// htmlKind says what HTML block begins with the line s.
func (b *blocks) htmlKind(s []byte) htmlKind {
	b.parsed += len(s)
	n, ok := htmlParser.Parse(text.NewReader(s)).FirstChild().(*ast.HTMLBlock)
	if !ok {
		return 0
	}
	return htmlKind(n.HTMLBlockType) // numbered as in the specification
}

func (k htmlKind) endsAtBlank() bool { return k >= 6 }

// needsBlank reports whether the block cannot follow a paragraph directly.
func (k htmlKind) needsBlank() bool { return k == 7 }

// endsIn reports whether the block ends in the line s.
func (k htmlKind) endsIn(s []byte) bool {
	switch k {
	case 1:
		s = bytes.ToLower(s)
		for _, end := range []string{"</script>", "</pre>", "</style>", "</textarea>"} {
			if bytes.Contains(s, []byte(end)) {
				return true
			}
		}
		return false
	case 2:
		return bytes.Contains(s, []byte("-->"))
	case 3:
		return bytes.Contains(s, []byte("?>"))
	case 4:
		return bytes.Contains(s, []byte(">"))
	case 5:
		return bytes.Contains(s, []byte("]]>"))
	}
	return false
}
