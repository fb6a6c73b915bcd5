package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// ToolCallStatus is how far a tool call is. See "Tool Calls", "Status".
type ToolCallStatus string

// The states of the schema. A call without a status is [ToolPending].
const (
	ToolPending    ToolCallStatus = "pending"
	ToolInProgress ToolCallStatus = "in_progress"
	ToolCompleted  ToolCallStatus = "completed"
	ToolFailed     ToolCallStatus = "failed"
)

// ToolCall announces a tool call. Agents also send it again for a call that is known, so its
// fields tell omitted from set as those of [ToolCallUpdate] do. See "Tool Calls", "Creating".
type ToolCall struct {
	ToolCallID wire.ToolCallID                  `json:"toolCallId" wire:"required"`
	Title      string                           `json:"title" wire:"required"`
	Name       acp.Opt[string]                  `json:"name,omitzero" wire:"lenient"`
	Kind       acp.Opt[wire.ToolKind]           `json:"kind,omitzero" wire:"lenient"`
	Status     acp.Opt[ToolCallStatus]          `json:"status,omitzero" wire:"lenient"`
	Content    acp.Opt[[]ToolCallContent]       `json:"content,omitzero" wire:"lenient,skip"`
	Locations  acp.Opt[[]wire.ToolCallLocation] `json:"locations,omitzero" wire:"lenient,skip"`
	RawInput   acp.Opt[json.RawMessage]         `json:"rawInput,omitzero" wire:"lenient"`
	RawOutput  acp.Opt[json.RawMessage]         `json:"rawOutput,omitzero" wire:"lenient"`
	Meta       json.RawMessage                  `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c ToolCall) MarshalJSON() ([]byte, error) {
	type body ToolCall
	return acp.EncodeVariant("sessionUpdate", "tool_call", body(c))
}

// ToolCallUpdate changes a tool call: what is omitted stays. See "Tool Calls", "Updating".
type ToolCallUpdate struct {
	ToolCallID wire.ToolCallID                  `json:"toolCallId" wire:"required"`
	Title      acp.Opt[string]                  `json:"title,omitzero" wire:"lenient"`
	Name       acp.Opt[string]                  `json:"name,omitzero" wire:"lenient"`
	Kind       acp.Opt[wire.ToolKind]           `json:"kind,omitzero" wire:"lenient"`
	Status     acp.Opt[ToolCallStatus]          `json:"status,omitzero" wire:"lenient"`
	Content    acp.Opt[[]ToolCallContent]       `json:"content,omitzero" wire:"lenient,skip"`
	Locations  acp.Opt[[]wire.ToolCallLocation] `json:"locations,omitzero" wire:"lenient,skip"`
	RawInput   acp.Opt[json.RawMessage]         `json:"rawInput,omitzero" wire:"lenient"`
	RawOutput  acp.Opt[json.RawMessage]         `json:"rawOutput,omitzero" wire:"lenient"`
	Meta       json.RawMessage                  `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c ToolCallUpdate) MarshalJSON() ([]byte, error) {
	type body ToolCallUpdate
	return acp.EncodeVariant("sessionUpdate", "tool_call_update", body(c))
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

// Diff is a change of a file, as texts before and after; agents give the whole file or a part of it. OldText is not set
// for a new file. Deleted is a proposal, not in the schema yet. See "Tool Calls", "Diffs".
type Diff struct {
	Path    string          `json:"path" wire:"required"`
	OldText acp.Opt[string] `json:"oldText,omitzero" wire:"lenient"`
	NewText string          `json:"newText" wire:"required"`
	Deleted bool            `json:"deleted,omitzero" wire:"lenient"`
	Meta    json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (d Diff) MarshalJSON() ([]byte, error) {
	type body Diff
	return acp.EncodeVariant("type", "diff", body(d))
}

// Terminal shows a terminal that the agent made by [MethodTerminalCreate]. See "Tool Calls", "Terminals".
type Terminal struct {
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (t Terminal) MarshalJSON() ([]byte, error) {
	type body Terminal
	return acp.EncodeVariant("type", "terminal", body(t))
}
