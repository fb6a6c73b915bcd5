package elicitation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// asked is a session's questions, with the agent and the Neovim at their ends.
type asked struct {
	*Questions
	t      *testing.T
	told   []string // what Neovim gets, but answers
	faults []any    // Neovim's answers
	said   []string // in the chat
	got    []string // the agent's answers
	goesOn string   // the call that goes on after its turn
	stops  bool     // the turn is being cancelled

	events  []string         // of the user's configuration
	changes int              // how often Neovim is to look again
	updates []session.Update // of the conversation
}

// Batch is Neovim's end of the editor.
func (a *asked) Batch(ops []any) ([]any, time.Duration, error) {
	answers := make([]any, len(ops))
	for i, op := range ops {
		switch args := op.([]any)[1].(type) {
		case rpc.Notify:
			a.told = append(a.told, args.Text)
			check.Equal(a.t, args.Level, severityOf(args.Text), "%q is told as %s", args.Text)
		case rpc.OpenPage:
			a.told = append(a.told, args.URL)
		case rpc.Callback:
			a.faults = append(a.faults, args.Result)
		}
		answers[i] = []any{true, nil}
	}
	return answers, 0, nil
}

// asking runs a test with questions.
func asking(t *testing.T, test func(*testing.T, *asked)) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{t: t}
		base := feature.Base{
			Session: 1, Title: "Puppet", Box: mailbox.New(), Editor: editor.New(a),
			Remark: func(severity, text string) {
				a.said = append(a.said, text)
				check.Equal(t, severity, severityOf(text), "%q is said as %s", text)
			},
			Event:   func(name string, data map[string]any) { a.events = append(a.events, fmt.Sprint(name, " ", data["id"])) },
			Changed: func() { a.changes++ },
		}
		id := int64(0)
		a.Questions = New(base, Config{
			ID: func() int64 { id++; return id }, Stopping: func() bool { return a.stops },
			Apply:  func(u session.Update) { a.updates = append(a.updates, u) },
			GoesOn: func(call string) bool { return call != "" && call == a.goesOn },
		})
		go base.Editor.Run()
		test(t, a)
		base.Editor.Close()
	})
}

// severityOf is how what the user is told is to look.
func severityOf(text string) string {
	if strings.Contains(text, " was declined: ") || strings.Contains(text, " is not sent: ") {
		return "warning"
	}
	return "info"
}

// ask asks, and returns the question's id.
func (a *asked) ask(e session.ElicitationRequest) int {
	if e.Context == nil {
		e.Context = a.t.Context()
	}
	e.Reply = func(answer session.ElicitationAnswer) {
		text := string(answer.Action)
		if answer.Content != nil {
			content, _ := json.Marshal(answer.Content)
			text += " " + string(content)
		}
		a.got = append(a.got, text)
	}
	a.Ask(e)
	if len(a.open) == 0 {
		return 0
	}
	return int(a.open[len(a.open)-1].id)
}

// want compares what has come to somebody, once everything has.
func want(t *testing.T, what string, got *[]string, want ...string) {
	t.Helper()
	synctest.Wait()
	check.Slice(t, *got, want, what+" %q")
}

// free is a form without a required field.
func free() *session.Form {
	return &session.Form{Fields: []session.FormField{
		{Name: "why", Title: "Why", Type: session.FieldText},
		{Name: "labels", Title: "Labels", Type: session.FieldChoices, Choices: choices("Bug", "Docs")},
	}}
}

