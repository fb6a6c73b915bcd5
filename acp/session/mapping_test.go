package session

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// This file is the table of the specification's proposal "v2 Tool Call Updates", "Compatibility", from version 1 to
// version 2 and back. The model has the shape of version 2, so a patch of the model is encoded in each.

// inV2 is a patch as an update of version 2.
func inV2(p ToolCallPatch) v2.ToolCallUpdate {
	return v2.ToolCallUpdate{
		ToolCallID: wire.ToolCallID(p.ID), Title: p.Title, Name: p.Name,
		Kind:      mapOpt(p.Kind, func(k ToolKind) wire.ToolKind { return wire.ToolKind(k) }),
		Status:    mapOpt(p.Status, func(s ToolCallStatus) v2.ToolCallStatus { return v2.ToolCallStatus(s) }),
		Content:   mapOpt(p.Content, contentInV2),
		Locations: mapOpt(p.Locations, toLocations),
		RawInput:  p.RawInput, RawOutput: p.RawOutput,
		Meta: mapOpt(p.Meta, func(m map[string]json.RawMessage) json.RawMessage { return encoded(m) }),
	}
}

func contentInV2(list []ToolCallContent) []v2.ToolCallContent {
	var content []v2.ToolCallContent
	for _, item := range list {
		switch item := item.(type) {
		case ContentItem:
			content = append(content, &v2.Content{Content: &wire.TextContent{Text: item.Content.(Text).Text}})
		case Diff:
			change := v2.DiffChange{Operation: &v2.DiffModify{Path: item.Path}}
			switch item.Operation {
			case OperationAdd:
				change.Operation = &v2.DiffAdd{Path: item.Path}
			case OperationDelete:
				change.Operation = &v2.DiffDelete{Path: item.Path}
			}
			content = append(content, &v2.Diff{Changes: []v2.DiffChange{change}})
		case TerminalRef:
			content = append(content, &v2.Terminal{TerminalID: wire.TerminalID(item.TerminalID)})
		case UnknownItem:
			content = append(content, &v2.Unknown{Type: item.Type, Raw: item.Raw})
		}
	}
	return content
}

func toLocations(list []Location) []wire.ToolCallLocation {
	var locations []wire.ToolCallLocation
	for _, l := range list {
		w := wire.ToolCallLocation{Path: l.Path}
		if l.Line > 0 {
			w.Line = acp.Set(uint32(l.Line))
		}
		locations = append(locations, w)
	}
	return locations
}

// inV1 is a patch as an update of version 1, and what cannot be said in it: a scalar, a raw value or the metadata that
// is cleared. An adapter that loses nothing refuses the patch, one that may lose something leaves that out.
func inV1(p ToolCallPatch) (update v1.ToolCallUpdate, lost []string) {
	for name, null := range map[string]bool{
		"title": p.Title.IsNull(), "name": p.Name.IsNull(), "kind": p.Kind.IsNull(), "status": p.Status.IsNull(),
		"rawInput": p.RawInput.IsNull(), "rawOutput": p.RawOutput.IsNull(), "_meta": p.Meta.IsNull(),
	} {
		if null {
			lost = append(lost, name)
		}
	}
	slices.Sort(lost)
	update = v1.ToolCallUpdate{
		ToolCallID: wire.ToolCallID(p.ID), Title: unlessNull(p.Title), Name: unlessNull(p.Name),
		Kind:      mapOpt(unlessNull(p.Kind), func(k ToolKind) wire.ToolKind { return wire.ToolKind(k) }),
		Status:    mapOpt(unlessNull(p.Status), func(s ToolCallStatus) v1.ToolCallStatus { return v1.ToolCallStatus(s) }),
		Content:   emptyIfNull(mapOpt(p.Content, contentInV1)),
		Locations: emptyIfNull(mapOpt(p.Locations, toLocations)),
		RawInput:  unlessNull(p.RawInput), RawOutput: unlessNull(p.RawOutput),
	}
	if meta, ok := p.Meta.Get(); ok {
		update.Meta = encoded(meta)
	}
	return update, lost
}

func emptyIfNull[T any](o acp.Opt[[]T]) acp.Opt[[]T] {
	if o.IsNull() {
		return acp.Set([]T{})
	}
	return o
}

