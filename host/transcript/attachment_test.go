package transcript

import "testing"

func TestFileName(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///p/src/lexer.lua":         "src/lexer.lua",
		"file:///p/src/lexer.lua#L40-66":  "src/lexer.lua:40-66",
		"file:///p/src/lexer.lua#L40-L66": "src/lexer.lua:40-66",
		"file:///p/a%20b.txt#L7":          "a b.txt:7",
		"file:///p/src/":                  "src/",
		"file:///elsewhere/x":             "/elsewhere/x",
		"file:///pp/x":                    "/pp/x",
		"FILE://localhost/p/x":            "x",
		"file://far/p/x":                  "",
		"https://example.org/p/x":         "",
		"%zz":                             "",
	} {
		if got, ok := FileName(uri, "/p"); got != want || ok != (want != "") {
			t.Errorf("%s is %q (%v), want %q", uri, got, ok, want)
		}
		if place, ok := PlaceOf(uri); ok != (want != "") {
			t.Errorf("%s is at %+v (%v)", uri, place, ok)
		}
	}
}
