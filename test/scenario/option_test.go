package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
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
func (s *scene) beginSetup(extra obj) *puppet {
	s.t.Helper()
	s.Command("Acp")
	p := s.agent()
	p.initialize(nil)
	p.setUp(extra)
	s.AwaitEvent("AcpSessionReady")
	return p
}

func (p *puppet) setUp(extra obj) {
	p.t.Helper()
	answer := obj{"sessionId": remote(1)}
	for k, v := range extra {
		answer[k] = v
	}
	p.reply(p.expect("session/new"), answer)
}

// awaitOption waits until an option has a value, as acp.options() tells it.
func (s *scene) awaitOption(id string, value any) {
	s.t.Helper()
	s.AwaitLua(`(function(id, value)
		for _, o in ipairs(require('acp').options()) do
			if o.id == id then return o.value == value end
		end
	end)(...)`, id, value)
}

// awaitBar waits until a text is, or is not, above the chat.
func (s *scene) awaitBar(text string, shown bool) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q above the chat: %v", text, shown), func() bool {
		return strings.Contains(strings.SplitN(s.Screen(), "\n", 2)[0], text) == shown
	})
}

func TestConfigOptions(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
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
		p := s.beginSetup(obj{"configOptions": all("ask", "small", false)})
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
		if got := s.value(`require('acp').options()`); !reflect.DeepEqual(got, want) {
			t.Errorf("the options are %v", got)
		}
		s.screen("bar")

		// set is what the agent is asked, and it answers with all options.
		set := func(id string, value any, answer []obj) {
			t.Helper()
			m := p.expect("session/set_config_option")
			if m.text("configId") != id || m.get("value") != value {
				t.Errorf("asked to set %s, not %s to %v", m, id, value)
			}
			p.reply(m, obj{"configOptions": answer})
		}
		s.Command("Acp mode code")
		set("mode", "code", all("code", "small", false))
		s.awaitBar("Code", true)
		s.Command("Acp model opus") // by its name
		set("model", "big", all("code", "big", false))
		s.awaitBar("Code · Opus", true)
		s.choose("Ask")
		s.Command("Acp mode")
		set("mode", "ask", all("ask", "big", false))
		s.awaitBar("Ask", true)
		if got := fmt.Sprint(s.offered(1)); got != "[  Ask ● Code]" {
			t.Errorf("offered were %s", got)
		}
		// All of them, and then the values of one.
		s.Lua(nil, `_G.offered = {}
			vim.ui.select = function(items, opts, choose)
				table.insert(_G.offered, vim.tbl_map(opts.format_item, items))
				choose(items[#_G.offered == 1 and 3 or 2])
			end`)
		s.Command("Acp config")
		set("effort", "high", all("ask", "big", false))
		if got := fmt.Sprint(s.offered(1), s.offered(2)); got != "[Mode: Ask Model: Opus Effort: Low Web: no] [● Short: Low   Long: High · Takes its time]" {
			t.Errorf("offered were %s", got)
		}
		s.Lua(nil, `vim.ui.select = function(items, _, choose) choose(items[4]) end`)
		s.Command("Acp config")
		set("web", true, all("ask", "big", true))
		s.awaitOption("web", true)
		s.ok(`require('acp').set_option(nil, 'web', false)`)
		set("web", false, all("ask", "big", false))
		s.awaitOption("web", false)
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
		if got := s.LuaString(`table.concat(_G.asked, ' ')`); got != "Mode Model Options Mode Model Options" {
			t.Errorf("the keys asked for %s", got)
		}

		// The agent changes them too.
		p.update("config_option_update", obj{"configOptions": all("code", "small", true)})
		s.awaitBar("Code · Sonnet", true)
		s.awaitOption("web", true)
		s.ok(`require('acp').set_option(1, 'thought_level', 'high')`)
		p.refuse(p.expect("session/set_config_option"), -32602, "not now", nil)
		s.awaitNotification("Puppet did not change Effort: not now")
		s.Command("Acp mode nonsense")
		s.awaitNotification(`there is no mode "nonsense"`)
		s.ok(`require('acp').set_option(1, 'nonsense', 'x')`)
		s.awaitNotification(`has no option "nonsense"`)
		p.silent()
		var offered []string
		s.Lua(&offered, `vim.fn.getcompletion('Acp model ', 'cmdline')`)
		if !reflect.DeepEqual(offered, []string{"small", "big"}) {
			t.Errorf(":Acp model offers %q", offered)
		}
	}, wide)
}

