package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestNothingIsMappedOrStartedBeforeItIsAskedFor(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		if left := s.Leftovers(); len(left) > 0 {
			t.Errorf("started is %v", left)
		}
		if loaded := s.LuaString(`table.concat(vim.tbl_filter(function(m) return vim.startswith(m, 'acp') end,
			vim.tbl_keys(package.loaded)), ' ')`); loaded != "" {
			t.Errorf("loaded is %s", loaded)
		}
		maps := `(function()
			local found = {}
			for _, mode in ipairs({ 'n', 'i', 'x', 's', 'o', 't', 'c', 'l' }) do
				for _, m in ipairs(vim.api.nvim_get_keymap(mode)) do
					local source = m.callback and debug.getinfo(m.callback).source or ''
					if (m.rhs or ''):find('Acp') or source:find('acp') then
						table.insert(found, m.lhs)
					end
				end
			end
			return found
		end)()`
		check := func() {
			t.Helper()
			var found []string
			s.Lua(&found, maps)
			if len(found) < 12 {
				t.Errorf("the maps are %v", found)
			}
			for _, lhs := range found {
				if !strings.HasPrefix(lhs, "<Plug>(Acp") {
					t.Errorf("%s is mapped", lhs)
				}
			}
		}
		check()
		s.Begin()
		check()
		if s.LuaBool(`vim.g.loaded_acp ~= true or vim.fn.exists(':Acp') ~= 2`) {
			t.Error("the plugin is not loaded")
		}
	})
}

func TestCheckhealth(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `vim.env.PATH = '/usr/bin:/bin'`)
		s.Configure(`c.layout = 'middle'`)
		s.RecordNotifications()
		s.Command("Acp health")
		s.AwaitLua(`vim.bo.filetype == 'checkhealth'`)
		text := s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`))
		for _, want := range []string{
			"Neovim", s.Version, "layout: expected 'right'", "Host", scene.Host + ": acp-nvim ", "api " + s.LuaString(`require('acp.rpc.host').api`), "it is not running", "log: ",
			"Data", "acp: 0 bytes, with the changes of 0 sessions",
			"Agents", "puppet: " + scene.Self, "claude: no claude-agent-acp on the PATH. Install it with: npm install",
			"gemini: no gemini on the PATH", "qwen", "kimi", "copilot", "goose", "codex", "opencode",
		} {
			check.Contains(t, text, want, "%q is not in\n%s", want)
		}
		if left := s.Leftovers(); len(left) > 0 {
			t.Errorf("started is %v", left)
		}
		s.Command("enew")
		s.WriteFile("small", "x")
		large := s.WriteFile("large", strings.Repeat("x", 2<<20))
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.WriteFile(s.WriteFile("code.txt", "1\n"), "2\n")
		p.EndTurn(turn)
		s.AwaitLua(`require('acp').sessions()[1].lacks`)
		s.Command("Acp health")
		s.AwaitLua(`vim.bo.filetype == 'checkhealth'`)
		text = s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`))
		for _, want := range []string{
			"it is running", "with the changes of 1 session; at most", " KB, ",
			"in ~/proj, are not complete: files without their contents: 1 too large (over 1 MB) (" + large + ")",
		} {
			check.Contains(t, text, want, "%q is not in\n%s", want)
		}
	})
}

func TestMissingAgentGivesItsInstallHint(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `vim.env.PATH = ...`, filepath.Join(s.Home, "empty"))
		s.Command("Acp new claude")
		s.AwaitChat("Claude is not installed: there is no claude-agent-acp on the PATH. Install it with: npm install -g")
		s.AwaitState("dead")
		s.GoldenScreen("missing")
		check.Contains(t, s.Refused(`require('acp').prompt('hello')`), "npm install", "the error is %q")
		// Once it is there, :Acp restart finds it.
		s.Lua(nil, `vim.env.PATH = nil`)
	})
}

func TestWithoutAnyAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `vim.env.PATH = ...; local c = vim.g.acp; c.agent = nil; c.agents = nil; vim.g.acp = c`,
			filepath.Join(s.Home, "empty"))
		s.Keys(":Acp<CR>")
		s.AwaitScreen("Available")
		s.AwaitScreen("Claude Agent")
		if err := s.Refused(`require('acp').new()`); err != "no agent is installed: :Acp agents installs one, :Acp new demo shows what it looks like" {
			t.Error(err)
		}
	}, nvimtest.Size(80, 24))
}

