package host

import (
	"io"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What is in the pipe, or was read and is not decoded or handled, has not been heard.
func TestInbox(t *testing.T) {
	var fds [2]int
	must.Do(t, unix.Pipe2(fds[:], unix.O_CLOEXEC)) // not os.Pipe, which does not block
	in, out := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	defer in.Close()
	b := newInbox(in)
	heard := func(want bool, when string) {
		t.Helper()
		check.Equal(t, b.heard(), want, "%[3]s: heard is %[1]v", when)
	}
	heard(false, "nobody reads")
	b.idle = true
	heard(true, "the pipe is empty")
	_, err := out.WriteString("x")
	must.Do(t, err)
	heard(false, "a byte is in the pipe")
	_, err = in.Read(make([]byte, 1))
	must.Do(t, err)
	b.idle = false
	read, decoded := make(chan error), make(chan bool)
	go func() {
		for buf := make([]byte, 1); ; <-decoded {
			_, err := b.Read(buf)
			if read <- err; err != nil {
				return
			}
		}
	}()
	waits := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.idle
	}
	for !waits() {
		runtime.Gosched()
	}
	heard(true, "the reader waits")
	arrived.Add(1)
	heard(false, "a message is not handled")
	handled.Add(1)
	_, err = out.WriteString("xy")
	must.Do(t, err)
	must.Do(t, <-read)
	heard(false, "a byte is not decoded, and there is another")
	decoded <- true
	must.Do(t, <-read)
	heard(false, "a byte is not decoded")
	decoded <- true
	for !waits() {
		runtime.Gosched()
	}
	heard(true, "all was decoded")
	must.Do(t, out.Close())
	check.Equal(t, <-read, io.EOF, "the end is %v")
	heard(false, "the end")
}
