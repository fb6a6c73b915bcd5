package styled

import "github.com/acp-nvim/acp-nvim/host/markdown"

// Markdown returns a finished markdown text as lines.
func Markdown(text string) []Line {
	var doc markdown.Document
	doc.Append(text)
	doc.End()
	_, spans, fences := doc.Highlight()
	lines := plainLines(text)
	for _, s := range spans {
		l := &lines[s.Line]
		l.Marks = append(l.Marks, Mark{s.Col, s.EndCol, Group(s.Group)})
	}
	for _, f := range fences {
		for i := f.Line; i < f.EndLine; i++ {
			lines[i].Lang = f.Lang
		}
	}
	return lines
}
