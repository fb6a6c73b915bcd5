package mcp

import (
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestResolve(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"SET": "value", "EMPTY": "", "API_KEY": "hush-hush"}[name]
		return value, ok
	}
	all, err := parse([]byte(`{"mcpServers":{
		"run":{"command":"${SET}/bin","args":["${EMPTY:-none}","${UNSET:-}","$SET","${API_KEY}"],"env":{"B":"${SET}","A":"1"}},
		"net":{"type":"streamable-http","url":"https://${SET}/"},
		"sse":{"type":"sse","url":"https://x/"},
		"unset":{"command":"x","env":{"A":"${UNSET}"}},
		"two":{"command":"x","url":"y"}, "none":{}, "odd":{"type":"ws","url":"x"},
		"ide":{"command":"x"}, "a/b":{"command":"x"}, "a__b":{"command":"x"},
		"plain":{"type":"stdio","command":"x"}, "":{"command":"x"}, "wrong":{"type":"http","command":"x"}
	}}`))
	must.Do(t, err)
	got := resolve(all, session.Info{StdioServers: true, HTTPServers: true}, lookup)
	want := []session.MCPServer{
		{Name: "net", Type: "http", URL: "https://value/"},
		{Name: "plain", Type: "stdio", Command: "x"},
		{Name: "run", Type: "stdio", Command: "value/bin", Args: []string{"none", "", "$SET", "hush-hush"}, Env: []session.Pair{{Name: "A", Value: "1"}, {Name: "B", Value: "value"}}},
	}
	check.Deep(t, got.servers, want, "got %+v")
	left := []string{"", "a/b", "a__b", "ide", "none", "odd", "sse", "two", "unset", "wrong"}
	for i, l := range got.left {
		if i >= len(left) || l.Name != left[i] || l.Why == "" {
			t.Errorf("%s is left out: %s", l.Name, l.Why)
		}
	}
	if len(got.left) != len(left) {
		t.Errorf("left out are %v", got.left)
	}
	for _, secret := range []string{"1", "value", "hush-hush"} {
		if !slices.Contains(got.secrets, secret) {
			t.Errorf("%s is not kept secret: %v", secret, got.secrets)
		}
	}
	check.Equal(t, describe("net", rpc.MCPServer{URL: "https://user:pass@host/path?key=1"}), "net (at host)",
		"the user is asked about %s")
}
