package session

import (
	"context"
	"encoding/json"
)

// ElicitationRequest asks the user for something, by a form or on a page (specification: Elicitation). SessionID is ""
// if it belongs to a request from the client, such as a login. It is withdrawn when Context ends.
type ElicitationRequest struct {
	Context               context.Context
	SessionID, ToolCallID string
	Message               string
	Asker                 string // who asks, for people; "" for the agent

	Form    *Form  // nil for a page
	URL, ID string // of a page; ID is the agent's name for it, see Client.ElicitationCompleted

	// Reply answers, exactly once.
	Reply func(ElicitationAnswer)
}

// ElicitationAnswer is the user's answer to an elicitation. Content has a value for each field of an accepted form that
// was filled in.
type ElicitationAnswer struct {
	Action  ElicitationAction
	Content map[string]any
}

// ElicitationAction is what the user did.
type ElicitationAction string

// The actions of the specification.
const (
	ElicitationAccept  ElicitationAction = "accept"
	ElicitationDecline ElicitationAction = "decline"
	ElicitationCancel  ElicitationAction = "cancel"
)

// Form is what a form asks for. Schema is the JSON Schema that the answer must satisfy.
type Form struct {
	Title, Description string
	Fields             []FormField
	Schema             json.RawMessage
}

// FormField is a field of a form. Title is never "".
type FormField struct {
	Name, Title, Description string
	Type                     FieldType
	Required                 bool
	Choices                  []Choice // of FieldChoice and FieldChoices
	Default                  []string // several for FieldChoices, otherwise one; nil for none
	Min, Max                 *float64 // of a number, a text's length, or how many are chosen
	Format, Pattern          string   // of a text
}

// FieldType says what a field takes.
type FieldType string

// The types of fields.
const (
	FieldText    FieldType = "text"
	FieldNumber  FieldType = "number"
	FieldInteger FieldType = "integer"
	FieldBoolean FieldType = "boolean"
	FieldChoice  FieldType = "choice"  // one of several
	FieldChoices FieldType = "choices" // any of several
)
