package scenario

import (
	"path/filepath"
	"strings"
	"testing"
)

// logins are an agent's ways to log in.
func logins(methods ...obj) obj { return obj{"authMethods": methods} }

var browser = obj{"id": "browser", "name": "With a browser", "description": "It opens by itself"}

func (p *puppet) refuseLogin(m message) {
	p.t.Helper()
	p.refuse(m, -32000, "Authentication required", nil)
}

// authenticated answers the agent's own login.
func (p *puppet) authenticated(id string) {
	p.t.Helper()
	m := p.expect("authenticate")
	if m.text("methodId") != id {
		p.t.Errorf("logged in with %s", m)
	}
	p.reply(m, obj{})
}

func TestLoginIsOfferedInTheChatOnly(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.choose("With a browser")
		s.Keys("iwriting")
		s.ok(`require('acp').prompt('kept words', { session = require('acp').new() })`)
		p := s.agent()
		p.initialize(logins(browser, obj{"id": "key", "name": "With a key"}))
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		s.awaitChat(":Acp auth logs in from here: With a browser, With a key. What you asked is kept.")
		s.Keys(" on<Esc>")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'writing on' and vim.fn.mode() == 'n'`)
		if n := s.LuaInt(`#_G.offered`); n != 0 {
			t.Fatalf("interrupted the user %d times", n)
		}
		p.silent()
		s.Command("Acp")
		if got := s.offered(1); len(got) != 2 || got[0] != "With a browser · It opens by itself" || got[1] != "With a key" {
			t.Errorf("offered are %q", got)
		}
		p.authenticated("browser")
		p.newSession(1)
		turn, text := p.prompted()
		if text != "kept words" {
			t.Errorf("asked %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if n := s.LuaInt(`#_G.offered`); n != 1 {
			t.Errorf("offered %d times", n)
		}
	})
}

func TestLoginLetsTheUserFinishTyping(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.choose("With a browser")
		s.Command("Acp")
		p := s.agent()
		p.initialize(logins(browser))
		s.Keys("ihalf")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'half'`)
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		s.awaitChat("needs you to log in first")
		s.Keys(" a word")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'half a word' and vim.fn.mode() == 'i'`)
		if n := s.LuaInt(`#_G.offered`); n != 0 {
			t.Fatalf("interrupted the user %d times", n)
		}
		s.Keys("<Esc>")
		s.offered(1)
		p.authenticated("browser")
		p.newSession(1)
		s.AwaitEvent("AcpSessionReady")
	})
}

// The choice takes the keys, so it comes when none is typed and the chat says what it is about.
func TestLoginWaitsForKeysToRest(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Lua(nil, `
			local typed = vim.uv.hrtime()
			vim.on_key(function(_, keys) if keys ~= '' then typed = vim.uv.hrtime() end end)
			vim.ui.select = function(_, opts)
				local rows = {}
				for row = 1, vim.o.lines do
					for column = 1, vim.o.columns do table.insert(rows, vim.fn.screenstring(row, column)) end
				end
				_G.asked = { prompt = opts.prompt, rested = (vim.uv.hrtime() - typed) / 1e6, screen = table.concat(rows) }
			end`)
		s.Command("Acp")
		p := s.agent()
		p.initialize(logins(browser))
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		s.Keys("G")
		s.AwaitLua(`_G.asked ~= nil`)
		if rested := s.LuaInt(`math.floor(_G.asked.rested)`); rested < 500 {
			t.Errorf("asked %d ms after a key", rested)
		}
		if prompt := s.LuaString(`_G.asked.prompt`); prompt != "Log in to Puppet" {
			t.Errorf("the choice is called %q", prompt)
		}
		if screen := s.LuaString(`_G.asked.screen`); !strings.Contains(screen, "needs you to log in") {
			t.Errorf("the screen was %q", screen)
		}
	})
}

func TestLoginInTheMiddleOfASession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.ok(`require('acp').new()`)
		p := s.agent()
		p.initialize(logins(browser))
		p.reply(p.expect("session/new"), obj{"sessionId": remote(1), "modes": obj{
			"currentModeId": "ask", "availableModes": []any{obj{"id": "ask", "name": "Ask"}, obj{"id": "code", "name": "Code"}},
		}})
		s.AwaitEvent("AcpSessionReady")

		p.refuseLogin(s.prompt(p, "kept words"))
		s.awaitState("auth_required")
		s.Command("Acp auth")
		m := p.expect("authenticate")
		s.Command("Acp auth")
		s.awaitNotification("A login is already under way.")
		p.refuse(m, -32603, "the browser was closed", nil)
		s.awaitChat("Puppet refused authenticate: the browser was closed. :Acp auth tries again.")
		s.Command("Acp auth browser")
		p.expect("authenticate")
		s.Command("Acp cancel")
		p.expect("$/cancel_request")
		s.awaitChat("authenticate was cancelled.")
		s.Command("Acp auth")
		p.authenticated("browser")
		turn, text := p.prompted()
		if text != "kept words" {
			t.Errorf("asked %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if starts, ends := s.events("AcpTurnStart"), s.events("AcpTurnEnd"); starts != 1 || ends != 1 {
			t.Errorf("%d turns began, %d ended", starts, ends)
		}
		s.once("kept words")

		// An option is as good as a prompt.
		s.ok(`require('acp').set_option(nil, 'mode', 'code')`)
		p.refuseLogin(p.expect("session/set_mode"))
		s.awaitState("auth_required")
		s.ok(`require('acp').authenticate(nil, 'browser')`)
		p.authenticated("browser")
		p.reply(p.expect("session/set_mode"), obj{})
		s.AwaitLua(`(require('acp').sessions()[1].mode or {}).id == 'code' and require('acp').sessions()[1].state == 'idle'`)
		s.refused(`require('acp').authenticate(nil, 'nothing')`)
		s.Command("Acp logout")
		s.awaitNotification("Puppet offers no logout.")
	})
}

