package doc

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// completions are the words that can come next in a command line.
func completions(n *nvimtest.Nvim, line string) (words []string) {
	n.Lua(&words, `return vim.fn.getcompletion(..., 'cmdline')`, line)
	return words
}

var (
	named  = regexp.MustCompile("[:`]Acp +([a-z]+)(?: +([a-z]+))?")
	inHelp = regexp.MustCompile(`(?m)^:(?:\[range\])?Acp ([a-z]+)(?:\[!\])?((?: \S+)*)`)
	// words that can come next in the help's list: of a choice, or by themselves
	next = regexp.MustCompile(`(?:^| \[?|\|)([a-z]+)\b`)
)

// placeholders are what the help's list has for words of the user's, and what is offered from what there is then.
var placeholders = []string{"agent", "dir", "protocol", "file", "id", "mode", "model", "option", "text", "title"}

// TestCommands tells of a subcommand, or of a word behind one, that the help does not list, and of one that is written
// of but not there.
func TestCommands(t *testing.T) {
	list := between(t, read(t, "doc/acp.txt"), "7. COMMANDS", "======")
	listed := map[string][]string{} // the words that can come behind each
	for _, m := range inHelp.FindAllStringSubmatch(list, -1) {
		listed[m[1]] = append(listed[m[1]], "")
		for _, word := range next.FindAllStringSubmatch(m[2], -1) {
			if m[1] != "permit" && !slices.Contains(placeholders, word[1]) { // permit takes a number
				listed[m[1]] = append(listed[m[1]], word[1])
			}
		}
	}
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		commands := completions(n, "Acp ")
		for _, c := range commands {
			if listed[c] == nil {
				t.Errorf(":Acp %s is not in the help's list of commands", c)
			}
			for _, word := range completions(n, "Acp "+c+" ") {
				open := slices.Contains([]string{"new", "export", "traffic"}, c) // they offer agents and files
				if !open && !slices.Contains(listed[c], word) && !slices.Contains(placeholders, word) {
					t.Errorf(":Acp %s offers %s, which the help's list does not have", c, word)
				}
			}
		}
		for c, words := range listed {
			for _, word := range words {
				line := "Acp " + c
				if word == "on" || word == "off" && c == "review" {
					line += " marks"
				}
				if word != "" && !slices.Contains(completions(n, line+" "), word) && !slices.Contains(completions(n, "Acp "+c+" "), word) {
					t.Errorf("the help lists :Acp %s %s, which is not offered", c, word)
				}
			}
			if !slices.Contains(commands, c) {
				t.Errorf("the help lists :Acp %s, which is no command", c)
			}
		}
		for _, file := range []string{"doc/acp.txt", "doc/acp-tutor.txt", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"} {
			for _, m := range named.FindAllStringSubmatch(strings.ReplaceAll(read(t, file), "\n", " "), -1) {
				if !slices.Contains(commands, m[1]) {
					t.Errorf("%s writes of %q, which is no command", file, m[0])
				}
			}
		}
	})
}
