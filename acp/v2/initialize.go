package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// MethodInitialize begins a connection.
const MethodInitialize = "initialize"

// Version is the number of this version of the protocol.
const Version = 2

// InitializeRequest offers a version and says what the client is and can. See "Initialization".
type InitializeRequest struct {
	ProtocolVersion int                 `json:"protocolVersion" wire:"required"`
	Info            wire.Implementation `json:"info" wire:"required"`
	Capabilities    ClientCapabilities  `json:"capabilities,omitzero" wire:"lenient"`
	Meta            json.RawMessage     `json:"_meta,omitzero" wire:"lenient,object"`
}

// InitializeResponse chooses the version and says what the agent is and can. See "Initialization".
type InitializeResponse struct {
	ProtocolVersion int                  `json:"protocolVersion" wire:"required"`
	Info            wire.Implementation  `json:"info" wire:"required"`
	Capabilities    AgentCapabilities    `json:"capabilities,omitzero" wire:"lenient"`
	AuthMethods     acp.List[AuthMethod] `json:"authMethods,omitzero" wire:"lenient,skip"`
	Meta            json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// ClientCapabilities are what the client can do beyond the baseline.
type ClientCapabilities struct {
	Auth        *ClientAuthCapabilities       `json:"auth,omitzero" wire:"lenient"`
	Elicitation *wire.ElicitationCapabilities `json:"elicitation,omitzero" wire:"lenient"`
	Meta        json.RawMessage               `json:"_meta,omitzero" wire:"lenient,object"`
}

// ClientAuthCapabilities are the ways to log in that need the client.
type ClientAuthCapabilities struct {
	Terminal *wire.Supported `json:"terminal,omitzero" wire:"lenient"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AgentCapabilities are what the agent can do beyond the baseline.
type AgentCapabilities struct {
	Session   *SessionCapabilities   `json:"session,omitzero" wire:"lenient"`
	Auth      *AgentAuthCapabilities `json:"auth,omitzero" wire:"lenient"`
	Providers *wire.Supported        `json:"providers,omitzero" wire:"lenient"` // not in the stable schema
	Meta      json.RawMessage        `json:"_meta,omitzero" wire:"lenient,object"`
}

// AgentAuthCapabilities say that the agent can log in and out.
type AgentAuthCapabilities struct {
	Status *wire.Supported `json:"status,omitzero" wire:"lenient"` // not in the stable schema
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionCapabilities are what the agent's sessions can. New, list, resume and close need none.
type SessionCapabilities struct {
	Prompt                *PromptCapabilities `json:"prompt,omitzero" wire:"lenient"`
	MCP                   *MCPCapabilities    `json:"mcp,omitzero" wire:"lenient"`
	Delete                *wire.Supported     `json:"delete,omitzero" wire:"lenient"`
	AdditionalDirectories *wire.Supported     `json:"additionalDirectories,omitzero" wire:"lenient"`

	// What the stable schema does not have.

	SystemPrompt *wire.SessionSystemPromptCapabilities `json:"systemPrompt,omitzero" wire:"lenient"`
	Fork         *wire.Supported                       `json:"fork,omitzero" wire:"lenient"`
	Archive      *wire.Supported                       `json:"archive,omitzero" wire:"lenient"`
	Status       *wire.Supported                       `json:"status,omitzero" wire:"lenient"`
	Title        *wire.Supported                       `json:"title,omitzero" wire:"lenient"`

	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// PromptCapabilities are what a prompt may have besides text and links.
type PromptCapabilities struct {
	Image           *wire.Supported `json:"image,omitzero" wire:"lenient"`
	Audio           *wire.Supported `json:"audio,omitzero" wire:"lenient"`
	EmbeddedContext *wire.Supported `json:"embeddedContext,omitzero" wire:"lenient"`
	Meta            json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// MCPCapabilities are the kinds of MCP servers that the agent can use.
type MCPCapabilities struct {
	Stdio *wire.Supported `json:"stdio,omitzero" wire:"lenient"`
	HTTP  *wire.Supported `json:"http,omitzero" wire:"lenient"`
	Meta  json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// Methods of logging in and out, sent by the client.
const (
	MethodAuthLogin  = "auth/login"
	MethodAuthLogout = "auth/logout"
)

// AuthMethod is a way to log in, of an unknown type too. See "Authentication".
type AuthMethod struct {
	Type        string             `json:"type" wire:"required"` // see [AuthMethodAgent]
	MethodID    wire.AuthMethodID  `json:"methodId" wire:"required"`
	Name        string             `json:"name" wire:"required"`
	Description string             `json:"description,omitzero" wire:"lenient"`
	Args        []string           `json:"args,omitzero" wire:"lenient"`     // of a terminal login
	Env         []wire.EnvVariable `json:"env,omitzero" wire:"lenient,skip"` // of a terminal login
	Meta        json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

// The types of [AuthMethod].
const (
	AuthMethodAgent    = "agent"    // the agent does it all
	AuthMethodTerminal = "terminal" // the client runs the agent's program, with Args and Env
)

// LoginAuthRequest logs in. See "Authentication".
type LoginAuthRequest struct {
	MethodID wire.AuthMethodID `json:"methodId" wire:"required"`
	Meta     json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

// LogoutAuthRequest logs out.
type LogoutAuthRequest struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
