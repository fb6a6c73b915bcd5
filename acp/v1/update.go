package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// MethodSessionUpdate is the notification by which the agent reports what happens in a session.
const MethodSessionUpdate = "session/update"

// SessionNotification is one update of one session. See "Prompt Turn", "Agent Reports Output".
type SessionNotification struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	Update    SessionUpdate   `json:"update" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionUpdate is what happened: [*UserMessageChunk], [*AgentMessageChunk], [*AgentThoughtChunk], [*ToolCall],
// [*ToolCallUpdate], [*Plan], [*AvailableCommandsUpdate], [*CurrentModeUpdate], [*ConfigOptionUpdate],
// [*SessionInfoUpdate], [*UsageUpdate], [*Notice], [*CompactionUpdate], [*CompactionSummaryChunk] or [*Unknown].
type SessionUpdate interface{ sessionUpdate() }

func (*UserMessageChunk) sessionUpdate()        {}
func (*AgentMessageChunk) sessionUpdate()       {}
func (*AgentThoughtChunk) sessionUpdate()       {}
func (*ToolCall) sessionUpdate()                {}
func (*ToolCallUpdate) sessionUpdate()          {}
func (*Plan) sessionUpdate()                    {}
func (*AvailableCommandsUpdate) sessionUpdate() {}
func (*CurrentModeUpdate) sessionUpdate()       {}
func (*ConfigOptionUpdate) sessionUpdate()      {}
func (*SessionInfoUpdate) sessionUpdate()       {}
func (*UsageUpdate) sessionUpdate()             {}
func (*Notice) sessionUpdate()                  {}
func (*CompactionUpdate) sessionUpdate()        {}
func (*CompactionSummaryChunk) sessionUpdate()  {}
func (*Unknown) sessionUpdate()                 {}

func init() {
	register("sessionUpdate", map[string]func() SessionUpdate{
		"user_message_chunk":        func() SessionUpdate { return new(UserMessageChunk) },
		"agent_message_chunk":       func() SessionUpdate { return new(AgentMessageChunk) },
		"agent_thought_chunk":       func() SessionUpdate { return new(AgentThoughtChunk) },
		"tool_call":                 func() SessionUpdate { return new(ToolCall) },
		"tool_call_update":          func() SessionUpdate { return new(ToolCallUpdate) },
		"plan":                      func() SessionUpdate { return new(Plan) },
		"available_commands_update": func() SessionUpdate { return new(AvailableCommandsUpdate) },
		"current_mode_update":       func() SessionUpdate { return new(CurrentModeUpdate) },
		"config_option_update":      func() SessionUpdate { return new(ConfigOptionUpdate) },
		"session_info_update":       func() SessionUpdate { return new(SessionInfoUpdate) },
		"usage_update":              func() SessionUpdate { return new(UsageUpdate) },
		"notice":                    func() SessionUpdate { return new(Notice) },
		"compaction_update":         func() SessionUpdate { return new(CompactionUpdate) },
		"compaction_summary_chunk":  func() SessionUpdate { return new(CompactionSummaryChunk) },
	}, func(u *Unknown) SessionUpdate { return u })
}

// ContentChunk is the next piece of a message. Chunks without a MessageID belong together as
// long as their kind stays the same. See "Prompt Turn", "Agent Reports Output".
type ContentChunk struct {
	Content   wire.ContentBlock `json:"content" wire:"required"`
	MessageID wire.MessageID    `json:"messageId,omitzero" wire:"lenient"`
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

// CurrentModeUpdate says that the mode has changed. See "Session Modes", "From the Agent".
type CurrentModeUpdate struct {
	CurrentModeID SessionModeID   `json:"currentModeId" wire:"required"`
	Meta          json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u CurrentModeUpdate) MarshalJSON() ([]byte, error) {
	type body CurrentModeUpdate
	return acp.EncodeVariant("sessionUpdate", "current_mode_update", body(u))
}

// ConfigOptionUpdate has all options after a change. See "Session Config Options", "From the Agent".
type ConfigOptionUpdate struct {
	ConfigOptions acp.List[SessionConfigOption] `json:"configOptions" wire:"required,lenient,skip"`
	Meta          json.RawMessage               `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u ConfigOptionUpdate) MarshalJSON() ([]byte, error) {
	type body ConfigOptionUpdate
	return acp.EncodeVariant("sessionUpdate", "config_option_update", body(u))
}

