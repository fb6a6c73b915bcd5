package elicitation

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file says what makes an answer invalid. A form's fields have everything in its schema; a library for all kinds
// of schemas would cost the host more memory than the rest of it.

// fault is what is wrong with a field, as the rest of a sentence that begins with the field.
type fault struct{ name, title, text string }

// faultsOf returns what is wrong with an answer, in the form's order.
func faultsOf(form *session.Form, content map[string]any) (all []fault) {
	data, err := json.Marshal(content)
	var sent map[string]any // as the agent will read it
	if err != nil || json.Unmarshal(data, &sent) != nil {
		return []fault{{text: "it cannot be sent"}}
	}
	for name := range sent {
		if !slices.ContainsFunc(form.Fields, func(f session.FormField) bool { return f.Name == name }) {
			all = append(all, fault{name, name, "is not one of its fields"})
		}
	}
	for _, f := range form.Fields {
		value, given := sent[f.Name]
		switch text := wrong(f, value); {
		case !given && f.Required:
			all = append(all, fault{f.Name, f.Title, "is required"})
		case given && text != "":
			all = append(all, fault{f.Name, f.Title, text})
		}
	}
	return all
}

// wrong says what is wrong with the value of a field, "" for nothing.
func wrong(f session.FormField, value any) string {
	switch v := value.(type) {
	case string:
		switch f.Type {
		case session.FieldText:
			return wrongText(f, v)
		case session.FieldChoice:
			return wrongChoice(f, v)
		}
	case float64:
		if f.Type == session.FieldNumber || f.Type == session.FieldInteger && v == math.Trunc(v) {
			return beyond(f, v, "must be at least ", "must be at most ", plainNumber)
		}
	case bool:
		if f.Type == session.FieldBoolean {
			return ""
		}
	case []any:
		if f.Type != session.FieldChoices {
			break
		}
		for _, item := range v {
			if text := wrongChoice(f, item); text != "" {
				return text
			}
		}
		return beyond(f, float64(len(v)), "needs at least ", "takes at most ", plainNumber)
	}
	return "must be " + typeWords(f.Type)
}

func wrongChoice(f session.FormField, value any) string {
	if slices.ContainsFunc(f.Choices, func(c session.Choice) bool { return c.Value == value }) {
		return ""
	}
	return "takes one of its choices only"
}

func wrongText(f session.FormField, text string) string {
	characters := func(n float64) string { return styled.Many(int(n), "character") }
	if text := beyond(f, float64(utf8.RuneCountInString(text)), "needs at least ", "takes at most ", characters); text != "" {
		return text
	}
	// A pattern may be invalid in Go: the agent checks it too.
	if pattern, err := regexp.Compile(f.Pattern); err == nil && !pattern.MatchString(text) {
		return "must match " + styled.Cut(f.Pattern, 100)
	}
	return wrongFormat(f.Format, text)
}

// beyond says that a number is not within the limits of a field.
func beyond(f session.FormField, n float64, least, most string, words func(float64) string) string {
	switch {
	case f.Min != nil && n < *f.Min:
		return least + words(*f.Min)
	case f.Max != nil && n > *f.Max:
		return most + words(*f.Max)
	}
	return ""
}

func plainNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func wrongFormat(format, text string) string {
	var err error
	switch format {
	case "email":
		var a *mail.Address
		if a, err = mail.ParseAddress(text); err == nil && a.Address != text {
			err = fmt.Errorf("%q has a name too", text)
		}
	case "uri":
		var u *url.URL
		if u, err = url.Parse(text); err == nil && !u.IsAbs() {
			err = fmt.Errorf("%q is a part of one", text)
		}
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return "must be " + formatWords(format)
	}
	return ""
}

func typeWords(t session.FieldType) string {
	switch t {
	case session.FieldNumber:
		return "a number"
	case session.FieldInteger:
		return "a whole number"
	case session.FieldBoolean:
		return "yes or no"
	case session.FieldChoice:
		return "one of its choices"
	case session.FieldChoices:
		return "a list of its choices"
	}
	return "text"
}

func formatWords(format string) string {
	switch format {
	case "email":
		return "an e-mail address"
	case "uri":
		return "a whole address, as https://example.com"
	case "date":
		return "a date, as 2026-01-31"
	case "date-time":
		return "a time, as 2026-01-31T18:00:00Z"
	}
	return "of the format " + styled.Cut(format, 50)
}
