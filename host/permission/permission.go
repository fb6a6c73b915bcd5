// Package permission has what waits for the user's permission: the requests of a session's agent, and its reads and
// writes of files. It shows them in words and diffs, lets the user refuse single hunks, and answers each exactly once,
// whoever comes first: the policy, the user, a cancellation, the agent's withdrawal, the end of the process.
package permission

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/fileaccess"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/freshness"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rules"
)

// Config is what the requests need from their session. Except where noted, all are called on its goroutine.
type Config struct {
	ID           func() int64          // a new number for a request, unique in this Neovim and ascending
	Policy       func() *policy.Policy // nil until Lua has sent the rules; any goroutine
	ReviewBefore func() bool           // the agent's writes wait for the user; any goroutine

	Diffs    *calldiff.Diffs
	Known    *freshness.Files
	ToolCall func(id string) *session.ToolCall // of the conversation; nil for none
	GoesOn   func(callID string) bool          // the call runs in the background of the session's turns
	Apply    func(session.Update)              // applies an update to the conversation

	Ready      func() bool                        // the session is open
	Stopping   func() bool                        // the user has cancelled the turn, and the agent has not ended it yet
	Cancel     func()                             // cancels the turn
	Prompt     func(text string)                  // puts a prompt first in the queue
	RemarkOnce func(text string)                  // says something in the chat, once in a turn
	Ours       func(*session.ToolCall) bool       // a call is of a tool that asks for itself; nil for none
	Alert      func(severity, text, brief string) // says something in the chat and, if no chat is visible, in a short notice

	// The outcome of reads and writes. Any goroutine may call these.

	Asks  func()                                            // the agent wants to read a file
	Reads func(session.ReadTextFile)                        // it may
	Took  func(w buffers.Written, by string, reviewed bool) // a write changed a file; reviewed: as the user was shown
	Moved func(gone, made buffers.Written)                  // a file was moved
	Noted func(then func())                                 // calls then, from any goroutine, when what was taken or moved is saved
	Edits func(path string, w buffers.Written)              // a write is made
}

// Requests are the permission requests of a session: those of its agent, and the client's own about files that the
// agent reads and writes. Except where noted, they belong to the session's goroutine.
type Requests struct {
	base    feature.Base
	config  Config
	queue   queue
	changed bool             // Lua must be told
	files   fileaccess.Queue // what the agent reads and writes through its client; any goroutine
}

// New returns the requests of a session, initially none.
func New(base feature.Base, config Config) *Requests { return &Requests{base: base, config: config} }

// request is an open request. It is answered exactly once: when it leaves [queue.pending].
type request struct {
	id      int64                     // see [Config]
	asked   session.PermissionRequest // its Reply is not used
	call    session.ToolCall          // what it is about, see [Requests.subject]
	file    rules.Path                // for the client's own, otherwise zero
	command policy.Command
	stop    func() bool               // ends the watch for a withdrawal
	answer  func(optionID, by string) // by says who decided, as [Requests.resolve]; optionID may be ""

	decision policy.Decision
	open     bool // the policy left it to the user

	stale      map[string]bool                   // by path of the call's files: it has changed since the agent read it
	selections map[*calldiff.CallDiff]*selection // nil until the user selects hunks, see [Requests.selectionsOf]
	write      *pendingWrite                     // for a pending write, otherwise nil
}

// Ask adds a request by the agent.
func (rs *Requests) Ask(r session.PermissionRequest) {
	if !rs.config.Ready() {
		r.Reply("")
		return
	}
	p := &request{asked: r, call: rs.subject(r), answer: func(optionID, _ string) { r.Reply(optionID) }}
	p.command = policy.CommandOf(p.asked, &p.call, rs.base.Folder)
	rs.raise(p)
}

// raise makes a request wait for its answer.
func (rs *Requests) raise(p *request) {
	p.id = rs.config.ID()
	p.asked.Options = inOrder(p.asked.Options)
	rs.queue.pending = append(rs.queue.pending, p)
	if p.write == nil {
		rs.config.Diffs.Ask(&p.call)
	}
	p.stop = context.AfterFunc(p.asked.Context, func() {
		rs.base.Box.Put(func() { rs.resolve(p, "", "agent") })
	})
	rs.findStale(p)
	rs.decideNext()
}

// optionKinds are the kinds of options in the order the user sees them, whatever the agent's order.
var optionKinds = []string{"allow_once", "allow_always", "reject_once", "reject_always"}

// inOrder sorts options by kind, each kind in the agent's order, and unknown kinds last.
func inOrder(options []session.PermissionOption) []session.PermissionOption {
	rank := func(o session.PermissionOption) int {
		if i := slices.Index(optionKinds, o.Kind); i >= 0 {
			return i
		}
		return len(optionKinds)
	}
	return slices.SortedStableFunc(slices.Values(options), func(a, b session.PermissionOption) int { return rank(a) - rank(b) })
}

