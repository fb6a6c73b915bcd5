package session

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// An agent may delegate to others, each in a session of its own, and report on them without being asked. In the schemas
// they are unstable. A sub-agent is shown as a call of the session that began it, with what it does below; it asks like
// the user's session, and only its parent gives it work.

// subagents are those of an agent. Its methods may be called from any goroutine.
type subagents struct {
	mu       sync.Mutex
	children map[string]*subagent // guarded by mu: by their sessions
	users    map[string]bool      // guarded by mu: the sessions that the client opened, which are never sub-agents
}

// subagent is a session of the agent's own.
type subagent struct {
	parent  string // its session
	cwd     string // "" is its parent's
	cancels bool   // the user may cancel its work
	running bool

	messages []*between
	stale    bool // its call does not show all of its messages yet
}

// between is a message between sessions, as in the sub-agent's transcript.
type between struct {
	id, from, to string
	text         strings.Builder
}

const subagentPrefix = "subagent:"

// subagentCall returns the id of the call that stands for a sub-agent.
func subagentCall(sessionID string) string { return subagentPrefix + sessionID }

// opened notes one of the user's sessions. It is not a sub-agent's, whatever the agent says.
func (s *subagents) opened(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[id] = true
	delete(s.children, id)
}

// isUsers reports whether the client has opened a session.
func (s *subagents) isUsers(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[id]
}

// rootOf returns the user's session that a session works for: itself, unless it is a sub-agent's.
func (s *subagents) rootOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root(id)
}

// root is [subagents.rootOf]; s.mu is held.
func (s *subagents) root(id string) string {
	for range len(s.children) + 1 { // an agent may report a cycle
		child, ok := s.children[id]
		if !ok {
			break
		}
		id = child.parent
	}
	return id
}

// callOf returns the id that a session's call has in the user's session: two sessions may use the same id.
func (s *subagents) callOf(sessionID, callID string) string {
	if callID == "" || s.rootOf(sessionID) == sessionID {
		return callID
	}
	return sessionID + "/" + callID
}

// below moves a patch of a session's call into the user's session: a sub-agent's calls go below the call that stands
// for it, whichever of its parent's calls the agent names as having begun it.
func (s *subagents) below(sessionID string, p *ToolCallPatch) {
	if s.rootOf(sessionID) == sessionID {
		return
	}
	p.Parent = acp.Set(subagentCall(sessionID))
	p.ID = s.callOf(sessionID, p.ID)
}

// cwdOf returns the folder of a sub-agent, "" for that of the user's session.
func (s *subagents) cwdOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range len(s.children) {
		switch child := s.children[id]; {
		case child == nil:
			return ""
		case child.cwd != "":
			return child.cwd
		default:
			id = child.parent
		}
	}
	return ""
}

