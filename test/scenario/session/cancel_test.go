package session

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestControlRequestsAreGivenUp(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.OK(`require('acp').prompt('kept', { session = require('acp').new() })`)
		p := s.Agent()
		p.Initialize(nil)
		begin := p.Expect("session/new")
		s.Command("Acp cancel")
		cancel := p.Expect("$/cancel_request")
		check.Equal(t, fmt.Sprint(cancel.Get("requestId")), string(begin.ID), "cancelled %s")
		s.AwaitState("dead")
		s.AwaitChat("session/new was cancelled. :Acp restart tries again.")
		p.AwaitEnd()
		s.Command("Acp restart")
		p = s.Agent()
		p.Initialize(nil)
		p.Reply(p.Expect("session/new"), obj{"sessionId": scene.SessionID(1), "modes": obj{
			"currentModeId": "ask", "availableModes": []any{obj{"id": "ask", "name": "Ask"}, obj{"id": "code", "name": "Code"}},
		}})
		p.PlayTurn("kept")
		s.OK(`require('acp').set_option(nil, 'mode', 'code')`)
		set := p.Expect("session/set_mode")
		s.Command("Acp cancel")
		check.Equal(t, fmt.Sprint(p.Expect("$/cancel_request").Get("requestId")), string(set.ID), "cancelled %s")
		s.AwaitNotification("it was cancelled")
		p.Refuse(set, -32800, "Request cancelled", nil)
		p.EndTurn(s.Prompt(p, "go on"))
		check.Deep(t, s.Session()["mode"], obj{"id": "ask", "name": "Ask"}, "the mode is %v")
	})
}

func TestSessionMadeTooLateIsClosed(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin() // keeps the process alive
		s.OK(`require('acp').new()`)
		begin := p.Expect("session/new")
		s.OK(`require('acp').cancel({ session = 2 })`)
		p.Expect("$/cancel_request")
		p.Reply(begin, obj{"sessionId": scene.SessionID(2)})
		if m := p.Expect("session/close"); m.Text("sessionId") != scene.SessionID(2) {
			t.Errorf("closed %s", m)
		}
	})
}
