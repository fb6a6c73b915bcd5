// Package elicitation serves an agent's questions to its user: one of several choices, a form, or a visit to a page. It
// shows the question and answers it exactly once, whoever comes first: the user, a cancellation, the agent's
// withdrawal, the end of the process.
package elicitation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Config is what the questions need from their session. All are called on its goroutine.
type Config struct {
	ID     func() int64             // a new number for a question, unique among permission requests too
	Apply  func(session.Update)     // applies an update to the conversation
	GoesOn func(callID string) bool // the call runs in the background of the session's turns

	Stopping func() bool // the user has cancelled the turn, and the agent has not ended it yet
}

// Questions are the open questions of a session's agent. They belong to the session's goroutine.
type Questions struct {
	base    feature.Base
	config  Config
	open    []*question       // oldest first
	pages   map[string]string // hosts that the user was sent to, by the agent's id, until completed
	changed bool              // Lua is to be told
}

// New returns the questions of a session, of which there are none yet.
func New(base feature.Base, config Config) *Questions {
	return &Questions{base: base, config: config, pages: map[string]string{}}
}

// question is an open question. It is answered exactly once: when it leaves [Questions.open].
type question struct {
	id    int64
	asked session.ElicitationRequest // only [Questions.resolve] calls its Reply
	page  *url.URL                   // nil for a form
	stop  func() bool                // ends the watch for a withdrawal
}

// Ask adds a question of the agent's.
func (qs *Questions) Ask(e session.ElicitationRequest) {
	if e.SessionID != "" && qs.config.Stopping() && !qs.config.GoesOn(e.ToolCallID) {
		e.Reply(session.ElicitationAnswer{Action: session.ElicitationCancel})
		return
	}
	q := &question{id: qs.config.ID(), asked: e}
	var err error
	if e.Form == nil {
		q.page, err = parsePage(e.URL)
	}
	if err != nil {
		e.Reply(session.ElicitationAnswer{Action: session.ElicitationDecline})
		qs.base.Remark("warning", fmt.Sprintf("A question from %s was declined: %v.", qs.base.Title, err))
		return
	}
	qs.open = append(qs.open, q)
	q.stop = context.AfterFunc(e.Context, func() {
		qs.base.Box.Put(func() { qs.resolve(q, session.ElicitationAnswer{Action: session.ElicitationCancel}, "") })
	})
	qs.config.Apply(session.Waiting{ToolCallID: e.ToolCallID, Open: true})
	qs.changed = true
	qs.base.Event("AcpElicitation", map[string]any{"id": q.id})
	qs.base.Changed()
}

// Waiting returns how many questions wait for the user.
func (qs *Questions) Waiting() int { return len(qs.open) }

func (qs *Questions) find(id int) *question {
	i := slices.IndexFunc(qs.open, func(q *question) bool { return q.id == int64(id) })
	if i < 0 {
		qs.base.Editor.Notify("info", "this question has already been answered")
		return nil
	}
	return qs.open[i]
}

// Choose answers with an option of the float.
func (qs *Questions) Choose(m rpc.ChooseAnswer) {
	q := qs.find(m.ID)
	switch {
	case q == nil:
	case m.Option == decline:
		qs.resolve(q, session.ElicitationAnswer{Action: session.ElicitationDecline}, "")
	case q.page != nil && m.Option == visit:
		qs.visit(q)
	default:
		value, chosen := strings.CutPrefix(m.Option, choicePrefix)
		if f := q.single(); f != nil && chosen {
			qs.accept(q, map[string]any{f.Name: value})
		}
	}
}

// Answer answers a question through the Lua API.
func (qs *Questions) Answer(m rpc.Answer) {
	q := qs.find(m.ID)
	if q == nil {
		return
	}
	action := session.ElicitationAction(m.Action)
	switch {
	case action != session.ElicitationAccept:
		qs.resolve(q, session.ElicitationAnswer{Action: action}, "")
	case q.page != nil:
		qs.visit(q)
	default:
		content, err := decodeContent(q.asked.Form, m.Content)
		if err != nil {
			qs.base.Editor.Notify("warning", fmt.Sprintf("the answer is not sent: %v", err))
			return
		}
		qs.accept(q, content)
	}
}

// decodeContent reads an answer's content from JSON in which an empty list may be an empty object.
func decodeContent(form *session.Form, data string) (map[string]any, error) {
	content := map[string]any{}
	if data != "" && data != "[]" {
		if err := json.Unmarshal([]byte(data), &content); err != nil {
			return nil, fmt.Errorf("its content is not a table of fields: %w", err)
		}
	}
	for _, f := range form.Fields {
		if empty, ok := content[f.Name].(map[string]any); ok && len(empty) == 0 {
			content[f.Name] = []any{}
		}
	}
	return content, nil
}

// accept answers a form with its content, unless something is wrong with it; then the user is told.
func (qs *Questions) accept(q *question, content map[string]any) {
	if faults := faultsOf(q.asked.Form, content); len(faults) > 0 {
		f := faults[0]
		qs.base.Editor.Notify("warning", fmt.Sprintf("the answer is not sent: %s %s", f.title, f.text))
		return
	}
	qs.resolve(q, session.ElicitationAnswer{Action: session.ElicitationAccept, Content: content}, "")
}

