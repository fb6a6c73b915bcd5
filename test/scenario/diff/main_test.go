// Package diff tests the changes of a tool call as they are shown: in the chat, in windows, in the file itself.
package diff

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
