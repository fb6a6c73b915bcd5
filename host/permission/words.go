package permission

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file puts a request into words for the user.

// floatDiffLines is how much of a change the float shows.
const floatDiffLines = 14

// How much of a description comes first.
const (
	descriptionBytes = 500
	descriptionLines = 4
)

// optionBytes is how much of the name of an option the float shows: a few rows, more than an agent has reason to say.
const optionBytes = 300

// How many lines and bytes the float has in all, most of them on later pages.
const (
	floatLines = 2000
	floatBytes = policy.MaxShown
)

// snapshot returns a request for Lua, with the lines of the float.
func (rs *Requests) snapshot(p *request) rpc.Permission {
	call := &p.call
	command, description, dir := p.command.Line(), p.description(), p.command.Dir
	mcp, isMCP := call.MCP()
	if isMCP { // its arguments say everything
		command, description = "", p.asked.Description
	}
	options := make([]rpc.PermissionOption, len(p.asked.Options))
	for i, o := range p.asked.Options {
		options[i] = rpc.PermissionOption{ID: o.ID, Name: o.Name, Kind: o.Kind, Label: label(o)}
	}
	heading, body := rs.question(p, command, dir)
	var said, why []styled.Line
	if description != "" { // kept short: the question must stay in sight
		said = styled.Visible(capped(styled.Colored(styled.Cut(description, descriptionBytes), styled.More), descriptionLines), true)
	}
	if p.decision.Why != "" {
		why = styled.Colored(styled.VisibleText(styled.Cut(p.decision.Why, 300)), styled.More)
	}
	if p.file.Given != "" && len(call.Content) == 0 { // it is about the path
		body = append(body, said...)
	} else {
		body = append(said[:len(said):len(said)], body...)
	}
	if command != "" || len(rs.config.Diffs.Files(call)) > 0 {
		body = append(aside(call, command), body...)
	}
	body = slices.Concat(rs.staleLines(p, ""), rs.selectionLines(p), body, why) // what an answer does must not be on a later page
	lines, marks := styled.Flatten(cutLines(capped(body, floatLines)))
	title := call.Title
	if isMCP {
		title = mcp.Title()
	}
	if p.asked.Title != "" {
		title = p.asked.Title
	}
	snap := rpc.Permission{
		ID: int(p.id), Session: rs.base.Session, Title: title, Description: description, ToolCallID: call.ID, Options: options,
		Heading: styled.VisibleText(styled.Cut(heading, 200)), Lines: lines, Marks: marks,
	}
	allow, _ := policy.Choose(p.asked.Options, true)
	reject, _ := policy.Choose(p.asked.Options, false)
	allowAlways, _ := policy.OfKind(p.asked.Options, "allow_always")
	rejectAlways, _ := policy.OfKind(p.asked.Options, "reject_always")
	snap.Allow, snap.Reject, snap.AllowAlways, snap.RejectAlways = allow.ID, reject.ID, allowAlways.ID, rejectAlways.ID
	if command != "" {
		snap.Command, snap.Cwd = command, dir
	}
	rs.addFiles(&snap, p, said, slices.Concat(rs.selectionLines(p), why))
	rs.addSelections(&snap, p)
	if p.write != nil {
		snap.Waited = p.write.waited()
	}
	return snap
}

// label returns an option's name for the float.
func label(o session.PermissionOption) string {
	if name := styled.VisibleText(styled.Cut(o.Name, optionBytes)); name != "" {
		if len(o.Name) > optionBytes {
			name += "…"
		}
		return name
	}
	if o.Kind != "" {
		return "(" + strings.ReplaceAll(styled.VisibleText(styled.Cut(o.Kind, 100)), "_", " ") + ")"
	}
	return "(no name)"
}

// description returns what the agent says about the request besides its title.
func (p *request) description() string {
	if p.asked.Description != "" {
		return p.asked.Description
	}
	var input struct {
		Description any `json:"description"`
	}
	_ = json.Unmarshal(p.call.RawInput, &input) // what is no object says nothing
	text, _ := input.Description.(string)
	return strings.TrimSpace(text)
}

