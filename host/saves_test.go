package host

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A user whose pending changes cannot be saved is told so once, not at each attempt; the log has them all.
func TestPendingChangesThatCannotBeSaved(t *testing.T) {
	data := t.TempDir()
	must.Write(t, data, "records", "a file where the folder should be")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		for range 2 {
			about := saved.About{Agent: "puppet", Cwd: "/", ID: "x"}
			image, err := saved.Take(saved.Session{About: about, Record: review.New(1 << 20)}, nil)
			must.Do(t, err)
			w.saves.Write(about.Key(), image, func(int, error) {})
			w.settle()
		}
		check.Slice(t, w.nvim.take(), []string{"warning: pending changes are not saved: not a directory"}, "the user is told %q")
		check.Equal(t, strings.Count(w.log.String(), "not a directory"), 2, "the log has %d of two failures: %s", w.log.String())
	})
}
