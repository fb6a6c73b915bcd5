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

// Of many files at once it is said what is said of each alone.
func TestPrivateOfMany(t *testing.T) {
	dir, err := buffers.RealPath(t.TempDir())
	must.Do(t, err)
	proj := filepath.Join(dir, "proj")
	for _, folder := range []string{proj + "/sub", dir + "/keys"} {
		must.Do(t, os.MkdirAll(folder, 0o777))
	}
	env := must.Write(t, proj+"/sub", ".env", "KEY=1\n")
	must.Write(t, dir+"/keys", "id", "1\n")
	must.Write(t, proj, "plain", "")
	for to, from := range map[string]string{"/linked": env, "/secrets": dir + "/keys", "/folder": proj + "/sub", "/vault": proj + "/sub", "/also": proj + "/plain", "/circle": proj + "/circle", "/.env": proj + "/plain", "/to-hard": proj + "/hard"} {
		must.Do(t, os.Symlink(from, proj+to))
	}
	must.Do(t, os.Link(env, proj+"/hard"))
	p := &Policy{rules: rules.List{Private: []string{"**/.env", "**/vault/*", dir + "/keys/**"}}}
	req := Request{Cwd: proj, Roots: []string{proj}, Call: session.ToolCall{Kind: session.KindRead}}
	files := []string{proj + "/plain", env, proj + "/linked", proj + "/secrets/id", proj + "/folder/.env", proj + "/hard", proj + "/circle", proj + "/none", "/elsewhere", env, proj + "/.env", proj + "/to-hard", proj + "/vault/plain", proj + "/also"}
	got, want := p.Private(req, files, nil), 0
	for _, file := range files {
		alone := req
		real, err := buffers.RealPath(file)
		alone.File = rules.Path{Given: file, Real: real}
		private := err != nil || p.Access(alone).Private
		if got[file] != private {
			t.Errorf("%s: %v, and alone %v", file, got[file], private)
		}
		if private {
			want++
		}
	}
	check.Equal(t, want, 10, "%d are private")
	counted := []string{proj + "/plain", env, proj + "/folder/.env", proj + "/secrets/id", proj + "/none", proj + "/sub/./.env", proj + "/vault/plain", proj + "/folder/plain", proj + "/../keys/id"}
	got = p.Private(req, nil, counted)
	for i, private := range []bool{false, true, true, true, false, true, true, false, true} {
		check.Equal(t, got[counted[i]], private, "%s, which is counted: %v", counted[i])
	}
	none := &Policy{}
	if got := none.Private(req, files, nil); got[proj+"/hard"] || len(none.links.looks) > 0 {
		t.Errorf("where nothing is private the disk is looked through, and it is said %v", got)
	}
	if got := (*Policy)(nil).Private(req, files, nil); len(got) != 0 {
		t.Errorf("without a policy: %v", got)
	}
}
