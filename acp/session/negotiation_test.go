package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// talk is a connection that is negotiated, with a scripted agent at the other end.
type talk struct {
	Agent
	*recorder
	info   Info
	err    error
	t      *testing.T
	finish func() []*fakeagent.Received // see connect
}

// negotiate asks an agent for a version of the protocol.
func negotiate(t *testing.T, protocol int, script ...fakeagent.Step) *talk {
	t.Helper()
	p := &talk{recorder: newRecorder(), t: t}
	n := Negotiate(p.recorder, "1.2.3", nil, protocol)
	conn, finish := connect(t, n, script...)
	p.finish = finish
	n.Start(conn)
	done := make(chan struct{})
	n.Initialize(func(agent Agent, info Info, err error) {
		p.Agent, p.info, p.err = agent, info, err
		close(done)
	})
	receive(t, done)
	return p
}

const answerV2 = `{"protocolVersion":2,"info":{"name":"a","title":"A","version":"3"},"capabilities":{
	"session":{"prompt":{"image":{}},"delete":{}},"auth":{}},
	"authMethods":[{"methodId":"m","type":"terminal","name":"M","args":["login"],"env":[{"name":"E","value":"1"},{"name":"F","value":"2"}]},{"bad":true}]}`

// One request offers both versions, each with its own fields, and the answer decides.
func TestNegotiation(t *testing.T) {
	for name, c := range map[string]struct {
		ask, want int
		err       string
		script    []fakeagent.Step
	}{
		"both speak 2":               {2, 2, "", []fakeagent.Step{fakeagent.Reply(answerV2)}},
		"the agent speaks 1":         {2, 1, "", []fakeagent.Step{fakeagent.Reply(`{"protocolVersion":1}`)}},
		"only 1 is asked for":        {1, 1, "", []fakeagent.Step{fakeagent.Reply(`{"protocolVersion":1}`)}},
		"nothing is asked for":       {0, 1, "", []fakeagent.Step{fakeagent.Reply(`{"protocolVersion":1}`)}},
		"the agent insists on 2":     {1, 0, "version 2", []fakeagent.Step{fakeagent.Reply(answerV2)}},
		"the agent speaks 3":         {2, 0, "version 3", []fakeagent.Step{fakeagent.Reply(`{"protocolVersion":3}`)}},
		"the answer has no version":  {2, 0, "protocolVersion", []fakeagent.Step{fakeagent.Reply(`{}`)}},
		"2 is malformed to it":       {2, 1, "", []fakeagent.Step{fakeagent.Fail(-32602, "bad"), fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":1}`)}},
		"2 is not supported":         {2, 1, "", []fakeagent.Step{fakeagent.Fail(-32022, "old"), fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":1}`)}},
		"2 says nothing of itself":   {2, 0, "info", []fakeagent.Step{fakeagent.Reply(`{"protocolVersion":2}`)}},
		"neither 2 nor 1 is well":    {2, 0, "bad", []fakeagent.Step{fakeagent.Fail(-32602, "bad"), fakeagent.Expect("initialize"), fakeagent.Fail(-32602, "bad")}},
		"another error is the error": {2, 0, "broken", []fakeagent.Step{fakeagent.Fail(-32603, "broken")}},
	} {
		t.Run(name, func(t *testing.T) {
			p := negotiate(t, c.ask, append([]fakeagent.Step{fakeagent.Expect("initialize")}, c.script...)...)
			if c.err != "" {
				if p.err == nil || !strings.Contains(p.err.Error(), c.err) {
					t.Errorf("the error is %v, want %q", p.err, c.err)
				}
				return
			}
			if p.err != nil || p.info.Protocol != c.want {
				t.Fatalf("got %+v, %v", p.info, p.err)
			}
			if _, second := p.Agent.(*V2); second != (c.want == 2) {
				t.Errorf("the adapter is %T", p.Agent)
			}
			for i, m := range p.finish() {
				var request map[string]json.RawMessage
				must.Do(t, json.Unmarshal(m.Params, &request))
				offered := "1"
				if c.ask == 2 && i == 0 {
					offered = "2"
					must.Do(t, schema.ValidatorV2(t).Check("initialize", schema.Request, schema.Agent, m.Params))
					check.Equal(t, sent(t, request["capabilities"]), `{"auth":{"terminal":{}},"elicitation":{"form":{},"url":{}}}`, "it can %s")
				} else if request["info"] != nil || request["capabilities"] != nil {
					t.Errorf("an agent that is asked for version 1 gets %s", m.Params)
				}
				check.Contains(t, string(request["clientInfo"]), `"version":"1.2.3"`, "it is %s")
				if offered == "2" {
					check.Equal(t, string(request["info"]), string(request["clientInfo"]), "in version 2 it is %s")
				}
				if string(request["protocolVersion"]) != offered || request["clientInfo"] == nil || request["clientCapabilities"] == nil {
					t.Errorf("request %d is %s", i, m.Params)
				}
			}
		})
	}
}

// The user's own word on an agent's quirks counts.
func TestQuirksAreNegotiated(t *testing.T) {
	for _, quirks := range []map[string]bool{nil, {"instructions": true}} {
		n := Negotiate(newRecorder(), "1.2.3", quirks, 1)
		conn, _ := connect(t, n, fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":1}`))
		n.Start(conn)
		done := make(chan Info, 1)
		n.Initialize(func(_ Agent, info Info, _ error) { done <- info })
		check.Equal(t, receive(t, done).Instructions, quirks != nil, "with %v it takes instructions: %v", quirks)
	}
}

// An agent that does not know version 2 is asked again, unless it says that it does not know 1 either.
func TestAskedAgainInVersion1(t *testing.T) {
	for data, want := range map[string]bool{
		``: true, `{}`: true, `"no"`: true, `{"supported":[1]}`: true, `{"supported":[0,1]}`: true, `{"supported":[3]}`: false, `{"supported":[]}`: false,
		`{"supported":[3,"x"]}`: true, // which cannot be read
	} {
		err := &acp.Error{Code: acp.CodeUnsupportedProtocolVersion, Data: json.RawMessage(data)}
		check.Equal(t, wantsV1(err), want, "%s: %v", data)
	}
}

// A request before the version is agreed is refused.
func TestARequestTooEarly(t *testing.T) {
	p := negotiate(t, 1, fakeagent.Expect("initialize"), fakeagent.Request(7, "fs/read_text_file", `{"sessionId":"s","path":"/a"}`),
		fakeagent.Answer(7), fakeagent.Reply(`{"protocolVersion":1}`))
	must.Do(t, p.err)
	for _, m := range p.finish() {
		if m.Method == "" && !strings.Contains(string(m.Error), "-32601") {
			t.Errorf("it is answered %s%s", m.Result, m.Error)
		}
	}
}

func TestWelcomeV2(t *testing.T) {
	p := negotiate(t, 2, fakeagent.Expect("initialize"), fakeagent.Reply(answerV2))
	i := p.info
	if len(i.AuthMethods) != 1 || i.AuthMethods[0].Type != AuthTerminal || i.AuthMethods[0].Env["E"]+i.AuthMethods[0].Env["F"] != "12" || i.AuthMethods[0].Args[0] != "login" {
		t.Errorf("%+v", i.AuthMethods)
	}
	i.AuthMethods = nil
	check.Deep(t, i, Info{
		Name: "a", Title: "A", Version: "3", Protocol: 2, Loads: true, Resumes: true, Lists: true, LogsOut: true, Steers: true,
		Deletes: true, Images: true,
	}, "an agent is %+v")
	all := strings.Replace(answerV2, `{"prompt":{"image":{}},"delete":{}},"auth":{}}`, `{"prompt":{"audio":{},"embeddedContext":{}},"mcp":{"stdio":{},"http":{}},
		"fork":{},"title":{},"archive":{},"status":{},"additionalDirectories":{},"systemPrompt":{"mode":{"override":{}}}},"auth":{"status":{}},"providers":{}}`, 1)
	i = negotiate(t, 2, fakeagent.Expect("initialize"), fakeagent.Reply(all)).info
	i.AuthMethods = nil
	check.Deep(t, i, Info{
		Name: "a", Title: "A", Version: "3", Protocol: 2, Loads: true, Resumes: true, Lists: true, LogsOut: true, Steers: true, TellsLogin: true,
		Providers: true, Forks: true, Titles: true, Archives: true, Statuses: true, SystemPrompt: true, OwnSystemPrompt: true, StdioServers: true,
		HTTPServers: true, Directories: true, Audio: true, EmbeddedContext: true,
	}, "an agent that can all is %+v")
	for _, session := range []string{``, `"session":{}`} {
		can := `{"protocolVersion":2,"info":{"name":"a","version":"3"},"capabilities":{` + session + `}}`
		i = negotiate(t, 2, fakeagent.Expect("initialize"), fakeagent.Reply(can)).info
		check.Deep(t, i, Info{Name: "a", Version: "3", Protocol: 2, Loads: true, Resumes: true, Lists: true, Steers: true}, "an agent that can nothing is %+v")
	}
	claude := strings.Replace(answerV2, `"name":"a"`, `"name":"@agentclientprotocol/claude-agent-acp"`, 1)
	p = negotiate(t, 2, fakeagent.Expect("initialize"), fakeagent.Reply(claude))
	check.Equal(t, p.info.Instructions, true, "whether Claude takes instructions is %v")
}
