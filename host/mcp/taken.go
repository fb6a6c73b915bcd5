package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/atomicfile"
)

// taken is what is kept about an agent, in a file of its own, for `:checkhealth` (lua/acp/mcp/servers.lua), which
// starts no agents.
type taken struct {
	Agent   string   `json:"agent"`             // as configured
	Version string   `json:"version,omitempty"` // as the agent said it
	Kinds   []string `json:"kinds"`             // of servers
}

// KeepTaken saves in a folder, which need not exist, which kinds of servers an agent takes. It reads and writes the
// disk, on any goroutine.
func KeepTaken(dir, agent string, info session.Info) error {
	t := taken{Agent: agent, Version: info.Version, Kinds: []string{}}
	for _, kind := range []string{"stdio", "http", "sse"} {
		if unfit(session.MCPServer{Type: kind}, info) == "" {
			t.Kinds = append(t.Kinds, kind)
		}
	}
	if err := t.write(dir); err != nil {
		return fmt.Errorf("keep which MCP servers %s takes: %w", agent, err)
	}
	return nil
}

func (t taken) write(dir string) error {
	sum := sha256.Sum256([]byte(t.Agent))
	path := filepath.Join(dir, hex.EncodeToString(sum[:8])+".json")
	text, _ := json.Marshal(t) // texts always encode
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, text) {
		return nil
	}
	return atomicfile.Write(path, text)
}
