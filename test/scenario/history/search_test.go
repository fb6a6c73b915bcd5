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

// What was said in any session is found without an agent: the quickfix list leads to the line of the transcript, from
// where the session is taken up again.
func TestSearch(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		can := scene.KeepsSessions(false, "resume")
		p := s.BeginWith(can)
		work(s, p)
		turn := s.Prompt(p, "What about the tests?")
		p.Say("They pass.\n\nAll of the **Tests** do.")
		p.EndTurn(turn)
		kept(t, s, "What about the tests?")
		s.Quit()
		s = s.Next()
		s.RecordNotifications()
		s.Command("Acp search nobody said this")
		s.AwaitNotification(`no transcript contains "nobody said this"`)
		s.Command("Acp search tests")
		s.AwaitLua(`#vim.fn.getqflist() == 2`)
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		s.GoldenScreen("found")
		s.Keys("G<CR>")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'All of the **Tests** do.'`)
		check.Contains(t, s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')`), "+package tool",
			"the transcript is\n%s")
		if s.LuaBool(`vim.bo.modifiable`) || s.AgentsStarted() != 0 {
			t.Error("it can be changed, or an agent was started")
		}
		s.Command("cclose | normal! zt")
		s.AwaitScreen("All of the **Tests** do.")
		s.Keys("5Gzt")
		s.GoldenScreen("transcript")
		// With a bang the user chooses, and is at the line, also where a window shows the transcript.
		for range 2 {
			s.Keys("gg")
			s.Choose("All of the")
			s.Command("Acp search! tests")
			s.AwaitLua(`vim.api.nvim_get_current_line() == 'All of the **Tests** do.'`)
		}
		// Upper case counts where it is asked for.
		s.OK(`require('acp').search('Tests', function(list) _G.found = list end)`)
		s.AwaitLua(`_G.found and #_G.found == 1`)
		found := s.Value(`_G.found[1]`).(obj)
		if found["agent"] != "puppet" || found["session"] != scene.SessionID(1) || found["cwd"] != s.Dir || found["text"] != "All of the **Tests** do." || found["time"] == nil {
			t.Errorf("found is %v", found)
		}
		s.Refused(`require('acp').search('', print)`)
		s.Refused(`require('acp').search('x')`)

		s.Command("Acp resume")
		p = s.Agent()
		p.Initialize(can)
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitEvent("AcpSessionReady")
		s.OnceInChat("Rename the package.", "They pass.")
		// What is said now is found too, in the transcript as it is now.
		turn = s.Prompt(p, "Thanks.")
		p.Say("The zebras are welcome.")
		p.EndTurn(turn)
		s.Command("wincmd p")
		s.Command("enew")
		s.Command("Acp search zebra")
		s.AwaitLua(`#vim.fn.getqflist() == 1 and vim.bo.buftype == 'quickfix'`)
		s.Keys("<CR>")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'The zebras are welcome.'`)
	})
}

// Without words the transcripts are offered; the list of what can be resumed has them too.
func TestTranscriptsAreOffered(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		can := scene.KeepsSessions(false, "resume", "list")
		work(s, s.BeginWith(can))
		kept(t, s, `"is":"end"`)
		s.Quit()
		s = s.Next()
		s.Choose("Rename")
		s.Command("Acp search")
		if offered := s.Offered(1); len(offered) != 1 || !strings.HasPrefix(offered[0].(string), "Rename the package. · Puppet · ") {
			t.Errorf("offered are %v", offered)
		}
		s.AwaitLua(`vim.fn.search('## Rename the package.', 'nw') > 0`)
		s.Command("enew")
		s.Command("Acp resume")
		p := s.Agent()
		p.Initialize(can)
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{}})
		p.Reply(p.Expect("session/resume"), obj{})
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("Rename the package.")
		// What the user deletes is not kept.
		s.Choose("Delete it")
		s.Command("Acp delete")
		s.AwaitMessage("cannot delete sessions")
	})
}

// gR in a transcript takes its session up, in the session's folder wherever the user is; of a session that is open it
// shows the chat.
func TestResumeFromTheTranscript(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		can := scene.KeepsSessions(false, "resume")
		work(s, s.BeginWith(can))
		kept(t, s, `"is":"end"`)
		s.Quit()
		s = s.Next()
		s.WriteFiles("elsewhere/a.txt")
		s.Command("cd elsewhere")
		s.Command("Acp search tool")
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		s.Keys("G<CR>")
		s.AwaitLua(`vim.api.nvim_get_current_line() == 'The package is **tool** now.'`)
		s.Command("cclose")
		s.Keys("gg")
		s.AwaitScreen("gR resumes it")
		s.Keys("gR")
		p := s.Agent()
		p.Initialize(can)
		m := p.Expect("session/resume")
		if m.Text("sessionId") != scene.SessionID(1) || m.Text("cwd") != s.Dir {
			t.Errorf("taken up is %s", m)
		}
		p.Reply(m, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		s.OnceInChat("Rename the package.", "The package is **tool** now.")
		turn := s.Prompt(p, "And now?")
		p.EndTurn(turn)

		s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.win_findbuf(vim.fn.bufnr('acp://history/'))[1])`)
		s.Keys("gR")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt' and #require('acp').sessions() == 1`)
		s.OnceInChat("And now?")
	})
}

// The session is told in Markdown that reads well. A file that is there stays.
func TestExport(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		s.Command("Acp export")
		s.AwaitNotification("nothing has been said in this session yet")
		work(s, p)
		s.Command("Acp export out.md")
		s.AwaitNotification("the session was written to out.md")
		path := filepath.Join(s.Dir, "out.md")
		text, err := os.ReadFile(path)
		must.Do(t, err)
		for _, part := range []string{
			"## Rename the package.\n", "<details>\n<summary>Thought", "\n✓ **execute** go vet\n\n```\nall is fine\n```\n",
			"\n✓ **edit** Edit main.go\n\n```diff\n", "+package tool\n```\n\nThe package is **tool** now.\n",
		} {
			if !strings.Contains(string(text), part) {
				t.Errorf("there is no %q in\n%s", part, text)
			}
		}
		must.Do(t, os.WriteFile(path, []byte("mine"), 0o600))
		s.Command("Acp export out.md")
		s.AwaitNotification("out.md already exists")
		if text, _ := os.ReadFile(path); string(text) != "mine" {
			t.Error("the file is overwritten")
		}
		s.Command("Acp export! out.md")
		s.Await("the file to be replaced", func() bool {
			text, _ := os.ReadFile(path)
			return strings.Contains(string(text), "+package tool")
		})
		s.OK(`require('acp').export({ path = 'no/such/folder.md' }, function(_, err) _G.failed = err end)`)
		s.AwaitLua(`_G.failed and _G.failed:find('could not be written', 1, true)`)
		s.Refused(`require('acp').export()`)
		s.Refused(`require('acp').export({ session = 99, path = 'x' })`)
		s.Command("Acp export")
		s.AwaitLua(`vim.bo.filetype == 'markdown'`)
		s.AwaitLua(`vim.api.nvim_buf_get_lines(0, 4, 5, true)[1] == '## Rename the package.'`)
	})
}
