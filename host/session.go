// This file has a session, and how updates are applied to it. wiring.go puts it together, life.go begins and ends it,
// turn.go has its turns.

package host

import (
	"fmt"
	"time"

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
	"github.com/acp-nvim/acp-nvim/host/login"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/mcp"
	"github.com/acp-nvim/acp-nvim/host/opening"
	"github.com/acp-nvim/acp-nvim/host/options"
	"github.com/acp-nvim/acp-nvim/host/permission"
	"github.com/acp-nvim/acp-nvim/host/prompt"
	"github.com/acp-nvim/acp-nvim/host/providers"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/terminals"
	"github.com/acp-nvim/acp-nvim/host/view"
)

// Session is one conversation in this Neovim: the life of its agent's session, and a row of features, see wiring.go.
// One goroutine owns it, the one that runs its mailbox; everybody else puts a function there.
type Session struct {
	id   int // unique in this Neovim
	host *Host
	spec AgentSpec
	base feature.Base

	working span // of the running turn, or the last one. Any goroutine

	// The fields below belong to the session's goroutine. Those of its life, see life.go:

	phase   phase
	closed  bool   // nothing is sent any more, not even after a restart
	failure string // why the session is dead or needs a login
	reading bool   // it begins when the kept transcript has been read
	agent   *agent // while the process lives
	died    *agent // whose end was the session's
	info    session.Info

	// Of its conversation:

	conv      *session.Conversation
	recorder  *history.Recorder // keeps it
	titled    bool              // the user set its title
	turn      turn              // that is open
	malformed map[string]bool   // kinds of malformed updates that the log has
	lacks     ledger.Lack       // what the copies of its folders leave out

	// And the features:

	view       *view.View // what Neovim is told about all of them
	pages      draw.Pages // how the chat and the review are drawn
	chat       *chat.Chat
	calls      *luastate.Calls // the tool calls as Lua keeps them
	events     *events.Queue   // for the user's autocommands
	remarks    *remark.Remarks
	requests   *control.Requests // that the agent should answer soon
	login      *login.Login
	servers    *mcp.Servers
	tools      *editortools.Tools
	opening    *opening.Opening // and the session's identity in its agent
	options    *options.Options
	providers  *providers.Providers
	prompts    *prompt.Prompts      // and whether a turn is open
	permission *permission.Requests // and the agent's reads and writes through its client
	questions  *elicitation.Questions
	known      *freshness.Files // what the agent knows of files
	diffs      *calldiff.Diffs  // of tool calls, as they are in their files
	ledger     *ledger.Ledger   // the record of what the agent has changed
	review     *reviewui.Review // the user's view of it
	terminals  *terminals.Set
	tracer     *follow.Tracer // tells the following window where the agent works
}

// phase is where a session is between its beginning and its end; whether a turn is running is separate, in its prompts.
type phase int

const (
	starting phase = iota
	authRequired
	ready
	dead
)

// cancelCall ends one tool call, if the agent allows that.
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
		agent, can := s.agent.speaks().(session.Canceller)
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

// apply applies an update to the state, and notes for Lua and the events which tool calls it began, changed or ended.
func (s *Session) apply(u session.Update) {
	s.conv.Apply(u)
	s.recorder.Note(u)
	s.touched()
}

// touched handles the tool calls that changed in the conversation.
func (s *Session) touched() {
	for _, call := range s.conv.TakeTouched() {
		s.tools.NoteCall(call)
		began, ended := s.calls.Touch(call)
		if began {
			s.events.AddCall("AcpToolCall", call, nil)
		}
		if status := call.Shown(); ended {
			s.events.AddCall("AcpToolCallEnd", call, map[string]any{"status": string(status)})
			s.permission.CallEnded(call, status)
		}
		// Everything that depends on tool calls: the ledger of changes, the diffs, the follower, the terminals.
		s.ledger.Observe(call, s.prompts.TurnOpen() || s.working.recent())
		s.diffs.Observe(call)
		s.tracer.Observe(call)
		s.terminals.Observe(call)
	}
}

// bring applies one of the agent's updates.
func (s *Session) bring(u session.Update) {
	switch n := u.(type) {
	case session.TerminalPatch, session.TerminalChunk:
		s.terminals.Update(u)
		return
	case session.Background:
		s.terminals.Behind(n.Terminals)
	case session.ToolCallPatch:
		s.tools.Seen(n.ID)
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
		s.view.Mark() // nothing but the chat changes
		return
	}
	s.view.Changing()
}

// leftOut reports a malformed update: each in the traffic, and the first of a kind in the log.
func (s *Session) leftOut(u session.UnknownUpdate) {
	s.host.traffic.Agent(s.spec.Name).Note(u.Raw, u.Reason)
	if kind := u.Type + ": " + u.Reason; !s.malformed[kind] {
		if s.malformed == nil {
			s.malformed = map[string]bool{}
		}
		s.malformed[kind] = true
		s.base.Log.Warn("ignored an update", "session", s.id, "type", u.Type, "err", u.Reason)
	}
}

// later runs f on the session's goroutine after a time.
func (s *Session) later(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { s.base.Box.Put(f) })
}

// saveBlob returns the file that will soon contain what the agent sent in base64; "" if it cannot be saved.
func (s *Session) saveBlob(mimeType, data string) string {
	return s.host.blobs.Save(mimeType, data, func(err error) {
		s.base.Box.Put(func() {
			s.base.Remark("warning", fmt.Sprintf("A file of %s could not be saved: %v.", s.base.Title, err))
		})
	})
}
