package calldiff

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// window is a Neovim that takes what a window shows of a diff, and hands the answer on.
type window struct {
	gone    atomic.Bool
	answers chan any
}

func (n *window) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	for _, op := range ops {
		if m, ok := op.([]any)[1].(rpc.Callback); ok {
			n.answers <- m.Result
		}
		answers = append(answers, []any{true, !n.gone.Load()})
	}
	return answers, 0, nil
}

// requests has one open request, with number 7, about the changes of a call.
type requests struct {
	about  *session.ToolCall
	shown  map[string]*session.ToolCall // what requests show, by the ids of calls
	looked int
}

func (r *requests) Call(id int) *session.ToolCall {
	if id != 7 {
		return nil
	}
	return r.about
}

func (r *requests) Subject(call *session.ToolCall) *session.ToolCall {
	if shown := r.shown[call.ID]; shown != nil {
		return shown
	}
	return call
}

func (r *requests) About(call *session.ToolCall) int {
	if call != r.about {
		return 0
	}
	return 7
}

func (r *requests) LookAgain(_ *session.ToolCall, then func()) {
	r.looked++
	then()
}

// A window of a call's changes has a file of it, the names of all, what its sides are, and the request about it.
func TestWhatAWindowShows(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	n := &window{answers: make(chan any, 1)}
	s.base.Editor, s.base.Log = editor.New(n), slog.New(slog.DiscardHandler)
	s.work.Go(s.base.Editor.Run)
	conv := session.NewConversation(time.Now)
	asks := &requests{}
	s.config.Conversation, s.config.Requests = conv, func() Requests { return asks }
	s.config.At = func(int) *session.ToolCall { return conv.ToolCall("done") }
	must.Write(t, dir, "a", "1\n2\n")
	must.Write(t, dir, "b", "1\n")
	tells := func(id string, status session.ToolCallStatus, diffs ...session.ToolCallContent) {
		conv.Apply(session.ToolCallPatch{ID: id, Content: acp.Set(diffs), Status: acp.Set(status)})
		s.on(func() { s.Observe(conv.ToolCall(id)) })
	}
	a, b := replacing(filepath.Join(dir, "a"), "2\n", "two\nthree\n"), replacing(filepath.Join(dir, "b"), "0\n", "1\n")
	tells("done", session.StatusCompleted, b)
	tells("asks", session.StatusPending, b)
	tells("talked", session.StatusPending, b)
	tells("asked", session.StatusPending, a, b)
	tells("talks", session.StatusCompleted)
	asks.about = conv.ToolCall("asked")
	asks.shown = map[string]*session.ToolCall{"asks": asks.about, "talked": conv.ToolCall("talks")}
	const both = "[{a 2 1} {b 1 1}]"
	for name, c := range map[string]struct {
		m    rpc.ShowDiff
		want string
	}{
		"the last":                 {rpc.ShowDiff{}, "asked 7 1 " + both + " a now proposed"},
		"its second file":          {rpc.ShowDiff{File: 2}, "asked 7 2 " + both + " b now proposed"},
		"a file behind its last":   {rpc.ShowDiff{File: 9}, "asked 7 2 " + both + " b now proposed"},
		"a call":                   {rpc.ShowDiff{Call: "done"}, "done 0 1 [{b 1 1}] b before after"},
		"a request":                {rpc.ShowDiff{Permission: 7}, "asked 7 1 " + both + " a now proposed"},
		"a request, looked anew":   {rpc.ShowDiff{Permission: 7, Anew: true}, "asked 7 1 " + both + " a now proposed"},
		"an answered request":      {rpc.ShowDiff{Permission: 8}, ""},
		"a row of the chat":        {rpc.ShowDiff{Row: new(3)}, "done 0 1 [{b 1 1}] b before after"},
		"a call that asks":         {rpc.ShowDiff{Call: "asks"}, "asked 7 1 " + both + " a now proposed"},
		"a call without it since":  {rpc.ShowDiff{Call: "talked"}, ""},
		"a call without a change":  {rpc.ShowDiff{Call: "talks"}, ""},
		"a call that is not there": {rpc.ShowDiff{Call: "none"}, ""},
	} {
		s.base.Box.Put(func() { s.Show(c.m) })
		got := ""
		if m, ok := must.Receive(t, "the answer", n.answers).(rpc.Diff); ok {
			got = fmt.Sprint(m.Call, " ", m.Permission, m.At, " ", m.Files, " ", filepath.Base(m.Path), " ", m.Before, " ", m.After)
		}
		check.Equal(t, got, c.want, name+": it shows %q")
	}
	check.Equal(t, asks.looked, 1, "it is looked at anew %d times")
	n.gone.Store(true)
	s.base.Box.Put(func() { s.Show(rpc.ShowDiff{}) })
	check.Equal(t, must.Receive(t, "the answer", n.answers), nil, "a window that is gone gets %v")
}
