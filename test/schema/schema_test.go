package schema_test

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/schema"
)

func TestCheck(t *testing.T) {
	v := schema.Validator(t)
	for _, c := range []struct {
		name, method, kind string
		side               schema.Side
		raw                string
		valid              bool
	}{
		{"request", "session/new", schema.Request, schema.Agent, `{"cwd":"/p","mcpServers":[]}`, true},
		{"wrong type", "session/new", schema.Request, schema.Agent, `{"cwd":"/p","mcpServers":{}}`, false},
		{"missing", "session/new", schema.Request, schema.Agent, `{"cwd":"/p"}`, false},
		{"other side", "session/new", schema.Request, schema.Client, `{"cwd":"/p","mcpServers":[]}`, false},
		{"notification", "session/cancel", schema.Notification, schema.Agent, `{"sessionId":"s"}`, true},
		{"not a notification", "session/prompt", schema.Notification, schema.Agent, `{}`, false},
		{"either side", "$/cancel_request", schema.Notification, schema.Client, `{"requestId":0}`, true},
		{"response", "fs/read_text_file", schema.Response, schema.Client, `{"content":""}`, true},
		{"null response", "fs/write_text_file", schema.Response, schema.Client, `null`, true},
		{"null where a property is required", "fs/read_text_file", schema.Response, schema.Client, ``, false},
		{"unknown method", "session/dance", schema.Request, schema.Agent, `{}`, false},
		{"no JSON", "session/cancel", schema.Notification, schema.Agent, `{`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := v.Check(c.method, c.kind, c.side, []byte(c.raw)); (err == nil) != c.valid {
				t.Errorf("Check = %v, want valid = %v", err, c.valid)
			}
		})
	}
	if err := v.CheckError([]byte(`{"code":-32601,"message":"no"}`)); err != nil {
		t.Error(err)
	}
	if err := v.CheckError([]byte(`{"code":-32601}`)); err == nil {
		t.Error("an error without a message is valid")
	}
}
