package editortools

import (
	"io"
	"log/slog"
	stdhttp "net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// webWorld is a server over http, and the tools of a session whose agent takes one.
type webWorld struct {
	server *Server
	grant  *Grant
	tools  *Tools
	entry  session.MCPServer
	hidden []string
	served sync.WaitGroup
}

// onTheWeb returns a server over http with the tools of a session in a folder.
func onTheWeb(t *testing.T, cwd string) *webWorld {
	t.Helper()
	w := &webWorld{}
	w.server = New(Config{
		Log: slog.New(slog.DiscardHandler), Background: w.served.Go, Connected: func() {},
		Hide:   func(_ string, values []string) { w.hidden = append(w.hidden, values...) },
		Unhide: func(_ string, values []string) { w.hidden = w.hidden[len(values):] },
	})
	w.server.Offer(rpc.EditorTools{Tools: []string{"read"}, Servers: true, Folder: t.TempDir(), Transport: http, Instructions: true})
	t.Cleanup(func() {
		w.server.Close()
		w.served.Wait()
	})
	var err error
	w.grant, err = w.server.Grant("agent")
	must.Do(t, err)
	w.tools = NewTools(feature.Base{Folder: folder.Folder{Cwd: cwd}}, &Caller{}, ToolsConfig{
		Grant: func() (*Grant, error) { return w.grant, nil },
		Info:  func() session.Info { return session.Info{HTTPServers: true} },
	})
	w.entry = w.tools.AddTo([]session.MCPServer{{Name: "other"}})[1]
	return w
}

// send sends a request without more than is in it, and returns the answer's status and text.
func (w *webWorld) send(t *testing.T, change func(*stdhttp.Request)) (status int, text string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	r, err := stdhttp.NewRequestWithContext(t.Context(), stdhttp.MethodPost, w.entry.URL, strings.NewReader(body))
	must.Do(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range w.entry.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	change(r)
	answer, err := stdhttp.DefaultClient.Do(r)
	must.Do(t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	must.Do(t, err)
	return answer.StatusCode, string(data)
}

// Over http only who has the token of an agent that runs is served, and no web page.
func TestWhoIsServedOverHTTP(t *testing.T) {
	w := onTheWeb(t, t.TempDir())
	const (
		alone = "refused: this is for agents of this Neovim alone\n"
		token = "refused: a token is needed\n"
		known = "refused: the token belongs to no running agent\n"
	)
	header := func(name, value string) func(*stdhttp.Request) {
		return func(r *stdhttp.Request) { r.Header.Set(name, value) }
	}
	for name, c := range map[string]struct {
		change func(*stdhttp.Request)
		status int
		says   string
	}{
		"a web page":       {header("Origin", "http://127.0.0.1"), stdhttp.StatusForbidden, alone},
		"a name for it":    {func(r *stdhttp.Request) { r.Host = "localhost:" + r.URL.Port() }, stdhttp.StatusForbidden, alone},
		"another path":     {func(r *stdhttp.Request) { r.URL.Path = "/" }, stdhttp.StatusForbidden, alone},
		"no token":         {func(r *stdhttp.Request) { r.Header.Del("Authorization") }, stdhttp.StatusUnauthorized, token},
		"another scheme":   {header("Authorization", "Basic "+w.grant.token), stdhttp.StatusUnauthorized, token},
		"another token":    {header("Authorization", "Bearer x"+w.grant.token), stdhttp.StatusUnauthorized, known},
		"the socket's way": {header("Authorization", w.grant.token), stdhttp.StatusUnauthorized, token},
	} {
		status, text := w.send(t, c.change)
		check.Equal(t, status, c.status, "%s is answered %d", name)
		check.Equal(t, text, c.says, "%s is told %q", name)
		check.Equal(t, w.tools.State(), "offered", "by %s the tools are %q", name)
	}
	status, text := w.send(t, func(*stdhttp.Request) {})
	check.Equal(t, status, stdhttp.StatusOK, "the agent is answered %d: %s", text)
	check.Contains(t, text, `"enum":["error","warning","info","hint"]`, "it hears of the tools %s")
	check.Equal(t, w.tools.State(), "connected", "the tools are %q")

	w.grant.Revoke()
	status, text = w.send(t, func(*stdhttp.Request) {})
	check.Equal(t, status, stdhttp.StatusUnauthorized, "an agent that has ended is answered %d")
	check.Equal(t, text, known, "an agent that has ended is told %q")
	check.Slice(t, w.hidden, nil, "of its token stay %q hidden")
}

// bearer adds a grant's token to the requests of a client.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *stdhttp.Request) (*stdhttp.Response, error) {
	r.Header.Set("Authorization", b.token)
	return stdhttp.DefaultTransport.RoundTrip(r)
}

// An agent's client lists and calls the tools over http, as over the socket; no call outlives the server.
func TestToolsOverHTTP(t *testing.T) {
	w := onTheWeb(t, t.TempDir())
	transport := &mcp.StreamableClientTransport{
		Endpoint: w.entry.URL, HTTPClient: &stdhttp.Client{Transport: bearer{w.entry.Headers[0].Value}}, DisableStandaloneSSE: true,
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	must.Do(t, err)
	list, err := client.ListTools(t.Context(), nil)
	must.Do(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	check.Contains(t, strings.Join(names, " "), "read_buffer", "it has the tools %s")
	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "open_files"})
	must.Do(t, err)
	check.Equal(t, r.Content[0].(*mcp.TextContent).Text, errNoTurn.Error(), "without a turn it is told %q")
	check.Equal(t, w.tools.Instructions(), instructions, "the model is told %q")

	for takesHTTP, want := range map[bool]string{true: http, false: "stdio"} {
		entry, err := w.grant.Entry("/p", session.Info{StdioServers: true, HTTPServers: takesHTTP})
		must.Do(t, err)
		check.Equal(t, entry.Type, want, "an agent gets the server over %s")
	}

	w.server.Close()
	w.served.Wait()
	if w.grant.ctx.Err() == nil {
		t.Error("the agent has the tools of a server that has ended")
	}
	if g, err := w.server.Grant("other"); g != nil || err != nil {
		t.Errorf("an agent that begins then gets %v, %v", g, err)
	}
}

// A user whose agent takes the tools only in trusted folders hears so once, unless it has started them.
func TestAnAgentThatTrustsNoFolder(t *testing.T) {
	for name, c := range map[string]struct {
		agent   string
		came    bool
		without bool // the tools
		told    int
	}{
		"it trusts none":  {agent: "gemini-cli", told: 1},
		"it has started":  {agent: "gemini-cli", came: true},
		"it has none":     {agent: "gemini-cli", without: true},
		"it is no gemini": {agent: "codex"},
	} {
		_, g := serving(t, t.TempDir(), func(f func()) { go f() })
		if c.without {
			g = nil
		}
		var said []string
		base := feature.Base{Title: "Gemini", Folder: folder.Folder{Cwd: "/p"}, Remark: func(severity, text string) {
			said = append(said, severity+": "+text)
		}}
		tools := NewTools(base, &Caller{}, ToolsConfig{
			Grant: func() (*Grant, error) { return g, nil },
			Info:  func() session.Info { return session.Info{Name: c.agent, StdioServers: true} },
		})
		tools.AddTo(nil)
		if c.came {
			g.noteCame("/p")
		}
		tools.TellUntrusted()
		tools.TellUntrusted()
		want := []string{"info: Gemini has not started the editor's tools: it takes MCP servers only in folders that it trusts.\n" +
			"Run gemini here once and trust the folder, then :Acp restart. :help acp-editor-tools"}
		check.Slice(t, said, want[:c.told], name+": the user is told %q")
	}
}
