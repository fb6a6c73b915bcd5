package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
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
		"titled":{"type":"string","oneOf":[{"const":"x","title":"The X","description":"first"},{"const":"y","title":"The Y"}]},
		"several":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["x","y"]},"default":["x"]},
		"titledSeveral":{"type":"array","items":{"anyOf":[{"const":"x","title":"The X"}]}},
		"unknown":{"type":"_colour"}
	},"required":["text","titled"]}`)
	n := func(f float64) *float64 { return &f }
	want := []FormField{
		{Name: "text", Title: "Text", Description: "any", Type: FieldText, Required: true, Default: []string{"a@b"}, Min: n(1), Max: n(9), Format: "email", Pattern: "^a"},
		{Name: "number", Title: "number", Type: FieldNumber, Default: []string{"1.5"}, Min: n(0.5), Max: n(2)},
		{Name: "integer", Title: "integer", Type: FieldInteger, Default: []string{"12"}, Min: n(-1), Max: n(30)},
		{Name: "boolean", Title: "boolean", Type: FieldBoolean, Default: []string{"true"}},
		{Name: "enum", Title: "enum", Type: FieldChoice, Choices: []Choice{{Value: "x", Name: "x"}, {Value: "y", Name: "y"}}, Default: []string{"y"}},
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
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(e.Form.Schema, &schema); err != nil || len(schema.Properties) != len(want) || len(schema.Required) != 2 {
		t.Errorf("%v: the schema is %s", err, e.Form.Schema)
	}
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
		if e.Form != nil || e.URL != "https://example.com/login" || e.ID != "e" {
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
	for params, says := range map[string]string{
		`"mode":"_dance","steps":7`: `"_dance"`,
		`"mode":"form","requestedSchema":{"type":"object","properties":{"a":{"type":"_colour"}},"required":["a"]}`:                     `"a"`,
		`"mode":"form","requestedSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"_x"}}},"required":["a"]}`: `"a"`,
	} {
		p := begun(t, fakeagent.Request(7, "elicitation/create", `{"sessionId":"s1","message":"Which?",`+params+`}`), fakeagent.Answer(7))
		check.Contains(t, p.result("7"), "-32602", "%s is answered %s", params)
		if u, ok := next[updated](p).Update.(Notice); !ok || !strings.Contains(u.Title, says) {
			t.Errorf("%s: the user is told %+v", params, u)
		}
	}
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
