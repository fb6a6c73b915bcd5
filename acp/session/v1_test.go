package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// recorder is the client of a test: what it is told goes into events.
type recorder struct {
	events chan any
	played chan struct{} // closed when the agent has played its script

	output TerminalOutput // the answers to terminal methods
	err    error
}

// played is the update with which every script ends.
const played = "the script was played"

type updated struct {
	SessionID string
	Update    Update
}

// asked is a terminal method with what it is about.
type asked struct{ Method, SessionID, TerminalID string }

// completed is the id of an elicitation that the user has done.
type completed string

// waited is a terminal whose exit the agent waits for.
type waited struct {
	Context context.Context
	asked
	Reply func(TerminalExit, error)
}

func (r *recorder) Update(id string, u Update) {
	if e, ok := u.(UnknownUpdate); ok && e.Type == played {
		close(r.played)
		return
	}
	r.events <- updated{id, u}
}
func (r *recorder) RequestPermission(p PermissionRequest) { r.events <- p }
func (r *recorder) Elicit(e ElicitationRequest)           { r.events <- e }
func (r *recorder) ElicitationCompleted(id string)        { r.events <- completed(id) }
func (r *recorder) Works(id string, w OwnWork)            { r.events <- w }
func (r *recorder) LoggedIn(l Login)                      { r.events <- l }
func (r *recorder) Extend(ExtensionRequest) bool          { return false }
func (r *recorder) ReadTextFile(f ReadTextFile)           { r.events <- f }
func (r *recorder) WriteTextFile(f WriteTextFile)         { r.events <- f }
func (r *recorder) CreateTerminal(t CreateTerminal)       { r.events <- t }
func (r *recorder) TerminalOutput(s, t string) (TerminalOutput, error) {
	r.events <- asked{"output", s, t}
	return r.output, r.err
}
func (r *recorder) WaitForTerminalExit(ctx context.Context, s, t string, reply func(TerminalExit, error)) {
	r.events <- waited{ctx, asked{"wait", s, t}, reply}
}
func (r *recorder) KillTerminal(s, t string) error {
	r.events <- asked{"kill", s, t}
	return r.err
}
func (r *recorder) ReleaseTerminal(s, t string) error {
	r.events <- asked{"release", s, t}
	return r.err
}

// peer is an adapter under test with a scripted agent at the other end.
type peer struct {
	*V1
	*recorder
	t      *testing.T
	conn   *acp.Conn
	finish func() []*fakeagent.Received // see connect
}

func newRecorder() *recorder {
	return &recorder{events: make(chan any, 1000), played: make(chan struct{})}
}

// connect connects a client over pipes with an agent that plays a script. finish ends the connection, and returns what
// the agent was sent.
func connect(t *testing.T, client acp.Handler, script ...fakeagent.Step) (conn *acp.Conn, finish func() []*fakeagent.Received) {
	t.Helper()
	script = append(script, fakeagent.Update(`{"sessionUpdate":"`+played+`"}`))
	agentIn, clientOut := pipe(t)
	clientIn, agentOut := pipe(t)
	heard := make(chan []*fakeagent.Received, 1)
	go func() {
		defer agentOut.Close()
		defer agentIn.Close()
		all, err := fakeagent.Run(t.Context(), script, agentIn, agentOut, io.Discard)
		var exit *fakeagent.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Errorf("play the script: %v", err)
		}
		heard <- all
	}()
	conn = acp.NewConn(clientIn, clientOut, client)
	finish = sync.OnceValue(func() []*fakeagent.Received {
		_ = conn.Close()
		receive(t, conn.Done())
		all := receive(t, heard)
		_ = clientIn.Close()
		return all
	})
	t.Cleanup(func() { finish() })
	return conn, finish
}

// play connects an adapter with an agent over pipes. At the end of the test
// everything that the adapter sent is checked against the schema.
func play(t *testing.T, overrides map[string]bool, script ...fakeagent.Step) *peer {
	t.Helper()
	official := schema.Validator(t)
	p := &peer{recorder: newRecorder(), t: t}
	p.V1 = NewV1(p.recorder, "1.2.3", overrides)
	p.conn, p.finish = connect(t, p.V1, script...)
	p.Start(p.conn)
	t.Cleanup(func() {
		for _, m := range p.finish() {
			if err := valid(official, m); err != nil {
				t.Errorf("%v\n%+v", err, m)
			}
		}
	})
	return p
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	must.Do(t, err)
	return r, w
}

// begun is play with an agent that has made the session "s1".
func begun(t *testing.T, script ...fakeagent.Step) *peer {
	t.Helper()
	p := play(t, nil, append(fakeagent.Start("fake"), script...)...)
	p.begin()
	return p
}

func (p *peer) begin() {
	p.t.Helper()
	if _, err := p.initialize(); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.newSession(); err != nil {
		p.t.Fatal(err)
	}
}

// result is the one answer to the request with this id, as a line.
func (p *peer) result(id string) string {
	p.t.Helper()
	receive(p.t, p.played)
	var got []string
	for _, m := range p.finish() {
		if m.Method == "" && string(m.ID) == id {
			got = append(got, string(m.Result)+string(m.Error))
		}
	}
	if len(got) != 1 {
		p.t.Fatalf("%d answers to request %s: %q", len(got), id, got)
	}
	return got[0]
}

func valid(official *schema.V, m *fakeagent.Received) error {
	switch {
	case strings.HasPrefix(m.Method, "$/"):
		return official.Check(m.Method, schema.Notification, schema.Agent, m.Params)
	case m.Method == "session/set_model", strings.HasPrefix(m.Method, "_"):
		return nil // the schema does not know it
	case m.Method != "" && m.ID != nil:
		return official.Check(m.Method, schema.Request, schema.Agent, m.Params)
	case m.Method != "":
		return official.Check(m.Method, schema.Notification, schema.Agent, m.Params)
	case m.Error != nil:
		return official.CheckError(m.Error)
	}
	return official.Check(m.Of, schema.Response, schema.Client, m.Result)
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	return must.Receive(t, "the next word", c)
}

// next is what the client is told next, which must be a T.
func next[T any](p *peer) T {
	p.t.Helper()
	e := receive(p.t, p.events)
	v, ok := e.(T)
	if !ok {
		p.t.Fatalf("the client was told %#v", e)
	}
	return v
}

type outcome[T any] struct {
	value T
	err   error
}

func (p *peer) initialize() (Info, error) {
	p.t.Helper()
	done := make(chan outcome[Info], 1)
	p.conn.Call("initialize", p.hello(), func(raw json.RawMessage, err error) {
		var info Info
		if err == nil {
			info, err = p.welcome(raw)
		}
		done <- outcome[Info]{info, err}
	})
	o := receive(p.t, done)
	return o.value, o.err
}

