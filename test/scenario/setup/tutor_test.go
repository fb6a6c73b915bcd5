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

// Somebody goes through the tutor; their own project is not touched.
func TestTutor(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Lua(nil, `vim.cmd('helptags ' .. vim.fn.fnameescape(...))`, helpFolder(t))
		s.WriteFile("mine.txt", "mine\n")
		s.Command("edit mine.txt")
		s.Command("Acp tutor")
		s.AwaitEvent("AcpSessionReady")
		s.AwaitScreen("1. A PROMPT")
		dir := s.LuaString(`require('acp').sessions()[1].cwd`)
		if dir == s.Dir || filepath.Base(dir) != "greetings" {
			t.Fatalf("it works in %s", dir)
		}
		readme := filepath.Join(dir, "README.md")
		before := s.ReadFile(readme)
		s.Keys("<C-w>biHello<Esc><CR>")
		s.AwaitState("requires_action")
		s.Command("Acp allow")
		s.AwaitLua(`vim.iter(require('acp').permissions()):any(function(p) return (p.command or '') ~= '' end)`)
		s.Command("Acp allow")
		s.AwaitTurnEnd("end_turn")
		after := s.ReadFile(readme)
		if after == before || !strings.Contains(after, "The demo agent of acp-nvim was here.") {
			t.Errorf("the file has %q", after)
		}
		s.Command("Acp review")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		s.OK(`require('acp').undo_turn({})`)
		s.Await("the turn to be undone", func() bool { return s.ReadFile(readme) == before })
		check.Equal(t, s.ReadFile(filepath.Join(s.Dir, "mine.txt")), "mine\n", "the user's file has %q")
	}, nvimtest.Size(80, 24))
}

func helpFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", "doc"))
	must.Do(t, err)
	return dir
}

// It is there without tags of the plugin's help, too.
func TestTutorWithoutTags(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Lua(nil, `vim.opt.runtimepath:append(...)`, filepath.Dir(untagged(t)))
		s.Command("Acp tutor")
		s.AwaitEvent("AcpSessionReady")
		s.AwaitScreen(":Acp tutor shows this page")
		s.AwaitLua(`vim.iter(vim.api.nvim_list_bufs()):any(function(b) return vim.bo[b].buftype == 'help' and not vim.bo[b].modifiable end)`)
	}, bare(t), nvimtest.Size(80, 24))
}

// untagged is the folder of the plugin's help, without tags.
func untagged(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "doc")
	text, err := os.ReadFile(filepath.Join(helpFolder(t), "acp-tutor.txt"))
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "acp-tutor.txt"), text, 0o600)
	}
	must.Do(t, err)
	return dir
}

// The first chat says what can be done until something is said in it; it is no text of the chat.
func TestFirstChatSaysWhatCanBeDone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for _, line := range []string{"Send with <CR>, in Insert mode <C-s>", "ga allows what it asks, gr refuses", "g? lists the keys · :Acp tutor"} {
			s.AwaitScreen(line)
		}
		check.Equal(t, strings.TrimSpace(s.Chat()), "", "the chat has %q")
		p.EndTurn(s.Prompt(p, "hello"))
		s.AwaitLua(`not vim.inspect(vim.api.nvim_buf_get_extmarks(require('acp').sessions()[1].chat_buf, -1, 0, -1, { details = true })):find('tutor', 1, true)`)
	})
}
