package prompt

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestSteering(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "alpha\n")
		s.RecordNotifications()
		p := s.BeginWith(steerable)
		if s.Session()["steers"] != true {
			t.Errorf("the session is %v", s.Session())
		}
		turn := s.Prompt(p, "count")
		p.Say("One.\n")
		s.AwaitChat("One.")
		s.Command("Acp steer backwards, see @a.txt")
		m := p.Expect("_session/steering")
		want := obj{
			"sessionId": scene.SessionID(1), "_meta": obj{"steering": obj{"idleBehavior": "promptRequired"}},
			"prompt": []any{
				obj{"type": "text", "text": "backwards, see @a.txt"},
				obj{"type": "resource_link", "uri": "file://" + path, "name": "a.txt"},
			},
		}
		check.Deep(t, m.Get(), want, "asked was %v")
		p.Reply(m, obj{"outcome": "injected"})
		p.Update("user_message_chunk", obj{"content": obj{"type": "text", "text": "backwards, see @a.txt"}})
		p.Say("Zero.\n")
		s.AwaitChat("Zero.")
		s.GoldenScreen("steered")
		s.AwaitQueue()

		// What the agent does not take waits for the end of the turn.
		for _, outcome := range []string{"promptRequired", "failed"} {
			s.OK(`require('acp').steer(...)`, outcome)
			p.Reply(p.Expect("_session/steering"), obj{"outcome": outcome})
			s.AwaitNotification("your words are queued: Puppet did not take them")
		}
		s.AwaitQueue("promptRequired", "failed")
		s.OK(`require('acp').steer({ { type = 'text', text = 'error' } }, { session = 1 })`)
		p.Refuse(p.Expect("_session/steering"), -32603, "no", nil)
		s.AwaitQueue("promptRequired", "failed", "error")
		p.EndTurn(turn)
		for _, text := range []string{"promptRequired", "failed", "error"} {
			p.PlayTurn(text)
		}

		// Without a turn it is a prompt.
		s.OK(`require('acp').steer('idle')`)
		p.PlayTurn("idle")
		s.OnceInChat("backwards, see")
		check.Contains(t, s.Refused(`require('acp').steer({ 'x' })`), "content block", "told %q")
	})
}

func TestSteeringWhereTheAgentCannot(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		turn := s.Prompt(p, "count")
		s.Command("Acp steer backwards")
		s.AwaitQueue("backwards")
		s.AwaitNotification("your words are queued: Puppet cannot be steered")
		p.Silent()
		p.EndTurn(turn)
		p.PlayTurn("backwards")
	})
}

// Words on their way to an agent that dies are kept.
func TestSteeringAnAgentThatDies(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.BeginWith(steerable)
		s.Prompt(p, "count")
		s.OK(`require('acp').steer('backwards')`)
		p.Expect("_session/steering")
		p.Exit(1, "")
		s.AwaitState("dead")
		s.AwaitQueue("backwards")
		p = s.Restart()
		p.Begin()
		p.PlayTurn("backwards")
	})
}
