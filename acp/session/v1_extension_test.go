package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// asksByItself has an agent ask by a method of its own, in the session that it was prompted in last.
func asksByItself(t *testing.T, method, params string, then ...fakeagent.Step) (*talk, ElicitationRequest) {
	t.Helper()
	script := []fakeagent.Step{says(`"tool_call","toolCallId":"c","title":"ask"`)}
	for other := range 7 { // sessions with calls of their own
		script = append(script, updateOf(fmt.Sprint("other ", other), `"tool_call","toolCallId":"d","title":"look"`))
	}
	script = append(script, fakeagent.Request(7, method, strings.ReplaceAll(params, "\n", "")))
	p := talkV1(t, append(script, then...)...)
	for {
		if e, ok := receive(t, p.events).(ElicitationRequest); ok {
			return p, e
		}
	}
}

const (
	cursorAsks = `{"toolCallId":"c","questions":[
		{"id":"a","prompt":"Where?","options":[{"id":"x","label":"Here"},{"id":"y"}]},
		{"id":"b","prompt":"Which?","allowMultiple":true,"options":[{"id":"x"}]},{"id":"w","prompt":"Why?"}]}`
	qwenAsks = `{"sessionId":"s1","toolCall":{"toolCallId":"c","_meta":{"qwenInteractionKind":"user_question"},"rawInput":{"questions":[
		{"header":"Colour","question":"Which colour?","options":[{"label":"red","description":"loud"}]},
		{"header":"Size","question":"What size?","multiSelect":true,"options":[{"label":"small"}]}]}},
		"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`
	qwenAsksOnce = `{"sessionId":"s1","toolCall":{"toolCallId":"c","_meta":{"qwenQuestions":[{"header":"Colour","question":"Which colour?"}]}},"options":[]}`
)

// The questions that agents ask by methods of their own become one form: a question with choices takes one or several of
// them, one without takes words, and where there are several, each says what it is about.
func TestFormsOfExtensions(t *testing.T) {
	for _, c := range []struct{ method, params, message, want string }{
		{"cursor/ask_question", cursorAsks, "3 questions", "a! Where?: choice [x=Here y=y]; b! Which?: choices [x=x]; w! Why?: text []"},
		{"cursor/ask_question", `{"title":"Storage",` + cursorAsks[1:], "Storage", "a! Where?: choice [x=Here y=y]; b! Which?: choices [x=x]; w! Why?: text []"},
		{"cursor/create_plan", `{"toolCallId":"c","name":"Split","overview":"two"}`, `Carry out the plan "Split"?`, `plan! Carry out the plan "Split"?: choice [accepted=Carry it out rejected=Reject it]`},
		{"cursor/create_plan", `{"toolCallId":"c"}`, "Carry out this plan?",
			`plan! Carry out this plan?: choice [accepted=Carry it out rejected=Reject it]`},
		{"session/request_permission", qwenAsks, "2 questions", "0 Colour (Which colour?): choice [red=red/loud]; 0 other In your own words: text []; 1 Size (What size?): choices [small=small]; 1 other In your own words: text []"},
		{"session/request_permission", qwenAsksOnce, "Which colour?", "0 Colour: text []"},
	} {
		_, e := asksByItself(t, c.method, c.params)
		var fields []string
		for _, f := range e.Form.Fields {
			text := f.Name
			if f.Required {
				text += "!"
			}
			if text += " " + f.Title; f.Description != "" {
				text += " (" + f.Description + ")"
			}
			var choices []string
			for _, choice := range f.Choices {
				choices = append(choices, strings.TrimSuffix(choice.Value+"="+choice.Name+"/"+choice.Description, "/"))
			}
			fields = append(fields, fmt.Sprintf("%s: %s %v", text, f.Type, choices))
		}
		check.Equal(t, strings.Join(fields, "; "), c.want, "%s: the form has %s", c.method)
		check.Equal(t, e.Message, c.message, "%s: it asks %q", c.method)
		check.Equal(t, e.SessionID+"/"+e.ToolCallID, "s1/c", "%s: it belongs to %s", c.method)
	}
}

// A question about a call that is not known belongs to the session that was prompted last.
func TestQuestionsOfUnknownCalls(t *testing.T) {
	p := talkV1(t,
		fakeagent.Expect("session/prompt"), fakeagent.Reply(`{"stopReason":"end_turn"}`),
		fakeagent.Expect("session/prompt"), fakeagent.Request(7, "cursor/ask_question", strings.ReplaceAll(cursorAsks, "\n", "")))
	for _, id := range []string{"s1", "s2"} {
		p.Agent.Prompt(id, []Content{Text{"go"}}, func(StopReason, error) {})
	}
	e := receive(t, p.events).(ElicitationRequest)
	check.Equal(t, e.SessionID+"/"+e.ToolCallID, "s2/c", "it belongs to %s")
}

