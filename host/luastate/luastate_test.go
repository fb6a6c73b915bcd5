package luastate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
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

// Lua has what the agent says of a session: its options, commands and plan, how full its context is, and what it costs.
func TestWhatLuaHasOfASession(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	modes := []session.Choice{{Value: "a", Name: "Ask", Description: "asks", Group: "safe"}, {Value: "c", Name: "Code"}}
	mode := session.Option{ID: "m", Name: "Mode", Description: "how", Category: "mode", Type: "select", Value: "c", Choices: modes}
	model := session.Option{ID: "n", Category: "model", Type: "select", Value: "s", Choices: []session.Choice{{Value: "s", Name: "Small"}}}
	other := session.Option{ID: "o", Category: "thought", Type: "select", Value: "a", Choices: modes[:1]}
	c := session.NewConversation(time.Now)
	c.Title, c.Stop = "Mend it", session.StopEndTurn
	c.Options = []session.Option{mode, model, other, {ID: "p", Type: "boolean", Value: "true"}, {ID: "q", Type: "boolean", Value: "false"}}
	c.Commands = []session.Command{{Name: "test", Description: "tests", Hint: "what"}}
	c.Plan = []session.PlanEntry{{Content: long, Priority: "high", Status: "pending"}}
	c.Usage = &session.Usage{Used: 5, Size: 100}
	var got rpc.Session
	Conversation(&got, c)
	choice := rpc.Choice{Value: "a", Name: "Ask", Description: "asks", Group: "safe"}
	want := rpc.Session{
		Title: "Mend it", StopReason: "end_turn", Usage: &rpc.Usage{Used: 5, Size: 100},
		Mode: &rpc.Chosen{ID: "c", Name: "Code"}, Model: &rpc.Chosen{ID: "s", Name: "Small"},
		Options: []rpc.Option{
			{
				ID: "m", Name: "Mode", Description: "how", Category: "mode", Type: "select", Value: "c",
				Choices: []rpc.Choice{choice, {Value: "c", Name: "Code"}},
			},
			{ID: "n", Category: "model", Type: "select", Value: "s", Choices: []rpc.Choice{{Value: "s", Name: "Small"}}},
			{ID: "o", Category: "thought", Type: "select", Value: "a", Choices: []rpc.Choice{choice}},
			{ID: "p", Type: "boolean", Value: true}, {ID: "q", Type: "boolean", Value: false},
		},
		Commands: []rpc.Command{{Name: "test", Description: "tests", Hint: "what"}},
		Plan:     []rpc.PlanEntry{{Content: styled.Cut(long, MaxText), Priority: "high", Status: "pending"}},
	}
	check.Deep(t, got, want, "it has %+v")
	check.Equal(t, len(got.Plan[0].Content) <= MaxText, true, "its plan is cut: %t")
	c.Usage.Cost = &session.Cost{Amount: 1.5, Currency: "EUR"}
	Conversation(&got, c)
	check.Deep(t, got.Usage, &rpc.Usage{Used: 5, Size: 100, Cost: &rpc.Cost{Amount: 1.5, Currency: "EUR"}}, "what it uses is %+v")
	got = rpc.Session{}
	Conversation(&got, session.NewConversation(time.Now))
	check.Deep(t, got, rpc.Session{}, "of a session that has said nothing it has %+v")

	got = rpc.Session{}
	Agent(&got, session.Info{})
	check.Deep(t, got, rpc.Session{}, "of an agent that has said nothing it has %+v")
	Agent(&got, session.Info{
		Protocol: 1, Steers: true, Images: true, EmbeddedContext: true,
		AuthMethods: []session.AuthMethod{{ID: "key", Name: "Key", Description: "a key", Type: "env_var"}},
	})
	check.Deep(t, got, rpc.Session{
		Protocol: 1, Steers: true, Takes: &rpc.Takes{Image: true, Resource: true},
		AuthMethods: []rpc.AuthMethod{{ID: "key", Name: "Key", Description: "a key", Type: "env_var"}},
	}, "of the agent it has %+v")
}

// Lua has each kind of what a tool call shows, with texts that are not too long.
func TestWhatLuaHasOfACallsContent(t *testing.T) {
	shown := func(c session.Content) session.ToolCallContent { return session.ContentItem{Content: c} }
	call := session.ToolCall{Content: []session.ToolCallContent{
		session.Diff{Path: "/a", OldPath: "/b", Operation: session.OperationMove, OldText: new("0123456789"), NewText: new("abcdefghij")},
		session.Diff{Path: "/a", Patch: "0123456789"},
		session.TerminalRef{TerminalID: "t"},
		session.UnknownItem{Type: "dance"},
		shown(session.Text{Text: "0123456789"}), shown(session.Image{}), shown(session.Audio{}), shown(session.ResourceLink{}),
		shown(session.Resource{}), shown(session.ForAgent{Content: session.Text{}}), shown(session.UnknownContent{Type: "smell"}),
	}}
	for limit, want := range map[int]string{
		0: "diff move /a from /b 0123456789 abcdefghij, diff /a 0123456789, terminal t, dance, " +
			"content text 0123456789, content image, content audio, content resource_link, content resource, content text [for the agent], content smell",
		5: "diff move /a from /b 01234 abcde, diff /a 01234, terminal t, dance, " +
			"content text 01234, content image, content audio, content resource_link, content resource, content text [for, content smell",
	} {
		var got []string
		for _, c := range ToolCall(&call, limit).Content {
			words := []string{c.Type, c.Operation, c.Path}
			if c.OldPath != "" {
				words = append(words, "from", c.OldPath, *c.OldText, *c.Text)
			}
			words = append(words, c.Patch, c.TerminalID, c.Block)
			if c.Block == "text" {
				words = append(words, *c.Text)
			}
			got = append(got, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
		}
		check.Equal(t, strings.Join(got, ", "), want, "of at most %d bytes it has %s", limit)
	}
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