func (p *peer) newSession() (Setup, error) {
	p.t.Helper()
	done := make(chan outcome[Setup], 1)
	p.NewSession(Place{Cwd: "/tmp"}, func(s Setup, err error) { done <- outcome[Setup]{s, err} })
	o := receive(p.t, done)
	return o.value, o.err
}

// prompt sends a prompt; its end is an event among the others.
func (p *peer) prompt(blocks ...Content) {
	p.Prompt("s1", blocks, func(r StopReason, err error) { p.events <- outcome[StopReason]{r, err} })
}

func TestInitialize(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("initialize"), fakeagent.Reply(`{
		"protocolVersion": 1,
		"agentInfo": {"name": "a", "title": "A", "version": "2"},
		"authMethods": [{"id": "key", "name": "Key", "description": "an API key"}, {"bad": true}],
		"agentCapabilities": {"loadSession": "yes", "sessionCapabilities": {"close": {}}}
	}`), fakeagent.Expect("session/close"))
	info, err := p.initialize()
	want := Info{Name: "a", Title: "A", Version: "2", Protocol: 1, StdioServers: true, AuthMethods: []AuthMethod{{ID: "key", Name: "Key", Description: "an API key", Type: AuthAgent}}}
	if err != nil || !reflect.DeepEqual(info, want) {
		t.Errorf("got %+v, %v", info, err)
	}
	p.Close("s1")
	var got map[string]any
	must.Do(t, json.Unmarshal(p.finish()[0].Params, &got))
	capabilities := map[string]any{
		"fs":          map[string]any{"readTextFile": true, "writeTextFile": true},
		"terminal":    true,
		"auth":        map[string]any{"terminal": true},
		"_meta":       map[string]any{"terminal-auth": true, "terminal_output": true},
		"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}},
		"plan":        map[string]any{},
		"subagents":   map[string]any{},
		"session": map[string]any{
			"compaction": map[string]any{}, "notices": map[string]any{}, "configOptions": map[string]any{"boolean": map[string]any{}},
		},
	}
	if got["protocolVersion"] != 1.0 || !reflect.DeepEqual(got["clientCapabilities"], capabilities) {
		t.Errorf("sent %v", got)
	}
	if i := got["clientInfo"].(map[string]any); i["version"] != "1.2.3" {
		t.Errorf("said it is %v", i)
	}
}

