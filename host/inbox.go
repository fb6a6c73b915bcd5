package host

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/neovim/go-client/msgpack"
	"golang.org/x/sys/unix"
)

// inbox is the pipe from Neovim, which knows whether everything that has come was taken in.
type inbox struct {
	io.ReadCloser
	raw syscall.RawConn // nil where that cannot be known

	mu    sync.Mutex
	idle  bool   // guarded by mu: everything that was read has been decoded
	ended bool   // guarded by mu: nothing more comes
	waits []wait // guarded by mu
}

// wait is for the messages of Lua that had been sent when it began.
type wait struct {
	messages int64 // so many have to be handled; -1 while some of them may be in the pipe
	done     func()
}

func newInbox(in io.ReadCloser) *inbox {
	b := &inbox{ReadCloser: in}
	if file, ok := in.(syscall.Conn); ok {
		raw, err := file.SyscallConn()
		blocks := false // else it is closed only when nobody waits for it in a call of the system's
		if err == nil && raw.Control(func(fd uintptr) {
			flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
			blocks = err == nil && flags&unix.O_NONBLOCK == 0
		}) == nil && blocks {
			b.raw = raw
		}
	}
	return b
}

// Read is called when what it has given before is decoded.
func (b *inbox) Read(p []byte) (n int, err error) {
	if b.raw == nil {
		return b.ReadCloser.Read(p)
	}
	b.mu.Lock()
	b.idle = true
	b.mu.Unlock()
	b.pass()
	if err := b.raw.Control(func(fd uintptr) { comes(fd, -1) }); err != nil {
		b.end()
		return 0, err
	}
	b.mu.Lock()
	b.idle = false // together with the read, so that what has come is in the pipe, or not decoded
	n, err = b.ReadCloser.Read(p)
	b.mu.Unlock()
	if err != nil {
		b.end()
	}
	return n, err
}

func (b *inbox) end() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.pass()
}

// comes reports whether there is something to read, after so many milliseconds at most; -1 is for ever.
func comes(fd uintptr, patience int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, patience)
		if !errors.Is(err, unix.EINTR) {
			return err != nil || n > 0
		}
	}
}

// Heard reports whether all messages that Lua had sent when it was called have been handled. Any goroutine.
func (b *inbox) Heard() bool {
	if b.raw == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return arrived.Load() == handled.Load() && b.quiet()
}

// quiet reports whether everything that has come has been decoded; mu is held.
func (b *inbox) quiet() bool {
	empty := false
	return b.idle && b.raw.Control(func(fd uintptr) { empty = !comes(fd, 0) }) == nil && empty
}

// WhenHeard calls done once, from any goroutine, when all messages that Lua had sent when it was called have been handled:
// what comes by another pipe may have been read before them. Where that cannot be known it is called at once.
func (b *inbox) WhenHeard(done func()) {
	if b.raw == nil {
		done()
		return
	}
	b.mu.Lock()
	b.waits = append(b.waits, wait{-1, done})
	b.mu.Unlock()
	b.pass()
}

// pass ends the waits that are over.
func (b *inbox) pass() {
	b.mu.Lock()
	var over []wait
	rest := b.waits[:0]
	for _, w := range b.waits {
		if w.messages < 0 && (b.ended || b.quiet()) {
			w.messages = arrived.Load()
		}
		if w.messages >= 0 && handled.Load() >= w.messages {
			over = append(over, w)
		} else {
			rest = append(rest, w)
		}
	}
	clear(b.waits[len(rest):])
	b.waits = rest
	b.mu.Unlock()
	for _, w := range over {
		w.done()
	}
}

// wasHandled says that a message of Lua's was handled. b may be nil.
func (b *inbox) wasHandled() {
	handled.Add(1)
	if b != nil {
		b.pass()
	}
}

// arrived and handled count the messages of Lua: go-client queues them where nobody sees it. A process has one Neovim.
var arrived, handled atomic.Int64

// method is the name of a message of Lua's; "" is of none.
type method string

// UnmarshalMsgPack is called on the goroutine that reads.
func (m *method) UnmarshalMsgPack(d *msgpack.Decoder) error {
	if d.Type() != msgpack.String {
		return d.Skip() // one that does not decode would end the connection
	}
	if *m = method(d.String()); *m != "" {
		arrived.Add(1)
	}
	return nil
}
