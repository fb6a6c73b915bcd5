package host

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// TestTheEndOfATurnWaitsForItsChanges has the goroutines of the record and of the session begin late.
func TestTheEndOfATurnWaitsForItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(Options{Log: slog.New(slog.DiscardHandler)}, nil)
		defer h.finder.Close()
		s := newSession(h, 1, AgentSpec{Title: "Agent"}, "/", nil)
		told := func() (names []string) {
			ops, _ := s.view.Next(1 << 20)
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
		if _, more := s.view.Next(1 << 20); more {
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
			check.Slice(t, told(), nil, "told are %v")
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

// However many files have changed, Neovim is told of some at a time, and their events come when it knows all.
func TestManyChangesAreToldInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		const many, atOnce, eventsAtOnce = 2500, 1000, 500
		var files []review.File
		var events []map[string]any
		for i := range many {
			files = append(files, review.File{ID: i + 1, Path: fmt.Sprint("/f", i), Status: review.Modified, State: review.Pending})
			events = append(events, map[string]any{"path": fmt.Sprint("/f", i)})
		}
		s.on(func() {
			s.review.Take(reviewui.NewUpdate(files, nil), true)
			s.events.AddChanges(events)
			told, fired := 0, 0
			for more := true; more; {
				var ops []editor.Op
				ops, more = s.view.Next(1 << 20)
				for _, op := range ops {
					if args, ok := op.Args.(rpc.Changes); ok {
						if told += len(args.Files); len(args.Files) > atOnce {
							t.Errorf("%d files are told at once", len(args.Files))
						}
					}
				}
				now := eventsOf(ops)
				if fired += len(now); len(now) > 0 && told < many || len(now) > eventsAtOnce {
					t.Errorf("%d events come with %d files told", len(now), told)
				}
				for i, e := range now {
					if want := fmt.Sprint("/f", fired-len(now)+i); e.Data["path"] != want {
						t.Fatalf("an event is of %v, wanted %s", e.Data["path"], want)
					}
				}
			}
			if told != many || fired != many {
				t.Errorf("%d files are told, %d events fired", told, fired)
			}
		})
	})
}