// What the Lua API sends as an answer reaches the agent, or the user is told why it does not and the question stays.
// Lua has one empty table for lists and objects.
func TestAnswersOfTheAPI(t *testing.T) {
	for _, c := range []struct{ content, got, told, said string }{
		{`{"why":"so","labels":["bug","docs"]}`, `accept {"labels":["bug","docs"],"why":"so"}`, "", "Puppet asked: What?\nYou answered:\n  Why: so\n  Labels: Bug, Docs"},
		{`{"labels":{}}`, `accept {"labels":[]}`, "", "Puppet asked: What?\nYou answered: none"},
		{``, `accept {}`, "", "Puppet asked: What?\nYou sent it empty."},
		{`[]`, `accept {}`, "", "Puppet asked: What?\nYou sent it empty."},
		{`{"why":{}}`, "", "the answer is not sent: Why must be text", ""},
		{`{"labels":{"a":1}}`, "", "the answer is not sent: Labels must be a list of its choices", ""},
		{`["so"]`, "", "the answer is not sent: its content is not a table of fields: ", ""},
	} {
		asking(t, func(t *testing.T, a *asked) {
			id := a.ask(session.ElicitationRequest{Message: "What?", Form: free()})
			a.Answer(rpc.Answer{ID: id, Action: "accept", Content: c.content})
			synctest.Wait()
			check.Equal(t, strings.Join(a.got, "; "), c.got, "%s: the agent gets %s", c.content)
			check.Equal(t, strings.Join(a.said, "; "), c.said, "%s: the chat says %s", c.content)
			if told := strings.Join(a.told, "; "); !strings.HasPrefix(told, c.told) || (told == "") != (c.told == "") {
				t.Errorf("%s: the user is told %q, want %q", c.content, told, c.told)
			}
			check.Equal(t, a.Waiting() == 0, c.got != "", "%s: answered %v", c.content)
		})
	}
}

// What was sent of a form stands in the chat, with choices by their titles.
func TestWhatTheChatSaysOfAForm(t *testing.T) {
	asking(t, func(t *testing.T, a *asked) {
		id := a.ask(session.ElicitationRequest{Message: "What?", Form: ticket()})
		lines := strings.Join(sheetOf(ticket()).write(nil).Lines, "\n")
		lines = strings.NewReplacer("( ) High", "(x) High", "[ ] Docs", "[x] Docs", "Count", "Count 7").Replace(lines)
		a.Submit(rpc.SubmitForm{ID: id, Lines: strings.Split(lines, "\n")})
		want(t, "the chat says", &a.said, "Puppet asked: What?\nYou answered:\n  Project: parser\n  Severity: High\n"+
			"  Labels: Bug, Docs (all)\n  Count: 7\n  Notify: yes")
		a.Answer(rpc.Answer{ID: a.ask(session.ElicitationRequest{Message: "Who?", Form: ticket()}), Action: "accept",
			Content: `{"project":"p","severity":"low","notify":false}`})
		check.Equal(t, a.said[len(a.said)-1], "Puppet asked: Who?\nYou answered:\n  Project: p\n  Severity: Low\n  Notify: no", "the chat says %q")
	})
}

// A form that was answered meanwhile is not sent again, and its buffer, which waits for an answer, gets one.
func TestAFormSentTwice(t *testing.T) {
	asking(t, func(t *testing.T, a *asked) {
		id := a.ask(session.ElicitationRequest{Message: "What?", Form: free()})
		page := a.ask(session.ElicitationRequest{URL: "https://example.com/", ID: "e"})
		lines := sheetOf(free()).write(nil).Lines
		for _, id := range []int{id, id, page} {
			a.Submit(rpc.SubmitForm{ID: id, Lines: lines})
		}
		want(t, "the agent gets", &a.got, `accept {}`)
		want(t, "the user is told", &a.told, "this question has already been answered")
		check.Equal(t, len(a.faults), 3, "%d answers")
		check.Deep(t, a.faults[1:], []any{rpc.FormFaults{}, rpc.FormFaults{}}, "the later answers are %v")
	})
}

