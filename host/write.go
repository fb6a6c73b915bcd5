package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/permission"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has what the user is told of writes, and of those that a kill has cut short.

// wrote says what has come of a write through the client.
func (s *Session) wrote(path string, w buffers.Written, err error) {
	switch {
	case errors.Is(err, permission.ErrNotAllowed), errors.Is(err, context.Canceled): // was said, or the agent has withdrawn it
	case err != nil:
		failed := &buffers.Error{Err: err}
		errors.As(err, &failed)
		s.alert("error",
			fmt.Sprintf("%s could not write %s: %v.", s.base.Title, styled.VisibleText(s.base.Short(path)), failed.Err),
			fmt.Sprintf("%s could not write %s: %v.", s.base.Title, filepath.Base(path), failed.Err))
	case w.Note != "":
		s.alert("warning", w.Note, w.Brief)
	}
	s.changed()
}

// alert is a remark; where no window shows the chat it is a message too, of so few words that Neovim
// does not wait for a key.
func (s *Session) alert(severity, text, brief string) {
	s.remark(severity, text)
	if brief != "" && !s.visible.Load() {
		s.base.Editor.Notify(severity, brief)
	}
}

// alert is [Session.alert] in all chats. Any goroutine.
func (h *Host) alert(severity, text, brief string) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	seen := false
	for _, s := range sessions {
		seen = s.base.Box.Put(func() { s.remark(severity, text) }) && s.visible.Load() || seen
	}
	if !seen {
		h.editor.Notify(severity, brief)
	}
}

// compare has a buffer whose conflicts are decided count as unmodified, where it has what the disk has.
func (h *Host) compare(name string) {
	h.files.Compare(context.Background(), name, func(err error) {
		if err != nil {
			h.log.Warn("compare a buffer with the disk", "err", err)
		}
	})
}

// offerUnfinished tells Lua of the writes that ended with a Neovim, or a host, that was killed.
func (h *Host) offerUnfinished() {
	var told rpc.Unfinished
	for _, u := range h.files.Unfinished() {
		told.List = append(told.List, rpc.UnfinishedWrite{ID: u.ID, Path: u.Path, Created: u.Created})
	}
	if len(told.List) > 0 {
		h.editor.Post(editor.Do(told))
	}
}

// recoverFile gives a file the text that the user has chosen, see buffers.Files.Recover.
func (h *Host) recoverFile(id, which string) {
	if err := h.files.Recover(id, which); err != nil {
		h.editor.Notify("error", err.Error())
	}
}
