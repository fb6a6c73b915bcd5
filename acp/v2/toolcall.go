package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// ToolCallStatus is how far a tool call is. An agent may use others than those of the schema; a
// call in such a state is still in progress. See "Tool Calls", "Status".
type ToolCallStatus string

// The states of the schema. A call without a status is [ToolPending].
const (
	ToolPending    ToolCallStatus = "pending"
	ToolInProgress ToolCallStatus = "in_progress"
	ToolPaused     ToolCallStatus = "paused"
	ToolCompleted  ToolCallStatus = "completed"
	ToolFailed     ToolCallStatus = "failed"
	ToolCancelled  ToolCallStatus = "cancelled"
)

// ToolCallUpdate creates or changes a tool call. See "Tool Calls", "Reporting".
type ToolCallUpdate struct {
	ToolCallID   wire.ToolCallID                  `json:"toolCallId" wire:"required"`
	Title        acp.Opt[string]                  `json:"title,omitzero" wire:"lenient"`
	Name         acp.Opt[string]                  `json:"name,omitzero" wire:"lenient"`
	Kind         acp.Opt[wire.ToolKind]           `json:"kind,omitzero" wire:"lenient"`
	Status       acp.Opt[ToolCallStatus]          `json:"status,omitzero" wire:"lenient"`
	Content      acp.Opt[[]ToolCallContent]       `json:"content,omitzero" wire:"lenient,skip"`
	Locations    acp.Opt[[]wire.ToolCallLocation] `json:"locations,omitzero" wire:"lenient,skip"`
	RawInput     acp.Opt[json.RawMessage]         `json:"rawInput,omitzero" wire:"lenient"`
	RawOutput    acp.Opt[json.RawMessage]         `json:"rawOutput,omitzero" wire:"lenient"`
	Capabilities acp.Opt[ToolCallCapabilities]    `json:"capabilities,omitzero" wire:"lenient"`
	Meta         acp.Opt[json.RawMessage]         `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c ToolCallUpdate) MarshalJSON() ([]byte, error) {
	type body ToolCallUpdate
	return acp.EncodeVariant("sessionUpdate", "tool_call_update", body(c))
}

// ToolCallCapabilities says what the client may do with a call while it runs.
type ToolCallCapabilities struct {
	Cancel *wire.Supported `json:"cancel,omitzero" wire:"lenient"`
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ToolCallContentChunk appends one piece to the content of a tool call. See "Tool Calls", "Streaming Content".
type ToolCallContentChunk struct {
	ToolCallID wire.ToolCallID `json:"toolCallId" wire:"required"`
	Content    ToolCallContent `json:"content" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c ToolCallContentChunk) MarshalJSON() ([]byte, error) {
	type body ToolCallContentChunk
	return acp.EncodeVariant("sessionUpdate", "tool_call_content_chunk", body(c))
}

// ToolCallContent is a piece of what a tool call shows: [*Content], [*Diff], [*Terminal] or
// [*Unknown]. See "Tool Calls", "Content".
type ToolCallContent interface{ toolCallContent() }

func (*Content) toolCallContent()  {}
func (*Diff) toolCallContent()     {}
func (*Terminal) toolCallContent() {}
func (*Unknown) toolCallContent()  {}

func init() {
	register("type", map[string]func() ToolCallContent{
		"content":  func() ToolCallContent { return new(Content) },
		"diff":     func() ToolCallContent { return new(Diff) },
		"terminal": func() ToolCallContent { return new(Terminal) },
	}, func(u *Unknown) ToolCallContent { return u })
}

// Content is a content block of a tool call. See "Tool Calls", "Regular Content".
type Content struct {
	Content wire.ContentBlock `json:"content" wire:"required"`
	Meta    json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c Content) MarshalJSON() ([]byte, error) {
	type body Content
	return acp.EncodeVariant("type", "content", body(c))
}

// Terminal shows a terminal of the agent, which may be announced before or after. See "Tool Calls", "Display-only
// Terminals".
type Terminal struct {
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (t Terminal) MarshalJSON() ([]byte, error) {
	type body Terminal
	return acp.EncodeVariant("type", "terminal", body(t))
}
