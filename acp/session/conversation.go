// Package session is the one internal model of a conversation with an agent, and the adapters that translate each
// protocol version into it. The model has the shape of protocol version 2 (patches by id, three states for each field);
// version 1 is translated into it, never the other way round. It knows nothing of Neovim.
package session

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Conversation is the state of one session. One goroutine owns it.
type Conversation struct {
	Entries  []Entry
	Title    string
	Plan     []PlanEntry
	Commands []Command
	Options  []Option
	Usage    *Usage
	Running  bool
	Stop     StopReason // of the last turn that ended
	Calls    []*ToolCall

	now        func() time.Time
	messages   map[string]int         // by id and role, index into Entries
	spoken     map[string]spoken      // by id and role, what sub-agents say
	calls      map[string]int         // by id, index into Entries
	children   map[string][]*ToolCall // by the id of the parent, which may never arrive
	compacts   map[string]int
	plans      map[string]int  // this turn's plans, as indexes into Entries
	lastPlans  map[string]Plan // as last reported
	background Background
	turnAt     time.Time
	turnCost   float64 // what the session had cost before this turn
	turnTokens TurnTokens
	pastCost   float64     // before the session was resumed, until the agent reports what it costs
	turn       int         // how many turns have begun
	turnCalls  []*ToolCall // that were updated in this turn
	echo       echo
	repeated   map[string]bool // messages that repeat a prompt
	changed    map[int]struct{}
	touched    []*ToolCall
	cancelled  bool
}

// NewConversation returns an empty conversation that reads the time from now.
func NewConversation(now func() time.Time) *Conversation {
	return &Conversation{
		now:      now,
		messages: map[string]int{}, spoken: map[string]spoken{},
		calls:    map[string]int{},
		children: map[string][]*ToolCall{},
		compacts: map[string]int{},
		changed:  map[int]struct{}{},
		plans:    map[string]int{}, lastPlans: map[string]Plan{},
		repeated: map[string]bool{},
	}
}

// ToolCall returns the call with this id, or nil.
func (c *Conversation) ToolCall(id string) *ToolCall {
	if i, ok := c.calls[id]; ok {
		return c.Entries[i].(*ToolCall)
	}
	return nil
}

// TakeChanged returns the indexes of the entries that are new or changed since the last call, in ascending order.
func (c *Conversation) TakeChanged() []int {
	if len(c.changed) == 0 {
		return nil
	}
	list := make([]int, 0, len(c.changed))
	for i := range c.changed {
		list = append(list, i)
	}
	c.changed = map[int]struct{}{} // a map that was large once stays slow
	slices.Sort(list)
	return list
}

// TakeTouched returns the tool calls that are new or changed since the last call; one may be named twice.
func (c *Conversation) TakeTouched() []*ToolCall {
	list := c.touched
	c.touched = nil
	return list
}

// touchCall notes that a call, at an index of Entries, has changed.
func (c *Conversation) touchCall(at int) {
	c.changed[at] = struct{}{}
	c.touched = append(c.touched, c.Entries[at].(*ToolCall))
}

