package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Some agents ask by methods of their own. Here those become questions as in the specification.

// ExtensionRequest is a request whose method is not in the specification. It is withdrawn when Context ends.
type ExtensionRequest struct {
	Context context.Context
	Method  string
	Params  json.RawMessage

	// Reply answers, exactly once.
	Reply func(result json.RawMessage, err error)
}

// extend serves a request of an unknown method, if somebody does.
func extend(client Client, r *acp.Request) {
	e := ExtensionRequest{Context: r.Context(), Method: r.Method, Params: r.Params}
	e.Reply = func(result json.RawMessage, err error) {
		if err != nil {
			r.ReplyError(err)
			return
		}
		r.Reply(result)
	}
	if !client.Extend(e) {
		r.ReplyError(acp.ErrMethodNotFound(r.Method))
	}
}

// cursorQuestions are the parameters of "cursor/ask_question".
type cursorQuestions struct {
	ToolCallID wire.ToolCallID `json:"toolCallId"`
	Title      string          `json:"title"`
	Questions  []struct {
		ID       string `json:"id"`
		Prompt   string `json:"prompt"`
		Multiple bool   `json:"allowMultiple"`
		Options  []struct {
			ID    string `json:"id"`
			Label string `json:"label"`
		} `json:"options"`
	} `json:"questions"`
}

// cursorOutcome is how Cursor's requests are answered.
type cursorOutcome struct {
	Outcome string         `json:"outcome"`
	Answers []cursorAnswer `json:"answers,omitempty"`
}

type cursorAnswer struct {
	Question string   `json:"questionId"`
	Options  []string `json:"selectedOptionIds"`
}

func replyCursor(r *acp.Request, outcome cursorOutcome) {
	if err := r.Context().Err(); err != nil {
		r.ReplyError(err)
		return
	}
	r.Reply(struct {
		Outcome cursorOutcome `json:"outcome"`
	}{outcome})
}

func (a *V1) askCursorQuestions(r *acp.Request, p *cursorQuestions) {
	var questions []question
	for _, q := range p.Questions {
		asked := question{id: q.ID, text: q.Prompt, multiple: q.Multiple}
		for _, o := range q.Options {
			asked.choices = append(asked.choices, Choice{Value: o.ID, Name: cmp.Or(o.Label, o.ID)})
		}
		questions = append(questions, asked)
	}
	a.askQuestions(r, a.sessionOf(p.ToolCallID), p.ToolCallID, p.Title, questions, false, func(answer ElicitationAnswer) {
		outcome := cursorOutcome{Outcome: "cancelled"}
		switch answer.Action {
		case ElicitationAccept:
			outcome.Outcome = "answered"
			for _, q := range questions {
				outcome.Answers = append(outcome.Answers, cursorAnswer{q.id, q.chosen(answer)})
			}
		case ElicitationDecline:
			outcome.Outcome = "skipped"
		}
		replyCursor(r, outcome)
	})
}

