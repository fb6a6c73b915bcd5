package editortools

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file has the tools as described to agents.

// effect is what a tool does.
type effect int

const (
	reads  effect = iota
	shows         // it moves the following window
	writes        // it changes files, or runs something
)

// tool is one of the editor's tools.
type tool struct {
	name, about string
	effect      effect
	params      []param
	servers     bool                      // the language servers answer
	fits        func(arguments any) error // checks the arguments of a user's tool with a schema; nil if it has none
	run         func(ctx context.Context, c *call) (string, error)
}

// param is an argument of a tool.
type param struct {
	name, kind, about string
	optional          bool
	values            []string
}

var (
	pathParam   = param{name: "path", kind: "string", about: "The file, relative to the working folder."}
	lineParam   = param{name: "line", kind: "integer", about: "The line, from 1."}
	symbolParam = param{name: "symbol", kind: "string", about: "The symbol's text as it stands in the line."}
	columnParam = param{name: "column", kind: "integer", about: "Where the symbol begins, in bytes from 1. Needed only where it stands in the line more than once.", optional: true}
	atSymbol    = []param{pathParam, lineParam, symbolParam, columnParam}
)

// own are the tools that every host has; the user's are added.
var own = []tool{
	{name: "open_files", about: "Lists the files that the user has open: which one they look at, which are visible, which have unsaved text.", run: openFiles},
	{name: "read_buffer", about: "Reads a file as the user sees it, unsaved text included. The disk may have older text.", params: []param{
		pathParam,
		{name: "first", kind: "integer", about: "The first line, from 1.", optional: true},
		{name: "last", kind: "integer", about: "The last line.", optional: true},
	}, run: readBuffer},
	{name: "diagnostics", servers: true, about: "Errors and warnings of the language servers, in one file or in all that are known. Waits until the servers have seen the newest text.", params: []param{
		{name: "path", kind: "string", about: "The file, relative to the working folder; without it all files.", optional: true},
		{name: "severity", kind: "string", about: "The least severity.", optional: true, values: []string{"error", "warning", "info", "hint"}},
		{name: "wait_ms", kind: "integer", about: "How long to wait for the servers, in milliseconds.", optional: true},
	}, run: inWords((*call).diagnoses)},
	{name: "definition", servers: true, about: "Where a symbol is defined.", params: atSymbol, run: placesOf},
	{name: "declaration", servers: true, about: "Where a symbol is declared.", params: atSymbol, run: placesOf},
	{name: "type_definition", servers: true, about: "Where the type of a symbol is defined.", params: atSymbol, run: placesOf},
	{name: "implementation", servers: true, about: "What implements an interface or a method.", params: atSymbol, run: placesOf},
	{name: "references", servers: true, about: "All places where a symbol is used. Exact, where a text search also finds other things of that name.", params: atSymbol, run: placesOf},
	{name: "incoming_calls", servers: true, about: "Which functions call a function.", params: atSymbol, run: placesOf},
	{name: "outgoing_calls", servers: true, about: "Which functions a function calls.", params: atSymbol, run: placesOf},
	{name: "hover", servers: true, about: "The type and the documentation of a symbol.", params: atSymbol, run: inWords(whole)},
	{name: "signature", servers: true, about: "The parameters of the function that is called at a symbol.", params: atSymbol, run: inWords(whole)},
	{name: "symbols", servers: true, about: "The outline of a file: its functions, types and so on, with their lines.", params: []param{pathParam}, run: inWords((*call).outline)},
	{name: "workspace_symbols", servers: true, about: "Finds symbols of the whole project by a part of their name.", params: []param{
		{name: "query", kind: "string", about: "A part of the name."},
	}, run: placesOf},
	{name: "code_actions", servers: true, about: "What the language servers offer to do at a line, as quick fixes and refactorings.", params: []param{pathParam, lineParam}, run: inWords(actions)},
	{name: "selection", about: "What the user has selected last, with its place.", run: selection},
	{name: "quickfix", about: "The user's quickfix list, as of their last build or search.", run: placesOf},
	{name: "changes", about: "Which of your changes the user has not reviewed yet.", run: changes},
	{name: "help", about: "A part of the help of the user's own Neovim and its plugins.", params: []param{
		{name: "topic", kind: "string", about: "A help tag, as of :help."},
	}, run: help},
	{name: "show", about: "Shows a place to the user, in the window in which they follow you, if there is one.", effect: shows, params: []param{pathParam, lineParam}, run: show},
	{name: "rename", servers: true, about: "Renames a symbol everywhere it is used. The user is asked once for all files.", effect: writes, params: append(slices.Clone(atSymbol),
		param{name: "new_name", kind: "string", about: "The new name."}), run: edit},
	{name: "apply_code_action", servers: true, about: "Does what code_actions has offered.", effect: writes, params: []param{
		{name: "id", kind: "string", about: "The id that code_actions has given it."},
	}, run: edit},
	{name: "format", servers: true, about: "Formats a file as the user's editor does.", effect: writes, params: []param{pathParam}, run: edit},
	{name: "run_task", about: "Runs one of the user's tasks in a terminal that they see, and returns its output.", effect: writes, params: []param{
		{name: "name", kind: "string", about: "The task."},
	}, run: runTask},
}

