package session

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

var (
	generated = flag.Int("generated", 400, "messages made from the schema, for each version of the protocol on each Neovim")
	seed      = flag.Uint64("seed", 1, "of the generated messages")
)

// Whatever of the schema an agent sends in a running session, valid or damaged: nothing breaks, each request is answered
// once and validly (the end of the test checks what the client has sent), and the session works on.
func TestGeneratedMessages(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) { hearGenerated(t, s, version) })
		})
	}
}

func hearGenerated(t *testing.T, s *scene.Scene, version int) {
	v := schema.Drafts(t) // which has what is stable too
	if version == 2 {
		v = schema.DraftsV2(t)
	}
	r := rand.New(rand.NewPCG(*seed, uint64(version)))
	in := func(name string) any { return filepath.Join(s.Dir, name) }
	g := &schema.Generator{V: v, Rand: r, Pools: map[string][]any{
		"sessionId": {"s-1", "s-1", "s-1", "s-1", "k", "l", "s-9"}, "toolCallId": {"c1", "c2", "c3"}, "messageId": {"m1", "m2", "m3"},
		"terminalId": {"term-1", "term-2", "t"}, "elicitationId": {"e1", "e2"}, "planId": {"p", "q"}, "compactionId": {"k"},
		"path": {in("a.txt"), in("sub/b.txt"), in("c d.txt"), "/nowhere/e.txt"}, "oldPath": {in("a.txt"), "/nowhere/f.txt"},
		"cwd": {s.Dir, "/nowhere"}, "command": {"true"}, "args": {[]any{}, []any{"x"}}, "env": {[]any{}},
		"code": {-32603, 7}, // none that asks the user to log in
	}}
	must := func(method, kind string, side schema.Side) obj {
		made, ok := g.Message(method, kind, side)
		if !ok {
			t.Fatalf("no %s of %s is made", kind, method)
		}
		return made.(obj)
	}

	s.RecordNotifications()
	s.Configure(fmt.Sprintf(`c.agents.puppet.protocol = %d`, version))
	s.Command("Acp")
	p := s.Agent()
	p.Protocol = version
	welcome := must("initialize", schema.Response, schema.Agent)
	welcome["protocolVersion"] = version
	p.Reply(p.Expect("initialize"), welcome)
	opened := must("session/new", schema.Response, schema.Agent)
	opened["sessionId"] = scene.SessionID(1)
	p.Reply(p.ExpectLater("session/new"), opened)
	s.AwaitEvent("AcpSessionReady")
	s.OK(`require('acp').prompt('go')`)
	turn := p.ExpectLater("session/prompt")
	if version == 2 {
		p.Reply(turn, obj{"messageId": "prompt"})
		p.Update("state_update", obj{"state": "running"})
	}

	requests, notifications := v.Methods(schema.Request, schema.Client), v.Methods(schema.Notification, schema.Client)
	asked := map[string]string{} // by id
	for range *generated {
		if r.IntN(3) == 0 {
			method := requests[r.IntN(len(requests))]
			var params any = must(method, schema.Request, schema.Client)
			if r.IntN(2) == 0 {
				params = g.Damaged(params, "command", "args", "env")
			}
			if r.IntN(30) == 0 {
				method = "session/" + method // there is none of that name
			}
			id := p.Call(method, params)
			asked[fmt.Sprint(id)] = fmt.Sprint(method, " ", params)
			if r.IntN(10) == 0 {
				p.Notify("$/cancel_request", obj{"requestId": 1 + r.IntN(id)})
			}
			continue
		}
		method := "session/update" // mostly
		if r.IntN(30) == 0 {
			method = notifications[r.IntN(len(notifications))]
		}
		var params any = must(method, schema.Notification, schema.Client)
		if r.IntN(2) == 0 {
			params = g.Damaged(params)
		}
		p.Notify(method, params)
	}

	answers := func() map[string]int {
		count := map[string]int{}
		list, _ := p.AnswersUntilNow()
		for _, m := range list {
			count[string(m.ID)]++
		}
		return count
	}
	s.Await("all requests to be answered", func() bool {
		s.Lua(nil, `local acp, n = require('acp'), ...
			for _, p in ipairs(acp.permissions()) do
				local option = p.options[n % (#p.options + 1)]
				acp.respond(p.id, option and option.id)
			end
			for _, e in ipairs(acp.elicitations()) do
				acp.answer(e.id, { action = n % 2 == 0 and 'decline' or 'cancel' })
			end`, r.IntN(9))
		return len(answers()) == len(asked)
	})
	if version == 2 {
		p.Update("state_update", obj{"state": "idle", "stopReason": "end_turn", "background": []obj{}})
	} else {
		p.Stop(turn, "end_turn")
	}
	s.AwaitState("idle")

	s.OK(`require('acp').prompt('Are you well?')`)
	turn = p.ExpectLater("session/prompt")
	if version == 2 {
		p.Reply(turn, obj{"messageId": "second"})
		p.Update("state_update", obj{"state": "running"})
	}
	p.Update("agent_message_chunk", obj{"messageId": "last", "content": obj{"type": "text", "text": "I am well."}})
	if version == 2 {
		p.Update("state_update", obj{"state": "idle", "stopReason": "end_turn"})
	} else {
		p.Stop(turn, "end_turn")
	}
	s.AwaitChat("I am well.")
	s.AwaitState("idle")
	for id, n := range answers() {
		check.Equal(t, n, 1, "%s was answered %d times", asked[id])
	}
	for line := range strings.Lines(s.Chat()) {
		if strings.Contains(line, `{"`) || strings.Contains(line, "sessionUpdate") {
			t.Errorf("raw JSON in the chat: %s", line)
		}
	}
}
