package transcript

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/markdown"
)

// How much of a body is shown, in lines: before the user opens it, and then.
// The whole of it has a window of its own.
const (
	previewDiff   = 12
	previewOutput = 6
	maxOpened     = 2000
)

// render returns the lines of an entry other than an agent's message.
func (t *Transcript) render(b *block) []Line {
	switch e := b.entry.(type) {
	case *session.Message:
		if e.Role == session.RoleThought {
			return t.renderThought(b, e)
		}
		return t.renderPrompt(b, e)
	case *session.ToolCall:
		return t.renderToolCall(b, e)
	case *session.Plan:
		return renderPlan(e.Entries)
	case *session.NoticeEntry:
		return t.renderNotice(b, e)
	case *session.Compaction:
		return t.renderCompaction(b, e)
	case *session.Unknown:
		return []Line{line(piece{fmt.Sprintf("  · %s%s", e.Type, times(e.Count)), More})}
	case *session.Stop:
		lines := t.renderStop(b, e)
		if e == t.dueAfter && t.due.Files > 0 {
			lines = append(lines, t.dueLine())
		}
		return lines
	}
	return nil
}

// isOpen tells whether a block's body is shown whole.
func (t *Transcript) isOpen(b *block) bool { return b.open == opened }

func (t *Transcript) renderPrompt(b *block, m *session.Message) []Line {
	var lines []Line
	for _, p := range m.Parts {
		if p.Content != nil {
			lines = append(lines, line(piece{"@ " + t.attachment(p.Content), More}))
			continue
		}
		lines = append(lines, styled(string(p.Text))...)
	}
	for i := range lines {
		lines[i].Sign, lines[i].SignGroup = "▌", User
	}
	if b.waits != nil {
		return t.unsent(lines, *b.waits)
	}
	return lines
}

