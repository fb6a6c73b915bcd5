package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// selectOption is a configuration option with a choice per value; a value is "id=Name".
func selectOption(id, category, current string, values ...string) obj {
	o := obj{"id": id, "name": strings.ToUpper(id[:1]) + id[1:], "type": "select", "currentValue": current, "options": choicesOf(values...)}
	if category != "" {
		o["category"] = category
	}
	return o
}

func choicesOf(values ...string) []obj {
	var choices []obj
	for _, v := range values {
		value, name, _ := strings.Cut(v, "=")
		choices = append(choices, obj{"value": value, "name": name})
	}
	return choices
}

func booleanOption(id string, current bool) obj {
	return obj{"id": id, "name": strings.ToUpper(id[:1]) + id[1:], "type": "boolean", "currentValue": current}
}

// beginSetup starts a session whose answer to session/new has more fields.
func beginSetup(s *scene.Scene, extra obj) *scene.Puppet {
	s.T.Helper()
	s.Command("Acp")
	p := s.Agent()
	p.Initialize(nil)
	setUp(p, extra)
	s.AwaitEvent("AcpSessionReady")
	return p
}

func setUp(p *scene.Puppet, extra obj) {
	p.T.Helper()
	answer := obj{"sessionId": scene.SessionID(1)}
	for k, v := range extra {
		answer[k] = v
	}
	p.Reply(p.Expect("session/new"), answer)
}

// awaitOption waits until an option has a value, as acp.options() tells it.
func awaitOption(s *scene.Scene, id string, value any) {
	s.T.Helper()
	s.AwaitLua(`(function(id, value)
		for _, o in ipairs(require('acp').options()) do
			if o.id == id then return o.value == value end
		end
	end)(...)`, id, value)
}

