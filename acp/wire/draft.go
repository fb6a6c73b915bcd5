package wire

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// What the unstable schema of both versions has.

// Methods of the client.
const (
	MethodSessionFork      = "session/fork"
	MethodSessionSetTitle  = "session/set_title"
	MethodSessionArchive   = "session/archive"
	MethodSessionUnarchive = "session/unarchive"
	MethodSessionStatus    = "session/status"
	MethodAuthStatus       = "auth/status"
	MethodProvidersList    = "providers/list"
	MethodProvidersSet     = "providers/set"
	MethodProvidersDisable = "providers/disable"
)

// MethodAuthStatusUpdate is a notification of the agent's.
const MethodAuthStatusUpdate = "auth/status_update"

// SessionSystemPromptCapabilities say that the agent takes a [SystemPrompt].
type SessionSystemPromptCapabilities struct {
	Mode *SessionSystemPromptModeCapabilities `json:"mode,omitzero" wire:"lenient"`
	Meta json.RawMessage                      `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionSystemPromptModeCapabilities are the modes of a [SystemPrompt] that the agent supports besides [Append].
type SessionSystemPromptModeCapabilities struct {
	Override *Supported      `json:"override,omitzero" wire:"lenient"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SystemPrompt holds the user's instructions for an agent, in addition to its own or instead of them.
type SystemPrompt struct {
	Mode    SystemPromptMode      `json:"mode" wire:"required"`
	Content acp.List[TextContent] `json:"content" wire:"required"`
	Meta    json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// SystemPromptMode says whether the agent's own instructions stay.
type SystemPromptMode string

// The modes of a [SystemPrompt].
const (
	Append   SystemPromptMode = "append"
	Override SystemPromptMode = "override"
)

// SetSessionTitleRequest sets the user's title of a session. Needs the agent's capability.
type SetSessionTitleRequest struct {
	SessionID string          `json:"sessionId" wire:"required"`
	Title     string          `json:"title" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionTitleResponse has the title as the agent keeps it.
type SetSessionTitleResponse struct {
	Title string          `json:"title" wire:"required"`
	Meta  json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ArchiveSessionRequest closes a session and takes it out of the list. Needs the agent's capability.
type ArchiveSessionRequest struct {
	SessionID string          `json:"sessionId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// UnarchiveSessionRequest brings a session back into the list. Needs the agent's capability.
type UnarchiveSessionRequest struct {
	SessionID string          `json:"sessionId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionStatusRequest asks whether the agent knows a session. Needs the agent's capability.
type SessionStatusRequest struct {
	SessionID string          `json:"sessionId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionStatusResponse says whether a session is in the agent's memory; an unknown session is an error.
type SessionStatusResponse struct {
	Status string          `json:"status" wire:"required"` // "open", or anything else for a saved one
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SessionOpen is the status of a session that the agent has in memory, for whichever client.
const SessionOpen = "open"

// SessionArchiveFilter says which sessions a list contains. Needs the agent's capability.
type SessionArchiveFilter string

// ArchiveOnly lists only archived sessions; without a filter only the others are listed.
const ArchiveOnly SessionArchiveFilter = "only"

// AuthStatusRequest asks who is logged in. Needs the agent's capability.
type AuthStatusRequest struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AuthStatusResponse says whether somebody is logged in, and who; [MethodAuthStatusUpdate] has the same fields.
type AuthStatusResponse struct {
	State    AuthState       `json:"state" wire:"required"`
	Accounts []AuthAccount   `json:"accounts,omitzero" wire:"lenient,skip"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AuthState says whether the user has to log in; unknown values count as not known.
type AuthState string

// The states of a login.
const (
	Authenticated   AuthState = "authenticated"
	Unauthenticated AuthState = "unauthenticated"
	NotRequired     AuthState = "not_required"
)

// AuthAccount is one of the user's accounts, for their eyes only.
type AuthAccount struct {
	Label        string          `json:"label" wire:"required"`
	Active       acp.Opt[bool]   `json:"active,omitzero" wire:"lenient"`
	Name         string          `json:"name,omitzero" wire:"lenient"`
	Email        string          `json:"email,omitzero" wire:"lenient"`
	Organization string          `json:"organization,omitzero" wire:"lenient"`
	Meta         json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ListProvidersRequest asks which providers of models can be configured. Needs the agent's capability.
type ListProvidersRequest struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ListProvidersResponse lists them.
type ListProvidersResponse struct {
	Providers []ProviderInfo  `json:"providers" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ProviderInfo is a provider of models. Without a current configuration it is not used.
type ProviderInfo struct {
	ProviderID string                 `json:"providerId" wire:"required"`
	Supported  []string               `json:"supported" wire:"required,lenient,skip"`
	Required   bool                   `json:"required" wire:"required"`
	Current    *ProviderCurrentConfig `json:"current,omitzero"`
	Meta       json.RawMessage        `json:"_meta,omitzero" wire:"lenient,object"`
}

// ProviderCurrentConfig is where a provider is reached, without its secrets.
type ProviderCurrentConfig struct {
	APIType string          `json:"apiType" wire:"required"`
	BaseURL string          `json:"baseUrl" wire:"required"`
	Meta    json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetProviderRequest says where a provider is reached. The values of Headers are secrets.
type SetProviderRequest struct {
	ProviderID string            `json:"providerId" wire:"required"`
	APIType    string            `json:"apiType" wire:"required"`
	BaseURL    string            `json:"baseUrl" wire:"required"`
	Headers    map[string]string `json:"headers,omitzero"`
	Meta       json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

// DisableProviderRequest stops the use of a provider.
type DisableProviderRequest struct {
	ProviderID string          `json:"providerId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
