package host

import (
	"context"
	"maps"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file tells the user about files in all chats, and about writes that a kill interrupted.

// alert is a remark in all chats; if no window shows one, it is also a short notice. Any goroutine.
func (h *Host) alert(severity, text, brief string) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	seen := false
	for _, s := range sessions {
		seen = s.base.Box.Put(func() { s.remarks.Say(severity, text) }) && s.view.Visible() || seen
	}
	if !seen {
		h.editor.Notify(severity, brief)
	}
}

// compare marks a buffer whose conflicts are decided as unmodified, if it has what the disk has.
func (h *Host) compare(name string) {
	h.files.Compare(context.Background(), name, func(err error) {
		if err != nil {
			h.log.Warn("compare a buffer with the disk", "err", err)
		}
	})
}

// offerUnfinished tells Lua about the writes that a killed Neovim or host left unfinished.
func (h *Host) offerUnfinished() {
	var told rpc.Unfinished
	for _, u := range h.files.Unfinished() {
		told.List = append(told.List, rpc.UnfinishedWrite{ID: u.ID, Path: u.Path, Created: u.Created})
	}
	if len(told.List) > 0 {
		h.editor.Post(editor.Do(told))
	}
}

// recoverFile gives a file the text that the user chose, see buffers.Files.Recover.
func (h *Host) recoverFile(id, which string) {
	if err := h.files.Recover(id, which); err != nil {
		h.editor.Notify("error", err.Error())
	}
}
