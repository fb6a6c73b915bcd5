// Package luastate has the state of a session as Lua keeps it and the Lua API returns it: the session itself, and its
// tool calls.
package luastate

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// MaxText is how many bytes of one of the agent's texts Lua keeps.
const MaxText = 4 << 10

// Conversation fills in the conversation's part of what acp.sessions() returns.
func Conversation(m *rpc.Session, c *session.Conversation) {
	m.Title, m.StopReason, m.ToolCalls, m.Background = c.Title, string(c.Stop), len(c.Calls), c.Behind()
	if u := c.Usage; u != nil {
		m.Usage = &rpc.Usage{Used: int(u.Used), Size: int(u.Size)}
		if u.Cost != nil {
			m.Usage.Cost = &rpc.Cost{Amount: u.Cost.Amount, Currency: u.Cost.Currency}
		}
	}
	for _, o := range c.Options {
		m.Options = append(m.Options, Option(o))
		choice, ok := o.Chosen()
		if chosen := (&rpc.Chosen{ID: choice.Value, Name: choice.Name}); ok && o.Category == "mode" {
			m.Mode = chosen
		} else if ok && o.Category == "model" {
			m.Model = chosen
		}
	}
	for _, c := range c.Commands {
		m.Commands = append(m.Commands, rpc.Command{Name: c.Name, Description: c.Description, Hint: c.Hint})
	}
	for _, e := range c.Plan {
		m.Plan = append(m.Plan, rpc.PlanEntry{Content: styled.Cut(e.Content, MaxText), Priority: e.Priority, Status: e.Status})
	}
}

// Agent fills in what an agent said of itself, if it has.
func Agent(m *rpc.Session, info session.Info) {
	m.Protocol, m.Steers = info.Protocol, info.Steers
	if info.Protocol != 0 {
		m.Takes = &rpc.Takes{Image: info.Images, Audio: info.Audio, Resource: info.EmbeddedContext}
	}
	for _, a := range info.AuthMethods {
		m.AuthMethods = append(m.AuthMethods, rpc.AuthMethod{ID: a.ID, Name: a.Name, Description: a.Description, Type: string(a.Type)})
	}
}

// Option returns an option as acp.options() does.
func Option(o session.Option) rpc.Option {
	m := rpc.Option{ID: o.ID, Name: o.Name, Description: o.Description, Category: o.Category, Type: o.Type, Value: o.Value}
	if o.Type == "boolean" {
		m.Value = o.Value == "true"
	}
	for _, c := range o.Choices {
		m.Choices = append(m.Choices, rpc.Choice{Value: c.Value, Name: c.Name, Description: c.Description, Group: c.Group})
	}
	return m
}

// mostLocations is how many places of a tool call Lua keeps: more of them take it time with every change of the call.
const mostLocations = 1000

// ToolCall returns a tool call as acp.tool_calls() does, with its texts cut at limit bytes and its places at
// mostLocations; a limit of 0 cuts nothing, and adds the raw input and output.
func ToolCall(c *session.ToolCall, limit int) rpc.ToolCall {
	m := rpc.ToolCall{ID: c.ID, Title: styled.Cut(c.Title, limit), Name: c.Name, Kind: string(c.Kind), Status: string(c.Shown())}
	locations := c.Locations
	if limit > 0 {
		locations = locations[:min(len(locations), mostLocations)]
	}
	for _, l := range locations {
		m.Locations = append(m.Locations, rpc.CallLocation{Path: l.Path, Line: max(0, l.Line)})
	}
	for _, item := range c.Shows() {
		m.Content = append(m.Content, content(item, limit))
	}
	if limit == 0 {
		_ = json.Unmarshal(c.RawInput, &m.RawInput) // what is not JSON is left out
		_ = json.Unmarshal(c.RawOutput, &m.RawOutput)
	}
	return m
}

func content(item session.ToolCallContent, limit int) rpc.CallContent {
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
			Text: short(item.NewText), OldText: short(item.OldText), Patch: styled.Cut(item.Patch, limit),
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
	case session.ForAgent:
		return contentType(c.Content)
	case session.UnknownContent:
		return c.Type
	}
	return ""
}
