package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/followalong"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// follow lets a window of the user's follow the agents: the sessions tell it
// where they work, lua/acp/follow/window.lua what the user does and what became of a
// jump. When to jump, and where, is decided by its follower. Any goroutine may
// call its methods; none of them waits.
type follow struct {
	host *Host

	mu       sync.Mutex // guards the fields below
	follower followalong.Follower
	timer    *time.Timer // of the next jump
	activity int         // how many of the user's actions in the window Lua has counted
	jumps    int         // how many were tried
	freed    int         // the last one of which Lua has said that nothing is in its way any more
	closed   bool
}

// heard takes one of Lua's messages.
func (f *follow) heard(m rpc.FollowState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.activity = m.Activity
	switch m.What {
	case "on":
		f.follower.Start()
	case "off":
		f.follower.Stop()
	case "navigated":
		f.follower.Pause()
	case "active":
		f.follower.Active(time.Now())
	case "idle":
		f.freed = m.Jump
		f.follower.Unlock()
	}
	f.schedule()
}

// turn says that a turn of a session has begun or ended.
func (f *follow) turn(session int, begins bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if begins {
		f.follower.Begin(session)
	} else {
		f.follower.End(session)
	}
}

func (f *follow) see(p followalong.Place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follower.See(time.Now(), p)
	f.schedule()
}

// edited tells that a file has another text.
func (f *follow) edited(path, before, after string) {
	f.mu.Lock()
	known := f.follower.Knows(path)
	f.mu.Unlock()
	if !known || before == after {
		return
	}
	moved := movedLine(before, after)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follower.Edited(path, moved)
}

// movedLine tells where a line of a text, counted from 1, is in the one that came of it.
func movedLine(before, after string) func(line int) int {
	edits := linediff.Compare(linediff.Lines(before), linediff.Lines(after))
	return func(line int) int { return shifted(edits, line) }
}

// schedule sets the timer to the next jump; f.mu is held.
func (f *follow) schedule() {
	at, ok := f.follower.Next()
	switch {
	case f.closed:
	case !ok && f.timer != nil:
		f.timer.Stop()
	case !ok:
	case f.timer == nil:
		f.timer = time.AfterFunc(time.Until(at), f.due)
	default:
		f.timer.Reset(time.Until(at))
	}
}

// due makes the jump whose time has come.
func (f *follow) due() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if j, ok := f.follower.Take(time.Now()); ok {
		f.jumps++
		number, activity := f.jumps, f.activity
		f.host.background(func() { f.jump(j, number, activity) })
	}
	f.schedule()
}

// close ends it: Neovim is leaving.
func (f *follow) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.timer != nil {
		f.timer.Stop()
	}
}

// jump has Neovim show a place, unless the user has done something in the
// window that was not counted when its time came.
func (f *follow) jump(j followalong.Jump, number, activity int) {
	file, ok := look(j.Path)
	if !ok {
		f.done(j, number, 0, "skipped")
		return
	}
	post := func(line int) {
		line = cmp.Or(line, j.Line, j.Seen)
		jump := rpc.Jump{Jump: number, Path: plain(j.Path), Line: line, Exists: file.exists, Big: file.big, Activity: activity}
		if s := f.host.session(j.Session); s != nil {
			jump.Agent = s.base.Title
		}
		op := editor.Do(jump)
		op.Done = func(result any, err error) {
			outcome, _ := result.(string)
			f.done(j, number, line, outcome)
		}
		f.host.editor.Post(op)
	}
	if j.Locate == nil {
		post(0)
		return
	}
	f.host.files.Peek(context.Background(), j.Path, func(text string, err error) {
		line := 0
		if err == nil { // else the file is shown at another line, or not at all
			line = j.Locate(text)
		}
		post(line)
	})
}

// done takes what became of a jump.
func (f *follow) done(j followalong.Jump, number, line int, outcome string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch outcome {
	case "shown":
		f.follower.Done(j, line)
	case "busy":
		f.follower.Active(time.Now())
		f.follower.Return(j)
	case "locked":
		if f.freed < number { // its end may be told before this answer comes
			f.follower.Lock()
		}
		f.follower.Return(j)
	default:
		f.follower.Done(j, 0)
	}
	f.schedule()
}

// bigFile is from how many bytes on a file is opened without its filetype,
// whose plugins may take long.
const bigFile = 1 << 20

// looked is what the disk has at a path.
type looked struct{ exists, big bool }

// look tells whether a file can be shown. One that does not exist may be a
// buffer all the same. It reads the disk.
func look(path string) (looked, bool) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return looked{}, true
	case err != nil || !info.Mode().IsRegular() || info.Size() > buffers.MaxFollow:
		return looked{}, false
	}
	file, err := os.Open(path)
	if err != nil {
		return looked{}, false
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 8<<10))
	if err != nil || binary(head) {
		return looked{}, false
	}
	return looked{exists: true, big: info.Size() > bigFile}, true
}