func contentInV1(list []ToolCallContent) []v1.ToolCallContent {
	var content []v1.ToolCallContent
	for _, item := range list {
		switch item := item.(type) {
		case ContentItem:
			content = append(content, &v1.Content{Content: wire.Text(item.Content.(Text).Text)})
		case TerminalRef:
			content = append(content, &v1.Terminal{TerminalID: wire.TerminalID(item.TerminalID)})
		case UnknownItem:
			content = append(content, &v1.Unknown{Type: item.Type, Raw: item.Raw})
		}
	}
	return content
}

func encoded(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// call is an update of a call "c" on the wire.
func call(kind, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return `{"sessionUpdate":"` + kind + `","toolCallId":"c"` + fields + `}`
}

const (
	words = `{"type":"content","content":{"type":"text","text":"a"}}`
	more  = `{"type":"content","content":{"type":"text","text":"b"}}`
)

// full sets everything, so that what a later update changes is seen.
var full = `"title":"T","name":"N","kind":"read","status":"in_progress","content":[` + words + `],"locations":[{"path":"/a","line":1}],` +
	`"rawInput":{"i":1},"rawOutput":{"o":1},"_meta":{"m":1,"k":{"x":1}}`

func TestMappingOfVersions(t *testing.T) {
	v := schema.ValidatorV2(t)
	for name, test := range map[string]struct {
		v1, v2 string // an update in each; "" where there is none that says it
		back   string // the update of version 1 for that of version 2, where it is not v1
		lost   string // what version 1 cannot say, with spaces between
	}{
		"tool_call is an upsert":          {v1: call("tool_call", full), v2: call("tool_call_update", full), back: call("tool_call_update", full)},
		"so is tool_call_update":          {v1: call("tool_call_update", full), v2: call("tool_call_update", full)},
		"the least":                       {v1: call("tool_call", `"title":"T2"`), v2: call("tool_call_update", `"title":"T2"`), back: call("tool_call_update", `"title":"T2"`)},
		"omitted is unchanged":            {v1: call("tool_call_update", ""), v2: call("tool_call_update", "")},
		"values replace":                  {v1: call("tool_call_update", `"title":"","kind":"edit","status":"failed","rawInput":[],"rawOutput":0`), v2: call("tool_call_update", `"title":"","kind":"edit","status":"failed","rawInput":[],"rawOutput":0`)},
		"lists are replaced":              {v1: call("tool_call_update", `"content":[`+more+`],"locations":[{"path":"/b"}]`), v2: call("tool_call_update", `"content":[`+more+`],"locations":[{"path":"/b"}]`)},
		"null of version 1 is unchanged":  {v1: call("tool_call_update", `"title":null,"name":null,"kind":null,"status":null,"content":null,"locations":null,"rawInput":null,"rawOutput":null,"_meta":null`), v2: call("tool_call_update", ""), back: call("tool_call_update", "")},
		"[] clears in both":               {v1: call("tool_call_update", `"content":[],"locations":[]`), v2: call("tool_call_update", `"content":[],"locations":[]`)},
		"null clears a list in version 2": {v2: call("tool_call_update", `"content":null,"locations":null`), back: call("tool_call_update", `"content":[],"locations":[]`)},
		"null clears title and name":      {v2: call("tool_call_update", `"title":null,"name":null`), back: call("tool_call_update", ""), lost: "name title"},
		"null is other and pending":       {v2: call("tool_call_update", `"kind":null,"status":null`), back: call("tool_call_update", ""), lost: "kind status"},
		"null clears raw values":          {v2: call("tool_call_update", `"rawInput":null,"rawOutput":null,"title":"T2"`), back: call("tool_call_update", `"title":"T2"`), lost: "rawInput rawOutput"},
		"null clears the metadata":        {v2: call("tool_call_update", `"_meta":null`), back: call("tool_call_update", ""), lost: "_meta"},
		"metadata is patched by key":      {v1: call("tool_call_update", `"_meta":{"m":null,"k":{"y":2},"n":"x"}`), v2: call("tool_call_update", `"_meta":{"m":null,"k":{"y":2},"n":"x"}`)},
		"statuses of version 2":           {v1: call("tool_call_update", `"status":"paused"`), v2: call("tool_call_update", `"status":"paused"`)},
		"unknown kinds and statuses":      {v1: call("tool_call_update", `"kind":"_dance","status":"_asleep"`), v2: call("tool_call_update", `"kind":"_dance","status":"_asleep"`)},
		"unknown content":                 {v1: call("tool_call_update", `"content":[{"type":"_x","y":1}]`), v2: call("tool_call_update", `"content":[{"type":"_x","y":1}]`)},
		"a terminal, of whomever it is":   {v1: call("tool_call_update", `"content":[{"type":"terminal","terminalId":"t"}]`), v2: call("tool_call_update", `"content":[{"type":"terminal","terminalId":"t"}]`)},
		"malformed is unchanged, in both": {v1: call("tool_call_update", `"title":1,"kind":[],"content":7,"locations":"x","_meta":2`), v2: call("tool_call_update", ""), back: call("tool_call_update", "")},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(handler func(Client) acp.Handler, update string) ToolCallPatch {
				t.Helper()
				told := handled(t, handler, update)
				must.Equal(t, len(told), 1, "%s is %d updates", update)
				return told[0].(ToolCallPatch)
			}
			same := func(got json.RawMessage, want string) {
				t.Helper()
				if !reflect.DeepEqual(generic(t, got), generic(t, json.RawMessage(want))) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			patch := of(byV2, test.v2)
			if test.v1 != "" {
				if got := of(byV1, test.v1); !reflect.DeepEqual(got, patch) {
					t.Errorf("version 1 says %+v\nversion 2      %+v", got, patch)
				}
				same(encoded(inV2(of(byV1, test.v1))), test.v2)
			}
			back := test.back
			if back == "" {
				back = test.v1
			}
			update, lost := inV1(patch)
			same(encoded(update), back)
			check.Equal(t, strings.Join(lost, " "), test.lost, "version 1 cannot say %q")
			if err := v.CheckDef("SessionUpdate", encoded(inV2(patch))); err != nil {
				t.Errorf("not of version 2: %v", err)
			}
		})
	}
}

