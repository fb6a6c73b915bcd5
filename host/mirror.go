package host

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// This file is what the Lua API shows of a session and its tool calls.

// mirrored is how much of a text of the agent's the mirror has, in bytes.
const mirrored = 4 << 10

// mirror is the session as acp.sessions() returns it.
func (s *Session) mirror() map[string]any {
	m := map[string]any{
		"id": s.id, "agent": s.spec.Name, "agent_title": s.spec.Title, "cwd": s.cwd, "state": s.state(),
		"tool_calls": len(s.conv.Calls), "queued": len(s.outbox.queue), "paused": s.outbox.paused,
		"permissions": len(s.permissions.waiting()), "steers": s.info.Steers,
	}
	optional := map[string]string{
		"title": s.conv.Title, "stop_reason": string(s.conv.Stop), "agent_session_id": s.remote.stored,
	}
	if s.phase == dead || s.phase == authRequired {
		optional["error"] = s.failure
	}
	for k, v := range optional {
		if v != "" {
			m[k] = v
		}
	}
	if s.info.Protocol != 0 {
		m["protocol"] = s.info.Protocol
	}
	if u := s.conv.Usage; u != nil {
		usage := map[string]any{"used": u.Used, "size": u.Size}
		if u.Cost != nil {
			usage["cost"] = map[string]any{"amount": u.Cost.Amount, "currency": u.Cost.Currency}
		}
		m["usage"] = usage
	}
	methods := make([]any, len(s.info.AuthMethods))
	for i, a := range s.info.AuthMethods {
		methods[i] = map[string]any{"id": a.ID, "name": a.Name, "description": a.Description, "type": string(a.Type)}
	}
	m["auth_methods"] = methods
	options := make([]any, len(s.conv.Options))
	for i, o := range s.conv.Options {
		options[i] = mirrorOption(o)
		if o.Category == "mode" || o.Category == "model" {
			if c, ok := o.Chosen(); ok {
				m[o.Category] = map[string]any{"id": c.Value, "name": c.Name}
			}
		}
	}
	m["options"] = options
	commands := make([]any, len(s.conv.Commands))
	for i, c := range s.conv.Commands {
		commands[i] = map[string]any{"name": c.Name, "description": c.Description, "hint": c.Hint}
	}
	m["commands"] = commands
	if s.info.Protocol != 0 {
		m["takes"] = map[string]any{"image": s.info.Images, "audio": s.info.Audio, "resource": s.info.EmbeddedContext}
	}
	queue := make([]string, len(s.outbox.queue))
	for i, blocks := range s.outbox.queue {
		queue[i] = promptText(blocks)
	}
	m["queue"] = queue
	if s.lacks.Why != "" {
		m["lacks"] = map[string]any{"why": s.lacks.Why, "files": s.lacks.Files}
	}
	m["unsaved"] = some(s.unsaved.offered)
	if len(s.conv.Plan) > 0 {
		plan := make([]any, len(s.conv.Plan))
		for i, e := range s.conv.Plan {
			plan[i] = map[string]any{"content": cut(e.Content, mirrored), "priority": e.Priority, "status": e.Status}
		}
		m["plan"] = plan
	}
	return m
}

// mirrorOption is an option as acp.options() returns it.
func mirrorOption(o session.Option) map[string]any {
	choices := make([]any, len(o.Choices))
	for i, c := range o.Choices {
		choices[i] = map[string]any{"value": c.Value, "name": c.Name, "description": c.Description, "group": c.Group}
	}
	m := map[string]any{
		"id": o.ID, "name": o.Name, "description": o.Description, "category": o.Category, "type": o.Type, "choices": choices,
		"value": any(o.Value),
	}
	if o.Type == "boolean" {
		m["value"] = o.Value == "true"
	}
	return m
}

// mirrorCall is a tool call as acp.tool_calls() returns it, its texts cut at
// limit bytes; 0 is no limit, and brings the raw input and output too.
func mirrorCall(c *session.ToolCall, limit int) map[string]any {
	m := map[string]any{"id": c.ID, "title": cut(c.Title, limit), "kind": string(c.Kind), "status": string(c.Shown())}
	if c.Name != "" {
		m["name"] = c.Name
	}
	locations := make([]any, len(c.Locations))
	for i, l := range c.Locations {
		loc := map[string]any{"path": l.Path}
		if l.Line > 0 {
			loc["line"] = l.Line
		}
		locations[i] = loc
	}
	m["locations"] = locations
	shown := c.Shows()
	content := make([]any, len(shown))
	for i, item := range shown {
		content[i] = mirrorItem(item, limit)
	}
	m["content"] = content
	if limit == 0 {
		for key, raw := range map[string]json.RawMessage{"raw_input": c.RawInput, "raw_output": c.RawOutput} {
			var value any
			if json.Unmarshal(raw, &value) == nil {
				m[key] = value
			}
		}
	}
	return m
}

func mirrorItem(item session.ToolCallContent, limit int) map[string]any {
	switch item := item.(type) {
	case session.Diff:
		m := map[string]any{"type": "diff", "path": item.Path, "operation": string(item.Operation)}
		if item.NewText != nil {
			m["text"] = cut(*item.NewText, limit)
		}
		if item.OldText != nil {
			m["old_text"] = cut(*item.OldText, limit)
		}
		if item.OldPath != "" {
			m["old_path"] = item.OldPath
		}
		return m
	case session.TerminalRef:
		return map[string]any{"type": "terminal", "terminal_id": item.TerminalID}
	case session.ContentItem:
		return map[string]any{"type": "content", "block": contentType(item.Content), "text": cut(transcript.Describe(item.Content), limit)}
	case session.UnknownItem:
		return map[string]any{"type": item.Type}
	}
	return map[string]any{}
}

func contentType(c session.Content) string {
	switch c := c.(type) {
	case session.Text:
		return "text"
	case session.Image:
		return "image"
	case session.Audio:
		return "audio"
	case session.ResourceLink:
		return "resource_link"
	case session.Resource:
		return "resource"
	case session.UnknownContent:
		return c.Type
	}
	return ""
}

// cut shortens a text to limit bytes, between characters.
func cut(s string, limit int) string {
	if limit == 0 || len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xC0 == 0x80 {
		limit--
	}
	return s[:limit]
}
