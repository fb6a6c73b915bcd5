// Package elicitation tests what agents ask their user: choices, forms and pages.
package elicitation

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
