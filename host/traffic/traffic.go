// Package traffic keeps the messages to and from each agent, for a user who looks for the cause of a problem.
package traffic

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// maxKept is how many bytes of the messages with one agent are kept in memory.
const maxKept = 4 << 20

// Traffic keeps the recent messages to and from each agent, even after its process has ended, and writes them to a file
// when asked. Any goroutine may call its methods.
type Traffic struct {
	mu       sync.Mutex // guards the fields below
	byAgent  map[string]*acp.Traffic
	recorded map[string]bool // the agents that are, by name
	files    map[string]bool // that are recorded to, real paths
}

// New keeps nothing yet.
func New() *Traffic {
	return &Traffic{byAgent: map[string]*acp.Traffic{}, recorded: map[string]bool{}, files: map[string]bool{}}
}

// Records reports whether a file, by its real path, is recorded to.
func (t *Traffic) Records(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.files[path]
}

// Agent returns the record of an agent, by its configured name.
func (t *Traffic) Agent(name string) *acp.Traffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byAgent[name] == nil {
		t.byAgent[name] = acp.NewTraffic(maxKept)
	}
	return t.byAgent[name]
}

// Entries returns what is kept of an agent, for Lua to show. If a file is named, that and everything that follows is
// recorded to it.
func (t *Traffic) Entries(agent, file string) ([]rpc.TrafficEntry, error) {
	if file != "" {
		if err := t.recordTo(agent, file); err != nil {
			return nil, fmt.Errorf("record traffic: %w", err)
		}
	}
	entries := t.Agent(agent).Entries()
	list := make([]rpc.TrafficEntry, len(entries))
	for i, e := range entries {
		list[i] = rpc.TrafficEntry{Dir: string(e.Dir), T: int(e.T), Msg: string(e.Msg), Note: e.Note}
	}
	return list, nil
}

func (t *Traffic) recordTo(agent, path string) error {
	if !t.begin(agent) { // else the file, perhaps the same, would be emptied
		return errors.New("already recording")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.recorded, agent)
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		t.mu.Lock()
		t.files[real] = true
		t.mu.Unlock()
	}
	_, err = t.Agent(agent).RecordTo(f) // it is not recorded yet, so it can be
	return err
}

// begin notes that an agent is recorded, and reports whether it was not.
func (t *Traffic) begin(agent string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	begun := !t.recorded[agent]
	t.recorded[agent] = true
	return begun
}
