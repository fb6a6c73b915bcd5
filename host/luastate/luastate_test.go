package luastate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A new field of a tool call is in the Lua API too, or left out on purpose.
func TestLuaHasTheFieldsOfAToolCall(t *testing.T) {
	leftOut := map[string]bool{"Meta": true, "Parent": true, "Editor": true}
	c := &session.ToolCall{
		ID: "c", Title: "t", Name: "n", Kind: session.KindEdit, Status: session.StatusCompleted,
		Content: []session.ToolCallContent{session.Diff{Path: "a"}}, Locations: []session.Location{{Path: "a"}},
		RawInput: json.RawMessage("1"), RawOutput: json.RawMessage("2"),
	}
	from, to := reflect.ValueOf(*c), reflect.ValueOf(ToolCall(c, 0))
	for _, f := range reflect.VisibleFields(from.Type()) {
		if !f.IsExported() || leftOut[f.Name] {
			continue
		}
		if from.FieldByIndex(f.Index).IsZero() {
			t.Errorf("the call of this test has no %s", f.Name)
		}
		if has := to.FieldByName(f.Name); !has.IsValid() || has.IsZero() {
			t.Errorf("Lua does not get %s", f.Name)
		}
	}
}

// Lua keeps some of many places, and gets all of them where it asks for the call.
func TestPlacesOfACallAreBounded(t *testing.T) {
	call := &session.ToolCall{Locations: make([]session.Location, 100_000)}
	check.Equal(t, len(ToolCall(call, MaxText).Locations), mostLocations, "it keeps %d places")
	check.Equal(t, len(ToolCall(call, 0).Locations), 100_000, "it is given %d places")
}

func TestCallsAreToldInOrder(t *testing.T) {
	conv := session.NewConversation(time.Now)
	calls := NewCalls()
	touch := func(id string, status session.ToolCallStatus) (began, ended bool) {
		conv.Apply(session.ToolCallPatch{ID: id, Status: acp.Set(status)})
		return calls.Touch(conv.ToolCall(id))
	}
	for i := range callsAtOnce + 1 {
		if began, ended := touch(fmt.Sprint(i), session.StatusInProgress); !began || ended {
			t.Fatalf("call %d: began %v, ended %v", i, began, ended)
		}
	}
	for _, once := range []bool{true, false} {
		if began, ended := touch("0", session.StatusCompleted); began || ended != once {
			t.Errorf("it began %v, and ended %v", began, ended)
		}
	}
	first, last := conv.ToolCall("0"), conv.ToolCall(fmt.Sprint(callsAtOnce))
	list := calls.Take()
	if len(list) != callsAtOnce || list[0].At != 1 || list[0].Call.Status != "completed" || !calls.Listed(first) || calls.Listed(last) || !calls.Pending() {
		t.Errorf("%d at once, the first is %+v", len(list), list[0])
	}
	touch("3", session.StatusFailed)
	if list := calls.Take(); len(list) != 2 || list[0].At != callsAtOnce+1 || list[1].At != 4 || calls.Pending() || !calls.Listed(last) {
		t.Errorf("then %+v", list)
	}
}
