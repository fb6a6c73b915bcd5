package editortools

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Two agents that call tools at the same moments, in one folder and in two, are answered each for itself: in its session and
// folder, with its own questions, whatever ids they give. The end of one leaves the other alone.
func TestTwoAgents(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "here\n")
		s.WriteFile(".env", "KEY=here\n")
		elsewhere := filepath.Dir(s.WriteOutside("elsewhere/a.txt", "elsewhere\n"))
		stage := s.AddAgent("other")
		p, e := begin(t, s, `{ tools = 'read' }`)
		s.Prompt(p, "One")
		s.Lua(nil, `require('acp').new({ agent = 'other', cwd = vim.fn.getcwd() })`)
		o := s.AgentOf(stage)
		o.Initialize(nil)
		oe := opened(t, s, o, 1) // the ids of its sessions are as those of the other agent
		if e.Env[1].Value == oe.Env[1].Value {
			t.Fatal("both agents have one token")
		}
		s.OK(`require('acp').prompt('Two', { session = 2 })`)
		o.PromptedWith("Two")
		c, oc := connect(t, e), connect(t, oe)

		// Both have a call of this id, and one of them has it open.
		p.ToolCall("toolu_1", "other", obj{"title": "mcp__nvim__read_buffer"})
		ids := obj{"claudecode/toolUseId": "toolu_1", "sessionId": scene.SessionID(1)}
		secret := obj{"path": ".env"}
		mine, theirs := start(t.Context(), c, "read_buffer", secret, ids), start(t.Context(), oc, "read_buffer", secret, ids)
		s.AwaitPermissions(2)
		s.OK(`(function()
			for _, p in ipairs(require('acp').permissions()) do
				assert(require('acp').respond(p.id, p.session == 1 and 'allow' or 'reject'))
			end
			return true
		end)()`)
		if a := <-mine; a.failed || !strings.Contains(a.text, "KEY=here") {
			t.Errorf("the one that may read it gets %+v", a)
		}
		fails(t, <-theirs, "did not allow")
		s.AwaitPermissions(0)

		s.Lua(nil, `require('acp').new({ agent = 'other', cwd = ... })`, elsewhere)
		o3 := s.AgentOf(stage) // in another folder it is another process
		o3.Initialize(nil)
		e3 := opened(t, s, o3, 1)
		e3.dir = elsewhere
		s.OK(`require('acp').prompt('Three', { session = 3 })`)
		o3.PromptedWith("Three")
		c3 := connect(t, e3)
		var all []<-chan answer
		for range 10 {
			all = append(all, start(t.Context(), c, "read_buffer", obj{"path": "a.txt"}, ids),
				start(t.Context(), oc, "read_buffer", obj{"path": "a.txt"}, obj{"sessionId": scene.SessionID(1)}),
				start(t.Context(), c3, "read_buffer", obj{"path": "a.txt"}, nil))
		}
		for i, got := range all {
			if a, want := <-got, []string{"here", "here", "elsewhere"}[i%3]; a.failed || a.text != fmt.Sprintf("lines 1 to 1 of 1:\n%s\n", want) {
				t.Errorf("call %d gets %+v, not %s", i, a, want)
			}
		}
		s.Lua(nil, `require('acp').new({ agent = 'other', cwd = vim.fn.getcwd() })`)
		opened(t, s, o, 2)
		s.OK(`require('acp').prompt('Four', { session = 4 })`)
		o.PromptedWith("Four")
		// Of another agent's call nobody knows here which of two sessions it is for.
		fails(t, <-start(t.Context(), oc, "read_buffer", obj{"path": "a.txt"}, obj{"claudecode/toolUseId": "toolu_1"}), "several sessions")

		gone, waits := start(t.Context(), c, "read_buffer", secret, nil), start(t.Context(), oc, "read_buffer", secret, obj{"sessionId": scene.SessionID(1)})
		s.AwaitPermissions(2)
		p.Exit(1, "")
		if a := <-gone; !a.failed {
			t.Errorf("the one that has ended gets %+v", a)
		}
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if a := <-waits; a.failed || !strings.Contains(a.text, "KEY=here") {
			t.Errorf("the other one gets %+v", a)
		}
		says(t, c3, "open_files", nil, "no files are open")
	})
}
