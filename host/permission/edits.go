package permission

import (
	"cmp"
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
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/fileaccess"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has the changes by the editor's tools: edits that a language server computed, to several files at once.

// FileEdit is an edit to a file. At most one of Delete, To and Create is set.
type FileEdit struct {
	Path   string
	Text   *string // nil: as it is
	To     string  // where the file is moved
	Delete bool
	Create bool // it does not exist yet
}

// edited is an edit in progress.
type edited struct {
	FileEdit
	real, realTo string  // without links
	before       *string // the text that the edit was computed for; nil if there is no file, or it is not text
}

// then returns where the file is after the edit.
func (e edited) then() string { return cmp.Or(e.To, e.Path) }

// changes reports whether an edit changes anything.
func (e edited) changes() bool {
	return e.Delete || e.To != "" || e.Text != nil && (e.before == nil || *e.before != *e.Text)
}

// diff returns an edit as shown to the user.
func (e edited) diff() session.Diff {
	d := session.Diff{Path: e.then(), OldText: e.before, NewText: e.Text}
	switch {
	case e.Delete:
		d.Operation, d.NewText = session.OperationDelete, nil
	case e.To != "":
		d.Operation, d.OldPath = session.OperationMove, e.Path
		if e.Text == nil {
			d.NewText = e.before
		}
	case e.before == nil:
		d.Operation = session.OperationAdd
	}
	return d
}

// Change makes edits that belong together, after one question about all of them, as writes by the agent: they are hunks
// to review, and one undo step in each file. done is told, once and on any goroutine, which files were changed, or why
// not all of them were. Any goroutine.
func (rs *Requests) Change(ctx context.Context, title string, edits []FileEdit, done func(changed []string, err error)) {
	rs.base.Background(func() {
		var all []edited
		for _, one := range edits {
			e, err := rs.lookAt(ctx, one)
			switch {
			case ctx.Err() != nil:
				done(nil, context.Cause(ctx))
				return
			case err != nil:
				done(nil, &buffers.Error{Verb: "change", Path: one.Path, Err: err})
				return
			case e.changes():
				all = append(all, e)
			}
		}
		switch {
		case len(all) == 0:
			done(nil, nil)
		case !rs.base.Box.Put(func() { rs.askForEdits(ctx, title, all, done) }):
			done(nil, feature.ErrClosed)
		}
	})
}

// lookAt finds the file of an edit, and says what prevents it. It waits for Neovim.
func (rs *Requests) lookAt(ctx context.Context, one FileEdit) (e edited, err error) {
	e.FileEdit = one
	if e.real, err = writable(e.Path); err != nil {
		return e, err
	}
	is, err := os.Lstat(e.Path)
	switch there := err == nil; {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return e, err
	case there && e.Create:
		return e, fs.ErrExist
	case !there && (e.Delete || e.To != ""):
		return e, fs.ErrNotExist
	case (e.Delete || e.To != "") && !is.Mode().IsRegular():
		return e, errors.New("only a file can be moved or deleted")
	case !there:
		return e, nil
	}
	if e.To != "" {
		if e.realTo, err = writable(e.To); err != nil {
			return e, err
		}
		if _, err := os.Lstat(e.To); err == nil {
			return e, fmt.Errorf("%s already exists", rs.base.Short(e.To))
		}
	}
	if e.Delete || e.To != "" {
		if err := rs.saved(ctx, e.real); err != nil {
			return e, err
		}
	}
	text, err := wait(func(done func(string, error)) { rs.base.Files.Peek(ctx, e.real, done) })
	switch {
	case err == nil:
		e.before = &text
	case e.Text != nil:
		return e, buffers.Cause(err)
	}
	return e, nil
}

// writable returns a path without links, if a file may be written there.
func writable(path string) (real string, err error) {
	if real, err = buffers.RealPath(path); err != nil {
		return "", err
	}
	return real, buffers.Obstacle(real, true)
}

// saved returns an error if a file has unsaved text, which would be lost with the file.
func (rs *Requests) saved(ctx context.Context, real string) error {
	unsaved, err := wait(func(done func(*buffers.Unsaved, error)) { rs.base.Files.Unsaved(ctx, real, done) })
	if unsaved != nil {
		err = errors.New("it has unsaved text of the user's")
	}
	return err
}

// wait runs a function that calls done, and waits for that.
func wait[T any](run func(done func(T, error))) (value T, err error) {
	over := make(chan struct{})
	run(func(v T, e error) {
		value, err = v, e
		close(over)
	})
	<-over
	return value, err
}

// askForEdits asks about edits of several files at once.
func (rs *Requests) askForEdits(ctx context.Context, title string, all []edited, done func([]string, error)) {
	what := title
	if len(all) > 1 {
		title += fmt.Sprintf(" in %d files", len(all))
	}
	p := &request{call: session.ToolCall{Title: title, Kind: kindOf(all)}}
	for _, e := range all {
		p.call.Content = append(p.call.Content, e.diff())
		p.call.Locations = append(p.call.Locations, session.Location{Path: e.Path})
		if e.To != "" {
			p.call.Locations = append(p.call.Locations, session.Location{Path: e.To})
		}
	}
	p.asked = session.PermissionRequest{Context: ctx, CancelsTurn: true, Title: title, Description: what, Options: []session.PermissionOption{
		{ID: "allow", Name: "Allow", Kind: "allow_once"},
		{ID: "reject", Name: "Refuse", Kind: "reject_once"},
	}}
	var seen bool // by the user; a rule may have decided instead
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

// kindOf returns the gravest kind of the edits, which rules go by: a rule that allows edits allows no deletion among
// them.
func kindOf(all []edited) session.ToolKind {
	kind := session.KindEdit
	for _, e := range all {
		switch {
		case e.Delete:
			return session.KindDelete
		case e.To != "" && (e.Text == nil || *e.Text == *e.before):
			kind = session.KindMove
		}
	}
	return kind
}

// makeEdits makes granted edits, each in its file's order, and calls done when all are made. What the user has typed
// since they were computed is kept; reviewed edits wait for no other review.
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
			if !reviewed {
				done(changed, failed)
				return
			}
			rs.config.Noted(func() { done(changed, failed) }) // after a kill from now on they are accepted
		}
	}
	for _, e := range all {
		failed := func(err error) { made(e.Path, &buffers.Error{Verb: "write", Path: e.Path, Err: buffers.Cause(err)}) }
		rs.files.Add(fileaccess.Request{
			Context: ctx, Path: e.Path,
			Decide: func(real string, decided func(error)) {
				if real != e.real {
					decided(errors.New("the path now leads elsewhere"))
					return
				}
				rs.base.Files.Asked(real)
				decided(nil)
			},
			Do: func(string) {
				rs.base.Background(func() { // so that other files need not wait
					err := rs.makeEdit(ctx, e, reviewed)
					if err != nil {
						failed(err)
						return
					}
					made(e.then(), nil)
				})
			},
			Fail: failed,
		})
	}
}

