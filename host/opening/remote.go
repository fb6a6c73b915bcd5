package opening

import "github.com/acp-nvim/acp-nvim/host/history"

// remote is the session's identity in its agent.
type remote struct {
	id       string // the agent's id of the session, while it is open there
	stored   string // the agent's id of it, to resume it by
	own      bool   // it was made here, not resumed
	retold   bool   // the chat already shows what was said in it
	skipping bool   // the agent is replaying that

	fork     *Fork // what it is forked from; nil for none, or once it is made
	archived bool  // the agent has it archived

	replay *history.Replay // compares what the agent replays
}

// Fork is what a session is forked from: another one as it is, or as it was.
type Fork struct {
	Session int    // its id in this Neovim
	ID      string // the agent's
	After   string // the agent's id of the last message that the new one has too; "" for all of them
	Title   string
	Past    []history.Said // what was said until then, as far as kept
}

// made notes that the agent has made the session that is now open.
func (r *remote) made() { r.stored, r.own, r.retold = r.id, true, false }

// resumed notes that the agent has resumed the stored one.
func (r *remote) resumed() { r.own, r.retold = false, false }

// forked notes that the agent has forked it from another one.
func (r *remote) forked() {
	r.stored, r.fork = r.id, nil
	r.resumed()
}

// Again prepares for opening the session once more; said says whether the chat shows any of the conversation.
func (r *remote) Again(said bool) {
	switch {
	case said:
		r.retold = r.stored != ""
	case r.own:
		r.stored = "" // there is nothing in it to resume
	}
}