func TestLoginServesAllSessionsOfTheProcess(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.ok(`require('acp').new()`)
		p := s.agent()
		p.initialize(logins(browser))
		p.refuseLogin(p.expect("session/new"))
		s.ok(`require('acp').new()`)
		p.refuseLogin(p.expect("session/new"))
		s.AwaitLua(`require('acp').sessions()[2].state == 'auth_required'`)
		s.ok(`require('acp').authenticate(1, 'browser')`)
		p.authenticated("browser")
		p.newSession(1)
		p.newSession(2)
		s.AwaitLua(`require('acp').sessions()[1].state == 'idle' and require('acp').sessions()[2].state == 'idle'`)
	})
}

// logIn asks for the login in a terminal and does it.
func (s *scene) logIn() {
	s.t.Helper()
	s.Command("Acp auth")
	login := s.agent()
	s.AwaitLua(`vim.fn.mode() == 't'`)
	s.Keys("<C-d>") // the end of its input, and so its own
	login.awaitEnd()
	s.AwaitLua(`vim.bo.buftype ~= 'terminal'`)
}

// The first hour: type, send, log in, and the prompt goes out.
func TestLoginInATerminal(t *testing.T) {
	for name, method := range map[string]obj{
		"own command": {"type": "terminal", "id": "cli", "name": "In a terminal", "args": []string{"login"}, "env": obj{"LOGIN": "1"}},
		"meta": {"id": "cli", "name": "In a terminal", "_meta": obj{"terminal-auth": obj{
			"command": "sh", "args": []string{"-c", `exec "$0" login`, self}, "env": obj{"LOGIN": "1"}, "label": "Log in"}}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				if meta, ok := method["_meta"].(obj); ok {
					meta["terminal-auth"].(obj)["args"] = []string{"-c", `exec "$0" login`, self}
				}
				s.Command("Acp")
				p := s.agent()
				p.initialize(logins(method))
				s.Keys("iwaiting words<Esc><CR>")
				p.refuseLogin(p.expect("session/new"))
				login := s.agent()
				s.AwaitLua(`vim.bo.buftype == 'terminal' and vim.bo.filetype == 'acp-terminal' and vim.fn.mode() == 't'`)
				login.write("Paste the code:")
				s.AwaitScreen("Paste the code:")
				s.Keys("{}<CR>")
				login.exit(1, "")
				s.awaitChat("The login ended with code 1. :Acp auth tries again.")
				s.Keys(`<C-\><C-n>`)
				s.Command("stopinsert | bwipeout!")
				// It did not help: the user is told, and not sent in circles.
				s.logIn()
				p.awaitEnd()
				p = s.agent()
				p.initialize(logins(method))
				p.refuseLogin(p.expect("session/new"))
				s.Await("to be told twice", func() bool { return strings.Count(s.chat(), "needs you to log in") == 2 })
				s.Command("Acp")
				s.AwaitLua(`vim.bo.filetype == 'acp-prompt' and vim.fn.mode() == 'n'`)
				s.AwaitLua(`vim.api.nvim_win_get_height(0) < 8`) // as before the login
				s.logIn()
				p.awaitEnd()
				p = s.agent()
				p.begin()
				turn, text := p.prompted()
				if text != "waiting words" {
					t.Errorf("asked %q", text)
				}
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				if s.LuaBool(`vim.iter(vim.api.nvim_list_bufs()):any(function(b) return vim.bo[b].buftype == 'terminal' end)`) {
					t.Error("the terminal has stayed")
				}
				s.once("waiting words")
			})
		})
	}
}

