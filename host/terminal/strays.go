package terminal

import (
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// markName is the variable by which the processes of a command are known, wherever they have gone: a
// process group and a session can be left, and the parent of an orphan is another.
const markName = "ACP_NVIM_COMMAND"

// newMark returns what is in the variable's value for the processes of one command.
func newMark() string { return rand.Text() }

// marked returns the environment with the mark. A host that runs in a command of another host's keeps the
// mark of that one.
func marked(env []string, mark string) []string {
	if outer := lookup(env, markName); outer != "" {
		mark = outer + " " + mark
	}
	return append(slices.Clip(env), markName+"="+mark)
}

// stray is a process with a mark.
type stray struct {
	pid, group int
	mark       string // the variable's value
}

// signalStrays sends sig to the processes with the mark that are not in the group, and reports whether
// there are any. Each is looked at once more when its number can be no other's.
func signalStrays(mark string, group int, sig unix.Signal) bool {
	found := false
	for _, s := range strays.all() {
		if s.group == group || !strings.Contains(s.mark, mark) {
			continue
		}
		process, err := os.FindProcess(s.pid)
		if err != nil {
			continue
		}
		if now, ok := strayOf(s.pid); ok && strings.Contains(now.mark, mark) && process.Signal(sig) == nil {
			found = true
		}
		_ = process.Release()
	}
	return found
}

// endStrays kills the processes with the mark until there are none, but for no longer than reapLimit.
func endStrays(mark string, group int) {
	for deadline := time.Now().Add(reapLimit); signalStrays(mark, group, unix.SIGKILL) && time.Now().Before(deadline); {
		time.Sleep(groupInterval)
	}
}
