package v2

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// messages makes an empty value for each message, by "method kind".
var messages = map[string]func() any{
	"session/update notification":         func() any { return new(UpdateSessionNotification) },
	"session/request_permission request":  func() any { return new(RequestPermissionRequest) },
	"session/request_permission response": func() any { return new(wire.RequestPermissionResponse) },
}

// sample is a line of testdata/messages.jsonl. The client handles the methods of all.
type sample struct {
	Method string          `json:"method"`
	Kind   string          `json:"kind"`
	Value  json.RawMessage `json:"value"`
}

func samples(t testing.TB) []sample {
	t.Helper()
	file, err := os.Open("testdata/messages.jsonl")
	must.Do(t, err)
	defer file.Close()
	var all []sample
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("line %d: %v", len(all)+1, err)
		}
		if messages[s.Method+" "+s.Kind] == nil {
			t.Fatalf("line %d: no message %s %s", len(all)+1, s.Method, s.Kind)
		}
		all = append(all, s)
	}
	must.Do(t, lines.Err())
	return all
}

// TestRoundTrip decodes each sample and encodes it again: nothing is lost, nothing is added, and
// both are valid by the schema.
func TestRoundTrip(t *testing.T) {
	v := schema.ValidatorV2(t)
	for i, s := range samples(t) {
		if err := v.Check(s.Method, s.Kind, schema.Client, s.Value); err != nil {
			t.Errorf("line %d is no sample: %v", i+1, err)
		}
		value := messages[s.Method+" "+s.Kind]()
		if err := acp.Decode(s.Value, value); err != nil {
			t.Errorf("line %d: %v", i+1, err)
			continue
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Errorf("line %d: %v", i+1, err)
			continue
		}
		if !reflect.DeepEqual(generic(t, encoded), generic(t, s.Value)) {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, encoded, s.Value)
		}
		if err := v.Check(s.Method, s.Kind, schema.Client, encoded); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
}

func generic(t *testing.T, data []byte) any {
	t.Helper()
	numbers := json.NewDecoder(bytes.NewReader(data))
	numbers.UseNumber()
	var v any
	must.Do(t, numbers.Decode(&v))
	return v
}

// TestSparseMessagesAreValid validates what is encoded when all that may be left out is left out:
// lists that are required are not null.
func TestSparseMessagesAreValid(t *testing.T) {
	v := schema.ValidatorV2(t)
	for _, c := range []struct {
		def   string
		value any
	}{
		{"RequestPermissionResponse", wire.RequestPermissionResponse{Outcome: &wire.SelectedPermissionOutcome{}}},
		{"RequestPermissionResponse", wire.RequestPermissionResponse{Outcome: &wire.CancelledPermissionOutcome{}}},
		{"RequestPermissionRequest", RequestPermissionRequest{Options: []wire.PermissionOption{{}}}},
		{"SessionUpdate", &ToolCallUpdate{}},
		{"SessionUpdate", &ToolCallUpdate{Content: acp.Set([]ToolCallContent(nil)), Meta: acp.Null[json.RawMessage]()}},
		{"SessionUpdate", &ToolCallContentChunk{Content: &Terminal{}}},
		{"SessionUpdate", &ToolCallContentChunk{Content: &Diff{}}},
		{"SessionUpdate", &TerminalUpdate{Output: acp.Set(TerminalOutput{}), ExitStatus: acp.Set(TerminalExitStatus{})}},
		{"SessionUpdate", &TerminalOutputChunk{}},
	} {
		encoded, err := json.Marshal(c.value)
		if err != nil {
			t.Errorf("%s: %v", c.def, err)
			continue
		}
		if err := v.CheckDef(c.def, encoded); err != nil {
			t.Errorf("%s: %v", encoded, err)
		}
	}
}

