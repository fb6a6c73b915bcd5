package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Plan is the whole of the agent's plan, in place of what it was. See "Agent Plan".
type Plan struct {
	Entries acp.List[PlanEntry] `json:"entries" wire:"required,lenient,skip"`
	Meta    json.RawMessage     `json:"_meta,omitzero" wire:"lenient,object"`
}

func (p Plan) MarshalJSON() ([]byte, error) {
	type body Plan
	return acp.EncodeVariant("sessionUpdate", "plan", body(p))
}

// PlanEntry is a step of a plan. See "Agent Plan", "Plan Entries".
type PlanEntry struct {
	Content  string            `json:"content" wire:"required"`
	Priority PlanEntryPriority `json:"priority" wire:"required"`
	Status   PlanEntryStatus   `json:"status" wire:"required"`
	Meta     json.RawMessage   `json:"_meta,omitzero" wire:"lenient,object"`
}

// PlanEntryPriority is how much a step matters.
type PlanEntryPriority string

// The priorities of the schema.
const (
	PlanHigh   PlanEntryPriority = "high"
	PlanMedium PlanEntryPriority = "medium"
	PlanLow    PlanEntryPriority = "low"
)

// PlanEntryStatus is how far a step is.
type PlanEntryStatus string

// The states of the schema.
const (
	PlanPending    PlanEntryStatus = "pending"
	PlanInProgress PlanEntryStatus = "in_progress"
	PlanCompleted  PlanEntryStatus = "completed"
)
