package sentence

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// The lines of an answer name their places.
func TestPlaceIn(t *testing.T) {
	for line, want := range map[string]string{
		"    a.go:3:6: func parse()": "a.go 3", "/usr/x y.go:9: function f": "/usr/x y.go 9", "7 places:": " 0", "no places": " 0", "+9 more": " 0",
		"use.go:3:26: error: undefined: Count": "use.go 3",
	} {
		path, number, _ := PlaceIn(line)
		check.Equal(t, fmt.Sprint(path, " ", number), want, "%q names %s", line)
	}
}

// A call is described by its most telling argument, or without one where it has none; what was found is told of a call
// that has ended, if its answer counts that.
func TestWordsOfCalls(t *testing.T) {
	said := func(text string) session.ToolCallContent {
		return session.ContentItem{Content: session.Text{Text: text}}
	}
	type list = []session.ToolCallContent
	many := "1 " + strings.Repeat("x", longest)
	for _, c := range []struct {
		tool, args string
		status     session.ToolCallStatus
		content    list
		want       string
	}{
		{"open_files", "", session.StatusCompleted, list{said("no files are open")}, "the open files · no files are open"},
		{"references", `{"symbol":"f"}`, session.StatusInProgress, list{said("7 places:\na.go:3")}, "references of `f`"},
		{"references", `{"symbol":"a\nb"}`, session.StatusFailed, list{said("no turn")}, "references of `a b` · no turn"},
		{"show", `{"path":"a.go"}`, session.StatusCompleted, list{said("Shown\n1 place")}, "to show a.go"},
		{"changes", "", session.StatusCompleted, list{session.Diff{}, said("2 changes:\na")}, "unreviewed changes · 2 changes"},
		{"changes", "", session.StatusCompleted, list{session.Diff{}}, "unreviewed changes"},
		{"hover", `{"symbol":7}`, session.StatusCompleted, list{said(many)}, "hover"},
		{"type_definition", "[]", session.StatusCompleted, nil, "type definition"},
		{"diagnostics", "{}", session.StatusCompleted, nil, "diagnostics"},
		{"read_buffer", "", session.StatusCompleted, nil, "the text of a file"},
		{"their\nown", `{"path":"a.go"}`, session.StatusCompleted, list{said("1 thing\nit")}, "their own · 1 thing"},
	} {
		name := "mcp__nvim__" + c.tool
		call := session.ToolCall{Title: name, Name: name, Kind: session.KindOther, Editor: true, Status: c.status, Content: c.content}
		if c.args != "" {
			call.RawInput = json.RawMessage(c.args)
		}
		got, ok := Of(&call)
		check.Equal(t, got, "asked the editor: "+c.want, "%s %s (%v) is described as %q", c.tool, c.args, ok)
	}
}

// Every agent names calls of MCP servers in its own way; the user reads one sentence.
func TestEveryAgentsCall(t *testing.T) {
	args := json.RawMessage(`{"path":"a.go","line":3,"symbol":"parse"}`)
	answer := []session.ToolCallContent{session.ContentItem{Content: session.Text{Text: "7 places:\na.go:3:6: func parse()"}}}
	meta := func(key, value string) map[string]json.RawMessage {
		return map[string]json.RawMessage{key: json.RawMessage(value)}
	}
	for name, call := range map[string]session.ToolCall{
		"claude": {Title: "mcp__nvim__references", Kind: session.KindOther, RawInput: args, Content: answer, Meta: meta("claudeCode", `{"toolName":"mcp__nvim__references"}`)},
		"codex": {Title: "mcp.nvim.references", Kind: session.KindExecute, Content: answer,
			RawInput: json.RawMessage(`{"server":"nvim","tool":"references","arguments":` + string(args) + `}`)},
		"gemini":   {ID: "mcp_nvim_references-1", Title: "references (nvim MCP Server)", Kind: session.KindOther, RawInput: args, Content: answer},
		"opencode": {Title: "nvim_references", Kind: session.KindOther, RawInput: args, Content: answer},
		"qwen":     {Title: string(args), Kind: session.KindRead, RawInput: args, Content: answer, Meta: meta("toolName", `"mcp__nvim__references"`)},
	} {
		call.Status, call.Editor = session.StatusCompleted, true
		if got, _ := Of(&call); got != "asked the editor: references of `parse` · 7 places" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got, ok := Of(&session.ToolCall{Title: "mcp__nvim__references", Kind: session.KindOther}); ok {
		t.Errorf("a server of the same name: %q", got)
	}
	if got, ok := Of(&session.ToolCall{Title: "nvim_setup what does it do", Kind: session.KindOther, Editor: true}); ok {
		t.Errorf("another tool: %q", got)
	}
	if got, ok := Of(&session.ToolCall{Title: "mcp__other__references", Kind: session.KindOther, Editor: true}); ok {
		t.Errorf("another server's: %q", got)
	}
}
