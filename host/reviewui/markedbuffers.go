package reviewui

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// The limits of a piece for Neovim.
const (
	changesAtOnce = 500
	bytesAtOnce   = 64 << 10
)

// marksPause is how long a buffer that just got marks does not get the next ones, so that many writes in a row are not
// drawn one by one. Callers waiting for marks, and checks of what the user typed, do not wait for it.
const marksPause = 50 * time.Millisecond

// MarksConfig is what [Marks] needs of the host.
type MarksConfig struct {
	Editor     *editor.Editor
	Log        *slog.Logger
	Background func(func())        // runs a function in a goroutine that the host's end waits for
	Records    func() []MarkSource // of the open sessions, the newest session first; any goroutine
}

// Marks is what the user's own buffers show of the sessions' records. Lua says which buffers those are; from then on it
// gets the changes of each whenever they change: the place of all, and what Lua does not have of them yet. Any
// goroutine may use it.
type Marks struct {
	config MarksConfig

	mu      sync.Mutex // guards the fields below, and those of the buffers
	lastID  int        // of a mark, unique in this host
	buffers map[int]*markedBuffer
}

// markedBuffer is a buffer that shows marks. It is sent one state of them after another.
type markedBuffer struct {
	buf     int
	number  int // under which Lua waits for them
	path    string
	stage   markStage
	attempt int  // counts how often the records were asked
	again   bool // something has changed since
	look    bool // and the user has changed the buffer
	settled []func()
	rested  time.Time         // when the pause since it was told ends
	pausing bool              // what has changed waits for that
	ids     map[markKey][]int // of the marks that Lua has, by their look, in text order
}

// markStage is how far Lua has been sent a buffer's marks.
type markStage int

const (
	markIdle markStage = iota
	markAsking
	markTelling
)

// NewMarks returns the marks of a host.
func NewMarks(config MarksConfig) *Marks {
	return &Marks{config: config, buffers: map[int]*markedBuffer{}}
}

// Show sends a buffer's marks from now on or, if the user has changed it, computes them again.
func (k *Marks) Show(m rpc.ShowMarks) {
	k.mu.Lock()
	b := k.buffers[m.Buf]
	if b == nil || b.number != m.Number {
		now := &markedBuffer{buf: m.Buf, number: m.Number, path: m.Path}
		if b != nil {
			now.settled, b.settled = b.settled, nil
		}
		k.buffers[m.Buf], b = now, now
	}
	k.mu.Unlock()
	k.queueMarks(b, m.Look)
}

// Changed updates the buffers that show a file with what a record now has of it.
func (k *Marks) Changed(path string) {
	for _, b := range k.of(path) {
		k.queueMarks(b, false)
	}
}

// SessionClosed updates all buffers, as a record is gone, which may be the one being asked.
func (k *Marks) SessionClosed() {
	k.mu.Lock()
	var all []*markedBuffer
	for _, b := range k.buffers {
		if b.stage == markAsking {
			b.stage = markIdle
		}
		all = append(all, b)
	}
	k.mu.Unlock()
	for _, b := range all {
		k.queueMarks(b, false)
	}
}

// Settled calls f when the buffers that show a file have everything that the records now have.
func (k *Marks) Settled(path string, f func()) {
	var left atomic.Int32
	left.Store(1)
	told := func() {
		if left.Add(-1) == 0 {
			f()
		}
	}
	list := k.of(path)
	k.mu.Lock()
	for _, b := range list {
		if b.stage != markIdle || b.again {
			left.Add(1)
			b.settled = append(b.settled, told)
		}
	}
	k.mu.Unlock()
	for _, b := range list {
		k.proceed(b) // without a pause
	}
	told()
}

// of returns the buffers that show a file.
func (k *Marks) of(path string) (list []*markedBuffer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.buffers {
		if b.path == path {
			list = append(list, b)
		}
	}
	return list
}

// queueMarks sends a buffer's marks, after those now being sent.
func (k *Marks) queueMarks(b *markedBuffer, look bool) {
	k.mu.Lock()
	b.again, b.look = true, b.look || look
	k.mu.Unlock()
	k.proceed(b)
}

