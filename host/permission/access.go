package permission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/fileaccess"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has the agent's reads and writes through its client. Everything about one is decided here, in the order of
// rs.files, before it reaches the buffers.

// fileRequest is a read or write by the agent. It belongs to the decision until that is made, then to the reader or
// writer.
type fileRequest struct {
	ctx     context.Context  // its end withdraws the request
	kind    session.ToolKind // read or edit
	path    string           // absolute, as the agent named it
	text    *string          // for a write, what it writes
	decided func(error)      // told, on any goroutine, that it is granted, or why not

	// For a granted write:
	reviewed *preview // what the user was shown, if they decided about it
	own      *ownText // what they want instead of the agent's text
}

// ErrNotAllowed is the error of a read or write that the user did not allow, or not as the agent wanted it. The user
// knows.
var ErrNotAllowed = errors.New("the user did not allow it")

// Read takes a read of the agent. Any goroutine.
func (rs *Requests) Read(r session.ReadTextFile) {
	path, _ := rs.base.Absolute(r.Path) // which refuses what is no path
	rs.config.Asks()
	f := &fileRequest{ctx: r.Context, kind: session.KindRead, path: path}
	rs.files.Add(fileaccess.Request{
		Context: r.Context, Path: path, Reads: true,
		Decide: func(real string, decided func(error)) { rs.decideAccess(f, real, decided) },
		Do:     func(real string) { rs.readFile(f, real, r) },
		Fail:   func(err error) { r.Reply("", &buffers.Error{Verb: "read", Path: path, Err: err}) },
	})
}

// readFile carries out a granted read.
func (rs *Requests) readFile(f *fileRequest, real string, r session.ReadTextFile) {
	rs.config.Reads(r)
	learnt := false
	rs.base.Files.Read(f.ctx, buffers.Read{
		Path: f.path, Real: real, Line: r.Line, Limit: r.Limit,
		Whole: func(text string) {
			rs.config.Known.LearnText(real, text)
			learnt = true
		},
	}, func(text string, err error) {
		if err == nil && !learnt {
			rs.config.Known.Learn(f.path, false)
		}
		r.Reply(text, err)
	})
}

// Write takes a write of the agent. Any goroutine.
func (rs *Requests) Write(r session.WriteTextFile) {
	path, _ := rs.base.Absolute(r.Path) // which refuses what is no path
	f := &fileRequest{ctx: r.Context, kind: session.KindEdit, path: path, text: &r.Text}
	rs.files.Add(fileaccess.Request{
		Context: r.Context, Path: path,
		Decide: func(real string, decided func(error)) {
			rs.base.Files.Asked(real)
			rs.decideAccess(f, real, decided)
		},
		Do: func(real string) { rs.writeFile(f, real, r) },
		Fail: func(err error) {
			err = &buffers.Error{Verb: "write", Path: path, Err: err}
			r.Reply(err)
			rs.base.Box.Put(func() { rs.wrote(path, buffers.Written{}, err) })
		},
	})
}

// writeFile carries out a granted write, or the one that the user wants instead.
func (rs *Requests) writeFile(f *fileRequest, real string, r session.WriteTextFile) {
	if f.own != nil {
		rs.writeOwn(f, real, r.Reply)
		return
	}
	var once sync.Once
	reply := func(err error) { once.Do(func() { r.Reply(err) }) }
	write := buffers.Write{Path: f.path, Real: real, Text: *f.text, Waiting: func() { reply(nil) }}
	rs.base.Files.Write(f.ctx, write, func(w buffers.Written, err error) {
		reviewed := err == nil && w.Changed && f.reviewed.made(&w)
		if err == nil && w.Changed {
			rs.config.Took(w, "fs", reviewed)
		}
		if err == nil {
			rs.config.Known.LearnText(w.Path, *w.After)
		}
		if reviewed || w.Unsaved {
			rs.config.Noted(func() { reply(nil) }) // after a kill from now on it is accepted, and what the user typed is known
		} else {
			reply(err)
		}
		rs.base.Box.Put(func() { rs.wrote(f.path, w, err) })
		if err == nil {
			rs.config.Edits(f.path, w)
		}
	})
}

// decideAccess decides about a read or write of a real path, at once or by asking the user: by the policy and, for a
// write, by their review. It is called on a goroutine of its own.
func (rs *Requests) decideAccess(f *fileRequest, real string, decided func(error)) {
	f.decided = decided
	at := rules.Path{Given: f.path, Real: real}
	d := rs.FileAccess(f.kind, at)
	review := f.text != nil && rs.config.ReviewBefore()
	if d.Free && !review {
		f.decided(nil)
		return
	}
	if err := buffers.Obstacle(real, f.text != nil); err != nil {
		f.decided(err) // nothing to allow
		return
	}
	if review {
		rs.review(&pendingWrite{asked: f, at: at, access: d})
		return
	}
	rs.changeOf(f, real, func(change []session.ToolCallContent) {
		rs.decideOn(f, func() { rs.askForFile(f, at, d, change) })
	})
}

