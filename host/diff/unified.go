package diff

import (
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// Unified returns a change as diff -u writes it, of a file called name, or what it does to the file if the agent sends
// no texts. An agent's patch is returned as it came, except for the paths before its hunks.
func Unified(d session.Diff, name string) string {
	told := strings.TrimSpace(string(d.Operation) + " " + name)
	before, after, old, text := "a/"+name, "b/"+name, "", ""
	if filepath.IsAbs(name) {
		before, after = "a"+name, "b"+name
	}
	if d.Operation == session.OperationAdd || d.Operation == "" && d.OldText == nil {
		before = "/dev/null"
	}
	if d.Operation == session.OperationDelete {
		after = "/dev/null"
	}
	switch {
	case d.Patch != "":
		if at := strings.Index(d.Patch, "\n@@ "); at >= 0 && d.OldPath == "" { // they are the agent's, whole
			return "--- " + before + "\n+++ " + after + d.Patch[at:]
		}
		return d.Patch
	case d.OldText == nil && d.NewText == nil:
		return told
	}
	if d.OldText != nil {
		old = *d.OldText
	}
	if d.NewText != nil {
		text = *d.NewText
	} else {
		after = "/dev/null"
	}
	unified, err := linediff.Unified(before, after, old, text)
	if err != nil {
		return told
	}
	return unified
}
