package diff

import (
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// Unified is a change as diff -u writes it, of a file that is called name; what it does to the file, where the agent
// tells no texts. A patch of the agent's is as it came.
func Unified(d session.Diff, name string) string {
	told := strings.TrimSpace(string(d.Operation) + " " + name)
	if d.Patch != "" {
		return d.Patch
	}
	if d.OldText == nil && d.NewText == nil {
		return told
	}
	before, after, old, text := "a/"+name, "b/"+name, "", ""
	if filepath.IsAbs(name) {
		before, after = "a"+name, "b"+name
	}
	if d.OldText == nil {
		before = "/dev/null"
	} else {
		old = *d.OldText
	}
	if d.NewText == nil {
		after = "/dev/null"
	} else {
		text = *d.NewText
	}
	unified, err := linediff.Unified(before, after, old, text)
	if err != nil {
		return told
	}
	return unified
}