// subject applies what a request says about its tool call to the conversation, and returns the call as the request
// describes it: where the request says nothing, earlier updates count. Agents send an empty list of content, or an
// empty input, for what they sent before.
func (rs *Requests) subject(r session.PermissionRequest) session.ToolCall {
	patch := r.Call
	if patch.ID == "" {
		return session.ToolCall{Title: r.Title, Kind: session.KindOther}
	}
	var before session.ToolCall
	known := rs.config.ToolCall(patch.ID)
	askedOnly := rs.queue.asks(patch.ID, known != nil)
	switch says := !patch.Title.IsZero() || !patch.RawInput.IsZero() || !patch.Content.IsZero(); {
	case askedOnly && says:
		// Some agents use one id for all of their requests: nothing of an earlier one applies to this one.
		patch = patch.Whole()
		rs.config.Diffs.Reused(patch.ID)
	case known != nil:
		before = *known
	}
	if before.Kind == session.KindSwitchMode && len(patch.Content.Or(nil)) == 0 {
		patch.Content = acp.Opt[[]session.ToolCallContent]{} // the plan stays in the transcript
	}
	if policy.EmptyInput(patch.RawInput.Or(nil)) && !policy.EmptyInput(before.RawInput) {
		patch.RawInput = acp.Opt[json.RawMessage]{}
	}
	rs.config.Apply(patch)
	call := *rs.config.ToolCall(patch.ID)
	if len(call.Content) == 0 {
		call.Content = before.Content
	}
	if len(call.Locations) == 0 {
		call.Locations = before.Locations
	}
	return call
}

// Observe handles an update from the agent, which may say more about the subject of an open request.
func (rs *Requests) Observe(u session.Update) {
	patch, _ := u.(session.ToolCallPatch)
	rs.queue.observe(patch.ID)
	one := rs.queue.onlyAbout(patch.ID) // if there are several, each keeps its own subject
	call := rs.config.ToolCall(patch.ID)
	if one == nil || call == nil {
		return
	}
	if len(one.call.Content) == 0 {
		one.call.Content = call.Content
	}
	if len(one.call.Locations) == 0 {
		one.call.Locations = call.Locations
	}
	if policy.EmptyInput(one.call.RawInput) {
		one.call.RawInput = call.RawInput
	}
	rs.config.Diffs.Ask(&one.call)
	rs.findStale(one)
	rs.changed = true
}

// decideNext has the policy decide about the oldest request it has not seen, one at a time.
func (rs *Requests) decideNext() {
	p, rules := rs.queue.next(), rs.config.Policy()
	if p == nil {
		return
	}
	if rules == nil || p.write != nil && p.write.access.Free { // what rules allow must still be reviewed
		rs.decided(p, policy.Decision{})
		rs.decideNext()
		return
	}
	rs.queue.busy++
	r := rs.policyRequest(p)
	rs.base.Background(func() {
		d := rules.Decide(r)
		rs.base.Box.Put(func() {
			rs.queue.busy--
			rs.decided(p, d)
			rs.decideNext()
		})
	})
}

// policyRequest returns a request for the policy.
func (rs *Requests) policyRequest(p *request) policy.Request {
	return policy.Request{
		Agent: rs.base.Agent, Cwd: rs.base.Cwd, Roots: rs.base.Roots, Session: rs.base.Session,
		Call: p.call, File: p.file, Command: p.command, Options: p.asked.Options,
	}
}

// decided handles the policy's decision.
func (rs *Requests) decided(p *request, d policy.Decision) {
	if d.Err != nil {
		rs.config.Alert("warning", "Your lasting answers: "+d.Err.Error()+".", "your lasting answers cannot be used: the chat says why")
	}
	p.decision = d
	switch {
	case !rs.queue.has(p): // withdrawn
	case rs.config.Stopping():
		rs.resolve(p, "", "cancel") // the agent did not know of the end yet
	case d.OptionID != "" && (p.write == nil || d.OptionID == refuse):
		rs.config.Apply(session.Waiting{ToolCallID: p.asked.Call.ID, Open: true}) // it shows the outcome
		rs.resolve(p, d.OptionID, "rule")
		if p.file.Given == "" { // the client's own request says so itself
			rs.base.Remark("info", d.Remark)
		}
	case d.Why == "" && rs.config.Ours != nil && p.asked.Call.ID != "" && rs.config.Ours(&p.call):
		rs.letOurs(p)
	default:
		rs.show(p)
	}
}

// show puts a request before the user.
func (rs *Requests) show(p *request) {
	p.open = true
	rs.config.Apply(session.Waiting{ToolCallID: p.asked.Call.ID, Open: true})
	rs.changed = true
	rs.base.Event("AcpPermissionRequest", map[string]any{"id": p.id})
	rs.base.Changed()
}

