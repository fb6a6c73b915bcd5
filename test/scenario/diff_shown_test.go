package scenario

import (
	"strings"
	"testing"
)

// lexer is a file with something to change in it.
const lexer = `local M = {}

-- All tokens of a text.
function M.tokens(text)
  local tokens = {}
  for word in text:gmatch('%S+') do
    tokens[#tokens + 1] = word
  end
  return tokens
end

-- The tokens from one to another.
function M.between(tokens, first, last)
  local found = {}
  for i = first, last - 1 do
    found[#found + 1] = tokens[i]
  end
  return found
end

return M
`

// fixLexer is a call that changes a fragment of it.
func fixLexer(path string) obj {
	return obj{
		"toolCallId": "e1", "title": "Edit lexer.lua", "kind": "edit", "status": "pending",
		"content": []obj{{
			"type": "diff", "path": path,
			"oldText": lexer, "newText": strings.Replace(lexer, "last - 1", "last", 1),
		}},
	}
}

// awaitDiff waits until a diff is on the screen.
func (s *scene) awaitDiff() {
	s.t.Helper()
	s.AwaitLua(`#require('acp.diff').windows() > 0`)
}

func TestDiffOpensBesideTheCode(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("lexer.lua", lexer)
		s.Command("edit " + path)
		p := s.begin()
		s.prompt(p, "fix it")
		id := p.permission(fixLexer(path), yesNo...)
		s.awaitDiff()
		s.screen("split")
		s.Command("Acp permit 1")
		if got := outcome(t, p.answer(id)); got != "yes" {
			t.Errorf("the answer is %s", got)
		}
		s.awaitNoFloat()
	}, wide)
}
