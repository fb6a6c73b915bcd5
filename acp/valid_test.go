package acp

import (
	"encoding/json"
	"testing"
)

func FuzzValid(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"x\u00e9\n"]}`, `[]`, `{}`, ` 1 `, `01`, `-`, `1.`, `"\x"`, `{"a"}`, `[1,]`, "\"\x01\"", "\"\xff\"", `tru`, ``, `1 2`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := valid(data), json.Valid(data); got != want {
			t.Errorf("%q: %v, want %v", data, got, want)
		}
	})
}
