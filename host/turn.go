package host

import (
	"errors"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/prompt"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// turn is what a session knows about its open turn, besides its prompts.
type turn struct {
	unsent []session.Content // the prompt, while it waits for the scan of the folders
	behind []func()          // what waits for it to be sent
	own    bool              // it is work that the agent began by itself
}

// steer puts the user's words into the running turn; done is called on the session's goroutine.
func (s *Session) steer(words []session.Content, done func(session.Steering)) {
	switch {
	case !s.info.Steers || s.phase != ready || !s.prompts.Working():
		done(session.SteeringLeft)
		return
	case s.turn.unsent != nil:
		s.turn.behind = append(s.turn.behind, func() { s.steer(words, done) })
		return
	}
	s.agent.speaks().Steer(s.opening.ID(), words, func(became session.Steering, err error) {
		s.base.Box.PutSlowly(func() {
			switch {
			case became == session.SteeringBegan && !s.prompts.TurnOpen():
				s.turn.own = true
				s.begin(prompt.Turn{Text: prompt.Text(words), Shown: words})
			case became == session.SteeringBegan, became == session.SteeringTaken:
				s.apply(session.Steered{Words: words})
				s.view.Changed()
			}
			done(became)
		})
	})
}

// begin opens a turn; its prompt is sent when the session's folders have been scanned.
func (s *Session) begin(t prompt.Turn) {
	s.prompts.Opened()
	s.tools.BeginTurn()
	s.remarks.BeginTurn()
	s.working.begin()
	s.host.follow.Begin(s.id)
	s.apply(session.TurnStart{Prompt: t.Shown, Sent: t.Sent})
	var data map[string]any
	if t.Shown != nil {
		data = map[string]any{"prompt": t.Text}
	}
	s.events.Add("AcpTurnStart", data)
	s.view.StartClock()
	s.view.Changed()
	attempt := s.prompts.Attempt()
	s.turn.unsent = t.Sent
	s.ledger.BeginTurn(t.Text, func() {
		s.base.Box.Put(func() {
			if s.turn.unsent != nil && s.prompts.Awaits(attempt) {
				s.work(s.turn.unsent)
			}
		})
	})
}

// work makes the agent work on the prompt of the open turn.
func (s *Session) work(blocks []session.Content) {
	s.opening.Prompted()
	s.turn.unsent = nil
	attempt := s.prompts.Attempt()
	s.view.Changed()
	s.agent.speaks().Prompt(s.opening.ID(), blocks, func(reason session.StopReason, err error) {
		s.base.Box.PutSlowly(func() {
			if s.prompts.Awaits(attempt) {
				s.answered(blocks, reason, err)
			}
		})
	})
	s.sent()
}

// sent runs what waits for the prompt of the open turn: it has been sent, or never will be.
func (s *Session) sent() {
	behind := s.turn.behind
	s.turn.behind = nil
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
		// The end of the process is reported by agentDied.
	case errors.Is(err, session.ErrNotTaken):
		s.notTaken()
	case session.AuthRequired(err):
		s.prompts.Interrupt(blocks)
		s.login.Need()
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
	s.base.Remark("info", s.base.Title+" had not taken your prompt: it waits in the queue.")
	s.prompts.Proceed()
}

func (s *Session) endTurn(reason session.StopReason, why string) {
	s.closeTurn(session.TurnEnd{StopReason: reason, Error: why})
}

func (s *Session) failTurn(f *failure.Failure) bool {
	return s.closeTurn(session.TurnEnd{StopReason: session.StopError, Error: f.Error(), Detail: f.Detail})
}

// closeTurn is the only way to end a turn. It reports whether one was open: otherwise it does nothing.
func (s *Session) closeTurn(end session.TurnEnd) bool {
	if !s.prompts.TurnOpen() {
		return false
	}
	s.tools.EndTurn()
	s.permission.EndTurn()
	s.questions.EndTurn()
	s.prompts.Ended()
	s.turn.unsent, s.turn.own = nil, false
	s.working.end()
	s.host.follow.End(s.id)
	s.apply(end)
	s.tools.TellUntrusted()
	s.review.TurnEnded()
	s.view.StopClock()
	if end.StopReason == session.StopCancelled || end.StopReason == session.StopError {
		s.terminals.Stop()
	}
	data := map[string]any{"stop_reason": string(end.StopReason)}
	if end.Error != "" {
		data["error"] = end.Error
	}
	s.events.AddEnd(s.ledger.EndTurn(s.working.over), data)
	s.view.Changed()
	s.sent()
	s.host.spare.turnEnded()
	return true
}

// cancel ends the running turn. Queued prompts stay and wait for the user.
func (s *Session) cancel() {
	working := s.prompts.Working()
	if len(s.prompts.SentAhead()) > 0 && !working && s.phase == ready {
		s.agent.speaks().Cancel(s.opening.ID())
	}
	switch {
	case !working && s.requests.GiveUp():
		return
	case s.prompts.Interrupted():
		s.endTurn(session.StopCancelled, "")
		return
	case working:
		if s.turn.unsent != nil {
			s.work(s.turn.unsent)
		}
		s.prompts.Stop()
		s.tools.EndTurn()
		s.agent.speaks().Cancel(s.opening.ID())
		s.apply(session.Cancelling{})
		s.permission.CancelTurn()
		s.questions.CancelTurn()
		attempt := s.prompts.Attempt()
		s.later(control.Slow, func() {
			if s.prompts.Awaits(attempt) {
				s.base.Remark("warning", s.base.Title+" has not ended the turn. :Acp restart starts it again.")
			}
		})
	}
	if waiting := s.prompts.Pause(); waiting > 0 {
		s.base.Remark("info", fmt.Sprintf("%s queued. Send an empty prompt to resume the queue.", styled.Many(waiting, "prompt")))
	}
	s.view.Changed()
}

// ownWork turns what the agent does without a prompt into a turn.
func (s *Session) ownWork(w session.OwnWork) {
	switch {
	case !w.Ended && !s.prompts.TurnOpen():
		s.turn.own = true
		s.begin(prompt.Turn{})
	case w.Ended && s.turn.own:
		s.answered(nil, w.StopReason, w.Err)
	}
}
