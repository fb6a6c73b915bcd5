// Package traffic tests the record of what is said with an agent, and agents that play one again.
package traffic

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
