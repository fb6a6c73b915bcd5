package history

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editortools/sentence"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminal"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Story is a conversation at one moment, to be rendered in Markdown on any goroutine.
type Story struct {
	About
	Title     string
	Entries   []session.Entry
	Terminals map[string]session.TerminalPatch // what they have shown
	nested    map[session.Entry]bool           // calls of sub-agents
}

// NewStory copies a conversation. Later updates do not change it.
func NewStory(about About, conv *session.Conversation, shown func(id string) (session.TerminalPatch, bool)) Story {
	s := Story{About: about, Title: conv.Title, Terminals: map[string]session.TerminalPatch{}, nested: map[session.Entry]bool{}}
	for _, e := range conv.Entries {
		switch entry := e.(type) {
		case *session.Message:
			copied := *entry
			copied.Parts = append([]session.Part(nil), entry.Parts...)
			e = &copied
		case *session.ToolCall:
			copied := *entry
			e = &copied
			s.nested[e] = entry.Above() != nil
			for _, item := range copied.Shows() {
				if ref, ok := item.(session.TerminalRef); ok {
					if patch, ok := shown(ref.TerminalID); ok {
						s.Terminals[ref.TerminalID] = patch
					}
				}
			}
		case *session.Plan:
			copied := *entry
			e = &copied
		case *session.Compaction:
			copied := *entry
			e = &copied
		case *session.Unknown:
			copied := *entry
			e = &copied
		}
		s.Entries = append(s.Entries, e)
	}
	return s
}

// Story returns the conversation in a file.
func (p Past) Story() Story {
	conv := session.NewConversation(time.Now)
	shown := map[string]session.TerminalPatch{}
	p.Replay(func(s Said) {
		if patch, ok := s.Update.(session.TerminalPatch); ok {
			shown[patch.ID] = patch
			return
		}
		conv.ApplyAt(s.At, s.Update)
	})
	return NewStory(p.About, conv, func(id string) (session.TerminalPatch, bool) {
		patch, ok := shown[id]
		return patch, ok
	})
}

// Replay passes on one update after another, and ends what was cut off.
func (p Past) Replay(apply func(Said)) {
	open, last := false, p.Saved
	end := func(at time.Time) {
		if open {
			apply(Said{at, session.TurnEnd{StopReason: session.StopError, Error: "Cut short: Neovim, or the host, was killed."}})
		}
		open = false
	}
	for _, s := range p.Said {
		switch s.Update.(type) {
		case session.TurnStart:
			end(last)
			open = true
		case session.SessionStart:
			end(last)
		case session.TurnEnd:
			open = false
		}
		apply(s)
		last = s.At
	}
	apply(Said{last, session.AgentGone{}})
	end(last)
}

// Page is a text in lines, with the time of each.
type Page struct {
	Lines []string
	Times []time.Time
}

// Text returns the page as a file's content.
func (p Page) Text() string { return strings.Join(p.Lines, "\n") + "\n" }

// writing is a page that is being written.
type writing struct {
	Page
	story Story
	now   time.Time
}

// Markdown renders a conversation: a heading for each prompt, a line for each tool call with its diff or output below
// it.
func (s Story) Markdown() Page {
	w := &writing{story: s}
	w.line("# " + cmp.Or(styled.OneLine(s.Title), "A session with "+s.AgentTitle))
	w.line("")
	parts := []string{s.AgentTitle, folder.Tilde(s.Cwd)}
	if at := s.began(); !at.IsZero() {
		parts = append(parts, at.Format("2006-01-02 15:04"))
	}
	w.line("*" + strings.Join(parts, " · ") + "*")
	for _, e := range s.Entries {
		w.entry(e)
	}
	return w.Page
}

