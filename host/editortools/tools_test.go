package editortools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// The schema of a tool says which arguments it has, of which kind and which of them it needs.
func TestSchemaOfATool(t *testing.T) {
	type argument struct {
		Type        string
		Description string
		Enum        []string
	}
	type schema struct {
		Type       string
		Properties map[string]argument
		Required   []string
	}
	tools := offered(rpc.EditorTools{Tools: []string{"write"}, Servers: true, Tasks: []rpc.Task{{Name: "test"}}})
	for name, want := range map[string]schema{
		"open_files": {"object", map[string]argument{}, nil},
		"run_task":   {"object", map[string]argument{"name": {"string", "The task.", []string{"test"}}}, []string{"name"}},
		"diagnostics": {"object", map[string]argument{
			"path":     {"string", "The file, relative to the working folder; without it all files.", nil},
			"severity": {"string", "The least severity.", []string{"error", "warning", "info", "hint"}},
			"wait_ms":  {"integer", "How long to wait for the servers, in milliseconds.", nil},
		}, nil},
	} {
		i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
		raw := tools[i].schema()
		var got schema
		must.Do(t, json.Unmarshal(raw, &got))
		check.Deep(t, got, want, name+" has %+v")
		for _, empty := range []string{`"enum":null`, `"required":[]`, `"required":null`} {
			check.Equal(t, strings.Contains(string(raw), empty), false, "that the schema of "+name+" has "+empty+" is %v")
		}
	}
}
