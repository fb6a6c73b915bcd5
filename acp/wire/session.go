package wire

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// MethodSessionList is sent by the client.
const MethodSessionList = "session/list"

// ListSessionsRequest asks for stored sessions, those of the folder CWD if it is given, from
// the place Cursor on. Needs the agent's capability. See "Session List".
type ListSessionsRequest struct {
	CWD      string               `json:"cwd,omitzero"`
	Cursor   string               `json:"cursor,omitzero"`
	Archived SessionArchiveFilter `json:"archived,omitzero"` // not in the stable schema
	Meta     json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// CloseSessionRequest ends an open session and frees what it holds. Needs the agent's
// capability. See "Session Setup", "Closing Active Sessions".
type CloseSessionRequest struct {
	SessionID SessionID       `json:"sessionId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// DeleteSessionRequest removes a stored session. Needs the agent's capability. See "Session Delete".
type DeleteSessionRequest struct {
	SessionID SessionID       `json:"sessionId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// PromptRequest starts a turn; it is answered when the turn has ended. See "Prompt Turn", "User Message".
type PromptRequest struct {
	SessionID SessionID              `json:"sessionId" wire:"required"`
	Prompt    acp.List[ContentBlock] `json:"prompt" wire:"required"`
	Meta      json.RawMessage        `json:"_meta,omitzero" wire:"lenient,object"`
}
