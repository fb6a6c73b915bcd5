package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// rules sets opts.permissions, before anything is started.
func (s *scene) rules(lua string) {
	s.t.Helper()
	s.configure(`c.permissions = ` + lua)
}

// command is a tool call that wants to run a command.
func command(id, line string) obj {
	return obj{"toolCallId": id, "title": "`" + line + "`", "kind": "execute", "rawInput": obj{"command": line}}
}

// editing is a tool call that wants to change a file.
func editing(id, path string) obj {
	return obj{
		"toolCallId": id, "title": "Edit " + filepath.Base(path), "kind": "edit", "locations": []obj{{"path": path}},
		"rawInput": obj{"file_path": path, "old_string": "a", "new_string": "b"},
		"content":  []obj{{"type": "diff", "path": path, "oldText": "a\n", "newText": "b\n"}},
	}
}

// decided asks for what a rule is to decide, without the user seeing it.
func (s *scene) decided(p *puppet, call obj, want string) {
	s.t.Helper()
	if got := outcome(s.t, p.answer(p.permission(call, yesNo...))); got != want {
		s.t.Errorf("%v was answered %s, expected %s", call["title"], got, want)
	}
	s.resolved(want, "rule")
	if s.LuaBool(`require('acp.permission').win() ~= nil or #require('acp').permissions() > 0`) {
		s.t.Errorf("%v: the user is asked", call["title"])
	}
}

// asked asks for what the user is to decide, and answers with the n-th option.
func (s *scene) asked(p *puppet, call obj, n int) {
	s.t.Helper()
	id := p.permission(call, yesNo...)
	s.awaitFloat()
	if p.answered(id) {
		s.t.Errorf("%v is answered without the user", call["title"])
	}
	option := yesNo[n-1]["optionId"].(string)
	s.Command(fmt.Sprint("Acp permit ", n))
	if got := outcome(s.t, p.answer(id)); got != option {
		s.t.Errorf("%v was answered %s, expected %s", call["title"], got, option)
	}
	s.resolved(option, "user")
	s.awaitNoFloat()
}

func TestRulesDecide(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.rules(`{
			{ kind = 'edit', path = { 'src/**', '~/proj/doc/*.md' }, action = 'allow' },
			{ command = 'rm **', action = 'reject' },
			{ command = { 'git status', 'make **' }, agent = 'puppet', action = 'allow' },
			{ kind = 'fetch', action = 'ask' },
		}`)
		p := s.begin()
		turn := s.prompt(p, "do it")
		s.decided(p, editing("e1", s.Dir+"/src/a.lua"), "yes")
		s.awaitChat("Allowed by your rule 1: kind edit, path src/** or ~/proj/doc/*.md.")
		s.decided(p, editing("e2", "doc/a.md"), "yes")
		s.asked(p, editing("e3", s.Dir+"/src/../test.lua"), 1)
		s.decided(p, command("c1", "git status && make -j4 test 2>&1"), "yes")
		s.decided(p, command("c2", "ls; sudo rm -rf build"), "no")
		s.AwaitLua(`vim.iter(require('acp').tool_calls()):any(function(c) return c.id == 'c2' and c.status == 'rejected' end)`)
		s.awaitChat("Rejected by your rule 2: command rm **.")
		s.decided(p, obj{"toolCallId": "c3", "title": "x", "kind": "execute", "rawInput": obj{"command": []string{"bash", "-lc", "git status"}}}, "yes")
		s.asked(p, obj{"toolCallId": "f", "title": "https://example.org", "kind": "fetch"}, 1)

		// Why a rule did not decide.
		id := p.permission(command("c4", "git status; cat < /etc/passwd"), yesNo...)
		s.awaitFloat()
		s.screen("why")
		s.Command("Acp permit 3")
		p.answer(id)
		s.resolved("no", "user")

		// By URI they are the same files.
		s.decided(p, editing("e5", "file://localhost"+s.Dir+"/src/b%2elua"), "yes")
		s.AwaitLua(`(function(path)
			return vim.iter(require('acp').tool_calls()):any(function(c) return c.id == 'e5' and c.locations[1].path == path end)
		end)(...)`, s.Dir+"/src/b.lua")
		s.asked(p, editing("e6", "file:///etc/passwd"), 3)
		s.asked(p, editing("e7", "file://elsewhere"+s.Dir+"/src/b.lua"), 3)

		// The rules of the moment count.
		s.Lua(nil, `local c = vim.g.acp; c.permissions = {}; require('acp').setup(c)
			vim.schedule(function() require('acp.host').request('decided', {}, function() _G.set = true end) end)`)
		s.AwaitLua(`_G.set`)
		s.asked(p, editing("e4", s.Dir+"/src/a.lua"), 1)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.silent()
	}, wide)
}

