package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fetch asks for the text of a file and does not wait for it.
func (p *puppet) fetch(path string) (id int) {
	p.t.Helper()
	return p.call("fs/read_text_file", obj{"sessionId": remote(1), "path": path})
}

// store has a file written and does not wait for it.
func (p *puppet) store(path, text string) (id int) {
	p.t.Helper()
	return p.call("fs/write_text_file", obj{"sessionId": remote(1), "path": path, "content": text})
}

// outside makes a file beside the working folder.
func (s *scene) outside(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// awaitAsked waits until so many questions are open, and gives their titles.
func (s *scene) awaitAsked(n int) (titles string) {
	s.t.Helper()
	s.AwaitLua(fmt.Sprintf(`#require('acp').permissions() == %d`, n))
	return s.LuaString(`table.concat(vim.tbl_map(function(p) return p.title end, require('acp').permissions()), ', ')`)
}

// respond answers the n-th of the open questions.
func (s *scene) respond(n int, option string) {
	s.t.Helper()
	s.ok(`require('acp').respond(require('acp').permissions()[select(1, ...)].id, select(2, ...))`, n, option)
}

// gets checks an answer with a text.
func (p *puppet) gets(id int, want string) {
	p.t.Helper()
	if m := p.answer(id); m.Error != nil || m.text("content") != want {
		p.t.Errorf("the answer is %s, expected %q", m, want)
	}
}

// fails checks an error that says something.
func (p *puppet) fails(id int, code int, says ...string) {
	p.t.Helper()
	m := p.answer(id)
	if m.Error == nil || m.Error.Code != code {
		p.t.Errorf("the answer is %s, expected error %d", m, code)
		return
	}
	for _, text := range says {
		if !strings.Contains(m.Error.Message, text) {
			p.t.Errorf("the error says %q, not %q", m.Error.Message, text)
		}
	}
}

// said is how often the chat says something.
func (s *scene) said(text string) int {
	s.t.Helper()
	return strings.Count(strings.Join(strings.Fields(s.chat()), " "), text)
}

func TestFilesOutsideAreAsked(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.diff = 'chat'`)
		p := s.begin()
		turn := s.prompt(p, "read")
		id := p.fetch("/etc/hosts")
		s.AwaitEvent("AcpPermissionRequest")
		s.awaitFloat()
		s.awaitState("requires_action")
		s.screen("read")
		asked := fmt.Sprint(s.value(`require('acp').permissions()`))
		for _, want := range []string{"title:Read /etc/hosts", "description:It is outside of the session's folder.", "kind:allow_once", "kind:allow_always", "kind:reject_once", "session:1"} {
			if !strings.Contains(asked, want) {
				t.Errorf("%s is not in %s", want, asked)
			}
		}
		if strings.Contains(asked, "tool_call_id") {
			t.Errorf("it is about a tool call: %s", asked)
		}
		s.Command("Acp permit 1")
		p.gets(id, s.file("/etc/hosts"))
		s.resolved("allow", "user")
		s.awaitNoFloat()
		s.awaitState("running")

		// Refused.
		id = p.fetch("/etc/hosts")
		s.awaitFloat()
		s.Command("Acp permit id:reject")
		p.fails(id, -32603, "read /etc/hosts: the user did not allow it", "outside of the session's folder")
		s.resolved("reject", "user")
		s.awaitNoFloat()
		s.awaitChat("You did not let Puppet read")
		if n := s.said("You did not let"); n != 1 {
			t.Errorf("the chat says it %d times", n)
		}

		// A write shows what it changes.
		id = p.store("/elsewhere.lua", "return 1\n")
		s.awaitFloat()
		s.AwaitScreen("return 1")
		s.screen("write")
		s.Command("Acp permit id:reject")
		p.fails(id, -32603, "/elsewhere.lua", "the user did not allow it")
		s.resolved("reject", "user")
		s.awaitNoFloat()
		s.awaitChat("You did not let Puppet write /elsewhere.lua")
		if s.said("could not write") > 0 {
			t.Error("the chat says it twice")
		}
		path := s.outside("other.txt", "other\n")
		id = p.store(path, "new\n")
		s.awaitFloat()
		s.AwaitScreen("other")
		s.Command("Acp permit 1")
		p.gets(id, "")
		s.resolved("allow", "user")
		if got := s.file(path); got != "new\n" {
			t.Errorf("the file has %q", got)
		}
		s.awaitNoFloat()

		// Remembered, of reading this file.
		id = p.fetch(path)
		s.awaitFloat()
		s.Command("Acp permit id:allow_always")
		p.gets(id, "new\n")
		s.resolved("allow_always", "user")
		s.awaitNoFloat()
		for range 3 {
			p.gets(p.fetch(path), "new\n")
			s.resolved("allow_always", "rule")
		}
		s.awaitChat("Allowed, as you answered")
		if n := s.said("other.txt: Allowed, as you answered"); n != 1 {
			t.Errorf("the chat says it %d times", n)
		}
		id = p.store(path, "newer\n")
		s.awaitFloat()
		s.Command("Acp permit id:reject_always")
		p.fails(id, -32603)
		s.resolved("reject_always", "user")
		s.awaitNoFloat()
		p.fails(p.store(path, "newest\n"), -32603, "the user has decided before")
		s.resolved("reject_always", "rule")
		if got := s.file(path); got != "new\n" {
			t.Errorf("the file has %q", got)
		}

		// Taken back.
		s.Command("tabnew")
		s.Command("Acp permissions")
		s.AwaitScreen("edit " + s.LuaString(`vim.fn.strcharpart(..., 0, 5)`, path))
		s.Keys("/allow.*read<CR>dd")
		s.AwaitLua(`not table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('allow ')`)
		s.Keys("q")
		id = p.fetch(path)
		s.awaitFloat()
		s.Command("Acp permit 1")
		p.gets(id, "new\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	}, wide)
}

func TestLinksOutOfTheFolderAreAsked(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "read")
		for from, to := range map[string]string{"link.txt": "/etc/hosts", "up": "..", "new": s.Home + "/made.txt"} {
			if err := os.Symlink(to, filepath.Join(s.Dir, from)); err != nil {
				t.Fatal(err)
			}
		}
		s.outside("other.txt", "other\n")
		id := p.fetch(s.Dir + "/link.txt")
		s.awaitFloat()
		s.screen("link")
		s.Command("Acp permit 1")
		p.gets(id, s.file("/etc/hosts"))
		s.awaitNoFloat()
		for _, path := range []string{s.Dir + "/up/other.txt", s.Dir + "/../other.txt", "../other.txt"} {
			id := p.fetch(path)
			s.awaitFloat()
			s.Command("Acp permit id:reject")
			p.fails(id, -32603, "outside")
			s.awaitNoFloat()
		}
		id = p.store(s.Dir+"/new", "x\n")
		s.awaitFloat()
		s.Command("Acp permit id:reject")
		p.fails(id, -32603, "outside")
		if _, err := os.Lstat(s.Home + "/made.txt"); err == nil {
			t.Error("it was written")
		}
		s.awaitNoFloat()

		// A link that stays inside is free; so is a path through the outside that comes back.
		s.write("in.txt", "in\n")
		if err := os.Symlink("in.txt", filepath.Join(s.Dir, "inner")); err != nil {
			t.Fatal(err)
		}
		p.gets(p.fetch(s.Dir+"/inner"), "in\n")
		p.gets(p.fetch(s.Dir+"/up/"+filepath.Base(s.Dir)+"/in.txt"), "in\n")

		// What is allowed is the file that was asked about.
		id = p.fetch(s.Dir + "/link.txt")
		s.awaitFloat()
		if err := os.Remove(s.Dir + "/link.txt"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(s.Home+"/other.txt", s.Dir+"/link.txt"); err != nil {
			t.Fatal(err)
		}
		s.Command("Acp permit 1")
		p.fails(id, -32603, "leads to another file by now")
	}, wide)
}

func TestPrivateFilesOfTheFolderAreAsked(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.rules(`{ { action = 'allow' } }`)
		p := s.begin()
		s.prompt(p, "read")
		for _, name := range []string{".env", "sub/.env.local", ".git/config"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(s.Dir, name)), 0o777); err != nil {
				t.Fatal(err)
			}
			s.write(name, "secret\n")
		}
		if err := os.Symlink(".env", s.Dir+"/plain.txt"); err != nil {
			t.Fatal(err)
		}
		for n, name := range []string{".env", "sub/.env.local", ".git/config", "plain.txt", ".env"} {
			id := p.fetch(s.Dir + "/" + name)
			s.awaitFloat()
			if n == 0 {
				s.screen("float")
			}
			if got := fmt.Sprint(s.value(`vim.tbl_map(function(o) return o.id end, require('acp').permissions()[1].options)`)); got != "[allow reject]" {
				t.Errorf("%s: the options are %s", name, got)
			}
			s.Command("Acp permit 1")
			p.gets(id, "secret\n")
			s.resolved("allow", "user")
			s.awaitNoFloat()
		}
		id := p.store(s.Dir+"/.env", "stolen\n")
		s.awaitFloat()
		s.Command("Acp permit 2")
		p.fails(id, -32603, "private")
		if got := s.file(s.Dir + "/.env"); got != "secret\n" {
			t.Errorf("the file has %q", got)
		}
		p.gets(p.fetch(s.write("free.txt", "free\n")), "free\n")
	}, wide)
}

// An open question holds up neither other paths nor other messages nor other sessions; requests of its
// own path keep their order.
func TestAskedFilesHoldNothingUp(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one, two := s.outside("one.txt", "one\n"), s.outside("two.txt", "two\n")
		p := s.begin()
		turn := s.prompt(p, "read")
		writing := p.store(one, "ONE\n")
		reading := p.fetch(one)
		other := p.fetch(two)
		s.awaitAsked(2)
		// The same path from another session, in whose folder it is.
		s.ok(`require('acp').new({ cwd = ... })`, s.Home)
		q := s.agent()
		q.begin()
		s.AwaitEvent("AcpSessionReady")
		q.gets(q.fetch(one), "one\n")
		s.write("in.txt", "in\n")
		for n := range 20 {
			p.gets(p.store(s.Dir+"/in.txt", fmt.Sprint(n)), "")
			p.gets(p.fetch(s.Dir+"/in.txt"), fmt.Sprint(n))
		}
		p.say("Still talking.")
		s.awaitChatOf(1, "Still talking.")
		asking := p.permission(obj{"toolCallId": "c", "title": "Look", "kind": "search"}, yesNo...)
		if got := s.awaitAsked(3); !strings.Contains(got, "Look") {
			t.Errorf("the questions are %s", got)
		}
		for _, id := range []int{writing, reading, other, asking} {
			if p.answered(id) {
				t.Errorf("%d is answered", id)
			}
		}
		// The last is answered first.
		s.respond(3, "yes")
		p.answer(asking)
		s.awaitAsked(2)
		n := s.LuaInt(`for i, p in ipairs(require('acp').permissions()) do if p.title:find('two.txt') then return i end end`)
		s.respond(n, "allow")
		p.gets(other, "two\n")
		s.awaitAsked(1)
		if p.answered(reading) {
			t.Error("the read was answered before the write")
		}
		s.respond(1, "allow")
		p.gets(writing, "")
		s.Await("the read to be asked about", func() bool { return strings.HasPrefix(s.awaitAsked(1), "Read") })
		s.respond(1, "allow")
		p.gets(reading, "ONE\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	}, wide)
}

// awaitChatOf waits for a text in the chat of a session.
func (s *scene) awaitChatOf(session int, text string) {
	s.t.Helper()
	s.AwaitLua(fmt.Sprintf(`(function()
		for _, one in ipairs(require('acp').sessions()) do
			if one.id == %d then
				return table.concat(vim.api.nvim_buf_get_lines(one.chat_buf, 0, -1, false), '\n'):find(%q, 1, true)
			end
		end
	end)()`, session, text))
}

func TestAskedFilesAreAnsweredOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path, other := s.outside("one.txt", "one\n"), s.outside("two.txt", "two\n")
		p := s.begin()
		turn := s.prompt(p, "read")
		first, second, third := p.fetch(path), p.fetch(path), p.store(other, "x\n")
		s.awaitAsked(2)
		s.Command("Acp cancel")
		p.expect("session/cancel")
		for _, id := range []int{first, second, third} {
			p.fails(id, -32603, "the user did not allow it")
		}
		s.awaitNoFloat()
		// Nor is what the agent asks for on its way out.
		p.fails(p.fetch(path), -32603, "the user did not allow it")
		if n := s.LuaInt(`#require('acp').permissions()`); n != 0 {
			t.Errorf("%d questions are open", n)
		}
		s.awaitChat("was not allowed to read")
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")

		// Withdrawn by the agent.
		turn = s.prompt(p, "again")
		id, behind := p.fetch(path), p.fetch(path)
		s.awaitFloat()
		p.notify("$/cancel_request", obj{"requestId": id})
		p.fails(id, -32800)
		s.Await("the next question", func() bool {
			return s.LuaInt(`require('acp').permissions()[1] and require('acp').permissions()[1].id or 0`) > 3
		})
		p.notify("$/cancel_request", obj{"requestId": behind})
		p.fails(behind, -32800)
		s.awaitNoFloat()

		// The turn ends while it waits.
		id = p.fetch(path)
		s.awaitFloat()
		p.stop(turn, "end_turn")
		p.fails(id, -32603, "the user did not allow it")
		s.AwaitEvent("AcpTurnEnd")
		s.awaitNoFloat()

		// The session is closed.
		id = p.fetch(path)
		s.awaitFloat()
		s.ok(`require('acp').close()`)
		p.fails(id, -32603, "the user did not allow it")
		s.awaitNoFloat()
		p.awaitEnd()
		p.silent()
		if got := s.file(other); got != "two\n" {
			t.Errorf("the file has %q", got)
		}
	}, wide)
}

func TestAskedFilesOfADeadAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.outside("one.txt", "one\n")
		p := s.begin()
		s.prompt(p, "read")
		p.fetch(path)
		p.store(path, "x\n")
		s.awaitFloat()
		p.exit(3, "")
		s.awaitState("dead")
		s.awaitNoFloat()
		if got := s.file(path); got != "one\n" {
			t.Errorf("the file has %q", got)
		}
	}, wide)
}

func TestRulesForFilesOutside(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.rules(`{
			{ kind = 'read', path = '~/include/**', action = 'allow' },
			{ kind = 'edit', path = 'vendor/**', action = 'reject' },
			{ path = 'careful/**', action = 'ask' },
			{ path = '~/never/**', action = 'reject' },
			{ action = 'ask' },
		}`)
		s.recordNotifications()
		header, never := s.outside("include/sys/a.h", "header\n"), s.outside("never/a", "x\n")
		p := s.begin()
		s.prompt(p, "read")
		for range 2 {
			p.gets(p.fetch(header), "header\n")
			s.resolved("allow", "rule")
		}
		s.awaitChat("a.h: Allowed by your rule 1: kind read, path ~/include/**.")
		if n := s.said("Allowed by your rule 1"); n != 1 {
			t.Errorf("the chat says it %d times", n)
		}
		id := p.store(header, "x\n")
		s.awaitFloat()
		if got := s.LuaInt(`#require('acp').permissions()[1].options`); got != 2 {
			t.Errorf("a rule asks, and there are %d answers", got)
		}
		s.Command("Acp permit 2")
		p.fails(id, -32603)
		s.awaitNoFloat()
		p.fails(p.fetch(never), -32603, "decided before")
		s.awaitChat("Rejected by your rule 4")

		// Inside of the folder: rules that name no file do not ask.
		p.gets(p.store(s.Dir+"/free.txt", "free\n"), "")
		p.gets(p.fetch(s.Dir+"/free.txt"), "free\n")
		p.fails(p.store(s.Dir+"/vendor/x", "x\n"), -32603, "decided before")
		s.awaitChat("Rejected by your rule 2")
		id = p.store(s.Dir+"/careful/x", "x\n")
		s.awaitFloat()
		s.AwaitScreen("rule 3 asks")
		s.Command("Acp diff")
		s.AwaitScreen("new file · ga allow") // and the float is brief
		s.AwaitLua(`vim.api.nvim_get_option_value('diff', { win = 0 })`)
		s.AwaitScreen("rule 3 asks")
		s.Command("Acp permit 1")
		p.gets(id, "")
	}, wide)
}

