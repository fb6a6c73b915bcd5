package transcript

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestFileName(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///p/src/lexer.lua":         "src/lexer.lua",
		"file:///p/src/lexer.lua#L40-66":  "src/lexer.lua:40-66",
		"file:///p/src/lexer.lua#L40-L66": "src/lexer.lua:40-66",
		"file:///p/a%20b.txt#L7":          "a b.txt:7",
		"file:///p/src/":                  "src/",
		"file:///":                        "/",
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

// What is in the editor and is no file has an address, from which people learn what it is.
func TestAddressesOfExcerpts(t *testing.T) {
	for _, c := range []struct{ what, of, uri, name string }{
		{"diff", "", "nvim://diff", "diff"},
		{"diagnostics", "src/a b.go", "nvim://diagnostics/src/a%20b.go", "diagnostics: src/a b.go"},
		{"terminal", "/bin/sh", "nvim://terminal//bin/sh", "terminal: /bin/sh"},
	} {
		uri := ExcerptURI(c.what, c.of)
		check.Equal(t, uri, c.uri, "%s of %q is %s", c.what, c.of)
		name, ok := excerptName(uri)
		check.Equal(t, name, c.name, "%s is %s", uri)
		check.Equal(t, ok, true, "%s is one: %v", uri)
	}
}

// What stood beside a prompt can be attached once more.
func TestAttached(t *testing.T) {
	tr := New(session.NewConversation(nil), Config{Cwd: "/p", Save: func(_, _ string) string { return "/cache/x" }})
	for _, c := range []struct {
		content session.Content
		want    Attached
	}{
		{session.Resource{URI: "file:///p/a.go", Text: "x"}, Attached{Name: "a.go", Place: styled.Place{Path: "/p/a.go"}}},
		{
			session.Resource{URI: "file:///p/a.go#L4-L6", Text: "x"},
			Attached{Name: "a.go:4-6", Place: styled.Place{Path: "/p/a.go", Line: 4}, Last: 6},
		},
		{
			session.ResourceLink{URI: "file:///p/a.go#L7", Name: "a.go"},
			Attached{Name: "a.go:7", Place: styled.Place{Path: "/p/a.go", Line: 7}, Last: 7},
		},
		{
			session.ResourceLink{URI: "file:///p/a.go", Name: "a.go", Description: UnsavedText},
			Attached{Name: "a.go · unsaved text", Place: styled.Place{Path: "/p/a.go"}, Unsaved: true},
		},
		{
			session.Resource{URI: ExcerptURI("diagnostics", "a b.go"), Text: "x"},
			Attached{Name: "diagnostics: a b.go", Excerpt: "diagnostics"},
		},
		{session.Resource{URI: ExcerptURI("diff", ""), Text: "x"}, Attached{Name: "diff", Excerpt: "diff"}},
		{
			session.ResourceLink{URI: "https://example.org/x", Name: "x"},
			Attached{Name: "[x] https://example.org/x", Address: "https://example.org/x"},
		},
		{
			session.Image{MimeType: "image/png", Data: "aGk=", URI: "file:///p/a.png"},
			Attached{Name: "a.png · image image/png 2 bytes", Place: styled.Place{Path: "/p/a.png"}},
		},
		{
			session.Image{MimeType: "image/png", Data: "aGk="},
			Attached{Name: "[image image/png 2 bytes]", Place: styled.Place{Path: "/cache/x"}},
		},
		{session.Resource{URI: "nvim:thing", Text: "x"}, Attached{Name: "nvim:thing"}},
		{session.Resource{URI: "test:thing", Text: "x"}, Attached{Name: "test:thing"}},
		{session.Resource{URI: "%zz", Text: "x"}, Attached{Name: "%zz"}},
		{session.Resource{URI: "http://%zz", Text: "x"}, Attached{Name: "http://%zz"}},
	} {
		check.Equal(t, tr.Attached(c.content), c.want, "%+v is %+v", c.content)
	}
}