// What is wrong in a form is said in the order of its rows, and the form stays: first what cannot be read, then what the
// agent would not take.
func TestAFormWithFaults(t *testing.T) {
	asking(t, func(t *testing.T, a *asked) {
		id := a.ask(session.ElicitationRequest{Message: "What?", Form: ticket()})
		text := strings.Join(sheetOf(ticket()).write(nil).Lines, "\n")
		text = strings.NewReplacer("parser", "Parser", "[x] Bug", "[ ] Bug", "Count          ", "Count          many").Replace(text)
		for _, text := range []string{"stray\n" + text, strings.Replace(text, "many", "7", 1)} {
			a.Submit(rpc.SubmitForm{ID: id, Lines: strings.Split(text, "\n")})
		}
		a.Submit(rpc.SubmitForm{ID: id, Lines: []string{"Share much", "Count many"}}) // the user has moved them
		synctest.Wait()
		var got []string
		for _, f := range a.faults {
			got = append(got, fmt.Sprint(f.(rpc.FormFaults).Faults))
		}
		notes := a.faults[2].(rpc.FormFaults).Notes
		check.Equal(t, fmt.Sprint(notes), "[{1 a whole number, at least 1} {0 a number, at most 0.5}]", "beside the rows stands %s")
		check.Slice(t, got, []string{
			"[{0 belongs to no field} {9 must be a whole number}]",
			"[{2 must match ^[a-z]+$} {4 is required} {6 needs at least 1}]",
			"[{0 must be a number} {1 must be a whole number}]",
		}, "the faults are %q")
		check.Equal(t, a.Waiting(), 1, "%d are open")
	})
}

// The float says what a form asks for, and its buffer all that the agent has said of it, once.
func TestWhatAFormSays(t *testing.T) {
	asking(t, func(t *testing.T, a *asked) {
		form := free()
		form.Title, form.Description, form.Schema = "Report", "It is about\nwhat happened", []byte(`{"type":"object"}`)
		a.ask(session.ElicitationRequest{Message: "A Report: what?\n", Form: form, Asker: "Explorer"})
		list, _ := a.Take()
		e := list[0]
		check.Equal(t, e.Heading, "Explorer asks", "it is headed %q")
		check.Equal(t, e.Mode, "form", "it is a %s")
		check.Slice(t, e.Lines, []string{"A Report: what?", "It asks for Why, Labels"}, "the float says %q")
		check.Slice(t, e.Form.Lines[:3], []string{"# Explorer asks: A Report: what?", "# It is about", "# what happened"}, "the form begins %q")
		check.Deep(t, e.Schema, any(map[string]any{"type": "object"}), "the schema is %v")

		which := session.FormField{Type: session.FieldChoice, Choices: []session.Choice{
			{Value: "a", Name: "A", Description: "the\nfirst"}, {Value: "b", Name: "B", Description: "B"}, {Value: "c"}, {Value: "d", Name: "D"},
		}}
		for offered, fields := range map[string][]session.FormField{
			"A — the first|B|c|D|Decline to answer":                           {which},
			"A — the first|B|c|D|Answer in your own words…|Decline to answer": {which, {Title: "Else", Type: session.FieldText}},
			"Fill in the form…|Decline to answer":                             nil,
		} {
			a.ask(session.ElicitationRequest{Message: "Which?", Form: &session.Form{Fields: fields}})
			list, _ = a.Take()
			last := list[len(list)-1]
			check.Equal(t, labels(last), offered, "it offers %q")
			check.Slice(t, last.Lines, []string{"Which?"}, "the float says %q")
		}
	})
}

// labels are what a question offers.
func labels(e rpc.Elicitation) string {
	var list []string
	for _, o := range e.Options {
		list = append(list, o.Label)
	}
	return strings.Join(list, "|")
}

