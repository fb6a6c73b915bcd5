package transcript

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/markdown"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

const linkGroup = styled.Group(markdown.URL)

// Describe returns a content block in words: its text, or what it is in one line.
func Describe(c session.Content) string {
	if r, ok := c.(session.Resource); ok && r.Text != "" {
		return r.URI + "\n" + r.Text
	}
	if text, ok := c.(session.Text); ok {
		return text.Text
	}
	return link(c, "")
}

// describe is [Describe], with the files that contain blobs.
func (t *Transcript) describe(c session.Content) string {
	path, picture := t.saved(c)
	if path == "" {
		return Describe(c)
	}
	text := link(c, path)
	if picture {
		t.pictures[text] = path
	}
	return text
}

// saved returns the file of a block that is not text, and whether it is a picture.
func (t *Transcript) saved(c session.Content) (path string, picture bool) {
	mimeType, data, uri := "", "", ""
	switch c := c.(type) {
	case session.Image:
		mimeType, data, uri, picture = c.MimeType, c.Data, c.URI, true
	case session.Audio:
		mimeType, data = c.MimeType, c.Data
	case session.Resource:
		mimeType, data = c.MimeType, c.Blob
		picture = strings.HasPrefix(mimeType, "image/")
	}
	if data != "" && t.config.Save != nil {
		return t.config.Save(mimeType, data), picture
	}
	if place, ok := PlaceOf(uri); ok {
		return place.Path, picture
	}
	return "", picture
}

// maxDescription is how much of a link's description is shown, in bytes.
const maxDescription = 120

// unbracketed replaces brackets in words that are put in brackets.
var unbracketed = strings.NewReplacer("[", "(", "]", ")")

// link describes a block that is not text, in one line; path is the file it is saved in.
func link(c session.Content, path string) string {
	bytes := func(data string) string {
		if data == "" {
			return ""
		}
		return " " + styled.Size(base64.StdEncoding.DecodedLen(len(data))-strings.Count(data[max(0, len(data)-2):], "="))
	}
	what, where := "", ""
	switch c := c.(type) {
	case session.Image:
		what, where = "image "+c.MimeType+bytes(c.Data), c.URI
	case session.Audio:
		what = "audio " + c.MimeType + bytes(c.Data)
	case session.ResourceLink:
		what, where = c.Title, c.URI
		if what == "" {
			what = c.Name
		}
		if c.Size > 0 {
			what += " " + styled.Size(int(c.Size))
		}
		if c.Modified != "" {
			what += ", " + c.Modified
		}
		if d := styled.OneLine(c.Description); d != "" {
			what += ": " + styled.Cut(unbracketed.Replace(d), maxDescription)
		}
	case session.Resource:
		what, where = c.MimeType+bytes(c.Blob), c.URI
		if what = strings.TrimSpace(what); what == "" {
			what = "resource"
		}
	case session.ForAgent:
		what = "for the agent"
		if n := strings.Count(Describe(c.Content), "\n"); n > 0 {
			what += fmt.Sprintf(": %d lines", n+1)
		}
	case session.UnknownContent:
		what = cmp.Or(c.Type, "unknown")
	}
	if path != "" {
		where = path
	}
	return strings.TrimSpace("[" + what + "] " + where)
}

// contentBody renders a block of a call's content.
func (t *Transcript) contentBody(b *block, kind session.ToolKind, c session.Content) []styled.Line {
	switch c := c.(type) {
	case session.Text:
		return t.textBody(b, kind, c.Text)
	case session.ForAgent:
		head := styled.Join(styled.Text("    "+link(c, ""), styled.More))
		if !t.isOpen(b) {
			return []styled.Line{head}
		}
		return append([]styled.Line{head}, t.contentBody(b, kind, c.Content)...)
	case session.Resource:
		if c.Text == "" {
			break
		}
		place, isFile := PlaceOf(c.URI)
		name := c.URI
		if isFile {
			name = t.relative(place.Path)
		}
		head := styled.Join(styled.Text("    ", styled.Plain), styled.Text(name, linkGroup))
		head.Place = place
		lang := strings.TrimPrefix(filepath.Ext(name), ".")
		return append([]styled.Line{head}, leadTo(t.codeBody(b, strings.TrimRight(c.Text, "\n"), lang), place.Path)...)
	}
	blob, picture := t.saved(c)
	text := link(c, blob)
	what, where, _ := strings.Cut(text, "] ")
	if where != "" {
		what += "] "
	}
	l := styled.Join(styled.Text("    ", styled.Plain), styled.Text(what, styled.More), styled.Text(where, linkGroup))
	switch c := c.(type) {
	case session.ResourceLink:
		if name, ok := FileName(c.URI, t.config.Cwd); ok {
			l = styled.Join(styled.Text("    ", styled.Plain), styled.Text(what, styled.More), styled.Text(name, linkGroup))
			l.Place, _ = PlaceOf(c.URI)
		}
	default:
		l.Place = styled.Place{Path: blob, External: blob != ""}
		if picture {
			l.Image = blob
		}
	}
	return []styled.Line{l}
}

