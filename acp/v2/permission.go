package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// MethodSessionRequestPermission is sent by the agent before it does what the user may refuse.
const MethodSessionRequestPermission = "session/request_permission"

// RequestPermissionRequest asks the user to choose an option. Title and Description are of the question, not of what it
// is about; that is the Subject, or nil. See "Tool Calls", "Requesting Permission".
type RequestPermissionRequest struct {
	SessionID   SessionID                  `json:"sessionId" wire:"required"`
	Title       string                     `json:"title" wire:"required"`
	Description string                     `json:"description,omitzero" wire:"lenient"`
	Subject     RequestPermissionSubject   `json:"subject,omitzero"`
	Options     acp.List[PermissionOption] `json:"options" wire:"required"`
	Meta        json.RawMessage            `json:"_meta,omitzero" wire:"lenient,object"`
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
	ToolCallID ToolCallID      `json:"toolCallId,omitzero" wire:"lenient"`
	TerminalID TerminalID      `json:"terminalId,omitzero" wire:"lenient"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// MarshalJSON encodes the subject with its type.
func (s CommandPermissionSubject) MarshalJSON() ([]byte, error) {
	type body CommandPermissionSubject
	return acp.EncodeVariant("type", "command", body(s))
}

// PermissionOptionID names an option of one request.
type PermissionOptionID string

// PermissionOption is an answer the user can give, in the agent's words. See "Tool Calls", "Permission Options".
type PermissionOption struct {
	OptionID PermissionOptionID   `json:"optionId" wire:"required"`
	Name     string               `json:"name" wire:"required"`
	Kind     PermissionOptionKind `json:"kind" wire:"required"`
	Meta     json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// PermissionOptionKind is what an option means, for icons, keys and rules. An agent may use others.
type PermissionOptionKind string

// The kinds of the schema.
const (
	PermissionAllowOnce    PermissionOptionKind = "allow_once"
	PermissionAllowAlways  PermissionOptionKind = "allow_always"
	PermissionRejectOnce   PermissionOptionKind = "reject_once"
	PermissionRejectAlways PermissionOptionKind = "reject_always"
)

// RequestPermissionResponse is the user's answer. See "Tool Calls", "Requesting Permission".
type RequestPermissionResponse struct {
	Outcome RequestPermissionOutcome `json:"outcome" wire:"required"`
	Meta    json.RawMessage          `json:"_meta,omitzero" wire:"lenient,object"`
}

// RequestPermissionOutcome is what became of a request: [*SelectedPermissionOutcome],
// [*CancelledPermissionOutcome] or [*Unknown], which allows nothing.
type RequestPermissionOutcome interface{ requestPermissionOutcome() }

func (*SelectedPermissionOutcome) requestPermissionOutcome()  {}
func (*CancelledPermissionOutcome) requestPermissionOutcome() {}
func (*Unknown) requestPermissionOutcome()                    {}

func init() {
	register("outcome", map[string]func() RequestPermissionOutcome{
		"selected":  func() RequestPermissionOutcome { return new(SelectedPermissionOutcome) },
		"cancelled": func() RequestPermissionOutcome { return new(CancelledPermissionOutcome) },
	}, func(u *Unknown) RequestPermissionOutcome { return u })
}

// SelectedPermissionOutcome says that the user chose an option.
type SelectedPermissionOutcome struct {
	OptionID PermissionOptionID `json:"optionId" wire:"required"`
	Meta     json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

// MarshalJSON encodes the outcome with its name.
func (o SelectedPermissionOutcome) MarshalJSON() ([]byte, error) {
	type body SelectedPermissionOutcome
	return acp.EncodeVariant("outcome", "selected", body(o))
}

// CancelledPermissionOutcome says that the work was cancelled before the user chose.
type CancelledPermissionOutcome struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// MarshalJSON encodes the outcome with its name.
func (o CancelledPermissionOutcome) MarshalJSON() ([]byte, error) {
	type body CancelledPermissionOutcome
	return acp.EncodeVariant("outcome", "cancelled", body(o))
}