// A rule gives the answer that holds for now; without an answer of its kind it asks.
func TestRulesChooseTheOption(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.rules(`{ { command = 'no **', action = 'reject' }, { action = 'allow' } }`)
		p := s.begin()
		s.prompt(p, "do it")
		option := func(id, kind string) obj { return obj{"optionId": id, "name": id, "kind": kind} }
		for i, c := range []struct {
			command string
			options []obj
			want    string
		}{
			{"yes", []obj{option("always", "allow_always"), option("once", "allow_once"), option("two", "allow_once")}, "once"},
			{"yes", []obj{option("no", "reject_once"), option("always", "allow_always")}, "always"},
			{"no x", []obj{option("always", "allow_always"), option("never", "reject_always"), option("no", "reject_once")}, "no"},
			{"no x", []obj{option("always", "allow_always"), option("never", "reject_always")}, "never"},
		} {
			id := p.permission(command(fmt.Sprint("c", i), c.command), c.options...)
			if got := outcome(t, p.answer(id)); got != c.want {
				t.Errorf("%v was answered %s", c, got)
			}
			s.resolved(c.want, "rule")
		}
		for i, options := range [][]obj{
			{},
			{option("no", "reject_once")},
			{option("what", "perhaps")},
			{option("same", "allow_once"), option("same", "reject_once")},
		} {
			id := p.permission(command(fmt.Sprint("d", i), "yes"), options...)
			s.AwaitScreen("offers no such answer")
			if p.answered(id) {
				t.Errorf("%v is answered", options)
			}
			p.notify("$/cancel_request", obj{"requestId": id})
			p.answer(id)
			s.awaitNoFloat()
		}
	}, wide)
}

func TestPrivateFilesAreAlwaysAsked(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.rules(`{ { action = 'allow' } }`)
		p := s.begin()
		s.prompt(p, "do it")
		s.decided(p, editing("e1", s.Dir+"/a"), "yes")
		s.asked(p, editing("e2", s.Dir+"/a/.env"), 2)
		s.asked(p, editing("e3", s.Dir+"/a/.env"), 2)
		s.asked(p, command("c1", "cat .git/config"), 2)
		if err := os.Symlink(s.Dir+"/.env", s.Dir+"/harmless"); err != nil {
			t.Fatal(err)
		}
		s.asked(p, editing("e4", s.Dir+"/harmless"), 3)
	}, wide)
}

