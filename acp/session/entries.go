package session

import (
	"strings"
	"time"
)

// This file has what a conversation consists of: its entries, its settings, and what is reported besides.

// Role says who speaks in a message.
type Role int

// The roles of a message.
const (
	RoleUser Role = iota
	RoleAgent
	RoleThought
)

// StopReason says why a turn ended (specification: Prompt Turn, Stop Reasons); unknown values are kept.
type StopReason string

// Stop reasons of the specification, and our own for a turn that ended by an error.
const (
	StopEndTurn         StopReason = "end_turn"
	StopMaxTokens       StopReason = "max_tokens"
	StopMaxTurnRequests StopReason = "max_turn_requests"
	StopRefusal         StopReason = "refusal"
	StopCancelled       StopReason = "cancelled"

	StopError StopReason = "error"
)

// PlanEntry is one task of the agent's plan.
type PlanEntry struct {
	Content, Priority, Status string
}

// Command is a slash command the agent offers; Hint describes its argument.
type Command struct {
	Name, Description, Hint string
}

// Option is a setting of the session that the user can change: a mode, a
// model, or a configuration option, whichever way the agent offers it.
type Option struct {
	ID, Name, Description, Category string
	Type                            string // "select" or "boolean"
	Value                           string // a choice's value, or "true" / "false"
	Choices                         []Choice
	Via                             Via
}

// Via is how an option is set: agents have three ways to offer one.
type Via string

// The ways to set an option.
const (
	ViaConfig Via = "config"
	ViaMode   Via = "mode"
	ViaModel  Via = "model"
)

// Choice is one value of a select [Option].
type Choice struct {
	Value, Name, Description, Group string
}

// Chosen returns the choice that is current, if there is one.
func (o Option) Chosen() (Choice, bool) {
	for _, c := range o.Choices {
		if c.Value == o.Value {
			return c, true
		}
	}
	return Choice{}, false
}

// Usage is the context window in tokens, and the cost so far.
type Usage struct {
	Used, Size uint64
	Cost       *Cost
}

// Cost is an amount in a currency (ISO 4217).
type Cost struct {
	Amount   float64
	Currency string
}

// Entry is one thing in the transcript, in the order first seen.
type Entry interface{ entry() }

// Message is what one side said in one go. Neighbouring text is one part.
type Message struct {
	ID      string
	Wire    string // see [MessageChunk]
	Role    Role
	Parts   []Part
	Started time.Time
	Ended   time.Time // zero while it may still grow

	Replaced int // how often its text was replaced
}

// Part is a run of text, or one block that is not text.
type Part struct {
	Text    []byte
	Content Content // nil for text
}

// Text joins the message's text.
func (m *Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.Write(p.Text)
	}
	return b.String()
}

// Plan is the agent's plan, at the place where it first appeared.
type Plan struct {
	Entries []PlanEntry
	Content Content // or this; nil for none
}

// Empty reports whether the agent has taken the plan back.
func (p *Plan) Empty() bool { return len(p.Entries) == 0 && p.Content == nil }

// NoticeEntry is a notice of the agent, or a remark of this client.
type NoticeEntry struct {
	Severity           string
	Title, Description string
	Detail             string // shown when the user opens it
}

// Compaction is the record of a context compaction.
type Compaction struct {
	ID, Status, Error string
	Summary           []Content
}

// Unknown counts consecutive updates of one unknown kind.
type Unknown struct {
	Type  string
	Count int
}

// Stop is the end of a turn; there may be nothing to show for it.
type Stop struct {
	Reason StopReason
	Error  string
	Detail string // of the error, shown when the user opens it
	Took   time.Duration
	Tokens TurnTokens // used by the turn; zero if not reported
	Cost   *Cost      // of the turn, nil if not reported
}

func (*Message) entry()     {}
func (*ToolCall) entry()    {}
func (*Plan) entry()        {}
func (*NoticeEntry) entry() {}
func (*Compaction) entry()  {}
func (*Unknown) entry()     {}
func (*Stop) entry()        {}
