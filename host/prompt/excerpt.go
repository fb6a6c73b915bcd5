package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/markdown"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// excerpt is what Lua gathered in Neovim: diagnostics, the quickfix list, the output of a terminal.
type excerpt struct {
	what, of string // "diagnostics" and the file, or another word for people and agents
	heading  string // says what it is, for an agent that gets it as text
	lang     string // of the text, likewise
	parts    []rpc.Part
}

// read leaves out what is about private files.
func (e excerpt) read(c Config, done func(session.Content, string)) {
	var text strings.Builder
	private := map[string]bool{}
	var left []string // out
	for _, part := range e.parts {
		if part.Path != "" {
			path, _ := c.Absolute(part.Path)
			if _, known := private[path]; !known {
				if private[path] = isPrivate(c, path); private[path] {
					left = append(left, c.Short(path))
				}
			}
			if private[path] {
				continue
			}
		}
		text.WriteString(part.Text + "\n")
	}
	var told []string
	if len(left) > 0 {
		slices.Sort(left)
		told = append(told, fmt.Sprintf("@%s was sent without private files: %s.", e.what, strings.Join(left, ", ")))
	}
	content, cut := e.content(text.String())
	if cut != "" {
		told = append(told, cut)
	}
	done(content, strings.Join(told, " "))
}

// content returns the text as attached, nil for none, and what the user is told if it is cut.
func (e excerpt) content(text string) (_ session.Content, told string) {
	if strings.TrimSpace(text) == "" {
		return nil, ""
	}
	if size := len(text); size > maxEmbedded {
		text = text[:cmp.Or(strings.LastIndexByte(text[:maxEmbedded], '\n')+1, maxEmbedded)]
		told = fmt.Sprintf("@%s is %s: its first %s were sent.", e.what, styled.Size(size), styled.Size(len(text)))
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	fence := markdown.FenceFor(text)
	return either{
		Content:   session.Resource{URI: transcript.ExcerptURI(e.what, e.of), MimeType: "text/plain", Text: text},
		otherwise: session.Text{Text: e.heading + ":\n" + fence + e.lang + "\n" + text + fence},
	}, told
}
