package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Methods of sessions, sent by the client.
const (
	MethodSessionNew             = "session/new"
	MethodSessionResume          = "session/resume"
	MethodSessionClose           = "session/close"
	MethodSessionDelete          = "session/delete"
	MethodSessionPrompt          = "session/prompt"
	MethodSessionCancel          = "session/cancel" // a notification
	MethodSessionSetConfigOption = "session/set_config_option"
	MethodToolCallCancel         = "tool_call/cancel"
	MethodTerminalCancel         = "terminal/cancel"
)

// NewSessionRequest starts a session in the folder CWD. See "Session Setup".
type NewSessionRequest struct {
	CWD                   string             `json:"cwd" wire:"required"`
	AdditionalDirectories []string           `json:"additionalDirectories,omitzero"`
	MCPServers            []MCPServer        `json:"mcpServers,omitzero"`
	SystemPrompt          *wire.SystemPrompt `json:"systemPrompt,omitzero"` // not in the stable schema
	Meta                  json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

// NewSessionResponse is a new session.
type NewSessionResponse struct {
	SessionID wire.SessionID `json:"sessionId" wire:"required"`
	SessionChoices
}

// SessionChoices are what the user can set and call in a session.
type SessionChoices struct {
	ConfigOptions     []SessionConfigOption `json:"configOptions,omitzero" wire:"lenient,skip"`
	AvailableCommands []AvailableCommand    `json:"availableCommands,omitzero" wire:"lenient,skip"`
	Meta              json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// ResumeSessionRequest resumes a session that the agent keeps; with ReplayFrom the agent replays what was said in it.
// See "Session Setup".
type ResumeSessionRequest struct {
	SessionID             wire.SessionID     `json:"sessionId" wire:"required"`
	CWD                   string             `json:"cwd" wire:"required"`
	AdditionalDirectories []string           `json:"additionalDirectories,omitzero"`
	MCPServers            []MCPServer        `json:"mcpServers,omitzero"`
	ReplayFrom            *ReplayFrom        `json:"replayFrom,omitzero"`
	SystemPrompt          *wire.SystemPrompt `json:"systemPrompt,omitzero"` // not in the stable schema
	Meta                  json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

// ReplayFrom says from where on a session is replayed.
type ReplayFrom struct {
	Type string          `json:"type" wire:"required"` // "start"
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ForkSessionRequest makes a new session that goes on from where a session is, and leaves that as it is. Needs the
// agent's capability. Not in the stable schema.
type ForkSessionRequest struct {
	SessionID             wire.SessionID     `json:"sessionId" wire:"required"`
	CWD                   string             `json:"cwd" wire:"required"`
	AdditionalDirectories []string           `json:"additionalDirectories,omitzero"`
	MCPServers            []MCPServer        `json:"mcpServers,omitzero"`
	SystemPrompt          *wire.SystemPrompt `json:"systemPrompt,omitzero"`
	Meta                  json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

// ListSessionsResponse is a page of the list.
type ListSessionsResponse struct {
	Sessions   acp.List[SessionInfo] `json:"sessions" wire:"required,lenient,skip"`
	NextCursor string                `json:"nextCursor,omitzero"`
	Meta       json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionInfo is a session that the agent keeps; UpdatedAt is in ISO 8601.
type SessionInfo struct {
	SessionID             wire.SessionID  `json:"sessionId" wire:"required"`
	CWD                   string          `json:"cwd" wire:"required"`
	AdditionalDirectories []string        `json:"additionalDirectories,omitzero"`
	Title                 string          `json:"title,omitzero" wire:"lenient"`
	UpdatedAt             string          `json:"updatedAt,omitzero" wire:"lenient"`
	Meta                  json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// PromptResponse says that the prompt has been taken, as the message MessageID. How the work goes is told by
// [StateUpdate].
type PromptResponse struct {
	MessageID wire.MessageID  `json:"messageId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// CancelSessionNotification stops what the session does.
type CancelSessionNotification struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// CancelToolCallRequest stops one tool call, whose capabilities allow that.
type CancelToolCallRequest struct {
	SessionID  wire.SessionID  `json:"sessionId" wire:"required"`
	ToolCallID wire.ToolCallID `json:"toolCallId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// CancelTerminalRequest ends a terminal's command, whose capabilities allow that.
type CancelTerminalRequest struct {
	SessionID  wire.SessionID  `json:"sessionId" wire:"required"`
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// MCPServer tells the agent how to reach an MCP server: [*MCPServerStdio], [*MCPServerHTTP] or [*Unknown]. See "Session
// Setup".
type MCPServer interface{ mcpServer() }

func (*MCPServerStdio) mcpServer() {}
func (*MCPServerHTTP) mcpServer()  {}
func (*Unknown) mcpServer()        {}

func init() {
	register("type", map[string]func() MCPServer{
		"stdio": func() MCPServer { return new(MCPServerStdio) },
		"http":  func() MCPServer { return new(MCPServerHTTP) },
	}, func(u *Unknown) MCPServer { return u })
}

// MCPServerStdio is a server that the agent runs as a process. Needs the agent's capability.
type MCPServerStdio struct {
	Name    string             `json:"name" wire:"required"`
	Command string             `json:"command" wire:"required"` // an absolute path
	Args    []string           `json:"args,omitzero"`
	Env     []wire.EnvVariable `json:"env,omitzero"`
	Meta    json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

func (s MCPServerStdio) MarshalJSON() ([]byte, error) {
	type body MCPServerStdio
	return acp.EncodeVariant("type", "stdio", body(s))
}

// MCPServerHTTP is a server behind HTTP. Needs the agent's capability.
type MCPServerHTTP struct {
	Name    string            `json:"name" wire:"required"`
	URL     string            `json:"url" wire:"required"`
	Headers []wire.HTTPHeader `json:"headers,omitzero"`
	Meta    json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

func (s MCPServerHTTP) MarshalJSON() ([]byte, error) {
	type body MCPServerHTTP
	return acp.EncodeVariant("type", "http", body(s))
}
