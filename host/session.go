package host

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/chat"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/elicitation"
	"github.com/acp-nvim/acp-nvim/host/events"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/follow"
	"github.com/acp-nvim/acp-nvim/host/freshness"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/mcp"
	"github.com/acp-nvim/acp-nvim/host/permission"
	"github.com/acp-nvim/acp-nvim/host/prompt"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminals"
)

// Session is one conversation in this Neovim: the life of its agent's session, and a row of features, see wiring.go.
// One goroutine owns it, the one that runs its mailbox; whoever else wants something of it puts a function there.
type Session struct {
	id   int // unique in this Neovim
	host *Host
	spec AgentSpec

	servers *mcp.Servers
	finding func()        // ends the search for its MCP servers
	place   session.Place // where it was opened last
	base    feature.Base

	visible atomic.Bool // a window shows the chat
	urgent  atomic.Bool // something must not wait for a hidden chat's turn
	working span        // of the turn that runs, or the last one

	// The fields below belong to the session's goroutine.

	phase   phase
	closed  bool   // nothing goes out any more, not even after a restart
	failure string // why the session is dead or needs a login
	agent   *agent // while the process lives
	died    *agent // whose end was the session's
	info    session.Info
	remote  remote
	login   login
	titled  bool // the user has given it its title

	conv      *session.Conversation
	recorder  *history.Recorder // keeps it
	past      []history.Prompt  // what the user had said when a stored session was taken up
	unsent    []session.Content // the prompt of the open turn, while it waits for the look at the folders
	behind    []func()          // what waits for it to be sent
	stale     bool              // what Lua keeps of the session is out of date
	own       bool              // the open turn is work that the agent has begun by itself
	malformed map[string]bool   // kinds of malformed updates that the log has
	clock     *time.Timer
	lacks     ledger.Lack     // what the copies of its folders leave out
	reminder  string          // what is to be said in the chat when the session is open
	remarked  map[string]bool // what remarkOnce has said in this turn

	// The features.

	chat       *chat.Chat
	pages      draw.Pages           // how the chat and the review are drawn
	calls      *luastate.Calls      // the tool calls as Lua keeps them
	events     *events.Queue        // for the user's autocommands
	prompts    *prompt.Prompts      // and whether a turn is open
	requests   *control.Requests    // that the agent should answer soon
	permission *permission.Requests // and the agent's reads and writes through its client
	questions  *elicitation.Questions
	known      *freshness.Files // what the agent knows of files
	diffs      *calldiff.Diffs  // of tool calls, as they are in their files
	ledger     *ledger.Ledger   // the record of what the agent has changed
	review     *reviewui.Review // what the user sees of it
	terminals  *terminals.Set
	tracer     *follow.Tracer // tells the following window where the agent works
	caller     *editortools.Caller
	untrusted  bool               // the user was told why the agent does without them
	grant      *editortools.Grant // of the editor's tools; nil where the agent has none
}

// phase is where a session is between its beginning and its end; whether a
// turn runs is apart from that, in its prompts.
type phase int

const (
	starting phase = iota
	authRequired
	ready
	dead
)

// die ends the session's life in its agent; what is shown stays.
func (s *Session) die(err error) {
	var f *failure.Failure
	if !errors.As(err, &f) {
		f = &failure.Failure{Sentence: err.Error()}
	}
	s.detach()
	s.phase, s.failure = dead, f.Error()
	if !s.failTurn(f) {
		s.remarkFailure("error", f)
	}
	s.sayReminder()
	s.changed()
}

// detach leaves the agent and answers everything that is open.
func (s *Session) detach() {
	s.permission.WithdrawAll("cancel")
	s.questions.WithdrawAll()
	s.terminals.Release()
	if s.finding != nil {
		s.finding()
	}
	if s.grant != nil {
		s.grant.Forget(s.caller)
		s.grant = nil
	}
	if a := s.agent; a != nil {
		s.agent = nil
		s.apply(session.AgentGone{})
		s.requests.Drop()
		a.leave(s, s.remote.id)
	}
	s.remote.id = ""
}

