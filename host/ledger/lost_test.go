package ledger

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
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
	check.Equal(t, w.changes(), "added m -0,0+1,2\n", "listed is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), was, "refused, there is %s")
}

// A file that is opened and typed into where the agent has moved it gets its permissions back with its path.
func TestPermissionsOfAMovedFileThatWasTypedInto(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.move("f", "n")
	w.sync()
	w.edit("n")
	w.types("n", func(text string) string { return text + "u\n" })
	w.chmod("n", 0o600)
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), "f 644 \"f1\\n\"", "refused, there is %s")
	check.Equal(t, w.sees("n"), "f1\nu\n", "the buffer, in which it is not saved, has %q")
}

// Of a file that the agent has made only what the user has typed there is left, beside its lines or in place of some:
// unsaved in its buffer, and then there is no file.
func TestOnlyUnsavedTextIsLeftOfAMadeFile(t *testing.T) {
	for n, undo := range []bool{false, true, false, false} {
		w := newWorld(t)
		was := w.tree()
		w.begin()
		w.clientWrites("n", "", "a1\na2\na3\n")
		w.edit("n")
		w.end()
		w.types("n", func(text string) string {
			if n == 2 {
				text = strings.TrimPrefix(text, "a1\na2\n")
			} else if n == 3 {
				text = ""
			}
			return "u\n" + text
		})
		if undo {
			must.Do(t, w.undo(false))
		} else {
			w.decide(review.Reject, "")
		}
		check.Equal(t, w.tree(), was, "with undo %v the disk has %s", undo)
		check.Equal(t, w.sees("n"), "u\n", "with undo %v the buffer has %q", undo)
	}
}
