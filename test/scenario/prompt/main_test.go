// Package prompt tests what users write: the prompt, its queue and drafts, completion, what goes along.
package prompt

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
