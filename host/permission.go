package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rules"
)

// permission is an open question, of an agent or of our own about a file (see
// policy.go). It belongs to its session's goroutine, and is answered exactly
// once: when it leaves [permissions.asked].
type permission struct {
	id      int64                     // unique in this Neovim, ascending
	request session.PermissionRequest // its Reply is not used
	call    session.ToolCall          // what is asked about, see Session.subject
	file    rules.Path                // of our own question; else zero
	command policy.Command
	stop    func() bool // ends the watch for a withdrawal
	// answer takes an option's id, or "", and who decided, as [Session.resolve].
	answer func(optionID, by string)

	decision policy.Decision // of the policy
	open     bool            // the policy has left it to the user

	stale map[string]bool             // by path as in touched: what the agent knows otherwise
	picks map[*calldiff.Change]*picks // nil until the user picks hunks; see Session.picksOf
	held  *held                       // of a write that waits, see held.go; else nil
}

func (s *Session) requestPermission(r session.PermissionRequest) {
	if s.phase != ready {
		r.Reply("")
		return
	}
	p := &permission{request: r, call: s.subject(r), answer: func(optionID, _ string) { r.Reply(optionID) }}
	p.command = policy.CommandOf(p.request, &p.call, s.base.Folder)
	s.raise(p)
}

// raise lets a question wait for its answer.
func (s *Session) raise(p *permission) {
	p.id = s.host.permissionIDs.Add(1)
	p.request.Options = inOrder(p.request.Options)
	s.permissions.asked = append(s.permissions.asked, p)
	if p.held == nil {
		s.diffs.Ask(&p.call)
	}
	p.stop = context.AfterFunc(p.request.Context, func() {
		s.base.Box.Put(func() { s.resolve(p, "", "agent") })
	})
	s.findStale(p)
	s.decideNext()
	s.changed()
}

// answerKinds are the kinds of answers as the user counts them, whatever the agent's order.
var answerKinds = []string{"allow_once", "allow_always", "reject_once", "reject_always"}

// inOrder are the answers by their kinds, each kind in the agent's order, and those of no known kind last.
func inOrder(options []session.PermissionOption) []session.PermissionOption {
	rank := func(o session.PermissionOption) int {
		if i := slices.Index(answerKinds, o.Kind); i >= 0 {
			return i
		}
		return len(answerKinds)
	}
	return slices.SortedStableFunc(slices.Values(options), func(a, b session.PermissionOption) int { return rank(a) - rank(b) })
}

// subject brings what a request says of its tool call into the conversation,
// and returns the call as the request means it: with what earlier updates said
// where the request says nothing. Agents send an empty list of content, or an
// empty input, for what they have told before.
func (s *Session) subject(r session.PermissionRequest) session.ToolCall {
	patch := r.Call
	if patch.ID == "" {
		return session.ToolCall{Title: r.Title, Kind: session.KindOther}
	}
	var before session.ToolCall
	known := s.conv.ToolCall(patch.ID)
	askedOnly := s.permissions.tells(patch.ID, known != nil)
	switch says := !patch.Title.IsZero() || !patch.RawInput.IsZero() || !patch.Content.IsZero(); {
	case askedOnly && says:
		// Some agents use one id for all of their requests: nothing of an earlier
		// one is this one's.
		patch = whole(patch)
		s.diffs.Reused(patch.ID)
	case known != nil:
		before = *known
	}
	if before.Kind == session.KindSwitchMode && len(patch.Content.Or(nil)) == 0 {
		patch.Content = acp.Opt[[]session.ToolCallContent]{} // the plan stays in the transcript
	}
	if policy.EmptyInput(patch.RawInput.Or(nil)) && !policy.EmptyInput(before.RawInput) {
		patch.RawInput = acp.Opt[json.RawMessage]{}
	}
	s.apply(patch)
	call := *s.conv.ToolCall(patch.ID)
	if len(call.Content) == 0 {
		call.Content = before.Content
	}
	if len(call.Locations) == 0 {
		call.Locations = before.Locations
	}
	return call
}

// whole clears what a patch leaves out.
func whole(p session.ToolCallPatch) session.ToolCallPatch {
	clearing(&p.Title)
	clearing(&p.Name)
	clearing(&p.Kind)
	clearing(&p.Status)
	clearing(&p.Content)
	clearing(&p.Locations)
	clearing(&p.RawInput)
	clearing(&p.RawOutput)
	return p
}

func clearing[T any](o *acp.Opt[T]) {
	if o.IsZero() {
		*o = acp.Null[T]()
	}
}

// told hears of the agent's updates: a call that it tells of is no request's
// alone, and what a request that waits is about may have become clearer.
func (s *Session) told(u session.Update) {
	patch, ok := u.(session.ToolCallPatch)
	if !ok || patch.ID == "" {
		return
	}
	s.permissions.told(patch.ID)
	one := s.permissions.onlyAbout(patch.ID) // of several each is about what it said itself
	call := s.conv.ToolCall(patch.ID)
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
	s.diffs.Ask(&one.call)
	s.findStale(one)
	s.shown.permissions = true
}

// decideNext has the policy decide about the oldest request that it has not seen, one at a time.
func (s *Session) decideNext() {
	p, rules := s.permissions.next(), s.host.policy.Load()
	if p == nil {
		return
	}
	if rules == nil || p.held != nil && p.held.access.Free { // what rules allow is to be reviewed all the same
		s.decided(p, policy.Decision{})
		s.decideNext()
		return
	}
	s.permissions.busy++
	r := s.policyRequest(p)
	s.base.Background(func() {
		d := rules.Decide(r)
		s.base.Box.Put(func() {
			s.permissions.busy--
			s.decided(p, d)
			s.decideNext()
		})
	})
}

