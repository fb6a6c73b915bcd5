package host

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
)

// TestTheEndOfATurnWaitsForItsChanges runs what is put into the mailboxes by hand.
func TestTheEndOfATurnWaitsForItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(Options{Log: slog.New(slog.DiscardHandler)}, nil)
		defer h.finder.Close()
		s := newSession(h, 1, AgentSpec{Title: "Agent"}, "/")
		run := func(m *mailbox) {
			for {
				m.mu.Lock()
				batch := m.queue
				m.queue = nil
				m.mu.Unlock()
				if len(batch) == 0 {
					return
				}
				for _, f := range batch {
					f()
				}
			}
		}
		told := func() (names []string) {
			for s.chat.Sync(); s.chat.Dirty(); {
				s.chat.Take(1 << 20)
			}
			for _, op := range s.eventOps() {
				for _, e := range op.Args["events"].([]any) {
					names = append(names, e.(map[string]any)["name"].(string))
				}
			}
			return names
		}
		s.outbox.opened()
		s.changes.beginTurn("")
		text := "text\n"
		s.changes.took(buffers.Written{Path: "/file", After: &text, Created: true, Changed: true}, "fs", false)
		s.endTurn(session.StopEndTurn, "")
		s.event("AcpTurnStart", nil)
		if got := told(); len(got) != 0 {
			t.Fatalf("before the record has the changes there is told %v", got)
		}
		if _, more := s.take(1 << 20); more {
			t.Error("Neovim is asked again and again")
		}
		run(s.changes.box)
		run(s.box)
		if len(s.shown.changes) != 1 {
			t.Errorf("changed are %v", s.shown.changes)
		}
		// There is no watch: the file was not looked at again.
		run(s.changes.box)
		run(s.box)
		if got := told(); len(got) != 3 || got[0] != "AcpFileChanged" || got[1] != "AcpTurnEnd" || got[2] != "AcpTurnStart" {
			t.Errorf("told are %v", got)
		}

		// Not for ever.
		s.outbox.opened()
		s.endTurn(session.StopEndTurn, "")
		if got := told(); len(got) != 0 {
			t.Fatalf("told are %v", got)
		}
		time.Sleep(maxHeld)
		synctest.Wait()
		run(s.box)
		if got := told(); len(got) != 1 {
			t.Errorf("told are %v", got)
		}
	})
}
