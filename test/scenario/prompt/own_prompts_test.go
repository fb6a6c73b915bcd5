package prompt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// ownPrompt writes a prompt of the user's into the configuration folder.
func ownPrompt(s *scene.Scene, name, text string) {
	s.T.Helper()
	path := filepath.Join(s.LuaString(`vim.fn.stdpath('config')`), "acp", "prompts", name)
	must.Do(s.T, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(s.T, os.WriteFile(path, []byte(text), 0o666))
}

func TestOwnPromptsAreOfferedAndFilledIn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Shell("mkdir -p .acp/prompts/git")
		s.WriteFile(".acp/prompts/git/commit.md", "Commit, in the words of this project.\n")
		ownPrompt(s, "git/commit.md", "Another one.\n")
		ownPrompt(s, "explain.md", "---\ndescription: \"Explain it\"\nargument-hint: what how\n---\n\nExplain $1 (all: $ARGUMENTS), $2. It costs $10.\n")
		p := s.Begin()
		s.Keys("i/")
		s.AwaitMenu("/explain what how", "/git/commit")
		s.AwaitScreen("yours · Explain it")
		s.AwaitScreen("project")
		s.Keys("exp")
		s.AwaitMenu("/explain what how")
		s.Keys("<C-n><C-y>")
		s.AwaitPrompt("/explain ")
		s.Keys("'the lexer' briefly<C-s>")
		p.PlayTurn("Explain the lexer (all: 'the lexer' briefly), briefly. It costs $10.")
		s.AwaitPrompt("")
		s.Keys("<Esc><C-p>")
		s.AwaitPrompt("/explain 'the lexer' briefly")
		s.Command("Acp prompt /git/commit for me")
		p.PlayTurn("Commit, in the words of this project.\n\nfor me")
		s.Command("Acp prompt /no/such/file is what it says")
		p.PlayTurn("/no/such/file is what it says")
	})
}

// A command of the agent's wins, and the user is told how to reach their own.
func TestAgentsCommandsWin(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		ownPrompt(s, "plan.md", "My plan: $ARGUMENTS")
		ownPrompt(s, "empty.md", "---\ndescription: none\n---\n")
		p := s.Begin()
		p.Update("available_commands_update", obj{"availableCommands": []obj{{"name": "plan", "description": "Plan first"}}})
		s.AwaitLua(`#(require('acp').sessions()[1].commands or {}) == 1`)
		s.Keys("i/pl")
		s.AwaitMenu("/plan", "/my:plan")
		s.Keys("an it<C-s>")
		p.PlayTurn("/plan it")
		s.AwaitNotification("/plan is a command of Puppet. Your own prompt of that name is /my:plan")
		s.Keys("/my:plan it<C-s>")
		p.PlayTurn("My plan: it")
		s.AwaitPrompt("")
		s.Keys("/empty<C-s>")
		s.AwaitScreen("not sent: the prompt /empty is empty")
		s.AwaitPrompt("/empty")
		p.Silent()
	})
}

// What such a prompt names goes along.
func TestOwnPromptsNameFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("a.lua")
		ownPrompt(s, "look.md", "Look at @a.lua\nand @diagnostics.")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Command("Acp prompt /look closely")
		got := blocks(p)
		if len(got) != 2 || got[0].(obj)["text"] != "Look at @a.lua\nand @diagnostics.\n\nclosely" || got[1].(obj)["type"] != "resource" {
			t.Errorf("sent were %v", got)
		}
	})
}

// What the files say before the text, and what is no such file.
func TestFilesOfOwnPrompts(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Shell("mkdir -p .acp/prompts/folder.md && mkfifo .acp/prompts/pipe.md && head -c 200000 /dev/zero > .acp/prompts/large.md")
		for name, text := range map[string]string{
			"folded.md":   "---\ndescription: >\n  Over two\n  lines\n---\n\ntext --- of it\n",
			"fields.md":   "---\ndescription: 'a --- b'\n---",
			"plain.md":    "---\nis no field\n",
			"windows.md":  "---\r\ndescription: CR\r\n---\r\ntext\r\n",
			"no prompt":   "x",
			"a blank.md":  "x",
			"ünïcode.md":  "x",
			"readme.text": "x",
		} {
			ownPrompt(s, name, text)
		}
		s.Begin()
		got := s.LuaString(`table.concat(vim.tbl_map(function(p)
			return ('%s|%s|%s'):format(p.name, p.description, p.body)
		end, require('acp.prompt.own_prompts').list(require('acp.rpc.state').sessions[1])), '\n')`)
		want := "fields|a --- b|\nfolded|Over two lines|text --- of it\nplain||---\nis no field\nwindows|CR|text\nünïcode||x"
		check.Equal(t, got, want, "there are\n%s")
	})
}