// Where there is nothing to allow, nobody is asked.
func TestWhatIsNoFileIsAnErrorAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.prompt(p, "read")
		for _, dir := range []string{s.Dir, s.Home} {
			if err := syscall.Mkfifo(dir+"/fifo", 0o666); err != nil {
				t.Fatal(err)
			}
			p.fails(p.fetch(dir+"/fifo"), -32603, dir+"/fifo", "not a regular file")
			p.fails(p.fetch(dir), -32603, dir, "directory")
			p.fails(p.store(dir, "x"), -32603, dir, "directory")
		}
		p.fails(p.fetch("/dev/zero"), -32603, "not a regular file")
		p.fails(p.fetch(s.Dir+"/no/such"), -32002, "no/such")
		p.fails(p.fetch(s.write("file", "x\n")+"/below"), -32603, "not a directory")
		if err := os.Symlink("loop", s.Dir+"/loop"); err != nil {
			t.Fatal(err)
		}
		p.fails(p.fetch(s.Dir+"/loop"), -32603, "symbolic links")
		p.gets(p.fetch("file://"+s.write("a b", "x\n")), "x\n")
		p.gets(p.fetch("FILE://localhost"+s.Dir+"/a%20b"), "x\n")
		p.fails(p.fetch("file://far"+s.Dir+"/file"), -32603, "file://far"+s.Dir+"/file", "not absolute")
		if s.events("AcpPermissionRequest") > 0 {
			t.Error("the user was asked")
		}
		id := p.fetch("file:///etc/hosts")
		s.awaitFloat()
		s.Command("Acp permit id:reject")
		p.fails(id, -32603, "read /etc/hosts: the user did not allow it")
		s.awaitNoFloat()

		// A missing file outside is asked about: that it is missing is told to nobody else.
		id = p.fetch(s.Home + "/missing")
		s.awaitFloat()
		s.Command("Acp permit id:reject")
		p.fails(id, -32603, "did not allow")
		s.awaitNoFloat()
		id = p.fetch(s.Home + "/missing")
		s.awaitFloat()
		s.Command("Acp permit 1")
		p.fails(id, -32002, "missing")
	}, wide)
}

// The empty text that one agent needs for a missing file is given inside of the folder, and elsewhere
// when the user allows it.
func TestMissingFilesOutsideForGemini(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginWith(obj{"agentInfo": obj{"name": "gemini-cli", "version": "1"}})
		s.prompt(p, "read")
		p.gets(p.fetch(s.Dir+"/missing"), "")
		id := p.fetch(s.Home + "/missing")
		s.awaitFloat()
		s.Command("Acp permit id:reject")
		p.fails(id, -32603, "did not allow")
		s.awaitNoFloat()
		id = p.fetch(s.Home + "/missing")
		s.awaitFloat()
		s.Command("Acp permit 1")
		p.gets(id, "")
	}, wide)
}
