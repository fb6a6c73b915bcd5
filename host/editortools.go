package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/permission"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file gives agents the editor's tools, and the tools what they need of sessions.

func newEditorTools(h *Host) *editortools.Server {
	return editortools.New(editortools.Config{
		Version: h.version, Log: h.log, Editor: h.editor, Background: h.background, Hide: h.hide,
		Connected: func() { h.eachSession(func(s *Session) { s.base.Box.Put(s.changed) }) },
	})
}

// grantTools gives the process the editor's tools, once; nil for none. Its error is of the first try.
func (a *agent) grantTools() (*editortools.Grant, error) {
	if len(a.spec.Paths) > 0 {
		return nil, nil // it runs where our socket is not
	}
	a.granting.Do(func() {
		g, err := a.host.tools.Grant(a.spec.Name)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.grant, a.ungranted = g, err
		if a.phase == agentDead && g != nil {
			a.host.background(g.Revoke)
		}
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.grant, a.ungranted
}

// withTools are MCP servers for the session's agent with that of the editor, as far as it takes one.
func (s *Session) withTools(servers []session.MCPServer) []session.MCPServer {
	s.grant = nil
	if !s.info.StdioServers && !s.info.HTTPServers || s.agent == nil {
		return servers
	}
	g, err := s.agent.grantTools()
	switch taken := slices.ContainsFunc(servers, func(m session.MCPServer) bool { return m.Name == editortools.Name }); {
	case err != nil:
		s.remark("warning", fmt.Sprintf("%s works without the editor's tools: %v.", s.base.Title, err))
		return servers
	case g == nil:
		return servers
	case taken:
		s.remark("warning", fmt.Sprintf("%s works without the editor's tools: one of your MCP servers is called %s too.", s.base.Title, editortools.Name))
		return servers
	}
	entry, err := g.Entry(s.base.Cwd, s.info)
	if err != nil {
		s.remark("warning", fmt.Sprintf("%s works without the editor's tools: %v.", s.base.Title, err))
		return servers
	}
	s.grant = g
	return append(slices.Clone(servers), entry)
}

// toolsState says whether the agent has the editor's tools: "connected", "offered", or "" for none.
func (s *Session) toolsState() string {
	switch {
	case s.grant == nil:
		return ""
	case s.grant.Came(s.base.Cwd):
		return "connected"
	}
	return "offered"
}

// tellUntrusted says, once, why an agent has not started the editor's tools, of which it says nothing itself.
func (s *Session) tellUntrusted() {
	if s.grant == nil || s.grant.Came(s.base.Cwd) || s.untrusted || s.info.Name != "gemini-cli" {
		return
	}
	s.untrusted = true
	s.remark("info", s.base.Title+" has not started the editor's tools: it takes MCP servers only in folders that it trusts.\n"+
		"Run gemini here once and trust the folder, then :Acp restart. :help acp-editor-tools")
}

// isOurTool reports whether a call is of a tool of the editor's, which asks by itself what is to be asked. The agent may
// have a server of that name from elsewhere: ours is the one that it has started in the session's folder, with that tool.
func (s *Session) isOurTool(call *session.ToolCall) bool {
	m, ok := call.MCP()
	return ok && m.Clear && m.Server == editortools.Name && s.grant != nil && s.grant.Has(m.Tool) && s.grant.Came(s.base.Cwd)
}

func newCaller(s *Session) *editortools.Caller {
	return &editortools.Caller{
		Base:   s.base,
		Read:   s.permission.Read,
		Allow:  s.permission.Allow,
		Listed: s.permission.Listed,
		Show: func(path string, line int) bool {
			s.tracer.Read(session.ReadTextFile{Path: path, Line: &line})
			return s.host.follow.Follows()
		},
		Locate: func(id string, at []session.Location) {
			s.base.Box.Put(func() {
				if call := s.conv.ToolCall(id); call != nil && len(call.Locations) == 0 {
					s.apply(session.ToolCallPatch{ID: id, Locations: acp.Set(at)})
					s.mark()
				}
			})
		},
		Ask: func(q editortools.Question, done func(error)) {
			t := permission.Tool{Context: q.Context, Title: q.Title, Arguments: q.Arguments, Command: q.Command}
			if q.Tool != "" {
				t.Name = editortools.Name + "/" + q.Tool
			}
			s.permission.AskTool(t, done)
		},
		Change: func(ctx context.Context, title string, edits []editortools.ServerEdit, done func([]string, error)) {
			list := make([]permission.FileEdit, len(edits))
			for i, e := range edits {
				list[i] = permission.FileEdit(e)
			}
			s.permission.Change(ctx, title, list, done)
		},
		Pending: s.pending,
		Run:     s.runTask,
	}
}

// pending gives the changes that wait for the review, a line for each. Any goroutine.
func (s *Session) pending(done func([]string)) {
	s.ledger.Files(func(files []review.File) {
		var lines []string
		for _, f := range files {
			if f.State != review.Pending || !s.permission.Listed(f.Path) {
				continue
			}
			line := fmt.Sprintf("%s (%s)", s.base.Short(f.Path), f.Status)
			for _, h := range f.Hunks {
				if h.State == review.Pending {
					line += fmt.Sprintf(" line %d: +%d -%d;", max(h.NewStart, 1), h.NewCount, h.OldCount)
				}
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		done(lines)
	})
}

// runTask runs a command in a terminal that the user sees, and tells what it has printed and how it ended. It is killed
// when ctx ends. Any goroutine.
func (s *Session) runTask(ctx context.Context, argv []string, done func(output, exit string, err error)) {
	const keeps = 256 << 10 // bytes of its output
	create := session.CreateTerminal{Command: argv[0], Args: argv[1:], OutputByteLimit: keeps}
	create.Reply = func(id string, err error) {
		if err != nil {
			done("", "", err)
			return
		}
		s.base.Background(func() {
			t, err := s.terminals.Get(id)
			if err != nil {
				done("", "", err)
				return
			}
			exit, err := t.Wait(ctx)
			output := t.Output().Text
			t.Release() // which ends what still runs
			done(output, styled.OneLine(exit.String()), err)
		})
	}
	if !s.base.Box.Put(func() { s.terminals.Create(create) }) {
		done("", "", feature.ErrClosed)
	}
}
