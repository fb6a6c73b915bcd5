package replay

import (
	"encoding/json"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
)

// oneByOne moves prompts that were sent while a turn of their session ran to the end of that turn. A client with a
// queue sends them there: it would wait for the turn's end, and the replay for the prompt.
func oneByOne(steps []step) []step {
	prompts := map[string]string{} // requests that are not answered: their session, by id
	running := map[string]bool{}   // sessions
	waiting := map[string][]step{} // prompts, by session
	var ordered []step
	for _, s := range steps {
		if s.dir == acp.ClientToAgent && s.messages[0].method == v1.MethodSessionPrompt {
			id := s.messages[0].session()
			prompts[s.messages[0].key()] = id
			if running[id] {
				waiting[id] = append(waiting[id], s)
				continue
			}
			running[id] = true
		}
		ordered = append(ordered, s)
		if s.dir == acp.ClientToAgent {
			continue
		}
		for _, m := range s.messages {
			id, over := m.endOfTurn(prompts)
			if over && !slices.ContainsFunc(waiting[id], func(w step) bool { return w.messages[0].key() == m.key() }) {
				running[id] = len(waiting[id]) > 0
				if running[id] {
					ordered = append(ordered, waiting[id][0])
					waiting[id] = waiting[id][1:]
				}
			}
		}
	}
	return ordered
}

// endOfTurn reports whether a message from the agent ends a turn, and in which session: in version 1 the answer to a
// prompt does, in version 2 the session's state, or the refusal of a prompt.
func (m message) endOfTurn(prompts map[string]string) (session string, over bool) {
	var fields struct {
		Error  json.RawMessage `json:"error"`
		Result struct {
			StopReason string `json:"stopReason"`
		} `json:"result"`
		Params struct {
			Update struct {
				State      string `json:"state"`
				StopReason string `json:"stopReason"`
			} `json:"update"`
		} `json:"params"`
	}
	_ = json.Unmarshal(m.object, &fields) // what is malformed ends nothing
	if m.kind == response {
		id, ok := prompts[m.key()]
		return id, ok && (fields.Error != nil || fields.Result.StopReason != "")
	}
	return m.session(), fields.Params.Update.State == "idle" && fields.Params.Update.StopReason != ""
}

// session returns the session that a message is about, "" for none.
func (m message) session() string {
	var params struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(m.params, &params) // what is malformed is about none
	return params.SessionID
}