// Respond answers with the user's choice; "" cancels, and with it the turn, which is what that outcome means in version
// 1 of the protocol.
func (rs *Requests) Respond(id int64, optionID string) {
	p := rs.queue.waitingAs(int(id))
	if p == nil {
		rs.base.Editor.Notify("info", "this request has already been answered")
		return
	}
	if optionID == "" {
		rs.resolve(p, "", "cancel")
		if p.asked.CancelsTurn {
			rs.config.Cancel()
		}
		return
	}
	i := slices.IndexFunc(p.asked.Options, func(o session.PermissionOption) bool { return o.ID == optionID })
	if i < 0 {
		rs.base.Editor.Notify("warning", fmt.Sprintf("the request has no option %q", optionID))
		return
	}
	chosen := p.asked.Options[i]
	if p.write != nil && chosen.Allows() {
		rs.allowWrite(p, nil, nil) // which resolves it after checking the file
		return
	}
	if !chosen.Allows() || !rs.config.ReviewBefore() {
		rs.give(p, chosen)
		return
	}
	rs.config.Diffs.WhenLocated(&p.call, func() { // otherwise nobody knows what is allowed
		if rs.queue.has(p) { // not withdrawn meanwhile
			rs.give(p, chosen)
		}
	})
}

// give answers a request with the option that the user chose.
func (rs *Requests) give(p *request, chosen session.PermissionOption) {
	out := rs.outcomeOf(p, chosen)
	switch {
	case !out.accepted && p.write == nil: // a pending write is not what was allowed before
		rs.forgetAccepted(p)
	case out.accepted && p.file.Given == "" && rs.config.ReviewBefore():
		rs.accept(p)
	}
	if out.unwanted != nil {
		rs.queue.unwanted = append(rs.queue.unwanted, *out.unwanted)
	}
	if out.option == chosen {
		rs.keepAnswer(p, chosen)
	}
	rs.resolve(p, out.option.ID, "user")
	if out.remark != "" {
		rs.base.Remark("info", out.remark)
	}
	if out.prompt != "" {
		rs.config.Prompt(out.prompt)
	}
}

// keepAnswer keeps a lasting answer.
func (rs *Requests) keepAnswer(p *request, o session.PermissionOption) {
	a, ok := p.decision.Lasting(rs.policyRequest(p), o)
	if !ok {
		return
	}
	rules := rs.config.Policy()
	rs.queue.busy++ // the next request may be the same
	rs.base.Background(func() {
		if err := rules.Keep(a); err != nil {
			rs.base.Box.Put(func() {
				rs.config.Alert("warning", "Your answer was not saved, so you will be asked again: "+folder.Unwritten(rules.AnswersDir(), err)+".",
					"your answer was not saved: "+folder.Reason(err))
			})
		}
		rs.base.Box.Put(func() {
			rs.queue.busy--
			rs.decideNext()
		})
	})
}

// resolve answers a request and takes it off the list; by says who decided.
func (rs *Requests) resolve(p *request, optionID, by string) {
	if !rs.queue.drop(p) {
		return
	}
	p.stop()
	rs.config.Diffs.Forget(&p.call)
	rs.config.Diffs.Answered(&p.call)
	said := session.Waiting{ToolCallID: p.asked.Call.ID}
	if i := slices.IndexFunc(p.asked.Options, func(o session.PermissionOption) bool { return o.ID == optionID }); i >= 0 {
		said.Allowed = p.asked.Options[i].Allows()
		said.Rejected = !said.Allowed
	}
	p.answer(optionID, by)
	rs.config.Apply(said)
	data := map[string]any{"id": p.id, "by": by}
	if optionID != "" {
		data["option_id"] = optionID
	}
	rs.changed = true
	if p.open || by == "rule" {
		rs.base.Event("AcpPermissionResolved", data)
	}
	rs.base.Changed()
}

// WithdrawAll cancels all requests; by says who decided that.
func (rs *Requests) WithdrawAll(by string) {
	for len(rs.queue.pending) > 0 {
		rs.resolve(rs.queue.pending[0], "", by)
	}
}

// CancelTurn cancels the turn's requests. Background work still waits for its answers.
func (rs *Requests) CancelTurn() {
	for _, p := range slices.Clone(rs.queue.pending) {
		if !rs.config.GoesOn(p.asked.Call.ID) {
			rs.resolve(p, "", "cancel")
		}
	}
}

// EndTurn is CancelTurn, and also forgets what the turn's answers imply for later.
func (rs *Requests) EndTurn() {
	rs.CancelTurn()
	rs.warnUnwanted("", true, true)
	rs.queue.accepted = nil
}

// CallEnded notes that a call has ended.
func (rs *Requests) CallEnded(call *session.ToolCall, status session.ToolCallStatus) {
	rs.config.Known.LearnFrom(call)
	rs.warnUnwanted(call.ID, false, status == session.StatusCompleted)
}

// HearUnsaved notes which files have unsaved text in their buffers, by the buffers' names.
func (rs *Requests) HearUnsaved(names []string) {
	for _, p := range rs.queue.pending {
		rs.findStale(p)
		rs.trackUnsaved(p, names)
	}
}

// FileAccess says whether the agent may access a file without asking. It reads the disk; any goroutine.
func (rs *Requests) FileAccess(kind session.ToolKind, file rules.Path) policy.Access {
	return rs.config.Policy().Access(policy.Request{
		Agent: rs.base.Agent, Cwd: rs.base.Cwd, Roots: rs.base.Roots, Session: rs.base.Session,
		Call: session.ToolCall{Kind: kind}, File: file,
	})
}
