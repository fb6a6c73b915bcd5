package session

import (
	"encoding/json"
	"strconv"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// This file translates the session updates of agents of version 1.

// run is the message that an agent is in the middle of: chunks of one kind, id and sub-agent, until something comes
// that goes after them. Without an id it also ends when something else has happened meanwhile, but not in the middle of
// a sentence.
type run struct {
	role        Role
	wire        wire.MessageID // as the agent named it, or ""
	of          string         // the call of the sub-agent that speaks, or ""
	n           int            // number of runs before this one
	open        bool
	interrupted bool // since the last chunk
	end         ending
	told        int // number of the session's updates, of any kind
}

// run returns the message that a session is in the middle of; a.mu is held.
func (a *V1) run(id wire.SessionID) *run {
	r := a.runs[id]
	if r == nil {
		r = &run{}
		a.runs[id] = r
	}
	return r
}

// HandleNotification implements [acp.Handler]. Notifications of unknown methods are extensions that may be ignored.
func (a *V1) HandleNotification(method string, params json.RawMessage) {
	switch method {
	case v1.MethodSessionUpdate:
		a.sessionUpdate(params)
	default:
		notified(a.client, method, params)
	}
}

// notified passes the client the notifications that are the same in both versions.
func notified(client Client, method string, params json.RawMessage) {
	if method == v1.MethodElicitationComplete {
		var n v1.CompleteElicitationNotification
		if acp.DecodeMessage(params, &n) == nil { // an unknown one has no effect either
			client.ElicitationCompleted(string(n.ElicitationID))
		}
	} else if login, ok := loginOf(method, params); ok {
		client.LoggedIn(login)
	}
}

func (a *V1) sessionUpdate(params json.RawMessage) {
	var n v1.SessionNotification
	if err := a.texts.DecodeMessage(params, &n); err != nil {
		if id, kind := headOf(params); id != "" {
			a.client.Update(a.subagents.rootOf(id), malformed(kind, params, err))
		}
		return
	}
	root := a.rootOf(n.SessionID)
	a.mu.Lock()
	a.run(root).told++
	a.mu.Unlock()
	translate := a.updates
	if root != n.SessionID {
		translate = a.updatesBelow
	}
	for _, u := range a.afterMessages(string(n.SessionID), translate(n.SessionID, n.Update)) {
		a.client.Update(string(root), u)
	}
}

// rootOf returns the user's session that a session works for.
func (a *V1) rootOf(id wire.SessionID) wire.SessionID {
	return wire.SessionID(a.subagents.rootOf(string(id)))
}

// updatesBelow translates one update of a sub-agent's session. Its call shows what it is told; its plan and options do
// not concern the user.
func (a *V1) updatesBelow(id wire.SessionID, u v1.SessionUpdate) []Update {
	root, call := a.rootOf(id), subagentCall(string(id))
	switch u := u.(type) {
	case *v1.AgentMessageChunk:
		return []Update{a.chunk(root, RoleAgent, v1.ContentChunk(*u), call)}
	case *v1.AgentThoughtChunk:
		return []Update{a.chunk(root, RoleThought, v1.ContentChunk(*u), call)}
	case *v1.ToolCall:
		return a.upsert(id, announced(u))
	case *v1.ToolCallUpdate:
		return a.upsert(id, u)
	case *v1.Notice, *v1.Unknown:
		return a.updates(id, u)
	}
	return nil
}

// headOf returns the session and the kind of a malformed update, as far as they can be read.
func headOf(params json.RawMessage) (sessionID, kind string) {
	var head struct {
		SessionID string `json:"sessionId"`
		Update    struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	_ = json.Unmarshal(params, &head) // what is malformed stays empty
	return head.SessionID, head.Update.Kind
}

// updates translates one update of the wire.
func (a *V1) updates(id wire.SessionID, u v1.SessionUpdate) []Update {
	switch u := u.(type) {
	case *v1.UserMessageChunk:
		return a.words(id, RoleUser, v1.ContentChunk(*u))
	case *v1.AgentMessageChunk:
		return a.words(id, RoleAgent, v1.ContentChunk(*u))
	case *v1.AgentThoughtChunk:
		return []Update{a.chunk(id, RoleThought, v1.ContentChunk(*u), parentOf(u.Meta).Or(""))}
	case *v1.ToolCall:
		return a.upsert(id, announced(u))
	case *v1.ToolCallUpdate:
		return a.upsert(id, u)
	case *v1.Plan:
		a.endRun(id)
		p := PlanUpdate{Entries: make([]PlanEntry, len(u.Entries))}
		for i, e := range u.Entries {
			p.Entries[i] = PlanEntry{Content: e.Content, Priority: string(e.Priority), Status: string(e.Status)}
		}
		return []Update{p}
	case *v1.AvailableCommandsUpdate:
		c := CommandsUpdate{Commands: make([]Command, len(u.AvailableCommands))}
		for i, cmd := range u.AvailableCommands {
			c.Commands[i] = Command{Name: cmd.Name, Description: cmd.Description}
			if cmd.Input != nil {
				c.Commands[i].Hint = cmd.Input.Hint
			}
		}
		return []Update{c}
	case *v1.CurrentModeUpdate:
		return []Update{ModeUpdate{ModeID: string(u.CurrentModeID)}}
	case *v1.ConfigOptionUpdate:
		return []Update{OptionsUpdate{Options: configOptions(u.ConfigOptions)}}
	case *v1.SessionInfoUpdate:
		return []Update{InfoUpdate{Title: u.Title}}
	case *v1.UsageUpdate:
		usage := Usage{Used: u.Used, Size: u.Size}
		if u.Cost != nil {
			usage.Cost = &Cost{Amount: u.Cost.Amount, Currency: u.Cost.Currency}
		}
		return []Update{UsageUpdate{Usage: usage}}
	case *v1.Notice:
		a.interrupt(id)
		return []Update{Notice{Severity: string(u.Severity), Title: u.Title, Description: u.Description}}
	case *v1.CompactionUpdate:
		a.endRun(id)
		return []Update{CompactionPatch{
			ID: string(u.CompactionID), Status: string(u.Status),
			Summary: mapOpt(u.Summary, fromBlocks), Error: u.Error,
		}}
	case *v1.CompactionSummaryChunk:
		a.endRun(id)
		return []Update{CompactionChunk{ID: string(u.CompactionID), Content: fromBlock(u.Content)}}
	case *v1.Unknown:
		return a.unknown(string(id), u.Type, u.Raw)
	}
	return nil
}

// words translates a chunk, unless it is a marker rather than words; see [Quirks].
func (a *V1) words(id wire.SessionID, role Role, c v1.ContentChunk) []Update {
	if text, ok := c.Content.(*wire.TextContent); ok && a.quirks.Load().Markers {
		if rest, said, told := unmarked(role, text.Text); told {
			var updates []Update
			if said != nil {
				updates = append(updates, said)
			}
			if rest != "" {
				c.Content = wire.Text(rest)
				updates = append(updates, a.chunk(id, role, c, parentOf(c.Meta).Or("")))
			}
			return updates
		}
	}
	return []Update{a.chunk(id, role, c, parentOf(c.Meta).Or(""))}
}

// chunk gives a chunk the id of the message it belongs to. An agent's own id ends a run when it changes, but does not
// join chunks that something else separates: the transcript shows things in the order they came. of is the call that
// began the sub-agent who speaks.
func (a *V1) chunk(id wire.SessionID, role Role, c v1.ContentChunk, of string) Update {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, text := a.run(id), ""
	if t, ok := c.Content.(*wire.TextContent); ok {
		text = t.Text
	}
	over := !r.open || r.interrupted && !r.end.goesOn(text)
	if over || r.role != role || r.wire != c.MessageID || r.of != of {
		*r = run{role: role, wire: c.MessageID, of: of, n: r.n + 1, open: true, told: r.told}
	}
	r.interrupted = false
	r.end.add(text)
	return MessageChunk{MessageID: strconv.Itoa(r.n), Wire: string(c.MessageID), Of: of, Role: role, Content: fromBlock(c.Content)}
}

// told returns how many updates of a session have come.
func (a *V1) told(id wire.SessionID) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.run(id).told
}

func (a *V1) endRun(id wire.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[id]; r != nil {
		r.open = false
	}
}

// interrupt is [V1.endRun] for agents that do not say what belongs together, except in the middle of a sentence.
func (a *V1) interrupt(id wire.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[id]; r != nil && r.wire == "" {
		r.interrupted = true
	}
}

// calls are the statuses of a session's tool calls as the agent last reported them.
type calls map[wire.ToolCallID]ToolCallStatus

// called ends the run if a report about a tool call does: a new call goes after the message, unless it is a
// sub-agent's, which goes below the call that started that. A late report about a call that has ended does not.
func (a *V1) called(id wire.SessionID, p *ToolCallPatch) {
	a.mu.Lock()
	if a.calls[id] == nil {
		a.calls[id] = calls{}
	}
	was, known := a.calls[id][wire.ToolCallID(p.ID)]
	is := p.Status.Or(was)
	a.calls[id][wire.ToolCallID(p.ID)] = is
	parent := p.Parent.Or("")
	follows := !known && (parent == "" || parent == a.run(id).of)
	a.mu.Unlock()
	switch {
	case follows:
		a.endRun(id)
	case is != was && !was.Finished():
		a.interrupt(id)
	}
}

func (a *V1) forgetCalls(id wire.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.calls, id)
}
