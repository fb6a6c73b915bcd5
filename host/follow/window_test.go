package follow

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/followalong"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// The window passes over what cannot be shown, and goes on to where the agent is next; Neovim hears nothing of it.
func TestPlacesThatCannotBeShown(t *testing.T) {
	dir := t.TempDir()
	binary := must.Write(t, dir, "binary", "\x7fELF\x00\x00")
	synctest.Test(t, func(t *testing.T) {
		w := NewWindow(WindowConfig{Background: func(f func()) { go f() }})
		defer w.Close()
		w.Heard(rpc.FollowState{What: "on"})
		w.Begin(1)
		for i, path := range []string{binary, dir, binary} {
			w.See(followalong.Place{Session: 1, Path: path, Line: 1})
			time.Sleep(followalong.Rest + time.Millisecond)
			synctest.Wait()
			w.mu.Lock()
			check.Equal(t, w.jumps, i+1, "%d jumps were tried")
			w.mu.Unlock()
		}
		check.Equal(t, w.Follows(), true, "it follows: %v")
	})
}
