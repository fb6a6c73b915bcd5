package wire

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// MethodSessionRequestPermission is sent by the agent before it does something that the user may refuse.
const MethodSessionRequestPermission = "session/request_permission"

// PermissionOptionID names an option of one request.
type PermissionOptionID string

// PermissionOption is an answer the user can give, in the agent's words. See "Tool Calls", "Permission Options".
type PermissionOption struct {
	OptionID PermissionOptionID   `json:"optionId" wire:"required"`
	Name     string               `json:"name" wire:"required"`
	Kind     PermissionOptionKind `json:"kind" wire:"required"`
	Meta     json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// PermissionOptionKind is what an option means, for icons, keys and rules.
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
// [*CancelledPermissionOutcome] or [*Unknown].
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

func (o SelectedPermissionOutcome) MarshalJSON() ([]byte, error) {
	type body SelectedPermissionOutcome
	return acp.EncodeVariant("outcome", "selected", body(o))
}

// CancelledPermissionOutcome says that the work was cancelled before the user chose.
type CancelledPermissionOutcome struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (o CancelledPermissionOutcome) MarshalJSON() ([]byte, error) {
	type body CancelledPermissionOutcome
	return acp.EncodeVariant("outcome", "cancelled", body(o))
}
