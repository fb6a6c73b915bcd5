package editortools

import (
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editortools/sentence"
	"github.com/acp-nvim/acp-nvim/host/feature"
)

// ToolsConfig is what the tools of one session need from it. The functions are called on its goroutine.
type ToolsConfig struct {
	Grant func() (*Grant, error)      // of the agent's process; nil for none
	Info  func() session.Info         // what the agent said of itself
	Note  func(session.ToolCallPatch) // applies a patch to the conversation and the history
}

// Tools are the editor's tools of one session. They belong to the session's goroutine.
type Tools struct {
	base   feature.Base
	config ToolsConfig
	caller *Caller
	grant  *Grant // nil if the agent has none
	told   bool   // the user was told why the agent does without them
}

// NewTools returns the tools of a session, whose agent has none yet. caller is the session to the tools.
func NewTools(base feature.Base, caller *Caller, config ToolsConfig) *Tools {
	return &Tools{base: base, caller: caller, config: config}
}

// AddTo adds the editor's MCP server to those for the session's agent, if it takes one.
func (t *Tools) AddTo(servers []session.MCPServer) []session.MCPServer {
	t.grant = nil
	info := t.config.Info()
	if !info.StdioServers && !info.HTTPServers {
		return servers
	}
	without := func(why any) []session.MCPServer {
		t.base.Remark("warning", fmt.Sprintf("%s works without the editor's tools: %v.", t.base.Title, why))
		return servers
	}
	g, err := t.config.Grant()
	switch taken := slices.ContainsFunc(servers, func(m session.MCPServer) bool { return m.Name == Name }); {
	case err != nil:
		return without(err)
	case g == nil:
		return servers
	case taken:
		return without("one of your MCP servers is called " + Name + " too")
	}
	entry, err := g.Entry(t.base.Cwd, info)
	if err != nil {
		return without(err)
	}
	t.grant = g
	return append(slices.Clone(servers), entry)
}

// Instructions returns what the model is told about the tools, "" for nothing.
func (t *Tools) Instructions() string {
	if t.grant == nil {
		return ""
	}
	return t.grant.Instructions()
}

// State says whether the agent has the tools: "connected", "offered", or "" for none.
func (t *Tools) State() string {
	switch {
	case t.grant == nil:
		return ""
	case t.grant.Came(t.base.Cwd):
		return "connected"
	}
	return "offered"
}

// Named sets the agent's id of the session.
func (t *Tools) Named(id string) {
	if t.grant != nil {
		t.grant.Named(id, t.caller)
	}
}

// BeginTurn says that a turn has begun.
func (t *Tools) BeginTurn() {
	if t.grant != nil {
		t.grant.Begin(t.caller)
	}
}

// EndTurn says that the turn has ended, or is being cancelled.
func (t *Tools) EndTurn() {
	if t.grant != nil {
		t.grant.End(t.caller)
	}
}

// Seen says that the agent has reported a tool call.
func (t *Tools) Seen(call string) {
	if t.grant != nil {
		t.grant.Seen(call, t.caller)
	}
}

// Leave says that the session is no longer the agent's.
func (t *Tools) Leave() {
	if t.grant != nil {
		t.grant.Forget(t.caller)
		t.grant = nil
	}
}

// TellUntrusted tells the user, once, why an agent has not started the tools, if it does not say so itself.
func (t *Tools) TellUntrusted() {
	if t.State() != "offered" || t.told || t.config.Info().Name != "gemini-cli" {
		return
	}
	t.told = true
	t.base.Remark("info", t.base.Title+" has not started the editor's tools: it takes MCP servers only in folders that it trusts.\n"+
		"Run gemini here once and trust the folder, then :Acp restart. :help acp-editor-tools")
}

// Ours reports whether a call is of one of our tools, which ask for permission themselves. The agent may have a server
// of that name from elsewhere: ours is the one that it started in the session's folder, with that tool.
func (t *Tools) Ours(call *session.ToolCall) bool {
	m, ok := call.MCP()
	return ok && m.Clear && m.Server == Name && t.has(m.Tool)
}

// NoteCall notes that a call is of one of our tools, so that it is described in our words, now and when the session is
// replayed, and keeps the arguments, which some agents send only while they ask for permission. A server of that name
// from elsewhere has none of our tools, see [Tools.Ours].
func (t *Tools) NoteCall(call *session.ToolCall) {
	tool, ok := sentence.Tool(call)
	if !ok || !call.Editor && !t.has(tool) {
		return
	}
	patch := session.ToolCallPatch{ID: call.ID, Editor: true}
	if m, _ := call.MCP(); len(call.RawInput) == 0 && len(m.Arguments) > 0 {
		patch.RawInput = acp.Set(m.Arguments)
	} else if call.Editor {
		return
	}
	t.config.Note(patch)
}

func (t *Tools) has(tool string) bool {
	return t.grant != nil && t.grant.Has(tool) && t.grant.Came(t.base.Cwd)
}
