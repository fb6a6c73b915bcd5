package permission

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/fileaccess"
	"github.com/acp-nvim/acp-nvim/host/policy"
)

// This file has what the editor's tools ask for: to see a file and to run something; edits.go has their changes. The
// agent does not ask for these itself, or its question has already been answered.

// Allow decides whether the agent may see a file, by the policy or by asking; done gets, once and on any goroutine, the
// file without links, or why not. Any goroutine.
func (rs *Requests) Allow(ctx context.Context, path string, done func(real string, err error)) {
	f := &fileRequest{ctx: ctx, kind: session.KindRead, path: path}
	rs.files.Add(fileaccess.Request{
		Context: ctx, Path: path, Reads: true,
		Decide: func(real string, decided func(error)) { rs.decideAccess(f, real, decided) },
		Do:     func(real string) { done(real, nil) },
		Fail:   func(err error) { done("", &buffers.Error{Verb: "read", Path: path, Err: err}) },
	})
}

// Tool is a tool of the editor's that is about to do something.
type Tool struct {
	Context   context.Context // its end withdraws the question
	Title     string
	Name      string          // "server/tool" as in rules; "" where Command says all
	Arguments json.RawMessage // of the tool
	Command   string          // that it runs, as one types it; or ""
}

// AskTool asks whether a tool may run. done is told, once and on any goroutine, that it may, or why not. Any goroutine.
func (rs *Requests) AskTool(t Tool, done func(error)) {
	ok := rs.base.Box.Put(func() {
		p := &request{call: session.ToolCall{Title: t.Title, Kind: session.KindExecute, RawInput: t.Arguments}}
		what := "run this"
		options := []session.PermissionOption{
			{ID: "allow", Name: "Allow once", Kind: "allow_once"},
			{ID: "allow_always", Name: "Always allow this command in this project", Kind: "allow_always"},
			{ID: "reject", Name: "Refuse", Kind: "reject_once"},
		}
		if t.Name != "" {
			server, tool, _ := strings.Cut(t.Name, "/")
			p.call.Kind, p.call.Name = session.KindOther, "mcp__"+server+"__"+tool
			what = "use " + tool
			options[1].Name = "Always allow this tool in this project"
		}
		p.asked = session.PermissionRequest{Context: t.Context, CancelsTurn: true, Title: t.Title, Command: t.Command, Options: options}
		p.command = policy.CommandOf(p.asked, &p.call, rs.base.Folder)
		p.answer = rs.answerTool(p, what, done)
		rs.raiseTool(p)
	})
	if !ok {
		done(feature.ErrClosed)
	}
}

// raiseTool makes a question of the editor's wait, if somebody can answer it.
func (rs *Requests) raiseTool(p *request) {
	if !rs.config.Ready() || rs.config.Stopping() {
		p.answer("", "cancel")
		return
	}
	rs.raise(p)
}

// answerTool returns the function that handles the user's answer to a question of the editor's.
func (rs *Requests) answerTool(p *request, what string, done func(error)) func(optionID, by string) {
	return func(optionID, by string) {
		allowed := slices.ContainsFunc(p.asked.Options, func(o session.PermissionOption) bool { return o.ID == optionID && o.Allows() })
		switch {
		case allowed:
			done(nil)
		case by == "rule":
			done(fmt.Errorf("%w, as the user has decided before", ErrNotAllowed))
		case by == "user":
			rs.base.Remark("info", fmt.Sprintf("You did not let %s %s.", rs.base.Title, what))
			done(ErrNotAllowed)
		default:
			done(fmt.Errorf("%w: the question was not answered", ErrNotAllowed))
		}
	}
}

// Private says which files may not be in lists that the agent gets, or not even be counted. It reads the disk; any
// goroutine.
func (rs *Requests) Private(listed, counted []string) map[string]bool {
	return rs.config.Policy().Private(policy.Request{
		Agent: rs.base.Agent, Cwd: rs.base.Cwd, Roots: rs.base.Roots, Session: rs.base.Session, Call: session.ToolCall{Kind: session.KindRead},
	}, listed, counted)
}

// letOurs answers the agent's question about a tool of the editor's, which asks the user itself if needed.
func (rs *Requests) letOurs(p *request) {
	option, ok := policy.Choose(p.asked.Options, true)
	if !ok {
		rs.show(p)
		return
	}
	rs.resolve(p, option.ID, "rule")
}
