package host

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// noBuffers is a Neovim without buffers, which answers when it may.
type noBuffers chan struct{}

func (may noBuffers) CallBuffers(ctx context.Context, _ string, _, _ any) error {
	select {
	case <-may:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// diskSession is a session whose Neovim has no buffers: a send on may lets it
// answer once, and closing may lets it answer always.
func diskSession(t *testing.T) (s *Session, dir string, may noBuffers) {
	h := newHost(Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, nil)
	may = make(noBuffers)
	h.files = buffers.New(may)
	dir = t.TempDir()
	s = newSession(h, 1, AgentSpec{Name: "puppet", Title: "Puppet"}, dir, nil)
	h.loops.Go(s.base.Box.Run)
	t.Cleanup(func() {
		s.base.Box.Close()
		h.shutdown()
	})
	return s, dir, may
}

// tells has a call tell of changes, and gives them as they are known.
func (s *Session) tells(id string, diffs ...session.Diff) (files []*diff.FileDiff) {
	s.on(func() {
		p := session.ToolCallPatch{ID: id}
		var content []session.ToolCallContent
		for _, d := range diffs {
			content = append(content, d)
		}
		p.Content = acp.Set(content)
		s.apply(p)
		files = s.diffs.Shared(s.conv.ToolCall(id))
	})
	return files
}

// located waits until all changes of a call were looked for, and gives them.
func (s *Session) located(id string) (files []*diff.FileDiff) {
	done := make(chan struct{})
	s.base.Box.Put(func() {
		call := s.conv.ToolCall(id)
		s.diffs.WhenLocated(call, func() {
			files = s.diffs.Shared(call)
			close(done)
		})
	})
	<-done
	return files
}

func replacing(path, old, text string) session.Diff {
	return session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}
}

// Going to a call that names no place leads to its change.
func TestLocationOfAChange(t *testing.T) {
	s, dir, may := diskSession(t)
	close(may)
	path := must.Write(t, dir, "a", "one\ntwo\nthree\n")
	s.tells("c", replacing(path, "three", "3"))
	s.located("c")
	s.on(func() {
		s.chat.Sync()
		s.chat.Take(1 << 20)
		if got := s.chat.Location(0); got.Path != path || got.Line != 3 {
			t.Errorf("it is at %v", got)
		}
	})
}

// The end of a turn is told when its changes were looked for, or after a while.
func TestTurnEndsWithItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, may := diskSession(t)
		t.Cleanup(func() { close(may) }) // Neovim does not answer before
		ended := func() bool {
			ops, _ := s.view.Take(1 << 20)
			return slices.ContainsFunc(eventsOf(ops), func(e rpc.Event) bool { return e.Name == "AcpTurnEnd" })
		}
		s.tells("c", replacing("a", "1", "2"))
		go s.ledger.Run()
		t.Cleanup(func() { s.on(s.ledger.Close) })
		s.on(func() {
			s.prompts.Opened()
			s.endTurn(session.StopEndTurn, "")
		})
		synctest.Wait()
		if ended() {
			t.Error("it is told while changes are looked for")
		}
		time.Sleep(calldiff.MaxDelay)
		if !ended() {
			t.Error("it is not told after a second")
		}
	})
}

// A call whose diff the agent replaces by a word that all is done, or was refused,
// keeps the change that the user was asked about; one that fails shows none.
func TestChangesThatWereAskedStay(t *testing.T) {
	for _, test := range []struct {
		answer string
		status session.ToolCallStatus
		want   int
	}{
		{"yes", session.StatusCompleted, 1}, {"yes", session.StatusFailed, 0}, {"no", session.StatusFailed, 1},
	} {
		s, dir, may := diskSession(t)
		close(may)
		path := must.Write(t, dir, "a.txt", "1\n2\n3\n")
		s.on(func() {
			s.phase = ready
			s.permission.Ask(session.PermissionRequest{
				Context: context.Background(), Reply: func(string) {},
				Call: session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{replacing(path, "2", "two")})},
				Options: []session.PermissionOption{
					{ID: "yes", Name: "Yes", Kind: "allow_once"}, {ID: "no", Name: "No", Kind: "reject_once"},
				},
			})
			s.permission.Respond(int64(s.permission.About(&session.ToolCall{ID: "c"})), test.answer)
			s.apply(session.ToolCallPatch{ID: "c", Status: acp.Set(test.status), Content: acp.Set([]session.ToolCallContent{
				session.ContentItem{Content: session.Text{Text: "Wrote the file."}},
			})})
		})
		files := s.located("c")
		if len(files) != test.want || len(files) > 0 && (!files[0].Located || files[0].Added != 1) {
			t.Errorf("%s, then %s: %d changes: %+v", test.answer, test.status, len(files), files)
		}
		s.on(func() {
			if told := s.diffs.Of(s.conv.ToolCall("c")); (len(told) > 0) != (test.want > 0) {
				t.Errorf("%s, then %s: the diff to open is %v", test.answer, test.status, told)
			}
		})
	}
}