func TestLoginByVariables(t *testing.T) {
	const secret = "sk-very-secret-0815"
	each(t, func(t *testing.T, s *scene) {
		keys := s.write("keys", "")
		s.configure(`c.host.log_level = 'debug'
			c.agents.puppet.command = { 'sh', '-c', 'echo "key=$A_KEY org=$AN_ORG" >> ` + keys + `; exec "$0"', c.agents.puppet.command[1] }`)
		s.ok(`require('acp').prompt('kept words', { session = require('acp').new() })`)
		p := s.agent()
		method := obj{"type": "env_var", "id": "key", "name": "With a key", "vars": []any{
			obj{"name": "A_KEY", "label": "Your key"}, obj{"name": "AN_ORG", "optional": true},
		}}
		p.initialize(logins(method))
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		s.Lua(nil, `vim.schedule(function() vim.cmd('Acp auth') end)`)
		s.AwaitScreen("Your key (A_KEY):")
		s.Keys(secret)
		s.AwaitScreen("***")
		if screen := s.Screen(); strings.Contains(screen, "very-secret") {
			t.Errorf("the secret is on the screen:\n%s", screen)
		}
		// The rest of Neovim lives on meanwhile.
		p.notify("session/update", obj{"sessionId": remote(9), "update": obj{"sessionUpdate": "plan", "entries": []any{}}})
		s.Keys("<CR>")
		s.AwaitScreen("AN_ORG, may be empty:")
		s.Keys("<CR>")
		p.awaitEnd()

		// Some agents want to be told all the same.
		p = s.agent()
		p.initialize(logins(method))
		p.refuseLogin(p.expect("session/new"))
		p.authenticated("key")
		p.newSession(1)
		turn, text := p.prompted()
		if text != "kept words" {
			t.Errorf("asked %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.exit(1, "the key "+secret+" is bad\n")
		s.awaitChat("the key *** is bad")
		if got := s.file(keys); got != "key= org=\nkey="+secret+" org=\n" {
			t.Errorf("the environments were %q", got)
		}

		shada := filepath.Join(s.Dir, "shada")
		s.Lua(nil, `require('acp').traffic({}, function(entries) _G.traffic = vim.json.encode(entries) end)
			vim.o.shadafile = ''
			vim.cmd('wshada! ' .. ...)
			vim.o.shadafile = 'NONE' `, shada)
		s.AwaitLua(`_G.traffic ~= nil`)
		for what, text := range map[string]string{
			"the traffic":  s.LuaString(`_G.traffic`),
			"the chat":     s.chat(),
			"the log":      s.LuaString(`table.concat(vim.fn.readfile(require('acp.rpc.host').log_file()), '\n')`),
			"the history":  s.LuaString(`vim.fn.execute('history all')`),
			"the messages": s.Messages(),
			"the shada":    s.file(shada),
			"the sessions": s.LuaString(`vim.inspect(require('acp').sessions())`),
		} {
			if strings.Contains(text, "very-secret") {
				t.Errorf("%s has the secret:\n%s", what, text)
			}
		}
	})
}

func TestLoginWithoutTheSecret(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.ok(`require('acp').new()`)
		p := s.agent()
		p.initialize(logins(obj{"type": "env_var", "id": "key", "name": "With a key", "vars": []any{obj{"name": "A_KEY"}}}))
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		for _, key := range []string{"<Esc>", "<CR>", "<C-c>"} {
			s.Lua(nil, `vim.schedule(function() vim.cmd('Acp auth'); end)`)
			s.AwaitLua(`vim.fn.mode() == 'c'`)
			s.Keys(key)
			s.AwaitLua(`vim.fn.mode() == 'n'`)
		}
		if state := s.session()["state"]; state != "auth_required" {
			t.Errorf("the session is %v", state)
		}
		p.silent()
	})
}

func TestLogout(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginWith(obj{"agentCapabilities": obj{"auth": obj{"logout": obj{}}}})
		s.Command("Acp logout")
		p.reply(p.expect("logout"), obj{})
		s.awaitChat("You are logged out.")
		s.refused(`require('acp').logout({ session = 99 })`)
	})
}

// gemini prints escape sequences and a question to where its messages belong.
func TestLoginWithNoiseOnTheOutput(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.ok(`require('acp').new()`)
		p := s.agent()
		p.initialize(logins(browser))
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		s.ok(`require('acp').authenticate(1, 'browser')`)
		m := p.expect("authenticate")
		p.write("\x1b[?25h\x1b[2J\nPlease visit:\n\nhttps://example.com/login\n\nEnter the authorization code: \x1b[0K\n")
		p.reply(m, obj{})
		p.newSession(1)
		s.AwaitEvent("AcpSessionReady")
	})
}

// A login that the agent takes, though nothing came of it, is not said to have been one.
func TestLoginThatWasNone(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.ok(`require('acp').prompt('kept words', { session = require('acp').new() })`)
		p := s.agent()
		p.initialize(logins(browser))
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		s.ok(`require('acp').authenticate(nil, 'browser')`)
		p.authenticated("browser")
		p.refuseLogin(p.expect("session/new"))
		s.awaitChat("The last login was not enough: a key may be missing.")
		if strings.Contains(s.chat(), "You are logged in.") {
			t.Errorf("it says\n%s", s.chat())
		}
		s.awaitState("auth_required")
		s.ok(`require('acp').authenticate(nil, 'browser')`)
		p.authenticated("browser")
		p.newSession(1)
		s.awaitChat("You are logged in.")
		turn, text := p.prompted()
		if text != "kept words" {
			t.Errorf("asked %q", text)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	})
}