// makeEdit makes one edit, and reports it to the record and the follower. It waits for Neovim.
func (rs *Requests) makeEdit(ctx context.Context, e edited, reviewed bool) error {
	switch {
	case e.Delete:
		w, err := rs.remove(ctx, e)
		if err == nil {
			rs.config.Took(w, "fs", reviewed)
		}
		return err
	case e.To != "":
		return rs.move(ctx, e)
	}
	write := buffers.Write{Path: e.Path, Real: e.real, Text: *e.Text, Base: e.before}
	w, err := wait(func(done func(buffers.Written, error)) { rs.base.Files.Write(ctx, write, done) })
	if err == nil && w.Changed {
		rs.config.Took(w, "fs", reviewed)
	}
	if err == nil {
		rs.config.Known.LearnText(w.Path, *w.After)
		rs.config.Edits(e.Path, w)
	}
	rs.base.Box.Put(func() { rs.wrote(e.Path, w, err) })
	return err
}

// remove deletes a file, unless it has changed since the user was asked.
func (rs *Requests) remove(ctx context.Context, e edited) (buffers.Written, error) {
	if err := rs.saved(ctx, e.real); err != nil {
		return buffers.Written{}, err
	}
	return wait(func(done func(buffers.Written, error)) {
		rs.base.Files.Edit(ctx, buffers.Edit{Path: e.Path, Change: func(now *string) (*string, error) {
			if now != nil && e.before != nil && *now != *e.before {
				return nil, errors.New("it has changed meanwhile")
			}
			return nil, nil
		}}, done)
	})
}

// move moves a file, byte for byte, and then gives it its new text. A buffer that shows it keeps its text.
func (rs *Requests) move(ctx context.Context, e edited) error {
	if err := rs.saved(ctx, e.real); err != nil {
		return err
	}
	info, err := os.Stat(e.real)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(e.real)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(e.To); err == nil {
		return fmt.Errorf("%s already exists", rs.base.Short(e.To))
	}
	made, err := wait(func(done func(buffers.Written, error)) {
		rs.base.Files.Restore(ctx, buffers.Restored{Path: e.To, Data: data, Mode: info.Mode().Perm()}, done)
	})
	if err == nil && e.Text != nil {
		write := buffers.Write{Path: e.To, Real: e.realTo, Text: *e.Text, Base: e.before}
		var w buffers.Written
		w, err = wait(func(done func(buffers.Written, error)) { rs.base.Files.Write(ctx, write, done) })
		if err == nil {
			made.After, made.FormAfter, made.Buf = w.After, w.FormAfter, w.Buf
		}
	}
	if err != nil {
		return err
	}
	gone, err := rs.remove(ctx, e)
	if err != nil {
		rs.config.Took(made, "fs", false) // the file now exists twice
		return err
	}
	rs.config.Moved(gone, made)
	if made.After != nil {
		rs.config.Known.LearnText(made.Path, *made.After)
		if e.Text != nil && strings.TrimSpace(*e.Text) != "" {
			rs.config.Edits(e.To, buffers.Written{Before: e.before, After: made.After})
		}
	}
	return nil
}