func TestCloseOnlyWhereTheAgentCan(t *testing.T) {
	for name, test := range map[string]struct {
		response string
		closes   bool
	}{
		"cannot":                        {`{"protocolVersion": 1}`, false},
		"in the place of the schema":    {`{"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"close": {}}}}`, true},
		"in the place of some agents":   {`{"protocolVersion": 1, "sessionCapabilities": {"close": {}}}`, true},
		"in both, the second one rules": {`{"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"close": {}}}, "sessionCapabilities": {}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, nil, fakeagent.Expect("initialize"), fakeagent.Reply(test.response), fakeagent.Expect("session/cancel"))
			if _, err := p.initialize(); err != nil {
				t.Fatal(err)
			}
			p.Close("s1")
			p.Cancel("s1")
			closed := false
			for _, m := range p.finish() {
				closed = closed || m.Method == "session/close"
			}
			check.Equal(t, closed, test.closes, "sent session/close: %v")
		})
	}
}

func TestInitializeFails(t *testing.T) {
	for name, test := range map[string]struct {
		answer fakeagent.Step
		want   string
	}{
		"no version": {fakeagent.Reply(`{}`), "its answer is malformed: "},
		"null":       {fakeagent.Reply(`null`), "its answer is malformed: "},
		"an error":   {fakeagent.Fail(-32603, "no model"), "no model (-32603)"},
		"the end":    {fakeagent.Exit(1), "the connection is closed: the agent closed its output"},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, nil, fakeagent.Expect("initialize"), test.answer)
			if _, err := p.initialize(); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestNewSession(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("session/new"), fakeagent.Reply(`{
		"sessionId": "abc",
		"configOptions": [
			{"type": "select", "id": "effort", "name": "Effort", "description": "how much", "category": "thought_level", "currentValue": "low",
				"options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High", "description": "slow"}]},
			{"type": "select", "id": "grouped", "name": "Grouped", "currentValue": "b",
				"options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}, {"group": "h", "name": "H", "options": [{"value": "b", "name": "B"}]}]},
			{"type": "boolean", "id": "fast", "name": "Fast", "currentValue": true},
			{"type": "dial", "id": "no", "name": "Unknown"}
		],
		"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask", "description": "first"}, {"id": "code", "name": "Code"}]},
		"models": {"currentModelId": "big", "availableModels": [{"modelId": "big", "name": "Big", "description": "large"}]}
	}`))
	setup, err := p.newSession()
	want := Setup{SessionID: "abc", Options: []Option{
		{ID: "effort", Name: "Effort", Description: "how much", Category: "thought_level", Type: "select", Value: "low", Via: "config",
			Choices: []Choice{{Value: "low", Name: "Low"}, {Value: "high", Name: "High", Description: "slow"}}},
		{ID: "grouped", Name: "Grouped", Type: "select", Value: "b", Via: "config",
			Choices: []Choice{{Value: "a", Name: "A", Group: "G"}, {Value: "b", Name: "B", Group: "H"}}},
		{ID: "fast", Name: "Fast", Type: "boolean", Value: "true", Via: "config"},
		{ID: "mode", Name: "Mode", Category: "mode", Type: "select", Value: "ask", Via: "mode",
			Choices: []Choice{{Value: "ask", Name: "Ask", Description: "first"}, {Value: "code", Name: "Code"}}},
		{ID: "model", Name: "Model", Category: "model", Type: "select", Value: "big", Via: "model",
			Choices: []Choice{{Value: "big", Name: "Big", Description: "large"}}},
	}}
	if err != nil || !reflect.DeepEqual(setup, want) {
		t.Errorf("got  %+v, %v\nwant %+v", setup, err, want)
	}
}

// A mode that is a configuration option too is offered once.
func TestModesOnce(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("session/new"), fakeagent.Reply(`{
		"sessionId": "abc",
		"configOptions": [{"type": "select", "id": "m", "name": "M", "category": "mode", "currentValue": "a", "options": []}],
		"modes": {"currentModeId": "ask", "availableModes": []}
	}`))
	setup, err := p.newSession()
	if err != nil || len(setup.Options) != 1 || setup.Options[0].Via != "config" {
		t.Errorf("options %+v, %v", setup.Options, err)
	}
}

func TestAuthRequired(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("session/new"), fakeagent.Fail(-32000, "Log in"))
	if _, err := p.newSession(); !AuthRequired(err) {
		t.Errorf("error %v", err)
	}
	if AuthRequired(&acp.Error{Code: -32603}) || AuthRequired(nil) || !AuthRequired(fmt.Errorf("x: %w", &acp.Error{Code: -32000})) {
		t.Error("the code decides, wherever it is wrapped")
	}
}

func TestNewSessionIsWithdrawn(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("session/new"), fakeagent.Expect("$/cancel_request"), fakeagent.Fail(-32800, "Cancelled"))
	done := make(chan error, 1)
	cancel := p.NewSession(Place{Cwd: "/tmp"}, func(_ Setup, err error) { done <- err })
	cancel()
	var e *acp.Error
	if err := receive(t, done); !errors.As(err, &e) || e.Code != acp.CodeRequestCancelled {
		t.Errorf("error %v", err)
	}
}

func TestSetOption(t *testing.T) {
	const list = `{"configOptions":[{"type":"boolean","id":"f","name":"F","currentValue":true}]}`
	all := []Option{{ID: "f", Name: "F", Type: "boolean", Value: "true", Via: "config"}}
	for name, test := range map[string]struct {
		option  Option
		value   string
		method  string
		params  string
		answer  fakeagent.Step
		options []Option
		err     string
	}{
		"a select": {
			Option{ID: "effort", Type: "select", Via: "config"}, "high",
			"session/set_config_option", `{"sessionId":"s1","configId":"effort","value":"high"}`, fakeagent.Reply(list), all, "",
		},
		"a boolean": {
			Option{ID: "f", Type: "boolean", Via: "config"}, "true",
			"session/set_config_option", `{"sessionId":"s1","configId":"f","type":"boolean","value":true}`, fakeagent.Reply(list), all, "",
		},
		"a boolean, off": {
			Option{ID: "f", Type: "boolean", Via: "config"}, "false",
			"session/set_config_option", `{"sessionId":"s1","configId":"f","type":"boolean","value":false}`, fakeagent.Reply(list), all, "",
		},
		"a mode": {
			Option{ID: "mode", Type: "select", Via: "mode"}, "code",
			"session/set_mode", `{"sessionId":"s1","modeId":"code"}`, fakeagent.Reply(`{}`), nil, "",
		},
		"a model": {
			Option{ID: "model", Type: "select", Via: "model"}, "big",
			"session/set_model", `{"sessionId":"s1","modelId":"big"}`, fakeagent.Reply(`{}`), nil, "",
		},
		"refused": {
			Option{ID: "effort", Type: "select", Via: "config"}, "high",
			"session/set_config_option", `{"sessionId":"s1","configId":"effort","value":"high"}`, fakeagent.Fail(-32602, "too much"), nil, "too much",
		},
		"a mode, refused": {
			Option{ID: "mode", Type: "select", Via: "mode"}, "code",
			"session/set_mode", `{"sessionId":"s1","modeId":"code"}`, fakeagent.Fail(-32602, "too bold"), nil, "too bold",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := begun(t, fakeagent.Expect(test.method), test.answer)
			done := make(chan outcome[[]Option], 1)
			p.SetOption("s1", test.option, test.value, func(o []Option, err error) { done <- outcome[[]Option]{o, err} })
			o := receive(t, done)
			if !reflect.DeepEqual(o.value, test.options) || (o.err == nil) != (test.err == "") || (o.err != nil && !strings.Contains(o.err.Error(), test.err)) {
				t.Errorf("answered %+v", o)
			}
			heard := p.finish()
			var got, want any
			must.Do(t, json.Unmarshal(heard[len(heard)-1].Params, &got), json.Unmarshal([]byte(test.params), &want))
			check.Deep(t, got, want, "sent %v")
		})
	}
}

// Updates that come before the answer to session/new are told before it.
func TestUpdatesBeforeTheSession(t *testing.T) {
	p := play(t, nil, fakeagent.Expect("session/new"),
		fakeagent.Step{Update: json.RawMessage(`{"sessionUpdate":"session_info_update","title":"early"}`), Session: "s1"},
		fakeagent.Reply(`{"sessionId":"s1"}`))
	p.NewSession(Place{Cwd: "/tmp"}, func(s Setup, err error) { p.events <- outcome[Setup]{s, err} })
	if u := next[updated](p); u.SessionID != "s1" || u.Update.(InfoUpdate).Title.Or("") != "early" {
		t.Errorf("told %+v", u)
	}
	if o := next[outcome[Setup]](p); o.value.SessionID != "s1" {
		t.Errorf("answered %+v", o)
	}
}

// An update on the wire, and what the client is told of it.
func TestUpdates(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	old, text := "a", "b"
	for name, test := range map[string]struct {
		update string
		want   Update
	}{
		"user_message_chunk": {
			`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a"}}`,
			MessageChunk{MessageID: "1", Role: RoleUser, Content: Text{"a"}},
		},
		"agent_message_chunk": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"m"}`,
			MessageChunk{MessageID: "1", Wire: "m", Role: RoleAgent, Content: Text{"a"}},
		},
		"agent_thought_chunk": {
			`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"a"},"_meta":{"x":1}}`,
			MessageChunk{MessageID: "1", Role: RoleThought, Content: Text{"a"}},
		},
		"an image": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png","uri":"file:///a"}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: Image{"image/png", "AA==", "file:///a"}},
		},
		"audio": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"audio","data":"AA==","mimeType":"audio/wav"}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: Audio{"audio/wav", "AA=="}},
		},
		"a link": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","uri":"file:///a","name":"a","title":"A","mimeType":"text/plain","description":"d","size":7,"annotations":{"lastModified":"2026-01-02T03:04:05Z"}}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: ResourceLink{"file:///a", "a", "A", "text/plain", "d", 7, "2026-01-02"}},
		},
		"a link of no day": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","uri":"u","name":"a","annotations":{"lastModified":"2026-13-02"}}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: ResourceLink{URI: "u", Name: "a"}},
		},
		"for the agent alone": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","annotations":{"audience":["assistant"]}}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: ForAgent{Text{"a"}}},
		},
		"for both": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","annotations":{"audience":["assistant","user"]}}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: Text{"a"}},
		},
		"for nobody": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","annotations":{"audience":[]}}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: Text{"a"}},
		},
		"a text resource": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"t"}}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: Resource{URI: "file:///a", MimeType: "text/plain", Text: "t"}},
		},
		"a binary resource": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","mimeType":"image/png","blob":"AA=="}}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: Resource{URI: "file:///a", MimeType: "image/png", Blob: "AA=="}},
		},
		"an unknown block": {
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"smell","of":"roses"}}`,
			MessageChunk{MessageID: "1", Role: RoleAgent, Content: UnknownContent{"smell", raw(`{"type":"smell","of":"roses"}`)}},
		},
		"tool_call": {
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","name":"n","kind":"edit","status":"in_progress","rawInput":{"a":1},"rawOutput":[],"_meta":{"m":1},
				"locations":[{"path":"/a","line":3},{"path":"/b"},{"line":1}],
				"content":[{"type":"content","content":{"type":"text","text":"x"}},{"type":"diff","path":"/a","oldText":"a","newText":"b"},{"type":"diff","path":"/b","newText":"b"},{"type":"terminal","terminalId":"t1"},{"type":"hologram"},{"type":"terminal"}]}`,
			ToolCallPatch{
				ID: "c", Title: acp.Set("t"), Name: acp.Set("n"), Kind: acp.Set(KindEdit), Status: acp.Set(StatusInProgress),
				RawInput: acp.Set(raw(`{"a":1}`)), RawOutput: acp.Set(raw(`[]`)), Meta: acp.Set(map[string]json.RawMessage{"m": raw("1")}),
				Locations: acp.Set([]Location{{"/a", 3}, {"/b", 0}}),
				Content: acp.Set([]ToolCallContent{
					ContentItem{Text{"x"}}, Diff{Operation: OperationModify, Path: "/a", OldText: &old, NewText: &text}, Diff{Operation: OperationAdd, Path: "/b", NewText: &text}, TerminalRef{"t1"}, UnknownItem{"hologram", raw(`{"type":"hologram"}`)},
				}),
			},
		},
		"tool_call with the least": {
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}`,
			ToolCallPatch{ID: "c", Title: acp.Set("t")},
		},
		"tool_call_update with nulls": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"name":null,"kind":null,"status":null,"content":null,"locations":null,"rawInput":null,"rawOutput":null,"_meta":null}`,
			ToolCallPatch{ID: "c"},
		},
		"tool_call_update with empty lists": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[],"locations":[]}`,
			ToolCallPatch{ID: "c", Content: acp.Set([]ToolCallContent{}), Locations: acp.Set([]Location{})},
		},
		"tool_call_update of unknown values": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"dance","status":"asleep"}`,
			ToolCallPatch{ID: "c", Kind: acp.Set(ToolKind("dance")), Status: acp.Set(ToolCallStatus("asleep"))},
		},
		"tool_call_update with malformed fields": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":7,"kind":[],"status":"completed","locations":"x","content":{"a":1},"_meta":3}`,
			ToolCallPatch{ID: "c", Status: acp.Set(StatusCompleted)},
		},
		"tool_call without a title": {
			`{"sessionUpdate":"tool_call","toolCallId":"c"}`,
			UnknownUpdate{Type: "malformed tool_call", Reason: "update.title: required but missing"},
		},
		"tool_call_update without an id": {
			`{"sessionUpdate":"tool_call_update","title":"t"}`,
			UnknownUpdate{Type: "malformed tool_call_update", Reason: "update.toolCallId: required but missing"},
		},
		"an update that is no object": {`7`, UnknownUpdate{Type: "malformed update", Reason: "update: expected an object, got a number"}},
		"plan": {
			`{"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"pending"},{"content":"no status"},{"content":"b","priority":"huge","status":"done"}]}`,
			PlanUpdate{Entries: []PlanEntry{{"a", "high", "pending"}, {"b", "huge", "done"}}},
		},
		"plan, empty":   {`{"sessionUpdate":"plan","entries":[]}`, PlanUpdate{Entries: []PlanEntry{}}},
		"plan, no list": {`{"sessionUpdate":"plan","entries":"none"}`, PlanUpdate{Entries: []PlanEntry{}}},
		"available_commands_update": {
			`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"plan","description":"d","input":{"hint":"what"}},{"name":"go","description":"e","input":null}]}`,
			CommandsUpdate{[]Command{{"plan", "d", "what"}, {"go", "e", ""}}},
		},
		"current_mode_update": {`{"sessionUpdate":"current_mode_update","currentModeId":"code"}`, ModeUpdate{"code"}},
		"config_option_update": {
			`{"sessionUpdate":"config_option_update","configOptions":[{"type":"boolean","id":"f","name":"F","currentValue":false}]}`,
			OptionsUpdate{[]Option{{ID: "f", Name: "F", Type: "boolean", Value: "false", Via: "config"}}},
		},
		"session_info_update":       {`{"sessionUpdate":"session_info_update","title":"t"}`, InfoUpdate{acp.Set("t")}},
		"session_info_update, null": {`{"sessionUpdate":"session_info_update","title":null}`, InfoUpdate{acp.Null[string]()}},
		"session_info_update, none": {`{"sessionUpdate":"session_info_update"}`, InfoUpdate{}},
		"usage_update": {
			`{"sessionUpdate":"usage_update","used":5,"size":100,"cost":{"amount":0.5,"currency":"EUR"}}`,
			UsageUpdate{Usage: Usage{5, 100, &Cost{0.5, "EUR"}}},
		},
		"usage_update without cost": {`{"sessionUpdate":"usage_update","used":5,"size":100}`, UsageUpdate{Usage: Usage{Used: 5, Size: 100}}},
		"usage_update with malformed cost": {
			`{"sessionUpdate":"usage_update","used":5,"size":100,"cost":{"amount":"much"}}`, UsageUpdate{Usage: Usage{Used: 5, Size: 100}},
		},
		"usage_update without numbers": {`{"sessionUpdate":"usage_update"}`, UnknownUpdate{Type: "malformed usage_update", Reason: "update.used: required but missing"}},
		"notice": {
			`{"sessionUpdate":"notice","severity":"warning","title":"t","description":"d"}`, Notice{"warning", "t", "d"},
		},
		"compaction_update": {
			`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed","summary":[{"type":"text","text":"s"}],"error":null}`,
			CompactionPatch{ID: "k", Status: "completed", Summary: acp.Set([]Content{Text{"s"}}), Error: acp.Null[string]()},
		},
		"compaction_summary_chunk": {
			`{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"s"}}`,
			CompactionChunk{"k", Text{"s"}},
		},
		"unknown": {
			`{"sessionUpdate":"weather","sky":"blue"}`,
			UnknownUpdate{"weather", raw(`{"sessionUpdate":"weather","sky":"blue"}`), ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := strings.ReplaceAll(test.update, "\n", "")
			p := begun(t, fakeagent.Update(one))
			u := next[updated](p)
			if got, ok := u.Update.(UnknownUpdate); ok && strings.HasPrefix(got.Type, "malformed") {
				if !strings.Contains(string(got.Raw), one) {
					t.Errorf("the text is lost: %s", got.Raw)
				}
				got.Raw = nil
				u.Update = got
			}
			if u.SessionID != "s1" || !reflect.DeepEqual(u.Update, test.want) {
				t.Errorf("told %s\n%#v, want\n%#v", u.SessionID, u.Update, test.want)
			}
		})
	}
}