// Submit sends a form as the user filled it in, or answers which rows are wrong.
func (qs *Questions) Submit(m rpc.SubmitForm) {
	q := qs.find(m.ID)
	if q == nil || q.asked.Form == nil {
		qs.base.Editor.Answer(m.Callback, rpc.FormFaults{}, "")
		return
	}
	sheet := sheetOf(q.asked.Form)
	content, rows, faults := sheet.read(m.Lines)
	if len(faults) == 0 {
		for _, f := range faultsOf(q.asked.Form, content) {
			faults = append(faults, rpc.FormNote{Row: rows[f.name], Text: f.text})
		}
	}
	slices.SortStableFunc(faults, func(a, b rpc.FormNote) int { return a.Row - b.Row })
	qs.base.Editor.Answer(m.Callback, rpc.FormFaults{Faults: faults, Notes: sheet.notes(rows)}, "")
	if len(faults) == 0 {
		qs.resolve(q, session.ElicitationAnswer{Action: session.ElicitationAccept, Content: content}, "")
	}
}

// visit has Neovim open the page of a question, to which the user has agreed.
func (qs *Questions) visit(q *question) {
	qs.base.Editor.Post(editor.Do(rpc.OpenPage{URL: q.asked.URL}))
	qs.pages[q.asked.ID] = q.page.Host
	qs.resolve(q, session.ElicitationAnswer{Action: session.ElicitationAccept}, "")
}

// Completed notes that the user has done what a page asked for.
func (qs *Questions) Completed(id string) {
	if host, known := qs.pages[id]; known {
		delete(qs.pages, id)
		qs.base.Remark("info", fmt.Sprintf("What %s asked for at %s is done.", qs.base.Title, host))
		return
	}
	i := slices.IndexFunc(qs.open, func(q *question) bool { return q.page != nil && q.asked.ID == id })
	if i >= 0 { // some other way than by opening it here
		q := qs.open[i]
		qs.resolve(q, session.ElicitationAnswer{Action: session.ElicitationAccept}, fmt.Sprintf("What %s asked for at %s is done.", qs.base.Title, q.page.Host))
	}
}

// resolve answers a question and takes it off the list. The chat says what was answered, or remark.
func (qs *Questions) resolve(q *question, answer session.ElicitationAnswer, remark string) {
	i := slices.Index(qs.open, q)
	if i < 0 {
		return
	}
	qs.open = slices.Delete(qs.open, i, i+1)
	q.stop()
	if remark == "" {
		remark = q.said(qs.asker(q), answer)
	}
	q.asked.Reply(answer)
	qs.config.Apply(session.Waiting{ToolCallID: q.asked.ToolCallID})
	qs.base.Remark("info", remark)
	qs.changed = true
	qs.base.Changed()
}

// WithdrawAll cancels all questions.
func (qs *Questions) WithdrawAll() {
	for len(qs.open) > 0 {
		qs.resolve(qs.open[0], session.ElicitationAnswer{Action: session.ElicitationCancel}, "")
	}
}

// CancelTurn cancels all questions except those of background work.
func (qs *Questions) CancelTurn() { qs.withdraw(func(*question) bool { return true }) }

// EndTurn is CancelTurn for the session's own questions; those that belong to a request from the client stay.
func (qs *Questions) EndTurn() {
	qs.withdraw(func(q *question) bool { return q.asked.SessionID != "" })
}

func (qs *Questions) withdraw(which func(*question) bool) {
	for _, q := range slices.Clone(qs.open) {
		if which(q) && !qs.config.GoesOn(q.asked.ToolCallID) {
			qs.resolve(q, session.ElicitationAnswer{Action: session.ElicitationCancel}, "")
		}
	}
}

// Take returns the waiting questions for Lua; ok is false if it already knows them.
func (qs *Questions) Take() (list []rpc.Elicitation, ok bool) {
	if !qs.changed {
		return nil, false
	}
	qs.changed = false
	list = make([]rpc.Elicitation, len(qs.open))
	for i, q := range qs.open {
		list[i] = qs.snapshot(q)
	}
	return list, true
}

// single returns the one field that a digit can answer: a choice without another required field; otherwise nil.
func (q *question) single() *session.FormField {
	if q.asked.Form == nil {
		return nil
	}
	var one *session.FormField
	for i := range q.asked.Form.Fields {
		f := &q.asked.Form.Fields[i]
		switch {
		case f.Type == session.FieldChoice && one == nil && len(f.Choices) <= maxDigits:
			one = f
		case f.Type != session.FieldText || f.Required || f.Default != nil:
			return nil
		}
	}
	return one
}

// titles maps the choices of a field to their titles.
func titles(f *session.FormField) map[string]string {
	return maps.Collect(func(yield func(string, string) bool) {
		for _, c := range f.Choices {
			if !yield(c.Value, c.Name) {
				return
			}
		}
	})
}
