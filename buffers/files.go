// Package buffers serves the text of files to agents as the user sees it: from the live buffer if that has unsaved
// text, from the disk otherwise. It writes the agents' texts to buffers and to the disk without losing what the user
// typed.
//
// A file's text is the same for loaded and unloaded files: UTF-8 without a byte order mark, lines ended by "\n"
// whatever 'fileformat' says, the last newline only if the file has one. A write restores all of that, so that writing
// what was read changes no byte. Agents compare and replace text by lines, which "\r\n" would make fail.
//
// The disk gets exactly the agent's text, with whatever the user has saved in Neovim since the agent was given the file
// merged into it. The buffer gets the same or, if the user has unsaved text in it, a three-way merge, and is then
// 'modified'.
package buffers

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Editor is how buffers reaches Neovim: one call of a function of lua/acp/files/buffers.lua. args is a map
// of MessagePack-able values, result a pointer to a struct with msgpack tags. A call may take as long
// as Neovim waits for a key; it returns when ctx ends or Neovim is gone. Called from any goroutine.
type Editor interface {
	CallBuffers(ctx context.Context, fn string, args, result any) error
}

// Inbox knows whether what Neovim has sent has been taken in. Any goroutine.
type Inbox interface {
	// Heard reports whether everything that Neovim has sent so far has been.
	Heard() bool
	// WhenHeard calls done once, from any goroutine, when that is so.
	WhenHeard(done func())
}

// Files reads and writes the text of files. Its methods may be called from any goroutine and do not block.
type Files struct {
	// Slow, which may be nil, is told in a sentence that Neovim is about to freeze for a while, once for each file; it
	// returns when the user may have seen that. Set before the first write. Any goroutine.
	Slow func(ctx context.Context, why string)

	// Inbox, which may be nil, knows what Neovim has sent.
	Inbox Inbox

	editor Editor
	order  order
	ahead  ahead
	seen   memory[known]  // by real path, the text last given to or taken from the agent
	synced memory[inStep] // by real path, the disk that the buffer was last in step with
	apart  memory[lines]  // by real path, the disk's text of which the user was told last that it cannot be merged
	shown  shown
	watch  atomic.Pointer[Watch] // nil while nothing is watched

	// removed has the real paths of files that were removed here, until they exist again.
	removed sync.Map
	refused refused
	journal *journal
	cut     cutShort
	slow    sync.Map // the real paths of files that Slow was told about
}

// New returns a Files that reaches Neovim through e.
func New(e Editor) *Files {
	return &Files{editor: e}
}

// Read asks for the text of a file.
type Read struct {
	Path  string // absolute
	Line  *int   // the first line, 1-based; nil or 0: the first of the file
	Limit *int   // the most lines to return; nil: all

	// Real, if set, is the real path that Path must lead to: if it now leads elsewhere, the error is ErrMoved.
	Real string

	// Whole, if set, is called before done with the user's whole text if that is at hand: whoever wants lines of it
	// need not ask for the rest.
	Whole func(text string)

	peek bool // only the user sees the text
}

// Write asks for a file to have a text.
type Write struct {
	Path string // absolute
	Real string // as with Read
	Text string
	// Base, if set, is the buffer's text that the user saw when they decided that it should become Text. It does, with
	// what they have typed since; the same change is applied to the disk's text, and unsaved text stays unsaved. The
	// agent learns of this change and nothing else.
	Base *string
	// Waiting, if set, is called when the disk has the text and Neovim has been busy for a while with the user's
	// autocommands on saving, which may ask something: the writer need not wait for that. Called at most once, from any
	// goroutine, before done.
	Waiting func()
}

// Written says what a write did.
type Written struct {
	Path     string // the real path
	Buf      int    // the loaded buffer that shows the file, or 0
	Changed  bool   // the disk's or the buffer's text, or its form, has changed
	Created  bool   // the file was not there before
	Conflict bool   // in some places the buffer has the user's text, not the agent's
	Note     string // a sentence for the user, if there is something to say
	Brief    string // the same in a few words, of conflicts alone
	Deleted  bool   // the file no longer exists
	unheard  bool   // the user wrote it from its buffer, in an autocommand that is not nested: Neovim told nobody

	// Before and After are the text that the user saw at Path before, and sees now: the buffer's if one shows the file,
	// otherwise the disk's. nil is no file, or an unknown text.
	Before, After *string
	// Shown is the text before that the user was shown with After, and accepted, if that is not Before.
	Shown *string
	// FormBefore and FormAfter are their forms on disk, see [Form]; "" is no file. A change may be one of the form
	// alone.
	FormBefore, FormAfter string
	Disk                  *string   // what the disk has now of a file that a buffer shows; nil if unknown
	At                    time.Time // since when the disk has had what was synced; zero if nothing was
	ReadAt                time.Time // when the disk was read and already had that; zero if nothing was synced
	Behind                *string   // what the disk had before, if others wrote it under unsaved text
	Unsaved               bool      // the buffer had unsaved text before
	Had                   *string   // what a buffer had of a missing file that was recreated under it
	Since                 time.Time // since when a file that no buffer shows had been as it was before
	Was                   Identity  // that file before
}

// Read passes the text of r.Path, unsaved text included, to done, which is called exactly once, from any goroutine,
// even if ctx ends or Neovim is gone. Reads and writes of one file take effect in the order they were called; those
// with a Real and those without are ordered separately. An error is an *Error.
func (f *Files) Read(ctx context.Context, r Read, done func(string, error)) {
	submit(f, "read", &job{ctx: ctx, path: r.Path, real: r.Real}, func(path string) (string, error) { return f.read(ctx, path, r) }, done)
}

// Peek is Read of a whole file for the user's eyes only: the agent does not learn the text.
func (f *Files) Peek(ctx context.Context, path string, done func(string, error)) {
	r := Read{Path: path, peek: true}
	submit(f, "read", &job{ctx: ctx, path: path}, func(path string) (string, error) { return f.read(ctx, path, r) }, done)
}

// Write gives the file w.Path the text w.Text, on the disk and in its buffer; done is as with Read.
func (f *Files) Write(ctx context.Context, w Write, done func(Written, error)) {
	submit(f, "write", &job{ctx: ctx, path: w.Path, real: w.Real}, func(path string) (Written, error) { return f.write(ctx, path, w) }, done)
}

// Refused returns the agent's texts that conflicted with the user's unsaved text and so did not fully reach the buffer,
// oldest first. It reads the disk.
func (f *Files) Refused(path string) []string {
	path, err := RealPath(path)
	if err != nil {
		return nil
	}
	return f.refused.get(path)
}

// submit runs do in order with the other jobs on j's path, and passes its result to done.
func submit[T any](f *Files, verb string, j *job, do func(path string) (T, error), done func(T, error)) {
	asked := j.path
	answer := func(v T, err error) {
		if err != nil {
			err = &Error{Verb: verb, Path: asked, Err: err}
		}
		done(v, err)
	}
	j.run = func(path string) {
		v, err := safely(do, path)
		answer(v, err)
	}
	j.fail = func(err error) {
		var none T
		answer(none, err)
	}
	f.order.add(j)
}

// safely turns a panic of do into an error, so that the agent gets an answer and the host survives.
func safely[T any](do func(path string) (T, error), path string) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return do(path)
}
