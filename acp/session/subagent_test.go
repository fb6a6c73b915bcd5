package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// talkV1 is a talk in version 1 with an agent that has the session "s1".
func talkV1(t *testing.T, script ...fakeagent.Step) *talk {
	t.Helper()
	start := []fakeagent.Step{fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":1}`)}
	p := negotiate(t, 1, append(start, script...)...)
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p
}

// Sub-agents of version 1 are as those of version 2: what they do stands below a call, their permissions are asked in
// the user's session, and a call of theirs is another one than a call of that session with the same id.
func TestSubagentsOfV1(t *testing.T) {
	words := func(kind, text string) string {
		return fmt.Sprintf(`"%s","content":{"type":"text","text":"%s"}`, kind, text)
	}
	p := talkV1(t,
		says(`"tool_call","toolCallId":"c","title":"mine"`),
		says(words("agent_message_chunk", "I have it")),
		says(`"subagent_update","sessionId":"k","title":"Look","state":{"state":"running"}`),
		updateOf("k", words("user_message_chunk", "look")),
		updateOf("k", words("agent_message_chunk", "I look")),
		says(words("agent_message_chunk", " looked at")),
		updateOf("k", `"plan","entries":[]`),
		updateOf("k", `"plan_update","plan":{"type":"markdown","planId":"p","content":"# Mine"}`),
		updateOf("k", `"current_mode_update","currentModeId":"m"`),
		updateOf("k", `"tool_call","toolCallId":"c","title":"ls"`),
		updateOf("k", `"tool_call_update","toolCallId":"c","status":"completed"`),
		updateOf("k", `"subagent_update","sessionId":"l","title":"Deeper","state":{"state":"requires_action"}`),
		updateOf("l", `"tool_call","toolCallId":"d","title":"cat","_meta":{"claudeCode":{"parentToolUseId":"e"}}`),
		fakeagent.Request(9, "session/request_permission", `{"sessionId":"l","toolCall":{"toolCallId":"d"},"options":[]}`),
		says(`"subagent_update","sessionId":"l","state":{"state":"idle","stopReason":"cancelled"}`),
		says(`"subagent_update","sessionId":"k","title":null,"state":{"state":"unknown"}`),
		says(`"subagent_update","sessionId":"s1"`),
		says(`"subagent_update","sessionId":7`),
		says(`"session_message","content":[]`))
	want := "call c mine\nagent+1:I have it\ncall subagent:k Look in_progress\nagent+2:I look by subagent:k\nagent+3: looked at\n" +
		"call k/c ls  subagent:k\ncall k/c  completed subagent:k\n" +
		"call subagent:l Deeper in_progress subagent:k\ncall l/d cat  subagent:l\npermission in s1 of l/d below subagent:l\n" +
		"call subagent:l  cancelled\ncall subagent:k Sub-agent\nsession.UnknownUpdate\nsession.UnknownUpdate\nsession.UnknownUpdate"
	check.Equal(t, p.story(), want, "got\n%s")
}

// Each thing that is told of a sub-agent changes its call, and what is left out stays.
func TestReportsOfSubagents(t *testing.T) {
	patch := func(change func(*ToolCallPatch)) ToolCallPatch {
		p := ToolCallPatch{ID: "subagent:k"}
		change(&p)
		return p
	}
	stopped := func(s ToolCallStatus) ToolCallPatch { return patch(func(p *ToolCallPatch) { p.Status = acp.Set(s) }) }
	steps := []struct {
		fields string
		want   ToolCallPatch
	}{
		{`,"capabilities":{"cancel":{}}`, patch(func(p *ToolCallPatch) { p.Kind, p.Title = acp.Set(KindThink), acp.Set("Sub-agent") })},
		{`,"title":""`, patch(func(*ToolCallPatch) {})},
		{`,"title":"T"`, patch(func(p *ToolCallPatch) { p.Title = acp.Set("T") })},
		{`,"title":null`, patch(func(p *ToolCallPatch) { p.Title = acp.Set("Sub-agent") })},
		{`,"description":"looks"`, patch(func(p *ToolCallPatch) { p.Name = acp.Set("looks") })},
		{`,"description":null`, patch(func(p *ToolCallPatch) { p.Name = acp.Null[string]() })},
		{`,"state":{"state":"unknown"}`, patch(func(p *ToolCallPatch) { p.Status = acp.Null[ToolCallStatus]() })},
		{`,"state":{"state":"requires_action"}`, stopped(StatusInProgress)},
		{`,"state":{"state":"idle","stopReason":"error"}`, stopped(StatusFailed)},
		{`,"state":{"state":"idle","stopReason":"cancelled"}`, stopped(StatusCancelled)},
		{`,"state":{"state":"idle","stopReason":"end_turn"}`, stopped(StatusCompleted)},
	}
	var script []fakeagent.Step
	for _, s := range steps {
		script = append(script, says(`"subagent_update","sessionId":"k"`+s.fields))
	}
	p := talkV1(t, append(script, says(`"subagent_update","sessionId":""`), fakeagent.Expect("session/cancel"))...)
	for _, s := range steps {
		check.Deep(t, receive(t, p.events).(updated).Update, Update(s.want), s.fields+": told is %+v")
	}
	if u, ok := receive(t, p.events).(updated).Update.(UnknownUpdate); !ok {
		t.Errorf("of a sub-agent without a session told is %+v", u)
	}
	if !p.Agent.(Canceller).CancelCall("subagent:k", nil, func(error) {}) {
		t.Error("it may not be cancelled any more")
	}
	receive(t, p.played)
}

// When a session is forgotten, so are its sub-agents, and those of no other one.
func TestForgottenSubagents(t *testing.T) {
	s := &subagents{children: map[string]*subagent{}, users: map[string]bool{}}
	s.opened("s1")
	s.opened("s2")
	for child, parent := range map[string]string{"k": "s1", "m": "s2"} {
		s.update(parent, wire.SubagentUpdate{SessionID: child})
	}
	s.update("k", wire.SubagentUpdate{SessionID: "l"})
	check.Equal(t, s.rootOf("l"), "s1", "before, it works for %s")
	s.forget("s1")
	for id, want := range map[string]string{"k": "k", "l": "l", "m": "s2"} {
		check.Equal(t, s.rootOf(id), want, id+" works for %s")
	}
	check.Equal(t, fmt.Sprint(s.isUsers("s1"), s.isUsers("s2")), "false true", "the user's are %s")
}

// A sub-agent that works when its parent's turn ends goes on, in either version of the protocol; an agent without any
// says nothing of that.
func TestSubagentsGoOn(t *testing.T) {
	p := talkV1(t,
		fakeagent.Expect("session/prompt"), fakeagent.Reply(`{"stopReason":"end_turn"}`),
		says(`"subagent_update","sessionId":"k","state":{"state":"running"}`),
		fakeagent.Expect("session/prompt"), fakeagent.Reply(`{"stopReason":"end_turn"}`),
		says(`"subagent_update","sessionId":"k","state":{"state":"idle"}`),
		updateOf("s2", `"subagent_update","sessionId":"l","state":{"state":"running"}`),
		fakeagent.Expect("session/prompt"), fakeagent.Reply(`{"stopReason":"end_turn"}`))
	for range 3 {
		p.prompt("hi")
	}
	want := "end end_turn <nil>\ncall subagent:k Sub-agent in_progress\nbackground [subagent:k][]\nend end_turn <nil>\n" +
		"call subagent:k  completed\ncall subagent:l Sub-agent in_progress in s2\nbackground [][]\nend end_turn <nil>"
	check.Equal(t, p.story(), want, "got\n%s")
}

// What a sub-agent asks of its client is asked by the user's session, a command runs in the sub-agent's folder, and its
// work is ended where the agent allows that.
func TestRequestsOfSubagents(t *testing.T) {
	p := talkV1(t,
		says(`"subagent_update","sessionId":"k","cwd":"/work","capabilities":{"cancel":{}}`),
		says(`"subagent_update","sessionId":"n","capabilities":{}`),
		updateOf("k", `"subagent_update","sessionId":"l"`),
		fakeagent.Request(1, "fs/read_text_file", `{"sessionId":"k","path":"/a"}`), fakeagent.Answer(1),
		fakeagent.Request(2, "fs/write_text_file", `{"sessionId":"k","path":"/a","content":""}`), fakeagent.Answer(2),
		fakeagent.Request(3, "terminal/create", `{"sessionId":"l","command":"ls"}`), fakeagent.Answer(3),
		fakeagent.Request(4, "terminal/create", `{"sessionId":"n","command":"ls"}`), fakeagent.Answer(4),
		fakeagent.Request(5, "terminal/output", `{"sessionId":"l","terminalId":"t"}`), fakeagent.Answer(5),
		fakeagent.Request(6, "elicitation/create", `{"sessionId":"l","toolCallId":"c","message":"Who?","mode":"form","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`),
		fakeagent.Answer(6),
		fakeagent.Request(8, "elicitation/create", `{"sessionId":"l","message":"Log in","mode":"url","url":"https://a.b","elicitationId":"e"}`),
		fakeagent.Answer(8),
		fakeagent.Expect("session/cancel"))
	var got []string
	told := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	for range 10 {
		switch e := receive(t, p.events).(type) {
		case ReadTextFile:
			told("read in %s", e.SessionID)
			e.Reply("", nil)
		case WriteTextFile:
			told("write in %s", e.SessionID)
			e.Reply(nil)
		case CreateTerminal:
			told("terminal in %s at %q", e.SessionID, e.Dir)
			e.Reply("t", nil)
		case asked:
			told("%s in %s", e.Method, e.SessionID)
		case ElicitationRequest:
			told("elicit in %s of %s", e.SessionID, e.ToolCallID)
			e.Reply(ElicitationAnswer{Action: ElicitationDecline})
		}
	}
	want := []string{
		"read in s1", "write in s1", `terminal in s1 at "/work"`, `terminal in s1 at ""`, "output in s1", "elicit in s1 of l/c",
		"elicit in s1 of subagent:l",
	}
	check.Deep(t, got, want, "asked %q")
	v := p.Agent.(Canceller)
	for _, id := range []string{"k", "subagent:l", "subagent:n", "subagent:o"} {
		if v.CancelCall(id, nil, func(error) {}) {
			t.Errorf("%s is cancelled", id)
		}
	}
	check.Equal(t, v.MayCancel("s1"), true, "a sub-agent of the session may be cancelled: %v")
	check.Equal(t, v.MayCancel("s2"), false, "one of another session may be: %v")
	ended := make(chan error, 1)
	if !v.CancelCall("subagent:k", nil, func(err error) { ended <- err }) || receive(t, ended) != nil {
		t.Error("the sub-agent is not cancelled")
	}
	receive(t, p.played)
	heard := p.finish()
	if last := heard[len(heard)-1]; string(last.Params) != `{"sessionId":"k"}` {
		t.Errorf("sent %s", last.Params)
	}
}

// What a sub-agent is told and what it answers are the input and the output of its call, however it comes; what it has
// others do is theirs.
func TestMessagesOfSubagents(t *testing.T) {
	message := func(in, id, from, to, more string) fakeagent.Step {
		return updateOf(in, fmt.Sprintf(`"session_message","messageId":"%s","senderSessionId":"%s","recipientSessionId":"%s"%s`, id, from, to, more))
	}
	chunk := func(in, id, text string) fakeagent.Step {
		return updateOf(in, fmt.Sprintf(`"session_message_chunk","messageId":"%s","content":{"type":"text","text":"%s"}`, id, text))
	}
	for version, start := range map[int]func(*testing.T, ...fakeagent.Step) *talk{1: talkV1, 2: talkV2} {
		p := start(t,
			says(`"subagent_update","sessionId":"k"`), updateOf("k", `"subagent_update","sessionId":"l"`),
			message("s1", "0", "s1", "k", `,"content":[{"type":"text","text":"Look."}]`),
			chunk("k", "1", "Lo"), message("k", "1", "s1", "k", ""), chunk("k", "1", "ok."),
			message("k", "2", "k", "l", `,"content":[{"type":"text","text":"Look deeper."}]`),
			message("k", "3", "k", "s1", `,"content":[{"type":"text","text":"There it is: "},{"type":"image"}]`),
			updateOf("k", `"session_message","messageId":"3"`),
			message("s1", "3", "k", "s1", `,"content":[{"type":"text","text":"There it is: "},{"type":"image"}]`),
			message("s1", "5", "k", "s1", `,"content":[{"type":"text","text":"I am done."}]`),
			message("k", "6", "l", "k", `,"content":[{"type":"text","text":"It is deep."}]`),
			message("k", "4", "s1", "k", `,"content":[{"type":"text","text":"And where?"}]`),
			message("k", "4", "s1", "k", `,"content":[{"type":"text","text":"And there?"}]`),
			says(`"subagent_update","sessionId":"k","state":{"state":"idle"}`),
			says(`"session_message_chunk","messageId":7`))
		receive(t, p.played)
		var got []string
		for len(p.events) > 0 {
			switch u := (<-p.events).(updated).Update.(type) {
			case ToolCallPatch:
				if in, out := u.RawInput.Or(nil), u.RawOutput.Or(nil); in != nil || out != nil {
					got = append(got, fmt.Sprintf("%s %s %s", u.ID, in, out))
				}
			case UnknownUpdate:
				got = append(got, u.Type)
			}
		}
		want := `subagent:k {"asked":"Look.\n\nAnd there?"} {"answered":"There it is: [image]"}` + "\nsession_message_chunk"
		check.Equal(t, strings.Join(got, "\n"), want, "version %d: %s", version)
	}
}

// What a sub-agent was told is known before what it does, and is not told again with each thing that it does.
func TestMessagesComeBeforeTheWork(t *testing.T) {
	for version, start := range map[int]func(*testing.T, ...fakeagent.Step) *talk{1: talkV1, 2: talkV2} {
		p := start(t,
			says(`"subagent_update","sessionId":"k"`),
			updateOf("k", `"session_message","messageId":"1","senderSessionId":"s1","recipientSessionId":"k","content":[{"type":"text","text":"Look."}]`),
			updateOf("k", `"tool_call_update","toolCallId":"c","title":"ls"`),
			updateOf("k", `"tool_call_update","toolCallId":"d","title":"cat"`))
		var got []string
		for range 4 {
			u := receive(t, p.events).(updated).Update.(ToolCallPatch)
			got = append(got, u.ID+string(u.RawInput.Or(nil)))
			check.Equal(t, u.RawOutput.IsZero(), true, "version %d: it answers nothing: %v", version)
		}
		check.Slice(t, got, []string{"subagent:k", `subagent:k{"asked":"Look."}`, "k/c", "k/d"}, "version %d: told is %q", version)
	}
}

// A plan is steps, words or a file, and goes when it is taken back, in either version of the protocol.
func TestPlansById(t *testing.T) {
	for version, start := range map[int]func(*testing.T, ...fakeagent.Step) *talk{1: talkV1, 2: talkV2} {
		p := start(t,
			says(`"plan_update","plan":{"type":"items","planId":"a","entries":[{"content":"A","priority":"high","status":"pending"}]}`),
			says(`"plan_update","plan":{"type":"markdown","planId":"b","content":"# B"}`),
			says(`"plan_update","plan":{"type":"markdown","planId":"e","content":""}`),
			says(`"plan_update","plan":{"type":"file","planId":"c","uri":"file:///c.md"}`),
			says(`"plan_removed","planId":"b"`),
			says(`"plan_update","plan":{"type":"_odd","planId":"d"}`),
			says(`"plan_update"`), says(`"plan_removed"`))
		want := []any{
			PlanUpdate{ID: "a", Entries: []PlanEntry{{"A", "high", "pending"}}},
			PlanUpdate{ID: "b", Content: Text{"# B"}}, PlanUpdate{ID: "e"},
			PlanUpdate{ID: "c", Content: ResourceLink{Name: "in a file", URI: "file:///c.md"}},
			PlanUpdate{ID: "b"},
			PlanUpdate{ID: "d"}, "plan of type _odd", "malformed plan_update", "malformed plan_removed",
		}
		for _, want := range want {
			got := any(receive(t, p.events).(updated).Update)
			if u, ok := got.(UnknownUpdate); ok {
				got = u.Type
			}
			check.Deep(t, got, want, "version %d: got %+v", version)
		}
	}
}

// A session that the client has opened is no sub-agent's, whatever the agent says of it.
func TestSessionsOfTheUserAreNoSubagents(t *testing.T) {
	for version, start := range map[int]func(*testing.T, ...fakeagent.Step) *talk{1: talkV1, 2: talkV2} {
		p := start(t,
			updateOf("x", `"subagent_update","sessionId":"s1"`),
			fakeagent.Expect("session/new"), fakeagent.Reply(`{"sessionId":"s1"}`),
			updateOf("x", `"subagent_update","sessionId":"s1"`),
			says(`"notice","severity":"info","title":"mine"`),
			fakeagent.Expect("session/resume"), fakeagent.Reply(`{}`),
			updateOf("x", `"subagent_update","sessionId":"s2"`),
			updateOf("s2", `"notice","severity":"info","title":"taken up"`))
		p.NewSession(Place{Cwd: "/a"}, func(Setup, error) {
			p.ResumeSession("s2", Place{Cwd: "/a"}, func(Setup, error) {})
		})
		receive(t, p.played)
		var got []string
		for len(p.events) > 0 {
			if e := (<-p.events).(updated); e.SessionID != "x" {
				got = append(got, e.SessionID+" "+e.Update.(Notice).Title)
			}
		}
		if want := "s1 mine, s2 taken up"; strings.Join(got, ", ") != want {
			t.Errorf("version %d: %q", version, got)
		}
	}
}

// The user may cancel a sub-agent of a session while one says so; not that of another session.
func TestSubagentsThatMayBeCancelled(t *testing.T) {
	const can = `"capabilities":{"cancel":{}}`
	for version, start := range map[int]func(*testing.T, ...fakeagent.Step) *talk{1: talkV1, 2: talkV2} {
		p := start(t,
			says(`"subagent_update","sessionId":"k"`),
			updateOf("k", `"subagent_update","sessionId":"l",`+can),
			updateOf("s2", `"subagent_update","sessionId":"m"`),
			updateOf("s3", `"subagent_update","sessionId":"n",`+can),
			updateOf("s3", `"subagent_update","sessionId":"n","capabilities":null`))
		receive(t, p.played)
		for id, want := range map[string]bool{"s1": true, "s2": false, "s3": false} {
			may := p.Agent.(Canceller).MayCancel(id)
			check.Equal(t, may, want, "that in version %d something in %s may be cancelled is %v", version, id)
		}
	}
}

// An agent that tells of a circle of sub-agents hangs nothing.
func TestCircleOfSubagents(t *testing.T) {
	p := talkV1(t,
		updateOf("a", `"subagent_update","sessionId":"b"`), updateOf("b", `"subagent_update","sessionId":"a"`),
		updateOf("a", `"agent_message_chunk","content":{"type":"text","text":"x"}`),
		fakeagent.Request(1, "terminal/create", `{"sessionId":"a","command":"ls"}`))
	receive(t, p.played)
}
