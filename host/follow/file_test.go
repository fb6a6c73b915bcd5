package follow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestLook(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int64, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if size > 0 {
			must.Do(t, os.Truncate(path, size))
		}
		return path
	}
	long := strings.Repeat("some text\n", 1000) // more than is looked at
	for _, c := range []struct {
		path string
		want string
	}{
		{write("text", 0, "text\n"), "{true false} true"},
		{write("empty", 0, ""), "{true false} true"},
		{write("big", bigFile, long), "{true false} true"},
		{write("bigger", bigFile+1, long), "{true true} true"},
		{write("huge", buffers.MaxSync+1, long), "{false false} false"},
		{write("binary", 0, "\x7fELF\x00\x00"), "{false false} false"},
		{write("utf16", 0, "\xfe\xff\x00a\x00\n"), "{true false} true"},
		{filepath.Join(dir, "missing"), "{false false} true"},
		{dir, "{false false} false"},
		{"/dev/null", "{false false} false"},
	} {
		file, ok := look(c.path)
		check.Equal(t, fmt.Sprint(file, ok), c.want, "%s is %s", filepath.Base(c.path))
	}
}

func TestPlain(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"here/a", "there/in/b", "there/a", "here/b"} {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, nil, 0o666))
	}
	must.Do(t, os.Symlink(dir+"/there/in", dir+"/here/link"))
	for name, want := range map[string]string{
		"/here/a":             "/here/a",
		"/here/../there/./a":  "/there/a",
		"/here/link/../a":     "/here/link/../a", // there/a
		"/here/link/../in/b":  "/here/link/../in/b",
		"/here/../missing":    "/here/../missing",
		"/here/link/../../a":  "/here/link/../../a",
		"/here//b":            "/here/b",
		"/there/../here/link": "/here/link",
	} {
		if got := plain(dir + name); got != dir+want {
			t.Errorf("%s: %s, expected %s", name, strings.TrimPrefix(got, dir), want)
		}
	}
}
