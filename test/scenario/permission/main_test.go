// Package permission tests requests for permission: the float, answers, hunks, pending writes.
package permission

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }

// obj is a JSON object of the protocol.
type obj = map[string]any
