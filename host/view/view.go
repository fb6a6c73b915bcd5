// Package view gathers what Neovim is told about a session: what its features draw, what Lua keeps of it, and events.
// The editor asks for it when Neovim has time.
package view

import (
	"reflect"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/events"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// hidden is how often Neovim is updated about a session whose chat no window shows.
const hidden = 100 * time.Millisecond

// Chat draws the chat.
type Chat interface {
	Await(prompts []transcript.Waiting)
	Tick()
	TouchTerminal(id string)
	Sync()
	Ops(budget int) []editor.Op
	Dirty() bool
}

// Tab draws the review page.
type Tab interface {
	Edits(budget int) []editor.Op
	Dirty() bool
}

// Review tells Lua which files have changed.
type Review interface {
	Ops() []editor.Op
	Pending() bool
}

// Terminals tells Lua about terminals, and the chat which of them have changed.
type Terminals interface {
	Touched(func(id string))
	Ops() []editor.Op
}

// List is a list that Lua gets as a whole when something in it has changed.
type List[T any] interface {
	Take() (list []T, changed bool)
}

// Parts is what there is to report. The functions are called on the session's goroutine.
type Parts struct {
	Chat      Chat
	Tab       Tab
	Review    Review
	Terminals Terminals
	Calls     *luastate.Calls
	Questions List[rpc.Elicitation]
	Requests  List[rpc.Permission]
	Events    *events.Queue

	State   func() rpc.Session          // what Lua keeps of the session
	Waiting func() []transcript.Waiting // the prompts that wait
	Working func() bool                 // a turn runs
}

// View is what Neovim is told about one session. Its methods belong to the session's goroutine, except where noted.
type View struct {
	in     rpc.In
	box    *mailbox.Mailbox
	editor *editor.Editor
	parts  Parts

	visible atomic.Bool // a window shows the chat
	urgent  atomic.Bool // something must not wait for a hidden chat's turn

	stale bool        // what Lua keeps of the session may be out of date
	told  rpc.Session // what Lua keeps of it
	clock *time.Timer
}

// New returns the view of a session, with everything still to be told. [View.Of] must be called before anything is
// marked.
func New(session int, box *mailbox.Mailbox, nvim *editor.Editor) *View {
	return &View{in: rpc.In{Session: session}, box: box, editor: nvim, stale: true}
}

// Of sets the parts of the view.
func (v *View) Of(parts Parts) { v.parts = parts }

// Show says whether a window shows the chat. Any goroutine.
func (v *View) Show(visible bool) {
	v.visible.Store(visible)
	v.Mark()
}

// Visible reports whether a window shows the chat. Any goroutine.
func (v *View) Visible() bool { return v.visible.Load() }

// Mark says that there is more to tell. Any goroutine.
func (v *View) Mark() { v.editor.Mark(v) }

// MarkUrgent is Mark for what does not wait until a window shows the chat. Any goroutine.
func (v *View) MarkUrgent() {
	v.urgent.Store(true)
	v.Mark()
}

// Hurry is Mark for what the user waits for, see [editor.Editor.Hurry]. Any goroutine.
func (v *View) Hurry() { v.editor.Hurry(v) }

// HurryUrgent is Hurry for what does not wait until a window shows the chat. Any goroutine.
func (v *View) HurryUrgent() {
	v.urgent.Store(true)
	v.Hurry()
}

// Changed says that what Lua keeps of the session may be out of date, and the user should see it at once.
func (v *View) Changed() {
	v.stale = true
	v.HurryUrgent()
}

// Changing is Changed where more of the same may come.
func (v *View) Changing() {
	v.stale = true
	v.MarkUrgent()
}

// StartClock updates the durations in the chat while a turn runs.
func (v *View) StartClock() {
	v.StopClock()
	v.clock = time.AfterFunc(time.Second, func() {
		v.box.Put(func() {
			if v.parts.Working() {
				v.parts.Chat.Tick()
				v.Mark()
				v.StartClock()
			}
		})
	})
}

// StopClock ends what StartClock began.
func (v *View) StopClock() {
	if v.clock != nil {
		v.clock.Stop()
	}
}

// Interval returns how often Neovim is updated: at most once a frame, and rarely if nobody looks.
func (v *View) Interval() time.Duration {
	if v.visible.Load() || v.urgent.Load() {
		return 0
	}
	return hidden
}

// Take asks the session's goroutine for what to tell Neovim next, about budget bytes of it. The editor's goroutine.
func (v *View) Take(budget int) (ops []editor.Op, more bool) {
	done := make(chan struct{})
	if !v.box.Put(func() {
		ops, more = v.Next(budget)
		close(done)
	}) {
		return nil, false
	}
	<-done
	return ops, more
}

// Next is Take on the session's goroutine.
func (v *View) Next(budget int) (ops []editor.Op, more bool) {
	p := v.parts
	v.urgent.Store(false)
	if v.stale {
		p.Chat.Await(p.Waiting())
	}
	p.Chat.Sync()
	p.Terminals.Touched(p.Chat.TouchTerminal)
	ops = p.Chat.Ops(budget)
	ops = append(ops, p.Tab.Edits(budget)...)
	if p.Tab.Dirty() {
		v.urgent.Store(true)
	}
	calls, changes := p.Calls.Take(), p.Review.Ops()
	var due []editor.Op
	if !p.Review.Pending() {
		due = v.events() // before the state, which says with them that the turn is over
	}
	ops = append(ops, v.state(calls)...)
	ops = append(ops, changes...)
	ops = append(ops, p.Terminals.Ops()...)
	ops = append(ops, due...)
	return ops, p.Chat.Dirty() || p.Tab.Dirty() || p.Calls.Pending() || p.Review.Pending() || p.Events.Due()
}

// Close posts everything that Neovim must still be told about an ended session: it is not asked any more.
func (v *View) Close() {
	v.stale = true
	v.editor.Forget(v)
	for more := true; more; {
		var ops []editor.Op
		ops, more = v.Next(64 << 10)
		for _, op := range ops {
			v.editor.Post(op)
		}
	}
}

// state returns the updates of the state that Lua keeps.
func (v *View) state(calls []rpc.ToolCallAt) []editor.Op {
	var ops []editor.Op
	if v.stale {
		v.stale = false
		// Most updates, such as a tool call's output, do not change it.
		if now := v.parts.State(); !reflect.DeepEqual(now, v.told) {
			v.told = now
			ops = append(ops, editor.Do(now))
		}
	}
	if len(calls) > 0 {
		ops = append(ops, editor.Do(rpc.ToolCalls{In: v.in, Calls: calls}))
	}
	if list, changed := v.parts.Questions.Take(); changed {
		ops = append(ops, editor.Do(rpc.Elicitations{In: v.in, Elicitations: list}))
	}
	if list, changed := v.parts.Requests.Take(); changed {
		ops = append(ops, editor.Do(rpc.Permissions{In: v.in, Permissions: list}))
	}
	return ops
}

// events returns those that are due. The state sent after the end of a turn says that it is over.
func (v *View) events() []editor.Op {
	ending := v.parts.Events.Ending()
	due := v.parts.Events.Take()
	if len(due) == 0 {
		return nil
	}
	if ending && !v.parts.Events.Ending() {
		v.stale = true
	}
	return []editor.Op{editor.Do(rpc.Events{Events: due})}
}
