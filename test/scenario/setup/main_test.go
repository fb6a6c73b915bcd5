// Package setup tests the plugin in the user's Neovim: configuration, health, the host program, deactivation.
package setup

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }
