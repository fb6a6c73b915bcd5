package transcript

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// How many lines of a body are shown: before the user opens it, and then. The whole of it has a window of its own.
const (
	previewDiff   = 12
	previewOutput = 6
	maxOpened     = 2000
)

// maxLine is how many bytes of a line are shown: drawing a line of a megabyte would slow down every key.
const maxLine = 2000

// maxWords is the same for a line of prose: a message, a thought, a prompt. The time that Neovim takes to move the
// cursor grows with its square: on 0.10, about 6 ms in 4 KB, 50 ms in 8 KB.
const maxWords = 4 << 10

// elsewhere says where to find all of what is shown in part.
const elsewhere = " · all of it in a window of its own"

// render returns the lines of an entry other than an agent's message.
func (t *Transcript) render(b *block) []styled.Line {
	switch e := b.entry.(type) {
	case *session.Message:
		if e.Role == session.RoleThought {
			return t.renderThought(b, e)
		}
		return t.renderPrompt(b, e)
	case *session.ToolCall:
		return t.renderToolCall(b, e)
	case *session.Plan:
		return t.renderPlan(b, e)
	case *session.NoticeEntry:
		return t.renderNotice(b, e)
	case *session.Compaction:
		return t.renderCompaction(b, e)
	case *session.Unknown:
		return []styled.Line{styled.Join(styled.Text(fmt.Sprintf("  · %s%s", e.Type, times(e.Count)), styled.More))}
	case *session.Stop:
		lines := t.renderStop(b, e)
		if e == t.dueAfter && t.due.Files > 0 {
			lines = append(lines, t.dueLine())
		}
		return lines
	}
	return nil
}

// isOpen reports whether a block's body is shown whole.
func (t *Transcript) isOpen(b *block) bool { return b.open == opened }

func (t *Transcript) renderPrompt(b *block, m *session.Message) []styled.Line {
	var lines []styled.Line
	for _, p := range m.Parts {
		if p.Content != nil {
			lines = append(lines, styled.Join(styled.Text("@ "+t.attachment(p.Content), styled.More)))
			continue
		}
		lines = append(lines, styled.Markdown(string(p.Text))...)
	}
	for i := range lines {
		lines[i].Sign, lines[i].SignGroup = "▌", styled.User
	}
	if b.waits != nil {
		return t.unsent(lines, *b.waits)
	}
	return lines
}

func (t *Transcript) renderThought(b *block, m *session.Message) []styled.Line {
	if silent(m) {
		return nil
	}
	end, label := m.Ended, "Thought for "
	if end.IsZero() {
		end, label = t.config.Now(), "Thinking … "
	}
	icon := "▸ "
	if t.isOpen(b) {
		icon = "▾ "
	}
	lines := []styled.Line{styled.Join(styled.Text("  "+icon+label+seconds(end.Sub(m.Started)), styled.Thought))}
	if t.isOpen(b) {
		lines = append(lines, thoughtLines(m)...)
		for _, p := range m.Parts {
			if p.Content != nil {
				lines = append(lines, t.contentBody(b, "", p.Content)...)
			}
		}
	}
	return lines
}

// thoughtLines renders a thought, which may grow by many small pieces: of a long line, only what is shown is read each
// time.
func thoughtLines(m *session.Message) (lines []styled.Line) {
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
		lines = append(lines, styled.Join(styled.Text("    "+string(l[:shown]), styled.Thought)))
		if shown < len(l) {
			lines[len(lines)-1].Add(styled.Text(" … +"+styled.Size(len(l)-shown)+elsewhere, styled.More))
		}
	}
	return lines
}

func (t *Transcript) renderPlan(b *block, p *session.Plan) []styled.Line {
	if p.Empty() {
		return nil // the agent has withdrawn it
	}
	lines := append([]styled.Line{styled.Join(styled.Text("  Plan", styled.ToolKind))}, renderSteps(p.Entries)...)
	if p.Content != nil {
		lines = append(lines, t.contentBody(b, "", p.Content)...)
	}
	return lines
}

// renderSteps renders the steps of a plan.
func renderSteps(entries []session.PlanEntry) (lines []styled.Line) {
	for _, e := range entries {
		icon, group := "·", styled.Plan
		switch e.Status {
		case "completed":
			icon, group = "✓", styled.PlanDone
		case "in_progress":
			icon, group = "▸", styled.PlanNow
		}
		text := styled.OneLine(e.Content)
		if e.Priority == "high" && e.Status != "completed" {
			text += " !"
		}
		lines = append(lines, styled.Join(styled.Text("    "+icon+" ", group), styled.Text(text, group)))
	}
	return lines
}

