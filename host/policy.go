package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// fileRequest is what an agent wants of a file through its client.
type fileRequest struct {
	ctx     context.Context  // its end withdraws the request
	kind    session.ToolKind // read or edit
	path    string           // absolute, as the agent named it
	text    *string          // of a write, what it writes
	allowed func()           // hears of the permission, on any goroutine; or nil
	// reviewed is set before a write passes that the user has decided about: what they were shown.
	reviewed *atomic.Pointer[prospect]
}

// errNotAllowed is what every answer to a request says that the user has not
// allowed.
var errNotAllowed = errors.New("the user did not allow it")

// gate lets a request of an agent pass, at once or after a question to the user.
func (s *Session) gate(f fileRequest) buffers.Gate {
	return func(real string, pass func(error)) {
		at := rules.Path{Given: f.path, Real: real}
		d := s.place(f.kind, at)
		hold := f.text != nil && s.host.reviewBefore.Load()
		if d.free && !hold {
			f.pass(pass)
			return
		}
		if err := buffers.Obstacle(real, f.text != nil); err != nil {
			pass(err) // there is nothing to allow
			return
		}
		if hold {
			s.hold(&held{request: f, at: at, place: d, pass: pass})
			return
		}
		s.preview(f, real, func(change []session.ToolCallContent) {
			if !s.box.Put(func() { s.askForFile(f, at, d, change, pass) }) {
				pass(fmt.Errorf("%w: %w", errNotAllowed, errSessionClosed))
			}
		})
	}
}

// preview gives what a write would change to done; nothing of a read.
func (s *Session) preview(f fileRequest, real string, done func([]session.ToolCallContent)) {
	if f.text == nil {
		done(nil)
		return
	}
	change := session.Diff{Path: f.path, NewText: f.text}
	switch info, err := os.Stat(real); {
	case errors.Is(err, fs.ErrNotExist):
		change.Operation = session.OperationAdd
	case err == nil && info.Size() <= largestFile:
		s.host.files.Peek(f.ctx, real, func(text string, err error) {
			if err == nil {
				change.OldText = &text
			}
			done([]session.ToolCallContent{change})
		})
		return
	}
	done([]session.ToolCallContent{change})
}

func (f fileRequest) pass(pass func(error)) {
	if f.allowed != nil {
		f.allowed()
	}
	pass(nil)
}

// place is where a file stands for the policy of paths.
type place struct {
	free    bool // no question is needed
	outside bool // of the session's roots
	private bool
	link    string // the private file that it is, under another name
	lasting bool   // an answer may hold from now on
}

// reason says why a file is asked about, with its name as the agent gave it and
// without links.
func (p place) reason(path, real string) string {
	lead, join := "it is ", ""
	if path != real {
		lead, join = "it leads to "+styled.VisibleText(real)+", ", "which is "
	}
	switch {
	case p.link == real:
		return lead + join + "a file with several names, of which one may be private"
	case p.link != "":
		return lead + join + "the same file as " + styled.VisibleText(p.link) + ", which is private"
	case p.private:
		return lead + join + "private"
	case p.outside:
		return lead + "outside of the session's folder"
	}
	return "a rule asks about it"
}

// place tells where a file stands for what the session does to it. It reads the
// disk.
func (s *Session) place(kind session.ToolKind, at rules.Path) place {
	return s.host.judge.Load().place(matter{
		agent: s.spec.Name, cwd: s.cwd, session: s.id, call: session.ToolCall{Kind: kind}, file: at,
	}, s.roots)
}

// place tells whether a file may be read or written without a question: it is in
// one of the roots and not private, and no rule speaks against it. A rule that
// asks and names no file is about what agents ask for themselves. It reads the
// disk; j may be nil.
func (j *judge) place(m matter, roots []string) place {
	p := place{outside: !inside(m.file.Real, roots)}
	if j == nil {
		p.free = !p.outside
		return p
	}
	m.roots = roots
	r, link := j.request(m)
	verdict := j.rules.Decide(r)
	p.link = link()
	p.private = p.link != "" || j.rules.IsPrivate(r)
	asks := verdict.Action == rules.Ask && slices.ContainsFunc(verdict.Rules, func(n int) bool {
		return len(j.rules.Rules[n-1].Paths) > 0
	})
	p.free = !p.outside && !p.private && !asks && verdict.Action != rules.Reject
	p.lasting = p.outside && !p.private && (verdict.Action != rules.Ask || len(verdict.Rules) == 0)
	return p
}

// inside tells whether a file, without links, is in one of some folders, as they
// were named. It reads the disk.
func inside(file string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		real, err := buffers.RealPath(folder)
		return err == nil && (below(file, real) || foldsCase(real) && below(strings.ToLower(file), strings.ToLower(real)))
	})
}

// askForFile puts a request before the user, as a question of our own.
func (s *Session) askForFile(f fileRequest, at rules.Path, d place, change []session.ToolCallContent, pass func(error)) {
	verb, name := "read", styled.VisibleText(s.short(f.path))
	if f.text != nil {
		verb = "write"
	}
	reason := d.reason(f.path, at.Real)
	p := &permission{file: at}
	p.answer = func(optionID, by string) {
		allowed := slices.ContainsFunc(p.request.Options, func(o session.PermissionOption) bool { return o.ID == optionID && o.Allows() })
		why := reason
		switch {
		case by == "rule":
			why = "the user has decided before"
			s.remarkOnce(fmt.Sprintf("%s: %s", p.request.Title, styled.VisibleText(p.judgement.remark)))
		case !allowed && by == "user":
			s.remark("info", fmt.Sprintf("You did not let %s %s %s.", s.spec.Title, verb, name))
		case by == "cancel":
			s.remark("info", fmt.Sprintf("%s was not allowed to %s %s: the question was not answered.", s.spec.Title, verb, name))
		}
		if allowed {
			f.pass(pass)
		} else {
			pass(fmt.Errorf("%w, as %s", errNotAllowed, why))
		}
	}
	title := map[string]string{"read": "Read ", "write": "Write "}[verb] + name
	p.request = session.PermissionRequest{Context: f.ctx, Title: title, Options: fileOptions(d)}
	if d.outside || d.private { // else the rule says why
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
func fileOptions(d place) []session.PermissionOption {
	all := []session.PermissionOption{
		{ID: "allow", Name: "Allow once", Kind: "allow_once"},
		{ID: "allow_always", Name: "Always allow this file in this project", Kind: "allow_always"},
		{ID: "reject", Name: "Refuse", Kind: "reject_once"},
		{ID: "reject_always", Name: "Always refuse this file in this project", Kind: "reject_always"},
	}
	if !d.lasting {
		return []session.PermissionOption{all[0], all[2]}
	}
	return all
}
