package session

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
)

// ToolKind is the category of a tool call; unknown values are kept.
type ToolKind string

// Kinds of the specification (Tool Calls).
const (
	KindRead       ToolKind = "read"
	KindEdit       ToolKind = "edit"
	KindDelete     ToolKind = "delete"
	KindMove       ToolKind = "move"
	KindSearch     ToolKind = "search"
	KindExecute    ToolKind = "execute"
	KindThink      ToolKind = "think"
	KindFetch      ToolKind = "fetch"
	KindSwitchMode ToolKind = "switch_mode"
	KindOther      ToolKind = "other"
)

// ToolCallStatus is the agent's status of a call; unknown values are kept.
type ToolCallStatus string

// Statuses of the specification, and two of our own: waiting for the user's permission, and refused by the user.
const (
	StatusPending    ToolCallStatus = "pending"
	StatusInProgress ToolCallStatus = "in_progress"
	StatusPaused     ToolCallStatus = "paused"
	StatusCompleted  ToolCallStatus = "completed"
	StatusFailed     ToolCallStatus = "failed"
	StatusCancelled  ToolCallStatus = "cancelled"

	StatusWaiting  ToolCallStatus = "waiting"
	StatusRejected ToolCallStatus = "rejected"
)

// Finished reports whether a call in this status is over.
func (s ToolCallStatus) Finished() bool {
	switch s {
	case StatusCompleted, StatusFailed, StatusCancelled, StatusRejected:
		return true
	}
	return false
}

// Location is a place in a file that a tool call is about. Line is 1-based; 0 means the agent named no line.
type Location struct {
	Path string
	Line int
}

// ToolCallContent is one piece of what a tool call shows.
type ToolCallContent interface{ toolCallContent() }

// ContentItem is an ordinary content block.
type ContentItem struct{ Content Content }

// Operation is what a [Diff] does to its file; unknown values are kept.
type Operation string

// Operations of the specification (version 2, Tool Calls, Diffs).
const (
	OperationAdd    Operation = "add"
	OperationDelete Operation = "delete"
	OperationModify Operation = "modify"
	OperationMove   Operation = "move"
	OperationCopy   Operation = "copy"
)

// Diff is a change of one file; a diff of several files on the wire becomes several of these. Version 1 sends texts, of
// the whole file or a fragment of it; version 2 a patch, or nothing.
type Diff struct {
	Operation Operation
	Path      string
	OldPath   string // before a move, or the source of a copy
	FileType  string // "text", "binary", "directory", "symlink", or "" for unknown
	MimeType  string
	OldText   *string // nil if there was no file, or no texts were sent
	NewText   *string // nil if there is no file any more, or no texts were sent
	Patch     string  // in Git's format, of this file alone; "" where there is none
}

// Equal reports whether two changes say the same.
func (d Diff) Equal(other Diff) bool {
	equal := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	if !equal(d.OldText, other.OldText) || !equal(d.NewText, other.NewText) {
		return false
	}
	d.OldText, d.NewText = other.OldText, other.NewText
	return d == other
}

// Diffs returns the changes in the content of a call.
func Diffs(content []ToolCallContent) []Diff {
	var diffs []Diff
	for _, item := range content {
		if d, ok := item.(Diff); ok {
			diffs = append(diffs, d)
		}
	}
	return diffs
}

// TerminalRef is the output of a terminal, by id.
type TerminalRef struct{ TerminalID string }

// UnknownItem is content of a type that this client does not know.
type UnknownItem struct {
	Type string
	Raw  json.RawMessage
}

func (ContentItem) toolCallContent() {}
func (Diff) toolCallContent()        {}
func (TerminalRef) toolCallContent() {}
func (UnknownItem) toolCallContent() {}

// noTurn is the turn of a call that nothing was reported about yet.
const noTurn = -1

// ToolCall is one action of the agent, patched by its id as updates arrive.
type ToolCall struct {
	ID        string
	Title     string
	Name      string
	Kind      ToolKind          // as the agent says, except that a call of an MCP server's tool is [KindOther]
	Status    ToolCallStatus    // as the agent reports it; see Shown
	Content   []ToolCallContent // as the agent reports it; see Shows
	Locations []Location
	RawInput  json.RawMessage
	RawOutput json.RawMessage
	Meta      map[string]json.RawMessage
	Parent    string // the call of the sub-agent that made this one, or ""
	Editor    bool   // a tool of the client's own MCP server is called

	parent    *ToolCall         // the call that Parent names, once there is one
	at        int               // index into the conversation's entries
	turn      int               // the last one in which the agent reported something about it
	asked     int               // open permission requests
	rejected  bool              // the user refused, and the agent has not finished since
	allowed   bool              // the user allowed it: it runs, whatever status the request gave it
	abandoned bool              // cancelled with its turn, or the turn ended without it
	cancelled bool              // the user cancelled the turn while it was under way
	had       []ToolCallContent // its content when it was cancelled
	started   time.Time         // first seen
	ended     time.Time         // finished, or abandoned
	askedAt   time.Time
	waited    time.Duration     // on the user, not counted in Elapsed
	input     *input            // parsed from a RawInput, see readInput
	exit      TerminalExit      // in RawOutput
	told      ToolKind          // what the agent says that it is; "" where that is Kind
	result    []ToolCallContent // in RawOutput, of an MCP server's tool
}

