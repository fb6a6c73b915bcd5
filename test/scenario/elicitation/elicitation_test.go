package elicitation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// branch is a question with one choice.
var branch = obj{"type": "object", "properties": obj{"branch": obj{
	"type": "string", "title": "Branch", "oneOf": []obj{
		{"const": "main", "title": "main", "description": "the release of Friday"},
		{"const": "next", "title": "next"},
	},
}}, "required": []string{"branch"}}

// ticket is a form of several fields.
var ticket = obj{"type": "object", "properties": obj{
	"project":  obj{"type": "string", "title": "Project", "maxLength": 10, "default": "parser"},
	"severity": obj{"type": "string", "enum": []string{"low", "high"}},
	"labels":   obj{"type": "array", "minItems": 1, "items": obj{"type": "string", "enum": []string{"bug", "docs"}}},
	"notify":   obj{"type": "boolean", "default": true},
}, "required": []string{"project", "severity"}}

// asks has the agent ask by a form.
func asks(p *scene.Puppet, message string, schema obj) (id int) {
	return p.Call("elicitation/create", obj{
		"sessionId": scene.SessionID(1), "mode": "form", "message": message, "requestedSchema": schema,
	})
}

func wantAnswer(t *testing.T, p *scene.Puppet, id int, want string) {
	t.Helper()
	m := p.Answer(id)
	if m.Error != nil {
		t.Fatalf("the answer is an error: %v", m.Error)
	}
	var got any
	must.Do(t, json.Unmarshal(m.Result, &got))
	if text, _ := json.Marshal(got); string(text) != want {
		t.Errorf("the answer is %s, wanted %s", text, want)
	}
}

// One choice is answered as a permission is: from anywhere, in the order asked, and the chat tells of it.
func TestAChoice(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "fix it")
		first := asks(p, "Which branch should the fix go to?", branch)
		second := p.Permission(scene.CommandCall("c", "make"), scene.YesNo...)
		s.AwaitFloat()
		s.AwaitLua(`#require('acp').permissions() == 1`)
		s.GoldenScreen("choice")
		check.Equal(t, s.LuaString(`require('acp').sessions()[1].state`), "requires_action", "the session is %s")
		s.Command("Acp permit 2")
		wantAnswer(t, p, first, `{"action":"accept","content":{"branch":"next"}}`)
		s.AwaitScreen("wants to run a command")
		s.Permit(p, second, 1, "yes")
		s.AwaitNoFloat()
		s.AwaitChat("asked: Which branch should the fix go to?")
		s.AwaitChat("You answered: next")

		third := asks(p, "And this?", branch)
		s.AwaitEvent("AcpElicitation")
		s.AwaitFloat()
		s.Command("Acp reject")
		wantAnswer(t, p, third, `{"action":"decline"}`)
		s.AwaitChat("You declined.")
		p.EndTurn(turn)
	})
}

// Several fields are a form in a buffer: what is wrong stands at its line, :w sends it, and what was typed stays.
func TestAForm(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "file it")
		id := asks(p, "Where should the ticket go?", ticket)
		s.AwaitFloat()
		s.Command("Acp permit 1")
		s.AwaitNoFloat()
		s.AwaitLua(`vim.bo.filetype == 'acp-form'`)
		s.GoldenScreen("form")
		s.Keys("u") // the form itself is no edit of the user's
		s.Keys("/parser<CR>A, and long<Esc>")
		s.Command("write")
		s.AwaitScreen("takes at most 10 characters")
		s.AwaitScreen("is required")
		s.GoldenScreen("faults")
		if p.Answered(id) {
			t.Fatal("a wrong answer is sent")
		}
		// It is closed and opened again, with what was typed.
		s.Command("close")
		s.Command("Acp permissions")
		s.AwaitFloat()
		s.Command("Acp permit 1")
		s.AwaitLua(`vim.bo.filetype == 'acp-form'`)
		if text := s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')`); !strings.Contains(text, "parser, and long") {
			t.Fatalf("the form has\n%s", text)
		}
		s.Keys("/parser<CR>C" + "lexer<Esc>")
		s.Keys("/high<CR><Space>/low<CR><Space>/high<CR><Space>")
		s.Keys("/docs<CR><Space>/notify<CR><Space>")
		s.Command("write")
		wantAnswer(t, p, id, `{"action":"accept","content":{"labels":["docs"],"notify":false,"project":"lexer","severity":"high"}}`)
		s.AwaitLua(`vim.bo.filetype ~= 'acp-form'`)
		s.AwaitChat("severity: high")
		p.EndTurn(turn)
		s.AwaitLua(`#vim.tbl_filter(function(b) return vim.bo[b].filetype == 'acp-form' end, vim.api.nvim_list_bufs()) == 0`)
	})
}

