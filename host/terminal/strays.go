package terminal

import (
	"crypto/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// markName is the variable that identifies the processes of a command wherever they go: they can leave the process
// group and the session, and orphans get another parent.
const markName = "ACP_NVIM_COMMAND"

// newMark returns the mark for the processes of one command of this host.
func newMark() string { return markOf(os.Getpid()) + rand.Text() }

// markOf returns the prefix of the marks of a host's commands.
func markOf(host int) string { return strconv.Itoa(host) + "." }

// EndOrphans kills what the commands of a killed host have started.
func EndOrphans(host int) { endStrays(markOf(host), 0) }

// marked returns the environment with the mark. A host that runs inside another host's command keeps that command's
// mark.
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

// has reports whether a process has a mark, or one that begins so.
func (s stray) has(mark string) bool { return strings.Contains(" "+s.mark, " "+mark) }

// signalStrays sends sig to the processes with the mark that are not in the group, and reports whether there are any.
// Each is checked once more when its number cannot have been reused.
func signalStrays(mark string, group int, sig unix.Signal) bool {
	found := false
	for _, s := range strays.all() {
		if s.group == group || !s.has(mark) {
			continue
		}
		process, err := os.FindProcess(s.pid)
		if err != nil {
			continue
		}
		if now, ok := strayOf(s.pid); ok && now.has(mark) && process.Signal(sig) == nil {
			found = true
		}
		_ = process.Release()
	}
	return found
}

// endStrays kills the processes with the mark until there are none, for at most reapLimit.
func endStrays(mark string, group int) {
	for deadline := time.Now().Add(reapLimit); signalStrays(mark, group, unix.SIGKILL) && time.Now().Before(deadline); {
		time.Sleep(groupInterval)
	}
}
