// Package editortools has scenarios about the editor as a tool of agents: a real MCP client, started as an agent would
// start it, calls the tools of a real Neovim.
package editortools

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

type obj = map[string]any

// entry is a server as the agent is told of it.
type entry struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Env     []struct {
		Name, Value string
	} `json:"env"`

	dir string // the session's folder, where agents start servers
}

// variables are the entry's, as those of an environment.
func (e entry) variables() (all []string) {
	for _, v := range e.Env {
		all = append(all, v.Name+"="+v.Value)
	}
	return all
}

// begin starts a session with the editor's tools, of which it returns the entry.
func begin(t *testing.T, s *scene.Scene, editor string) (*scene.Puppet, entry) {
	t.Helper()
	s.Configure(`c.editor = ` + editor)
	s.Command("Acp")
	p := s.Agent()
	p.Initialize(nil)
	return p, opened(t, s, p, 1)
}

// opened answers the agent's n-th session/new.
func opened(t *testing.T, s *scene.Scene, p *scene.Puppet, n int) entry {
	t.Helper()
	m := p.Expect("session/new")
	var got struct {
		Servers []entry `json:"mcpServers"`
	}
	must.Do(t, json.Unmarshal(m.Params, &got))
	if len(got.Servers) != 1 || got.Servers[0].Name != "nvim" {
		t.Fatalf("the agent is told of %+v", got.Servers)
	}
	p.Reply(m, obj{"sessionId": scene.SessionID(n)})
	s.AwaitEvent("AcpSessionReady")
	got.Servers[0].dir = s.Dir
	return got.Servers[0]
}

// connect starts the server as an agent does, with the SDK's own client.
func connect(t *testing.T, e entry) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(e.Command, e.Args...)
	cmd.Dir, cmd.Env = e.dir, append(os.Environ(), e.variables()...)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = session.Close() }) // its end may have been the server's
	return session
}

// answer is what a call of a tool has come to.
type answer struct {
	text   string
	failed bool
}

// start calls a tool in the background.
func start(ctx context.Context, c *mcp.ClientSession, tool string, args obj, meta obj) <-chan answer {
	got, own := make(chan answer, 1), mcp.Meta(maps.Clone(meta)) // to which the client adds
	go func() {
		r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args, Meta: own})
		if err != nil {
			got <- answer{err.Error(), true}
			return
		}
		var text strings.Builder
		for _, block := range r.Content {
			if b, ok := block.(*mcp.TextContent); ok {
				text.WriteString(b.Text)
			}
		}
		got <- answer{text.String(), r.IsError}
	}()
	return got
}

// says calls a tool, and checks what it answers.
func says(t *testing.T, c *mcp.ClientSession, tool string, args obj, want string) {
	t.Helper()
	if got := <-start(t.Context(), c, tool, args, nil); got.text != want || got.failed {
		t.Errorf("%s says (failed: %v)\n%s\nwanted\n%s", tool, got.failed, got.text, want)
	}
}

// fails calls a tool, and checks that it fails with a sentence that has a text in it.
func fails(t *testing.T, got answer, want string) {
	t.Helper()
	if !got.failed || !strings.Contains(got.text, want) {
		t.Errorf("the answer is (failed: %v) %q, wanted %q", got.failed, got.text, want)
	}
}
