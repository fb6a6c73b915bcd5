package styled

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestRelative(t *testing.T) {
	for path, want := range map[string]string{
		"/project/a/b.go": "a/b.go", "/project": ".", "/projects/a": "/projects/a", "/etc/hosts": "/etc/hosts", "a.go": "a.go",
		"/project/..hidden": "..hidden", "/project/a/": "a/", "/project/": "./",
	} {
		check.Equal(t, Relative("/project", path), want, "%s is %s", path)
	}
}

func TestGroups(t *testing.T) {
	names := Groups()
	for g, want := range map[Group]string{0: "AcpQuote", User: "AcpUser", Error: "AcpError", Ansi0: "AcpAnsi0", Ansi0 + 15: "AcpAnsi15"} {
		check.Equal(t, names[g], want, "group %d is %s", g)
	}
	check.Equal(t, len(names), int(Ansi0)+16, "%d groups")
}
