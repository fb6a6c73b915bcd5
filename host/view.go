package host

import (
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// apply brings an update into the state, and notes for Lua and the events which tool calls it began, changed or ended.
func (s *Session) apply(u session.Update) {
	s.conv.Apply(u)
	s.recorder.Note(u)
	s.touched()
}

// touched is for the tool calls that were changed in the conversation.
func (s *Session) touched() {
	for _, call := range s.conv.TakeTouched() {
		s.noteEditorCall(call)
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
		s.ledger.Observe(call, s.prompts.TurnOpen() || s.working.recent())
		s.diffs.Observe(call)
		s.tracer.Observe(call)
		s.terminals.Observe(call)
	}
}

// changed says that what Lua keeps of the session is out of date, and the user is to see it at once.
func (s *Session) changed() {
	s.stale = true
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
	if s.stale {
		s.chat.Await(s.prompts.Waiting(s.closed))
	}
	s.chat.Sync()
	s.terminals.Touched(s.chat.TouchTerminal)
	ops := s.chat.Ops(budget)
	ops = append(ops, s.review.Tab.Edits(budget)...)
	if s.review.Tab.Dirty() {
		s.urgent.Store(true)
	}
	calls, changes := s.calls.Take(), s.review.Ops()
	var events []editor.Op
	if !s.review.Pending() {
		events = s.eventOps() // before the state, which says with them that the turn is over
	}
	ops = append(ops, s.stateOps(calls)...)
	ops = append(ops, changes...)
	ops = append(ops, s.terminals.Ops()...)
	ops = append(ops, events...)
	return ops, s.chat.Dirty() || s.review.Tab.Dirty() || s.calls.Pending() || s.review.Pending() || s.events.Due()
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

// luaSession is the session as acp.sessions() returns it.
func (s *Session) luaSession() rpc.Session {
	queued := s.prompts.Queued()
	m := rpc.Session{
		ID: s.id, Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, State: s.state(), AgentSessionID: s.remote.stored,
		Permissions: s.permission.Waiting(), Queued: len(queued), Paused: s.prompts.Paused(), Queue: queued, Ahead: s.prompts.SentAhead(),
		Unsaved: s.prompts.Unsaved.Offered(), LeftOut: s.servers.LeftOut(), EditorTools: s.toolsState(),
	}
	luastate.Conversation(&m, s.conv)
	luastate.Agent(&m, s.info)
	if s.phase == dead || s.phase == authRequired {
		m.Error = s.failure
	}
	if s.agent != nil {
		if agent, can := s.agent.Agent.(session.Canceller); can {
			m.Cancels = agent.MayCancel(s.remote.id)
		}
		login := s.agent.loggedIn()
		m.Account, m.Login = login.Accounts, string(login.State)
	}
	m.Forks, m.ForksBefore, m.Providers, m.Directories = s.info.Forks, s.info.ForksAfter, s.info.Providers, s.base.Roots[1:]
	if s.lacks.Why != "" {
		m.Lacks = &rpc.Lack{Why: s.lacks.Why, Files: s.lacks.Files}
	}
	return m
}

// stateOps tell Lua what is new of the state that it keeps.
func (s *Session) stateOps(calls []rpc.ToolCallAt) []editor.Op {
	var ops []editor.Op
	if s.stale {
		s.stale = false
		ops = append(ops, editor.Do(s.luaSession()))
	}
	if len(calls) > 0 {
		ops = append(ops, editor.Do(rpc.ToolCalls{In: s.in(), Calls: calls}))
	}
	if list, changed := s.questions.Take(); changed {
		ops = append(ops, editor.Do(rpc.Elicitations{In: s.in(), Elicitations: list}))
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
		s.stale = true
	}
	return []editor.Op{editor.Do(rpc.Events{Events: due})}
}

// tellChanges tells Lua what is new in the record, then the events that follow it. It is called on the ledger's
// goroutine.
func (s *Session) tellChanges(changed []review.File, gone []int, events []ledger.Event) {
	update := reviewui.NewUpdate(changed, gone)
	s.base.Box.Put(func() {
		s.review.Take(update, len(events) > 0)
		data := make([]map[string]any, len(events))
		for i, e := range events {
			data[i] = map[string]any{"path": e.Path, "by": e.By}
		}
		s.events.AddChanges(data)
		s.changed()
	})
}

// tellLacks has Neovim know what the copies of the session's folders leave out. Any goroutine.
func (s *Session) tellLacks(now ledger.Lack) {
	s.base.Box.Put(func() {
		s.lacks = now
		s.changed()
	})
}
