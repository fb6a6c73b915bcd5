package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// The kernel kills the command when the thread that started it ends; that must not be the caller's.
func TestCommandOutlivesItsStarter(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	config := Config{Command: "while ! test -e " + gate + "; do sleep 0.01; done; echo alive"}
	var term *Terminal
	var thread int
	var starter sync.WaitGroup
	starter.Go(func() {
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		thread = unix.Gettid()
		term = start(t, config)
	})
	starter.Wait()
	eventually(t, "the thread has ended", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread))
		return err != nil || thread == os.Getpid() // the first thread never ends
	})
	must.Do(t, os.WriteFile(gate, nil, 0o644))
	if got := wait(t, term); got.Text != "alive\n" {
		t.Errorf("output %q, exit %s", got.Text, showsExit(got.Exit))
	}
}

func TestRealTimeSignal(t *testing.T) {
	check.Equal(t, showsExit(wait(t, sh(t, "kill -34 $$")).Exit), "SIG34", "exit %s")
}
