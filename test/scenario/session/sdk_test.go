package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/need"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// sdkAgent configures an agent on version 2 of the official SDK, in a process of its own; see testdata/sdk2.mjs.
func sdkAgent(s *scene.Scene, env string) {
	s.T.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "sdk2.mjs"))
	must.Do(s.T, err)
	if _, err := os.Stat(filepath.Join("..", "..", "..", "node_modules", "@agentclientprotocol", "sdk")); err != nil {
		need.Missing(s.T, "this test needs the protocol's SDK: npm ci")
	}
	s.Configure(`c.agent = 'sdk'
		c.agents.sdk = { title = 'SDK', command = { 'node', '` + script + `' }, protocol = 2, env = { ` + env + ` } }`)
}

// The official SDK's agent is gone through all of a session's life with: whatever it is sent must be valid to it.
func TestSDKAgentInProtocol2(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		sdkAgent(s, "")
		turn := func(words, reason string) {
			t.Helper()
			s.OK(`require('acp').prompt(...)`, words)
			s.AwaitTurnEnd(reason)
		}
		s.Command("Acp")
		s.AwaitEvent("AcpSessionReady")
		if got := s.Session(); got["protocol"] != 2 || got["agent_session_id"] != "new-1" {
			t.Fatalf("the session is %v", got)
		}
		turn("hello", "end_turn")
		s.OnceInChat("I have heard: hello")

		for _, answer := range []string{"allow", "reject"} {
			s.OK(`require('acp').prompt('allow it')`)
			s.AwaitFloat()
			s.AwaitState("requires_action")
			s.Command("Acp " + answer)
			s.AwaitTurnEnd("end_turn")
		}
		s.OnceInChat("You said y.", "You said n.")

		s.OK(`require('acp').prompt('form')`)
		s.AwaitLua(`#require('acp').elicitations() == 1`)
		s.OK(`require('acp').answer(require('acp').elicitations()[1].id, { action = 'accept', content = { branch = 'next' } })`)
		s.AwaitTurnEnd("end_turn")
		s.OnceInChat("The branch is next.")

		turn("shell", "end_turn")
		s.OnceInChat("built well")
		turn("fail", "error")
		s.AwaitChat("out of paper")

		// A cancel ends what runs, also while it asks.
		s.OK(`require('acp').prompt('slow')`)
		s.AwaitChat("Until you stop me.")
		s.Command("Acp cancel")
		s.AwaitTurnEnd("cancelled")
		s.OK(`require('acp').prompt('allow it')`)
		s.AwaitFloat()
		s.Command("Acp cancel")
		s.AwaitTurnEnd("cancelled")

		s.OK(`require('acp').set_option(nil, 'mode', 'auto')`)
		s.AwaitLua(`require('acp').sessions()[1].mode.id == 'auto'`)
		s.GoldenScreen("sdk")

		// Closed, it can be taken up again: from our own transcript, as the agent has nothing more to tell.
		before := s.Chat()
		s.Command("Acp close")
		s.AwaitLua(`#require('acp').sessions() == 0`)
		s.OK(`require('acp').resume({ agent = 'sdk', agent_session_id = 'new-1' })`)
		s.AwaitEvent("AcpSessionReady")
		for line := range strings.Lines(before) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "You said") && !strings.Contains(s.Chat(), line) {
				t.Errorf("%q is not there any more:\n%s", line, s.Chat())
			}
		}
		turn("still there?", "end_turn")
		s.OnceInChat("I have heard: still there?", "I have heard: hello", "You said y.")

		// What another client had is told by the agent.
		s.Lua(nil, `require('acp').stored('sdk', function(list) _G.stored = list end)`)
		s.AwaitLua(`_G.stored ~= nil and #_G.stored >= 2`)
		s.OK(`require('acp').resume({ agent = 'sdk', agent_session_id = 'old' })`)
		s.AwaitEvent("AcpSessionReady")
		s.OnceInChat("Asked long ago.", "Looked it up", "Answered long ago.")
		turn("and now?", "end_turn")
		s.Command("Acp close")
		s.AwaitLua(`#require('acp').sessions() == 1`)
		s.Lua(nil, `require('acp').delete({ agent = 'sdk', agent_session_id = 'old' }, function(ok, err) _G.deleted = ok and 'done' or err end)`)
		s.AwaitLua(`_G.deleted == 'done'`)
	})
}

func TestSDKAgentInProtocol2LogsIn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		sdkAgent(s, "SDK_LOGIN = '1'")
		s.Command("Acp")
		s.AwaitState("auth_required")
		s.Command("Acp auth token")
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').prompt('hello')`)
		s.AwaitTurnEnd("end_turn")
		s.OnceInChat("I have heard: hello")
		s.Command("Acp logout")
		s.AwaitChat("You are logged out.")
	})
}
