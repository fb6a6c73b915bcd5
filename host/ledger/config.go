package ledger

import (
	"context"
	"log/slog"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
)

// Config is what a ledger needs from its surroundings. Its functions are called on any goroutine, except for Hurry and
// Changed.
type Config struct {
	Roots    []string                                    // the session's folders
	Inside   func(path string) bool                      // a file is in one of them
	Absolute func(name string) (path string, local bool) // resolves an agent's name of a file, see [session.Absolute]
	Short    func(path string) string                    // a path as the user reads it

	Watch func() Watch // nil while files are not watched
	Files Files
	Store *checkpoint.Store // nil for none
	Saves Saves

	Claimed func(path string) bool // another session's agent has said that it changes a file, or was seen doing so
	// Others tells the other sessions what a file has become through this one's agent, or a decision about its changes.
	Others func(path string, is review.Content)

	Put   func(func()) bool // runs something on the session's goroutine; false when that has ended
	Hurry func()            // the end of a turn may be announced; called on the session's goroutine
	Lacks func(Lack)        // what the copies of the folders leave out has changed
	// Changed hears which files of the record are new or have changed, which have left it, by their ids, and what the
	// agent was seen doing. It is called on the ledger's goroutine.
	Changed func(files []review.File, gone []int, events []Event)

	Background func(func()) // runs something that the host waits for before it exits
	Over       context.Context
	Log        *slog.Logger
}

// Watch looks at files: it is a [buffers.Watch].
type Watch interface {
	Tracks() <-chan struct{}
	Look(path string, settle bool, limit int64, done func(buffers.Seen, error))
	Finish(path string, done func())
	// Settle calls done after what the disk has of all tracked files has reached their buffers and been announced.
	Settle(done func())
	// Heard calls done when everything that Neovim has said about files so far has been passed on.
	Heard(done func())
	Loaded() []string // the real paths of the tracked files
}

// Files changes files at the user's wish: it is a [buffers.Files].
type Files interface {
	Edit(context.Context, buffers.Edit, func(buffers.Written, error))
	Restore(context.Context, buffers.Restored, func(buffers.Written, error))
	InStep(path string) (text, form string, known bool)
	WasInStep(path, text, form string)
	RemoveLinks(path string, inside func(string) bool)
}

// Saves stores sessions by their keys. Any goroutine may use it.
type Saves interface {
	// Load returns what was saved last, with a record of at most limit bytes. If there is nothing, the error is
	// [fs.ErrNotExist].
	Load(key string, limit int) (saved.Session, error)
	// Write saves in the background; done gets how much was written, on any goroutine. It is not called if something
	// newer supersedes the image.
	Write(key string, image *saved.Image, done func(bytes int, err error))
	// WriteNow saves before it returns; ok is false if that is not possible: then it does nothing.
	WriteNow(key string, image *saved.Image) (bytes int, ok bool, err error)
	Remove(key string)
}

// Event is a change of a file by the agent: by "fs", through its client, or on the "disk".
type Event struct{ Path, By string }
