package session

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// talkV2 is an agent that speaks version 2, with a session "s1".
func talkV2(t *testing.T, script ...fakeagent.Step) *talk {
	t.Helper()
	start := []fakeagent.Step{fakeagent.Expect("initialize"), fakeagent.Reply(answerV2)}
	p := negotiate(t, 2, append(start, script...)...)
	if p.err != nil {
		t.Fatal(p.err)
	}
	t.Cleanup(func() {
		v := schema.ValidatorV2(t)
		for _, m := range p.finish()[1:] {
			if strings.HasPrefix(m.Method, "_") || m.Method == "" {
				continue
			}
			kind := schema.Request
			if m.ID == nil {
				kind = schema.Notification
			}
			if err := v.Check(m.Method, kind, schema.Agent, m.Params); err != nil {
				t.Errorf("%s: %v", m.Params, err)
			}
		}
	})
	return p
}

func updateOf(session, fields string) fakeagent.Step {
	return fakeagent.Notify("session/update", `{"sessionId":"`+session+`","update":{"sessionUpdate":`+fields+`}}`)
}

func says(fields string) fakeagent.Step { return updateOf("s1", fields) }

const (
	running = `"state_update","state":"running"`
	idle    = `"state_update","state":"idle","stopReason":"end_turn"`
	echoed  = `"user_message","messageId":"u","content":[{"type":"text","text":"hi"}]`
	taken   = `{"messageId":"u"}`
)

// story is all that the client is told, in words, until the script is played.
func (p *talk) story() string {
	p.t.Helper()
	receive(p.t, p.played)
	var words []string
	by := func(of string) string {
		if of != "" {
			return " by " + of
		}
		return ""
	}
	for len(p.events) > 0 {
		switch e := (<-p.events).(type) {
		case updated:
			switch u := e.Update.(type) {
			case MessageChunk:
				role := map[Role]string{RoleUser: "user", RoleAgent: "agent", RoleThought: "thought"}[u.Role]
				words = append(words, fmt.Sprintf("%s+%s:%s", role, u.MessageID, u.Content.(Text).Text)+by(u.Of))
			case MessagePatch:
				words = append(words, fmt.Sprintf("%s=%v", u.MessageID, u.Content)+by(u.Of))
			case ToolCallPatch:
				words = append(words, strings.TrimSpace(fmt.Sprintf("call %s %s %s %s", u.ID, u.Title.Or(""), u.Status.Or(""), u.Parent.Or(""))))
			case Background:
				words = append(words, fmt.Sprintf("background %v%v", u.Calls, u.Terminals))
			case TurnTokens:
				words = append(words, fmt.Sprintf("tokens %d", u.Total))
			default:
				words = append(words, fmt.Sprintf("%T", u))
			}
			if e.SessionID != "s1" {
				words[len(words)-1] += " in " + e.SessionID
			}
		case OwnWork:
			words = append(words, fmt.Sprintf("own work ended=%v %s", e.Ended, e.StopReason))
		case outcome[StopReason]:
			words = append(words, fmt.Sprintf("end %s %v", e.value, e.err))
		case PermissionRequest:
			words = append(words, fmt.Sprintf("permission in %s of %s below %s", e.SessionID, e.Call.ID, e.Call.Parent.Or("nothing")))
			e.Reply("")
		case string:
			words = append(words, e)
		default:
			words = append(words, fmt.Sprintf("%T", e))
		}
	}
	return strings.Join(words, "\n")
}

func (p *talk) prompt(words string) {
	p.Prompt("s1", []Content{Text{words}}, func(r StopReason, err error) { p.events <- outcome[StopReason]{r, err} })
}

