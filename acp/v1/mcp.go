package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// MCPServer tells the agent how to reach an MCP server: [*MCPServerStdio], [*MCPServerHTTP],
// [*MCPServerSSE] or [*Unknown]. See "Session Setup", "MCP Servers".
type MCPServer interface{ mcpServer() }

func (*MCPServerStdio) mcpServer() {}
func (*MCPServerHTTP) mcpServer()  {}
func (*MCPServerSSE) mcpServer()   {}
func (*Unknown) mcpServer()        {}

func init() {
	registerDefault("type", map[string]func() MCPServer{
		"http": func() MCPServer { return new(MCPServerHTTP) },
		"sse":  func() MCPServer { return new(MCPServerSSE) },
	}, func() MCPServer { return new(MCPServerStdio) }, func(u *Unknown) MCPServer { return u })
}

// MCPServerStdio is a server that the agent runs as a process. Every agent can.
type MCPServerStdio struct {
	Name    string                     `json:"name" wire:"required"`
	Command string                     `json:"command" wire:"required"`
	Args    acp.List[string]           `json:"args" wire:"required"`
	Env     acp.List[wire.EnvVariable] `json:"env" wire:"required"`
	Meta    json.RawMessage            `json:"_meta,omitzero" wire:"lenient,object"`
}

// MCPServerHTTP is a server behind HTTP. Needs the agent's capability.
type MCPServerHTTP struct {
	Name    string                    `json:"name" wire:"required"`
	URL     string                    `json:"url" wire:"required"`
	Headers acp.List[wire.HTTPHeader] `json:"headers" wire:"required"`
	Meta    json.RawMessage           `json:"_meta,omitzero" wire:"lenient,object"`
}

func (s MCPServerHTTP) MarshalJSON() ([]byte, error) {
	type body MCPServerHTTP
	return acp.EncodeVariant("type", "http", body(s))
}

// MCPServerSSE is a server behind server-sent events. Needs the agent's capability.
type MCPServerSSE struct {
	Name    string                    `json:"name" wire:"required"`
	URL     string                    `json:"url" wire:"required"`
	Headers acp.List[wire.HTTPHeader] `json:"headers" wire:"required"`
	Meta    json.RawMessage           `json:"_meta,omitzero" wire:"lenient,object"`
}

func (s MCPServerSSE) MarshalJSON() ([]byte, error) {
	type body MCPServerSSE
	return acp.EncodeVariant("type", "sse", body(s))
}