func (s *Session) agentDied(a *agent, why *failure.Failure) {
	if s.agent == a {
		s.die(why)
		s.died = a
		if !s.visible.Load() {
			a.mourned.Do(func() { s.base.Editor.Notify("error", why.Brief(s.base.Title)+" :Acp restart starts it again") })
		}
	}
}

// close ends the session for good.
func (s *Session) close() {
	if s.agent != nil && s.conv.Running {
		s.agent.Cancel(s.remote.id)
	}
	s.detach()
	s.endTurn(session.StopError, "The session was closed.")
	s.phase, s.closed = dead, true
	s.stale = true
	s.stopClock()
	s.recorder.Close()
	s.ledger.Close()
	s.events.Add("AcpSessionClosed", nil)
	s.host.forgetSession(s)
	s.review.Close()
	s.flush()
	s.terminals.Close()
	s.base.Box.Close()
}

// steer puts the user's words into the running turn; done is called on the session's goroutine.
func (s *Session) steer(words []session.Content, done func(session.Steering)) {
	switch {
	case !s.info.Steers || s.phase != ready || !s.prompts.Working():
		done(session.SteeringLeft)
		return
	case s.unsent != nil:
		s.behind = append(s.behind, func() { s.steer(words, done) })
		return
	}
	s.agent.Steer(s.remote.id, words, func(became session.Steering, err error) {
		s.base.Box.PutSlowly(func() {
			switch {
			case became == session.SteeringBegan && !s.prompts.TurnOpen():
				s.own = true
				s.begin(prompt.Turn{Text: prompt.Text(words), Shown: words})
			case became == session.SteeringBegan, became == session.SteeringTaken:
				s.apply(session.Steered{Words: words})
				s.changed()
			}
			done(became)
		})
	})
}

// begin opens a turn; its prompt goes out when the session's folders have been looked at.
func (s *Session) begin(t prompt.Turn) {
	s.prompts.Opened()
	if s.grant != nil {
		s.grant.Begin(s.caller)
	}
	clear(s.remarked)
	s.working.begin()
	s.host.follow.Begin(s.id)
	s.apply(session.TurnStart{Prompt: t.Shown, Sent: t.Sent})
	var data map[string]any
	if t.Shown != nil {
		data = map[string]any{"prompt": t.Text}
	}
	s.events.Add("AcpTurnStart", data)
	s.startClock()
	s.changed()
	attempt := s.prompts.Attempt()
	s.unsent = t.Sent
	s.ledger.BeginTurn(t.Text, func() {
		s.base.Box.Put(func() {
			if s.unsent != nil && s.prompts.Awaits(attempt) {
				s.work(s.unsent)
			}
		})
	})
}

// work makes the agent work on the prompt of the open turn.
func (s *Session) work(blocks []session.Content) {
	s.remote.skipping, s.remote.replay, s.unsent = false, nil, nil
	attempt := s.prompts.Attempt()
	s.changed()
	s.agent.Prompt(s.remote.id, blocks, func(reason session.StopReason, err error) {
		s.base.Box.PutSlowly(func() {
			if s.prompts.Awaits(attempt) {
				s.answered(blocks, reason, err)
			}
		})
	})
	s.sent()
}

// sent is for what waits behind the prompt of the open turn: it has gone out, or never will.
func (s *Session) sent() {
	behind := s.behind
	s.behind = nil
	for _, f := range behind {
		f()
	}
}

func (s *Session) answered(blocks []session.Content, reason session.StopReason, err error) {
	switch {
	case err == nil:
		s.endTurn(reason, "")
		s.prompts.Proceed()
	case errors.Is(err, acp.ErrClosed):
		// The end of the process is told by agentDied.
	case errors.Is(err, session.ErrNotTaken):
		s.notTaken()
	case session.AuthRequired(err):
		s.prompts.Interrupt(blocks)
		s.needLogin()
	case s.prompts.Stopping() && session.RequestCancelled(err):
		s.endTurn(session.StopCancelled, "")
		s.prompts.Proceed()
	default:
		s.prompts.Unsaved.Forget()
		words, detail := failure.Explain(err)
		s.failTurn(&failure.Failure{Sentence: fmt.Sprintf("%s answered with an error: %s", s.base.Title, words), Detail: detail})
		s.prompts.Proceed()
	}
}

