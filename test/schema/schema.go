// Package schema checks messages against the official schema of the protocol, which comes with
// the npm package @agentclientprotocol/sdk. It is for tests only.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/need"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Side is who handles a method: the request's receiver, also for its response.
type Side string

// The sides of the protocol.
const (
	Agent  Side = "agent"
	Client Side = "client"
)

// The kinds of messages.
const (
	Request      = "request"
	Notification = "notification"
	Response     = "response"
)

// V validates messages of one protocol version.
type V struct {
	defs     map[string]Def
	raw      map[string]any    // the same, whole
	byMethod map[string]string // "side:method:kind" → definition

	mu       sync.Mutex // guards compiler and compiled
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// Def is a definition of the schema, as far as tests look into it.
type Def struct {
	Side       string              `json:"x-side"`
	Method     string              `json:"x-method"`
	Properties map[string]Property `json:"properties"`
	OneOf      []Variant           `json:"oneOf"`
	AnyOf      []Variant           `json:"anyOf"`
	Required   []string            `json:"required"`
}

// Variant is one of several forms of a definition: a constant, or an object that a constant property tells apart.
type Variant struct {
	Const      any                        `json:"const"`
	Properties map[string]VariantProperty `json:"properties"`
}

// VariantProperty is a property of a variant.
type VariantProperty struct {
	Const any `json:"const"`
}

// Property is a property of a definition, with its rules for lenient decoding.
type Property struct {
	DefaultOnError   bool `json:"x-deserialize-default-on-error"`
	DefaultOnNull    bool `json:"x-deserialize-default-on-null"`
	SkipInvalidItems bool `json:"x-deserialize-skip-invalid-items"`
}

// location is the address under which the schema is compiled; nothing is fetched from it.
const location = "acp.json"

// Validator returns the schema of version 1, from the repository's node_modules. Tests share it, since it takes
// long to compile.
func Validator(t testing.TB) *V {
	t.Helper()
	return load(t, "v1")
}

// ValidatorV2 is Validator for version 2.
func ValidatorV2(t testing.TB) *V {
	t.Helper()
	return load(t, "v2")
}

// Drafts is Validator for the unstable schema of version 1, which has all of the stable one and what may come to be.
func Drafts(t testing.TB) *V {
	t.Helper()
	return load(t, "v1", "unstable")
}

// DraftsV2 is Drafts for version 2.
func DraftsV2(t testing.TB) *V {
	t.Helper()
	return load(t, "v2", "unstable")
}

// loaded are the schemas by file; loading guards it.
var (
	loading sync.Mutex
	loaded  = map[string]*V{}
)

func load(t testing.TB, version string, kind ...string) *V {
	t.Helper()
	name := strings.Join(append(append([]string{version + "/schema"}, kind...), "json"), ".")
	loading.Lock()
	defer loading.Unlock()
	if v := loaded[name]; v != nil {
		return v
	}
	data, err := os.ReadFile(file(t, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		need.Missing(t, "no schema of the protocol to test with: run `make test`, or `npm ci`")
	case err != nil:
		t.Fatalf("read the protocol's schema: %v", err)
	}
	var root struct {
		Defs map[string]Def `json:"$defs"`
	}
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatalf("parse the protocol's schema: %v", err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("parse the protocol's schema: %v", err)
	}
	raw, _ := document.(map[string]any)
	defs, _ := raw["$defs"].(map[string]any)
	v := &V{
		defs:     root.Defs,
		raw:      defs,
		byMethod: make(map[string]string),
		compiler: jsonschema.NewCompiler(),
		compiled: make(map[string]*jsonschema.Schema),
	}
	if err := v.compiler.AddResource(location, document); err != nil {
		t.Fatalf("load the protocol's schema: %v", err)
	}
	for name, def := range v.defs {
		if def.Method != "" {
			v.byMethod[key(def.Side, def.Method, kindOf(name))] = name
		}
	}
	loaded[name] = v
	return v
}

// file finds a schema from the test's folder upwards.
func file(t testing.TB, name string) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("find the repository: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "node_modules/@agentclientprotocol/sdk/schema", name)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("find the repository: no go.mod above the test")
		}
		dir = parent
	}
}

func kindOf(name string) string {
	switch {
	case strings.HasSuffix(name, "Response"):
		return Response
	case strings.HasSuffix(name, "Notification"):
		return Notification
	}
	return Request
}

func key(side, method, kind string) string { return side + ":" + method + ":" + kind }

// Defs returns all definitions by name.
func (v *V) Defs() map[string]Def { return v.defs }

// Parts are the fields and the variants of a definition, without what only tells variants apart.
func (d Def) Parts() (parts []string) {
	add := func(part any) {
		if name, ok := part.(string); ok && name != "_meta" && !slices.Contains(parts, name) {
			parts = append(parts, name)
		}
	}
	for name := range d.Properties {
		add(name)
	}
	for _, variant := range slices.Concat(d.OneOf, d.AnyOf) {
		add(variant.Const)
		for name, property := range variant.Properties {
			switch {
			case property.Const != nil:
				add(property.Const)
			case !slices.Contains([]string{"type", "mode", "sessionUpdate", "state", "outcome", "action", "operation"}, name):
				add(name)
			}
		}
	}
	slices.Sort(parts)
	return parts
}

// Has reports whether the schema knows the message; agents and clients may have their own.
func (v *V) Has(method, kind string, side Side) bool {
	return v.definition(method, kind, side) != ""
}

func (v *V) definition(method, kind string, side Side) string {
	if name := v.byMethod[key(string(side), method, kind)]; name != "" {
		return name
	}
	return v.byMethod[key("protocol", method, kind)]
}

// Check validates the params of a request or notification, or the result of a response. Side
// handles the method: a request of the client and the agent's response to it have the side
// Agent. Absent params and results, and null, count as the empty object.
func (v *V) Check(method, kind string, side Side, raw []byte) error {
	name := v.definition(method, kind, side)
	if name == "" {
		return fmt.Errorf("check %s %s: not in the schema for the %s", method, kind, side)
	}
	if text := bytes.TrimSpace(raw); len(text) == 0 || bytes.Equal(text, []byte("null")) {
		raw = []byte("{}")
	}
	if err := v.CheckDef(name, raw); err != nil {
		return fmt.Errorf("check %s %s: %w", method, kind, err)
	}
	return nil
}

// CheckError validates the error of a response.
func (v *V) CheckError(raw []byte) error { return v.CheckDef("Error", raw) }

// CheckDef validates a value against the definition name.
func (v *V) CheckDef(name string, raw []byte) error {
	schema, err := v.compile(name)
	if err != nil {
		return fmt.Errorf("compile %s: %w", name, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	return schema.Validate(value)
}

func (v *V) compile(name string) (*jsonschema.Schema, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if schema := v.compiled[name]; schema != nil {
		return schema, nil
	}
	schema, err := v.compiler.Compile(location + "#/$defs/" + name)
	if err == nil {
		v.compiled[name] = schema
	}
	return schema, err
}
