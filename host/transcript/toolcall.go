package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// statusIcons and kindLabels are how a tool call's status and kind look; what
// is not listed gets the last ones.
var statusIcons = map[session.ToolCallStatus]struct {
	icon  string
	group Group
}{
	session.StatusPending:    {"·", More},
	session.StatusInProgress: {"▸", ToolRunning},
	session.StatusPaused:     {"‖", ToolRunning},
	session.StatusCompleted:  {"✓", ToolDone},
	session.StatusFailed:     {"✗", ToolFailed},
	session.StatusCancelled:  {"■", More},
	session.StatusWaiting:    {"?", ToolWaiting},
	session.StatusRejected:   {"⊘", ToolFailed},
}

var kindLabels = map[session.ToolKind]string{
	session.KindRead: "read", session.KindEdit: "edit", session.KindDelete: "delete",
	session.KindMove: "move", session.KindSearch: "search", session.KindExecute: "run",
	session.KindThink: "think", session.KindFetch: "fetch", session.KindSwitchMode: "mode",
	session.KindOther: "tool",
}

// nerdIcons stand before the kinds where the user has a Nerd Font.
var nerdIcons = map[session.ToolKind]string{
	session.KindRead: "\uf06e", session.KindEdit: "\uf040", session.KindDelete: "\uf1f8", session.KindMove: "\uf0ec",
	session.KindSearch: "\uf002", session.KindExecute: "\uf120", session.KindThink: "\uf0eb", session.KindFetch: "\uf0ac",
	session.KindSwitchMode: "\uf074",
}

// renderToolCall is a head line, and a body where there is one to show.
func (t *Transcript) renderToolCall(b *block, c *session.ToolCall) []Line {
	status := c.Shown()
	b.diffs = t.diffsOf(c, b.diffs)
	look, known := statusIcons[status]
	if !known {
		look.icon, look.group = "·", More
	}
	label, known := kindLabels[c.Kind]
	if !known {
		label = string(c.Kind)
	}
	kind := fmt.Sprintf("%-6s ", label)
	if t.config.NerdFont {
		icon, known := nerdIcons[c.Kind]
		if !known {
			icon = "\uf013"
		}
		kind = icon + " " + kind
	}
	pieces := []piece{
		{"  " + look.icon + " ", look.group},
		{kind, ToolKind},
		{shorten(t.what(c, label), b.open == opened), ToolTitle},
	}
	added, removed := 0, 0
	for _, d := range b.diffs {
		added, removed = added+d.Added, removed+d.Removed
	}
	head := line(append(pieces, counts(added, removed)...)...)
	head.Right, head.RightGroup = t.beside(c, status)
	lines := append([]Line{head}, t.body(b, c, status)...)
	if status.Finished() {
		b.diffs = nil
	}
	return lines
}

// what names the object of a call: its title without what the label says
// already, and the line where it is known.
func (t *Transcript) what(c *session.ToolCall, label string) string {
	title := strings.Join(strings.Fields(c.Title), " ")
	if title == "" {
		title = c.Name
	}
	if c.Kind == session.KindExecute {
		title = strings.Trim(title, "`")
	}
	for _, verb := range []string{label, string(c.Kind)} {
		if len(title) > len(verb)+1 && strings.EqualFold(title[:len(verb)+1], verb+" ") {
			title = strings.TrimSpace(title[len(verb)+1:])
			break
		}
	}
	title = strings.ReplaceAll(title, t.config.Cwd+string(filepath.Separator), "")
	if len(c.Locations) == 0 {
		return title
	}
	first := c.Locations[0]
	rel := t.relative(first.Path)
	if strings.HasSuffix(first.Path, "/"+title) {
		title = rel // a path already, cut off elsewhere
	}
	if !strings.Contains(title, filepath.Base(first.Path)) {
		if title == "" || strings.EqualFold(title, label) || strings.EqualFold(title, string(c.Kind)) {
			title = rel
		} else {
			title += "  " + rel
		}
	}
	if first.Line > 0 && !strings.Contains(title, ":") && (strings.HasSuffix(title, rel) || strings.HasSuffix(title, filepath.Base(rel))) {
		title += fmt.Sprintf(":%d", first.Line)
	}
	return title
}

// titleWidth is about how much of a title is shown of a call that is not open.
const titleWidth = 72

func shorten(title string, open bool) string {
	if runes := []rune(title); !open && len(runes) > titleWidth {
		return string(runes[:titleWidth-1]) + "…"
	}
	return title
}

// beside is what stands at the right edge of the head line.
func (t *Transcript) beside(c *session.ToolCall, status session.ToolCallStatus) (string, Group) {
	switch status {
	case session.StatusWaiting:
		return "waits for you", ToolWaiting
	case session.StatusRejected:
		return "refused", ToolFailed
	case session.StatusCancelled:
		return "cancelled", More
	case session.StatusPending:
		return "", plain
	}
	took := c.Elapsed(t.config.Now())
	if took < 100*time.Millisecond {
		return "", plain // not worth the eye
	}
	return seconds(took), More
}