// q declines. A form that is withdrawn while the user writes leaves them their words.
func TestAFormIsLeft(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "file it")
		id := asks(p, "Where?", ticket)
		s.AwaitFloat()
		s.Command("Acp permit 1")
		s.AwaitLua(`vim.bo.filetype == 'acp-form'`)
		s.Keys("q")
		wantAnswer(t, p, id, `{"action":"decline"}`)
		s.AwaitLua(`vim.bo.filetype ~= 'acp-form'`)

		id = asks(p, "Where now?", ticket)
		s.AwaitFloat()
		s.Command("Acp permit 1")
		s.AwaitLua(`vim.bo.filetype == 'acp-form'`)
		s.Keys("/parser<CR>A, my words<Esc>")
		s.Command("Acp cancel")
		wantAnswer(t, p, id, `{"action":"cancel"}`)
		wantAnswer(t, p, asks(p, "And now?", ticket), `{"action":"cancel"}`) // the agent is still to end the turn
		p.Stop(turn, "cancelled")
		s.AwaitMessage("what you wrote was not sent")
		check.Contains(t, s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')`), "my words",
			"the words are gone: %s")
	})
}

// A page is opened only when the user says so, and its address is shown whole.
func TestAPage(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `_G.opened = {}
			vim.ui.open = function(url) table.insert(_G.opened, url) end`)
		p := s.Begin()
		turn := s.Prompt(p, "log in")
		ask := func(elicitation, url string) int {
			return p.Call("elicitation/create", obj{
				"sessionId": scene.SessionID(1), "mode": "url", "message": "Please authorize access.", "elicitationId": elicitation, "url": url,
			})
		}
		id := ask("e1", "https://user@xn--exmple-cua.com/connect?id=1")
		s.AwaitFloat()
		s.GoldenScreen("page")
		p.Notify("elicitation/complete", obj{"elicitationId": "unknown"})
		s.Sync()
		if s.LuaInt(`#_G.opened`) != 0 || p.Answered(id) {
			t.Fatal("it is opened, or answered, unasked")
		}
		s.Command("Acp permit 1")
		wantAnswer(t, p, id, `{"action":"accept"}`)
		s.AwaitLua(`_G.opened[1] == 'https://user@xn--exmple-cua.com/connect?id=1'`)
		p.Notify("elicitation/complete", obj{"elicitationId": "e1"})
		s.AwaitChat("is done")

		id = ask("e2", "https://example.com/")
		s.AwaitFloat()
		p.Notify("elicitation/complete", obj{"elicitationId": "e2"}) // done in another way
		wantAnswer(t, p, id, `{"action":"accept"}`)
		s.AwaitNoFloat()
		wantAnswer(t, p, ask("e3", "file:///etc/passwd"), `{"action":"decline"}`)
		s.AwaitChat(`begins with "file:"`)
		check.Equal(t, s.LuaInt(`#_G.opened`), 1, "%d pages are opened")
		p.EndTurn(turn)
	})
}

