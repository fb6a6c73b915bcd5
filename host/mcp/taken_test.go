package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

func TestKeepTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mcp")
	for _, info := range []session.Info{
		{Version: "1"}, {Version: "2", StdioServers: true, HTTPServers: true}, {Version: "2", StdioServers: true, HTTPServers: true},
	} {
		if err := KeepTaken(dir, "a/b", info); err != nil {
			t.Fatal(err)
		}
	}
	if err := KeepTaken(dir, "c", session.Info{SSEServers: true}); err != nil {
		t.Fatal(err)
	}
	var texts []string
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	want := `{"agent":"a/b","version":"2","kinds":["stdio","http"]}` + "\n" + `{"agent":"c","kinds":["sse"]}`
	if got := strings.Join(texts, "\n"); got != want {
		t.Errorf("kept is\n%s", got)
	}
	if err := KeepTaken(files[0], "a", session.Info{}); err == nil || !strings.Contains(err.Error(), "which MCP servers a takes") {
		t.Errorf("in a file it is kept: %v", err)
	}
}
