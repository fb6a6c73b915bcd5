package session

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestCapabilities(t *testing.T) {
	for name, test := range map[string]struct {
		response string
		want     Info
	}{
		"none": {`{"protocolVersion": 1}`, Info{Protocol: 1}},
		"all": {`{"protocolVersion": 1, "agentCapabilities": {"loadSession": true, "auth": {"logout": {}, "status": {}}, "providers": {},
			"sessionCapabilities": {"resume": {}, "list": {}, "delete": {}, "fork": {}, "title": {}, "archive": {}, "status": {},
				"additionalDirectories": {}, "systemPrompt": {"mode": {"override": {}}}},
			"mcpCapabilities": {"http": true, "sse": true}, "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true}}}`,
			Info{
				Protocol: 1, Loads: true, Resumes: true, Lists: true, Deletes: true, LogsOut: true, TellsLogin: true, Providers: true,
				Forks: true, Titles: true, Archives: true, Statuses: true, Directories: true, SystemPrompt: true, OwnSystemPrompt: true,
				HTTPServers: true, SSEServers: true, Images: true, Audio: true, EmbeddedContext: true,
			}},
		"claude": {`{"protocolVersion": 1, "agentInfo": {"name": "@agentclientprotocol/claude-agent-acp", "version": "1"},
			"agentCapabilities": {"sessionCapabilities": {"fork": {}}}}`,
			Info{Protocol: 1, Name: "@agentclientprotocol/claude-agent-acp", Version: "1", Forks: true, ForksAfter: true, Instructions: true}},
		"steering":      {`{"protocolVersion": 1, "_meta": {"steering": {"supported": true}}}`, Info{Protocol: 1, Steers: true}},
		"odd steering":  {`{"protocolVersion": 1, "_meta": {"steering": "yes"}}`, Info{Protocol: 1}},
		"null is no":    {`{"protocolVersion": 1, "agentCapabilities": {"auth": {"logout": null}, "sessionCapabilities": {"list": null}}}`, Info{Protocol: 1}},
		"beside others": {`{"protocolVersion": 1, "agentCapabilities": {}, "sessionCapabilities": {"list": {}}}`, Info{Protocol: 1, Lists: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, nil, fakeagent.Expect("initialize"), fakeagent.Reply(test.response))
			test.want.StdioServers = true // each agent must
			if info, err := p.initialize(); err != nil || !reflect.DeepEqual(info, test.want) {
				t.Errorf("got %+v, %v", info, err)
			}
		})
	}
}

