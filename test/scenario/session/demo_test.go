package session

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// The built-in agent's whole turn looks the same in version 2, where it writes the disk and runs commands itself.
func TestDemoInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("README.md", "# Greetings\n\nHello.\n")
		s.WriteFile("test.sh", "echo it works\n")
		s.Command("edit README.md")
		s.Command("Acp new demo protocol=2")
		s.AwaitEvent("AcpSessionReady")
		must.Equal(t, s.Session()["protocol"], 2, "it speaks version %v")
		s.OK(`require('acp').prompt('show me what you can do')`)
		for range 2 {
			s.AwaitFloat()
			s.Command("Acp permit 1")
			s.AwaitEvent("AcpPermissionResolved")
		}
		s.AwaitTurnEnd("end_turn")
		s.OnceInChat("show me what you can do", "it works", "The command ended with code 0")
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('README.md'), 0, -1, false), '\n'):find('demo agent', 1, true) ~= nil`)
		changes, _ := s.Value(`require('acp').changes()`).([]any)
		if len(changes) != 1 {
			t.Errorf("the changes are %v", changes)
		}
	}, scene.Wide)
}
