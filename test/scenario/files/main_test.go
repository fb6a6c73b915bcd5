// Package files tests reads and writes of agents, changes on the disk, conflicts, and writes that are cut short.
package files

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
