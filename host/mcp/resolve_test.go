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
		"net":{"type":"streamable-http","url":"https://${SET}/","headers":{"X":"${SET}","A":"b"}},
		"sse":{"type":"sse","url":"https://x/"},
		"unset":{"command":"x","env":{"A":"${UNSET}"}},
		"two":{"command":"x","url":"y"}, "none":{}, "odd":{"type":"ws","url":"x"},
		"ide":{"command":"x"}, "a/b":{"command":"x"}, "a__b":{"command":"x"},
		"plain":{"type":"stdio","command":"x"}, "":{"command":"x"}, "wrong":{"type":"http","command":"x"}
	}}`))
	must.Do(t, err)
	got := resolve(all, session.Info{StdioServers: true, HTTPServers: true}, lookup)
	want := []session.MCPServer{
		{Name: "net", Type: "http", URL: "https://value/", Headers: []session.Pair{{Name: "A", Value: "b"}, {Name: "X", Value: "value"}}},
		{Name: "plain", Type: "stdio", Command: "x"},
		{Name: "run", Type: "stdio", Command: "value/bin", Args: []string{"none", "", "$SET", "hush-hush"}, Env: []session.Pair{{Name: "A", Value: "1"}, {Name: "B", Value: "value"}}},
	}
	check.Deep(t, got.servers, want, "got %+v")
	left := []rpc.LeftOut{
		{Name: "", Why: "it has no name"},
		{Name: "a/b", Why: "its name has __ or /, which agents use in names of tools: choose another one"},
		{Name: "a__b", Why: "its name has __ or /, which agents use in names of tools: choose another one"},
		{Name: "ide", Why: "agents already have a server of that name: choose another one"},
		{Name: "none", Why: "it has neither a command nor a url"},
		{Name: "odd", Why: `its type is "ws": expected stdio, http or sse`},
		{Name: "sse", Why: "the agent reaches no servers over sse"},
		{Name: "two", Why: "it has both a command and a url"},
		{Name: "unset", Why: "UNSET is not set in the environment"},
		{Name: "wrong", Why: `its type is "http": expected stdio, http or sse`},
	}
	check.Slice(t, got.left, left, "left out are %q")
	var unfit []string
	for _, l := range resolve(all, session.Info{SSEServers: true}, lookup).left {
		if l.Name == "net" || l.Name == "plain" || l.Name == "sse" {
			unfit = append(unfit, l.Name+": "+l.Why)
		}
	}
	check.Slice(t, unfit, []string{"net: the agent reaches no servers over http", "plain: the agent runs no servers"}, "left out are %q")
	for _, secret := range []string{"1", "value", "hush-hush"} {
		if !slices.Contains(got.secrets, secret) {
			t.Errorf("%s is not kept secret: %v", secret, got.secrets)
		}
	}
	for want, server := range map[string]rpc.MCPServer{
		"net (at host)":               {URL: "https://user:pass@host/path?key=1"},
		"net (not/a url)":             {URL: "not/a url"},
		"net (http://[)":              {URL: "http://["},
		"net (run)":                   {Command: "run"},
		"net (run -v 'of two words')": {Command: "run", Args: []string{"-v", "of two words"}},
	} {
		check.Equal(t, describe("net", server), want, "the user is asked about %s")
	}
}
