package editortools

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// busyNeovim answers nothing before it is let.
type busyNeovim struct {
	let chan struct{}
	got []any
}

func (n *busyNeovim) Batch(ops []any) ([]any, time.Duration, error) {
	<-n.let
	n.got = append(n.got, ops...)
	return make([]any, len(ops)), 0, nil
}

// A call that ends while Neovim is too busy to begin with it is given up there too.
func TestGiveUpWhatNeovimHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nvim := &busyNeovim{let: make(chan struct{})}
		e := editor.New(nvim)
		go e.Run()
		s := New(Config{Editor: e})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = s.askLua(ctx, rpc.EditorTool{Tool: "definition"})
		}()
		synctest.Wait()
		cancel()
		<-ended
		close(nvim.let)
		synctest.Wait()
		time.Sleep(time.Second) // of the bubble's clock
		if n := len(nvim.got); n != 2 {
			t.Errorf("Neovim got %d messages: %v", n, nvim.got)
		}
		e.Close()
	})
}

// begins is a Neovim that begins with everything, and ends nothing.
type begins struct{ got []any }

func (n *begins) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	n.got = append(n.got, ops...)
	for range ops {
		answers = append(answers, []any{true, nil})
	}
	return answers, 0, nil
}

// A call that ends while Neovim works on it says why, and Neovim gives it up; an answer that comes late hurts nobody.
func TestGiveUpWhatNeovimHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nvim := &begins{}
		e := editor.New(nvim)
		go e.Run()
		s := New(Config{Editor: e})
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error)
		go func() {
			_, err := s.askLua(ctx, rpc.EditorTool{Tool: "definition"})
			ended <- err
		}()
		synctest.Wait()
		cancel(errTurnEnded)
		check.Equal(t, <-ended, errTurnEnded, "it ends with %v")
		synctest.Wait()
		time.Sleep(time.Second) // of the bubble's clock
		var got []any
		for _, op := range nvim.got {
			got = append(got, op.([]any)[1])
		}
		check.Deep(t, got, []any{rpc.EditorTool{ID: 1, Tool: "definition"}, rpc.CancelEditorTool{ID: 1}}, "Neovim got %v")
		s.Done(rpc.EditorToolDone{ID: 1})
		e.Close()
	})
}

// A call that Neovim has begun with ends with Neovim.
func TestACallEndsWithNeovim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := editor.New(&begins{})
		go e.Run()
		s := New(Config{Editor: e})
		ended := make(chan error)
		go func() {
			_, err := s.askLua(t.Context(), rpc.EditorTool{Tool: "definition"})
			ended <- err
		}()
		synctest.Wait()
		e.Close()
		check.Equal(t, <-ended, editor.ErrGone, "it ends with %v")
		check.Equal(t, len(s.lua.waiting), 0, "%d calls wait")
	})
}
