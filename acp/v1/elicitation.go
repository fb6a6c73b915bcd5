package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Methods of elicitation, sent by the agent. They need the client's capability.
const (
	MethodElicitationCreate   = "elicitation/create"
	MethodElicitationComplete = "elicitation/complete" // a notification
)

// ElicitationID names an elicitation by URL.
type ElicitationID string

// CreateElicitationRequest asks the user for something. It belongs to a session, perhaps to a
// tool call of it, or to the request RequestID of the client. See "Elicitation".
type CreateElicitationRequest struct {
	Message    string          `json:"message" wire:"required"`
	SessionID  wire.SessionID  `json:"sessionId,omitzero"`
	ToolCallID wire.ToolCallID `json:"toolCallId,omitzero" wire:"lenient"`
	RequestID  json.RawMessage `json:"requestId,omitzero"`
	Mode       ElicitationMode `json:"-" wire:"inline"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// MarshalJSON encodes the request and its mode as one object.
func (r CreateElicitationRequest) MarshalJSON() ([]byte, error) {
	type common CreateElicitationRequest
	return encodeInline(common(r), r.Mode)
}

// ElicitationMode is how the user is asked: [*ElicitationFormMode], [*ElicitationURLMode] or [*Unknown].
type ElicitationMode interface{ elicitationMode() }

func (*ElicitationFormMode) elicitationMode() {}
func (*ElicitationURLMode) elicitationMode()  {}
func (*Unknown) elicitationMode()             {}

// ElicitationFormMode asks by a form. See "Elicitation".
type ElicitationFormMode struct {
	RequestedSchema ElicitationSchema `json:"requestedSchema" wire:"required"`
}

func (m ElicitationFormMode) MarshalJSON() ([]byte, error) {
	type body ElicitationFormMode
	return acp.EncodeVariant("mode", "form", body(m))
}

// ElicitationURLMode asks the user to open a page. See "Elicitation".
type ElicitationURLMode struct {
	ElicitationID ElicitationID `json:"elicitationId" wire:"required"`
	URL           string        `json:"url" wire:"required"`
}

func (m ElicitationURLMode) MarshalJSON() ([]byte, error) {
	type body ElicitationURLMode
	return acp.EncodeVariant("mode", "url", body(m))
}

// ElicitationSchema describes a form: an object whose properties are its fields. See "Elicitation".
type ElicitationSchema struct {
	Type        string                `json:"type,omitzero" wire:"lenient"` // "object"
	Title       string                `json:"title,omitzero" wire:"lenient"`
	Description string                `json:"description,omitzero" wire:"lenient"`
	Properties  ElicitationProperties `json:"properties"`
	Required    []string              `json:"required,omitzero"`
	Meta        json.RawMessage       `json:"_meta,omitzero" wire:"lenient,object"`
}

// ElicitationProperties is the fields of a form in the order in which the agent gave them.
type ElicitationProperties []ElicitationProperty

// ElicitationProperty is a field of a form.
type ElicitationProperty struct {
	Name   string
	Schema ElicitationPropertySchema
}

// MarshalJSON encodes the fields as an object, in order.
func (p ElicitationProperties) MarshalJSON() ([]byte, error) {
	var object bytes.Buffer
	object.WriteByte('{')
	for i, property := range p {
		if i > 0 {
			object.WriteByte(',')
		}
		name, err := json.Marshal(property.Name)
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(property.Schema)
		if err != nil {
			return nil, err
		}
		object.Write(name)
		object.WriteByte(':')
		object.Write(schema)
	}
	object.WriteByte('}')
	return object.Bytes(), nil
}

// UnmarshalJSON decodes an object; null is one without properties.
func (p *ElicitationProperties) UnmarshalJSON(data []byte) error {
	*p = nil
	tokens := json.NewDecoder(bytes.NewReader(data))
	switch open, err := tokens.Token(); {
	case err != nil:
		return err
	case open == nil:
		return nil
	case open != json.Delim('{'):
		return errors.New("expected an object")
	}
	for tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := tokens.Decode(&raw); err != nil {
			return err
		}
		property := ElicitationProperty{Name: name.(string)} // the syntax has strings only
		if err := acp.Decode(raw, &property.Schema); err != nil {
			return fmt.Errorf("%s: %w", property.Name, err)
		}
		*p = append(*p, property)
	}
	return nil
}

// ElicitationPropertySchema describes a field of a form: [*StringPropertySchema], [*NumberPropertySchema],
// [*IntegerPropertySchema], [*BooleanPropertySchema], [*MultiSelectPropertySchema] or [*Unknown].
type ElicitationPropertySchema interface{ elicitationPropertySchema() }

func (*StringPropertySchema) elicitationPropertySchema()      {}
func (*NumberPropertySchema) elicitationPropertySchema()      {}
func (*IntegerPropertySchema) elicitationPropertySchema()     {}
func (*BooleanPropertySchema) elicitationPropertySchema()     {}
func (*MultiSelectPropertySchema) elicitationPropertySchema() {}
func (*Unknown) elicitationPropertySchema()                   {}

// StringFormat is what the text of a field must be, as an address or a date.
type StringFormat string

// The formats of the schema.
const (
	FormatEmail    StringFormat = "email"
	FormatURI      StringFormat = "uri"
	FormatDate     StringFormat = "date"
	FormatDateTime StringFormat = "date-time"
)

// StringPropertySchema is a field of text, or a choice of one if Enum or OneOf is given. Lengths are in characters.
type StringPropertySchema struct {
	Title       string          `json:"title,omitzero" wire:"lenient"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	MinLength   acp.Opt[uint32] `json:"minLength,omitzero"`
	MaxLength   acp.Opt[uint32] `json:"maxLength,omitzero"`
	Pattern     string          `json:"pattern,omitzero"`
	Format      StringFormat    `json:"format,omitzero"`
	Default     acp.Opt[string] `json:"default,omitzero" wire:"lenient"`
	Enum        []string        `json:"enum,omitzero"`
	OneOf       []EnumOption    `json:"oneOf,omitzero"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (p StringPropertySchema) MarshalJSON() ([]byte, error) {
	type body StringPropertySchema
	return acp.EncodeVariant("type", "string", body(p))
}

// EnumOption is a choice with a title.
type EnumOption struct {
	Const       string          `json:"const" wire:"required"`
	Title       string          `json:"title" wire:"required"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// NumberPropertySchema is a field for a number.
type NumberPropertySchema struct {
	Title       string           `json:"title,omitzero" wire:"lenient"`
	Description string           `json:"description,omitzero" wire:"lenient"`
	Minimum     acp.Opt[float64] `json:"minimum,omitzero"`
	Maximum     acp.Opt[float64] `json:"maximum,omitzero"`
	Default     acp.Opt[float64] `json:"default,omitzero" wire:"lenient"`
	Meta        json.RawMessage  `json:"_meta,omitzero" wire:"lenient,object"`
}

func (p NumberPropertySchema) MarshalJSON() ([]byte, error) {
	type body NumberPropertySchema
	return acp.EncodeVariant("type", "number", body(p))
}

// IntegerPropertySchema is a field for an integer.
type IntegerPropertySchema struct {
	Title       string          `json:"title,omitzero" wire:"lenient"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	Minimum     acp.Opt[int64]  `json:"minimum,omitzero"`
	Maximum     acp.Opt[int64]  `json:"maximum,omitzero"`
	Default     acp.Opt[int64]  `json:"default,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (p IntegerPropertySchema) MarshalJSON() ([]byte, error) {
	type body IntegerPropertySchema
	return acp.EncodeVariant("type", "integer", body(p))
}

// BooleanPropertySchema is a field for yes or no.
type BooleanPropertySchema struct {
	Title       string          `json:"title,omitzero" wire:"lenient"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	Default     acp.Opt[bool]   `json:"default,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (p BooleanPropertySchema) MarshalJSON() ([]byte, error) {
	type body BooleanPropertySchema
	return acp.EncodeVariant("type", "boolean", body(p))
}

// MultiSelectPropertySchema is a choice of several.
type MultiSelectPropertySchema struct {
	Title       string           `json:"title,omitzero" wire:"lenient"`
	Description string           `json:"description,omitzero" wire:"lenient"`
	MinItems    acp.Opt[uint64]  `json:"minItems,omitzero"`
	MaxItems    acp.Opt[uint64]  `json:"maxItems,omitzero"`
	Items       MultiSelectItems `json:"items" wire:"required"`
	Default     []string         `json:"default,omitzero" wire:"lenient,skip"`
	Meta        json.RawMessage  `json:"_meta,omitzero" wire:"lenient,object"`
}

func (p MultiSelectPropertySchema) MarshalJSON() ([]byte, error) {
	type body MultiSelectPropertySchema
	return acp.EncodeVariant("type", "array", body(p))
}

// MultiSelectItems is what can be chosen: [*StringMultiSelectItems], [*TitledMultiSelectItems] or [*Unknown].
type MultiSelectItems interface{ multiSelectItems() }

func (*StringMultiSelectItems) multiSelectItems() {}
func (*TitledMultiSelectItems) multiSelectItems() {}
func (*Unknown) multiSelectItems()                {}

// StringMultiSelectItems is plain choices.
type StringMultiSelectItems struct {
	Enum acp.List[string] `json:"enum" wire:"required"`
	Meta json.RawMessage  `json:"_meta,omitzero" wire:"lenient,object"`
}

func (i StringMultiSelectItems) MarshalJSON() ([]byte, error) {
	type body StringMultiSelectItems
	return acp.EncodeVariant("type", "string", body(i))
}

// TitledMultiSelectItems is choices with titles. It has no type on the wire.
type TitledMultiSelectItems struct {
	AnyOf acp.List[EnumOption] `json:"anyOf" wire:"required"`
	Meta  json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

func init() {
	register("mode", map[string]func() ElicitationMode{
		"form": func() ElicitationMode { return new(ElicitationFormMode) },
		"url":  func() ElicitationMode { return new(ElicitationURLMode) },
	}, func(u *Unknown) ElicitationMode { return u })
	register("type", map[string]func() ElicitationPropertySchema{
		"string":  func() ElicitationPropertySchema { return new(StringPropertySchema) },
		"number":  func() ElicitationPropertySchema { return new(NumberPropertySchema) },
		"integer": func() ElicitationPropertySchema { return new(IntegerPropertySchema) },
		"boolean": func() ElicitationPropertySchema { return new(BooleanPropertySchema) },
		"array":   func() ElicitationPropertySchema { return new(MultiSelectPropertySchema) },
	}, func(u *Unknown) ElicitationPropertySchema { return u })
	registerDefault("type", map[string]func() MultiSelectItems{
		"string": func() MultiSelectItems { return new(StringMultiSelectItems) },
	}, func() MultiSelectItems { return new(TitledMultiSelectItems) },
		func(u *Unknown) MultiSelectItems { return u })
}

// ElicitationAction is what the user did with an elicitation.
type ElicitationAction string

// The actions of the schema.
const (
	ElicitationAccept  ElicitationAction = "accept"
	ElicitationDecline ElicitationAction = "decline"
	ElicitationCancel  ElicitationAction = "cancel"
)

// CreateElicitationResponse is the user's answer. Content has the value of each field of an
// accepted form: a string, a number, a boolean or a list of strings. See "Elicitation".
type CreateElicitationResponse struct {
	Action  ElicitationAction          `json:"action" wire:"required"`
	Content map[string]json.RawMessage `json:"content,omitzero"`
	Meta    json.RawMessage            `json:"_meta,omitzero" wire:"lenient,object"`
}

// CompleteElicitationNotification says that the user has done what a page asked for. See "Elicitation".
type CompleteElicitationNotification struct {
	ElicitationID ElicitationID   `json:"elicitationId" wire:"required"`
	Meta          json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
