package scenario

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// Neovim's folders cannot be written, as in many containers: everything goes on, and one sentence says so.
func TestFoldersThatCannotBeWritten(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.awaitChat("/dev/null cannot be written: this goes without log and saved data.")
		s.folder("a.lua")
		s.Keys("i@a")
		s.awaitMenu("a.lua")
		s.Keys("<C-e><C-u>go<C-s>")
		m, _ := p.prompted()
		p.say("I am here.")
		p.stop(m, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitChat("I am here.")
		if said := s.Messages(); strings.Contains(said, "acp") || strings.Contains(said, "traceback") {
			t.Errorf("the messages are %q", said)
		}
	}, nvimtest.Env("XDG_STATE_HOME=/dev/null", "XDG_DATA_HOME=/dev/null", "XDG_CACHE_HOME=/dev/null"))
}