func TestAuthMethods(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion": 1, "authMethods": [
		{"id": "plain", "name": "Plain"},
		{"type": "terminal", "id": "cli", "name": "CLI", "args": ["login"], "env": {"A": "1"},
			"_meta": {"terminal-auth": {"command": "other"}}},
		{"id": "old", "name": "Old", "_meta": {"terminal-auth": {"command": "node", "args": ["cli.js", "/login"], "env": {"B": "2"}, "label": "Old"}}},
		{"type": "env_var", "id": "key", "name": "Key", "vars": [{"name": "KEY", "label": "Your key"}, {"name": "ORG", "optional": true}]},
		{"id": "odd", "name": "Odd", "_meta": {"terminal-auth": "yes"}},
		{"type": "retina", "id": "new", "name": "New"}
	]}`))
	info, err := p.initialize()
	want := []AuthMethod{
		{ID: "plain", Name: "Plain", Type: AuthAgent},
		{ID: "cli", Name: "CLI", Type: AuthTerminal, Args: []string{"login"}, Env: map[string]string{"A": "1"}},
		{ID: "old", Name: "Old", Type: AuthTerminal, Command: "node", Args: []string{"cli.js", "/login"}, Env: map[string]string{"B": "2"}},
		{ID: "key", Name: "Key", Type: AuthEnvVar, Vars: []AuthVar{{Name: "KEY", Label: "Your key"}, {Name: "ORG", Optional: true}}},
		{ID: "odd", Name: "Odd", Type: AuthAgent},
		{ID: "new", Name: "New", Type: "retina"},
	}
	if err != nil || !reflect.DeepEqual(info.AuthMethods, want) {
		t.Errorf("got %+v, %v", info.AuthMethods, err)
	}
}

func TestLoadSession(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("session/load"),
		fakeagent.Update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"before"}}`),
		fakeagent.Reply(`{"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}}`),
		fakeagent.Update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"late"}}`))
	p.LoadSession("s1", Place{Cwd: "/tmp"}, func(s Setup, err error) { p.events <- outcome[Setup]{s, err} })
	if u := next[updated](p); u.Update.(MessageChunk).Content != (Text{Text: "before"}) {
		t.Errorf("told %+v", u)
	}
	o := next[outcome[Setup]](p)
	if o.err != nil || o.value.SessionID != "s1" || len(o.value.Options) != 1 || o.value.Options[0].Value != "ask" {
		t.Errorf("loaded %+v", o)
	}
	if u := next[updated](p); u.Update.(MessageChunk).Content != (Text{Text: "late"}) {
		t.Errorf("told %+v", u)
	}
}

func TestLoadSessionWaitsForALateReplay(t *testing.T) {
	text := func(s string) fakeagent.Step {
		return fakeagent.Update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + s + `"}}`)
	}
	for name, test := range map[string]struct {
		agent     string
		overrides map[string]bool
		late      bool
	}{
		"gemini":        {"gemini-cli", nil, true},
		"gemini mended": {"gemini-cli", map[string]bool{"late_replay": false}, false},
		"another one":   {"fake", map[string]bool{"late_replay": true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			script := []fakeagent.Step{
				fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":1,"agentInfo":{"name":"` + test.agent + `","version":"1"}}`),
				fakeagent.Expect("session/load"), fakeagent.Reply(`{}`), text("one"),
			}
			if test.late {
				script = append(script,
					fakeagent.Expect(ping), text("two"), fakeagent.Fail(-32601, "what?"), text("three"),
					fakeagent.Expect(ping), fakeagent.Fail(-32601, "what?"),
					fakeagent.Expect(ping), fakeagent.Fail(-32601, "what?"), text("in the next turn"))
			}
			p := play(t, test.overrides, script...)
			if _, err := p.initialize(); err != nil {
				t.Fatal(err)
			}
			p.LoadSession("s1", Place{Cwd: "/tmp"}, func(s Setup, err error) { p.events <- outcome[Setup]{s, err} })
			var told []string
			for {
				switch e := receive(t, p.events).(type) {
				case updated:
					told = append(told, e.Update.(MessageChunk).Content.(Text).Text)
					continue
				case outcome[Setup]:
					if e.err != nil || e.value.SessionID != "s1" {
						t.Errorf("loaded %+v", e)
					}
				}
				break
			}
			if want := []string{"one", "two", "three"}; test.late && !reflect.DeepEqual(told, want) || !test.late && told != nil {
				t.Errorf("before the end were told %q", told)
			}
		})
	}
}

// A load that fails has no replay to wait for.
func TestLoadSessionFailsWithALateReplay(t *testing.T) {
	p := play(t, map[string]bool{"late_replay": true}, fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":1}`),
		fakeagent.Expect("session/load"), fakeagent.Fail(-32002, "gone"))
	_, err := p.initialize()
	must.Do(t, err)
	done := make(chan error, 1)
	p.LoadSession("s1", Place{Cwd: "/tmp"}, func(_ Setup, err error) { done <- err })
	if err := receive(t, done); !NotFound(err) {
		t.Errorf("loading ends with %v", err)
	}
}

func TestSessionsAreOpenedByVariousAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		answer fakeagent.Step
		fails  bool
	}{
		"empty":     {fakeagent.Reply(`{}`), false},
		"null":      {fakeagent.Reply(`null`), false},
		"malformed": {fakeagent.Reply(`7`), true},
		"an error":  {fakeagent.Fail(-32603, "no such session"), true},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, nil, fakeagent.Expect("session/resume"), test.answer, fakeagent.Expect("session/load"), test.answer)
			done := make(chan outcome[Setup], 1)
			for _, open := range []func(id string, at Place, done func(Setup, error)) func(){p.ResumeSession, p.LoadSession} {
				open("s1", Place{Cwd: "/tmp"}, func(s Setup, err error) { done <- outcome[Setup]{s, err} })
				o := receive(t, done)
				if test.fails != (o.err != nil) || (o.err == nil && o.value.SessionID != "s1") {
					t.Errorf("got %+v", o)
				}
			}
		})
	}
}

