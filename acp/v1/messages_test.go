package v1

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
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// messages makes an empty value for each message, by "side method kind".
var messages = map[string]func() any{
	"agent initialize request":                   func() any { return new(InitializeRequest) },
	"agent initialize response":                  func() any { return new(InitializeResponse) },
	"agent authenticate request":                 func() any { return new(AuthenticateRequest) },
	"agent authenticate response":                func() any { return new(AuthenticateResponse) },
	"agent logout request":                       func() any { return new(LogoutRequest) },
	"agent logout response":                      func() any { return new(LogoutResponse) },
	"agent session/new request":                  func() any { return new(NewSessionRequest) },
	"agent session/new response":                 func() any { return new(NewSessionResponse) },
	"agent session/load request":                 func() any { return new(LoadSessionRequest) },
	"agent session/load response":                func() any { return new(LoadSessionResponse) },
	"agent session/resume request":               func() any { return new(ResumeSessionRequest) },
	"agent session/resume response":              func() any { return new(ResumeSessionResponse) },
	"agent session/list request":                 func() any { return new(wire.ListSessionsRequest) },
	"agent session/list response":                func() any { return new(ListSessionsResponse) },
	"agent session/close request":                func() any { return new(wire.CloseSessionRequest) },
	"agent session/close response":               func() any { return new(CloseSessionResponse) },
	"agent session/delete request":               func() any { return new(wire.DeleteSessionRequest) },
	"agent session/delete response":              func() any { return new(DeleteSessionResponse) },
	"agent session/set_mode request":             func() any { return new(SetSessionModeRequest) },
	"agent session/set_mode response":            func() any { return new(SetSessionModeResponse) },
	"agent session/set_model request":            func() any { return new(SetSessionModelRequest) },
	"agent session/set_model response":           func() any { return new(SetSessionModelResponse) },
	"agent session/set_config_option request":    func() any { return new(SetSessionConfigOptionRequest) },
	"agent session/set_config_option response":   func() any { return new(SetSessionConfigOptionResponse) },
	"agent session/prompt request":               func() any { return new(wire.PromptRequest) },
	"agent session/prompt response":              func() any { return new(PromptResponse) },
	"agent session/cancel notification":          func() any { return new(CancelNotification) },
	"agent $/cancel_request notification":        func() any { return new(CancelRequestNotification) },
	"client $/cancel_request notification":       func() any { return new(CancelRequestNotification) },
	"client session/update notification":         func() any { return new(SessionNotification) },
	"client session/request_permission request":  func() any { return new(RequestPermissionRequest) },
	"client session/request_permission response": func() any { return new(wire.RequestPermissionResponse) },
	"client fs/read_text_file request":           func() any { return new(ReadTextFileRequest) },
	"client fs/read_text_file response":          func() any { return new(ReadTextFileResponse) },
	"client fs/write_text_file request":          func() any { return new(WriteTextFileRequest) },
	"client fs/write_text_file response":         func() any { return new(WriteTextFileResponse) },
	"client terminal/create request":             func() any { return new(CreateTerminalRequest) },
	"client terminal/create response":            func() any { return new(CreateTerminalResponse) },
	"client terminal/output request":             func() any { return new(TerminalOutputRequest) },
	"client terminal/output response":            func() any { return new(TerminalOutputResponse) },
	"client terminal/wait_for_exit request":      func() any { return new(WaitForTerminalExitRequest) },
	"client terminal/wait_for_exit response":     func() any { return new(WaitForTerminalExitResponse) },
	"client terminal/kill request":               func() any { return new(KillTerminalRequest) },
	"client terminal/kill response":              func() any { return new(KillTerminalResponse) },
	"client terminal/release request":            func() any { return new(ReleaseTerminalRequest) },
	"client terminal/release response":           func() any { return new(ReleaseTerminalResponse) },
	"client elicitation/create request":          func() any { return new(CreateElicitationRequest) },
	"client elicitation/create response":         func() any { return new(CreateElicitationResponse) },
	"client elicitation/complete notification":   func() any { return new(CompleteElicitationNotification) },
}

// sample is a line of testdata/messages.jsonl.
type sample struct {
	Side   schema.Side     `json:"side"`
	Method string          `json:"method"`
	Kind   string          `json:"kind"`
	Value  json.RawMessage `json:"value"`
	Beyond bool            `json:"beyond"` // not in the schema, or not valid by it
}

func (s sample) key() string { return string(s.Side) + " " + s.Method + " " + s.Kind }

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
		if messages[s.key()] == nil {
			t.Fatalf("line %d: no message %s", len(all)+1, s.key())
		}
		all = append(all, s)
	}
	must.Do(t, lines.Err())
	return all
}

