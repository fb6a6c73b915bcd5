package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestUnknownIdsAreAnErrorAndNothingThrows(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for _, lua := range []string{
			`prompt('x')`, `cancel()`, `close()`, `tool_calls()`, `new({ agent = 'nobody' })`,
		} {
			s.Refused(`require('acp').` + lua)
		}
		p := s.Begin()
		// What is not delivered yet says so the same way.
		for _, lua := range []string{
			`prompt('x', { session = 99 })`, `cancel({ session = 99 })`, `close({ session = 99 })`,
			`restart({ session = 99 })`, `tool_calls(99)`, `tool_call(99, 'x', print)`, `respond(99, 'yes')`, `respond(99)`,
			`traffic({ session = 99 }, print)`, `answer(99, { action = 'cancel' })`, `options(99)`,
			`set_option(99, 'mode', 'x')`, `stored('nobody', print)`, `resume({ agent = 'nobody', agent_session_id = 'x' })`,
			`authenticate(99, 'x')`, `changes({ session = 99 })`, `keep({ session = 99 })`, `reject({ session = 99 })`,
			`undo_turn({ session = 99 })`, `terminals({ session = 99 })`,
		} {
			s.Refused(`require('acp').` + lua)
		}
		for _, lua := range []string{`elicitations()`, `on_request('_x/y', print)`} {
			s.Lua(nil, `require('acp').`+lua)
		}
		s.Lua(nil, `require('acp').tool_call(1, 'nothing', function(call, err) _G.answer = { call == nil, type(err) } end)`)
		s.AwaitLua(`_G.answer and _G.answer[1] and _G.answer[2] == 'string'`)
		p.Silent()
	})
}

func TestCommandsOfTheContract(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		var offered []string
		s.Lua(&offered, `vim.fn.getcompletion('Acp ', 'cmdline')`)
		for _, name := range strings.Fields(`new toggle prompt add cancel follow review undo permit permissions sessions
			resume close delete mode model config auth logout queue terminal diff export restart log traffic build health`) {
			if !slices.Contains(offered, name) {
				t.Errorf(":Acp %s is not offered", name)
			}
		}
		// Without a session, and where not delivered yet, each says so in a message.
		for i, name := range strings.Fields(`cancel review undo permit permissions sessions close delete mode model config
			auth logout queue terminal diff export restart log traffic nonsense`) {
			s.Command("Acp " + name)
			s.Await("a message of :Acp "+name, func() bool { return s.LuaInt(`#_G.notifications`) == i+1 })
		}
		if said := s.Notifications(); strings.Count(said, "acp: ") != s.LuaInt(`#_G.notifications`) {
			t.Errorf("the messages are\n%s", said)
		}
	})
}

func TestEachWordOfACommandCompletesWhatComesNext(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("traffic/some file.json", "other.txt")
		for line, want := range map[string]string{
			"review ":          "diff keep marks next previous reject send",
			"review m":         "marks",
			"review marks ":    "on off",
			"review marks of":  "off",
			"review marks on ": "",
			"review keep ":     "",
			"follow ":          "on off",
			"follow on ":       "",
			"changes all ":     "",
			"nothing ":         "",
			"rev":              "review",
			"traffic tr":       "traffic/",
			"traffic traffic/": "traffic/some",
			"traffic o":        "other.txt",
		} {
			got := s.LuaString(`table.concat(vim.fn.getcompletion('Acp ' .. ..., 'cmdline'), ' ')`, line)
			check.Equal(t, got, want, ":Acp %s offers %q", line)
		}
		const inside = `table.concat(require('acp.command').complete('', 'Acp review  marks x', 18), ' ')`
		check.Equal(t, s.LuaString(inside), "on off", "before the end of a line there is %q")
	})
}
