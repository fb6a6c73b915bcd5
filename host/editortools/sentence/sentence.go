// Package sentence says calls of the editor's tools in words, the same for every agent. It needs no more than what the
// agent tells of the call, so it does for stored conversations too.
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

// objects are what tools ask about, by their names; %s is the argument that says most.
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

// nothing is what is left of an object whose argument is not told.
var nothing = map[string]string{"diagnostics": "diagnostics", "read_buffer": "the text of a file", "run_task": "to run a task"}

// count is how an answer begins that counts.
var count = regexp.MustCompile(`^(?:no|\d+) [a-z' ]+:?(?:\n|$)`)

// longest is how many bytes of an argument are shown.
const longest = 200

// listed is a place in an answer of the editor's.
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

// Of says a call of a tool in words; ok is false where it is none of the editor's.
func Of(c *session.ToolCall) (words string, ok bool) {
	words, found, ok := Said(c)
	return words + found, ok
}

// Said is [Of] in two parts: what was asked, and what the answer has, or "".
func Said(c *session.ToolCall) (words, found string, ok bool) {
	tool, arguments, ok := called(c)
	if !ok || !c.Editor {
		return "", "", false
	}
	var args map[string]any
	_ = json.Unmarshal(arguments, &args) // what is no object names nothing
	words = "asked the editor: " + object(tool, args)
	if c.Status.Finished() {
		found = counted(c)
	}
	return words, found, true
}

// Tool is the tool of the editor's of which a call seems to be: what it says of itself names the server, which may be
// another one of that name. ok is false where it names none.
func Tool(c *session.ToolCall) (tool string, ok bool) {
	tool, _, ok = called(c)
	return tool, ok
}

// called is [Tool] with its arguments. OpenCode says the tool in the title alone, which may be anything: there only a name
// that is known counts.
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

// counted is how many things the answer has.
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
