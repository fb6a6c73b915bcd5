package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// CheckFields compares the fields of a wire type, a struct, and their rules for what is missing or malformed, with the
// annotations of the definition name. It returns the fields that the schema does not have, in order.
func (v *V) CheckFields(t *testing.T, name string, value any) (beyond []string) {
	t.Helper()
	def, ok := v.defs[name]
	if !ok {
		t.Errorf("%s is not in the schema", name)
		return nil
	}
	fields := make(map[string]reflect.StructField)
	collect(reflect.TypeOf(value), fields)
	for property, rules := range def.Properties {
		field, ok := fields[property]
		if !ok {
			t.Errorf("%s.%s has no field", name, property)
			continue
		}
		delete(fields, property)
		tags := strings.Split(field.Tag.Get("wire"), ",")
		for rule, want := range map[string]bool{
			"required": slices.Contains(def.Required, property),
			"lenient":  rules.DefaultOnError,
			"skip":     rules.SkipInvalidItems,
			"object":   property == "_meta",
		} {
			check.Equal(t, slices.Contains(tags, rule), want, "%s.%s: %s is %v", name, property, rule)
		}
		if kind := field.Type.Kind(); rules.DefaultOnNull && kind != reflect.Slice && kind != reflect.Map {
			t.Errorf("%s.%s: null is not empty", name, property)
		}
	}
	return slices.Sorted(maps.Keys(fields))
}

// collect adds the fields of a struct by their names on the wire, those of embedded structs included.
func collect(t reflect.Type, fields map[string]reflect.StructField) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			collect(field.Type, fields)
		case name != "-":
			fields[name] = field
		}
	}
}
