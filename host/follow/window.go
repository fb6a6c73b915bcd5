// Package follow lets one of the user's windows follow the agents: each session's [Tracer] reports where its agent
// works, and the [Window] has Neovim jump there.
package follow

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/followalong"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// WindowConfig is what the window needs. Any goroutine may call its functions.
type WindowConfig struct {
	Editor     *editor.Editor
	Files      *buffers.Files
	Background func(func())             // runs a function in a goroutine that the host's end waits for
	Title      func(session int) string // the agent's display name
}

// Window is the following window. A [followalong.Follower] decides when it jumps, and where; lua/acp/follow/window.lua
// says what the user does there, and how a jump ended. Any goroutine may call its methods; none of them waits.
type Window struct {
	WindowConfig

	mu       sync.Mutex // guards the fields below
	follower followalong.Follower
	timer    *time.Timer // of the next jump
	activity int         // how many of the user's actions in the window Lua has counted
	jumps    int         // how many were tried
	freed    int         // the last one that Lua said is no longer blocked
	closed   bool
}

// NewWindow returns the window, which is off.
func NewWindow(c WindowConfig) *Window { return &Window{WindowConfig: c} }

// Heard handles what Lua reports about the window.
func (w *Window) Heard(m rpc.FollowState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.activity = m.Activity
	switch m.What {
	case "on":
		w.follower.Start()
	case "off":
		w.follower.Stop()
	case "navigated":
		w.follower.Pause()
	case "active":
		w.follower.Active(time.Now())
	case "idle":
		w.freed = m.Jump
		w.follower.Unlock()
	}
	w.schedule()
}

// Follows reports whether there is such a window, and it is not the user's at the moment.
func (w *Window) Follows() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.follower.Follows()
}

// Begin is called when a turn of a session begins.
func (w *Window) Begin(session int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follower.Begin(session)
}

// End is called when a turn of a session ends.
func (w *Window) End(session int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follower.End(session)
}

// See is called when an agent works at a place.
func (w *Window) See(p followalong.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follower.See(time.Now(), p)
	w.schedule()
}

// Edited is called when a file's text has changed.
func (w *Window) Edited(path, before, after string) {
	w.mu.Lock()
	known := w.follower.Knows(path)
	w.mu.Unlock()
	if !known || before == after {
		return
	}
	edits := linediff.Compare(linediff.Lines(before), linediff.Lines(after))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follower.Edited(path, func(line int) int { return linediff.LineAfter(edits, line) })
}

// schedule sets the timer to the next jump; w.mu is held.
func (w *Window) schedule() {
	at, ok := w.follower.Next()
	switch {
	case w.closed:
	case !ok && w.timer != nil:
		w.timer.Stop()
	case !ok:
	case w.timer == nil:
		w.timer = time.AfterFunc(time.Until(at), w.due)
	default:
		w.timer.Reset(time.Until(at))
	}
}

// due makes the jump whose time has come.
func (w *Window) due() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if j, ok := w.follower.Take(time.Now()); ok {
		w.jumps++
		number, activity := w.jumps, w.activity
		w.Background(func() { w.jump(j, number, activity) })
	}
	w.schedule()
}

// Close ends all jumps: Neovim is leaving.
func (w *Window) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// jump has Neovim show a place, unless the user has done something in the window since its time came.
func (w *Window) jump(j followalong.Jump, number, activity int) {
	file, ok := look(j.Path)
	if !ok {
		w.done(j, number, 0, "skipped")
		return
	}
	post := func(line int) {
		line = cmp.Or(line, j.Line, j.Seen)
		op := editor.Do(rpc.Jump{
			Jump: number, Path: plain(j.Path), Line: line, Exists: file.exists, Big: file.big, Activity: activity,
			Agent: w.Title(j.Session),
		})
		op.Done = func(result any, err error) {
			outcome, _ := result.(string)
			w.done(j, number, line, outcome)
		}
		w.Editor.Post(op)
	}
	if j.Locate == nil {
		post(0)
		return
	}
	w.Files.Peek(context.Background(), j.Path, func(text string, err error) {
		line := 0
		if err == nil { // otherwise the file is shown at another line, or not at all
			line = j.Locate(text)
		}
		post(line)
	})
}

// done handles the outcome of a jump.
func (w *Window) done(j followalong.Jump, number, line int, outcome string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch outcome {
	case "shown":
		w.follower.Done(j, line)
	case "busy":
		w.follower.Active(time.Now())
		w.follower.Return(j)
	case "locked":
		if w.freed < number { // the end of the lock may be reported before this answer
			w.follower.Lock()
		}
		w.follower.Return(j)
	default:
		w.follower.Done(j, 0)
	}
	w.schedule()
}
