package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Methods of authentication, sent by the client.
const (
	MethodAuthenticate = "authenticate"
	MethodLogout       = "logout"
)

// AuthMethodType says who does what in a login.
type AuthMethodType string

// The types of authentication methods. Without a type it is the agent.
const (
	AuthMethodAgent    AuthMethodType = "agent"    // the agent does it all in authenticate
	AuthMethodTerminal AuthMethodType = "terminal" // the client runs the agent's program
	AuthMethodEnvVar   AuthMethodType = "env_var"  // variables in the agent's environment
)

// AuthMethod is one of the agent's ways to log in. The schema has terminal and agent methods;
// the types env_var and agent on the wire and Vars come from real agents. See "Authentication".
type AuthMethod struct {
	Type        AuthMethodType    `json:"type,omitzero" wire:"lenient"`
	ID          wire.AuthMethodID `json:"id" wire:"required"`
	Name        string            `json:"name" wire:"required"`
	Description string            `json:"description,omitzero" wire:"lenient"`
	// Args and Env are added to the agent's command for a terminal login.
	Args []string          `json:"args,omitzero"`
	Env  map[string]string `json:"env,omitzero"`
	// Vars are the variables that an env_var login needs.
	Vars []AuthEnvVar    `json:"vars,omitzero" wire:"lenient,skip"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AuthEnvVar is an environment variable that an agent needs to be logged in. Not in the schema.
type AuthEnvVar struct {
	Name     string `json:"name" wire:"required"`
	Label    string `json:"label,omitzero" wire:"lenient"`
	Optional bool   `json:"optional,omitzero" wire:"lenient"`
}

// AuthenticateRequest logs in by one of the agent's methods. See "Authentication".
type AuthenticateRequest struct {
	MethodID wire.AuthMethodID `json:"methodId" wire:"required"`
	Meta     json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

// AuthenticateResponse says that the login succeeded.
type AuthenticateResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// LogoutRequest logs out. Needs the agent's capability. See "Authentication".
type LogoutRequest struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// LogoutResponse says that the agent has logged out.
type LogoutResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
