package acp

import (
	"encoding/json"
	"testing"
)

func TestEncodeMerged(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{}`, `{}`, `{}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{}`, `{"b":2}`, `{"b":2}`},
		{`{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`},
		{`{"a":1}`, `null`, ``},
		{`[]`, `{}`, ``},
	} {
		got, err := EncodeMerged(json.RawMessage(c.a), json.RawMessage(c.b))
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("EncodeMerged(%s, %s) = %s, %v, want %s", c.a, c.b, got, err, c.want)
		}
	}
}

func TestEncodeMergedFails(t *testing.T) {
	for _, pair := range [][2]any{{make(chan int), struct{}{}}, {struct{}{}, make(chan int)}, {7, struct{}{}}, {struct{}{}, "a"}} {
		if got, err := EncodeMerged(pair[0], pair[1]); err == nil {
			t.Errorf("EncodeMerged(%T, %T) = %s", pair[0], pair[1], got)
		}
	}
}

func TestEncodeVariant(t *testing.T) {
	body := struct {
		N int `json:"n"`
	}{7}
	got, err := EncodeVariant("type", "a", body)
	if want := `{"type":"a","n":7}`; err != nil || string(got) != want {
		t.Errorf("EncodeVariant = %s, %v, want %s", got, err, want)
	}
}

func TestRegisterUnionTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second registration is taken")
		}
	}()
	RegisterUnion(Union[shape]{})
}
