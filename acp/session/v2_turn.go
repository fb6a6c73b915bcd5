package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// turnV2 is a prompt from the client. The answer to it only says that it was taken; the session's state says what the
// session is doing (specification: Prompt Lifecycle).
type turnV2 struct {
	done     func(StopReason, error)
	inserted bool            // the agent has placed it in the conversation
	taken    bool            // the prompt was answered
	ended    *v2.StateUpdate // the session became idle before that
}

// Prompt implements [Agent].
func (a *V2) Prompt(sessionID string, prompt []Content, done func(StopReason, error)) {
	id, t := wire.SessionID(sessionID), &turnV2{done: done}
	a.mu.Lock()
	a.turns[id] = t
	a.mu.Unlock()
	a.conn.Call(v2.MethodSessionPrompt, wire.PromptRequest{SessionID: id, Prompt: toBlocks(prompt)}, func(raw json.RawMessage, err error) {
		var r v2.PromptResponse
		err = decode(raw, err, &r)
		a.mu.Lock()
		t.taken = err == nil
		ended, inserted := t.ended, t.inserted
		a.mu.Unlock()
		switch {
		case RequestCancelled(err) && inserted:
			a.finish(id, t, StopCancelled, nil)
		case RequestCancelled(err):
			a.finish(id, t, "", fmt.Errorf("%w: %w", ErrNotTaken, err))
		case err != nil:
			a.finish(id, t, "", err)
		case ended != nil:
			a.idle(id, t, ended)
		}
	})
}

// finish ends a prompt, once.
func (a *V2) finish(id wire.SessionID, t *turnV2, reason StopReason, err error) {
	a.mu.Lock()
	open := a.turns[id] == t
	if open {
		delete(a.turns, id)
	}
	a.mu.Unlock()
	if open {
		t.done(reason, err)
	}
}

// abandon ends the prompts that the agent had taken when the connection ended.
func (a *V2) abandon(why error) {
	a.mu.Lock()
	turns := maps.Clone(a.turns)
	a.mu.Unlock()
	for id, t := range turns {
		a.finish(id, t, "", fmt.Errorf("the turn was not ended: %w", errors.Join(acp.ErrClosed, why)))
	}
}

// state handles the state of one of the user's sessions.
func (a *V2) state(id wire.SessionID, u *v2.StateUpdate) {
	a.mu.Lock()
	t, working := a.turns[id], a.working[id]
	idle := u.State == v2.StateIdle
	begins := t == nil && !working && u.State == v2.StateRunning
	switch {
	case begins && len(a.ahead[id]) > 0:
		begins, a.starting[id] = false, true
	case begins:
		a.working[id] = true
	case idle:
		delete(a.starting, id)
	}
	ends := idle && working
	switch {
	case ends:
		delete(a.working, id)
	case t != nil && !t.taken && idle:
		t.ended = u
	case t != nil && !idle:
		t.ended = nil // that belonged to what came before
	}
	taken := t != nil && t.taken
	a.mu.Unlock()

	if list, told := u.Background.Get(); told {
		a.client.Update(string(id), background(list))
	}
	switch {
	case begins:
		a.client.Works(string(id), OwnWork{})
	case idle && taken: // also for a prompt that joined the agent's own work
		a.idle(id, t, u)
	case ends:
		reason, err := stopV2(u)
		a.client.Works(string(id), OwnWork{Ended: true, StopReason: reason, Err: err})
	}
}

// idle ends a prompt with the state's reason.
func (a *V2) idle(id wire.SessionID, t *turnV2, u *v2.StateUpdate) {
	if n := u.Usage; n != nil {
		a.client.Update(string(id), TurnTokens{
			Total: n.TotalTokens, Input: n.InputTokens, Output: n.OutputTokens,
			Thought: n.ThoughtTokens, Read: n.CachedReadTokens, Written: n.CachedWriteTokens,
		})
	}
	reason, err := stopV2(u)
	a.finish(id, t, reason, err)
}

// stopV2 returns why a session became idle. Without a reason the turn has simply ended.
func stopV2(u *v2.StateUpdate) (StopReason, error) {
	switch {
	case u.StopReason == "":
		return StopEndTurn, nil
	case u.StopReason != v2.StopError:
		return StopReason(u.StopReason), nil
	case u.Error != nil:
		return "", u.Error
	}
	return "", errors.New("it does not say which")
}

// background translates what runs in the background of a session's turns.
func background(list []v2.Background) Background {
	var b Background
	for _, w := range list {
		switch {
		case w.ToolCallID != "":
			b.Calls = append(b.Calls, string(w.ToolCallID))
		case w.TerminalID != "":
			b.Terminals = append(b.Terminals, string(w.TerminalID))
		case w.SessionID != "":
			b.Calls = append(b.Calls, subagentCall(string(w.SessionID)))
		}
	}
	return b
}

// Cancel implements [Agent].
func (a *V2) Cancel(sessionID string) {
	// An error means that the connection has ended, which its owner learns anyway.
	_ = a.conn.Notify(v2.MethodSessionCancel, v2.CancelSessionNotification{SessionID: wire.SessionID(sessionID)})
}
