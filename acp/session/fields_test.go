package session

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
)

// A new field of a tool call is in its patch, is applied, and is cleared by a whole patch, or this fails.
func TestFieldsOfAToolCall(t *testing.T) {
	full := ToolCallPatch{
		ID: "c", Title: acp.Set("t"), Name: acp.Set("n"), Kind: acp.Set(KindEdit), Status: acp.Set(StatusCompleted),
		Content: acp.Set([]ToolCallContent{Diff{}}), Locations: acp.Set([]Location{{Path: "a"}}),
		RawInput: acp.Set(json.RawMessage("1")), RawOutput: acp.Set(json.RawMessage("2")),
		Meta: acp.Set(map[string]json.RawMessage{"m": json.RawMessage("3")}), Parent: acp.Set("p"), Editor: true,
	}
	conv := NewConversation(time.Now)
	conv.Apply(ToolCallPatch{ID: "p"})
	conv.Apply(full)
	call := reflect.ValueOf(*conv.ToolCall("c"))
	for _, f := range reflect.VisibleFields(call.Type()) {
		if f.IsExported() && call.FieldByIndex(f.Index).IsZero() {
			t.Errorf("%s is not applied", f.Name)
		}
	}

	stay := map[string]bool{"ID": true, "Meta": true, "Parent": true, "Editor": true}
	whole := reflect.ValueOf(ToolCallPatch{ID: "c"}.Whole())
	for _, f := range reflect.VisibleFields(whole.Type()) {
		if reflect.ValueOf(full).FieldByIndex(f.Index).IsZero() {
			t.Errorf("%s is not in the full patch", f.Name)
		}
		if !stay[f.Name] && whole.FieldByIndex(f.Index).IsZero() {
			t.Errorf("%s is not cleared by a whole patch", f.Name)
		}
		one := ToolCallPatch{ID: "c"}
		reflect.ValueOf(&one).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(full).FieldByIndex(f.Index))
		if one.empty() != (f.Name == "ID") {
			t.Errorf("a patch of %s alone is empty: %v", f.Name, one.empty())
		}
	}
}
