package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Methods of a session's life, sent by the client.
const (
	MethodSessionNew      = "session/new"
	MethodSessionLoad     = "session/load"
	MethodSessionResume   = "session/resume"
	MethodSessionClose    = "session/close"
	MethodSessionDelete   = "session/delete"
	MethodSessionSetMode  = "session/set_mode"
	MethodSessionSetModel = "session/set_model" // not in the schema
)

// NewSessionRequest starts a session in the folder CWD, an absolute path. See "Session Setup", "Creating a Session".
type NewSessionRequest struct {
	CWD                   string              `json:"cwd" wire:"required"`
	AdditionalDirectories []string            `json:"additionalDirectories,omitzero"`
	MCPServers            acp.List[MCPServer] `json:"mcpServers" wire:"required"`
	SystemPrompt          *wire.SystemPrompt  `json:"systemPrompt,omitzero"` // not in the stable schema
	Meta                  json.RawMessage     `json:"_meta,omitzero" wire:"lenient,object"`
}

// NewSessionResponse gives the new session's id and what can be chosen in it.
// See "Session Setup", "Creating a Session".
type NewSessionResponse struct {
	SessionID wire.SessionID `json:"sessionId" wire:"required"`
	SessionChoices
}

// SessionChoices is what can be chosen in a session that was created, loaded or resumed.
type SessionChoices struct {
	Modes         *SessionModeState     `json:"modes,omitzero" wire:"lenient"`
	ConfigOptions []SessionConfigOption `json:"configOptions,omitzero" wire:"lenient,skip"`
	Models        *SessionModelState    `json:"models,omitzero" wire:"lenient"` // not in the schema
	Meta          json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// LoadSessionRequest opens a stored session; the agent replays it as updates. Needs the agent's
// capability. See "Session Setup", "Loading Sessions".
type LoadSessionRequest struct {
	SessionID             wire.SessionID      `json:"sessionId" wire:"required"`
	CWD                   string              `json:"cwd" wire:"required"`
	AdditionalDirectories []string            `json:"additionalDirectories,omitzero"`
	MCPServers            acp.List[MCPServer] `json:"mcpServers" wire:"required"`
	SystemPrompt          *wire.SystemPrompt  `json:"systemPrompt,omitzero"` // not in the stable schema
	Meta                  json.RawMessage     `json:"_meta,omitzero" wire:"lenient,object"`
}

// LoadSessionResponse says that the session is open. See "Session Setup", "Loading Sessions".
type LoadSessionResponse struct {
	SessionChoices
}

// ResumeSessionRequest opens a stored session without a replay. Needs the agent's capability.
// See "Session Setup", "Resuming Sessions".
type ResumeSessionRequest struct {
	SessionID             wire.SessionID     `json:"sessionId" wire:"required"`
	CWD                   string             `json:"cwd" wire:"required"`
	AdditionalDirectories []string           `json:"additionalDirectories,omitzero"`
	MCPServers            []MCPServer        `json:"mcpServers,omitzero"`
	SystemPrompt          *wire.SystemPrompt `json:"systemPrompt,omitzero"` // not in the stable schema
	Meta                  json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

// ResumeSessionResponse says that the session is open. See "Session Setup", "Resuming Sessions".
type ResumeSessionResponse struct {
	SessionChoices
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

// ListSessionsResponse is one page of stored sessions; NextCursor is empty on the last one. See "Session List".
type ListSessionsResponse struct {
	Sessions   acp.List[SessionInfo] `json:"sessions" wire:"required,lenient,skip"`
	NextCursor string                `json:"nextCursor,omitzero" wire:"lenient"`
	Meta       json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionInfo describes a stored session. UpdatedAt is in ISO 8601. See "Session List".
type SessionInfo struct {
	SessionID             wire.SessionID  `json:"sessionId" wire:"required"`
	CWD                   string          `json:"cwd" wire:"required"`
	AdditionalDirectories []string        `json:"additionalDirectories,omitzero" wire:"lenient,skip"`
	Title                 string          `json:"title,omitzero" wire:"lenient"`
	UpdatedAt             string          `json:"updatedAt,omitzero" wire:"lenient"`
	Meta                  json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// CloseSessionResponse says that the session is closed.
type CloseSessionResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// DeleteSessionResponse says that the session is gone.
type DeleteSessionResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionModeID names a mode of a session.
type SessionModeID string

// SessionModeState is the modes of a session and the current one. See "Session Modes".
type SessionModeState struct {
	CurrentModeID  SessionModeID         `json:"currentModeId" wire:"required"`
	AvailableModes acp.List[SessionMode] `json:"availableModes" wire:"required,lenient,skip"`
	Meta           json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionMode is a way the agent can work, as asking or planning. See "Session Modes".
type SessionMode struct {
	ID          SessionModeID   `json:"id" wire:"required"`
	Name        string          `json:"name" wire:"required"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionModeRequest changes the current mode. See "Session Modes", "Setting the current mode".
type SetSessionModeRequest struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	ModeID    SessionModeID   `json:"modeId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionModeResponse says that the mode is set.
type SetSessionModeResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ModelID names a model of an agent. Not in the schema.
type ModelID string

// SessionModelState is the models a session can use and the current one, from agents that do
// not give them as a config option. Not in the schema.
type SessionModelState struct {
	CurrentModelID  ModelID             `json:"currentModelId" wire:"required"`
	AvailableModels acp.List[ModelInfo] `json:"availableModels" wire:"required,lenient,skip"`
	Meta            json.RawMessage     `json:"_meta,omitzero" wire:"lenient,object"`
}

// ModelInfo describes a model. Not in the schema.
type ModelInfo struct {
	ModelID     ModelID         `json:"modelId" wire:"required"`
	Name        string          `json:"name" wire:"required"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionModelRequest changes the current model of an agent that gave a [SessionModelState]. Not in the schema.
type SetSessionModelRequest struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	ModelID   ModelID         `json:"modelId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionModelResponse says that the model is set. Not in the schema.
type SetSessionModelResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
