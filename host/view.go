package host

import (
	"strconv"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// shown is what Neovim is still to be told of a session, besides the chat and the events: the state that the Lua API
// reads.
type shown struct {
	session     bool
	permissions bool
	calls       map[*session.ToolCall]int  // changed, with their position
	waiting     []*session.ToolCall        // the same, in the order in which they have: so new ones in that of their positions
	positions   map[*session.ToolCall]int  // of all calls, in the order first seen
	ended       map[*session.ToolCall]bool // whose end was told
	unsent      int                        // lines of the chat's end that are of prompts which wait; -1: not told
}

// callsAtOnce is how many tool calls Neovim is told of in one batch, and so
// bounds their events: a burst of them must not hold up a key.
const callsAtOnce = 500

// apply brings an update into the state, and notes for the mirror and the
// events which tool calls it began, changed or ended.
func (s *Session) apply(u session.Update) {
	s.conv.Apply(u)
	for _, call := range s.conv.TakeTouched() {
		at, known := s.shown.positions[call]
		if !known {
			at = len(s.shown.positions)
			s.shown.positions[call] = at
			s.events.AddCall("AcpToolCall", call, nil)
		}
		if status := call.Shown(); status.Finished() && !s.shown.ended[call] {
			s.shown.ended[call] = true
			s.events.AddCall("AcpToolCallEnd", call, map[string]any{"status": string(status)})
			s.learnFrom(call)
			s.offerTakingOut(call.ID, false, status == session.StatusCompleted)
		}
		if _, waits := s.shown.calls[call]; !waits {
			s.shown.waiting = append(s.shown.waiting, call)
		}
		s.shown.calls[call] = at
		// Who lives on tool calls: the ledger of changes, the diffs, the follower,
		// the terminals.
		s.ledger.Follow(call, s.prompts.TurnOpen() || s.working.recent())
		s.diffs.Follow(call)
		s.tracer.Observe(call)
		s.terminals.Observe(call)
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
		s.chat.Await(s.prompts.Waiting(s.closed))
	}
	s.chat.Sync()
	s.terminals.Touched(s.chat.TouchTerminal)
	var ops []editor.Op
	for _, e := range s.chat.Take(budget) {
		ops = append(ops, s.draw(s.chat, editor.Do(s.edit(e))))
	}
	if rows := s.chat.Unsent(); rows != s.shown.unsent {
		s.shown.unsent = rows
		ops = append(ops, editor.Do(rpc.Unsent{In: s.in(), Rows: rows}))
	}
	ops = append(ops, s.review.Tab.Edits(budget)...)
	if s.review.Tab.Dirty() {
		s.urgent.Store(true)
	}
	calls := s.callOps()
	events := s.eventOps() // before the mirror, which says with them that the turn is over
	ops = append(ops, s.mirrorOps(calls)...)
	ops = append(ops, s.terminals.Ops()...)
	ops = append(ops, events...)
	return ops, s.chat.Dirty() || s.review.Tab.Dirty() || len(s.shown.calls) > 0
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

// drawn is what is shown in a buffer, and can be begun anew.
type drawn interface{ Reset() }

// draw has Lua execute op, an edit of a page, and the page drawn anew where that fails.
func (s *Session) draw(of drawn, op editor.Op) editor.Op {
	op.Done = func(_ any, err error) {
		if err != nil {
			s.base.Box.Put(func() { s.redraw(op.Name, of, err) })
		}
	}
	return op
}

// edit is an edit of a page as Lua takes it.
func (s *Session) edit(e page.Edit) rpc.Edit {
	edit := rpc.Edit{
		In: s.in(), Seq: e.Seq, Count: e.Count, Row: e.Row, EndRow: e.EndRow, Append: e.Append, Col: e.Col, Lines: e.Lines,
		MarkRow: e.MarkRow, MarkEnd: e.MarkEnd, Marks: lineMarks(e),
	}
	for _, d := range e.Decor {
		edit.Decor = append(edit.Decor, rpc.Decor(d))
	}
	for _, c := range e.Code {
		code := rpc.Code{
			Row: c.Row, EndRow: c.EndRow, Lang: c.Lang, File: c.File, Col: c.Col, Cols: c.Cols, Sides: c.Sides,
		}
		for _, a := range c.Around {
			code.Around = append(code.Around, rpc.Around(a))
		}
		edit.Code = append(edit.Code, code)
	}
	for _, image := range e.Images {
		edit.Images = append(edit.Images, rpc.Image(image))
	}
	for _, rows := range e.Prose {
		edit.Prose = append(edit.Prose, rpc.Rows{Row: rows[0], EndRow: rows[1]})
	}
	return edit
}

// in says that a message is about this session.
func (s *Session) in() rpc.In { return rpc.In{Session: s.id} }

// lineMarks is the highlights of an edit as Lua keeps them, a string for each
// line: column, end column, group, and so on.
func lineMarks(e page.Edit) []string {
	lines := make([]string, e.MarkEnd-e.MarkRow)
	var words []byte
	for i := 0; i < len(e.Marks); {
		row := e.Marks[i]
		for words = words[:0]; i < len(e.Marks) && e.Marks[i] == row; i += 4 {
			for _, n := range e.Marks[i+1 : i+4] {
				words = append(strconv.AppendInt(words, int64(n), 10), ' ')
			}
		}
		lines[row-e.MarkRow] = string(words)
	}
	return lines
}

// redraw fills a buffer anew, after an edit did not reach it: somebody changed
// it, or Neovim was in a state that allows no change.
func (s *Session) redraw(name string, of drawn, why error) {
	s.base.Log.Info("draw a buffer anew", "session", s.id, "after", name, "why", why)
	of.Reset()
	s.shown.unsent = -1
	time.AfterFunc(100*time.Millisecond, s.mark)
}

func (s *Session) mirrorOps(calls []editor.Op) []editor.Op {
	var ops []editor.Op
	if s.shown.session {
		s.shown.session = false
		ops = append(ops, editor.Do(s.mirror()))
	}
	ops = append(ops, calls...)
	ops = append(ops, s.review.Mirror()...)
	if s.shown.permissions {
		s.shown.permissions = false
		waiting := s.permissions.waiting()
		list := make([]rpc.Permission, len(waiting))
		for i, p := range waiting {
			list[i] = s.snapshot(p)
		}
		ops = append(ops, editor.Do(rpc.Permissions{In: s.in(), Permissions: list}))
	}
	return ops
}

// callOps are the tool calls that have changed, no more than Neovim takes at once.
func (s *Session) callOps() []editor.Op {
	n := min(callsAtOnce, len(s.shown.waiting))
	if n == 0 {
		return nil
	}
	var calls []rpc.ToolCallAt
	for _, call := range s.shown.waiting[:n] {
		calls = append(calls, rpc.ToolCallAt{At: s.shown.calls[call] + 1, Call: mirrorCall(call, mirrored)})
		delete(s.shown.calls, call)
	}
	if s.shown.waiting = s.shown.waiting[n:]; len(s.shown.waiting) == 0 {
		s.shown.waiting, s.shown.calls = nil, map[*session.ToolCall]int{} // one that was large once stays slow
	}
	return []editor.Op{editor.Do(rpc.ToolCalls{In: s.in(), Calls: calls})}
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
