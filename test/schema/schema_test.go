package schema_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
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
	must.Do(t, v.CheckError([]byte(`{"code":-32601,"message":"no"}`)))
	if err := v.CheckError([]byte(`{"code":-32601}`)); err == nil {
		t.Error("an error without a message is valid")
	}
}

// All messages of the schema can be made from it, and damaged.
func TestGenerated(t *testing.T) {
	for version, v := range map[string]*schema.V{"v1": schema.Validator(t), "v2": schema.ValidatorV2(t)} {
		g := &schema.Generator{V: v, Rand: rand.New(rand.NewPCG(1, 1))}
		invalid := 0
		for _, side := range []schema.Side{schema.Agent, schema.Client} {
			for _, kind := range []string{schema.Request, schema.Notification, schema.Response} {
				for _, method := range v.Methods(kind, side) {
					for range 20 {
						made, ok := g.Message(method, kind, side)
						if !ok {
							t.Fatalf("%s: no %s of %s is made", version, kind, method)
						}
						raw, err := json.Marshal(g.Damaged(made))
						must.Do(t, err)
						if v.Check(method, kind, side, raw) != nil {
							invalid++
						}
					}
				}
			}
		}
		if invalid < 100 {
			t.Errorf("%s: only %d of the damaged messages are invalid", version, invalid)
		}
	}
}
