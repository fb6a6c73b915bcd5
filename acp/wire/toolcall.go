package wire

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// ToolCallID names a tool call in its session.
type ToolCallID string

// ToolKind is what a tool does, for icons and for the way it is shown. See "Tool Calls", "Creating".
type ToolKind string

// The kinds of the schema. A call without a kind is [ToolOther].
const (
	ToolRead       ToolKind = "read"
	ToolEdit       ToolKind = "edit"
	ToolDelete     ToolKind = "delete"
	ToolMove       ToolKind = "move"
	ToolSearch     ToolKind = "search"
	ToolExecute    ToolKind = "execute"
	ToolThink      ToolKind = "think"
	ToolFetch      ToolKind = "fetch"
	ToolSwitchMode ToolKind = "switch_mode"
	ToolOther      ToolKind = "other"
)

// ToolCallLocation is a place that a tool call works at; agents count lines from 1.
// See "Tool Calls", "Following the Agent".
type ToolCallLocation struct {
	Path string          `json:"path" wire:"required"`
	Line acp.Opt[uint32] `json:"line,omitzero" wire:"lenient"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
