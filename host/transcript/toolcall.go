package transcript

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editortools/sentence"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// statusIcons and kindLabels show a tool call's status and kind; unlisted ones get the last ones.
var statusIcons = map[session.ToolCallStatus]struct {
	icon  string
	group styled.Group
}{
	session.StatusPending:    {"·", styled.More},
	session.StatusInProgress: {"▸", styled.ToolRunning},
	session.StatusPaused:     {"‖", styled.ToolRunning},
	session.StatusCompleted:  {"✓", styled.ToolDone},
	session.StatusFailed:     {"✗", styled.ToolFailed},
	session.StatusCancelled:  {"■", styled.More},
	session.StatusWaiting:    {"?", styled.ToolWaiting},
	session.StatusRejected:   {"⊘", styled.ToolFailed},
}

var kindLabels = map[session.ToolKind]string{
	session.KindRead: "read", session.KindEdit: "edit", session.KindDelete: "delete",
	session.KindMove: "move", session.KindSearch: "search", session.KindExecute: "run",
	session.KindThink: "think", session.KindFetch: "fetch", session.KindSwitchMode: "mode",
	session.KindOther: "tool",
}

// kindIcons are shown before the kinds; nerdIcons if the user has a Nerd Font.
var kindIcons = map[session.ToolKind]string{
	session.KindRead: "»", session.KindEdit: "✎", session.KindDelete: "⌫", session.KindMove: "➜",
	session.KindSearch: "⌕", session.KindExecute: "$", session.KindThink: "✻", session.KindFetch: "⇣",
	session.KindSwitchMode: "⇄", session.KindOther: "◦",
}

var nerdIcons = map[session.ToolKind]string{
	session.KindRead: "\uf06e", session.KindEdit: "\uf040", session.KindDelete: "\uf1f8", session.KindMove: "\uf0ec",
	session.KindSearch: "\uf002", session.KindExecute: "\uf120", session.KindThink: "\uf0eb", session.KindFetch: "\uf0ac",
	session.KindSwitchMode: "\uf074", session.KindOther: "\uf013",
}

// figures are what the head line of a call counts.
type figures struct {
	added, removed int
	lines          int // of the body, without the shown ones
	calls          int // of the sub-agent, if they are not shown
}

// renderToolCall renders a head line, and a body if there is one to show. The calls of a sub-agent are below the call
// that it works for, which hides them when it is closed.
func (t *Transcript) renderToolCall(b *block, c *session.ToolCall) []styled.Line {
	if b.hidden() {
		return nil
	}
	status := t.outcome(c)
	b.diffs = t.diffsOf(c, b.diffs)
	b.about = figures{}
	for _, d := range b.diffs {
		b.about.added, b.about.removed = b.about.added+d.Added, b.about.removed+d.Removed
	}
	body := t.body(b, c, status)
	if len(body) == 0 && b.open != opened {
		b.about.lines = t.bodySize(c, b.diffs)
	}
	if b.open == closed {
		b.about.calls = t.descendants(b)
	}
	if status.Finished() {
		b.diffs = nil
	}
	for i := range body {
		body[i].Shorten(maxLine, elsewhere)
	}
	in := b.indent()
	lines := append([]styled.Line{t.head(b, c, status, in)}, body...)
	if in > 0 {
		for i := range lines {
			lines[i].Shift(in)
		}
	}
	return lines
}

// outcome returns the status that a call is shown with. An agent may report a call as completed although its command
// failed.
func (t *Transcript) outcome(c *session.ToolCall) session.ToolCallStatus {
	status := c.Shown()
	if status != session.StatusCompleted {
		return status
	}
	if !c.Exit().Succeeded() {
		return session.StatusFailed
	}
	for _, item := range c.Shows() {
		if ref, ok := item.(session.TerminalRef); ok && c.Kind == session.KindExecute {
			switch screen, _ := t.config.Terminal(ref.TerminalID, 0); {
			case screen.Behind:
				return session.StatusInProgress
			case screen.State != "":
				return session.StatusFailed
			}
		}
	}
	return status
}