func (p *peer) list() ([]Stored, error) {
	p.t.Helper()
	done := make(chan outcome[[]Stored], 1)
	p.ListSessions(false, func(s []Stored, err error) { done <- outcome[[]Stored]{s, err} })
	o := receive(p.t, done)
	return o.value, o.err
}

func TestListSessions(t *testing.T) {
	p := play(t, nil,
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"nextCursor": "2", "sessions": [
			{"sessionId": "a", "cwd": "/a", "title": "A", "updatedAt": "2026-01-02T03:04:05Z"}, {"cwd": "/no"}]}`),
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"sessions": [{"sessionId": "b", "cwd": "/b", "title": null}], "nextCursor": null}`),
		// One that never comes to its end.
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"sessions": [], "nextCursor": "x"}`),
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"sessions": [], "nextCursor": "x"}`),
		fakeagent.Expect("session/list"), fakeagent.Fail(-32000, "Log in"),
		// One whose second page fails.
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"sessions": [{"sessionId": "b", "cwd": "/b"}], "nextCursor": "2"}`),
		fakeagent.Expect("session/list"), fakeagent.Fail(-32603, "The disk is full"))
	list, err := p.list()
	want := []Stored{{SessionID: "a", Title: "A", Cwd: "/a", UpdatedAt: "2026-01-02T03:04:05Z"}, {SessionID: "b", Cwd: "/b"}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("got %+v, %v", list, err)
	}
	if list, err := p.list(); err != nil || len(list) != 0 {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := p.list(); !AuthRequired(err) {
		t.Errorf("error %v", err)
	}
	if list, err := p.list(); err == nil || len(list) != 1 {
		t.Errorf("of a list that breaks off there is %+v, %v", list, err)
	}
	var cursors []string
	for _, m := range p.finish() {
		var params struct{ Cursor string }
		must.Do(t, json.Unmarshal(m.Params, &params))
		cursors = append(cursors, params.Cursor)
	}
	check.Deep(t, cursors, []string{"", "2", "", "x", "", "", "2"}, "asked for %q")
}

func TestListSessionsIsWithdrawn(t *testing.T) {
	p := play(t, nil,
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"sessions": [], "nextCursor": "2"}`),
		fakeagent.Expect("session/list"), fakeagent.Expect("$/cancel_request"),
		fakeagent.Step{Error: json.RawMessage(`{"code":-32800,"message":"Cancelled"}`), To: "session/list"})
	done := make(chan error, 1)
	cancel := p.ListSessions(false, func(_ []Stored, err error) { done <- err })
	cancel()
	var e *acp.Error
	if err := receive(t, done); !errors.As(err, &e) || e.Code != acp.CodeRequestCancelled {
		t.Errorf("error %v", err)
	}
}

func TestPlainRequests(t *testing.T) {
	p := play(t, nil,
		fakeagent.Expect("session/delete"), fakeagent.Reply(`{}`), fakeagent.Expect("authenticate"), fakeagent.Reply(`null`),
		fakeagent.Expect("logout"), fakeagent.Fail(-32603, "no"))
	done := make(chan error, 1)
	then := func(err error) { done <- err }
	p.DeleteSession("s1", then)
	must.Do(t, receive(t, done))
	p.Authenticate("key", then)
	must.Do(t, receive(t, done))
	p.Logout(then)
	if err := receive(t, done); err == nil || err.Error() != "no (-32603)" {
		t.Errorf("error %v", err)
	}
	for i, want := range []string{`{"sessionId":"s1"}`, `{"methodId":"key"}`, `{}`} {
		check.Equal(t, string(p.finish()[i].Params), want, "sent %s")
	}
}

func TestTells(t *testing.T) {
	for _, u := range []Update{MessageChunk{}, ToolCallPatch{}, PlanUpdate{}, UnknownUpdate{}} {
		if !Tells(u) {
			t.Errorf("%T adds to the transcript", u)
		}
	}
	for _, u := range []Update{OptionsUpdate{}, InfoUpdate{}, CommandsUpdate{}, UsageUpdate{}, ModeUpdate{}} {
		if Tells(u) {
			t.Errorf("%T does not add to the transcript", u)
		}
	}
}
