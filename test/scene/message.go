package scene

import (
	"encoding/json"
	"slices"
	"testing"
)

// This file reads what the client has sent.

// obj is a JSON object of the protocol.
type obj = map[string]any

// Message is one of the client's messages.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`

	Line []byte `json:"-"` // as it was sent
}

// Get is a value inside the params or the result, by the keys that lead to it.
func (m Message) Get(keys ...string) any {
	var v any
	if json.Unmarshal(slices.Concat(m.Params, m.Result), &v) != nil {
		return nil
	}
	for _, key := range keys {
		fields, _ := v.(obj)
		v = fields[key]
	}
	return v
}

// Text is Get for strings.
func (m Message) Text(keys ...string) string {
	s, _ := m.Get(keys...).(string)
	return s
}

func (m Message) String() string { return string(m.Line) }

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Outcome is how a permission request was answered: an option's id, or "cancelled".
func Outcome(t *testing.T, m Message) string {
	t.Helper()
	if m.Error != nil {
		t.Errorf("the answer is the error %v", *m.Error)
	}
	if m.Text("outcome", "outcome") == "selected" {
		return m.Text("outcome", "optionId")
	}
	return m.Text("outcome", "outcome")
}
