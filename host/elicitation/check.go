package elicitation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has what makes an answer invalid.

// checker compares answers with the schema of a form.
type checker struct {
	form   *session.Form
	schema *jsonschema.Schema
}

// address is that of the schema for the compiler; nothing is fetched from it.
const address = "form.json"

func newChecker(form *session.Form) (*checker, error) {
	schema, err := compile(form.Schema)
	if err != nil { // a pattern may be none for Go: the agent looks itself
		schema, err = compile(withoutPatterns(form.Schema))
	}
	if err != nil {
		return nil, fmt.Errorf("its form is malformed: %w", err)
	}
	return &checker{form, schema}, nil
}

func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(address, doc); err != nil {
		return nil, err
	}
	return c.Compile(address)
}

func withoutPatterns(schema json.RawMessage) json.RawMessage {
	var doc map[string]any
	if json.Unmarshal(schema, &doc) != nil {
		return schema
	}
	properties, _ := doc["properties"].(map[string]any)
	for _, p := range properties {
		if p, ok := p.(map[string]any); ok {
			delete(p, "pattern")
		}
	}
	rest, err := json.Marshal(doc)
	if err != nil {
		return schema
	}
	return rest
}

// fault is what is wrong with a field, as the end of a sentence that begins with the field.
type fault struct{ name, title, text string }

// faults are what is wrong with an answer, by the form's order.
func (c *checker) faults(content map[string]any) []fault {
	data, err := json.Marshal(content)
	if err != nil {
		return []fault{{text: "it cannot be sent"}}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return []fault{{text: "it cannot be sent"}}
	}
	var all []fault
	for name := range content {
		if c.field(name) == nil {
			all = append(all, fault{name, name, "is not one of its fields"})
		}
	}
	var invalid *jsonschema.ValidationError
	if errors.As(c.schema.Validate(value), &invalid) {
		c.add(&all, invalid)
	}
	slices.SortStableFunc(all, func(a, b fault) int { return c.at(a.name) - c.at(b.name) })
	return slices.CompactFunc(all, func(a, b fault) bool { return a.name == b.name })
}

func (c *checker) at(name string) int {
	return slices.IndexFunc(c.form.Fields, func(f session.FormField) bool { return f.Name == name })
}

func (c *checker) field(name string) *session.FormField {
	if i := c.at(name); i >= 0 {
		return &c.form.Fields[i]
	}
	return nil
}

// add adds what an error says of the fields.
func (c *checker) add(all *[]fault, e *jsonschema.ValidationError) {
	if missing, ok := e.ErrorKind.(*kind.Required); ok {
		for _, name := range missing.Missing {
			if f := c.field(name); f != nil {
				*all = append(*all, fault{name, f.Title, "is required"})
			}
		}
		return
	}
	if len(e.InstanceLocation) > 0 {
		if f := c.field(e.InstanceLocation[0]); f != nil {
			*all = append(*all, fault{f.Name, f.Title, wrong(f, e.ErrorKind, len(e.InstanceLocation) > 1)})
		}
		return
	}
	for _, cause := range e.Causes {
		c.add(all, cause)
	}
}

// wrong says what is wrong with a field; item is that one of its items is.
func wrong(f *session.FormField, k jsonschema.ErrorKind, item bool) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "needs at least " + styled.Many(k.Want, "character")
	case *kind.MaxLength:
		return "takes at most " + styled.Many(k.Want, "character")
	case *kind.MinItems:
		return fmt.Sprintf("needs at least %d", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("takes at most %d", k.Want)
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.Pattern:
		return "must match " + styled.Cut(k.Want, 100)
	case *kind.Format:
		return "must be " + formatWords(k.Want)
	case *kind.Type:
		return "must be " + typeWords(f.Type)
	}
	if f.Type == session.FieldChoice || item {
		return "takes one of its choices only"
	}
	return "is not valid"
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(strings.TrimRight(r.FloatString(6), "0"), ".")
}

func typeWords(t session.FieldType) string {
	switch t {
	case session.FieldNumber:
		return "a number"
	case session.FieldInteger:
		return "a whole number"
	case session.FieldBoolean:
		return "yes or no"
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
