package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// RequestPermissionRequest asks the user to choose an option. Title and Description are of the question, not of what it
// is about; that is the Subject, or nil. See "Tool Calls", "Requesting Permission".
type RequestPermissionRequest struct {
	SessionID   wire.SessionID                  `json:"sessionId" wire:"required"`
	Title       string                          `json:"title" wire:"required"`
	Description string                          `json:"description,omitzero" wire:"lenient"`
	Subject     RequestPermissionSubject        `json:"subject,omitzero"`
	Options     acp.List[wire.PermissionOption] `json:"options" wire:"required"`
	Meta        json.RawMessage                 `json:"_meta,omitzero" wire:"lenient,object"`
}

// RequestPermissionSubject is what a request is about: [*ToolCallPermissionSubject],
// [*CommandPermissionSubject] or [*Unknown].
type RequestPermissionSubject interface{ requestPermissionSubject() }

func (*ToolCallPermissionSubject) requestPermissionSubject() {}
func (*CommandPermissionSubject) requestPermissionSubject()  {}
func (*Unknown) requestPermissionSubject()                   {}

func init() {
	register("type", map[string]func() RequestPermissionSubject{
		"tool_call": func() RequestPermissionSubject { return new(ToolCallPermissionSubject) },
		"command":   func() RequestPermissionSubject { return new(CommandPermissionSubject) },
	}, func(u *Unknown) RequestPermissionSubject { return u })
}

// ToolCallPermissionSubject is a tool call, which may be one that was not told of before; what it
// says of the call counts as an update does.
type ToolCallPermissionSubject struct {
	ToolCall ToolCallUpdate  `json:"toolCall" wire:"required"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// MarshalJSON encodes the subject with its type, and the tool call without the kind of update that it is elsewhere.
func (s ToolCallPermissionSubject) MarshalJSON() ([]byte, error) {
	type subject ToolCallPermissionSubject
	type call ToolCallUpdate
	return acp.EncodeVariant("type", "tool_call", struct {
		subject
		ToolCall call `json:"toolCall"`
	}{subject(s), call(s.ToolCall)})
}

// CommandPermissionSubject is a command that the agent wants to run in CWD, an absolute path. The
// ids say to which call and terminal it belongs, and change nothing of them.
type CommandPermissionSubject struct {
	Command    string          `json:"command" wire:"required"`
	CWD        string          `json:"cwd" wire:"required"`
	ToolCallID wire.ToolCallID `json:"toolCallId,omitzero" wire:"lenient"`
	TerminalID wire.TerminalID `json:"terminalId,omitzero" wire:"lenient"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (s CommandPermissionSubject) MarshalJSON() ([]byte, error) {
	type body CommandPermissionSubject
	return acp.EncodeVariant("type", "command", body(s))
}