// A block of any kind may be for the agent alone.
func TestBlocksForTheAgent(t *testing.T) {
	for block, want := range map[string]Content{
		`"type":"text","text":"a"`:                               Text{"a"},
		`"type":"image","data":"AA==","mimeType":"image/png"`:    Image{MimeType: "image/png", Data: "AA=="},
		`"type":"audio","data":"AA==","mimeType":"audio/wav"`:    Audio{"audio/wav", "AA=="},
		`"type":"resource_link","uri":"u","name":"a"`:            ResourceLink{URI: "u", Name: "a"},
		`"type":"resource","resource":{"uri":"u","text":"t"}`:    Resource{URI: "u", Text: "t"},
		`"type":"resource","resource":{"uri":"u","blob":"AA=="}`: Resource{URI: "u", Blob: "AA=="},
	} {
		for audience, want := range map[string]Content{`"assistant"`: ForAgent{want}, `"user","assistant"`: want} {
			block := `{` + block + `,"annotations":{"audience":[` + audience + `]}}`
			p := begun(t, fakeagent.Update(`{"sessionUpdate":"agent_message_chunk","content":`+block+`}`))
			check.Deep(t, next[updated](p).Update.(MessageChunk).Content, want, "%s is %+v", block)
		}
	}
}

// The user may turn each quirk on for any agent, and off for those that have it.
func TestQuirksOfTheUser(t *testing.T) {
	all := Quirks{EmptyForMissing: true, LateReplay: true, Markers: true, Instructions: true}
	names := []string{"empty_for_missing", "late_replay", "markers", "instructions"}
	for i, name := range names {
		overrides := map[string]bool{}
		for _, other := range names {
			overrides[other] = other == name
		}
		got := quirksFor("gemini-cli", overrides)
		want := Quirks{EmptyForMissing: i == 0, LateReplay: i == 1, Markers: i == 2, Instructions: i == 3}
		check.Equal(t, got, want, "with %s alone there are %+v", name)
	}
	on := map[string]bool{"empty_for_missing": true, "late_replay": true, "markers": true, "instructions": true, "other": true}
	check.Equal(t, quirksFor("any", on), all, "with all there are %+v")
	check.Equal(t, quirksFor("any", nil), Quirks{}, "without any there are %+v")
}

