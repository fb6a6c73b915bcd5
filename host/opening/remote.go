package opening

import "github.com/acp-nvim/acp-nvim/host/history"

// remote is who the session is to its agent.
type remote struct {
	id       string // the agent's name of the session, while it is open there
	stored   string // the agent's name of it, to take it up again
	own      bool   // it was made here, not taken up
	retold   bool   // what was said in it is in the chat already
	skipping bool   // what the agent tells is a replay of that

	fork     *Fork // what it is to be made from; nil for none, or once it is made
	archived bool  // the agent has it archived

	replay *history.Replay // what the agent tells is compared with that
}

// Fork is what a session is made from: another one as it is, or as it was.
type Fork struct {
	Session int    // its id in this Neovim
	ID      string // the agent's
	After   string // the agent's id of the last message that the new one has too; "" for all of them
	Title   string
	Past    []history.Said // what was said until then, as far as it is kept
}

// made is told that the agent has made the session that is open now.
func (r *remote) made() { r.stored, r.own, r.retold = r.id, true, false }

// resumed is told that the agent has taken up the stored one.
func (r *remote) resumed() { r.own, r.retold = false, false }

// forked is told that the agent has made it from another one.
func (r *remote) forked() {
	r.stored, r.fork = r.id, nil
	r.resumed()
}

// Again is told that the session is to be opened once more; said reports whether the chat shows something of the
// conversation.
func (r *remote) Again(said bool) {
	switch {
	case said:
		r.retold = r.stored != ""
	case r.own:
		r.stored = "" // there is nothing in it to remember
	}
}