// plan returns the plan of a request to leave the planning mode: in the content, or in the input.
func plan(call *session.ToolCall, texts []string) string {
	if text := strings.TrimSpace(strings.Join(texts, "\n\n")); text != "" {
		return text
	}
	var input struct {
		Plan     any `json:"plan"`
		Markdown any `json:"markdown"`
	}
	_ = json.Unmarshal(call.RawInput, &input) // what is no object has none
	for _, v := range []any{input.Plan, input.Markdown} {
		if text, ok := v.(string); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// commandLines shows a command after a prompt, with room for the rest of the float.
func commandLines(command string) []styled.Line {
	const most = floatLines - 100
	var shown []styled.Line
	lines := styled.Shell(command)
	for i := 0; i < len(lines); i++ {
		if len(shown) == most {
			shown = append(shown, styled.MoreLine(len(lines)-i))
			break
		}
		empty := i
		for empty < len(lines) && strings.TrimSpace(lines[empty].Text) == "" {
			empty++
		}
		if empty-i > 3 {
			shown = append(shown, styled.Colored(fmt.Sprintf("  <%d empty lines>", empty-i), styled.More)...)
			i = empty - 1
			continue
		}
		l, prompt := lines[i], "  "
		if i == 0 {
			prompt = "$ "
		}
		l.Text = prompt + l.Text
		for j := range l.Marks {
			l.Marks[j].Col += len(prompt)
			l.Marks[j].EndCol += len(prompt)
		}
		shown = append(shown, l)
	}
	return styled.Visible(shown, false)
}

// question says what the agent wants, and shows it.
func (rs *Requests) question(p *request, command, dir string) (heading string, body []styled.Line) {
	call := &p.call
	var texts []string
	for _, item := range call.Content {
		if item, ok := item.(session.ContentItem); ok {
			if t, ok := item.Content.(session.Text); ok {
				texts = append(texts, t.Text)
			}
		}
	}
	files := rs.config.Diffs.Files(call)
	who := rs.base.Title
	mcp, isMCP := call.MCP()
	switch {
	case isMCP:
		return who + " wants to use " + mcp.Title(), styled.Visible(append(toolLines(call, mcp, texts), rs.diffLines(files)...), true)
	case command != "":
		body = append(commandLines(command), styled.Visible(styled.Colored("in "+folder.Tilde(styled.Cut(dir, 300)), styled.More), true)...)
		if call.Kind != session.KindExecute { // the tool has more to say than its command
			body = append(body, styled.Visible(inputLines(call, rs.saysAlready(p, command)), true)...)
		}
		return who + " wants to run a command", append(body, styled.Visible(rs.diffLines(files), true)...)
	case len(files) > 0:
		what := rs.base.Short(files[0].Path)
		if len(files) > 1 {
			what = styled.Many(len(files), "file")
		}
		verb := changeVerb(call.Kind)
		if p.write != nil {
			verb = "write"
		}
		return fmt.Sprintf("%s wants to %s %s", who, verb, what), styled.Visible(rs.diffLines(files), true)
	case call.Kind == session.KindSwitchMode:
		if text := plan(call, texts); text != "" {
			body = append(styled.Markdown(text), inputLines(call, rs.saysAlready(p, text))...)
			return who + " has a plan: " + call.Title, styled.Visible(body, true)
		}
	}
	verb := map[session.ToolKind]string{
		session.KindEdit: "edit", session.KindDelete: "delete", session.KindMove: "move", session.KindRead: "read",
		session.KindFetch: "fetch", session.KindSearch: "search", session.KindSwitchMode: "change the mode",
		session.KindExecute: "run a command",
	}[call.Kind]
	if verb == "" {
		verb = "go on"
	}
	heading = fmt.Sprintf("%s wants to %s", who, verb)
	switch call.Kind {
	case session.KindRead, session.KindEdit, session.KindDelete, session.KindMove:
		switch n := len(call.Locations); {
		case p.file.Given != "":
			heading += " " + rs.base.Short(p.file.Given)
		case n == 1, n > 1 && call.Kind == session.KindMove: // from there
			heading += " " + rs.base.Short(call.Locations[0].Path)
		case n != 0:
			heading += " " + styled.Many(n, "file")
		}
	}
	if call.Title != "" {
		body = append(body, styled.Colored(call.Title, styled.ToolTitle)...)
	}
	for _, l := range call.Locations {
		if rel := rs.base.Short(l.Path); !strings.Contains(call.Title, rel) {
			body = append(body, styled.Line{Text: rel})
		}
	}
	for _, t := range texts {
		body = append(body, styled.Colored(t, styled.Output)...)
	}
	body = append(body, inputLines(call, rs.saysAlready(p, texts...))...)
	return heading, styled.Visible(body, true)
}

// toolLines shows the arguments of an MCP server's tool, or what the agent says instead of them.
func toolLines(call *session.ToolCall, m session.MCPCall, texts []string) []styled.Line {
	of := *call
	if of.RawInput = m.Arguments; policy.EmptyInput(m.Arguments) {
		var body []styled.Line
		for _, t := range texts {
			body = append(body, styled.Colored(t, styled.Output)...)
		}
		return body
	}
	return inputLines(&of, func(string, string) bool { return false })
}

// saysAlready returns a function that reports whether the float already shows a field of the input: in the title, as a
// file, as the command or the description, or in these texts.
func (rs *Requests) saysAlready(p *request, texts ...string) func(key, value string) bool {
	call := &p.call
	said := strings.FieldsFunc(call.Title, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`'\"", r) })
	said = append(said, call.Title)
	for _, l := range call.Locations {
		said = append(said, l.Path)
	}
	for _, text := range texts {
		said = append(said, strings.TrimSpace(text))
	}
	return func(key, value string) bool {
		value = strings.TrimSpace(value)
		switch key {
		case "description":
			return value == p.description() && len(value) <= descriptionBytes && strings.Count(value, "\n") < descriptionLines
		case "command", "cmd", "cwd", "workdir":
			return p.command.Parsed().Given()
		}
		return value != "" && (slices.Contains(said, value) || slices.Contains(said, rs.base.Short(value)))
	}
}

// changeVerb returns what a call does to the files of its diff, as a verb.
func changeVerb(kind session.ToolKind) string {
	switch kind {
	case session.KindDelete, session.KindMove:
		return string(kind)
	}
	return "edit"
}

// aside shows the title of a call that has a diff or a command but is neither an edit nor an execution: the request may
// be about something else, such as entering a folder.
func aside(call *session.ToolCall, command string) []styled.Line {
	switch call.Kind {
	case session.KindEdit, session.KindDelete, session.KindMove, session.KindExecute:
		return nil
	}
	if call.Title == "" || call.Title == command {
		return nil
	}
	return styled.Visible(styled.Colored(styled.Cut(call.Title, 500), styled.ToolTitle), true)
}

// diffLines lists every file with its counts, and the changes as far as they fit.
func (rs *Requests) diffLines(files []diff.FileDiff) []styled.Line {
	var body []styled.Line
	for i := range files {
		f := &files[i]
		body = append(body, styled.FileHead(f.Name(rs.base.Short), f.Added, f.Removed))
		lines, more := styled.Diff(f, "  ", max(4, floatDiffLines/len(files)))
		if last := len(lines) - 1; more > 0 {
			lines = append(lines[:last], styled.MoreLine(more+1))
		}
		body = append(body, lines...)
	}
	return body
}

func capped(lines []styled.Line, limit int) []styled.Line {
	if len(lines) <= limit {
		return lines
	}
	return append(lines[:limit-1:limit-1], styled.MoreLine(len(lines)-limit+1))
}

// cutLines leaves out what is beyond floatBytes, and says so.
func cutLines(lines []styled.Line) []styled.Line {
	room := floatBytes
	for i, l := range lines {
		if len(l.Text) <= room {
			room -= len(l.Text)
			continue
		}
		rest := 0
		for _, l := range lines[i:] {
			rest += len(l.Text)
		}
		l.Text = styled.Cut(l.Text, max(room, 1))
		l.Marks = slices.DeleteFunc(slices.Clone(l.Marks), func(m styled.Mark) bool { return m.EndCol > len(l.Text) })
		more := fmt.Sprintf("… %d bytes more, which are not shown", rest-len(l.Text))
		return append(append(lines[:i:i], l), styled.Colored(more, styled.Warning)...)
	}
	return lines
}

// addFiles adds what the float shows of a request while its diff is open beside it: its words, the files without their
// changes, and why it is asked.
func (rs *Requests) addFiles(to *rpc.Permission, p *request, said, why []styled.Line) {
	files := rs.config.Diffs.Files(&p.call)
	if len(files) == 0 {
		return
	}
	body := slices.Concat(aside(&p.call, ""), said)
	for i := range files {
		f := &files[i]
		body = append(body, styled.FileHead(f.Name(rs.base.Short), f.Added, f.Removed))
		if f.Note != "" {
			body = append(body, styled.Colored("⚠ "+f.Note, styled.ToolWaiting)...)
		}
		body = append(body, rs.staleLines(p, f.Path)...)
	}
	to.Files = len(files)
	to.Brief, to.BriefMarks = styled.Flatten(append(capped(body, floatDiffLines), why...))
}

// findStale checks which files of a request have changed since the agent read them, and makes the request say so.
func (rs *Requests) findStale(p *request) {
	for _, path := range session.AllAbsolute(p.call.Files().Changed, rs.base.Absolute) {
		rs.config.Known.Check(path, func(stale bool) {
			if stale == p.stale[path] {
				return
			}
			if p.stale == nil {
				p.stale = map[string]bool{}
			}
			p.stale[path] = stale
			rs.changed = true
			rs.base.Changed()
		})
	}
}

// staleLines says which files of a request have changed since the agent read them: all of them, or one.
func (rs *Requests) staleLines(p *request, path string) []styled.Line {
	var lines []styled.Line
	only, _ := rs.base.Absolute(path)
	for _, each := range session.AllAbsolute(p.call.Files().Changed, rs.base.Absolute) {
		if p.stale[each] && (path == "" || each == only) {
			text := fmt.Sprintf("⚠ %s changed since %s read it", styled.VisibleText(filepath.Base(each)), rs.base.Title)
			lines = append(lines, styled.Colored(text, styled.ToolWaiting)...)
		}
	}
	return lines
}