func TestAnswersForGood(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.rules(`{ { kind = 'think', action = 'ask' } }`)
		p := s.begin()
		s.prompt(p, "do it")
		s.asked(p, command("c1", "make test"), 2)
		s.decided(p, command("c2", "make test"), "always")
		s.awaitChat("\n    :Acp permissions takes that back.") // no window breaks the command's name
		s.asked(p, command("c3", "make test "), 1)
		s.asked(p, editing("e1", s.Dir+"/a.lua"), 2)
		s.decided(p, editing("e2", s.Dir+"/a.lua"), "always")
		s.asked(p, editing("e2b", s.Dir+"/b/c.lua"), 1)
		s.asked(p, editing("e3", "/elsewhere.lua"), 1)
		never := append([]obj{{"optionId": "never", "name": "Never", "kind": "reject_always"}}, yesNo...)
		id := p.permission(obj{"toolCallId": "m1", "title": "Look it up", "rawInput": obj{"q": "x", "n": 1}}, never...)
		s.awaitFloat()
		s.Command("Acp permit 4")
		p.answer(id)
		s.resolved("never", "user")
		s.awaitNoFloat()
		id = p.permission(obj{"toolCallId": "m2", "title": "Look it up", "rawInput": obj{"n": 1, "q": "x"}}, never[:1]...)
		if got := outcome(t, p.answer(id)); got != "never" {
			t.Errorf("answered %s", got)
		}
		s.resolved("never", "rule")

		// An answer whose words say so holds for its session.
		words := []obj{{"optionId": "s", "name": "Yes, during this session", "kind": "allow_always"}, yesNo[2]}
		id = p.permission(command("s1", "make lint"), words...)
		s.awaitFloat()
		s.Command("Acp permit 1")
		p.answer(id)
		s.resolved("s", "user")
		s.awaitNoFloat()
		id = p.permission(command("s2", "make lint"), words...)
		if got := outcome(t, p.answer(id)); got != "s" {
			t.Errorf("answered %s", got)
		}
		s.resolved("s", "rule")
		text, err := os.ReadFile(s.answersFile())
		if err != nil || strings.Contains(string(text), "make lint") || !strings.Contains(string(text), "make test") {
			t.Errorf("the file has %s, %v", text, err)
		}

		// All of them are shown, across the screen, and taken back.
		s.Command("Acp permissions")
		s.AwaitLua(`vim.bo.filetype == 'acp-permissions' and vim.api.nvim_win_get_width(0) == vim.o.columns`)
		s.Keys("q")
		s.Command("tabnew")
		s.Command("Acp permissions")
		s.AwaitScreen("Lasting answers")
		s.Golden("list", nvimtest.Replace(`\d{4}-\d\d-\d\d`, "YYYY-MM-DD"), nvimtest.Replace(`[⣷⣯⣟⡿⢿⣻⣽⣾]( \d+:\d\d)?`, "*"))
		s.Keys("/make test<CR>dd")
		s.AwaitLua(`not table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('make test')`)
		s.Keys("gg")
		s.Keys("x")
		s.awaitMessage("there is no answer in this line")
		s.Keys("q")
		s.AwaitLua(`vim.bo.filetype ~= 'acp-permissions'`)
		s.asked(p, command("c4", "make test"), 1)
		s.decided(p, editing("e4", s.Dir+"/a.lua"), "always")
	}, wide)
}

// answersFile is where the answers are kept.
func (s *scene) answersFile() string {
	s.t.Helper()
	return s.LuaString(`vim.fs.joinpath(vim.fn.stdpath('data'), 'acp', 'permissions.json')`)
}

func TestAnswersInABrokenFile(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		file := s.answersFile()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(`{"version":1,"answers":[`), 0o600); err != nil {
			t.Fatal(err)
		}
		p := s.begin()
		s.prompt(p, "do it")
		s.asked(p, command("c1", "make test"), 2)
		s.awaitChat("was unreadable and is kept as")
		aside, _ := filepath.Glob(file + ".unreadable-*")
		if len(aside) != 1 {
			t.Errorf("set aside are %v", aside)
		}
		s.decided(p, command("c2", "make test"), "always")
	}, wide)
}

func TestRulesWithMistakes(t *testing.T) {
	for _, c := range []struct{ name, rules, says string }{
		{"no rule", `{ 'git **' }`, `permissions[1]: expected a rule, got "git **"`},
		{"an action", `{ { action = 'allow' }, { command = 'a', action = 'permit' } }`, `permissions[2].action: expected 'allow', 'reject' or 'ask', got "permit"`},
		{"no action", `{ { command = 'a' } }`, `permissions[1].action: expected 'allow', 'reject' or 'ask', got nil`},
		{"a field", `{ { comand = 'a', action = 'reject' }, { action = 'allow' } }`, `permissions[1].comand: there is no such field`},
		{"a value", `{ { kind = 7, action = 'reject' }, { action = 'allow' } }`, `permissions[1].kind: expected a string or a list of strings, got 7`},
		{"a glob", `{ { path = 'a[', action = 'reject' }, { action = 'allow' } }`, `permissions[1].path "a[": it is no glob`},
		{"a pattern", `{ { command = 'a && b', action = 'reject' }, { action = 'allow' } }`, `permissions[1].command "a && b": it has more than one command`},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.recordNotifications()
				s.rules(c.rules)
				p := s.begin()
				s.prompt(p, "do it")
				s.asked(p, command("c1", "ls"), 1)
				if said := s.notifications(); !strings.Contains(said, c.says) {
					t.Errorf("the messages are\n%s", said)
				}
			}, wide)
		})
	}
}
