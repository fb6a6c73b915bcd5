package setup

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Neovim's folders cannot be written, as in many containers: everything goes on, and one sentence says so.
func TestFoldersThatCannotBeWritten(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.AwaitChat("/dev/null cannot be written: this goes without log and saved data.")
		s.WriteFiles("a.lua")
		s.Keys("i@a")
		s.AwaitMenu("a.lua")
		s.Keys("<C-e><C-u>go<C-s>")
		m, _ := p.Prompted()
		p.Say("I am here.")
		p.Stop(m, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitChat("I am here.")
		if said := s.Messages(); strings.Contains(said, "acp") || strings.Contains(said, "traceback") {
			t.Errorf("the messages are %q", said)
		}
	}, nvimtest.Env("XDG_STATE_HOME=/dev/null", "XDG_DATA_HOME=/dev/null", "XDG_CACHE_HOME=/dev/null"))
}
