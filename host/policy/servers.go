package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/answers"
)

// serversKind is the kind of answers about the MCP servers of a project.
const serversKind = "mcp_servers"

// aboutServers returns what an answer about a project's file of MCP servers applies to: that file as it is.
func aboutServers(cwd string, text []byte) (answers.Question, error) {
	project, err := buffers.RealPath(cwd)
	sum := sha256.Sum256(text)
	return answers.Question{Project: project, Kind: serversKind, Input: hex.EncodeToString(sum[:])}, err
}

// ServersAllowed returns the user's answer about a project's file of MCP servers. It reads the disk.
func (p *Policy) ServersAllowed(cwd string, text []byte) (allowed, known bool) {
	q, err := aboutServers(cwd, text)
	if err != nil {
		return false, false
	}
	a, known, _ := p.answers.Find(q, 0) // if the file of answers cannot be read, the user is asked
	return a.Allow, known
}

// KeepServers keeps the user's answer about a project's file of MCP servers. It writes the disk.
func (p *Policy) KeepServers(cwd string, text []byte, allow bool) error {
	q, err := aboutServers(cwd, text)
	if err != nil {
		return err
	}
	return p.answers.Add(answers.Answer{Question: q, Allow: allow, At: time.Now()})
}