// notTaken ends the turn of a prompt that the agent has not taken, which waits in the queue again.
func (s *Session) notTaken() {
	s.apply(session.NotTaken{})
	s.prompts.Unsaved.Forget()
	s.prompts.Return()
	s.endTurn(session.StopCancelled, "")
	s.remark("info", s.base.Title+" had not taken your prompt: it waits in the queue.")
	s.prompts.Proceed()
}

func (s *Session) endTurn(reason session.StopReason, why string) {
	s.closeTurn(session.TurnEnd{StopReason: reason, Error: why})
}

func (s *Session) failTurn(f *failure.Failure) bool {
	return s.closeTurn(session.TurnEnd{StopReason: session.StopError, Error: f.Error(), Detail: f.Detail})
}

// closeTurn is the only way to end a turn. It reports whether one was open: else it does nothing.
func (s *Session) closeTurn(end session.TurnEnd) bool {
	if !s.prompts.TurnOpen() {
		return false
	}
	if s.grant != nil {
		s.grant.End(s.caller)
	}
	s.permission.EndTurn()
	s.questions.EndTurn()
	s.prompts.Ended()
	s.unsent, s.own = nil, false
	s.working.end()
	s.host.follow.End(s.id)
	s.apply(end)
	s.tellUntrusted()
	s.review.TurnEnded()
	s.stopClock()
	if end.StopReason == session.StopCancelled || end.StopReason == session.StopError {
		s.terminals.Stop()
	}
	data := map[string]any{"stop_reason": string(end.StopReason)}
	if end.Error != "" {
		data["error"] = end.Error
	}
	s.events.AddEnd(s.ledger.EndTurn(s.working.over), data)
	s.changed()
	s.sent()
	return true
}

// cancel ends the running turn. Queued prompts stay and wait for the user.
func (s *Session) cancel() {
	working := s.prompts.Working()
	if len(s.prompts.SentAhead()) > 0 && !working && s.phase == ready {
		s.agent.Cancel(s.remote.id)
	}
	switch {
	case !working && s.requests.GiveUp():
		return
	case s.prompts.Interrupted():
		s.endTurn(session.StopCancelled, "")
		return
	case working:
		if s.unsent != nil {
			s.work(s.unsent)
		}
		s.prompts.Stop()
		if s.grant != nil {
			s.grant.End(s.caller)
		}
		s.agent.Cancel(s.remote.id)
		s.apply(session.Cancelling{})
		s.permission.CancelTurn()
		s.questions.CancelTurn()
		attempt := s.prompts.Attempt()
		s.later(control.Slow, func() {
			if s.prompts.Awaits(attempt) {
				s.remark("warning", s.base.Title+" has not ended the turn. :Acp restart starts it again.")
			}
		})
	}
	if waiting := s.prompts.Pause(); waiting > 0 {
		s.remark("info", fmt.Sprintf("%s queued. Send an empty prompt to resume the queue.", styled.Many(waiting, "prompt")))
	}
	s.changed()
}

// cancelCall ends one tool call, where the agent lets that be done.
func (s *Session) cancelCall(entry session.Entry) {
	call, ok := entry.(*session.ToolCall)
	if !ok {
		s.base.Editor.Notify("warning", "this is not a tool call")
		return
	}
	var terminals []string
	for _, item := range call.Content {
		if ref, ok := item.(session.TerminalRef); ok {
			terminals = append(terminals, ref.TerminalID)
		}
	}
	if s.agent != nil && s.phase == ready {
		agent, can := s.agent.Agent.(session.Canceller)
		if can && agent.CancelCall(call.ID, terminals, func(err error) {
			if err != nil {
				words, _ := failure.Explain(err)
				s.base.Editor.Notify("warning", fmt.Sprintf("%s has not cancelled it: %s", s.base.Title, words))
			}
		}) {
			return
		}
	}
	s.base.Editor.Notify("info", s.base.Title+" cannot cancel this alone; :Acp cancel ends the turn")
}

