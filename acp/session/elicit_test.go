package session

import (
	"encoding/json"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// elicits has an agent ask, by the parameters beside the session.
func elicits(t *testing.T, params string) (*peer, ElicitationRequest) {
	t.Helper()
	p := begun(t, fakeagent.Request(7, "elicitation/create", `{"sessionId":"s1","message":"Which?",`+params+`}`), fakeagent.Answer(7))
	return p, next[ElicitationRequest](p)
}

// A form has the fields that are known, in the agent's order, and its answer goes out as the specification has it.
func TestElicitForm(t *testing.T) {
	p, e := elicits(t, `"toolCallId":"c","mode":"form","requestedSchema":{"type":"object","title":"Ticket","description":"for the team","properties":{
		"text":{"type":"string","title":"Text","description":"any","minLength":1,"maxLength":9,"pattern":"^a","format":"email","default":"a@b"},
		"number":{"type":"number","minimum":0.5,"maximum":2,"default":1.5},
		"integer":{"type":"integer","minimum":-1,"maximum":30,"default":12},
		"boolean":{"type":"boolean","default":true},
		"enum":{"type":"string","enum":["x","y"],"default":"y"},
		"one":{"type":"string","enum":["x"]},
		"titled":{"type":"string","oneOf":[{"const":"x","title":"The X","description":"first"},{"const":"y","title":"The Y"}]},
		"several":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["x","y"]},"default":["x"]},
		"titledSeveral":{"type":"array","items":{"anyOf":[{"const":"x","title":"The X"}]}},
		"unknown":{"type":"_colour"}
	},"required":["text","titled","lost"]}`)
	n := func(f float64) *float64 { return &f }
	want := []FormField{
		{Name: "text", Title: "Text", Description: "any", Type: FieldText, Required: true, Default: []string{"a@b"}, Min: n(1), Max: n(9), Format: "email", Pattern: "^a"},
		{Name: "number", Title: "number", Type: FieldNumber, Default: []string{"1.5"}, Min: n(0.5), Max: n(2)},
		{Name: "integer", Title: "integer", Type: FieldInteger, Default: []string{"12"}, Min: n(-1), Max: n(30)},
		{Name: "boolean", Title: "boolean", Type: FieldBoolean, Default: []string{"true"}},
		{Name: "enum", Title: "enum", Type: FieldChoice, Choices: []Choice{{Value: "x", Name: "x"}, {Value: "y", Name: "y"}}, Default: []string{"y"}},
		{Name: "one", Title: "one", Type: FieldChoice, Choices: []Choice{{Value: "x", Name: "x"}}},
		{
			Name: "titled", Title: "titled", Type: FieldChoice, Required: true,
			Choices: []Choice{{Value: "x", Name: "The X", Description: "first"}, {Value: "y", Name: "The Y"}},
		},
		{
			Name: "several", Title: "several", Type: FieldChoices, Choices: []Choice{{Value: "x", Name: "x"}, {Value: "y", Name: "y"}},
			Default: []string{"x"}, Min: n(1), Max: n(2),
		},
		{Name: "titledSeveral", Title: "titledSeveral", Type: FieldChoices, Choices: []Choice{{Value: "x", Name: "The X"}}},
	}
	if len(e.Form.Fields) != len(want) {
		t.Fatalf("the form has %d fields: %+v", len(e.Form.Fields), e.Form.Fields)
	}
	for i, f := range e.Form.Fields {
		check.Deep(t, f, want[i], "the field is %+v")
	}
	if e.SessionID != "s1" || e.ToolCallID != "c" || e.Message != "Which?" || e.Form.Title != "Ticket" || e.Form.Description != "for the team" {
		t.Errorf("%+v", e)
	}
	var schema struct {
		Type       string
		Properties map[string]any
		Required   []string
	}
	must.Do(t, json.Unmarshal(e.Form.Schema, &schema))
	check.Equal(t, schema.Type, "object", "the schema is of %s")
	check.Equal(t, len(schema.Properties), len(want), "the schema has %d fields")
	check.Slice(t, schema.Required, []string{"text", "titled"}, "%q are required")
	e.Reply(ElicitationAnswer{Action: ElicitationAccept, Content: map[string]any{
		"text": "a@b", "number": 1.5, "integer": int64(2), "boolean": false, "several": []string{"x"},
	}})
	if got := p.result("7"); got != `{"action":"accept","content":{"boolean":false,"integer":2,"number":1.5,"several":["x"],"text":"a@b"}}` {
		t.Errorf("the answer is %s", got)
	}
}

func TestElicitPage(t *testing.T) {
	for _, action := range []ElicitationAction{ElicitationAccept, ElicitationDecline, ElicitationCancel} {
		p, e := elicits(t, `"mode":"url","url":"https://example.com/login","elicitationId":"e"`)
		if e.SessionID != "s1" || e.ToolCallID != "" || e.Form != nil || e.URL != "https://example.com/login" || e.ID != "e" {
			t.Errorf("%+v", e)
		}
		e.Reply(ElicitationAnswer{Action: action})
		check.Equal(t, p.result("7"), `{"action":"`+string(action)+`"}`, "the answer is %s")
	}
}

// A question that belongs to a request of the client's has no session, and is asked all the same.
func TestElicitWithoutSession(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "elicitation/create", `{"requestId":3,"message":"Who?","mode":"url","url":"https://a.b","elicitationId":"e"}`), fakeagent.Answer(7))
	e := next[ElicitationRequest](p)
	if e.SessionID != "" {
		t.Errorf("%+v", e)
	}
	e.Reply(ElicitationAnswer{Action: ElicitationCancel})
	_ = p.result("7")
}