// head returns the line that says what a call does, on what, and its status. If not everything fits, these stay
// longest, in this order: the status, what is pending, the last part of the path, the changes, the title, what is not
// shown, the time. The line begins in cells from the left.
func (t *Transcript) head(b *block, c *session.ToolCall, status session.ToolCallStatus, in int) styled.Line {
	look, known := statusIcons[status]
	if !known {
		look.icon, look.group = "▸", styled.ToolRunning
	}
	label, known := kindLabels[c.Kind]
	if !known {
		label = cmp.Or(string(c.Kind), kindLabels[session.KindOther])
	}
	icons := kindIcons
	if t.config.NerdFont {
		icons = nerdIcons
	}
	icon, known := icons[c.Kind]
	if !known {
		icon = icons[session.KindOther]
	}
	steps := stepsOf(c)
	if len(steps) > 0 {
		label = "plan"
	}
	state, icon, kind := "  "+look.icon+" ", icon+" ", fmt.Sprintf("%-6s ", label)
	_, ours := sentence.Of(c)
	if ours {
		kind = "" // the sentence says it
	}
	places := placesOf(c)
	object, more := t.what(c, label, places), styled.Counts(b.about.added, b.about.removed)
	if len(steps) > 0 {
		object = progress(steps)
	}
	unseen := counts(figures{lines: b.about.lines, calls: b.about.calls})
	rights, rightGroup := t.rightWords(c, status)
	right, timed := rights[0], rightGroup == styled.Plain
	if len(places) > 1 {
		more = append([]styled.Piece{styled.Text(fmt.Sprintf(" +%d", len(places)-1), styled.More)}, more...)
	}
	fit := headFit{icon: icon, right: right, more: more, unseen: unseen, timed: timed, sentence: ours}
	switch {
	case b.open == opened:
		fit.title = object.fitted(maxLine) // on as many rows as it takes
	case t.width == 0:
		fit.title = object.fitted(titleWidth)
	default:
		fit.into(t.width-in-styled.Cells(state+icon+kind), object, rights)
	}
	right = fit.right
	pieces := []styled.Piece{styled.Text(state, look.group), styled.Text(fit.icon+kind, styled.ToolKind), styled.Text(fit.title, styled.ToolTitle)}
	head := styled.Join(append(append(pieces, fit.more...), fit.unseen...)...)
	head.Right, head.RightGroup = right, rightGroup
	if right != "" && timed {
		head.RightGroup = styled.More
	}
	if len(c.Locations) > 0 { // else it leads to the change
		head.Place = styled.Place{Path: c.Locations[0].Path, Line: c.Locations[0].Line}
	}
	return head
}

// headFit has the parts of a head line that give way if not everything fits.
type headFit struct {
	icon, title, right string
	more, unseen       []styled.Piece
	timed, sentence    bool // right is a time; the title is a sentence
}

// into fits the parts into room cells, those of the icon not among them. rights are the words at the right edge, from
// long to short.
func (h *headFit) into(room int, object object, rights []string) {
	// What has no room the editor hides.
	fits := func(words string, more []styled.Piece) bool {
		if words != "" {
			words += "  "
		}
		return room-styled.Cells(words)-styled.CellsOf(more) >= object.least()
	}
	if h.timed {
		rights = []string{""} // it comes last
	}
	shortest := rights[len(rights)-1]
	if !fits(shortest, h.more) {
		room, h.icon = room+styled.Cells(h.icon), ""
	}
	if !fits(shortest, nil) {
		shortest, rights = "", nil
	}
	if !fits(shortest, h.more) {
		h.more = nil
	}
	for _, words := range rights {
		if fits(words, h.more) {
			if words != "" {
				room, h.right = room-styled.Cells(words)-2, words
			}
			break
		}
	}
	room -= styled.CellsOf(h.more)
	enough := min(styled.Cells(object.fitted(maxLine)), enoughTitle)
	if h.sentence || object.end != "" { // a sentence says most at its end
		enough = styled.Cells(object.title + object.end) // which counts what is not shown already
	}
	if left := room - styled.CellsOf(h.unseen); left >= enough {
		room = left
	} else {
		h.unseen = nil
	}
	if left := room - max(styled.Cells(h.right), timeWidth) - 3; h.timed && left >= max(enough, enoughTitle) {
		room = left // a time may come there
	}
	if h.icon != "" && room < enoughTitle && styled.Cells(cmp.Or(object.path, object.title)) > room {
		room, h.icon = room+styled.Cells(h.icon), ""
	}
	h.title = object.fitted(room)
}

const (
	titleWidth  = 72 // how much of a title is shown without a window, in cells
	enoughTitle = 24 // a title of this many cells is enough to leave room for the rest
	leastTitle  = 8  // fewer are unreadable
	timeWidth   = 6  // how much of a line a time takes, in cells
)

// fitted cuts a title to a number of cells. The end of a path is the most telling.
func fitted(title string, room int) string {
	room = max(room, 8)
	if styled.Cells(title) <= room {
		return title
	}
	if strings.Contains(title, "/") && !strings.Contains(title, " ") {
		return ansi.TruncateLeftWc(title, styled.Cells(title)-room+1, "…")
	}
	return ansi.TruncateWc(title, room, "…")
}

// rightWords returns what is shown at the right edge of the head line, and the same in fewer words. A time has no group,
// and is drawn as More.
func (t *Transcript) rightWords(c *session.ToolCall, status session.ToolCallStatus) (words []string, group styled.Group) {
	switch status {
	case session.StatusWaiting:
		return []string{"waits for you", "waits"}, styled.ToolWaiting
	case session.StatusRejected:
		return []string{"refused"}, styled.ToolFailed
	case session.StatusCancelled:
		if c.LeftOpen() {
			return []string{"unfinished"}, styled.More
		}
		return []string{"cancelled"}, styled.More
	case session.StatusPending:
		return []string{""}, styled.Plain
	}
	var said []string
	if _, known := statusIcons[status]; !known || status == session.StatusPaused {
		said = append(said, styled.OneLine(string(status)))
	}
	if took := c.Elapsed(t.config.Now()); took >= 100*time.Millisecond { // otherwise not worth showing
		said = append(said, seconds(took))
	}
	return []string{strings.Join(said, " ")}, styled.Plain
}