// body is what the call shows below its head line: whole when open, nothing
// when closed, else as much as helps to follow the work.
func (t *Transcript) body(b *block, c *session.ToolCall, status session.ToolCallStatus) []Line {
	if b.open == closed {
		return nil
	}
	quiet := status.Finished() && status != session.StatusFailed
	switch c.Kind {
	case session.KindEdit, session.KindExecute, session.KindDelete, session.KindMove:
		quiet = false
	}
	quiet = quiet || (len(b.diffs) > 0 && status != session.StatusFailed) // the diff says it
	var lines []Line
	diffs := b.diffs
	for _, item := range c.Content {
		switch item := item.(type) {
		case session.Diff:
			lines = append(lines, t.diffBody(b, &diffs[0])...)
			diffs = diffs[1:]
		case session.TerminalRef:
			lines = append(lines, t.terminalBody(b, item.TerminalID)...)
		case session.ContentItem:
			if b.open == opened || !quiet {
				lines = append(lines, t.textBody(b, Describe(item.Content), c.Kind == session.KindExecute)...)
			}
		case session.UnknownItem:
			lines = append(lines, line(piece{"    [" + item.Type + "]", More}))
		}
	}
	if b.open == opened && len(lines) == 0 {
		lines = rawBody(c)
	}
	return lines
}

func (t *Transcript) terminalBody(b *block, id string) []Line {
	n := previewOutput
	if b.open == opened {
		n = 2000 // the whole of it has a window of its own
	}
	screen, ok := t.config.Terminal(id, n)
	if !ok {
		return nil
	}
	var lines []Line
	if hidden := screen.Total - len(screen.Lines); hidden > 0 {
		lines = append(lines, MoreLine(hidden))
	}
	for _, l := range screen.Lines {
		const indent = "    "
		out := Line{Text: indent + l.Text, Marks: make([]Mark, 0, len(l.Marks)+1)}
		out.Marks = append(out.Marks, Mark{0, len(out.Text), Output})
		for _, m := range l.Marks {
			out.Marks = append(out.Marks, Mark{m.Col + len(indent), m.EndCol + len(indent), m.Group})
		}
		lines = append(lines, out)
	}
	if screen.State != "" {
		lines = append(lines, line(piece{"    " + screen.State, ToolFailed}))
	}
	return lines
}

// textBody shows the end of a command's output, and the beginning of others.
func (t *Transcript) textBody(b *block, text string, tail bool) []Line {
	text = strings.Trim(unfenced(strings.Trim(text, "\n")), "\n")
	if text == "" {
		return nil
	}
	lines := colored(text, "    ", Output)
	if b.open == opened || len(lines) <= previewOutput {
		return lines
	}
	hidden := MoreLine(len(lines) - previewOutput)
	if tail {
		return append([]Line{hidden}, lines[len(lines)-previewOutput:]...)
	}
	return append(lines[:previewOutput:previewOutput], hidden)
}

// unfenced takes off the fence that some agents put around output.
func unfenced(text string) string {
	first, rest, found := strings.Cut(text, "\n")
	body, closed := strings.CutSuffix(rest, "```")
	if !found || !closed || !strings.HasPrefix(first, "```") || strings.Contains(body, "```") {
		return text
	}
	return strings.TrimSuffix(body, "\n")
}

// rawBody is what an opened call without content has to show: its input.
func rawBody(c *session.ToolCall) []Line {
	var fields map[string]json.RawMessage
	var text bytes.Buffer
	if json.Unmarshal(c.RawInput, &fields) != nil || len(fields) == 0 || json.Indent(&text, c.RawInput, "", "  ") != nil {
		return []Line{line(piece{"    nothing more was reported", More})}
	}
	return colored(text.String(), "    ", Output)
}

// MoreLine stands for n lines that are not shown.
func MoreLine(n int) Line { return line(piece{fmt.Sprintf("    … +%d lines", n), More}) }

// FileLine is the name of a file and how much of it changes.
func FileLine(name string, added, removed int) Line {
	return line(append([]piece{{name, ToolTitle}}, counts(added, removed)...)...)
}

func counts(added, removed int) []piece {
	var pieces []piece
	if added > 0 {
		pieces = append(pieces, piece{"  ", plain}, piece{fmt.Sprintf("+%d", added), DiffAdded})
	}
	if removed > 0 {
		pieces = append(pieces, piece{"  "[min(added, 1):], plain}, piece{fmt.Sprintf("−%d", removed), DiffRemoved})
	}
	return pieces
}
