package session

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestCallsOfMCPServers(t *testing.T) {
	meta := func(text string) (m map[string]json.RawMessage) {
		must.Do(t, json.Unmarshal([]byte(text), &m))
		return m
	}
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for name, c := range map[string]struct {
		call ToolCall
		want string // the name for rules
		says string // the title; "" for no call of a server's
		args string
	}{
		"claude": {ToolCall{Title: "mcp__tickets__find", Name: "mcp__tickets__find", Kind: KindOther, RawInput: raw(`{"id":7}`)}, "tickets/find", "tickets: find", `{"id":7}`},
		"claude, with the server": {
			ToolCall{Title: "Find", Kind: KindOther, Meta: meta(`{"claudeCode":{"toolName":"mcp__my_tickets__find__all","mcpServer":{"name":"my tickets"}}}`)},
			"my tickets/find__all", "my tickets: find__all", "",
		},
		"claude, with another server": {
			ToolCall{Kind: KindOther, Meta: meta(`{"claudeCode":{"toolName":"mcp__one__find","mcpServer":{"name":"two"}}}`)}, "", "one: find", "",
		},
		"claude, with a server whose name is none": {
			ToolCall{Kind: KindOther, Meta: meta(`{"claudeCode":{"toolName":"mcp__a_b__find","mcpServer":{"name":"a/b"}}}`)}, "", "a/b: find", "",
		},
		"claude, with a server whose name is all": {
			ToolCall{Kind: KindOther, Meta: meta(`{"claudeCode":{"toolName":"mcp__a__b__","mcpServer":{"name":"a__b"}}}`)}, "", "a: b__", "",
		},
		"a name that may end elsewhere": {ToolCall{Name: "mcp__a___b", Kind: KindOther}, "", "a: _b", ""},
		"a name without a tool":         {ToolCall{Name: "mcp__a__", Kind: KindOther}, "", "", ""},
		"a name without a server":       {ToolCall{Name: "mcp____b", Kind: KindOther}, "", "", ""},
		"a name of another kind":        {ToolCall{Name: "tickets__find", Kind: KindOther}, "", "", ""},
		"a name with a slash":           {ToolCall{Name: "mcp__a/b__c", Kind: KindOther}, "", "a/b: c", ""},
		"a title that may be two":       {ToolCall{Title: "mcp__a__b__c", Kind: KindOther}, "", "a: b__c", ""},
		"a title of no kind":            {ToolCall{Title: "mcp__a__b"}, "a/b", "a: b", ""},
		"a name that may be two":        {ToolCall{Name: "mcp__a__b__c", Kind: KindOther}, "", "a: b__c", ""},
		"codex": {
			ToolCall{Title: "mcp.tickets.find", Kind: KindExecute, RawInput: raw(`{"server":"tickets","tool":"find","arguments":{"id":7}}`)},
			"tickets/find", "tickets: find", `{"id":7}`,
		},
		"codex, with a slash": {
			ToolCall{Title: "mcp.a/b.c", RawInput: raw(`{"server":"a/b","tool":"c"}`)}, "", "a/b: c", "",
		},
		"codex, which calls it otherwise": {ToolCall{Title: "mcp.x.c", RawInput: raw(`{"server":"a","tool":"c"}`)}, "", "", ""},
		"codex, as it asks": {
			ToolCall{Title: "Find?", Meta: meta(`{"is_mcp_tool_approval":true}`), RawInput: raw(`{"server":"a","tool":"c"}`)}, "a/c", "a: c", "",
		},
		"codex, without a tool": {
			ToolCall{Meta: meta(`{"is_mcp_tool_approval":true}`), RawInput: raw(`{"server":"a"}`)}, "", "an MCP server: an unnamed tool", `{"server":"a"}`,
		},
		"codex, without a server": {
			ToolCall{Meta: meta(`{"is_mcp_tool_approval":true}`), RawInput: raw(`{"tool":"c"}`)}, "", "an MCP server: an unnamed tool", `{"tool":"c"}`,
		},
		"codex, of which nothing is known": {ToolCall{Meta: meta(`{"is_mcp_tool_approval":true}`)}, "", "an MCP server: an unnamed tool", ""},
		"codex-zed": {
			ToolCall{Title: "Approve find", RawInput: raw(`{"server_name":"tickets","request":{"_meta":{"tool_params":{"id":7}}}}`)},
			"", "tickets: an unnamed tool", `{"id":7}`,
		},
		"codex-zed, which says the tool in its question": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"tickets","request":{"mode":"form","message":"Allow the tickets MCP server to run tool \"find\"?","_meta":{"codex_approval_kind":"mcp_tool_call","tool_params":{"id":7}}}}`)},
			"tickets/find", "tickets: find", `{"id":7}`,
		},
		"codex-zed, a question of the server's own": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"tickets","request":{"message":"Allow the tickets MCP server to run tool \"find\"?"}}`)},
			"", "tickets: find", "",
		},
		"codex-zed, with a slash": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"a/b","request":{"message":"Allow the a/b MCP server to run tool \"find\"?","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`)},
			"", "a/b: find", "",
		},
		"codex-zed, with a name that goes on": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"a","request":{"message":"Allow the a MCP server to run tool \"find\" or \"x\"?","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`)},
			"", "a: an unnamed tool", "",
		},
		"codex-zed, with more behind it": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"a","request":{"message":"Allow the a MCP server to run tool \"find\"? Yes","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`)},
			"", "a: an unnamed tool", "",
		},
		"another approval":              {ToolCall{Title: "Approve Find", RawInput: raw(`{"request":{"message":"Now?"}}`)}, "", "", ""},
		"another approval, of a server": {ToolCall{Title: "Find", RawInput: raw(`{"server_name":"a"}`)}, "", "", ""},
		"codex-zed, which says no more than a tool": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"a","request":{"message":"find\"?","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`)},
			"", "a: an unnamed tool", "",
		},
		"codex-zed, which breaks off": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"a","request":{"message":"Allow the a MCP server to run tool \"find","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`)},
			"", "a: an unnamed tool", "",
		},
		"a title as of codex": {ToolCall{Title: "mcp.find", RawInput: raw(`{"server_name":"a"}`)}, "", "", ""},
		"codex-zed, of another server": {
			ToolCall{Title: "Approve Find", RawInput: raw(`{"server_name":"tickets","request":{"message":"Allow the nvim MCP server to run tool \"find\"?","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`)},
			"", "tickets: an unnamed tool", "",
		},
		"gemini": {ToolCall{ID: "mcp_tickets_find-17-0", Title: "find (tickets MCP Server)", Kind: KindOther}, "tickets/find", "tickets: find", ""},
		"gemini, as it asks": {
			ToolCall{ID: "mcp_tickets_find__fc_1", Title: "find (tickets MCP Server)", Kind: KindOther, Content: []ToolCallContent{ContentItem{Text{Text: `{"id":7}`}}}},
			"tickets/find", "tickets: find", `{"id":7}`,
		},
		"gemini, with a slash": {ToolCall{ID: "mcp_a/b_find-1", Title: "find (a/b MCP Server)"}, "", "a/b: find", ""},
		"gemini, its result": {
			ToolCall{ID: "mcp_tickets_find-1", Title: "find (tickets MCP Server)", Status: StatusCompleted, Content: []ToolCallContent{ContentItem{Text{Text: `{"id":7}`}}}},
			"tickets/find", "tickets: find", "",
		},
		"gemini, with words": {
			ToolCall{ID: "mcp_tickets_find-1", Title: "find (tickets MCP Server)", Content: []ToolCallContent{ContentItem{Text{Text: `{"id"`}}}},
			"tickets/find", "tickets: find", "",
		},
		"gemini, with its input": {
			ToolCall{ID: "mcp_t_x-1", Title: "x (t MCP Server)", RawInput: raw(`{"id":7}`), Content: []ToolCallContent{ContentItem{Text{Text: `{"id":8}`}}}},
			"t/x", "t: x", `{"id":7}`,
		},
		"gemini, with a number": {
			ToolCall{ID: "mcp_t_x-1", Title: "x (t MCP Server)", Content: []ToolCallContent{ContentItem{Text{Text: "7"}}}}, "t/x", "t: x", "",
		},
		"gemini, an odd id":        {ToolCall{ID: "__x", Title: "x (t MCP Server)"}, "", "t: x", ""},
		"words in brackets":        {ToolCall{ID: "mcp_around_look-1", Title: "look (around", Kind: KindOther}, "", "", ""},
		"gemini, without a server": {ToolCall{ID: "mcp__find-1", Title: "find ( MCP Server)"}, "", "", ""},
		"gemini, without a tool":   {ToolCall{ID: "mcp_a_-1", Title: " (a MCP Server)"}, "", "", ""},
		"gemini, another id":       {ToolCall{ID: "mcp_tickets_findall__fc_1", Title: "find (tickets MCP Server)", Kind: KindOther}, "", "tickets: find", ""},
		"gemini, no id":            {ToolCall{ID: "1", Title: "rm -rf; find (tickets MCP Server)", Kind: KindOther}, "", "tickets: rm -rf; find", ""},
		"qwen":                     {ToolCall{Title: `{"id":7}`, Kind: KindRead, Meta: meta(`{"toolName":"mcp__tickets__find","serverId":"tickets"}`), RawInput: raw(`{"id":7}`)}, "tickets/find", "tickets: find", `{"id":7}`},
		"a title alone":            {ToolCall{Title: "mcp__tickets__find", Kind: KindOther}, "tickets/find", "tickets: find", ""},
		"a file's name":            {ToolCall{Title: "mcp__tickets__find", Kind: KindRead}, "", "tickets: find", ""},
		"a command":                {ToolCall{Title: "mcp__tickets__find", Kind: KindExecute}, "", "", ""},
		"a command's end":          {ToolCall{Title: "rm x (tickets MCP Server)", Kind: KindExecute}, "", "", ""},
		"another input":            {ToolCall{Title: "Ask", Kind: KindOther, RawInput: raw(`{"server":"a","tool":"b"}`)}, "", "", ""},
		"words":                    {ToolCall{Title: "mcp__a__b is a name", Kind: KindOther}, "", "", ""},
	} {
		m, ok := c.call.MCP()
		if !ok {
			m = MCPCall{}
		}
		says := ""
		if ok {
			says = m.Title()
		}
		if m.Name() != c.want || says != c.says || string(m.Arguments) != c.args {
			t.Errorf("%s is %q (%s), %s", name, m.Name(), says, m.Arguments)
		}
	}
}

