package view

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/events"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/transcript"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

// scene is the view of a session whose parts have the operations that the test gives them, by their names.
type scene struct {
	*View
	*featuretest.Session
	calls   *luastate.Calls
	queue   *events.Queue
	waiting []transcript.Waiting
	working bool
	title   string

	chat, tab, review, terminals part
	questions                    list[rpc.Elicitation]
	requests                     list[rpc.Permission]
}

func play(t *testing.T, test func(s *scene)) {
	featuretest.Play(t, func(on *featuretest.Session) {
		s := &scene{Session: on, calls: luastate.NewCalls()}
		s.View = New(1, on.Box, on.Editor)
		s.queue = events.New(events.Config{
			Listed: s.calls.Listed, Drawn: func() bool { return !s.chat.Dirty() }, Recorded: func(int) bool { return true },
		})
		s.Of(Parts{
			Chat: chat{s}, Tab: tab{&s.tab}, Review: &s.review, Terminals: terminals{&s.terminals}, Calls: s.calls,
			Questions: &s.questions, Requests: &s.requests, Events: s.queue,
			State:   func() rpc.Session { return rpc.Session{ID: 1, Title: s.title, Queue: []string{"a"}} },
			Waiting: func() []transcript.Waiting { return s.waiting },
			Working: func() bool { return s.working },
		})
		test(s)
	})
}

// part is operations that are to be told, one at a time.
type part []editor.Op

func (p *part) Ops() (ops []editor.Op) {
	n := min(1, len(*p))
	ops, *p = slices.Clip((*p)[:n]), (*p)[n:]
	return ops
}

func (p *part) Dirty() bool   { return len(*p) > 0 }
func (p *part) Pending() bool { return len(*p) > 0 }

type chat struct{ s *scene }

func (c chat) Await(prompts []transcript.Waiting) { c.s.Did("wait", len(prompts)) }
func (c chat) Tick()                              { c.s.Did("tick") }
func (c chat) TouchTerminal(id string)            { c.s.Did("touch", id) }
func (c chat) Sync()                              { c.s.Did("sync") }
func (c chat) Ops(int) []editor.Op                { return c.s.chat.Ops() }
func (c chat) Dirty() bool                        { return c.s.chat.Dirty() }

type tab struct{ *part }

func (t tab) Edits(int) []editor.Op { return t.Ops() }

type terminals struct{ *part }

func (t terminals) Touched(f func(id string)) {
	if len(*t.part) > 0 {
		f("t1")
	}
}

type list[T any] []T

func (l *list[T]) Take() ([]T, bool) {
	all := *l
	*l = nil
	return all, all != nil
}

func named(names ...string) (ops []editor.Op) {
	for _, name := range names {
		ops = append(ops, editor.Op{Name: name})
	}
	return ops
}

// next is what Neovim is told next.
func (s *scene) next() (names []string, more bool) {
	s.On(func() {
		var ops []editor.Op
		ops, more = s.Next(1 << 10)
		for _, op := range ops {
			name := op.Name
			if of, ok := op.Args.(interface{ InSession() int }); ok && of.InSession() != 1 {
				name += " of another session"
			}
			names = append(names, name)
		}
	})
	return names, more
}

func (s *scene) expectNext(t *testing.T, more bool, want ...string) {
	t.Helper()
	if got, gotMore := s.next(); !slices.Equal(got, want) || gotMore != more {
		t.Errorf("told %q, more %v\nexpected %q, more %v", got, gotMore, want, more)
	}
}

// What draws comes first, then what Lua keeps, and events when Lua has what they are about.
func TestTheOrder(t *testing.T) {
	play(t, func(s *scene) {
		s.On(func() {
			s.waiting = make([]transcript.Waiting, 2)
			s.chat, s.tab, s.terminals = named("chat"), named("tab"), named("terminals")
			s.questions, s.requests = []rpc.Elicitation{{}}, []rpc.Permission{{}}
			s.review = named("changes")
			conv := s.Conversation()
			conv.Apply(session.ToolCallPatch{ID: "c", Status: acp.Set(session.StatusPending)})
			s.calls.Touch(conv.ToolCall("c"))
			s.queue.AddCall("AcpToolCall", conv.ToolCall("c"), nil)
		})
		s.expectNext(t, false, "chat", "tab", "session", "tool_calls", "elicitations", "permissions", "changes", "terminals", "events")
		s.Expect("wait 2", "sync", "touch t1")
		s.expectNext(t, false)
		s.Expect("sync")
		s.On(s.Changed) // but it has not
		s.Expect("wait 2", "sync")
	})
}