// began returns when something was first said.
func (s Story) began() time.Time {
	for _, e := range s.Entries {
		if at := timeOf(e); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

func timeOf(e session.Entry) time.Time {
	switch e := e.(type) {
	case *session.Message:
		return e.Started
	case *session.ToolCall:
		return e.Started()
	}
	return time.Time{}
}

func (w *writing) line(text string) {
	w.Lines = append(w.Lines, text)
	w.Times = append(w.Times, w.now)
}

// text writes a block of lines, with an empty one before it.
func (w *writing) text(text string) {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return
	}
	w.line("")
	for l := range strings.SplitSeq(text, "\n") {
		w.line(l)
	}
}

// fence writes a block of code.
func (w *writing) fence(lang, text string) {
	text = strings.Trim(text, "\n")
	if text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.text(fence + lang + "\n" + text + "\n" + fence)
}

// folded writes text that is closed until the reader opens it.
func (w *writing) folded(summary, text string) {
	w.text("<details>\n<summary>" + summary + "</summary>")
	w.text(text)
	w.text("</details>")
}

// quote writes a text as a quotation.
func (w *writing) quote(text string) {
	w.text("> " + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", "\n> "))
}

func (w *writing) entry(e session.Entry) {
	if at := timeOf(e); !at.IsZero() {
		w.now = at
	}
	switch e := e.(type) {
	case *session.Message:
		w.message(e)
	case *session.ToolCall:
		w.call(e)
	case *session.Plan:
		w.plan(e)
	case *session.NoticeEntry:
		head := "**" + cmp.Or(strings.ToUpper(e.Severity[:min(1, len(e.Severity))])+e.Severity[min(1, len(e.Severity)):], "Note") + ":** "
		w.quote(strings.TrimSpace(head + e.Title + "\n" + e.Description))
	case *session.Compaction:
		var texts []string
		for _, c := range e.Summary {
			texts = append(texts, transcript.Describe(c))
		}
		summary := "The context was compacted"
		if e.Status != "completed" {
			summary = "Compacting the context: " + cmp.Or(e.Error, e.Status)
		}
		w.folded(summary, strings.Join(texts, "\n"))
	case *session.Unknown:
		w.text("*" + e.Type + "*")
	case *session.Stop:
		w.stop(e)
	}
}

// titleWidth is how many characters of a prompt go into its heading.
const titleWidth = 80

func (w *writing) message(m *session.Message) {
	parts := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		switch c := p.Content.(type) {
		case nil:
			parts[i] = string(p.Text)
		case session.ResourceLink:
			parts[i] = "[" + cmp.Or(c.Title, c.Name) + "](" + c.URI + ")"
		case session.Resource:
			parts[i] = "[" + path.Base(c.URI) + "](" + c.URI + ")" // its text is the file's
		default:
			parts[i] = transcript.Describe(c)
		}
	}
	switch m.Role {
	case session.RoleUser:
		text := strings.TrimSpace(strings.Join(parts, ""))
		title, rest, _ := strings.Cut(text, "\n")
		if short := []rune(title); len(short) > titleWidth {
			title, rest = string(short[:titleWidth-1])+"…", text
		}
		w.text("## " + strings.TrimSpace(title))
		if strings.TrimSpace(rest) != "" {
			w.quote(text)
		}
	case session.RoleThought:
		summary := "Thought"
		if took := m.Ended.Sub(m.Started); !m.Ended.IsZero() && took >= 100*time.Millisecond {
			summary += " for " + seconds(took)
		}
		w.folded(summary, strings.Join(parts, ""))
	default:
		for i, p := range m.Parts { // pieces of text are joined, anything else is separate
			if p.Content != nil || i == 0 || m.Parts[i-1].Content != nil {
				w.text(below(parts[i]))
			}
		}
	}
}

// below returns Markdown with its headings one level below a prompt's.
func below(text string) string {
	if !strings.Contains(text, "#") {
		return text
	}
	fence := ""
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		trimmed := strings.TrimLeft(l, " ")
		marks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`~"))]
		switch {
		case fence == "" && len(marks) >= 3:
			fence = marks
		case fence != "" && strings.HasPrefix(marks, fence):
			fence = ""
		}
		level := len(l) - len(strings.TrimLeft(l, "#"))
		if fence == "" && level > 0 && level <= 6 && strings.HasPrefix(l[level:], " ") {
			lines[i] = strings.Repeat("#", min(level+2, 6)) + l[level:]
		}
	}
	return strings.Join(lines, "\n")
}

var icons = map[session.ToolCallStatus]string{
	session.StatusCompleted: "✓", session.StatusFailed: "✗", session.StatusCancelled: "■", session.StatusRejected: "✗",
}

func (w *writing) call(c *session.ToolCall) {
	status := c.Shown()
	kind, title := strings.ReplaceAll(string(c.Kind), "_", " "), styled.OneLine(c.Title)
	if words, ok := sentence.Of(c); ok {
		kind, title = "tool", words
	} else if m, ok := c.MCP(); ok {
		kind, title = "tool", styled.OneLine(m.Title())
	}
	line := cmp.Or(icons[status], "·") + " **" + kind + "**"
	if title != "" && title != kind {
		line += " " + title
	}
	if w.story.nested[c] {
		line = "↳ " + line
	}
	switch {
	case status == session.StatusRejected:
		line += " *(you refused)*"
	case status != session.StatusCompleted:
		line += " *(" + strings.ReplaceAll(string(status), "_", " ") + ")*"
	}
	w.text(line)
	for _, item := range c.Shows() {
		switch item := item.(type) {
		case session.Diff:
			w.fence("diff", diff.Unified(item, styled.Relative(w.story.Cwd, item.Path)))
		case session.TerminalRef:
			shown := w.story.Terminals[item.TerminalID]
			w.fence("", strings.ReplaceAll(string(shown.Output.Or(nil)), "\r\n", "\n"))
		case session.ContentItem:
			w.output(item.Content)
		case session.UnknownItem:
			w.fence("json", string(item.Raw))
		}
	}
}

// output writes what a tool has said.
func (w *writing) output(c session.Content) {
	text, ok := c.(session.Text)
	if !ok {
		w.text(transcript.Describe(c))
		return
	}
	out := plainText(text.Text)
	if trimmed := strings.TrimSpace(out); strings.HasPrefix(trimmed, "```") && strings.HasSuffix(trimmed, "```") && strings.Count(trimmed, "```") == 2 {
		w.text(trimmed)
		return
	}
	w.fence("", out)
}

