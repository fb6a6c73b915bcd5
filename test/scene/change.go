package scene

import (
	"fmt"
	"strings"
)

// This file has texts to begin with, and what the agent and the user make of them.

// TextBefore is the file as it was.
const TextBefore = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"

// TextAfter changes line 2 and puts a line behind line 6.
const TextAfter = "one\nTWO!\nthree\nfour\nfive\nsix\nnew\nseven\neight\n"

// TextReviewed is what the agent makes of TextBefore: line 2 is another, line 6 is gone, two are new at the end.
var TextReviewed = strings.NewReplacer("two", "two, changed", "six\n", "", "eight\n", "eight\nnine\nten\n").Replace(TextBefore)

// ConflictingTexts is what the agent makes of TextBefore: lines 2 and 6, of which the user has other ideas.
const ConflictingTexts = "one\nTWO by the agent\nand more\nthree\nfour\nfive\nseven\neight\n"

// BeginWithConflicts has the user change lines 2 and 6 of a file that the agent has read, and the agent then write it.
func (s *Scene) BeginWithConflicts() (p *Puppet, turn Message, path string, buf int) {
	s.T.Helper()
	path = s.WriteFile("code.txt", TextBefore)
	s.Command("edit code.txt")
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	p = s.Begin()
	turn = s.Prompt(p, "edit")
	p.ReadFile(path, nil)
	s.Command("wincmd t")
	s.Keys("2Gcctwo by me<Esc>6Gccsix by me<Esc>gg")
	s.AwaitLua(`vim.bo[...].modified`, buf)
	p.WriteFile(path, ConflictingTexts)
	s.AwaitChat("in 2 places")
	return p, turn, path, buf
}

// LargeChange is a text of 50,000 lines, and the same with each fifth line, from `line 2` on, in capitals.
func LargeChange() (old, text string) {
	var a, b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&a, "line %d\n", i)
		if i%5 == 2 {
			fmt.Fprintf(&b, "LINE %d\n", i)
		} else {
			fmt.Fprintf(&b, "line %d\n", i)
		}
	}
	return a.String(), b.String()
}

// BeginWithChange opens a file that has TextBefore and has the agent change it.
func (s *Scene) BeginWithChange(text string) (p *Puppet, turn Message, path string, buf int) {
	s.T.Helper()
	path = s.WriteFile("code.txt", TextBefore)
	s.Command("edit code.txt")
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	p = s.Begin()
	s.Command("wincmd t")
	s.Command("Acp toggle")
	turn = s.Prompt(p, "edit")
	p.ReadFile(path, nil)
	p.WriteFile(path, text)
	return p, turn, path, buf
}
