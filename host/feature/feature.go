// Package feature is what the features of a session stand on. A feature is a package of host that owns a part of a
// session's state; the session hands it events of the conversation and messages of Lua's, and asks it what is to be
// shown. What a feature needs of another one it declares itself, as functions or an interface of its configuration.
package feature

import (
	"errors"
	"log/slog"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
)

// ErrClosed is why nothing can be done any more for a session.
var ErrClosed = errors.New("the session is closed")

// Base is what each feature of a session stands on. It never changes.
type Base struct {
	Session int    // its id in this Neovim
	Agent   string // the agent's name in the configuration
	Title   string // the agent's name for people
	folder.Folder

	// Any goroutine may use these.

	Box        *mailbox.Mailbox // of the session's goroutine
	Editor     *editor.Editor
	Files      *buffers.Files
	Log        *slog.Logger
	Background func(func()) // runs a function in a goroutine that the host's end waits for

	// These belong to the session's goroutine.

	Remark  func(severity, text string)            // says something in the chat
	Event   func(name string, data map[string]any) // fires a User autocommand when Neovim is up to date
	Changed func()                                 // says that what Lua keeps of the session is out of date
}
