package host

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// lingering is the longest that changes on the disk still count as the agent's after the answer to its prompt, while
// earlier changes are examined.
const lingering = 2 * time.Second

// span is when a session's agent has last worked, in Unix nanoseconds. Any goroutine.
type span struct{ since, until atomic.Int64 } // until is -1 while a turn runs

func (w *span) begin() {
	if !w.recent() { // else something of the turn before may come yet
		w.since.Store(time.Now().UnixNano())
	}
	w.until.Store(-1)
}
func (w *span) end() { w.until.Store(time.Now().Add(lingering).UnixNano()) }

// over says that everything changed before the end is known.
func (w *span) over() {
	if until := w.until.Load(); until > 0 {
		w.until.CompareAndSwap(until, 0)
	}
}

// running and recent report whether a turn is running, and whether one ran just now.
func (w *span) running() bool { return w.until.Load() == -1 }
func (w *span) recent() bool  { return time.Now().UnixNano() < w.until.Load() }

// covers reports whether what a file has since then may be the agent's doing.
func (w *span) covers(at time.Time) bool {
	return (w.running() || at.UnixNano() < w.until.Load()) && at.UnixNano() >= w.since.Load()-int64(ledger.Coarse)
}

// startWatch begins to watch the loaded files on the disk; h.mu is held.
func (h *Host) startWatch() {
	if h.watch != nil {
		return
	}
	h.watch = h.files.Watch(h.diskChanged, func(err error) {
		var limit rpc.WatchLimit
		if err != nil {
			limit.Why = err.Error()
		}
		h.editor.Post(editor.Do(limit))
	})
	h.watch.Opened, h.watch.Agents = h.fileOpened, h.agentsWork
	h.editor.Post(editor.Do(rpc.Watch{On: true, MaxSize: buffers.MaxSync}))
}

// stopWatch ends what startWatch began; h.mu is held.
func (h *Host) stopWatch() {
	if w := h.watch; w != nil {
		h.watch = nil
		h.background(w.Close)
		h.editor.Post(editor.Do(rpc.Watch{}))
	}
}

func (h *Host) watching() *buffers.Watch {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.watch
}

// trackFiles sets the loaded files that Lua reports.
func (h *Host) trackFiles(m rpc.Track) {
	w := h.watching()
	if w == nil {
		return
	}
	var files []buffers.Tracked
	for _, told := range m.Files {
		f := buffers.Tracked{Name: told.Name, Large: told.Large}
		if d := told.Disk; d != nil {
			f.Disk = new(diskState(*d))
		}
		files = append(files, f)
	}
	w.Track(files)
}

func diskState(d rpc.DiskState) buffers.DiskState {
	return buffers.DiskState{Exists: d.Exists, Sec: int64(d.Sec), Nsec: int64(d.Nsec), Size: int64(d.Size)}
}

// checkDisk compares a file, or without a name all files, with their buffers.
func (h *Host) checkDisk(name string) {
	switch w := h.watching(); {
	case w == nil:
	case name == "":
		w.Check()
	default:
		w.CheckFile(name)
	}
}

// catchUp compares a file with its buffer, which the user is about to write.
func (h *Host) catchUp(name string, callback int) {
	done := func(again bool) { h.editor.Answer(callback, again, "") }
	if w := h.watching(); w != nil {
		w.CatchUp(name, done)
	} else {
		done(false)
	}
}

// diskChanged reports a change that another program made under a buffer.
func (h *Host) diskChanged(c buffers.Written) {
	if c.Before != nil && c.After != nil {
		h.follow.Edited(c.Path, *c.Before, *c.After)
	}
	s := h.worker(c.Path)
	switch {
	case s == nil:
		h.eachSession(func(s *Session) { s.ledger.UserChanged(c) })
	case c.Changed || c.Deleted || c.Created || c.Behind != nil:
		s.ledger.Took(c, "disk", false)
	}
	if c.Note != "" && (s == nil || !s.base.Box.Put(func() { s.remarks.Alert("warning", c.Note, c.Brief) })) {
		h.editor.Notify("warning", cmp.Or(c.Brief, c.Note))
	}
}

// worker returns the session whose agent has probably changed a file: in order of preference one that named it in a
// call, one with a running turn rather than one whose turn has just ended, one whose roots contain it, the newest; nil
// if no agent has worked.
func (h *Host) worker(path string) *Session {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	var best *Session
	bestRank := 0
	for _, s := range sessions {
		rank := 0
		switch {
		case s.working.running():
			rank = 4
		case s.working.recent():
			rank = 2
		default:
			continue
		}
		if folder.Inside(path, s.base.Roots) {
			rank++
		}
		if s.ledger.Names(path) {
			rank += 8
		}
		if best == nil || rank > bestRank || rank == bestRank && s.id > best.id {
			best, bestRank = s, rank
		}
	}
	return best
}

// claimed reports whether another session's agent has said that it changes a file, or was seen to.
func (h *Host) claimed(path string, by *Session) bool {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	return slices.ContainsFunc(sessions, func(s *Session) bool {
		return s != by && (s.working.running() || s.working.recent()) && s.ledger.Names(path)
	})
}

// agentsWork reports whether a turn ran at a time, or just before.
func (h *Host) agentsWork(at time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		if s.working.covers(at) {
			return true
		}
	}
	return false
}

// fileOpened tells all sessions that a buffer now shows a file, or no longer does.
func (h *Host) fileOpened(o buffers.Opened) {
	h.eachSession(func(s *Session) { s.ledger.FileOpened(o) })
}

// fileSaved notes that the user has written a file: its text is no command's doing.
func (h *Host) fileSaved(m rpc.FileSaved) {
	if w := h.watching(); w != nil {
		w.Saved(m.Name, diskState(m.Disk))
	}
	if path, err := buffers.RealPath(m.Name); err == nil {
		h.eachSession(func(s *Session) { s.ledger.UserSaved(path, diskState(m.Disk).Time()) })
	}
}

// userRenamed notes that the user has renamed the file of a buffer.
func (h *Host) userRenamed(from, to string) {
	old, err := buffers.RealPath(from)
	path, err2 := buffers.RealPath(to)
	if err == nil && err2 == nil {
		h.eachSession(func(s *Session) { s.ledger.UserRenamed(old, path) })
	}
}

func (h *Host) eachSession(f func(*Session)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		f(s)
	}
}

// hearUnsaved tells all sessions which buffers have unsaved text.
func (h *Host) hearUnsaved(m rpc.UnsavedFiles) {
	names := make([]string, len(m.Files))
	for i, b := range m.Files {
		names[i] = b.Name
	}
	h.eachSession(func(s *Session) {
		s.base.Box.Put(func() {
			s.permission.HearUnsaved(names)
			s.prompts.Unsaved.Hear(m.Files)
		})
	})
}

// hearConflicts notes how many open conflicts the loaded files have.
func (h *Host) hearConflicts(m rpc.OpenConflicts) {
	count := map[string]int{}
	for _, f := range m.Files {
		count[f.Path] = f.Count
	}
	h.eachSession(func(s *Session) {
		s.base.Box.Put(func() { s.review.Tab.SetConflicts(count) })
	})
}
