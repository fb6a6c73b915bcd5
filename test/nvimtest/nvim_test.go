package nvimtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/need"
)

// both runs f with the path of each Neovim.
func both(t *testing.T, f func(t *testing.T, bin string)) {
	t.Helper()
	ran := false
	for _, env := range []string{oldestEnv, newestEnv} {
		if bin := os.Getenv(env); bin != "" {
			ran = true
			t.Run(strings.ToLower(strings.TrimPrefix(env, "ACP_NVIM_")), func(t *testing.T) { f(t, bin) })
		}
	}
	if !ran {
		need.Missing(t, "no Neovim to test with: run `make test`")
	}
}

// contains fails the test for each part that text lacks.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		check.Contains(t, text, part, "%q is not in:\n%s", part)
	}
}

func TestKeysAndLua(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		n.Keys("ihello <lt>you><Esc>")
		n.AwaitScreen("hello <you>\n")
		n.AwaitScreenMatch(`(?m)^~$`)
		n.AwaitLua(`vim.fn.mode() == 'n'`)
		check.Equal(t, n.LuaString(`vim.api.nvim_get_current_line()`), "hello <you>", "line is %q")
		check.Equal(t, n.LuaInt(`local a, b = ... return a * b`, 6, 7), 42, "6 * 7 = %d")
		if n.LuaBool(`nil`) || !n.LuaBool(`0`) {
			t.Error("LuaBool does not take for true what Lua does")
		}
		var list []struct{ Name string }
		n.Lua(&list, `{{Name = 'a'}, {Name = 'b'}}`)
		if fmt.Sprint(list) != "[{a} {b}]" {
			t.Errorf("list is %v", list)
		}
		n.Command("echomsg 'said'")
		check.Equal(t, n.Messages(), "said", "messages are %q")
	})
}

func TestIsolation(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "/elsewhere")
	t.Setenv("VIMINIT", "let g:mine = 1")
	t.Setenv("VIMRUNTIME", "/elsewhere")
	root := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(root, "plugin"), 0o777))
	plugin := "vim.g.loaded = 'after ' .. vim.g.first"
	must.Do(t, os.WriteFile(filepath.Join(root, "plugin", "p.lua"), []byte(plugin), 0o666))
	Each(t, func(t *testing.T, n *Nvim) {
		for _, path := range []string{
			n.LuaString(`vim.fn.stdpath('config')`),
			n.LuaString(`vim.fn.stdpath('log')`),
			n.LuaString(`vim.fn.stdpath('run')`),
			n.LuaString(`vim.env.HOME`),
			n.LuaString(`vim.fn.getcwd()`),
			n.LuaString(`vim.fn.tempname()`),
		} {
			if !strings.HasPrefix(path, n.Home) {
				t.Errorf("%s is not in %s", path, n.Home)
			}
		}
		if n.LuaBool(`vim.g.mine`) {
			t.Error("VIMINIT was read")
		}
		check.Equal(t, n.LuaString(`vim.g.loaded`), "after init", "the plugin was loaded %q")
		if got := n.LuaString(`vim.env.OF_TEST .. vim.o.background .. tostring(vim.o.termguicolors)`); got != "yeslighttrue" {
			t.Errorf("environment and options are %q", got)
		}
		check.Equal(t, n.LuaString(`vim.o.shadafile`), "NONE", "history goes to %q")
		if !n.LuaBool(`vim.v.servername ~= ''`) {
			t.Error("Neovim listens nowhere")
		}
	}, RuntimePath(root), Init(`vim.g.first = 'init'`), Env("OF_TEST=yes"), Background("light"), TermGUIColors())
}

func TestRuntimePathIsTheModule(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		first := n.LuaString(`vim.opt.runtimepath:get()[1]`)
		if _, err := os.Stat(filepath.Join(first, "go.mod")); err != nil {
			t.Errorf("first of runtimepath is %s: %v", first, err)
		}
	})
}

func TestEachWithoutNeovim(t *testing.T) {
	if os.Getenv("NVIMTEST_INNER") != "" {
		Each(t, func(*testing.T, *Nvim) {})
		return
	}
	out, err := innerTest(t, oldestEnv+"=", newestEnv+"=", "ACP_TEST_ALL=1")
	if err == nil {
		t.Errorf("it passed under make test:\n%s", out)
	}
	contains(t, out, "--- FAIL", "run `make test`")
	out, err = innerTest(t, oldestEnv+"=", newestEnv+"=", "ACP_TEST_ALL=")
	if err != nil {
		t.Errorf("it failed where tests may be skipped: %v", err)
	}
	contains(t, out, "--- SKIP", "run `make test`")
}

func TestEvents(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		if got := n.AwaitEvent("AcpEarly"); got["at"] != "init" {
			t.Errorf("AcpEarly has %v", got)
		}
		n.Lua(nil, `vim.defer_fn(function()
			for i = 1, 2 do
				vim.api.nvim_exec_autocmds('User', {pattern = 'AcpTick', data = {session = i, list = {1, {}}}})
			end
			vim.api.nvim_exec_autocmds('User', {pattern = 'Other'})
			vim.api.nvim_exec_autocmds('User', {pattern = 'AcpBare'})
			vim.api.nvim_exec_autocmds('User', {pattern = 'AcpOdd', data = {f = print}})
		end, 10)`)
		first, second := n.AwaitEvent("AcpTick"), n.AwaitEvent("AcpTick")
		if fmt.Sprint(first) != "map[list:[1 []] session:1]" || second["session"] != 2 {
			t.Errorf("AcpTick has %v, then %v", first, second)
		}
		if got := n.AwaitEvent("AcpBare"); len(got) != 0 {
			t.Errorf("AcpBare has %v", got)
		}
		contains(t, fmt.Sprint(n.AwaitEvent("AcpOdd")), "data cannot be sent")
		if got := len(n.Events()); got != 5 {
			t.Errorf("%d events: %v", got, n.Events())
		}
	}, Init(`vim.api.nvim_exec_autocmds('User', {pattern = 'AcpEarly', data = {at = 'init'}})`))
}

func TestGap(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		n.StartGap()
		n.Lua(nil, `
			local till = vim.uv.hrtime() + 3e8
			while vim.uv.hrtime() < till do end`)
		if gap := n.StopGap(); gap < 300*time.Millisecond {
			t.Errorf("gap is %v though Neovim was busy for 300 ms", gap)
		}
		n.StartGap()
		n.Lua(nil, `vim.wait(1000)`)
		if gap := n.StopGap(); gap > 900*time.Millisecond {
			t.Errorf("gap is %v though Neovim was idle", gap)
		}
	})
}
