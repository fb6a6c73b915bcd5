package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestKeepTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mcp")
	for _, info := range []session.Info{
		{Version: "1"}, {Version: "2", StdioServers: true, HTTPServers: true}, {Version: "2", StdioServers: true, HTTPServers: true},
	} {
		must.Do(t, KeepTaken(dir, "a/b", info))
	}
	must.Do(t, KeepTaken(dir, "c", session.Info{SSEServers: true}))
	var texts []string
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		must.Do(t, err)
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	want := `{"agent":"a/b","version":"2","kinds":["stdio","http"]}` + "\n" + `{"agent":"c","kinds":["sse"]}`
	check.Equal(t, strings.Join(texts, "\n"), want, "kept is\n%s")
	if err := KeepTaken(files[0], "a", session.Info{}); err == nil || !strings.Contains(err.Error(), "which MCP servers a takes") {
		t.Errorf("in a file it is kept: %v", err)
	}
}
