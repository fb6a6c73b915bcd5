package session

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// This file recognizes calls of MCP tools, which no two agents report in the same way.

// metaMCPApproval marks Codex's requests about an MCP server's tool.
const metaMCPApproval = "is_mcp_tool_approval"

// MCPCall is a call of an MCP server's tool.
type MCPCall struct {
	Server, Tool string          // as far as known, for the user to read
	Arguments    json.RawMessage // nil if the agent does not send them
	Clear        bool            // no other tool can be meant, so rules and lasting answers may apply
}

// Name returns "server/tool" as rules write it, "" if it is not clear.
func (m MCPCall) Name() string {
	if !m.Clear {
		return ""
	}
	return m.Server + "/" + m.Tool
}

// Title describes the call in words.
func (m MCPCall) Title() string {
	if m.Tool == "" {
		return m.Server + ": an unnamed tool"
	}
	return m.Server + ": " + m.Tool
}

// MCP returns which MCP server's tool a call is about; ok is false if it is about none. Names that the model may have
// written, as in titles, are clear only if something else confirms them.
func (c *ToolCall) MCP() (m MCPCall, ok bool) {
	for _, find := range []func(*ToolCall) (MCPCall, bool){mcpByName, mcpByInput, mcpByID, mcpByTitle} {
		if m, ok = find(c); ok {
			return m, true
		}
	}
	return MCPCall{}, false
}

// mcpByName recognizes the calls of Claude and Qwen, which send the tool's name apart from the title.
func mcpByName(c *ToolCall) (MCPCall, bool) {
	tool, server := claudeTool(c.Meta["claudeCode"])
	m, ok := mcpName(cmp.Or(tool, textIn(c.Meta["toolName"]), c.Name), cmp.Or(server, textIn(c.Meta["serverId"])))
	m.Arguments = c.RawInput
	return m, ok
}

// claudeTool returns what Claude says about the tool of a call. It is asked for each call that is drawn, so it costs
// nothing if there is nothing.
func claudeTool(meta json.RawMessage) (tool, server string) {
	if meta == nil {
		return "", ""
	}
	var m struct {
		ToolName string `json:"toolName" wire:"lenient"`
		Server   struct {
			Name string `json:"name" wire:"lenient"`
		} `json:"mcpServer" wire:"lenient"`
	}
	_ = acp.Decode(meta, &m) // anything else names nothing
	return m.ToolName, m.Server.Name
}

