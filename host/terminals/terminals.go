// Package terminals keeps the terminals of a session: the commands that its agent runs through this client, those that
// the agent runs itself and reports, and the buffers in Neovim that show them.
package terminals

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/terminal"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Config is what the terminals of a session need. Its functions are called on the session's goroutine.
type Config struct {
	feature.Base
	Ready  func() bool       // the agent may run commands
	Worked func()            // a command is about to run, which may change files
	Mark   func(urgent bool) // there is more for [Set.Ops]
}

// Set is the terminals of one session. Its methods belong to the session's goroutine, except [Set.Get] and
// [Set.Screenful].
type Set struct {
	Config
	stale  map[*Terminal]bool // which show more; true: Lua's copy of them is out of date too
	whole  []*Terminal        // that have ended and are kept whole, in the order in which they ended
	closed bool               // the session is

	mu   sync.Mutex // guards the fields below
	byID map[string]*Terminal
	all  []*Terminal // in the order they began; the first has the number 1
	made int         // by this client
	held int         // by the agent, of this client's: it has not released them
}

// mostWhole is how many commands that have ended are kept whole; of those before only the end is.
const mostWhole = 50

// mostHeld is how many terminals an agent may have in a session that it has not released.
const mostHeld = 100

// killGrace is how long a command has to end by itself when its terminal is released.
const killGrace = 200 * time.Millisecond

// New makes an empty set.
func New(c Config) *Set {
	return &Set{Config: c, stale: map[*Terminal]bool{}, byID: map[string]*Terminal{}}
}

// add adds a terminal. Without an id it gets a unique one.
func (s *Set) add(t *Terminal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t.id == "" {
		s.made++
		if id := fmt.Sprintf("term-%d", s.made); s.byID[id] == nil {
			t.id = id
		}
	}
	s.byID[t.id] = t
	s.all = append(s.all, t)
	t.number = len(s.all)
}

// Get returns a terminal of this client's that the agent has not released. Any goroutine.
func (s *Set) Get(id string) (*Terminal, error) {
	t := s.named(id)
	if t == nil || t.own == nil || t.isReleased() {
		return nil, &acp.Error{Code: acp.CodeResourceNotFound, Message: fmt.Sprintf("there is no terminal %q", id)}
	}
	return t, nil
}

// named returns the terminal with an id, or nil.
func (s *Set) named(id string) *Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// numbered returns the terminal with a number, or nil.
func (s *Set) numbered(n int) *Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 1 || n > len(s.all) {
		return nil
	}
	return s.all[n-1]
}

func (s *Set) each(f func(*Terminal)) {
	s.mu.Lock()
	all := s.all[:len(s.all):len(s.all)]
	s.mu.Unlock()
	for _, t := range all {
		f(t)
	}
}

// Screenful returns the last n lines of a terminal for the chat. Any goroutine.
func (s *Set) Screenful(id string, n int) (transcript.Screenful, bool) {
	t := s.named(id)
	if t == nil {
		return transcript.Screenful{}, false
	}
	screen := screenful(t.display.Tail(n))
	if exit, ended := t.ended(); ended && !exit.Succeeded() {
		screen.State = exit.String()
	}
	screen.Behind = t.isBehind()
	return screen, true
}