// A page is opened by the API as by the float, and only by an answer for it.
func TestAPageIsOpened(t *testing.T) {
	asking(t, func(t *testing.T, a *asked) {
		page := session.ElicitationRequest{Message: "Log in.", URL: "https://example.com/in", ID: "e"}
		id := a.ask(page)
		list, _ := a.Take()
		check.Slice(t, list[0].Lines, []string{"Log in.", "at example.com", "https://example.com/in"}, "the float says %q")
		check.Equal(t, labels(list[0]), "Open example.com in the browser|Decline to answer", "it offers %q")
		check.Equal(t, list[0].Mode+" "+list[0].URL, "url "+page.URL, "it is a %s")
		a.Choose(rpc.ChooseAnswer{ID: id, Option: "choice:visit"})
		a.Choose(rpc.ChooseAnswer{ID: id, Option: fillIn})
		want(t, "unasked, the user sees", &a.told)
		a.Answer(rpc.Answer{ID: id, Action: "accept"})
		a.Choose(rpc.ChooseAnswer{ID: a.ask(page), Option: visit})
		want(t, "the user sees", &a.told, page.URL, page.URL)
		want(t, "the agent gets", &a.got, "accept", "accept")
		a.Completed("e")
		a.Completed("e")
		opened := "Puppet asked: Log in.\nYou opened https://example.com/in"
		done := "What Puppet asked for at example.com is done."
		want(t, "the chat says", &a.said, opened, opened, done)
		other := a.ask(session.ElicitationRequest{Message: "Pay.", URL: "https://example.org/pay", ID: "g"})
		a.ask(session.ElicitationRequest{Message: "Log in.", URL: "https://example.com/in", ID: "f"})
		a.Completed("f") // the user was there in another way
		check.Equal(t, a.Waiting() == 1 && int(a.open[0].id) == other, true, "the other one stays: %v")
		want(t, "the chat says", &a.said, opened, opened, done, done)
		want(t, "the agent gets", &a.got, "accept", "accept", "accept")
		a.got = a.got[1:]

		form := a.ask(session.ElicitationRequest{Message: "What?", Form: free()})
		a.Choose(rpc.ChooseAnswer{ID: form, Option: visit})
		a.Choose(rpc.ChooseAnswer{ID: form, Option: choicePrefix + "bug"})
		want(t, "the agent gets", &a.got, "accept", "accept")
		a.Choose(rpc.ChooseAnswer{ID: form, Option: decline})
		want(t, "the agent gets", &a.got, "accept", "accept", "decline")
		check.Equal(t, a.said[len(a.said)-1], "Puppet asked: What?\nYou declined.", "the chat says %q")
	})
}

// A call waits while a question of its is open, and Neovim looks again whenever there is one more or one less.
func TestCallsWaitForTheirQuestions(t *testing.T) {
	asking(t, func(t *testing.T, a *asked) {
		id := a.ask(session.ElicitationRequest{ToolCallID: "c", Message: "What?", Form: free()})
		check.Deep(t, a.updates, []session.Update{session.Waiting{ToolCallID: "c", Open: true}}, "when it is asked, told is %+v")
		check.Equal(t, a.changes, 1, "when it is asked, Neovim looks %d times")
		check.Slice(t, a.events, []string{fmt.Sprint("AcpElicitation ", id)}, "the user's configuration hears %q")
		a.Completed("") // of a page that nobody was asked to open
		check.Equal(t, a.Waiting(), 1, "%d are open")
		a.Take()
		a.Answer(rpc.Answer{ID: id, Action: "decline"})
		check.Deep(t, a.updates[1:], []session.Update{session.Waiting{ToolCallID: "c"}}, "when it is answered, told is %+v")
		check.Equal(t, a.changes, 2, "when it is answered, Neovim has looked %d times")
		if list, changed := a.Take(); !changed || len(list) > 0 {
			t.Errorf("Neovim is told %v: %v", changed, list)
		}
	})
}

// A question that the agent takes back is gone, unless the user was faster; what cannot be asked is declined.
func TestQuestionsThatAreTakenBack(t *testing.T) {
	for _, c := range []struct {
		faster    bool
		got, said string
	}{{false, "cancel", "Puppet asked: What?\nIt was cancelled."}, {true, "decline", "Puppet asked: What?\nYou declined."}} {
		asking(t, func(t *testing.T, a *asked) {
			ctx, withdraw := context.WithCancel(t.Context())
			id := a.ask(session.ElicitationRequest{Context: ctx, Message: "What?", Form: free()})
			withdraw()
			synctest.Wait() // it is on its way
			if c.faster {
				a.Answer(rpc.Answer{ID: id, Action: "decline"})
			}
			go a.base.Box.Run()
			want(t, "the agent gets", &a.got, c.got)
			want(t, "the chat says", &a.said, c.said)
			check.Equal(t, a.Waiting(), 0, "%d are open")
			a.base.Box.Close()
		})
	}
	asking(t, func(t *testing.T, a *asked) {
		a.ask(session.ElicitationRequest{Message: "Look.", URL: "file:///a"})
		want(t, "the agent gets", &a.got, "decline")
		check.Contains(t, a.said[0], "A question from Puppet was declined: it wants to open", "the chat says %s")
	})
}

