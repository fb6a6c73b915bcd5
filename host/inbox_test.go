package host

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/neovim/go-client/msgpack"
	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What is in the pipe, or was read and is not decoded or handled, has not been heard.
func TestInbox(t *testing.T) {
	b, out := pipe(t)
	in := b.ReadCloser
	heard := func(want bool, when string) {
		t.Helper()
		check.Equal(t, b.Heard(), want, "%[3]s: heard is %[1]v", when)
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
	read, decoded := reading(b)
	must.Become(t, "idle", b.waiting)
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
	must.Become(t, "idle", b.waiting)
	heard(true, "all was decoded")
	must.Do(t, out.Close())
	check.Equal(t, <-read, io.EOF, "the end is %v")
	heard(false, "the end")
	must.Do(t, in.Close())
	n, err := b.Read(make([]byte, 1))
	if n != 0 || err == nil {
		t.Errorf("after its end %d bytes are read, %v", n, err)
	}
}

// A wait for what Lua has sent is over when that has been handled, whatever comes after it; what came last is handled after
// the end.
func TestWaitingForWhatLuaHasSent(t *testing.T) {
	b, out := pipe(t)
	over := make(chan string, 9)
	wait := func(name string) { b.WhenHeard(func() { over <- name }) }
	waits := func(when string) {
		t.Helper()
		check.Equal(t, len(over), 0, "%[2]s: %[1]d waits are over", when)
	}
	send := func() {
		_, err := out.WriteString("x")
		must.Do(t, err)
	}
	read, decoded := reading(b)
	take := func() { // decodes a message
		t.Helper()
		must.Do(t, <-read)
		arrived.Add(1)
		decoded <- true
		must.Become(t, "idle", b.waiting)
	}
	must.Become(t, "idle", b.waiting)
	wait("nothing was sent")
	must.Equal(t, must.Receive(t, "the end of a wait", over), "nothing was sent", "%q")

	send()
	must.Do(t, <-read)
	wait("one was sent")
	waits("it is not decoded")
	arrived.Add(1)
	decoded <- true
	must.Become(t, "idle", b.waiting)
	waits("it is not handled")
	must.Become(t, "known", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.waits[0].messages >= 0
	})
	send()
	take()
	waits("there is another, and neither is handled")
	b.wasHandled()
	must.Equal(t, must.Receive(t, "the end of a wait", over), "one was sent", "%q")
	b.wasHandled()

	send()
	must.Do(t, <-read)
	wait("the end")
	must.Do(t, out.Close())
	waits("there may be more")
	arrived.Add(1)
	decoded <- true
	check.Equal(t, <-read, io.EOF, "the end is %v")
	waits("the last one is not handled")
	b.wasHandled()
	must.Equal(t, must.Receive(t, "the end of a wait", over), "the end", "%q")
	wait("after the end")
	must.Equal(t, must.Receive(t, "the end of a wait", over), "after the end", "%q")
}

// pipe returns an inbox and what is written to it.
func pipe(t *testing.T) (*inbox, *os.File) {
	var fds [2]int
	must.Do(t, unix.Pipe2(fds[:], unix.O_CLOEXEC)) // not os.Pipe, which does not block
	in, out := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	t.Cleanup(func() { in.Close() })
	return newInbox(in), out
}

// reading reads byte by byte; decoded says that one is decoded.
func reading(b *inbox) (read chan error, decoded chan bool) {
	read, decoded = make(chan error), make(chan bool)
	go func() {
		for buf := make([]byte, 1); ; <-decoded {
			_, err := b.Read(buf)
			if read <- err; err != nil {
				return
			}
		}
	}()
	return read, decoded
}

func (b *inbox) waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.idle
}

// Where it cannot be known what is in the pipe, nothing counts as heard.
func TestAnInboxThatCannotBeAsked(t *testing.T) {
	b := newInbox(io.NopCloser(strings.NewReader("x")))
	n, err := b.Read(make([]byte, 2))
	check.Equal(t, n, 1, "%d bytes are read")
	must.Do(t, err)
	check.Equal(t, b.Heard(), false, "heard is %v")
}

// A message whose name is not a text is none, and the next one is read all the same.
func TestAMessageWithoutAName(t *testing.T) {
	var text bytes.Buffer
	e := msgpack.NewEncoder(&text)
	must.Do(t, e.Encode([]string{"no", "name"}), e.Encode("restart"))
	before := arrived.Load()
	d := msgpack.NewDecoder(&text)
	for _, want := range []method{"", "restart"} {
		var name method
		must.Do(t, d.Decode(&name))
		check.Equal(t, name, want, "its name is %q")
	}
	check.Equal(t, arrived.Load()-before, 1, "%d have arrived")
	handled.Add(1)
}