// Create runs a command for the agent.
func (s *Set) Create(r session.CreateTerminal) {
	if !s.Ready() {
		r.Reply("", feature.ErrClosed)
		return
	}
	dir, ok := s.Cwd, true
	if r.Dir != "" {
		dir, ok = s.Absolute(r.Dir)
	}
	if !ok {
		r.Reply("", &acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf("%q is not a folder on this computer", r.Dir)})
		return
	}
	if !s.hold() {
		r.Reply("", &acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf("there are %d terminals: release some with terminal/release", mostHeld)})
		return
	}
	s.Worked()
	t := s.terminal("")
	t.command, t.cwd, t.silent = commandLine(r.Command, r.Args), filepath.Clean(dir), r.NoOutput
	s.Background(func() {
		own, err := terminal.Start(terminal.Config{
			Command: r.Command, Args: r.Args, Env: r.Env, Dir: dir, OutputByteLimit: r.OutputByteLimit,
			Changed: func() { s.Box.Put(func() { s.changed(t, false) }) },
		})
		if err != nil {
			s.letGo()
			r.Reply("", &acp.Error{Code: acp.CodeInvalidParams, Message: err.Error()})
			return
		}
		t.own, t.display = own, own.Display()
		s.Editor.Post(editor.Do(rpc.Group{Pgid: own.PGID(), Alive: true}))
		if !s.Box.Put(func() { s.handOut(t, r.Reply) }) {
			own.Close(0)
			r.Reply("", feature.ErrClosed)
		}
		<-own.Done()
		s.Editor.Post(editor.Do(rpc.Group{Pgid: own.PGID(), Alive: false}))
		if !s.Box.Put(func() { s.changed(t, true) }) && t.number != 0 {
			s.last(t) // the session was closed, and the command with it
		}
	})
}

// hold counts a terminal that the agent gets, unless it has too many.
func (s *Set) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == mostHeld {
		return false
	}
	s.held++
	return true
}

// letGo undoes hold. Any goroutine.
func (s *Set) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
}

// handOut gives the agent a terminal whose command has been started, unless the agent has gone meanwhile.
func (s *Set) handOut(t *Terminal, reply func(string, error)) {
	if !s.Ready() {
		s.letGo()
		s.Background(func() { t.own.Close(0) })
		reply("", feature.ErrClosed)
		return
	}
	s.add(t)
	s.changed(t, true)
	reply(t.id, nil)
}

// reported returns the terminal that the agent names, creating it when first named. A terminal of the same name of an
// agent that is gone is a different one.
func (s *Set) reported(id string) *Terminal {
	t := s.named(id)
	if t != nil && (t.own != nil || !t.isReleased()) {
		return t
	}
	t = s.terminal(id)
	t.display = terminal.NewDisplay()
	s.add(t)
	s.changed(t, true)
	return t
}

// Update handles what the agent reports about a terminal that it runs itself: a [session.TerminalPatch] or a
// [session.TerminalChunk].
func (s *Set) Update(u session.Update) {
	switch u := u.(type) {
	case session.TerminalPatch:
		t := s.reported(u.ID)
		if t.own != nil {
			s.Log.Warn("the agent reports on a terminal of this client", "session", s.Session, "terminal", u.ID)
			return
		}
		t.patch(u)
		s.changed(t, true)
	case session.TerminalChunk:
		if t := s.reported(u.ID); t.own == nil {
			t.display.Write(u.Data, u.Plain)
			s.changed(t, t.revive())
		}
	}
}

// Observe makes a terminal for each that a tool call shows. What the agent runs there ends with the call.
func (s *Set) Observe(call *session.ToolCall) {
	for _, item := range call.Content {
		ref, ok := item.(session.TerminalRef)
		if !ok {
			continue
		}
		t := s.named(ref.TerminalID)
		if t == nil {
			t = s.reported(ref.TerminalID)
		}
		if command := call.Command(); t.command == "" && command != "" { // its agent has not sent it
			t.command = command
			s.changed(t, true)
		}
		if call.Shown().Finished() {
			s.stop(t)
		}
	}
}

// Behind sets all terminals that run in the background, by id.
func (s *Set) Behind(ids []string) {
	s.each(func(t *Terminal) {
		if t.own == nil && t.goesOn(slices.Contains(ids, t.id)) {
			s.changed(t, true)
		}
	})
}

// Stop is for the end of a turn that was cancelled or failed: a terminal of the agent's counts as ended until it has
// more output, as its end may never be reported.
func (s *Set) Stop() { s.each(s.stop) }

func (s *Set) stop(t *Terminal) {
	if t.stop() {
		s.changed(t, true)
	}
}

// Release ends the commands of an agent that is gone.
func (s *Set) Release() {
	s.each(func(t *Terminal) {
		if t.own != nil {
			t.Release()
		} else if t.release() {
			s.changed(t, true)
		}
	})
}

