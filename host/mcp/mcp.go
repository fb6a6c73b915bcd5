package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// projectFile is where a project names its servers, and maxProject how much of it is read.
const (
	projectFile = ".mcp.json"
	maxProject  = 1 << 20
)

// Config is what the servers need from their session.
type Config struct {
	Configured map[string]rpc.MCPServer         // of the configuration
	Ask        func(session.ElicitationRequest) // asks the user
	Policy     func() *policy.Policy            // has the lasting answers; nil at first. Any goroutine
	Hide       func(secrets []string)           // keeps values out of the logs
	Lookup     func(string) (string, bool)      // of the environment
}

// Servers are the MCP servers of a session. They belong to the session's goroutine.
type Servers struct {
	base    feature.Base
	config  Config
	refused string // the project's file that the user refused for this session
	left    []rpc.LeftOut
}

// New returns the servers of a session.
func New(base feature.Base, config Config) *Servers { return &Servers{base: base, config: config} }

// LeftOut returns the servers that the agent did not get, and why.
func (s *Servers) LeftOut() []rpc.LeftOut { return s.left }

// For finds the servers for an agent, and calls done with them on the session's goroutine, once the project's file is
// read and the user has decided whether it counts, which is asked once for each content. It ends with the context.
func (s *Servers) For(ctx context.Context, agent session.Info, done func([]session.MCPServer)) {
	s.base.Background(func() {
		text, err := readProject(filepath.Join(s.base.Cwd, projectFile))
		theirs, bad := map[string]rpc.MCPServer(nil), err
		if len(text) > 0 && err == nil {
			theirs, bad = parse(text)
		}
		allowed, known := false, true
		if rules := s.config.Policy(); len(theirs) > 0 && rules != nil {
			allowed, known = rules.ServersAllowed(s.base.Cwd, text)
		}
		s.base.Box.Put(func() {
			if bad != nil {
				s.base.Remark("warning", fmt.Sprintf("The MCP servers of %s are left out: %v.", projectFile, bad))
			}
			switch {
			case ctx.Err() != nil:
			case known && !allowed, s.refused == string(text):
				s.give(agent, nil, done)
			case known:
				s.give(agent, theirs, done)
			default:
				s.ask(ctx, text, theirs, func(use bool) {
					if !use {
						theirs = nil
					}
					s.give(agent, theirs, done)
				})
			}
		})
	})
}

func readProject(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxProject+1))
	if len(text) > maxProject {
		return nil, errors.New("it is too long")
	}
	return text, err
}

// give resolves the servers; those of the configuration override the project's of the same name.
func (s *Servers) give(agent session.Info, theirs map[string]rpc.MCPServer, done func([]session.MCPServer)) {
	all := maps.Clone(theirs)
	if all == nil {
		all = map[string]rpc.MCPServer{}
	}
	maps.Copy(all, s.config.Configured)
	r := resolve(all, agent, s.config.Lookup)
	s.config.Hide(r.secrets)
	for _, l := range r.left {
		if !slices.Contains(s.left, l) {
			s.base.Remark("warning", fmt.Sprintf("The MCP server %s is left out: %s.", styled.VisibleText(l.Name), l.Why))
		}
	}
	s.left = r.left
	s.base.Changed()
	done(r.servers)
}

// The answers to the question about a project's servers.
const (
	field  = "servers"
	always = "always"
	once   = "once"
	never  = "never"
)

// ask asks whether to use the project's servers: they run the project's commands, not the user's.
func (s *Servers) ask(ctx context.Context, text []byte, theirs map[string]rpc.MCPServer, done func(use bool)) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		names = append(names, describe(name, theirs[name]))
	}
	schema, _ := json.Marshal(map[string]any{ // which always encodes
		"type": "object", "required": []string{field},
		"properties": map[string]any{field: map[string]any{"type": "string", "enum": []string{always, once, never}}},
	})
	s.config.Ask(session.ElicitationRequest{
		Context: ctx, Asker: "acp-nvim",
		Message: fmt.Sprintf("The project's %s has MCP servers for %s to use: %s. Use them?",
			projectFile, s.base.Title, styled.Cut(strings.Join(names, ", "), 2000)),
		Form: &session.Form{Schema: schema, Fields: []session.FormField{{
			Name: field, Title: "MCP servers", Type: session.FieldChoice, Required: true,
			Choices: []session.Choice{
				{Value: always, Name: "Yes, until the file changes"}, {Value: once, Name: "Yes, in this session"},
				{Value: never, Name: "No, until the file changes"},
			},
		}}},
		Reply: func(a session.ElicitationAnswer) {
			s.base.Box.Put(func() {
				answer, _ := a.Content[field].(string)
				switch {
				case ctx.Err() != nil:
					return
				case a.Action != session.ElicitationAccept:
					s.refused = string(text)
				case answer == always, answer == never:
					s.keep(text, answer == always)
				}
				done(answer == always || answer == once)
			})
		},
	})
}

func (s *Servers) keep(text []byte, allow bool) {
	rules := s.config.Policy()
	s.base.Background(func() {
		if err := rules.KeepServers(s.base.Cwd, text, allow); err != nil {
			s.base.Box.Put(func() {
				s.base.Remark("warning", fmt.Sprintf("Your answer was not saved, so you will be asked again: %v.", err))
			})
		}
	})
}
