package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestFilesOutsideAreAsked(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.diff = 'chat'`)
		p := s.Begin()
		turn := s.Prompt(p, "read")
		id := p.Fetch("/etc/hosts")
		s.AwaitEvent("AcpPermissionRequest")
		s.AwaitFloat()
		s.AwaitState("requires_action")
		s.GoldenScreen("read")
		asked := fmt.Sprint(s.Value(`require('acp').permissions()`))
		for _, want := range []string{"title:Read /etc/hosts", "description:It is outside of the session's folder.", "kind:allow_once", "kind:allow_always", "kind:reject_once", "session:1"} {
			check.Contains(t, asked, want, "%s is not in %s", want)
		}
		if strings.Contains(asked, "tool_call_id") {
			t.Errorf("it is about a tool call: %s", asked)
		}
		s.Command("Acp permit 1")
		p.AnswersText(id, s.ReadFile("/etc/hosts"))
		s.CheckResolved("allow", "user")
		s.AwaitNoFloat()
		s.AwaitState("running")

		// Refused.
		id = p.Fetch("/etc/hosts")
		s.AwaitFloat()
		s.Command("Acp permit id:reject")
		p.AnswersError(id, -32603, "read /etc/hosts: the user did not allow it", "outside of the session's folder")
		s.CheckResolved("reject", "user")
		s.AwaitNoFloat()
		s.AwaitChat("You did not let Puppet read")
		check.Equal(t, s.CountInChat("You did not let"), 1, "the chat says it %d times")

		// A write shows what it changes.
		id = p.Store("/elsewhere.lua", "return 1\n")
		s.AwaitFloat()
		s.AwaitScreen("return 1")
		s.GoldenScreen("write")
		s.Command("Acp permit id:reject")
		p.AnswersError(id, -32603, "/elsewhere.lua", "the user did not allow it")
		s.CheckResolved("reject", "user")
		s.AwaitNoFloat()
		s.AwaitChat("You did not let Puppet write /elsewhere.lua")
		if s.CountInChat("could not write") > 0 {
			t.Error("the chat says it twice")
		}
		path := s.WriteOutside("other.txt", "other\n")
		id = p.Store(path, "new\n")
		s.AwaitFloat()
		s.AwaitScreen("other")
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
		s.CheckResolved("allow", "user")
		check.Equal(t, s.ReadFile(path), "new\n", "the file has %q")
		s.AwaitNoFloat()

		// Remembered, of reading this file.
		id = p.Fetch(path)
		s.AwaitFloat()
		s.Command("Acp permit id:allow_always")
		p.AnswersText(id, "new\n")
		s.CheckResolved("allow_always", "user")
		s.AwaitNoFloat()
		for range 3 {
			p.AnswersText(p.Fetch(path), "new\n")
			s.CheckResolved("allow_always", "rule")
		}
		s.AwaitChat("Allowed, as you answered")
		check.Equal(t, s.CountInChat("other.txt: Allowed, as you answered"), 1, "the chat says it %d times")
		id = p.Store(path, "newer\n")
		s.AwaitFloat()
		s.Command("Acp permit id:reject_always")
		p.AnswersError(id, -32603)
		s.CheckResolved("reject_always", "user")
		s.AwaitNoFloat()
		p.AnswersError(p.Store(path, "newest\n"), -32603, "the user has decided before")
		s.CheckResolved("reject_always", "rule")
		check.Equal(t, s.ReadFile(path), "new\n", "the file has %q")

		// Taken back.
		s.Command("tabnew")
		s.Command("Acp permissions")
		s.AwaitScreen("edit " + s.LuaString(`vim.fn.strcharpart(..., 0, 5)`, path))
		s.Keys("/allow.*read<CR>dd")
		s.AwaitLua(`not table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('allow ')`)
		s.Keys("q")
		id = p.Fetch(path)
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.AnswersText(id, "new\n")
		p.EndTurn(turn)
		p.Silent()
	}, scene.Wide)
}

func TestLinksOutOfTheFolderAreAsked(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "read")
		for from, to := range map[string]string{"link.txt": "/etc/hosts", "up": "..", "new": s.Home + "/made.txt"} {
			must.Do(t, os.Symlink(to, filepath.Join(s.Dir, from)))
		}
		s.WriteOutside("other.txt", "other\n")
		id := p.Fetch(s.Dir + "/link.txt")
		s.AwaitFloat()
		s.GoldenScreen("link")
		s.Command("Acp permit 1")
		p.AnswersText(id, s.ReadFile("/etc/hosts"))
		s.AwaitNoFloat()
		for _, path := range []string{s.Dir + "/up/other.txt", s.Dir + "/../other.txt", "../other.txt"} {
			id := p.Fetch(path)
			s.AwaitFloat()
			s.Command("Acp permit id:reject")
			p.AnswersError(id, -32603, "outside")
			s.AwaitNoFloat()
		}
		id = p.Store(s.Dir+"/new", "x\n")
		s.AwaitFloat()
		s.Command("Acp permit id:reject")
		p.AnswersError(id, -32603, "outside")
		if _, err := os.Lstat(s.Home + "/made.txt"); err == nil {
			t.Error("it was written")
		}
		s.AwaitNoFloat()

		// A link that stays inside is free; so is a path through the outside that comes back.
		s.WriteFile("in.txt", "in\n")
		must.Do(t, os.Symlink("in.txt", filepath.Join(s.Dir, "inner")))
		p.AnswersText(p.Fetch(s.Dir+"/inner"), "in\n")
		p.AnswersText(p.Fetch(s.Dir+"/up/"+filepath.Base(s.Dir)+"/in.txt"), "in\n")

		// What is allowed is the file that was asked about.
		id = p.Fetch(s.Dir + "/link.txt")
		s.AwaitFloat()
		must.Do(t, os.Remove(s.Dir+"/link.txt"))
		must.Do(t, os.Symlink(s.Home+"/other.txt", s.Dir+"/link.txt"))
		s.Command("Acp permit 1")
		p.AnswersError(id, -32603, "now leads to another file")
	}, scene.Wide)
}

func TestPrivateFilesOfTheFolderAreAsked(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.SetRules(`{ { action = 'allow' } }`)
		p := s.Begin()
		s.Prompt(p, "read")
		for _, name := range []string{".env", "sub/.env.local", ".git/config"} {
			must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(s.Dir, name)), 0o777))
			s.WriteFile(name, "secret\n")
		}
		must.Do(t, os.Symlink(".env", s.Dir+"/plain.txt"))
		for n, name := range []string{".env", "sub/.env.local", ".git/config", "plain.txt", ".env"} {
			id := p.Fetch(s.Dir + "/" + name)
			s.AwaitFloat()
			if n == 0 {
				s.GoldenScreen("float")
			}
			if got := fmt.Sprint(s.Value(`vim.tbl_map(function(o) return o.id end, require('acp').permissions()[1].options)`)); got != "[allow reject]" {
				t.Errorf("%s: the options are %s", name, got)
			}
			s.Command("Acp permit 1")
			p.AnswersText(id, "secret\n")
			s.CheckResolved("allow", "user")
			s.AwaitNoFloat()
		}
		id := p.Store(s.Dir+"/.env", "stolen\n")
		s.AwaitFloat()
		s.Command("Acp permit 2")
		p.AnswersError(id, -32603, "private")
		check.Equal(t, s.ReadFile(s.Dir+"/.env"), "secret\n", "the file has %q")
		p.AnswersText(p.Fetch(s.WriteFile("free.txt", "free\n")), "free\n")
	}, scene.Wide)
}

// An open question holds up neither other paths nor other messages nor other sessions; requests of its
// own path keep their order.
func TestAskedFilesHoldNothingUp(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		one, two := s.WriteOutside("one.txt", "one\n"), s.WriteOutside("two.txt", "two\n")
		p := s.Begin()
		turn := s.Prompt(p, "read")
		writing := p.Store(one, "ONE\n")
		reading := p.Fetch(one)
		other := p.Fetch(two)
		s.AwaitPermissions(2)
		// The same path from another session, in whose folder it is.
		s.OK(`require('acp').new({ cwd = ... })`, s.Home)
		q := s.ReadyAgent()
		q.AnswersText(q.Fetch(one), "one\n")
		s.WriteFile("in.txt", "in\n")
		for n := range 20 {
			p.AnswersText(p.Store(s.Dir+"/in.txt", fmt.Sprint(n)), "")
			p.AnswersText(p.Fetch(s.Dir+"/in.txt"), fmt.Sprint(n))
		}
		p.Say("Still talking.")
		awaitChatOf(s, 1, "Still talking.")
		asking := p.Permission(obj{"toolCallId": "c", "title": "Look", "kind": "search"}, scene.YesNo...)
		check.Contains(t, s.AwaitPermissions(3), "Look", "the questions are %s")
		for _, id := range []int{writing, reading, other, asking} {
			if p.Answered(id) {
				t.Errorf("%d is answered", id)
			}
		}
		// The last is answered first.
		s.Respond(3, "yes")
		p.Answer(asking)
		s.AwaitPermissions(2)
		n := s.LuaInt(`for i, p in ipairs(require('acp').permissions()) do if p.title:find('two.txt') then return i end end`)
		s.Respond(n, "allow")
		p.AnswersText(other, "two\n")
		s.AwaitPermissions(1)
		if p.Answered(reading) {
			t.Error("the read was answered before the write")
		}
		s.Respond(1, "allow")
		p.AnswersText(writing, "")
		s.Await("the read to be asked about", func() bool { return strings.HasPrefix(s.AwaitPermissions(1), "Read") })
		s.Respond(1, "allow")
		p.AnswersText(reading, "ONE\n")
		p.EndTurn(turn)
		p.Silent()
	}, scene.Wide)
}

// awaitChatOf waits for a text in the chat of a session.
func awaitChatOf(s *scene.Scene, session int, text string) {
	s.T.Helper()
	s.AwaitLua(fmt.Sprintf(`(function()
		for _, one in ipairs(require('acp').sessions()) do
			if one.id == %d then
				return table.concat(vim.api.nvim_buf_get_lines(one.chat_buf, 0, -1, false), '\n'):find(%q, 1, true)
			end
		end
	end)()`, session, text))
}

func TestAskedFilesAreAnsweredOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path, other := s.WriteOutside("one.txt", "one\n"), s.WriteOutside("two.txt", "two\n")
		p := s.Begin()
		turn := s.Prompt(p, "read")
		first, second, third := p.Fetch(path), p.Fetch(path), p.Store(other, "x\n")
		s.AwaitPermissions(2)
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		for _, id := range []int{first, second, third} {
			p.AnswersError(id, -32603, "the user did not allow it")
		}
		s.AwaitNoFloat()
		// Nor is what the agent asks for on its way out.
		p.AnswersError(p.Fetch(path), -32603, "the user did not allow it")
		check.Equal(t, s.LuaInt(`#require('acp').permissions()`), 0, "%d questions are open")
		s.AwaitChat("was not allowed to read")
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")

		// Withdrawn by the agent.
		turn = s.Prompt(p, "again")
		id, behind := p.Fetch(path), p.Fetch(path)
		s.AwaitFloat()
		p.Notify("$/cancel_request", obj{"requestId": id})
		p.AnswersError(id, -32800)
		s.Await("the next question", func() bool {
			return s.LuaInt(`require('acp').permissions()[1] and require('acp').permissions()[1].id or 0`) > 3
		})
		p.Notify("$/cancel_request", obj{"requestId": behind})
		p.AnswersError(behind, -32800)
		s.AwaitNoFloat()

		// The turn ends while it waits.
		id = p.Fetch(path)
		s.AwaitFloat()
		p.Stop(turn, "end_turn")
		p.AnswersError(id, -32603, "the user did not allow it")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitNoFloat()

		// The session is closed.
		id = p.Fetch(path)
		s.AwaitFloat()
		s.OK(`require('acp').close()`)
		p.AnswersError(id, -32603, "the user did not allow it")
		s.AwaitNoFloat()
		p.AwaitEnd()
		p.Silent()
		check.Equal(t, s.ReadFile(other), "two\n", "the file has %q")
	}, scene.Wide)
}

func TestAskedFilesOfADeadAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteOutside("one.txt", "one\n")
		p := s.Begin()
		s.Prompt(p, "read")
		p.Fetch(path)
		p.Store(path, "x\n")
		s.AwaitFloat()
		p.Exit(3, "")
		s.AwaitState("dead")
		s.AwaitNoFloat()
		check.Equal(t, s.ReadFile(path), "one\n", "the file has %q")
	}, scene.Wide)
}

func TestRulesForFilesOutside(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.SetRules(`{
			{ kind = 'read', path = '~/include/**', action = 'allow' },
			{ kind = 'edit', path = 'vendor/**', action = 'reject' },
			{ path = 'careful/**', action = 'ask' },
			{ path = '~/never/**', action = 'reject' },
			{ action = 'ask' },
		}`)
		s.RecordNotifications()
		header, never := s.WriteOutside("include/sys/a.h", "header\n"), s.WriteOutside("never/a", "x\n")
		p := s.Begin()
		s.Prompt(p, "read")
		for range 2 {
			p.AnswersText(p.Fetch(header), "header\n")
			s.CheckResolved("allow", "rule")
		}
		s.AwaitChat("a.h: Allowed by your rule 1: kind read, path ~/include/**.")
		check.Equal(t, s.CountInChat("Allowed by your rule 1"), 1, "the chat says it %d times")
		id := p.Store(header, "x\n")
		s.AwaitFloat()
		check.Equal(t, s.LuaInt(`#require('acp').permissions()[1].options`), 2, "a rule asks, and there are %d answers")
		s.Command("Acp permit 2")
		p.AnswersError(id, -32603)
		s.AwaitNoFloat()
		p.AnswersError(p.Fetch(never), -32603, "decided before")
		s.AwaitChat("Rejected by your rule 4")

		// Inside of the folder: rules that name no file do not ask.
		p.AnswersText(p.Store(s.Dir+"/free.txt", "free\n"), "")
		p.AnswersText(p.Fetch(s.Dir+"/free.txt"), "free\n")
		p.AnswersError(p.Store(s.Dir+"/vendor/x", "x\n"), -32603, "decided before")
		s.AwaitChat("Rejected by your rule 2")
		id = p.Store(s.Dir+"/careful/x", "x\n")
		s.AwaitFloat()
		s.AwaitScreen("rule 3 asks")
		s.Command("Acp diff")
		s.AwaitScreen("new file · ga allow") // and the float is brief
		s.AwaitLua(`vim.api.nvim_get_option_value('diff', { win = 0 })`)
		s.AwaitScreen("rule 3 asks")
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
	}, scene.Wide)
}

