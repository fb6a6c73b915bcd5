package session

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestLoginIsOfferedInTheChatOnly(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Choose("With a browser")
		s.Keys("iwriting")
		s.OK(`require('acp').prompt('kept words', { session = require('acp').new() })`)
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin, obj{"id": "key", "name": "With a key"}))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.AwaitChat(":Acp auth logs in from here: With a browser, With a key. What you asked is kept.")
		s.Keys(" on<Esc>")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'writing on' and vim.fn.mode() == 'n'`)
		must.Equal(t, s.LuaInt(`#_G.offered`), 0, "interrupted the user %d times")
		p.Silent()
		s.Command("Acp")
		if got := s.Offered(1); len(got) != 2 || got[0] != "With a browser · It opens by itself" || got[1] != "With a key" {
			t.Errorf("offered are %q", got)
		}
		p.Authenticate("browser")
		p.NewSession(1)
		p.PlayTurn("kept words")
		check.Equal(t, s.LuaInt(`#_G.offered`), 1, "offered %d times")
	})
}

func TestLoginLetsTheUserFinishTyping(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Choose("With a browser")
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		s.Keys("ihalf")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'half'`)
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.AwaitChat("needs you to log in first")
		s.Keys(" a word")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'half a word' and vim.fn.mode() == 'i'`)
		must.Equal(t, s.LuaInt(`#_G.offered`), 0, "interrupted the user %d times")
		s.Keys("<Esc>")
		s.Offered(1)
		p.Authenticate("browser")
		p.NewSession(1)
		s.AwaitEvent("AcpSessionReady")
	})
}

// The choice takes the keys, so it comes when none is typed and the chat says what it is about.
func TestLoginWaitsForKeysToRest(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
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
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.Keys("G")
		s.AwaitLua(`_G.asked ~= nil`)
		if rested := s.LuaInt(`math.floor(_G.asked.rested)`); rested < 500 {
			t.Errorf("asked %d ms after a key", rested)
		}
		check.Equal(t, s.LuaString(`_G.asked.prompt`), "Log in to Puppet", "the choice is called %q")
		check.Contains(t, s.LuaString(`_G.asked.screen`), "needs you to log in", "the screen was %q")
	})
}

func TestLoginInTheMiddleOfASession(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.OK(`require('acp').new()`)
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		p.Reply(p.Expect("session/new"), obj{"sessionId": scene.SessionID(1), "modes": obj{
			"currentModeId": "ask", "availableModes": []any{obj{"id": "ask", "name": "Ask"}, obj{"id": "code", "name": "Code"}},
		}})
		s.AwaitEvent("AcpSessionReady")

		p.RefuseLogin(s.Prompt(p, "kept words"))
		s.AwaitState("auth_required")
		s.Command("Acp auth")
		m := p.Expect("authenticate")
		s.Command("Acp auth")
		s.AwaitNotification("a login is already under way.")
		p.Refuse(m, -32603, "the browser was closed", nil)
		s.AwaitChat("Puppet refused authenticate: the browser was closed. :Acp auth tries again.")
		s.Command("Acp auth browser")
		p.Expect("authenticate")
		s.Command("Acp cancel")
		p.Expect("$/cancel_request")
		s.AwaitChat("The login was cancelled.")
		s.Command("Acp auth")
		p.Authenticate("browser")
		p.PlayTurn("kept words")
		if starts, ends := s.CountEvents("AcpTurnStart"), s.CountEvents("AcpTurnEnd"); starts != 1 || ends != 1 {
			t.Errorf("%d turns began, %d ended", starts, ends)
		}
		s.OnceInChat("kept words")

		// An option is as good as a prompt.
		s.OK(`require('acp').set_option(nil, 'mode', 'code')`)
		p.RefuseLogin(p.Expect("session/set_mode"))
		s.AwaitState("auth_required")
		s.OK(`require('acp').authenticate(nil, 'browser')`)
		p.Authenticate("browser")
		p.Reply(p.Expect("session/set_mode"), obj{})
		s.AwaitLua(`(require('acp').sessions()[1].mode or {}).id == 'code' and require('acp').sessions()[1].state == 'idle'`)
		s.Refused(`require('acp').authenticate(nil, 'nothing')`)
		s.Command("Acp logout")
		s.AwaitNotification("Puppet offers no logout")
	})
}

func TestLoginServesAllSessionsOfTheProcess(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').new()`)
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		p.RefuseLogin(p.Expect("session/new"))
		s.OK(`require('acp').new()`)
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitLua(`require('acp').sessions()[2].state == 'auth_required'`)
		s.OK(`require('acp').authenticate(1, 'browser')`)
		p.Authenticate("browser")
		p.NewSession(1)
		p.NewSession(2)
		s.AwaitLua(`require('acp').sessions()[1].state == 'idle' and require('acp').sessions()[2].state == 'idle'`)
	})
}

