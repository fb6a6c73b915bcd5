package v1

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// TestTolerance has cases of real and likely mistakes in messages. wantErr is a part of the
// error; else want is what encodes after decoding.
func TestTolerance(t *testing.T) {
	const update = `{"sessionId":"s","update":{"sessionUpdate":`
	for _, c := range []struct {
		name, message, json, want, wantErr string
	}{
		{
			name:    "a malformed capability is not there, the others are",
			message: "agent initialize response",
			json:    `{"protocolVersion":1,"agentCapabilities":{"loadSession":"yes","sessionCapabilities":{"list":true,"close":{}},"auth":[]}}`,
			want: `{"protocolVersion":1,"agentCapabilities":{"loadSession":false,"promptCapabilities":{"image":false,"audio":false,"embeddedContext":false},` +
				`"mcpCapabilities":{"http":false,"sse":false},"sessionCapabilities":{"close":{}},"auth":{}}}`,
		}, {
			name:    "malformed login methods are left out; capabilities may stand outside",
			message: "agent initialize response",
			json:    `{"protocolVersion":1.0,"authMethods":[{"id":"a"},{"id":"b","name":"B","type":7},"c"],"agentInfo":{"name":"x"},"sessionCapabilities":{"list":{}}}`,
			want: `{"protocolVersion":1,"agentCapabilities":{"loadSession":false,"promptCapabilities":{"image":false,"audio":false,"embeddedContext":false},` +
				`"mcpCapabilities":{"http":false,"sse":false},"sessionCapabilities":{},"auth":{}},"authMethods":[{"id":"b","name":"B"}],"sessionCapabilities":{"list":{}}}`,
		}, {
			name:    "no version",
			message: "agent initialize response",
			json:    `{"agentCapabilities":{}}`,
			wantErr: "protocolVersion: required but missing",
		}, {
			name:    "modes without a list; a select with a bad value is left out as a whole",
			message: "agent session/new response",
			json: `{"sessionId":"s","modes":{"currentModeId":"a","availableModes":null},"configOptions":[` +
				`{"id":"x","name":"X","type":"select","currentValue":"a","options":[{"value":"a"}]},` +
				`{"id":"y","name":"Y","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":1},{"value":"a","name":"A"}]}]},` +
				`{"id":"z","name":"Z","type":"boolean","currentValue":"on"}]}`,
			want: `{"sessionId":"s","modes":{"currentModeId":"a","availableModes":[]},"configOptions":[` +
				`{"id":"y","name":"Y","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"}]}]}]}`,
		}, {
			name:    "modes without a current one",
			message: "agent session/new response",
			json:    `{"sessionId":"s","modes":{"availableModes":[]},"models":{"currentModelId":"m"},"configOptions":{}}`,
			want:    `{"sessionId":"s","models":{"currentModelId":"m","availableModels":[]}}`,
		}, {
			name:    "null for a result without properties",
			message: "agent session/set_mode response",
			json:    `null`,
			want:    `{}`,
		}, {
			name:    "a list of sessions with bad ones",
			message: "agent session/list response",
			json:    `{"sessions":[{"sessionId":"a","cwd":"/","title":5,"additionalDirectories":["/b",null]},{"sessionId":"b"}],"nextCursor":null}`,
			want:    `{"sessions":[{"sessionId":"a","cwd":"/","additionalDirectories":["/b"]}]}`,
		}, {
			name:    "no list of sessions",
			message: "agent session/list response",
			json:    `{}`,
			want:    `{"sessions":[]}`,
		}, {
			name:    "malformed usage",
			message: "agent session/prompt response",
			json:    `{"stopReason":"bored","usage":{"totalTokens":-1}}`,
			want:    `{"stopReason":"bored"}`,
		}, {
			name:    "no stop reason",
			message: "agent session/prompt response",
			json:    ``,
			wantErr: "stopReason: required but missing",
		}, {
			name:    "a chunk with a malformed id and annotations",
			message: "client session/update notification",
			json:    update + `"agent_message_chunk","messageId":7,"_meta":1,"content":{"type":"text","text":"a","annotations":{"audience":["user",1],"priority":"high"}}}}`,
			want:    update + `"agent_message_chunk","content":{"type":"text","text":"a","annotations":{"audience":["user"]}}}}`,
		}, {
			name:    "a chunk without text",
			message: "client session/update notification",
			json:    update + `"agent_message_chunk","content":{"type":"text"}}}`,
			wantErr: "update.content.text: required but missing",
		}, {
			name:    "a tool call with malformed fields and items",
			message: "client session/update notification",
			json: update + `"tool_call","toolCallId":"t","title":"T","kind":3,"status":null,"name":{},"content":[{"type":"diff","path":"a"},{"type":"content","content":{"type":"image"}},` +
				`{"type":"new","x":1},{"type":"terminal","terminalId":"x"},null],"locations":[{"path":"a","line":-3},{"line":1},{"path":"b","line":2.0},{"path":"c","line":99999999999}]}}`,
			want: update + `"tool_call","toolCallId":"t","title":"T","status":null,"content":[{"type":"new","x":1},{"type":"terminal","terminalId":"x"}],` +
				`"locations":[{"path":"a"},{"path":"b","line":2},{"path":"c"}]}}`,
		}, {
			name:    "a new kind and status are kept",
			message: "client session/update notification",
			json:    update + `"tool_call_update","toolCallId":"t","kind":"dance","status":"paused"}}`,
			want:    update + `"tool_call_update","toolCallId":"t","kind":"dance","status":"paused"}}`,
		}, {
			name:    "a tool call without a title",
			message: "client session/update notification",
			json:    update + `"tool_call","toolCallId":"t"}}`,
			wantErr: "update.title: required but missing",
		}, {
			name:    "an update without a kind is kept",
			message: "client session/update notification",
			json:    `{"sessionId":"s","update":{"content":1}}`,
			want:    `{"sessionId":"s","update":{"content":1}}`,
		}, {
			name:    "no update",
			message: "client session/update notification",
			json:    `{"sessionId":"s","update":null}`,
			wantErr: "update: expected an object, got null",
		}, {
			name:    "a plan with malformed entries",
			message: "client session/update notification",
			json:    update + `"plan","entries":[{"content":"a","priority":"low"},{"content":"b","priority":"low","status":"pending"}]}}`,
			want:    update + `"plan","entries":[{"content":"b","priority":"low","status":"pending"}]}}`,
		}, {
			name:    "commands with malformed inputs",
			message: "client session/update notification",
			json:    update + `"available_commands_update","availableCommands":[{"name":"a","description":"A","input":{"type":"form"}},{"name":"b","description":"B","input":null},{"name":"c"}]}}`,
			want:    update + `"available_commands_update","availableCommands":[{"name":"a","description":"A"},{"name":"b","description":"B"}]}}`,
		}, {
			name:    "usage with malformed cost",
			message: "client session/update notification",
			json:    update + `"usage_update","used":1,"size":2e5,"cost":{"amount":"1"}}}`,
			want:    update + `"usage_update","used":1,"size":200000}}`,
		}, {
			name:    "usage below zero",
			message: "client session/update notification",
			json:    update + `"usage_update","used":-1,"size":2}}`,
			wantErr: "update.used: -1 is out of range",
		}, {
			name:    "a permission request with a malformed option",
			message: "client session/request_permission request",
			json:    `{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"a","name":"A","kind":"allow_once"},{"name":"B"}]}`,
			wantErr: "options[1].optionId: required but missing",
		}, {
			name:    "a permission request with null for options and for all of the call",
			message: "client session/request_permission request",
			json:    `{"sessionId":"s","toolCall":{"toolCallId":"t","title":null,"content":null,"locations":7},"options":null}`,
			want:    `{"sessionId":"s","toolCall":{"toolCallId":"t","title":null,"content":null},"options":[]}`,
		}, {
			name:    "a terminal with null lists",
			message: "client terminal/create request",
			json:    `{"sessionId":"s","command":"c","args":null,"env":null,"cwd":null,"outputByteLimit":null}`,
			want:    `{"sessionId":"s","command":"c","args":[],"env":[],"outputByteLimit":null}`,
		}, {
			name:    "a terminal with malformed arguments",
			message: "client terminal/create request",
			json:    `{"sessionId":"s","command":"c","args":["a",1]}`,
			wantErr: "args[1]: expected a string, got a number",
		}, {
			name:    "a terminal with a negative limit",
			message: "client terminal/create request",
			json:    `{"sessionId":"s","command":"c","outputByteLimit":-1}`,
			wantErr: "outputByteLimit: -1 is out of range",
		}, {
			name:    "a read with a malformed line",
			message: "client fs/read_text_file request",
			json:    `{"sessionId":"s","path":"/a","line":"1"}`,
			wantErr: "line: expected a number, got a string",
		}, {
			name:    "a form without properties",
			message: "client elicitation/create request",
			json:    `{"message":"m","sessionId":"s","mode":"form","toolCallId":1,"requestedSchema":{"type":5}}`,
			want:    `{"message":"m","sessionId":"s","mode":"form","requestedSchema":{"properties":{}}}`,
		}, {
			name:    "a form with a malformed field",
			message: "client elicitation/create request",
			json:    `{"message":"m","sessionId":"s","mode":"form","requestedSchema":{"properties":{"a":{"type":"string","enum":[1]}}}}`,
			wantErr: "requestedSchema.properties: a: decode enum[0]: expected a string, got a number",
		}, {
			name:    "malformed defaults in a form",
			message: "client elicitation/create request",
			json: `{"message":"m","requestId":"r","mode":"form","requestedSchema":{"properties":{"a":{"type":"boolean","default":"yes"},` +
				`"b":{"type":"array","items":{"type":"string","enum":[]},"default":["x",1]}}}}`,
			want: `{"message":"m","requestId":"r","mode":"form","requestedSchema":{"properties":{"a":{"type":"boolean"},` +
				`"b":{"type":"array","items":{"type":"string","enum":[]},"default":["x"]}}}}`,
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

// TestFormKeepsItsOrder checks that the fields of a form stay in the agent's order, both ways.
func TestFormKeepsItsOrder(t *testing.T) {
	const form = `{"properties":{"z":{"type":"string"},"a":{"type":"boolean"},"m":{"type":"_x"}}}`
	var schema ElicitationSchema
	must.Do(t, acp.Decode([]byte(form), &schema))
	if encoded, err := json.Marshal(schema); err != nil || string(encoded) != form {
		t.Errorf("got %s, %v, want %s", encoded, err, form)
	}
	for _, wrong := range []string{`[]`, `{"a":5}`, `5`} {
		if err := new(ElicitationProperties).UnmarshalJSON([]byte(wrong)); err == nil {
			t.Errorf("%q is taken for properties", wrong)
		}
	}
}

// TestUnknownInlineIsKept checks that an object with an unknown kind encodes as it came, each property once.
func TestUnknownInlineIsKept(t *testing.T) {
	for value, raw := range map[any]string{
		new(SessionConfigOption):      `{"id":"heat","name":"Heat","type":"slider","currentValue":1}`,
		new(CreateElicitationRequest): `{"message":"Sing","sessionId":"s","mode":"_sing","key":"C"}`,
	} {
		must.Do(t, acp.Decode([]byte(raw), value))
		if encoded, err := json.Marshal(value); err != nil || string(encoded) != raw {
			t.Errorf("got %s, %v, want %s", encoded, err, raw)
		}
	}
}

// TestEmbeddedResourceNeedsContents checks that a resource without contents does not encode.
func TestEmbeddedResourceNeedsContents(t *testing.T) {
	if encoded, err := json.Marshal(&wire.EmbeddedResource{}); err == nil {
		t.Errorf("encoded %s", encoded)
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

const chunk = `{"sessionId":"0d2c7e0a-5f6b-4c68-9d3b-6a1f3f0f2d11","update":{"sessionUpdate":"agent_message_chunk",` +
	`"messageId":"m-17","content":{"type":"text","text":"a line of *text*, a \"quote\"\nand so"}}}`

// BenchmarkChunk decodes the most frequent message; BenchmarkChunkStd is the same by
// encoding/json into a struct that has no unions.
func BenchmarkChunk(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var n SessionNotification
		must.Do(b, acp.Decode([]byte(chunk), &n))
	}
}

func BenchmarkChunkStd(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var n struct {
			SessionID string `json:"sessionId"`
			Update    struct {
				Kind      string `json:"sessionUpdate"`
				MessageID string `json:"messageId"`
				Content   struct {
					Type string `json:"type"`
					Text string `json:"text"`
				} `json:"content"`
			} `json:"update"`
		}
		must.Do(b, json.Unmarshal([]byte(chunk), &n))
	}
}

// The fields of a form are an object; without any it is null or nothing, and what was there before goes.
func TestFieldsOfForms(t *testing.T) {
	for text, want := range map[string]string{
		`null`: "", `{}`: "", `{"b":{"type":"string"},"a":{"type":"boolean"}}`: "b a", `[]`: "error", `7`: "error", ``: "error",
		`{"a":`: "error",
	} {
		p := ElicitationProperties{{Name: "before"}}
		err := p.UnmarshalJSON([]byte(text))
		var names []string
		for _, property := range p {
			names = append(names, property.Name)
		}
		if got := strings.Join(names, " "); (err != nil) != (want == "error") || err == nil && got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
