package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/fileaccess"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has the reads and writes of agents through their client. All that is to be decided about one is decided
// here, in the order of s.access, before the buffers hear of it.

// fileRequest is what an agent wants of a file through its client. Until it is decided it belongs to whoever decides,
// then to the read or write.
type fileRequest struct {
	ctx     context.Context  // its end withdraws the request
	kind    session.ToolKind // read or edit
	path    string           // absolute, as the agent named it
	text    *string          // of a write, what it writes
	decided func(error)      // hears, on any goroutine, that it is granted, or why not

	// Of a write that is granted:
	reviewed *prospect // what the user was shown, where they have decided about it
	own      *ownText  // what they want in place of the agent's text
}

// errNotAllowed is what every answer to a request says that the user has not
// allowed.
var errNotAllowed = errors.New("the user did not allow it")

func (s *Session) readTextFile(r session.ReadTextFile) {
	path, _ := s.base.Absolute(r.Path) // what is no path is refused
	s.readsClient()
	f := &fileRequest{ctx: r.Context, kind: session.KindRead, path: path}
	s.access.Add(fileaccess.Request{
		Context: r.Context, Path: path, Reads: true,
		Decide: func(real string, decided func(error)) { s.decideAccess(f, real, decided) },
		Do:     func(real string) { s.readFile(f, real, r) },
		Fail:   func(err error) { r.Reply("", &buffers.Error{Verb: "read", Path: path, Err: err}) },
	})
}

// readFile does what an agent may read.
func (s *Session) readFile(f *fileRequest, real string, r session.ReadTextFile) {
	s.traceRead(r)
	learnt := false
	s.base.Files.Read(f.ctx, buffers.Read{
		Path: f.path, Real: real, Line: r.Line, Limit: r.Limit,
		Whole: func(text string) {
			s.learnText(f.path, text)
			learnt = true
		},
	}, func(text string, err error) {
		if err == nil && !learnt {
			s.learn(f.path, false)
		}
		r.Reply(text, err)
	})
}

func (s *Session) writeTextFile(r session.WriteTextFile) {
	path, _ := s.base.Absolute(r.Path) // what is no path is refused
	f := &fileRequest{ctx: r.Context, kind: session.KindEdit, path: path, text: &r.Text}
	s.access.Add(fileaccess.Request{
		Context: r.Context, Path: path,
		Decide: func(real string, decided func(error)) {
			s.base.Files.Asked(real)
			s.decideAccess(f, real, decided)
		},
		Do: func(real string) { s.writeFile(f, real, r) },
		Fail: func(err error) {
			err = &buffers.Error{Verb: "write", Path: path, Err: err}
			r.Reply(err)
			s.base.Box.Put(func() { s.wrote(path, buffers.Written{}, err) })
		},
	})
}

// writeFile does what an agent may write, or what the user wants in its place.
func (s *Session) writeFile(f *fileRequest, real string, r session.WriteTextFile) {
	if f.own != nil {
		s.writeOwn(f, real, r.Reply)
		return
	}
	var once sync.Once
	reply := func(err error) { once.Do(func() { r.Reply(err) }) }
	write := buffers.Write{Path: f.path, Real: real, Text: *f.text, Waiting: func() { reply(nil) }}
	s.base.Files.Write(f.ctx, write, func(w buffers.Written, err error) {
		if err == nil && w.Changed {
			s.ledger.Took(w, "fs", f.reviewed.made(w))
		}
		if err == nil {
			s.learnText(w.Path, *w.After)
		}
		reply(err)
		s.base.Box.Put(func() { s.wrote(f.path, w, err) })
		if err == nil {
			s.traceWrite(f.path, w)
		}
	})
}

// decideAccess decides about a request for a real path, at once or by a question to the user: by the policy of paths, and
// for a write by the review before it. It is called on a goroutine of its own.
func (s *Session) decideAccess(f *fileRequest, real string, decided func(error)) {
	f.decided = decided
	at := rules.Path{Given: f.path, Real: real}
	d := s.fileAccess(f.kind, at)
	review := f.text != nil && s.host.reviewBefore.Load()
	if d.Free && !review {
		f.decided(nil)
		return
	}
	if err := buffers.Obstacle(real, f.text != nil); err != nil {
		f.decided(err) // there is nothing to allow
		return
	}
	if review {
		s.hold(&held{request: f, at: at, access: d})
		return
	}
	s.preview(f, real, func(change []session.ToolCallContent) {
		s.decideOn(f, func() { s.askForFile(f, at, d, change) })
	})
}

// decideOn has what is decided about a request go on on the session's goroutine; where the session is closed it ends.
func (s *Session) decideOn(f *fileRequest, then func()) {
	if !s.base.Box.Put(then) {
		f.decided(fmt.Errorf("%w: %w", errNotAllowed, errSessionClosed))
	}
}

// preview gives what a write would change to done; nothing of a read.
func (s *Session) preview(f *fileRequest, real string, done func([]session.ToolCallContent)) {
	if f.text == nil {
		done(nil)
		return
	}
	change := session.Diff{Path: f.path, NewText: f.text}
	switch info, err := os.Stat(real); {
	case errors.Is(err, fs.ErrNotExist):
		change.Operation = session.OperationAdd
	case err == nil && info.Size() <= diff.LargestFile:
		s.base.Files.Peek(f.ctx, real, func(text string, err error) {
			if err == nil {
				change.OldText = &text
			}
			done([]session.ToolCallContent{change})
		})
		return
	}
	done([]session.ToolCallContent{change})
}

// askForFile puts a request before the user, as a question of our own.
func (s *Session) askForFile(f *fileRequest, at rules.Path, d policy.Access, change []session.ToolCallContent) {
	verb, name := "read", styled.VisibleText(s.base.Short(f.path))
	if f.text != nil {
		verb = "write"
	}
	reason := d.Reason(f.path, at.Real)
	p := &permission{file: at}
	p.answer = func(optionID, by string) {
		allowed := slices.ContainsFunc(p.request.Options, func(o session.PermissionOption) bool { return o.ID == optionID && o.Allows() })
		why := reason
		switch {
		case by == "rule":
			why = "the user has decided before"
			s.remarkOnce(fmt.Sprintf("%s: %s", p.request.Title, styled.VisibleText(p.decision.Remark)))
		case !allowed && by == "user":
			s.remark("info", fmt.Sprintf("You did not let %s %s %s.", s.base.Title, verb, name))
		case by == "cancel":
			s.remark("info", fmt.Sprintf("%s was not allowed to %s %s: the question was not answered.", s.base.Title, verb, name))
		}
		if allowed {
			f.decided(nil)
		} else {
			f.decided(fmt.Errorf("%w, as %s", errNotAllowed, why))
		}
	}
	title := map[string]string{"read": "Read ", "write": "Write "}[verb] + name
	p.request = session.PermissionRequest{Context: f.ctx, Title: title, Options: fileOptions(d)}
	if d.Outside || d.Private { // else the rule says why
		p.request.Description = strings.ToUpper(reason[:1]) + reason[1:] + "."
	}
	p.call = session.ToolCall{Title: name, Kind: f.kind, Content: change}
	if s.phase != ready || s.outbox.stage == stopping {
		p.answer("", "cancel")
		return
	}
	s.raise(p)
}

// fileOptions are the answers to a question of our own. A lasting one is about
// this file, this agent and this project.
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