// isOutput reports whether text of a call of this kind is what a program wrote,
// or a file's, rather than words for the user.
func isOutput(kind session.ToolKind) bool {
	switch kind {
	case session.KindExecute, session.KindRead, session.KindSearch:
		return true
	}
	return false
}

// textBody shows a command's output by its first lines and its last ones, and the beginning of others.
func (t *Transcript) textBody(b *block, kind session.ToolKind, text string) []styled.Line {
	text = strings.Trim(untagged(text), "\n")
	if body, lang, ok := unfenced(text); ok {
		return t.codeBody(b, strings.Trim(untagged(body), "\n"), lang)
	}
	if !isOutput(kind) {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if text == "" || isOutput(kind) || hasControls(text) {
		return t.codeBody(b, text, "")
	}
	text, _, hidden := clip(text, b.room(), 0)
	lines := styled.Markdown(text)
	for i := range lines {
		lines[i].Shift(4)
	}
	if hidden > 0 {
		lines = append(lines, t.moreLine(b, hidden))
	}
	return lines
}

// codeBody shows text unchanged, in one colour except for those that a command asked for.
func (t *Transcript) codeBody(b *block, text, lang string) []styled.Line {
	if text == "" {
		return nil
	}
	n := b.room()
	tail := n - n/3
	first, last, hidden := clip(text, n, tail)
	if hidden == 0 && !hasControls(text) {
		return t.outputLines(first, lang)
	}
	if hasControls(text) && t.config.Output != nil {
		return t.resolved(b, text, first, tail, hidden)
	}
	lines := append(t.outputLines(first, ""), t.moreLine(b, hidden))
	return append(lines, t.outputLines(last, "")...)
}

// outputLines is text without controls.
func (t *Transcript) outputLines(text, lang string) []styled.Line {
	lines := plainBody(strings.Split(text, "\n"))
	for i := range lines {
		lines[i].Lang, lines[i].Indent = lang, 4
	}
	return lines
}

// resolvable is how much of a text with controls is read from its end, in bytes for each line shown.
const resolvable = 8 << 10

// resolved renders output with controls. If it is long, its first lines are resolved separately, and its end from a
// line that is near enough.
func (t *Transcript) resolved(b *block, text, first string, tail, hidden int) []styled.Line {
	n := b.room()
	if len(text) <= n*resolvable {
		screen := t.config.Output(text, maxOpened)
		if screen.Total <= n+1 {
			return indented(screen.Lines)
		}
		if screen.Total <= len(screen.Lines) {
			lines := append(indented(screen.Lines[:n-tail]), t.moreLine(b, screen.Total-n))
			return append(lines, indented(screen.Lines[screen.Total-tail:])...)
		}
	}
	end := text[max(0, len(text)-n*resolvable):]
	if _, rest, found := strings.Cut(end, "\n"); found {
		end = rest
	}
	screen := t.config.Output(end, tail)
	lines := indented(t.config.Output(first, n-tail).Lines)
	if hidden > 0 {
		lines = append(lines, t.moreLine(b, hidden))
	}
	return append(lines, indented(screen.Lines)...)
}

// indented returns a command's output as lines of a body.
func indented(output []styled.Line) []styled.Line {
	lines := make([]styled.Line, len(output))
	for i, l := range output {
		const indent = "    "
		lines[i] = styled.Line{Text: indent + l.Text, Marks: make([]styled.Mark, 0, len(l.Marks)+1)}
		lines[i].Marks = append(lines[i].Marks, styled.Mark{Col: 0, EndCol: len(lines[i].Text), Group: styled.Output})
		for _, m := range l.Marks {
			lines[i].Marks = append(lines[i].Marks, styled.Mark{Col: m.Col + len(indent), EndCol: m.EndCol + len(indent), Group: m.Group})
		}
	}
	return lines
}

// plainBody gives texts the look of output.
func plainBody(texts []string) []styled.Line {
	lines := make([]styled.Line, len(texts))
	for i, text := range texts {
		lines[i] = styled.Line{Text: text, Marks: []styled.Mark{{Col: 0, EndCol: len(text), Group: styled.Output}}}
		lines[i].Shorten(maxLine, elsewhere)
		lines[i].Shift(4)
	}
	return lines
}

// clipped keeps n lines, and says how many were left out.
func clipped(lines []styled.Line, n int) []styled.Line {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n:n], styled.MoreLine(len(lines)-n))
}

