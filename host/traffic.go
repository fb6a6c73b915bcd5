package host

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// trafficBytes bounds what is kept in memory of the messages with one agent.
const trafficBytes = 4 << 20

// traffic keeps the recent messages with each agent, also after its process
// has ended, and writes them to a file when asked.
type traffic struct {
	mu      sync.Mutex // guards the fields below
	byAgent map[string]*acp.Traffic
	files   map[string]bool // that are recorded to, real paths
}

func newTraffic() *traffic {
	return &traffic{byAgent: map[string]*acp.Traffic{}, files: map[string]bool{}}
}

// records reports whether a file, by its real path, is recorded to.
func (t *traffic) records(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.files[path]
}

// agent returns the record of an agent, by its configured name.
func (t *traffic) agent(name string) *acp.Traffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byAgent[name] == nil {
		t.byAgent[name] = acp.NewTraffic(trafficBytes)
	}
	return t.byAgent[name]
}

// recordTo writes what is in memory, and everything that follows, to a file.
func (t *traffic) recordTo(agent, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("record traffic: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		t.mu.Lock()
		t.files[real] = true
		t.mu.Unlock()
	}
	if _, err := t.agent(agent).RecordTo(f); err != nil {
		f.Close()
		return fmt.Errorf("record traffic: %w", err)
	}
	return nil
}

// showTraffic hands Lua what was said with an agent, and from then on records it to a file, if
// one is named.
func (h *Host) showTraffic(agent, file string, callback int) {
	if file != "" {
		if err := h.traffic.recordTo(agent, file); err != nil {
			h.editor.Answer(callback, nil, err.Error())
			return
		}
	}
	entries := h.traffic.agent(agent).Entries()
	list := make([]rpc.TrafficEntry, len(entries))
	for i, e := range entries {
		list[i] = rpc.TrafficEntry{Dir: string(e.Dir), T: int(e.T), Msg: string(e.Msg)}
	}
	h.editor.Answer(callback, list, "")
}
