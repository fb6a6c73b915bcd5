package host

import (
	"reflect"
	"testing"
)

func TestFill(t *testing.T) {
	type part struct {
		Text string `msgpack:"text"`
		Size int64  `msgpack:"size"`
		_    int
	}
	type whole struct {
		Flag    bool    `msgpack:"flag"`
		Number  int     `msgpack:"number"`
		Took    float64 `msgpack:"took"`
		Part    part    `msgpack:"part"`
		Given   *part   `msgpack:"given"`
		Missing *part   `msgpack:"missing"`
	}
	var got whole
	fill(reflect.ValueOf(&got).Elem(), message{
		"flag": true, "number": uint64(7), "took": int64(3), "unknown": "x",
		"part":  map[string]any{"text": []byte("a"), "size": int64(-1)},
		"given": map[string]any{"text": "b", "size": "of another type"},
	})
	want := whole{Flag: true, Number: 7, Took: 3, Part: part{Text: "a", Size: -1}, Given: &part{Text: "b"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %+v; want %+v, %+v", got, got.Given, want, want.Given)
	}
}
