package policy

import (
	"fmt"
	"os"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// asked asks for what the user is to decide, and answers with the n-th option.
func asked(s *scene.Scene, p *scene.Puppet, call obj, n int) {
	s.T.Helper()
	id := p.Permission(call, scene.YesNo...)
	s.AwaitFloat()
	if p.Answered(id) {
		s.T.Errorf("%v is answered without the user", call["title"])
	}
	option := scene.YesNo[n-1]["optionId"].(string)
	s.Command(fmt.Sprint("Acp permit ", n))
	check.Equal(s.T, scene.Outcome(s.T, p.Answer(id)), option, "%v was answered %s", call["title"])
	s.CheckResolved(option, "user")
	s.AwaitNoFloat()
}

func TestRulesDecide(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.SetRules(`{
			{ kind = 'edit', path = { 'src/**', '~/proj/doc/*.md' }, action = 'allow' },
			{ command = 'rm **', action = 'reject' },
			{ command = { 'git status', 'make **' }, agent = 'puppet', action = 'allow' },
			{ kind = 'fetch', action = 'ask' },
		}`)
		p := s.Begin()
		turn := s.Prompt(p, "do it")
		s.CheckDecision(p, scene.EditCall("e1", s.Dir+"/src/a.lua"), "yes")
		s.AwaitChat("Allowed by your rule 1: kind edit, path src/** or ~/proj/doc/*.md.")
		s.CheckDecision(p, scene.EditCall("e2", "doc/a.md"), "yes")
		asked(s, p, scene.EditCall("e3", s.Dir+"/src/../test.lua"), 1)
		s.CheckDecision(p, scene.CommandCall("c1", "git status && make -j4 test 2>&1"), "yes")
		s.CheckDecision(p, scene.CommandCall("c2", "ls; sudo rm -rf build"), "no")
		s.AwaitLua(`vim.iter(require('acp').tool_calls()):any(function(c) return c.id == 'c2' and c.status == 'rejected' end)`)
		s.AwaitChat("Rejected by your rule 2: command rm **.")
		s.CheckDecision(p, obj{"toolCallId": "c3", "title": "x", "kind": "execute", "rawInput": obj{"command": []string{"bash", "-lc", "git status"}}}, "yes")
		asked(s, p, obj{"toolCallId": "f", "title": "https://example.org", "kind": "fetch"}, 1)

		// Why a rule did not decide.
		id := p.Permission(scene.CommandCall("c4", "git status; cat < /etc/passwd"), scene.YesNo...)
		s.AwaitFloat()
		s.GoldenScreen("why")
		s.Command("Acp permit 3")
		p.Answer(id)
		s.CheckResolved("no", "user")

		// By URI they are the same files.
		s.CheckDecision(p, scene.EditCall("e5", "file://localhost"+s.Dir+"/src/b%2elua"), "yes")
		s.AwaitLua(`(function(path)
			return vim.iter(require('acp').tool_calls()):any(function(c) return c.id == 'e5' and c.locations[1].path == path end)
		end)(...)`, s.Dir+"/src/b.lua")
		asked(s, p, scene.EditCall("e6", "file:///etc/passwd"), 3)
		asked(s, p, scene.EditCall("e7", "file://elsewhere"+s.Dir+"/src/b.lua"), 3)

		// The rules of the moment count.
		s.Lua(nil, `local c = vim.g.acp; c.permissions = {}; require('acp').setup(c)
			vim.schedule(function() require('acp.rpc.host').request('list_decided', {}, function() _G.set = true end) end)`)
		s.AwaitLua(`_G.set`)
		asked(s, p, scene.EditCall("e4", s.Dir+"/src/a.lua"), 1)
		p.EndTurn(turn)
		p.Silent()
	}, scene.Wide)
}

// A rule gives the answer that holds for now; without an answer of its kind it asks.
func TestRulesChooseTheOption(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.SetRules(`{ { command = 'no **', action = 'reject' }, { action = 'allow' } }`)
		p := s.Begin()
		s.Prompt(p, "do it")
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
			id := p.Permission(scene.CommandCall(fmt.Sprint("c", i), c.command), c.options...)
			check.Equal(t, scene.Outcome(t, p.Answer(id)), c.want, "%v was answered %s", c)
			s.CheckResolved(c.want, "rule")
		}
		for i, options := range [][]obj{
			{},
			{option("no", "reject_once")},
			{option("what", "perhaps")},
			{option("same", "allow_once"), option("same", "reject_once")},
		} {
			id := p.Permission(scene.CommandCall(fmt.Sprint("d", i), "yes"), options...)
			s.AwaitScreen("offers no such answer")
			if p.Answered(id) {
				t.Errorf("%v is answered", options)
			}
			p.Notify("$/cancel_request", obj{"requestId": id})
			p.Answer(id)
			s.AwaitNoFloat()
		}
	}, scene.Wide)
}

func TestPrivateFilesAreAlwaysAsked(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.SetRules(`{ { action = 'allow' } }`)
		p := s.Begin()
		s.Prompt(p, "do it")
		s.CheckDecision(p, scene.EditCall("e1", s.Dir+"/a"), "yes")
		asked(s, p, scene.EditCall("e2", s.Dir+"/a/.env"), 2)
		asked(s, p, scene.EditCall("e3", s.Dir+"/a/.env"), 2)
		asked(s, p, scene.CommandCall("c1", "cat .git/config"), 2)
		must.Do(t, os.Symlink(s.Dir+"/.env", s.Dir+"/harmless"))
		asked(s, p, scene.EditCall("e4", s.Dir+"/harmless"), 3)
	}, scene.Wide)
}

// answersFile is where the answers are kept.
func answersFile(s *scene.Scene) string {
	s.T.Helper()
	return s.LuaString(`vim.fs.joinpath(vim.fn.stdpath('data'), 'acp', 'permissions.json')`)
}

func TestRulesWithMistakes(t *testing.T) {
	for _, c := range []struct{ name, rules, says string }{
		{"no rule", `{ 'git **' }`, `permissions[1]: expected a rule, got "git **"`},
		{"an action", `{ { action = 'allow' }, { command = 'a', action = 'permit' } }`, `permissions[2].action: expected 'allow', 'reject' or 'ask', got "permit"`},
		{"no action", `{ { command = 'a' } }`, `permissions[1].action: expected 'allow', 'reject' or 'ask', got nil`},
		{"a field", `{ { comand = 'a', action = 'reject' }, { action = 'allow' } }`, `permissions[1].comand: no such field`},
		{"a value", `{ { kind = 7, action = 'reject' }, { action = 'allow' } }`, `permissions[1].kind: expected a string or a list of strings, got 7`},
		{"a glob", `{ { path = 'a[', action = 'reject' }, { action = 'allow' } }`, `permissions[1].path "a[": it is not a glob`},
		{"a pattern", `{ { command = 'a && b', action = 'reject' }, { action = 'allow' } }`, `permissions[1].command "a && b": it has more than one command`},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.RecordNotifications()
				s.SetRules(c.rules)
				p := s.Begin()
				s.Prompt(p, "do it")
				asked(s, p, scene.CommandCall("c1", "ls"), 1)
				check.Contains(t, s.Notifications(), c.says, "the messages are\n%s")
			}, scene.Wide)
		})
	}
}
