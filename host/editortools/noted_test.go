package editortools

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A call is noted as one of the editor's tools if the agent has that tool and has started it in the session's folder, and
// once; the arguments are noted where the agent sends them apart.
func TestCallsOfOurToolsAreNoted(t *testing.T) {
	named := func(name string) session.ToolCall {
		return session.ToolCall{ID: "c", Kind: session.KindOther, Name: name}
	}
	titled := func(title, said string) session.ToolCall {
		return session.ToolCall{ID: "c", Kind: session.KindOther, Title: title,
			Content: []session.ToolCallContent{session.ContentItem{Content: session.Text{Text: said}}}}
	}
	known := func(c session.ToolCall) session.ToolCall {
		c.Editor = true
		return c
	}
	given := named("mcp__nvim__show")
	given.RawInput = json.RawMessage(`{"line":1}`)
	for _, c := range []struct {
		call session.ToolCall
		came string
		ours bool
		want string
	}{
		{named("mcp__nvim__show"), "/p", true, "c true "},
		{given, "/p", true, "c true "},
		{named("mcp__nvim__show"), "/q", false, ""},
		{named("mcp__nvim__show"), "", false, ""},
		{named("mcp__nvim__rename"), "/p", false, ""},
		{named("mcp__nvim__deploy"), "/p", true, "c true "},
		{named("mcp__other__show"), "/p", false, ""},
		{named("mcp__nvim__a__show"), "/p", false, ""},
		{named("show"), "/p", false, ""},
		{known(named("mcp__nvim__show")), "/p", true, ""},
		{known(named("mcp__nvim__gone")), "/q", false, ""},
		{titled("nvim_show", ""), "/p", false, "c true "},
		{titled("show (nvim MCP Server)", `{"line":2}`), "/p", false, `c true {"line":2}`},
		{known(titled("gone (nvim MCP Server)", `{"line":2}`)), "/q", false, `c true {"line":2}`},
	} {
		_, g := serving(t, t.TempDir(), func(f func()) { go f() })
		g.offer.Tools, g.offer.Own = []string{"read"}, []rpc.UserTool{{Name: "deploy"}}
		got := ""
		tools := NewTools(feature.Base{Folder: folder.Folder{Cwd: "/p"}}, &Caller{}, ToolsConfig{
			Grant: func() (*Grant, error) { return g, nil },
			Info:  func() session.Info { return session.Info{StdioServers: true} },
			Note:  func(p session.ToolCallPatch) { got += fmt.Sprint(p.ID, " ", p.Editor, " ", string(p.RawInput.Or(nil))) },
		})
		if tools.NoteCall(&c.call); got != "" && !c.call.Editor {
			t.Errorf("without the tools a call of %s%s is noted", c.call.Title, c.call.Name)
		}
		got = ""
		tools.AddTo(nil)
		if c.came != "" {
			g.noteCame(c.came)
		}
		tools.NoteCall(&c.call)
		of := fmt.Sprintf("%s%s of a server that was started in %q", c.call.Title, c.call.Name, c.came)
		check.Equal(t, got, c.want, "%s is noted as %q", of)
		check.Equal(t, tools.Ours(&c.call), c.ours, "that %s is ours is %v", of)
	}
}
