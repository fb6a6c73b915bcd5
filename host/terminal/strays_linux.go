package terminal

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
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
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if s, ok := strayOf(pid); ok {
				c.list = append(c.list, s)
			}
		}
	}
	return c.list
}

// strayOf returns a process if it has a mark and runs. One of another user's cannot be looked at.
func strayOf(pid int) (stray, bool) {
	folder := "/proc/" + strconv.Itoa(pid)
	env, err := os.ReadFile(folder + "/environ")
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