// Apply applies one update to the state.
func (c *Conversation) Apply(u Update) {
	switch u := u.(type) {
	case MessageChunk:
		if !c.speak(u.Of, u.Role, u.MessageID, []Content{u.Content}, false) {
			c.applyChunk(u)
		}
	case MessagePatch:
		if !c.speak(u.Of, u.Role, u.MessageID, u.Content, true) {
			c.patchMessage(u)
		}
	case Background:
		c.background = u
	case ToolCallPatch:
		c.patchCall(u)
	case ToolCallChunk:
		c.appendToCall(u)
	case PlanUpdate:
		c.applyPlan(u)
	case CommandsUpdate:
		c.Commands = u.Commands
	case ModeUpdate:
		c.applyMode(u.ModeID)
	case OptionsUpdate:
		c.applyOptions(u.Options)
	case OptionSet:
		if i := slices.IndexFunc(c.Options, func(o Option) bool { return o.ID == u.ID }); i >= 0 {
			c.Options[i].Value = u.Value
		}
	case InfoUpdate:
		if !u.Title.IsZero() {
			c.Title = oneLine(u.Title.Or(""))
		}
	case UsageUpdate:
		c.applyUsage(u)
	case TurnTokens:
		c.turnTokens = u
	case Notice:
		c.add(&NoticeEntry{Severity: u.Severity, Title: u.Title, Description: u.Description})
	case Remark:
		c.add(&NoticeEntry{Severity: u.Severity, Title: u.Text, Detail: u.Detail})
	case CompactionPatch:
		c.patchCompaction(u)
	case CompactionChunk:
		at := c.compaction(u.ID)
		e := c.Entries[at].(*Compaction)
		e.Summary = append(e.Summary, u.Content)
	case UnknownUpdate:
		kind := cmp.Or(oneLine(u.Type), "unnamed update")
		if u.Reason != "" {
			kind += ": " + u.Reason
		}
		c.applyUnknown(kind)
	case SessionStart:
		c.startSession(u.Options)
	case TurnStart:
		c.startTurn(u)
	case NotTaken:
		c.withdrawPrompt()
	case Steered:
		c.addPrompt(u.Words, nil)
	case TurnEnd:
		c.endTurn(u)
	case Waiting:
		c.applyWaiting(u)
	case Cancelling:
		c.cancelled = true
		c.abandonCalls()
	case AgentGone:
		c.closeMessage()
		c.background = Background{}
		for _, call := range c.Calls {
			c.abandon(call)
		}
	}
}

// ApplyAt is Apply for an update that came at another time than now.
func (c *Conversation) ApplyAt(at time.Time, u Update) {
	now := c.now
	c.now = func() time.Time { return at }
	c.Apply(u)
	c.now = now
}

func (c *Conversation) add(e Entry) int {
	c.closeMessage()
	c.Entries = append(c.Entries, e)
	at := len(c.Entries) - 1
	c.changed[at] = struct{}{}
	return at
}

// closeMessage ends the last message: what comes next goes after it.
func (c *Conversation) closeMessage() {
	last := len(c.Entries) - 1
	if last < 0 {
		return
	}
	if m, ok := c.Entries[last].(*Message); ok && m.Ended.IsZero() {
		m.Ended = c.now()
		c.changed[last] = struct{}{}
	}
}

func (c *Conversation) applyChunk(u MessageChunk) {
	if u.Role == RoleUser {
		if c.echo.awaited {
			c.repeated[u.MessageID] = true
		}
		u.Content = c.echo.without(u.Content)
	} else {
		c.echo = echo{}
	}
	if u.Content == nil || u.Content == (Text{}) {
		return
	}
	key := messageKey(u.Role, u.MessageID)
	at, known := c.messages[key]
	if !known {
		at = c.add(&Message{ID: u.MessageID, Wire: u.Wire, Role: u.Role, Started: c.now()})
		c.messages[key] = at
	}
	m := c.Entries[at].(*Message)
	m.Wire = cmp.Or(m.Wire, u.Wire) // it may have begun without words
	m.append(u.Content)
	if !m.Ended.IsZero() {
		m.Ended = c.now() // something came between, but this is where it ends
	}
	c.changed[at] = struct{}{}
}

// patchMessage replaces a message, or begins one, except for the prompt, which stays as the user wrote it.
func (c *Conversation) patchMessage(u MessagePatch) {
	key := messageKey(u.Role, u.MessageID)
	at, known := c.messages[key]
	switch {
	case known:
	case u.Role == RoleUser && (c.echo.awaited || c.repeated[u.MessageID]):
		return
	default:
		at = c.add(&Message{ID: u.MessageID, Role: u.Role, Started: c.now()})
		c.messages[key] = at
	}
	m, next := c.Entries[at].(*Message), Message{}
	for _, b := range u.Content {
		next.append(b)
	}
	if !sameParts(m.Parts, next.Parts) {
		m.Parts = next.Parts
		m.Replaced++
		c.changed[at] = struct{}{}
	}
}

func messageKey(role Role, id string) string { return string(rune('0'+int(role))) + id }

func sameParts(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(a, b Part) bool {
		return string(a.Text) == string(b.Text) && reflect.DeepEqual(a.Content, b.Content)
	})
}

// NewPrompt returns a message from the user that is not in a conversation yet.
func NewPrompt(blocks []Content) *Message {
	m := &Message{Role: RoleUser}
	for _, b := range blocks {
		m.append(b)
	}
	return m
}

