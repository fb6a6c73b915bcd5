package session

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Further folders are told to an agent that takes them. What is in them is read without a question, and reviewed.
func TestFurtherFolders(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/lib.txt", []byte("one\n"), 0o666); err != nil {
			t.Fatal(err)
		}
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
		if got := p.ReadFile(dir+"/lib.txt", nil); got != "one\n" {
			t.Errorf("it reads %q", got)
		}
		if err := os.WriteFile(dir+"/lib.txt", []byte("two\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		p.EndTurn(turn)
		s.AwaitLua(`#require('acp').changes() == 1 and require('acp').changes()[1].path == ...`, dir+"/lib.txt")

		s.Command("Acp new puppet +" + dir + "/gone")
		s.AwaitLua(`#require('acp').sessions() == 1`)
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
		s.AwaitChat("Puppet works in one folder: it is not told of the others")
	})
}
