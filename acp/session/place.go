package session

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Place is where a session works, and with what, whether it is new or resumed.
type Place struct {
	Cwd          string
	Directories  []string // besides; needs Info.Directories
	Servers      []MCPServer
	Prompt       SystemPrompt // needs Info.SystemPrompt
	Instructions string       // for the model, after the agent's own; needs Info.Instructions
}

// meta returns the `_meta` of a request that opens a session, in the form that some agents know: the instructions, and
// the message after which a session is forked.
func (at Place) meta(after string) json.RawMessage {
	type point struct {
		Version   int    `json:"version"`
		MessageID string `json:"messageId"`
	}
	said := map[string]any{}
	if at.Instructions != "" {
		said["systemPrompt"] = map[string]string{"append": at.Instructions}
	}
	if after != "" {
		said["jetbrains"] = map[string]any{"air": map[string]any{"fork": point{1, after}}}
	}
	if len(said) == 0 {
		return nil
	}
	raw, _ := json.Marshal(said) // cannot fail: numbers and texts
	return raw
}

// MCPServer tells the agent how to reach an MCP server (specification: Session Setup, MCP Servers).
type MCPServer struct {
	Name string
	Type string // "stdio", "http" or "sse", of which Info tells which the agent takes

	Command string // of stdio
	Args    []string
	Env     []Pair

	URL     string // of the others
	Headers []Pair
}

// Pair is a variable or a header. Its value is a secret.
type Pair struct{ Name, Value string }

func toServers(list []MCPServer) []v1.MCPServer {
	servers := make([]v1.MCPServer, len(list))
	for i, s := range list {
		var headers []wire.HTTPHeader
		for _, h := range s.Headers {
			headers = append(headers, wire.HTTPHeader{Name: h.Name, Value: h.Value})
		}
		switch s.Type {
		case "http":
			servers[i] = &v1.MCPServerHTTP{Name: s.Name, URL: s.URL, Headers: headers}
		case "sse":
			servers[i] = &v1.MCPServerSSE{Name: s.Name, URL: s.URL, Headers: headers}
		default:
			stdio := &v1.MCPServerStdio{Name: s.Name, Command: s.Command, Args: s.Args}
			for _, e := range s.Env {
				stdio.Env = append(stdio.Env, wire.EnvVariable{Name: e.Name, Value: e.Value})
			}
			servers[i] = stdio
		}
	}
	return servers
}

// toServersV2 leaves out servers of kinds that version 2 does not have.
func toServersV2(list []MCPServer) []v2.MCPServer {
	var servers []v2.MCPServer
	for _, s := range list {
		switch s.Type {
		case "http":
			http := &v2.MCPServerHTTP{Name: s.Name, URL: s.URL}
			for _, h := range s.Headers {
				http.Headers = append(http.Headers, wire.HTTPHeader{Name: h.Name, Value: h.Value})
			}
			servers = append(servers, http)
		case "stdio":
			stdio := &v2.MCPServerStdio{Name: s.Name, Command: s.Command, Args: s.Args}
			for _, e := range s.Env {
				stdio.Env = append(stdio.Env, wire.EnvVariable{Name: e.Name, Value: e.Value})
			}
			servers = append(servers, stdio)
		}
	}
	return servers
}
