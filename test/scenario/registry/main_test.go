// Package registry tests how agents are installed: from npm, on the page of agents, without a network.
package registry

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object.
type obj = map[string]any