// The answer goes back in the form that the agent's own method has for it.
func TestAnswersOfExtensions(t *testing.T) {
	const nobody = `{"outcome":{"outcome":"cancelled"}}`
	accept := func(content map[string]any) ElicitationAnswer { return ElicitationAnswer{ElicitationAccept, content} }
	decline, dismiss := ElicitationAnswer{Action: ElicitationDecline}, ElicitationAnswer{Action: ElicitationCancel}
	plan := `{"toolCallId":"c","plan":"# Do it"}`
	for _, c := range []struct {
		method, params string
		answer         ElicitationAnswer
		want           string
	}{
		{"cursor/ask_question", cursorAsks, accept(map[string]any{"a": "x", "b": []any{"x", 7, "z"}}), `{"outcome":{"outcome":"answered","answers":[` +
			`{"questionId":"a","selectedOptionIds":["x"]},{"questionId":"b","selectedOptionIds":["x","z"]},{"questionId":"w","selectedOptionIds":null}]}}`},
		{"cursor/ask_question", cursorAsks, decline, `{"outcome":{"outcome":"skipped"}}`},
		{"cursor/ask_question", cursorAsks, dismiss, nobody},
		{"cursor/create_plan", plan, accept(map[string]any{"plan": "accepted"}), `{"outcome":{"outcome":"accepted"}}`},
		{"cursor/create_plan", plan, accept(map[string]any{"plan": "rejected"}), `{"outcome":{"outcome":"rejected"}}`},
		{"cursor/create_plan", plan, decline, `{"outcome":{"outcome":"rejected"}}`},
		{"cursor/create_plan", plan, dismiss, nobody},
		{"session/request_permission", qwenAsks, accept(map[string]any{"0": "red", "1": []any{"small"}, "1 other": "tiny"}),
			`{"outcome":{"outcome":"selected","optionId":"y"},"answers":{"0":"red","1":"small, tiny"}}`},
		{"session/request_permission", qwenAsks, accept(map[string]any{"1": []any{"small"}}), `{"outcome":{"outcome":"selected","optionId":"y"},"answers":{"1":"small"}}`},
		{"cursor/create_plan", plan, ElicitationAnswer{ElicitationDecline, map[string]any{"plan": "accepted"}},
			`{"outcome":{"outcome":"rejected"}}`},
		{"session/request_permission", qwenAsks, accept(nil), `{"outcome":{"outcome":"selected","optionId":"n"}}`},
		{"session/request_permission", qwenAsks, decline, `{"outcome":{"outcome":"selected","optionId":"n"}}`},
		{"session/request_permission", qwenAsks, dismiss, nobody},
		{"session/request_permission", qwenAsksOnce, accept(map[string]any{"0": "red"}), nobody},
	} {
		p, e := asksByItself(t, c.method, c.params, fakeagent.Answer(7))
		e.Reply(c.answer)
		receive(t, p.played)
		for _, m := range p.finish() {
			if m.Method == "" {
				check.Equal(t, string(m.Result), c.want, "%s: %+v is answered %s", c.method, c.answer)
			}
		}
	}
}

// A plan that is to be agreed to is shown before, its words as a message of their own and its steps as a plan.
func TestPlansOfExtensions(t *testing.T) {
	for params, want := range map[string]string{
		`"overview":"in short","plan":"# Do it"`:         "agent 1: Now\nagent 2: # Do it\nagent 3:  it runs",
		`"overview":"in short"`:                          "agent 1: Now\nagent 2: in short\nagent 3:  it runs",
		`"todos":[{"content":"one","status":"pending"}]`: "agent 1: Now\nplan: one pending\nagent 1:  it runs",
		`"name":"Split"`:                                 "agent 1: Now\nagent 1:  it runs",
		`"plan":"# Do it","todos":[{"content":"one","status":"pending"},{"content":"two","status":"completed"}]`: "agent 1: Now\n" +
			"agent 2: # Do it\nplan: one pending, two completed\nagent 3:  it runs",
	} {
		p := talkV1(t,
			says(`"tool_call","toolCallId":"c","title":"plan"`), says(`"agent_message_chunk","content":{"type":"text","text":"Now"}`),
			fakeagent.Request(7, "cursor/create_plan", `{"toolCallId":"c",`+params+"}"),
			says(`"agent_message_chunk","content":{"type":"text","text":" it runs"}`))
		receive(t, p.played)
		var told []string
		for len(p.events) > 0 {
			u, ok := (<-p.events).(updated)
			if !ok {
				continue
			}
			switch u := u.Update.(type) {
			case MessageChunk:
				told = append(told, fmt.Sprintf("agent %s: %s", u.MessageID, u.Content.(Text).Text))
			case PlanUpdate:
				var steps []string
				for _, e := range u.Entries {
					steps = append(steps, e.Content+" "+e.Status)
				}
				told = append(told, "plan: "+strings.Join(steps, ", "))
			}
		}
		check.Equal(t, strings.Join(told, "\n"), want, "%s: told is\n%s", params)
	}
}