// A prompt ends when its session has become idle after taking it, once.
func TestTurnsOfV2(t *testing.T) {
	ask, answer := fakeagent.Expect("session/prompt"), fakeagent.Reply(taken)
	for name, c := range map[string]struct {
		script []fakeagent.Step
		want   string
	}{
		"as claude does": {
			[]fakeagent.Step{ask, says(echoed), answer, says(running), says(`"agent_message_chunk","messageId":"a","content":{"type":"text","text":"ho"}`), says(idle), says(idle)},
			"user+u:hi\nagent+a:ho\nend end_turn <nil>",
		},
		"as codex does": {
			[]fakeagent.Step{ask, says(running), says(`"user_message_chunk","messageId":"u","content":{"type":"text","text":"hi"}`), answer, says(idle)},
			"user+u:hi\nend end_turn <nil>",
		},
		"idle comes before the answer": {
			[]fakeagent.Step{ask, says(echoed), says(running), says(idle), answer},
			"user+u:hi\nend end_turn <nil>",
		},
		"idle of what came before": {
			[]fakeagent.Step{ask, says(idle), says(echoed), answer, says(running), says(`"state_update","state":"idle","stopReason":"refusal"`)},
			"user+u:hi\nend refusal <nil>",
		},
		"idle of what came before, and then not": {
			[]fakeagent.Step{ask, says(idle), says(running), answer, says(`"state_update","state":"idle","stopReason":"refusal"`)},
			"end refusal <nil>",
		},
		"no reason":        {[]fakeagent.Step{ask, answer, says(`"state_update","state":"idle"`)}, "end end_turn <nil>"},
		"a reason to come": {[]fakeagent.Step{ask, answer, says(`"state_update","state":"idle","stopReason":"bored"`)}, "end bored <nil>"},
		"an error": {
			[]fakeagent.Step{ask, answer, says(`"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"full"}`)},
			"end  full (-32603)",
		},
		"an error without words": {[]fakeagent.Step{ask, answer, says(`"state_update","state":"idle","stopReason":"error"`)}, "end  it does not say which"},
		"refused":                {[]fakeagent.Step{ask, fakeagent.Fail(-32603, "no")}, "end  no (-32603)"},
		"other states are busy": {
			[]fakeagent.Step{ask, answer, says(`"state_update","state":"requires_action"`), says(`"state_update","state":"_dreaming"`), says(idle)},
			"end end_turn <nil>",
		},
		"tokens and background": {
			[]fakeagent.Step{ask, answer, says(idle + `,"usage":{"totalTokens":7},"background":[{"type":"terminal","terminalId":"t"},{"type":"tool_call","toolCallId":"c"},` +
				`{"type":"subagent","sessionId":"k"},{"type":"_x"}]`)},
			"background [c subagent:k][t]\ntokens 7\nend end_turn <nil>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := talkV2(t, c.script...)
			p.prompt("hi")
			check.Equal(t, p.story(), c.want, "got\n%s")
		})
	}
}

// What the agent does by itself is told as work of its own, and a snapshot that says so again is not.
func TestOwnWorkOfV2(t *testing.T) {
	p := talkV2(t, says(running), says(running), says(idle), says(idle), says(`"state_update","state":"idle"`))
	check.Equal(t, p.story(), "own work ended=false \nown work ended=true end_turn", "got\n%s")
}

// A prompt that comes into such work while nobody has heard of it yet ends with it.
func TestPromptIntoOwnWorkOfV2(t *testing.T) {
	p := talkV2(t, says(running), fakeagent.Expect("session/prompt"), says(echoed), fakeagent.Reply(taken), says(idle))
	if w, ok := receive(t, p.events).(OwnWork); !ok || w.Ended {
		t.Errorf("the work is told as %+v", w)
	}
	p.prompt("hi")
	check.Equal(t, p.story(), "user+u:hi\nend end_turn <nil>", "got\n%s")
}

// Messages grow and are replaced by their ids.
func TestMessagesOfV2(t *testing.T) {
	p := talkV2(t,
		says(`"agent_message_chunk","messageId":"a","content":{"type":"text","text":"one"}`),
		says(`"agent_message","messageId":"b","content":[{"type":"text","text":"two"},{"type":"text","text":"three"}]`),
		says(`"agent_message","messageId":"a","content":[{"type":"text","text":"uno"}]`),
		says(`"agent_message","messageId":"b"`),
		says(`"agent_message","messageId":"b","content":null`),
		says(`"agent_thought","messageId":"c","content":[{"type":"text","text":"hm"}]`))
	want := "agent+a:one\nagent+b:two\nagent+b:three\na=[{uno}]\nb=[]\nthought+c:hm"
	check.Equal(t, p.story(), want, "got\n%s")
}

