// Package history tests what is kept of sessions: they are taken up again with all that was said, searched, exported.
package history

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
