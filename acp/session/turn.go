package session

import "slices"

// This file has the turns of a conversation: what begins with one, what ends with it, and what outlives it.

func (c *Conversation) startTurn(u TurnStart) {
	c.Running, c.cancelled = true, false
	clear(c.plans)
	c.turnAt = c.now()
	c.turnCost, c.turnTokens = max(c.cost().Amount, c.pastCost), TurnTokens{}
	c.turn, c.turnCalls = c.turn+1, nil
	if u.Prompt != nil || u.Sent != nil {
		c.addPrompt(u.Prompt, u.Sent)
	}
}

// addPrompt shows the user's words. The agent may repeat them, or what it was sent instead.
func (c *Conversation) addPrompt(prompt, sent []Content) {
	m := NewPrompt(prompt)
	m.Started, m.Ended = c.now(), c.now()
	c.add(m)
	repeated := Message{}
	for _, b := range sent {
		repeated.append(b)
	}
	if sent == nil {
		repeated = *m
	}
	c.echo = echo{awaited: true, prompt: repeated.Text()}
}

// withdrawPrompt takes the prompt of the running turn out of the transcript.
func (c *Conversation) withdrawPrompt() {
	for at := len(c.Entries) - 1; at >= 0; at-- {
		if m, ok := c.Entries[at].(*Message); ok && m.Role == RoleUser {
			m.Parts = nil
			c.changed[at] = struct{}{}
			return
		}
	}
}

func (c *Conversation) endTurn(u TurnEnd) {
	c.cancelled = c.cancelled || u.StopReason == StopCancelled
	c.echo = echo{}
	c.Stop = u.StopReason
	c.closeMessage()
	c.abandonCalls()
	c.Running = false
	stop := &Stop{Reason: u.StopReason, Error: u.Error, Detail: u.Detail, Took: c.now().Sub(c.turnAt), Tokens: c.turnTokens}
	cost := c.cost()
	if c.pastCost > 0 && cost.Amount > 0 { // the first report since the session was resumed
		if cost.Amount < c.pastCost {
			c.turnCost = 0 // the agent counts from zero again
		}
		c.pastCost = 0
	}
	if cost.Amount > c.turnCost {
		stop.Cost = &Cost{Amount: cost.Amount - c.turnCost, Currency: cost.Currency}
	}
	c.add(stop)
}

// TakenUp says that everything so far was before the session was resumed: the agent may continue counting its cost, or
// start again.
func (c *Conversation) TakenUp() {
	c.pastCost = max(c.pastCost, c.cost().Amount)
	c.Usage = nil
}

// cost returns what the session has cost so far.
func (c *Conversation) cost() Cost {
	if c.Usage == nil || c.Usage.Cost == nil {
		return Cost{}
	}
	return *c.Usage.Cost
}

// abandonCalls marks the turn's unfinished calls, so that none spins for ever.
func (c *Conversation) abandonCalls() {
	slices.SortFunc(c.turnCalls, func(a, b *ToolCall) int { return a.at - b.at })
	for _, call := range c.turnCalls {
		c.abandon(call)
	}
}

func (c *Conversation) abandon(call *ToolCall) {
	if !call.Shown().Finished() && !c.inBackground(call) {
		call.abandoned = true
		if c.Running && c.cancelled {
			call.cancelled, call.had = true, call.Content
		}
		call.settle(c.now())
		c.touchCall(call.at)
	}
}

// GoesOn reports whether the call with this id, or what began it, runs in the background of the session's turns.
func (c *Conversation) GoesOn(id string) bool {
	call := c.ToolCall(id)
	return call != nil && c.inBackground(call)
}

// Behind returns how many things run in the background of the session's turns.
func (c *Conversation) Behind() int {
	n := len(c.background.Terminals)
	for _, id := range c.background.Calls {
		if at, known := c.calls[id]; !known || !c.Entries[at].(*ToolCall).Status.Finished() {
			n++ // the agent may not send the whole list again when one has ended
		}
	}
	return n
}

// inBackground reports whether a call, or what began it, goes on after its turn.
func (c *Conversation) inBackground(call *ToolCall) bool {
	for range len(c.Calls) { // an agent may tell of a circle
		if slices.Contains(c.background.Calls, call.ID) {
			return true
		}
		at, known := c.calls[call.Parent]
		if !known {
			return false
		}
		call = c.Entries[at].(*ToolCall)
	}
	return false
}