// Agents put a server's name into that of a tool without the characters that cannot stand there.
func TestNamesOfServersInToolNames(t *testing.T) {
	check.Equal(t, plainName("azAZ09_-"), "azAZ09_-", "it is %s")
	check.Equal(t, plainName("a/b:c@d[e`f{g é.h"), "a_b_c_d_e_f_g___h", "it is %s")
}

// What Codex calls a command is none, and its result is shown.
func TestACallOfAnMCPServerIsNoCommand(t *testing.T) {
	c := &ToolCall{ID: "c"}
	c.apply(ToolCallPatch{Kind: acp.Set(KindExecute), Title: acp.Set("mcp.tickets.find")}, time.Time{})
	check.Equal(t, c.Kind, KindExecute, "a command may be called so, it is %s")
	c.apply(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"server":"tickets","tool":"find"}`))}, time.Time{})
	c.apply(ToolCallPatch{RawOutput: acp.Set(json.RawMessage(`{"result":{"content":[{"type":"text","text":"two"}]},"error":null}`))}, time.Time{})
	if m, ok := c.MCP(); c.Kind != KindOther || !ok || m.Name() != "tickets/find" || textOf(c.Shows()) != "two" {
		t.Errorf("it is %+v, %q", c, textOf(c.Shows()))
	}
	c.apply(ToolCallPatch{RawOutput: acp.Set(json.RawMessage(`{"result":null,"error":{"message":"no such ticket"}}`))}, time.Time{})
	check.Equal(t, textOf(c.Shows()), "no such ticket", "of a call that fails it shows %q")
	c.apply(ToolCallPatch{Title: acp.Set("ls")}, time.Time{})
	check.Equal(t, c.Kind, KindExecute, "what turned out to be a command is %s")
}