func (m *Message) append(b Content) {
	t, ok := b.(Text)
	if !ok {
		m.Parts = append(m.Parts, Part{Content: b})
		return
	}
	if t.Text == "" {
		return
	}
	if n := len(m.Parts); n > 0 && m.Parts[n-1].Content == nil {
		m.Parts[n-1].Text = append(m.Parts[n-1].Text, t.Text...)
		return
	}
	m.Parts = append(m.Parts, Part{Text: []byte(t.Text)})
}

// echo tracks the agent's repetition of the running prompt, which the transcript already shows. Only user chunks may
// come before it.
type echo struct {
	awaited bool
	prompt  string
	seen    int // bytes of the prompt repeated so far
}

// without returns the part of a user's block that is not a repetition, or nil.
func (e *echo) without(b Content) Content {
	t, ok := b.(Text)
	switch {
	case !e.awaited:
		return b
	case !ok:
		return nil // attachments of the prompt come back too
	}
	rest := e.prompt[e.seen:]
	more, longer := strings.CutPrefix(t.Text, rest)
	switch {
	case strings.HasPrefix(rest, t.Text):
		e.seen += len(t.Text)
		return nil
	case strings.TrimSpace(t.Text) == "":
		return nil
	case longer:
		e.seen = len(e.prompt)
		if strings.TrimSpace(more) == "" {
			return nil
		}
		return Text{Text: more}
	}
	e.awaited = false // it was not an echo after all
	return Text{Text: e.prompt[:e.seen] + t.Text}
}

// call returns the tool call with this id as one of this turn's, with the protocol's defaults if it is new.
func (c *Conversation) call(id string) *ToolCall {
	c.echo = echo{}
	at, known := c.calls[id]
	if !known {
		call := &ToolCall{ID: id, Kind: KindOther, Status: StatusPending, started: c.now(), turn: noTurn}
		at = c.add(call)
		call.at = at
		c.calls[id] = at
		c.Calls = append(c.Calls, call)
		for _, child := range c.children[id] {
			child.parent = call
		}
		c.touchBelow(id, maxDepth)
	}
	call := c.Entries[at].(*ToolCall)
	c.inTurn(call)
	return call
}

// inTurn makes a call one of this turn's.
func (c *Conversation) inTurn(call *ToolCall) {
	if call.turn != c.turn {
		call.turn = c.turn
		c.turnCalls = append(c.turnCalls, call)
	}
}

func (c *Conversation) appendToCall(u ToolCallChunk) {
	call := c.call(u.ID)
	call.Content = append(call.Content, u.Content...)
	c.said(call)
}

func (c *Conversation) patchCall(p ToolCallPatch) {
	if _, known := c.calls[p.ID]; known && p.empty() {
		return
	}
	call := c.call(p.ID)
	unfinished := !p.Status.IsZero() && !p.Status.Or(StatusPending).Finished()
	if unfinished && c.Running && !c.cancelled {
		call.abandoned, call.cancelled = false, false // resumed in a later turn
	}
	if c.Running && c.cancelled {
		c.abandon(call)
	}
	if !p.Parent.IsZero() {
		c.adopt(call, p.Parent.Or(""))
	}
	call.apply(p, c.now())
	c.said(call)
}

// said must be called when the agent has reported something about a call. A report between a cancel and the end of the
// turn begins nothing new.
func (c *Conversation) said(call *ToolCall) {
	if c.Running && c.cancelled {
		c.abandon(call)
	}
	if call.cancelled && !call.Status.Finished() {
		call.had = call.Content
	}
	c.touchCall(call.at)
}

func (c *Conversation) applyWaiting(u Waiting) {
	at, ok := c.calls[u.ToolCallID]
	if !ok {
		return
	}
	call, now := c.Entries[at].(*ToolCall), c.now()
	if u.Open {
		if call.asked == 0 {
			call.askedAt = now
		}
		call.asked++
		call.rejected, call.allowed = false, false
		c.inTurn(call)
		if c.Running { // a question that comes after the cancel no longer counts
			call.abandoned, call.cancelled = c.cancelled, c.cancelled
		}
	} else if call.asked > 0 {
		call.asked--
		if call.asked == 0 {
			end := now
			if !call.ended.IsZero() {
				end = call.ended // cancelled while it waited
			}
			call.waited += end.Sub(call.askedAt)
		}
		call.rejected, call.allowed = u.Rejected, u.Allowed
	}
	call.settle(now)
	c.touchCall(at)
}

