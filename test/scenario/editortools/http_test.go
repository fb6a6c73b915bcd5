package editortools

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// bearer sends requests with more headers.
type bearer http.Header

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range b {
		r.Header[name] = values
		if name == "Host" {
			r.Host = values[0]
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// An agent that takes servers by http gets the tools so where the user wants it; nobody else reaches them.
func TestByHTTP(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "one\n")
		s.Configure(`c.editor = { transport = 'http' }`)
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(obj{"agentCapabilities": obj{"mcpCapabilities": obj{"http": true}}})
		m := p.Expect("session/new")
		var told struct {
			Servers []struct {
				Name, Type, URL string
				Headers         []struct{ Name, Value string }
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal(m.Params, &told); err != nil || len(told.Servers) != 1 || told.Servers[0].Type != "http" {
			t.Fatalf("the agent is told of %s, %v", m.Params, err)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
		at, key := told.Servers[0].URL, told.Servers[0].Headers[0].Value
		turn := s.Prompt(p, "Look")
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: at, HTTPClient: &http.Client{Transport: bearer{"Authorization": {key}}}, DisableStandaloneSSE: true,
		}, nil)
		must.Do(t, err)
		t.Cleanup(func() { _ = session.Close() }) // the agent is gone by then
		says(t, session, "read_buffer", obj{"path": "a.txt"}, "lines 1 to 1 of 1:\none\n")
		id := p.Permission(obj{"toolCallId": "1", "title": "mcp__nvim__read_buffer", "kind": "other"}, scene.YesNo...)
		p.AwaitOutcome(id, "yes")
		ask := func(with bearer) int {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			must.Do(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			answer, err := with.RoundTrip(r)
			if err != nil {
				return 0
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			return answer.StatusCode
		}
		for _, test := range []struct {
			who  string
			with bearer
			want int
		}{
			{"the agent", bearer{"Authorization": {key}}, http.StatusOK},
			{"nobody", bearer{}, http.StatusUnauthorized},
			{"another", bearer{"Authorization": {key + "x"}}, http.StatusUnauthorized},
			{"a page", bearer{"Authorization": {key}, "Origin": {"http://" + strings.TrimPrefix(at, "http://")}}, http.StatusForbidden},
			{"a page by another name", bearer{"Authorization": {key}, "Host": {"example.com"}}, http.StatusForbidden},
		} {
			check.Equal(t, ask(test.with), test.want, "%s gets %d", test.who)
		}
		p.EndTurn(turn)
		p.Exit(1, "")
		s.AwaitState("dead")
		s.Await("the token to be of nobody", func() bool { return ask(bearer{"Authorization": {key}}) == http.StatusUnauthorized })
	})
}
