// Package mcp has scenarios about the MCP servers that sessions give to their agents.
package mcp

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

type obj = map[string]any
