package session

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Words for the running turn are a prompt like any other in version 2: the agent takes it into the turn or holds it
// until the turn is over, and answers when it has a place in the conversation (specification: Prompt Lifecycle). Some
// agents have an extension for words that are only for this turn.

// aheadV2 is a prompt that was sent while a turn was running and is not inserted yet.
type aheadV2 struct {
	words string
	done  func(Steering, error)
}

// Steer implements [Agent].
func (a *V2) Steer(sessionID string, words []Content, done func(Steering, error)) {
	id := wire.SessionID(sessionID)
	if a.steering {
		a.inject(id, words, done)
		return
	}
	p := &aheadV2{words: NewPrompt(words).Text(), done: done}
	a.mu.Lock()
	a.ahead[id] = append(a.ahead[id], p)
	a.mu.Unlock()
	a.conn.Call(v2.MethodSessionPrompt, wire.PromptRequest{SessionID: id, Prompt: toBlocks(words)}, func(raw json.RawMessage, err error) {
		var r v2.PromptResponse
		switch err = decode(raw, err, &r); {
		case err == nil:
			a.insert(id, p)
		case !a.leave(id, p): // it has been inserted before
		case RequestCancelled(err):
			done(SteeringWithdrawn, nil)
		default:
			done(SteeringLeft, err)
		}
	})
}

// inject puts words into the running turn, using the extension for that.
func (a *V2) inject(id wire.SessionID, words []Content, done func(Steering, error)) {
	request := struct {
		SessionID wire.SessionID              `json:"sessionId"`
		Prompt    acp.List[wire.ContentBlock] `json:"prompt"`
		Meta      v1.SteeringMeta             `json:"_meta"`
	}{SessionID: id, Prompt: toBlocks(words)}
	request.Meta.Steering.IdleBehavior = "promptRequired"
	a.steer(request, done)
}

// leave removes a prompt from those that are not inserted, and reports whether it was one.
func (a *V2) leave(id wire.SessionID, p *aheadV2) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := slices.Index(a.ahead[id], p)
	if at < 0 {
		return false
	}
	a.ahead[id] = slices.Delete(a.ahead[id], at, at+1)
	return true
}

// insert reports, once, what happened to a prompt that now has its place in the conversation.
func (a *V2) insert(id wire.SessionID, p *aheadV2) {
	if !a.leave(id, p) {
		return
	}
	a.mu.Lock()
	begins := a.turns[id] == nil && !a.working[id]
	if begins {
		a.working[id] = true
		delete(a.starting, id)
	}
	a.mu.Unlock()
	if begins {
		p.done(SteeringBegan, nil)
	} else {
		p.done(SteeringTaken, nil)
	}
}

// begun checks whether an update says that a prompt is inserted or, if the session has just begun to run while prompts
// wait, that it runs with other work.
func (a *V2) begun(id wire.SessionID, u v2.SessionUpdate) {
	var message wire.MessageID
	var words string
	switch u := u.(type) {
	case *v2.StateUpdate:
		return
	case *v2.UserMessage:
		message, words = u.MessageID, NewPrompt(fromBlocks(u.Content.Or(nil))).Text()
	case *v2.UserMessageChunk:
		message, words = u.MessageID, NewPrompt([]Content{fromBlock(u.Content)}).Text()
	}
	a.mu.Lock()
	t, known := a.turns[id], message == "" || a.messages[id][message]
	var inserted *aheadV2
	switch {
	case known:
	case t != nil && !t.inserted: // the session is no longer idle, if it was
		t.inserted, t.ended = true, nil
	default:
		at := slices.IndexFunc(a.ahead[id], func(p *aheadV2) bool { return words != "" && strings.HasPrefix(p.words, words) })
		if at >= 0 {
			inserted = a.ahead[id][at]
		}
	}
	begins := inserted == nil && a.starting[id]
	if begins {
		delete(a.starting, id)
		a.working[id] = true
	}
	a.mu.Unlock()
	switch {
	case inserted != nil:
		a.insert(id, inserted)
	case begins:
		a.client.Works(string(id), OwnWork{})
	}
}