// cursorPlan are the parameters of "cursor/create_plan".
type cursorPlan struct {
	ToolCallID wire.ToolCallID `json:"toolCallId"`
	Name       string          `json:"name"`
	Overview   string          `json:"overview"`
	Plan       string          `json:"plan"`
	Todos      []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"todos"`
}

// The answers to a plan.
const (
	acceptPlan = "accepted"
	rejectPlan = "rejected"
)

// askCursorPlan shows a plan in the chat, and asks whether to carry it out.
func (a *V1) askCursorPlan(r *acp.Request, p *cursorPlan) {
	id := a.sessionOf(p.ToolCallID)
	if text := cmp.Or(p.Plan, p.Overview); text != "" {
		a.endRun(id)
		a.client.Update(string(id), a.chunk(id, RoleAgent, v1.ContentChunk{Content: &wire.TextContent{Text: text}}, ""))
		a.endRun(id)
	}
	if len(p.Todos) > 0 {
		var plan PlanUpdate
		for _, todo := range p.Todos {
			plan.Entries = append(plan.Entries, PlanEntry{Content: todo.Content, Status: todo.Status})
		}
		a.client.Update(string(id), plan)
	}
	whether := question{id: "plan", text: "Carry out this plan?", choices: []Choice{
		{Value: acceptPlan, Name: "Carry it out"}, {Value: rejectPlan, Name: "Reject it"},
	}}
	if p.Name != "" {
		whether.text = fmt.Sprintf("Carry out the plan %q?", p.Name)
	}
	a.askQuestions(r, id, p.ToolCallID, "", []question{whether}, false, func(answer ElicitationAnswer) {
		outcome := cursorOutcome{Outcome: "cancelled"}
		switch chosen := whether.chosen(answer); {
		case len(chosen) == 1:
			outcome.Outcome = chosen[0]
		case answer.Action == ElicitationDecline:
			outcome.Outcome = rejectPlan
		}
		replyCursor(r, outcome)
	})
}

// qwenQuestion is a question that Qwen attaches to a permission request.
type qwenQuestion struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Multiple bool   `json:"multiSelect"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// qwenQuestions returns the questions that a permission request of Qwen's asks; none if it is about a tool call.
func qwenQuestions(call *v1.ToolCallUpdate) []qwenQuestion {
	var meta struct {
		Kind      string         `json:"qwenInteractionKind"`
		Questions []qwenQuestion `json:"qwenQuestions"`
	}
	var input struct {
		Questions []qwenQuestion `json:"questions"`
	}
	_ = json.Unmarshal(call.Meta, &meta) // what is malformed is no question
	if len(meta.Questions) == 0 && meta.Kind == "user_question" {
		_ = json.Unmarshal(call.RawInput.Or(nil), &input)
		return input.Questions
	}
	return meta.Questions
}

// askQwenQuestions asks the questions of a permission request of Qwen's. The answers are sent with the option that
// allows.
func (a *V1) askQwenQuestions(r *acp.Request, p *v1.RequestPermissionRequest, list []qwenQuestion) {
	var questions []question
	for i, q := range list {
		asked := question{id: strconv.Itoa(i), title: q.Header, text: q.Question, multiple: q.Multiple}
		for _, o := range q.Options {
			asked.choices = append(asked.choices, Choice{Value: o.Label, Name: o.Label, Description: o.Description})
		}
		questions = append(questions, asked)
	}
	option := func(allows bool) wire.PermissionOptionID {
		i := slices.IndexFunc(p.Options, func(o wire.PermissionOption) bool {
			return PermissionOption{Kind: string(o.Kind)}.Allows() == allows
		})
		if i < 0 {
			return ""
		}
		return p.Options[i].OptionID
	}
	type response struct {
		Outcome wire.RequestPermissionOutcome `json:"outcome"`
		Answers map[string]string             `json:"answers,omitzero"`
	}
	a.askQuestions(r, p.SessionID, p.ToolCall.ToolCallID, "", questions, true, func(answer ElicitationAnswer) {
		answers := map[string]string{}
		for _, q := range questions {
			if chosen := q.chosen(answer); len(chosen) > 0 {
				answers[q.id] = strings.Join(chosen, ", ")
			}
		}
		id := option(len(answers) > 0)
		switch {
		case r.Context().Err() != nil:
			r.ReplyError(r.Context().Err())
		case id == "" || answer.Action == ElicitationCancel:
			r.Reply(response{Outcome: &wire.CancelledPermissionOutcome{}})
		case len(answers) == 0:
			r.Reply(response{Outcome: &wire.SelectedPermissionOutcome{OptionID: id}})
		default:
			r.Reply(response{&wire.SelectedPermissionOutcome{OptionID: id}, answers})
		}
	})
}

// question is a choice that an agent asks the user to make.
type question struct {
	id, title, text string
	choices         []Choice
	multiple        bool
}

// otherOf names the field of a question for an answer in the user's own words.
func otherOf(id string) string { return id + " other" }

// chosen returns the values that answer a question.
func (q question) chosen(answer ElicitationAnswer) (list []string) {
	if answer.Action != ElicitationAccept {
		return nil
	}
	switch value := answer.Content[q.id].(type) {
	case string:
		list = append(list, value)
	case []any:
		for _, one := range value {
			if text, ok := one.(string); ok {
				list = append(list, text)
			}
		}
	}
	if other, _ := answer.Content[otherOf(q.id)].(string); other != "" {
		list = append(list, other)
	}
	return list
}

// askQuestions asks questions in one form. With other, users may answer in their own words.
func (a *V1) askQuestions(
	r *acp.Request, id wire.SessionID, call wire.ToolCallID, title string, list []question, other bool, reply func(ElicitationAnswer),
) {
	if len(list) == 0 {
		r.ReplyError(&acp.Error{Code: acp.CodeInvalidParams, Message: r.Method + " asks nothing"})
		return
	}
	a.interrupt(id)
	form := &Form{}
	properties := map[string]any{}
	var required []string
	for _, q := range list {
		f := FormField{Name: q.id, Title: cmp.Or(q.title, q.text), Type: FieldChoice, Choices: q.choices, Required: !other}
		if q.title != "" && len(list) > 1 {
			f.Description = q.text
		}
		var values []string
		for _, c := range q.choices {
			values = append(values, c.Value)
		}
		schema := map[string]any{"type": "string", "enum": values}
		if q.multiple {
			f.Type = FieldChoices
			schema = map[string]any{"type": "array", "items": schema}
		}
		if len(values) == 0 {
			f.Type, schema = FieldText, map[string]any{"type": "string"}
		}
		form.Fields, properties[q.id] = append(form.Fields, f), schema
		if f.Required {
			required = append(required, q.id)
		}
		if other && len(values) > 0 {
			name := otherOf(q.id)
			form.Fields = append(form.Fields, FormField{Name: name, Title: "In your own words", Type: FieldText})
			properties[name] = map[string]any{"type": "string"}
		}
	}
	form.Schema, _ = json.Marshal(map[string]any{ // cannot fail: maps and texts
		"type": "object", "properties": properties, "required": append([]string{}, required...),
	})
	message := title
	switch {
	case len(list) == 1:
		message = list[0].text
	case title == "":
		message = fmt.Sprintf("%d questions", len(list))
	}
	a.client.Elicit(ElicitationRequest{
		Context: r.Context(), SessionID: string(id), ToolCallID: string(call), Message: message, Form: form, Reply: reply,
	})
}

// sessionOf returns the session of a tool call or, if that is not known, the one prompted last.
func (a *V1) sessionOf(call wire.ToolCallID) wire.SessionID {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, known := range a.calls {
		if _, has := known[call]; has {
			return id
		}
	}
	return a.latest
}
