// Package buffers serves the text of files to agents as the user sees it: from the live buffer where
// one has unsaved text, from the disk otherwise; and takes the agents' texts into buffers and onto
// the disk without losing what the user typed.
//
// A file's text is the same for loaded and unloaded files: UTF-8 without a byte order mark, lines ended by "\n"
// whatever 'fileformat' says, the last newline only where the file has one. A write gives all of that back, so that
// writing what was read changes no byte. Agents compare and replace text by lines, which "\r\n" would make fail.
//
// The disk gets exactly the agent's text, but for what the user has saved in Neovim since the agent was given the
// file's, which is merged into it. The buffer gets the same, or, where the user has unsaved text in it, a
// three-way merge, and is then 'modified'.
package buffers

import (
	"context"
	"fmt"
	"io/fs"
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

// Files reads and writes the text of files. Its methods may be called from any goroutine and do not block.
type Files struct {
	// Slow, which may be nil, hears in a sentence that Neovim is about to stand still for a while, once for each file;
	// it returns when the user may have seen that. To be set before the first write. Any goroutine.
	Slow func(ctx context.Context, why string)

	editor Editor
	order  order
	seen   memory[known]  // by real path, the text last given to or taken from the agent
	synced memory[inStep] // by real path, the disk that the buffer was last brought in step with
	shown  shown
	watch  atomic.Pointer[Watch] // nil while nobody watches

	// removed has the real paths of files that were removed here, until there is one again.
	removed sync.Map
	refused refused
	journal *journal
	cut     cutShort
	slow    sync.Map // the real paths of files that Slow was told of
}

// New returns a Files that reaches Neovim through e.
func New(e Editor) *Files {
	return &Files{editor: e}
}

// Read asks for the text of a file.
type Read struct {
	Path  string // absolute
	Line  *int   // the first line, 1-based; nil or 0: the first of the file
	Limit *int   // the most lines to give; nil: all

	// Real, if set, is the real path that Path is to lead to: where it has come to lead elsewhere the error is ErrMoved.
	Real string

	// Whole, if set, is called before done with the whole text as the user has it, where that is at hand: who wants
	// lines of it need not ask for the rest.
	Whole func(text string)

	peek bool // nobody but the user sees the text
}

// Write asks for a file to have a text.
type Write struct {
	Path string // absolute
	Real string // as with Read
	Text string
	// Base, if set, is the buffer's text that the user had before them when they decided that it is to become
	// Text. So it becomes that, with what they have typed since; the disk gets the same change, made to what it
	// has, and what is not saved stays so. The agent gets to know this change and nothing else.
	Base *string
	// Waiting, if set, is called when the disk has the text and Neovim has been busy for a while with
	// what the user has hung on saving, which may ask something: whoever writes need not wait for that.
	// Called once at most, from any goroutine, before done.
	Waiting func()
}

// Written says what a write did.
type Written struct {
	Path     string // the real path
	Buf      int    // the loaded buffer that shows the file, or 0
	Changed  bool   // the disk's or the buffer's text, or its form, is another than before
	Created  bool   // the file was not there before
	Conflict bool   // some of the agent's text is not in the buffer, where the user's stands
	Note     string // a sentence for the user, where there is something to say
	Brief    string // the same in a few words, of conflicts alone
	Deleted  bool   // there is no file any more
	ByUser   bool   // the user has written it, from another buffer

	// Before and After are the text that the user saw at Path before, and sees now: the buffer's where one
	// shows the file, else the disk's. nil is no file, or a text that is not known.
	Before, After *string
	// FormBefore and FormAfter are how the disk has them, see [Form]; "" is no file. A change may be one of
	// these alone.
	FormBefore, FormAfter string
	Disk                  *string     // what the disk has now of what a buffer shows; nil where it is not known
	At                    time.Time   // since when the disk has what was synced; zero where nothing was
	ReadAt                time.Time   // when the disk was read, which had that already; zero where nothing was synced
	Behind                *string     // what it had before, where others have written it under unsaved text
	Unsaved               bool        // the buffer had unsaved text before
	Had                   *string     // what a buffer had of a file that was not there, and was made anew under it
	Since                 time.Time   // so long a file that no buffer shows had been as it was before
	Was                   fs.FileInfo // that file before
}

// Read gives the text of r.Path, unsaved text included, to done, which is called exactly once, from
// any goroutine, also when ctx ends or Neovim is gone. Reads and writes of one file take effect in the
// order they were called, those with a Real and those without apart. An error is an *Error.
func (f *Files) Read(ctx context.Context, r Read, done func(string, error)) {
	submit(f, "read", &job{ctx: ctx, path: r.Path, real: r.Real}, func(path string) (string, error) { return f.read(ctx, path, r) }, done)
}

// Peek is Read of a whole file for the user's eyes: the agent does not get to know the text.
func (f *Files) Peek(ctx context.Context, path string, done func(string, error)) {
	r := Read{Path: path, peek: true}
	submit(f, "read", &job{ctx: ctx, path: path}, func(path string) (string, error) { return f.read(ctx, path, r) }, done)
}

// Write gives the file w.Path the text w.Text, on the disk and in its buffer; done is as with Read.
func (f *Files) Write(ctx context.Context, w Write, done func(Written, error)) {
	submit(f, "write", &job{ctx: ctx, path: w.Path, real: w.Real}, func(path string) (Written, error) { return f.write(ctx, path, w) }, done)
}

// Refused returns the agent's texts that conflicted with unsaved text of the user and so did not reach
// the buffer whole, oldest first. It reads the disk.
func (f *Files) Refused(path string) []string {
	path, err := RealPath(path)
	if err != nil {
		return nil
	}
	return f.refused.get(path)
}

// submit orders do among the other jobs on the path of j and gives its result to done.
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

// safely turns a panic of do into an error, so that the agent has its answer and the host lives.
func safely[T any](do func(path string) (T, error), path string) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return do(path)
}
