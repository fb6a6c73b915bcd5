package terminal

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"sync"
)

const (
	// behind is how much of an agent's output may wait until somebody looks; of more, only the end is ever shown.
	behind = 512 << 10
	// pipeLimit is how much text a display keeps that no agent asks for.
	pipeLimit = 1
)

// calm ends an unfinished sequence, the colours and the character sets; resync goes on at the bottom of the main page.
const (
	calm   = "\x18\x1b[m\x1b(B\x0f"
	resync = calm + "\x1b[?1049l\x1b[?7h\x1b[r\x1b[999;1H"
)

// Display is what a terminal shows, whoever runs the command: a Screen for the text and the chat, and
// the end of the bytes for another terminal. All methods may be called from any goroutine.
type Display struct {
	mu     sync.Mutex // guards all fields
	screen *Screen
	tape   tape
	limit  int

	cols, rows int
	lazy       bool   // output waits until somebody looks
	pending    []byte // what waits
	snapshots  int    // counts replacements
	received   int64  // bytes since then
	sum        maphash.Hash
}

// NewDisplay returns the display of a terminal that the agent owns (ACP v2, display-only terminals).
// Its text is for people only.
func NewDisplay() *Display {
	d := newDisplay(pipeLimit)
	d.lazy = true
	return d
}

func newDisplay(limit int) *Display {
	return &Display{cols: columns, rows: rows, limit: limit, screen: NewScreen(columns, rows, limit)}
}

// Write appends output. plain says that it came through a pipe, not a terminal: a line feed also returns the carriage.
func (d *Display) Write(p []byte, plain bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.write(p, plain)
}

func (d *Display) write(p []byte, plain bool) {
	if d.lazy {
		d.received += int64(len(p))
		d.sum.Write(p)
	}
	if plain {
		p = bytes.ReplaceAll(p, []byte{'\n'}, []byte("\r\n"))
	}
	if !d.lazy {
		d.show(p)
		return
	}
	d.pending = append(d.pending, p...)
	if len(d.pending) > 2*behind {
		d.hurry()
	}
}

func (d *Display) show(p []byte) {
	d.tape.write(p, func(drawn []byte) { _, _ = d.screen.Write(drawn) })
}

// hurry drops the beginning of the pending output.
func (d *Display) hurry() {
	cut := len(d.pending) - behind
	if i := bytes.IndexByte(d.pending[cut:], '\n'); i >= 0 {
		cut += i + 1
	}
	d.screen.Write([]byte(calm + "\r\n"))
	d.screen.history.dropped += bytes.Count(d.pending[:cut], []byte{'\n'})
	d.tape.write([]byte(resync+gap(int64(cut))), func([]byte) {})
	d.pending = append(d.pending[:0], d.pending[cut:]...)
}

// gap returns what another terminal shows in place of n bytes.
func gap(n int64) string {
	return fmt.Sprintf("\r\n\x1b[2m[… %d KB are not shown …]\x1b[m\r\n", (n+1023)/1024)
}

func (d *Display) settle() {
	if len(d.pending) > 0 {
		d.show(d.pending)
		d.pending = nil
	}
}

// Replace replaces the display's output. One that only continues the former is appended.
func (d *Display) Replace(p []byte, plain bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.received; int64(len(p)) >= n {
		var sum maphash.Hash
		sum.SetSeed(d.sum.Seed())
		sum.Write(p[:n])
		if sum.Sum64() == d.sum.Sum64() {
			d.write(p[n:], plain)
			return
		}
	}
	d.screen = NewScreen(d.cols, d.rows, d.limit)
	d.tape = tape{}
	d.pending, d.received = nil, 0
	d.sum.Reset()
	d.snapshots++
	d.write(p, plain)
}

// Resize gives the display another size; see Screen.Resize.
func (d *Display) Resize(cols, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	d.cols, d.rows = cols, rows
	d.screen.Resize(cols, rows)
}

// Text returns the text so far; see Screen.Text.
func (d *Display) Text() (text string, truncated bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.screen.Text()
}

// forgetText frees what only Text needs.
func (d *Display) forgetText() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.screen.history.limit = pipeLimit
	d.screen.history.text = nil
}

// Thin keeps only the end of what was shown, for a command that ended long ago.
func (d *Display) Thin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	d.tape.thin()
	d.screen.history.thin()
}

// Tail returns the last n lines and how many there have been in all; see Screen.Tail.
func (d *Display) Tail(n int) (lines []Line, total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	return d.screen.Tail(n)
}

// Answering says that somebody answers queries: from now on they are included in what is read.
func (d *Display) Answering(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tape.asking, d.tape.queries = on, nil
}

// Reader reads a display for another terminal, from the first byte that is kept. The zero value is one
// that has read nothing.
type Reader struct {
	pos       int64
	snapshots int
	begun     bool
}

// Read returns the next bytes for another terminal, about limit of them, and whether there are more. Anew says that the
// other terminal must be emptied before. A reader that falls behind what is kept continues with the newest.
func (d *Display) Read(r *Reader, limit int) (data []byte, anew, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	t := &d.tape
	switch {
	case r.begun && r.snapshots != d.snapshots:
		anew = true
		*r = Reader{}
		fallthrough
	case !r.begun:
		r.begun, r.snapshots = true, d.snapshots
		if r.pos = t.start; t.start > 0 {
			data = append(data, gap(t.start)...)
			if t.blocks[0].alternate {
				data = append(data, "\x1b[?1049h"...)
			}
		}
	case r.pos < t.start:
		pos, alternate := t.late()
		data = append(data, resync+gap(pos-r.pos)...)
		if alternate {
			data = append(data, "\x1b[?1049h"...)
		}
		r.pos = pos
	}
	data, r.pos = t.read(data, r.pos, limit)
	return data, anew, r.pos < t.end
}

// Epilogue is what another terminal is sent to say something below all output, wherever the cursor was left.
func (d *Display) Epilogue(text string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	out := []byte(calm + "\x1b7\x1b[r\x1b8")
	y := d.screen.y
	if d.tape.filter.alternate {
		out = append(out, "\x1b[?1049l"...)
		y = d.screen.main.saved.y
	}
	below := d.screen.main.used() - 1 - y
	switch {
	case below < 0:
		out = append(out, '\r')
	case below > 0 && d.lazy:
		out = append(out, "\x1b[999;1H\r\n"...) // how its rows are wrapped there is not known
	case below > 0:
		out = fmt.Appendf(out, "\x1b[%dB\r\n", below)
	default:
		out = append(out, "\r\n"...)
	}
	return append(out, "\x1b[2m"+text+"\x1b[m"...)
}
