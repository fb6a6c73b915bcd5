package scenario

import (
	"strings"
	"testing"
)

// reviewed is what the agent makes of before: line 2 is another, line 6 is gone, two are new at the end.
var reviewed = strings.NewReplacer("two", "two, changed", "six\n", "", "eight\n", "eight\nnine\nten\n").Replace(before)

// marked opens a file and has the agent change it.
func (s *scene) marked(text string) (p *puppet, turn message, path string, buf int) {
	s.t.Helper()
	path = s.write("code.txt", before)
	s.Command("edit code.txt")
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	p = s.begin()
	s.Command("wincmd t")
	s.Command("Acp toggle")
	turn = s.prompt(p, "edit")
	p.readFile(path, nil)
	p.writeFile(path, text)
	return p, turn, path, buf
}

func TestChangesAreMarkedInTheBuffer(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, turn, _, _ := s.marked(reviewed)
		s.AwaitScreen("▌")
		s.screen("marked")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}
