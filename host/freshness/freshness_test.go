package freshness

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// noBuffers is a Neovim that shows no file.
type noBuffers struct{}

func (noBuffers) CallBuffers(context.Context, string, any, any) error { return nil }

// What a call has read or changed the agent knows as soon as that is done; what it has only found, or wanted, it does not.
func TestWhatCallsTeach(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	var work sync.WaitGroup
	defer work.Wait()
	box := mailbox.New()
	defer box.Close()
	work.Go(box.Run)
	watch := buffers.New(noBuffers{}).Watch(func(buffers.Written) {}, func(error) {})
	defer watch.Close()
	f := New(feature.Base{Folder: folder.Folder{Cwd: dir, Roots: []string{dir}}, Box: box}, func() *buffers.Watch { return watch })
	for _, c := range []struct {
		call  session.ToolCall
		stale bool
	}{
		{session.ToolCall{Kind: session.KindRead, Status: session.StatusCompleted}, false},
		{session.ToolCall{Kind: session.KindEdit, Status: session.StatusCompleted}, false},
		{session.ToolCall{Kind: session.KindSearch, Status: session.StatusCompleted}, true},
		{session.ToolCall{Kind: session.KindRead, Status: session.StatusFailed}, true},
		{session.ToolCall{Kind: session.KindEdit, Status: session.StatusInProgress}, true},
	} {
		path := must.Write(t, dir, "a.txt", "now\n")
		c.call.Locations = []session.Location{{Path: path}}
		stale := make(chan bool, 1)
		box.Put(func() {
			f.Note(path, Fingerprint("before\n"))
			f.LearnFrom(&c.call)
			f.Check(path, func(is bool) { stale <- is }) // looks at one file keep their order
		})
		check.Equal(t, <-stale, c.stale, "%s, %s: that the file has changed since is %v", c.call.Kind, c.call.Status)
	}
}
