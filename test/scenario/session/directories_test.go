package session

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Further folders are told to an agent that takes them. What is in them is read without a question, and reviewed.
func TestFurtherFolders(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(dir+"/lib.txt", []byte("one\n"), 0o666))
		if got := s.LuaString(`table.concat(vim.fn.getcompletion('Acp new puppet +' .. ..., 'cmdline'), ' ')`, dir[:len(dir)-1]); got != "+"+dir+"/" {
			t.Errorf("the completion is %q", got)
		}
		s.Command("Acp new puppet +" + dir)
		p := s.Agent()
		p.Initialize(obj{"agentCapabilities": obj{"sessionCapabilities": obj{"close": obj{}, "additionalDirectories": obj{}}}})
		m := p.Expect("session/new")
		var told struct {
			Directories []string `json:"additionalDirectories"`
		}
		if err := json.Unmarshal(m.Params, &told); err != nil || !slices.Equal(told.Directories, []string{dir}) {
			t.Errorf("the agent is told of %v, %v", told, err)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitEvent("AcpSessionReady")

		turn := s.Prompt(p, "change it")
		check.Equal(t, p.ReadFile(dir+"/lib.txt", nil), "one\n", "it reads %q")
		must.Do(t, os.WriteFile(dir+"/lib.txt", []byte("two\n"), 0o666))
		p.EndTurn(turn)
		s.AwaitLua(`#require('acp').changes() == 1 and require('acp').changes()[1].path == ...`, dir+"/lib.txt")

		s.Command("Acp new puppet +" + dir + "/gone")
		s.AwaitLua(`#require('acp').sessions() == 1`)
	})
}

// A stored session is taken up in all of its folders, also by its id in another Neovim; what is in them completes too.
func TestStoredSessionsKeepTheirFolders(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(dir+"/library.txt", []byte("one\n"), 0o666))
		can := scene.KeepsSessions(true, "list", "additionalDirectories")
		s.Choose("The second")
		s.Command("Acp resume")
		p := s.Agent()
		p.Initialize(can)
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{obj{"sessionId": "b", "cwd": s.Dir, "title": "The second", "additionalDirectories": []string{dir}}}})
		told := func(m scene.Message) {
			t.Helper()
			if list, _ := m.Get("additionalDirectories").([]any); len(list) != 1 || list[0] != dir || m.Text("cwd") != s.Dir {
				t.Errorf("it is taken up as %s", m)
			}
		}
		load := p.Expect("session/load")
		told(load)
		p.Reply(load, obj{})
		s.AwaitEvent("AcpSessionReady")
		if got := s.Session()["directories"]; fmt.Sprint(got) != fmt.Sprint([]any{dir}) {
			t.Errorf("the session works in %v", got)
		}
		s.Keys("i@librar")
		s.AwaitMenu(dir + "/library.txt")
		s.Keys("<C-n><C-y>")
		s.AwaitPrompt("@" + dir + "/library.txt")
		s.Keys("<Esc><CR>")
		turn := p.PromptedWith("@" + dir + "/library.txt")
		if got := p.Ask("fs/read_text_file", obj{"sessionId": "b", "path": dir + "/library.txt"}).Text("content"); got != "one\n" {
			t.Errorf("it reads %q", got)
		}
		must.Do(t, os.WriteFile(dir+"/library.txt", []byte("two\n"), 0o666))
		p.UpdateIn("b", "agent_message_chunk", obj{"content": obj{"type": "text", "text": "Done."}})
		p.EndTurn(turn)
		s.AwaitLua(`#require('acp').changes() == 1 and require('acp').changes()[1].path == ...`, dir+"/library.txt")
		s.Quit()

		s = s.Next()
		s.OK(`require('acp').resume({ agent_session_id = 'b' })`)
		p = s.Agent()
		p.Initialize(can)
		told(p.Expect("session/load"))
	})
}

// An agent that works in one folder is not told of others, and the user is.
func TestFurtherFoldersThatAnAgentDoesNotTake(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp new puppet +" + t.TempDir())
		p := s.Agent()
		p.Initialize(nil)
		m := p.Expect("session/new")
		if strings.Contains(string(m.Params), "additionalDirectories") {
			t.Errorf("the agent is told %s", m.Params)
		}
		p.Reply(m, obj{"sessionId": scene.SessionID(1)})
		s.AwaitChat("Puppet works in one folder only: it is not told of the others")
	})
}