// ToolCallPatch creates or changes a tool call: an omitted field stays, null
// clears (to the protocol's default), a value replaces. Meta is patched by key.
type ToolCallPatch struct {
	ID        string
	Title     acp.Opt[string]
	Name      acp.Opt[string]
	Kind      acp.Opt[ToolKind]
	Status    acp.Opt[ToolCallStatus]
	Content   acp.Opt[[]ToolCallContent]
	Locations acp.Opt[[]Location]
	RawInput  acp.Opt[json.RawMessage]
	RawOutput acp.Opt[json.RawMessage]
	Meta      acp.Opt[map[string]json.RawMessage]
	Parent    acp.Opt[string]
	Editor    bool // see [ToolCall]; no agent says so
}

// empty reports whether the patch names a call and changes nothing.
func (p *ToolCallPatch) empty() bool {
	rest := *p
	rest.ID = ""
	return reflect.ValueOf(&rest).Elem().IsZero()
}

// Whole returns the patch with everything it omits cleared, so that nothing of an earlier call with its id is left,
// except for Meta, Parent and Editor, which say how the call came about.
func (p ToolCallPatch) Whole() ToolCallPatch {
	clearOmitted(&p.Title)
	clearOmitted(&p.Name)
	clearOmitted(&p.Kind)
	clearOmitted(&p.Status)
	clearOmitted(&p.Content)
	clearOmitted(&p.Locations)
	clearOmitted(&p.RawInput)
	clearOmitted(&p.RawOutput)
	return p
}

func clearOmitted[T any](o *acp.Opt[T]) {
	if o.IsZero() {
		*o = acp.Null[T]()
	}
}

// ToolCallChunk appends content to the tool call with this id, and creates the call when the id is new.
type ToolCallChunk struct {
	ID      string
	Content []ToolCallContent
}

// Shown is the status for the user: the agent's, unless the call waits for
// permission, was allowed or refused, or was left unfinished when its turn ended.
func (c *ToolCall) Shown() ToolCallStatus {
	switch {
	case c.Status.Finished():
		switch {
		case c.rejected && c.Status != StatusCompleted:
			return StatusRejected // which is more precise than failed or cancelled
		case c.interrupted():
			return StatusCancelled
		}
		return c.Status
	case c.rejected && c.asked == 0:
		return StatusRejected
	case c.abandoned:
		return StatusCancelled
	case c.asked > 0:
		return StatusWaiting
	case c.allowed && c.Status == StatusPending:
		return StatusInProgress
	}
	return c.Status
}

// LeftOpen reports whether the turn, or the agent, ended without saying how the call ended. Nobody cancelled it: it may
// well have done its work.
func (c *ToolCall) LeftOpen() bool {
	return c.abandoned && !c.cancelled && !c.Status.Finished()
}

// interrupted reports whether the user's cancel ended the call. Many agents say
// that it failed; some say that a command is completed, but not how it exited.
func (c *ToolCall) interrupted() bool {
	if !c.cancelled || c.Status != StatusCompleted {
		return c.cancelled
	}
	return c.Kind == KindExecute && c.exit.Code == nil && c.exit.Signal == ""
}

// Shows is the content for the user: the agent's, unless the user's cancel ended the call. Then agents replace it with
// words to the model: what was shown stays, and later output is added.
func (c *ToolCall) Shows() []ToolCallContent {
	if !c.Status.Finished() || !c.interrupted() || len(c.had) == 0 {
		if len(c.Content) == 0 {
			return c.result
		}
		return c.Content
	}
	for _, item := range c.Content {
		switch item.(type) {
		case Diff, TerminalRef:
			return c.Content
		}
	}
	if had := textOf(c.had); had != "" && strings.HasPrefix(textOf(c.Content), had) {
		return c.Content
	}
	return c.had
}

// textOf returns the text in a call's content.
func textOf(content []ToolCallContent) string {
	var b strings.Builder
	for _, item := range content {
		if item, ok := item.(ContentItem); ok {
			if t, ok := item.Content.(Text); ok {
				b.WriteString(t.Text)
			}
		}
	}
	return b.String()
}

