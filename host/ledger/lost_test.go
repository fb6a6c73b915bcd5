package ledger

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// A file that the agent makes, and that is seen to be gone before it is seen where the agent has moved it, is still one
// that the agent has made.
func TestMovedOnBeforeItWasSeenThere(t *testing.T) {
	w := newWorld(t)
	was := w.tree()
	w.begin()
	w.write("n", "a1\n")
	w.call(session.KindEdit, func() {
		w.clientWrites("n", "a1\n", "a1\na2\n")
		w.move("n", "m")
	}, "n")
	w.end()
	if got, want := w.changes(), "added m -0,0+1,2\n"; got != want {
		t.Errorf("listed is %q, want %q", got, want)
	}
	w.decide(review.Reject, "")
	if got := w.tree(); got != was {
		t.Errorf("refused, there is %s, want %s", got, was)
	}
}