// What sub-agents do stands below a call of the session that began them, and their permissions are asked there.
func TestSubagentsOfV2(t *testing.T) {
	p := talkV2(t,
		says(`"subagent_update","sessionId":"k","title":"Look","description":"general","state":{"state":"running"}`),
		says(`"session_message","messageId":"m","senderSessionId":"s1","recipientSessionId":"k"`),
		updateOf("k", running),
		updateOf("k", `"config_option_update","configOptions":[]`),
		updateOf("k", `"plan_update","plan":{"type":"items","planId":"p","entries":[]}`),
		updateOf("k", `"plan_removed","planId":"p"`),
		updateOf("k", `"agent_message_chunk","messageId":"a","content":{"type":"text","text":"I look"}`),
		updateOf("k", `"agent_message","messageId":"a","content":[{"type":"text","text":"I see"}]`),
		updateOf("k", `"agent_thought","messageId":"t","content":[{"type":"text","text":"hm"}]`),
		updateOf("k", `"tool_call_update","toolCallId":"c","title":"ls","status":"pending","_meta":{"claudeCode":{"parentToolUseId":"mine"}}`),
		updateOf("k", `"subagent_update","sessionId":"l","title":"Deeper","state":{"state":"running"}`),
		updateOf("l", `"tool_call_update","toolCallId":"d","title":"cat"`),
		fakeagent.Request(9, "session/request_permission", `{"sessionId":"k","title":"ls?","subject":{"type":"tool_call","toolCall":{"toolCallId":"c"}},"options":[]}`),
		says(`"subagent_update","sessionId":"l","state":{"state":"idle","stopReason":"error"}`),
		says(`"subagent_update","sessionId":"k","state":{"state":"idle"}`),
		says(`"subagent_update","sessionId":"s1"`))
	want := "call subagent:k Look in_progress\nagent+a:I look by subagent:k\na=[{I see}] by subagent:k\n" +
		"thought+t:hm by subagent:k\ncall k/c ls pending subagent:k\n" +
		"call subagent:l Deeper in_progress subagent:k\ncall l/d cat  subagent:l\n" +
		"permission in s1 of k/c below subagent:k\n" +
		"call subagent:l  failed\ncall subagent:k  completed\nsession.UnknownUpdate"
	check.Equal(t, p.story(), want, "got\n%s")
}

