package terminal

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// runs reports whether a process does. A dead one that waits for its parent does not.
func runs(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") Z")
}

// left runs a script that prints the number of a process which it leaves behind, outside of its group.
func left(t *testing.T, script string) (*Terminal, int) {
	t.Helper()
	term := sh(t, "trap '' HUP; "+script) // else some end with the command, before they have left
	eventually(t, "the number of the process", func() bool { return strings.HasSuffix(term.Output().Text, "\n") })
	pid, err := strconv.Atoi(strings.TrimSpace(term.Output().Text))
	must.Do(t, err)
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	eventually(t, "it has left the group", func() bool { group, err := unix.Getpgid(pid); return err == nil && group != term.PGID() })
	return term, pid
}

// What a command has started does not outlive its terminal, wherever it went.
func TestStrays(t *testing.T) {
	for name, script := range map[string]string{
		"a session of its own":   "setsid sh -c 'echo $$; exec sleep 1000' & wait",
		"orphaned":               "setsid sh -c 'echo $$; exec sleep 1000' &",
		"double-forked":          "(setsid sh -c '(sleep 1000 & echo $!) &' &)",
		"a daemon without a PTY": "setsid sh -c 'echo $$; exec sleep 1000 < /dev/null > /dev/null 2>&1' &",
		"deaf":                   "setsid sh -c 'trap \"\" HUP TERM; echo $$; while :; do sleep 1000; done' &",
		"stopped":                "setsid sh -c 'echo $$; kill -STOP $$; sleep 1000' &",
		"another group":          "bash -mc '(trap \"\" HUP; sleep 1000) & echo $!'",
	} {
		for _, how := range []string{"kill", "close", "close at once"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				term, pid := left(t, script)
				if !runs(pid) {
					t.Fatal("it does not run; the test tests nothing")
				}
				switch how {
				case "kill":
					term.Kill()
				case "close":
					term.Close(killGrace)
				default:
					term.Close(0)
				}
				eventually(t, "it has ended", func() bool { return !runs(pid) })
			})
		}
	}
}

func TestStraysOfOthersLive(t *testing.T) {
	one, first := left(t, "setsid sh -c 'echo $$; exec sleep 1000' &")
	_, second := left(t, "setsid sh -c 'echo $$; exec sleep 1000' &")
	_, inner := left(t, "ACP_NVIM_COMMAND=x setsid sh -c 'echo $$; exec sleep 1000' &")
	one.Close(0)
	eventually(t, "its own has ended", func() bool { return !runs(first) })
	if !runs(second) || !runs(inner) {
		t.Error("another command's was killed")
	}
}

// A process is known while its program is being replaced, too, when the kernel shows no environment of it or
// half of one.
func TestAStrayBetweenTwoPrograms(t *testing.T) {
	_, pid := left(t, `setsid sh -c 'echo $$; s="exec sh -c \"\$s\""; export s; eval "$s"' &`)
	for range 1000 {
		if _, ok := strayOf(pid); !ok {
			t.Fatal("it was taken for another's")
		}
	}
}

// A host that runs in another one's command ends with it, and its commands too.
func TestMarksWithinMarks(t *testing.T) {
	env := marked([]string{"A=b", markName + "=outer"}, "inner")
	check.Equal(t, lookup(env, markName), "outer inner", "the mark is %q")
	for mark, want := range map[string]bool{"12.": true, "12.A": true, "345.B": true, "2.": false, "45.": false, "B": false} {
		if (stray{mark: "12.A 345.B"}).has(mark) != want {
			t.Errorf("it has %s: %v", mark, !want)
		}
	}
	check.Slice(t, marked(slices.Clone([]string{"A=b"}), "one"), []string{"A=b", markName + "=one"},
		"the environment is %q")
}