func TestModesAndModels(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.beginSetup(obj{
			"modes": obj{"currentModeId": "ask", "availableModes": []obj{
				{"id": "ask", "name": "Ask", "description": "Asks before"}, {"id": "code", "name": "Code"}}},
			"models": obj{"currentModelId": "small", "availableModels": []obj{
				{"modelId": "small", "name": "Sonnet"}, {"modelId": "big", "name": "Opus"}}},
		})
		s.awaitBar("Ask · Sonnet", true)
		s.choose("Code")
		s.Command("Acp mode")
		m := p.expect("session/set_mode")
		if m.text("modeId") != "code" {
			t.Errorf("asked %s", m)
		}
		s.awaitBar("Ask", true) // until it is answered
		p.reply(m, obj{})
		s.awaitBar("Code · Sonnet", true)
		if got := fmt.Sprint(s.offered(1)); got != "[● Ask · Asks before   Code]" {
			t.Errorf("offered were %s", got)
		}
		s.Command("Acp model big")
		m = p.expect("session/set_model")
		if m.text("modelId") != "big" {
			t.Errorf("asked %s", m)
		}
		p.reply(m, nil)
		s.awaitBar("Code · Opus", true)
		p.update("current_mode_update", obj{"currentModeId": "ask"})
		s.awaitBar("Ask · Opus", true)
		if got := fmt.Sprint(s.session()["mode"], s.session()["model"]); got != "map[id:ask name:Ask] map[id:big name:Opus]" {
			t.Errorf("the session has %s", got)
		}
		s.Command("Acp mode code")
		p.refuse(p.expect("session/set_mode"), -32603, "busy", nil)
		s.awaitNotification("Puppet did not change Mode: busy")
		s.awaitBar("Ask · Opus", true)
	}, wide)
}

func TestAgentWithoutOptions(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.Command("Acp")
		s.Command("Acp mode")
		s.awaitNotification("still starting")
		s.agent().begin()
		s.AwaitEvent("AcpSessionReady")
		for _, name := range []string{"mode", "model", "config"} {
			n := s.LuaInt(`#_G.notifications`)
			s.Command("Acp " + name)
			s.AwaitLua(`#_G.notifications > ...`, n)
			if got := s.LuaString(`_G.notifications[#_G.notifications]`); !strings.Contains(got, "offers no") {
				t.Errorf(":Acp %s says %q", name, got)
			}
		}
		if n := s.LuaInt(`#require('acp').options()`); n != 0 {
			t.Errorf("there are %d options", n)
		}
		s.refused(`require('acp').options(7)`)
		s.refused(`require('acp').set_option(7, 'mode', 'x')`)
	})
}

// What the configuration asks for is set before the first prompt, in the agent's order, as one option
// brings another; what the agent does not take is told.
func TestDefaultOptions(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.agents.puppet.options = { effort = 'high', model = 'big', mode = 'ask', web = true, nonsense = 'x' }`)
		s.Command("Acp")
		p := s.agent()
		p.initialize(nil)
		s.ok(`require('acp').prompt('hello')`)
		options := []obj{
			booleanOption("web", false), selectOption("mode", "mode", "ask", "ask=Ask", "code=Code"),
			selectOption("gpt", "model", "small", "small=Sonnet", "big=Opus"),
		}
		p.setUp(obj{"configOptions": options})
		m := p.expect("session/set_config_option")
		if m.text("configId") != "web" || m.get("value") != true {
			t.Errorf("asked %s", m)
		}
		p.refuse(m, -32602, "offline", nil)
		m = p.expect("session/set_config_option")
		if m.text("configId") != "gpt" || m.text("value") != "big" {
			t.Errorf("asked %s", m)
		}
		options[2]["currentValue"] = "big"
		p.reply(m, obj{"configOptions": append(options, selectOption("effort", "thought_level", "low", "low=Low", "high=High"))})
		m = p.expect("session/set_config_option")
		if m.text("configId") != "effort" || m.text("value") != "high" {
			t.Errorf("asked %s", m)
		}
		if s.events("AcpSessionReady") > 0 {
			t.Error("the session is ready too early")
		}
		p.reply(m, obj{"configOptions": append(options, selectOption("effort", "thought_level", "high", "low=Low", "high=High"))})
		p.turn("hello")
		s.awaitOption("effort", "high")
		s.once("Puppet did not take web = true: offline", "Puppet has no option", `"nonsense"`)
	})
}
