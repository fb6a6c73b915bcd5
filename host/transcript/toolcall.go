package transcript

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

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

// kindIcons stand before the kinds; nerdIcons do where the user has a Nerd Font.
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
	lines          int // of the body, without what is shown of it
	calls          int // of the sub-agent, where they are not shown
}

// renderToolCall is a head line, and a body where there is one to show. The
// calls of a sub-agent stand below the call that it works for, which hides them
// when it is closed.
func (t *Transcript) renderToolCall(b *block, c *session.ToolCall) []Line {
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
		body[i].shortenTo(maxLine, elsewhere)
	}
	in := b.indent()
	lines := append([]Line{t.head(b, c, status, in)}, body...)
	if in > 0 {
		for i := range lines {
			lines[i].shift(in)
		}
	}
	return lines
}

// outcome is the status that a call is shown with. An agent may have completed
// a call of which the command has failed.
func (t *Transcript) outcome(c *session.ToolCall) session.ToolCallStatus {
	status := c.Shown()
	if status != session.StatusCompleted {
		return status
	}
	if !c.Exit().Succeeded() {
		return session.StatusFailed
	}
	for _, item := range c.Content {
		if ref, ok := item.(session.TerminalRef); ok && c.Kind == session.KindExecute {
			if screen, ok := t.config.Terminal(ref.TerminalID, 0); ok && screen.State != "" {
				return session.StatusFailed
			}
		}
	}
	return status
}

// head is the line that says what a call does, on what, and how it stands. Where
// there is not room for all the end of the title goes; in a narrow window also
// what stands at the right edge, the counts, and the icon of the kind. It stands
// in cells from the left.
func (t *Transcript) head(b *block, c *session.ToolCall, status session.ToolCallStatus, in int) Line {
	look, known := statusIcons[status]
	if !known {
		look.icon, look.group = "▸", ToolRunning
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
	state, icon, kind := "  "+look.icon+" ", icon+" ", fmt.Sprintf("%-6s ", label)
	places := placesOf(c)
	title, more := t.what(c, label, places), counts(b.about)
	right, rightGroup := t.beside(c, status)
	if len(places) > 1 {
		more = append([]piece{{fmt.Sprintf(" +%d", len(places)-1), More}}, more...)
	}
	switch {
	case b.open == opened:
		title = fitted(title, maxLine) // on as many rows as it takes
	case t.width == 0:
		title = fitted(title, titleWidth)
	default:
		room := t.width - in - cells(state+icon+kind)
		// Without room the editor hides what is at the right. A time may come there.
		if left := room - max(cells(right), timeWidth) - 3; left >= enoughTitle {
			room = left
		}
		if left := room - cellsOf(more); left >= min(cells(title), enoughTitle) {
			room = left
		} else {
			more = nil
		}
		if cells(title) > room && room < enoughTitle {
			room, icon = room+cells(icon), ""
		}
		title = fitted(title, room)
	}
	pieces := []piece{{state, look.group}, {icon + kind, ToolKind}, {title, ToolTitle}}
	head := line(append(pieces, more...)...)
	head.Right, head.RightGroup = right, rightGroup
	if len(c.Locations) > 0 { // else it leads to the change
		head.Place = Place{Path: c.Locations[0].Path, Line: c.Locations[0].Line}
	}
	return head
}

// placesOf are a call's locations, or the file of its diff where it names none.
// Several files of a diff are named below.
func placesOf(c *session.ToolCall) []session.Location {
	if len(c.Locations) > 0 {
		return c.Locations
	}
	path := ""
	for _, item := range c.Content {
		if d, ok := item.(session.Diff); ok {
			if path != "" && d.Path != path {
				return nil
			}
			path = d.Path
		}
	}
	if path == "" {
		return nil
	}
	return []session.Location{{Path: path}}
}

// what names the object of a call: its title without what the label says
// already, and the line where it is known.
func (t *Transcript) what(c *session.ToolCall, label string, places []session.Location) string {
	title := OneLine(strings.ToValidUTF8(c.Title[:min(len(c.Title), maxTitle)], "")) // of what was cut in two
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
	if len(places) == 0 {
		return title
	}
	first := places[0]
	rel := t.relative(first.Path)
	if rel == "." && title != "" {
		return title // the whole project says nothing
	}
	if strings.HasSuffix(first.Path, "/"+title) {
		title = rel // a path already, cut off elsewhere
	}
	if !strings.Contains(title, filepath.Base(first.Path)) {
		switch strings.ToLower(title) {
		case "", label, string(c.Kind), "file", "files": // Codex edits "files"
			title = rel
		default:
			title += "  " + rel
		}
	}
	if first.Line > 0 && !strings.Contains(title, ":") && (strings.HasSuffix(title, rel) || strings.HasSuffix(title, filepath.Base(rel))) {
		title += fmt.Sprintf(":%d", first.Line)
	}
	return title
}

const (
	titleWidth  = 72 // how much of a title is shown while nobody looks, in cells
	enoughTitle = 24 // a title of so many cells says enough to give room to the rest
	timeWidth   = 6  // how much of a line a time takes, in cells
	// maxTitle is how many bytes of a title are looked at: no window shows as many, and to measure a
	// megabyte at each drawing takes a second.
	maxTitle = 16 << 10
)

// fitted cuts a title to a number of cells. Of a path it is the end that tells
// most.
func fitted(title string, room int) string {
	room = max(room, 8)
	if cells(title) <= room {
		return title
	}
	if strings.Contains(title, "/") && !strings.Contains(title, " ") {
		return ansi.TruncateLeftWc(title, cells(title)-room+1, "…")
	}
	return ansi.TruncateWc(title, room, "…")
}

func cells(s string) int { return ansi.StringWidthWc(s) }

func cellsOf(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += cells(p.text)
	}
	return n
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
	var said []string
	if _, known := statusIcons[status]; !known || status == session.StatusPaused {
		said = append(said, OneLine(string(status)))
	}
	if took := c.Elapsed(t.config.Now()); took >= 100*time.Millisecond { // else not worth the eye
		said = append(said, seconds(took))
	}
	return strings.Join(said, " "), More
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
	if b.open == opened && len(c.Locations) > 1 {
		lines = t.places(c.Locations)
	}
	shown, diffs, terminal := len(lines), b.diffs, false
	for _, item := range c.Content {
		switch item := item.(type) {
		case session.Diff:
			lines = append(lines, leadTo(t.diffBody(b, &diffs[0]), item.Path)...)
			diffs = diffs[1:]
		case session.TerminalRef:
			terminal = true
			lines = append(lines, t.terminalBody(b, item.TerminalID)...)
		case session.ContentItem:
			_, picture := item.Content.(session.Image)
			if b.open == opened || !quiet || picture {
				lines = append(lines, t.contentBody(b, c.Kind, item.Content)...)
			} else {
				b.about.lines += contentSize(item.Content) // beside what is shown
			}
		case session.UnknownItem:
			lines = append(lines, line(piece{"    [" + cmp.Or(item.Type, "unknown") + "]", More}))
		}
	}
	for i := range diffs { // of which the agent does not tell any more
		lines = append(lines, leadTo(t.diffBody(b, &diffs[i]), diffs[i].Path)...)
	}
	switch {
	case len(lines) > shown:
	case b.open == opened:
		lines = append(lines, rawBody(c)...)
	case status == session.StatusFailed:
		lines = append(lines, clipped(plainBody(readable(c.RawOutput, 100)), previewOutput, 0)...) // why it failed
	}
	if exit := c.Exit(); !exit.Succeeded() && !terminal { // which says it itself
		lines = append(lines, line(piece{"    " + exit.String(), ToolFailed}))
	}
	return lines
}