// SessionInfoUpdate changes what a list of sessions shows; null clears. UpdatedAt is in
// ISO 8601. See "Session List", "Updating Session Metadata".
type SessionInfoUpdate struct {
	Title     acp.Opt[string] `json:"title,omitzero" wire:"lenient"`
	UpdatedAt acp.Opt[string] `json:"updatedAt,omitzero" wire:"lenient"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u SessionInfoUpdate) MarshalJSON() ([]byte, error) {
	type body SessionInfoUpdate
	return acp.EncodeVariant("sessionUpdate", "session_info_update", body(u))
}

// UsageUpdate says how many tokens of the context window, Size, are in use, and what the
// session has cost. See "Prompt Turn".
type UsageUpdate struct {
	Used uint64          `json:"used" wire:"required"`
	Size uint64          `json:"size" wire:"required"`
	Cost *wire.Cost      `json:"cost,omitzero" wire:"lenient"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u UsageUpdate) MarshalJSON() ([]byte, error) {
	type body UsageUpdate
	return acp.EncodeVariant("sessionUpdate", "usage_update", body(u))
}

// NoticeSeverity is how severe a notice is. An agent may use others.
type NoticeSeverity string

// The severities of the schema.
const (
	NoticeInfo    NoticeSeverity = "info"
	NoticeWarning NoticeSeverity = "warning"
	NoticeError   NoticeSeverity = "error"
)

// Notice tells the user something that is no part of the conversation. Needs the client's capability.
type Notice struct {
	Severity    NoticeSeverity  `json:"severity" wire:"required"`
	Title       string          `json:"title" wire:"required"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (n Notice) MarshalJSON() ([]byte, error) {
	type body Notice
	return acp.EncodeVariant("sessionUpdate", "notice", body(n))
}

// CompactionID names a compaction in its session.
type CompactionID string

// CompactionStatus is how far a compaction is. An agent may use others.
type CompactionStatus string

// The states of the schema.
const (
	CompactionInProgress CompactionStatus = "in_progress"
	CompactionCompleted  CompactionStatus = "completed"
	CompactionFailed     CompactionStatus = "failed"
	CompactionCancelled  CompactionStatus = "cancelled"
)

// CompactionUpdate tells of the agent shortening its context: omitted fields stay, null clears.
// Needs the client's capability.
type CompactionUpdate struct {
	CompactionID CompactionID                 `json:"compactionId" wire:"required"`
	Status       CompactionStatus             `json:"status" wire:"required"`
	Summary      acp.Opt[[]wire.ContentBlock] `json:"summary,omitzero" wire:"lenient,skip"`
	Error        acp.Opt[string]              `json:"error,omitzero" wire:"lenient"`
	Meta         acp.Opt[json.RawMessage]     `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u CompactionUpdate) MarshalJSON() ([]byte, error) {
	type body CompactionUpdate
	return acp.EncodeVariant("sessionUpdate", "compaction_update", body(u))
}

// CompactionSummaryChunk appends a block to the summary of a compaction.
type CompactionSummaryChunk struct {
	CompactionID CompactionID      `json:"compactionId" wire:"required"`
	Content      wire.ContentBlock `json:"content" wire:"required"`
	Meta         json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u CompactionSummaryChunk) MarshalJSON() ([]byte, error) {
	type body CompactionSummaryChunk
	return acp.EncodeVariant("sessionUpdate", "compaction_summary_chunk", body(u))
}
