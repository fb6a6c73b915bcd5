package acp

import (
	"encoding/json"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestOpt(t *testing.T) {
	type record struct {
		Name Opt[string]          `json:"name,omitzero"`
		Tags Opt[[]int]           `json:"tags,omitzero"`
		Raw  Opt[json.RawMessage] `json:"raw,omitzero"`
	}
	for _, c := range []struct {
		name   string
		value  record
		wire   string
		isNull bool
		get    string
		ok     bool
		or     string
	}{
		{"omitted", record{}, `{}`, false, "", false, "else"},
		{"null", record{Name: Null[string]()}, `{"name":null}`, true, "", false, "else"},
		{"set", record{Name: Set("a")}, `{"name":"a"}`, false, "a", true, "a"},
		{"set to zero", record{Name: Set("")}, `{"name":""}`, false, "", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			encoded, err := json.Marshal(c.value)
			if err != nil || string(encoded) != c.wire {
				t.Errorf("Marshal = %s, %v, want %s", encoded, err, c.wire)
			}
			var std, own record
			must.Do(t, json.Unmarshal([]byte(c.wire), &std))
			must.Do(t, Decode([]byte(c.wire), &own))
			for _, decoded := range []record{std, own} {
				name := decoded.Name
				check.Equal(t, name, c.value.Name, "decoded %+v")
				if got, ok := name.Get(); got != c.get || ok != c.ok {
					t.Errorf("Get = %q, %v", got, ok)
				}
				check.Equal(t, name.Or("else"), c.or, "Or = %q")
				if name.IsNull() != c.isNull || name.IsZero() != (c.name == "omitted") {
					t.Errorf("IsNull = %v, IsZero = %v", name.IsNull(), name.IsZero())
				}
			}
		})
	}
	t.Run("lists", func(t *testing.T) {
		value := record{Tags: Set[[]int](nil), Raw: Set[json.RawMessage](nil)}
		encoded, err := json.Marshal(value)
		if want := `{"tags":[],"raw":null}`; err != nil || string(encoded) != want {
			t.Errorf("Marshal = %s, %v, want %s", encoded, err, want)
		}
	})
}

func TestListIsNeverNull(t *testing.T) {
	for want, list := range map[string]List[int]{"[]": nil, "[1,2]": {1, 2}} {
		if encoded, err := json.Marshal(list); err != nil || string(encoded) != want {
			t.Errorf("Marshal = %s, %v, want %s", encoded, err, want)
		}
	}
}
