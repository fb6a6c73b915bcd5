package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Canceller is an [Agent] that may let single calls be cancelled.
type Canceller interface {
	// CancelCall asks the agent to stop a tool call, or what runs in its terminals, and reports whether the agent
	// currently allows that. If so, done is called once, with nil or why the agent did not.
	CancelCall(callID string, terminalIDs []string, done func(error)) bool
	// MayCancel reports whether the agent currently allows that for anything in a session.
	MayCancel(sessionID string) bool
}

var _ Canceller = (*V2)(nil)

// callKey and terminalKey return the keys of [V2.cancels].
func callKey(id string) string     { return "call " + id }
func terminalKey(id string) string { return "terminal " + id }

// mayCancel notes whether the agent lets something of a session be cancelled.
func (a *V2) mayCancel(id wire.SessionID, key string, allowed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if allowed {
		a.cancels[key] = id
	} else {
		delete(a.cancels, key)
	}
}

// MayCancel implements [Canceller].
func (a *V2) MayCancel(sessionID string) bool {
	a.mu.Lock()
	owners := slices.Collect(maps.Values(a.cancels))
	a.mu.Unlock()
	return a.subagents.mayCancelAny(sessionID) || slices.ContainsFunc(owners, func(of wire.SessionID) bool { return a.rootOf(of) == wire.SessionID(sessionID) })
}

// CancelCall implements [Canceller].
func (a *V2) CancelCall(callID string, terminalIDs []string, done func(error)) bool {
	a.mu.Lock()
	owner, allowed := a.cancels[callKey(callID)]
	terminal := ""
	for _, id := range terminalIDs {
		if of, ok := a.cancels[terminalKey(id)]; ok && !allowed && terminal == "" {
			owner, terminal = of, id
		}
	}
	a.mu.Unlock()
	switch child, isAgent := strings.CutPrefix(callID, subagentPrefix); {
	case isAgent:
		if _, allowed := a.subagents.mayCancel(callID); !allowed {
			return false
		}
		done(a.conn.Notify(v2.MethodSessionCancel, v2.CancelSessionNotification{SessionID: wire.SessionID(child)}))
	case terminal != "":
		a.conn.Call(v2.MethodTerminalCancel, v2.CancelTerminalRequest{SessionID: owner, TerminalID: wire.TerminalID(terminal)}, justDone(done))
	case !allowed:
		return false
	default:
		callID = strings.TrimPrefix(callID, string(owner)+"/") // of a sub-agent's
		a.conn.Call(v2.MethodToolCallCancel, v2.CancelToolCallRequest{SessionID: owner, ToolCallID: wire.ToolCallID(callID)}, justDone(done))
	}
	return true
}