// mayCancel reports whether a call stands for a sub-agent whose work the user may cancel, and returns its session.
func (s *subagents) mayCancel(callID string) (sessionID string, allowed bool) {
	sessionID, isAgent := strings.CutPrefix(callID, subagentPrefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	child := s.children[sessionID]
	return sessionID, isAgent && child != nil && child.cancels
}

// mayCancelAny reports whether the user may cancel the work of any sub-agent that works for a session.
func (s *subagents) mayCancelAny(root string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, child := range s.children {
		if child.cancels && s.root(id) == root {
			return true
		}
	}
	return false
}

// working returns the calls of the sub-agents that are working for a session; any says whether it ever had some.
func (s *subagents) working(root string) (calls []string, any bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, child := range s.children {
		if s.root(id) != root {
			continue
		}
		if any = true; child.running {
			calls = append(calls, subagentCall(id))
		}
	}
	return calls, any
}

// forget forgets the sub-agents of a session that is closed or about to be replayed.
func (s *subagents) forget(root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []string
	for id := range s.children {
		if s.root(id) == root {
			gone = append(gone, id)
		}
	}
	for _, id := range gone {
		delete(s.children, id)
	}
	delete(s.users, root)
}

// take translates an update about sub-agents, in the session it came in; known is false for other kinds, and if it is
// malformed.
func (s *subagents) take(sessionID, kind string, raw json.RawMessage) (updates []Update, known bool) {
	switch kind {
	case wire.KindSubagentUpdate:
		var u wire.SubagentUpdate
		if acp.Decode(raw, &u) != nil || u.SessionID == "" || u.SessionID == sessionID || s.isUsers(u.SessionID) {
			return nil, false
		}
		updates = s.told(u.SessionID)
		return append(updates, s.update(sessionID, u)), true
	case wire.KindSessionMessage:
		var m wire.SessionMessage
		if acp.Decode(raw, &m) != nil {
			return nil, false
		}
		s.message(sessionID, m.MessageID, func(b *between) {
			b.from, b.to = patchedText(b.from, m.SenderSessionID), patchedText(b.to, m.RecipientSessionID)
			if !m.Content.IsZero() {
				b.text.Reset()
				for _, block := range m.Content.Or(nil) {
					b.text.WriteString(blockWords(block))
				}
			}
		})
		return nil, true
	case wire.KindSessionMessageChunk:
		var c wire.SessionMessageChunk
		if acp.Decode(raw, &c) != nil {
			return nil, false
		}
		s.message(sessionID, c.MessageID, func(b *between) { b.text.WriteString(blockWords(c.Content)) })
		return nil, true
	}
	return nil, false
}

func patchedText(was string, patch acp.Opt[string]) string {
	if patch.IsZero() {
		return was
	}
	return patch.Or("")
}

// blockWords returns the words of a block, or its type.
func blockWords(block json.RawMessage) string {
	var b struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(block, &b) // what is malformed has none
	if b.Type != "text" && b.Type != "" {
		return "[" + b.Type + "]"
	}
	return b.Text
}

// update translates what a session reports about one of its sub-agents.
func (s *subagents) update(parent string, u wire.SubagentUpdate) Update {
	s.mu.Lock()
	defer s.mu.Unlock()
	child, known := s.children[u.SessionID]
	if !known {
		child = &subagent{}
		s.children[u.SessionID] = child
	}
	child.parent = parent
	child.cwd = LocalPath(patchedText(child.cwd, u.CWD))
	if !u.Capabilities.IsZero() {
		child.cancels = u.Capabilities.Or(wire.SubagentSessionCapabilities{}).Cancel != nil
	}

	p := ToolCallPatch{ID: subagentCall(u.SessionID)}
	if !known {
		p.Kind, p.Title = acp.Set(KindThink), acp.Set("Sub-agent")
	}
	switch title, ok := u.Title.Get(); {
	case ok && title != "":
		p.Title = acp.Set(title)
	case u.Title.IsNull():
		p.Title = acp.Set("Sub-agent")
	}
	if !u.Description.IsZero() {
		p.Name = u.Description
	}
	if !u.State.IsZero() {
		state := u.State.Or(wire.SubagentState{})
		child.running = state.State == "running" || state.State == "requires_action"
		switch {
		case child.running:
			p.Status = acp.Set(StatusInProgress)
		case state.State != "idle": // the agent does not know, or has stopped reporting
			p.Status = acp.Null[ToolCallStatus]()
		case state.StopReason == string(StopError):
			p.Status = acp.Set(StatusFailed)
		case state.StopReason == string(StopCancelled):
			p.Status = acp.Set(StatusCancelled)
		default:
			p.Status = acp.Set(StatusCompleted)
		}
	}
	if s.root(parent) != parent {
		p.Parent = acp.Set(subagentCall(parent))
	}
	return p
}

// message changes a message in a sub-agent's transcript, or adds it if its id is new. Messages in the transcript of the
// user's session are ignored: what its agent learns of a sub-agent also arrives as tool output.
func (s *subagents) message(sessionID, id string, change func(*between)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	child := s.children[sessionID]
	if child == nil {
		return
	}
	child.stale = true
	at := slices.IndexFunc(child.messages, func(m *between) bool { return m.id == id })
	if at < 0 {
		at = len(child.messages)
		child.messages = append(child.messages, &between{id: id})
	}
	change(child.messages[at])
}

// told makes a sub-agent's call show what it was told and what it answered, if that has changed. It is called before
// anything else is reported about the sub-agent, as messages may come in many pieces.
func (s *subagents) told(sessionID string) []Update {
	s.mu.Lock()
	defer s.mu.Unlock()
	child := s.children[sessionID]
	if child == nil || !child.stale {
		return nil
	}
	child.stale = false
	var asked, answered []string
	own := func(id string) bool { return s.children[id] != nil && s.children[id].parent == sessionID }
	for _, m := range child.messages {
		switch {
		case own(m.to), own(m.from): // work for one of its own sub-agents, whose call shows it
		case m.from == sessionID:
			answered = append(answered, m.text.String())
		default:
			asked = append(asked, m.text.String())
		}
	}
	p := ToolCallPatch{ID: subagentCall(sessionID)}
	p.RawInput, p.RawOutput = rawWords("asked", asked), rawWords("answered", answered)
	return []Update{p}
}

// rawWords returns words as the input or output of a call.
func rawWords(name string, words []string) acp.Opt[json.RawMessage] {
	if len(words) == 0 {
		return acp.Opt[json.RawMessage]{}
	}
	raw, _ := json.Marshal(map[string]string{name: strings.Join(words, "\n\n")}) // texts always encode
	return acp.Set(json.RawMessage(raw))
}

// planOf translates a plan by its id.
func planOf(p wire.PlanContent) []Update {
	u := PlanUpdate{ID: p.PlanID}
	switch p.Type {
	case "items":
		for _, e := range p.Entries {
			u.Entries = append(u.Entries, PlanEntry{Content: e.Content, Priority: e.Priority, Status: e.Status})
		}
	case "markdown":
		if p.Content != "" {
			u.Content = Text{Text: p.Content}
		}
	case "file":
		u.Content = ResourceLink{Name: "in a file", URI: p.URI}
	default:
		return []Update{u, UnknownUpdate{Type: "plan of type " + p.Type}}
	}
	return []Update{u}
}

// planUpdate translates an update about a plan that is not in the version's stable schema; known is false for other
// kinds. A malformed one is an error.
func planUpdate(kind string, raw json.RawMessage) (updates []Update, known bool, err error) {
	switch kind {
	case wire.KindPlanUpdate:
		var u wire.PlanUpdate
		if err := acp.Decode(raw, &u); err != nil {
			return nil, true, err
		}
		return planOf(u.Plan), true, nil
	case wire.KindPlanRemoved:
		var u wire.PlanRemoved
		if err := acp.Decode(raw, &u); err != nil {
			return nil, true, err
		}
		return []Update{PlanUpdate{ID: u.PlanID}}, true, nil
	}
	return nil, false, nil
}
