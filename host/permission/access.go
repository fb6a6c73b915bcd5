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

// This file has the reads and writes of the agent through its client. All that is to be decided about one is decided
// here, in the order of rs.files, before the buffers hear of it.

// fileRequest is a read or write of the agent. Until it is decided it belongs to whoever decides, then to whoever reads
// or writes.
type fileRequest struct {
	ctx     context.Context  // its end withdraws the request
	kind    session.ToolKind // read or edit
	path    string           // absolute, as the agent named it
	text    *string          // of a write, what it writes
	decided func(error)      // hears, on any goroutine, that it is granted, or why not

	// Of a write that is granted:
	reviewed *preview // what the user was shown, if they have decided about it
	own      *ownText // what they want in place of the agent's text
}

// ErrNotAllowed is the error of a read or write that the user has not allowed, or not as the agent wanted it. They know.
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

// readFile makes a read that is granted.
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

// writeFile makes a write that is granted, or the one that the user wants in its place.
func (rs *Requests) writeFile(f *fileRequest, real string, r session.WriteTextFile) {
	if f.own != nil {
		rs.writeOwn(f, real, r.Reply)
		return
	}
	var once sync.Once
	reply := func(err error) { once.Do(func() { r.Reply(err) }) }
	write := buffers.Write{Path: f.path, Real: real, Text: *f.text, Waiting: func() { reply(nil) }}
	rs.base.Files.Write(f.ctx, write, func(w buffers.Written, err error) {
		reviewed := err == nil && w.Changed && f.reviewed.made(w)
		if err == nil && w.Changed {
			rs.config.Took(w, "fs", reviewed)
		}
		if err == nil {
			rs.config.Known.LearnText(w.Path, *w.After)
		}
		if reviewed || w.Unsaved {
			rs.config.Noted(func() { reply(nil) }) // a kill from then on finds it accepted, and knows what the user has typed
		} else {
			reply(err)
		}
		rs.base.Box.Put(func() { rs.wrote(f.path, w, err) })
		if err == nil {
			rs.config.Edits(f.path, w)
		}
	})
}

// decideAccess decides about a read or write of a real path, at once or by asking the user: by the policy, and about a
// write by their review before it. It is called on a goroutine of its own.
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

// decideOn goes on with the decision on the session's goroutine; a closed session refuses.
func (rs *Requests) decideOn(f *fileRequest, then func()) {
	if !rs.base.Box.Put(then) {
		f.decided(fmt.Errorf("%w: %w", ErrNotAllowed, feature.ErrClosed))
	}
}

// changeOf gives what a write would change to done; of a read that is nothing.
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

// askForFile asks whether a read or write may be, by a request of the client's own.
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
	if d.Outside || d.Private { // else the rule says why
		p.asked.Description = strings.ToUpper(reason[:1]) + reason[1:] + "."
	}
	p.call = session.ToolCall{Title: name, Kind: f.kind, Content: change}
	if !rs.config.Ready() || rs.config.Stopping() {
		p.answer("", "cancel")
		return
	}
	rs.raise(p)
}

// fileOptions are the options of the client's own request. A lasting one is about this file, agent and project.
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

// wrote tells the user what has come of a write. It is called on the session's goroutine.
func (rs *Requests) wrote(path string, w buffers.Written, err error) {
	switch {
	case errors.Is(err, ErrNotAllowed), errors.Is(err, context.Canceled): // was said, or the agent has withdrawn it
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
