package host

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// This file is what the Lua API shows of a session and its tool calls.

// mirrored is how much of a text of the agent's the mirror has, in bytes.
const mirrored = 4 << 10

// mirror is the session as acp.sessions() returns it.
func (s *Session) mirror() rpc.Session {
	m := rpc.Session{
		ID: s.id, Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, State: s.state(), Title: s.conv.Title,
		StopReason: string(s.conv.Stop), AgentSessionID: s.remote.stored, Protocol: s.info.Protocol,
		ToolCalls: len(s.conv.Calls), Permissions: s.permission.Waiting(), Queued: len(s.outbox.queue), Paused: s.outbox.paused,
		Steers: s.info.Steers, Unsaved: s.unsaved.offered,
	}
	if s.phase == dead || s.phase == authRequired {
		m.Error = s.failure
	}
	if s.info.Protocol != 0 {
		m.Takes = &rpc.Takes{Image: s.info.Images, Audio: s.info.Audio, Resource: s.info.EmbeddedContext}
	}
	if u := s.conv.Usage; u != nil {
		m.Usage = &rpc.Usage{Used: int(u.Used), Size: int(u.Size)}
		if u.Cost != nil {
			m.Usage.Cost = &rpc.Cost{Amount: u.Cost.Amount, Currency: u.Cost.Currency}
		}
	}
	for _, a := range s.info.AuthMethods {
		m.AuthMethods = append(m.AuthMethods, rpc.AuthMethod{ID: a.ID, Name: a.Name, Description: a.Description, Type: string(a.Type)})
	}
	for _, o := range s.conv.Options {
		m.Options = append(m.Options, mirrorOption(o))
		c, ok := o.Chosen()
		if chosen := (&rpc.Chosen{ID: c.Value, Name: c.Name}); ok && o.Category == "mode" {
			m.Mode = chosen
		} else if ok && o.Category == "model" {
			m.Model = chosen
		}
	}
	for _, c := range s.conv.Commands {
		m.Commands = append(m.Commands, rpc.Command{Name: c.Name, Description: c.Description, Hint: c.Hint})
	}
	for _, blocks := range s.outbox.queue {
		m.Queue = append(m.Queue, promptText(blocks))
	}
	if s.lacks.Why != "" {
		m.Lacks = &rpc.Lack{Why: s.lacks.Why, Files: s.lacks.Files}
	}
	for _, e := range s.conv.Plan {
		m.Plan = append(m.Plan, rpc.PlanEntry{Content: styled.Cut(e.Content, mirrored), Priority: e.Priority, Status: e.Status})
	}
	return m
}

// mirrorOption is an option as acp.options() returns it.
func mirrorOption(o session.Option) rpc.Option {
	m := rpc.Option{ID: o.ID, Name: o.Name, Description: o.Description, Category: o.Category, Type: o.Type, Value: o.Value}
	if o.Type == "boolean" {
		m.Value = o.Value == "true"
	}
	for _, c := range o.Choices {
		m.Choices = append(m.Choices, rpc.Choice{Value: c.Value, Name: c.Name, Description: c.Description, Group: c.Group})
	}
	return m
}

// mirrorCall is a tool call as acp.tool_calls() returns it, its texts cut at
// limit bytes; 0 is no limit, and brings the raw input and output too.
func mirrorCall(c *session.ToolCall, limit int) rpc.ToolCall {
	m := rpc.ToolCall{ID: c.ID, Title: styled.Cut(c.Title, limit), Name: c.Name, Kind: string(c.Kind), Status: string(c.Shown())}
	for _, l := range c.Locations {
		m.Locations = append(m.Locations, rpc.CallLocation{Path: l.Path, Line: max(0, l.Line)})
	}
	for _, item := range c.Shows() {
		m.Content = append(m.Content, mirrorItem(item, limit))
	}
	if limit == 0 {
		_ = json.Unmarshal(c.RawInput, &m.RawInput) // what is no JSON is left out
		_ = json.Unmarshal(c.RawOutput, &m.RawOutput)
	}
	return m
}

func mirrorItem(item session.ToolCallContent, limit int) rpc.CallContent {
	short := func(text *string) *string {
		if text != nil {
			text = new(styled.Cut(*text, limit))
		}
		return text
	}
	switch item := item.(type) {
	case session.Diff:
		return rpc.CallContent{
			Type: "diff", Path: item.Path, Operation: string(item.Operation), OldPath: item.OldPath,
			Text: short(item.NewText), OldText: short(item.OldText),
		}
	case session.TerminalRef:
		return rpc.CallContent{Type: "terminal", TerminalID: item.TerminalID}
	case session.ContentItem:
		return rpc.CallContent{
			Type: "content", Block: contentType(item.Content), Text: new(styled.Cut(transcript.Describe(item.Content), limit)),
		}
	case session.UnknownItem:
		return rpc.CallContent{Type: item.Type}
	}
	return rpc.CallContent{}
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
