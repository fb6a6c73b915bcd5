package prompt

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
)

// A file that cannot go along is linked, however it is named.
func TestFilesAreLinkedWhereTheyCannotGoAlong(t *testing.T) {
	p := New(Config{
		Base:  feature.Base{Folder: folder.Folder{Cwd: "/project"}},
		Agent: func() session.Info { return session.Info{} },
	})
	for _, uri := range []string{"file:///project/a%20b.go", "/project/a b.go"} {
		got, err := p.fit([]session.Content{session.Resource{URI: uri, Text: "x"}})
		want := session.ResourceLink{URI: "file:///project/a%20b.go", Name: "a b.go"}
		if err != nil || got.sent[0] != want {
			t.Errorf("%s: %+v, %v", uri, got, err)
		}
	}
	if _, err := p.fit([]session.Content{session.Resource{URI: "https://example.org", Text: "x"}}); err == nil {
		t.Error("what is no file went along")
	}
}