// places are all files that a call is about.
func (t *Transcript) places(list []session.Location) []Line {
	lines := make([]Line, len(list))
	for i, l := range list {
		name := t.relative(l.Path)
		if l.Line > 0 {
			name += fmt.Sprintf(":%d", l.Line)
		}
		lines[i] = line(piece{"    ", plain}, piece{name, ToolKind})
		lines[i].Place = Place{Path: l.Path, Line: l.Line}
	}
	return lines
}

// leadTo says where lines lead to that do not say it themselves.
func leadTo(lines []Line, path string) []Line {
	for i := range lines {
		if lines[i].Place.Path == "" {
			lines[i].Place.Path = path
		}
	}
	return lines
}

func (t *Transcript) terminalBody(b *block, id string) []Line {
	screen, ok := t.config.Terminal(id, b.room())
	if !ok {
		return nil
	}
	var lines []Line
	if hidden := screen.Total - len(screen.Lines); hidden > 0 {
		lines = append(lines, MoreLine(hidden))
	}
	lines = append(lines, indented(screen.Lines)...)
	if screen.State != "" {
		lines = append(lines, line(piece{"    " + screen.State, ToolFailed}))
	}
	return lines
}

// MoreLine stands for n lines that are not shown.
func MoreLine(n int) Line { return line(piece{"    … +" + Many(n, "line"), More}) }

// FileLine is the name of a file and how much of it changes.
func FileLine(name string, added, removed int) Line {
	return line(append([]piece{{name, ToolTitle}}, counts(figures{added: added, removed: removed})...)...)
}

func counts(f figures) []piece {
	var list []piece
	if f.added > 0 {
		list = append(list, piece{"  ", plain}, piece{fmt.Sprintf("+%d", f.added), DiffAdded})
	}
	if f.removed > 0 {
		list = append(list, piece{"  "[min(f.added, 1):], plain}, piece{fmt.Sprintf("−%d", f.removed), DiffRemoved})
	}
	if f.calls > 0 {
		list = append(list, piece{"  … +" + Many(f.calls, "call"), More})
	}
	if f.lines > 0 {
		list = append(list, piece{"  … +" + Many(f.lines, "line"), More})
	}
	return list
}

// Many is so many things, in words.
func Many(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