// logIn asks for the login in a terminal and does it.
func logIn(s *scene.Scene) {
	s.T.Helper()
	s.Command("Acp auth")
	login := s.Agent()
	s.AwaitLua(`vim.fn.mode() == 't'`)
	s.Keys("<C-d>") // the end of its input, and so its own
	login.AwaitEnd()
	s.AwaitLua(`vim.bo.buftype ~= 'terminal'`)
}

// The first hour: type, send, log in, and the prompt goes out.
func TestLoginInATerminal(t *testing.T) {
	for name, method := range map[string]obj{
		"own command": {"type": "terminal", "id": "cli", "name": "In a terminal", "args": []string{"login"}, "env": obj{"LOGIN": "1"}},
		"meta": {"id": "cli", "name": "In a terminal", "_meta": obj{"terminal-auth": obj{
			"command": "sh", "args": []string{"-c", `exec "$0" login`, scene.Self}, "env": obj{"LOGIN": "1"}, "label": "Log in"}}},
	} {
		t.Run(name, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				if meta, ok := method["_meta"].(obj); ok {
					meta["terminal-auth"].(obj)["args"] = []string{"-c", `exec "$0" login`, scene.Self}
				}
				s.Command("Acp")
				p := s.Agent()
				p.Initialize(scene.LoginMethods(method))
				s.Keys("iwaiting words<Esc><CR>")
				p.RefuseLogin(p.Expect("session/new"))
				login := s.Agent()
				s.AwaitLua(`vim.bo.buftype == 'terminal' and vim.bo.filetype == 'acp-terminal' and vim.fn.mode() == 't'`)
				login.Write("Paste the code:")
				s.AwaitScreen("Paste the code:")
				s.Keys("{}<CR>")
				login.Exit(1, "")
				s.AwaitChat("The login ended with code 1. :Acp auth tries again.")
				s.Keys(`<C-\><C-n>`)
				s.Command("stopinsert | bwipeout!")
				// It did not help: the user is told, and not sent in circles.
				logIn(s)
				p.AwaitEnd()
				p = s.Agent()
				p.Initialize(scene.LoginMethods(method))
				p.RefuseLogin(p.Expect("session/new"))
				s.Await("to be told twice", func() bool { return strings.Count(s.Chat(), "needs you to log in") == 2 })
				s.Command("Acp")
				s.AwaitLua(`vim.bo.filetype == 'acp-prompt' and vim.fn.mode() == 'n'`)
				s.AwaitLua(`vim.api.nvim_win_get_height(0) < 8`) // as before the login
				logIn(s)
				p.AwaitEnd()
				p = s.Agent()
				p.Begin()
				p.PlayTurn("waiting words")
				if s.LuaBool(`vim.iter(vim.api.nvim_list_bufs()):any(function(b) return vim.bo[b].buftype == 'terminal' end)`) {
					t.Error("the terminal has stayed")
				}
				s.OnceInChat("waiting words")
			})
		})
	}
}

func TestLoginByVariables(t *testing.T) {
	const secret = "sk-very-secret-0815"
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		keys := s.WriteFile("keys", "")
		s.Configure(`c.host.log_level = 'debug'
			c.agents.puppet.command = { 'sh', '-c', 'echo "key=$A_KEY org=$AN_ORG" >> ` + keys + `; exec "$0"', c.agents.puppet.command[1] }`)
		s.OK(`require('acp').prompt('kept words', { session = require('acp').new() })`)
		p := s.Agent()
		method := obj{"type": "env_var", "id": "key", "name": "With a key", "vars": []any{
			obj{"name": "A_KEY", "label": "Your key"}, obj{"name": "AN_ORG", "optional": true},
		}}
		p.Initialize(scene.LoginMethods(method))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.Lua(nil, `vim.schedule(function() vim.cmd('Acp auth') end)`)
		s.AwaitScreen("Your key (A_KEY):")
		s.Keys(secret)
		s.AwaitScreen("***")
		if screen := s.Screen(); strings.Contains(screen, "very-secret") {
			t.Errorf("the secret is on the screen:\n%s", screen)
		}
		// The rest of Neovim lives on meanwhile.
		p.Notify("session/update", obj{"sessionId": scene.SessionID(9), "update": obj{"sessionUpdate": "plan", "entries": []any{}}})
		s.Keys("<CR>")
		s.AwaitScreen("AN_ORG (optional):")
		s.Keys("<CR>")
		p.AwaitEnd()

		// Some agents want to be told all the same.
		p = s.Agent()
		p.Initialize(scene.LoginMethods(method))
		p.RefuseLogin(p.Expect("session/new"))
		p.Authenticate("key")
		p.NewSession(1)
		p.PlayTurn("kept words")
		p.Exit(1, "the key "+secret+" is bad\n")
		s.AwaitChat("the key *** is bad")
		check.Equal(t, s.ReadFile(keys), "key= org=\nkey="+secret+" org=\n", "the environments were %q")

		shada := filepath.Join(s.Dir, "shada")
		s.Lua(nil, `require('acp').traffic({}, function(entries) _G.traffic = vim.json.encode(entries) end)
			vim.o.shadafile = ''
			vim.cmd('wshada! ' .. ...)
			vim.o.shadafile = 'NONE' `, shada)
		s.AwaitLua(`_G.traffic ~= nil`)
		for what, text := range map[string]string{
			"the traffic":  s.LuaString(`_G.traffic`),
			"the chat":     s.Chat(),
			"the log":      s.LuaString(`table.concat(vim.fn.readfile(require('acp.rpc.host').log_file()), '\n')`),
			"the history":  s.LuaString(`vim.fn.execute('history all')`),
			"the messages": s.Messages(),
			"the shada":    s.ReadFile(shada),
			"the sessions": s.LuaString(`vim.inspect(require('acp').sessions())`),
		} {
			if strings.Contains(text, "very-secret") {
				t.Errorf("%s has the secret:\n%s", what, text)
			}
		}
	})
}

