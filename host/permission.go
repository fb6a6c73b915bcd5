package host

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// permission is an open question of an agent. It belongs to its session's
// goroutine, and is answered exactly once: when it leaves [Session.asked].
type permission struct {
	id      int64 // unique in this Neovim, ascending
	request session.PermissionRequest
	stop    func() bool // ends the watch for a withdrawal
}

func (s *Session) requestPermission(r session.PermissionRequest) {
	if s.phase != ready {
		r.Reply("")
		return
	}
	p := &permission{id: s.host.permissionIDs.Add(1), request: r}
	s.apply(r.Call)
	s.apply(session.Waiting{ToolCallID: r.Call.ID, Open: true})
	s.asked = append(s.asked, p)
	s.shown.permissions = true
	p.stop = context.AfterFunc(r.Context, func() {
		s.box.put(func() { s.resolve(p, "", "agent") })
	})
	s.event("AcpPermissionRequest", map[string]any{"id": p.id})
	s.changed()
}

// respond answers with the user's choice; "" cancels, and with it the turn, as
// that outcome means in protocol version 1.
func (s *Session) respond(id int64, optionID string) {
	i := slices.IndexFunc(s.asked, func(p *permission) bool { return p.id == id })
	if i < 0 {
		s.host.notify("info", "This request is answered already.")
		return
	}
	p := s.asked[i]
	if optionID == "" {
		s.resolve(p, "", "cancel")
		s.cancel()
		return
	}
	known := slices.ContainsFunc(p.request.Options, func(o session.PermissionOption) bool { return o.ID == optionID })
	if !known {
		s.host.notify("warning", fmt.Sprintf("The request has no option %q.", optionID))
		return
	}
	s.resolve(p, optionID, "user")
}

// resolve answers a request and takes it off the list; by says who decided.
func (s *Session) resolve(p *permission, optionID, by string) {
	i := slices.Index(s.asked, p)
	if i < 0 {
		return
	}
	s.asked = slices.Delete(s.asked, i, i+1)
	p.stop()
	refused := slices.ContainsFunc(p.request.Options, func(o session.PermissionOption) bool {
		return o.ID == optionID && !o.Allows()
	})
	p.request.Reply(optionID)
	s.apply(session.Waiting{ToolCallID: p.request.Call.ID, Rejected: refused})
	data := map[string]any{"id": p.id, "by": by}
	if optionID != "" {
		data["option_id"] = optionID
	}
	s.shown.permissions = true
	s.event("AcpPermissionResolved", data)
	s.changed()
}

func (s *Session) withdrawAll(by string) {
	for len(s.asked) > 0 {
		s.resolve(s.asked[0], "", by)
	}
}

// floatDiffLines is how much of a change the float shows.
const floatDiffLines = 14

// snapshot is the request as Lua sees it: the contract's fields, and the lines
// of the float.
func (s *Session) snapshot(p *permission) map[string]any {
	call := s.conv.ToolCall(p.request.Call.ID)
	command, description, dir := commandOf(call)
	dir = s.absolute(dir)
	options := make([]any, len(p.request.Options))
	for i, o := range p.request.Options {
		options[i] = map[string]any{"id": o.ID, "name": o.Name, "kind": o.Kind}
	}
	heading, body := s.question(call, command, dir)
	if description != "" {
		body = append([]transcript.Line{{Text: description}}, body...)
	}
	lines, marks := flatten(body)
	snap := map[string]any{
		"id": p.id, "session": s.id, "title": call.Title, "tool_call_id": call.ID, "options": options,
		"heading": heading, "lines": lines, "marks": marks,
	}
	if description != "" {
		snap["description"] = description
	}
	if command != "" {
		snap["command"], snap["cwd"] = command, dir
	}
	s.addFiles(snap, call)
	return snap
}

