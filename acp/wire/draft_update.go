package wire

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Updates of a session that the stable schemas do not have, by their kind.
const (
	KindSubagentUpdate      = "subagent_update"
	KindSessionMessage      = "session_message"
	KindSessionMessageChunk = "session_message_chunk"
	KindPlanUpdate          = "plan_update" // of version 1; version 2 has it
	KindPlanRemoved         = "plan_removed"
)

// SubagentUpdate begins or changes a child of the session it comes in: omitted fields stay, null clears.
type SubagentUpdate struct {
	SessionID             string                               `json:"sessionId" wire:"required"` // the child's
	Title                 acp.Opt[string]                      `json:"title,omitzero" wire:"lenient"`
	Description           acp.Opt[string]                      `json:"description,omitzero" wire:"lenient"`
	Capabilities          acp.Opt[SubagentSessionCapabilities] `json:"capabilities,omitzero" wire:"lenient"`
	State                 acp.Opt[SubagentState]               `json:"state,omitzero" wire:"lenient"`
	CWD                   acp.Opt[string]                      `json:"cwd,omitzero"` // if omitted or null, its parent's
	AdditionalDirectories acp.Opt[[]string]                    `json:"additionalDirectories,omitzero"`
	Meta                  acp.Opt[json.RawMessage]             `json:"_meta,omitzero" wire:"lenient,object"`
}

// SubagentSessionCapabilities are what the client may do to a child.
type SubagentSessionCapabilities struct {
	Cancel *Supported      `json:"cancel,omitzero" wire:"lenient"`
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SubagentState is what a child is doing: "running", "idle", "requires_action" or "unknown"; others may come.
// StopReason belongs to idle.
type SubagentState struct {
	State      string `json:"state" wire:"required"`
	StopReason string `json:"stopReason,omitzero" wire:"lenient"`
}

// SessionMessage makes or changes a message between sessions, in the transcript of one of them: omitted fields stay,
// null clears.
type SessionMessage struct {
	MessageID          string                     `json:"messageId" wire:"required"`
	SenderSessionID    acp.Opt[string]            `json:"senderSessionId,omitzero" wire:"lenient"`
	RecipientSessionID acp.Opt[string]            `json:"recipientSessionId,omitzero" wire:"lenient"`
	SenderMessageID    acp.Opt[string]            `json:"senderMessageId,omitzero" wire:"lenient"`
	RecipientMessageID acp.Opt[string]            `json:"recipientMessageId,omitzero" wire:"lenient"`
	Content            acp.Opt[[]json.RawMessage] `json:"content,omitzero" wire:"lenient,skip"` // blocks
	Meta               acp.Opt[json.RawMessage]   `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionMessageChunk appends a block to a message between sessions.
type SessionMessageChunk struct {
	MessageID string          `json:"messageId" wire:"required"`
	Content   json.RawMessage `json:"content" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// PlanUpdate replaces one plan of a session of version 1. Needs the client's capability.
type PlanUpdate struct {
	Plan PlanContent     `json:"plan" wire:"required"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// PlanContent is a plan: by its Type "items" has Entries, "markdown" Content, "file" URI.
type PlanContent struct {
	Type    string          `json:"type" wire:"required"`
	PlanID  string          `json:"planId" wire:"required"`
	Entries []PlanEntry     `json:"entries,omitzero" wire:"lenient,skip"`
	Content string          `json:"content,omitzero" wire:"lenient"`
	URI     string          `json:"uri,omitzero" wire:"lenient"`
	Meta    json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// PlanEntry is a step of a plan.
type PlanEntry struct {
	Content  string          `json:"content" wire:"required"`
	Priority string          `json:"priority" wire:"required"`
	Status   string          `json:"status" wire:"required"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// PlanRemoved takes a plan back. Needs the client's capability in version 1.
type PlanRemoved struct {
	PlanID string          `json:"planId" wire:"required"`
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