// What gemini-cli tells as words with a mark before them.
func TestMarkers(t *testing.T) {
	chunk := func(kind, text string) fakeagent.Step {
		return fakeagent.Update(fmt.Sprintf(`{"sessionUpdate":%q,"content":{"type":"text","text":%q}}`, kind, text))
	}
	script := []fakeagent.Step{
		chunk("agent_message_chunk", "[MODE_UPDATE] autoEdit"),
		chunk("agent_message_chunk", "[MODE_UPDATE] is a mark"),
		chunk("user_message_chunk", "<session_context>\nIt is Monday.\n</session_context>"),
		chunk("user_message_chunk", "<session_context>\nIt is Monday.\n</session_context>\n\nHello"),
		chunk("user_message_chunk", "[Function Response: read_file]"),
		chunk("agent_message_chunk", " [MODE_UPDATE] yolo\n"),
		chunk("agent_message_chunk", "  not for you "),
		chunk("agent_message_chunk", "<session_context>"),
		chunk("agent_message_chunk", "[Function Response: x]"),
		chunk("user_message_chunk", "[MODE_UPDATE] plan"),
	}
	plain := []string{"  not for you ", "<session_context>", "[Function Response: x]", "[MODE_UPDATE] plan"}
	for name, want := range map[string][]string{
		"gemini-cli": append([]string{"mode autoEdit", "[MODE_UPDATE] is a mark", "Hello", "mode yolo"}, plain...),
		"fake": append([]string{"[MODE_UPDATE] autoEdit", "[MODE_UPDATE] is a mark", "<session_context>\nIt is Monday.\n</session_context>",
			"<session_context>\nIt is Monday.\n</session_context>\n\nHello", "[Function Response: read_file]", " [MODE_UPDATE] yolo\n"}, plain...),
	} {
		p := play(t, nil, append(fakeagent.Start(name), script...)...)
		p.begin()
		<-p.played
		var got []string
		for len(p.events) > 0 {
			switch u := (<-p.events).(updated).Update.(type) {
			case MessageChunk:
				got = append(got, u.Content.(Text).Text)
			case ModeUpdate:
				got = append(got, "mode "+u.ModeID)
			}
		}
		check.Deep(t, got, want, "%s: told %q", name)
	}
}

// Junk between the updates loses none of them.
func TestJunkLosesNothing(t *testing.T) {
	p := begun(t,
		fakeagent.Message("a"),
		fakeagent.Line("Loading model..."),
		fakeagent.Notify("session/update", `{"update":{"sessionUpdate":"plan"}}`),
		fakeagent.Notify("session/update", `[]`),
		fakeagent.Notify("session/changed", `{"sessionId":"s1"}`),
		fakeagent.Line(`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"}}}}]`),
		fakeagent.Message("c"))
	for _, want := range []string{"a", "b", "c"} {
		if got := next[updated](p).Update; got != (MessageChunk{MessageID: "1", Role: RoleAgent, Content: Text{want}}) {
			t.Errorf("told %#v, want %s", got, want)
		}
	}
}

