package v2

import "encoding/json"

// MethodSessionUpdate is the notification by which the agent tells what happens in a session.
const MethodSessionUpdate = "session/update"

// UpdateSessionNotification is one update of one session. See "Prompt Lifecycle", "Agent Reports
// Output".
type UpdateSessionNotification struct {
	SessionID SessionID       `json:"sessionId" wire:"required"`
	Update    SessionUpdate   `json:"update" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionUpdate is what happened: [*ToolCallUpdate], [*ToolCallContentChunk], [*TerminalUpdate],
// [*TerminalOutputChunk] or [*Unknown].
type SessionUpdate interface{ sessionUpdate() }

func (*ToolCallUpdate) sessionUpdate()       {}
func (*ToolCallContentChunk) sessionUpdate() {}
func (*TerminalUpdate) sessionUpdate()       {}
func (*TerminalOutputChunk) sessionUpdate()  {}
func (*Unknown) sessionUpdate()              {}

func init() {
	register("sessionUpdate", map[string]func() SessionUpdate{
		"tool_call_update":        func() SessionUpdate { return new(ToolCallUpdate) },
		"tool_call_content_chunk": func() SessionUpdate { return new(ToolCallContentChunk) },
		"terminal_update":         func() SessionUpdate { return new(TerminalUpdate) },
		"terminal_output_chunk":   func() SessionUpdate { return new(TerminalOutputChunk) },
	}, func(u *Unknown) SessionUpdate { return u })
}
