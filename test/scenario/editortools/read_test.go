package editortools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// An agent reads what the user sees: which files are open, and their unsaved text.
func TestOpenFilesAndUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "one\ntwo\nthree\n")
		s.Command("edit a.txt")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'unsaved' })`)
		p, e := begin(t, s, `{ tools = 'read' }; c.unsaved = 'ignore'`)
		c := connect(t, e)
		fails(t, <-start(t.Context(), c, "open_files", nil, nil), "no turn of this agent is running")
		turn := s.Prompt(p, "Look")
		says(t, c, "open_files", nil, "1 file is open:\na.txt (current, modified, cursor in line 1)")
		says(t, c, "read_buffer", obj{"path": "a.txt"}, "lines 1 to 3 of 3:\none\nunsaved\nthree\n")
		says(t, c, "read_buffer", obj{"path": "a.txt", "first": 2, "last": 2}, "lines 2 to 2 of 3:\nunsaved\n")
		fails(t, <-start(t.Context(), c, "read_buffer", obj{}, nil), "path")
		fails(t, <-start(t.Context(), c, "read_buffer", obj{"path": "none.txt"}, nil), "none.txt")
		check.Equal(t, s.ReadFile(path), "one\ntwo\nthree\n", "the disk has %q")
		p.EndTurn(turn)
	})
}

// The tools are those that the user wants, and say what they do.
func TestToolsAsConfigured(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		_, e := begin(t, s, `{ tools = { 'changes', 'help', 'run_task' }, tasks = { test = 'true' } }`)
		list, err := connect(t, e).ListTools(t.Context(), nil)
		must.Do(t, err)
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.Meta["anthropic/alwaysLoad"] != true || tool.OutputSchema != nil || tool.Annotations.ReadOnlyHint != (tool.Name != "run_task") {
				t.Errorf("%s is told as %+v", tool.Name, tool)
			}
		}
		if slices.Sort(names); strings.Join(names, " ") != "changes help run_task" {
			t.Errorf("the tools are %v", names)
		}
	})
}

// What is private or outside of the folder is asked about by Neovim itself.
func TestPrivateFilesAreAskedAbout(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile(".env", "KEY=1\n")
		outside := s.WriteOutside("out.txt", "out\n")
		s.Command("edit .env")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Look")
		says(t, c, "open_files", nil, "no files are open")
		got := start(t.Context(), c, "read_buffer", obj{"path": ".env"}, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "reject")
		fails(t, <-got, "did not allow")
		s.AwaitPermissions(0)
		got = start(t.Context(), c, "read_buffer", obj{"path": outside}, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if a := <-got; a.failed || !strings.Contains(a.text, "out\n") {
			t.Errorf("the answer is %+v", a)
		}
		s.AwaitPermissions(0)
		// The turn's end gives up what waits.
		got = start(t.Context(), c, "read_buffer", obj{"path": ".env"}, nil)
		s.AwaitPermissions(1)
		p.EndTurn(turn)
		fails(t, <-got, "the turn has ended")
		s.AwaitPermissions(0)
	})
}

// Gemini does not say that it leaves out servers in a folder that it does not trust; the agent's own question about one of
// the tools is answered where they are in use.
func TestAgentsOwnWays(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.editor = { tools = 'read' }`)
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(obj{"agentInfo": obj{"name": "gemini-cli", "version": "1"}})
		e := opened(t, s, p, 1)
		turn := s.Prompt(p, "Look")
		p.EndTurn(turn)
		s.AwaitChat("it takes MCP servers only in folders that it trusts")
		turn = s.Prompt(p, "Look again")
		call := obj{"toolCallId": "mcp_nvim_open_files-1", "title": "open_files (nvim MCP Server)", "kind": "other"}
		id := p.Permission(call, scene.YesNo...)
		s.AwaitPermissions(1) // who asks has no server of ours
		s.Permit(p, id, 1, "yes")
		says(t, connect(t, e), "open_files", nil, "no files are open")
		call["toolCallId"] = "mcp_nvim_open_files-2"
		id = p.Permission(call, scene.YesNo...)
		p.AwaitOutcome(id, "yes")
		other := obj{"toolCallId": "mcp_nvim_browse-3", "title": "browse (nvim MCP Server)", "kind": "other"}
		id = p.Permission(other, scene.YesNo...)
		s.AwaitPermissions(1) // a server of the user's that has the same name
		s.Permit(p, id, 3, "no")
		s.AwaitChat("asked the editor: the op")
		p.EndTurn(turn)
	})
}

// Gemini tells the arguments of a call while it asks for it only: the sentence keeps them.
func TestArgumentsThatAreToldOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "one\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		connect(t, e)
		turn := s.Prompt(p, "Look")
		text := func(text string) []any {
			return []any{obj{"type": "content", "content": obj{"type": "text", "text": text}}}
		}
		call := obj{"toolCallId": "mcp_nvim_read_buffer-1", "title": "read_buffer (nvim MCP Server)", "kind": "other", "status": "pending",
			"content": text(`{"path":"a.txt"}`)}
		p.AwaitOutcome(p.Permission(call, scene.YesNo...), "yes")
		p.Update("tool_call_update", obj{"toolCallId": "mcp_nvim_read_buffer-1", "status": "completed", "content": text("lines 1 to 1 of 1:\none\n")})
		p.EndTurn(turn)
		s.AwaitChat("asked the editor: the text of a.txt")
	}, scene.Wide)
}

