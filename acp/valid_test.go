package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func FuzzValid(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,true,null,"x\u00e9\n"]}`, `[]`, `{}`, ` 1 `, `01`, `-`, `1.`, `"\x"`, `{"a"}`, `[1,]`, "\"\x01\"", "\"\xff\"", `tru`,
		``, `1 2`, `[{]`, `[{"a"]`, `[{"a":]`, `[[1,]`, `{"a":1,"b":2}`, `[false,1E9,-1029384756]`, `trux`, `[/]`, `[1:]`,
		`{:1}`, `[1`, `{"a":1`, `["]`, "[\"]\n",
	} {
		f.Add([]byte(s))
	}
	for _, depth := range []int{9999, 10_000, 10_001} {
		f.Add([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)))
		f.Add([]byte(strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth)))
		f.Add([]byte(strings.Repeat(`{"":`, depth) + "1" + strings.Repeat("}", depth)))
	}
	for b := range 256 { // in each place of an escaped character
		for _, s := range []string{"\"\\", "\"\\u", "\"\\u12a"} {
			f.Add([]byte(s))
			f.Add(append([]byte(s), byte(b)))
			f.Add(append([]byte(s), byte(b), '"'))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check.Equal(t, valid(data), json.Valid(data), "%.99q: %v", data)
	})
}