// body renders what the call shows below its head line: everything if open, nothing if closed, otherwise as much as
// helps to follow the work.
func (t *Transcript) body(b *block, c *session.ToolCall, status session.ToolCallStatus) []styled.Line {
	if b.open == closed {
		return nil
	}
	if steps := stepsOf(c); len(steps) > 0 && status != session.StatusFailed {
		if b.open != opened {
			return nil
		}
		return renderSteps(steps)
	}
	quiet := status.Finished() && status != session.StatusFailed
	switch c.Kind {
	case session.KindEdit, session.KindExecute, session.KindDelete, session.KindMove:
		quiet = false
	}
	quiet = quiet || (len(b.diffs) > 0 && status != session.StatusFailed) // the diff says it
	var lines []styled.Line
	if b.open == opened && len(c.Locations) > 1 {
		lines = t.places(c.Locations)
	}
	shown, diffs, terminal := len(lines), b.diffs, false
	for _, item := range c.Shows() {
		switch item := item.(type) {
		case session.Diff:
			lines = append(lines, leadTo(t.diffBody(b, &diffs[0]), item.Path)...)
			diffs = diffs[1:]
		case session.TerminalRef:
			terminal = true
			lines = append(lines, t.terminalBody(b, item.TerminalID)...)
		case session.ContentItem:
			_, picture := item.Content.(session.Image)
			if isTitle(c, item.Content) {
				continue
			}
			if b.open == opened || !quiet || picture {
				lines = append(lines, t.contentBody(b, c.Kind, item.Content)...)
			} else {
				b.about.lines += contentSize(item.Content) // beside what is shown
			}
		case session.UnknownItem:
			lines = append(lines, styled.Join(styled.Text("    ["+cmp.Or(item.Type, "unknown")+"]", styled.More)))
		}
	}
	for i := range diffs { // that the agent no longer sends
		lines = append(lines, leadTo(t.diffBody(b, &diffs[i]), diffs[i].Path)...)
	}
	switch {
	case len(lines) > shown:
	case b.open == opened:
		lines = append(lines, rawBody(c)...)
	case status == session.StatusFailed:
		lines = append(lines, clipped(plainBody(readable(c.RawOutput, 100)), previewOutput)...) // why it failed
	}
	if exit := c.Exit(); !exit.Succeeded() && !terminal { // which says it itself
		lines = append(lines, styled.Join(styled.Text("    "+exit.String(), styled.ToolFailed)))
	}
	if _, ours := sentence.Of(c); ours {
		t.leadToNamed(lines)
	}
	return lines
}

// leadToNamed sets what the lines of an editor's answer refer to: each names its place.
func (t *Transcript) leadToNamed(lines []styled.Line) {
	for i := range lines {
		path, number, ok := sentence.PlaceIn(lines[i].Text)
		if !ok {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.config.Cwd, path)
		}
		lines[i].Place = styled.Place{Path: path, Line: number}
	}
}

// places lists all files that a call is about.
func (t *Transcript) places(list []session.Location) []styled.Line {
	lines := make([]styled.Line, len(list))
	for i, l := range list {
		name := t.relative(l.Path)
		if l.Line > 0 {
			name += fmt.Sprintf(":%d", l.Line)
		}
		lines[i] = styled.Join(styled.Text("    ", styled.Plain), styled.Text(name, styled.ToolKind))
		lines[i].Place = styled.Place{Path: l.Path, Line: l.Line}
	}
	return lines
}

// leadTo sets what lines without a place refer to.
func leadTo(lines []styled.Line, path string) []styled.Line {
	for i := range lines {
		if lines[i].Place.Path == "" {
			lines[i].Place.Path = path
		}
	}
	return lines
}

func (t *Transcript) terminalBody(b *block, id string) []styled.Line {
	screen, ok := t.config.Terminal(id, b.room())
	if !ok {
		return nil
	}
	var lines []styled.Line
	if hidden := screen.Total - len(screen.Lines); hidden > 0 {
		lines = append(lines, styled.MoreLine(hidden))
	}
	lines = append(lines, indented(screen.Lines)...)
	if screen.Behind {
		lines = append(lines, styled.Join(styled.Text("    runs in the background", styled.More)))
	}
	if screen.State != "" {
		lines = append(lines, styled.Join(styled.Text("    "+screen.State, styled.ToolFailed)))
	}
	return lines
}

// counts returns the figures of a call in words.
func counts(f figures) []styled.Piece {
	list := styled.Counts(f.added, f.removed)
	if f.calls > 0 {
		list = append(list, styled.Text("  … +"+styled.Many(f.calls, "call"), styled.More))
	}
	if f.lines > 0 {
		list = append(list, styled.Text("  … +"+styled.Many(f.lines, "line"), styled.More))
	}
	return list
}