// When a turn ends, or is cancelled, the questions of what goes on in the background stay. At the end so do those that
// belong to no session, as of a login.
func TestQuestionsAtTheEndOfATurn(t *testing.T) {
	asking(t, func(t *testing.T, a *asked) {
		a.goesOn = "background"
		ask := func(session_, call string) {
			a.ask(session.ElicitationRequest{SessionID: session_, ToolCallID: call, Message: call, Form: free()})
		}
		open := func() string {
			list, _ := a.Take()
			var calls []string
			for _, e := range list {
				calls = append(calls, e.Message)
			}
			return fmt.Sprint(calls)
		}
		ask("s", "turn")
		ask("", "login")
		ask("s", "background")
		check.Equal(t, open(), "[turn login background]", "%s are open")
		if _, changed := a.Take(); changed {
			t.Error("Lua is told again")
		}
		a.EndTurn()
		check.Equal(t, open(), "[login background]", "after the turn, %s are open")
		want(t, "the chat says", &a.said, "Puppet asked: turn\nIt was cancelled.")
		a.stops = true
		ask("s", "turn")
		ask("", "login")
		ask("s", "background")
		check.Equal(t, open(), "[login background login background]", "while it stops, %s are open")
		a.CancelTurn()
		check.Equal(t, open(), "[background background]", "after a cancel, %s are open")
		a.WithdrawAll()
		check.Equal(t, open(), "[]", "at last, %s are open")
		check.Equal(t, len(slices.DeleteFunc(slices.Clone(a.got), func(s string) bool { return s != "cancel" })), 6, "%d were cancelled")
	})
}

// A digit answers one choice, also beside fields that may stay empty; whatever else has to be said makes it a form.
func TestWhatADigitAnswers(t *testing.T) {
	choice := session.FormField{Name: "c", Type: session.FieldChoice, Required: true, Choices: choices("A", "B")}
	text := session.FormField{Name: "t", Title: "More", Type: session.FieldText}
	must, given := text, text
	must.Required, given.Default = true, []string{"x"}
	many := choice
	names := strings.Split(strings.Repeat("x ", maxDigits), " ") // one more than that
	many.Choices = choices(names...)
	most := choice
	most.Choices = choices(names[:maxDigits]...)
	for _, c := range []struct {
		fields []session.FormField
		want   string
	}{
		{[]session.FormField{choice}, "choice:a choice:b decline"},
		{[]session.FormField{text, choice}, "choice:a choice:b fill_in decline"},
		{[]session.FormField{choice, must}, "fill_in decline"},
		{[]session.FormField{choice, given}, "fill_in decline"},
		{[]session.FormField{choice, choice}, "fill_in decline"},
		{[]session.FormField{{Type: session.FieldBoolean}}, "fill_in decline"},
		{[]session.FormField{choice, {Type: session.FieldBoolean}}, "fill_in decline"},
		{[]session.FormField{many}, "fill_in decline"},
		{[]session.FormField{most}, strings.Repeat("choice:x ", maxDigits) + "decline"},
		{[]session.FormField{text}, "fill_in decline"},
		{nil, "fill_in decline"},
	} {
		asking(t, func(t *testing.T, a *asked) {
			a.ask(session.ElicitationRequest{Message: "What?", Form: &session.Form{Fields: c.fields}})
			list, _ := a.Take()
			var ids []string
			for _, o := range list[0].Options {
				ids = append(ids, o.ID)
			}
			check.Equal(t, strings.Join(ids, " "), c.want, "%v: it offers %s", c.fields)
		})
	}
}
