// Package mcp finds the MCP servers that a session gives to its agent: those of the configuration, and those of the
// project's .mcp.json if the user wants them.
package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// project is what a .mcp.json says.
type project struct {
	Servers map[string]struct {
		Type    string            `json:"type"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	} `json:"mcpServers"`
}

// parse reads a .mcp.json.
func parse(text []byte) (map[string]rpc.MCPServer, error) {
	var p project
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	servers := map[string]rpc.MCPServer{}
	for name, s := range p.Servers {
		servers[name] = rpc.MCPServer(s)
	}
	return servers, nil
}

// resolved is the servers as described to the agent.
type resolved struct {
	servers []session.MCPServer
	left    []rpc.LeftOut
	secrets []string // values that nobody else may see
}

// resolve prepares servers for an agent, in the order of their names: variables are expanded, and servers that it
// cannot take are left out, with the reason.
func resolve(all map[string]rpc.MCPServer, agent session.Info, lookup func(string) (string, bool)) resolved {
	var r resolved
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := expansion{lookup: lookup}
		s := e.server(name, all[name])
		r.secrets = append(r.secrets, e.secrets...)
		if why := cmp.Or(wrongName(name), wrong(all[name]), e.missing, unfit(s, agent)); why != "" {
			r.left = append(r.left, rpc.LeftOut{Name: name, Why: why})
			continue
		}
		r.servers = append(r.servers, s)
	}
	return r
}

// wrongName says why a server cannot have a name.
func wrongName(name string) string {
	switch {
	case name == "":
		return "it has no name"
	case strings.Contains(name, "__"), strings.Contains(name, "/"):
		return "its name has __ or /, which agents use in names of tools: choose another one"
	case name == "ide":
		return "agents already have a server of that name: choose another one"
	}
	return ""
}

// wrong says what is wrong with a server's entry.
func wrong(s rpc.MCPServer) string {
	switch {
	case s.Command == "" && s.URL == "":
		return "it has neither a command nor a url"
	case s.Command != "" && s.URL != "":
		return "it has both a command and a url"
	case kind(s) == "":
		return fmt.Sprintf("its type is %q: expected stdio, http or sse", s.Type)
	}
	return ""
}

// kind returns a server's type, "" for an unknown one.
func kind(s rpc.MCPServer) string {
	switch t := s.Type; {
	case s.Command != "" && (t == "" || t == "stdio"):
		return "stdio"
	case s.URL != "" && (t == "" || t == "http" || t == "streamable-http"):
		return "http"
	case s.URL != "" && t == "sse":
		return "sse"
	}
	return ""
}

// unfit says why an agent cannot take a server.
func unfit(s session.MCPServer, agent session.Info) string {
	switch {
	case s.Type == "stdio" && !agent.StdioServers:
		return "the agent runs no servers"
	case s.Type == "http" && !agent.HTTPServers:
		return "the agent reaches no servers over http"
	case s.Type == "sse" && !agent.SSEServers:
		return "the agent reaches no servers over sse"
	}
	return ""
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// secretName matches names of variables that hold secrets, wherever they are used.
var secretName = regexp.MustCompile(`(?i)key|token|secret|pass|auth|credential`)

// expansion puts the values of variables into a server's entry.
type expansion struct {
	lookup  func(string) (string, bool)
	missing string // names the first variable that is not set
	secrets []string
}

func (e *expansion) text(text string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		parts := variable.FindStringSubmatch(found)
		value, set := e.lookup(parts[1])
		switch {
		case set && (value != "" || parts[2] == ""):
			if secretName.MatchString(parts[1]) {
				e.secrets = append(e.secrets, value)
			}
			return value
		case parts[2] != "":
			return parts[3]
		}
		e.missing = cmp.Or(e.missing, parts[1]+" is not set in the environment")
		return ""
	})
}

func (e *expansion) pairs(all map[string]string) (list []session.Pair) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := e.text(all[name])
		e.secrets = append(e.secrets, value)
		list = append(list, session.Pair{Name: name, Value: value})
	}
	return list
}

func (e *expansion) server(name string, s rpc.MCPServer) session.MCPServer {
	server := session.MCPServer{
		Name: name, Type: kind(s), Command: e.text(s.Command), Env: e.pairs(s.Env), URL: e.text(s.URL), Headers: e.pairs(s.Headers),
	}
	for _, arg := range s.Args {
		server.Args = append(server.Args, e.text(arg))
	}
	return server
}

// describe describes a server in words, for the user to decide.
func describe(name string, s rpc.MCPServer) string {
	if s.URL == "" {
		return name + " (" + session.Quoted(append([]string{s.Command}, s.Args...)) + ")"
	}
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
		return name + " (at " + u.Host + ")"
	}
	return name + " (" + s.URL + ")"
}