// Close makes the buffers show what is left when the session is closed, which nobody asks for [Set.Ops] from then on.
func (s *Set) Close() {
	s.closed = true
	s.each(func(t *Terminal) { t.view.finish() })
}

// last shows a terminal of a closed session. Any goroutine.
func (s *Set) last(t *Terminal) {
	s.Editor.Post(editor.Do(rpc.Terminals{List: []rpc.Terminal{t.luaTerminal()}}))
	t.view.changed()
}

// changed is called when a terminal shows more; state says that Lua's copy of it is out of date too.
func (s *Set) changed(t *Terminal, state bool) {
	if t.number == 0 {
		return // not handed out yet
	}
	if s.closed {
		s.last(t)
		return
	}
	s.stale[t] = s.stale[t] || state
	s.Mark(state)
	t.view.changed()
	if state && !t.counted && !t.running() {
		t.counted = true
		if s.whole = append(s.whole, t); len(s.whole) > mostWhole {
			s.whole[0].display.Thin()
			s.whole = slices.Delete(s.whole, 0, 1)
		}
	}
}

// Touched calls f with the id of each terminal that shows more since the last [Set.Ops].
func (s *Set) Touched(f func(id string)) {
	for t := range s.stale {
		f(t.id)
	}
}

// Ops updates Lua's copy of the terminals.
func (s *Set) Ops() []editor.Op {
	if len(s.stale) == 0 {
		return nil
	}
	var list []rpc.Terminal
	s.each(func(t *Terminal) {
		if s.stale[t] {
			list = append(list, t.luaTerminal())
		}
	})
	clear(s.stale)
	if len(list) == 0 {
		return nil
	}
	return []editor.Op{editor.Do(rpc.Terminals{List: list})}
}

// Numbers returns the numbers of the terminals that an entry of the conversation shows, never nil.
func (s *Set) Numbers(e session.Entry) []int {
	numbers := []int{}
	if call, ok := e.(*session.ToolCall); ok {
		for _, item := range call.Content {
			if ref, ok := item.(session.TerminalRef); ok {
				if t := s.named(ref.TerminalID); t != nil {
					numbers = append(numbers, t.number)
				}
			}
		}
	}
	return numbers
}

// Show is called when the buffer of a terminal was reopened, or its windows were resized.
func (s *Set) Show(m rpc.TerminalShow) {
	if t := s.numbered(m.Terminal); t != nil {
		t.view.show(m.Anew, m.Cols, m.Rows)
	}
}

// Shut is called when the buffer of a terminal is gone.
func (s *Set) Shut(m rpc.TerminalShut) {
	if t := s.numbered(m.Terminal); t != nil {
		t.view.shut()
	}
}

// Focus is called when the user enters a terminal, or leaves it.
func (s *Set) Focus(m rpc.TerminalFocus) {
	if t := s.numbered(m.Terminal); t != nil {
		t.display.Answering(t.own != nil && m.Focused)
	}
}

// Keys types into a terminal.
func (s *Set) Keys(m rpc.TerminalKeys) {
	if t := s.numbered(m.Terminal); t != nil && t.own != nil {
		t.own.Type([]byte(m.Keys))
	}
}

// commandLine returns a command as a shell line.
func commandLine(command string, args []string) string {
	if len(args) == 0 {
		return command
	}
	return command + " " + session.Quoted(args)
}

// keptLines is how many lines of a terminal are kept with the transcript.
const keptLines = 1000

// Shown returns the end of what a terminal has shown, as text.
func (s *Set) Shown(id string) (session.TerminalPatch, bool) {
	t := s.named(id)
	if t == nil {
		return session.TerminalPatch{}, false
	}
	lines, _ := t.display.Tail(keptLines)
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	p := session.TerminalPatch{
		ID: id, Command: acp.Set(t.command), Cwd: acp.Set(t.cwd), Plain: true,
		Output: acp.Set([]byte(strings.Join(texts, "\n"))),
	}
	if exit, ended := t.ended(); ended {
		p.Exit = acp.Set(exit)
	}
	return p, true
}
