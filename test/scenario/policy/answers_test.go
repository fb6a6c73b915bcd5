package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestLastingAnswers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.SetRules(`{ { kind = 'think', action = 'ask' } }`)
		p := s.Begin()
		s.Prompt(p, "do it")
		asked(s, p, scene.CommandCall("c1", "make test"), 2)
		s.CheckDecision(p, scene.CommandCall("c2", "make test"), "always")
		s.AwaitChat("\n    :Acp permissions revokes that.") // no window breaks the command's name
		asked(s, p, scene.CommandCall("c3", "make test "), 1)
		asked(s, p, scene.EditCall("e1", s.Dir+"/a.lua"), 2)
		s.CheckDecision(p, scene.EditCall("e2", s.Dir+"/a.lua"), "always")
		asked(s, p, scene.EditCall("e2b", s.Dir+"/b/c.lua"), 1)
		asked(s, p, scene.EditCall("e3", "/elsewhere.lua"), 1)
		never := append([]obj{{"optionId": "never", "name": "Never", "kind": "reject_always"}}, scene.YesNo...)
		id := p.Permission(obj{"toolCallId": "m1", "title": "Look it up", "rawInput": obj{"q": "x", "n": 1}}, never...)
		s.AwaitFloat()
		s.Command("Acp permit 4")
		p.Answer(id)
		s.CheckResolved("never", "user")
		s.AwaitNoFloat()
		id = p.Permission(obj{"toolCallId": "m2", "title": "Look it up", "rawInput": obj{"n": 1, "q": "x"}}, never[:1]...)
		check.Equal(t, scene.Outcome(t, p.Answer(id)), "never", "answered %s")
		s.CheckResolved("never", "rule")

		// An answer whose words say so holds for its session.
		words := []obj{{"optionId": "s", "name": "Yes, during this session", "kind": "allow_always"}, scene.YesNo[2]}
		id = p.Permission(scene.CommandCall("s1", "make lint"), words...)
		s.AwaitFloat()
		s.Command("Acp permit 1")
		p.Answer(id)
		s.CheckResolved("s", "user")
		s.AwaitNoFloat()
		id = p.Permission(scene.CommandCall("s2", "make lint"), words...)
		check.Equal(t, scene.Outcome(t, p.Answer(id)), "s", "answered %s")
		s.CheckResolved("s", "rule")
		text, err := os.ReadFile(answersFile(s))
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
		s.AwaitMessage("no answer on this line")
		s.Keys("q")
		s.AwaitLua(`vim.bo.filetype ~= 'acp-permissions'`)
		asked(s, p, scene.CommandCall("c4", "make test"), 1)
		s.CheckDecision(p, scene.EditCall("e4", s.Dir+"/a.lua"), "always")
	}, scene.Wide)
}

func TestAnswersInABrokenFile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		file := answersFile(s)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(`{"version":1,"answers":[`), 0o600))
		s.RecordNotifications()
		p := s.Begin()
		s.Command("Acp permissions")
		s.AwaitNotification("acp: the file of your lasting answers is broken; :Acp log says more")
		must.Do(t, os.WriteFile(file, []byte("nonsense"), 0o600))
		s.Prompt(p, "do it")
		asked(s, p, scene.CommandCall("c1", "make test"), 2)
		s.AwaitChat("was unreadable and is kept as")
		aside, _ := filepath.Glob(file + ".unreadable-*")
		if len(aside) != 2 {
			t.Errorf("set aside are %v", aside)
		}
		s.CheckDecision(p, scene.CommandCall("c2", "make test"), "always")
	}, scene.Wide)
}