// Which chunks are one message. A chunk is a letter for its role and the
// agent's own id, other updates are words. What chunks say are whole sentences.
func TestRuns(t *testing.T) {
	kinds := map[byte]string{'u': "user_message_chunk", 'a': "agent_message_chunk", 't': "agent_thought_chunk"}
	others := map[string]string{
		"call":       `{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}`,
		"update":     `{"sessionUpdate":"tool_call_update","toolCallId":"c"}`,
		"compaction": `{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"}`,
		"summary":    `{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"s"}}`,
		"usage":      `{"sessionUpdate":"usage_update","used":1,"size":2}`,
		"commands":   `{"sessionUpdate":"available_commands_update","availableCommands":[]}`,
		"unknown":    `{"sessionUpdate":"weather"}`,
		"task":       `{"sessionUpdate":"tool_call","toolCallId":"task","title":"t","status":"in_progress"}`,
		"below":      `{"sessionUpdate":"tool_call","toolCallId":"b","title":"t","_meta":{"claudeCode":{"parentToolUseId":"task"}}}`,
		"begins":     `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"}`,
		"grows":      `{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[]}`,
		"ends":       `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`,
		"fails":      `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}`,
		"late":       `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","title":"late"}`,
		"plan":       `{"sessionUpdate":"plan","entries":[]}`,
		"notice":     `{"sessionUpdate":"notice","severity":"info","title":"t"}`,
	}
	for wire, want := range map[string]string{
		"a a a":            "1 1 1",
		"a t a":            "1 2 3",
		"u u a":            "1 1 2",
		"a1 a1 a2 a1":      "1 1 2 3",
		"a1 t1":            "1 2",
		"a a1 a":           "1 2 3",
		"a call a":         "1 2",
		"a update a":       "1 2",
		"a1 update a1":     "1 2",
		"t compaction t":   "1 2",
		"a summary a":      "1 2",
		"a usage a":        "1 1",
		"a commands a":     "1 1",
		"a unknown a":      "1 1",
		"a plan a":         "1 2",
		"a1 plan a1":       "1 2",
		"a notice a":       "1 2",
		"a1 notice a1":     "1 1",
		"a1 permission a1": "1 2",

		"call a begins a ends a late a":     "1 2 3 3",
		"call a1 begins a1 ends a1 late a1": "1 1 1 1",
		"call begins a grows a":             "1 1",
		"call ends a fails a":               "1 1",
		"call a1 permission a1":             "1 1",
		"call a permission a":               "1 2",
		"task a1 below a1":                  "1 1",
		"call a1 turn a1 late a1":           "1 2 2",
		"call ends a late a turn a late a":  "1 1 2 2",
		"a permission a":                    "1 2",
		"a turn a":                          "1 2",
		"a start a":                         "1 2",
		"a turn a start a a":                "1 2 3 3",
		"start a reply a":                   "1 2",
		"a other a":                         "1 1 1",
		"a other call a":                    "1 1 1",
	} {
		t.Run(wire, func(t *testing.T) {
			var script []fakeagent.Step
			prompts := 0
			for _, word := range strings.Fields(wire) {
				switch {
				case word == "permission":
					script = append(script, fakeagent.Request(7, "session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":[]}`), fakeagent.Answer(7))
				case word == "start":
					script = append(script, fakeagent.Update(others["usage"]), fakeagent.Expect("session/prompt"))
					prompts++
				case word == "reply":
					script = append(script, fakeagent.Reply(`{"stopReason":"end_turn"}`))
				case word == "turn":
					script = append(script, fakeagent.Update(others["usage"]), fakeagent.Expect("session/prompt"), fakeagent.Reply(`{"stopReason":"end_turn"}`))
					prompts++
				case word == "other":
					script = append(script, fakeagent.Step{Session: "s2", Update: json.RawMessage(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`)})
				case word == "call" && strings.Contains(wire, "other"):
					script = append(script, fakeagent.Step{Session: "s2", Update: json.RawMessage(others["call"])})
				case others[word] != "":
					script = append(script, fakeagent.Update(others[word]))
				default:
					update := fmt.Sprintf(`{"sessionUpdate":%q,"content":{"type":"text","text":"X."}`, kinds[word[0]])
					if id := word[1:]; id != "" {
						update += fmt.Sprintf(`,"messageId":%q`, id)
					}
					script = append(script, fakeagent.Update(update+"}"))
				}
			}
			p := begun(t, script...)
			var ids []string
			told := func(e any) {
				switch e := e.(type) {
				case PermissionRequest:
					e.Reply("")
				case updated:
					switch u := e.Update.(type) {
					case MessageChunk:
						ids = append(ids, u.MessageID)
					case UsageUpdate:
						if prompts > 0 {
							prompts--
							p.prompt(Text{"go on"})
						}
					}
				}
			}
			for done := false; !done; {
				select {
				case e := <-p.events:
					told(e)
				case <-p.played:
					done = true
				case <-time.After(must.Patience):
					t.Fatal("the script stands still")
				}
			}
			for len(p.events) > 0 {
				told(<-p.events)
			}
			check.Equal(t, strings.Join(ids, " "), want, "messages %s")
		})
	}
}

func TestPrompt(t *testing.T) {
	p := begun(t, fakeagent.Expect("session/prompt"), fakeagent.Message("hello"), fakeagent.Reply(`{"stopReason":"max_tokens"}`))
	blocks := []Content{
		Text{"a"}, Image{"image/png", "AA==", ""}, Audio{"audio/wav", "AA=="},
		ResourceLink{URI: "file:///a", Name: "a"}, Resource{URI: "file:///a", Text: "t"}, Resource{URI: "file:///b", Blob: "AA=="},
		UnknownContent{Type: "smell"},
	}
	p.prompt(blocks...)
	check.Equal[Update](t, next[updated](p).Update, (MessageChunk{MessageID: "1", Role: RoleAgent, Content: Text{"hello"}}),
		"told %#v")
	if o := next[outcome[StopReason]](p); o.err != nil || o.value != StopMaxTokens {
		t.Errorf("ended with %+v", o)
	}
	var sent struct {
		SessionID string `json:"sessionId"`
		Prompt    []struct {
			Type     string            `json:"type"`
			Resource map[string]string `json:"resource"`
		} `json:"prompt"`
	}
	heard := p.finish()
	must.Do(t, json.Unmarshal(heard[len(heard)-1].Params, &sent))
	var types []string
	for _, b := range sent.Prompt {
		types = append(types, b.Type)
	}
	if text, blob := sent.Prompt[4].Resource, sent.Prompt[5].Resource; text["text"] != "t" || blob["blob"] != "AA==" {
		t.Errorf("resources %v and %v", text, blob)
	}
	if got := strings.Join(types, " "); sent.SessionID != "s1" || got != "text image audio resource_link resource resource text" {
		t.Errorf("sent to %s: %s", sent.SessionID, got)
	}
}

// The tokens of a turn are told before its end, in both versions.
func TestTokensOfATurn(t *testing.T) {
	const usage = `"usage":{"totalTokens":21,"inputTokens":1,"outputTokens":2,` +
		`"thoughtTokens":3,"cachedReadTokens":4,"cachedWriteTokens":5}`
	ask := fakeagent.Expect("session/prompt")
	for version, script := range map[int][]fakeagent.Step{
		1: {ask, fakeagent.Reply(`{"stopReason":"end_turn",` + usage + `}`)},
		2: {ask, fakeagent.Reply(taken), says(idle + "," + usage)},
	} {
		p := agreed(t, version, script...)
		p.prompt("hi")
		want := updated{"s1", TurnTokens{Total: 21, Input: 1, Output: 2, Thought: 3, Read: 4, Written: 5}}
		check.Equal[any](t, receive(t, p.events), want, "version %d: told is %+v", version)
		check.Equal[any](t, receive(t, p.events), outcome[StopReason]{StopEndTurn, nil}, "version %d: it ended with %+v", version)
	}
}