// What cannot be asked is refused, and the user is told.
func TestElicitationsThatAreRefused(t *testing.T) {
	const unknown = `this client does not know what the field "a" takes`
	for params, why := range map[string]string{
		`"mode":"_dance","steps":7`: `this client cannot ask in the mode "_dance"`,
		`"mode":"form","requestedSchema":{"type":"object","properties":{"a":{"type":"_colour"}},"required":["a"]}`:                     unknown,
		`"mode":"form","requestedSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"_x"}}},"required":["a"]}`: unknown,
	} {
		p := begun(t, fakeagent.Request(7, "elicitation/create", `{"sessionId":"s1","message":"Which?",`+params+`}`), fakeagent.Answer(7))
		check.Equal(t, p.result("7"), sent(t, map[string]any{"code": -32602, "message": why}), "%s is answered %s", params)
		notice := Notice{Severity: "warning", Title: "A question was declined: " + why + "."}
		check.Deep(t, next[updated](p).Update, Update(notice), "%s: the user is told %+v", params)
		receive(t, p.played)
		if len(p.events) > 0 {
			t.Errorf("%s: then comes %+v", params, <-p.events)
		}
	}
}

// What an agent without ids says after a question is another message.
func TestWordsAroundAQuestion(t *testing.T) {
	p := begun(t, fakeagent.Message("I ask."),
		fakeagent.Request(7, "elicitation/create", `{"sessionId":"s1","message":"Who?","mode":"url","url":"https://a.b","elicitationId":"e"}`),
		fakeagent.Message("I go on."))
	var ids []string
	for len(ids) < 2 {
		if e, ok := receive(t, p.events).(updated); ok {
			ids = append(ids, e.Update.(MessageChunk).MessageID)
		}
	}
	check.Slice(t, ids, []string{"1", "2"}, "the messages are %q")
}

// A question that the agent has withdrawn is answered as that, whatever the user does.
func TestElicitationsThatAreWithdrawn(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "elicitation/create", `{"sessionId":"s1","message":"Who?","mode":"url","url":"https://a.b","elicitationId":"e"}`),
		fakeagent.Notify("$/cancel_request", `{"requestId":7}`), fakeagent.Answer(7))
	e := next[ElicitationRequest](p)
	receive(t, e.Context.Done())
	e.Reply(ElicitationAnswer{Action: ElicitationAccept})
	check.Contains(t, p.result("7"), "-32800", "the answer is %s")
}
