package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/chat"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/events"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/freshness"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/permission"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Session is one conversation in this Neovim: its state, its chat, its open
// requests. One goroutine owns it, the one that runs its mailbox; whoever else
// wants something of it puts a function there.
type Session struct {
	id   int // unique in this Neovim
	host *Host
	spec AgentSpec
	base feature.Base

	// The fields below belong to the session's goroutine.

	phase   phase
	closed  bool   // nothing goes out any more, not even after a restart
	failure string // why the session is dead or needs a login
	agent   *agent // while the process lives
	died    *agent // whose end was the session's
	info    session.Info
	pending []*control // requests that the agent should answer soon

	remote remote
	login  login

	conv       *session.Conversation
	outbox     outbox            // the user's prompts, and whether a turn is open
	unsent     []session.Content // the prompt of the open turn, while it waits for the look at the folders
	permission *permission.Requests
	remarked   map[string]bool // what remarkOnce has said in this turn

	chat   *chat.Chat
	pages  draw.Pages
	shown  shown
	calls  *luastate.Calls
	events *events.Queue
	clock  *time.Timer

	terminals terminals
	ledger    *ledger.Ledger
	review    *reviewTab
	due       bool // the agent has changed something in this turn
	comments  comments
	lacks     ledger.Lack // what the copies of its folders leave out
	reminder  string      // what is to be said in the chat when the session is open
	diffs     *calldiff.Diffs
	unsaved   unsaved
	known     *freshness.Files
	traced    map[*session.ToolCall]traced // by the follower
	visible   atomic.Bool                  // a window shows the chat
	working   span                         // of the turn that runs, or the last one
	urgent    atomic.Bool                  // something must not wait for a hidden chat's turn
}

// phase is where a session is between its beginning and its end; whether a
// turn runs is apart from that, in the outbox.
type phase int

const (
	starting phase = iota
	authRequired
	ready
	dead
)

var errSessionClosed = errors.New("the session is closed")

func newSession(h *Host, id int, spec AgentSpec, cwd string) *Session {
	s := &Session{id: id, host: h, spec: spec, remarked: map[string]bool{}}
	s.calls = luastate.NewCalls()
	s.events = newEvents(s)
	s.base = feature.Base{
		Session: id, Agent: spec.Name, Title: spec.Title, Folder: folder.Folder{Cwd: cwd, Roots: []string{cwd}},
		Box: mailbox.New(), Editor: h.editor, Files: h.files, Log: h.log, Background: h.background,
		Remark: s.remark, Event: s.events.Add, Changed: s.changed,
	}
	s.conv = session.NewConversation(time.Now)
	s.pages = draw.New(s.base, s.mark)
	s.chat = chat.New(s.base, s.pages, s.conv, transcript.Config{
		Cwd: cwd, Now: time.Now, NerdFont: h.nerdFont, Terminal: s.terminals.screenful,
		Output: resolved, Resolve: resolvedLines, Save: s.save, Files: func(call *session.ToolCall) []*diff.File { return s.diffs.Shared(call) },
	})
	s.ledger = newLedger(s)
	s.diffs = newDiffs(s)
	s.known = newFreshness(s)
	s.permission = newPermission(s)
	s.review = newReviewTab(s)
	s.comments.told = map[string]bool{}
	s.shown = shown{
		session:   true,
		changes:   map[int]*rpc.ChangedFile{},
		terminals: map[*sessionTerminal]bool{},
	}
	return s
}

// die ends the session's life in its agent; what is shown stays.
func (s *Session) die(err error) {
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Sentence: err.Error()}
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
	s.leaveTerminals()
	if a := s.agent; a != nil {
		s.agent = nil
		s.apply(session.AgentGone{})
		s.dropControls()
		a.leave(s, s.remote.id)
	}
	s.remote.id = ""
}

