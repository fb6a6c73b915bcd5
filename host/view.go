package host

import (
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// shown is what Neovim is still to be told of a session, besides the chat and the events: the state that the Lua API
// reads.
type shown struct {
	session   bool
	changes   map[int]*rpc.ChangedFile  // changed files, by their id in the record; nil: as before
	terminals map[*sessionTerminal]bool // which show more; true: the mirror of them is out of date
}

// apply brings an update into the state, and notes for the mirror and the
// events which tool calls it began, changed or ended.
func (s *Session) apply(u session.Update) {
	s.conv.Apply(u)
	for _, call := range s.conv.TakeTouched() {
		began, ended := s.calls.Touch(call)
		if began {
			s.events.AddCall("AcpToolCall", call, nil)
		}
		if status := call.Shown(); ended {
			s.events.AddCall("AcpToolCallEnd", call, map[string]any{"status": string(status)})
			s.permission.CallEnded(call, status)
		}
		// Who lives on tool calls: the ledger of changes, the diffs, the follower,
		// the terminals.
		s.ledger.Follow(call, s.outbox.turnOpen() || s.working.recent())
		s.diffs.Follow(call)
		s.trace(call)
		s.refer(call)
	}
}

// changed says that the mirror is out of date, and the user is to see it at once.
func (s *Session) changed() {
	s.shown.session = true
	s.urgent.Store(true)
	s.base.Editor.Hurry(s)
}

func (s *Session) mark() { s.base.Editor.Mark(s) }

// Interval is how often Neovim is told: at most once a frame, and ten times a
// second where nobody looks.
func (s *Session) Interval() time.Duration {
	if s.visible.Load() || s.urgent.Load() {
		return 0
	}
	return 100 * time.Millisecond
}

// Take asks the session's goroutine for what Neovim is to be told next.
func (s *Session) Take(budget int) (ops []editor.Op, more bool) {
	done := make(chan struct{})
	if !s.base.Box.Put(func() {
		ops, more = s.take(budget)
		close(done)
	}) {
		return nil, false
	}
	<-done
	return ops, more
}

func (s *Session) take(budget int) ([]editor.Op, bool) {
	s.urgent.Store(false)
	if s.shown.session {
		s.chat.Await(s.waiting())
	}
	s.chat.Sync()
	for t := range s.shown.terminals {
		s.chat.TouchTerminal(t.id)
	}
	ops := s.chat.Ops(budget)
	ops = append(ops, s.review.ops(budget)...)
	calls := s.calls.Take()
	events := s.eventOps() // before the mirror, which says with them that the turn is over
	ops = append(ops, s.mirrorOps(calls)...)
	ops = append(ops, s.terminalOps()...)
	ops = append(ops, events...)
	return ops, s.chat.Dirty() || s.review.dirty() || s.calls.Pending()
}

// waiting is what the chat shows of the prompts that are not sent yet. The one that gathers what goes along with
// it looks as if it were: it is about to be.
func (s *Session) waiting() []transcript.Waiting {
	why, begun := "waiting", ""
	switch {
	case s.closed:
		why, begun = "not sent", "not sent"
	case s.outbox.paused:
		why = "paused"
	}
	var list []transcript.Waiting
	add := func(blocks []session.Content, why string) {
		words, _ := withoutUnsaved(blocks)
		list = append(list, transcript.Waiting{Blocks: words, Why: why, Brief: s.outbox.turnOpen()})
	}
	if s.outbox.stage == gathering {
		add(s.outbox.current, begun)
	}
	for _, blocks := range s.outbox.queue {
		add(blocks, why)
	}
	return list
}

// flush hands out all that Neovim is still to be told: a closed session is not
// asked any more.
func (s *Session) flush() {
	s.base.Editor.Forget(s)
	for more := true; more; {
		var ops []editor.Op
		ops, more = s.take(64 << 10)
		for _, op := range ops {
			s.base.Editor.Post(op)
		}
	}
}

// in says that a message is about this session.
func (s *Session) in() rpc.In { return rpc.In{Session: s.id} }

func (s *Session) mirrorOps(calls []rpc.ToolCallAt) []editor.Op {
	var ops []editor.Op
	if s.shown.session {
		s.shown.session = false
		ops = append(ops, editor.Do(s.mirror()))
	}
	if len(calls) > 0 {
		ops = append(ops, editor.Do(rpc.ToolCalls{In: s.in(), Calls: calls}))
	}
	if len(s.shown.changes) > 0 {
		list := make([]rpc.ChangedFileAt, 0, len(s.shown.changes))
		for id, file := range s.shown.changes {
			list = append(list, rpc.ChangedFileAt{At: id, File: file})
		}
		s.shown.changes = map[int]*rpc.ChangedFile{}
		ops = append(ops, editor.Do(rpc.Changes{In: s.in(), Files: list}))
	}
	if list, changed := s.permission.Take(); changed {
		ops = append(ops, editor.Do(rpc.Permissions{In: s.in(), Permissions: list}))
	}
	return ops
}

// eventOps are the events that are due. The state that is told after the end of a turn says that it is over.
func (s *Session) eventOps() []editor.Op {
	ending := s.events.Ending()
	due := s.events.Take()
	if len(due) == 0 {
		return nil
	}
	if ending && !s.events.Ending() {
		s.shown.session = true
	}
	return []editor.Op{editor.Do(rpc.Events{Events: due})}
}
