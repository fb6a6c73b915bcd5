package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestAcpStartsTheDefaultAgentOnlyOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("edit " + s.WriteFile("code.txt", "some code\n"))
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.GoldenScreen("starting")
		p := s.ReadyAgent()
		s.GoldenScreen("ready")

		s.Command("wincmd t")
		s.AwaitLua(`not vim.b.acp_session`)
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		check.Equal(t, s.Session()["id"], 1, "the session is %v")
		p.Silent()
		if s.AgentsStarted() > 0 {
			t.Error("another agent was started")
		}
	})
}

func TestNewCompletionOffersInstalledAgentsFirst(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		bin := filepath.Join(s.Home, "bin")
		must.Do(t, os.Mkdir(bin, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(bin, "goose"), []byte("#!/bin/sh\n"), 0o777))
		s.Lua(nil, `vim.env.PATH = ...`, bin)
		var names []string
		s.Lua(&names, `vim.fn.getcompletion('Acp new ', 'cmdline')`)
		if len(names) < 10 || names[0] != "goose" || names[1] != "puppet" {
			t.Fatalf("offered are %v", names)
		}
		if rest := names[2:]; !slices.Contains(rest, "claude") || !slices.Contains(rest, "demo") {
			t.Errorf("then are offered %v", rest)
		}
		var some []string
		s.Lua(&some, `vim.fn.getcompletion('Acp per', 'cmdline')`)
		if fmt.Sprint(some) != "[permissions permit]" {
			t.Errorf("completion of :Acp per is %v", some)
		}
	})
}

func TestNewReturnsAtOnceAndOpensNoWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		first := s.LuaInt(`require('acp').new()`)
		got := s.Session()
		if got["state"] != "starting" || got["id"] != first || got["agent"] != "puppet" || got["cwd"] != s.Dir {
			t.Errorf("the session is %v", got)
		}
		for key, filetype := range map[string]string{"chat_buf": "acp-chat", "prompt_buf": "acp-prompt"} {
			check.Equal(t, s.LuaString(`vim.bo[...].filetype`, got[key]), filetype, "%s has the filetype %q", key)
			if name := s.LuaString(`vim.api.nvim_buf_get_name(...)`, got[key]); !strings.HasPrefix(name, "acp://") {
				t.Errorf("%s has the name %q", key, name)
			}
		}
		check.Equal(t, s.LuaInt(`#vim.api.nvim_list_wins()`), 1, "there are %d windows")

		// In an open chat the next one is shown, without focus.
		p := s.ReadyAgent()
		s.Command("Acp")
		s.Command("wincmd t")
		second := s.LuaInt(`require('acp').new()`)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		shown := s.LuaInt(`vim.b[vim.api.nvim_win_get_buf(` + scene.ChatWin + `)].acp_session`)
		if second == first || shown != second {
			t.Errorf("session %d is shown, not %d", shown, second)
		}
		if !s.LuaBool(`not vim.b.acp_session`) {
			t.Error("the new session took the focus")
		}
		if s.AgentsStarted() > 0 {
			t.Error("the second session has a process of its own")
		}
	})
}