// In the chat a call's answer leads to the places that it names.
func TestGoingToAPlaceOfTheAnswer(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "one\n")
		use := s.WriteFile("use.txt", "x\ny\nz\n")
		s.Command("edit a.txt")
		p, e := begin(t, s, `{ tools = 'read' }`)
		connect(t, e)
		turn := s.Prompt(p, "Look")
		p.ToolCall("c1", "other", obj{"title": "mcp__nvim__references", "rawInput": obj{"symbol": "y"}, "_meta": obj{"claudeCode": obj{"toolName": "mcp__nvim__references"}},
			"locations": []any{obj{"path": "a.txt", "line": 1}}})
		p.Finish("c1", obj{"content": []any{obj{"type": "content", "content": obj{"type": "text", "text": "2 places:\na.txt:1:1: one\nuse.txt:2:1: y"}}}})
		p.EndTurn(turn)
		s.AwaitChat("asked the editor: references of `y`")
		s.ToBlock("asked the editor")
		s.Keys("<CR>")
		s.AwaitChat("use.txt:2:1: y")
		s.Keys("/use.txt<CR>gd")
		s.AwaitLua(`vim.api.nvim_buf_get_name(0) == ... and vim.fn.line('.') == 2`, use)
	}, scene.Wide)
}

// What the user configures later is for agents that start then.
func TestLaterConfiguration(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		begin(t, s, `{ tools = { 'open_files' } }`)
		s.Lua(nil, `local c = vim.g.acp; c.editor = { tools = { 'quickfix' } }; require('acp').setup(c)`)
		s.Command("Acp restart")
		p := s.Agent()
		p.Initialize(nil)
		list, err := connect(t, opened(t, s, p, 1)).ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "quickfix" {
			t.Errorf("the tools are %+v, %v", list, err)
		}
	})
}

// A server of the user's that has our name goes before ours, and is asked about like any other.
func TestAServerOfOurName(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.editor = { tools = 'read' }; c.mcp_servers = { nvim = { command = 'true' } }`)
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(nil)
		m := p.Expect("session/new")
		if strings.Contains(string(m.Params), "ACP_NVIM_EDITOR") {
			t.Errorf("the agent is told of %s", m.Params)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitChat("one of your MCP servers is called nvim too")
		turn := s.Prompt(p, "Look")
		id := p.Permission(obj{"toolCallId": "1", "title": "mcp__nvim__open_files", "kind": "other"}, scene.YesNo...)
		s.AwaitPermissions(1)
		s.Permit(p, id, 3, "no")
		p.ToolCall("2", "other", obj{"title": "mcp__nvim__open_files", "status": "completed"})
		p.EndTurn(turn)
		if chat := s.Chat(); strings.Contains(chat, "asked the editor") || !strings.Contains(chat, "nvim: open_files") {
			t.Errorf("its calls are said as if they were ours:\n%s", chat)
		}
	})
}

// An agent hears whether somebody sees what it shows.
func TestShow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "one\ntwo\nthree\n")
		s.WriteFile("mine.txt", "mine\n")
		s.Command("edit mine.txt")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Show me")
		args := obj{"path": "a.txt", "line": 2}
		says(t, c, "show", args, "not shown: no window of the user's follows you")
		s.Command("Acp follow on")
		s.Await("a window to follow", func() bool {
			return (<-start(t.Context(), c, "show", args, nil)).text == "shown in the window that follows you"
		})
		s.AwaitLua(`(function(path)
			local win = vim.fn.bufwinid(path)
			return win > 0 and vim.api.nvim_win_get_cursor(win)[1] == 2
		end)(...)`, path)
		p.EndTurn(turn)
	})
}

// Claude puts our words behind its own instructions, unless the user wants none.
func TestInstructions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.editor = { tools = 'read' }`)
		s.Command("Acp")
		p := s.Agent()
		claude := obj{"agentInfo": obj{"name": "@agentclientprotocol/claude-agent-acp", "version": "1"}}
		p.Initialize(claude)
		m := p.Expect("session/new")
		if !strings.Contains(string(m.Params), `"systemPrompt":{"append":"These tools ask`) {
			t.Errorf("the agent is told %s", m.Params)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
		s.Lua(nil, `local c = vim.g.acp; c.editor = { instructions = false }; require('acp').setup(c)`)
		s.Command("Acp restart")
		p = s.Agent()
		p.Initialize(claude)
		if m = p.Expect("session/new"); strings.Contains(string(m.Params), "systemPrompt") {
			t.Errorf("the agent is told %s", m.Params)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
	})
}

// Whoever wants no tools gets none: the agent is told of no server.
func TestNoTools(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.editor = { tools = false }`)
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(nil)
		m := p.Expect("session/new")
		var got struct {
			Servers []entry `json:"mcpServers"`
		}
		if err := json.Unmarshal(m.Params, &got); err != nil || len(got.Servers) > 0 {
			t.Errorf("the agent is told of %+v, %v", got.Servers, err)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
	})
}

// An agent that ends in the middle of a call leaves no question behind.
func TestTheAgentEndsDuringACall(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile(".env", "KEY=1\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		s.Prompt(p, "Look")
		got := start(t.Context(), c, "read_buffer", obj{"path": ".env"}, nil)
		s.AwaitPermissions(1)
		p.Exit(1, "")
		s.AwaitState("dead")
		if a := <-got; !a.failed {
			t.Errorf("the answer is %+v", a)
		}
		s.AwaitPermissions(0)
	})
}
