package host

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/neovim/go-client/msgpack"
)

// What is packed reads as what the library writes.
func TestPacked(t *testing.T) {
	var none map[string]any
	read := func(value any) (got any) {
		var b bytes.Buffer
		if err := msgpack.NewEncoder(&b).Encode(value); err != nil {
			t.Fatal(err)
		}
		if err := msgpack.NewDecoder(&b).Decode(&got); err != nil {
			t.Fatalf("%#v: %v", value, err)
		}
		if b.Len() > 0 {
			t.Fatalf("%#v: %d bytes are left", value, b.Len())
		}
		return got
	}
	for _, value := range []any{
		nil, "", "words", -1, 1 << 40, true, false, 0.5, uint64(7), []byte("bytes"), map[string]string{"a": "b"},
		none, map[string]any{}, map[string]any{"a": 1, "b": []any{"c", map[string]any{"d": nil}}},
		[]any(nil), []any{}, []any{nil, 1, "two", 3.5, []any{}}, []string(nil), []string{"a", "b"},
		[]int(nil), []int{1, -2}, []float64{1.5}, struct {
			A int `msgpack:"a"`
		}{1},
	} {
		if got, want := read(packed{value}), read(value); !reflect.DeepEqual(got, want) {
			t.Errorf("%#v reads as %#v, want %#v", value, got, want)
		}
	}
}