func TestPromptEnds(t *testing.T) {
	for name, test := range map[string]struct {
		answer fakeagent.Step
		reason StopReason
		err    string
	}{
		"end_turn":          {fakeagent.Reply(`{"stopReason":"end_turn"}`), StopEndTurn, ""},
		"max_turn_requests": {fakeagent.Reply(`{"stopReason":"max_turn_requests"}`), StopMaxTurnRequests, ""},
		"refusal":           {fakeagent.Reply(`{"stopReason":"refusal"}`), StopRefusal, ""},
		"cancelled":         {fakeagent.Reply(`{"stopReason":"cancelled"}`), StopCancelled, ""},
		"unknown":           {fakeagent.Reply(`{"stopReason":"bored"}`), "bored", ""},
		"no reason":         {fakeagent.Reply(`{}`), "", "malformed"},
		"an error":          {fakeagent.Fail(-32603, "overloaded"), "", "overloaded"},
		"the end":           {fakeagent.Exit(0), "", "the connection is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := begun(t, fakeagent.Expect("session/prompt"), test.answer)
			p.prompt(Text{"a"})
			o := next[outcome[StopReason]](p)
			if o.value != test.reason || (o.err == nil) != (test.err == "") || (o.err != nil && !strings.Contains(o.err.Error(), test.err)) {
				t.Errorf("ended with %+v", o)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	p := begun(t, fakeagent.Expect("session/prompt"), fakeagent.Expect("session/cancel"), fakeagent.Message("late"), fakeagent.Reply(`{"stopReason":"cancelled"}`))
	p.prompt(Text{"a"})
	p.Cancel("s1")
	next[updated](p) // what the agent still says comes first
	if o := next[outcome[StopReason]](p); o.value != StopCancelled {
		t.Errorf("ended with %+v", o)
	}
}

const permission = `{"sessionId":"s1","toolCall":{"toolCallId":"c","title":"rm","kind":"execute"},
	"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`

func askPermission(t *testing.T, then ...fakeagent.Step) (*peer, PermissionRequest) {
	t.Helper()
	ask := fakeagent.Request(7, "session/request_permission", strings.ReplaceAll(permission, "\n", ""))
	p := begun(t, append([]fakeagent.Step{ask}, then...)...)
	return p, next[PermissionRequest](p)
}

func TestPermission(t *testing.T) {
	for option, want := range map[string]string{
		"n": `{"outcome":{"outcome":"selected","optionId":"n"}}`,
		"":  `{"outcome":{"outcome":"cancelled"}}`,
	} {
		p, r := askPermission(t, fakeagent.Answer(7))
		call := ToolCallPatch{ID: "c", Title: acp.Set("rm"), Kind: acp.Set(KindExecute)}
		options := []PermissionOption{{"y", "Yes", "allow_once"}, {"n", "No", "reject_once"}}
		if r.SessionID != "s1" || !reflect.DeepEqual(r.Call, call) || !reflect.DeepEqual(r.Options, options) {
			t.Errorf("asked %+v", r)
		}
		r.Reply(option)
		r.Reply("y") // only the first answer counts
		receive(t, r.Context.Done())
		check.Equal(t, p.result("7"), want, "answered %s")
	}
}

func TestPermissionIsWithdrawn(t *testing.T) {
	p, r := askPermission(t, fakeagent.Notify("$/cancel_request", `{"requestId":7}`), fakeagent.Answer(7))
	receive(t, r.Context.Done())
	r.Reply("")
	check.Contains(t, p.result("7"), `"code":-32800`, "answered %s")
}

func TestPermissionAtTheEnd(t *testing.T) {
	_, r := askPermission(t, fakeagent.Exit(1))
	receive(t, r.Context.Done())
	r.Reply("") // goes nowhere, and harms nothing
}

func TestAllows(t *testing.T) {
	for kind, want := range map[string]bool{
		"allow_once": true, "allow_always": true, "reject_once": false, "reject_always": false, "maybe": true,
	} {
		check.Equal(t, (PermissionOption{Kind: kind}).Allows(), want, "%s: %v", kind)
	}
}

func TestReadTextFile(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "/a", Err: fs.ErrNotExist}
	for name, test := range map[string]struct {
		agent     string
		overrides map[string]bool
		err       error
		want      string
	}{
		"a text":                        {"fake", nil, nil, `{"content":"text"}`},
		"a missing file":                {"fake", nil, missing, `{"code":-32002,"message":"Resource not found: open /a: file does not exist"}`},
		"another error":                 {"fake", nil, errors.New("is a folder"), `{"code":-32603,"message":"is a folder"}`},
		"an error with a code":          {"fake", nil, &acp.Error{Code: -32602, Message: "no path"}, `{"code":-32602,"message":"no path"}`},
		"withdrawn":                     {"fake", nil, context.Canceled, `{"code":-32800,"message":"Request cancelled"}`},
		"a missing file, gemini":        {"gemini-cli", nil, missing, `{"content":""}`},
		"another error, gemini":         {"gemini-cli", nil, errors.New("is a folder"), `{"code":-32603,"message":"is a folder"}`},
		"a missing file, gemini mended": {"gemini-cli", map[string]bool{"empty_for_missing": false}, missing, `{"code":-32002,"message":"Resource not found: open /a: file does not exist"}`},
		"a missing file, the same bug":  {"fake", map[string]bool{"empty_for_missing": true}, missing, `{"content":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, test.overrides, append(fakeagent.Start(test.agent),
				fakeagent.Request(7, "fs/read_text_file", `{"sessionId":"s1","path":"/a","line":2,"limit":3}`), fakeagent.Answer(7))...)
			p.begin()
			r := next[ReadTextFile](p)
			if r.SessionID != "s1" || r.Path != "/a" || *r.Line != 2 || *r.Limit != 3 {
				t.Errorf("asked %+v", r)
			}
			text := "text"
			if test.err != nil {
				text = ""
			}
			r.Reply(text, test.err)
			check.Equal(t, p.result("7"), test.want, "answered %s")
		})
	}
}

func TestReadTheWholeFile(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "fs/read_text_file", `{"sessionId":"s1","path":"/a","line":null}`), fakeagent.Answer(7))
	r := next[ReadTextFile](p)
	if r.Line != nil || r.Limit != nil {
		t.Errorf("asked %+v", r)
	}
	r.Reply("", nil)
}

func TestWriteTextFile(t *testing.T) {
	for want, err := range map[string]error{
		`{}`:                                    nil,
		`{"code":-32603,"message":"disk full"}`: errors.New("disk full"),
	} {
		p := begun(t, fakeagent.Request(7, "fs/write_text_file", `{"sessionId":"s1","path":"/a","content":"text\n"}`), fakeagent.Answer(7))
		r := next[WriteTextFile](p)
		if r.SessionID != "s1" || r.Path != "/a" || r.Text != "text\n" {
			t.Errorf("asked %+v", r)
		}
		r.Reply(err)
		check.Equal(t, p.result("7"), want, "answered %s")
	}
}

func TestCreateTerminal(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "terminal/create",
		`{"sessionId":"s1","command":"make","args":["-j","2"],"env":[{"name":"K","value":"V=W"}],"cwd":"/x","outputByteLimit":4294967296000}`), fakeagent.Answer(7))
	r := next[CreateTerminal](p)
	reply := r.Reply
	r.Reply = nil
	want := CreateTerminal{SessionID: "s1", Command: "make", Dir: "/x", Args: []string{"-j", "2"}, Env: []string{"K=V=W"}, OutputByteLimit: 1 << 30}
	check.Deep(t, r, want, "asked %+v")
	reply("t1", nil)
	check.Equal(t, p.result("7"), `{"terminalId":"t1"}`, "answered %s")
}

func TestNoOutputIsWanted(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "terminal/create", `{"sessionId":"s1","command":"make","outputByteLimit":0}`), fakeagent.Answer(7))
	r := next[CreateTerminal](p)
	if !r.NoOutput {
		t.Errorf("asked %+v", r)
	}
	r.Reply("t1", nil)
}

func TestCreateTerminalFails(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "terminal/create", `{"sessionId":"s1","command":"make"}`), fakeagent.Answer(7))
	r := next[CreateTerminal](p)
	if r.OutputByteLimit != 0 || r.NoOutput || r.Dir != "" {
		t.Errorf("asked %+v", r)
	}
	r.Reply("", errors.New("no such command"))
	check.Equal(t, p.result("7"), `{"code":-32603,"message":"no such command"}`, "answered %s")
}

func TestTerminals(t *testing.T) {
	two := 2
	for name, test := range map[string]struct {
		method string
		output TerminalOutput
		err    error
		want   string
	}{
		"output":            {"output", TerminalOutput{Text: "a", Truncated: true}, nil, `{"output":"a","truncated":true}`},
		"output and code":   {"output", TerminalOutput{Exit: &TerminalExit{Code: &two}}, nil, `{"output":"","truncated":false,"exitStatus":{"exitCode":2}}`},
		"output and signal": {"output", TerminalOutput{Exit: &TerminalExit{Signal: "SIGKILL"}}, nil, `{"output":"","truncated":false,"exitStatus":{"signal":"SIGKILL"}}`},
		"output of none":    {"output", TerminalOutput{}, errors.New("no terminal t1"), `{"code":-32603,"message":"no terminal t1"}`},
		"kill":              {"kill", TerminalOutput{}, nil, `{}`},
		"kill of none":      {"kill", TerminalOutput{}, errors.New("no terminal t1"), `{"code":-32603,"message":"no terminal t1"}`},
		"release":           {"release", TerminalOutput{}, nil, `{}`},
		"release of none":   {"release", TerminalOutput{}, errors.New("no terminal t1"), `{"code":-32603,"message":"no terminal t1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, nil, fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":1}`),
				fakeagent.Request(7, "terminal/"+test.method, `{"sessionId":"s1","terminalId":"t1"}`), fakeagent.Answer(7))
			p.output, p.err = test.output, test.err
			if _, err := p.initialize(); err != nil {
				t.Fatal(err)
			}
			check.Equal(t, next[asked](p), (asked{test.method, "s1", "t1"}), "asked %+v")
			check.Equal(t, p.result("7"), test.want, "answered %s")
		})
	}
}

// While the agent waits for an exit, later messages are handled.
func TestWaitForTerminalExit(t *testing.T) {
	zero := 0
	for name, test := range map[string]struct {
		exit TerminalExit
		err  error
		want string
	}{
		"code":   {TerminalExit{Code: &zero}, nil, `{"exitCode":0}`},
		"signal": {TerminalExit{Signal: "SIGTERM"}, nil, `{"signal":"SIGTERM"}`},
		"error":  {TerminalExit{}, errors.New("released"), `{"code":-32603,"message":"released"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := begun(t, fakeagent.Request(7, "terminal/wait_for_exit", `{"sessionId":"s1","terminalId":"t1"}`), fakeagent.Message("meanwhile"), fakeagent.Answer(7))
			w := next[waited](p)
			check.Equal(t, w.asked, (asked{"wait", "s1", "t1"}), "asked %+v")
			next[updated](p)
			w.Reply(test.exit, test.err)
			check.Equal(t, p.result("7"), test.want, "answered %s")
		})
	}
}

func TestWaitIsWithdrawn(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "terminal/wait_for_exit", `{"sessionId":"s1","terminalId":"t1"}`),
		fakeagent.Notify("$/cancel_request", `{"requestId":7}`), fakeagent.Answer(7))
	w := next[waited](p)
	receive(t, w.Context.Done())
	w.Reply(TerminalExit{}, w.Context.Err())
	check.Contains(t, p.result("7"), `"code":-32800`, "answered %s")
}

func TestRequestsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		method, params string
		code           string
	}{
		"unknown method":              {"fs/delete", `{}`, "-32601"},
		"a path that is a number":     {"fs/read_text_file", `{"sessionId":"s1","path":7}`, "-32602"},
		"no options":                  {"session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c"}}`, "-32602"},
		"no call":                     {"session/request_permission", `{"sessionId":"s1","options":[]}`, "-32602"},
		"params that are a list":      {"terminal/output", `[]`, "-32602"},
		"a terminal without its name": {"terminal/kill", `{"sessionId":"s1"}`, "-32602"},
	} {
		t.Run(name, func(t *testing.T) {
			p := begun(t, fakeagent.Request(7, test.method, test.params), fakeagent.Answer(7))
			check.Contains(t, p.result("7"), `"code":`+test.code, "answered %s")
			check.Equal(t, len(p.events), 0, "all the same the client is asked %d times")
		})
	}
}

func TestSteer(t *testing.T) {
	for name, test := range map[string]struct {
		answer fakeagent.Step
		became Steering
		err    string
	}{
		"injected":     {fakeagent.Reply(`{"outcome":"injected"}`), SteeringTaken, ""},
		"a turn began": {fakeagent.Reply(`{"outcome":"startedNewTurn"}`), SteeringTaken, ""},
		"no turn runs": {fakeagent.Reply(`{"outcome":"promptRequired"}`), SteeringLeft, ""},
		"failed":       {fakeagent.Reply(`{"outcome":"failed"}`), SteeringLeft, ""},
		"unknown":      {fakeagent.Reply(`{"outcome":"pondered"}`), SteeringLeft, ""},
		"no outcome":   {fakeagent.Reply(`{}`), SteeringLeft, "malformed"},
		"an error":     {fakeagent.Fail(-32601, "no such method"), SteeringLeft, "no such method"},
	} {
		t.Run(name, func(t *testing.T) {
			p := begun(t, fakeagent.Expect("session/prompt"), fakeagent.Message("before"),
				fakeagent.Expect("_session/steering"), test.answer, fakeagent.Message("after"))
			p.prompt(Text{"a"})
			before, _ := next[updated](p).Update.(MessageChunk)
			p.Steer("s1", []Content{Text{"rather so"}}, func(became Steering, err error) { p.events <- outcome[Steering]{became, err} })
			if o := next[outcome[Steering]](p); o.value != test.became || (o.err == nil) != (test.err == "") ||
				o.err != nil && !strings.Contains(o.err.Error(), test.err) {
				t.Fatalf("got %+v", o)
			}
			// What comes behind words that were taken is a message of its own.
			after, _ := next[updated](p).Update.(MessageChunk)
			if (after.MessageID != before.MessageID) != (test.became == SteeringTaken) {
				t.Errorf("before is %+v, after %+v", before, after)
			}
			heard := p.finish()
			want := `{"sessionId":"s1","prompt":[{"type":"text","text":"rather so"}],"_meta":{"steering":{"idleBehavior":"promptRequired"}}}`
			check.Equal(t, string(heard[len(heard)-1].Params), want, "sent was %s")
		})
	}
}