func TestConfigOptions(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		effort := obj{"id": "effort", "name": "Effort", "description": "How long it thinks", "category": "thought_level",
			"type": "select", "currentValue": "low", "options": []obj{
				{"group": "short", "name": "Short", "options": choicesOf("low=Low")},
				{"group": "long", "name": "Long", "options": []obj{{"value": "high", "name": "High", "description": "Takes its time"}}},
			}}
		all := func(mode, model string, web bool) []obj {
			return []obj{
				selectOption("mode", "mode", mode, "ask=Ask", "code=Code"),
				selectOption("model", "model", model, "small=Sonnet", "big=Opus"),
				effort, {"id": "odd", "name": "Odd", "type": "_slider", "currentValue": 3}, booleanOption("web", web),
			}
		}
		p := beginSetup(s, obj{"configOptions": all("ask", "small", false)})
		want := []any{
			obj{"id": "mode", "name": "Mode", "description": "", "category": "mode", "type": "select", "value": "ask", "choices": []any{
				obj{"value": "ask", "name": "Ask", "description": "", "group": ""}, obj{"value": "code", "name": "Code", "description": "", "group": ""}}},
			obj{"id": "model", "name": "Model", "description": "", "category": "model", "type": "select", "value": "small", "choices": []any{
				obj{"value": "small", "name": "Sonnet", "description": "", "group": ""}, obj{"value": "big", "name": "Opus", "description": "", "group": ""}}},
			obj{"id": "effort", "name": "Effort", "description": "How long it thinks", "category": "thought_level", "type": "select", "value": "low", "choices": []any{
				obj{"value": "low", "name": "Low", "description": "", "group": "Short"},
				obj{"value": "high", "name": "High", "description": "Takes its time", "group": "Long"}}},
			obj{"id": "web", "name": "Web", "description": "", "category": "", "type": "boolean", "value": false, "choices": []any{}},
		}
		check.Deep(t, s.Value(`require('acp').options()`), want, "the options are %v")
		s.GoldenScreen("bar")

		// set is what the agent is asked, and it answers with all options.
		set := func(id string, value any, answer []obj) {
			t.Helper()
			m := p.Expect("session/set_config_option")
			if m.Text("configId") != id || m.Get("value") != value {
				t.Errorf("asked to set %s, not %s to %v", m, id, value)
			}
			p.Reply(m, obj{"configOptions": answer})
		}
		s.Command("Acp mode code")
		set("mode", "code", all("code", "small", false))
		s.AwaitBar("Code", true)
		s.Command("Acp model opus") // by its name
		set("model", "big", all("code", "big", false))
		s.AwaitBar("Code · Opus", true)
		s.Choose("Ask")
		s.Command("Acp mode")
		set("mode", "ask", all("ask", "big", false))
		s.AwaitBar("Ask", true)
		check.Equal(t, fmt.Sprint(s.Offered(1)), "[  Ask ● Code]", "offered were %s")
		// All of them, and then the values of one.
		s.Lua(nil, `_G.offered = {}
			vim.ui.select = function(items, opts, choose)
				table.insert(_G.offered, vim.tbl_map(opts.format_item, items))
				choose(items[#_G.offered == 1 and 3 or 2])
			end`)
		s.Command("Acp config")
		set("effort", "high", all("ask", "big", false))
		if got := fmt.Sprint(s.Offered(1), s.Offered(2)); got != "[Mode: Ask Model: Opus Effort: Low Web: no] [● Short: Low   Long: High · Takes its time]" {
			t.Errorf("offered were %s", got)
		}
		s.Lua(nil, `vim.ui.select = function(items, _, choose) choose(items[4]) end`)
		s.Command("Acp config")
		set("web", true, all("ask", "big", true))
		awaitOption(s, "web", true)
		s.OK(`require('acp').set_option(nil, 'web', false)`)
		set("web", false, all("ask", "big", false))
		awaitOption(s, "web", false)
		s.Lua(nil, `vim.ui.select = function(_, _, choose) choose(nil) end`)
		s.Command("Acp mode")
		s.Command("Acp config")

		// By key, in both buffers of the chat.
		s.Lua(nil, `_G.asked = {}
			vim.ui.select = function(_, opts, choose) table.insert(_G.asked, opts.prompt) choose(nil) end`)
		s.Lua(nil, `for _, buf in ipairs({ require('acp').sessions()[1].chat_buf, require('acp').sessions()[1].prompt_buf }) do
			vim.api.nvim_buf_call(buf, function()
				for _, key in ipairs({ 'gm', 'gM', 'go' }) do
					vim.api.nvim_feedkeys(key, 'xm', false)
				end
			end)
		end`)
		check.Equal(t, s.LuaString(`table.concat(_G.asked, ' ')`), "Mode Model Options Mode Model Options",
			"the keys asked for %s")

		// The agent changes them too.
		p.Update("config_option_update", obj{"configOptions": all("code", "small", true)})
		s.AwaitBar("Code · Sonnet", true)
		awaitOption(s, "web", true)
		s.OK(`require('acp').set_option(1, 'thought_level', 'high')`)
		p.Refuse(p.Expect("session/set_config_option"), -32602, "not now", nil)
		s.AwaitNotification("Puppet did not change Effort: not now")
		s.Command("Acp mode nonsense")
		s.AwaitNotification(`there is no mode "nonsense"`)
		s.OK(`require('acp').set_option(1, 'nonsense', 'x')`)
		s.AwaitNotification(`has no option "nonsense"`)
		p.Silent()
		var offered []string
		s.Lua(&offered, `vim.fn.getcompletion('Acp model ', 'cmdline')`)
		check.Deep(t, offered, []string{"small", "big"}, ":Acp model offers %q")
	}, scene.Wide)
}