// bare is a copy of the plugin without a host.
func bare(t *testing.T) nvimtest.Option {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"lua", "plugin"} {
		must.Do(t, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("..", "..", "..", part))))
	}
	return nvimtest.RuntimePath(dir)
}

func TestMissingHostSaysHowToBuildIt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.host = nil`)
		s.Lua(nil, `vim.env.PATH = '/usr/bin:/bin'`)
		s.Command("Acp")
		s.AwaitMessage("the host program is missing. Run :Acp build")
		if n := strings.Count(s.Messages(), "acp:"); n != 1 {
			t.Errorf("the messages are\n%s", s.Messages())
		}
		s.Lua(nil, `pcall(vim.cmd, 'Acp agents')`)
		check.Equal(t, s.LuaInt(`#vim.api.nvim_list_wins()`), 1, "there is a page of agents, which stays empty: %v")
		s.Lua(nil, `require('acp.rpc.host').building = true`)
		s.Command("Acp")
		s.AwaitMessage("the host is being built; a message will say when it is done")
		s.Lua(nil, `require('acp.rpc.host').building = false`)
		s.Command("Acp health")
		s.AwaitLua(`vim.bo.filetype == 'checkhealth'`)
		check.Contains(t, s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`)), ":Acp build", "the fix is not in\n%s")
	}, bare(t))
}

func TestHostOfAnotherRevision(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		api := s.LuaString(`require('acp.rpc.host').api`)
		s.Lua(nil, `require('acp.rpc.host').api = '0badf00d'`)
		s.Command("Acp")
		s.AwaitNotification(":Acp build")
		if said := s.Notifications(); strings.Count(said, "acp:") != 1 || !strings.Contains(said, "revision 0badf00d") {
			t.Errorf("the messages are\n%s", said)
		}
		s.AwaitState("dead")
		s.Command("checkhealth acp")
		s.AwaitLua(`vim.bo.filetype == 'checkhealth'`)
		check.Contains(t, s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`)), "revision 0badf00d",
			"the revision is not in\n%s")
		s.Command("enew")
		s.Lua(nil, `require('acp.rpc.host').api = ...`, api)
		s.Command("Acp restart")
		s.ReadyAgent()
	})
}

func TestGroupsOutliveAColorScheme(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("highlight AcpUser guifg=#123456")
		p := s.Begin()
		turn := s.Prompt(p, "hello")
		p.Say("**bold**\n")
		p.EndTurn(turn)
		check.Equal(t, s.LuaString(`('#%06x'):format(vim.api.nvim_get_hl(0, { name = 'AcpUser' }).fg)`), "#123456",
			"the user's own colour became %s")
		for _, scheme := range []string{"habamax", "default"} {
			s.Command("colorscheme " + scheme)
			for group, link := range map[string]string{"AcpError": "DiagnosticError", "AcpBold": "@markup.strong"} {
				check.Equal(t, s.LuaString(`vim.api.nvim_get_hl(0, { name = ... }).link or ''`, group), link,
					"with %s, %s links to %q", scheme, group)
			}
			if !s.LuaBool(`vim.api.nvim_get_hl(0, { name = 'AcpAnsi1' }).fg`) {
				t.Errorf("with %s, terminals have no red", scheme)
			}
		}
	})
}

// Neovim's folders cannot be written, as in many containers: everything goes on, and one sentence says so.
func TestFoldersThatCannotBeWritten(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.AwaitChat("/dev/null cannot be written: running without log and saved data.")
		s.WriteFiles("a.lua")
		s.Keys("i@a")
		s.AwaitMenu("a.lua")
		s.Keys("<C-e><C-u>go<C-s>")
		m, _ := p.Prompted()
		p.Say("I am here.")
		p.EndTurn(m)
		s.AwaitChat("I am here.")
		if said := s.Messages(); strings.Contains(said, "acp") || strings.Contains(said, "traceback") {
			t.Errorf("the messages are %q", said)
		}
	}, nvimtest.Env("XDG_STATE_HOME=/dev/null", "XDG_DATA_HOME=/dev/null", "XDG_CACHE_HOME=/dev/null"))
}