// Elapsed returns how long the call has worked, without the time it waited for the user's permission.
func (c *ToolCall) Elapsed(now time.Time) time.Duration {
	end := now
	if !c.ended.IsZero() {
		end = c.ended
	}
	waited := c.waited
	if c.asked > 0 {
		waited += end.Sub(c.askedAt)
	}
	return max(0, end.Sub(c.started)-waited)
}

// Started returns when the call was first reported.
func (c *ToolCall) Started() time.Time { return c.started }

// Waited returns how long the call has waited for the user's permission.
func (c *ToolCall) Waited(now time.Time) time.Duration {
	end := now
	if !c.ended.IsZero() {
		end = c.ended
	}
	return max(0, end.Sub(c.started)-c.Elapsed(now))
}

// Exit returns how the command of a call ended, from what the agent reports as its output: some agents call it
// completed however it ended.
func (c *ToolCall) Exit() TerminalExit {
	if c.Kind != KindExecute || !c.Status.Finished() {
		return TerminalExit{}
	}
	return c.exit
}

// exitIn finds how a command ended in a tool's output, under the names that agents use for it.
func exitIn(rawOutput json.RawMessage) TerminalExit {
	type names struct {
		Exit     acp.Opt[int64]  `json:"exit" wire:"lenient"`
		ExitCode acp.Opt[int64]  `json:"exitCode" wire:"lenient"`
		Code     acp.Opt[int64]  `json:"exit_code" wire:"lenient"`
		Signal   acp.Opt[string] `json:"signal" wire:"lenient"`
	}
	var own names
	var inner struct {
		Metadata   names `json:"metadata" wire:"lenient"`
		ExitStatus names `json:"exitStatus" wire:"lenient"`
	}
	if len(rawOutput) == 0 || rawOutput[0] != '{' || acp.Decode(rawOutput, &own) != nil || acp.Decode(rawOutput, &inner) != nil {
		return TerminalExit{}
	}
	for _, n := range []names{own, inner.Metadata, inner.ExitStatus} {
		for _, code := range []acp.Opt[int64]{n.Exit, n.ExitCode, n.Code} {
			if exit := terminalExit(code, n.Signal); exit.Code != nil || exit.Signal != "" {
				return exit
			}
		}
	}
	return TerminalExit{}
}

// apply patches the call, except for its parent; see [ToolCallPatch] for the three states.
func (c *ToolCall) apply(p ToolCallPatch, now time.Time) {
	if !p.Title.IsZero() {
		c.Title = p.Title.Or("")
	}
	if !p.Name.IsZero() {
		c.Name = p.Name.Or("")
	}
	if !p.Kind.IsZero() {
		c.Kind, c.told = p.Kind.Or(KindOther), ""
	}
	if !p.Status.IsZero() {
		c.Status = p.Status.Or(StatusPending)
	}
	if !p.Content.IsZero() {
		c.Content = slices.Clip(p.Content.Or(nil)) // chunks are appended to a copy
	}
	c.Editor = c.Editor || p.Editor
	if !p.Locations.IsZero() {
		c.Locations = p.Locations.Or(nil)
	}
	if !p.RawInput.IsZero() {
		c.RawInput = p.RawInput.Or(nil)
		c.input = readInput(c.RawInput)
	}
	if !p.RawOutput.IsZero() {
		c.RawOutput = p.RawOutput.Or(nil)
		c.exit = exitIn(c.RawOutput)
	}
	if !p.Meta.IsZero() {
		patch, ok := p.Meta.Get()
		if !ok {
			c.Meta = nil
		} else {
			c.Meta = patchMeta(c.Meta, patch)
		}
	}
	c.knowMCP()
	c.settle(now)
}

// knowMCP makes a call of an MCP server's tool show as one: some agents call it a command, or a read.
func (c *ToolCall) knowMCP() {
	c.Kind, c.told, c.result = cmp.Or(c.told, c.Kind), "", nil
	if _, ok := c.MCP(); ok {
		c.Kind, c.told = KindOther, c.Kind
		if len(c.Content) == 0 {
			c.result = mcpResult(c.RawOutput)
		}
	}
}

// settle keeps the end time in step with the status.
func (c *ToolCall) settle(now time.Time) {
	finished := c.Shown().Finished()
	switch {
	case finished && c.ended.IsZero():
		c.ended = now
	case !finished:
		c.ended = time.Time{}
	}
}

// patchMeta merges by key; null removes a key.
func patchMeta(old, patch map[string]json.RawMessage) map[string]json.RawMessage {
	merged := maps.Clone(old)
	if merged == nil {
		merged = make(map[string]json.RawMessage, len(patch))
	}
	for k, v := range patch {
		if string(v) == "null" {
			delete(merged, k)
		} else {
			merged[k] = v
		}
	}
	return merged
}
