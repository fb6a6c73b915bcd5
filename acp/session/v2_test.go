package session

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// An update of version 2 on the wire, and what the client is told of it.
func TestUpdatesV2(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	meta := func(s string) map[string]json.RawMessage { return map[string]json.RawMessage{"m": raw(s)} }
	for name, test := range map[string]struct {
		update string
		want   Update
	}{
		"a call": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","name":"n","kind":"switch_mode","status":"paused","rawInput":{"a":1},"rawOutput":"x",` +
				`"locations":[{"path":"/a","line":3},{"path":"/b","line":null}],"capabilities":{"cancel":{}},"_meta":{"m":1}}`,
			ToolCallPatch{
				ID: "c", Title: acp.Set("t"), Name: acp.Set("n"), Kind: acp.Set(KindSwitchMode), Status: acp.Set(StatusPaused),
				RawInput: acp.Set(raw(`{"a":1}`)), RawOutput: acp.Set(raw(`"x"`)), Locations: acp.Set([]Location{{"/a", 3}, {"/b", 0}}),
				Meta: acp.Set(meta("1")),
			},
		},
		"nothing but an id": {`{"sessionUpdate":"tool_call_update","toolCallId":"c"}`, ToolCallPatch{ID: "c"}},
		"nulls": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"name":null,"kind":null,"status":null,"content":null,"locations":null,` +
				`"rawInput":null,"rawOutput":null,"capabilities":null,"_meta":null}`,
			ToolCallPatch{
				ID: "c", Title: acp.Null[string](), Name: acp.Null[string](), Kind: acp.Null[ToolKind](), Status: acp.Null[ToolCallStatus](),
				Content: acp.Null[[]ToolCallContent](), Locations: acp.Null[[]Location](),
				RawInput: acp.Null[json.RawMessage](), RawOutput: acp.Null[json.RawMessage](), Meta: acp.Null[map[string]json.RawMessage](),
			},
		},
		"empty ones, and a key that goes": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[],"locations":[],"_meta":{"m":null}}`,
			ToolCallPatch{ID: "c", Content: acp.Set([]ToolCallContent{}), Locations: acp.Set([]Location{}), Meta: acp.Set(meta("null"))},
		},
		"content of all kinds": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"x"}},` +
				`{"type":"terminal","terminalId":"t1"},{"type":"_hologram"}]}`,
			ToolCallPatch{ID: "c", Content: acp.Set([]ToolCallContent{
				ContentItem{Text{"x"}}, TerminalRef{"t1"}, UnknownItem{"_hologram", raw(`{"type":"_hologram"}`)},
			})},
		},
		"a chunk of many changes": {
			`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","_meta":{"m":1},"content":{"type":"diff","changes":[` +
				`{"operation":"add","path":"/a","fileType":"text","mimeType":"text/x-go"},{"operation":"delete","path":"/b","fileType":"symlink"},` +
				`{"operation":"modify","path":"/c","fileType":"binary"},{"operation":"move","oldPath":"/d","path":"/e"},{"operation":"copy","oldPath":"/f","path":"/g"},` +
				`{"operation":"_touch","path":"/h","oldPath":7},{"path":"/i"},{"operation":"move","path":"/j"}]}}`,
			ToolCallChunk{ID: "c", Content: []ToolCallContent{
				Diff{Operation: OperationAdd, Path: "/a", FileType: "text", MimeType: "text/x-go"}, Diff{Operation: OperationDelete, Path: "/b", FileType: "symlink"},
				Diff{Operation: OperationModify, Path: "/c", FileType: "binary"}, Diff{Operation: OperationMove, Path: "/e", OldPath: "/d"},
				Diff{Operation: OperationCopy, Path: "/g", OldPath: "/f"}, Diff{Operation: "_touch", Path: "/h"}, Diff{Path: "/i"},
			}},
		},
		"a patch": {
			`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"diff","changes":[{"operation":"modify","path":"/a"}],` +
				`"patch":{"format":"git_patch","text":"diff --git /a /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n"}}}`,
			ToolCallChunk{ID: "c", Content: []ToolCallContent{
				Diff{Operation: OperationModify, Path: "/a", Patch: "diff --git /a /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n"},
			}},
		},
		"a patch of another format": {
			`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"diff","changes":[{"operation":"modify","path":"/a"}],` +
				`"patch":{"format":"_ed","text":"diff --git /a /a\n@@ -1 +1 @@\n"}}}`,
			ToolCallChunk{ID: "c", Content: []ToolCallContent{Diff{Operation: OperationModify, Path: "/a"}}},
		},
		"a terminal": {
			`{"sessionUpdate":"terminal_update","terminalId":"t","command":"make","cwd":"/p","output":{"data":"G1sxbcM="},` +
				`"exitStatus":{"exitCode":-5,"signal":"SIGTERM"},"size":{"cols":120,"rows":40}}`,
			TerminalPatch{
				ID: "t", Plain: true, Command: acp.Set("make"), Cwd: acp.Set("/p"), Output: acp.Set([]byte("\x1b[1m\xc3")),
				Exit: acp.Set(TerminalExit{Code: code(-5).Code, Signal: "SIGTERM"}), Size: acp.Set(TerminalSize{120, 40}),
			},
		},
		"a terminal that ended somehow": {
			`{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{"exitCode":null},"size":{"cols":0,"rows":40}}`,
			TerminalPatch{ID: "t", Plain: true, Exit: acp.Set(TerminalExit{})},
		},
		"a terminal that is cleared": {
			`{"sessionUpdate":"terminal_update","terminalId":"t","command":null,"cwd":null,"output":null,"exitStatus":null,"size":null}`,
			TerminalPatch{
				ID: "t", Plain: true, Command: acp.Null[string](), Cwd: acp.Null[string](), Output: acp.Null[[]byte](),
				Exit: acp.Null[TerminalExit](), Size: acp.Null[TerminalSize](),
			},
		},
		"bytes": {
			`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"qQ0K"}`, TerminalChunk{ID: "t", Plain: true, Data: []byte("\xa9\r\n")},
		},
		"an unknown one": {
			`{"sessionUpdate":"_weather","sky":"blue"}`, UnknownUpdate{"_weather", raw(`{"sessionUpdate":"_weather","sky":"blue"}`), ""},
		},
		"commands": {
			`{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"command","name":"plan","description":"d","input":{"type":"text","hint":"what"}},` +
				`{"type":"command","name":"go","description":"e"}]}`,
			CommandsUpdate{Commands: []Command{{"plan", "d", "what"}, {"go", "e", ""}}},
		},
		"options": {
			`{"sessionUpdate":"config_option_update","configOptions":[{"configId":"f","name":"F","description":"d","type":"boolean","currentValue":true},` +
				`{"configId":"m","name":"M","category":"mode","type":"select","currentValue":"a","options":[{"value":"a","name":"A","description":"first"}]},` +
				`{"configId":"g","name":"G","type":"select","currentValue":"b","options":[{"groupId":"i","name":"In","options":[{"value":"b","name":"B"}]}]},` +
				`{"configId":"x","name":"X","type":"_dial"}]}`,
			OptionsUpdate{Options: []Option{
				{ID: "f", Name: "F", Description: "d", Type: "boolean", Value: "true", Via: ViaConfig},
				{ID: "m", Name: "M", Category: "mode", Type: "select", Value: "a", Via: ViaConfig, Choices: []Choice{{Value: "a", Name: "A", Description: "first"}}},
				{ID: "g", Name: "G", Type: "select", Value: "b", Via: ViaConfig, Choices: []Choice{{Value: "b", Name: "B", Group: "In"}}},
			}},
		},
		"a chunk that is malformed": {
			`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c"}`,
			UnknownUpdate{"malformed tool_call_content_chunk", raw(`{"sessionId":"s1","update":{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c"}}`), "update.content: required but missing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := handled(t, byV2, test.update); !reflect.DeepEqual(got, []Update{test.want}) {
				t.Errorf("told\n%+v, want\n%+v", got, test.want)
			}
		})
	}
}

