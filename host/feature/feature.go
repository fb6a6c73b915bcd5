// Package feature is the base of a session's features. A feature is a package of host that owns a part of a session's
// state; the session passes it events of the conversation and messages from Lua, and asks it what to show. What a
// feature needs from another one it declares itself, as functions or an interface in its configuration.
package feature

import (
	"errors"
	"log/slog"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
)

// ErrClosed says that a session is closed, so nothing can be done for it.
var ErrClosed = errors.New("the session is closed")

// Base is what every feature of a session needs. It never changes.
type Base struct {
	Session int    // its id in this Neovim
	Agent   string // the agent's name in the configuration
	Title   string // the agent's display name
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
	Changed func()                                 // says that Lua's copy of the session is out of date
}
