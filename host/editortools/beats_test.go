package editortools

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// An agent hears every 15 seconds that a call goes on, as some give one up of which they hear nothing for a minute; but
// not where it has not asked for that, nor after the call.
func TestLongCallsSayThatTheyGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		token any
		takes time.Duration
		want  int32
	}{
		"a short one":    {"1", 14 * time.Second, 0},
		"a long one":     {"1", 47 * time.Second, 3},
		"without asking": {nil, 47 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := &Grant{server: New(Config{Background: func(f func()) { go f() }})}
			server := mcp.NewServer(&mcp.Implementation{Name: "nvim", Version: "1"}, nil)
			server.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				defer g.beats(ctx, r)()
				time.Sleep(c.takes)
				return &mcp.CallToolResult{}, nil
			})
			var heard atomic.Int32
			client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { heard.Add(1) },
			})
			ours, theirs := mcp.NewInMemoryTransports()
			serving, err := server.Connect(t.Context(), ours, nil)
			must.Do(t, err)
			session, err := client.Connect(t.Context(), theirs, nil)
			must.Do(t, err)
			call := &mcp.CallToolParams{Name: "wait"}
			if c.token != nil {
				call.SetProgressToken(c.token)
			}
			if _, err := session.CallTool(t.Context(), call); err != nil {
				t.Fatal(name, err)
			}
			time.Sleep(time.Minute)
			check.Equal(t, heard.Load(), c.want, "%s: it is told %d times", name)
			must.Do(t, session.Close())
			must.Do(t, serving.Wait())
		})
	}
}
