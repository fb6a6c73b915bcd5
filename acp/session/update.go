package session

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Update is one change of a conversation, in the shape of protocol version 2: a patch of something that has an id. The
// adapters translate each protocol version into updates; [Conversation.Apply] is their only consumer.
type Update interface{ update() }

// MessageChunk appends one block to the message with this id, and creates the message when the id is new.
type MessageChunk struct {
	MessageID string
	Wire      string // the agent's own id of the message, where it gives one; see [Agent.ForkSession]
	Of        string // the call of the sub-agent that speaks, which shows its words; "" is none
	Role      Role
	Content   Content
}

// MessagePatch replaces all of a message, and creates it when the id is new.
type MessagePatch struct {
	MessageID string
	Of        string // see [MessageChunk]
	Role      Role
	Content   []Content
}

// Background is everything that runs in the background of a session's turns and outlives them.
type Background struct{ Calls, Terminals []string }

// TerminalPatch creates or changes a terminal that the agent owns and this client only shows: an omitted field stays,
// null clears, a value replaces. Output is a snapshot of all its bytes. An Exit, even an empty one, says that the
// command has ended. The owner of the terminals takes it; a conversation knows them only by id.
type TerminalPatch struct {
	ID      string
	Command acp.Opt[string]
	Cwd     acp.Opt[string]
	Output  acp.Opt[[]byte]
	Exit    acp.Opt[TerminalExit]
	Size    acp.Opt[TerminalSize]
	Plain   bool // Output comes from a pipe: a line feed also returns the cursor
}

// TerminalSize is in cells.
type TerminalSize struct{ Cols, Rows int }

// TerminalChunk appends bytes to the output of a terminal that the agent owns, and creates it when the id is new. A
// chunk may end inside a character or an escape sequence.
type TerminalChunk struct {
	ID    string
	Data  []byte
	Plain bool // it comes from a pipe: a line feed also returns the cursor
}

// PlanUpdate replaces the whole plan with this id, which is "" if the agent has only one, by steps or by Content, a
// Text or a ResourceLink. Without either the plan is withdrawn.
type PlanUpdate struct {
	ID      string
	Entries []PlanEntry
	Content Content
}

// CommandsUpdate replaces the list of slash commands.
type CommandsUpdate struct{ Commands []Command }

// ModeUpdate says that another mode is current.
type ModeUpdate struct{ ModeID string }

// OptionsUpdate replaces the list of configuration options.
type OptionsUpdate struct{ Options []Option }

// OptionSet says that the user gave an option another value.
type OptionSet struct{ ID, Value string }

// InfoUpdate changes the session's metadata.
type InfoUpdate struct{ Title acp.Opt[string] }

// UsageUpdate reports the context window in tokens, and the cost so far. NoCost withdraws the cost; otherwise a nil
// cost leaves it as it was.
type UsageUpdate struct {
	Usage  Usage
	NoCost bool
}

// TurnTokens says how many tokens the running turn has used. Read and Written are input tokens read from and written to
// the provider's cache.
type TurnTokens struct{ Total, Input, Output, Thought, Read, Written uint64 }

// Notice is information for the user that is not part of the conversation.
type Notice struct {
	Severity           string
	Title, Description string
}

// CompactionPatch creates or changes the record of a context compaction.
type CompactionPatch struct {
	ID      string
	Status  string
	Summary acp.Opt[[]Content]
	Error   acp.Opt[string]
}

// CompactionChunk appends to a compaction's summary.
type CompactionChunk struct {
	ID      string
	Content Content
}

// UnknownUpdate is an update of an unknown kind, or a malformed one, with the reason.
type UnknownUpdate struct {
	Type   string
	Raw    json.RawMessage
	Reason string
}

// SessionStart says that a session of the agent has begun, at first or after a restart: ids start afresh, and Options
// replace all earlier ones.
type SessionStart struct{ Options []Option }

// TurnStart says that the user's prompt is on its way to the agent. Sent is what the agent gets if that is not what the
// user sees: the agent may repeat it.
type TurnStart struct{ Prompt, Sent []Content }

// NotTaken says that the agent never got the prompt of the running turn: it is not part of the conversation.
type NotTaken struct{}

// Steered says that the agent has taken the user's words into the running turn.
type Steered struct{ Words []Content }

// TurnEnd says that the turn is over: with the wire's stop reason, or with an
// error when the agent answered one, died or was closed.
type TurnEnd struct {
	StopReason StopReason
	Error      string
	Detail     string // of the error, shown when the user opens it
}

// Waiting reports whether a permission request for a tool call is open.
type Waiting struct {
	ToolCallID string
	Open       bool
	Rejected   bool // the user's answer was a refusal
	Allowed    bool // the user's answer was not a refusal
}

// Cancelling says that the user cancelled the turn. Calls that are not
// finished show as cancelled at once; what the agent says later still counts.
type Cancelling struct{}

// AgentGone says that the agent is gone, and everything it was doing with it.
type AgentGone struct{}

// Remark is this client's own sentence in the transcript.
type Remark struct {
	Severity string // "info", "warning" or "error"
	Text     string
	Detail   string // shown when the user opens it
}

func (MessageChunk) update()    {}
func (ToolCallPatch) update()   {}
func (ToolCallChunk) update()   {}
func (TerminalPatch) update()   {}
func (TerminalChunk) update()   {}
func (PlanUpdate) update()      {}
func (CommandsUpdate) update()  {}
func (ModeUpdate) update()      {}
func (OptionsUpdate) update()   {}
func (OptionSet) update()       {}
func (InfoUpdate) update()      {}
func (UsageUpdate) update()     {}
func (TurnTokens) update()      {}
func (MessagePatch) update()    {}
func (Background) update()      {}
func (Notice) update()          {}
func (CompactionPatch) update() {}
func (CompactionChunk) update() {}
func (UnknownUpdate) update()   {}
func (SessionStart) update()    {}
func (TurnStart) update()       {}
func (NotTaken) update()        {}
func (Steered) update()         {}
func (TurnEnd) update()         {}
func (Waiting) update()         {}
func (Cancelling) update()      {}
func (AgentGone) update()       {}
func (Remark) update()          {}

// Tells reports whether an update adds to the transcript, as a replay does, rather than to the session's settings.
func Tells(u Update) bool {
	switch u.(type) {
	case MessageChunk, MessagePatch, ToolCallPatch, ToolCallChunk, TerminalPatch, TerminalChunk, PlanUpdate, CompactionPatch, CompactionChunk, UnknownUpdate:
		return true
	}
	return false
}