// offered returns the tools that the user has chosen: "read", "write" for all, or names.
func offered(offer rpc.EditorTools) (list []tool) {
	has := func(name string) bool { return slices.Contains(offer.Tools, name) }
	for _, t := range own {
		switch {
		case t.servers && !offer.Servers:
		case t.name == "run_task" && len(offer.Tasks) == 0:
		case t.name == "help": // only where it is named
			if has(t.name) {
				list = append(list, t)
			}
		case has(t.name), has("write"), has("read") && t.effect != writes:
			if t.name == "run_task" {
				t.params = slices.Clone(t.params)
				for _, task := range offer.Tasks {
					t.params[0].values = append(t.params[0].values, task.Name)
				}
			}
			list = append(list, t)
		}
	}
	return list
}

// Has reports whether the agent gets a tool.
func (g *Grant) Has(name string) bool {
	return slices.ContainsFunc(offered(g.offer), func(t tool) bool { return t.name == name }) ||
		slices.ContainsFunc(g.offer.Own, func(t rpc.UserTool) bool { return t.Name == name })
}

// schema returns a tool's arguments as a JSON Schema.
func (t tool) schema() json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.params {
		of := map[string]any{"type": p.kind, "description": p.about}
		if len(p.values) > 0 {
			of["enum"] = p.values
		}
		properties[p.name] = of
		if !p.optional {
			required = append(required, p.name)
		}
	}
	all := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		all["required"] = required
	}
	raw, _ := json.Marshal(all) // which always encodes
	return raw
}

const instructions = `These tools ask the user's editor and its language servers. They know unsaved text, types and references exactly.
Prefer references, definition, symbols and workspace_symbols over grep for code, and read_buffer for files that are open and modified.
Check diagnostics after you have edited files; they replace a build for finding mistakes.`

// newMCP returns the server that a grant's clients talk to.
func (g *Grant) newMCP() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: Name, Title: "Neovim", Version: g.server.config.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range offered(g.offer) {
		g.addTool(s, t, t.schema())
	}
	for _, u := range g.offer.Own {
		t := tool{name: u.Name, about: u.Description, effect: writes, run: userTool}
		raw, schema := json.RawMessage(u.Schema), &jsonschema.Schema{}
		if json.Unmarshal(raw, schema) != nil || schema.Type != "object" {
			raw = t.schema()
		} else if resolved, err := schema.Resolve(nil); err == nil {
			t.fits = resolved.Validate
		}
		g.addTool(s, t, raw)
	}
	return s
}

func (g *Grant) addTool(s *mcp.Server, t tool, schema json.RawMessage) {
	no, destructive := false, t.effect == writes
	s.AddTool(&mcp.Tool{
		Name: t.name, Description: t.about, InputSchema: schema,
		Meta:        mcp.Meta{"anthropic/alwaysLoad": true},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.effect != writes, DestructiveHint: &destructive, OpenWorldHint: &no},
	}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return g.call(ctx, t, r), nil
	})
}
