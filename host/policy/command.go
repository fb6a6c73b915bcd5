package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
)

// Command is what a request runs, as its agent says: a shell line, an argv, or nothing.
type Command struct {
	Dir    string // absolute, if the agent sends a path
	script string
	argv   []string
	doubt  string // why it may run something else
}

// Parsed returns the command parsed for the rules.
func (c Command) Parsed() rules.Command {
	switch {
	case c.doubt != "":
		return rules.Unknown(c.script, c.doubt)
	case c.argv != nil:
		return rules.Argv(c.argv)
	case c.script != "":
		return rules.Shell(c.script)
	}
	return rules.Command{}
}

// Line returns the command as one would type it, or "".
func (c Command) Line() string {
	if c.argv != nil {
		return rules.Quoted(c.argv)
	}
	return c.script
}

// edits are what editing tools send as their command: what they do to the file; it runs nothing.
var edits = []string{"view", "create", "str_replace", "insert", "undo_edit", "replace", "write", "append", "delete", "move", "rename"}

// CommandOf finds what a request about a call runs. Agents of version 2 send it besides the call, others in the raw
// input, as a string or a list; without an input the title is the last resort.
func CommandOf(r session.PermissionRequest, call *session.ToolCall, at folder.Folder) Command {
	var input struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
		Cwd     any             `json:"cwd"`
		Workdir any             `json:"workdir"`
	}
	raw := call.RawInput
	m, isMCP := call.MCP()
	if isMCP {
		raw = m.Arguments
	}
	hasInput := json.Unmarshal(raw, &input) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
	c := Command{Dir: r.Cwd}
	for _, dir := range []any{input.Cwd, input.Workdir} {
		text, _ := dir.(string)
		c.Dir = cmp.Or(c.Dir, session.LocalPath(text))
	}
	c.Dir, _ = at.Absolute(cmp.Or(c.Dir, at.Cwd))
	if c.script = r.Command; c.script != "" {
		return c
	}
	for _, raw := range []json.RawMessage{input.Command, input.Cmd} {
		if json.Unmarshal(raw, &c.script) == nil && c.script != "" {
			if onFiles[call.Kind] && slices.Contains(edits, c.script) {
				c.script = ""
			}
			return c
		}
		if json.Unmarshal(raw, &c.argv) == nil && len(c.argv) > 0 {
			return c
		}
		c.argv = nil
	}
	if call.Kind == session.KindExecute && !isMCP {
		c.script = strings.Trim(strings.TrimSpace(call.Title), "`")
		if hasInput || c.script == "" {
			c.doubt = "the agent does not say what it runs"
		}
	}
	return c
}
