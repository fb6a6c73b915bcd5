package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// RequestPermissionRequest asks the user to choose an option for a tool call, which may be one
// that was not announced before. See "Tool Calls", "Requesting Permission".
type RequestPermissionRequest struct {
	SessionID wire.SessionID                  `json:"sessionId" wire:"required"`
	ToolCall  ToolCallUpdate                  `json:"toolCall" wire:"required"`
	Options   acp.List[wire.PermissionOption] `json:"options" wire:"required"`
	Meta      json.RawMessage                 `json:"_meta,omitzero" wire:"lenient,object"`
}

// MarshalJSON encodes the tool call without the kind of update that it is elsewhere.
func (r RequestPermissionRequest) MarshalJSON() ([]byte, error) {
	type request RequestPermissionRequest
	type call ToolCallUpdate
	return json.Marshal(struct {
		request
		ToolCall call `json:"toolCall"`
	}{request(r), call(r.ToolCall)})
}