// TestRoundTrip decodes each sample and encodes it again: nothing is lost, nothing is added,
// and what we encode is valid by the schema.
func TestRoundTrip(t *testing.T) {
	v := schema.Validator(t)
	seen := make(map[string]bool)
	for i, s := range samples(t) {
		seen[s.key()] = true
		value := messages[s.key()]()
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
		err = v.Check(s.Method, s.Kind, s.Side, encoded)
		if !s.Beyond && err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	for key := range messages {
		if !seen[key] {
			t.Errorf("no sample of %s", key)
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

// TestMethodsMatchSchema checks that all messages of the schema are here under their names.
func TestMethodsMatchSchema(t *testing.T) {
	v := schema.Validator(t)
	for name, def := range v.Defs() {
		if def.Method == "" {
			continue
		}
		kind := schema.Request
		for _, suffix := range []string{schema.Response, schema.Notification} {
			if strings.HasSuffix(strings.ToLower(name), suffix) {
				kind = suffix
			}
		}
		side := def.Side
		if side == "protocol" {
			side = "agent"
		}
		empty := messages[side+" "+def.Method+" "+kind]
		if empty == nil {
			t.Errorf("no message for the schema's %s", name)
			continue
		}
		check.Equal(t, reflect.TypeOf(empty()).Elem().Name(), name, "%s %s is %s", def.Method, kind)
	}
}

// TestSparseMessagesAreValid validates what the client sends when all that may be left out is
// left out: lists that are required are not null.
func TestSparseMessagesAreValid(t *testing.T) {
	v := schema.Validator(t)
	for _, c := range []struct {
		side         schema.Side
		method, kind string
		value        any
	}{
		{schema.Agent, MethodInitialize, schema.Request, InitializeRequest{ProtocolVersion: Version}},
		{schema.Agent, MethodAuthenticate, schema.Request, AuthenticateRequest{}},
		{schema.Agent, MethodLogout, schema.Request, LogoutRequest{}},
		{schema.Agent, MethodSessionNew, schema.Request, NewSessionRequest{}},
		{schema.Agent, MethodSessionNew, schema.Request, NewSessionRequest{
			MCPServers: []MCPServer{&MCPServerStdio{}, &MCPServerHTTP{}, &MCPServerSSE{}},
		}},
		{schema.Agent, MethodSessionLoad, schema.Request, LoadSessionRequest{}},
		{schema.Agent, MethodSessionResume, schema.Request, ResumeSessionRequest{}},
		{schema.Agent, wire.MethodSessionList, schema.Request, wire.ListSessionsRequest{}},
		{schema.Agent, MethodSessionClose, schema.Request, wire.CloseSessionRequest{}},
		{schema.Agent, MethodSessionDelete, schema.Request, wire.DeleteSessionRequest{}},
		{schema.Agent, MethodSessionSetMode, schema.Request, SetSessionModeRequest{}},
		{schema.Agent, MethodSessionSetConfigOption, schema.Request, SelectValue("s", "c", "v")},
		{schema.Agent, MethodSessionSetConfigOption, schema.Request, BooleanValue("s", "c", false)},
		{schema.Agent, MethodSessionPrompt, schema.Request, wire.PromptRequest{}},
		{schema.Agent, MethodSessionPrompt, schema.Request, wire.PromptRequest{Prompt: []wire.ContentBlock{
			wire.Text(""), &wire.ImageContent{}, &wire.AudioContent{}, &wire.ResourceLink{},
			&wire.EmbeddedResource{Resource: wire.EmbeddedResourceResource{Text: &wire.TextResourceContents{}}},
			&wire.EmbeddedResource{Resource: wire.EmbeddedResourceResource{Blob: &wire.BlobResourceContents{}}},
		}}},
		{schema.Agent, MethodSessionCancel, schema.Notification, CancelNotification{}},
		{schema.Agent, MethodCancelRequest, schema.Notification, CancelRequestNotification{RequestID: json.RawMessage("0")}},
		{schema.Client, wire.MethodSessionRequestPermission, schema.Response, wire.RequestPermissionResponse{Outcome: &wire.SelectedPermissionOutcome{}}},
		{schema.Client, wire.MethodSessionRequestPermission, schema.Response, wire.RequestPermissionResponse{Outcome: &wire.CancelledPermissionOutcome{}}},
		{schema.Client, MethodFSReadTextFile, schema.Response, ReadTextFileResponse{}},
		{schema.Client, MethodFSWriteTextFile, schema.Response, WriteTextFileResponse{}},
		{schema.Client, MethodTerminalCreate, schema.Response, CreateTerminalResponse{}},
		{schema.Client, MethodTerminalOutput, schema.Response, TerminalOutputResponse{ExitStatus: &TerminalExitStatus{}}},
		{schema.Client, MethodTerminalWaitForExit, schema.Response, WaitForTerminalExitResponse{}},
		{schema.Client, MethodTerminalKill, schema.Response, KillTerminalResponse{}},
		{schema.Client, MethodTerminalRelease, schema.Response, ReleaseTerminalResponse{}},
		{schema.Client, MethodElicitationCreate, schema.Response, CreateElicitationResponse{Action: ElicitationCancel}},
		{schema.Client, MethodElicitationCreate, schema.Response, CreateElicitationResponse{
			Action: ElicitationAccept, Content: map[string]json.RawMessage{"a": json.RawMessage(`["b"]`)},
		}},
	} {
		encoded, err := json.Marshal(c.value)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.kind, err)
			continue
		}
		if err := v.Check(c.method, c.kind, c.side, encoded); err != nil {
			t.Errorf("%s: %v", encoded, err)
		}
	}
}

// What is written without reflection is the same.
func TestReadTextFileResponseIsWrittenByItsFields(t *testing.T) {
	type fields ReadTextFileResponse
	for _, r := range []ReadTextFileResponse{
		{},
		{Content: "a \"b\"\n"},
		{Content: "a", Meta: json.RawMessage(`{"b":[1]}`)},
	} {
		want, err := json.Marshal(fields(r))
		must.Do(t, err)
		if got := string(r.AppendJSON(nil)); got != string(want) {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