// decideOn continues the decision on the session's goroutine; a closed session refuses.
func (rs *Requests) decideOn(f *fileRequest, then func()) {
	if !rs.base.Box.Put(then) {
		f.decided(fmt.Errorf("%w: %w", ErrNotAllowed, feature.ErrClosed))
	}
}

// changeOf passes what a write would change to done; for a read that is nothing.
func (rs *Requests) changeOf(f *fileRequest, real string, done func([]session.ToolCallContent)) {
	if f.text == nil {
		done(nil)
		return
	}
	change := session.Diff{Path: f.path, NewText: f.text}
	switch info, err := os.Stat(real); {
	case errors.Is(err, fs.ErrNotExist):
		change.Operation = session.OperationAdd
	case err == nil && info.Size() <= diff.LargestFile:
		rs.base.Files.Peek(f.ctx, real, func(text string, err error) {
			if err == nil {
				change.OldText = &text
			}
			done([]session.ToolCallContent{change})
		})
		return
	}
	done([]session.ToolCallContent{change})
}

// askForFile asks whether a read or write is allowed, by a request of the client's own.
func (rs *Requests) askForFile(f *fileRequest, at rules.Path, d policy.Access, change []session.ToolCallContent) {
	verb, name := "read", styled.VisibleText(rs.base.Short(f.path))
	if f.text != nil {
		verb = "write"
	}
	reason := d.Reason(f.path, at.Real)
	p := &request{file: at}
	p.answer = func(optionID, by string) {
		allowed := slices.ContainsFunc(p.asked.Options, func(o session.PermissionOption) bool { return o.ID == optionID && o.Allows() })
		why := reason
		switch {
		case by == "rule":
			why = "the user has decided before"
			rs.config.RemarkOnce(fmt.Sprintf("%s: %s", p.asked.Title, styled.VisibleText(p.decision.Remark)))
		case !allowed && by == "user":
			rs.base.Remark("info", fmt.Sprintf("You did not let %s %s %s.", rs.base.Title, verb, name))
		case by == "cancel":
			rs.base.Remark("info", fmt.Sprintf("%s was not allowed to %s %s: the question was not answered.", rs.base.Title, verb, name))
		}
		if allowed {
			f.decided(nil)
		} else {
			f.decided(fmt.Errorf("%w, as %s", ErrNotAllowed, why))
		}
	}
	title := map[string]string{"read": "Read ", "write": "Write "}[verb] + name
	p.asked = session.PermissionRequest{Context: f.ctx, CancelsTurn: true, Title: title, Options: fileOptions(d)}
	if d.Outside || d.Private { // otherwise the rule says why
		p.asked.Description = strings.ToUpper(reason[:1]) + reason[1:] + "."
	}
	p.call = session.ToolCall{Title: name, Kind: f.kind, Content: change}
	if !rs.config.Ready() || rs.config.Stopping() {
		p.answer("", "cancel")
		return
	}
	rs.raise(p)
}

// fileOptions returns the options of the client's own request. A lasting one applies to this file, agent and project.
func fileOptions(d policy.Access) []session.PermissionOption {
	all := []session.PermissionOption{
		{ID: "allow", Name: "Allow once", Kind: "allow_once"},
		{ID: "allow_always", Name: "Always allow this file in this project", Kind: "allow_always"},
		{ID: "reject", Name: "Refuse", Kind: "reject_once"},
		{ID: "reject_always", Name: "Always refuse this file in this project", Kind: "reject_always"},
	}
	if !d.Lasting {
		return []session.PermissionOption{all[0], all[2]}
	}
	return all
}

// wrote tells the user how a write ended. It is called on the session's goroutine.
func (rs *Requests) wrote(path string, w buffers.Written, err error) {
	switch {
	case errors.Is(err, ErrNotAllowed), errors.Is(err, context.Canceled): // already said, or withdrawn by the agent
	case err != nil:
		failed := &buffers.Error{Err: err}
		errors.As(err, &failed)
		rs.config.Alert("error",
			fmt.Sprintf("%s could not write %s: %v.", rs.base.Title, styled.VisibleText(rs.base.Short(path)), failed.Err),
			fmt.Sprintf("%s could not write %s: %v", rs.base.Title, filepath.Base(path), failed.Err))
	case w.Note != "":
		rs.config.Alert("warning", w.Note, w.Brief)
	}
	rs.base.Changed()
}
