// Package wire has the types of the protocol that versions 1 and 2 spell alike: a Go type for each type of the schema,
// under the schema's name. Of the unstable schema it has what widespread agents use (draft.go, draft_update.go). What
// differs between the versions is in acp/v1 and acp/v2.
package wire

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Unknown is a variant that no union of this package knows, as a newer agent may send it. It is kept as it came.
type Unknown struct {
	// Type is the value of the union's discriminator, "" if the object has none.
	Type string
	// Raw is the whole object.
	Raw json.RawMessage
}

// MarshalJSON encodes the object as it came.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw, nil }

// register makes the union T known to acp.Decode.
func register[T any](tag string, variants map[string]func() T, unknown func(*Unknown) T) {
	acp.RegisterUnion(acp.Union[T]{
		Tag:      tag,
		Variants: variants,
		Unknown: func(name string, raw json.RawMessage) T {
			return unknown(&Unknown{Type: name, Raw: raw})
		},
	})
}

// SessionID names a session of one agent. See "Session Setup", "Session ID".
type SessionID string

// MessageID names a message; chunks with the same one belong together.
type MessageID string

// TerminalID names a terminal of the client.
type TerminalID string

// AuthMethodID names one of the agent's ways to log in.
type AuthMethodID string

// Supported is a capability whose object has no properties: present means yes, nil means no.
type Supported struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// Implementation names a client or an agent and its version. See "Initialization", "Implementation Information".
type Implementation struct {
	Name    string          `json:"name" wire:"required"`
	Title   string          `json:"title,omitzero" wire:"lenient"`
	Version string          `json:"version" wire:"required"`
	Meta    json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ElicitationCapabilities says which ways of asking the user the client has. See "Elicitation".
type ElicitationCapabilities struct {
	Form *Supported      `json:"form,omitzero" wire:"lenient"`
	URL  *Supported      `json:"url,omitzero" wire:"lenient"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// Cost is the money a session has cost; Currency is an ISO 4217 code.
type Cost struct {
	Amount   float64         `json:"amount" wire:"required"`
	Currency string          `json:"currency" wire:"required"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionConfigID names an option of a session.
type SessionConfigID string

// SessionConfigValueID names a value of a select option.
type SessionConfigValueID string

// SessionConfigSelectOption is a value of a select.
type SessionConfigSelectOption struct {
	Value       SessionConfigValueID `json:"value" wire:"required"`
	Name        string               `json:"name" wire:"required"`
	Description string               `json:"description,omitzero" wire:"lenient"`
	Meta        json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// EnvVariable is a variable in the environment of a server or a terminal.
type EnvVariable struct {
	Name  string          `json:"name" wire:"required"`
	Value string          `json:"value" wire:"required"`
	Meta  json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// HTTPHeader is a header of the requests to a server.
type HTTPHeader struct {
	Name  string          `json:"name" wire:"required"`
	Value string          `json:"value" wire:"required"`
	Meta  json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
