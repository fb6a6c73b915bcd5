// Package attention tests how users hear of what waits for them: notifications, events, the status line, the window
// bars.
package attention

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