// room returns how many lines of one piece of content are shown.
func (b *block) room() int {
	if b.open == opened {
		return maxOpened
	}
	return previewOutput
}

// moreLine stands for n lines; those of an open block are shown elsewhere.
func (t *Transcript) moreLine(b *block, n int) styled.Line {
	l := styled.MoreLine(n)
	if b.open == opened {
		l.Add(styled.Text(elsewhere, styled.More))
	}
	return l
}

// clip keeps n lines of a text: the first ones, and the tail last ones. It only counts the lines in between.
func clip(text string, n, tail int) (first, last string, hidden int) {
	hidden = strings.Count(text, "\n") + 1 - n
	if hidden <= 1 { // saying that a line is missing takes a line
		return text, "", 0
	}
	end := 0
	for range n - tail {
		end += strings.IndexByte(text[end:], '\n') + 1
	}
	from := len(text)
	for range tail {
		from = strings.LastIndexByte(text[:from], '\n')
	}
	if tail > 0 {
		last = text[from+1:]
	}
	return text[:max(0, end-1)], last, hidden
}

// hasControls reports whether a text has terminal controls: escape sequences, carriage returns, backspaces.
func hasControls(text string) bool {
	return strings.IndexByte(text, 0x1b) >= 0 || strings.IndexByte(text, '\r') >= 0 || strings.IndexByte(text, '\b') >= 0
}

// untagged removes tags meant for the model: around an error of Claude's tools, and around what OpenCode adds at the
// end of a command's output.
func untagged(text string) string {
	const tag = "tool_use_error>"
	inner, opened := strings.CutPrefix(strings.TrimSpace(text), "<"+tag)
	if inner, closed := strings.CutSuffix(inner, "</"+tag); opened && closed {
		return inner
	}
	for _, tag := range []string{"shell_metadata>", "bash_metadata>"} {
		before, closed := strings.CutSuffix(strings.TrimRight(text, "\n"), "\n</"+tag)
		if at := strings.LastIndex(before, "<"+tag+"\n"); closed && at >= 0 {
			output, words := strings.TrimRight(before[:at], "\n"), before[at+len("<"+tag+"\n"):]
			return strings.TrimLeft(output+"\n"+words, "\n")
		}
	}
	return text
}

// unfenced removes the fence that some agents put around output.
func unfenced(text string) (body, lang string, ok bool) {
	first, rest, found := strings.Cut(text, "\n")
	body, closed := strings.CutSuffix(rest, "```")
	if !found || !closed || !strings.HasPrefix(first, "```") || strings.Contains(body, "```") {
		return text, "", false
	}
	if words := strings.Fields(strings.TrimLeft(first, "`")); len(words) > 0 && words[0] != "console" {
		lang = words[0]
	}
	return strings.TrimSuffix(body, "\n"), lang, true
}

// bodySize returns about how many lines a hidden body has.
func (t *Transcript) bodySize(c *session.ToolCall, diffs []fileChange) int {
	if steps := stepsOf(c); len(steps) > 0 {
		return len(steps)
	}
	n := 0
	for _, d := range diffs {
		n += d.Added + d.Removed
	}
	for _, item := range c.Shows() {
		switch item := item.(type) {
		case session.ContentItem:
			if !isTitle(c, item.Content) {
				n += contentSize(item.Content)
			}
		case session.TerminalRef:
			screen, _ := t.config.Terminal(item.TerminalID, 1)
			n += screen.Total
		case session.UnknownItem:
			n++
		}
	}
	return n
}

// isTitle reports whether a content says the title once more, as that of a question does.
func isTitle(c *session.ToolCall, content session.Content) bool {
	text, ok := content.(session.Text)
	return ok && c.Title != "" && len(text.Text) <= maxTitle && strings.TrimSpace(text.Text) == strings.TrimSpace(c.Title)
}

// contentSize returns about how many lines a block of a call's content has.
func contentSize(c session.Content) int {
	text := strings.Trim(untagged(Describe(c)), "\n")
	if body, _, ok := unfenced(text); ok {
		text = strings.Trim(untagged(body), "\n")
	}
	if text == "" {
		return 0
	}
	return strings.Count(text, "\n") + 1
}

// rawBody renders an opened call without content: its input and its output.
func rawBody(c *session.ToolCall) []styled.Line {
	lines := append(plainBody(readable(c.RawInput, maxOpened)), plainBody(readable(c.RawOutput, maxOpened))...)
	if len(lines) == 0 {
		return []styled.Line{styled.Join(styled.Text("    nothing more was reported", styled.More))}
	}
	return lines
}