// proceed asks the records for a buffer's marks, once the previous ones are done.
func (k *Marks) proceed(b *markedBuffer) {
	k.mu.Lock()
	if b.stage != markIdle {
		k.mu.Unlock()
		return
	}
	if !b.again {
		settled := b.settled
		b.settled = nil
		k.mu.Unlock()
		for _, f := range settled {
			f()
		}
		return
	}
	if wait := time.Until(b.rested); wait > 0 && !b.look && len(b.settled) == 0 {
		begins := !b.pausing
		b.pausing = true
		k.mu.Unlock()
		if begins {
			k.config.Background(func() { k.resume(b, wait) })
		}
		return
	}
	look := b.look
	b.stage, b.again, b.look = markAsking, false, false
	b.attempt++
	attempt := b.attempt
	k.mu.Unlock()
	k.ask(b.path, look, func(list []mark) {
		k.mu.Lock()
		if b.stage != markAsking || b.attempt != attempt {
			k.mu.Unlock()
			return
		}
		b.stage = markTelling
		pieces := k.pieces(b, look, list)
		k.mu.Unlock()
		k.send(b, pieces)
	})
}

// resume continues after a pause.
func (k *Marks) resume(b *markedBuffer, wait time.Duration) {
	time.Sleep(wait)
	k.mu.Lock()
	b.pausing = false
	k.mu.Unlock()
	k.proceed(b)
}

// ask gets the marks of a file from the records; done runs in the background.
func (k *Marks) ask(path string, look bool, done func([]mark)) {
	records := k.config.Records()
	found := make([]review.File, len(records))
	var missing atomic.Int32
	missing.Store(int32(len(records)) + 1)
	got := func() {
		if missing.Add(-1) > 0 {
			return
		}
		k.config.Background(func() {
			var list []mark
			for i, f := range found {
				list = withMarks(list, records[i], f)
			}
			done(list)
		})
	}
	for i, r := range records {
		r.File(path, look, func(f review.File) {
			found[i] = f
			got()
		})
	}
	got()
}

// pieces returns the messages that send a buffer's marks to Lua, which then counts as having them. The caller holds mu.
func (k *Marks) pieces(b *markedBuffer, looked bool, list []mark) []rpc.Marks {
	had := b.ids
	b.ids = map[markKey][]int{}
	piece := rpc.Marks{Buf: b.buf, Number: b.number, KnownBy: knownBy, Looked: looked}
	pieces := []rpc.Marks{piece}
	size := 0
	for _, m := range list {
		if len(pieces[len(pieces)-1].At) >= 2*changesAtOnce || size > bytesAtOnce {
			pieces, size = append(pieces, piece), 0
		}
		p := &pieces[len(pieces)-1]
		key := m.key()
		var id int
		if known := had[key]; len(known) > 0 {
			id, had[key] = known[0], known[1:]
		} else {
			k.lastID++
			id = k.lastID
			shown, bytes := m.shown(id)
			p.Fresh = append(p.Fresh, shown)
			size += bytes
		}
		b.ids[key] = append(b.ids[key], id)
		p.At = append(p.At, id, m.Line)
	}
	pieces[len(pieces)-1].Done = true
	return pieces
}

// send sends Lua the pieces one by one, as long as it wants them, then what has changed meanwhile.
func (k *Marks) send(b *markedBuffer, pieces []rpc.Marks) {
	op := editor.Do(pieces[0])
	op.Done = func(wanted any, err error) {
		if wanted, _ := wanted.(bool); wanted && err == nil && len(pieces) > 1 {
			k.send(b, pieces[1:])
			return
		} else if err != nil {
			k.config.Log.Error("mark changes", "err", err)
		}
		k.mu.Lock()
		b.stage, b.rested = markIdle, time.Now().Add(marksPause)
		if wanted, _ := wanted.(bool); !wanted {
			b.again = false
			if k.buffers[b.buf] == b {
				delete(k.buffers, b.buf)
			}
		}
		k.mu.Unlock()
		k.proceed(b)
	}
	k.config.Editor.Post(op)
}