// commandOf finds the command line of a call, what the agent says of it, and
// its folder where that is named. Agents put the command in the raw input, as a
// string or as a list; the title is the last resort.
func commandOf(call *session.ToolCall) (command, description, dir string) {
	var input struct {
		Command     json.RawMessage `json:"command"`
		Description any             `json:"description"`
		Cwd         any             `json:"cwd"`
	}
	if json.Unmarshal(call.RawInput, &input) == nil {
		description, _ = input.Description.(string)
		dir, _ = input.Cwd.(string)
		var argv []string
		if json.Unmarshal(input.Command, &command) != nil && json.Unmarshal(input.Command, &argv) == nil {
			command = strings.Join(argv, " ")
		}
	}
	if command == "" && call.Kind == session.KindExecute {
		command = strings.Trim(strings.TrimSpace(call.Title), "`")
	}
	return command, strings.TrimSpace(description), dir
}

// question says in words what the agent wants, and shows it.
func (s *Session) question(call *session.ToolCall, command, dir string) (heading string, body []transcript.Line) {
	var diffs []session.Diff
	var texts []string
	for _, item := range call.Content {
		switch item := item.(type) {
		case session.Diff:
			diffs = append(diffs, item)
		case session.ContentItem:
			if t, ok := item.Content.(session.Text); ok {
				texts = append(texts, t.Text)
			}
		}
	}
	who := s.spec.Title
	switch {
	case len(diffs) > 0:
		heading = fmt.Sprintf("%s wants to edit %s", who, s.short(diffs[0].Path))
		if len(diffs) > 1 {
			heading = fmt.Sprintf("%s wants to edit %s", who, count(len(diffs), "file"))
		}
		return heading, s.diffLines(diffs)
	case command != "":
		body = transcript.Colored("$ "+command, transcript.ToolTitle)
		return who + " wants to run a command", append(body, transcript.Colored("in "+dir, transcript.More)...)
	}
	verb := map[session.ToolKind]string{
		session.KindEdit: "edit", session.KindDelete: "delete", session.KindMove: "move", session.KindRead: "read",
		session.KindFetch: "fetch", session.KindSearch: "search", session.KindSwitchMode: "change the mode",
	}[call.Kind]
	if verb == "" {
		verb = "go on"
	}
	heading = fmt.Sprintf("%s wants to %s", who, verb)
	if call.Title != "" {
		body = append(body, transcript.Colored(call.Title, transcript.ToolTitle)...)
	}
	for _, l := range call.Locations {
		if rel := s.short(l.Path); !strings.Contains(call.Title, rel) {
			body = append(body, transcript.Line{Text: rel})
		}
	}
	for _, t := range texts {
		body = append(body, capped(transcript.Colored(t, transcript.Output), floatDiffLines)...)
	}
	return heading, body
}

// diffLines lists every file with its counts, and the changes as far as they
// fit.
func (s *Session) diffLines(diffs []session.Diff) []transcript.Line {
	var body []transcript.Line
	for _, d := range diffs {
		f := s.fileOf(d)
		body = append(body, transcript.FileLine(transcript.ChangeName(f, s.short), f.Added, f.Removed))
		lines, more := transcript.DiffLines(f, "  ", max(4, floatDiffLines/len(diffs)))
		if last := len(lines) - 1; more > 0 {
			lines = append(lines[:last], transcript.MoreLine(more+1))
		}
		body = append(body, lines...)
	}
	return body
}

func capped(lines []transcript.Line, limit int) []transcript.Line {
	if len(lines) <= limit {
		return lines
	}
	return append(lines[:limit-1:limit-1], transcript.MoreLine(len(lines)-limit+1))
}

// short is a path as shown: relative to the session's folder where it is below.
func (s *Session) short(path string) string {
	rel, err := filepath.Rel(s.cwd, path)
	if err != nil || !filepath.IsAbs(path) || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}

func (s *Session) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.cwd, path)
}

// flatten is lines as Lua takes them: the texts, and the highlights as row,
// column, end column, group.
func flatten(lines []transcript.Line) (texts []string, marks []int) {
	texts, marks = make([]string, len(lines)), []int{}
	for row, l := range lines {
		texts[row] = l.Text
		for _, m := range l.Marks {
			marks = append(marks, row, m.Col, m.EndCol, int(m.Group))
		}
	}
	return texts, marks
}