// playV2 connects the adapter with an agent; finish waits until that has played
// its script and returns all that it was sent.
func playV2(t *testing.T, script ...fakeagent.Step) (r *recorder, finish func() []*fakeagent.Received) {
	t.Helper()
	r = newRecorder()
	_, end := connect(t, NewV2(r), script...)
	finish = func() []*fakeagent.Received {
		receive(t, r.played)
		return end()
	}
	t.Cleanup(func() { finish() })
	return r, finish
}

func askV2(params string) fakeagent.Step {
	return fakeagent.Request(7, "session/request_permission", params)
}

func TestPermissionV2(t *testing.T) {
	const options = `"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"p","name":"Perhaps","kind":"_perhaps"}]`
	v := schema.ValidatorV2(t)
	for name, test := range map[string]struct {
		fields string
		want   PermissionRequest
		option string
		answer string
	}{
		"of a tool call": {
			`,"description":"D","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","title":null,"kind":"edit","content":[]}}`,
			PermissionRequest{Description: "D", Call: ToolCallPatch{
				ID: "c", Title: acp.Null[string](), Kind: acp.Set(KindEdit), Content: acp.Set([]ToolCallContent{}),
			}}, "y", `{"outcome":{"outcome":"selected","optionId":"y"}}`,
		},
		"of a command": {
			`,"subject":{"type":"command","command":"make","cwd":"/p","toolCallId":"c","terminalId":"t"}`,
			PermissionRequest{Call: ToolCallPatch{ID: "c"}, Command: "make", Cwd: "/p"}, "p", `{"outcome":{"outcome":"selected","optionId":"p"}}`,
		},
		"of a command of no call":    {`,"subject":{"type":"command","command":"make","cwd":"/p"}`, PermissionRequest{Command: "make", Cwd: "/p"}, "", `{"outcome":{"outcome":"cancelled"}}`},
		"of something unknown":       {`,"subject":{"type":"_spend","toolCall":{"toolCallId":"c"}}`, PermissionRequest{}, "", `{"outcome":{"outcome":"cancelled"}}`},
		"of nothing":                 {`,"subject":null,"description":null`, PermissionRequest{}, "y", `{"outcome":{"outcome":"selected","optionId":"y"}}`},
		"of nothing, without a word": {``, PermissionRequest{}, "y", `{"outcome":{"outcome":"selected","optionId":"y"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r, finish := playV2(t, askV2(`{"sessionId":"s1","title":"May I?",`+options+test.fields+`}`), fakeagent.Answer(7))
			got, _ := receive(t, r.events).(PermissionRequest)
			reply, ctx := got.Reply, got.Context
			reply(test.option)
			receive(t, ctx.Done())
			got.Reply, got.Context = nil, nil
			test.want.SessionID, test.want.Title = "s1", "May I?"
			test.want.Options = []PermissionOption{{"y", "Yes", "allow_once"}, {"p", "Perhaps", "_perhaps"}}
			check.Deep(t, got, test.want, "asked\n%+v")
			heard := finish()
			if len(heard) != 1 || string(heard[0].Result) != test.answer {
				t.Fatalf("answered %+v, want %s", heard, test.answer)
			}
			must.Do(t, v.Check("session/request_permission", schema.Response, schema.Client, heard[0].Result))
		})
	}
}

func TestPermissionV2IsWithdrawn(t *testing.T) {
	r, finish := playV2(t, askV2(`{"sessionId":"s1","title":"T","options":[]}`),
		fakeagent.Notify("$/cancel_request", `{"requestId":7}`), fakeagent.Answer(7))
	got, _ := receive(t, r.events).(PermissionRequest)
	receive(t, got.Context.Done())
	got.Reply("")
	if heard := finish(); len(heard) != 1 || string(heard[0].Result) != `{"outcome":{"outcome":"cancelled"}}` {
		t.Errorf("answered %+v", heard)
	}
}

func TestRequestsThatV2Refuses(t *testing.T) {
	for name, test := range map[string]struct {
		ask  fakeagent.Step
		code string
	}{
		"no title":            {askV2(`{"sessionId":"s1","options":[]}`), `"code":-32602`},
		"a malformed subject": {askV2(`{"sessionId":"s1","title":"T","options":[],"subject":{"type":"command"}}`), `"code":-32602`},
		"a method of before":  {fakeagent.Request(7, "fs/read_text_file", `{"sessionId":"s1","path":"/a"}`), `"code":-32601`},
	} {
		t.Run(name, func(t *testing.T) {
			_, finish := playV2(t, test.ask, fakeagent.Answer(7))
			if heard := finish(); len(heard) != 1 || !strings.Contains(string(heard[0].Error), test.code) {
				t.Errorf("answered %+v, want %s", heard, test.code)
			}
		})
	}
}
