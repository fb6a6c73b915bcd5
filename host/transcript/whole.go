package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Whole is a block without limits, for a window of its own.
type Whole struct {
	Name  string // of the block, in a few words
	Lang  string // what all of it is written in, as a filetype; or ""
	Lines Lines  // none longer than a window can draw at once
}

// Lines returns one line after another, and false after the last, so that large texts are never in memory twice. It is
// for one goroutine at a time.
type Lines func() (styled.Line, bool)

// section is a part of a whole.
type section struct {
	title, lang string
	lines       Lines
}

// Whole returns a function that renders the whole block at a row of the buffer, as it is now, or nil if there is none.
// The function may take long, on any goroutine.
func (t *Transcript) Whole(row int) func() Whole {
	switch e := t.Entry(row).(type) {
	case *session.Message:
		text := strings.TrimRight(allOf(e), "\n")
		return func() Whole { return Whole{Name: "message", Lang: "markdown", Lines: broken(text)} }
	case *session.ToolCall:
		call := *e // what is in it is replaced, never changed
		return func() Whole { return t.wholeCall(&call) }
	case *session.Plan:
		var texts []string
		for _, entry := range e.Entries {
			texts = append(texts, "- "+entry.Content)
		}
		if e.Content != nil {
			texts = append(texts, Describe(e.Content))
		}
		return func() Whole { return Whole{Name: "plan", Lang: "markdown", Lines: broken(strings.Join(texts, "\n"))} }
	case *session.NoticeEntry:
		text := strings.TrimSpace(strings.Join([]string{e.Title, e.Description, e.Detail}, "\n"))
		return func() Whole { return Whole{Name: "notice", Lines: broken(text)} }
	case *session.Stop:
		if text := strings.TrimSpace(e.Error + "\n" + e.Detail); text != "" {
			return func() Whole { return Whole{Name: "error", Lines: broken(text)} }
		}
	case *session.Compaction:
		var texts []string
		for _, c := range e.Summary {
			texts = append(texts, Describe(c))
		}
		return func() Whole {
			return Whole{Name: "summary", Lang: "markdown", Lines: broken(strings.Join(texts, "\n"))}
		}
	}
	return nil
}

// allOf returns everything in a message.
func allOf(m *session.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.Write(p.Text)
		c := p.Content
		if private, ok := c.(session.ForAgent); ok {
			c = private.Content
		}
		if c != nil {
			b.WriteString("\n" + Describe(c) + "\n")
		}
	}
	return b.String()
}

// Output returns a function that renders the whole output of a command that the agent sends as text: of the call at a
// row, or else of the last one that has any; or nil.
func (t *Transcript) Output(row int) func() Whole {
	if call, ok := t.Entry(row).(*session.ToolCall); ok && hasOutput(call) {
		return t.Whole(row)
	}
	for _, call := range slices.Backward(t.conv.Calls) {
		if hasOutput(call) {
			call := *call
			return func() Whole { return t.wholeCall(&call) }
		}
	}
	return nil
}

func hasOutput(c *session.ToolCall) bool {
	return c.Kind == session.KindExecute && len(c.Shows())+len(c.RawOutput) > 0
}