// An event waits until all changed files are told. The state that comes with the end of a turn says that it is over.
func TestEventsWait(t *testing.T) {
	play(t, func(s *scene) {
		s.expectNext(t, false, "session")
		s.On(func() {
			s.review, s.chat = named("first", "second"), named("chat", "more")
			s.queue.AddEnd(1, nil)
		})
		s.title = "over"
		s.expectNext(t, true, "chat", "first")
		s.expectNext(t, false, "more", "session", "second", "events")
		s.expectNext(t, false)
	})
}

func TestHowOftenNeovimIsTold(t *testing.T) {
	play(t, func(s *scene) {
		expect := func(when string, want time.Duration) {
			t.Helper()
			check.Equal(t, s.Interval(), want, "%s: every %v", when)
		}
		expect("nobody looks", hidden)
		s.urgent.Store(true)
		expect("it is urgent", 0)
		s.next()
		expect("it was told", hidden)
		s.On(func() { s.tab = named("first", "second") })
		s.next()
		expect("the review page has more", 0)
		s.next()
		s.Expect("wait 0", "sync", "sync", "sync")
		s.Show(true)
		time.Sleep(hidden)
		synctest.Wait()
		s.Expect("sync")
		expect("a window shows the chat", 0)
		if !s.Visible() {
			t.Error("no window shows the chat")
		}
	})
}

// A hidden chat has time, unless something must not wait for it, or the user waits.
func TestWhenNeovimIsTold(t *testing.T) {
	play(t, func(s *scene) {
		for _, c := range []struct {
			act         func()
			soon, state bool
		}{
			{s.Mark, false, false}, {s.MarkUrgent, true, false},
			{s.Hurry, true, false}, {s.HurryUrgent, true, false},
			{s.Changed, true, true}, {s.Changing, true, true},
		} {
			s.On(func() {
				s.title += "x"
				s.Changed()
			})
			s.Expect("wait 0", "sync", "session")
			s.Box.Put(s.Mark)
			time.Sleep(hidden / 2)
			synctest.Wait()
			s.Expect("sync") // the last time is not long ago
			s.Box.Put(func() {
				s.title += "y"
				c.act()
			})
			time.Sleep(hidden / 4)
			synctest.Wait()
			want := []string{"sync"}
			if c.state {
				want = []string{"wait 0", "sync", "session"}
			}
			if c.soon {
				s.Expect(want...)
				want = nil
			}
			time.Sleep(hidden)
			synctest.Wait()
			s.Expect(want...)
		}
	})
}

func TestTheClock(t *testing.T) {
	play(t, func(s *scene) {
		s.working = true
		s.Box.Put(s.StartClock)
		s.Box.Put(s.StartClock) // it is one clock
		time.Sleep(time.Second + hidden)
		synctest.Wait()
		s.Expect("tick", "wait 0", "sync", "session")
		time.Sleep(time.Second)
		synctest.Wait()
		s.Expect("tick", "sync")
		s.Box.Put(func() { s.working = false })
		time.Sleep(5 * time.Second)
		s.Box.Put(func() { s.working = true })
		s.Box.Put(s.StartClock)
		s.Box.Put(s.StopClock)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		s.Expect()
	})
}

// Of a session that has ended Neovim is told all there is, and no more.
func TestTheEnd(t *testing.T) {
	play(t, func(s *scene) {
		s.On(s.Changed)
		s.Expect("wait 0", "sync", "session")
		s.On(func() {
			s.title = "closed"
			s.chat = []editor.Op{editor.Do(rpc.Unsent{Rows: 1}), editor.Do(rpc.Unsent{Rows: 2}), editor.Do(rpc.Unsent{Rows: 3})}
			s.Close()
		})
		s.Expect("wait 0", "sync", "sync", "sync", "unsent {In:{Session:0} Rows:1}", "session", "unsent {In:{Session:0} Rows:2}",
			"unsent {In:{Session:0} Rows:3}")
		s.Box.Close()
		if ops, more := s.Take(1 << 10); ops != nil || more {
			t.Errorf("then %v, more %v", ops, more)
		}
		s.Mark()
		time.Sleep(time.Second)
		s.Expect()
	})
}