func (c *Conversation) applyPlan(u PlanUpdate) {
	plan := &Plan{u.Entries, u.Content}
	if at, known := c.plans[u.ID]; known {
		*c.Entries[at].(*Plan) = *plan
		c.changed[at] = struct{}{}
	} else if !plan.Empty() && !reflect.DeepEqual(*plan, c.lastPlans[u.ID]) { // otherwise it repeats the plan above
		c.plans[u.ID] = c.add(plan)
	}
	c.lastPlans[u.ID] = *plan
	c.Plan = u.Entries
	for _, at := range slices.Sorted(maps.Values(c.plans)) { // of several, the last one with steps
		if entries := c.Entries[at].(*Plan).Entries; len(entries) > 0 {
			c.Plan = entries
		}
	}
}

func (c *Conversation) applyMode(id string) {
	for i := range c.Options {
		if o := &c.Options[i]; o.Via == ViaMode || o.Category == "mode" {
			o.Value = id
			return
		}
	}
}

// applyOptions replaces the configuration options and keeps modes and models that the agent offers separately.
func (c *Conversation) applyOptions(list []Option) {
	merged := slices.Clone(list)
	for _, old := range c.Options {
		covered := slices.ContainsFunc(list, func(o Option) bool {
			return o.ID == old.ID || (o.Category != "" && o.Category == old.Category)
		})
		if old.Via != ViaConfig && !covered {
			merged = append(merged, old)
		}
	}
	c.Options = merged
}

func (c *Conversation) applyUsage(u UsageUpdate) {
	if u.Usage.Cost == nil && c.Usage != nil && !u.NoCost {
		u.Usage.Cost = c.Usage.Cost // an update without a cost does not take it back
	}
	c.Usage = &u.Usage
}

func (c *Conversation) compaction(id string) int {
	at, known := c.compacts[id]
	if !known {
		at = c.add(&Compaction{ID: id, Status: "in_progress"})
		c.compacts[id] = at
	}
	c.changed[at] = struct{}{}
	return at
}

func (c *Conversation) patchCompaction(u CompactionPatch) {
	e := c.Entries[c.compaction(u.ID)].(*Compaction)
	e.Status = u.Status
	if !u.Summary.IsZero() {
		e.Summary = u.Summary.Or(nil)
	}
	if !u.Error.IsZero() {
		e.Error = u.Error.Or("")
	}
}

func (c *Conversation) applyUnknown(kind string) {
	last := len(c.Entries) - 1
	if last >= 0 {
		if e, ok := c.Entries[last].(*Unknown); ok && e.Type == kind {
			e.Count++
			c.changed[last] = struct{}{}
			return
		}
	}
	c.add(&Unknown{Type: kind, Count: 1})
}

// startSession forgets the ids of an earlier session, which another may use for other things.
func (c *Conversation) startSession(options []Option) {
	c.closeMessage()
	for _, call := range c.Calls {
		c.abandon(call)
	}
	clear(c.messages)
	clear(c.calls)
	clear(c.children)
	clear(c.compacts)
	clear(c.plans)
	clear(c.lastPlans)
	clear(c.repeated)
	c.Options = options
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// MessageBefore returns the agent's id of its last message before the user's prompt of this number, from 1; "" if there
// is none.
func (c *Conversation) MessageBefore(prompt int) (id string) {
	for _, e := range c.Entries {
		switch m, ok := e.(*Message); {
		case !ok:
		case m.Role == RoleUser:
			if prompt--; prompt == 0 {
				return id
			}
		case m.Role == RoleAgent && m.Wire != "":
			id = m.Wire
		}
	}
	return ""
}

// PromptNumber returns the number of one of the user's prompts, from 1.
func (c *Conversation) PromptNumber(prompt *Message) int {
	n := 0
	for _, e := range c.Entries[:slices.Index(c.Entries, Entry(prompt))+1] {
		if m, ok := e.(*Message); ok && m.Role == RoleUser {
			n++
		}
	}
	return n
}

// Said reports whether anything has been said.
func (c *Conversation) Said() bool {
	return slices.ContainsFunc(c.Entries, func(e Entry) bool {
		_, message := e.(*Message)
		return message
	})
}