// Sessions are made, taken up with and without what was said, listed, set and closed.
func TestSessionsOfV2(t *testing.T) {
	choices := `"configOptions":[
		{"configId":"mode","name":"Mode","description":"M","category":"mode","type":"select","currentValue":"a","options":[
			{"groupId":"g","name":"G","options":[{"value":"a","name":"A","description":"AA"}]}]},
		{"configId":"web","name":"Web","type":"boolean","currentValue":true},{"configId":"odd","name":"Odd","type":"_odd"}],
		"availableCommands":[{"type":"command","name":"plan","description":"Plan","input":{"type":"text","hint":"what"}}]`
	options := []Option{
		{
			ID: "mode", Name: "Mode", Description: "M", Category: "mode", Type: "select", Value: "a", Via: ViaConfig,
			Choices: []Choice{{Value: "a", Name: "A", Description: "AA", Group: "G"}},
		},
		{ID: "web", Name: "Web", Type: "boolean", Value: "true", Via: ViaConfig},
	}
	p := talkV2(t,
		fakeagent.Expect("session/new"), fakeagent.Reply(`{"sessionId":"s1",`+choices+`}`),
		fakeagent.Expect("session/resume"), fakeagent.Reply(`{`+choices+`}`),
		fakeagent.Expect("session/resume"), fakeagent.Reply(`{}`),
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"sessions":[{"sessionId":"s1","cwd":"/a","title":"T","updatedAt":"2026-01-01T00:00:00Z"}],"nextCursor":"2"}`),
		fakeagent.Expect("session/list"), fakeagent.Reply(`{"sessions":[{"sessionId":"s2","cwd":"/b"}]}`),
		fakeagent.Expect("session/set_config_option"), fakeagent.Reply(`{`+strings.Split(choices, `,
		"available`)[0]+`}`),
		fakeagent.Expect("session/set_config_option"), fakeagent.Reply(`{"configOptions":[]}`),
		fakeagent.Expect("session/delete"), fakeagent.Reply(`{}`),
		fakeagent.Expect("auth/login"), fakeagent.Reply(`{}`),
		fakeagent.Expect("auth/logout"), fakeagent.Reply(`{}`),
		fakeagent.Expect("session/close"), fakeagent.Fail(-32002, "gone"),
		fakeagent.Expect("session/cancel"))
	setup := func(open func(func(Setup, error)) func()) Setup {
		t.Helper()
		done := make(chan outcome[Setup], 1)
		open(func(s Setup, err error) { done <- outcome[Setup]{s, err} })
		o := receive(t, done)
		if o.err != nil {
			t.Fatal(o.err)
		}
		return o.value
	}
	full := Setup{SessionID: "s1", Options: options, Commands: []Command{{Name: "plan", Description: "Plan", Hint: "what"}}}
	check.Deep(t, setup(func(f func(Setup, error)) func() { return p.NewSession(Place{Cwd: "/a"}, f) }), full,
		"new is %+v")
	check.Deep(t, setup(func(f func(Setup, error)) func() { return p.LoadSession("s1", Place{Cwd: "/a"}, f) }), full,
		"loaded is %+v")
	if got := setup(func(f func(Setup, error)) func() { return p.ResumeSession("s1", Place{Cwd: "/a"}, f) }); !reflect.DeepEqual(got, Setup{SessionID: "s1"}) {
		t.Errorf("resumed is %+v", got)
	}
	listed := make(chan outcome[[]Stored], 1)
	p.ListSessions(false, func(l []Stored, err error) { listed <- outcome[[]Stored]{l, err} })
	if o := receive(t, listed); o.err != nil || !reflect.DeepEqual(o.value, []Stored{{SessionID: "s1", Title: "T", Cwd: "/a", UpdatedAt: "2026-01-01T00:00:00Z"}, {SessionID: "s2", Cwd: "/b"}}) {
		t.Errorf("the list is %+v", o)
	}
	set := make(chan outcome[[]Option], 1)
	for _, o := range options {
		p.SetOption("s1", o, o.Value, func(l []Option, err error) { set <- outcome[[]Option]{l, err} })
		if o := receive(t, set); o.err != nil {
			t.Error(o.err)
		}
	}
	done := make(chan error, 1)
	for _, ask := range []func(func(error)) func(){
		func(f func(error)) func() { return p.DeleteSession("s1", f) }, func(f func(error)) func() { return p.Authenticate("m", f) }, p.Logout,
	} {
		ask(func(err error) { done <- err })
		must.Do(t, receive(t, done))
	}
	p.Close("s1")
	p.Cancel("s1")
	receive(t, p.played)
	var values []string
	for _, m := range p.finish() {
		if m.Method == "session/set_config_option" || m.Method == "session/resume" {
			values = append(values, string(m.Params))
		}
	}
	want := []string{
		`{"sessionId":"s1","cwd":"/a","replayFrom":{"type":"start"}}`, `{"sessionId":"s1","cwd":"/a"}`,
		`{"sessionId":"s1","configId":"mode","type":"id","value":"a"}`, `{"sessionId":"s1","configId":"web","type":"boolean","value":true}`,
	}
	if !reflect.DeepEqual(values, want) {
		t.Errorf("sent %s", strings.Join(values, "\n"))
	}
}

// An elicitation of a sub-agent is its root's, and unknown requests are somebody else's.
func TestRequestsOfV2(t *testing.T) {
	p := talkV2(t,
		says(`"subagent_update","sessionId":"k","state":{"state":"running"}`),
		fakeagent.Request(7, "elicitation/create", `{"sessionId":"k","message":"Who?","mode":"url","url":"https://a.b","elicitationId":"e"}`), fakeagent.Answer(7),
		fakeagent.Request(8, "fs/read_text_file", `{"sessionId":"s1","path":"/a"}`), fakeagent.Answer(8),
		fakeagent.Notify("elicitation/complete", `{"elicitationId":"e"}`))
	receive(t, p.events)
	e, ok := receive(t, p.events).(ElicitationRequest)
	if !ok || e.SessionID != "s1" {
		t.Fatalf("asked %+v", e)
	}
	e.Reply(ElicitationAnswer{Action: ElicitationDecline})
	check.Equal[any](t, receive(t, p.events), completed("e"), "then came %+v")
	receive(t, p.played)
	for _, m := range p.finish() {
		if string(m.ID) == "8" && !strings.Contains(string(m.Error), fmt.Sprint(acp.CodeMethodNotFound)) {
			t.Errorf("a file is served in version 2: %s %s", m.Result, m.Error)
		}
	}
}

