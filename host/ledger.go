package host

import (
	"maps"

	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// newLedger opens the ledger of a session.
func newLedger(s *Session) *ledger.Ledger {
	h := s.host
	return ledger.New(ledger.Config{
		Roots:    s.base.Roots,
		Inside:   func(path string) bool { return folder.Inside(path, s.base.Roots) },
		Absolute: s.base.Absolute,
		Short:    s.base.Short,
		Watch: func() ledger.Watch {
			if w := h.watching(); w != nil {
				return w
			}
			return nil
		},
		Files:   h.files,
		Store:   h.store,
		Saves:   h.saves,
		Claimed: func(path string) bool { return h.claimed(path, s) },
		Others: func(path string, is review.Content) {
			h.eachSession(func(other *Session) {
				if other != s {
					other.ledger.Elsewhere(path, is)
				}
			})
		},
		Put:        s.base.Box.Put,
		Hurry:      func() { h.editor.Hurry(s) },
		Lacks:      s.tellLacks,
		Changed:    s.tellChanges,
		Background: h.background,
		Over:       h.over,
		Log:        h.log,
	})
}

// tellChanges tells Lua what is new in the record, then the events that follow it. It is called on the ledger's
// goroutine.
func (s *Session) tellChanges(changed []review.File, gone []int, events []ledger.Event) {
	shown := map[int]*rpc.ChangedFile{}
	for _, f := range changed {
		shown[f.ID] = mirrorFile(f)
	}
	for _, id := range gone {
		shown[id] = nil
	}
	s.base.Box.Put(func() {
		if len(changed)+len(gone) > 0 {
			s.review.changed(changed, gone)
			s.tellDue(len(events) > 0)
		}
		maps.Copy(s.shown.changes, shown)
		for _, e := range events {
			s.events.AddChange(map[string]any{"path": e.Path, "by": e.By})
		}
		s.changed()
	})
}

// tellDue has the chat say what waits for a review. byAgent tells that the agent has just changed something.
func (s *Session) tellDue(byAgent bool) {
	if !s.host.reviews.Load() {
		return
	}
	s.due = s.due || byAgent
	over := s.due && !s.outbox.turnOpen()
	s.chat.SetDue(s.review.due(), over)
	s.due = s.due && !over
}

// tellLacks has Neovim know what the copies of the session's folders leave out. Any goroutine.
func (s *Session) tellLacks(now ledger.Lack) {
	s.base.Box.Put(func() {
		s.lacks = now
		s.changed()
	})
}
