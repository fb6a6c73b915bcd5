package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// wantServers checks what the agent is told of MCP servers, and answers.
func wantServers(t *testing.T, p *scene.Puppet, n int, want string) {
	t.Helper()
	m := p.Expect("session/new")
	var got struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	must.Do(t, json.Unmarshal(m.Params, &got))
	if string(got.Servers) != want {
		t.Errorf("the servers are %s, wanted %s", got.Servers, want)
	}
	p.Reply(m, obj{"sessionId": scene.SessionID(n)})
}

// Servers of the configuration reach the agent, as far as it can take them; their secrets reach nobody else.
func TestServersOfTheConfiguration(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`
			c.mcp_servers = {
				tickets = { command = 'tickets', args = { '--in', '${NOT_SET_AT_ALL:-here}' }, env = { TOKEN = 'a-secret-value', FLAG = '1' } },
				docs = { type = 'http', url = 'https://docs.example.org/mcp', headers = { Authorization = 'Bearer much-secret' } },
				old = { type = 'sse', url = 'https://old.example.org' },
				unset = { command = 'x', env = { A = '${NOT_SET_AT_ALL}' } },
				a__b = { command = 'x' },
				gone = { command = 'x' },
			}
			c.agents.puppet.mcp_servers = { gone = false }`)
		s.RecordNotifications()
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(obj{"agentCapabilities": obj{"mcpCapabilities": obj{"http": true}}})
		wantServers(t, p, 1, `[{"type":"http","name":"docs","url":"https://docs.example.org/mcp","headers":[{"name":"Authorization","value":"Bearer much-secret"}]},`+
			`{"name":"tickets","command":"tickets","args":["--in","here"],"env":[{"name":"FLAG","value":"1"},{"name":"TOKEN","value":"a-secret-value"}]}]`)
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("The MCP server old is left out: the agent reaches no servers over sse.")
		s.AwaitChat("The MCP server unset is left out: NOT_SET_AT_ALL is not set in the environment.")
		s.AwaitNotification("mcp_servers.a__b: a name cannot have __ or /")

		p.Notify("session/update", obj{"sessionId": scene.SessionID(1), "update": obj{
			"sessionUpdate": "agent_message_chunk", "content": obj{"type": "text", "text": "It is said: a-secret-value"},
		}})
		s.AwaitChat("It is said")
		s.OK(`require('acp').traffic({}, function(entries) _G.entries = vim.inspect(entries) end)`)
		s.AwaitLua(`_G.entries ~= nil`)
		said := s.LuaString(`_G.entries`)
		if strings.Contains(said, "secret-value") || strings.Contains(said, "much-secret") || !strings.Contains(said, "***") {
			t.Errorf("the traffic is %s", said)
		}
		s.Command("checkhealth acp")
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('old, in session 1 of puppet: the agent reaches no servers over sse', 1, true) ~= nil`)
	})
}

// The health report names the servers that an agent cannot take before it runs, as soon as that is known.
func TestHealthNamesServersThatAnAgentCannotTake(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.mcp_servers = {
			tickets = { command = 'tickets' }, docs = { url = 'https://docs.example.org/mcp' }, old = { type = 'sse', url = 'https://old.example.org' },
		}`)
		health := func() string {
			s.Command("checkhealth acp")
			s.AwaitLua(`vim.bo.filetype == 'checkhealth'`)
			text := s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')`)
			s.Command("bwipeout")
			return text
		}
		check.Contains(t, health(), "whether puppet can take docs, old is known once it has been started",
			"before it was started health says\n%s")
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(obj{"agentInfo": obj{"name": "puppet", "version": "3"}, "agentCapabilities": obj{"mcpCapabilities": obj{"http": true}}})
		p.Reply(p.Expect("session/new"), obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
		if text := health(); strings.Contains(text, "puppet cannot take") || !strings.Contains(text, "old, in session 1 of puppet") {
			t.Errorf("while it runs health says\n%s", text)
		}
		s.Command("Acp close")
		s.AwaitEvent("AcpSessionClosed")
		var text string
		s.Await("what it takes to be kept", func() bool {
			text = health()
			return strings.Contains(text, "puppet cannot take old: puppet 3 takes no servers of the type sse")
		})
		if strings.Contains(text, "take docs") || strings.Contains(text, "take tickets") || strings.Contains(text, "started once") {
			t.Errorf("when it has ended health says\n%s", text)
		}
	})
}

// The servers of a project are those of whoever wrote it: the user is asked, once for what the file says.
func TestServersOfAProject(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile(".mcp.json", `{"mcpServers": {"build": {"command": "make", "args": ["mcp"]}}}`)
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(nil)
		s.AwaitFloat()
		s.GoldenScreen("asked")
		s.Command("Acp permit 1")
		const want = `[{"name":"build","command":"make","args":["mcp"],"env":[]}]`
		wantServers(t, p, 1, want)
		s.AwaitEvent("AcpSessionReady")
		s.AwaitNoFloat()

		s.Command("Acp new")
		wantServers(t, p, 2, want)
		s.AwaitEvent("AcpSessionReady")

		s.WriteFile(".mcp.json", `{"mcpServers": {"build": {"command": "rm", "args": ["-rf", "x"]}}}`)
		s.Command("Acp new")
		s.AwaitFloat()
		s.Command("Acp permit 3")
		wantServers(t, p, 3, `[]`)
		s.AwaitEvent("AcpSessionReady")
	})
}

// A stored session gets its servers, whichever way it is taken up.
func TestServersOfAStoredSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.mcp_servers = { tickets = { command = 'tickets' } }`)
		const want = `[{"name":"tickets","command":"tickets","args":[],"env":[]}]`
		servers := func(m scene.Message) {
			t.Helper()
			if got, _ := json.Marshal(m.Get("mcpServers")); !sameJSON(t, string(got), want) {
				t.Errorf("the servers are %s, wanted %s", got, want)
			}
			p := m.Text("sessionId")
			check.Equal(t, p, "a", "taken up is %s: %v", m)
		}
		s.OK(`require('acp').resume({ agent_session_id = 'a' })`)
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		load := p.Expect("session/load")
		servers(load)
		p.Replay("a")
		p.Reply(load, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.Lua(nil, `require('acp').restart()`)
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		resume := p.Expect("session/resume") // the chat has all of it
		servers(resume)
		p.Reply(resume, obj{})
		s.AwaitEvent("AcpSessionReady")
	})
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		must.Do(t, json.Unmarshal([]byte(text), &values[i]))
	}
	return reflect.DeepEqual(values[0], values[1])
}
