package acp

import (
	"encoding/json"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func FuzzValid(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"x\u00e9\n"]}`, `[]`, `{}`, ` 1 `, `01`, `-`, `1.`, `"\x"`, `{"a"}`, `[1,]`, "\"\x01\"", "\"\xff\"", `tru`, ``, `1 2`} {
		f.Add([]byte(s))
	}
	for b := range 256 { // in each place of an escaped character
		for _, s := range []string{"\"\\", "\"\\u", "\"\\u12a"} {
			f.Add([]byte(s))
			f.Add(append([]byte(s), byte(b)))
			f.Add(append([]byte(s), byte(b), '"'))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check.Equal(t, valid(data), json.Valid(data), "%q: %v", data)
	})
}
