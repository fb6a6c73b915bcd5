package host

import (
	"os"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has the paths of a session, as shown and as they are.

// short is a path as shown.
func (s *Session) short(path string) string { return styled.Relative(s.cwd, path) }

// tilde is a path as shown: with ~ for the user's home.
func tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" || !below(path, home) {
		return path
	}
	return "~" + path[len(home):]
}

// absolute is [session.Absolute] in this session.
func (s *Session) absolute(path string) (string, bool) {
	home, _ := os.UserHomeDir()
	return session.Absolute(path, s.cwd, home)
}
