package session

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v2"
)

// An agent may work through others, each in a session of its own, and tell of them without being asked. The schema has
// them as unstable. A sub-agent is shown as a call of the session that began it, with what it does below.

// subagentUpdate begins or changes a sub-agent.
type subagentUpdate struct {
	SessionID   v2.SessionID `json:"sessionId"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	// Capabilities say whether it may be cancelled; nil leaves that, null is that it may not.
	Capabilities json.RawMessage `json:"capabilities"`
	State        struct {
		State      string `json:"state"`
		StopReason string `json:"stopReason"`
	} `json:"state"`
}

const subagentPrefix = "subagent:"

// subagentCall is the id of the call that stands for a sub-agent.
func subagentCall(id v2.SessionID) string { return subagentPrefix + string(id) }

// rootOf is the user's session that a session works for: it itself, but for a sub-agent's.
func (a *V2) rootOf(id v2.SessionID) v2.SessionID {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range len(a.parents) + 1 { // an agent may tell of a circle
		parent, ok := a.parents[id]
		if !ok {
			break
		}
		id = parent
	}
	return id
}

// unknown translates what the schema does not have.
func (a *V2) unknown(id v2.SessionID, u *v2.Unknown) []Update {
	switch u.Type {
	case "subagent_update":
		var s subagentUpdate
		if json.Unmarshal(u.Raw, &s) == nil && s.SessionID != "" && s.SessionID != id {
			return []Update{a.subagent(id, s)}
		}
	case "session_message":
		return nil // between agents
	}
	return []Update{UnknownUpdate{Type: u.Type, Raw: u.Raw}}
}

func (a *V2) subagent(parent v2.SessionID, s subagentUpdate) Update {
	a.mu.Lock()
	_, known := a.parents[s.SessionID]
	a.parents[s.SessionID] = parent
	a.mu.Unlock()
	if s.Capabilities != nil {
		var can struct {
			Cancel *struct{} `json:"cancel"`
		}
		_ = json.Unmarshal(s.Capabilities, &can) // what is malformed allows nothing
		a.mayCancel(parent, callKey(subagentCall(s.SessionID)), can.Cancel != nil)
	}
	p := ToolCallPatch{ID: subagentCall(s.SessionID)}
	if !known {
		p.Kind, p.Title = acp.Set(KindThink), acp.Set("Sub-agent")
	}
	if s.Title != "" {
		p.Title = acp.Set(s.Title)
	}
	if s.Description != "" {
		p.Name = acp.Set(s.Description)
	}
	switch {
	case s.State.State == "":
	case s.State.State != v2.StateIdle:
		p.Status = acp.Set(StatusInProgress)
	case s.State.StopReason == v2.StopError:
		p.Status = acp.Set(StatusFailed)
	case s.State.StopReason == string(StopCancelled):
		p.Status = acp.Set(StatusCancelled)
	default:
		p.Status = acp.Set(StatusCompleted)
	}
	if parent != a.rootOf(parent) {
		p.Parent = acp.Set(subagentCall(parent))
	}
	return p
}