// What asks nothing is refused.
func TestExtensionsThatAskNothing(t *testing.T) {
	p := talkV1(t, fakeagent.Request(7, "cursor/ask_question", `{"toolCallId":"c","questions":[]}`), fakeagent.Answer(7))
	receive(t, p.played)
	for _, m := range p.finish() {
		if m.Method == "" {
			check.Equal(t, string(m.Error), `{"code":-32602,"message":"cursor/ask_question asks nothing"}`, "it is answered %s")
		}
	}
	if len(p.events) > 0 {
		t.Errorf("somebody is asked %+v", <-p.events)
	}
}

// A form comes with its schema, which says what an answer may be.
func TestSchemaOfAnExtensionsForm(t *testing.T) {
	for params, want := range map[string]string{
		cursorAsks: `{"properties":{"a":{"enum":["x","y"],"type":"string"},"b":{"items":{"enum":["x"],"type":"string"},"type":"array"},` +
			`"w":{"type":"string"}},"required":["a","b","w"],"type":"object"}`,
		qwenAsks: `{"properties":{"0":{"enum":["red"],"type":"string"},"0 other":{"type":"string"},` +
			`"1":{"items":{"enum":["small"],"type":"string"},"type":"array"},"1 other":{"type":"string"}},"required":[],"type":"object"}`,
	} {
		method := "cursor/ask_question"
		if params == qwenAsks {
			method = "session/request_permission"
		}
		_, e := asksByItself(t, method, params)
		check.Equal(t, sent(t, e.Form.Schema), want, "the schema is %s")
	}
}

// Qwen's questions beside a call are asked instead of those in it, and what another asks with a call is none of them.
func TestQuestionsOfACall(t *testing.T) {
	for call, want := range map[string]int{
		`"_meta":{"qwenInteractionKind":"user_question"},"rawInput":{"questions":[{"question":"a"},{"question":"b"}]}`:                                    2,
		`"_meta":{"qwenInteractionKind":"user_question","qwenQuestions":[{"question":"a"}]},"rawInput":{"questions":[{"question":"a"},{"question":"b"}]}`: 1,
		`"_meta":{"qwenInteractionKind":"tool"},"rawInput":{"questions":[{"question":"a"}]}`:                                                              0,
		`"rawInput":{"questions":[{"question":"a"}]}`:                                                                                                     0,
	} {
		params := `{"sessionId":"s1","toolCall":{"toolCallId":"c",` + call + `},"options":[]}`
		p := talkV1(t, fakeagent.Request(7, "session/request_permission", params))
		receive(t, p.played)
		asked := 0
		for len(p.events) > 0 {
			if e, ok := (<-p.events).(ElicitationRequest); ok {
				asked = len(e.Form.Fields)
			}
		}
		check.Equal(t, asked, want, "%s: %d questions", call)
	}
}

// A question that the agent takes back is answered with that, whatever the user says afterwards.
func TestQuestionsOfExtensionsAreWithdrawn(t *testing.T) {
	for method, params := range map[string]string{
		"cursor/ask_question": cursorAsks, "cursor/create_plan": `{"toolCallId":"c"}`, "session/request_permission": qwenAsks,
	} {
		p, e := asksByItself(t, method, params, fakeagent.Notify("$/cancel_request", `{"requestId":7}`), fakeagent.Answer(7))
		receive(t, e.Context.Done())
		e.Reply(ElicitationAnswer{Action: ElicitationAccept, Content: map[string]any{"a": "x", "0": "red"}})
		receive(t, p.played)
		var answers []string
		for _, m := range p.finish() {
			if m.Method == "" && string(m.ID) == "7" {
				answers = append(answers, string(m.Error))
			}
		}
		if len(answers) != 1 || !strings.Contains(answers[0], `"code":-32800`) {
			t.Errorf("%s is answered %q", method, answers)
		}
	}
}

// Codex marks its request about a server's tool beside the call or at it; either way the call has the mark, beside its
// own.
func TestApprovalsOfMCPServers(t *testing.T) {
	for _, call := range []string{`"toolCallId":"c","_meta":{"other":1}`, `"toolCallId":"c"`} {
		p := begun(t, fakeagent.Request(7, "session/request_permission", `{"sessionId":"s1","_meta":{"is_mcp_tool_approval":true},"toolCall":{`+call+`},"options":[]}`))
		meta := next[PermissionRequest](p).Call.Meta.Or(nil)
		check.Equal(t, string(meta[metaMCPApproval]), "true", "%s: the mark is %q", call)
		check.Equal(t, len(meta), 1+strings.Count(call, "other"), "%s: there are %d marks", call)
	}
}
