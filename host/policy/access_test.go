package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestAccessToAFile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	for _, name := range []string{"proj/sub", "project", "second"} {
		must(os.MkdirAll(filepath.Join(dir, name), 0o777))
	}
	must(os.Symlink("proj", dir+"/link")) // the session's folder, as it was named
	must(os.Symlink("../project", dir+"/proj/out"))
	must(os.Symlink("../second/f", dir+"/proj/back"))
	must(os.Symlink("proj/sub/.env", dir+"/env"))
	roots := []string{dir + "/link", dir + "/second"}
	p := &Policy{rules: rules.List{Private: []string{"**/.env", "secret/**"}, Rules: []rules.Rule{
		{Paths: []string{"no/**"}, Kinds: []string{"edit"}, Action: rules.Reject},
		{Paths: []string{"ask/**", "../project/ask"}, Action: rules.Ask},
		{Paths: []string{"../project/yes/**", "yes/**"}, Action: rules.Allow},
		{Kinds: []string{"edit"}, Action: rules.Ask},
	}}}
	free := Access{Free: true}
	for _, c := range []struct {
		path string
		kind session.ToolKind
		want Access
	}{
		{"link/f", session.KindRead, free},
		{"proj/f", session.KindRead, free},
		{"proj", session.KindRead, free},
		{"link/new/f", session.KindEdit, free}, // a rule that names no file does not ask
		{"second/f", session.KindEdit, free},
		{"link/yes/f", session.KindEdit, free},
		{"link/back", session.KindRead, free},
		{"project/../link/f", session.KindRead, free},
		{"project/f", session.KindRead, Access{Outside: true, Lasting: true}}, // no part of proj
		{"link/out/f", session.KindRead, Access{Outside: true, Lasting: true}},
		{"link/../f", session.KindRead, Access{Outside: true, Lasting: true}},
		{"link/sub/../../f", session.KindRead, Access{Outside: true, Lasting: true}},
		{"project/f", session.KindEdit, Access{Outside: true}}, // a rule asks
		{"project/ask", session.KindRead, Access{Outside: true}},
		{"project/yes/f", session.KindEdit, Access{Outside: true, Lasting: true}}, // which the rule answers
		{"link/.env", session.KindRead, Access{Private: true}},
		{"link/secret/a/b", session.KindRead, Access{Private: true}},
		{"env", session.KindRead, Access{Private: true}},
		{"project/.env", session.KindRead, Access{Private: true, Outside: true}},
		{"link/no/f", session.KindRead, free},
		{"link/no/f", session.KindEdit, Access{}},
		{"link/ask/f", session.KindRead, Access{}},
	} {
		path := dir + "/" + c.path
		real, err := buffers.RealPath(path)
		must(err)
		got := p.Access(Request{
			Agent: "puppet", Cwd: roots[0], Call: session.ToolCall{Kind: c.kind}, File: rules.Path{Given: path, Real: real}, Roots: roots,
		})
		check.Equal(t, got, c.want, "%s %s: %+v", c.kind, c.path)
	}
	var none *Policy // before Lua has told the rules
	if got := none.Access(Request{File: rules.Path{Given: "/x", Real: "/x"}, Roots: roots}); got != (Access{Outside: true}) {
		t.Errorf("without rules: %+v", got)
	}
	check.Equal(t, none.Access(Request{File: rules.Path{Given: "/x", Real: "/x"}, Roots: []string{"/"}}), free,
		"below the root of all: %+v")
}

// Why a file is asked about is said with the file that it leads to, if it has another name.
func TestReasonsOfAccess(t *testing.T) {
	for _, c := range []struct {
		access    Access
		same, led string
	}{
		{Access{link: "/p/real"}, "it is the same file as /p/real, which is private",
			"which is a file with several names, of which one may be private"},
		{Access{link: "/p/.env"}, "it is the same file as /p/.env, which is private",
			"which is the same file as /p/.env, which is private"},
		{Access{Private: true, Outside: true}, "it is private", "which is private"},
		{Access{Outside: true}, "it is outside of the session's folder", "outside of the session's folder"},
		{Access{}, "a rule asks about it", ""},
	} {
		check.Equal(t, c.access.Reason("/p/a", "/p/a"), c.same, "of %+v it is said %q", c.access)
		led := "it leads to /p/real, " + c.led
		if c.led == "" {
			led = c.same
		}
		check.Equal(t, c.access.Reason("/p/a", "/p/real"), led, "of %+v, by a link, it is said %q", c.access)
	}
	own := Access{link: "/p/a"}.Reason("/p/a", "/p/a")
	check.Equal(t, own, "it is a file with several names, of which one may be private", "of several names it is said %q")
}
