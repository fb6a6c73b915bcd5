package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// MethodSessionUpdate is the notification by which the agent reports what happens in a session.
const MethodSessionUpdate = "session/update"

// UpdateSessionNotification is one update of one session. See "Prompt Lifecycle", "Agent Reports
// Output".
type UpdateSessionNotification struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	Update    SessionUpdate   `json:"update" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionUpdate is what happened: [*UserMessageChunk], [*UserMessage], [*AgentMessageChunk], [*AgentMessage],
// [*AgentThoughtChunk], [*AgentThought], [*StateUpdate], [*ToolCallUpdate], [*ToolCallContentChunk], [*TerminalUpdate],
// [*TerminalOutputChunk], [*PlanUpdate], [*AvailableCommandsUpdate], [*ConfigOptionUpdate], [*SessionInfoUpdate],
// [*UsageUpdate], [*Notice], [*CompactionUpdate], [*CompactionSummaryChunk] or [*Unknown].
type SessionUpdate interface{ sessionUpdate() }

func (*UserMessageChunk) sessionUpdate()        {}
func (*UserMessage) sessionUpdate()             {}
func (*AgentMessageChunk) sessionUpdate()       {}
func (*AgentMessage) sessionUpdate()            {}
func (*AgentThoughtChunk) sessionUpdate()       {}
func (*AgentThought) sessionUpdate()            {}
func (*StateUpdate) sessionUpdate()             {}
func (*ToolCallUpdate) sessionUpdate()          {}
func (*ToolCallContentChunk) sessionUpdate()    {}
func (*TerminalUpdate) sessionUpdate()          {}
func (*TerminalOutputChunk) sessionUpdate()     {}
func (*PlanUpdate) sessionUpdate()              {}
func (*AvailableCommandsUpdate) sessionUpdate() {}
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
		"user_message":              func() SessionUpdate { return new(UserMessage) },
		"agent_message_chunk":       func() SessionUpdate { return new(AgentMessageChunk) },
		"agent_message":             func() SessionUpdate { return new(AgentMessage) },
		"agent_thought_chunk":       func() SessionUpdate { return new(AgentThoughtChunk) },
		"agent_thought":             func() SessionUpdate { return new(AgentThought) },
		"state_update":              func() SessionUpdate { return new(StateUpdate) },
		"tool_call_update":          func() SessionUpdate { return new(ToolCallUpdate) },
		"tool_call_content_chunk":   func() SessionUpdate { return new(ToolCallContentChunk) },
		"terminal_update":           func() SessionUpdate { return new(TerminalUpdate) },
		"terminal_output_chunk":     func() SessionUpdate { return new(TerminalOutputChunk) },
		"plan_update":               func() SessionUpdate { return new(PlanUpdate) },
		"available_commands_update": func() SessionUpdate { return new(AvailableCommandsUpdate) },
		"config_option_update":      func() SessionUpdate { return new(ConfigOptionUpdate) },
		"session_info_update":       func() SessionUpdate { return new(SessionInfoUpdate) },
		"usage_update":              func() SessionUpdate { return new(UsageUpdate) },
		"notice":                    func() SessionUpdate { return new(Notice) },
		"compaction_update":         func() SessionUpdate { return new(CompactionUpdate) },
		"compaction_summary_chunk":  func() SessionUpdate { return new(CompactionSummaryChunk) },
	}, func(u *Unknown) SessionUpdate { return u })
}