// TestTolerance has likely mistakes in messages. wantErr is a part of the error; else want is what
// encodes after decoding.
func TestTolerance(t *testing.T) {
	const update = `{"sessionId":"s","update":{"sessionUpdate":`
	const ask = `{"sessionId":"s","title":"T","options":[{"optionId":"a","name":"A","kind":"_x"}]`
	for _, c := range []struct {
		name, message, json, want, wantErr string
	}{
		{
			name:    "null is kept apart from what is omitted or malformed",
			message: "session/update notification",
			json: update + `"tool_call_update","toolCallId":"t","title":null,"kind":7,"status":null,"content":null,"locations":{},` +
				`"rawInput":null,"capabilities":"all","_meta":null}}`,
			want: update + `"tool_call_update","toolCallId":"t","title":null,"status":null,"content":null,"rawInput":null,"_meta":null}}`,
		}, {
			name:    "malformed items are left out, unknown ones kept",
			message: "session/update notification",
			json: update + `"tool_call_update","toolCallId":"t","content":[{"type":"diff"},{"type":"content","content":{"type":"text"}},` +
				`{"type":"_new","x":1},{"type":"terminal"},{"type":"content","content":{"type":"_odd","y":2}}],"locations":[{"path":"/a","line":-1},{"line":1}]}}`,
			want: update + `"tool_call_update","toolCallId":"t","content":[{"type":"_new","x":1},{"type":"content","content":{"type":"_odd","y":2}}],"locations":[{"path":"/a"}]}}`,
		}, {
			name:    "changes without what they need are left out, and so is a malformed patch",
			message: "session/update notification",
			json: update + `"tool_call_content_chunk","toolCallId":"t","content":{"type":"diff","patch":{"format":"git_patch"},"changes":[` +
				`{"operation":"add"},{"operation":"move","path":"/b"},{"path":"/c"},{"operation":"link","to":"/d"},{"operation":"modify","path":"/e","fileType":1,"mimeType":{}}]}}}`,
			want: update + `"tool_call_content_chunk","toolCallId":"t","content":{"type":"diff","changes":[{"path":"/c"},{"operation":"link","to":"/d"},{"operation":"modify","path":"/e"}]}}}`,
		}, {
			name:    "no changes",
			message: "session/update notification",
			json:    update + `"tool_call_content_chunk","toolCallId":"t","content":{"type":"diff"}}}`,
			wantErr: "content.changes: required but missing",
		}, {
			name:    "a call without an id",
			message: "session/update notification",
			json:    update + `"tool_call_update","title":"T"}}`,
			wantErr: "toolCallId: required but missing",
		}, {
			name:    "a chunk without content",
			message: "session/update notification",
			json:    update + `"tool_call_content_chunk","toolCallId":"t","content":null}}`,
			wantErr: "content: expected an object, got null",
		}, {
			name:    "malformed parts of a terminal",
			message: "session/update notification",
			json: update + `"terminal_update","terminalId":"x","command":["a"],"cwd":null,"output":{"data":"*"},"size":{"cols":70000,"rows":1},` +
				`"exitStatus":{"exitCode":"0","signal":9}}}`,
			want: update + `"terminal_update","terminalId":"x","cwd":null,"exitStatus":{}}}`,
		}, {
			name:    "base64 without padding",
			message: "session/update notification",
			json:    update + `"terminal_output_chunk","terminalId":"x","data":"YQ"}}`,
			want:    update + `"terminal_output_chunk","terminalId":"x","data":"YQ=="}}`,
		}, {
			name:    "no base64",
			message: "session/update notification",
			json:    update + `"terminal_output_chunk","terminalId":"x","data":"a b"}}`,
			wantErr: "data: expected base64",
		}, {
			name:    "bytes that are no string",
			message: "session/update notification",
			json:    update + `"terminal_output_chunk","terminalId":"x","data":[1]}}`,
			wantErr: "data: expected a string in base64",
		}, {
			name:    "a request about nothing",
			message: "session/request_permission request",
			json:    ask + `,"subject":null,"description":null}`,
			want:    ask + `}`,
		}, {
			name:    "a request about something unknown",
			message: "session/request_permission request",
			json:    ask + `,"subject":{"type":"_spend","amount":5}}`,
			want:    ask + `,"subject":{"type":"_spend","amount":5}}`,
		}, {
			name:    "a command whose ids are malformed",
			message: "session/request_permission request",
			json:    ask + `,"subject":{"type":"command","command":"ls","cwd":"/","toolCallId":1,"terminalId":null}}`,
			want:    ask + `,"subject":{"type":"command","command":"ls","cwd":"/"}}`,
		}, {
			name:    "a command without a folder",
			message: "session/request_permission request",
			json:    ask + `,"subject":{"type":"command","command":"ls"}}`,
			wantErr: "subject.cwd: required but missing",
		}, {
			name:    "a request without a title",
			message: "session/request_permission request",
			json:    `{"sessionId":"s","options":[]}`,
			wantErr: "title: required but missing",
		}, {
			name:    "an outcome of the future",
			message: "session/request_permission response",
			json:    `{"outcome":{"outcome":"_later"}}`,
			want:    `{"outcome":{"outcome":"_later"}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			value := messages[c.message]()
			err := acp.Decode([]byte(c.json), value)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Fatalf("error %v, want %q", err, c.wantErr)
				}
				return
			}
			must.Do(t, err)
			encoded, err := json.Marshal(value)
			must.Do(t, err)
			if !reflect.DeepEqual(generic(t, encoded), generic(t, []byte(c.want))) {
				t.Errorf("\n got %s\nwant %s", encoded, c.want)
			}
		})
	}
}

// FuzzDecode checks that no input makes a decoder panic, and that what decodes also encodes.
func FuzzDecode(f *testing.F) {
	for _, s := range samples(f) {
		f.Add([]byte(s.Value))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for key, empty := range messages {
			value := empty()
			if acp.Decode(data, value) != nil {
				continue
			}
			if _, err := json.Marshal(value); err != nil {
				t.Errorf("%s: encode what was decoded from %q: %v", key, data, err)
			}
		}
	})
}