// textIn returns a JSON string, "" for anything else.
func textIn(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

// mcpName splits mcp__server__tool. If the server is not known, a name with two separators may mean two tools.
func mcpName(name, server string) (MCPCall, bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	first, tool, cut := strings.Cut(rest, "__")
	if !ok || !cut || first == "" || tool == "" {
		return MCPCall{}, false
	}
	if named, ok := strings.CutPrefix(rest, plainName(server)+"__"); ok && server != "" && named != "" {
		return MCPCall{Server: server, Tool: named, Clear: !strings.Contains(server, "/")}, true
	}
	clear := server == "" && !strings.Contains(tool, "__") && !strings.HasPrefix(tool, "_") && !strings.Contains(first, "/")
	return MCPCall{Server: first, Tool: tool, Clear: clear}, true
}

// plainName returns a server's name as agents put it into the names of tools.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// mcpByInput recognizes the calls of Codex, and the elicitations that its older adapter turns into requests.
func mcpByInput(c *ToolCall) (MCPCall, bool) {
	asked := string(c.Meta[metaMCPApproval]) == "true"
	if !asked && !strings.HasPrefix(c.Title, "mcp.") && !strings.HasPrefix(c.Title, "Approve ") {
		return MCPCall{}, false
	}
	var input struct {
		Server     string          `json:"server" wire:"lenient"`
		Tool       string          `json:"tool" wire:"lenient"`
		Arguments  json.RawMessage `json:"arguments"`
		ServerName string          `json:"server_name" wire:"lenient"`
		Request    struct {
			Message string `json:"message" wire:"lenient"`
			Meta    struct {
				Kind   string          `json:"codex_approval_kind" wire:"lenient"`
				Params json.RawMessage `json:"tool_params"`
			} `json:"_meta" wire:"lenient"`
		} `json:"request" wire:"lenient"`
	}
	if len(c.RawInput) > 0 {
		_ = acp.Decode(c.RawInput, &input) // a list says nothing
	}
	switch {
	case input.Server != "" && input.Tool != "" && (asked || c.Title == "mcp."+input.Server+"."+input.Tool):
		return MCPCall{
			Server: input.Server, Tool: input.Tool, Arguments: input.Arguments, Clear: !strings.Contains(input.Server, "/"),
		}, true
	case input.ServerName != "" && strings.HasPrefix(c.Title, "Approve "):
		m := MCPCall{Server: input.ServerName, Arguments: input.Request.Meta.Params}
		asked, ours := strings.CutPrefix(input.Request.Message, "Allow the "+m.Server+` MCP server to run tool "`)
		if tool, whole := strings.CutSuffix(asked, `"?`); ours && whole && !strings.ContainsAny(tool, "\" \n") {
			m.Tool = tool
			m.Clear = input.Request.Meta.Kind == "mcp_tool_call" && !strings.Contains(m.Server, "/")
		}
		return m, true
	case asked:
		return MCPCall{Server: "an MCP server", Arguments: c.RawInput}, true
	}
	return MCPCall{}, false
}

// mcpByID recognizes the calls of Gemini: "find (tickets MCP Server)", with an id that begins with mcp_tickets_find and
// the arguments as text.
func mcpByID(c *ToolCall) (MCPCall, bool) {
	inner, ok := strings.CutSuffix(c.Title, " MCP Server)")
	at := strings.LastIndex(inner, " (")
	if !ok || at <= 0 || !c.isOther() {
		return MCPCall{}, false
	}
	m := MCPCall{Server: inner[at+2:], Tool: inner[:at], Arguments: c.RawInput}
	after, named := strings.CutPrefix(c.ID, "mcp_"+m.Server+"_"+m.Tool)
	m.Clear = named && (strings.HasPrefix(after, "-") || strings.HasPrefix(after, "__")) && !strings.Contains(m.Server, "/")
	said := strings.TrimSpace(textOf(c.Content))
	if len(m.Arguments) == 0 && !c.Status.Finished() && strings.HasPrefix(said, "{") && json.Valid([]byte(said)) {
		m.Arguments = json.RawMessage(said) // otherwise it is the result
	}
	return m, m.Server != ""
}

// mcpByTitle recognizes a call whose title is the tool's name.
func mcpByTitle(c *ToolCall) (MCPCall, bool) {
	if c.told == KindExecute || c.Kind == KindExecute || strings.ContainsAny(c.Title, " \t\n") {
		return MCPCall{}, false // it may be a command
	}
	m, ok := mcpName(c.Title, "")
	m.Arguments, m.Clear = c.RawInput, m.Clear && c.isOther()
	return m, ok
}

// isOther reports whether the agent gives the call no kind.
func (c *ToolCall) isOther() bool {
	kind := cmp.Or(c.told, c.Kind)
	return kind == KindOther || kind == ""
}

// mcpResult returns the answer of a server's tool if the agent sends it as raw output only, as Codex does.
func mcpResult(rawOutput json.RawMessage) []ToolCallContent {
	var out struct {
		Result struct {
			Content acp.List[wire.ContentBlock] `json:"content" wire:"lenient"`
		} `json:"result" wire:"lenient"`
		Error struct {
			Message string `json:"message" wire:"lenient"`
		} `json:"error" wire:"lenient"`
	}
	if len(rawOutput) == 0 || rawOutput[0] != '{' || acp.Decode(rawOutput, &out) != nil {
		return nil
	}
	var content []ToolCallContent
	for _, block := range fromBlocks(out.Result.Content) {
		content = append(content, ContentItem{Content: block})
	}
	if out.Error.Message != "" {
		content = append(content, ContentItem{Content: Text{Text: out.Error.Message}})
	}
	return content
}