// update brings one of the agent's updates into the state.
func (s *Session) update(u session.Update) {
	switch tells := session.Tells(u); {
	case tells && s.remote.skipping:
	case tells && s.remote.replay != nil:
		for _, u := range s.remote.replay.Take(u) {
			s.bring(u)
		}
	default:
		s.bring(u)
	}
}

// bring is update for what is to be shown.
func (s *Session) bring(u session.Update) {
	switch n := u.(type) {
	case session.TerminalPatch, session.TerminalChunk:
		s.terminals.Update(u)
		return
	case session.Background:
		s.terminals.Behind(n.Terminals)
	case session.ToolCallPatch:
		if s.grant != nil {
			s.grant.Seen(n.ID, s.caller)
		}
	case session.UnknownUpdate:
		if n.Reason != "" {
			s.leftOut(n)
		}
	case session.Notice:
		s.events.Add("AcpNotice", map[string]any{"severity": n.Severity, "title": n.Title, "description": n.Description})
	}
	if info, ok := u.(session.InfoUpdate); ok && !s.takesTitle(info) {
		return
	}
	title := s.conv.Title
	s.apply(u)
	if s.conv.Title != title {
		s.ledger.Titled(s.conv.Title)
	}
	s.permission.Observe(u)
	if _, ok := u.(session.MessageChunk); ok {
		s.mark() // nothing but the chat changes
		return
	}
	s.stale = true
	s.urgent.Store(true)
	s.mark() // more of them may come
}

// ownWork makes what the agent does without a prompt a turn.
func (s *Session) ownWork(w session.OwnWork) {
	switch {
	case !w.Ended && !s.prompts.TurnOpen():
		s.own = true
		s.begin(prompt.Turn{})
	case w.Ended && s.own:
		s.answered(nil, w.StopReason, w.Err)
	}
}

// leftOut tells of a malformed update: each in the traffic, and the first of a kind in the log.
func (s *Session) leftOut(u session.UnknownUpdate) {
	s.host.traffic.Agent(s.spec.Name).Note(u.Raw, u.Reason)
	if kind := u.Type + ": " + u.Reason; !s.malformed[kind] {
		if s.malformed == nil {
			s.malformed = map[string]bool{}
		}
		s.malformed[kind] = true
		s.base.Log.Warn("an update is left out", "session", s.id, "type", u.Type, "err", u.Reason)
	}
}

func (s *Session) remark(severity, text string) {
	s.apply(session.Remark{Severity: severity, Text: text})
	s.changed()
}

// remarkFailure is remark for a failure, with what is behind its sentence.
func (s *Session) remarkFailure(severity string, f *failure.Failure) {
	s.apply(session.Remark{Severity: severity, Text: f.Error(), Detail: f.Detail})
	s.changed()
}

// remarkOnce is remark, but says the same only once in a turn.
func (s *Session) remarkOnce(text string) {
	if !s.remarked[text] {
		s.remarked[text] = true
		s.remark("info", text)
	}
}

// later runs f on the session's goroutine after a time.
func (s *Session) later(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { s.base.Box.Put(f) })
}

// startClock lets the running durations in the chat go on.
func (s *Session) startClock() {
	s.stopClock()
	s.clock = s.later(time.Second, func() {
		if s.prompts.TurnOpen() {
			s.chat.Tick()
			s.mark()
			s.startClock()
		}
	})
}

func (s *Session) stopClock() {
	if s.clock != nil {
		s.clock.Stop()
	}
}

// state is the session's state as the contract names it.
func (s *Session) state() string {
	switch {
	case s.phase == starting:
		return "starting"
	case s.phase == authRequired:
		return "auth_required"
	case s.phase == dead:
		return "dead"
	case s.permission.Waiting()+s.questions.Waiting() > 0:
		return "requires_action"
	case !s.prompts.Idle(), s.events.Ending(): // the chat may not show all of it
		return "running"
	}
	return "idle"
}

// saveBlob gives the file in which what the agent sent, in base64, is to be found soon; "" where it cannot be saved.
func (s *Session) saveBlob(mimeType, data string) string {
	return s.host.blobs.Save(mimeType, data, func(err error) {
		s.base.Box.Put(func() { s.remark("warning", fmt.Sprintf("A file of %s could not be saved: %v.", s.base.Title, err)) })
	})
}
