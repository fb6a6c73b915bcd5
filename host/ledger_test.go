package host

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// TestTheEndOfATurnWaitsForItsChanges has the goroutines of the record and of the session begin late.
func TestTheEndOfATurnWaitsForItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(Options{Log: slog.New(slog.DiscardHandler)}, nil)
		defer h.finder.Close()
		s := newSession(h, 1, AgentSpec{Title: "Agent"}, "/", nil)
		told := func() (names []string) {
			ops, _ := s.take(1 << 20)
			for _, e := range eventsOf(ops) {
				names = append(names, e.Name)
			}
			return names
		}
		s.prompts.Opened()
		s.ledger.BeginTurn("", func() {})
		text := "text\n"
		s.ledger.Took(buffers.Written{Path: "/file", After: &text, Created: true, Changed: true}, "fs", false)
		s.endTurn(session.StopEndTurn, "")
		s.events.Add("AcpTurnStart", nil)
		if got := told(); len(got) != 0 {
			t.Fatalf("before the record has the changes there is told %v", got)
		}
		if _, more := s.take(1 << 20); more {
			t.Error("Neovim is asked again and again")
		}
		go s.ledger.Run()
		go s.base.Box.Run()
		synctest.Wait()
		s.on(func() {
			if ops := s.review.Ops(); len(ops) != 1 || len(ops[0].Args.(rpc.Changes).Files) != 1 {
				t.Errorf("changed are %v", ops)
			}
			if got := told(); len(got) != 3 || got[0] != "AcpFileChanged" || got[1] != "AcpTurnEnd" || got[2] != "AcpTurnStart" {
				t.Errorf("told are %v", got)
			}
		})

		// Not for ever.
		busy := make(chan struct{})
		s.ledger.Then(func() { <-busy })
		s.on(func() {
			s.prompts.Opened()
			s.endTurn(session.StopEndTurn, "")
		})
		synctest.Wait()
		s.on(func() {
			if got := told(); len(got) != 0 {
				t.Errorf("told are %v", got)
			}
		})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		s.on(func() {
			if got := told(); len(got) != 1 {
				t.Errorf("told are %v", got)
			}
		})
		close(busy)
		s.on(s.ledger.Close)
		s.base.Box.Close()
	})
}
