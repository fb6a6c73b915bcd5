// Package sentence describes calls of the editor's tools in words, the same for every agent. It needs only what the
// agent reports about the call, so it works for stored conversations too.
package sentence

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Server is the name by which agents know the editor's tools.
const Server = "nvim"

// objects is what tools ask about, by tool; %s is the most telling argument.
var objects = map[string]struct{ argument, words string }{
	"open_files":        {"", "the open files"},
	"read_buffer":       {"path", "the text of %s"},
	"diagnostics":       {"path", "diagnostics of %s"},
	"definition":        {"symbol", "definition of `%s`"},
	"declaration":       {"symbol", "declaration of `%s`"},
	"type_definition":   {"symbol", "type of `%s`"},
	"implementation":    {"symbol", "implementations of `%s`"},
	"references":        {"symbol", "references of `%s`"},
	"incoming_calls":    {"symbol", "callers of `%s`"},
	"outgoing_calls":    {"symbol", "calls in `%s`"},
	"hover":             {"symbol", "documentation of `%s`"},
	"signature":         {"symbol", "signature of `%s`"},
	"symbols":           {"path", "symbols of %s"},
	"workspace_symbols": {"query", "symbols like `%s`"},
	"code_actions":      {"path", "code actions in %s"},
	"selection":         {"", "the selection"},
	"quickfix":          {"", "the quickfix list"},
	"changes":           {"", "unreviewed changes"},
	"help":              {"topic", "help on %s"},
	"show":              {"path", "to show %s"},
	"rename":            {"symbol", "to rename `%s`"},
	"apply_code_action": {"", "to apply a code action"},
	"format":            {"path", "to format %s"},
	"run_task":          {"name", "to run the task %s"},
}

// nothing is what remains of an object whose argument is missing.
var nothing = map[string]string{"diagnostics": "diagnostics", "read_buffer": "the text of a file", "run_task": "to run a task"}

// count matches the beginning of an answer that counts.
var count = regexp.MustCompile(`^(?:no|\d+) [a-z' ]+:?(?:\n|$)`)

// longest bounds the bytes of an argument that are shown.
const longest = 200

// listed matches a place in an answer of the editor's.
var listed = regexp.MustCompile(`^ *(\S[^:]*):(\d+)(?::\d+)?:`)

// PlaceIn finds the place that a line of an answer names; its path may be relative to the session's folder.
func PlaceIn(line string) (path string, number int, ok bool) {
	m := listed.FindStringSubmatch(line)
	if m == nil {
		return "", 0, false
	}
	number, err := strconv.Atoi(m[2])
	return m[1], number, err == nil
}

// Of describes a call of a tool in words; ok is false if it is not one of the editor's.
func Of(c *session.ToolCall) (words string, ok bool) {
	words, found, ok := Said(c)
	return words + found, ok
}

// Said is [Of] in two parts: what was asked, and what was found, or "".
func Said(c *session.ToolCall) (words, found string, ok bool) {
	tool, arguments, ok := called(c)
	if !ok || !c.Editor {
		return "", "", false
	}
	var args map[string]any
	_ = json.Unmarshal(arguments, &args) // anything but an object names nothing
	words = "asked the editor: " + object(tool, args)
	if c.Status.Finished() {
		found = counted(c)
	}
	return words, found, true
}

// Tool returns the editor's tool that a call seems to use: its description names the server, which may be another one
// of that name. ok is false if it names none.
func Tool(c *session.ToolCall) (tool string, ok bool) {
	tool, _, ok = called(c)
	return tool, ok
}

// called is [Tool] with its arguments. OpenCode names the tool only in the title, which may be anything: there only a
// known name counts.
func called(c *session.ToolCall) (tool string, arguments json.RawMessage, ok bool) {
	if m, ok := c.MCP(); ok {
		return m.Tool, m.Arguments, m.Server == Server
	}
	tool, ok = strings.CutPrefix(c.Title, Server+"_")
	if _, known := objects[tool]; !ok || !known {
		return "", nil, false
	}
	return tool, c.RawInput, true
}

func object(tool string, args map[string]any) string {
	of, known := objects[tool]
	if !known {
		return styled.OneLine(styled.Cut(tool, longest))
	}
	if of.argument == "" {
		return of.words
	}
	value, _ := args[of.argument].(string)
	if value = styled.OneLine(styled.Cut(value, longest)); value != "" {
		return fmt.Sprintf(of.words, value)
	}
	if words := nothing[tool]; words != "" {
		return words
	}
	return strings.ReplaceAll(tool, "_", " ")
}

// counted returns how many things the answer has.
func counted(c *session.ToolCall) string {
	for _, item := range c.Content {
		block, _ := item.(session.ContentItem)
		text, ok := block.Content.(session.Text)
		if !ok {
			continue
		}
		if found := count.FindString(text.Text); found != "" && len(found) < longest {
			return " · " + strings.TrimRight(found, ":\n")
		}
		return ""
	}
	return ""
}