// What the agent says may be cancelled is, and nothing else.
func TestCancelCallInV2(t *testing.T) {
	const can, not = `"capabilities":{"cancel":{}}`, `"capabilities":null`
	p := talkV2(t,
		updateOf("s2", `"tool_call_update","toolCallId":"c2",`+can),
		says(`"tool_call_update","toolCallId":"c",`+can),
		says(`"tool_call_update","toolCallId":"once",`+can), says(`"tool_call_update","toolCallId":"once",`+not),
		says(`"tool_call_update","toolCallId":"once","title":"T"`),
		says(`"terminal_update","terminalId":"t",`+can),
		says(`"subagent_update","sessionId":"k",`+can),
		updateOf("k", `"tool_call_update","toolCallId":"kc",`+can),
		says(`"subagent_update","sessionId":"l","capabilities":{}`),
		fakeagent.Expect("tool_call/cancel"), fakeagent.Reply(`{}`),
		fakeagent.Expect("tool_call/cancel"), fakeagent.Fail(-32603, "too late"),
		fakeagent.Expect("terminal/cancel"), fakeagent.Reply(`{}`),
		fakeagent.Expect("session/cancel"),
		fakeagent.Expect("session/close"), fakeagent.Reply(`{}`),
		fakeagent.Expect("tool_call/cancel"), fakeagent.Reply(`{}`))
	for range 8 { // but for what is only said to be
		receive(t, p.events)
	}
	v := p.Agent.(*V2)
	for id, want := range map[string]bool{"s1": true, "s2": true, "k": false, "s3": false} {
		check.Equal(t, v.MayCancel(id), want, "that something in %s may be cancelled is %v", id)
	}
	done := make(chan error, 1)
	cancel := func(id string, terminals ...string) bool {
		return v.CancelCall(id, terminals, func(err error) { done <- err })
	}
	for _, id := range []string{"once", "unknown", "subagent:l"} {
		if cancel(id, "u") {
			t.Errorf("%s is cancelled", id)
		}
	}
	for _, c := range []struct{ id, terminal, err string }{{"c", "t", ""}, {"k/kc", "", "too late"}, {"other", "t", ""}, {"subagent:k", "", ""}} {
		if !cancel(c.id, c.terminal) {
			t.Fatalf("%s is not cancelled", c.id)
		}
		if err := receive(t, done); (err == nil) != (c.err == "") {
			t.Errorf("%s: %v", c.id, err)
		}
	}
	v.Close("s1")
	if cancel("c") {
		t.Error("a call of a closed session is cancelled")
	}
	if !cancel("c2") || receive(t, done) != nil {
		t.Error("a call of another session is not cancelled")
	}
	receive(t, p.played)
	var sent []string
	for _, m := range p.finish()[1:] {
		sent = append(sent, m.Method+" "+string(m.Params))
	}
	want := []string{
		`tool_call/cancel {"sessionId":"s1","toolCallId":"c"}`, `tool_call/cancel {"sessionId":"k","toolCallId":"kc"}`,
		`terminal/cancel {"sessionId":"s1","terminalId":"t"}`, `session/cancel {"sessionId":"k"}`, `session/close {"sessionId":"s1"}`,
		`tool_call/cancel {"sessionId":"s2","toolCallId":"c2"}`,
	}
	if !reflect.DeepEqual(sent, want) {
		t.Errorf("sent\n%s", strings.Join(sent, "\n"))
	}
}

// A prompt that was taken ends with the connection at the latest.
func TestTurnOfV2EndsWithTheConnection(t *testing.T) {
	p := talkV2(t, fakeagent.Expect("session/prompt"), fakeagent.Reply(taken), says(running))
	p.prompt("hi")
	receive(t, p.played)
	p.finish()
	if o, ok := receive(t, p.events).(outcome[StopReason]); !ok || !errors.Is(o.err, acp.ErrClosed) {
		t.Errorf("the turn ended with %+v", o)
	}
}