func (s *Session) agentDied(a *agent, why *Failure) {
	if s.agent == a {
		s.die(why)
		s.died = a
		if !s.visible.Load() {
			a.mourned.Do(func() { s.base.Editor.Notify("error", why.brief(s.base.Title)+" :Acp restart starts it again.") })
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
	s.shown.session = true
	s.stopClock()
	s.ledger.Close()
	s.events.Add("AcpSessionClosed", nil)
	s.host.forgetSession(s)
	s.host.overlaps.forget(s)
	s.flush()
	s.terminals.each(func(t *sessionTerminal) { t.view.finish() })
	s.base.Box.Close()
}

// steer puts the user's words into the running turn, or sends them as a prompt
// where that cannot be.
func (s *Session) steer(words []session.Content) {
	plain, _ := withoutUnsaved(words)
	fitting, err := s.fit(plain)
	if err != nil || !s.info.Steers || s.phase != ready || !s.outbox.turnOpen() || s.unsent != nil {
		s.queueInstead(words)
		return
	}
	s.agent.Steer(s.remote.id, fitting, func(taken bool, err error) {
		s.base.Box.PutSlowly(func() {
			if !taken {
				s.queueInstead(words)
				s.proceed()
				return
			}
			s.apply(session.Steered{Words: fitting})
			s.changed()
		})
	})
}

// queueInstead sends words as a prompt that could not steer, and says so where they wait.
func (s *Session) queueInstead(words []session.Content) {
	s.outbox.instead(words)
	why := "cannot be steered"
	if s.info.Steers {
		why = "did not take them"
	}
	if s.outbox.working() {
		s.base.Editor.Notify("info", fmt.Sprintf("Your words wait in the queue: %s %s.", s.base.Title, why))
	}
}

// resume lets a paused queue go on.
func (s *Session) resume() {
	if s.phase == dead {
		s.base.Editor.Notify("warning", s.failure)
		return
	}
	s.outbox.resume()
	s.changed()
}

// proceed does what is to be done with the user's prompts. It is called
// whenever the user has done something with them, and when the agent may take
// one.
func (s *Session) proceed() {
	for {
		next, some := s.outbox.next(s.phase == ready)
		if !some {
			return
		}
		switch next.action {
		case sending:
			s.send(next.blocks)
		case sendingAgain:
			s.work(next.blocks)
		case steering:
			s.steer(next.blocks)
		case cancelling:
			s.cancel()
		case resuming:
			s.resume()
		case queueing:
			s.keptFromDead()
			s.changed()
		case editing:
			s.changed()
		}
	}
}

// keptFromDead says what becomes of a prompt that was sent before Neovim knew
// of the agent's death.
func (s *Session) keptFromDead() {
	if s.phase == dead {
		s.base.Editor.Notify("warning", s.failure+" Your prompt is kept.")
	}
}

// send begins a turn, or has what goes along fetched before.
func (s *Session) send(blocks []session.Content) {
	if _, room := withoutUnsaved(blocks); room > 0 {
		s.gather(blocks)
		return
	}
	s.begin(blocks, alongside{})
}

func (s *Session) begin(blocks []session.Content, along alongside) {
	blocks, err := s.fit(blocks)
	if err != nil {
		s.outbox.dropped()
		s.remark("error", err.Error()+".")
		return
	}
	if along.lost != "" {
		s.remark("warning", along.lost)
	}
	sent := slices.Concat(blocks, along.sent)
	s.outbox.opened()
	clear(s.remarked)
	s.working.begin()
	s.host.follow.turn(s.id, true)
	s.apply(session.TurnStart{Prompt: slices.Concat(blocks, along.shown), Sent: sent})
	s.events.Add("AcpTurnStart", map[string]any{"prompt": promptText(blocks)})
	s.tookAlong(along)
	s.startClock()
	s.changed()
	attempt := s.outbox.attempt
	s.unsent = sent
	s.ledger.BeginTurn(promptText(blocks), func() {
		s.base.Box.Put(func() {
			if s.unsent != nil && s.outbox.awaits(attempt) {
				s.work(s.unsent)
			}
		})
	})
}

// work makes the agent work on the prompt of the open turn.
func (s *Session) work(blocks []session.Content) {
	s.remote.skipping, s.unsent = false, nil
	attempt := s.outbox.attempt
	s.changed()
	s.agent.Prompt(s.remote.id, blocks, func(reason session.StopReason, err error) {
		s.base.Box.PutSlowly(func() {
			if s.outbox.awaits(attempt) {
				s.answered(blocks, reason, err)
			}
		})
	})
}

func (s *Session) answered(blocks []session.Content, reason session.StopReason, err error) {
	switch {
	case err == nil:
		s.endTurn(reason, "")
		s.proceed()
	case errors.Is(err, acp.ErrClosed):
		// The end of the process is told by agentDied.
	case session.AuthRequired(err):
		s.outbox.interrupt(blocks)
		s.needLogin()
	case s.outbox.stage == stopping && session.RequestCancelled(err):
		s.endTurn(session.StopCancelled, "")
		s.proceed()
	default:
		s.forgetSent()
		words, detail := explained(err)
		s.failTurn(&Failure{Sentence: fmt.Sprintf("%s answered with an error: %s", s.base.Title, words), Detail: detail})
		s.proceed()
	}
}

func (s *Session) endTurn(reason session.StopReason, why string) {
	s.closeTurn(session.TurnEnd{StopReason: reason, Error: why})
}

func (s *Session) failTurn(f *Failure) bool {
	return s.closeTurn(session.TurnEnd{StopReason: session.StopError, Error: f.Error(), Detail: f.Detail})
}

// closeTurn is the only way to end a turn. It reports whether one was open: else it does nothing.
func (s *Session) closeTurn(end session.TurnEnd) bool {
	if !s.outbox.turnOpen() {
		return false
	}
	s.permission.EndTurn()
	s.outbox.ended()
	s.unsent = nil
	s.working.end()
	s.host.follow.turn(s.id, false)
	s.apply(end)
	s.tellDue(false)
	s.stopClock()
	if end.StopReason == session.StopCancelled || end.StopReason == session.StopError {
		s.stopTerminals()
	}
	data := map[string]any{"stop_reason": string(end.StopReason)}
	if end.Error != "" {
		data["error"] = end.Error
	}
	s.events.AddEnd(s.ledger.EndTurn(s.working.over), data)
	s.changed()
	return true
}

// cancel ends the running turn. Queued prompts stay and wait for the user.
func (s *Session) cancel() {
	working := s.outbox.working()
	switch {
	case !working && s.giveUp():
		return
	case s.outbox.stage == interrupted:
		s.endTurn(session.StopCancelled, "")
		return
	case working:
		if s.unsent != nil {
			s.work(s.unsent)
		}
		s.outbox.stop()
		s.agent.Cancel(s.remote.id)
		s.apply(session.Cancelling{})
		s.permission.WithdrawAll("cancel")
		attempt := s.outbox.attempt
		s.later(slowAnswer, func() {
			if s.outbox.awaits(attempt) {
				s.remark("warning", s.base.Title+" has not ended the turn. :Acp restart starts it again.")
			}
		})
	}
	if waiting := s.outbox.pause(); waiting > 0 {
		s.remark("info", fmt.Sprintf("%s queued. Send an empty prompt to resume the queue.", styled.Many(waiting, "prompt")))
	}
	s.changed()
}

// update brings one of the agent's updates into the state.
func (s *Session) update(u session.Update) {
	if s.remote.skipping && session.Tells(u) {
		return
	}
	switch n := u.(type) {
	case session.TerminalPatch, session.TerminalChunk:
		s.updateTerminal(u)
		return
	case session.UnknownUpdate:
		if n.Reason != "" {
			s.base.Log.Warn("an update is left out", "session", s.id, "type", n.Type, "err", n.Reason)
		}
	case session.Notice:
		s.events.Add("AcpNotice", map[string]any{"severity": n.Severity, "title": n.Title, "description": n.Description})
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
	s.shown.session = true
	s.urgent.Store(true)
	s.mark() // more of them may come
}

func (s *Session) remark(severity, text string) {
	s.apply(session.Remark{Severity: severity, Text: text})
	s.changed()
}

// remarkFailure is remark for a failure, with what is behind its sentence.
func (s *Session) remarkFailure(severity string, f *Failure) {
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
		if s.outbox.turnOpen() {
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
	case s.permission.Waiting() > 0:
		return "requires_action"
	case s.outbox.stage != idle, s.events.Ending(): // the chat may not show all of it
		return "running"
	}
	return "idle"
}

func promptText(blocks []session.Content) string {
	var parts []string
	for _, b := range blocks {
		if t, ok := b.(session.Text); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}
