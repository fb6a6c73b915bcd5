package host

import (
	"strconv"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// shown is what Neovim is still to be told of a session, besides the chat:
// the mirror that the Lua API reads, and the events for the user's autocommands.
type shown struct {
	session     bool
	permissions bool
	calls       map[*session.ToolCall]int  // changed, with their position
	waiting     []*session.ToolCall        // the same, in the order in which they have: so new ones in that of their positions
	positions   map[*session.ToolCall]int  // of all calls, in the order first seen
	ended       map[*session.ToolCall]bool // whose end was told
	changes     map[int]any                // changed files, by their id in the record; false for no more
	terminals   map[*sessionTerminal]bool  // which show more; true: the mirror of them is out of date
	events      []event
	ends        int // of turns among them
	unsent      int // lines of the chat's end that are of prompts which wait; -1: not told
}

// event is a `User` autocommand to fire. The mirror is brought up to date
// before it, and for the end of a turn the chat too.
type event struct {
	name  string
	data  map[string]any
	call  *session.ToolCall // that it is about, if any
	after int               // of a turn's end, see [ledger.Ledger.EndTurn]
}

// callsAtOnce is how many tool calls Neovim is told of in one batch, and so
// bounds their events: a burst of them must not hold up a key.
const callsAtOnce = 500

func (s *Session) event(name string, data map[string]any) {
	if data == nil {
		data = map[string]any{}
	}
	data["session"] = s.id
	if name == "AcpTurnEnd" {
		s.shown.ends++
	}
	s.shown.events = append(s.shown.events, event{name: name, data: data})
}

func (s *Session) callEvent(name string, call *session.ToolCall, data map[string]any) {
	data["id"] = call.ID
	s.event(name, data)
	s.shown.events[len(s.shown.events)-1].call = call
}

// apply brings an update into the state, and notes for the mirror and the
// events which tool calls it began, changed or ended.
func (s *Session) apply(u session.Update) {
	s.conv.Apply(u)
	for _, call := range s.conv.TakeTouched() {
		at, known := s.shown.positions[call]
		if !known {
			at = len(s.shown.positions)
			s.shown.positions[call] = at
			s.callEvent("AcpToolCall", call, map[string]any{})
		}
		if status := call.Shown(); status.Finished() && !s.shown.ended[call] {
			s.shown.ended[call] = true
			s.callEvent("AcpToolCallEnd", call, map[string]any{"status": string(status)})
			s.learnFrom(call)
			s.offerTakingOut(call.ID, false, status == session.StatusCompleted)
		}
		if _, waits := s.shown.calls[call]; !waits {
			s.shown.waiting = append(s.shown.waiting, call)
		}
		s.shown.calls[call] = at
		// Who lives on tool calls: the ledger of changes, the diffs, the follower,
		// the terminals.
		s.ledger.Follow(call, s.outbox.turnOpen() || s.working.recent())
		s.followDiffs(call)
		s.trace(call)
		s.refer(call)
	}
}

// changed says that the mirror is out of date, and the user is to see it at once.
func (s *Session) changed() {
	s.shown.session = true
	s.urgent.Store(true)
	s.host.editor.Hurry(s)
}

func (s *Session) mark() { s.host.editor.Mark(s) }

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
	if !s.box.Put(func() {
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
	var ops []editor.Op
	for _, e := range s.chat.Take(budget) {
		ops = append(ops, s.editOp("edit", s.chat, e))
	}
	if rows := s.chat.Unsent(); rows != s.shown.unsent {
		s.shown.unsent = rows
		ops = append(ops, editor.Op{Name: "unsent", Args: map[string]any{"session": s.id, "rows": rows}})
	}
	ops = append(ops, s.review.ops(budget)...)
	calls := s.callOps()
	events := s.eventOps() // before the mirror, which says with them that the turn is over
	ops = append(ops, s.mirrorOps(calls)...)
	ops = append(ops, s.terminalOps()...)
	ops = append(ops, events...)
	due := len(s.shown.events) > 0 && s.ledger.Told(s.shown.events[0].after) && !s.locating()
	return ops, s.chat.Dirty() || s.review.dirty() || len(s.shown.calls) > 0 || due
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
	s.host.editor.Forget(s)
	for more := true; more; {
		var ops []editor.Op
		ops, more = s.take(64 << 10)
		for _, op := range ops {
			s.host.editor.Post(op)
		}
	}
}

// drawn is what is shown in a buffer, and can be begun anew.
type drawn interface{ Reset() }

// editOp has Lua make an edit of what is drawn.
func (s *Session) editOp(name string, of drawn, e page.Edit) editor.Op {
	decor := make([]any, len(e.Decor))
	for i, d := range e.Decor {
		decor[i] = map[string]any{
			"row": d.Row, "right": d.Right, "right_group": d.RightGroup, "sign": d.Sign, "sign_group": d.SignGroup,
		}
	}
	code := make([]any, len(e.Code))
	for i, c := range e.Code {
		around := make([]any, len(c.Around))
		for j, a := range c.Around {
			around[j] = map[string]any{"line": a.Line, "lines": a.Lines}
		}
		code[i] = map[string]any{
			"row": c.Row, "end_row": c.EndRow, "lang": c.Lang,
			"file": c.File, "col": c.Col, "cols": some(c.Cols), "sides": c.Sides, "around": around,
		}
	}
	images := make([]any, len(e.Images))
	for i, image := range e.Images {
		images[i] = map[string]any{"row": image.Row, "path": image.Path}
	}
	prose := make([]any, len(e.Prose))
	for i, rows := range e.Prose {
		prose[i] = map[string]any{"row": rows[0], "end_row": rows[1]}
	}
	lines := e.Lines
	if lines == nil {
		lines = []string{}
	}
	return editor.Op{
		Name: name,
		Args: map[string]any{
			"session": s.id, "seq": e.Seq, "count": e.Count, "row": e.Row, "end_row": e.EndRow, "append": e.Append, "col": e.Col, "lines": lines,
			"mark_row": e.MarkRow, "mark_end": e.MarkEnd, "marks": lineMarks(e), "decor": decor, "code": code,
			"images": images, "prose": prose,
		},
		Done: func(_ any, err error) {
			if err != nil {
				s.box.Put(func() { s.redraw(name, of, err) })
			}
		},
	}
}

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
	s.host.log.Info("draw a buffer anew", "session", s.id, "after", name, "why", why)
	of.Reset()
	s.shown.unsent = -1
	time.AfterFunc(100*time.Millisecond, s.mark)
}

func (s *Session) mirrorOps(calls []editor.Op) []editor.Op {
	var ops []editor.Op
	if s.shown.session {
		s.shown.session = false
		ops = append(ops, editor.Op{Name: "session", Args: s.mirror()})
	}
	ops = append(ops, calls...)
	if len(s.shown.changes) > 0 {
		list := make([]any, 0, len(s.shown.changes))
		for id, file := range s.shown.changes {
			list = append(list, map[string]any{"at": id, "file": file})
		}
		s.shown.changes = map[int]any{}
		ops = append(ops, editor.Op{Name: "changes", Args: map[string]any{"session": s.id, "files": list}})
	}
	if s.shown.permissions {
		s.shown.permissions = false
		waiting := s.permissions.waiting()
		list := make([]any, len(waiting))
		for i, p := range waiting {
			list[i] = s.snapshot(p)
		}
		ops = append(ops, editor.Op{Name: "permissions", Args: map[string]any{"session": s.id, "permissions": list}})
	}
	return ops
}

// callOps are the tool calls that have changed, no more than Neovim takes at once.
func (s *Session) callOps() []editor.Op {
	n := min(callsAtOnce, len(s.shown.waiting))
	if n == 0 {
		return nil
	}
	var calls []any
	for _, call := range s.shown.waiting[:n] {
		calls = append(calls, map[string]any{"at": s.shown.calls[call] + 1, "call": mirrorCall(call, mirrored)})
		delete(s.shown.calls, call)
	}
	if s.shown.waiting = s.shown.waiting[n:]; len(s.shown.waiting) == 0 {
		s.shown.waiting, s.shown.calls = nil, map[*session.ToolCall]int{} // one that was large once stays slow
	}
	return []editor.Op{{Name: "tool_calls", Args: map[string]any{"session": s.id, "calls": calls}}}
}

// eventOps are the events whose time has come: of a tool call once the mirror
// has it, of the end of a turn once the chat shows all of it and its changes
// are in the record, and what came later waits behind.
func (s *Session) eventOps() []editor.Op {
	var due []any
	for len(s.shown.events) > 0 {
		e := s.shown.events[0]
		if e.name == "AcpTurnEnd" && (s.chat.Dirty() || s.locating() || !s.ledger.Told(e.after)) {
			break
		}
		if _, waits := s.shown.calls[e.call]; waits {
			break
		}
		s.shown.events = s.shown.events[1:]
		if e.name == "AcpTurnEnd" {
			s.shown.ends--
			s.shown.session = true
		}
		due = append(due, map[string]any{"name": e.name, "data": e.data})
	}
	if len(due) == 0 {
		return nil
	}
	return []editor.Op{{Name: "events", Args: map[string]any{"events": due}}}
}