func (t *Transcript) renderNotice(b *block, e *session.NoticeEntry) []styled.Line {
	icon, group := "i", styled.Info
	switch e.Severity {
	case "warning":
		icon, group = "!", styled.Warning
	case "error":
		icon, group = "✗", styled.Error
	}
	lines := styled.Prefixed(e.Title, "  "+icon+" ", group)
	for i := 1; i < len(lines); i++ {
		lines[i] = styled.Join(styled.Text("    "+strings.TrimPrefix(lines[i].Text, "  "+icon+" "), group))
	}
	if e.Description != "" {
		lines = append(lines, styled.Prefixed(e.Description, "    ", styled.More)...)
	}
	return t.detailed(b, lines, e.Detail)
}

// detailed returns lines with their details if the user has opened them, otherwise with how much there is.
func (t *Transcript) detailed(b *block, lines []styled.Line, detail string) []styled.Line {
	if detail == "" {
		return lines
	}
	rest := styled.Prefixed(detail, "    ", styled.More)
	if t.isOpen(b) {
		return append(lines, rest...)
	}
	for _, p := range counts(figures{lines: len(rest)}) {
		lines[len(lines)-1].Add(p)
	}
	return lines
}

func (t *Transcript) renderCompaction(b *block, e *session.Compaction) []styled.Line {
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
	group := styled.Info
	if e.Status == "failed" {
		group = styled.Error
	}
	lines := styled.Prefixed(head, "  ⇣ ", group)
	if len(e.Summary) > 0 && t.isOpen(b) {
		for _, c := range e.Summary {
			lines = append(lines, styled.Prefixed(t.describe(c), "    ", styled.More)...)
		}
	} else if len(e.Summary) > 0 {
		lines = append(lines, styled.Join(styled.Text("    … summary", styled.More)))
	}
	return lines
}

func (t *Transcript) renderStop(b *block, e *session.Stop) []styled.Line {
	var lines []styled.Line
	switch e.Reason {
	case session.StopEndTurn:
	case session.StopCancelled:
		lines = []styled.Line{styled.Join(styled.Text("  ■ Cancelled after "+seconds(e.Took), styled.Warning))}
	case session.StopMaxTokens:
		lines = []styled.Line{styled.Join(styled.Text("  ■ Stopped: the token limit was reached. Send a prompt to go on.", styled.Warning))}
	case session.StopMaxTurnRequests:
		lines = []styled.Line{styled.Join(styled.Text("  ■ Stopped: the agent used up its requests for one turn. Send a prompt to go on.", styled.Warning))}
	case session.StopRefusal:
		lines = []styled.Line{styled.Join(styled.Text("  ■ The agent refused to go on; it will not remember this prompt and what came after it.", styled.Warning))}
	case session.StopError:
		lines = t.detailed(b, styled.Prefixed(e.Error, "  ✗ ", styled.Error), e.Detail)
	default:
		lines = []styled.Line{styled.Join(styled.Text("  ■ Stopped: "+string(e.Reason), styled.Warning))}
	}
	var used []string
	if e.Tokens.Total > 0 {
		used = append(used, styled.Thousands(e.Tokens.Total)+" tokens")
	}
	if e.Cost != nil && e.Cost.Amount >= 0.0005 { // otherwise it would show as zero
		used = append(used, fmt.Sprintf("%.3f %s", e.Cost.Amount, e.Cost.Currency))
	}
	if len(used) > 0 {
		used = append(used, seconds(e.Took))
		lines = append(lines, styled.Join(styled.Text("  · "+strings.Join(used, " · "), styled.More)))
	}
	if e.Tokens.Input+e.Tokens.Output > 0 && t.isOpen(b) {
		lines = append(lines, styled.Join(styled.Text("    "+spent(e.Tokens), styled.More)))
	}
	return lines
}

// spent says what the tokens of a turn consist of.
func spent(used session.TurnTokens) string {
	text := styled.Thousands(used.Input) + " in"
	if used.Read > 0 {
		text += ", " + styled.Thousands(used.Read) + " from the cache"
	}
	if used.Written > 0 {
		text += ", " + styled.Thousands(used.Written) + " to the cache"
	}
	text += " · " + styled.Thousands(used.Output) + " out"
	if used.Thought > 0 {
		text += ", " + styled.Thousands(used.Thought) + " in thoughts"
	}
	return text
}

func (t *Transcript) relative(p string) string { return styled.Relative(t.config.Cwd, p) }

// seconds returns a duration in words: 0.1 s, 12 s, 3:05.
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