// The Lua API lists and answers questions; what is wrong is said, and leaves them open.
func TestElicitationsOfTheAPI(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "file it")
		id := asks(p, "Where?", ticket)
		s.AwaitLua(`#require('acp').elicitations() == 1`)
		s.AwaitLua(`(function()
			local e = require('acp').elicitations()[1]
			return e.mode == 'form' and e.message == 'Where?' and e.schema.properties.project.maxLength == 10 and e.session == 1
		end)()`)
		s.Lua(nil, `_G.id = require('acp').elicitations()[1].id`)
		for _, wrong := range []string{
			`require('acp').answer(_G.id + 1, { action = 'accept' })`, `require('acp').answer(_G.id, { action = 'dance' })`,
			`require('acp').answer(_G.id)`, `require('acp').answer(_G.id, { action = 'accept', content = 'x' })`,
		} {
			if err := s.Refused(wrong); err == "" {
				t.Errorf("%s is taken", wrong)
			}
		}
		s.OK(`require('acp').answer(_G.id, { action = 'accept', content = { project = 'lexer' } })`)
		s.AwaitMessage("severity is required")
		s.OK(`require('acp').answer(_G.id, { action = 'accept', content = { project = 'lexer', severity = 'low', notify = true } })`)
		wantAnswer(t, p, id, `{"action":"accept","content":{"notify":true,"project":"lexer","severity":"low"}}`)
		s.AwaitLua(`#require('acp').elicitations() == 0`)

		for action, want := range map[string]string{"decline": `{"action":"decline"}`, "cancel": `{"action":"cancel"}`} {
			id := asks(p, "Again?", ticket)
			s.AwaitLua(`#require('acp').elicitations() == 1`)
			s.OK(`require('acp').answer(require('acp').elicitations()[1].id, { action = ... })`, action)
			wantAnswer(t, p, id, want)
			s.AwaitLua(`#require('acp').elicitations() == 0`)
		}
		p.EndTurn(turn)
	})
}

// What this client cannot ask is refused with a sentence, and never drawn as something else.
func TestQuestionsOfUnknownKinds(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "sing")
		p.AnswersError(p.Call("elicitation/create", obj{"sessionId": scene.SessionID(1), "mode": "_sing", "message": "Sing!", "key": "C"}), acp.CodeInvalidParams, "_sing")
		s.AwaitChat("A question was declined")
		p.AnswersError(p.Call("elicitation/create", obj{"sessionId": scene.SessionID(1), "message": 7}), acp.CodeInvalidParams)
		id := asks(p, "What?", obj{"properties": obj{"a": obj{"type": "_colour"}}, "required": []string{"a"}})
		p.AnswersError(id, acp.CodeInvalidParams, `field "a"`)
		check.Equal(t, s.LuaInt(`#require('acp').elicitations()`), 0, "%d questions are open")
		p.EndTurn(turn)
	})
}

// However a question ends without the user, it is answered once and leaves no window.
func TestQuestionsThatEnd(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "ask")
		id := asks(p, "Which?", branch)
		s.AwaitFloat()
		p.Notify("$/cancel_request", obj{"requestId": id})
		p.AnswersError(id, acp.CodeRequestCancelled)
		s.AwaitNoFloat()
		id = asks(p, "Which?", branch)
		s.AwaitFloat()
		p.EndTurn(turn)
		wantAnswer(t, p, id, `{"action":"cancel"}`)
		s.AwaitNoFloat()

		s.Prompt(p, "again")
		id = asks(p, "Which?", branch)
		s.AwaitFloat()
		s.Command("Acp close")
		wantAnswer(t, p, id, `{"action":"cancel"}`)
		s.AwaitNoFloat()
	})
}

// An agent may ask while it logs in, before there is any session of its: the question belongs to the request, and stands
// in the session that waits for it.
func TestAQuestionOfALogin(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.Command("Acp auth browser")
		login := p.Expect("authenticate")
		id := p.Call("elicitation/create", obj{
			"requestId": login.ID, "mode": "form", "message": "Which account?", "requestedSchema": obj{
				"type": "object", "properties": obj{"account": obj{"type": "string", "enum": []string{"work", "home"}}}, "required": []string{"account"},
			},
		})
		s.AwaitFloat()
		s.AwaitLua(`require('acp').elicitations()[1].message == 'Which account?'`)
		s.Command("Acp permit 2")
		wantAnswer(t, p, id, `{"action":"accept","content":{"account":"home"}}`)
		s.AwaitNoFloat()
		p.Reply(login, obj{})
		p.NewSession(1)
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("Which account?")
	})
}