func TestModesAndModels(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := beginSetup(s, obj{
			"modes": obj{"currentModeId": "ask", "availableModes": []obj{
				{"id": "ask", "name": "Ask", "description": "Asks before"}, {"id": "code", "name": "Code"}}},
			"models": obj{"currentModelId": "small", "availableModels": []obj{
				{"modelId": "small", "name": "Sonnet"}, {"modelId": "big", "name": "Opus"}}},
		})
		s.AwaitBar("Ask · Sonnet", true)
		s.Choose("Code")
		s.Command("Acp mode")
		m := p.Expect("session/set_mode")
		if m.Text("modeId") != "code" {
			t.Errorf("asked %s", m)
		}
		s.AwaitBar("Ask", true) // until it is answered
		p.Reply(m, obj{})
		s.AwaitBar("Code · Sonnet", true)
		check.Equal(t, fmt.Sprint(s.Offered(1)), "[● Ask · Asks before   Code]", "offered were %s")
		s.Command("Acp model big")
		m = p.Expect("session/set_model")
		if m.Text("modelId") != "big" {
			t.Errorf("asked %s", m)
		}
		p.Reply(m, nil)
		s.AwaitBar("Code · Opus", true)
		p.Update("current_mode_update", obj{"currentModeId": "ask"})
		s.AwaitBar("Ask · Opus", true)
		if got := fmt.Sprint(s.Session()["mode"], s.Session()["model"]); got != "map[id:ask name:Ask] map[id:big name:Opus]" {
			t.Errorf("the session has %s", got)
		}
		s.Command("Acp mode code")
		p.Refuse(p.Expect("session/set_mode"), -32603, "busy", nil)
		s.AwaitNotification("Puppet did not change Mode: busy")
		s.AwaitBar("Ask · Opus", true)
	}, scene.Wide)
}

func TestAgentWithoutOptions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Command("Acp")
		s.Command("Acp mode")
		s.AwaitNotification("still starting")
		s.ReadyAgent()
		for _, name := range []string{"mode", "model", "config"} {
			n := s.LuaInt(`#_G.notifications`)
			s.Command("Acp " + name)
			s.AwaitLua(`#_G.notifications > ...`, n)
			check.Contains(t, s.LuaString(`_G.notifications[#_G.notifications]`), "offers no", ":Acp %s says %q", name)
		}
		check.Equal(t, s.LuaInt(`#require('acp').options()`), 0, "there are %d options")
		s.Refused(`require('acp').options(7)`)
		s.Refused(`require('acp').set_option(7, 'mode', 'x')`)
	})
}

// What the configuration asks for is set before the first prompt, in the agent's order, as one option
// brings another; what the agent does not take is told.
func TestDefaultOptions(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents.puppet.options = { effort = 'high', model = 'big', mode = 'ask', web = true, nonsense = 'x' }`)
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(nil)
		s.OK(`require('acp').prompt('hello')`)
		options := []obj{
			booleanOption("web", false), selectOption("mode", "mode", "ask", "ask=Ask", "code=Code"),
			selectOption("gpt", "model", "small", "small=Sonnet", "big=Opus"),
		}
		setUp(p, obj{"configOptions": options})
		m := p.Expect("session/set_config_option")
		if m.Text("configId") != "web" || m.Get("value") != true {
			t.Errorf("asked %s", m)
		}
		p.Refuse(m, -32602, "offline", nil)
		m = p.Expect("session/set_config_option")
		if m.Text("configId") != "gpt" || m.Text("value") != "big" {
			t.Errorf("asked %s", m)
		}
		options[2]["currentValue"] = "big"
		p.Reply(m, obj{"configOptions": append(options, selectOption("effort", "thought_level", "low", "low=Low", "high=High"))})
		m = p.Expect("session/set_config_option")
		if m.Text("configId") != "effort" || m.Text("value") != "high" {
			t.Errorf("asked %s", m)
		}
		if s.CountEvents("AcpSessionReady") > 0 {
			t.Error("the session is ready too early")
		}
		p.Reply(m, obj{"configOptions": append(options, selectOption("effort", "thought_level", "high", "low=Low", "high=High"))})
		p.PlayTurn("hello")
		awaitOption(s, "effort", "high")
		s.OnceInChat("Puppet did not take web = true: offline", "Puppet has no option", `"nonsense"`)
	})
}