// plainText returns a text as a terminal shows it, without control sequences.
func plainText(text string) string {
	if !strings.ContainsAny(text, "\x1b\r\b") {
		return text
	}
	var b strings.Builder
	next := terminal.Resolve(text, 2000)
	for l, ok := next(); ok; l, ok = next() {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *writing) plan(p *session.Plan) {
	var b strings.Builder
	for _, e := range p.Entries {
		box, note := "[ ]", ""
		switch e.Status {
		case "completed":
			box = "[x]"
		case "in_progress":
			note = " *(in progress)*"
		}
		b.WriteString("- " + box + " " + styled.OneLine(e.Content) + note + "\n")
	}
	if p.Content != nil {
		b.WriteString(transcript.Describe(p.Content))
	}
	if b.Len() > 0 {
		w.text("**Plan**")
		w.text(b.String())
	}
}

func (w *writing) stop(s *session.Stop) {
	switch s.Reason {
	case session.StopEndTurn:
		return
	case session.StopCancelled:
		w.text("*Cancelled after " + seconds(s.Took) + ".*")
	case session.StopError:
		w.quote("**Error:** " + s.Error)
	default:
		w.text("*Stopped: " + strings.ReplaceAll(string(s.Reason), "_", " ") + ".*")
	}
}

// seconds returns a duration in words.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// WriteFile writes a file for the user, over an existing one only with replace.
func WriteFile(name string, text []byte, replace bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replace {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
