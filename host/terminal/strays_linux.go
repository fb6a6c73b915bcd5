package terminal

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// execInterval is how often a process in the middle of an exec is checked, which takes far less with an idle
	// processor, and execLimit for how long.
	execInterval = time.Millisecond
	execLimit    = time.Second
	// maxPasses is how often the processes are listed in one scan if there are always new ones.
	maxPasses = 5
	// ofKernel is the flag of the kernel's own threads (PF_KTHREAD).
	ofKernel = 0x00200000
)

// census finds the processes with a mark. Many commands end at once when Neovim does, and share a look.
type census struct {
	begun atomic.Int64 // looks

	mu   sync.Mutex // guards the fields below, and is held while looking
	last int64      // the number of the last look
	list []stray
}

var strays census

// all returns the processes that had a mark at some moment after the call.
func (c *census) all() []stray {
	before := c.begun.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last > before {
		return c.list
	}
	c.last = c.begun.Add(1)
	c.list = nil
	// One that was gone when checked may have left others, which are in the next list.
	seen := map[int]bool{}
	for pass, more := 0, true; more && pass < maxPasses; pass++ {
		more = false
		for _, pid := range processes() {
			if seen[pid] {
				continue
			}
			seen[pid], more = true, true
			if s, ok := strayOf(pid); ok {
				c.list = append(c.list, s)
			}
		}
	}
	return c.list
}

// processes returns the numbers of all processes.
func processes() (pids []int) {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// strayOf returns a process if it has a mark and runs. Another user's processes cannot be checked.
func strayOf(pid int) (stray, bool) {
	folder := "/proc/" + strconv.Itoa(pid)
	env, err := environ(folder)
	if err != nil {
		return stray{}, false
	}
	const entry = "\x00" + markName + "="
	_, rest, found := bytes.Cut(append([]byte{0}, env...), []byte(entry))
	if !found {
		return stray{}, false
	}
	mark, _, _ := bytes.Cut(rest, []byte{0})
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return stray{}, false
	}
	// "pid (name) state parent group …", and the name may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || fields[0][0] == 'Z' {
		return stray{}, false
	}
	group, err := strconv.Atoi(string(fields[2]))
	return stray{pid: pid, group: group, mark: string(mark)}, err == nil
}

// environ returns the environment of a process. During an exec it may be short or missing, or the process reported as
// gone, so it is read again until it is whole, or really gone.
func environ(folder string) ([]byte, error) {
	for deadline := time.Now().Add(execLimit); ; time.Sleep(execInterval) {
		env, err := os.ReadFile(folder + "/environ")
		unsure := err == nil || errors.Is(err, unix.ESRCH)
		if !unsure || len(env) == environSize(folder) || time.Now().After(deadline) {
			return env, err
		}
	}
}

// environSize returns how many bytes the environment of a process has: none if it has ended or is a thread
// of the kernel, and -1 while it is between two programs.
func environSize(folder string) int {
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return 0
	}
	// By proc_pid_stat(5), from the third field on: state, …, flags (9), …, startcode (26), which is set
	// last when a program is put in, …, env_start (50), env_end.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 49 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0
	}
	flags, _ := strconv.ParseUint(string(fields[6]), 10, 32)
	if flags&ofKernel != 0 {
		return 0
	}
	begin, _ := strconv.Atoi(string(fields[47]))
	end, _ := strconv.Atoi(string(fields[48]))
	if string(fields[23]) == "0" {
		return -1
	}
	return end - begin
}