func TestLoginWithoutTheSecret(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').new()`)
		p := s.Agent()
		p.Initialize(scene.LoginMethods(obj{"type": "env_var", "id": "key", "name": "With a key", "vars": []any{obj{"name": "A_KEY"}}}))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		for _, key := range []string{"<Esc>", "<CR>", "<C-c>"} {
			s.Lua(nil, `vim.schedule(function() vim.cmd('Acp auth'); end)`)
			s.AwaitLua(`vim.fn.mode() == 'c'`)
			s.Keys(key)
			s.AwaitLua(`vim.fn.mode() == 'n'`)
		}
		check.Equal(t, s.Session()["state"], "auth_required", "the session is %v")
		p.Silent()
	})
}

func TestLogout(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.BeginWith(obj{"agentCapabilities": obj{"auth": obj{"logout": obj{}}}})
		s.Command("Acp logout")
		p.Reply(p.Expect("logout"), obj{})
		s.AwaitChat("You are logged out.")
		s.Refused(`require('acp').logout({ session = 99 })`)
	})
}

// gemini prints escape sequences and a question to where its messages belong.
func TestLoginWithNoiseOnTheOutput(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').new()`)
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.OK(`require('acp').authenticate(1, 'browser')`)
		m := p.Expect("authenticate")
		p.Write("\x1b[?25h\x1b[2J\nPlease visit:\n\nhttps://example.com/login\n\nEnter the authorization code: \x1b[0K\n")
		p.Reply(m, obj{})
		p.NewSession(1)
		s.AwaitEvent("AcpSessionReady")
	})
}

// A login that the agent takes, though nothing came of it, is not said to have been one.
func TestLoginThatWasNone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').prompt('kept words', { session = require('acp').new() })`)
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.OK(`require('acp').authenticate(nil, 'browser')`)
		p.Authenticate("browser")
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitChat("The last login was not enough: a key may be missing.")
		if strings.Contains(s.Chat(), "You are logged in.") {
			t.Errorf("it says\n%s", s.Chat())
		}
		s.AwaitState("auth_required")
		s.OK(`require('acp').authenticate(nil, 'browser')`)
		p.Authenticate("browser")
		p.NewSession(1)
		s.AwaitChat("You are logged in.")
		p.PlayTurn("kept words")
	})
}

func TestLoginKeepsThePromptUntilRestart(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents.puppet.login = 'Run puppet-login.'`)
		s.Choose("nothing") // the login that is offered after a while
		s.Command("Acp prompt waiting words")
		p := s.Agent()
		p.Initialize(obj{"authMethods": []obj{{"id": "l", "name": "Log in"}}})
		p.Refuse(p.Expect("session/new"), -32000, "Authentication required", nil)
		s.AwaitState("auth_required")
		s.AwaitChat("needs you to log in first. Run puppet-login.")
		if got := s.Session(); got["queued"] != 1 || got["error"] == nil {
			t.Errorf("the session is %v", got)
		}
		s.GoldenScreen("login")
		s.Command("Acp restart")
		p = s.Agent()
		p.Begin()
		turn := p.PromptedWith("waiting words")

		// Logged out in the middle of a session.
		p.Refuse(turn, -32000, "Authentication required", nil)
		s.AwaitState("auth_required")
		check.Equal(t, s.CountEvents("AcpTurnEnd"), 0, "%d turns ended")
		s.Command("Acp restart")
		p = s.Agent()
		p.Begin()
		p.PlayTurn("waiting words")
		check.Equal(t, s.CountEvents("AcpTurnStart"), 1, "%d turns began")
		if n := strings.Count(s.Chat(), "waiting words"); n != 1 {
			t.Errorf("the prompt is shown %d times in\n%s", n, s.Chat())
		}
	})
}
