package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rules"
)

func TestPlaceOfAFile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"proj/sub", "project", "second"} {
		must(os.MkdirAll(filepath.Join(dir, name), 0o777))
	}
	must(os.Symlink("proj", dir+"/link")) // the session's folder, as it was named
	must(os.Symlink("../project", dir+"/proj/out"))
	must(os.Symlink("../second/f", dir+"/proj/back"))
	must(os.Symlink("proj/sub/.env", dir+"/env"))
	roots := []string{dir + "/link", dir + "/second"}
	j := &judge{rules: rules.List{Private: []string{"**/.env", "secret/**"}, Rules: []rules.Rule{
		{Paths: []string{"no/**"}, Kinds: []string{"edit"}, Action: rules.Reject},
		{Paths: []string{"ask/**", "../project/ask"}, Action: rules.Ask},
		{Paths: []string{"../project/yes/**"}, Action: rules.Allow},
		{Kinds: []string{"edit"}, Action: rules.Ask},
	}}}
	free := access{free: true}
	for _, c := range []struct {
		path string
		kind session.ToolKind
		want access
	}{
		{"link/f", session.KindRead, free},
		{"proj/f", session.KindRead, free},
		{"proj", session.KindRead, free},
		{"link/new/f", session.KindEdit, free}, // a rule that names no file does not ask
		{"second/f", session.KindEdit, free},
		{"link/back", session.KindRead, free},
		{"project/../link/f", session.KindRead, free},
		{"project/f", session.KindRead, access{outside: true, lasting: true}}, // no part of proj
		{"link/out/f", session.KindRead, access{outside: true, lasting: true}},
		{"link/../f", session.KindRead, access{outside: true, lasting: true}},
		{"link/sub/../../f", session.KindRead, access{outside: true, lasting: true}},
		{"project/f", session.KindEdit, access{outside: true}}, // a rule asks
		{"project/ask", session.KindRead, access{outside: true}},
		{"project/yes/f", session.KindEdit, access{outside: true, lasting: true}}, // which the rule answers
		{"link/.env", session.KindRead, access{private: true}},
		{"link/secret/a/b", session.KindRead, access{private: true}},
		{"env", session.KindRead, access{private: true}},
		{"project/.env", session.KindRead, access{private: true, outside: true}},
		{"link/no/f", session.KindRead, free},
		{"link/no/f", session.KindEdit, access{}},
		{"link/ask/f", session.KindRead, access{}},
	} {
		path := dir + "/" + c.path
		real, err := buffers.RealPath(path)
		must(err)
		got := j.accessOf(matter{
			agent: "puppet", cwd: roots[0], call: session.ToolCall{Kind: c.kind}, file: rules.Path{Given: path, Real: real},
		}, roots)
		if got != c.want {
			t.Errorf("%s %s: %+v, expected %+v", c.kind, c.path, got, c.want)
		}
	}
	var none *judge // before Lua has told the rules
	if got := none.accessOf(matter{file: rules.Path{Given: "/x", Real: "/x"}}, roots); got != (access{outside: true}) {
		t.Errorf("without rules: %+v", got)
	}
	if got := none.accessOf(matter{file: rules.Path{Given: "/x", Real: "/x"}}, []string{"/"}); got != free {
		t.Errorf("below the root of all: %+v", got)
	}
}
