package host

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/neovim/go-client/msgpack"
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
	must.Do(t, in.Close())
	n, err := b.Read(make([]byte, 1))
	if n != 0 || err == nil {
		t.Errorf("after its end %d bytes are read, %v", n, err)
	}
}

// Where it cannot be known what is in the pipe, nothing counts as heard.
func TestAnInboxThatCannotBeAsked(t *testing.T) {
	b := newInbox(io.NopCloser(strings.NewReader("x")))
	n, err := b.Read(make([]byte, 2))
	check.Equal(t, n, 1, "%d bytes are read")
	must.Do(t, err)
	check.Equal(t, b.heard(), false, "heard is %v")
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
