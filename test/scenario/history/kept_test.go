package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// folder is where the transcripts are.
func folder(s *scene.Scene) string { return filepath.Join(s.Data, "nvim", "acp", "transcripts") }

// files are the texts of all transcripts.
func files(s *scene.Scene) (texts []string) {
	names, _ := filepath.Glob(filepath.Join(folder(s), "*"))
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil {
			texts = append(texts, string(data))
		}
	}
	return texts
}

// What a terminal has shown is there again, and what the user has given in secret is in no file.
func TestTerminalsAndSecrets(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents.puppet.env.PUPPET_API_KEY = 'sk-very-secret'`)
		can := scene.KeepsSessions(false, "resume")
		p := s.BeginWith(can)
		turn := s.Prompt(p, "My key is sk-very-secret, run it.")
		id := p.Terminal("echo out of the terminal", nil)
		p.ToolCall("c1", "execute", obj{"title": "echo", "content": []any{obj{"type": "terminal", "terminalId": id}}})
		p.InTerminal("wait_for_exit", id)
		p.Finish("c1", obj{})
		p.InTerminal("release", id)
		p.EndTurn(turn)
		kept(t, s, "out of the terminal")
		if texts := files(s); len(texts) != 1 || strings.Contains(texts[0], "very-secret") || !strings.Contains(texts[0], "My key is ***, run it.") {
			t.Errorf("kept is %s", texts)
		}
		s, p, m := resume(s, "session/resume", can)
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("out of the terminal")
		s.OnceInChat("My key is ***, run it.")
		// Another terminal of the same name is another one.
		turn = s.Prompt(p, "again")
		if other := p.Terminal("echo more", nil); other == id {
			t.Errorf("both terminals are %s", id)
		}
		p.EndTurn(turn)
	})
}

// A session that is closed is there at once when it is taken up again; one that is deleted is forgotten.
func TestClosedAndDeleted(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		can := scene.KeepsSessions(false, "resume", "delete")
		work(s, s.BeginWith(can))
		s.OK(`require('acp').close()`)
		s.AwaitEvent("AcpSessionClosed")
		s.OK(`require('acp').resume({ agent_session_id = ... })`, scene.SessionID(1))
		p := s.Agent()
		p.Initialize(can)
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp")
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(require('acp').sessions()[1].chat_buf, 0, -1, false), '\n'):find('The package is **tool** now.', 1, true)`)
		s.Choose("Delete it")
		s.Command("Acp delete")
		p.Reply(p.Expect("session/delete"), obj{})
		s.AwaitNotification("was deleted")
		s.Await("the transcript to be gone", func() bool { return len(files(s)) == 0 })
	})
}

// That nothing can be kept is said once, and all else works.
func TestNothingCanBeKept(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		must.Do(t, os.MkdirAll(filepath.Dir(folder(s)), 0o700))
		must.Do(t, os.WriteFile(folder(s), nil, 0o600))
		p := s.Begin()
		p.EndTurn(s.Prompt(p, "one"))
		s.AwaitChat("This session is not kept")
		p.EndTurn(s.Prompt(p, "two"))
		p.EndTurn(s.Prompt(p, "three"))
		s.OnceInChat("This session is not kept")
	})
}

// Who does not want it kept has no file; what a killed host had heard is there again.
func TestKeptOrNot(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.history = false`)
		can := scene.KeepsSessions(false, "resume")
		p := s.BeginWith(can)
		p.EndTurn(s.Prompt(p, "keep nothing"))
		s.Quit()
		check.Slice(t, files(s), nil, "kept is %s")
		s = s.Next()
		p = s.BeginWith(can)
		s.Prompt(p, "keep this")
		p.Say("The first half ")
		kept(t, s, "The first half")
		s.KillHost()
		dir := s.Dir
		s.Quit()
		s = s.Next()
		s.Command("cd /")
		s.OK(`require('acp').resume({ agent_session_id = ... })`, scene.SessionID(1))
		s.Command("Acp")
		p = s.Agent()
		p.Initialize(can)
		m := p.Expect("session/resume")
		check.Equal(t, m.Text("cwd"), dir, "it is taken up in %s")
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.OnceInChat("keep this", "The first half", "Cut short")
		p.EndTurn(s.Prompt(p, "go on"))
	})
}