// Where there is nothing to allow, nobody is asked.
func TestWhatIsNoFileIsAnErrorAtOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Prompt(p, "read")
		for _, dir := range []string{s.Dir, s.Home} {
			must.Do(t, syscall.Mkfifo(dir+"/fifo", 0o666))
			p.AnswersError(p.Fetch(dir+"/fifo"), -32603, dir+"/fifo", "not a regular file")
			p.AnswersError(p.Fetch(dir), -32603, dir, "directory")
			p.AnswersError(p.Store(dir, "x"), -32603, dir, "directory")
		}
		p.AnswersError(p.Fetch("/dev/zero"), -32603, "not a regular file")
		p.AnswersError(p.Fetch(s.Dir+"/no/such"), -32002, "no/such")
		p.AnswersError(p.Fetch(s.WriteFile("file", "x\n")+"/below"), -32603, "not a directory")
		must.Do(t, os.Symlink("loop", s.Dir+"/loop"))
		p.AnswersError(p.Fetch(s.Dir+"/loop"), -32603, "symbolic links")
		p.AnswersText(p.Fetch("file://"+s.WriteFile("a b", "x\n")), "x\n")
		p.AnswersText(p.Fetch("FILE://localhost"+s.Dir+"/a%20b"), "x\n")
		p.AnswersError(p.Fetch("file://far"+s.Dir+"/file"), -32603, "file://far"+s.Dir+"/file", "not absolute")
		if s.CountEvents("AcpPermissionRequest") > 0 {
			t.Error("the user was asked")
		}
		id := p.Fetch("file:///etc/hosts")
		s.AwaitFloat()
		s.Command("Acp permit id:reject")
		p.AnswersError(id, -32603, "read /etc/hosts: the user did not allow it")
		s.AwaitNoFloat()

		// A missing file outside is asked about: that it is missing is told to nobody else.
		id = p.Fetch(s.Home + "/missing")
		s.AwaitFloat()
		s.Command("Acp permit id:reject")
		p.AnswersError(id, -32603, "did not allow")
		s.AwaitNoFloat()
		id = p.Fetch(s.Home + "/missing")
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.AnswersError(id, -32002, "missing")
	}, scene.Wide)
}

// The empty text that one agent needs for a missing file is given inside of the folder, and elsewhere
// when the user allows it.
func TestMissingFilesOutsideForGemini(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.BeginWith(obj{"agentInfo": obj{"name": "gemini-cli", "version": "1"}})
		s.Prompt(p, "read")
		p.AnswersText(p.Fetch(s.Dir+"/missing"), "")
		id := p.Fetch(s.Home + "/missing")
		s.AwaitFloat()
		s.Command("Acp permit id:reject")
		p.AnswersError(id, -32603, "did not allow")
		s.AwaitNoFloat()
		id = p.Fetch(s.Home + "/missing")
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.AnswersText(id, "")
	}, scene.Wide)
}
