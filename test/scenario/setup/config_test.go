package setup

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Each mistake is named in one message, with what was expected; the rest of the configuration works.
func TestBadConfiguration(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `vim.o.cmdheight = 20 -- no hit-enter prompt for the long message
			local c = vim.g.acp
			c.agents.silent = { title = 'Silent' }
			c.agents.textual = { command = 'textual --acp' }
			c.agents.hollow = { command = {} }
			c.agents.number = 7
			c.agents.env = { command = { 'x' }, env = 'A=1' }
			c.agents.future = { command = { 'x' }, protocol = 3 }
			c.agents.home = { command = { 'x' }, cwd = 1 }
			c.agents[1] = { command = { 'x' } }
			c.layout = 'middle'
			c.keys = { send = 5 }
			c.colour = 'red'
			c.notify = 7
			c.permissions = { a = 1 }
			require('acp').setup(c)`)
		want := []string{
			"agents.silent.command: expected a list of strings, got nothing",
			"agents.textual.command: expected a list of strings, got \"textual --acp\"",
			"agents.hollow.command: expected a list of strings, got {}",
			"agents.number: expected a table, got number",
			"agents.env.env: expected a table, got string",
			"agents.future.protocol: expected 1 or 2, got 3",
			"agents.home.cwd: expected a path, got number",
			"agents.1: expected a name for the agent, got none",
			"layout: expected 'right', ",
			"keys.send: expected a key, or false for none, got 5",
			"colour: no such option",
			"permissions: expected a list of rules, got { a = 1 }",
			"notify: expected",
		}
		p := s.Begin()
		s.Command("Acp toggle | Acp toggle") // says it no second time
		messages := s.Messages()
		for _, w := range want {
			check.Equal(t, strings.Count(messages, w), 1, "%q is told %d times", w)
		}
		if n := strings.Count(messages, "acp: mistakes in the configuration"); n != 1 {
			t.Errorf("%d messages: %s", n, messages)
		}
		turn := s.Prompt(p, "it works")
		p.Stop(turn, "end_turn")
		s.AwaitTurnEnd("end_turn")
		s.Command("Acp health")
		health := s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`))
		for _, w := range want {
			if !strings.Contains(health, w) {
				t.Errorf("checkhealth does not show %q", w)
			}
		}
		for _, name := range []string{"silent", "textual", "hollow", "number", "none at all"} {
			err := s.Refused(`require('acp').new({ agent = ... })`, name)
			check.Contains(t, err, `"`+name+`"`, "the agent %s is refused with %q", name)
		}
	}, scene.Wide)
}

func TestBadConfigurationThatIsNoTable(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `_G.good = vim.g.acp
			vim.o.cmdheight = 10`) // no hit-enter prompt for the long messages
		for _, c := range []struct{ setup, says string }{
			{`function() return 'what' end`, "the configuration: expected a table, got string"},
			{`function() error('boom') end`, "the configuration: the function failed: "},
			{`'text'`, "the configuration: expected a table, got string"},
			{`7`, "the configuration: expected a table, got number"},
			{`{ agents = 'all' }`, "agents: expected a table of agents by name, got \"all\""},
			{`{ agent = 'none' }`, "agent: there is no agent \"none\""},
			{`{ agent = {} }`, "agent: expected the name of an agent, got {}"},
			{`{ host = { command = 'acp-nvim' } }`, "host.command: expected a list of strings"},
			{`{ host = { command = {}, log_level = 'loud' } }`, "host.log_level: expected 'debug', 'info', 'warn' or 'error', got \"loud\""},
			{`{ host = 'acp-nvim' }`, "host: expected a table with command (a list of strings)"},
			{`{ keys = 'vim' }`, "keys: expected a table of keys by action"},
			{`{ layout = { position = 'middle' } }`, "layout: expected 'right', "},
			{`{ 'list' }`, "1: no such option"},
		} {
			s.Command("messages clear")
			s.Lua(nil, `require('acp').setup(`+c.setup+`)`)
			s.Lua(nil, `require('acp.config').get()`)
			s.Redraw()
			if messages := s.Messages(); strings.Count(messages, c.says) != 1 || strings.Contains(messages, "\n") {
				t.Errorf("%s is told as %q, expected %q", c.setup, messages, c.says)
			}
		}
		// A function is asked for the configuration.
		s.Command("messages clear")
		s.Lua(nil, `require('acp').setup(function() return _G.good end)`)
		s.Begin()
		check.Equal(t, s.Messages(), "", "messages: %s")
	})
}

func TestBadHostProgram(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for _, c := range []struct{ command, says string }{
			{`'/nowhere/acp-nvim'`, "host.command: /nowhere/acp-nvim is not executable"},
			{`'sh', '-c', 'echo it is broken >&2; exit 3'`, "the host did not start (code 3): it is broken. Run :Acp build"},
			{`'sh', '-c', 'exit 0'`, "the host did not start (code 0)"},
			{`'echo', 'no RPC at all'`, "the host did not start"},
		} {
			s.Configure(`c.host.command = { ` + c.command + ` }`)
			s.Lua(nil, `require('acp').setup(vim.g.acp)`)
			s.Command("messages clear")
			s.Command("Acp new")
			s.AwaitMessage(c.says)
			s.Await("it to end", func() bool { return len(s.Leftovers()) == 0 })
		}
		s.Configure(`c.host.command = { '` + scene.Host + `' }`)
		s.Lua(nil, `require('acp').setup(vim.g.acp)`)
		s.Command("Acp restart")
		p := s.Agent()
		p.Initialize(nil)
		for i := range s.LuaInt(`#require('acp').sessions()`) {
			p.NewSession(i + 1)
			s.AwaitEvent("AcpSessionReady")
		}
	}, scene.Wide)
}