func generic(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// modelOf is what a conversation holds after these updates, as text: all that
// is known of its calls, in the order they came, and what else was told.
func modelOf(t *testing.T, handler func(Client) acp.Handler, updates ...string) string {
	t.Helper()
	c := NewConversation((&clock{}).now)
	c.Apply(start("p"))
	var b strings.Builder
	for _, u := range handled(t, handler, updates...) {
		switch u.(type) {
		case TerminalPatch, TerminalChunk:
			fmt.Fprintf(&b, "%T %+v\n", u, u)
		}
		c.Apply(u)
	}
	for _, call := range c.Calls {
		b.WriteString(describe(call) + "\n")
	}
	return b.String()
}

// describe is all that a call is, in words.
func describe(c *ToolCall) string {
	return fmt.Sprintf("%s %q %q %s %s %s content %s locations %v in %s out %s meta %s under %q",
		c.ID, c.Title, c.Name, c.Kind, c.Status, c.Shown(), encodedItems(c.Content), c.Locations, c.RawInput, c.RawOutput, encoded(c.Meta), c.Parent)
}

func encodedItems(list []ToolCallContent) string {
	var items []string
	for _, item := range list {
		if d, ok := item.(Diff); ok {
			item = Diff{Operation: d.Operation, Path: d.Path} // the texts and patches differ by nature
		}
		items = append(items, fmt.Sprintf("%T%s", item, encoded(item)))
	}
	return strings.Join(items, " ")
}

// The same intent in both versions gives the same model.
func TestSameIntentSameModel(t *testing.T) {
	chunk := func(item string) string { return call("tool_call_content_chunk", `"content":`+item) }
	content := func(items ...string) string {
		return call("tool_call_update", `"content":[`+strings.Join(items, ",")+`]`)
	}
	for name, test := range map[string]struct{ v1, v2 []string }{
		"a life": {
			[]string{call("tool_call", `"title":"T","kind":"edit"`), call("tool_call_update", `"status":"in_progress"`), call("tool_call_update", `"status":"completed","rawOutput":1`)},
			[]string{call("tool_call_update", `"title":"T","kind":"edit"`), call("tool_call_update", `"status":"in_progress"`), call("tool_call_update", `"status":"completed","rawOutput":1`)},
		},
		"chunks, of which version 1 tells the sum": {
			[]string{content(words), content(words, more), content(more), content(more, words), content(), content(words)},
			[]string{chunk(words), chunk(more), content(more), chunk(words), call("tool_call_update", `"content":null`), chunk(words)},
		},
		"an update first": {
			[]string{call("tool_call_update", `"locations":[{"path":"/a"}]`)},
			[]string{call("tool_call_update", `"locations":[{"path":"/a"}]`)},
		},
		"files": {
			[]string{content(`{"type":"diff","path":"/n","newText":"x"}`, `{"type":"diff","path":"/a","oldText":"x","newText":"y"}`, `{"type":"diff","path":"/d","oldText":"x","newText":"","deleted":true}`)},
			[]string{content(`{"type":"diff","changes":[{"operation":"add","path":"/n"},{"operation":"modify","path":"/a"},{"operation":"delete","path":"/d"}]}`)},
		},
		"a sub-agent": {
			[]string{call("tool_call", `"title":"T","_meta":{"claudeCode":{"parentToolUseId":"p"}}`), call("tool_call_update", `"_meta":{"x":1}`)},
			[]string{call("tool_call_update", `"title":"T","_meta":{"claudeCode":{"parentToolUseId":"p"}}`), call("tool_call_update", `"_meta":{"x":1}`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := modelOf(t, byV1, test.v1...), modelOf(t, byV2, test.v2...)
			if first != second {
				t.Errorf("version 1 gives\n%sversion 2 gives\n%s", first, second)
			}
		})
	}
}

// Terminals that the agent owns, as version 1 tells them in _meta, are those of version 2, but for what a pipe lacks.
func TestSameTerminals(t *testing.T) {
	plain := func(list []Update) (terminals []Update) {
		for _, u := range list {
			switch u := u.(type) {
			case TerminalPatch:
				u.Plain = true
				terminals = append(terminals, u)
			case TerminalChunk:
				u.Plain = true
				terminals = append(terminals, u)
			}
		}
		return terminals
	}
	first := handled(t, byV1,
		call("tool_call", `"title":"T","rawInput":{"command":"make"},"content":[{"type":"terminal","terminalId":"t"}],"_meta":{"terminal_info":{"terminal_id":"t","cwd":"/p"}}`),
		call("tool_call_update", `"_meta":{"terminal_output":{"terminal_id":"t","data":"é\n"}}`),
		call("tool_call_update", `"status":"completed","_meta":{"terminal_exit":{"terminal_id":"t","exit_code":2,"signal":null}}`))
	second := handled(t, byV2,
		`{"sessionUpdate":"terminal_update","terminalId":"t","command":"make","cwd":"/p"}`,
		`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"w6kK"}`,
		`{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{"exitCode":2}}`)
	if got, want := plain(first), plain(second); len(got) != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("version 1 tells %+v, version 2 %+v", got, want)
	}
}

// A permission carries the same patch in both, and may be the first to name a call.
func TestSamePermission(t *testing.T) {
	var first v1.RequestPermissionRequest
	var second v2.RequestPermissionRequest
	fields := `{"toolCallId":"c",` + full + `}`
	must.Do(t, acp.Decode([]byte(`{"sessionId":"s","toolCall":`+fields+`,"options":[]}`), &first))
	must.Do(t, acp.Decode([]byte(`{"sessionId":"s","title":"May I?","subject":{"type":"tool_call","toolCall":`+fields+`},"options":[]}`), &second))
	patch := permissionV2(&second).Call
	if got := patched(&first.ToolCall); !reflect.DeepEqual(got, patch) {
		t.Errorf("version 1 says %+v\nversion 2      %+v", got, patch)
	}
	ask := Waiting{ToolCallID: "c", Open: true}
	if got := applied(start("p"), patch, ask).ToolCall("c"); got.Title != "T" || got.Shown() != StatusWaiting {
		t.Errorf("first named by a permission: %s", describe(got))
	}
}
