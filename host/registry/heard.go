package registry

import (
	"path/filepath"
	"time"
)

// This file keeps what agents said of themselves when they were last started, for the page of agents and the health
// report, which start none. Lua reads it, see lua/acp/installed.lua.

// Heard is the last handshake of an agent.
type Heard struct {
	At      time.Time `json:"at"`
	Program string    `json:"program"` // that said it, as started
	Said    string    `json:"said"`    // its name, version and protocol, in words
	Logins  []string  `json:"logins"`  // its ways to log in
	Can     []string  `json:"can"`     // its capabilities, in words
}

func (r *Registry) heardFile() string { return filepath.Join(r.config.Folder, "handshakes.json") }

// Hear keeps the last handshake of an agent, by its name in the configuration.
func (r *Registry) Hear(name string, h Heard) error {
	if r.config.Folder == nowhere {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]Heard{}
	if readJSON(r.heardFile(), &all) != nil {
		all = map[string]Heard{} // an unreadable file is replaced
	}
	h.At = r.config.Now().UTC().Truncate(time.Second)
	all[name] = h
	return writeJSON(r.heardFile(), all)
}
