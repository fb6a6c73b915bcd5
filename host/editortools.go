package host

import (
	"context"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/permission"
)

// This file gives agents the editor's tools, and the tools what they need from sessions.

func newEditorTools(h *Host) *editortools.Server {
	return editortools.New(editortools.Config{
		Version: h.version, Log: h.log, Editor: h.editor, Background: h.background, Hide: h.secrets.Hide, Unhide: h.secrets.Unhide,
		Connected: func() { h.eachSession(func(s *Session) { s.base.Box.Put(s.view.Changed) }) },
	})
}

// grantTools gives the process the editor's tools, once; nil for none. Its error is that of the first try.
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

// newTools gives a session the editor's tools.
func newTools(s *Session) *editortools.Tools {
	return editortools.NewTools(s.base, newCaller(s), editortools.ToolsConfig{
		Info: func() session.Info { return s.info },
		Grant: func() (*editortools.Grant, error) {
			if s.agent == nil {
				return nil, nil
			}
			return s.agent.grantTools()
		},
		Note: func(patch session.ToolCallPatch) {
			s.conv.Apply(patch)
			s.recorder.Note(patch)
		},
	})
}

// newCaller returns a session as the editor's tools use it.
func newCaller(s *Session) *editortools.Caller {
	return &editortools.Caller{
		Base:    s.base,
		Read:    s.permission.Read,
		Allow:   s.permission.Allow,
		Private: s.permission.Private,
		Show: func(path string, line int) bool {
			s.tracer.Read(session.ReadTextFile{Path: path, Line: &line})
			return s.host.follow.Follows()
		},
		Locate: func(id string, at []session.Location) {
			s.base.Box.Put(func() {
				if call := s.conv.ToolCall(id); call != nil && len(call.Locations) == 0 {
					s.apply(session.ToolCallPatch{ID: id, Locations: acp.Set(at)})
					s.view.Mark()
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
		Pending: func(done func([]string)) {
			s.review.ListPending(func(files []string) map[string]bool { return s.permission.Private(files, nil) }, done)
		},
		Run: s.terminals.Run,
	}
}