// policyRequest is a request as the policy takes it.
func (s *Session) policyRequest(p *permission) policy.Request {
	return policy.Request{
		Agent: s.base.Agent, Cwd: s.base.Cwd, Roots: s.base.Roots, Session: s.id,
		Call: p.call, File: p.file, Command: p.command, Options: p.request.Options,
	}
}

// decided hears what the policy has decided.
func (s *Session) decided(p *permission, d policy.Decision) {
	if d.Err != nil {
		s.base.Editor.Notify("warning", "Your lasting answers: "+d.Err.Error()+".")
	}
	p.decision = d
	switch {
	case !s.permissions.has(p): // withdrawn
	case s.outbox.stage == stopping:
		s.resolve(p, "", "cancel") // the agent had not heard of the end yet
	case d.OptionID != "" && (p.held == nil || d.OptionID == refuse):
		s.apply(session.Waiting{ToolCallID: p.request.Call.ID, Open: true}) // it shows what became of it
		s.resolve(p, d.OptionID, "rule")
		if p.file.Given == "" { // our own question says so itself
			s.remark("info", d.Remark)
		}
	default:
		s.ask(p)
	}
}

// ask puts a request before the user.
func (s *Session) ask(p *permission) {
	p.open = true
	s.apply(session.Waiting{ToolCallID: p.request.Call.ID, Open: true})
	s.shown.permissions = true
	s.event("AcpPermissionRequest", map[string]any{"id": p.id})
	s.changed()
}

// respond answers with the user's choice; "" cancels, and with it the turn, as
// that outcome means in protocol version 1.
func (s *Session) respond(id int64, optionID string) {
	p := s.permissions.waitingAs(int(id))
	if p == nil {
		s.base.Editor.Notify("info", "This request is answered already.")
		return
	}
	if optionID == "" {
		s.resolve(p, "", "cancel")
		s.cancel()
		return
	}
	i := slices.IndexFunc(p.request.Options, func(o session.PermissionOption) bool { return o.ID == optionID })
	if i < 0 {
		s.base.Editor.Notify("warning", fmt.Sprintf("The request has no option %q.", optionID))
		return
	}
	chosen := p.request.Options[i]
	if p.held != nil && chosen.Allows() {
		s.writeHeld(p, nil, nil) // resolves it when it has looked at the file
		return
	}
	if !chosen.Allows() || p.file.Given != "" || !s.host.reviewBefore.Load() {
		s.give(p, chosen)
		return
	}
	s.diffs.WhenLocated(&p.call, func() { // else it is not known what is allowed
		if s.permissions.has(p) { // it was not withdrawn meanwhile
			s.give(p, chosen)
		}
	})
}

// give answers a request with an option that the user has chosen.
func (s *Session) give(p *permission, chosen session.PermissionOption) {
	out := s.outcomeOf(p, chosen)
	switch {
	case !out.accepted && p.held == nil: // a held write is another than what was allowed
		s.acceptNoMore(p)
	case out.accepted && p.file.Given == "" && s.host.reviewBefore.Load():
		s.accept(p)
	}
	if out.unwanted != nil {
		s.permissions.unwanted = append(s.permissions.unwanted, *out.unwanted)
	}
	if out.option == chosen {
		s.keepAnswer(p, chosen)
	}
	s.resolve(p, out.option.ID, "user")
	if out.remark != "" {
		s.remark("info", out.remark)
	}
	if out.prompt != "" {
		s.outbox.first([]session.Content{session.Text{Text: out.prompt}})
		s.proceed()
	}
}

// keepAnswer remembers an answer that the user wants to hold from now on.
func (s *Session) keepAnswer(p *permission, o session.PermissionOption) {
	a, ok := p.decision.Lasting(s.policyRequest(p), o)
	if !ok {
		return
	}
	rules := s.host.policy.Load()
	s.permissions.busy++ // what is asked next may be the same
	s.base.Background(func() {
		if err := rules.Keep(a); err != nil {
			s.base.Editor.Notify("warning", fmt.Sprintf("Keeping your answer: %v.", err))
		}
		s.base.Box.Put(func() {
			s.permissions.busy--
			s.decideNext()
		})
	})
}

// resolve answers a request and takes it off the list; by says who decided.
func (s *Session) resolve(p *permission, optionID, by string) {
	if !s.permissions.drop(p) {
		return
	}
	p.stop()
	s.diffs.Forget(&p.call)
	s.diffs.Answered(&p.call)
	said := session.Waiting{ToolCallID: p.request.Call.ID}
	if i := slices.IndexFunc(p.request.Options, func(o session.PermissionOption) bool { return o.ID == optionID }); i >= 0 {
		said.Allowed = p.request.Options[i].Allows()
		said.Rejected = !said.Allowed
	}
	p.answer(optionID, by)
	s.apply(said)
	data := map[string]any{"id": p.id, "by": by}
	if optionID != "" {
		data["option_id"] = optionID
	}
	s.shown.permissions = true
	if p.open || by == "rule" {
		s.event("AcpPermissionResolved", data)
	}
	s.changed()
}

func (s *Session) withdrawAll(by string) {
	for len(s.permissions.asked) > 0 {
		s.resolve(s.permissions.asked[0], "", by)
	}
}
