package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Methods of a turn, sent by the client. Either side sends MethodCancelRequest.
const (
	MethodSessionPrompt = "session/prompt"
	MethodSessionCancel = "session/cancel"   // a notification
	MethodCancelRequest = "$/cancel_request" // a notification

	// MethodSessionSteering is an extension, for agents whose answer to initialize has _meta.steering.supported.
	MethodSessionSteering = "_session/steering"
)

// PromptResponse ends a turn. See "Prompt Turn", "Check for Completion".
type PromptResponse struct {
	StopReason StopReason      `json:"stopReason" wire:"required"`
	Usage      *Usage          `json:"usage,omitzero" wire:"lenient"` // not in the schema
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// SteeringRequest puts the user's words into the running turn. Not in the schema.
type SteeringRequest struct {
	SessionID wire.SessionID              `json:"sessionId" wire:"required"`
	Prompt    acp.List[wire.ContentBlock] `json:"prompt" wire:"required"`
	Meta      SteeringMeta                `json:"_meta"`
}

// SteeringMeta says what is to be done with the words when no turn runs any more.
type SteeringMeta struct {
	Steering struct {
		IdleBehavior string `json:"idleBehavior"`
	} `json:"steering"`
}

// SteeringResponse says what has become of the words.
type SteeringResponse struct {
	Outcome SteeringOutcome `json:"outcome" wire:"required"`
}

// SteeringOutcome is what became of words that were to go into the running turn.
type SteeringOutcome string

// The outcomes that leave the words with the agent; all others leave them with the client.
const (
	SteeringInjected       SteeringOutcome = "injected"
	SteeringStartedNewTurn SteeringOutcome = "startedNewTurn"
)

// StopReason is why a turn ended. See "Prompt Turn", "Stop Reasons".
type StopReason string

// The stop reasons of the schema.
const (
	StopEndTurn         StopReason = "end_turn"
	StopMaxTokens       StopReason = "max_tokens"
	StopMaxTurnRequests StopReason = "max_turn_requests"
	StopRefusal         StopReason = "refusal"
	StopCancelled       StopReason = "cancelled"
)

// Usage is the tokens a session has used, as some agents give them with the end of a turn. Not in the stable schema.
type Usage struct {
	TotalTokens       uint64          `json:"totalTokens" wire:"required"`
	InputTokens       uint64          `json:"inputTokens" wire:"required"`
	OutputTokens      uint64          `json:"outputTokens" wire:"required"`
	ThoughtTokens     acp.Opt[uint64] `json:"thoughtTokens,omitzero" wire:"lenient"`
	CachedReadTokens  acp.Opt[uint64] `json:"cachedReadTokens,omitzero" wire:"lenient"`
	CachedWriteTokens acp.Opt[uint64] `json:"cachedWriteTokens,omitzero" wire:"lenient"`
	Meta              json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// CancelNotification stops the running turn, which then ends with [StopCancelled]. See "Prompt Turn", "Cancellation".
type CancelNotification struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// CancelRequestNotification withdraws one request, whose id is a number, a string or null. See "Cancellation".
type CancelRequestNotification struct {
	RequestID json.RawMessage `json:"requestId" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
