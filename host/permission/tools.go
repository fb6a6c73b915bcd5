package permission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/fileaccess"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has what the editor's tools ask for: to see a file, to run something, and to change files. The agent does
// not ask for these itself, or its question is answered already.

// Allow says whether the agent may see a file, by its policy or by asking; done hears, once and on any goroutine, the
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

// AskTool asks whether a tool may do what it is for. done hears, once and on any goroutine, that it may, or why not. Any
// goroutine.
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

// raiseTool has a question of the editor's wait, where somebody may answer it.
func (rs *Requests) raiseTool(p *request) {
	if !rs.config.Ready() || rs.config.Stopping() {
		p.answer("", "cancel")
		return
	}
	rs.raise(p)
}

// answerTool is what becomes of the user's answer to a question of the editor's.
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

// Edit is the text that a file is to have.
type Edit struct{ Path, Text string }

// edited is an edit on its way.
type edited struct {
	Edit
	real   string
	before *string // the text that the edit was made for; nil where there is no file
}

// Change makes edits that belong together, after one question about all of them: as writes of the agent's, so that they
// are hunks to review, a step to undo in each file. done hears, once and on any goroutine, which files are changed, or why
// not all of them are. Any goroutine.
func (rs *Requests) Change(ctx context.Context, title string, edits []Edit, done func(changed []string, err error)) {
	rs.base.Background(func() {
		all := make([]edited, len(edits))
		var waiting sync.WaitGroup
		for i, e := range edits {
			all[i].Edit = e
			real, err := buffers.RealPath(e.Path)
			if err == nil {
				err = buffers.Obstacle(real, true)
			}
			if err != nil {
				done(nil, &buffers.Error{Verb: "write", Path: e.Path, Err: err})
				return
			}
			all[i].real = real
			if _, err := os.Stat(real); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			waiting.Add(1)
			rs.base.Files.Peek(ctx, real, func(text string, err error) {
				if err == nil {
					all[i].before = &text
				}
				waiting.Done()
			})
		}
		waiting.Wait()
		all = slices.DeleteFunc(all, func(e edited) bool { return e.before != nil && *e.before == e.Text })
		switch {
		case ctx.Err() != nil:
			done(nil, context.Cause(ctx))
		case len(all) == 0:
			done(nil, nil)
		case !rs.base.Box.Put(func() { rs.askForEdits(ctx, title, all, done) }):
			done(nil, feature.ErrClosed)
		}
	})
}

// askForEdits asks about edits of several files at once.
func (rs *Requests) askForEdits(ctx context.Context, title string, all []edited, done func([]string, error)) {
	if len(all) > 1 {
		title += fmt.Sprintf(" in %d files", len(all))
	}
	p := &request{call: session.ToolCall{Title: title, Kind: session.KindEdit}}
	for _, e := range all {
		d := session.Diff{Path: e.Path, OldText: e.before, NewText: &e.Text}
		if e.before == nil {
			d.Operation = session.OperationAdd
		}
		p.call.Content = append(p.call.Content, d)
		p.call.Locations = append(p.call.Locations, session.Location{Path: e.Path})
	}
	p.asked = session.PermissionRequest{Context: ctx, CancelsTurn: true, Title: title, Options: []session.PermissionOption{
		{ID: "allow", Name: "Allow", Kind: "allow_once"},
		{ID: "reject", Name: "Refuse", Kind: "reject_once"},
	}}
	seen := false // by the user, whom a rule may have spared the question
	answer := rs.answerTool(p, "change "+styled.Many(len(all), "file"), func(err error) {
		if err != nil {
			done(nil, err)
			return
		}
		rs.makeEdits(ctx, all, seen && rs.config.ReviewBefore(), done)
	})
	p.answer = func(optionID, by string) {
		seen = by == "user"
		answer(optionID, by)
	}
	rs.raiseTool(p)
}

// makeEdits makes edits that are granted, each in its file's order, and tells when all are made. What the user has typed
// since they were computed is kept; what is reviewed already waits for no review.
func (rs *Requests) makeEdits(ctx context.Context, all []edited, reviewed bool, done func([]string, error)) {
	var mu sync.Mutex
	var changed []string
	var failed error
	left := len(all)
	made := func(path string, err error) {
		mu.Lock()
		if err != nil {
			failed = errors.Join(failed, err)
		} else {
			changed = append(changed, path)
		}
		left--
		last := left == 0
		mu.Unlock()
		if last {
			slices.Sort(changed)
			if failed != nil && len(changed) > 0 {
				failed = fmt.Errorf("%w; %s changed", failed, styled.Many(len(changed), "other file"))
			}
			done(changed, failed)
		}
	}
	for _, e := range all {
		rs.files.Add(fileaccess.Request{
			Context: ctx, Path: e.Path,
			Decide: func(real string, decided func(error)) {
				if real != e.real {
					decided(errors.New("the path leads elsewhere by now"))
					return
				}
				rs.base.Files.Asked(real)
				decided(nil)
			},
			Do: func(real string) {
				write := buffers.Write{Path: e.Path, Real: real, Text: e.Text, Base: e.before}
				rs.base.Files.Write(ctx, write, func(w buffers.Written, err error) {
					if err == nil && w.Changed {
						rs.config.Took(w, "fs", reviewed)
					}
					if err == nil {
						rs.config.Known.LearnText(w.Path, *w.After)
						rs.config.Edits(e.Path, w)
					}
					rs.base.Box.Put(func() { rs.config.Wrote(e.Path, w, err) })
					made(e.Path, err)
				})
			},
			Fail: func(err error) { made(e.Path, &buffers.Error{Verb: "write", Path: e.Path, Err: err}) },
		})
	}
}

// Listed reports whether a file may stand in a list that the agent gets: it is not private. It reads the disk; any
// goroutine.
func (rs *Requests) Listed(path string) bool {
	real, err := buffers.RealPath(path)
	return err == nil && !rs.FileAccess(session.KindRead, rules.Path{Given: path, Real: real}).Private
}

// letOurs answers the agent's question about a tool of the editor's, which asks the user by itself where that is needed.
func (rs *Requests) letOurs(p *request) {
	option, ok := policy.Choose(p.asked.Options, true)
	if !ok {
		rs.show(p)
		return
	}
	rs.resolve(p, option.ID, "rule")
}