func (t *Transcript) wholeCall(c *session.ToolCall) Whole {
	var sections []section
	for _, item := range c.Shows() {
		switch item := item.(type) {
		case session.Diff:
			name := t.relative(item.Path)
			sections = append(sections, section{name, "diff", broken(strings.TrimRight(diff.Unified(item, name), "\n"))})
		case session.TerminalRef:
			if screen, ok := t.config.Terminal(item.TerminalID, 1<<20); ok {
				sections = append(sections, section{"Terminal", "", Given(screen.Lines...)})
			}
		case session.ContentItem:
			sections = append(sections, t.wholeContent(c, item.Content))
		case session.UnknownItem:
			sections = append(sections, section{item.Type, "json", broken(pretty(item.Raw))})
		}
	}
	if len(c.RawInput) > 0 {
		sections = append(sections, section{"Input", "json", broken(pretty(c.RawInput))})
	}
	if len(c.RawOutput) > 0 {
		sections = append(sections, section{"Output", "json", broken(pretty(c.RawOutput))})
	}
	w := Whole{Name: styled.OneLine(fitted(styled.OneLine(c.Title), titleWidth))}
	if w.Name == "" {
		w.Name = styled.OneLine(c.ID)
	}
	shown := len(sections)
	for shown > 0 && (sections[shown-1].title == "Input" || sections[shown-1].title == "Output") {
		shown--
	}
	if shown > 0 && allDiffs(sections[:shown]) {
		sections = sections[:shown] // a diff that tools can read
		w.Lang = "diff"
	}
	if len(sections) == 1 {
		w.Lang, w.Lines = sections[0].lang, sections[0].lines
		return w
	}
	var all []Lines
	for i, s := range sections {
		if w.Lang == "" {
			if i > 0 {
				all = append(all, Given(styled.Line{}))
			}
			all = append(all, Given(styled.Join(styled.Text("── "+s.title+" ", styled.ToolKind))))
		}
		all = append(all, s.lines)
	}
	w.Lines = joined(all)
	return w
}

// Given returns these lines.
func Given(lines ...styled.Line) Lines {
	return func() (styled.Line, bool) {
		if len(lines) == 0 {
			return styled.Line{}, false
		}
		l := lines[0]
		lines = lines[1:]
		return l, true
	}
}

// joined returns the lines of all, in order.
func joined(all []Lines) Lines {
	return func() (styled.Line, bool) {
		for len(all) > 0 {
			if l, ok := all[0](); ok {
				return l, true
			}
			all = all[1:]
		}
		return styled.Line{}, false
	}
}

func allDiffs(sections []section) bool {
	for _, s := range sections {
		if s.lang != "diff" {
			return false
		}
	}
	return true
}

func (t *Transcript) wholeContent(c *session.ToolCall, content session.Content) section {
	text, ok := content.(session.Text)
	switch {
	case !ok:
		return section{"Content", "", broken(Describe(content))}
	case hasControls(text.Text) && t.config.Resolve != nil:
		return section{"Text", "", t.config.Resolve(text.Text)}
	}
	if body, lang, fenced := unfenced(strings.Trim(text.Text, "\n")); fenced {
		return section{"Text", lang, broken(body)}
	}
	if trimmed := strings.TrimSpace(text.Text); trimmed != "" && strings.ContainsAny(trimmed[:1], "{[") && json.Valid([]byte(trimmed)) {
		return section{"Text", "json", broken(pretty([]byte(trimmed)))}
	}
	lang := "markdown"
	if isOutput(c.Kind) {
		lang = ""
	}
	return section{"Text", lang, broken(strings.TrimRight(text.Text, "\n"))}
}

// pretty returns JSON with its structure on separate lines.
func pretty(raw []byte) []byte {
	var text bytes.Buffer
	text.Grow(len(raw) + len(raw)/16) // large values are mostly texts, which stay unchanged
	if json.Indent(&text, raw, "", "  ") != nil {
		return raw
	}
	return text.Bytes()
}

// broken returns a text as lines, those too long for a window in pieces.
func broken[T string | []byte](text T) Lines {
	left := true // a line, though it may be empty
	rest := 0    // of a line that is too long
	return func() (styled.Line, bool) {
		if !left {
			return styled.Line{}, false
		}
		if rest == 0 {
			if rest = lineEnd(text); rest < 0 {
				rest = len(text)
			}
		}
		n, ends := rest, true
		if n > maxLine {
			n, ends = cut([]byte(text[:min(n, maxLine+utf8.UTFMax)]), maxLine), false
		}
		l := styled.Line{Text: string(text[:n])}
		rest -= n
		text = text[n:]
		if ends {
			if left = len(text) > 0; left {
				text = text[1:]
			}
		}
		return l, true
	}
}

// lineEnd returns where the first line of a text ends, or -1.
func lineEnd[T string | []byte](text T) int {
	switch text := any(text).(type) {
	case string:
		return strings.IndexByte(text, '\n')
	case []byte:
		return bytes.IndexByte(text, '\n')
	}
	return -1
}
