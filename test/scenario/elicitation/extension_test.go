package elicitation

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Cursor asks by a method of its own, and is answered in its own way.
func TestCursorsQuestions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "plan it")
		p.ToolCall("c", "think", nil)
		options := []obj{{"id": "a", "label": "Postgres"}, {"id": "b", "label": "SQLite"}}
		question := obj{"id": "q", "prompt": "Which database?", "options": options}
		ask := func(questions ...obj) int {
			return p.Call("cursor/ask_question", obj{"toolCallId": "c", "title": "Storage", "questions": questions})
		}

		id := ask(question)
		s.AwaitFloat()
		s.GoldenScreen("one")
		s.Command("Acp permit 2")
		wantAnswer(t, p, id, `{"outcome":{"answers":[{"questionId":"q","selectedOptionIds":["b"]}],"outcome":"answered"}}`)
		s.AwaitChat("SQLite")

		id = ask(question, obj{"id": "r", "prompt": "Where?", "allowMultiple": true, "options": options})
		s.AwaitLua(`#require('acp').elicitations() == 1`)
		s.OK(`require('acp').answer(require('acp').elicitations()[1].id, { action = 'accept', content = { q = 'a', r = { 'a', 'b' } } })`)
		wantAnswer(t, p, id, `{"outcome":{"answers":[{"questionId":"q","selectedOptionIds":["a"]},{"questionId":"r","selectedOptionIds":["a","b"]}],"outcome":"answered"}}`)

		for action, want := range map[string]string{"decline": "skipped", "cancel": "cancelled"} {
			s.AwaitLua(`#require('acp').elicitations() == 0`)
			id = ask(question)
			s.AwaitLua(`#require('acp').elicitations() == 1`)
			s.OK(`require('acp').answer(require('acp').elicitations()[1].id, { action = ... })`, action)
			wantAnswer(t, p, id, `{"outcome":{"outcome":"`+want+`"}}`)
		}
		p.AnswersError(ask(), acp.CodeInvalidParams, "asks nothing")
		p.EndTurn(turn)
	})
}

// A plan of Cursor's is shown before the user is asked whether it is to be carried out.
func TestCursorsPlan(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "plan it")
		for _, c := range []struct{ command, want string }{{"Acp permit 1", "accepted"}, {"Acp permit 2", "rejected"}, {"Acp permit 3", "rejected"}} {
			id := p.Call("cursor/create_plan", obj{
				"toolCallId": "c", "name": "Split the parser", "plan": "# The plan\n\nFirst the " + c.command + ".",
				"todos": []obj{{"id": "1", "content": "read it", "status": "in_progress"}},
			})
			s.AwaitFloat()
			s.AwaitChat("First the " + c.command + ".")
			s.AwaitChat("read it")
			s.Command(c.command)
			wantAnswer(t, p, id, `{"outcome":{"outcome":"`+c.want+`"}}`)
			s.AwaitNoFloat()
		}
		p.EndTurn(turn)
	})
}

// Qwen puts its questions beside a permission request, and takes the answers beside the option that allows.
func TestQwensQuestions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "ask me")
		ask := func() int {
			return p.Permission(obj{
				"toolCallId": "c", "title": "Ask user 1 question", "kind": "think", "status": "pending",
				"_meta": obj{"qwenInteractionKind": "user_question", "qwenQuestions": []obj{{
					"question": "Which colour?", "header": "Colour",
					"options": []obj{{"label": "blue", "description": "calm"}, {"label": "red", "description": "loud"}},
				}}},
			}, obj{"optionId": "once", "name": "Submit", "kind": "allow_once"}, obj{"optionId": "no", "name": "Cancel", "kind": "reject_once"})
		}
		id := ask()
		s.AwaitFloat()
		s.GoldenScreen("qwen")
		s.Command("Acp permit 2")
		wantAnswer(t, p, id, `{"answers":{"0":"red"},"outcome":{"optionId":"once","outcome":"selected"}}`)
		for answer, want := range map[string]string{
			`{ action = 'accept', content = { ['0 other'] = 'green' } }`: `{"answers":{"0":"green"},"outcome":{"optionId":"once","outcome":"selected"}}`,
			`{ action = 'decline' }`:                                     `{"outcome":{"optionId":"no","outcome":"selected"}}`,
			`{ action = 'cancel' }`:                                      `{"outcome":{"outcome":"cancelled"}}`,
		} {
			s.AwaitLua(`#require('acp').elicitations() == 0`)
			id = ask()
			s.AwaitLua(`#require('acp').elicitations() == 1`)
			s.OK(`require('acp').answer(require('acp').elicitations()[1].id, ` + answer + `)`)
			wantAnswer(t, p, id, want)
		}
		p.EndTurn(turn)
	})
}

// The user's own functions answer requests of methods that nobody else knows, and of no others.
func TestRequestsOfTheUsersOwn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').on_request('_my/echo', function(params, respond)
			_G.respond = respond
			if params.wrong then error('no idea') end
			respond({ got = params.text, list = { 1, 2 } })
			respond('twice')
		end)`)
		p := s.Begin()
		turn := s.Prompt(p, "sing")
		wantAnswer(t, p, p.Call("_my/echo", obj{"text": "hello"}), `{"got":"hello","list":[1,2]}`)
		p.AnswersError(p.Call("_my/echo", obj{"wrong": true}), acp.CodeInternalError, "no idea")
		s.AwaitMessage("no idea")
		p.AnswersError(p.Call("_my/other", obj{}), acp.CodeMethodNotFound, "_my/other")

		s.OK(`require('acp').on_request('_my/slow', function(_, respond) _G.respond = respond end)`)
		s.Sync() // the host has heard it
		id := p.Call("_my/slow", obj{})
		s.AwaitLua(`_G.respond ~= nil`)
		p.Notify("$/cancel_request", obj{"requestId": id})
		p.AnswersError(id, acp.CodeRequestCancelled)
		s.Lua(nil, `_G.respond(nil, 'too late')`)

		s.OK(`require('acp').on_request('_my/slow')`)
		s.Sync()
		p.AnswersError(p.Call("_my/slow", obj{}), acp.CodeMethodNotFound)
		if err := s.Refused(`require('acp').on_request(7)`); err == "" {
			t.Error("a number is taken for a method")
		}
		p.EndTurn(turn)
	})
}
