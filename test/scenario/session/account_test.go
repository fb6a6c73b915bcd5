package session

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// tells is an agent that tells who is logged in.
var tells = obj{
	"agentCapabilities": obj{"auth": obj{"status": obj{}, "logout": obj{}}}, "authMethods": []any{scene.BrowserLogin, obj{"id": "key", "name": "With a key"}},
}

// Who is logged in is asked for, stands above a chat with room for it, where logins are chosen, and in the health report.
func TestWhoIsLoggedIn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(tells)
		p.Reply(p.Expect("auth/status"), obj{"state": "authenticated", "accounts": []any{obj{"label": "Max", "email": "a@b.example"}}})
		p.NewSession(1)
		s.AwaitEvent("AcpSessionReady")
		s.AwaitScreen("Max (a@b.example)")
		s.Choose("With a browser")
		s.Lua(nil, `local choose = vim.ui.select
			vim.ui.select = function(items, opts, done) _G.asked = opts.prompt; choose(items, opts, done) end`)
		s.Command("Acp auth")
		p.Authenticate("browser")
		check.Equal(t, s.LuaString(`_G.asked`), "Log in to Puppet (logged in: Max (a@b.example))", "asked %q")
		p.Reply(p.Expect("auth/status"), obj{"state": "not_required"})
		s.AwaitLua(`require('acp').sessions()[1].login == 'not_required' and require('acp').sessions()[1].account == nil`)
		s.Command("Acp logout")
		p.Reply(p.Expect("logout"), obj{})
		p.Refuse(p.Expect("auth/status"), -32603, "not now", nil)
		p.Notify("auth/status_update", obj{"state": "unauthenticated"})
		s.AwaitScreen("not logged in")
		s.Command("checkhealth acp")
		if report := s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')`); !strings.Contains(report, "puppet: not logged in") {
			t.Errorf("the report is\n%s", report)
		}
	}, scene.Wide)
}

// Providers are chosen where the agent lets them be; what is secret of them is in no traffic.
func TestProviders(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.BeginWith(obj{"agentCapabilities": obj{"providers": obj{}}})
		s.Lua(nil, `
			_G.given = { 'X-Key: sk-very-secret', 'nonsense', '' }
			vim.fn.inputsecret = function() return table.remove(_G.given, 1) end
			vim.ui.input = function(opts, done) done('https://models.example/v1') end
			local wanted = { 'main', 'Use openai', 'With headers' }
			_G.offered = {}
			vim.ui.select = function(items, opts, done)
				local list = vim.tbl_map(opts.format_item or tostring, items)
				table.insert(_G.offered, table.concat(list, ' | '))
				local want = table.remove(wanted, 1)
				for i, label in ipairs(list) do
					if vim.startswith(label, want) then return done(items[i], i) end
				end
			end
			_G.want = function(...) wanted = { ... } end`)
		list := obj{"providers": []any{
			obj{"providerId": "main", "supported": []any{"anthropic", "openai"}, "required": true, "current": obj{"apiType": "anthropic", "baseUrl": "https://a.example"}},
			obj{"providerId": "other", "supported": []any{"bedrock"}, "required": false, "current": obj{"apiType": "bedrock", "baseUrl": "https://b.example"}},
			obj{"providerId": "third", "supported": []any{}, "required": false},
		}}
		s.Command("Acp providers")
		p.Reply(p.Expect("providers/list"), list)
		m := p.Expect("providers/set")
		if m.Text("providerId") != "main" || m.Text("apiType") != "openai" || m.Text("baseUrl") != "https://models.example/v1" || m.Text("headers", "X-Key") != "sk-very-secret" {
			t.Errorf("set %s", m)
		}
		p.Reply(m, obj{})
		s.AwaitNotification("new sessions use it")
		s.AwaitNotification("that is not a header: it is left out")
		if got := s.LuaString(`_G.offered[1] .. '\n' .. _G.offered[2]`); got != "main · anthropic · https://a.example | other · bedrock · https://b.example | third · not used\nUse anthropic | Use openai" {
			t.Errorf("offered are %s", got)
		}
		s.OK(`require('acp').traffic({}, function(entries) _G.traffic = vim.inspect(entries) end)`)
		s.AwaitLua(`_G.traffic ~= nil`)
		if traffic := s.LuaString(`_G.traffic`); !strings.Contains(traffic, "models.example") || strings.Contains(traffic, "very-secret") {
			t.Errorf("the traffic is %s", traffic)
		}

		s.Lua(nil, `_G.want('other', 'Do not use it')`)
		s.Command("Acp providers")
		p.Reply(p.Expect("providers/list"), list)
		m = p.Expect("providers/disable")
		if m.Text("providerId") != "other" {
			t.Errorf("disabled %s", m)
		}
		p.Refuse(m, -32603, "it is in use", nil)
		s.AwaitNotification("Puppet refused providers/disable: it is in use.")
	})
}

// The system prompt of the configuration goes to agents that take one, in the way they take it.
func TestSystemPrompt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents.puppet.system_prompt = { text = 'Be brief.', mode = 'override' }`)
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(obj{"agentCapabilities": obj{
			"loadSession": true, "sessionCapabilities": obj{"close": obj{}, "systemPrompt": obj{"mode": obj{"override": obj{}}}},
		}})
		m := p.Expect("session/new")
		content, _ := m.Get("systemPrompt", "content").([]any)
		if m.Text("systemPrompt", "mode") != "override" || len(content) != 1 || content[0].(obj)["text"] != "Be brief." {
			t.Errorf("the session is %s", m)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').resume({ agent_session_id = 'x', cwd = '` + s.Dir + `' })`)
		if m = p.Expect("session/load"); m.Text("systemPrompt", "mode") != "override" {
			t.Errorf("loaded is %s", m)
		}
		p.Reply(m, obj{})

		s.Configure(`c.agents.puppet.env.OTHER = '1'`)
		s.Lua(nil, `require('acp.config').reset()`)
		s.Command("Acp new")
		p = s.Agent()
		p.Initialize(obj{"agentCapabilities": obj{"sessionCapabilities": obj{"systemPrompt": obj{}}}})
		if m = p.Expect("session/new"); m.Text("systemPrompt", "mode") != "append" {
			t.Errorf("the session is %s", m)
		}
		s.AwaitChat("Puppet keeps its own instructions: your system prompt is added to them.")

		s.Configure(`c.agents.puppet.env.OTHER = '2'`)
		s.Lua(nil, `require('acp.config').reset()`)
		s.Command("Acp new")
		p = s.Agent()
		p.Initialize(nil)
		if m = p.Expect("session/new"); m.Get("systemPrompt") != nil {
			t.Errorf("the session is %s", m)
		}
		s.AwaitChat("Puppet takes no system prompt: the one in your configuration is not sent.")
	})
}