// styled is a finished markdown text as lines.
func styled(text string) []Line {
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

func plainLines(text string) []Line {
	parts := strings.Split(text, "\n")
	lines := make([]Line, len(parts))
	for i, p := range parts {
		lines[i].Text = p
	}
	return lines
}

// colored gives every line of a text one highlight.
func colored(text, indent string, group Group) []Line {
	lines := plainLines(strings.TrimRight(text, "\n"))
	for i := range lines {
		lines[i] = line(piece{indent + lines[i].Text, group})
	}
	return lines
}

func (t *Transcript) renderThought(b *block, m *session.Message) []Line {
	end, label := m.Ended, "Thought for "
	if end.IsZero() {
		end, label = t.config.Now(), "Thinking … "
	}
	icon := "▸ "
	if t.isOpen(b) {
		icon = "▾ "
	}
	lines := []Line{line(piece{"  " + icon + label + seconds(end.Sub(m.Started)), Thought})}
	if t.isOpen(b) {
		lines = append(lines, thoughtLines(m)...)
	}
	return lines
}

// thoughtLines are the words of a thought, which may grow by many small pieces: of a long line no more is looked
// at each time than is shown.
func thoughtLines(m *session.Message) (lines []Line) {
	text := []byte(nil)
	if len(m.Parts) == 1 {
		text = m.Parts[0].Text
	} else {
		text = []byte(m.Text())
	}
	for l := range bytes.SplitSeq(bytes.TrimRight(text, "\n"), []byte("\n")) {
		shown := cut(l, maxWords)
		if len(l) <= maxWords+64 {
			shown = len(l)
		}
		lines = append(lines, line(piece{"    " + string(l[:shown]), Thought}))
		if shown < len(l) {
			lines[len(lines)-1].add(piece{" … +" + size(len(l)-shown) + elsewhere, More})
		}
	}
	return lines
}

func renderPlan(entries []session.PlanEntry) []Line {
	lines := []Line{line(piece{"  Plan", ToolKind})}
	for _, e := range entries {
		icon, group := "·", Plan
		switch e.Status {
		case "completed":
			icon, group = "✓", PlanDone
		case "in_progress":
			icon, group = "▸", PlanNow
		}
		text := OneLine(e.Content)
		if e.Priority == "high" && e.Status != "completed" {
			text += " !"
		}
		lines = append(lines, line(piece{"    " + icon + " ", group}, piece{text, group}))
	}
	return lines
}

func (t *Transcript) renderNotice(b *block, e *session.NoticeEntry) []Line {
	icon, group := "i", Info
	switch e.Severity {
	case "warning":
		icon, group = "!", Warning
	case "error":
		icon, group = "✗", Error
	}
	lines := colored(e.Title, "  "+icon+" ", group)
	for i := 1; i < len(lines); i++ {
		lines[i] = line(piece{"    " + strings.TrimPrefix(lines[i].Text, "  "+icon+" "), group})
	}
	if e.Description != "" {
		lines = append(lines, colored(e.Description, "    ", More)...)
	}
	return t.detailed(b, lines, e.Detail)
}

// detailed are lines with what is behind them: when the user opens it, else only how much there is.
func (t *Transcript) detailed(b *block, lines []Line, detail string) []Line {
	if detail == "" {
		return lines
	}
	rest := colored(detail, "    ", More)
	if t.isOpen(b) {
		return append(lines, rest...)
	}
	for _, p := range counts(figures{lines: len(rest)}) {
		lines[len(lines)-1].add(p)
	}
	return lines
}

func (t *Transcript) renderCompaction(b *block, e *session.Compaction) []Line {
	head := map[string]string{
		"in_progress": "Compacting the context …",
		"completed":   "The context was compacted",
		"failed":      "Compacting the context failed",
		"cancelled":   "Compacting the context was cancelled",
	}[e.Status]
	if head == "" {
		head = "Compacting the context: " + e.Status
	}
	if e.Error != "" {
		head += ": " + e.Error
	}
	group := Info
	if e.Status == "failed" {
		group = Error
	}
	lines := colored(head, "  ⇣ ", group)
	if len(e.Summary) > 0 && t.isOpen(b) {
		for _, c := range e.Summary {
			lines = append(lines, colored(t.describe(c), "    ", More)...)
		}
	} else if len(e.Summary) > 0 {
		lines = append(lines, line(piece{"    … summary", More}))
	}
	return lines
}

func (t *Transcript) renderStop(b *block, e *session.Stop) []Line {
	var lines []Line
	switch e.Reason {
	case session.StopEndTurn:
	case session.StopCancelled:
		lines = []Line{line(piece{"  ■ Cancelled after " + seconds(e.Took), Warning})}
	case session.StopMaxTokens:
		lines = []Line{line(piece{"  ■ Stopped: the token limit was reached. Send a prompt to go on.", Warning})}
	case session.StopMaxTurnRequests:
		lines = []Line{line(piece{"  ■ Stopped: the agent used up its requests for one turn. Send a prompt to go on.", Warning})}
	case session.StopRefusal:
		lines = []Line{line(piece{"  ■ The agent refused to go on; it will not remember this prompt and what came after it.", Warning})}
	case session.StopError:
		lines = t.detailed(b, colored(e.Error, "  ✗ ", Error), e.Detail)
	default:
		lines = []Line{line(piece{"  ■ Stopped: " + string(e.Reason), Warning})}
	}
	var used []string
	if e.Tokens > 0 {
		used = append(used, thousands(e.Tokens)+" tokens")
	}
	if e.Cost != nil && e.Cost.Amount >= 0.0005 { // else it reads as nothing
		used = append(used, fmt.Sprintf("%.3f %s", e.Cost.Amount, e.Cost.Currency))
	}
	if len(used) > 0 {
		used = append(used, seconds(e.Took))
		lines = append(lines, line(piece{"  · " + strings.Join(used, " · "), More}))
	}
	return lines
}

// thousands is a number with its digits in groups of three.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Relative is a path as shown: relative to a session's folder where it is below.
func Relative(cwd, p string) string {
	if rel, err := filepath.Rel(cwd, p); err == nil && path.IsAbs(p) && rel != ".." && !strings.HasPrefix(rel, "../") {
		return rel
	}
	return p
}

func (t *Transcript) relative(p string) string { return Relative(t.config.Cwd, p) }

// seconds is a duration as people say it: 0.1 s, 12 s, 3:05.
func seconds(d time.Duration) string {
	d = d.Round(100 * time.Millisecond)
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" ×%d", n)
}
