package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// This file has the writes of agents through their client.

func (s *Session) writeTextFile(r session.WriteTextFile) {
	var once sync.Once
	reply := func(err error) { once.Do(func() { r.Reply(err) }) }
	path, _ := s.absolute(r.Path) // what is no path is refused by the files
	var reviewed atomic.Pointer[prospect]
	s.host.files.Write(r.Context, buffers.Write{
		Path: path, Text: r.Text, Waiting: func() { reply(nil) }, Owner: s,
		Gate: s.gate(fileRequest{ctx: r.Context, kind: session.KindEdit, path: path, text: &r.Text, reviewed: &reviewed}),
	}, func(w buffers.Written, err error) {
		if err == nil && w.Changed {
			s.ledger.Took(w, "fs", reviewed.Load().made(w))
		}
		if err == nil {
			s.learnText(w.Path, *w.After)
		}
		reply(err)
		s.box.Put(func() { s.wrote(r.Path, w, err) })
		if err == nil {
			s.traceWrite(r.Path, w)
		}
	})
}

func (s *Session) wrote(path string, w buffers.Written, err error) {
	switch {
	case errors.Is(err, errNotAllowed), errors.Is(err, context.Canceled): // was said, or the agent has withdrawn it
	case err != nil:
		failed := &buffers.Error{Err: err}
		errors.As(err, &failed)
		s.alert("error",
			fmt.Sprintf("%s could not write %s: %v.", s.spec.Title, transcript.VisibleText(s.short(path)), failed.Err),
			fmt.Sprintf("%s could not write %s: %v.", s.spec.Title, filepath.Base(path), failed.Err))
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
		s.host.notify(severity, brief)
	}
}

// alert is [Session.alert] in all chats. Any goroutine.
func (h *Host) alert(severity, text, brief string) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	seen := false
	for _, s := range sessions {
		seen = s.box.Put(func() { s.remark(severity, text) }) && s.visible.Load() || seen
	}
	if !seen {
		h.notify(severity, brief)
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
	list := []any{}
	for _, u := range h.files.Unfinished() {
		list = append(list, map[string]any{"id": u.ID, "path": u.Path, "created": u.Created})
	}
	if len(list) > 0 {
		h.editor.Post(editor.Op{Name: "unfinished", Args: map[string]any{"list": list}})
	}
}

// recoverFile gives a file the text that the user has chosen, see buffers.Files.Recover.
func (h *Host) recoverFile(id, which string) {
	if err := h.files.Recover(id, which); err != nil {
		h.notify("error", err.Error())
	}
}
