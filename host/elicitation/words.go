package elicitation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file puts a question into words for the user.

// The options of the float that are not the agent's choices, whose ids begin with choicePrefix.
const (
	decline = "decline"
	fillIn  = "fill_in"
	visit   = "visit"

	choicePrefix = "choice:"
)

// maxDigits is how many choices the float offers; with more, it is a form.
const maxDigits = 40

// How much of a message is shown.
const (
	messageBytes = 4000
	saidBytes    = 500
)

// asker returns the display name of who asks.
func (qs *Questions) asker(q *question) string { return cmp.Or(q.asked.Asker, qs.base.Title) }

// snapshot returns a question for Lua, with the lines of the float.
func (qs *Questions) snapshot(q *question) rpc.Elicitation {
	e := rpc.Elicitation{
		ID: int(q.id), Session: qs.base.Session, ToolCallID: q.asked.ToolCallID, Message: q.asked.Message,
		Heading: qs.asker(q) + " asks", Reject: decline,
	}
	body := visibleLines(strings.TrimSpace(q.asked.Message))
	add := func(id, label string) {
		e.Options = append(e.Options, rpc.PermissionOption{ID: id, Name: label, Label: label})
	}
	switch form := q.asked.Form; {
	case q.page != nil:
		e.Mode, e.URL, e.Allow = "url", q.asked.URL, visit
		body = append(body, pageLines(q.page, q.asked.URL)...)
		add(visit, "Open "+styled.VisibleText(q.page.Host)+" in the browser")
	default:
		e.Mode, e.Schema = "form", schemaOf(form)
		sheet := sheetOf(form).write(qs.formHeading(q))
		e.Form = &sheet
		if f := q.single(); f != nil {
			for _, c := range f.Choices {
				label := choiceText(c)
				if c.Description != "" && c.Description != c.Name {
					label += " — " + styled.OneLine(styled.VisibleText(styled.Cut(c.Description, 300)))
				}
				add(choicePrefix+c.Value, label)
			}
			if len(form.Fields) > 1 {
				add(fillIn, "Answer in your own words…")
			}
			break
		}
		names := make([]string, 0, len(form.Fields))
		for _, f := range form.Fields {
			names = append(names, styled.OneLine(styled.VisibleText(f.Title)))
		}
		if len(names) > 0 {
			body = append(body, styled.Colored("It asks for "+styled.Cut(strings.Join(names, ", "), 300), styled.More)...)
		}
		add(fillIn, "Fill in the form…")
	}
	add(decline, "Decline to answer")
	e.FillIn = fillIn
	e.Lines, e.Marks = styled.Flatten(body)
	return e
}

// visibleLines returns the lines of what the agent says.
func visibleLines(text string) []styled.Line {
	return styled.Visible(styled.Colored(styled.Cut(text, messageBytes), styled.Plain), true)
}

// formHeading returns the lines above a form.
func (qs *Questions) formHeading(q *question) []string {
	form := q.asked.Form
	head := qs.asker(q) + " asks: " + strings.TrimSpace(q.asked.Message)
	lines, _ := styled.Flatten(visibleLines(head))
	for _, text := range []string{form.Title, form.Description} {
		if text = strings.TrimSpace(text); text != "" && !strings.Contains(q.asked.Message, text) {
			more, _ := styled.Flatten(visibleLines(text))
			lines = append(lines, more...)
		}
	}
	return lines
}

func schemaOf(form *session.Form) any {
	var schema any
	_ = json.Unmarshal(form.Schema, &schema) // it was encoded here
	return schema
}

// parsePage reads the address of a page. An error says why it is not opened.
func parsePage(address string) (*url.URL, error) {
	page, err := url.Parse(address)
	switch {
	case err == nil && page.Scheme != "" && page.Scheme != "https" && page.Scheme != "http":
		return nil, fmt.Errorf("it wants to open an address that begins with %q", styled.Cut(page.Scheme, 30)+":")
	case err != nil || page.Host == "":
		return nil, fmt.Errorf("%q is not the address of a page", styled.Cut(address, 200))
	case strings.ContainsFunc(address, unicode.IsControl):
		return nil, errors.New("its address has characters that cannot be shown")
	}
	return page, nil
}

// pageLines show the address of a page, and what is odd about it.
func pageLines(page *url.URL, address string) []styled.Line {
	host := page.Hostname()
	lines := []styled.Line{styled.Join(styled.Text("at ", styled.More), styled.Text(styled.VisibleText(page.Host), styled.ToolTitle))}
	lines = append(lines, styled.Visible([]styled.Line{{Text: address}}, false)...)
	warn := func(text string) { lines = append(lines, styled.Colored("⚠ "+text, styled.Warning)...) }
	if page.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, host) {
		warn("It is not encrypted: others on the network can read what you enter there.")
	}
	if page.User != nil {
		warn("The part before the @ is not where it leads.")
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) || strings.Contains("."+strings.ToLower(host), ".xn--") {
		warn("Its name has letters that can look like others.")
	}
	return lines
}

// said returns what the chat says about an answer.
func (q *question) said(agent string, answer session.ElicitationAnswer) string {
	message := styled.Cut(styled.OneLine(q.asked.Message), saidBytes)
	asked := fmt.Sprintf("%s asked: %s", agent, message)
	switch {
	case answer.Action == session.ElicitationDecline:
		return asked + "\nYou declined."
	case answer.Action == session.ElicitationCancel:
		return asked + "\nIt was cancelled."
	case q.page != nil:
		return asked + "\nYou opened " + q.asked.URL
	}
	var lines []string
	for i := range q.asked.Form.Fields {
		f := &q.asked.Form.Fields[i]
		if value, given := answer.Content[f.Name]; given {
			lines = append(lines, fmt.Sprintf("%s: %s", styled.OneLine(f.Title), shownValue(f, value)))
		}
	}
	switch len(lines) {
	case 0:
		return asked + "\nYou sent it empty."
	case 1:
		_, value, _ := strings.Cut(lines[0], ": ")
		return asked + "\nYou answered: " + value
	}
	return asked + "\nYou answered:\n  " + strings.Join(lines, "\n  ")
}

// shownValue returns a field's answer for display, with choices by their titles.
func shownValue(f *session.FormField, value any) string {
	names := titles(f)
	name := func(value any) string {
		text := fmt.Sprint(value)
		return cmp.Or(names[text], text)
	}
	var parts []string
	switch list := value.(type) {
	case []string:
		for _, value := range list {
			parts = append(parts, name(value))
		}
	case []any:
		for _, value := range list {
			parts = append(parts, name(value))
		}
	case bool:
		if list {
			return "yes"
		}
		return "no"
	default:
		return styled.Cut(styled.OneLine(name(value)), saidBytes)
	}
	if len(parts) == 0 {
		return "none"
	}
	return styled.Cut(strings.Join(parts, ", "), saidBytes)
}
