package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// MethodInitialize is sent by the client before anything else.
const MethodInitialize = "initialize"

// InitializeRequest opens a connection: the version the client wants and what it can do. See "Initialization".
type InitializeRequest struct {
	ProtocolVersion    ProtocolVersion      `json:"protocolVersion" wire:"required"`
	ClientCapabilities ClientCapabilities   `json:"clientCapabilities" wire:"lenient"`
	ClientInfo         *wire.Implementation `json:"clientInfo,omitzero" wire:"lenient"`
	Meta               json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// InitializeResponse settles the version and says what the agent can do. See "Initialization".
type InitializeResponse struct {
	ProtocolVersion   ProtocolVersion      `json:"protocolVersion" wire:"required"`
	AgentCapabilities AgentCapabilities    `json:"agentCapabilities" wire:"lenient"`
	AuthMethods       []AuthMethod         `json:"authMethods,omitzero" wire:"lenient,skip"`
	AgentInfo         *wire.Implementation `json:"agentInfo,omitzero" wire:"lenient"`
	// SessionCapabilities is where some agents put what belongs into AgentCapabilities. It is not in the schema.
	SessionCapabilities *SessionCapabilities `json:"sessionCapabilities,omitzero" wire:"lenient"`
	Meta                json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// ClientCapabilities is what the agent may ask of the client. See "Initialization", "Client Capabilities".
type ClientCapabilities struct {
	FS          FileSystemCapabilities        `json:"fs" wire:"lenient"`
	Terminal    bool                          `json:"terminal" wire:"lenient"`
	Session     *ClientSessionCapabilities    `json:"session,omitzero" wire:"lenient"`
	Auth        AuthCapabilities              `json:"auth,omitzero" wire:"lenient"`
	Elicitation *wire.ElicitationCapabilities `json:"elicitation,omitzero" wire:"lenient"`
	Subagents   *wire.Supported               `json:"subagents,omitzero" wire:"lenient"` // not in the stable schema
	Plan        *wire.Supported               `json:"plan,omitzero" wire:"lenient"`      // not in the stable schema
	Meta        json.RawMessage               `json:"_meta,omitzero" wire:"lenient,object"`
}

// FileSystemCapabilities says which fs methods the client serves. See "File System".
type FileSystemCapabilities struct {
	ReadTextFile  bool            `json:"readTextFile" wire:"lenient"`
	WriteTextFile bool            `json:"writeTextFile" wire:"lenient"`
	Meta          json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ClientSessionCapabilities says which optional session updates the client shows.
// See "Initialization", "Client Capabilities".
type ClientSessionCapabilities struct {
	Compaction    *wire.Supported                   `json:"compaction,omitzero" wire:"lenient"`
	ConfigOptions *SessionConfigOptionsCapabilities `json:"configOptions,omitzero" wire:"lenient"`
	Notices       *wire.Supported                   `json:"notices,omitzero" wire:"lenient"`
	Meta          json.RawMessage                   `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionConfigOptionsCapabilities says which kinds of options the client can set beside
// selects. See "Session Config Options".
type SessionConfigOptionsCapabilities struct {
	Boolean *wire.Supported `json:"boolean,omitzero" wire:"lenient"`
	Meta    json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AuthCapabilities reports whether the client can run a login in a terminal. See "Authentication".
type AuthCapabilities struct {
	Terminal bool            `json:"terminal" wire:"lenient"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AgentCapabilities is what the client may ask of the agent. See "Initialization", "Agent Capabilities".
type AgentCapabilities struct {
	LoadSession         bool                  `json:"loadSession" wire:"lenient"`
	PromptCapabilities  PromptCapabilities    `json:"promptCapabilities" wire:"lenient"`
	MCPCapabilities     MCPCapabilities       `json:"mcpCapabilities" wire:"lenient"`
	SessionCapabilities SessionCapabilities   `json:"sessionCapabilities" wire:"lenient"`
	Auth                AgentAuthCapabilities `json:"auth" wire:"lenient"`
	Providers           *wire.Supported       `json:"providers,omitzero" wire:"lenient"` // not in the stable schema
	Meta                json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// PromptCapabilities says which content a prompt may have beside text and links.
// See "Initialization", "Prompt capabilities".
type PromptCapabilities struct {
	Image           bool            `json:"image" wire:"lenient"`
	Audio           bool            `json:"audio" wire:"lenient"`
	EmbeddedContext bool            `json:"embeddedContext" wire:"lenient"`
	Meta            json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// MCPCapabilities says how the agent can reach MCP servers beside stdio. See "Initialization", "MCP capabilities".
type MCPCapabilities struct {
	HTTP bool            `json:"http" wire:"lenient"`
	SSE  bool            `json:"sse" wire:"lenient"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionCapabilities says which optional session methods the agent has. See "Initialization", "Session Capabilities".
type SessionCapabilities struct {
	List                  *wire.Supported `json:"list,omitzero" wire:"lenient"`
	Delete                *wire.Supported `json:"delete,omitzero" wire:"lenient"`
	AdditionalDirectories *wire.Supported `json:"additionalDirectories,omitzero" wire:"lenient"`
	Resume                *wire.Supported `json:"resume,omitzero" wire:"lenient"`
	Close                 *wire.Supported `json:"close,omitzero" wire:"lenient"`

	// What the stable schema does not have.

	SystemPrompt *wire.SessionSystemPromptCapabilities `json:"systemPrompt,omitzero" wire:"lenient"`
	Fork         *wire.Supported                       `json:"fork,omitzero" wire:"lenient"`
	Archive      *wire.Supported                       `json:"archive,omitzero" wire:"lenient"`
	Status       *wire.Supported                       `json:"status,omitzero" wire:"lenient"`
	Title        *wire.Supported                       `json:"title,omitzero" wire:"lenient"`

	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AgentAuthCapabilities reports whether the agent can log out. See "Authentication".
type AgentAuthCapabilities struct {
	Logout *wire.Supported `json:"logout,omitzero" wire:"lenient"`
	Status *wire.Supported `json:"status,omitzero" wire:"lenient"` // not in the stable schema
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