// plain is a path without "..", as the editor should name the file. With a link
// before them they may mean another one: then it stays. It reads the disk.
func plain(path string) string {
	clean := filepath.Clean(path)
	if clean == path {
		return path
	}
	given, err := os.Stat(path)
	found, cleanErr := os.Stat(clean)
	if err != nil || cleanErr != nil || !os.SameFile(given, found) {
		return path
	}
	return clean
}

// binary tells whether a file that begins so is no text. UTF-16 has zeros too.
func binary(head []byte) bool {
	utf16 := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	return !utf16 && bytes.IndexByte(head, 0) >= 0
}

// traced is what the follower was told of a call.
type traced struct {
	locations []session.Location
	content   []session.ToolCallContent
	completed bool
}

// trace tells the follower of the places of a call that are new. An edit is
// told again when it is completed: its file may be there only now.
func (s *Session) trace(call *session.ToolCall) {
	before := s.traced[call]
	now := traced{call.Locations, call.Content, call.Status == session.StatusCompleted}
	if s.traced == nil {
		s.traced = map[*session.ToolCall]traced{}
	}
	s.traced[call] = now
	if s.phase != ready || s.remote.skipping {
		return // a replay tells what was
	}
	kind := kindOf(call)
	if kind == followalong.Edit && now.completed && !before.completed {
		before = traced{}
	}
	// The change tells the place better than a location beside it, which is where its hunk begins, or none.
	diffs, changed := session.Diffs(call.Content), map[string]bool{}
	for _, d := range diffs {
		changed[s.placePath(d.Path)] = true
	}
	lines := map[string][]int{} // by path of a change, as told for each
	moved := map[string]bool{}  // one of them is new
	for _, l := range call.Locations {
		fresh := !slices.Contains(before.locations, l)
		switch path := s.placePath(l.Path); {
		case !changed[path] && fresh:
			s.see(l.Path, l.Line, kind, nil)
		case changed[path] && l.Line > 0:
			lines[path], moved[path] = append(lines[path], l.Line), moved[path] || fresh
		}
	}
	old := session.Diffs(before.content)
	for _, d := range diffs {
		path, near := s.placePath(d.Path), 0
		if told := lines[path]; len(told) > 0 {
			near = told[0]
			lines[path] = told[min(1, len(told)-1):]
		}
		if !moved[path] && slices.ContainsFunc(old, func(o session.Diff) bool { return o.Equal(d) }) {
			continue
		}
		s.see(d.Path, near, kind, func(text string) int {
			return diff.Of(d, diff.Now{Text: &text, Line: near, Done: now.completed}).Line()
		})
	}
}

// placePath is a path as the follower has it; what is no path is as it is.
func (s *Session) placePath(path string) string {
	if absolute, ok := s.base.Absolute(path); ok {
		return absolute
	}
	return path
}

// kindOf tells what a call does to the files that it names.
func kindOf(call *session.ToolCall) followalong.Kind {
	changes := slices.ContainsFunc(call.Content, func(item session.ToolCallContent) bool {
		_, ok := item.(session.Diff)
		return ok
	})
	switch call.Kind {
	case session.KindEdit, session.KindDelete, session.KindMove:
		changes = true
	}
	if changes {
		return followalong.Edit
	}
	return followalong.Read
}

func (s *Session) see(path string, line int, kind followalong.Kind, locate func(string) int) {
	path, ok := s.base.Absolute(path)
	if !ok {
		return
	}
	s.host.follow.see(followalong.Place{Session: s.id, Path: path, Line: line, Kind: kind, Locate: locate})
}

// traceRead tells the follower of a read through the client. Any goroutine.
func (s *Session) traceRead(r session.ReadTextFile) {
	line := 0
	if r.Line != nil {
		line = max(0, *r.Line)
	}
	s.base.Box.Put(func() { s.see(r.Path, line, followalong.Read, nil) })
}

// traceWrite tells the follower of a write through the client. Any goroutine.
func (s *Session) traceWrite(path string, w buffers.Written) {
	line := 1
	if w.Before != nil { // else the file is new
		line = firstChange(*w.Before, *w.After)
		s.host.follow.edited(s.placePath(path), *w.Before, *w.After)
	}
	s.base.Box.Put(func() { s.see(path, line, followalong.Edit, nil) })
}

// firstChange is the 1-based number of the first line that differs, 0 where
// none does.
func firstChange(a, b string) int {
	if a == b {
		return 0
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.Count(a[:n], "\n") + 1
}
