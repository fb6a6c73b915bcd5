package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// reviewBuf is the Lua expression for the buffer of the review of the session used last.
const reviewBuf = `vim.fn.bufnr('^acp://review/' .. require('acp.mirror').resolve() .. '$')`

// page is the text of the review.
func (s *scene) page() string {
	s.t.Helper()
	var lines []string
	s.Lua(&lines, `local buf = `+reviewBuf+` return buf == -1 and {} or vim.api.nvim_buf_get_lines(buf, 0, -1, false)`)
	return strings.Join(lines, "\n")
}

// awaitPage waits until the review has a text.
func (s *scene) awaitPage(text string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q in the review", text), func() bool { return strings.Contains(s.page(), text) })
}

// onPage moves the cursor of the review to the line that has a text.
func (s *scene) onPage(text string) {
	s.t.Helper()
	s.awaitPage(text)
	if s.LuaInt(`vim.fn.search('\\V' .. ..., 'cw')`, text) == 0 {
		s.t.Fatalf("%q is not in the window", text)
	}
}

const (
	lexerBefore = "local M = {}\n\nfunction M.between(toks, first, last)\n  local out = {}\n  for i = first, last - 1 do\n    out[#out + 1] = toks[i]\n  end\n  return out\nend\n\n" +
		"function M.count(toks)\n  local n = 0\n  for _ in pairs(toks) do\n    n = n + 1\n  end\n  return n\nend\n\nreturn M\n"
)

var lexerAfter = strings.NewReplacer("last - 1 do", "last do", "  local n = 0\n", "", "    n = n + 1\n", "    total = total + 1\n").Replace(lexerBefore)

// reviewed begins a session whose agent has changed three files.
func (s *scene) reviewed() *puppet {
	s.t.Helper()
	lexer := s.write("lexer.lua", lexerBefore)
	old := s.write("old.lua", "return 1\n")
	p := s.begin()
	turn := s.prompt(p, "Fix the lexer")
	p.writeFile(lexer, lexerAfter)
	p.writeFile(filepath.Join(s.Dir, "test", "lexer_spec.lua"), "it('works')\n")
	p.writeFile(old, "return 2\n")
	p.stop(turn, "end_turn")
	s.AwaitEvent("AcpTurnEnd")
	return p
}

func TestReviewOnTheScreen(t *testing.T) {
	for _, c := range []struct {
		name             string
		size, background nvimtest.Option
	}{
		{"small", nvimtest.Size(80, 24), nvimtest.Background("dark")},
		{"large", nvimtest.Size(110, 36), nvimtest.Background("light")},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.reviewed()
				s.Command("Acp review")
				s.awaitPage("lexer_spec.lua")
				s.AwaitScreen("Review")
				s.Golden("open", nvimtest.Attrs())
			}, c.size, c.background)
		})
	}
}
