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

	mu   sync.Mutex
	idle bool // guarded by mu: everything that was read has been decoded
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
func (b *inbox) Read(p []byte) (int, error) {
	if b.raw == nil {
		return b.ReadCloser.Read(p)
	}
	b.mu.Lock()
	b.idle = true
	b.mu.Unlock()
	if err := b.raw.Control(func(fd uintptr) { comes(fd, -1) }); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = false // together with the read, so that what has come is in the pipe, or not decoded
	return b.ReadCloser.Read(p)
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

// heard reports whether all messages that Lua had sent when it was called have been handled. Any goroutine.
func (b *inbox) heard() bool {
	if b.raw == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	quiet := false
	return b.idle && arrived.Load() == handled.Load() &&
		b.raw.Control(func(fd uintptr) { quiet = !comes(fd, 0) }) == nil && quiet
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
