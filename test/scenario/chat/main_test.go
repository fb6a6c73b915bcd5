// Package chat tests the chat: what it shows of a conversation, how it is read, and that nothing damages it.
package chat

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
