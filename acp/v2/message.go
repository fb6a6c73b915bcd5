package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// ContentChunk is the next piece of a message, which it begins where there is none yet. See "Prompt Lifecycle".
type ContentChunk struct {
	MessageID wire.MessageID    `json:"messageId" wire:"required"`
	Content   wire.ContentBlock `json:"content" wire:"required"`
	Meta      json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

// UserMessageChunk is a piece of what the user said.
type UserMessageChunk ContentChunk

func (c UserMessageChunk) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("sessionUpdate", "user_message_chunk", ContentChunk(c))
}

// AgentMessageChunk is a piece of what the agent says.
type AgentMessageChunk ContentChunk

func (c AgentMessageChunk) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("sessionUpdate", "agent_message_chunk", ContentChunk(c))
}

// AgentThoughtChunk is a piece of what the agent thinks.
type AgentThoughtChunk ContentChunk

func (c AgentThoughtChunk) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("sessionUpdate", "agent_thought_chunk", ContentChunk(c))
}

// Message makes a message, or changes it: content that is set replaces all of it, null clears it.
type Message struct {
	MessageID wire.MessageID               `json:"messageId" wire:"required"`
	Content   acp.Opt[[]wire.ContentBlock] `json:"content,omitzero" wire:"lenient,skip"`
	Meta      acp.Opt[json.RawMessage]     `json:"_meta,omitzero" wire:"lenient,object"`
}

// UserMessage is a message of the user's.
type UserMessage Message

func (m UserMessage) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("sessionUpdate", "user_message", Message(m))
}

// AgentMessage is a message of the agent's.
type AgentMessage Message

func (m AgentMessage) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("sessionUpdate", "agent_message", Message(m))
}

// AgentThought is a thought of the agent's.
type AgentThought Message

func (m AgentThought) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("sessionUpdate", "agent_thought", Message(m))
}

// StateUpdate says what a session does. See "Prompt Lifecycle".
type StateUpdate struct {
	State      string     `json:"state" wire:"required"`              // see [StateRunning]; others may come
	StopReason string     `json:"stopReason,omitzero" wire:"lenient"` // of idle
	Error      *acp.Error `json:"error,omitzero" wire:"lenient"`      // of the stop reason "error"
	// Background is all that goes on beside it. Omitted and null are that the agent does not say.
	Background acp.Opt[[]Background] `json:"background,omitzero" wire:"lenient,skip"`
	Usage      *Usage                `json:"usage,omitzero" wire:"lenient"` // of idle; not in the schema
	Meta       json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u StateUpdate) MarshalJSON() ([]byte, error) {
	type body StateUpdate
	return acp.EncodeVariant("sessionUpdate", "state_update", body(u))
}

// The states of a session.
const (
	StateRunning        = "running"
	StateIdle           = "idle"
	StateRequiresAction = "requires_action"
)

// StopError is the stop reason of work that has failed.
const StopError = "error"

// Background is work that goes on while its session may be idle: a terminal or a tool call, or what is unknown.
type Background struct {
	Type       string          `json:"type" wire:"required"` // "terminal", "tool_call"
	TerminalID wire.TerminalID `json:"terminalId,omitzero" wire:"lenient"`
	ToolCallID wire.ToolCallID `json:"toolCallId,omitzero" wire:"lenient"`
	SessionID  wire.SessionID  `json:"sessionId,omitzero" wire:"lenient"` // of a "subagent", which is not in the schema
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// Usage is the tokens of a turn. Not in the schema.
type Usage struct {
	TotalTokens       uint64 `json:"totalTokens" wire:"required"`
	InputTokens       uint64 `json:"inputTokens" wire:"lenient"`
	OutputTokens      uint64 `json:"outputTokens" wire:"lenient"`
	ThoughtTokens     uint64 `json:"thoughtTokens,omitzero" wire:"lenient"`
	CachedReadTokens  uint64 `json:"cachedReadTokens,omitzero" wire:"lenient"`
	CachedWriteTokens uint64 `json:"cachedWriteTokens,omitzero" wire:"lenient"`
}

// PlanUpdate replaces one plan of a session. See "Agent Plan".
type PlanUpdate struct {
	Plan PlanContent     `json:"plan" wire:"required"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u PlanUpdate) MarshalJSON() ([]byte, error) {
	type body PlanUpdate
	return acp.EncodeVariant("sessionUpdate", "plan_update", body(u))
}

// PlanContent is a plan. Of the types that the schema does not have, and of unknown ones, it has no entries.
type PlanContent = wire.PlanContent

// PlanEntry is a step of a plan.
type PlanEntry = wire.PlanEntry

// SessionInfoUpdate changes what a list of sessions shows; null clears.
type SessionInfoUpdate struct {
	Title     acp.Opt[string] `json:"title,omitzero" wire:"lenient"`
	UpdatedAt acp.Opt[string] `json:"updatedAt,omitzero" wire:"lenient"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u SessionInfoUpdate) MarshalJSON() ([]byte, error) {
	type body SessionInfoUpdate
	return acp.EncodeVariant("sessionUpdate", "session_info_update", body(u))
}

// UsageUpdate is how full the context is, and what the session has cost; a cost of null clears it.
type UsageUpdate struct {
	Used uint64             `json:"used" wire:"required"`
	Size uint64             `json:"size" wire:"required"`
	Cost acp.Opt[wire.Cost] `json:"cost,omitzero" wire:"lenient"`
	Meta json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u UsageUpdate) MarshalJSON() ([]byte, error) {
	type body UsageUpdate
	return acp.EncodeVariant("sessionUpdate", "usage_update", body(u))
}

// Notice is something that the user should know.
type Notice struct {
	Severity    string          `json:"severity" wire:"required"`
	Title       string          `json:"title" wire:"required"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (n Notice) MarshalJSON() ([]byte, error) {
	type body Notice
	return acp.EncodeVariant("sessionUpdate", "notice", body(n))
}

// CompactionUpdate reports a compaction of the context.
type CompactionUpdate struct {
	CompactionID string                       `json:"compactionId" wire:"required"`
	Status       string                       `json:"status" wire:"required"`
	Summary      acp.Opt[[]wire.ContentBlock] `json:"summary,omitzero" wire:"lenient,skip"`
	Error        acp.Opt[string]              `json:"error,omitzero" wire:"lenient"`
	Meta         json.RawMessage              `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u CompactionUpdate) MarshalJSON() ([]byte, error) {
	type body CompactionUpdate
	return acp.EncodeVariant("sessionUpdate", "compaction_update", body(u))
}

// CompactionSummaryChunk is the next piece of a compaction's summary.
type CompactionSummaryChunk struct {
	CompactionID string            `json:"compactionId" wire:"required"`
	Content      wire.ContentBlock `json:"content" wire:"required"`
	Meta         json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c CompactionSummaryChunk) MarshalJSON() ([]byte, error) {
	type body CompactionSummaryChunk
	return acp.EncodeVariant("sessionUpdate", "compaction_summary_chunk", body(c))
}
